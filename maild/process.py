"""The process that serves: the daemon on uvloop, from its first thread to its last signal."""

import asyncio
import faulthandler
import gc
import os
import signal
import sys

import structlog

from conf.log_events import LogEvent, tell
from conf.settings import Settings
from maild import allocator, descriptors, systemd
from maild.daemon import Daemon, StartError
from maild.event_loop import EventLoop
from maild.last_resort import LastResort
from maild.log_counts import LogCounts
from maild.whereabouts import whereabouts
from storage.engine.failures import may_pass
from storage.exhaustion import Exhausted
from storage.turns.started_threads import started_threads

# How long the event loop waits for the interpreter while readers' or signers' threads use it, at each socket and each
# statement; while something computes it is less (storage.turns.cpu_threads). With a fifth of Python's own value, which
# is 5 ms, the slowest reads and sends beside hostile peers took twice as long; with this one searches on all readers at
# once take a twentieth more CPU (scripts/bench/api).
SWITCH_S = 0.0002
# When Python looks for cycles: among new objects once there are so many, then each fifth time among those that were
# left of them as well, and each thirtieth time of these among all. A request makes some hundreds, and their counts
# free nearly all of them at its end: looking after every 700, its own value, takes 3 % of the CPU of a send. But each
# look holds the loop, some 0.5 µs an object: with 10,000 and ten times as many for up to 11 and 41 ms, with these 3
# and 7.
COLLECTED_AFTER = (2_000, 5, 30)

log = structlog.get_logger("maild.daemon")


def run(settings: Settings, lines: LogCounts) -> None:
    """`serve` on uvloop. `lines`: counts those of the log."""
    if not faulthandler.is_enabled():  # else it tells somebody who asked for it elsewhere
        faulthandler.enable()
    signal.pthread_sigmask(signal.SIG_SETMASK, ())  # daemon(7): what a parent has blocked would never end it
    allocator.keep_little()
    try:
        settings = descriptors.make_room(settings)
    except descriptors.TooFewDescriptors as error:
        raise StartError(str(error)) from error
    sys.setswitchinterval(SWITCH_S)
    with asyncio.Runner(loop_factory=EventLoop) as runner:
        runner.run(serve(settings, lines))


async def serve(settings: Settings, lines: LogCounts) -> None:
    """Run until SIGTERM or SIGINT; raise when a part dies. SIGHUP reads the certificate again, and SIGUSR1 and SIGUSR2,
    by which others are told to open their log anew, have it say where everything is."""
    daemon = _with_threads(settings, lines)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, daemon.reload)
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        loop.add_signal_handler(number, _tell_whereabouts)
    await daemon.start()
    stopped: asyncio.Future[None] = loop.create_future()
    LastResort(stopped).watch()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _end, stopped)
    # What start-up made stays: the collector need not look through it, neither meanwhile (maild.cli) nor ever again.
    # Not even once: what it would find is a quarter of a megabyte, and looking holds the loop for a tenth of a second.
    gc.freeze()
    gc.enable()
    gc.set_threshold(*COLLECTED_AFTER)
    watchdog = systemd.Watchdog()
    try:
        _announce(daemon.ready_line())
        systemd.notify("READY=1")
        tell(log, LogEvent.READY, **daemon.places())
        watchdog.start()
        await daemon.watch(stopped)
        await stopped
    finally:
        systemd.notify("STOPPING=1")
        tell(log, LogEvent.STOPPING)
        await daemon.stop()
        watchdog.stop()
        tell(log, LogEvent.STOPPED)


def _with_threads(settings: Settings, lines: LogCounts) -> Daemon:
    """All threads that it will want are there before anybody comes. StartError where the system has no room for
    them."""
    try:
        threads = started_threads(min(32, (os.cpu_count() or 1) + 4), "asyncio")  # as many as Python's own
        daemon = Daemon(settings, lines=lines)
    except Exhausted as error:
        raise StartError(str(error), may_pass=may_pass(error)) from error
    # Not before: for the end of a loop's own threads yet another one is begun.
    asyncio.get_running_loop().set_default_executor(threads)
    return daemon


def _announce(line: str) -> None:
    """Tell who started us, on stdout. Where it can't be told, the log says it, and nothing more goes there."""
    try:
        print(line, flush=True)
    except OSError:
        descriptors.give_up(descriptors.STDOUT)


def _tell_whereabouts() -> None:
    tell(log, LogEvent.WHEREABOUTS, **whereabouts())


def _end(stopped: "asyncio.Future[None]") -> None:
    if not stopped.done():
        stopped.set_result(None)
