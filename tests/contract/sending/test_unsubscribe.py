"""Unsubscribing: contract, section 4; decisions.md, "Unsubscribe, suppressions"; RFC 8058; threat S24."""

import asyncio
import json
import re
from typing import Any

import dkim
import pytest

from maild.message.unsubscribe import Grant, make
from tests.conftest import Start
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx, Received
from tests.support.running import Running, until
from tests.support.worlds.store import ManualClock

PATH = "/v1/unsubscribe"
ONE_CLICK = b"List-Unsubscribe=One-Click"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
ABSENT = "msg_01m7yg00000000000000000000"


def token_for(
    maild: Running, bot: dict[str, Any], address: str = "reader@elsewhere.test", **fields: Any
) -> str:
    """What stands in the mail that the reader got."""
    key = maild.server_secret("unsubscribe")
    grant = Grant(bot["organizationId"], bot["id"], ABSENT, address, 4_000_000_000)
    return make(key, grant._replace(**fields))


async def click(maild: Running, token: str, body: bytes = ONE_CLICK, **headers: str) -> Any:
    api = maild.api.with_key(None)
    return await api.call("POST", f"{PATH}?token={token}", data=body, headers={**FORM, **headers})


async def test_one_click_takes_the_reader_off_the_list(maild: Running, bot: dict[str, Any]) -> None:
    token = token_for(maild, bot, "Reader@Elsewhere.test")
    answer = await click(maild, token)
    assert (answer.status, answer.data) == (
        200, {"email": "Reader@Elsewhere.test", "status": "unsubscribed"}
    )  # fmt: skip
    (row,) = (await maild.api.get("/v1/suppressions")).data
    assert (row["email"], row["reason"], row["source"]) == (
        "reader@elsewhere.test", "unsubscribe", "list_unsubscribe"
    )  # fmt: skip
    refused = await maild.api.send(bot, to=["reader@elsewhere.test"])
    assert (refused.status, refused.error["details"]["source"]) == (422, "list_unsubscribe")
    ((data, inbox_id, message_id),) = maild.sql(
        "SELECT data, inbox_id, message_id FROM events WHERE type = 'email.unsubscribed'"
    )
    assert json.loads(data) == {
        "email": "Reader@Elsewhere.test", "messageId": ABSENT, "inboxId": bot["id"],
        "source": "one_click", "suppressionId": row["id"],
    }  # fmt: skip
    assert (inbox_id, message_id) == (bot["id"], ABSENT)


@pytest.mark.parametrize("more", [b"&a=1" * 30, b"&=" * 4000, b"&;%ff=%00"])
async def test_a_form_with_all_sorts_of_fields(maild: Running, bot: dict[str, Any], more: bytes) -> None:
    assert (await click(maild, token_for(maild, bot), ONE_CLICK + more)).status == 200


async def test_twice_is_once(maild: Running, bot: dict[str, Any]) -> None:
    token = token_for(maild, bot)
    answers = await asyncio.gather(*(click(maild, token) for _ in range(10)))
    assert {one.body for one in answers} == {answers[0].body}
    assert maild.sql("SELECT count(*) FROM events WHERE type = 'email.unsubscribed'") == [(1,)]


async def test_looking_changes_nothing(maild: Running, bot: dict[str, Any]) -> None:
    path = f"{PATH}?token={token_for(maild, bot)}"
    for method in ("GET", "HEAD", "GET"):
        answer = await maild.api.with_key(None).call(method, path)
        assert answer.status == 200
        assert answer.headers["Content-Type"].startswith("text/html")
    assert b"reader@elsewhere.test" in answer.body and b"bot@agents.test" in answer.body
    assert re.search(rb"<form[^>]*method=\"post\"", answer.body)
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert (await maild.api.get("/v1/suppressions")).data == []


async def test_the_button_of_the_page(maild: Running, bot: dict[str, Any]) -> None:
    answer = await click(maild, token_for(maild, bot), b"", **BROWSER)
    assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/html")
    assert b"Unsubscribed" in answer.body
    ((data,),) = maild.sql("SELECT data FROM events WHERE type = 'email.unsubscribed'")
    assert json.loads(data)["source"] == "link"


async def test_a_multipart_form_is_one_click_too(maild: Running, bot: dict[str, Any]) -> None:
    body = b'--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n'
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    answer = await click(maild, token_for(maild, bot), body, **headers)
    assert answer.data["status"] == "unsubscribed"
    ((data,),) = maild.sql("SELECT data FROM events WHERE type = 'email.unsubscribed'")
    assert json.loads(data)["source"] == "one_click"


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("query", ["", "?token="])
async def test_without_a_token(maild: Running, method: str, query: str) -> None:
    answer = await maild.api.with_key(None).call(method, PATH + query)
    assert (answer.status, answer.code) == (400, "missing_token")


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_tokens_that_are_none_of_ours(maild: Running, bot: dict[str, Any], method: str) -> None:
    good = token_for(maild, bot)
    expired = token_for(maild, bot, expires_at_s=1_700_000_000)
    for token in ("x", good[:-1], good + "A", good.swapcase(), "%00", "%F0%9F%98%80", "a" * 2000, expired):
        answer = await maild.api.with_key(None).call(method, f"{PATH}?token={token}", headers=FORM)
        assert (answer.status, answer.code) == (400, "invalid_or_expired_token"), token
    assert (await maild.api.get("/v1/suppressions")).data == []


async def test_a_browser_reads_what_is_wrong(maild: Running) -> None:
    answer = await maild.api.with_key(None).call("GET", f"{PATH}?token=x", headers=BROWSER)
    assert answer.status == 400 and answer.headers["Content-Type"].startswith("text/html")
    assert b"does not work" in answer.body


