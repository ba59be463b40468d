"""Mail that attacks the program that reads it, put together of pieces (tests/data/evidence).

Every mail is made by its number alone, so that a figure of a test is the same everywhere.
"""

import tomllib
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from maild.message.evidence.examine import Examined
from maild.message.evidence.files import NamedFile
from maild.message.evidence.senders import SenderFacts

DATA = Path(__file__).parents[2] / "data" / "evidence"


class Attack(NamedTuple):
    """`is_concealed`: nobody sees its order. `is_held`: nothing was tuned to it."""

    name: str
    message: Examined
    is_concealed: bool
    is_held: bool


def pieces(name: str) -> dict[str, Any]:
    return tomllib.loads((DATA / name).read_text("utf-8"))


def sender(address: str = "ada@friend.test", **changed: Any) -> SenderFacts:
    facts: dict[str, Any] = {
        "from_address": address,
        "from_name": "Ada",
        "reply_to": (),
        "verified_domain": address.partition("@")[2],
        "is_known": True,
        "own_domains": frozenset(["agents.test"]),
        "correspondents": frozenset(["friend.test", "bank.test", "paypal.test"]),
    }
    return SenderFacts(**{**facts, **changed})


def message(
    text: str | None = None,
    html: str | None = None,
    subject: str = "Your order",
    facts: SenderFacts | None = None,
    files: tuple[NamedFile, ...] = (),
) -> Examined:
    facts = facts or sender()
    return Examined(subject, facts.from_name, text, html, files, facts)


def attacks() -> list[Attack]:
    """All of them, 250 or a few more."""
    made = [*_hidden_in_html(), *_hidden_in_letters(), *_in_sight(), *_other()]
    assert len({one.name for one in made}) == len(made)
    return made


def _hidden_in_html() -> Iterator[Attack]:
    table = pieces("attacks.toml")
    covers, orders = table["covers"], table["orders"]
    for split, is_held in (("tuned", False), ("held", True)):
        for number, concealment in enumerate(table["concealments"][split]):
            for turn in range(3):
                order = orders[split][(3 * number + turn) % len(orders[split])]
                cover = covers[(number + turn) % len(covers)]
                html = f"<html><body><p>{cover}</p>{concealment % order}<p>Regards</p></body></html>"
                text = cover if turn == 1 else None
                yield Attack(f"html {split} {number}.{turn}", message(text, html), True, is_held)


def _hidden_in_letters() -> Iterator[Attack]:
    table = pieces("attacks.toml")
    disguises = {
        "tags": lambda words: "".join(chr(0xE0000 + ord(one)) for one in words if one.isascii()),
        "variations": lambda words: "".join(
            chr(0xFE00 + octet if octet < 16 else 0xE0100 + octet - 16) for octet in words.encode()
        ),
        "zero width": lambda words: (
            "\u200b".join(words) if words.isascii() else words[:2] + "\u200b" + words[2:]
        ),
        "override": lambda words: "\u202e" + words + "\u202c",
    }
    for split, is_held in (("tuned", False), ("held", True)):
        orders = [one for one in table["orders"][split] if one[:3].isascii()]
        for (name, disguise), number in product(disguises.items(), range(5)):
            cover = table["covers"][number % len(table["covers"])]
            words = f"{cover} {disguise(orders[2 * number % len(orders)])}"
            shown = message(words) if number % 2 else message(None, f"<p>{words}</p>")
            yield Attack(f"letters {split} {name} {number}", shown, True, is_held)
    for number, order in enumerate(table["orders"]["held"][:6]):
        cover = table["covers"][number]
        yield Attack(f"text part {number}", message(f"{cover}\n\n{order}", f"<p>{cover}</p>"), True, True)


def _in_sight() -> Iterator[Attack]:
    table = pieces("attacks.toml")
    leet = str.maketrans("oieas", "01345")
    alike = str.maketrans("aeopc", "\u0430\u0435\u043e\u0440\u0441")
    for number, order in enumerate(table["paraphrases"]):
        yield Attack(f"paraphrase {number}", message(order), False, False)
    for split, is_held in (("tuned", False), ("held", True)):
        for number, order in enumerate(table["orders"][split]):
            cover = table["covers"][number % len(table["covers"])]
            yield Attack(f"text {split} {number}", message(f"{cover}\n\n{order}\n"), False, is_held)
            if number % 2:
                yield Attack(f"subject {split} {number}", message(cover, subject=order), False, is_held)
            else:
                yield Attack(f"seen {split} {number}", message(None, f"<p>{order}</p>"), False, is_held)
            if order.isascii() and number < 6:
                disguised = order.translate(leet if number % 2 else alike)
                yield Attack(f"disguised {split} {number}", message(disguised), False, is_held)
        for number, text in enumerate(table["texts"][split]):
            yield Attack(f"body {split} {number}", message(text), False, is_held)


def _other() -> Iterator[Attack]:
    table = pieces("attacks.toml")
    cover = table["covers"][0]
    for split, is_held in (("tuned", False), ("held", True)):
        for number, (shown, target) in enumerate(table["links"][split]):
            html = f'<p>{cover}</p><a href="{target}">{shown}</a>'
            yield Attack(f"link {split} {number}", message(None, html), False, is_held)
    for number, domain in enumerate(("paypa1.test", "xn--pypal-4ve.test", "fr1end.test", "agemts.test")):
        facts = sender(f"ada@{domain}", is_known=False)
        if number < 3:
            yield Attack(f"look-alike {domain}", message(cover, facts=facts), False, True)
    for number, answers in enumerate(("ada@evil.test", "ada@friend.test.evil.test")):
        facts = sender(reply_to=(answers,), verified_domain=None)
        yield Attack(f"answers {number}", message(cover, facts=facts), False, True)
    for number, order in enumerate(table["orders"]["held"][:3]):
        file = NamedFile("att_1", f"{order}.pdf", "application/pdf")
        yield Attack(f"file {number}", message(cover, files=(file,)), False, True)
