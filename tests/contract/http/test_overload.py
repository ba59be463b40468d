"""Under more than there is time for: requests are refused with an answer, deliveries and webhooks take their turn."""

from collections import Counter
from itertools import count

import pytest
from structlog.testing import capture_logs

from controlplane.transport.callers import STRANGERS
from storage.turns.fair_threads import OWN
from storage.turns.rounds import Kind, Overloaded, Rounds
from tests.support.running import Running, until_true


async def test_a_request_that_finds_no_place_in_time_is_told_when_to_come_again(
    maild: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(self: Rounds, kind: Kind, owner: str) -> None:
        raise Overloaded

    monkeypatch.setattr(Rounds, "begin", refuse)
    answer = await maild.api.get("/v1/messages")
    assert (answer.status, answer.code) == (503, "provider_unavailable")
    assert int(answer.headers["Retry-After"]) > 0
    assert answer.headers["X-Request-Id"]


async def test_a_disk_that_is_full_is_told_as_such_and_once(maild: Running) -> None:
    """A client comes again, and the log has no traceback for each that does."""
    assert maild.daemon._db is not None
    store = maild.daemon._db._writer.connection.raw
    (pages,) = store.execute("PRAGMA page_count").fetchone()
    store.execute(f"PRAGMA max_page_count = {pages}")
    refused = []
    with capture_logs() as logs:
        for number in count():
            answer = await maild.api.call("POST", "/v1/inboxes", {"username": f"bot{number}"})
            if answer.status != 201:
                refused.append((answer.status, answer.code, int(answer.headers["Retry-After"]) > 0))
            if len(refused) == 3:
                break
    assert refused == [(503, "provider_unavailable", True)] * 3
    told = [
        (one["event"], one.get("error", one.get("reason"))) for one in logs if one["log_level"] == "error"
    ]
    assert told == [
        ("writes_fail", "the disk is full (database or disk is full); make room on it"),
        ("exhausted", "database or disk is full"),
    ]
    store.execute("PRAGMA max_page_count = 1073741823")
    assert (await maild.api.call("POST", "/v1/inboxes", {"username": "bot"})).status == 201


async def test_mail_that_comes_in_waits_for_nobody_and_all_else_asks_for_its_place(
    maild: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: Counter[tuple[Kind, str]] = Counter()
    took: list[float] = []
    begin = Rounds.begin

    async def noted(self: Rounds, kind: Kind, owner: str = OWN) -> None:
        asked[kind, owner] += 1
        await begin(self, kind, owner)

    def accepted(self: Rounds, took_s: float) -> None:
        took.append(took_s)

    bot = await maild.inbox("bot")
    await maild.api.post("/v1/webhooks", {"url": "https://hooks.elsewhere.test/in"})
    monkeypatch.setattr(Rounds, "begin", noted)
    monkeypatch.setattr(Rounds, "accepted", accepted)
    await maild.deliver(bot["address"], "Subject: hello\n\nwords\n")
    assert len(took) == 1 and took[0] >= 0 and not asked
    await maild.api.send(bot, to=[bot["address"]], subject="hello", text="words")
    await until_true(lambda: {kind for kind, _ in asked} == set(Kind))
    # Behind a proxy all peers have one address: there it is the turn of the key.
    assert asked[Kind.REQUEST, f"Bearer {maild.api.key}"] == 1


async def test_keys_that_are_made_up_have_one_turn_together(
    maild: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: Counter[str] = Counter()
    begin = Rounds.begin

    async def noted(self: Rounds, kind: Kind, owner: str = OWN) -> None:
        asked[owner] += 1
        await begin(self, kind, owner)

    other = await maild.api.post("/v1/keys", {"name": "other", "scopes": ["inboxes:read"]})
    monkeypatch.setattr(Rounds, "begin", noted)
    for number in range(5):
        made_up = maild.api.with_key(f"svc_live_{number:048x}")
        assert (await made_up.get("/v1/inboxes")).status == 401
    known = maild.api.with_key(other.data["apiKey"])
    for _ in range(3):  # before the first it is not known either
        assert (await known.get("/v1/inboxes")).status == 200
    assert (await maild.api.call("DELETE", f"/v1/keys/{other.data['id']}")).status == 200
    for _ in range(2):  # before the first it is still known
        assert (await known.get("/v1/inboxes")).status == 401
    assert asked[STRANGERS] == 5 + 1 + 1
    assert asked[f"Bearer {other.data['apiKey']}"] == 2 + 1
