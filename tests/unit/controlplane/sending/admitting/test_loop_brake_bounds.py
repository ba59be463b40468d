"""What is a loop of two programs, to the millisecond (docs/decisions.md, "Loop brake")."""

import pytest

from controlplane.sending.admitting.loop_brake import (
    EXCHANGES,
    OURS_MS,
    REST_MS,
    THEIRS_MS,
    WINDOW_MS,
    resting_until,
)
from storage.mail.exchanges import ThreadLine

SAYS_SO = {"says_so": True, "theirs_ms": 10 * THEIRS_MS, "ours_ms": 1}
PROMPT = {"says_so": False, "theirs_ms": THEIRS_MS, "ours_ms": 1}


def exchanges(
    theirs_ms: int, ours_ms: int, says_so: bool, has_ids: bool = True, answers_us: bool = True
) -> list[ThreadLine]:
    """EXCHANGES of them, behind a message of ours; in each theirs comes so long after ours, and ours after theirs.
    `says_so`: that a program wrote it."""
    ours = ThreadLine(False, 0, False, "<0@ours.test>" if has_ids else None, None)
    lines = [ours]
    for number in range(1, EXCHANGES + 1):
        told = ours.message_id_header if answers_us else "<other@ours.test>"
        theirs = ThreadLine(True, ours.created_at + theirs_ms, says_so, None, told)
        sent_as = f"<{number}@ours.test>" if has_ids else None
        ours = ThreadLine(False, theirs.created_at + ours_ms, False, sent_as, None)
        lines += [theirs, ours]
    return lines


@pytest.mark.parametrize(
    ("kind", "changed", "is_loop"),
    [
        (SAYS_SO, {}, True),
        (SAYS_SO, {"ours_ms": OURS_MS}, True),
        (SAYS_SO, {"ours_ms": OURS_MS + 1}, False),
        (PROMPT, {}, True),
        (PROMPT, {"theirs_ms": THEIRS_MS + 1}, False),
        (PROMPT, {"answers_us": False}, False),
        (PROMPT, {"has_ids": False}, False),  # nobody says what it answers
    ],
)
def test_an_exchange_is_automatic_by_word_or_by_pace(
    kind: dict[str, int], changed: dict[str, int], is_loop: bool
) -> None:
    thread = exchanges(**{**kind, **changed})  # type: ignore[arg-type]
    assert resting_until(thread) == (thread[-1].created_at + REST_MS if is_loop else None)


def test_one_fewer_is_no_loop() -> None:
    assert resting_until(exchanges(**SAYS_SO)[:-2]) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(("over_ms", "is_loop"), [(0, True), (1, False)])
def test_they_are_counted_within_the_window(over_ms: int, is_loop: bool) -> None:
    *thread, theirs, last = exchanges(**SAYS_SO)  # type: ignore[arg-type]
    first_end = thread[2].created_at
    later_ms = first_end + WINDOW_MS + over_ms - last.created_at
    moved = [one._replace(created_at=one.created_at + later_ms) for one in (theirs, last)]
    assert (resting_until([*thread, *moved]) is not None) is is_loop
