"""What a caller gives by mistake is told with its name, before anything is sent, and never read as something else."""

import asyncio
import inspect
import io
import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx2
import pytest

from maild_client import AsyncMaild, Claim, ConfigurationError, InvalidArgument, Maild, MaildError
from maild_client._given import ID_PREFIXES
from scripts import client_names
from tests.clients.worlds import KEY, MESSAGE, SENT, Clients, ScriptedServer, answer

TO = ["ada@example.com"]
AT = datetime(2026, 11, 21, 9, 30, tzinfo=timezone(timedelta(hours=1)))


@pytest.fixture(params=[True, False], ids=["coroutines", "plain"])
def clients(request: pytest.FixtureRequest) -> Clients:
    return Clients(is_async=request.param)


async def said(clients: Clients, ask: Callable[[Any], Any], answers: bytes = SENT) -> Any:
    """What was asked of the server, which was asked once."""
    async with ScriptedServer([answers]) as server:
        await clients.ask(server.url, ask)
        (asked,) = server.asked
    return asked


async def refused_here(
    clients: Clients, ask: Callable[[Any], Any], why: type[Exception] = InvalidArgument
) -> str:
    """What it is told with; nothing was sent."""
    async with ScriptedServer([MESSAGE]) as server:
        with pytest.raises(why) as error:
            await clients.ask(server.url, ask)
        assert server.asked == []
    return str(error.value)


def sends(**more: Any) -> Callable[[Any], Any]:
    return lambda client: client.messages.send(**{"inbox_id": "inb_1", "to": TO, **more})


# Ids ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "told"),
    [
        (None, "message_id takes an id, not None"),
        (7, "type int"),
        (b"msg_1", "type bytes"),
        ({"id": "msg_1"}, "give its 'id'"),
        ("", "'' is no id"),
        (" msg_1", "is no id"),
        ("msg_1\n", "is no id"),
        ("\ud800", "is no id"),
        ("inb_1", "message_id takes an id 'msg_…', and 'inb_1' is of another kind"),
        ("ada@example.com", "message_id takes an id 'msg_…', and 'ada@example.com' is none"),
    ],
)
async def test_what_is_no_id_is_asked_for_nowhere(clients: Clients, id: Any, told: str) -> None:
    assert told in await refused_here(clients, lambda client: client.messages.get(id))


@pytest.mark.parametrize("id", ["", {"id": "inb_1"}, "thd_1", "bot@example.com", 0])
async def test_a_filter_that_is_no_id_does_not_pass_for_an_empty_list(clients: Clients, id: Any) -> None:
    told = await refused_here(clients, lambda client: client.messages.list(inbox_id=id).page())
    assert told.startswith("inboxId")


def test_the_prefixes_of_ids_are_those_of_the_generator() -> None:
    named = {name.removesuffix("_id"): prefix for name, prefix in client_names.ID_PREFIXES.items()}
    assert {**named, "organization": "org"} == ID_PREFIXES


# Values -------------------------------------------------------------------------------------------


async def test_moments_may_be_datetimes(clients: Clients) -> None:
    assert (await said(clients, sends(send_at=AT))).json["sendAt"] == "2026-11-21T09:30:00+01:00"


@pytest.mark.parametrize(
    ("since", "told"), [(AT, "2026-11-21T09%3A30%3A00%2B01%3A00"), (date(2026, 11, 21), "2026-11-21")]
)
async def test_so_may_those_of_a_filter(clients: Clients, since: date, told: str) -> None:
    empty = answer(200, {"data": []})
    asked = await said(clients, lambda client: client.messages.list(since=since).page(), empty)
    assert asked.path == f"/v1/messages?since={told}"


async def test_a_datetime_without_a_zone_is_no_moment(clients: Clients) -> None:
    naive = AT.replace(tzinfo=None)
    assert (await refused_here(clients, sends(send_at=naive))).startswith("sendAt: ")
    told = await refused_here(clients, lambda client: client.messages.list(since=naive).page())
    assert told.startswith("since: ") and "time zone" in told


@pytest.mark.parametrize("octets", [b"\x00\xff", bytearray(b"\x00\xff"), memoryview(b"\x00\xff")])
async def test_octets_of_an_attachment_are_written_as_base64(clients: Clients, octets: Any) -> None:
    file = {"filename": "a.bin", "contentType": "application/x-a", "content": octets}
    asked = await said(clients, sends(attachments=[file]))
    assert asked.json["attachments"] == [{**file, "content": "AP8="}]


