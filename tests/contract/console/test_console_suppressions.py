"""Suppressions in a person's hands: why mail to somebody doesn't go, and what is done about it."""

import html
import re
from urllib.parse import quote

import pytest

from storage.sending.queue_selection import QueueSelection
from tests.conftest import Start
from tests.support.clients.console import LOCAL, PageAnswer, Visitor
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.running import Running, until

PATH = "/console/suppressions"


@pytest.fixture
async def local(start: Start) -> Running:
    return await start(server=LOCAL)


def listed(page: PageAnswer) -> list[str]:
    """The addresses, as they stand in the table."""
    assert page.status == 200
    cells = re.findall(r'data-label="Address"><code title="sup_\w+">([^<]*)</code>', page.text)
    return [html.unescape(one) for one in cells]


async def suppress(maild: Running, email: str, reason: str = "manual") -> str:
    """The id of the suppression."""
    done = await maild.api.post("/v1/suppressions", {"email": email, "reason": reason})
    assert done.status == 201
    made: str = done.data["id"]
    return made


async def settled(maild: Running, message_id: str, status: str) -> None:
    """Wait until that became of its recipient."""

    async def look() -> bool | None:
        (recipient,) = (await maild.api.get(f"/v1/messages/{message_id}")).data["recipients"]
        return recipient["status"] == status or None

    await until(look)


def link_in(page: PageAnswer, words: str) -> str:
    """Where the one link of these words leads."""
    (path,) = re.findall(rf'<a href="([^"]*)">{words}</a>', page.text)
    return html.unescape(path)


async def test_an_address_is_added_listed_and_removed(local: Running) -> None:
    bot = await local.inbox("bot")
    member = await Visitor.sign_in(local)
    assert "No address is suppressed" in (await member.get(PATH)).said
    done = await member.post(PATH, email=" Ada@There.test ", reason="complaint")
    assert done.location == f"{PATH}?email=ada%40there.test&done=suppressed"
    page = await member.follow(done)
    assert listed(page) == ["ada@there.test"] and "no mail goes to it" in page.said
    assert "ada@there.test complaint by hand, or the API just now" in page.said
    (row,) = (await local.api.get("/v1/suppressions")).data
    assert (row["email"], row["reason"], row["source"]) == ("ada@there.test", "complaint", "api")
    assert (await local.api.send(bot, to=["ada@there.test"])).code == "recipient_suppressed"
    remove = f"{PATH}/{row['id']}/delete"
    (asked,) = re.findall(rf'<details class="ask">.*?action="{remove}".*?</details>', page.text, re.DOTALL)
    assert "wanted no more mail" in asked and "Remove <bdi>ada@there.test</bdi>" in asked
    done = await member.post(remove)
    assert done.location == f"{PATH}?done=suppression_removed"
    assert listed(await member.follow(done)) == []
    assert (await local.api.send(bot, to=["ada@there.test"])).status == 201
    again = await member.post(remove)
    assert again.status == 404 and "No suppression has this id" in again.said
    acts = (await local.api.get("/v1/audit", types="suppression.added,suppression.removed")).data
    assert [one["type"] for one in acts] == ["suppression.added", "suppression.removed"]
    assert all(one["actor"].startswith("mem_") and one["subject"] == row["id"] for one in acts)


async def test_who_adds_what_is_there_sees_it_as_it_stands(local: Running) -> None:
    kept = await suppress(local, "ada@there.test", "hard_bounce")
    for number in range(31):
        await suppress(local, f"n{number}@there.test")
    member = await Visitor.sign_in(local)
    page = await member.follow(await member.post(PATH, email="ADA@there.test", reason="manual"))
    assert listed(page) == ["ada@there.test"] and "ada@there.test hard bounce" in page.said
    assert kept in page.text


async def test_what_is_wrong_with_an_address_is_told(local: Running) -> None:
    member = await Visitor.sign_in(local)
    for email, reason, field in (
        ("nobody", "manual", "address"),
        ("Ada <ada@there.test>", "manual", "address"),
        ("", "manual", "address"),
        ("a" * 400 + "@there.test", "manual", "address"),
        ("ada@there.test", "because", "reason"),
        ("ada@there.test", "", "reason"),
    ):
        done = await member.post(PATH, email=email, reason=reason)
        assert done.status == 400 and f"{field}:" in done.said, (email, reason, done.said)
    assert (await local.api.get("/v1/suppressions")).data == []


async def test_one_reason_is_shown_alone(local: Running) -> None:
    await suppress(local, "a@there.test", "complaint")
    await suppress(local, "b@there.test", "unsubscribe")
    await suppress(local, "c@there.test", "complaint")
    member = await Visitor.sign_in(local)
    assert listed(await member.get(PATH)) == ["c@there.test", "b@there.test", "a@there.test"]
    page = await member.get(f"{PATH}?reason=complaint&email=")
    assert listed(page) == ["c@there.test", "a@there.test"]
    assert '<option value="complaint" selected>' in page.text
    assert "Nothing found" in (await member.get(f"{PATH}?reason=hard_bounce")).said
    assert len(listed(await member.get(f"{PATH}?reason=nonsense"))) == 3
    assert listed(await member.get(f"{PATH}?reason=complaint&email=a@there.test")) == ["a@there.test"]
    assert listed(await member.get(f"{PATH}?reason=complaint&email=b@there.test")) == []


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("you@there.test", " YOU@There.TEST "),
        ("you@there.test", "you+news@there.test"),
        ("you+news@there.test", "You+News@there.test"),
        ("ÄÖ@there.test", "äö@there.test"),
        ("a@bücher.test", "a@xn--bcher-kva.test"),
    ],
)
async def test_an_address_is_found_however_a_send_would_find_it(
    local: Running, stored: str, asked: str
) -> None:
    bot = await local.inbox("bot")
    found = await suppress(local, stored)
    await suppress(local, "another@there.test")
    assert (await local.api.send(bot, to=[asked.strip()])).code == "recipient_suppressed"
    member = await Visitor.sign_in(local)
    page = await member.get(f"{PATH}?email={quote(asked)}")
    assert len(listed(page)) == 1 and f"{PATH}/{found}/delete" in page.text


