"""How `maildc` ends: its exit codes, what it says where something goes wrong, and what it does not do then."""

import asyncio
import json
import os
import shlex
import signal
import stat
from pathlib import Path
from typing import IO, Any

import pytest
from aiohttp import web

from maild_client.credentials import find
from tests.support.clients import maildc
from tests.support.clients.mcp import mail
from tests.support.peers.serving import serving
from tests.support.running import Running
from tests.support.waiting import GIVES_UP_S

KEY = "svc_live_abcdefghijklmnopqrstuvwxyz"


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    monkeypatch.setenv("MAILD_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("MAILD_API_KEY", KEY)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return monkeypatch


def use(environ: pytest.MonkeyPatch, url: str, key: str | None = KEY) -> None:
    environ.setenv("MAILD_URL", url)
    environ.setenv("MAILD_API_KEY", key or "")


@pytest.mark.parametrize(
    ("status", "code", "exit_code"),
    [
        (400, "validation_failed", 2),
        (400, "draft_incomplete", 1),
        (401, "invalid_api_key", 3),
        (402, "limit_reached", 6),
        (403, "recipient_not_allowed", 1),
        (403, "insufficient_scope", 3),
        (403, "inbox_access_denied", 3),
        (404, "inbox_not_found", 4),
        (409, "thread_advanced", 5),
        (410, "event_not_kept", 4),
        (413, "payload_too_large", 1),
        (422, "recipient_suppressed", 1),
        (429, "rate_limit_exceeded", 6),
        (500, "internal_error", 7),
        (503, "provider_unavailable", 7),
    ],
)
async def test_a_refusal_has_its_exit_code_and_its_envelope(
    environ: pytest.MonkeyPatch, status: int, code: str, exit_code: int
) -> None:
    error = {
        "code": code,
        "message": "Do this.",
        "details": {"limit": 7, "fields": [{"path": "to[0]", "message": "no"}]},
    }

    async def handle(asked: web.Request) -> web.Response:
        return web.json_response({"error": error}, status=status)

    async with serving(handle) as url:
        use(environ, url)
        told = await maildc.within("inboxes", "create", "--username", "a", "--json")
        assert (told.code, told.out, told.error) == (exit_code, "", error)
        words = await maildc.within("inboxes", "create", "--username", "a")
    assert (words.code, words.out) == (exit_code, "")
    assert words.said == f"maildc: Do this. [{code}]\n  to[0]: no\n  limit  7\n"


async def test_what_is_no_maild_and_what_is_not_there_is_the_servers_fault(
    environ: pytest.MonkeyPatch,
) -> None:
    async def handle(asked: web.Request) -> web.Response:
        return web.Response(status=404, text="<html>")

    async with serving(handle) as url:
        use(environ, url)
        assert (await maildc.within("inboxes", "create", "--username", "a")).code == 7
    done = await maildc.within("inboxes", "create", "--username", "a", "--json")
    assert (done.code, done.error["code"]) == (7, "connection_failed")


@pytest.mark.parametrize("status", [200, 500, 504])
async def test_a_send_whose_answer_a_proxy_lost_names_the_key_that_makes_it_one(
    environ: pytest.MonkeyPatch, status: int
) -> None:
    keys: list[str] = []

    async def handle(asked: web.Request) -> web.Response:
        keys.append(asked.headers["Idempotency-Key"])
        return web.Response(status=status, text="<html>", headers={"Retry-After": "0"})

    async with serving(handle) as url:
        use(environ, url)
        send = ("messages", "send", "--inbox-id", "inb_1", "--to", "ada@example.com", "--text", "once")
        done = await maildc.within(*send, "--json")
    assert len(set(keys)) == 1
    told = f"--idempotency-key {keys[0]} the same command happens once."
    assert done.code == 7 and told in done.error["message"]


async def test_a_redirect_gets_no_key(environ: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    async def handle(asked: web.Request) -> web.Response:
        seen.append(asked.path)
        return web.Response(status=307, headers={"Location": "/stolen"})

    async with serving(handle) as url:
        use(environ, url)
        done = await maildc.within("inboxes", "create", "--username", "a")
    assert done.code == 7 and seen == ["/v1/inboxes"] and KEY not in done.said


async def test_no_proxy_of_the_environment_reads_a_key_in_the_clear(environ: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    async def proxy(asked: web.Request) -> web.Response:
        seen.append(str(asked.url))
        return web.json_response({"data": []})

    async def server(asked: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "straight"}]})

    async with serving(proxy) as there, serving(server) as url:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            environ.setenv(name, there)
        use(environ, url)
        assert (await maildc.within("webhooks", "list")).json == [{"id": "straight"}]
    assert seen == []


