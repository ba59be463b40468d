"""DNS messages as octets (RFC 1035 §4): one question out, its answer read.

Whoever owns a name decides what an answer holds, up to 64 KiB of it. So reading is linear in the octets:
every label is read once, however many compression pointers lead to it, and only records that answer the
question are looked into. What does not fit the format is `DnsGarbage`, and nothing else is raised.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from typing import NamedTuple

IN = 1
CNAME, SOA = 5, 6
TYPES = {"A": 1, "PTR": 12, "MX": 15, "TXT": 16, "AAAA": 28, "TLSA": 52}

NOERROR, FORMERR, NXDOMAIN, NOTIMP = 0, 1, 3, 4
RECORDS_MAX = 1000  # of one answer; the rest of a huge one is dropped
LABELS_MAX = 10_000  # of all its names
CHAIN_MAX = 16  # CNAMEs from the name that was asked for
NAME_OCTETS_MAX = 255  # RFC 1035 §3.1
TTL_WITHOUT_SOA_S = 0  # of a negative answer: RFC 2308 §5
PAYLOAD_OCTETS = 1232  # of an answer over UDP: no network fragments it

_HEADER = struct.Struct("!6H")
_RECORD = struct.Struct("!2HIH")
_QR, _TC, _RD, _AD = 0x8000, 0x0200, 0x0100, 0x0020
_OPCODE = 0x7800
_OPT = b"\x00" + struct.pack("!2HIH", 41, PAYLOAD_OCTETS, 0, 0)  # RFC 6891 §6.1.2
# As text, these stand for themselves only behind a backslash (RFC 1035 §5.1), others as a number.
_ESCAPES = {code: f"\\{code:03d}" for code in (*range(0x21), *range(0x7F, 0x100))} | {
    ord(sign): f"\\{sign}" for sign in '"().;\\@$'
}


class DnsGarbage(Exception):
    """Octets that are no answer to the question."""


class DnsQuestion(NamedTuple):
    """`name` as octets in lower case (RFC 1035 §3.1), `rdtype` one of TYPES."""

    id: int
    name: bytes
    rdtype: int
    has_edns: bool = True

    def to_wire(self) -> bytes:
        """A query of a stub: recursion desired; AD asks whether the answer is authentic (RFC 6840 §5.7)."""
        header = _HEADER.pack(self.id, _RD | _AD, 1, 0, 0, int(self.has_edns))
        return header + self._section() + (_OPT if self.has_edns else b"")

    def is_answered_by(self, wire: bytes) -> bool:
        """Whether `wire` is a response to this very question (RFC 5452 §9.1)."""
        if len(wire) < _HEADER.size:
            return False
        id_, flags, questions, *_ = _HEADER.unpack_from(wire)
        if id_ != self.id or flags & (_QR | _OPCODE) != _QR:
            return False
        if questions == 0 and flags & 0xF not in (NOERROR, NXDOMAIN):
            return True  # who could not read the question need not repeat it
        section = self._section()
        # Lengths of labels are below 64, so lower() leaves them as they are.
        asked = wire[_HEADER.size : _HEADER.size + len(section)]
        return questions == 1 and asked[:-4].lower() == self.name and asked[-4:] == section[-4:]

    def _section(self) -> bytes:
        return self.name + struct.pack("!2H", self.rdtype, IN)


class DnsAnswer(NamedTuple):
    """Addresses and host names as text (lower case, no dot at the end), MX as (preference, host), TXT and TLSA as
    octets. `is_authentic`: who answered says that all of it is, by DNSSEC (RFC 4035 §3.2.3). `alias_of`: whose records
    they are where the name that was asked for is an alias, "" else."""

    rcode: int
    truncated: bool
    records: tuple[str | bytes | tuple[int, str], ...]
    ttl_s: int
    is_authentic: bool = False
    alias_of: str = ""


def read_answer(wire: bytes, question: DnsQuestion) -> DnsAnswer:
    """What `wire`, which answers the question, says of it; CNAMEs in it are followed. Raises DnsGarbage."""
    _, flags, _, answers, authorities, others = _HEADER.unpack_from(wire)
    rcode = flags & 0xF
    if flags & _TC or rcode not in (NOERROR, NXDOMAIN):
        return DnsAnswer(rcode, bool(flags & _TC), (), 0)
    octets = _Octets(wire)
    try:
        if not (answers or authorities):
            rcode |= _upper_rcode(octets, question, others)
            if rcode not in (NOERROR, NXDOMAIN):
                return DnsAnswer(rcode, False, (), 0)
        answer = _read(octets, question, rcode, answers, authorities)
        return answer._replace(is_authentic=bool(flags & _AD))
    except (IndexError, struct.error) as error:
        raise DnsGarbage("shorter than it says") from error


def _upper_rcode(octets: _Octets, question: DnsQuestion, others: int) -> int:
    """What of it does not fit into the header (RFC 6891 §6.1.3)."""
    place = _HEADER.size + len(question.name) + 4
    for _ in range(others):
        after = octets.behind_name(place)
        if octets.wire[after : after + 2] == _OPT[1:3]:
            return octets.wire[after + 4] << 4
        place, _rr = octets.record(place)
    return 0


class _Rr(NamedTuple):
    owner: int  # the name's place
    rdtype: int
    ttl_s: int
    start: int
    end: int


def _read(octets: _Octets, question: DnsQuestion, rcode: int, answers: int, authorities: int) -> DnsAnswer:
    name = octets.name(_HEADER.size)
    place = _HEADER.size + len(question.name) + 4
    found: dict[str, list[_Rr]] = {}
    aliases: dict[str, _Rr] = {}
    for _ in range(answers):
        place, rr = octets.record(place)
        if rr is not None and rr.rdtype == question.rdtype:
            found.setdefault(octets.name(rr.owner), []).append(rr)
        elif rr is not None and rr.rdtype == CNAME:
            aliases.setdefault(octets.name(rr.owner), rr)
    ttls: list[int] = []
    while name not in found and name in aliases:
        if len(ttls) == CHAIN_MAX:
            raise DnsGarbage("CNAMEs without an end")
        ttls.append(aliases[name].ttl_s)
        name = octets.name(aliases[name].start)
    if name not in found:
        ttls.append(_negative_ttl_s(octets, place, authorities))
        return DnsAnswer(rcode, False, (), min(ttls))
    if rcode == NXDOMAIN:
        raise DnsGarbage("a name that does not exist has no records")
    rrs = found[name]
    read = _READERS[question.rdtype]
    records = dict.fromkeys(read(octets, rr.start, rr.end) for rr in rrs[:RECORDS_MAX])
    ttl_s = min(*ttls, *(rr.ttl_s for rr in rrs), 1 << 31)
    return DnsAnswer(rcode, False, tuple(records), ttl_s, alias_of=name if ttls else "")


def _negative_ttl_s(octets: _Octets, place: int, authorities: int) -> int:
    for _ in range(authorities):
        place, rr = octets.record(place)
        if rr is not None and rr.rdtype == SOA:
            minimum_s = int.from_bytes(octets.wire[rr.end - 4 : rr.end], "big")
            return min(rr.ttl_s, minimum_s)  # RFC 2308 §5
    return TTL_WITHOUT_SOA_S


class _Octets:
    """A message. Names that were read are kept by their place, so none is read twice."""

    def __init__(self, wire: bytes) -> None:
        self.wire = wire
        self._names: dict[int, tuple[str, int]] = {}  # its text, with a dot behind each label; its octets

    def record(self, place: int) -> tuple[int, _Rr | None]:
        """Where the next record begins, and this one (None: not of the Internet)."""
        after = self.behind_name(place)
        rdtype, rdclass, ttl_s, length = _RECORD.unpack_from(self.wire, after)
        start = after + _RECORD.size
        if start + length > len(self.wire):
            raise DnsGarbage("a record beyond the end")
        if ttl_s >= 1 << 31:
            ttl_s = 0  # RFC 2181 §8
        rr = _Rr(place, rdtype, ttl_s, start, start + length) if rdclass == IN else None
        return start + length, rr

    def name(self, place: int) -> str:
        """The name at a place, as text."""
        return self._name(place)[0].removesuffix(".")

    def behind_name(self, place: int) -> int:
        """Where the name at a place ends."""
        while length := self.wire[place]:
            if length >= 0xC0:
                return place + 2
            place += 1 + length
        return place + 1

    def _name(self, place: int) -> tuple[str, int]:
        labels, end = self._unread_labels(place)
        if len(self._names) + len(labels) > LABELS_MAX:
            raise DnsGarbage("more names than any answer needs")
        text, size = self._names.get(end, ("", 1))
        for where, label in reversed(labels):
            if label:
                text = label.lower().decode("latin-1").translate(_ESCAPES) + "." + text
                size += 1 + len(label)
            if size > NAME_OCTETS_MAX:
                raise DnsGarbage("a name of more than 255 octets")
            self._names[where] = text, size
        return text, size

    def _unread_labels(self, place: int) -> tuple[list[tuple[int, bytes]], int]:
        """The labels up to a place whose name is known, or the name's end, and that place. b"" is a pointer."""
        wire = self.wire
        labels: list[tuple[int, bytes]] = []
        bound = place
        while place not in self._names and (length := wire[place]):
            if length >= 0xC0:
                labels.append((place, b""))
                place = (length & 0x3F) << 8 | wire[place + 1]
                if place >= bound:  # to prior names alone (RFC 1035 §4.1.4), so there is no circle
                    raise DnsGarbage("a pointer that leads on")
                bound = place
                continue
            label = wire[place + 1 : place + 1 + length]
            if length > 63 or len(label) < length:
                raise DnsGarbage("not a label")
            labels.append((place, label))
            place += 1 + length
        return labels, place


