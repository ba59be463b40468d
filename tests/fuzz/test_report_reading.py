"""Any octets: `read_report` never raises, keeps its bounds, and takes work in proportion."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maild.message.parse import parse
from maild.message.report import DIAGNOSTIC_CHARS, MAX_FATES, Complaint, Report, read_report
from tests.support.work import Bomb, assert_proportional

HEAD = b"Content-Type: multipart/report; boundary=b\r\n\r\n"
STATUS = b"--b\r\nContent-Type: message/delivery-status\r\n\r\n"
FEEDBACK = b"--b\r\nContent-Type: message/feedback-report\r\n\r\n"
RETURNED = b"\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n"

FRAGMENTS = st.sampled_from(
    [
        HEAD, STATUS, FEEDBACK, RETURNED, b"\r\n", b"\n", b"\r\n\r\n", b"\n \n", b"\r\n--b--\r\n",
        b"Final-Recipient: rfc822; a@b.test", b"Original-Recipient: ", b"utf-8;\\x{e9}@\\x{110000}.test",
        b"Action: failed", b"Action:", b"Status: 5.1.1", b"Status: 5.0.0", b"Diagnostic-Code: smtp; 550 ",
        b"Diagnostic-Code: 4.4.1 ;", b"Reporting-MTA: dns;", b"Feedback-Type: abuse", b"Original-Rcpt-To: <",
        b"Message-ID: <a@b>", b"Return-Path: <b+", b"Content-Transfer-Encoding: base64\r\n",
        b"Hi. This is the qmail-send program", b"<a@b.test>:\n", b"--- Below this line", b"X-Failed-Recipients: a@b",
        b"------ This is a copy of the message", b"<", b">", b"@", b";", b"(", b")", b" ", b"\t", b"\x00",
        b"\xff", b"\xc3\xa9", b"xn--", b"\xf0\x9f\x92\xa9",
    ]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from([b"", HEAD, HEAD + STATUS, HEAD + FEEDBACK, b"X-Failed-Recipients: "]),
    st.lists(st.one_of(FRAGMENTS, st.binary(max_size=20)), max_size=40),
)
def test_anything_can_be_read(head: bytes, pieces: list[bytes]) -> None:
    check_bounds(read(head + b"".join(pieces)))


def read(raw: bytes) -> Report | None:
    return read_report(raw, parse(raw))


def check_bounds(report: Report | None) -> None:
    if report is None:
        return
    if isinstance(report, Complaint):
        assert all("@" in one for one in report.addresses + report.senders)
        return
    assert len(report.fates) <= MAX_FATES
    for fate in report.fates:
        assert len(fate.diagnostic) <= DIAGNOSTIC_CHARS and fate.diagnostic.isprintable()
        assert all("@" in one for one in fate.addresses)
        assert fate.code is None or 200 <= fate.code < 600


@pytest.mark.parametrize(
    "unit",
    [
        b"\n", b"\n ", b" ", b"Final-Recipient: rfc822;<@@\n\n", b"a: b\n", b"<", b"-", b"Status: 5.1.1\n\n",
        b"Final-Recipient: utf-8; \xc3\xa9@\xc3\xa9.\xc3\xa9\nOriginal-Recipient: \xe2\x82\xac@\xc3\xbc\n\n",
        b"Original-Rcpt-To: <a@\xc3\xa9.test>\n", b"Diagnostic-Code: 5.", b"5.1.", b"\\x{", b"<a@b>:\n\n", b"(",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "head",
    [
        HEAD + STATUS, HEAD + STATUS + b"Final-Recipient: rfc822;", HEAD + STATUS + b"Diagnostic-Code: x;",
        HEAD + FEEDBACK, HEAD + STATUS + RETURNED, b"\nHi. This is the qmail\n\n", b"X-Failed-Recipients: ",
        b"X-Failed-Recipients: a@b\n\n",
    ],
)  # fmt: skip
def test_reports_take_work_in_proportion(head: bytes, unit: bytes) -> None:
    bomb = Bomb(unit, before=head, after=b"")
    assert_proportional(read, bomb)
    check_bounds(read(bomb.whole()))
