"""A key that leaked is revoked with what it minted and what it sent: contract, Keys."""

import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import pytest

from conf.tuning import QueueTuning, Tuning
from controlplane.operations.operation import Call
from storage.clock import DAY_MS, Clock, iso
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.mail import withdrawal
from storage.mail.withdrawal import Senders
from storage.tenants import keys
from tests.conftest import Start
from tests.support.running import Api, Running

UNKNOWN = "key_" + "0" * 26


@pytest.fixture
async def maild(start: Start) -> AsyncIterator[Running]:
    """Nothing can be delivered: no nameserver answers, so what is sent waits."""
    yield await start(outbound={"first_retry_s": 3600}, tuning=Tuning(queue=QueueTuning(look_again_s=0.02)))


async def mint(api: Api, **fields: Any) -> tuple[str, Api]:
    made = await api.post("/v1/keys", {"name": "k", "scopes": ["*"], **fields})
    assert made.status == 201, made.body
    return made.data["id"], api.with_key(made.data["apiKey"])


async def revoke(api: Api, key_id: str) -> Any:
    return await api.call("POST", f"/v1/keys/{key_id}/revoke-with-mail")


async def leave_waiting(api: Api, inbox: Mapping[str, Any]) -> list[str]:
    """One in the queue, one for tomorrow."""
    answers = [await api.send(inbox), await api.send(inbox, sendAt=iso(Clock().now_ms() + DAY_MS))]
    assert [one.status for one in answers] == [201, 201]
    return [one.data["id"] for one in answers]


async def fates(maild: Running, message_ids: list[str]) -> list[tuple[str, str | None]]:
    found = [(await maild.api.get(f"/v1/messages/{one}")).data for one in message_ids]
    return [(one["status"], one["failureReason"]) for one in found]


async def is_good(api: Api) -> bool:
    return bool((await api.get("/v1/inboxes")).status == 200)


