"""DATA decoded as it comes (maild/inbound/wire/data.py): the same wherever the network cut it; S1."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from maild.inbound.wire.data import DataDecoder

# Octets that matter, often beside each other.
OCTETS = st.lists(
    st.sampled_from([b"\r", b"\n", b"\r\n", b".", b"..", b"\0", b"a", b"\xc3\xbc"]), max_size=60
).map(b"".join)


def decode(pieces: list[bytes]) -> tuple[bytes, bool]:
    decoder = DataDecoder()
    out = b"".join([decoder.feed(piece) for piece in pieces]) + decoder.finish()
    return out, decoder.had_bare_line_end


def reference(data: bytes) -> bytes:
    """RFC 5321 §4.5.2 line by line, then line ends made alike."""
    lines = data.split(b"\r\n")
    plain = b"\r\n".join(line[1:] if line.startswith(b".") else line for line in lines)
    return plain.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\n", b"\r\n")


@given(OCTETS, st.data())
def test_pieces_cut_anywhere_give_the_same(data: bytes, draw: st.DataObject) -> None:
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=8)))
    pieces = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    assert decode(pieces) == decode([data])


@given(OCTETS)
def test_octet_by_octet_gives_the_same(data: bytes) -> None:
    assert decode([data[n : n + 1] for n in range(len(data))]) == decode([data])


@given(OCTETS)
@example(b".\r\n.\r.\n.")
@example(b"\r\n..\r\r\n.\r")
def test_dots_are_taken_off_true_lines_and_all_ends_become_crlf(data: bytes) -> None:
    out, bare = decode([data])
    assert out == reference(data)
    assert out.count(b"\r") == out.count(b"\n") == out.count(b"\r\n")
    assert bare == (data.count(b"\r\n") != data.count(b"\r") or data.count(b"\r\n") != data.count(b"\n"))


@given(
    st.lists(
        st.binary(max_size=20).map(lambda line: line.replace(b"\r", b"").replace(b"\n", b"")), max_size=10
    )
)
def test_what_a_sender_stuffed_comes_out_as_it_was(lines: list[bytes]) -> None:
    message = b"".join(line + b"\r\n" for line in lines)
    stuffed = b"".join((b"." + line if line.startswith(b".") else line) + b"\r\n" for line in lines)
    assert decode([stuffed]) == (message, False)


@pytest.mark.parametrize(
    ("sequence", "expected"),
    [
        (b"a\n.\nb", b"a\r\n.\r\nb"),
        (b"a\n.\rb", b"a\r\n.\r\nb"),
        (b"a\n.\r\nb", b"a\r\n.\r\nb"),
        (b"a\r.\nb", b"a\r\n.\r\nb"),
        (b"a\r.\rb", b"a\r\n.\r\nb"),
        (b"a\r.\r\nb", b"a\r\n.\r\nb"),
        (b"a\r\n.\nb", b"a\r\n\r\nb"),
        (b"a\r\n.\rb", b"a\r\n\r\nb"),
        (b"a\r\n\0.\r\nb", b"a\r\n\0.\r\nb"),
        (b"a\r\n.\0\r\nb", b"a\r\n\0\r\nb"),
        (b"a\r\r\n.\r\r\nb", b"a\r\n\r\n\r\n\r\nb"),
    ],
)
def test_what_would_smuggle_stays_inside_one_message(sequence: bytes, expected: bytes) -> None:
    assert decode([sequence])[0] == expected
    assert decode([bytes([octet]) for octet in sequence])[0] == expected


def test_the_last_line_may_lack_its_end() -> None:
    assert decode([b"a\r"]) == (b"a\r\n", True)
    assert decode([b"a"]) == (b"a", False)
    assert decode([]) == (b"", False)
    assert decode([b"."]) == (b"", False)