async def test_octets_are_written_wherever_an_attachment_is(clients: Clients) -> None:
    file = {"filename": "a.bin", "content": b"\x00\xff"}
    reply: Any = {"messageId": "msg_1", "attachments": [file]}
    asked = await said(clients, lambda client: client.messages.check(reply=reply))
    assert asked.json["reply"]["attachments"] == [{**file, "content": "AP8="}]


async def test_a_comma_in_an_entry_would_make_two_of_it(clients: Clients) -> None:
    told = await refused_here(clients, lambda client: client.messages.list(labels=["a,b"]).page())
    assert told == "labels: 'a,b' has a comma, which parts one from the next"


async def test_a_path_is_an_attachment(clients: Clients, tmp_path: Path) -> None:
    path = tmp_path / "invoice.pdf"
    path.write_bytes(b"\x00\xff")
    asked = await said(clients, sends(attachments=[path]))
    assert asked.json["attachments"] == [
        {"filename": "invoice.pdf", "contentType": "application/pdf", "content": "AP8="}
    ]
    told = await refused_here(clients, sends(attachments=[tmp_path / "none.pdf"]))
    assert told.startswith("attachments[0]: ") and "No such file" in told


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"to": "ada@example.com"}, "to takes a list, not a value of type str: put it in one, ['ada@example.com']"),
        ({"to": {"email": "ada@example.com"}}, "to takes a list"),
        ({"to": (one for one in TO)}, "to can't be a value of type generator"),
        ({"attachments": Path("a.pdf")}, "attachments takes a list"),
        ({"attachments": [{"filename": "a", "contentType": "b/c", "content": io.BytesIO()}]},
         "attachments[0].content can't be a value of type BytesIO"),
        ({"text": b"Hello"}, "text can't be a value of type bytes: text is a str"),
        ({"text": float("nan")}, "text can't be"),
        ({"headers": {1: "x"}}, "headers: the name of a member is a str"),
        ({"idempotency_key": ""}, "Idempotency-Key has 1 to 255"),
        ({"idempotency_key": UUID(int=1)}, "idempotency_key takes a str"),
    ],
)  # fmt: skip
async def test_what_can_not_be_said_is_told_with_its_name(clients: Clients, given: Any, told: str) -> None:
    assert told in await refused_here(clients, sends(**given))


async def test_what_is_as_good_as_a_list_is_one(clients: Clients) -> None:
    for to in (tuple(TO), set(TO), deque(TO), dict.fromkeys(TO).keys()):
        assert (await said(clients, sends(to=to))).json["to"] == TO


@pytest.mark.parametrize("ask", [
    lambda client: client.messages.list(labels={"unread": True}).page(),
    lambda client: client.messages.wait(timeout_seconds=timedelta(seconds=5)),
])  # fmt: skip
async def test_a_parameter_that_has_no_text_is_told(clients: Clients, ask: Callable[[Any], Any]) -> None:
    await refused_here(clients, ask)


async def test_labels_are_no_letters() -> None:
    """`list("done")` would be four labels."""
    data: Any = {"id": "clm_1", "messageId": "msg_1", "threadId": "thd_1", "attempt": 1}
    with Maild(KEY, "http://a.test") as client:
        claim = Claim(client._transport, data, 30)
        with pytest.raises(InvalidArgument, match="add_labels takes a list"):
            claim.finish(add_labels="done")


# Names --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("inReplyTo", "is it 'in_reply_to'?"),
        ("attachment", "is it 'attachments'?"),
        ("body", "it takes: inbox_id, to,"),
    ],
)
async def test_a_name_that_is_not_there_is_told_with_those_that_are(
    clients: Clients, name: str, told: str
) -> None:
    assert told in await refused_here(clients, sends(**{name: "x"}), TypeError)


async def test_what_is_said_by_name_is_told_by_name(clients: Clients) -> None:
    told = await refused_here(clients, lambda client: client.messages.send("inb_1", TO), TypeError)
    assert "takes by name: inbox_id=…, to=…" in told


def test_methods_are_still_what_they_are() -> None:
    assert inspect.iscoroutinefunction(AsyncMaild(KEY, "http://a.test").messages.get)
    assert Maild.__doc__ and "message" in (Maild(KEY, "http://a.test").messages.get.__doc__ or "")


