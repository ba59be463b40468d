"""A body in pieces is the body at once, wherever the pieces end (maild/message/parsing/text_stream.py)."""

from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from maild.message.model import Slice
from maild.message.parsing import text_stream
from maild.message.parsing.parse import read_text
from maild.message.parsing.text_stream import text_pieces

WORDS = st.sampled_from(
    ["plain words ", "Grüße, schöne ", "日本語の文章です。",
     "\r\n", "\r", "\n", "\0", "\ufeff", "=\r\n", "=3D", "\u2028",
     "привет ", " \n", ">", "-- \n"]
)  # fmt: skip
CODECS = [
    "utf-8",
    "latin-1",
    "cp932",
    "utf-16",
    "gb18030",
    "iso2022_jp",
    "koi8-r",
    "big5",
    "euc_kr",
    "hz",
    "big5hkscs",
    "euc_jp",
]
CHARSETS = [None, "utf-8", "us-ascii", "iso-8859-1", "iso-8859-2", "shift_jis", "utf-16", "gb2312", "iso-2022-jp",
            "koi8-r", "big5", "euc-kr", "euc-jp", "hz-gb-2312", "x-unknown"]  # fmt: skip
OCTETS = st.binary(max_size=40) | st.builds(
    lambda words, codec: "".join(words).encode(codec, "replace"),
    st.lists(WORDS, max_size=12),
    st.sampled_from(CODECS),
)


@settings(max_examples=600, deadline=None)
@given(
    parts=st.lists(
        st.tuples(
            OCTETS,
            st.sampled_from(["identity", "base64", "quoted-printable"]),
            st.sampled_from(CHARSETS),
            st.sampled_from([None, "flowed", "flowed-delsp", "enriched"]),
        ),
        max_size=3,
    ),
    size=st.integers(1, 9),
)
@example(
    parts=[(b"\xef\xbb\xbf\xef\xbb\xbfa\r", "identity", None, None), (b"\nb", "identity", None, None)], size=2
)
@example(
    parts=[
        (b"a" * 120 + b"\xff", "identity", "utf-8", None),
        (b"\xff\xfe\xfd", "identity", "utf-8", None),
    ],
    size=4,
)
@example(parts=[("嘅".encode("big5hkscs") * 9 + b"\xff", "identity", "big5", None)], size=1)
@example(parts=[(b"\xb2\xc4\xad\xa1\xb2\xf3", "identity", "euc-jp", None)], size=1)
@example(parts=[(b"\xb2\xc4\xad\xa1\xb2\xf3" * 20, "identity", None, None)], size=3)
@example(parts=[("слова".encode()[:-1] + " и слова".encode(), "identity", None, None)], size=3)
@example(parts=[("слова".encode()[1:-1] + " и слова".encode(), "identity", "utf-8", None)], size=1)
@example(parts=[(b"\xed\xa0\xbd\xed\xb8\x80\xeb\xb0\x8f\xed\x95\x9c", "identity", "utf-8", None)], size=1)
@example(parts=[(b"\xed\xa0\xbd\xed\xb8\x80 \xed\xa0\xbd\xed\xb8", "identity", None, None)], size=4)
@example(parts=[("words и".encode("utf-16-be"), "identity", "utf-16", None)], size=3)
def test_pieces_make_up_the_text(parts: list[tuple[bytes, str, str | None, str | None]], size: int) -> None:
    raw, slices = b"", []
    for octets, encoding, charset, flow in parts:
        slices.append(Slice(len(raw), len(octets), encoding, charset, flow))
        raw += octets
    whole, _ = read_text(raw, slices)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_stream, "PIECE_OCTETS", size)
        pieces = list(text_pieces(lambda at, length: raw[at : at + length], slices))
    assert "".join(filter(None, pieces)) == whole


@pytest.mark.parametrize("charset", ["utf-8", None, "koi8-r", "us-ascii"])
@pytest.mark.parametrize("body", [b"words \r\n", "слова ".encode("koi8-r"), b"\xff\xfe\x80\x81"])
def test_no_step_reads_more_than_a_piece(body: bytes, charset: str | None) -> None:
    raw = body * 200_000
    read: list[int] = []
    steps: Iterator[str | None] = text_pieces(
        lambda at, length: read.append(length) or raw[at : at + length],  # type: ignore[func-returns-value]
        [Slice(0, len(raw), "identity", charset)],
    )
    before = 0
    for piece in steps:
        assert len(read) - before <= 5  # looks at the first octets among them
        assert len(piece or "") <= text_stream.PIECE_OCTETS + 1
        before = len(read)
    assert max(read) <= text_stream.PIECE_OCTETS
