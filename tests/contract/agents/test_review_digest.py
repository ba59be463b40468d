"""People are told by mail of what is held: once an hour, without its words (docs/contract.md, "Reviews")."""

import asyncio
from email import message_from_bytes
from email.message import Message

import pytest

from controlplane.sending.reviews.review_digest import EVERY_MS, ReviewDigest
from storage.set_aside import LEFT_ALONE_S
from tests.conftest import Start
from tests.support.running import Running, until
from tests.support.worlds.reviewing import Held
from tests.support.worlds.store import ManualClock

ADA = "ada@people.test"
BEN = "ben@people.test"
YEAR_S = 365 * 86_400


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(1_795_219_200_000)


@pytest.fixture
async def maild(start: Start, clock: ManualClock) -> Running:
    return await start(clock=clock)


@pytest.fixture
async def held(maild: Running) -> Held:
    held = await Held.make(maild)
    await held.timing(notify=[ADA])
    return held


async def digests(maild: Running, count: int) -> list[Message]:
    """The mails that the host wrote, oldest first, once there are so many."""

    async def look() -> list[tuple[str]] | None:
        found = maild.sql("SELECT id FROM messages WHERE from_address LIKE 'postmaster@%' ORDER BY id")
        return found if len(found) >= count else None

    found: list[tuple[str]] = await until(look)
    assert len(found) == count
    return [message_from_bytes(await maild.raw(one)) for (one,) in found]


def words(mail: Message) -> str:
    payload = mail.get_payload(decode=True)
    assert isinstance(payload, bytes)
    return payload.decode()


def service(maild: Running) -> ReviewDigest:
    (found,) = [one for one in maild.daemon._supervisor._services if isinstance(one, ReviewDigest)]
    return found


async def settled(maild: Running) -> None:
    """Until nobody is to be told of anything."""

    async def look() -> bool | None:
        return (maild.sql("SELECT count(*) FROM reviews WHERE is_told = 0") == [(0,)]) or None

    await until(look)


async def test_without_addresses_nobody_is_told(maild: Running) -> None:
    held = await Held.make(maild)
    await held.held()
    assert maild.sql("SELECT is_told FROM reviews") == [(1,)]
    await held.timing(notify=[ADA])
    await held.held(maild.test_api)
    assert maild.sql("SELECT DISTINCT is_told FROM reviews") == [(1,)]


async def test_a_mail_tells_of_ids_and_times_and_no_words(held: Held) -> None:
    sent = await held.held(subject="top secret", text="the words", to=["carol@elsewhere.test"])
    (mail,) = await digests(held.maild, 1)
    assert (mail["To"], mail["Subject"]) == (ADA, "1 message waits for a review")
    assert (mail["From"], mail["Auto-Submitted"]) == ("postmaster@agents.test", "auto-generated")
    text = words(mail)
    assert sent["review"]["id"] in text and sent["review"]["expiresAt"] in text
    assert "bot@agents.test" in text and "all" in text
    for word in ("secret", "the words", "carol"):
        assert word not in text and word not in mail.as_string()
    await settled(held.maild)


async def test_an_hour_is_one_mail(held: Held, clock: ManualClock) -> None:
    await held.held()
    await digests(held.maild, 1)
    later = [await held.held() for _ in range(3)]
    decided = await held.held()
    await held.reject(decided)
    clock.forward(EVERY_MS / 1000 - 1)
    await service(held.maild).round()
    assert len(await digests(held.maild, 1)) == 1
    clock.forward(1)
    service(held.maild).wake()
    mail = (await digests(held.maild, 2))[1]
    assert mail["Subject"] == "3 messages wait for a review"
    text = words(mail)
    assert all(one["review"]["id"] in text for one in later) and decided["review"]["id"] not in text
    await settled(held.maild)


@pytest.mark.parametrize("is_restarted", [False, True])
async def test_a_clock_that_was_ahead_keeps_nobody_from_being_told(
    held: Held, clock: ManualClock, is_restarted: bool
) -> None:
    """It was set back: the hour would not be over, and, after a restart, the ids of reviews begin below."""
    clock.forward(YEAR_S)
    await held.held()
    await digests(held.maild, 1)
    await settled(held.maild)
    clock.set_back(YEAR_S)
    if is_restarted:
        held.maild.sql("UPDATE review_digests SET review_id = 'rev_z'")
    later = await held.held()
    texts = [words(one) for one in await digests(held.maild, 2)]
    assert sum(later["review"]["id"] in text for text in texts) == 1
    await settled(held.maild)
    await held.held()
    await service(held.maild).round()
    await digests(held.maild, 2)  # within the hour


async def test_each_address_is_told_once_of_each(held: Held, clock: ManualClock) -> None:
    await held.held()
    await digests(held.maild, 1)
    await settled(held.maild)
    await held.timing(notify=[ADA, BEN, "Ada@People.test"])
    await held.held()
    told = await digests(held.maild, 2)  # Ben now, Ada in an hour
    assert [one["To"] for one in told] == [ADA, BEN]
    clock.forward(EVERY_MS / 1000)
    service(held.maild).wake()
    told = await digests(held.maild, 3)
    assert [one["To"] for one in told] == [ADA, BEN, ADA]
    await settled(held.maild)


async def test_who_is_suppressed_gets_nothing(held: Held) -> None:
    await held.reviewer.post("/v1/suppressions", {"email": ADA})
    await held.held()
    await settled(held.maild)
    await digests(held.maild, 0)


async def test_what_was_due_while_the_daemon_was_down_is_told_once(held: Held) -> None:
    digest = service(held.maild)
    await digest.stop()
    await held.held()
    await asyncio.gather(digest.round(), digest.round())
    await digests(held.maild, 1)
    await digest.round()
    await settled(held.maild)
    await digests(held.maild, 1)


async def test_an_organization_that_can_not_be_told_holds_up_no_other(
    held: Held, maild: Running, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell, fails = ReviewDigest._tell, True

    async def failing(self: ReviewDigest, organization_id: str, later_ms: list[int]) -> None:
        if fails and organization_id == first:
            raise ValueError("a fault of the program")
        await tell(self, organization_id, later_ms)

    other = await maild.organization()
    inbox = await maild.inbox("other", other.api)
    policy = {"version": 0, "outbound": {"review": "all"}, "review": {"notify": [BEN]}}
    assert (await other.api.call("PUT", f"/v1/inboxes/{inbox['id']}/policy", policy)).status == 200
    ((first,),) = maild.sql(
        "SELECT min(id) FROM organizations WHERE id IN (SELECT organization_id FROM inboxes)"
    )
    monkeypatch.setattr(ReviewDigest, "_tell", failing)
    await held.held()
    await other.api.send(inbox)
    (told,) = await digests(maild, 1)
    fails = False
    clock.forward(LEFT_ALONE_S)
    service(maild).wake()
    assert {told["To"], (await digests(maild, 2))[1]["To"]} == {ADA, BEN}
