"""How much work a stranger may make of one message: guesses are counted, and what takes long says so beforehand."""

import base64
from collections.abc import Iterator

import pytest

from maild.message.characters import guessing
from maild.message.characters.decode import decode_charset
from maild.message.characters.guessing import (
    MAX_GUESSED_OCTETS,
    MAX_NAMES,
    MAX_REPAIRED_OCTETS,
    MAX_TEXTS,
    SAMPLE_OCTETS,
)
from maild.message.digest import digest, digest_at_once

UMLAUTS = "Grüße aus Köln, schöne Tage noch und viele Grüße".encode("latin-1")


class Guesses:
    """What was guessed: the samples."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.samples: list[bytes] = []
        self._detect = guessing.detect
        patch.setattr(guessing, "detect", self)

    def __call__(self, sample: bytes) -> str | None:
        self.samples.append(sample)
        return self._detect(sample)


@pytest.fixture
def guesses(monkeypatch: pytest.MonkeyPatch) -> Iterator[Guesses]:
    with monkeypatch.context() as patch:
        yield Guesses(patch)


def names(field: bytes, count: int) -> bytes:
    each = (b"=?x-%d?q?=E4=F6%d?= <a%d@b.test>" % (one, one, one) for one in range(count))
    return field + b": " + b",\r\n ".join(each) + b"\r\n"


def parts(count: int, head: bytes = b"", body: bytes = b"x") -> bytes:
    each = b"".join(
        b"--b\r\n" + head.replace(b"#", b"%d" % one) + b"\r\n" + body.replace(b"#", b"%d" % one) + b"\r\n"
        for one in range(count)
    )
    return b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + each + b"--b--\r\n"


def html(body: bytes) -> bytes:
    return b"Content-Type: text/html\r\n\r\n" + body


def in_base64(kind: bytes, body: bytes) -> bytes:
    return (
        b"Content-Type: " + kind + b"\r\nContent-Transfer-Encoding: base64\r\n\r\n" + base64.b64encode(body)
    )


def big5(characters: int, character: bytes = "嘅".encode("big5hkscs")) -> bytes:
    """Text of so many equal ones, in lines."""
    head = b"Subject: x\r\nContent-Type: text/plain; charset=big5\r\n\r\n"
    return head + (character * 100 + b"\r\n") * (characters // 100)


HOSTILE = {
    "alternating words in Cc": b"Cc: " + b"=?x?b?gA?= =?y?b?gQ?= " * 5500 + b"<a@b.test>\r\n\r\nhi",
    "900 names in three fields": names(b"To", 900) + names(b"Cc", 900) + names(b"Reply-To", 900) + b"\r\nhi",
    "subject of 2,000 words": b"Subject: " + b"=?x?q?=E4?= =?y?q?=F6?= " * 1000 + b"=?z?q?=FC?=\r\n\r\nhi",
    "990 undeclared texts": parts(990, body=UMLAUTS * 2 + b"#"),
    "900 names in raw octets": b"To: " + b", ".join(b"\xe4\xf6%d <a@b.test>" % n for n in range(900)) + b"\r\n\r\nhi",
    "990 names of files": parts(990, head=b"Content-Disposition: attachment; filename*=x'en'%E4%F6#\r\n"),
}  # fmt: skip
SLOW = HOSTILE | {
    "1,000 parts": parts(1000),
    "addresses to convert": b"To: " + ",".join(f"a@bü{one}.test" for one in range(1000)).encode() + b"\r\n\r\nhi",
    "1,000 of them behind an empty line": b"\r\n\r\nTo: " + b"a@b.test," * 1000 + b"\r\n\r\nhi",
    "a subject in raw octets": b"Subject: Gr\xfc\xdfe\r\n\r\nhi",
    "a field of comments": b"From: " + b"(" * 100_000 + b"\r\n\r\nhi",
    "one undeclared text": b"Subject: x\r\n\r\n" + UMLAUTS,
    "500 uuencoded files": b"Subject: x\r\n\r\n" + b"begin 644 a\r\n`\r\nend\r\n" * 500,
    "20,000 tags": html(b"<ul><li>" * 10_000),
    "30,000 attributes": html(b"<a " + b"x=y " * 30_000 + b">x"),
    "30,000 attributes in base64": in_base64(b"text/html", b"<a " + b"x=y " * 23_000 + b">x"),
    "60,000 references": html(b"&" * 60_000),
    "20,000 references in a tag": html(b"<a href='" + b"&am" * 20_000 + b"'>x</a>"),
    "20,000 tags in base64": in_base64(b"text/html", b"<ul><li>" * 10_000),
    "10,000 lines": b"Subject: x\r\n\r\n" + b"On x wrote:\r\n" * 8000,
    "10,000 lines in base64": in_base64(b"text/plain", b"x\r\n" * 10_000),
    "10,000 flowed lines in base64": in_base64(b"text/plain; format=flowed", b"x \r\n" * 10_000),
    "10 KiB of characters that Python's Big5 lacks": big5(5_000),
    "much that is no Big5": big5(5_000, b"\xff\x81"),
    "more than 128 KiB": b"Subject: x\r\n\r\n" + b"x" * 140_000,
}  # fmt: skip
ORDINARY = {
    "a short text": b"From: Ada <ada@b.test>\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\r\nHello\r\n",
    "64 KiB of text": b"Subject: x\r\n\r\n" + (b"x" * 70 + b"\r\n") * 900,
    "500 flowed lines": b"Content-Type: text/plain; format=flowed\r\n\r\n" + b"x \r\n" * 500,
    "an attachment": parts(1, head=b"Content-Transfer-Encoding: base64\r\n", body=base64.encodebytes(b"x" * 80_000)),
    "50 people": b"To: " + b", ".join(b"Name %d <a%d@b.test>" % (one, one) for one in range(50)) + b"\r\n\r\nhi",
    "a newsletter": html(b"<p>Some words of a paragraph, <a href='https://x.test/'>a link</a>.</p>\r\n" * 300),
    "one of many styles": html(b"<p class='a' style='b: c' align='left' lang='d'>Some &auml;&nbsp;</p>\r\n" * 300),
    "6 KiB of characters that Python's Big5 lacks": big5(3_000),
    "UTF-8 without a word of it": "Subject: x\r\n\r\nGrüße\r\n".encode(),
}  # fmt: skip


def test_of_a_very_long_text_only_what_the_tables_have_is_read_of_its_charset() -> None:
    """Each character beyond them costs a microsecond."""
    octets = "嘅".encode("big5hkscs") * (MAX_REPAIRED_OCTETS // 2)
    assert decode_charset(octets, "big5") == "嘅" * (MAX_REPAIRED_OCTETS // 2)
    assert "嘅" not in decode_charset(octets + b"x", "big5")


@pytest.mark.parametrize("name", HOSTILE)
def test_guesses_have_a_budget_for_a_message(guesses: Guesses, name: str) -> None:
    digest(HOSTILE[name])
    assert 0 < len(guesses.samples) <= MAX_NAMES + MAX_TEXTS
    assert sum(map(len, guesses.samples)) <= MAX_GUESSED_OCTETS


def test_the_octets_to_guess_by_are_bounded_as_well(guesses: Guesses) -> None:
    digest(parts(9, body=UMLAUTS * 3000 + b"#"))
    assert sum(map(len, guesses.samples)) <= MAX_GUESSED_OCTETS
    assert max(map(len, guesses.samples)) <= SAMPLE_OCTETS


def test_the_same_piece_is_guessed_once(guesses: Guesses) -> None:
    digest(b"To: " + b"=?x?q?=E4=F6?= <a@b.test>,\r\n " * 50 + b"c@d.test\r\n\r\nhi")
    assert len(guesses.samples) == 1


def test_names_leave_the_body_its_guess(guesses: Guesses) -> None:
    """A hundred file names in no charset, and a letter in Cyrillic that says nothing of its own."""
    letter = "Здравствуйте, это обычное письмо на русском языке без указания кодировки. " * 4
    raw = parts(100, head=b"Content-Disposition: attachment; filename*=x'en'%E4%F6#\r\n")
    raw = raw.replace(b"--b\r\n", b"--b\r\n\r\n" + letter.encode("cp1251") + b"\r\n--b\r\n", 1)
    assert digest(raw).text_body == letter.removesuffix(" ") + " "


def test_what_is_over_the_budget_is_read_as_the_longest_piece_was(guesses: Guesses) -> None:
    sentence = "Это предложение на русском языке, каждый раз немного другое, номер "
    each = [(sentence * 4 + str(one)).encode("cp1251") for one in range(30)]
    raw = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
    raw += b"".join(b"--b\r\n\r\n" + one + b"\r\n" for one in each) + b"--b--\r\n"
    text = digest(raw).text_body
    assert text == "\n".join(one.decode("cp1251") for one in each)
    assert len(guesses.samples) == MAX_TEXTS


@pytest.mark.parametrize("name", SLOW)
def test_what_takes_long_is_not_done_at_once(guesses: Guesses, name: str) -> None:
    assert digest_at_once(SLOW[name]) is None
    assert guesses.samples == []


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_mail_is_and_says_the_same(name: str) -> None:
    found, whole = digest_at_once(ORDINARY[name]), digest(ORDINARY[name])
    assert found is not None
    assert found._replace(parsed=whole.parsed) == whole
    assert (found.parsed.subject, found.parsed.to) == (whole.parsed.subject, whole.parsed.to)
