"""`q` and `from` of GET /v1/messages: exact, case folded, literal, of this key's mail alone (A3, A10)."""

import sqlite3
import unicodedata
from contextlib import closing
from typing import Any, Literal

import pytest

from storage.searching.trigram_terms import terms_of_trigrams
from tests.support.running import Api, Running, until

BOTH = pytest.mark.parametrize("is_indexed", [False, True], ids=["tail", "index"])


async def index(maild: Running) -> None:
    """What the indexer does in a moment, done now."""

    async def look() -> bool | None:
        maild.daemon.indexer.wake()
        return maild.sql("SELECT count(*) FROM search_tail") == [(0,)] or None

    await until(look)


def in_index(maild: Running, sql: str, *parameters: Any) -> list[Any]:
    with closing(sqlite3.connect(maild.settings.data_path / "search.sqlite3", isolation_level=None)) as conn:
        return conn.execute(sql, parameters).fetchall()


def mail(
    words: str, subject: str = "topic", sender: str = "Ada Lovelace <ada@elsewhere.test>", **more: str
) -> bytes:
    headers = "".join(f"{name}: {value}\n" for name, value in more.items())
    kind = "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
    return f"From: {sender}\nSubject: {subject}\n{headers}{kind}\n{words}\n".encode()


async def subjects(api: Api, **params: str) -> list[str]:
    return [one["subject"] for one in await api.messages(**params)]


@BOTH
@pytest.mark.parametrize(
    ("q", "found"),
    [
        ("quick brown", True),  # body
        ("UICK BRO", True),
        ("k b", True),
        ("Sehr Wichtig", True),  # subject
        ("lovelace", True),  # the sender's name
        ("ADA@ELSE", True),  # and address
        ("carol@third", True),  # recipients
        ("dave", True),
        ("STRASSE", True),  # Unicode folding: ß is ss
        ("ΣΊΣΥΦΟΣ", True),  # final sigma
        ("東京", True),
        ("京", True),
        ("q", True),
        ("100%", True),
        ("100_", False),
        ("%", True),
        ("_", False),
        ('"quoted"', True),
        ("'; DROP TABLE messages; --", False),
        ("* OR NEAR(", False),
        ("quick  brown", False),
        ("brown sehr", False),  # not across fields
        ("topic", False),
        ("x" * 200, False),
    ],
)
async def test_what_q_finds(
    maild: Running, bot: dict[str, Any], is_indexed: bool, q: str, found: bool
) -> None:
    words = 'The quick brown fox, 100% "quoted". Große Straße. Σίσυφος. 東京'
    await maild.received(
        bot, mail(words, "sehr wichtig", To=f"{bot['address']}, carol@third.test", Cc="dave@fourth.test")
    )
    if is_indexed:
        await index(maild)
    assert await subjects(maild.api, q=q) == (["sehr wichtig"] if found else [])


@BOTH
@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("words", ["café", "Việt Nam", "안녕하세요", "ガギグ", "Ångström"])
async def test_how_characters_are_composed_does_not_count(
    maild: Running, bot: dict[str, Any], is_indexed: bool, form: Literal["NFC", "NFD"], words: str
) -> None:
    """macOS decomposes what it takes from names of files; keyboards compose."""
    await maild.received(bot, mail(f"begins {unicodedata.normalize(form, words)} ends"))
    if is_indexed:
        await index(maild)
    for asked in ("NFC", "NFD"):
        for q in (words, words.upper(), words[:2], words[-1]):
            assert await subjects(maild.api, q=unicodedata.normalize(asked, q)) == ["topic"], (asked, q)
    assert await subjects(maild.api, q=f"{words} begins") == []


@BOTH
async def test_a_letter_that_is_folded_to_two_is_found_alike(
    maild: Running, bot: dict[str, Any], is_indexed: bool
) -> None:
    """The store sees ǰe before the mark; neither form has it, and the index doesn't propose it."""
    await maild.received(bot, mail("here abǰe\u0301 there"))
    if is_indexed:
        await index(maild)
    assert await subjects(maild.api, q="abǰé") == ["topic"]
    assert await subjects(maild.api, q="abǰe") == []


