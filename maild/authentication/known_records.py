"""SPF records as they were read: much mail comes by way of few hosters, whose records it includes.

A long one takes some tenths of a millisecond to read, and answers of the cache come at once, however many sessions wait
for them. So one is read at a time, a piece in a round of the event loop; owners take turns, and who waited for what
another one had read meanwhile reads nothing.
"""

import asyncio
from collections import OrderedDict
from functools import lru_cache

from maild.authentication.spf_record import (
    SpfRecord,
    SpfTerms,
    joined_terms,
    parse_record,
    parse_terms,
    terms_of,
)
from storage.turns.work_turns import WorkTurns

LONG_RECORD_OCTETS = 1024
# Of either kind, a few mebibytes at most.
SHORT_RECORDS_KEPT = 256
LONG_MECHANISMS_KEPT = 20_000

parse_short_record = lru_cache(SHORT_RECORDS_KEPT)(parse_record)


class KnownSpfRecords:
    """Those of all evaluations. Called on the event loop alone."""

    def __init__(self) -> None:
        self._turns = WorkTurns(1)
        self._long: OrderedDict[bytes, SpfRecord] = OrderedDict()  # least recently used first
        self._mechanisms = 0

    async def read(self, text: bytes, owner: str) -> SpfRecord:
        """What a record says, in the owner's turn. Raises SpfSyntaxError."""
        async with self._turns.turn(owner):
            record = self.at_once(text)
            if record is None:
                record = await _read_in_pieces(text)
                self._keep(text, record)
            return record

    def at_once(self, text: bytes) -> SpfRecord | None:
        """What a record says, if that takes but a moment: else it is to be read. Raises SpfSyntaxError."""
        if len(text) <= LONG_RECORD_OCTETS:
            return parse_short_record(text)
        record = self._long.get(text)
        if record is not None:
            self._long.move_to_end(text)
        return record

    def _keep(self, text: bytes, record: SpfRecord) -> None:
        self._long[text] = record
        self._mechanisms += len(record.mechanisms)
        while self._mechanisms > LONG_MECHANISMS_KEPT:
            _, oldest = self._long.popitem(last=False)
            self._mechanisms -= len(oldest.mechanisms)


async def _read_in_pieces(text: bytes) -> SpfRecord:
    pieces: list[SpfTerms] = []
    for terms in terms_of(text):
        await asyncio.sleep(0)
        pieces.append(parse_terms(terms))
    return joined_terms(pieces)
