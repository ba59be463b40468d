"""Pages of the console that are made to be long and slow: how long each takes, and how large it is.

    .venv/bin/python -m scripts.bench.console_flood [--times 9]

The flood is that of the tests: all that a page shows is as long, as many and as hard to escape as it can be. `first` is
the first look, which finds the evidence of a mail. `CPU`: of the others. Server and client are one process: the figures
have both.
"""

import argparse
import asyncio
import contextlib
import io
import statistics
import tempfile
import time
from pathlib import Path

import uvloop

from scripts.bench import measure
from tests.support.clients.console import LOCAL, Visitor
from tests.support.mails.console_flood import Flood, asked
from tests.support.running import Running, Template


async def run(times: int) -> None:
    with tempfile.TemporaryDirectory(prefix="maild-bench-") as made:
        folder, rows = Path(made), []
        with contextlib.redirect_stdout(io.StringIO()):  # the daemon's log
            maild = await Running.start(Template.make(folder / "template"), folder / "data", server=LOCAL)
            flood = await Flood.make(maild)
            member = await Visitor.sign_in(maild)
            for page, paths in asked(flood).items():
                for path in paths:
                    rows.append((f"/console{page}", *await looked_at(member, path, times)))
            flood.calm()
            await maild.stop()
    rows.sort(key=lambda row: -float(row[3]))
    measure.table(
        f"{len(rows)} pages, {times} times each", [("", "first ms", "p50 ms", "CPU ms", "KB"), *rows]
    )


async def looked_at(member: Visitor, path: str, times: int) -> tuple[float, float, float, float]:
    """The first look, median time and CPU of the others in ms, and the size in KB."""
    spent, worked = [], []
    for _ in range(1 + times):
        began, before = time.perf_counter(), time.process_time()
        page = await member.get(path)
        spent.append((time.perf_counter() - began) * 1000)
        worked.append((time.process_time() - before) * 1000)
    return spent[0], statistics.median(spent[1:]), statistics.median(worked[1:]), len(page.body) / 1000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=9)
    uvloop.install()
    asyncio.run(run(parser.parse_args().times))


if __name__ == "__main__":
    main()
