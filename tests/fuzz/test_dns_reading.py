"""Any octets from a nameserver are an answer or DnsGarbage, and what dnspython reads too is read alike."""

import struct
from typing import Any

import dns.exception
import dns.message
from hypothesis import given
from hypothesis import strategies as st

from conf.dns_wire import TYPES, DnsGarbage, DnsQuestion, read_answer

NAME = b"\x01x\x04test\x00"
FRAGMENTS = st.one_of(
    st.sampled_from(
        [b"\xc0\x0c", b"\xc0\x0e", b"\xc0\x1c", b"\x00", b"\x01a", b"\x3f" + b"b" * 63, NAME, b"\x80"]
    ),
    st.sampled_from(
        [struct.pack("!2HIH", kind, 1, 9, size) for kind in (1, 5, 6, 15, 16) for size in (2, 4, 9)]
    ),
    st.binary(max_size=9),
)


@given(
    st.lists(FRAGMENTS, max_size=40),
    st.sampled_from(sorted(TYPES)),
    st.integers(0, 5),
    st.integers(0, 0xFFFF),
)
def test_any_octets(fragments: list[bytes], rdtype: str, count: int, flags: int) -> None:
    question = DnsQuestion(7, NAME, TYPES[rdtype])
    header = struct.pack("!6H", 7, flags, 1, count, 1, 0)
    wire = header + NAME + struct.pack("!2H", TYPES[rdtype], 1) + b"".join(fragments)
    if not question.is_answered_by(wire):
        return
    try:
        answer = read_answer(wire, question)
    except DnsGarbage:
        return
    assert answer.ttl_s >= 0
    if flags & 0x0200 == 0 and answer.records:
        assert len(answer.records) == len(_read_by_dnspython(wire) or answer.records)


def _read_by_dnspython(wire: bytes) -> Any:
    try:
        message = dns.message.from_wire(wire, ignore_trailing=True)
        assert isinstance(message, dns.message.QueryMessage)
        return message.resolve_chaining().answer
    except (dns.exception.DNSException, ValueError):
        return None


@given(st.binary(max_size=60))
def test_any_octets_at_all_are_passed_over_or_answer_the_question(wire: bytes) -> None:
    question = DnsQuestion(7, NAME, TYPES["A"])
    if question.is_answered_by(wire):
        assert wire[:2] == b"\x00\x07"