# The client ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [
    {"timeout": None}, {"timeout": 0}, {"timeout": -1}, {"timeout": "5"}, {"timeout": float("nan")},
    {"timeout": timedelta(seconds=5)}, {"max_retries": None}, {"max_retries": -1}, {"max_retries": "2"},
    {"http_client": 1}, {"api_key": 5}, {"api_key": b"x"}, {"api_key": ""}, {"url": 5}, {"url": ""},
    {"url": "http://a..b"}, {"url": "https://a.test/v1"}, {"url": "https://a.test/v1/"},
])  # fmt: skip
@pytest.mark.parametrize("kind", [Maild, AsyncMaild])
def test_an_option_that_can_not_be_is_told_at_once(
    monkeypatch: pytest.MonkeyPatch, kind: Any, options: dict[str, Any]
) -> None:
    """A blank key above all: the one of the environment may be its owner's."""
    monkeypatch.setenv("MAILD_API_KEY", KEY)
    monkeypatch.setenv("MAILD_URL", "http://a.test")
    with pytest.raises(ConfigurationError):
        kind(**options)
    if options.keys() <= {"timeout", "max_retries"} and None not in options.values():
        with pytest.raises(ConfigurationError):
            kind().with_options(**options)


@pytest.mark.parametrize("kind", [Maild, AsyncMaild])
@pytest.mark.parametrize("given", [("https://mail.test",), ("https://mail.test", KEY)])
def test_an_address_in_the_place_of_the_key_is_told(
    monkeypatch: pytest.MonkeyPatch, kind: Any, given: tuple[str, ...]
) -> None:
    """The key was said to be no address, or the address sent as a key."""
    monkeypatch.setenv("MAILD_URL", "http://a.test")
    with pytest.raises(ConfigurationError, match="the key stands before the address") as told:
        kind(*given)
    assert KEY not in str(told.value)


def test_each_kind_of_client_has_its_own_http_client() -> None:
    with pytest.raises(ConfigurationError, match="AsyncClient"):
        AsyncMaild(KEY, "http://a.test", http_client=httpx2.Client())  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="Client"):
        Maild(KEY, "http://a.test", http_client=httpx2.AsyncClient())  # type: ignore[arg-type]


async def test_a_client_of_another_event_loop_says_so() -> None:
    async with ScriptedServer([MESSAGE]) as server:
        client = AsyncMaild(KEY, server.url)
        await client.messages.get("msg_1")

        async def read() -> Any:
            return await client.messages.get("msg_1")

        async def read_otherwise() -> Any:
            return await client.with_options(timeout=1).messages.get("msg_1")

        for again in (read, read_otherwise):
            with pytest.raises(RuntimeError, match="another event loop"):
                await asyncio.to_thread(asyncio.run, again())
        await client.aclose()


async def test_a_client_of_another_process_says_so() -> None:
    """What both ask on one connection, either reads the answers to."""

    def in_a_child(client: Maild) -> int:
        client.messages.get("msg_1")
        child = os.fork()
        if child:
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        refusals = 0
        for one in (client, client.with_options(timeout=1)):
            with suppress(BaseException):
                try:
                    one.messages.get("msg_1")
                except RuntimeError as told:
                    refusals += "another process" in str(told)
        os._exit(refusals)

    async with ScriptedServer([MESSAGE]) as server:
        assert await Clients(is_async=False).ask(server.url, in_a_child) == 2
        assert len(server.asked) == 1


async def test_whether_a_list_has_items_is_not_known_before(clients: Clients) -> None:
    await refused_here(clients, lambda client: not client.messages.list(), TypeError)


async def test_an_answer_is_that_of_one_request(clients: Clients) -> None:
    for method in (lambda: 1, "get"):
        told = await refused_here(clients, lambda client: client.with_response(method), TypeError)  # noqa: B023
        assert "takes a method" in told
    if not clients.is_async:
        told = await refused_here(
            clients, lambda client: client.with_response(client.messages.list), TypeError
        )
        assert ".page" in told


@pytest.mark.parametrize(
    "wrong", [{"handle": None}, {"handle": "handle"}, {"concurrency": 0}, {"concurrency": "2"}]
)
async def test_nothing_is_claimed_for_who_can_not_work(clients: Clients, wrong: dict[str, Any]) -> None:
    given = {"handle": print, **wrong}
    await refused_here(clients, lambda client: client.inboxes.work("inb_1", **given), ConfigurationError)


async def test_a_coroutine_function_is_no_handler_of_threads() -> None:
    async def handle(message: Any, claim: Any) -> None: ...

    told = await refused_here(
        Clients(is_async=False), lambda client: client.inboxes.work("inb_1", handle), ConfigurationError
    )
    assert "AsyncMaild" in told


def test_what_a_call_was_given_is_told_as_all_else_is() -> None:
    assert issubclass(InvalidArgument, MaildError) and issubclass(InvalidArgument, ValueError)
