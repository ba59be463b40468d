"""Newsletters, notices and business mail that attack nobody, put together of pieces (tests/data/evidence)."""

import re
from typing import NamedTuple

from maild.message.evidence.examine import Examined
from tests.support.mails.attacks import pieces, sender

COUNT = 300
_TAG = re.compile(r"<[^>]*>")


class Newsletter(NamedTuple):
    """`is_held`: nothing was tuned to it."""

    name: str
    message: Examined
    is_held: bool


def newsletters() -> list[Newsletter]:
    """COUNT of them, each another choice of pieces; every second one of pieces that were held back."""
    return [_newsletter(number) for number in range(COUNT)]


def _newsletter(number: int) -> Newsletter:
    table = pieces("newsletters.toml")
    split = "held" if number % 2 else "tuned"
    turn = number // 2
    paragraphs, layouts = table["paragraphs"][split], table["layouts"][split]
    brand = table["brands"][number % len(table["brands"])]
    site = re.sub(r"[^a-z]", "", brand.lower()) + ".test"
    chosen = [
        paragraphs[(turn + 7 * step + turn // 20 * step) % len(paragraphs)] for step in range(3 + turn % 4)
    ]
    given = {
        "pre": table["preheaders"][turn % len(table["preheaders"])],
        "body": "".join(f"<p>{one}</p>" for one in chosen),
        "site": site,
        # Most count clicks at another organization's host.
        "track": f"https://click.mailer{turn % 5}.test/c/{turn:08x}?u={turn * 7919:x}",
    }
    html = layouts[turn % len(layouts)] % given
    text = (
        "\n\n".join([brand, *chosen, f"Unsubscribe: {given['track']}"]),
        table["stubs"][turn % len(table["stubs"])] % given,
        None,
        _TAG.sub(" ", given["body"]).strip(),
    )[turn % 4]
    # One in thirty takes answers elsewhere, and of one in sixty nobody can tell who wrote it.
    facts = sender(
        f"news@{site}",
        from_name=brand,
        reply_to=[f"answers@mailer{turn % 5}.test"] if number % 30 == 0 else [],
        verified_domain=None if number % 60 == 10 else site,
        is_bulk=number % 7 != 0,
        is_known=number % 3 == 0,
    )
    subject = table["subjects"][turn % len(table["subjects"])]
    return Newsletter(f"{split} {number}", Examined(subject, brand, text, html, (), facts), bool(number % 2))
