"""Text as people write it, as far as the index of a search can tell: few words often, many seldom (Zipf's law)."""

import random
import textwrap
from pathlib import Path

WORDS = 20_000
POOL = 400_000
LINE_CHARS = 72

# Letters from the most frequent on, with their weights in words falling in that order.
ENGLISH = "etaoinshrdlucmfwypvbgkjqxz"
LANGUAGES = (
    ENGLISH,
    "enisratdhulcgmobwfkzvpüäößjyqx",
    "esaitnrulodcmpévqfbghjàxèyêzâçîùô",
    "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэф",
)


class Words:
    """`known`: words that are to be among the most frequent."""

    def __init__(self, chance: random.Random, letters: str = ENGLISH, known: tuple[str, ...] = ()) -> None:
        self._chance = chance
        weights = range(len(letters), 0, -1)
        words = [*known] + [
            "".join(chance.choices(letters, weights=weights, k=chance.randint(2, 10))) for _ in range(WORDS)
        ]
        self._pool = chance.choices(words, [1 / (rank + 1) for rank in range(len(words))], k=POOL)

    def some(self, count: int) -> str:
        at = self._chance.randrange(len(self._pool) - count)
        return " ".join(self._pool[at : at + count])


def write_mails(folder: Path, count: int, size_bytes: int, seed: int = 1) -> list[Path]:
    """Files of whole messages of about that size, three of five in the first language."""
    chance = random.Random(seed)
    languages = [Words(chance, letters) for letters in LANGUAGES]
    paths = []
    for number in range(count):
        words = languages[0] if chance.random() < 0.6 else chance.choice(languages)
        body = textwrap.fill(words.some(size_bytes // 4), LINE_CHARS)
        head = (
            f"From: Some Body <person{number}@x.test>\nSubject: {words.some(6)}\nMIME-Version: 1.0\n"
            "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n"
        )
        kept = (head + body).encode()[: size_bytes - 16].decode(errors="ignore")
        paths.append(folder / f"mail-{number}")
        paths[-1].write_text(f"{kept}\nrare{number}x\n")
    return paths
