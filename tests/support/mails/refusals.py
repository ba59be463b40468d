"""What real systems say when mail fails, as the data of `tests/data` has it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).parents[2] / "data"


class Refusal(NamedTuple):
    """`reply`: the whole line, with its codes."""

    bounce_class: str
    is_gone: bool
    reply: str

    @property
    def status(self) -> str:
        """What a reporter makes of it: the class alone."""
        return f"{self.reply[0]}.0.0" if self.reply[0] in "45" else "5.0.0"


class ReportShape(NamedTuple):
    """`has_form`: recipients are read of it whatever the words are."""

    name: str
    has_form: bool
    text: str

    def of(self, to: str, refusal: Refusal) -> bytes:
        """The report about that recipient, as it comes over SMTP."""
        reply = re.sub(r"\bann@[a-z.]+\b", to, refusal.reply)
        filled = self.text.replace("{to}", to).replace("{reply}", reply).replace("{status}", refusal.status)
        fields = "" if re.match(r"[A-Za-z-]+: ", filled) else "Subject: failure notice\n\n"
        return f"From: MAILER-DAEMON@there.test\n{fields}{filled}".replace("\n", "\r\n").encode()


def refusals() -> list[Refusal]:
    lines = (DATA / "refusals.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split(" | ", 2) for line in lines if line and not line.startswith("#")]
    return [Refusal(bounce_class, fate == "gone", reply) for bounce_class, fate, reply in rows]


def report_shapes() -> list[ReportShape]:
    return list(_shapes((DATA / "reports.txt").read_text(encoding="utf-8")))


def _shapes(text: str) -> Iterator[ReportShape]:
    for one in text.split("=== ")[1:]:
        head, _, body = one.partition("\n")
        name, _, form = head.partition(" | ")
        yield ReportShape(name, form == "form", body)
