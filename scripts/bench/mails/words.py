"""Text as people write it, as far as the index of a search can tell: few words often, many seldom (Zipf's law), and
of all threes of letters few ever. English prose (GPL-3, the POD of Perl) has 1,250 to 1,500 different trigrams in 4 KiB
and some 6,000 in 60 KiB; here it is 1,600 to 1,800, and 4,500 to 6,400.
"""

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
        follow = {letter: [weight * chance.random() ** 4 for weight in weights] for letter in letters}

        def word() -> str:
            made = chance.choices(letters, weights)
            for _ in range(chance.randint(1, 9)):
                made += chance.choices(letters, follow[made[-1]])
            return "".join(made)

        words = [*known, *(word() for _ in range(WORDS))]
        self._pool = chance.choices(words, [1 / (rank + 1) for rank in range(len(words))], k=POOL)

    def some(self, count: int) -> str:
        at = self._chance.randrange(len(self._pool) - count)
        return " ".join(self._pool[at : at + count])
