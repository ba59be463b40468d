"""Octets beyond ASCII in header fields, declared or not, are read as in bodies
(maild/message/characters/encoded_words.py)."""

import pytest

from maild.message.characters.encoded_words import (
    CUT,
    MAX_ENCODED_WORDS,
    decode_words,
    hides_controls,
    readable,
)
from maild.message.digest import digest
from maild.message.parsing.parse import parse
from tests.support.laws.work import assert_proportional, bomb


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"=?iso-8859-1?Q?sch\xf6n?=", "schön"),
        (b"=?iso-8859-1?Q?sch\xf6n_?= =?iso-8859-1?q?gr\xfcn?=", "schön grün"),
        (b"=?iso-8859-1?Q?sch=F6n?= und gr\xc3\xbcn", "schön und grün"),
        (b"=?iso-8859-1?Q?sch\xf6n?= und gr\xc3\xbcn", "schön und grün"),
        (b"=?utf-8?Q?sch\xc3\xb6n?=", "schön"),
        (b"=?koi8-r?Q?\xf0\xd2\xc9\xd7\xc5\xd4?=", "Привет"),
        (b"=?gb2312?Q?\xc4\xe3\xba\xc3?=", "你好"),
        (b"Re: \xb9\xd8\xd3\xda\xbb\xe1\xd2\xe9\xb5\xc4\xcd\xa8\xd6\xaa", "Re: 关于会议的通知"),
        ("Счёт на оплату".encode("cp1251"), "Счёт на оплату"),
        (b"Gr\xfc\xdfe aus K\xf6ln", "Grüße aus Köln"),
        ("Grüße, 你好".encode(), "Grüße, 你好"),
    ],
)
def test_a_subject_says_what_its_octets_say(raw: bytes, expected: str) -> None:
    assert parse(b"Subject: " + raw + b"\r\n\r\n").subject == expected


@pytest.mark.parametrize(
    "form", [b"%b <a@b.test>", b'"%b" <a@b.test>', b"a@b.test (%b)", b"=?gbk?q?%b?= <a@b.test>"]
)
def test_names_of_people_are_read_so_as_well(form: bytes) -> None:
    field = form % "张三丰".encode("gbk")
    message = parse(b"From: %b\r\nTo: %b, c@d.test\r\n\r\n" % (field, field))
    assert message.from_ is not None
    assert (message.from_.name, message.from_.address) == ("张三丰", "a@b.test")
    assert message.to[0] == message.from_


@pytest.mark.parametrize(
    "field", [b"Content-Disposition: attachment; filename", b"Content-Type: image/png; name"]
)
def test_names_of_files_are_read_so_as_well(field: bytes) -> None:
    raw = (
        field + b'="' + "会议通知.pdf".encode("gbk") + b'"\r\n' + b"Content-Disposition: attachment\r\n\r\nx"
    )
    assert parse(raw).attachments[0].filename == "会议通知.pdf"


@pytest.mark.parametrize(
    ("charset", "word"),
    [
        ("windows-1251", "Мир"),
        ("big5", "測試"),
        ("windows-1255", "שלום"),
        ("iso-8859-15", "5 €"),
        ("windows-1252", "“Offre” – 5 €"),
    ],
)
def test_names_are_in_the_charset_that_the_text_declares(charset: str, word: str) -> None:
    name = word.encode(charset)
    raw = (
        b'Subject: %b\r\nFrom: "%b" <a@b.test>\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n'
        b"Content-Type: text/plain; charset=%b\r\n\r\n.\r\n--b\r\n"
        b'Content-Disposition: attachment; filename="%b.txt"\r\n\r\n.\r\n--b--\r\n'
    ) % (name, name, charset.encode(), name)
    message = parse(raw)
    assert message.from_ is not None
    assert (message.subject, message.from_.name) == (word, word)
    assert message.attachments[0].filename == f"{word}.txt"


