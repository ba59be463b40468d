"""POST /v1/inboxes/{id}/codes/claim: one mail's code, or link, to one caller, from the sender that was asked for."""

import asyncio
import os
from typing import Any

import pytest

from controlplane.mail.code_mail import PIECE_CHARS
from storage.engine.database import Database
from tests.conftest import on_shared
from tests.support.laws.counted import Counted
from tests.support.running import Answer, Api, Running

EVERYTHING = "1970-01-01"
ROUNDS = int(os.environ.get("CODE_ROUNDS", "1"))


def mail(number: int, words: str, subject: str = "Your code", sender: str = "noreply@github.test") -> str:
    return f"From: {sender}\nSubject: {subject}\nMessage-ID: <{number}@github.test>\n\n{words}\n"


def code_mail(number: int, code: str) -> str:
    return mail(number, f"Your verification code is {code}.")


async def claim(
    maild: Running, inbox: dict[str, Any], api: Api | None = None, key: str | None = None, **asked: Any
) -> Answer:
    body = {"allowUnverified": True, "waitSeconds": 0, "after": EVERYTHING, **asked}
    headers = {"Idempotency-Key": key} if key else None
    path = f"/v1/inboxes/{inbox['id']}/codes/claim"
    return await (api or maild.api).call("POST", path, json=body, headers=headers)


async def proven(maild: Running, inbox: dict[str, Any], raw: str, domain: str) -> str:
    """The id of a message that came from this verified domain: no mail that the tests deliver does."""
    await maild.deliver(inbox["address"], raw)
    ((message_id,),) = maild.sql("SELECT id FROM messages ORDER BY id DESC LIMIT 1")
    maild.sql("DROP TRIGGER IF EXISTS messages_are_as_they_came")
    auth = f'{{"spf":"pass","dkim":"pass","dmarc":"pass","arc":"none","verifiedDomain":"{domain}"}}'
    maild.sql("UPDATE messages SET auth = ? WHERE id = ?", auth, message_id)
    return str(message_id)


async def test_a_code_is_handed_out_with_its_place(maild: Running, bot: dict[str, Any]) -> None:
    got = await maild.received(bot, code_mail(1, "482 913"))
    answer = (await claim(maild, bot)).data
    place = answer.pop("evidence")
    assert answer.pop("id").startswith("cod_")
    assert answer == {
        "claimed": True, "kind": "code", "value": "482913", "shown": "482 913", "messageId": got["id"],
        "verifiedDomain": None, "confidence": "labelled", "candidates": [], "timedOut": False, "cursor": got["id"],
    }  # fmt: skip
    shown = (await maild.api.get(f"/v1/messages/{got['id']}")).data
    assert shown[place["view"]][place["start"] : place["end"]] == "482 913"
    assert shown["labels"] == ["code-claimed"]
    assert (await maild.api.get(f"/v1/inboxes/{bot['id']}")).data["unreadCount"] == 0


async def test_twenty_callers_get_twenty_codes_each_another(maild: Running, bot: dict[str, Any]) -> None:
    for round_ in range(ROUNDS):
        codes = [f"{round_:03}{number:03}" for number in range(20)]
        for number, code in enumerate(codes):
            await maild.received(bot, code_mail(20 * round_ + number, code))
        answers = [answer.data for answer in await asyncio.gather(*(claim(maild, bot) for _ in range(22)))]
        assert sorted(one["value"] for one in answers if one["claimed"]) == codes
        assert [one["timedOut"] for one in answers].count(True) == 2