async def test_what_stops_the_tag_and_what_stops_all_are_both_found(local: Running) -> None:
    await suppress(local, "you+news@there.test", "unsubscribe")
    await suppress(local, "you@there.test", "hard_bounce")
    member = await Visitor.sign_in(local)
    page = await member.get(f"{PATH}?email=you%2Bnews@there.test")
    assert listed(page) == ["you+news@there.test", "you@there.test"]
    assert listed(await member.get(f"{PATH}?email=you@there.test")) == ["you@there.test"]


@pytest.mark.parametrize("asked", ["you@there.test", "%25@there.test", "_ou", "%ED%A0%80", "x" * 3000])
async def test_what_is_not_suppressed_is_said_to_be_so(local: Running, asked: str) -> None:
    await suppress(local, "you+news@there.test")
    member = await Visitor.sign_in(local)
    page = await member.get(f"{PATH}?email={asked}")
    assert listed(page) == [] and "It is not suppressed" in page.said and 'href="/console/rules"' in page.text


async def test_all_are_walked_through(local: Running) -> None:
    for number in range(65):
        await suppress(local, f"{'&' * 50}{number}@there.test", "manual" if number % 3 else "complaint")
    member = await Visitor.sign_in(local)
    for query, count in (("", 65), ("?reason=manual&email=", 43)):
        seen: list[str] = []
        path = f"{PATH}{query}"
        while path:
            page = await member.get(path)
            seen += listed(page)
            older = re.findall(r'href="([^"]*\?[^"]*cursor=[^"]+)"', page.text)
            path = html.unescape(older[0]) if older else ""
        numbers = [int(one.removeprefix("&" * 50).partition("@")[0]) for one in seen]
        assert len(numbers) == count and numbers == sorted(numbers, reverse=True)
    for query, field in (("cursor=nonsense", "cursor"), ("email=%00", "address")):
        page = await member.get(f"{PATH}?{query}")
        assert page.status == 400 and f"{field}:" in page.said


async def test_a_member_who_reads_finds_and_is_offered_no_more(local: Running) -> None:
    kept = await suppress(local, "ada@there.test")
    reader = await Visitor.sign_in(local, "member", "reader@people.test")
    page = await reader.get(f"{PATH}?email=ada@there.test")
    assert listed(page) == ["ada@there.test"]
    assert "Add an address" not in page.said and "Remove" not in page.said
    for path, form in ((PATH, {"email": "b@there.test", "reason": "manual"}), (f"{PATH}/{kept}/delete", {})):
        done = await reader.post(path, **form)
        assert done.status == 403 and "Your role reads" in done.said
    assert [one["id"] for one in (await local.api.get("/v1/suppressions")).data] == [kept]


async def test_a_message_leads_to_what_its_bounce_suppressed(start: Start) -> None:
    async with DnsServer() as dns, Mx() as mx:
        dns.add_mx("there.test")
        mx.always["RCPT", "gone@there.test"] = "550 5.1.1 no such user"
        maild = await start(
            server=LOCAL,
            dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
            outbound={"port": mx.port, "allow_private_networks": True},
        )
        sent = (await maild.api.send(await maild.inbox("bot"), to=["gone@there.test"])).data
        await settled(maild, sent["id"], "bounced")
        member = await Visitor.sign_in(maild)
        page = await member.get(link_in(await member.get(f"/console/messages/{sent['id']}"), "suppressed"))
        assert listed(page) == ["gone@there.test"] and "gone@there.test hard bounce bounce" in page.said
        assert sent["id"] in (await member.get(link_in(page, "the audit log"))).said


async def test_a_recipient_who_was_suppressed_meanwhile_leads_to_what_stops_it(local: Running) -> None:
    everything = QueueSelection()
    await local.operate(local.store.queue.change, "hold", everything)
    sent = (await local.api.send(await local.inbox("bot"), to=["ada+news@there.test"])).data
    await suppress(local, "ada@there.test", "unsubscribe")
    await local.operate(local.store.queue.change, "release", everything)

    async def retried() -> bool | None:  # once more where it was attempted meanwhile, and put off
        await local.operate(local.store.queue.change, "retry", everything)
        (recipient,) = (await local.api.get(f"/v1/messages/{sent['id']}")).data["recipients"]
        return recipient["status"] == "suppressed" or None

    await until(retried)
    member = await Visitor.sign_in(local)
    message = await member.get(f"/console/messages/{sent['id']}")
    page = await member.get(link_in(message, "since when"))
    assert listed(page) == ["ada@there.test"] and "ada@there.test unsubscribe" in page.said