@pytest.mark.parametrize("command", [("webhooks", "list"), ("mcp",), ("login",)])
@pytest.mark.parametrize(
    ("name", "value"), [("SSL_CERT_FILE", "/nowhere/ca.pem"), ("ALL_PROXY", "socks://127.0.0.1:9/")]
)
async def test_an_environment_that_can_not_be_used_is_told(
    command: tuple[str, ...], name: str, value: str
) -> None:
    done = await maildc.run(*command, url="https://127.0.0.1:9", key=KEY, stdin=KEY.encode(), **{name: value})
    assert (done.code, done.out) == (2, "")
    assert done.said.startswith(f"maildc: {name} of the environment can't be used: ")


@pytest.mark.parametrize(
    "words",
    [
        ("nope",),
        ("messages", "nope"),
        ("messages",),
        ("messages", "send", "--nope"),
        ("messages", "send", "--to", "a@x.test"),
        ("messages", "get"),
        ("messages", "list", "--limit", "many"),
        ("messages", "list", "--direction", "sideways"),
        ("messages", "send", "--body", "[]"),
        ("messages", "send", "--body", "{"),
        ("messages", "send", "--text", "@/nowhere/at/all"),
        ("messages", "send", "--headers", "novalue"),
        ("messages", "send", "--text", "-", "--html", "-"),
        ("messages", "send", "--attach", "/nowhere/at/all"),
        ("messages", "get", ".."),
        ("work", "inb_1", "--exec", ""),
        ("work", "inb_1", "--exec", "'"),
        ("work", "", "--exec", "true"),
        ("work", "thd_1", "--exec", "true"),
        ("messages", "get", "inb_1"),
        ("messages", "get", "msg_1\n"),
        ("reply", "thd_1", "--text", "Hello"),
        ("messages", "list", "--inbox-id", ""),
        ("wait", "--inbox-id", "thd_1"),
        ("messages", "send", "--inbox-id", "inb_1", "--to", "a@x.test", "--idempotency-key", ""),
        ("messages", "list", "--server", "https://mail.test/v1"),
        ("messages", "list", "--server", "nowhere"),
    ],
)
async def test_what_can_not_be_meant_is_usage(environ: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    done = await maildc.within(*words)
    assert (done.code, done.out) == (2, "") and done.said
    done = await maildc.within(*words, "--json")
    assert done.code == 2 and (words == ("messages",) or done.error["code"] == "usage")


@pytest.mark.parametrize(
    ("words", "meant"),
    [(("mesages", "list"), "messages"), (("messages", "lst"), "list"), (("raed",), "read")],
)
async def test_a_command_that_is_misspelled_is_told_with_the_one_that_is_meant(
    environ: pytest.MonkeyPatch, words: tuple[str, ...], meant: str
) -> None:
    done = await maildc.within(*words)
    assert done.code == 2 and f"Did you mean '{meant}'?" in done.said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("send",), "It stands behind what it is of: messages, drafts."),
        (("emails",), "There are: read, reply, wait, "),
        (("messages", "fetch"), "There are: "),
        (("inbox", "create"), "Did you mean 'inboxes'?"),
    ],
)
async def test_a_command_of_another_program_is_told_with_those_that_are(
    environ: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    """`send` was answered with "Did you mean 'listen'?", and `emails` with 'domains'."""
    done = await maildc.within(*words)
    assert done.code == 2 and said in done.said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("webhooks", "create", "--events", "x"), "There are: --url, --subscribed-events, "),
        (("messages", "list", "--inboxId", "inb_1"), "Did you mean '--inbox-id'?"),
    ],
)
async def test_an_option_of_another_program_is_told_with_those_that_are(
    environ: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    """`--events` was asked whether it is '--server'."""
    done = await maildc.within(*words)
    assert done.code == 2 and said in done.said


async def test_a_stdin_that_is_closed_holds_nothing() -> None:
    send = maildc.command("messages", "send", "--inbox-id", "inb_1", "--to", "a@x.test", "--text", "-")
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", f"{shlex.join(send)} <&-", stderr=asyncio.subprocess.PIPE,
        env=maildc.environment(MAILD_URL="http://127.0.0.1:9", MAILD_API_KEY=KEY),
    )  # fmt: skip
    _, said = await process.communicate()
    assert process.returncode == 2 and b"--text is blank" in said and b"Traceback" not in said


