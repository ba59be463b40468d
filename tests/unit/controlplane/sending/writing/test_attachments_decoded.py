"""Base64 in pieces is read as in one (controlplane/sending/writing/attachments.py)."""

import base64
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from controlplane.sending.writing.attachments import PIECE_CHARACTERS, decode

WHOLE = re.compile("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
ALPHABET = "AQgw4+/=-_\n é"


@given(st.text(ALPHABET, max_size=24), st.sampled_from([4, 8, 12]))
@example("QQ==QUFB", 4)
@example("QUFBQQ==", 4)
@example("QUFBQQ", 4)
@example("====", 4)
@example("QUFB=", 4)
@example("QUFB====", 4)
@example("QUFB====", 12)
def test_what_is_refused_whole_is_refused_in_pieces(text: str, piece: int) -> None:
    try:
        if not WHOLE.fullmatch(text):  # Python takes "QUFB=" and the like
            raise ValueError
        expected = base64.b64decode(text, validate=True)
    except ValueError:
        with pytest.raises(ValueError):
            decode(text, piece)
    else:
        assert decode(text, piece) == expected


@given(st.binary(max_size=60), st.sampled_from([4, 8, 12]))
def test_bytes_come_back(data: bytes, piece: int) -> None:
    assert decode(base64.b64encode(data).decode(), piece) == data


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_bytes_come_back_where_a_piece_ends(more: int) -> None:
    data = bytes(range(256)) * (PIECE_CHARACTERS // 4 * 3 // 256) * 2 + b"x" * (more + 1)
    assert decode(base64.b64encode(data).decode()) == data