async def test_mail_whose_code_is_taken_is_passed_over_page_by_page(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted(monkeypatch)
    asked = []
    for number in range(60):
        await maild.received(bot, code_mail(number, f"{482000 + number}"))
        if number in (2, 59):
            counted.begin()
            assert (await claim(maild, bot)).data["value"] == f"{482000 + number}"
            asked.append(counted.most())
        else:
            await claim(maild, bot)
    assert asked[1] <= asked[0] + 3  # what other parts ask meanwhile


async def test_the_oldest_is_handed_out_first(maild: Running, bot: dict[str, Any]) -> None:
    for number in range(3):
        await maild.received(bot, code_mail(number, f"48291{number}"))
    assert [(await claim(maild, bot)).data["value"] for _ in range(3)] == ["482910", "482911", "482912"]


async def test_a_repeated_request_gets_the_same_code(maild: Running, bot: dict[str, Any]) -> None:
    for number in range(3):
        await maild.received(bot, code_mail(number, f"48291{number}"))
    first, *others = await asyncio.gather(*(claim(maild, bot, key="signup-1") for _ in range(5)))
    again = await claim(maild, bot, key="signup-1")
    assert {answer.data["value"] for answer in (first, *others, again)} == {"482910"}
    assert again.headers["Idempotent-Replayed"] == "true"
    assert (await claim(maild, bot, key="signup-1", linkHosts=["x.test"])).code == "idempotency_conflict"
    assert (await claim(maild, bot, key="signup-2")).data["value"] == "482911"
    await maild.api.call("DELETE", f"/v1/messages/{first.data['messageId']}")
    assert (await claim(maild, bot, key="signup-1")).data["value"] is None


async def test_who_finds_nothing_keeps_nothing_under_its_key(maild: Running, bot: dict[str, Any]) -> None:
    assert (await claim(maild, bot, key="k")).data["timedOut"]
    await maild.received(bot, code_mail(1, "482913"))
    assert (await claim(maild, bot, key="k")).data["value"] == "482913"


async def test_the_sender_must_be_proven(maild: Running, bot: dict[str, Any]) -> None:
    forged = await maild.received(bot, code_mail(1, "111111"))
    alike = mail(2, "Your verification code is 222222.", sender="a@github.test.evil.test")
    await proven(maild, bot, alike, "github.test.evil.test")
    assert (await claim(maild, bot, fromDomain="github.test", allowUnverified=False)).data["value"] is None
    await proven(maild, bot, code_mail(3, "333333"), "mail.github.test")
    got = (await claim(maild, bot, fromDomain="github.test", allowUnverified=False)).data
    assert (got["value"], got["verifiedDomain"]) == ("333333", "mail.github.test")
    assert (await claim(maild, bot)).data["messageId"] == forged["id"]


async def test_an_ambiguous_mail_is_never_claimed_and_holds_up_no_other(
    maild: Running, bot: dict[str, Any]
) -> None:
    doubtful = await maild.received(
        bot, mail(1, "Your verification code is 482913.\nYour backup verification code is 771122.")
    )
    answer = (await claim(maild, bot, waitSeconds=25)).data
    assert (answer["claimed"], answer["confidence"], answer["value"]) == (False, "ambiguous", None)
    assert (answer["messageId"], answer["candidates"]) == (doubtful["id"], ["482913", "771122"])
    assert not answer["timedOut"] and answer["evidence"] is None
    await maild.received(bot, code_mail(2, "993311"))
    assert (await claim(maild, bot)).data["value"] == "993311"
    assert "unread" in (await maild.api.get(f"/v1/messages/{doubtful['id']}")).data["labels"]


async def test_a_link_is_of_the_proven_sender_or_of_a_named_host(maild: Running, bot: dict[str, Any]) -> None:
    words = "Please confirm your address to sign in: https://{}/verify?token=4f9ac1d07b6e2835aa10c9"
    foreign = await proven(maild, bot, mail(1, words.format("evil.test"), "Confirm"), "github.test")

    async def asked(**more: Any) -> dict[str, Any]:
        answer = await claim(
            maild, bot, fromDomain="github.test", allowUnverified=False, kinds=["link"], **more
        )
        found: dict[str, Any] = answer.data
        return found

    assert (await asked())["value"] is None
    await proven(maild, bot, mail(2, words.format("login.github.test"), "Confirm"), "github.test")
    got = await asked()
    assert (got["kind"], got["value"]) == (
        "link",
        "https://login.github.test/verify?token=4f9ac1d07b6e2835aa10c9",
    )
    assert (await asked(linkHosts=["evil.test"]))["messageId"] == foreign


async def test_a_link_of_an_unproven_sender_is_of_a_named_host_alone(
    maild: Running, bot: dict[str, Any]
) -> None:
    words = (
        "Please confirm your address to sign in: https://elsewhere.test/verify?token=4f9ac1d07b6e2835aa10c9"
    )
    got = await maild.received(bot, mail(1, words, "Confirm", sender="a@elsewhere.test"))
    asked: dict[str, Any] = {"fromDomain": "elsewhere.test", "kinds": ["link"]}
    assert (await claim(maild, bot, **asked)).data["value"] is None
    found = (await claim(maild, bot, linkHosts=["elsewhere.test"], **asked)).data
    assert (found["messageId"], found["verifiedDomain"]) == (got["id"], None)


async def test_it_waits_for_the_mail(maild: Running, bot: dict[str, Any]) -> None:
    waiting = asyncio.create_task(claim(maild, bot, waitSeconds=25))
    await maild.received(bot, mail(1, "Nothing of the kind.", "News"))
    await maild.received(bot, code_mail(2, "482913"))
    assert (await waiting).data["value"] == "482913"


async def test_a_test_key_takes_no_code_from_live_ones(maild: Running, bot: dict[str, Any]) -> None:
    await maild.received(bot, code_mail(1, "482913"))
    assert (await claim(maild, bot, maild.test_api)).data["timedOut"]
    theirs = await proven(maild, bot, code_mail(2, "771122"), "github.test")
    maild.sql("UPDATE messages SET mode = 'test' WHERE id = ?", theirs)
    assert (await claim(maild, bot, maild.test_api)).data["value"] == "771122"
    assert (await claim(maild, bot)).data["value"] == "482913"


@on_shared
@pytest.mark.parametrize(
    ("asked", "faults"),
    [
        ({"allowUnverified": False}, {"": "required"}),
        ({"kinds": []}, {"kinds": "too_few"}),
        ({"kinds": ["password"]}, {"kinds[0]": "not_allowed"}),
        ({"waitSeconds": 56}, {"waitSeconds": "out_of_range"}),
        ({"fromDomain": "nonsense"}, {"fromDomain": "invalid_domain"}),
        ({"linkHosts": ["x.test"] * 11}, {"linkHosts": "too_many"}),
        ({"after": "soon"}, {"after": "invalid_cursor"}),
    ],
)
async def test_what_is_asked_for_is_looked_at(
    shared: Running, asked: dict[str, Any], faults: dict[str, str]
) -> None:
    bot = await shared.inbox(f"codes{abs(hash(str(asked)))}")
    assert (await claim(shared, bot, **asked)).faults == faults


async def test_only_who_may_read_the_inbox_claims_there(maild: Running, bot: dict[str, Any]) -> None:
    await maild.received(bot, code_mail(1, "482913"))
    other = await maild.inbox("other")
    bound = await maild.key(inbox=other)
    assert (await claim(maild, bot, bound)).code == "inbox_access_denied"
    assert (await claim(maild, bot, await maild.key("messages:send"))).code == "insufficient_scope"
    stranger = await maild.organization()
    assert (await claim(maild, bot, stranger.api)).code == "inbox_not_found"
    assert (await claim(maild, bot, await maild.key(inbox=bot))).data["value"] == "482913"


async def test_a_wait_may_ask_for_mail_with_a_code(maild: Running, bot: dict[str, Any]) -> None:
    plain = await maild.received(bot, mail(1, "Nothing of the kind.", "News"))
    coded = await maild.received(bot, code_mail(2, "482913"))
    for wanted, found in (("true", coded), ("false", plain)):
        answer = await maild.api.get(
            "/v1/messages/wait", hasCode=wanted, after=EVERYTHING, timeoutSeconds="0"
        )
        assert answer.data["message"]["id"] == found["id"]


@pytest.mark.parametrize("ask", ["wait", "claim"])
async def test_mail_without_a_code_is_looked_into_many_at_a_time(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch, ask: str
) -> None:
    """And the next look goes on behind the mail that was found."""
    words = ["Nothing of the kind."] * 30 + [
        "x" * PIECE_CHARS,
        "Your verification code is 482913.",
        "Nothing.",
    ]
    for number, one in enumerate(words):
        await maild.received(bot, mail(number, one, "News"))
    reads: list[str] = []
    read = Database.read_for

    async def noted(db: Database, organization_id: str, *given: Any, **more: Any) -> Any:
        reads.append(organization_id)
        return await read(db, organization_id, *given, **more)

    monkeypatch.setattr(Database, "read_for", noted)
    if ask == "claim":
        found = (await claim(maild, bot)).data
        assert (found["value"], found["cursor"]) == ("482913", found["messageId"])
    else:
        found = (await maild.api.get("/v1/messages/wait", hasCode="true", after=EVERYTHING)).data
        assert "482913" in found["message"]["textBody"] and found["cursor"] == found["message"]["id"]
    assert reads.count(maild.organization_id) <= 7  # of 33 mails: three pieces, one of them the large one
    rest = await maild.api.get("/v1/messages/wait", hasCode="false", after=found["cursor"])
    assert rest.data["message"]["textBody"] == "Nothing.\n"


async def test_a_code_whose_mail_was_deleted_is_not_told_again(maild: Running, bot: dict[str, Any]) -> None:
    got = await maild.received(bot, code_mail(1, "482 913"))
    assert (await claim(maild, bot, key="signup")).data["shown"] == "482 913"
    await maild.api.call("DELETE", f"/v1/messages/{got['id']}")
    again = (await claim(maild, bot, key="signup")).data
    assert (again["messageId"], again["value"], again["shown"]) == (got["id"], None, None)
