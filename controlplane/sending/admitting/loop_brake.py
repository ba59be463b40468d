"""Do two programs answer each other in this conversation? docs/decisions.md, "Loop brake".

An exchange is a message that came in and our answer to it, the next message of the thread, `OURS_MS` later at most. It
is automatic when what came in says so itself (`isAutoReply`, no envelope sender), or when it answers our newest message
and came `THEIRS_MS` after it at most. `EXCHANGES` automatic ones within `WINDOW_MS` are a loop, and the thread takes no
more sends until the newest of them is `REST_MS` old.

Pure: rows and times in, a time out.
"""

from collections.abc import Iterator, Sequence

from storage.mail.exchanges import ThreadLine

EXCHANGES = 20
WINDOW_MS = 60 * 60_000
REST_MS = 60 * 60_000
OURS_MS = 2 * 60_000
THEIRS_MS = 5_000


def resting_until(thread: Sequence[ThreadLine]) -> int | None:
    """`thread`: oldest first. When sends may go on (Unix milliseconds), or None where nothing looks like a loop."""
    times = list(_automatic_exchanges(thread))[-EXCHANGES:]
    if len(times) < EXCHANGES or abs(times[-1] - times[0]) > WINDOW_MS:  # behind: the clock was set back
        return None
    return times[-1] + REST_MS


def _automatic_exchanges(thread: Sequence[ThreadLine]) -> Iterator[int]:
    """When each ended: the times of our answers."""
    ours: ThreadLine | None = None  # the newest so far
    asked: ThreadLine | None = None  # what came in since, the newest, and whether a program wrote it
    is_automatic = False
    for line in thread:
        if line.is_inbound:
            asked, is_automatic = line, line.is_automatic or _is_prompt(line, ours)
            continue
        if asked is not None and is_automatic and line.created_at - asked.created_at <= OURS_MS:
            yield line.created_at
        ours, asked = line, None


def _is_prompt(line: ThreadLine, ours: ThreadLine | None) -> bool:
    # A person who writes two messages in a row may be answered in between: the second does not answer that.
    return (
        ours is not None
        and line.answers is not None
        and line.answers == ours.message_id_header
        and line.created_at - ours.created_at <= THEIRS_MS
    )
