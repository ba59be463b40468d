"""What systemd/maild.service allows the daemon to do, beside what the daemon does; and when it starts it again."""

import re
from collections import defaultdict
from pathlib import Path

from maild.cli.common import EXIT_FAULT

UNIT = Path(__file__).resolve().parents[2] / "systemd" / "maild.service"
OF_RESOURCES = ("@resources", "setpriority")  # systemd-analyze syscall-filter @resources


def test_threads_in_the_background_may_make_themselves_nicer() -> None:
    lines = [line for line in UNIT.read_text().splitlines() if line.startswith("SystemCallFilter=")]
    is_allowed = False
    for line in lines:  # each adds to what the first one began, or takes away (systemd.exec(5))
        rule = line.partition("=")[2]
        if any(name in rule.lstrip("~").split() for name in OF_RESOURCES):
            is_allowed = not rule.startswith("~")
    assert is_allowed, "storage/turns/background.py and storage/turns/cpu_child.py call setpriority(2)"


def test_what_starting_again_would_not_mend_is_not_started_again() -> None:
    settings = _settings()
    assert settings["Restart"] == ["on-failure"]
    assert settings["RestartPreventExitStatus"] == [str(EXIT_FAULT)]
    # That setting is for the main process alone: after others that fail, the unit starts again and again.
    assert not settings.keys() & {"ExecCondition", "ExecStartPre", "ExecStartPost"}


def test_what_may_pass_by_itself_is_tried_again_without_end() -> None:
    settings = _settings()
    assert settings["StartLimitIntervalSec"] == ["0"]
    assert settings["TimeoutStartSec"] == ["infinity"], (
        "a migration that takes longer would begin again for ever"
    )


def test_nothing_in_it_waits_for_an_operator_to_edit_it() -> None:
    """The next version's unit takes its place (docs/operating.md, "Upgrade"), and a daemon without its key ends."""
    assert not re.findall(r"^#\w+=.*", UNIT.read_text(), re.MULTILINE)


def test_a_daemon_that_does_not_say_that_it_lives_is_killed() -> None:
    settings = _settings()
    assert settings["Type"] == ["notify"] and settings["NotifyAccess"] == ["main"]
    assert int(settings["WatchdogSec"][0]) >= 30, (
        "no disk and no machine that stands still for a moment is meant"
    )


def test_the_journal_drops_no_line_of_the_mail_log() -> None:
    """Its own limit is 10,000 lines in 30 s (journald.conf(5)), which 330 mails a second are. An interval of 0, which
    turns the limit off by the manual, systemd 252 takes for none that is set."""
    settings = _settings()
    seconds = int(settings["LogRateLimitIntervalSec"][0].removesuffix("s"))
    assert seconds > 0 and int(settings["LogRateLimitBurst"][0]) / seconds >= 10_000


def test_a_process_that_computes_and_is_ended_for_want_of_memory_ends_nothing_else() -> None:
    """By default the unit is stopped, with every session; the daemon just begins another process."""
    assert _settings()["OOMPolicy"] == ["continue"]


def test_the_daemon_alone_says_how_it_asks_for_memory() -> None:
    assert "MALLOC" not in " ".join(_settings()["Environment"]), "maild/allocator.py sets what was measured"


def _settings() -> dict[str, list[str]]:
    found = defaultdict(list)
    for line in UNIT.read_text().splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found[name].append(value)
    return dict(found)
