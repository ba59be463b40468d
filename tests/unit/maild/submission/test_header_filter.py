"""A submitted header is edited the same however its octets come, in linear time, and what its author wrote is known."""

import hashlib

import pytest

from maild.errors import SmtpError
from maild.message.writing.header_writer import MAX_SENT_HEADER_BYTES
from maild.message.writing.submitted_header import ServerFields
from maild.submission.header_filter import SubmittedSection

SERVER = ServerFields("Sun, 22 Nov 2026 12:00:00 +0000", "<token@agents.test>")
LATER = ServerFields("Mon, 23 Nov 2026 12:00:00 +0000", "<other@agents.test>")
MAIL = b"Bcc: x@y.test\r\nFrom: bot@agents.test\r\nX: a\r\n b\r\n\r\nbody\r\n\r\nBcc: stays\r\n"


def passed(mail: bytes, piece: int, server: ServerFields = SERVER) -> tuple[bytes, SubmittedSection]:
    section = SubmittedSection(server)
    octets = b"".join([section.feed(mail[at : at + piece]) for at in range(0, len(mail), piece)])
    return octets + section.finish(), section


@pytest.mark.parametrize(
    "mail", [MAIL, b"", b"\r\n", b"\r\n\r\n", b"\r\nbody", b"From: x", b"From: x\r\n", b"X: 1\r\n\r\n"]
)
def test_however_it_is_cut(mail: bytes) -> None:
    whole, section = passed(mail, 1000)
    assert section.is_over
    for piece in (1, 2, 3, 7):
        again, other = passed(mail, piece)
        assert (again, other.own_hash, other.message_id) == (whole, section.own_hash, section.message_id), (
            piece
        )
    assert whole.count(b"\r\nMessage-ID: <token@agents.test>\r\n") == 1


def test_the_header_alone_is_touched() -> None:
    octets, _ = passed(MAIL, 5)
    assert octets.startswith(b"From: bot@agents.test\r\nX: a\r\n b\r\nDate: ")
    assert octets.endswith(b"\r\n\r\nbody\r\n\r\nBcc: stays\r\n") and octets.count(b"Bcc") == 1


def test_what_the_server_adds_makes_no_other_message() -> None:
    first, second = passed(MAIL, 9), passed(MAIL, 9, LATER)
    assert first[0] != second[0] and first[1].own_hash == second[1].own_hash
    own = b"From: bot@agents.test\r\nX: a\r\n b\r\n\r\nbody\r\n\r\nBcc: stays\r\n"
    assert first[1].own_hash == hashlib.sha256(own).digest()
    assert passed(MAIL.replace(b"body", b"Body"), 9)[1].own_hash != first[1].own_hash
    assert passed(MAIL.replace(b"X: a", b"X: b"), 9)[1].own_hash != first[1].own_hash


def test_a_header_without_end_is_refused() -> None:
    section = SubmittedSection(SERVER)
    with pytest.raises(SmtpError) as refused:
        for _ in range(MAX_SENT_HEADER_BYTES // 8 + 2):
            section.feed(b"X: abc\r\n")
    assert (refused.value.code, refused.value.enhanced) == (552, "5.3.4")
    assert len(section._held) <= MAX_SENT_HEADER_BYTES + 8


def test_a_faulty_header_is_refused_with_its_fault() -> None:
    with pytest.raises(SmtpError, match="no field") as refused:
        passed(b"nonsense\r\n\r\nbody", 100)
    assert refused.value.code == 554
