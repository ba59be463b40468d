"""Any octets: `read_report` never raises, keeps its bounds, and takes work in proportion."""

from __future__ import annotations

import unicodedata
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maild.message.parsing.parse import parse
from maild.message.reports import bounces
from maild.message.reports.bounce_classes import Advice, BounceClass
from maild.message.reports.bounces import ENHANCED_STATUS
from maild.message.reports.fates import DIAGNOSTIC_CHARS, MAX_FATES
from maild.message.reports.report import Complaint, Report, read_report
from tests.support.laws.work import Bomb, assert_proportional, bomb

HEAD = b"Content-Type: multipart/report; boundary=b\r\n\r\n"
STATUS = b"--b\r\nContent-Type: message/delivery-status\r\n\r\n"
FEEDBACK = b"--b\r\nContent-Type: message/feedback-report\r\n\r\n"
MIXED = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n"
WRAPPED = MIXED + HEAD + STATUS
RECEIPT = b"--b\r\nContent-Type: message/disposition-notification\r\n\r\nDisposition: automatic-action/x; deleted\r\n"
DAEMON = b"From: MAILER-DAEMON@there.test\r\n\r\n"
RETURNED = b"\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n"

WORDS = [
    "user unknown",
    "mailbox full",
    "5.1.1",
    "#5.7.1",
    "spam",
    "does not exist",
    "no such user",
    "421",
    "@",
    "//",
]
FRAGMENTS = st.sampled_from(
    [
        HEAD, STATUS, FEEDBACK, RETURNED, b"\r\n", b"\n", b"\r\n\r\n", b"\n \n", b"\r\n--b--\r\n",
        b"Final-Recipient: rfc822; a@b.test", b"Original-Recipient: ", b"utf-8;\\x{e9}@\\x{110000}.test",
        b"Action: failed", b"Action:", b"Status: 5.1.1", b"Status: 5.0.0", b"Diagnostic-Code: smtp; 550 ",
        b"Diagnostic-Code: 4.4.1 ;", b"Reporting-MTA: dns;", b"Feedback-Type: abuse", b"Original-Rcpt-To: <",
        b"Message-ID: <a@b>", b"Return-Path: <b+", b"Content-Transfer-Encoding: base64\r\n",
        b"Hi. This is the qmail-send program", b"<a@b.test>:\n", b"--- Below this line", b"X-Failed-Recipients: a@b",
        b"------ This is a copy of the message", b"<", b">", b"@", b";", b"(", b")", b" ", b"\t", b"\x00",
        b"user unknown", b"a@b.test: no such user", b"mailbox full", b"5.7.1", b"550 ", b"retry timeout exceeded",
        b"X-HmXmrOriginalRecipient: <a@b>", b"From: MAILER-DAEMON@x", b"permanent error", b"(generated from a@b)",
        b"----- Original message -----", b"Received: x", b">", b">>> RCPT", b"\xff",
        b"\xc3\xa9", b"xn--", b"\xf0\x9f\x92\xa9",
    ]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(
        [
            b"",
            HEAD,
            HEAD + STATUS,
            HEAD + FEEDBACK,
            MIXED,
            WRAPPED,
            HEAD + RECEIPT,
            DAEMON,
            b"X-Failed-Recipients: ",
        ]
    ),
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
        assert len(fate.diagnostic) <= DIAGNOSTIC_CHARS
        # Characters for private use are shown, as those of a charset that was guessed may be.
        assert not {"Cc", "Cs", "Zl", "Zp"} & set(map(unicodedata.category, fate.diagnostic))
        assert all("@" in one for one in fate.addresses)
        assert fate.code is None or 200 <= fate.code < 600


@pytest.mark.parametrize(
    "unit",
    [
        b"\n", b"\n ", b" ", b"Final-Recipient: rfc822;<@@\n\n", b"a: b\n", b"<", b"-", b"Status: 5.1.1\n\n",
        b"Final-Recipient: utf-8; \xc3\xa9@\xc3\xa9.\xc3\xa9\nOriginal-Recipient: \xe2\x82\xac@\xc3\xbc\n\n",
        b"Original-Rcpt-To: <a@\xc3\xa9.test>\n", b"Diagnostic-Code: 5.", b"5.1.", b"\\x{", b"<a@b>:\n\n", b"(",
        b"a@b\n", b"a@b: user unknown\n", b"a@", b"user ", b"-", b"=", b"original ", b"Final-Recipient: x\n", b"550 ",
        b"> a@b\n", b"From: a@b\n", b"could not be delivered\n\n", b"cannot find a user ", b"attempts will ",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "head",
    [
        HEAD + STATUS, HEAD + STATUS + b"Final-Recipient: rfc822;", HEAD + STATUS + b"Diagnostic-Code: x;",
        HEAD + FEEDBACK, HEAD + STATUS + RETURNED, b"\nHi. This is the qmail\n\n", b"X-Failed-Recipients: ",
        b"X-Failed-Recipients: a@b\n\n", DAEMON, DAEMON + b"permanent error\n\n", DAEMON + b"a@b\n\n",
        HEAD + STATUS + b"Final-Recipient: rfc822; a@b\nAction: failed\n\n--b\r\n\r\n", MIXED,
        WRAPPED, HEAD + RECEIPT + b"Final-Recipient: rfc822;", HEAD + b"--b\r\n\r\nrejected " + RECEIPT,
    ],
)  # fmt: skip
def test_reports_take_work_in_proportion(head: bytes, unit: bytes) -> None:
    bomb = Bomb(unit, before=head, after=b"")
    assert_proportional(read, bomb)
    check_bounds(read(bomb.whole()))


@settings(max_examples=400, deadline=None)
@given(
    st.none() | st.integers(-1, 1000),
    st.none() | st.from_regex(ENHANCED_STATUS, fullmatch=True) | st.text(max_size=10),
    st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=20)), max_size=20).map(" ".join),
)
def test_any_failure_has_a_meaning(code: int | None, enhanced: str | None, text: str) -> None:
    for told in (
        bounces.of_reply(code, enhanced, text, is_ours=False),
        bounces.of_reply(code, enhanced, text, is_ours=True),
        bounces.of_report(code, enhanced, text),
        bounces.of_expiry(code, enhanced, text),
    ):
        assert told.bounce_class in get_args(BounceClass) and told.advice in get_args(Advice)
        assert told.type in get_args(bounces.BounceType)
        if told.blames_address:
            assert (told.type, told.bounce_class, told.advice) == ("permanent", "address", "fix_address")


@pytest.mark.parametrize("unit", [*WORDS, "5.", "5.1.1", "550 ", "a@", "<", ":", "user ", "\u4e0d"])
def test_meanings_take_work_in_proportion(unit: str) -> None:
    def read_words(text: str) -> object:
        return (
            bounces.of_report(550, None, text),
            bounces.telling_status(text, text),
            bounces.is_address_fault(text),
        )

    assert_proportional(read_words, bomb(unit))
    read_words(bomb(unit).whole())
