"""Any octets: reports about domains are read without raising, within bounds, by work in proportion."""

import gzip
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maild.message.parsing.parse import parse
from maild.message.reports.domain_report import MAX_ROWS, NAME_CHARS, TOP, DomainReport, NoReport
from maild.message.reports.domain_report_reader import find_domain_report, read_domain_report
from maild.message.reports.packed_report import INFLATED_MAX, unpack
from tests.support.laws.work import Bomb, assert_proportional
from tests.support.peers.domain_reports import dmarc_xml, gzipped, mail, name_for, tls_json, zipped

WHOLE = [
    dmarc_xml(),
    tls_json(),
    gzipped(dmarc_xml()),
    zipped(dmarc_xml()),
    gzipped(tls_json()),
    zipped(tls_json()),
]


def read(attached: bytes) -> DomainReport | None:
    raw = mail(attached, name_for(b"<"))
    part = find_domain_report(parse(raw))
    return None if part is None else read_domain_report(raw, part)


def check_bounds(report: DomainReport | None) -> None:
    if report is None:
        return
    assert report.domain and len(report.domain) <= 253
    assert len(report.reporter) <= NAME_CHARS and len(report.report_id) <= NAME_CHARS
    assert 0 <= report.passed <= report.total <= MAX_ROWS * 2 * 10**9
    assert 0 < report.begin_s <= report.end_s
    assert all(len(one) <= TOP for one in report.detail.values() if isinstance(one, list))


@settings(max_examples=300, deadline=None)
@given(
    whole=st.sampled_from(WHOLE),
    changes=st.lists(st.tuples(st.integers(0, 3000), st.binary(max_size=6), st.integers(0, 20)), max_size=6),
)
def test_a_damaged_report_can_be_read(whole: bytes, changes: list[tuple[int, bytes, int]]) -> None:
    octets = whole
    for at, put, cut in changes:
        where = at % (len(octets) + 1)
        octets = octets[:where] + put + octets[where + cut :]
    check_bounds(read(octets))


FRAGMENTS = st.sampled_from(
    [
        b"<feedback>", b"</feedback>", b"<record>", b"</record>", b"<row>", b"</row>", b"<count>", b"</count>",
        b"<policy_published><domain>", b"</domain></policy_published>", b"<?xml version='1.0'?>", b"<!DOCTYPE a [",
        b'<!ENTITY a "b">', b"]>", b"&a;", b"&#0;", b"&#x10ffff;", b"<![CDATA[", b"]]>", b"<!--", b"-->", b"<a b='",
        b"'>", b"9" * 30, b"\xff", b"\x00", b"\xc3\xa9", b"{", b"}", b'"policies":[', b'"policy":', b"null", b",",
        b"1e999",
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.one_of(FRAGMENTS, st.binary(max_size=10)), max_size=40),
    st.sampled_from([bytes, gzipped, zipped]),
)
def test_anything_can_be_read(pieces: list[bytes], pack: type[bytes]) -> None:
    check_bounds(read(pack(b"".join(pieces))))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), st.sampled_from([b"", b"PK\x03\x04", b"\x1f\x8b\x08", zipped(b"x" * 50)]))
def test_anything_can_be_unpacked(octets: bytes, before: bytes) -> None:
    try:
        assert len(unpack(before + octets)) <= INFLATED_MAX
    except NoReport:
        pass


@pytest.mark.parametrize("pack", [gzipped, zipped])
def test_a_bomb_is_inflated_no_further_than_the_bound(
    pack: type[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = 0
    real = zlib.decompressobj

    class Counting:
        def __init__(self, bits: int) -> None:
            self._inflating = real(bits)

        def decompress(self, octets: bytes, limit: int) -> bytes:
            nonlocal out
            assert limit
            piece = self._inflating.decompress(octets, limit)
            out += len(piece)
            return piece

        def __getattr__(self, name: str) -> object:
            return getattr(self._inflating, name)

    bomb = pack(bytes(200 * 1024 * 1024))
    monkeypatch.setattr(zlib, "decompressobj", Counting)
    with pytest.raises(NoReport):
        unpack(bomb)
    assert out <= INFLATED_MAX + 64 * 1024


def test_a_zip_that_lies_about_its_sizes_is_not_believed() -> None:
    honest = bytearray(zipped(dmarc_xml()))
    honest[22:26] = (2**32 - 1).to_bytes(4, "little")  # "uncompressed", of the local header
    assert unpack(bytes(honest)) == dmarc_xml()


@pytest.mark.parametrize(
    "unit",
    [
        b"<a/>", b"<record></record>", b"<a>", b"x", b"<!-- -->", b"<a b='c'/>", b"&amp;", b"<count>1</count>",
        b"<org_name>x</org_name>", b"\n", b"<record><row><source_ip>::1</source_ip></row></record>",
    ],
)  # fmt: skip
def test_xml_takes_work_in_proportion(unit: bytes) -> None:
    head, tail = dmarc_xml(rows=()).rsplit(b"</feedback>", 1)
    bomb = Bomb(unit, before=head, after=b"</feedback>" + tail)
    assert_proportional(lambda octets: read(gzip.compress(octets)), bomb)
    check_bounds(read(gzip.compress(bomb.whole())))


@pytest.mark.parametrize(
    "unit", [b'{"policy":{"policy-domain":"a.b"},"summary":{}},', b"1,", b"[", b'{"a":', b'"a",']
)
def test_json_takes_work_in_proportion(unit: bytes) -> None:
    head = tls_json()[:-1].rpartition(b'"policies": [')[0] + b'"policies": ['
    bomb = Bomb(unit, before=head, after=b'{"policy":{"policy-domain":"a.b"},"summary":{}}]}')
    assert_proportional(lambda octets: read(gzip.compress(octets)), bomb)
    check_bounds(read(gzip.compress(bomb.whole())))
