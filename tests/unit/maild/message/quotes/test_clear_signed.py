"""Mail that GnuPG signed in the text (`gpg --clearsign`), as it is sent."""

import pytest

from maild.message.digest import digest
from maild.message.quotes.clear_signed import signed_words

SIGNATURE = """-----BEGIN PGP SIGNATURE-----

iHUEARYKAB0WIQSlplMl4taXcUL3HDGXzU6UmJAY4AUCawwEtAAKCRCXzU6UmJAY
4IvPAQDv8hhJX7U2Y5y5mQ==
=WAVy
-----END PGP SIGNATURE-----
"""
SIGNED = f"""-----BEGIN PGP SIGNED MESSAGE-----
Hash: SHA512

Hi bot,

- - first item
- From here on.
Can you confirm?

- -- 
Ada
{SIGNATURE}"""  # noqa: W291


def test_the_words_are_those_that_were_signed() -> None:
    assert signed_words(SIGNED) == "Hi bot,\n\n- first item\nFrom here on.\nCan you confirm?\n\n-- \nAda\n"


def test_a_message_shows_them_and_the_text_as_it_came() -> None:
    raw = f"From: ada@there.test\nSubject: signed\n\n{SIGNED}".replace("\n", "\r\n").encode()
    found = digest(raw)
    assert found.text_body == SIGNED
    assert found.extracted_text == "Hi bot,\n\n- first item\nFrom here on.\nCan you confirm?"
    assert found.snippet == "Hi bot, - first item From here on. Can you confirm?"


def test_what_stands_around_a_block_stays() -> None:
    text = f"A note of the list.\n\n{SIGNED}\nA footer.\n"
    assert signed_words(text).startswith("A note of the list.\n\nHi bot,")
    assert signed_words(text).endswith("Ada\n\nA footer.\n")


def test_several_blocks_are_several_texts() -> None:
    assert signed_words(SIGNED + SIGNED) == signed_words(SIGNED) * 2


@pytest.mark.parametrize(
    "text",
    [
        SIGNED.replace("\n=WAVy", "\nPay the other account"),
        SIGNED.replace("Hash: SHA512\n", "Hash: SHA512\nPay the other account\n"),
        SIGNED.replace("-----END PGP SIGNATURE-----", "-----END"),
        SIGNED.replace("\n", "\n> "),
        f"See {SIGNED}",
    ],
)
def test_what_is_no_whole_block_is_words(text: str) -> None:
    assert signed_words(text) == text


def test_marks_without_end_take_no_long_time() -> None:
    text = "-----BEGIN PGP SIGNED MESSAGE-----\n\n" * 20_000
    assert signed_words(text) == text