async def test_a_leaked_key_takes_what_it_minted_and_sent_with_it(
    maild: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(withdrawal, "FEW", 1)
    inbox = await maild.inbox("bot")
    key_id, leaked = await mint(maild.api)
    between_id, between = await mint(leaked)
    _, last = await mint(between)
    _, other = await mint(maild.api)
    withdrawn = [one for api in (leaked, between, last) for one in await leave_waiting(api, inbox)]
    kept = await leave_waiting(other, inbox)
    assert (await maild.api.call("DELETE", f"/v1/keys/{between_id}")).status == 200
    answer = await revoke(maild.api, key_id)
    assert answer.data == {"id": key_id, "status": "revoked", "revokedKeys": 2, "withdrawnMessages": 6}
    await maild.until_withdrawn()
    assert await fates(maild, withdrawn) == [("failed", "invalid_api_key")] * 6
    assert [status for status, _ in await fates(maild, kept)] == ["queued", "scheduled"]
    assert [await is_good(api) for api in (leaked, between, last, other)] == [False, False, False, True]
    again = await revoke(maild.api, key_id)
    assert (again.data["revokedKeys"], again.data["withdrawnMessages"]) == (0, 0)
    acts = (await maild.api.get("/v1/audit?types=key.revoked")).data
    assert len({one["subject"] for one in acts}) == len(acts) == 3


@pytest.mark.parametrize("who", ["itself", "what it minted"])
async def test_a_caller_that_is_one_of_them_goes_last(maild: Running, who: str) -> None:
    inbox = await maild.inbox("bot")
    key_id, leaked = await mint(maild.api)
    _, child = await mint(leaked)
    left = await leave_waiting(child, inbox)
    answer = await revoke(leaked if who == "itself" else child, key_id)
    assert (answer.data["revokedKeys"], answer.data["withdrawnMessages"]) == (2, 2)
    assert await fates(maild, left) == [("failed", "invalid_api_key")] * 2
    assert not await is_good(leaked) and not await is_good(child)


async def test_keys_are_closed_some_at_a_time(maild: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty thousand that a key had minted, also such as were revoked before, took a transaction of 42 ms."""
    closed: list[int] = []
    close_keys = withdrawal.close_keys

    def noted(tx: Tx, organization_id: str, key_ids: Sequence[str]) -> None:
        closed.append(len(key_ids))
        close_keys(tx, organization_id, key_ids)

    monkeypatch.setattr(withdrawal, "close_keys", noted)
    monkeypatch.setattr(keys, "REVOKED_AT_ONCE", 2)
    key_id, leaked = await mint(maild.api)
    minted = [(await mint(leaked))[0] for _ in range(4)]
    assert (await maild.api.call("DELETE", f"/v1/keys/{minted[0]}")).status == 200
    assert (await revoke(maild.api, key_id)).data["revokedKeys"] == 4
    assert closed == [2, 2, 1]


async def test_what_the_callers_own_key_mints_and_sends_meanwhile_goes_with_it(
    maild: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever found the key uses it, too, until it is revoked."""
    inbox = await maild.inbox("bot")
    key_id, leaked = await mint(maild.api)
    found: list[tuple[Api, list[str]]] = []
    read = Call.read

    async def used_behind_the_look(call: Call, unit: Any, *asked: Any) -> Any:
        answer = await read(call, unit, *asked)
        if unit is withdrawal.find_sent_by:
            between_id, between = await mint(leaked)
            sent = await leave_waiting(between, inbox)
            _, child = await mint(between)
            assert (await leaked.call("DELETE", f"/v1/keys/{between_id}")).status == 200
            found.append((child, [*sent, *await leave_waiting(child, inbox)]))
        return answer

    monkeypatch.setattr(Call, "read", used_behind_the_look)
    assert (await revoke(leaked, key_id)).data["revokedKeys"] == 2
    await maild.until_withdrawn()
    [(child, sent)] = found
    assert not await is_good(child)
    assert await fates(maild, sent) == [("failed", "invalid_api_key")] * 4


async def test_marks_of_many_end_beside_the_event_loop(
    maild: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five hundred at a time held it for 9 ms."""
    on_loop: list[bool] = []
    end = Senders.end

    def noted(senders: Senders, tx: Tx, closed: Sequence[str]) -> None:
        on_loop.append(threading.current_thread() is threading.main_thread())
        end(senders, tx, closed)

    monkeypatch.setattr(Senders, "end", noted)
    key_id, _ = await mint(maild.api)
    assert (await revoke(maild.api, key_id)).data["revokedKeys"] == 1
    await maild.until_withdrawn()
    assert on_loop == [False]


async def test_no_transaction_reads_all_keys(maild: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that had minted a hundred thousand, and revoked itself, held up all that write for 194 ms."""
    writing: list[Any] = []
    write_apart, minted_with = Database.write_apart, keys.minted_with

    async def noted(db: Database, unit: Any, *given: Any) -> Any:
        def within(tx: Tx) -> Any:
            writing.append(unit)
            try:
                return unit(tx, *given)
            finally:
                writing.remove(unit)

        return await write_apart(db, within)

    def read(tx: Tx, organization_id: str, key_id: str, behind: int = 0) -> dict[str, bool]:
        assert behind or not writing
        return minted_with(tx, organization_id, key_id, behind)

    monkeypatch.setattr(Database, "write_apart", noted)
    monkeypatch.setattr(keys, "minted_with", read)
    key_id, leaked = await mint(maild.api)
    await mint(leaked)
    assert (await revoke(leaked, key_id)).data["revokedKeys"] == 2


async def test_keys_of_others_are_not_there(maild: Running) -> None:
    inbox = await maild.inbox("bot")
    key_id, leaked = await mint(maild.api)
    left = await leave_waiting(leaked, inbox)
    stranger = await maild.organization()
    for named in (key_id, UNKNOWN):
        answer = await revoke(stranger.api, named)
        assert (answer.status, answer.code) == (404, "key_not_found")
    assert [status for status, _ in await fates(maild, left)] == ["queued", "scheduled"]
    assert await is_good(leaked)


async def test_a_test_key_ends_no_live_key(maild: Running) -> None:
    key_id, live = await mint(maild.api)
    _, test = await mint(maild.api, mode="test")
    answer = await revoke(test, key_id)
    assert (answer.status, answer.code) == (403, "insufficient_scope")
    assert await is_good(live)


async def test_a_test_key_withdraws_no_mail_of_a_live_key_that_was_revoked_before(maild: Running) -> None:
    key_id, live = await mint(maild.api)
    left = await leave_waiting(live, await maild.inbox("bot"))
    assert (await maild.api.call("DELETE", f"/v1/keys/{key_id}")).status == 200
    _, test = await mint(maild.api, mode="test")
    answer = await revoke(test, key_id)
    assert (answer.status, answer.code) == (403, "insufficient_scope")
    assert [status for status, _ in await fates(maild, left)] == ["queued", "scheduled"]
