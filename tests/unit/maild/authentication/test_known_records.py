"""SPF records that many mails ask for: read once, and a long one piece by piece."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise

import pytest

from maild.authentication import known_records
from maild.authentication.known_records import LONG_MECHANISMS_KEPT, LONG_RECORD_OCTETS, KnownSpfRecords
from maild.authentication.spf import evaluate_spf
from maild.authentication.spf_record import (
    RECORD_OCTETS_MAX,
    TERMS_AT_ONCE,
    SpfSyntaxError,
    SpfTerms,
    parse_record,
    parse_terms,
)
from tests.support.worlds.spf_zone import SpfZone


def long_record(number: int = 0, last: str = "-all") -> bytes:
    """Of two pieces."""
    text = f"v=spf1 ip4:192.0.2.{number} {'ip4:192.0.2.9 ' * (TERMS_AT_ONCE - 1)}{last}".encode()
    assert len(text) > LONG_RECORD_OCTETS
    return text


class Pieces:
    """Of records, as they are read: how many so far, and in the rounds of the event loop."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read = 0
        self.by_round = [0]
        monkeypatch.setattr(known_records, "parse_terms", self._parse)

    def _parse(self, terms: Sequence[str]) -> SpfTerms:
        self.read += 1
        return parse_terms(terms)

    async def count(self) -> None:
        while True:
            self.by_round.append(self.read)
            await asyncio.sleep(0)


def test_a_short_record_that_many_mails_include_is_parsed_once() -> None:
    text = b"v=spf1 ip4:192.0.2.77 ip4:192.0.2.1 -all"
    first = KnownSpfRecords().at_once(text)
    assert first == parse_record(text)
    assert KnownSpfRecords().at_once(text) is first


async def test_a_long_record_is_read_once_and_is_at_hand_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pieces, records, text = Pieces(monkeypatch), KnownSpfRecords(), long_record()
    assert records.at_once(text) is None
    assert await records.read(text, "192.0.2.1") == parse_record(text) == records.at_once(text)
    assert pieces.read == 2


async def test_who_waited_for_what_others_have_read_meanwhile_reads_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pieces, records, text = Pieces(monkeypatch), KnownSpfRecords(), long_record()
    found = await asyncio.gather(*(records.read(text, f"192.0.2.{number}") for number in range(20)))
    assert found == [parse_record(text)] * 20
    assert pieces.read == 2


async def test_one_piece_of_a_long_record_is_read_in_a_round_however_many_sessions_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pieces, records, zone = Pieces(monkeypatch), KnownSpfRecords(), SpfZone()
    for number in range(20):
        zone.add(f"x{number}.test", "TXT", long_record(number))
    counting = asyncio.create_task(pieces.count())
    asked = (
        evaluate_spf(
            zone, "192.0.2.200", "", f"a@x{number}.test", hostname="r.test", now_s=1.5, records=records
        )
        for number in range(20)
    )
    assert {found.result for found in await asyncio.gather(*asked)} == {"fail"}
    counting.cancel()
    assert pieces.read == 2 * 20
    assert max(after - before for before, after in pairwise(pieces.by_round)) == 1


async def test_a_long_record_that_breaks_the_grammar_is_refused_each_time() -> None:
    records, text = KnownSpfRecords(), long_record(last="nonsense")
    for _ in range(2):
        with pytest.raises(SpfSyntaxError):
            await records.read(text, "192.0.2.1")
    assert await records.read(long_record(), "192.0.2.1") == parse_record(long_record()), (
        "the turn was given back"
    )


async def test_of_what_strangers_publish_no_more_is_kept_than_has_its_place() -> None:
    records = KnownSpfRecords()
    most = (RECORD_OCTETS_MAX - 20) // 2
    texts = [f"v=spf1 ip4:192.0.2.{number} {'a ' * most}".encode()[:RECORD_OCTETS_MAX] for number in range(8)]
    for text in texts:
        await records.read(text, "192.0.2.1")
        assert await records.read(texts[0], "192.0.2.1") == parse_record(texts[0])  # it is in use
    kept = [known for text in texts if (known := records.at_once(text)) is not None]
    assert 1 < len(kept) < len(texts)
    assert sum(len(one.mechanisms) for one in kept) <= LONG_MECHANISMS_KEPT
    assert records.at_once(texts[0]) is not None
