"""Lines of the log are counted when they are said, whether they are written or not."""

import json
import subprocess
import sys

from conf.log_events import LogEvent
from maild.log_counts import LogCounts

SAID = """
import json, logging, sys
from conf.log_events import LogEvent, tell
from conf.settings import Log
from conf.strangers import LINES_PER_MINUTE, MINUTE_S, StrangerLog
from maild import logs
counts = logs.configure(Log(level=sys.argv[1]))
import structlog
log = structlog.get_logger("maild.ours")
tell(log, LogEvent.CONNECTED)
tell(log, LogEvent.ACCEPTED)
log.warning("spam_filter_silent")
log.error("went_wrong")
try:
    raise ValueError
except ValueError:
    log.exception("went_wrong")
logging.getLogger("library").warning("words of a peer")
logging.getLogger("library").info("never said")
ends = []
strangers = StrangerLog(lambda: 0.0, "maild.ours", lambda _, end: ends.append(end))
for _ in range(LINES_PER_MINUTE + 7):
    strangers.note(LogEvent.REFUSED, peer="192.0.2.1")
ends[0]()
print(json.dumps(counts.counted()))
"""


def counted(level: str) -> tuple[dict[tuple[str, str], int], int]:
    """What was counted at this level of the log, and how many lines were written."""
    done = subprocess.run([sys.executable, "-c", SAID, level], capture_output=True, text=True, check=True)
    counts = {(level, event): count for level, event, count in json.loads(done.stdout) if count}
    return counts, len(done.stderr.splitlines())


def test_what_is_said_counts_whatever_is_written() -> None:
    counts, lines = counted("info")
    assert counts == {
        ("info", "accepted"): 1,
        ("info", "refused"): 17,  # ten lines, and seven that were left out
        ("info", "left_out"): 1,
        ("warning", "spam_filter_silent"): 1,
        ("warning", "library"): 1,
        ("error", "went_wrong"): 2,
    }
    assert lines == 16
    assert counted("error") == (counts, 3)  # libraries' lines are not filtered


def test_a_decision_that_was_never_taken_is_there_with_zero() -> None:
    """Else a rate of the first one would be none."""
    counts = LogCounts()
    counts.note("info", "accepted", {})
    found = {(level, event): count for level, event, count in counts.counted()}
    assert found["info", "accepted"] == 1
    assert {event for (_, event), count in found.items() if count == 0} == {
        str(one) for one in LogEvent if one.level != "debug" and one is not LogEvent.ACCEPTED
    }