@BOTH
@pytest.mark.parametrize(
    "words",
    [
        'The total\namount of order 4711-22 isn\'t "final" yet',
        "The total\u00a0amount of or\u00adder 4711\u201122 isn\u2019t \u201cfinal\u201d\u2003yet",
        '\ufeffThe to\u200btal amount of order\n4711-22 isn\'t "final" yet',
        "The total\tamount of order 4711-22 isn\u02bct \u201cfinal\u201d yet, cafe\u0301",
    ],
)
async def test_what_no_reader_sees_does_not_count(
    maild: Running, bot: dict[str, Any], is_indexed: bool, words: str
) -> None:
    """Lines are wrapped, HTML is full of other blanks, and word processors set other apostrophes."""
    await maild.received(bot, mail(words))
    if is_indexed:
        await index(maild)
    whole = 'total amount of order 4711-22 isn\'t "final" yet'
    for q in (
        whole,
        "L\u00a0A",
        "order\n4711\u2011",
        "isn\u2019t \u201cF",
        "to\u00adtal",
        "\u200b",
        "l a",
        "n't",
    ):
        assert await subjects(maild.api, q=q) == ["topic"], q
    for q in ("total  amount", "totalamount", "isnt", "4711\u201322"):
        assert await subjects(maild.api, q=q) == [], q


@BOTH
async def test_accents_count(maild: Running, bot: dict[str, Any], is_indexed: bool) -> None:
    await maild.received(bot, mail("a café here"))
    if is_indexed:
        await index(maild)
    assert await subjects(maild.api, q="cafe") == []


@pytest.mark.parametrize("sender", ["jö@bücher.test", "JO\u0308@BÜCHER", "@bücher.test", "@xn--bcher-kva"])
async def test_from_finds_either_form_of_a_domain(maild: Running, bot: dict[str, Any], sender: str) -> None:
    await maild.received(bot, mail("hello", sender="jö@bücher.test"))
    assert await subjects(maild.api, **{"from": sender}) == ["topic"]


@BOTH
@pytest.mark.parametrize(
    ("sender", "found"),
    [("ada@", True), ("ADA@ELSEWHERE", True), ("a", True), ("lovelace", False), ("_da", False), ("%", False)],
)
async def test_what_from_finds(
    maild: Running, bot: dict[str, Any], is_indexed: bool, sender: str, found: bool
) -> None:
    await maild.received(bot, mail("hello ada@elsewhere.test"))
    await maild.received(bot, mail("I wrote lovelace and %", "second", sender="b@zzz.test"))
    if is_indexed:
        await index(maild)
    assert ("topic" in await subjects(maild.api, **{"from": sender})) == found
    assert await subjects(maild.api, **{"from": "zzz", "q": "wrote"}) == ["second"]
    assert await subjects(maild.api, **{"from": "zzz", "q": "hello"}) == []


async def test_the_quoted_words_of_html_and_of_large_texts_are_found(
    maild: Running, bot: dict[str, Any]
) -> None:
    html = (
        "From: a@elsewhere.test\nSubject: html\nMIME-Version: 1.0\nContent-Type: text/html\n\n"
        "<p>freshwords</p><blockquote>olderwords</blockquote>\n"
    )
    await maild.received(bot, html)
    await maild.received(bot, mail("begins here\n" + "filler words\n" * 8000, "large"))
    for _ in range(2):
        assert await subjects(maild.api, q="freshwords") == ["html"]
        assert await subjects(maild.api, q="olderwords") == ["html"]
        assert await subjects(maild.api, q="blockquote") == []
        assert await subjects(maild.api, q="begins here") == ["large"]
        await index(maild)


@BOTH
async def test_pages_and_filters(maild: Running, bot: dict[str, Any], is_indexed: bool) -> None:
    other = await maild.inbox("other")
    made = []
    for number in range(12):
        inbox = other if number % 3 == 2 else bot
        made.append(await maild.received(inbox, mail("findme", f"{number}")))
        if is_indexed:
            await index(maild)
    sent = (await maild.api.send(bot, subject="sent", text="findme")).data
    newest = [one["id"] for one in reversed([*made, sent])]

    async def ids(**params: str) -> list[str]:
        return [one["id"] for one in await maild.api.messages(q="findme", **params)]

    assert await ids() == newest
    for name in ("before", "cursor"):
        pages: list[str] = []
        cursor: dict[str, str] = {}
        while page := await ids(limit="5", **cursor):
            pages += page
            cursor = {name: page[-1]}
        assert pages == newest
    theirs = [one["id"] for one in reversed(made) if one["inboxId"] == other["id"]]
    assert await ids(inboxId=other["id"]) == theirs
    assert await ids(inboxId=other["id"], limit="2", before=theirs[0]) == theirs[1:3]
    assert await ids(direction="outbound") == [sent["id"]]
    assert await ids(threadId=made[4]["threadId"]) == [made[4]["id"]]
    assert await ids(since=made[6]["createdAt"], until=made[8]["createdAt"]) == [
        made[7]["id"],
        made[6]["id"],
    ] or (made[6]["createdAt"] == made[8]["createdAt"])
    assert await ids(inboxId="inb_absent") == [] and await ids(threadId="thd_absent") == []


