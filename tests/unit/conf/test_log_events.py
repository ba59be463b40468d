"""What the log tells has one name, told at one level, and no peer's words act on whoever reads it."""

import ast
from pathlib import Path

import pytest
import structlog
from structlog.testing import capture_logs

from conf.addresses import network_of
from conf.log_events import CLEAN_CHARS, LogEvent, clean, tell
from conf.strangers import LINES_PER_MINUTE, LINES_PER_MINUTE_IN_ALL, MINUTE_S, StrangerLog

ROOT = Path(__file__).parents[3]
CLIENTS = ROOT / "controlplane/clients"  # in programs of others, whose log is theirs
SOURCES = [
    file
    for room in ("maild", "controlplane", "storage", "conf")
    for file in (ROOT / room).rglob("*.py")
    if not file.is_relative_to(CLIENTS)
]


def decisions(source: str) -> list[str]:
    """The events that are told by their bare names: the first arguments of `….info(…)` and `….debug(…)`."""
    calls = [one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.Call)]
    return [
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in ("info", "debug", "note")
        and call.args
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    ]


def test_the_storage_alone_tells_by_bare_names_and_they_are_in_the_table() -> None:
    bare = {
        (file.relative_to(ROOT).parts[0], name) for file in SOURCES for name in decisions(file.read_text())
    }
    assert bare
    assert {(room, name) for room, name in bare if room != "storage" or name not in set(LogEvent)} == set()


def test_every_event_of_the_table_is_told_somewhere() -> None:
    text = "\n".join(file.read_text() for file in SOURCES if file.name != "log_events.py")
    outcomes = {"DELIVERED", "SENT", "DEFERRED", "BOUNCED", "EXPIRED", "SUPPRESSED", "FAILED"}  # of a verdict
    unused = [one for one in LogEvent if f"LogEvent.{one.name}" not in text and f'"{one}"' not in text]
    assert {one.name for one in unused} <= outcomes


@pytest.mark.parametrize("event", LogEvent)
def test_an_event_is_told_at_its_level(event: LogEvent) -> None:
    with capture_logs() as lines:
        tell(structlog.get_logger("maild.test"), event, message_id="msg_1")
    assert lines == [{"event": event.value, "log_level": event.level, "message_id": "msg_1"}]


@pytest.mark.parametrize(
    "words", ["\x1b[2J\r\n{}", "\x9b31m", "a\u2028b", "\u202etxt", "\ud800", "x" * 10_000, "\x00" * 10_000]
)
def test_a_peers_words_are_bounded_and_do_nothing(words: str) -> None:
    shown = clean(words)
    assert shown.isprintable()
    assert len(shown) <= CLEAN_CHARS


def test_plain_words_stay() -> None:
    assert clean("mailbox unavailable, grüße") == "mailbox unavailable, grüße"


# Strangers ---------------------------------------------------------------------------------------


class Later:
    """A loop's `call_later`, fired by hand."""

    def __init__(self) -> None:
        self.calls: list[tuple[float, object]] = []

    def __call__(self, seconds: float, work: object) -> None:
        self.calls.append((seconds, work))


def test_a_loud_stranger_takes_no_lines_from_another() -> None:
    told = StrangerLog(lambda: 0.0)
    with capture_logs() as lines:
        for _ in range(1000):
            told.note("refused", peer="192.0.2.1")
        told.note("refused", peer="192.0.2.2")
    assert len(lines) == LINES_PER_MINUTE + 1
    assert lines[-1]["peer"] == "192.0.2.2"


def test_one_networks_addresses_are_one_stranger() -> None:
    told = StrangerLog(lambda: 0.0)
    with capture_logs() as lines:
        for number in range(1000):
            told.note("refused", peer=f"2001:db8::{number:x}")
    assert len(lines) == LINES_PER_MINUTE
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff") != network_of("2001:db8:0:1::1")
    assert [network_of(odd) for odd in ("unknown", "", "zz:")] == ["unknown", "", "zz:"]


def test_many_strangers_write_so_many_lines_and_are_not_remembered_one_by_one() -> None:
    told = StrangerLog(lambda: 0.0)
    with capture_logs() as lines:
        for number in range(10_000):
            told.note("refused", peer=f"10.0.{number >> 8}.{number & 255}")
    assert len(lines) == LINES_PER_MINUTE_IN_ALL
    assert len(told._minutes["refused"].of) == LINES_PER_MINUTE_IN_ALL


def test_how_many_were_left_out_is_told_when_the_minute_is_over() -> None:
    at, later = [100.0], Later()
    told = StrangerLog(lambda: at[0], later=later)
    for _ in range(LINES_PER_MINUTE):
        told.note("refused", peer="192.0.2.1")
    at[0] = 130.0
    for _ in range(990):
        told.note("refused", peer="192.0.2.1")
    ((wait_s, tell_now),) = later.calls
    assert wait_s == MINUTE_S - 30
    with capture_logs() as lines:
        tell_now()  # type: ignore[operator]
        tell_now()  # type: ignore[operator]
    assert lines == [{"event": "left_out", "log_level": "info", "of": "refused", "suppressed": 990}]


def test_it_is_told_once() -> None:
    at, later = [0.0], Later()
    told = StrangerLog(lambda: at[0], later=later)
    for _ in range(LINES_PER_MINUTE + 5):
        told.note("refused")
    at[0] = MINUTE_S
    with capture_logs() as lines:
        told.note("refused")  # came before the timer
        later.calls[0][1]()  # type: ignore[operator]
    assert [one.get("suppressed") for one in lines] == [5]