async def test_what_is_missing_is_named_all_at_once(environ: pytest.MonkeyPatch) -> None:
    done = await maildc.within("messages", "send", "--text", "hello")
    assert "Missing --inbox-id, --to." in done.said and "maildc messages send --help" in done.said


@pytest.mark.parametrize(
    "words",
    [
        ("messages", "delete", "msg_1"),
        ("messages", "change-many", "--ids", "msg_1", "--delete"),
        ("keys", "revoke", "key_1"),
        ("keys", "revoke-with-mail", "key_1"),
        ("queue", "drop"),
    ],
)
async def test_nothing_is_destroyed_without_a_yes(
    environ: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    asked: list[str] = []

    async def handle(request: web.Request) -> web.Response:
        asked.append(request.method)
        return web.json_response({"data": {"id": "x"}})

    async with serving(handle) as url:
        use(environ, url)
        done = await maildc.within(*words, stdin=b"y\n")
        assert done.code == 2 and "--yes" in done.said and asked == []
        seen = await maildc.on_terminal(*words, url=url, key=KEY, prompt=b"[y/N]", typed=b"n\n")
        assert seen.code == 130 and "[y/N]" in seen.text and asked == []
        seen = await maildc.on_terminal(*words, url=url, key=KEY, prompt=b"[y/N]", typed=b"y\n")
        assert seen.code == 0 and len(asked) == 1
        assert (await maildc.within(*words, "--yes")).code == 0 and len(asked) == 2


async def test_labels_are_changed_without_a_yes(environ: pytest.MonkeyPatch) -> None:
    async def handle(request: web.Request) -> web.Response:
        return web.json_response({"data": []})

    async with serving(handle) as url:
        use(environ, url)
        for more in (("--add-labels", "a"), ("--add-labels", "a", "--no-delete")):
            assert (await maildc.within("messages", "change-many", "--ids", "msg_1", *more)).code == 0


async def test_texts_come_from_arguments_files_and_stdin(environ: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bodies: list[dict[str, Any]] = []

    async def handle(request: web.Request) -> web.Response:
        bodies.append(await request.json())
        return web.json_response({"data": {"id": "x"}})

    (tmp_path / "words").write_text("from a file\n")
    (tmp_path / "body").write_text(
        '{"inboxId": "inb_1", "to": ["a@x.test"], "subject": "of the body", "cc": null}'
    )
    (tmp_path / "page.pdf").write_bytes(b"%PDF\xff")
    send = ("messages", "send", "--inbox-id", "inb_1", "--to", "a@x.test")
    async with serving(handle) as url:
        use(environ, url)
        for given, text in (
            ("plain", "plain"),
            ("@@x", "@x"),
            (f"@{tmp_path}/words", "from a file\n"),
            ("-", "ünter\n"),
        ):
            assert (await maildc.within(*send, "--text", given, stdin="ünter\n".encode())).code == 0
            assert bodies[-1] == {"inboxId": "inb_1", "to": ["a@x.test"], "text": text}
        body = f"@{tmp_path}/body"
        assert (
            await maildc.within("messages", "send", "--body", body, "--subject", "of the option")
        ).code == 0
        assert bodies[-1] == {"inboxId": "inb_1", "to": ["a@x.test"], "subject": "of the option", "cc": None}
        done = await maildc.within(*send, "--attach", f"{tmp_path}/page.pdf", "--headers", '{"X-A": "b=c"}')
        assert done.code == 0 and bodies[-1]["headers"] == {"X-A": "b=c"}
        attached = {"filename": "page.pdf", "contentType": "application/pdf", "content": "JVBERv8="}
        assert bodies[-1]["attachments"] == [attached]
        done = await maildc.within(*send, "--text", "-", stdin=b"\xff")
        assert done.code == 2 and "UTF-8" in done.said


@pytest.mark.parametrize(
    ("words", "stdin", "said"),
    [
        (r"Hi Ada,\n\nit is done.", b"", "$'"),
        ("", b"", "blank"),
        ("-", b" \n", "blank"),
    ],
)
@pytest.mark.parametrize("command", ["messages send --inbox-id inb_1 --to a@x.test", "reply msg_1"])
async def test_words_that_a_shell_did_not_write_are_not_sent(
    environ: pytest.MonkeyPatch, command: str, words: str, stdin: bytes, said: str
) -> None:
    """Shells leave a backslash and an n in quotes as they are, and a command that failed writes nothing."""
    done = await maildc.within(*command.split(), "--text", words, stdin=stdin)
    assert done.code == 2 and "--text" in done.said and said in done.said


async def test_words_that_are_meant_so_are_sent(environ: pytest.MonkeyPatch) -> None:
    bodies: list[dict[str, Any]] = []

    async def handle(request: web.Request) -> web.Response:
        bodies.append(await request.json())
        return web.json_response({"data": {"id": "x"}})

    meant = "Print \\n.\n"
    async with serving(handle) as url:
        use(environ, url)
        for words in (
            ("messages", "send", "--inbox-id", "inb_1", "--to", "a@x.test", "--text", meant),
            ("messages", "send", "--inbox-id", "inb_1", "--to", "a@x.test", "--text", "", "--html", "<p>w"),
            ("drafts", "update", "drf_1", "--text", ""),
        ):
            done = await maildc.within(*words)
            assert done.code == 0, done.said
    assert [one["text"] for one in bodies] == [meant, "", ""]


async def test_a_refused_reply_tells_what_came_and_sends_nothing(maild: Running) -> None:
    bot = await maild.inbox("bot")
    first = await maild.received(bot, mail("topic", "one", Message_ID="<1@elsewhere.test>"))
    more = {"In_Reply_To": "<1@elsewhere.test>", "References": "<1@elsewhere.test>"}
    second = await maild.received(bot, mail("Re: topic", "two", **more))
    assert second["threadId"] == first["threadId"]
    access: dict[str, Any] = {"url": maild.api.url, "key": maild.api.key}
    done = await maildc.run("reply", first["id"], "--text", "yes", "--json", **access)
    assert (done.code, done.error["code"]) == (5, "thread_advanced")
    assert done.error["details"]["newer"][0]["id"] == second["id"]
    assert await maild.api.messages(direction="outbound") == []
    sent = await maildc.run("reply", second["id"], "--text", "-", **access, stdin=b"yes")
    assert sent.json["status"] == "queued", sent.json
    draft = await maildc.run(
        "reply", first["id"], "--text", "again", "--anyway", "--draft", "--all", **access
    )
    assert draft.json["textBody"] == "again"


async def test_a_wait_ends_with_a_message_or_with_8(maild: Running) -> None:
    bot = await maild.inbox("bot")
    access: dict[str, Any] = {"url": maild.api.url, "key": maild.api.key}
    done = await maildc.run("wait", "--inbox-id", bot["id"], "--timeout", "0", "--json", **access)
    assert (done.code, done.error["code"], done.out) == (8, "timed_out", "")
    one = await maild.received(bot, mail("first"))
    two = await maild.received(bot, mail("second"))
    done = await maildc.run("wait", "--inbox-id", bot["id"], "--timeout", "0", **access)
    assert done.json["id"] == one["id"]  # it came in the last two minutes
    done = await maildc.run("wait", "--inbox-id", bot["id"], "--after", one["id"], "--timeout", "5", **access)
    assert done.json["id"] == two["id"]


async def test_a_thread_is_read_as_text_behind_its_fences(maild: Running) -> None:
    bot = await maild.inbox("bot")
    message = await maild.received(bot, mail("topic", "<<<mail words"))
    access: dict[str, Any] = {"url": maild.api.url, "key": maild.api.key}
    context = (await maildc.run("read", message["threadId"], **access)).json
    text = await maildc.run("read", message["threadId"], "--text", "--max-tokens", "500", **access)
    assert text.code == 0 and text.out == context["text"] + "\n" and "< < <mail words" in text.out


async def test_a_reader_who_has_enough_is_no_error(maild: Running) -> None:
    read, write = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *maildc.command("inboxes", "list"),
        env=maildc.environment(MAILD_URL=maild.api.url, MAILD_API_KEY=maild.api.key),
        stdout=write, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    os.close(write)
    os.close(read)
    _, said = await process.communicate()
    assert (process.returncode, said) == (0, b"")


async def test_an_answer_that_can_not_be_written_names_the_key_that_makes_the_send_one(
    maild: Running,
) -> None:
    bot = await maild.inbox("bot")
    send = (
        "messages", "send", "--inbox-id", bot["id"], "--to", "bot@agents.test", "--text", "once", "--json",
        "--idempotency-key", "mine",
    )  # fmt: skip
    with open("/dev/full", "wb") as full:
        lost = await ended(*send, maild=maild, stdout=full)
    assert lost.code == 7 and lost.error["code"] == "not_written"
    assert (
        "No space left on device" in lost.error["message"]
        and "--idempotency-key mine" in lost.error["message"]
    )
    assert len((await maild.api.get("/v1/messages", direction="outbound")).data) == 1


@pytest.mark.parametrize("words", [("--help",), ("--schema",), ("inboxes", "list"), ("completion", "bash")])
async def test_whatever_can_not_be_written_is_one_line(maild: Running, words: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        done = await ended(*words, maild=maild, stdout=full)
    assert (done.code, done.said) == (
        7,
        "maildc: stdout can't be written: No space left on device. [not_written]\n",
    )


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("to", ["a file", "stdout"])
async def test_no_part_of_a_message_passes_for_all_of_it(
    maild: Running, tmp_path: Path, to: str, unbuffered: str
) -> None:
    message = await maild.received(await maild.inbox("bot"), mail("long", "words " * 20_000))
    words = ("messages", "raw", message["id"], *(("--out", "part") if to == "a file" else ()))
    small_disk = 'ulimit -f 50; exec "$@"'  # blocks of 512 octets
    with (tmp_path / "stdout").open("wb") as stdout:
        process = await asyncio.create_subprocess_exec(
            "sh", "-c", small_disk, "sh", *maildc.command(*words),
            env=maildc.environment(
                MAILD_URL=maild.api.url, MAILD_API_KEY=maild.api.key,
                PYTHONUNBUFFERED=unbuffered, PYTHONDONTWRITEBYTECODE="1",
            ),
            cwd=tmp_path, stdout=stdout, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        _, said = await process.communicate()
    assert process.returncode == (2 if to == "a file" else 7) and b"can't be written: File too large." in said
    assert not (tmp_path / "part").exists()


async def test_who_wants_to_hear_nothing_learns_the_exit_code(maild: Running) -> None:
    with open("/dev/full", "wb") as full:
        assert (await ended("inboxes", "get", "inb_1", maild=maild, stderr=full)).code == 4
    closed = f"exec {shlex.join(maildc.command('inboxes', 'list'))} >&-"
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", closed, stderr=asyncio.subprocess.PIPE,
        env=maildc.environment(MAILD_URL=maild.api.url, MAILD_API_KEY=maild.api.key),
    )  # fmt: skip
    _, said = await process.communicate()
    assert (process.returncode, said) == (0, b"")


async def ended(
    *words: str, maild: Running, stdout: IO[bytes] | int = asyncio.subprocess.PIPE,
    stderr: IO[bytes] | int = asyncio.subprocess.PIPE,
) -> maildc.Done:  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        *maildc.command(*words), stdout=stdout, stderr=stderr,
        env=maildc.environment(MAILD_URL=maild.api.url, MAILD_API_KEY=maild.api.key),
    )  # fmt: skip
    out, said = await process.communicate()
    assert process.returncode is not None
    return maildc.Done(process.returncode, (out or b"").decode(), (said or b"").decode())


async def test_a_listener_tells_each_event_at_once_until_it_is_stopped(maild: Running) -> None:
    bot = await maild.inbox("bot")
    await maild.received(bot, mail("before"))
    (before,) = (await maild.api.get("/v1/events")).data
    await maild.received(bot, mail("behind"))
    access: dict[str, Any] = {"url": maild.api.url, "key": maild.api.key}
    process = await maildc.begin("listen", "--after", before["id"], **access)
    assert process.stdout is not None and process.stderr is not None and process.stdin is not None
    async with asyncio.timeout(GIVES_UP_S):
        events = [json.loads(await process.stdout.readline())]
        await maild.received(bot, mail("third"))
        events.append(json.loads(await process.stdout.readline()))
        assert [one["type"] for one in events] == ["email.received"] * 2
        process.send_signal(signal.SIGINT)
        assert await process.wait() == 130 and await process.stderr.read() == b""
    process.stdin.close()


# login -------------------------------------------------------------------------------------------


async def test_login_keeps_a_key_that_the_server_knows(maild: Running, tmp_path: Path) -> None:
    home, key = str(tmp_path / "config"), str(maild.api.key)
    words = ("login", "--server", f"{maild.api.url}/")
    done = await maildc.run(*words, stdin=f"{key}\n".encode(), XDG_CONFIG_HOME=home)
    assert (done.code, done.out) == (0, "") and key not in done.said
    file = tmp_path / "config" / "maildc" / "credentials.json"
    assert str(file) in done.said and stat.S_IMODE(file.stat().st_mode) == 0o600
    assert find({"XDG_CONFIG_HOME": home}) == (maild.api.url, key)
    listed = await maildc.run("inboxes", "list", XDG_CONFIG_HOME=home)
    assert [one["address"] for one in listed.json] == ["postmaster@agents.test"]


@pytest.mark.parametrize(("typed", "code"), [(b"svc_live_unknown_key\n", 3), (b"\n", 3), (b"two words\n", 3)])
async def test_login_keeps_no_key_that_is_none(
    maild: Running, tmp_path: Path, typed: bytes, code: int
) -> None:
    words = ("login", "--server", maild.api.url)
    done = await maildc.run(*words, stdin=typed, XDG_CONFIG_HOME=str(tmp_path / "config"))
    assert done.code == code and not (tmp_path / "config").exists()
    assert typed.strip() == b"" or typed.strip() not in done.said.encode()


async def test_login_on_a_terminal_shows_nothing_of_the_key(maild: Running, tmp_path: Path) -> None:
    key = str(maild.api.key)
    words = ("login", "--server", maild.api.url)
    seen = await maildc.on_terminal(
        *words, prompt=b"not shown", typed=f"{key}\n".encode(), XDG_CONFIG_HOME=str(tmp_path / "config")
    )
    assert seen.code == 0 and key not in seen.text and "not shown" in seen.text


async def test_no_command_takes_a_key_as_an_argument() -> None:
    told = json.loads((await maildc.within("--schema")).out)
    flags = {flag for one in told["commands"] for option in one["options"] for flag in option["flags"]}
    flags |= {flag for option in told["commonOptions"] for flag in option["flags"]}
    assert {"--key-file", "--to"} <= flags and not {
        "--api-key",
        "--key",
        "--token-file",
        "--password",
    } & flags
    assert os.environ.get("MAILD_API_KEY") is None