@BOTH
async def test_other_tenants_and_inboxes_are_out_of_reach(
    maild: Running, bot: dict[str, Any], is_indexed: bool
) -> None:
    stranger = await maild.organization()
    theirs = await maild.inbox("theirs", stranger.api)
    other = await maild.inbox("other")
    await maild.received(theirs, mail("secretword", "theirs"), stranger.api)
    await maild.received(other, mail("secretword", "other"))
    mine = await maild.received(bot, mail("secretword", "mine"))
    if is_indexed:
        await index(maild)
    bound = await maild.key(inbox=bot)
    assert await subjects(stranger.api, q="secretword") == ["theirs"]
    assert await subjects(maild.api, q="secretword") == ["mine", "other"]
    assert await subjects(bound, q="secretword") == ["mine"]
    assert await subjects(bound, q="secretword", inboxId=other["id"]) == []
    assert await subjects(stranger.api, q="secretword", before=mine["id"]) == ["theirs"]
    assert await subjects(stranger.api, q="secretword", inboxId=bot["id"]) == []


@BOTH
async def test_a_deleted_message_is_found_no_more(
    maild: Running, bot: dict[str, Any], is_indexed: bool
) -> None:
    gone = await maild.received(bot, mail("secretword", "gone"))
    await maild.received(bot, mail("secretword", "kept"))
    if is_indexed:
        await index(maild)
    await maild.api.call("DELETE", f"/v1/messages/{gone['id']}")
    assert await subjects(maild.api, q="secretword") == ["kept"]
    assert maild.sql("SELECT count(*) FROM search_tail WHERE message_id = ?", gone["id"]) == [(0,)]
    await index(maild)

    async def has_let_go() -> bool | None:
        maild.daemon.indexer.wake()
        return maild.sql("SELECT count(*) FROM search_gone") == [(0,)] or None

    await until(has_let_go)
    assert in_index(maild, "SELECT count(*) FROM documents WHERE message_id = ?", gone["id"]) == [(0,)]
    terms = " AND ".join(terms_of_trigrams(["sec", "etw"]))
    assert in_index(maild, "SELECT count(*) FROM trigrams WHERE trigrams MATCH ?", terms) == [(1,)]


async def test_the_order_is_right_after_the_clock_was_set_back(maild: Running, bot: dict[str, Any]) -> None:
    made = []
    for number in range(5):
        made.append(await maild.received(bot, mail("findme", f"{number}")))
        await index(maild)
    # As if the third had come first: ids decide the order, and a search must not stop at the numbers' order.
    (low,), *_, (high,) = in_index(maild, "SELECT document FROM documents ORDER BY document")
    in_index(maild, "UPDATE documents SET document = -1 WHERE message_id = ?", made[4]["id"])
    in_index(maild, "UPDATE documents SET document = ? WHERE message_id = ?", high, made[0]["id"])
    in_index(maild, "UPDATE documents SET document = ? WHERE document = -1", low)
    assert await subjects(maild.api, q="findme", limit="1") == ["0"]
    in_index(maild, "UPDATE indexed_organizations SET is_ordered = 0")
    assert await subjects(maild.api, q="findme", limit="3") == ["4", "3", "2"]
    assert await subjects(maild.api, q="findme", before=made[3]["id"]) == ["2", "1", "0"]


@pytest.mark.parametrize("name", ["q", "from"])
async def test_what_is_refused(maild: Running, name: str) -> None:
    too_long = await maild.api.get("/v1/messages", **{name: "x" * 321})
    assert too_long.status == 400 and too_long.faults == {name: "too_long"}
    assert (await maild.api.get("/v1/messages", q="x" * 200)).status == 200
    for odd in ("%ff", "%ed%a0%80"):
        assert (await maild.api.call("GET", f"/v1/messages?{name}={odd}")).faults == {name: "invalid_text"}
    for odd in ("%00", "a%00b%00c%00d", "%F4%8F%BF%BF%F4%8F%BF%BF"):
        assert (await maild.api.call("GET", f"/v1/messages?{name}={odd}")).status == 200
    assert (await maild.api.get("/v1/messages", **{name: ""})).status == 200


async def test_the_indexer_comes_to_everything_by_itself(maild: Running, bot: dict[str, Any]) -> None:
    for number in range(30):
        await maild.received(bot, mail("findme", f"{number}"))

    async def look() -> bool | None:
        return maild.sql("SELECT count(*) FROM search_tail") == [(0,)] or None

    await until(look)
    assert in_index(maild, "SELECT count(*) FROM documents") == [(30,)]
    assert len(await subjects(maild.api, q="findme")) == 30
