"""Tokens of unsubscribe links (maild/message/unsubscribe.py); threat S24."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maild.message.unsubscribe import Grant, TokenError, fields, make, read

KEY = b"k" * 32
GRANT = Grant(
    "org_01m7yg00000000000000000000",
    "inb_01m7yg0000000000000000000z",
    "msg_7zzzzzzzzzzzzzzzzzzzzzzzzz",
    "ada@bücher.example",
    1_829_779_200,
)


def test_it_reads_back_what_was_minted() -> None:
    assert read(KEY, make(KEY, GRANT)) == GRANT


def test_the_same_grant_has_the_same_token() -> None:
    assert make(KEY, GRANT) == make(KEY, GRANT)


@pytest.mark.parametrize("position", range(len(make(KEY, GRANT))))
def test_no_changed_character_passes(position: int) -> None:
    token = make(KEY, GRANT)
    for other in "Aa0_-":
        if token[position] != other:
            with pytest.raises(TokenError):
                read(KEY, token[:position] + other + token[position + 1 :])


@pytest.mark.parametrize(
    "token", ["", "A", "é", "a b", "====", make(KEY, GRANT) + "=", make(KEY, GRANT) + "A", make(KEY, GRANT)[:-4],
              "\x00" * 40, make(KEY, GRANT).replace("_", "/").replace("-", "+") + "\n"],
)  # fmt: skip
def test_what_was_never_minted(token: str) -> None:
    with pytest.raises(TokenError):
        read(KEY, token)


@given(st.binary(max_size=200))
def test_chance_never_makes_one(octets: bytes) -> None:
    with pytest.raises(TokenError):
        read(KEY, base64.urlsafe_b64encode(b"\x01" + octets).rstrip(b"=").decode())


def test_another_key_makes_others() -> None:
    with pytest.raises(TokenError):
        read(b"x" * 32, make(KEY, GRANT))


def test_every_part_counts() -> None:
    tokens = {
        make(KEY, GRANT._replace(**changed))
        for changed in (
            {}, {"organization_id": "org_01m7yg00000000000000000001"}, {"address": "bob@bücher.example"},
            {"inbox_id": "inb_01m7yg00000000000000000001"}, {"message_id": "msg_01m7yg00000000000000000001"},
            {"expires_at_s": GRANT.expires_at_s + 1},
        )
    }  # fmt: skip
    assert len(tokens) == 6


def test_the_longest_address_fits_a_line() -> None:
    token = make(KEY, GRANT._replace(address="a" * 64 + "@" + "b" * 185 + ".test"))
    lines = fields(f"https://{'h' * 100}.example/v1/unsubscribe?token={token}").split(b"\r\n")
    assert max(map(len, lines)) < 998
