"""Bodies as large as their senders like: never on the event loop, never in memory as a whole."""

import asyncio
import json
import threading
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import pytest
from structlog.testing import capture_logs

from conf.tuning import ApiTuning, Tuning
from controlplane.mail import bodies
from controlplane.operations.mail.shown_messages import read_bodies
from maild.message.parsing.parse import read_text
from maild.message.parsing.text_stream import text_pieces
from storage.mail.blobs import Blob, Blobs
from tests.conftest import Start
from tests.support.running import Running

EVIL = (
    '<p onclick="x()">words</p><script>alert(1)</script><img src="cid:a"><a href="javascript:x()">link</a>\n'
)


def mail(kind: str, body: str, charset: str = "utf-8") -> bytes:
    head = f"From: ada@elsewhere.test\nSubject: large\nMIME-Version: 1.0\nContent-Type: {kind}; charset={charset}\n\n"
    return (head + body).encode("utf-8").replace(b"\n", b"\r\n")


@pytest.fixture
def where(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The threads that read text out of stored bytes."""
    seen: set[str] = set()

    def noted(*args: Any, **named: Any) -> Any:
        seen.add(threading.current_thread().name.partition("_")[0])
        return read_text(*args, **named)

    def noted_pieces(*args: Any) -> Iterator[str | None]:
        for piece in text_pieces(*args):
            seen.add(threading.current_thread().name.partition("_")[0])
            yield piece

    monkeypatch.setattr(bodies, "read_text", noted)
    monkeypatch.setattr(bodies, "text_pieces", noted_pieces)
    return seen


@pytest.mark.parametrize(("size", "place"), [(2_000, "MainThread"), (60_000, "cpu"), (900_000, "cpu")])
async def test_what_is_not_small_is_decoded_off_the_loop(
    maild: Running, bot: dict[str, Any], where: set[str], size: int, place: str
) -> None:
    html = "<p>" + 'w\u00f6rds "<&>" \u2028\t' * (size // 18) + "</p>\n"
    whole = await maild.received(bot, mail("text/html", html))
    assert whole["htmlBody"] == html and where == {place}
    (shown,) = (await maild.api.get(f"/v1/threads/{whole['threadId']}")).data["messages"]
    assert shown["html"] == shown["htmlBody"] == html
    labelled = (await maild.api.call("PATCH", f"/v1/messages/{whole['id']}", {"labels": []})).data
    assert labelled == {**whole, "labels": []}
    assert where == {place}


async def test_many_who_read_huge_messages_hold_little_memory(maild: Running, bot: dict[str, Any]) -> None:
    await maild.deliver(bot["address"], mail("text/html", "words " * 2_000_000))
    (message,) = await maild.api.messages()
    headers = {"Authorization": f"Bearer {maild.api.key}"}

    async def read() -> int:
        size = 0
        async with maild._session.get(
            f"{maild.api.url}/v1/messages/{message['id']}", headers=headers
        ) as response:
            async for piece in response.content.iter_any():
                size += len(piece)
        return size

    tracemalloc.start()
    try:
        sizes = await asyncio.gather(*(read() for _ in range(5)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert min(sizes) > 12_000_000 > peak


@pytest.fixture
def octets(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many octets of stored messages were asked for, each time."""
    asked: list[int] = []
    read = Blobs.read

    def counted(self: Blobs, blob: Blob, offset: int = 0, length: int | None = None) -> bytes:
        asked.append(blob.size_bytes - offset if length is None else length)
        return read(self, blob, offset, length)

    monkeypatch.setattr(Blobs, "read", counted)
    return asked


async def test_events_read_no_more_of_a_text_than_they_show(
    maild: Running, bot: dict[str, Any], where: set[str], octets: list[int]
) -> None:
    text = "w\u00f6rds " * 1_000_000
    await maild.deliver(bot["address"], mail("text/plain", text))
    (event,) = (await maild.api.get("/v1/events")).data
    assert event["data"]["textTruncated"] is True
    shown = event["data"]["text"].encode()
    assert text.encode().startswith(shown) and 64 * 1024 - 4 <= len(shown) <= 64 * 1024
    assert sum(octets) < 1_000_000 and where == {"cpu"}


async def test_html_that_came_in_is_shown_sanitised_where_that_is_asked_for(
    maild: Running, bot: dict[str, Any]
) -> None:
    whole = await maild.received(bot, mail("text/html", EVIL))
    path = f"/v1/messages/{whole['id']}"
    assert whole["htmlBody"] == EVIL == (await maild.api.get(path, html="original")).data["htmlBody"]
    clean = (await maild.api.get(path, html="sanitized")).data
    assert clean == {**whole, "htmlBody": '<p>words</p><img src="cid:a"><a>link</a>\n'}
    assert (await maild.api.get(path, html="x")).faults == {"html": "not_allowed"}
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()  # no attempt changes it between two looks
    sent = (await maild.api.send(bot, html=EVIL, text="words", sendAt=later)).data
    own = f"/v1/messages/{sent['id']}"
    assert (await maild.api.get(own, html="sanitized")).data == (await maild.api.get(own)).data
    plain = await maild.received(bot, mail("text/plain", "words"))
    assert (await maild.api.get(f"/v1/messages/{plain['id']}", html="sanitized")).data == plain


async def test_huge_html_is_sanitised_as_far_as_is_told(start: Start, where: set[str]) -> None:
    maild = await start(tuning=Tuning(api=ApiTuning(sanitized_chars=10_000)))
    bot = await maild.inbox("bot")
    message = await maild.received(bot, mail("text/html", "<b>words</b>" * 100_000))
    where.clear()
    answer = await maild.api.get(f"/v1/messages/{message['id']}", html="sanitized")
    html = json.loads(answer.body)["data"]["htmlBody"]
    assert html.startswith("<b>words</b>" * 800) and html.endswith("</b>") and len(html) < 11_000
    assert where == {"cpu"}


async def test_html_too_deep_to_sanitise_is_shown_as_its_words(maild: Running, bot: dict[str, Any]) -> None:
    """Its tree would take minutes, on the thread that reads everybody's mail."""
    message = await maild.received(bot, mail("text/html", "<div>" * 100_000 + "1 &lt; 2<script>x()</script>"))
    answer = await maild.api.get(f"/v1/messages/{message['id']}", html="sanitized")
    assert answer.data["htmlBody"] == "<pre>1 &lt; 2</pre>"


async def test_an_answer_whose_message_is_deleted_meanwhile_is_cut_and_is_no_fault(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    message = await maild.received(bot, mail("text/plain", "a line with some words in it\n" * 20_000))

    async def deleted_behind_it(*asked: Any, **how: Any) -> bodies.Bodies:
        found = await read_bodies(*asked, **how)
        assert (await maild.api.call("DELETE", f"/v1/messages/{message['id']}")).status == 200
        return found

    monkeypatch.setattr("controlplane.operations.mail.shown_messages.read_bodies", deleted_behind_it)
    with capture_logs() as lines, pytest.raises(aiohttp.ClientPayloadError):
        await maild.api.call("GET", f"/v1/messages/{message['id']}")
    assert [one["event"] for one in lines if one["log_level"] == "error"] == []
    assert "http_answer_cut" in {one["event"] for one in lines}