@pytest.mark.parametrize(
    ("charset", "subject", "text"),
    [
        ("windows-1251", "Мир", "Добрый день! Высылаю вам договор"),
        ("big5", "測試", "這是一封測試郵件，請查收"),
        (
            "windows-1252",
            "“Offre” – 5 €",
            "Voilà l’offre que vous avez demandée : très intéressant, n’est-ce pas ?",
        ),
    ],
)
def test_a_short_subject_is_guessed_by_the_longer_text(charset: str, subject: str, text: str) -> None:
    raw = f"Subject: {subject}\r\nFrom: a@b.test\r\n\r\n{text}\r\n".encode(charset)
    told = digest(raw)
    assert (told.parsed.subject, told.text_body) == (subject, f"{text}\n")


def test_names_are_guessed_where_they_are_not_what_the_text_declares() -> None:
    raw = b"Subject: \xb9\xd8\xd3\xda\xbb\xe1\xd2\xe9\xff\r\nContent-Type: text/plain; charset=%b\r\n\r\nx"
    assert (
        parse(raw % b"shift_jis").subject == parse(raw % b"utf-16").subject == parse(raw % b"utf-8").subject
    )


def test_an_address_is_no_guess() -> None:
    message = parse(b"From: m\xfcller@b.test\r\nTo: a@m\xfcller.test, c@d.test\r\n\r\n")
    assert message.from_ is None
    assert [one.address for one in message.to] == ["c@d.test"]


def test_more_words_than_are_decoded_are_cut_visibly() -> None:
    words = "=?utf-8?q?=C3=BC?= " * (MAX_ENCODED_WORDS + 5)
    assert decode_words(words) == "ü" * MAX_ENCODED_WORDS + CUT
    assert "=?" not in parse(b"Subject: " + words.encode() + b"\r\n\r\n").subject
    assert decode_words("=?utf-8?q?=C3=BC?= " * MAX_ENCODED_WORDS).rstrip() == "ü" * MAX_ENCODED_WORDS


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("=?utf-8?Q?D=C3=A8=C2=?= =?utf-8?Q?A3M=C?=\r\n =?utf-8?Q?3=AD?=", "Dè£Mí"),
        ("=?iso-8859-1?b?ey?= =?iso-8859-1?b?NE6Omj5f0gTSTh7S7n+G1AI30=?=", "{#Dèé£åý M$áí.çøm@#}"),
        ("=?utf-8?B?5L2g5aW?= =?UTF-8?B?9?=", "你好"),
        ("=?utf-8?B?w7w?= =?utf-8?B?w7w?=", "üü"),
        ("=?utf-8?B?5L2g?= =?utf-8?Q?=E5=A5=BD?=", "你好"),
        ("=?utf-8?Q?soft=?= =?utf-8?Q?de2024?=", "softde2024"),
        ("=?utf-8?Q?one_=E2?= =?utf-8?Q?=82=AC?=", "one €"),
        ("=?utf-8?B?YWJjZA===?= =?utf-8?B?ZWZn?= =?utf-8?B?aA?=", "abcdefgh"),
        ("=?utf-8?Q?=?= x =?utf-8?Q?C3=BC?=", " x C3\ufffd"),
    ],
)
def test_words_that_are_cut_within_an_octet_are_one(words: str, expected: str) -> None:
    assert decode_words(words) == expected


def test_a_line_end_that_two_words_say_together_is_seen() -> None:
    assert hides_controls("=?utf-8?B?Y?= =?utf-8?B?Q0=?=") and not hides_controls("=?utf-8?B?YWE=?=")


@pytest.mark.parametrize(
    "unit",
    ["\udcff", "=?x?q?\udcff?=", "=?x?q?=E?= ", "=?x?b?y?= ", "=?x?b?yfff?= ", "\udcff =?x?q?y?= ", "\ud800"],
)
def test_octets_take_work_in_proportion(unit: str) -> None:
    assert_proportional(readable, bomb(unit))
