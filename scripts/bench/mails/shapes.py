"""Mail as people and programs write it, in files for smtp-source (line ends LF; it makes CRLF of them).

text         words in several languages, of the size that is asked for
reply        a short answer over eight quoted messages, with the headers of a thread
newsletter   multipart/alternative: text, and 40 KiB of HTML of tables, styles and links, quoted-printable
attachment   a line of text and 1 MiB of what doesn't compress, in base64
"""

import base64
import quopri
import random
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

from scripts.bench.mails.words import LANGUAGES, Words

LINE_CHARS = 72
BASE64_CHARS = 76
QUOTED, QUOTED_WORDS = 8, 120
CELLS, CELL_WORDS = 60, 12
ATTACHED_BYTES = 1024 * 1024
STYLE = "font-family: Helvetica, Arial, sans-serif; color: #333333; padding: 0 24px; line-height: 1.5"


class Author:
    """Writes mails, three of five in the first language; the same for the same seed."""

    def __init__(self, size_bytes: int, seed: int = 1) -> None:
        """`size_bytes`: of a `text`."""
        self._size_bytes = size_bytes
        self._chance = random.Random(seed)
        self._languages = [Words(self._chance, letters) for letters in LANGUAGES]
        self._attached = self._chance.randbytes(ATTACHED_BYTES * 3 // 4)

    def write(self, shape: str, folder: Path, count: int) -> list[Path]:
        """So many files; each mail has a word of its own, `rare<number>x`."""
        paths = []
        for number in range(count):
            words = (
                self._languages[0] if self._chance.random() < 0.6 else self._chance.choice(self._languages)
            )
            head = f"From: Some Body <person{number}@x.test>\nMIME-Version: 1.0\n"
            paths.append(folder / f"{shape}-{number}")
            paths[-1].write_text(head + SHAPES[shape](self, words, f"rare{number}x"))
        return paths

    def _text(self, words: Words, rare: str) -> str:
        head = f"Subject: {words.some(6)}\n{_plain()}\n"
        body = textwrap.fill(words.some(self._size_bytes // 4), LINE_CHARS)
        return f"{head}{body.encode()[: self._size_bytes - 256].decode(errors='ignore')}\n{rare}\n"

    def _reply(self, words: Words, rare: str) -> str:
        ids = [f"<{self._chance.getrandbits(64):x}@there.test>" for _ in range(QUOTED)]
        head = (
            f"Subject: Re: {words.some(6)}\nIn-Reply-To: {ids[-1]}\nReferences: {' '.join(ids[:3])}\n"
            + "".join(f" {one}\n" for one in ids[3:])
            + _plain()
        )
        lines = [textwrap.fill(words.some(60), LINE_CHARS), rare, ""]
        for depth in range(1, QUOTED + 1):
            mark = ">" * depth + " "
            lines.append(
                f"{'>' * (depth - 1)} On Mon, 2 Nov 2026 at 10:{depth:02}, person{depth}@x.test wrote:"
            )
            lines.append(
                textwrap.fill(
                    words.some(QUOTED_WORDS), LINE_CHARS, initial_indent=mark, subsequent_indent=mark
                )
            )
        return head + "\n" + "\n".join(lines) + "\n"

    def _newsletter(self, words: Words, rare: str) -> str:
        cells = [words.some(CELL_WORDS) for _ in range(CELLS)]
        rows = "\n".join(
            f'<tr><td style="{STYLE}"><h2 style="{STYLE}">{cell[:20]}</h2><p style="{STYLE}">{cell}</p>'
            f'<a href="https://news.test/click?to={self._chance.getrandbits(256):x}" style="{STYLE}">more</a></td></tr>'
            for cell in cells
        )
        html = (
            f"<html><head><style>td {{ {STYLE} }}</style></head><body><table>{rows}</table></body></html>\n"
        )
        text = textwrap.fill(f"{rare} " + " ".join(cells), LINE_CHARS)
        return (
            f"Subject: {words.some(6)}\nList-Unsubscribe: <https://news.test/out>\n"
            'Content-Type: multipart/alternative; boundary="part"\n\n'
            f"--part\n{_plain()}\n{text}\n"
            "--part\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
            f"{quopri.encodestring(html.encode()).decode()}\n--part--\n"
        )

    def _attachment(self, words: Words, rare: str) -> str:
        encoded = base64.b64encode(self._chance.randbytes(16) + self._attached).decode()
        lines = (encoded[at : at + BASE64_CHARS] for at in range(0, len(encoded), BASE64_CHARS))
        return (
            f'Subject: {words.some(6)}\nContent-Type: multipart/mixed; boundary="part"\n\n'
            f"--part\n{_plain()}\n{words.some(40)} {rare}\n"
            "--part\nContent-Type: application/pdf\nContent-Transfer-Encoding: base64\n"
            'Content-Disposition: attachment; filename="report.pdf"\n\n' + "\n".join(lines) + "\n--part--\n"
        )


def _plain() -> str:
    return "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n"


SHAPES: Mapping[str, Callable[[Author, Words, str], str]] = {
    "text": Author._text,
    "reply": Author._reply,
    "newsletter": Author._newsletter,
    "attachment": Author._attachment,
}
