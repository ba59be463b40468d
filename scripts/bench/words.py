"""Text as people write it, as far as the index of a search can tell: few words often, many seldom (Zipf's law)."""

import random

WORDS = 20_000
POOL = 400_000

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
