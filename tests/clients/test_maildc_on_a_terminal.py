"""What a person sees of `maildc`, on a terminal: as in tests/clients/golden, and nothing of a mail that it obeys.

MAILD_GOLDEN=write writes those files anew."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.clients import maildc
from tests.support.clients.mcp import mail
from tests.support.running import Running

GOLDEN = Path(__file__).parent / "golden"
ALIKE = (
    (re.compile(r"\b([a-z]{3})_[0-9a-hjkmnp-tv-z]{26}\b"), r"\1_" + "0" * 26),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"), "2026-01-02T03:04:05.678Z"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"), "2026-01-02 03:04:05"),
    (re.compile(r"<[\w.-]+@agents\.test>"), "<id@agents.test>"),
)


def golden(name: str, text: str) -> None:
    for pattern, same in ALIKE:
        text = pattern.sub(same, text)
    file = GOLDEN / f"{name}.txt"
    if os.environ.get("MAILD_GOLDEN") == "write":
        file.write_text(text, "utf-8")
    assert text == file.read_text("utf-8"), f"{file.name}: MAILD_GOLDEN=write writes it anew"


@pytest.fixture
def access(maild: Running) -> dict[str, Any]:
    return {"url": maild.api.url, "key": maild.api.key}


async def test_what_a_person_sees(maild: Running, access: dict[str, Any]) -> None:
    bot = await maild.inbox("bot", name="The bot")
    raw = mail("Où est ma facture ?", "Bonjour,\n\nwhere is it?\n", Message_ID="<1@elsewhere.test>")
    message = await maild.received(bot, raw)
    for name, words in {
        "inboxes-list": ("inboxes", "list"),
        "messages-list": ("messages", "list"),
        "threads-list": ("threads", "list"),
        "webhooks-list-empty": ("webhooks", "list"),
        "messages-get": ("messages", "get", message["id"]),
        "read-message": ("read", message["id"]),
        "wait": ("wait", "--after", "2026-01-01", "--timeout", "5"),
        "messages-list-json": ("messages", "list", "--limit", "1", "--json"),
    }.items():
        seen = await maildc.on_terminal(*words, **access)
        assert seen.code == 0, (name, seen.text)
        golden(name, seen.text)


async def test_a_terminal_of_few_characters_is_shown_all_the_same(
    maild: Running, access: dict[str, Any]
) -> None:
    bot = await maild.inbox("bot")
    message = await maild.received(bot, mail("Łódź é", "where is it?\n"))
    seen = await maildc.on_terminal("read", message["id"], **access, PYTHONIOENCODING="latin-1")
    assert seen.code == 0 and "\\u0141\xf3d\\u017a \xe9".encode("latin-1") in seen.octets


async def test_errors_as_a_person_sees_them(maild: Running, access: dict[str, Any]) -> None:
    for name, code, words in (
        ("error-not-found", 4, ("inboxes", "get", "inb_00000000000000000000000000")),
        ("error-faults", 2, ("inboxes", "create", "--username", "x", "--domain", "y")),
        ("error-missing", 2, ("messages", "send")),
        ("error-key", 3, ("inboxes", "list", "--key-file", "/dev/null")),
    ):
        seen = await maildc.on_terminal(*words, **access)
        assert seen.code == code, (name, seen.text)
        golden(name, seen.text)


def test_help_as_a_person_sees_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    for words in ((), ("messages",), ("messages", "list"), ("work",)):
        done = maildc._within((*words, "--help"), b"")
        golden("-".join(("help", *words)), done.out)


EVIL = "\x1b]0;owned\x07\x9b31m\u202e\u200b\x08"


async def test_nothing_that_strangers_write_is_obeyed(maild: Running, access: dict[str, Any]) -> None:
    bot = await maild.inbox("bot")
    named = "=?utf-8?q?=1B=5D0=3Bowned=07=C2=9B31m=E2=80=AE=E2=80=8B=08?="
    raw = mail(
        named, f"words {EVIL}\rmore\x1b[2J", f"{named} <ada@elsewhere.test>",
        MIME_Version="1.0", Content_Type="text/plain; charset=utf-8", Message_ID="<1@elsewhere.test>",
    )  # fmt: skip
    first = await maild.received(bot, raw)
    again = mail(
        f"Re: {named}", EVIL, In_Reply_To="<1@elsewhere.test>", Content_Type="text/plain; charset=utf-8"
    )
    await maild.received(bot, again)
    assert "\x1b" in first["textBody"] or "\u202e" in first["textBody"], "the API tells it as it is"
    for code, *words in (
        (0, "messages", "list"),
        (0, "messages", "list", "--json"),
        (0, "messages", "get", first["id"]),
        (0, "read", first["id"]),
        (0, "read", first["threadId"]),
        (0, "threads", "get", first["threadId"]),
        (0, "wait", "--after", "2026-01-01"),
        (0, "events", "list"),
        (5, "reply", first["id"], "--text", "x"),  # tells the newer messages
        (2, "messages", "raw", first["id"]),
        (2, f"nope{EVIL}"),
        (2, "inboxes", "get", f"inb_{EVIL}"),
    ):
        seen = await maildc.on_terminal(*words, **access)
        assert seen.code == code, (words, seen.octets)
        shown = seen.text
        assert not [one for one in shown if ord(one) < 32 and one not in "\n\t"], (words, shown)
        assert not {*"\x7f\x9b\u202e\u200b"} & {*shown}, (words, shown)


async def test_bytes_go_to_files_and_overwrite_none(
    maild: Running, access: dict[str, Any], tmp_path: Path
) -> None:
    bot = await maild.inbox("bot")
    message = await maild.received(bot, mail("t", "words"))
    file = tmp_path / "raw.eml"
    words = ("messages", "raw", message["id"], "--out", str(file))
    assert (await maildc.on_terminal(*words, **access)).code == 0
    whole = file.read_bytes()
    assert whole.endswith(b"words\r\n")
    seen = await maildc.on_terminal(*words, **access)
    assert seen.code == 2 and "can't be written" in seen.text and file.read_bytes() == whole
    piped = await maildc.run("messages", "raw", message["id"], **access)
    assert piped.out.encode() == whole
