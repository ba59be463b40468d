"""What a submitted header may say, and what the server says instead."""

import pytest

from maild.message.parsing.parse import parse
from maild.message.writing.submitted_header import (
    ServerFields,
    SubmittedHeader,
    SubmittedHeaderError,
    edit_header,
)

SERVER = ServerFields("Sun, 22 Nov 2026 12:00:00 +0000", "<token@agents.test>")
WHOLE = "Date: x\nMessage-ID: <a@b.test>\nTo: a@b.test\nAuto-Submitted: no\n"


def edited(header: str | bytes) -> SubmittedHeader:
    octets = header.encode() if isinstance(header, str) else header
    return edit_header(octets.replace(b"\n", b"\r\n"), SERVER)


def test_what_needs_no_change_stays_octet_for_octet() -> None:
    header = WHOLE + "From:bot@agents.test\nX-Odd:   \n\tfolded  \n  twice\nSUBJECT: é\nx-odd: again\n"
    octets = header.replace("\n", "\r\n").encode()
    assert edited(header) == SubmittedHeader(octets + b"\r\n", octets, "<a@b.test>", 0)


@pytest.mark.parametrize(
    "field",
    [
        "Bcc: a@b.test", "BCC:", "bcc: a@b.test,\n c@d.test", "Resent-Bcc: a@b.test", "Return-Path: <>",
        "Received: from x\n by y;\n\tnow", "Received-SPF: pass", "Authentication-Results: x; dmarc=pass",
        "Sender: boss@bank.test", "X-Originating-IP: [192.0.2.1]", "DKIM-Signature: v=1", "DomainKey-Signature: x",
        "ARC-Seal: i=1", "ARC-Authentication-Results: i=1", "Message-ID: none", "Message-Id: <a b@c.test>",
    ],
)  # fmt: skip
def test_what_is_not_the_authors_to_say_is_removed(field: str) -> None:
    for header in (f"{field}\nX: 1\n", f"X: 1\n{field}\n", f"{field}\n{field}\nX: 1\n"):
        found = edited(header)
        assert found.own == b"X: 1\r\n", header
        assert found.message_id is None and b"<token@agents.test>" in found.octets


def test_hops_are_counted_before_they_go() -> None:
    assert edited("Received: a\nreceived: b\nX-Received: c\n").hops == 2


@pytest.mark.parametrize(
    ("header", "missing"),
    [
        ("X: 1\n", ["Date", "Message-ID", "To", "Auto-Submitted", "X-Auto-Response-Suppress"]),
        ("DATE: x\n", ["Message-ID", "To", "Auto-Submitted", "X-Auto-Response-Suppress"]),
        ("Cc: a@b.test\n", ["Date", "Message-ID", "Auto-Submitted", "X-Auto-Response-Suppress"]),
        ("X-Auto-Response-Suppress: OOF\n", ["Date", "Message-ID", "To", "Auto-Submitted"]),
        (WHOLE, []),
        ("", ["Date", "Message-ID", "To", "Auto-Submitted", "X-Auto-Response-Suppress"]),
    ],
)
def test_what_is_missing_is_added_once(header: str, missing: list[str]) -> None:
    found = edited(header)
    added = found.octets.removeprefix(found.own).removesuffix(b"\r\n").decode()
    assert [line.partition(":")[0] for line in added.splitlines()] == missing


@pytest.mark.parametrize(
    ("header", "kind"), [("In-Reply-To: <a@b.test>\n", "auto-replied"), ("", "auto-generated")]
)
def test_an_answer_says_that_it_is_one(header: str, kind: str) -> None:
    assert f"Auto-Submitted: {kind}\r\n".encode() in edited(header).octets


@pytest.mark.parametrize(
    "header",
    [
        "no field\n", " X: 1\n", "\tX: 1\n", "X : 1\n", ": 1\n", "X\n", "X: 1\n\n", "X: 1\n \nY: 2\n", "X: 1\n\t \n",
        "From x@y.test Sun Nov 22\nX: 1\n", ">From x\nX: 1\n", "Ü: 1\n", "X: \x00\n", "X: \x0b\n", "X: \x7f\n",
        "X: 1\rY: 2\n", "X: " + "a" * 996 + "\n", "\ufeffX: 1\n",
        "From: a\nfrom: b\n", "To: a\nTO: b\n", "Subject: a\nSubject: b\n", "Message-ID: <a@b>\nMessage-ID: <a@b>\n",
        "Content-Type: a/b\ncontent-type: a/b\n", "MIME-Version: 1.0\nMIME-Version: 1.0\n",
        "Reply-To: a\nReply-To: b\n", "X: 1\n" * 1001,
    ],
)  # fmt: skip
def test_what_two_readers_could_read_differently_is_refused(header: str) -> None:
    with pytest.raises(SubmittedHeaderError) as error:
        edited(header)
    assert str(error.value).isascii() and "\n" not in str(error.value)


def test_what_comes_of_it_is_read_as_it_was_written() -> None:
    found = edited("From: bot@agents.test\nBcc: x@y.test\nSubject: a\n b\n")
    parsed = parse(found.octets + b"X-Body: no field\r\n")
    assert [name for name, _ in parsed.headers.items()][:2] == ["From", "Subject"]
    assert parsed.message_id == "<token@agents.test>" and parsed.header_length == len(found.octets)
