"""What it costs to look at one message for evidence, by itself: no store, no daemon.

    .venv/bin/python -m scripts.bench.evidence [--times 20]

Medians over the times; the mails are put together of the pieces of tests/data/evidence, so they have every kind of word.
`made to be slow`: the dearest of what the work tests know.
"""

import argparse
import statistics
import time
from collections.abc import Iterator

from maild.message.evidence.examine import Examined, examine
from tests.support.attacks import message, pieces

KIB = 1024


def mails() -> Iterator[tuple[str, Examined]]:
    table = pieces("newsletters.toml")
    paragraphs = [*table["paragraphs"]["tuned"], *table["paragraphs"]["held"]]
    words = "\n\n".join(paragraphs)
    row = (
        '<tr><td style="padding:8px;font-family:Arial,sans-serif;font-size:14px;color:#333333" class="cell">'
        '<p style="margin:0 0 8px 0">%s</p><a href="https://shop.test/p?id=%d" style="color:#0055aa">More</a></td></tr>\n'
    )
    rules = "".join(
        f".c{number}{{color:#333;font-size:14px}} td.c{number} p{{margin:0}}" for number in range(60)
    )
    rows = "".join(row % (paragraphs[number % len(paragraphs)], number) for number in range(1000))
    newsletter = (
        f"<html><head><style>{rules}</style></head><body bgcolor=#ffffff><table>{rows}</table></body></html>"
    )
    yield "text, 4 KiB", message((words * 2)[: 4 * KIB])
    yield "text, 64 KiB", message((words * 20)[: 64 * KIB])
    yield "HTML, 16 KiB", message(None, newsletter[: 16 * KIB])
    yield "HTML, 64 KiB", message(None, newsletter[: 64 * KIB])
    yield "HTML, 64 KiB, and its text", message((words * 4)[: 16 * KIB], newsletter[: 64 * KIB])
    yield "HTML, 256 KiB", message(None, newsletter[: 256 * KIB])
    rules = "".join(f"* * * * * p{{color:#ff{number % 10}}}" for number in range(999))
    yield "HTML made to be slow", message(None, f"<style>{rules}</style>" + "<div>" * 40 + "<p>x" * 10_000)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=20)
    times = parser.parse_args().times
    for name, mail in mails():
        took = []
        for _ in range(times):
            began = time.perf_counter()
            found = examine(mail)
            took.append((time.perf_counter() - began) * 1000)
        cut = ", cut" if found.truncated else ""
        print(f"{name:28} {statistics.median(took):7.1f} ms (best {min(took):.1f}){cut}")


if __name__ == "__main__":
    main()