def _address(family: int, length: int) -> Callable[[_Octets, int, int], str]:
    def read(octets: _Octets, start: int, end: int) -> str:
        if end - start != length:
            raise DnsGarbage("an address of another length")
        return socket.inet_ntop(family, octets.wire[start:end])

    return read


def _exchange(octets: _Octets, start: int, end: int) -> tuple[int, str]:
    if end - start < 3:
        raise DnsGarbage("an MX without a host")
    return int.from_bytes(octets.wire[start : start + 2], "big"), octets.name(start + 2)


def _host(octets: _Octets, start: int, _end: int) -> str:
    return octets.name(start)


def _strings(octets: _Octets, start: int, end: int) -> bytes:
    """The strings of a TXT, joined without a blank (RFC 7208 §3.3, RFC 6376 §3.6.2.2)."""
    pieces = []
    while start < end:
        behind = start + 1 + octets.wire[start]
        if behind > end:
            raise DnsGarbage("a string beyond its record")
        pieces.append(octets.wire[start + 1 : behind])
        start = behind
    return b"".join(pieces)


def _as_it_is(octets: _Octets, start: int, end: int) -> bytes:
    return octets.wire[start:end]


_READERS: dict[int, Callable[[_Octets, int, int], str | bytes | tuple[int, str]]] = {
    TYPES["A"]: _address(socket.AF_INET, 4),
    TYPES["AAAA"]: _address(socket.AF_INET6, 16),
    TYPES["MX"]: _exchange,
    TYPES["PTR"]: _host,
    TYPES["TLSA"]: _as_it_is,
    TYPES["TXT"]: _strings,
}
