"""A DMARC aggregate report (RFC 7489 appendix C, RFC 9990): XML, read by expat. Pure and bounded.

A document type is refused where it begins, so there are no entities to expand. Only what is summed up is kept while it
is read. Reporters differ in namespaces and in order; elements are known by their local names. Some write what is no
XML: a bare `&` in their name, their address in angle brackets, octets of another charset than they declare. That is
mended and read a second time. What stands around the report is passed over: a schema that never ends, something behind
the end. A report that is cut off is none, for a part would be counted as the whole.
"""

from __future__ import annotations

import codecs
import ipaddress
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, NoReturn
from xml.parsers import expat

from maild.message.characters.decode import decode_charset
from maild.message.reports.domain_report import (
    MAX_ROWS,
    TOP,
    DomainReport,
    NoReport,
    count_of,
    domain_of,
    name_of,
    period,
)

_NO_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")  # XML §2.2
_DECLARATION = re.compile(rb"\A(?:[ \t\r\n]*<\?xml[ \t\r\n][^>]{0,200}>)+")
_DECLARED = re.compile(rb"""<\?xml[^>]*encoding=["']([!-~]{1,40})["']""")
_BARE_AMPERSAND = re.compile(rb"&(?!(?:#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6}|amp|lt|gt|quot|apos);)")
_BRACKETED_ADDRESS = re.compile(rb"<([^<>\s@]*@[^<>\s]*)>")

_UNREADABLE: Final = (expat.ExpatError, ValueError, LookupError)  # the last two: of charsets

_MENDED_MAX = 128 * 1024  # each pass over so much keeps the interpreter for 10 ms at most
_PIECE = 64 * 1024
# Expat begins a tag or a comment anew with each piece that does not end it, and reads all attributes of a tag before
# anybody else gets the interpreter.
_TOKEN_OCTETS_MAX = 64 * 1024
_ATTRIBUTES_MAX = 20
_DEPTH_MAX = 20
_ELEMENTS_MAX = 40 * MAX_ROWS
_TEXT_CHARS = 1000
_DISPOSITIONS: Final = ("none", "quarantine", "reject")  # RFC 9990 has "pass" besides, which is none of these

_REPORT = ("feedback",)
_ORGANIZATION = ("feedback", "report_metadata", "org_name")
_REPORT_ID = ("feedback", "report_metadata", "report_id")
_BEGIN = ("feedback", "report_metadata", "date_range", "begin")
_END = ("feedback", "report_metadata", "date_range", "end")
_DOMAIN = ("feedback", "policy_published", "domain")
_RECORD = ("feedback", "record")
_SOURCE = (*_RECORD, "row", "source_ip")
_COUNT = (*_RECORD, "row", "count")
_EVALUATED = (*_RECORD, "row", "policy_evaluated")
_DISPOSITION, _DKIM, _SPF = (*_EVALUATED, "disposition"), (*_EVALUATED, "dkim"), (*_EVALUATED, "spf")
_KNOWN = frozenset(
    (_ORGANIZATION, _REPORT_ID, _BEGIN, _END, _DOMAIN, _SOURCE, _COUNT, _DISPOSITION, _DKIM, _SPF)
)


def read_dmarc_report(octets: bytes) -> DomainReport:
    """NoReport when it is none."""
    try:
        try:
            return _read(octets)
        except _UNREADABLE:
            if len(octets) > _MENDED_MAX:
                raise
            return _read(_mended(octets))
    except _UNREADABLE as error:
        raise NoReport from error


def _read(octets: bytes) -> DomainReport:
    reading = _Reading()
    try:
        for at in range(0, len(octets), _PIECE):
            reading.feed(octets[at : at + _PIECE])
        reading.feed(b"", is_end=True)
    except _Enough:
        pass  # it is whole, or what was read of it is told, and that there was more
    return reading.report()


def _mended(octets: bytes) -> bytes:
    """As UTF-8, and without a declaration that says else."""
    text = _NO_XML.sub(b"", _DECLARATION.sub(b"", _characters(octets).encode()))
    return _BRACKETED_ADDRESS.sub(rb"&lt;\1&gt;", _BARE_AMPERSAND.sub(b"&amp;", text))


def _characters(octets: bytes) -> str:
    """What is surely of a charset is of that, whatever is declared."""
    if octets.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return octets.decode("utf-16", "replace")
    try:
        return octets.decode()
    except UnicodeDecodeError:
        declared = _DECLARED.search(octets[:_TEXT_CHARS])
        return decode_charset(octets, declared[1].decode() if declared else None)


