"""What systemd/maild.service allows the daemon to do, beside what the daemon does."""

from pathlib import Path

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
