"""Threads that work beside the event loop, and let it go first when there are fewer cores than work.

Everybody waits for the loop, and it is one thread: where a reader, a signer or the search index has its core, a mail of
ten rounds waits ten times. So these threads run with a higher niceness than the loop. It is for work in C that does not
hold Python's interpreter; a thread that does hold it, and is kept waiting for a core, would keep the loop waiting too.
"""

import os
import threading
from contextlib import suppress

BESIDE = 5  # what somebody waits for
LATER = 10  # what nobody waits for


def go_behind(niceness: int) -> None:
    """Called on the thread itself: from now on it yields to the loop. Without effect where the system can't do it."""
    with suppress(OSError):
        # Linux has a niceness for each thread (setpriority(2), "C library/kernel differences").
        now = os.getpriority(os.PRIO_PROCESS, 0)
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), now + niceness)