async def test_a_link_is_good_for_400_days(start: Start) -> None:
    clock = ManualClock(1_795_219_200_000)
    maild = await start(clock=clock)
    bot = await maild.inbox("bot")
    token = token_for(maild, bot, expires_at_s=1_795_219_200 + 400 * 86_400)
    clock.forward(400 * 86_400 - 1)
    assert (await click(maild, token)).status == 200
    clock.forward(1)
    assert (await click(maild, token)).code == "invalid_or_expired_token"


async def test_what_strangers_send_is_short(maild: Running, bot: dict[str, Any]) -> None:
    answer = await click(maild, token_for(maild, bot), b"x" * 100_000)
    assert (answer.status, answer.code) == (413, "payload_too_large")


async def test_of_what_kind_a_body_is_said_to_be_is_no_error_of_ours(maild: Running) -> None:
    headers = {**FORM, "Content-Type": "(" * 8000}
    answer = await maild.api.with_key(None).call("POST", f"{PATH}?token=x", data=ONE_CLICK, headers=headers)
    assert answer.status == 400


async def test_names_in_the_page_are_words_not_markup(maild: Running, bot: dict[str, Any]) -> None:
    token = token_for(maild, bot, '"<script>alert(1)</script>"@elsewhere.test')
    page = await maild.api.with_key(None).call("GET", f"{PATH}?token={token}")
    assert b"<script" not in page.body


async def test_it_holds_for_that_organization_alone(maild: Running, bot: dict[str, Any]) -> None:
    await click(maild, token_for(maild, bot))
    stranger = await maild.organization()
    theirs = await maild.inbox("theirs", stranger.api)
    assert (await stranger.api.send(theirs, to=["reader@elsewhere.test"])).status == 201


async def test_a_wish_outlasts_a_bounce(maild: Running, bot: dict[str, Any]) -> None:
    await maild.api.post("/v1/suppressions", {"email": "reader@elsewhere.test", "reason": "hard_bounce"})
    await click(maild, token_for(maild, bot))
    (row,) = (await maild.api.get("/v1/suppressions")).data
    assert row["reason"] == "unsubscribe"
    assert maild.sql("SELECT count(*) FROM events WHERE type = 'email.unsubscribed'") == [(1,)]


async def test_a_wrong_method_is_told_without_a_key(maild: Running) -> None:
    answer = await maild.api.with_key(None).call("PUT", PATH)
    assert (answer.status, answer.code) == (405, "method_not_allowed")


async def test_every_recipient_gets_a_copy_with_a_signed_link_of_its_own(start: Start) -> None:
    """As the receiving host sees it: the links work, and cover nobody else."""
    async with DnsServer() as dns, Mx() as mx:
        dns.add_mx("elsewhere.test")
        maild = await start(
            dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
            outbound={"port": mx.port, "allow_private_networks": True},
        )
        bot = await maild.inbox("bot")
        to = ["a@elsewhere.test", "b@elsewhere.test"]
        await maild.api.send(bot, to=to, bcc=["c@elsewhere.test"], text="news", unsubscribe=True)

        async def look() -> list[Received] | None:
            return mx.received if len(mx.received) == 3 else None

        await follow_links(maild, await until(look))


async def follow_links(maild: Running, received: list[Received]) -> None:
    ((public,),) = maild.sql("SELECT public_key FROM dkim_keys WHERE domain_name = 'agents.test'")
    assert sorted(one.recipients for one in received) == [
        ["a@elsewhere.test"], ["b@elsewhere.test"], ["c@elsewhere.test"]
    ]  # fmt: skip
    for one in received:
        raw = one.raw
        link = re.search(
            rb"^List-Unsubscribe: <https://api\.agents\.test(/v1/unsubscribe\?token=[\w-]+)>\r$", raw, re.M
        )
        assert link and b"\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n" in raw
        signature = re.search(rb"DKIM-Signature:(.*?)\r\n(?=\S)", raw, re.S)
        assert signature
        signed = re.sub(rb"\s", b"", signature[1]).split(b"h=")[1].split(b";")[0].split(b":")
        assert {b"list-unsubscribe", b"list-unsubscribe-post"} <= set(signed)
        assert dkim.verify(
            raw,
            dnsfunc=lambda name, timeout=5: f"v=DKIM1; k=rsa; p={public}".encode(),
        )
        answer = await maild.api.with_key(None).call("POST", link[1].decode(), data=ONE_CLICK, headers=FORM)
        assert answer.data["email"] == one.recipients[0]


async def test_an_inbox_of_this_host_gets_its_link_too(maild: Running, bot: dict[str, Any]) -> None:
    reader = await maild.inbox("reader")
    await maild.api.send(bot, to=[reader["address"]], text="news", unsubscribe=True)
    arrived = await maild.arrival(reader)
    raw = (await maild.api.call("GET", f"/v1/messages/{arrived['id']}/raw")).body
    link = re.search(
        rb"^List-Unsubscribe: <https://api\.agents\.test(/v1/unsubscribe\?token=[\w-]+)>\r$", raw, re.M
    )
    assert link is not None
    answer = await maild.api.with_key(None).call("POST", link[1].decode(), data=ONE_CLICK, headers=FORM)
    assert answer.data["email"] == reader["address"]


async def test_without_being_asked_for_there_is_none(maild: Running, bot: dict[str, Any]) -> None:
    reader = await maild.inbox("reader")
    await maild.api.send(bot, to=[reader["address"]], text="news")
    arrived = await maild.arrival(reader)
    assert b"List-Unsubscribe" not in (await maild.api.call("GET", f"/v1/messages/{arrived['id']}/raw")).body
