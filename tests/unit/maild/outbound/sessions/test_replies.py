"""Replies as they come in pieces, what bounds them, and what each code means."""

import pytest
from aiosmtplib.response import SMTPResponse
from hypothesis import given
from hypothesis import strategies as st

from maild.outbound.sessions.replies import (
    LINE_OCTETS_MAX,
    REPLY_LINES_MAX,
    REPLY_OCTETS_KEPT,
    REPLY_OCTETS_MAX,
    Malformed,
    Meaning,
    ReplyReader,
    SmtpReply,
    Step,
    meaning,
)

STREAM = b"250-one\r\n250 two\r\n354\r\n550 5.1.1 no\n220-\r\n220-a\r\n220 \xff b\r\n"
REPLIES = [(250, "one\ntwo"), (354, ""), (550, "5.1.1 no"), (220, "\na\n\udcff b")]


def read(reader: ReplyReader, octets: bytes) -> list[SMTPResponse]:
    reader.feed(octets)
    return list(iter(reader.take, None))


@given(st.lists(st.integers(0, len(STREAM)), max_size=10).map(sorted))
def test_however_the_stream_is_cut_the_replies_are_the_same(cuts: list[int]) -> None:
    reader, found = ReplyReader(), []
    for start, end in zip([0, *cuts], [*cuts, len(STREAM)], strict=True):
        found += read(reader, STREAM[start:end])
    assert [tuple(one) for one in found] == REPLIES
    assert reader.is_empty


@pytest.mark.parametrize(
    "octets",
    [
        b"\r\n",
        b"25 x\r\n",
        b"2500 x\r\n",
        b"150 x\r\n",
        b"650 x\r\n",
        b"999 x\r\n",
        b" 250 x\r\n",
        b"-25 x\r\n",
        b"\xb2\xb2\xb2 x\r\n",
    ],
)
def test_what_is_no_reply(octets: bytes) -> None:
    with pytest.raises(Malformed, match="no SMTP reply"):
        read(ReplyReader(), octets)


@pytest.mark.parametrize("octets", [b"250ok\r\n", b"250\tok\r\n", b"250-\r\n250ok\r\n"])
def test_the_code_counts_where_no_blank_follows_it(octets: bytes) -> None:
    (reply,) = read(ReplyReader(), octets)
    assert (reply.code, reply.message.strip()) == (250, "ok")


@pytest.mark.parametrize(
    "octets",
    [
        b"250 2.0.0 " + b"x" * (REPLY_OCTETS_MAX - 20) + b"\r\n",
        b"250-2.0.0 " + b"x" * 9000 + b"\r\n250 2.0.0 taken\r\n",
        (b"250-2.0.0 " + b"x" * 1000 + b"\r\n") * 500 + b"250 2.0.0 taken\r\n",
    ],
)
@pytest.mark.parametrize("piece", [1_000, 1 << 20])
def test_of_too_much_text_the_code_counts_and_the_beginning_is_kept(octets: bytes, piece: int) -> None:
    """What a host says of a message that it took must not be lost: the message would be sent again."""
    reader, found = ReplyReader(), []
    for start in range(0, len(octets), piece):
        found += read(reader, octets[start : start + piece])
        assert len(reader._octets) <= LINE_OCTETS_MAX
    (reply,) = found
    assert (reply.code, reply.message[:7]) == (250, "2.0.0 x")
    assert len(reply.message) <= REPLY_OCTETS_KEPT
    assert reader.is_empty


@pytest.mark.parametrize("piece", [b"x", b"25", b"2500"])
def test_a_line_that_is_no_reply_is_cut_off_soon(piece: bytes) -> None:
    reader, fed = ReplyReader(), 0
    with pytest.raises(Malformed):
        while fed < REPLY_OCTETS_MAX:
            fed += len(piece)
            assert read(reader, piece) == []
    assert fed <= LINE_OCTETS_MAX + len(piece)


@pytest.mark.parametrize("first, piece", [(b"", b"250-x\r\n"), (b"", b"250-\r\n"), (b"250 ", b"x" * 5000)])
def test_a_reply_without_end_is_cut_off(first: bytes, piece: bytes) -> None:
    reader, fed, pieces = ReplyReader(), 0, 0
    assert read(reader, first) == []
    with pytest.raises(Malformed):
        while fed < 2 * REPLY_OCTETS_MAX:
            fed, pieces = fed + len(piece), pieces + 1
            assert read(reader, piece) == []
    assert fed <= REPLY_OCTETS_MAX + LINE_OCTETS_MAX + len(piece) and pieces <= REPLY_LINES_MAX + 1


def test_every_octet_is_looked_at_once() -> None:
    """One octet at a time costs what all at once cost: the search never begins anew."""
    reader = ReplyReader()
    for _ in range(LINE_OCTETS_MAX):
        assert read(reader, b"x") == []
        assert reader._searched == len(reader._octets)


@pytest.mark.parametrize("step", Step)
def test_every_code_means_something_at_every_step(step: Step) -> None:
    meanings = {code: meaning(step, code) for code in range(200, 600)}
    assert {meanings[code] for code in range(400, 500)} == {Meaning.LATER}
    assert {meanings[code] for code in range(500, 600)} == {Meaning.NEVER}
    assert {meanings[code] for code in range(200, 400)} == {Meaning.GO_ON, Meaning.FAULT}


def test_a_fault_is_told_with_its_step() -> None:
    answer = SmtpReply.of(251, "hm").at(Step.MAIL)
    assert answer.text == "answered MAIL with 251, which is no answer to it (RFC 5321 §4.3.2): hm"
    assert SmtpReply.of(251, "will forward").at(Step.RECIPIENT).text == "will forward"
