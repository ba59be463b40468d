"""A host that takes few recipients in one message gets the others in messages of their own, at once."""

from pathlib import Path

import pytest

from tests.support.peers.mx import Mx
from tests.support.worlds.sending import Sending

MANY = [f"r{number}@there.test" for number in range(7)]
PIPELINING = pytest.mark.parametrize("extensions", [["PIPELINING"], []])


class Limited(Mx):
    """Takes `limit` recipients in one message, and answers the others with `refusal`."""

    def __init__(self, limit: int, refusal: str, extensions: list[str]) -> None:
        super().__init__(extensions=extensions)
        self._limit = limit
        self._refusal = refusal
        self._taken = 0

    async def reply_at(self, stage: str, address: str = "") -> str | None:
        if stage == "MAIL":
            self._taken = 0
        reply = await super().reply_at(stage, address)
        if stage != "RCPT" or reply is None or not reply.startswith("250"):
            return reply
        if self._taken == self._limit:
            return self._refusal
        self._taken += 1
        return reply


@PIPELINING
@pytest.mark.parametrize(
    "refusal", ["452 4.5.3 too many recipients", "452 too many", "550 5.5.3 too many", "552 too many"]
)
async def test_the_others_follow_at_once(tmp_path: Path, refusal: str, extensions: list[str]) -> None:
    async with Sending(tmp_path, mx=Limited(3, refusal, extensions)) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await sending.send(*MANY)
        await sending.until(message_id, *["delivered"] * 7)

        first, *others = (one.recipients for one in sending.mx.received)
        assert (first, sorted(others)) == (MANY[:3], [MANY[3:6], MANY[6:]])
        assert await sending.store.events("email.delayed") == []
        assert [one.attempts for one in await sending.store.recipients(message_id)] == [1] * 7
        # What did not fit once is not asked again where as many are under way already.
        assert sending.mx.stages["RCPT"] == 7 + 4


@PIPELINING
async def test_a_limit_that_the_host_tells_is_kept(tmp_path: Path, extensions: list[str]) -> None:
    """RFC 9422."""
    limits = "LIMITS MAILMAX=2 rcptmax=3 RCPTDOMAINMAX=1"
    async with Sending(tmp_path, mx=Mx(extensions=[*extensions, limits])) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await sending.send(*MANY)
        await sending.until(message_id, *["delivered"] * 7)

        assert sorted(len(one.recipients) for one in sending.mx.received) == [1, 3, 3]
        assert sending.mx.stages["RCPT"] == 7
        assert sending.mx.connections >= 2, "two messages on one session"


@pytest.mark.parametrize(
    "limits",
    ["LIMITS", "LIMITS RCPTMAX=0 MAILMAX=0", "LIMITS RCPTMAX=many MAILMAX", "LIMITS RCPTMAX=9999999"],
)
async def test_a_limit_that_is_none_limits_nothing(tmp_path: Path, limits: str) -> None:
    async with Sending(tmp_path, mx=Mx(extensions=["PIPELINING", limits])) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await sending.send(*MANY)
        await sending.until(message_id, *["delivered"] * 7)
        assert [one.recipients for one in sending.mx.received] == [MANY]


@PIPELINING
async def test_a_full_mailbox_is_no_limit(tmp_path: Path, extensions: list[str]) -> None:
    """The same code, said of one recipient: the host takes another one behind it."""
    async with Sending(tmp_path, mx=Mx(extensions=extensions)) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.always["RCPT", "r1@there.test"] = "452 mailbox full"
        await sending.queue.start()
        message_id = await sending.send(*MANY[:3])
        await sending.until(message_id, "delivered", "deferred", "delivered")
        assert sending.mx.stages["MAIL"] == 1


@PIPELINING
@pytest.mark.parametrize(
    ("refusal", "status"),
    [("452 4.2.2 mailbox full", "deferred"), ("552 5.2.2 mailbox full", "bounced"), ("452 full", "deferred")],
)
async def test_the_last_one_is_asked_once_more_at_most(
    tmp_path: Path, refusal: str, status: str, extensions: list[str]
) -> None:
    async with Sending(tmp_path, mx=Mx(extensions=extensions)) as sending:
        sending.dns.add_mx("there.test")
        sending.mx.always["RCPT", "r1@there.test"] = refusal
        await sending.queue.start()
        message_id = await sending.send(*MANY[:2])
        await sending.until(message_id, "delivered", status)
        assert sending.mx.stages["MAIL"] <= 2
        assert [one.recipients for one in sending.mx.received] == [MANY[:1]]


@PIPELINING
async def test_who_takes_nobody_is_asked_again_later(tmp_path: Path, extensions: list[str]) -> None:
    async with Sending(tmp_path, mx=Limited(0, "452 4.5.3 too many recipients", extensions)) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await sending.send(*MANY)
        await sending.until(message_id, *["deferred"] * 7)
        assert sending.mx.stages["MAIL"] == 1


@PIPELINING
async def test_where_the_session_is_lost_the_others_wait(tmp_path: Path, extensions: list[str]) -> None:
    mx = Limited(3, "452 4.5.3 too many recipients", extensions)
    mx.drop_at = "dot"
    async with Sending(tmp_path, mx=mx) as sending:
        sending.dns.add_mx("there.test")
        await sending.queue.start()
        message_id = await sending.send(*MANY)
        await sending.until(message_id, *["deferred"] * 7)
        assert mx.stages["MAIL"] == 1
        mx.drop_at = ""
        await sending.forward_to_retry(message_id)
        await sending.until(message_id, *["delivered"] * 7)
