"""What the store and the index say of a message that may hold a needle is what reading it says."""

import json
import random
import sqlite3
from collections.abc import Iterator

import pytest

from storage.engine.tx import Tx
from storage.searching.message_words import JOIN_WORDS, IndexedText, entries_of
from storage.searching.needle import Needle, holding
from storage.searching.trigram_terms import terms_of_texts, terms_of_trigrams

PLAIN = [*"aAb \n\t\r'\"-\\%_"]
ODD = [*"aébß東京ǰŉe\u0301\u00a0\u00ad\u200b\u2011\u2019\u201c\u3000\x1c\u2028\u02bc", *PLAIN]
COLUMNS = "id, subject, from_address, from_name, text_body, extracted_text, to_addresses, cc_addresses, bcc_addresses"


@pytest.fixture
def conn() -> Iterator[sqlite3.Connection]:
    conn = sqlite3.connect(":memory:")
    conn.execute(f"CREATE TABLE messages ({COLUMNS})")
    conn.execute("CREATE TABLE search_words (message_id, words)")
    yield conn
    conn.close()


def some(chance: random.Random, most: int) -> str:
    return "".join(chance.choices(chance.choice((PLAIN, ODD)), k=chance.randint(0, most)))


def messages(chance: random.Random, count: int) -> list[IndexedText]:
    def one(number: int) -> IndexedText:
        to = json.dumps([some(chance, 5)] if chance.random() < 0.3 else [], ensure_ascii=False)
        subject, sender, name, body = (some(chance, most) for most in (6, 6, 5, 12))
        return IndexedText("org", f"m{number}", "inb", subject, sender, name, body, to, "[]", "[]")

    return [one(number) for number in range(count)]


def needles(chance: random.Random, mail: list[IndexedText], count: int) -> Iterator[Needle]:
    """Parts of what some mail says, and what none need say."""

    def part(text: str) -> str:
        start = chance.randint(0, len(text))
        return chance.choice((text[start : start + 4], some(chance, 4)))

    for one in chance.sample(mail, count):
        words, sender = chance.choice((one.subject, one.body)), one.sender
        needle = Needle.of(
            *chance.choice(((part(words), None), (None, part(sender)), (part(words), part(sender))))
        )
        if needle is not None:
            yield needle


@pytest.mark.parametrize(
    ("body", "is_read"),
    [("the invoice has a number", False), ("invoice\nnumber", True), ("invoice - number", False)],
)
def test_mail_with_words_that_are_apart_is_not_read_for_a_phrase(
    conn: sqlite3.Connection, body: str, is_read: bool
) -> None:
    """Most mail has the words of a phrase somewhere: what is read costs several times what the store sees."""
    conn.execute(
        f"INSERT INTO messages ({COLUMNS}) VALUES ('m1', 's', 'a@b.test', NULL, ?, NULL, '[]', '[]', '[]')",
        (body,),
    )
    needle = Needle.of("invoice number", None)
    assert needle is not None
    sql = f"SELECT {needle.verdict()} FROM messages m {JOIN_WORDS}"
    ((verdict,),) = conn.execute(sql, needle.parameters())
    assert (verdict is not None) == is_read


@pytest.mark.parametrize("seed", range(4))
def test_neither_the_store_nor_the_index_is_wrong_about_a_message(
    conn: sqlite3.Connection, seed: int
) -> None:
    chance = random.Random(seed)
    mail = messages(chance, 300)
    conn.executemany(
        f"INSERT INTO messages ({COLUMNS}) VALUES (?, ?, ?, ?, ?, NULL, ?, ?, ?)",
        [one[1:2] + one[3:] for one in mail],
    )
    terms = terms_of_texts([entry.words for entry in entries_of(mail)])
    found = 0
    for needle in needles(chance, mail, 200):
        sql = f"SELECT {needle.verdict()} FROM messages m {JOIN_WORDS} ORDER BY m.rowid"
        verdicts = conn.execute(sql, needle.parameters()).fetchall()
        held_by = holding(Tx(conn), needle, [one.message_id for one in mail])
        asked = [term.encode() for term in terms_of_trigrams(needle.trigrams())]
        for one, indexed, (verdict,) in zip(mail, terms, verdicts, strict=True):
            holds = one.message_id in held_by
            assert verdict in (None, f'["{one.message_id}",0]') or holds, (needle, one)
            if holds:
                assert verdict is not None and all(term in indexed for term in asked), (needle, one)
                found += 1
    assert found > 1_000
