"""What it costs to look at one message for evidence, by itself: no store, no daemon.

    .venv/bin/python -m scripts.bench.evidence [--times 20]

Medians over the times, of CPU time, each mail in turn; the mails are put together of the pieces of tests/data/evidence,
so they have every kind of word. `hostile`: made to be slow, of what the work tests know the dearest of each kind.
"""

import argparse
import statistics
import time
from collections.abc import Iterator

from maild.message.evidence.examine import Examined, examine
from tests.support.mails.attacks import message, pieces

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
    english = "\n\n".join(one for one in paragraphs if one.isascii())
    yield "text, 4 KiB", message((words * 2)[: 4 * KIB])
    yield "text, 64 KiB", message((words * 20)[: 64 * KIB])
    yield "text, 64 KiB, English", message((english * 40)[: 64 * KIB])
    yield "HTML, 16 KiB", message(None, newsletter[: 16 * KIB])
    yield "HTML, 64 KiB", message(None, newsletter[: 64 * KIB])
    yield "HTML, 64 KiB, and its text", message((words * 4)[: 16 * KIB], newsletter[: 64 * KIB])
    yield "HTML, 256 KiB", message(None, newsletter[: 256 * KIB])
    yield "HTML, 256 KiB, text, 64 KiB", message((words * 20)[: 64 * KIB], newsletter[: 256 * KIB])
    yield from hostile()


def hostile() -> Iterator[tuple[str, Examined]]:
    orders = " ".join(one for kinds in pieces("language.toml").values() for one in kinds["found"])
    words = (orders.replace(".", "") + " ") * 20
    rules = "".join(f"* * * * * p{{color:#ff{number % 10}}}" for number in range(999))
    odd = "".join(f'<p style="\\6c eft:{number}px;color:#{number:06x}">x' for number in range(10_000))
    spoken = '<p alt="you must see this" title="now or never again" label="see the offer">' * 4000
    yield "hostile: orders in one clause", message(words[: 64 * KIB])
    yield "hostile: all of Unicode", message("".join(map(chr, range(0x20000, 0x20000 + 64 * KIB))))
    yield (
        "hostile: rules by descent",
        message(None, f"<style>{rules}</style>" + "<div>" * 40 + "<p>x" * 10_000),
    )
    yield "hostile: odd styles", message(None, odd[: 256 * KIB])
    yield "hostile: words of attributes", message(None, spoken[: 256 * KIB])
    yield "hostile: `<` that begins nothing", message(None, ("<1" * 128 * KIB)[: 256 * KIB - 1] + ">")
    yield (
        "hostile: orders everywhere",
        message(
            words[: 64 * KIB],
            f"<p>{words[: 64 * KIB]}<p hidden>{words[: 64 * KIB]}<!--{words[: 64 * KIB]}-->{words}"[
                : 256 * KIB
            ],
        ),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=20)
    times = parser.parse_args().times
    made = list(mails())
    took: dict[str, list[float]] = {name: [] for name, _ in made}
    for _ in range(times):
        for name, mail in made:
            began = time.thread_time()
            examine(mail)
            took[name].append((time.thread_time() - began) * 1000)
    for name, mail in made:
        cut = ", cut" if examine(mail).truncated else ""
        print(f"{name:34} {statistics.median(took[name]):7.1f} ms (best {min(took[name]):.1f}){cut}")


if __name__ == "__main__":
    main()