class _Enough(Exception):
    pass


class _Reading:
    def __init__(self) -> None:
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = self._parser.ordered_attributes = True
        self._fed = 0
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text_comes
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.EntityDeclHandler = self._refuse
        self._path: tuple[str, ...] = ()
        self._elements = 0
        self._text = ""
        self._once: dict[tuple[str, ...], str] = {}  # of the whole report
        self._row: dict[tuple[str, ...], str] = {}
        self._sums = _Sums()
        self._is_truncated = False

    def feed(self, octets: bytes, *, is_end: bool = False) -> None:
        self._parser.Parse(octets, is_end)
        self._fed += len(octets)
        if self._fed - self._parser.CurrentByteIndex > _TOKEN_OCTETS_MAX + _PIECE:
            raise NoReport

    def _refuse(self, *_: object) -> NoReturn:
        raise NoReport

    def _start(self, name: str, attributes: Sequence[str]) -> None:
        self._elements += 1
        if len(self._path) >= _DEPTH_MAX or len(attributes) > 2 * _ATTRIBUTES_MAX:  # names and values
            raise NoReport
        if self._elements > _ELEMENTS_MAX or self._sums.rows >= MAX_ROWS:
            self._is_truncated = True
            raise _Enough
        path = *self._path, name.rpartition(":")[2].lower()
        begins = path[-1:] == _REPORT and path[:1] != _REPORT  # within something else
        self._path = _REPORT if begins else path
        self._text = ""

    def _text_comes(self, text: str) -> None:
        if len(self._text) < _TEXT_CHARS and self._path in _KNOWN:
            self._text += text[:_TEXT_CHARS]

    def _end(self, _name: str) -> None:
        path, self._path = self._path, self._path[:-1]
        if path == _REPORT:
            raise _Enough
        if path == _RECORD:
            self._sums.add(self._row)
            self._row = {}
        elif path in _KNOWN:
            into = self._row if path[: len(_RECORD)] == _RECORD else self._once
            into.setdefault(path, self._text.strip())

    def report(self) -> DomainReport:
        once, sums = self._once, self._sums
        domain = domain_of(once.get(_DOMAIN, ""))
        if not domain:
            raise NoReport
        begin_s, end_s = period(count_of_time(once.get(_BEGIN, "")), count_of_time(once.get(_END, "")))
        return DomainReport(
            kind="dmarc",
            domain=domain,
            reporter=name_of(once.get(_ORGANIZATION, "")),
            report_id=name_of(once.get(_REPORT_ID, "")),
            begin_s=begin_s,
            end_s=end_s,
            total=sums.total,
            passed=sums.passed,
            detail=sums.detail(),
            is_truncated=self._is_truncated,
        )


def count_of_time(text: str) -> int:
    """Whole Unix seconds, of those with a fraction as well; 0 where the text is none."""
    text = text.partition(".")[0]
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 12 else 0


class _Sums:
    def __init__(self) -> None:
        self.rows = self.total = self.passed = 0
        self._dkim = self._spf = 0
        self._dispositions = dict.fromkeys(_DISPOSITIONS, 0)
        self._sources: dict[str, Counter[str]] = {}

    def add(self, row: dict[tuple[str, ...], str]) -> None:
        self.rows += 1
        messages = count_of(row.get(_COUNT, ""))
        has_dkim, has_spf = (row.get(one, "").lower() == "pass" for one in (_DKIM, _SPF))
        self.total += messages
        self.passed += messages if has_dkim or has_spf else 0
        self._dkim += messages if has_dkim else 0
        self._spf += messages if has_spf else 0
        disposition = row.get(_DISPOSITION, "").lower()
        if disposition in self._dispositions:
            self._dispositions[disposition] += messages
        source = self._sources.setdefault(_address(row.get(_SOURCE, "")), Counter())
        source["total"] += messages
        source["passed"] += messages if has_dkim or has_spf else 0

    def detail(self) -> dict[str, Any]:
        return {
            "dkimAligned": self._dkim,
            "spfAligned": self._spf,
            "dispositions": self._dispositions,
            "sources": self._top(),
        }

    def _top(self) -> Sequence[dict[str, Any]]:
        known = [(address, counts) for address, counts in self._sources.items() if address]
        known.sort(key=lambda one: -one[1]["total"])
        return [
            {
                "address": address,
                "total": counts["total"],
                "passed": counts["passed"],
                "failed": counts["total"] - counts["passed"],
            }
            for address, counts in known[:TOP]
        ]


def _address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text.partition("%")[0]))
    except ValueError:
        return ""
