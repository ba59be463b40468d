"""Transfer and character decoding: total, exact in size, the same whole and piecewise."""

from __future__ import annotations

import base64
import binascii
import os
import string
import tracemalloc
from collections.abc import Callable

import pytest

from maild.message.characters.charsets import codec_for
from maild.message.characters.decode import (
    MAX_PADDINGS,
    decode_charset,
    decode_prefix,
    decode_slice,
    decode_stream,
    decoded_size,
    tidy,
)
from maild.message.characters.encoded_words import MAX_ENCODED_WORDS, decode_words, readable
from maild.message.characters.guessing import Guesser, NoGuesser, TooMuchWork
from maild.message.fields.parameters import MAX_PARAMETERS, read_value, text_parameter
from maild.message.parsing.filenames import MAX_FILENAME_CHARS, clean_filename, derived_filename
from tests.support.laws.work import Bomb, assert_proportional, bomb


def streamed(data: bytes, encoding: str, step: int) -> bytes:
    decoder = decode_stream(encoding)
    pieces = [decoder.feed(data[at : at + step]) for at in range(0, len(data), step)]
    return b"".join(pieces) + decoder.flush()


def in_cesu8(text: str) -> bytes:
    units = text.encode("utf-16-le")
    halves = [units[at : at + 2].decode("utf-16-le", "surrogatepass") for at in range(0, len(units), 2)]
    return "".join(halves).encode("utf-8", "surrogatepass")


@pytest.mark.parametrize(
    ("encoded", "expected"),
    [
        (b"aGVsbG8=", b"hello"),
        (b"aGVs\r\nbG8=\r\n", b"hello"),
        (b"aGVsbG8", b"hello"),
        (b"aGVsbG8=\r\n-- \r\nlist footer", b"hello"),
        (b"a*G!V s_b\xffG8=", b"hello"),
        (b"aGVsbG8a", b"hello\x1a"),
        (b"aGVsbG8ab", b"hello\x1a"),
        (b"=", b""),
        (b"", b""),
        (b"aGVsbG8=\r\nIHRoZXJl\r\n", b"hello there"),
        (b"aGVsbG8=IHRoZXJlIQ==", b"hello there!"),
        (b"aGVsbG8=\r\n\r\nIQ==\r\nIQ==\t\r\nIHRoZXJl", b"hello!! there"),
        (b"aGVsbG8=\nIHRoZXJl\nMailing list\nIHRoZXJl\n", b"hello there"),
        (b"aGVsbG8= ignored\r\n", b"hello"),
        (b"aGVsbG8=\r\nIHRoZXJ\r\n", b"hello"),
        (b"aGVsbG8=\r\n=IHRoZXJl\r\n", b"hello"),
    ],
)
def test_base64_gives_what_can_be_read(encoded: bytes, expected: bytes) -> None:
    assert decode_slice(encoded, "base64") == expected
    assert decoded_size(memoryview(encoded), "base64") == len(expected)
    for step in (1, 3, 10):
        assert streamed(encoded, "base64", step) == expected


def test_a_file_that_was_encoded_piece_by_piece_is_whole() -> None:
    """Each piece has its own padding."""
    pieces = [os.urandom(1000) for _ in range(50)]
    encoded = b"".join(map(base64.encodebytes, pieces))
    assert decode_slice(encoded, "base64") == b"".join(pieces)
    assert decoded_size(memoryview(encoded), "base64") == 50_000
    assert streamed(encoded, "base64", 4097) == b"".join(pieces)


def test_padding_ends_base64_that_is_nothing_but_padding() -> None:
    encoded = b"IQ==\r\n" * (MAX_PADDINGS * 2)
    size = decoded_size(memoryview(encoded), "base64")
    assert MAX_PADDINGS // 2 <= size <= MAX_PADDINGS
    assert decode_slice(encoded, "base64") == b"!" * size == streamed(encoded, "base64", 1001)


@pytest.mark.parametrize(
    ("encoded", "expected"),
    [
        (b"a=3Db", b"a=b"),
        (b"soft=\r\nbreak", b"softbreak"),
        (b"soft=\nbreak", b"softbreak"),
        (b"soft= \t\r\nbreak= \nand =  end", b"softbreakand =  end"),
        (b"bad =ZZ =", b"bad =ZZ "),
        (b"=e4=F6", b"\xe4\xf6"),
        (b"==41=", b"=41"),
    ],
)
def test_quoted_printable_is_tolerant(encoded: bytes, expected: bytes) -> None:
    assert decode_slice(encoded, "quoted-printable") == expected
    assert decoded_size(memoryview(encoded), "quoted-printable") == len(expected)
    for step in (1, 2, 5):
        assert streamed(encoded, "quoted-printable", step) == expected


def test_bits_that_are_left_over_at_the_end_of_base64_are_ignored() -> None:
    """RFC 4648 §3.5: an encoder should leave none, and some do."""
    alphabet = string.ascii_letters + string.digits + "+/"
    for last in alphabet:
        for text, padding in ((f"QUFBQ{last}", "=="), (f"QUFBQU{last}", "=")):
            octets = base64.b64decode(text + padding)
            assert decode_slice(text.encode(), "base64") == octets
            assert streamed(f"{text}{padding}".encode(), "base64", 3) == octets


def test_a_large_attachment_is_counted_and_streamed_exactly() -> None:
    octets = os.urandom(1_000_001)
    encoded = base64.encodebytes(octets).replace(b"\n", b"\r\n")
    assert decoded_size(memoryview(encoded), "base64") == len(octets)
    assert streamed(encoded, "base64", 4097) == octets
    assert streamed(encoded, "identity", 4097) == encoded


@pytest.mark.parametrize(
    "charset",
    [
        "unicode_escape",
        "raw_unicode_escape",
        "punycode",
        "idna",
        "base64",
        "hex",
        "zlib",
        "bz2",
        "rot13",
        "undefined",
        "uu",
        "quopri",
        "mbcs",
        "oem",
        "../../etc",
        "x-x-x-x-x-x-utf-8-x",
        "x" * 10000,
        "utf-8\x00",
        "é",
    ],
)
def test_dangerous_and_unknown_codecs_are_never_used(charset: str) -> None:
    assert codec_for(charset) is None
    assert decode_charset(b"\\x41 MR \xc3\xbc", charset) == "\\x41 MR ü"


@pytest.mark.parametrize(
    ("octets", "charset", "expected"),
    [
        ("Grüße".encode(), "utf-8", "Grüße"),
        ("Grüße".encode(), "UTF8", "Grüße"),
        ("Grüße".encode(), "us-ascii", "Grüße"),
        (
            "Das ist für dich, und es ist schön.".encode("latin-1"),
            "us-ascii",
            "Das ist für dich, und es ist schön.",
        ),
        ("日本語".encode("iso-2022-jp"), "US-ASCII", "日本語"),
        ("Grüße".encode(), None, "Grüße"),
        ("Grüße".encode(), "iso-2022-jp", "Grüße"),
        ("Grüße".encode("latin-1"), "ISO-8859-1", "Grüße"),
        (b"\x93quoted\x94", "iso-8859-1", "“quoted”"),
        ("„Książkę” wysłałem".encode("cp1250"), "iso-8859-2", "„Książkę” wysłałem"),
        ("Příliš žluťoučký kůň".encode("cp1250"), "ISO-8859-2", "Příliš žluťoučký kůň"),
        ("Łódź, książka, šála".encode("iso-8859-2"), "iso-8859-2", "Łódź, książka, šála"),
        ("it’s 5\xa0€".encode("cp1252"), "iso-8859-15", "it’s 5\xa0€"),
        ("5\xa0€ für Œuvres".encode("iso-8859-15"), "iso-8859-15", "5\xa0€ für Œuvres"),
        ("“Καλημέρα”".encode("cp1253"), "iso-8859-7", "“Καλημέρα”"),
        ("„Šeši žmonės“".encode("cp1257"), "iso-8859-13", "„Šeši žmonės“"),
        ("„שלום”".encode("cp1255"), "iso-8859-8-i", "„שלום”"),
        ("Příliš".encode("mac_latin2"), "x-mac-ce", "Příliš"),
        ("Příliš".encode("mac_latin2"), "x-mac-centraleurroman", "Příliš"),
        ("Καλημέρα".encode("mac_greek"), "x-mac-greek", "Καλημέρα"),
        ("Günaydın".encode("mac_turkish"), "X-MAC-TURKISH", "Günaydın"),
        ("Țară".encode("mac_romanian"), "x-mac-romanian", "Țară"),
        ("Đoković".encode("mac_croatian"), "x-mac-croatian", "Đoković"),
        ("Þýða".encode("mac_iceland"), "x-mac-icelandic", "Þýða"),
        ("Львів".encode("mac_cyrillic"), "x-mac-ukrainian", "Львів"),
        ("Grüße".encode("cp850"), "cp-850", "Grüße"),
        ("Привет".encode("cp866"), "IBM-866", "Привет"),
        ("Привет".encode("cp1251"), "windows1251", "Привет"),
        ("Привет".encode("cp1251"), "win-1251", "Привет"),
        ("مرحبا".encode("cp720"), "DOS-720", "مرحبا"),
        ("中文".encode("gbk"), "ms_936", "中文"),
        ("привет мир".encode("koi8-r"), "koi8-r", "привет мир"),
        ("Їжак".encode("koi8-u"), "koi8-ru", "Їжак"),
        ("мир".encode("koi8-r"), "x-koi8-r", "мир"),
        ("Řím".encode("iso-8859-2"), "iso88592", "Řím"),
        ("Řím".encode("iso-8859-2"), "8859-2", "Řím"),
        ("Ağrı".encode("cp1254") + b"\x85", "latin5", "Ağrı…"),
        ("שלום".encode("iso-8859-8"), "logical", "שלום"),
        ("日本".encode("euc-jp"), "x-euc-jp", "日本"),
        ("日本".encode("cp932"), "cswindows31j", "日本"),
        ("한국".encode("cp949"), "ks_c_5601-1989", "한국"),
        ("한국".encode("cp949"), "x-windows-949", "한국"),
        ("中文".encode("gbk"), "csgb2312", "中文"),
        ("中文".encode("gb18030"), "gb-18030", "中文"),
        ("中文".encode("big5"), "cn-big5", "中文"),
        ("привет".encode("cp1251"), "windows-1251", "привет"),
        ("日本語".encode("iso-2022-jp"), "ISO-2022-JP", "日本語"),
        ("日本語".encode("iso-2022-jp"), None, "日本語"),
        ("日本語".encode("iso-2022-jp"), "x-unknown", "日本語"),
        (b"\x1b$B2q5D$O-!$G$9\x1b(B", "ISO-2022-JP", "会議は①です"),
        (b"\x1b$B-j2q<R\x1b(B \x1b$BRR\x1b(B", None, "㈱会社 厰"),
        (b"\x1b(I1234\x1b(B", "iso-2022-jp", "ｱｲｳｴ"),
        (b"\x1b$B2q/!\x1b(B and \x1b$B5D", "iso-2022-jp", "会\ufffd and 議"),
        (b"\x1b$B2q5", "iso-2022-jp", "会\ufffd"),
        (b"\x1b$B is no Japanese \xff", None, "\x1b$B is no Japanese \xff"),
        ("日本語".encode("shift-jis"), "x-sjis", "日本語"),
        ("中文€".encode("gb18030"), "gb2312", "中文€"),
        ("한국어".encode("euc-kr"), "ks_c_5601-1987", "한국어"),
        (b"+ADw-script+AD4-", "utf-7", "+ADw-script+AD4-"),
        (b"\xff\xfeh\x00i\x00", "utf-16", "hi"),
        ("Grüße, 日本".encode("utf-16-be"), "utf-16", "Grüße, 日本"),
        ("Grüße, 日本".encode("utf-16-le"), "utf-16", "Grüße, 日本"),
        (b"\xef\xbb\xbfbom", "utf-8", "bom"),
        (b"nul\x00 here", "utf-8", "nul here"),
        (
            b"long text with one bad octet " * 9 + b"\xff",
            "utf-8",
            "long text with one bad octet " * 9 + "\ufffd",
        ),
    ],
)
def test_charsets(octets: bytes, charset: str | None, expected: str) -> None:
    assert decode_charset(octets, charset) == expected


@pytest.mark.parametrize(
    ("text", "charset"),
    [
        ("Grüße aus Köln", "iso-8859-1"),
        ("für", "iso-8859-1"),
        ("5 €", "windows-1252"),
        ("it’s", "latin1"),
        ("thanks 😀", "iso-8859-1"),
        ("\ufeffplain", "iso-8859-1"),
        ("Dzień dobry, chciałbym", "iso-8859-2"),
        ("Žluťoučký kůň", "windows-1250"),
        ("Добрый день", "koi8-r"),
        ("Добрый день", "windows-1251"),
        ("Добрый день", "iso-8859-1"),
        ("今日は", "iso-8859-15"),
    ],
)
def test_utf8_that_declares_a_charset_of_one_octet_is_read_as_mail_programs_do(
    text: str, charset: str
) -> None:
    assert decode_charset(text.encode(), charset) == text.removeprefix("\ufeff")
    assert decode_prefix(text.encode() + "ü".encode()[:1], charset) == text.removeprefix("\ufeff")


@pytest.mark.parametrize("charset", ["utf-8", None, "us-ascii", "x-unknown"])
def test_surrogates_that_are_encoded_one_by_one_are_a_character(charset: str | None) -> None:
    """CESU-8 (Unicode Technical Report 26), which Java and Oracle write where they say UTF-8."""
    octets = in_cesu8("Grüße, Jürgen 😀 및 😀")
    assert decode_charset(octets, charset) == "Grüße, Jürgen 😀 및 😀"
    assert decode_prefix(octets, charset) == "Grüße, Jürgen 😀 및 😀"
    for left_out in range(1, 6):
        assert decode_prefix(octets[:-left_out], charset) == "Grüße, Jürgen 😀 및 "
    assert "😀" not in decode_charset(octets + b"\xed\xa0\xbd", charset)


@pytest.mark.parametrize("charset", ["utf-8", None, "x-unknown"])
@pytest.mark.parametrize("read", [decode_charset, decode_prefix])
def test_many_surrogates_are_not_read_on_the_event_loop(
    read: Callable[[bytes, str | None, Guesser], str], charset: str | None
) -> None:
    assert read(in_cesu8("😀" * 500), charset, NoGuesser()) == "😀" * 500
    with pytest.raises(TooMuchWork):
        read(in_cesu8("😀" * 501), charset, NoGuesser())


@pytest.mark.parametrize(
    ("text", "charset"),
    [
        ("Grüße", "iso-8859-1"),
        ("BEYONCÉ’S", "windows-1252"),
        ("CAFÉ®", "iso-8859-1"),
        ("DÉCÉDÉ\xa0:", "iso-8859-1"),
        ("Ä… was?", "windows-1252"),
        ("„Ä“ oder „Ö“", "windows-1252"),
        ("Её", "windows-1251"),
        ("Её её ещё", "koi8-r"),
        ("ЧАЩА", "iso-8859-5"),
        ("เขต", "tis-620"),
        ("раб", "cp866"),
        ("中文", "gb2312"),
    ],
)
def test_text_in_its_declared_charset_is_read_so_also_where_it_is_utf8_by_chance(
    text: str, charset: str
) -> None:
    octets = text.encode(codec_for(charset) or "")
    assert decode_charset(octets, charset) == text
    assert decode_prefix(octets, charset) == text


@pytest.mark.parametrize(
    ("octets", "charset", "expected"),
    [
        ("我哋嘅會議喺呢度".encode("big5hkscs"), "big5", "我哋嘅會議喺呢度"),
        (b"\xc2\xe8\xad\xa1\xb2\xf3", "euc-jp", "第①回"),
        (b"\xad\xea\xc6\xfc\xcb\xdc \xad\xb5", "euc-jp", "㈱日本 Ⅰ"),
    ],
)
def test_characters_that_a_charset_gained_later_leave_the_others_as_they_are(
    octets: bytes, charset: str, expected: str
) -> None:
    assert decode_charset(octets, charset) == expected
    assert decode_prefix(octets + octets[:1], charset) == expected
    assert decode_charset(octets * 20 + b"\xff", charset) == expected * 20 + "\ufffd"


@pytest.mark.parametrize("charset", ["utf-8", "x-unknown", None])
@pytest.mark.parametrize(
    ("text", "codec"), [("“Grüße” aus Köln – 5 €", "cp1252"), ("【至急】見積書の件", "cp932")]
)
def test_a_few_words_whose_charset_is_guessed_are_not_taken_for_those_of_dos(
    text: str, codec: str, charset: str | None
) -> None:
    assert decode_charset(text.encode(codec), charset) == text


@pytest.mark.parametrize("charset", ["utf-8", None, "us-ascii"])
def test_utf8_that_was_cut_within_characters_stays_utf8(charset: str | None) -> None:
    """Programs cut lines at so many octets: the whole text came in another alphabet."""
    octets = "Добрый день, коллеги! Встреча завтра в 10.".encode()
    cut = octets[:13] + b"\r\n" + octets[13:48] + b"\r\n" + octets[48:]
    assert decode_charset(cut, charset) == cut.decode("utf-8", "replace")
    assert decode_prefix(cut[:-3], charset) == cut[:-3].decode("utf-8", "replace")
    assert decode_charset(octets[:25], charset) == "Добрый день, к"


def test_where_utf8_is_declared_half_of_it_is_enough() -> None:
    octets = "Prüfung \ufffd Übersicht".encode().replace("\ufffd".encode(), b"\xe2 \x93")
    assert decode_charset(octets, "utf-8") == "Prüfung \ufffd \ufffd Übersicht"
    assert decode_charset("Grüße, Größe".encode("latin-1"), "utf-8") == "Grüße, Größe"


def test_a_character_of_utf8_makes_no_text_of_another_charset_damaged() -> None:
    octets = "café, über, naïve".encode("latin-1") + "é".encode()
    assert decode_charset(octets, None).startswith("café, über, na")
    assert decode_charset(octets, "utf-8").startswith("café, über, na")


def test_lone_surrogates_are_replaced_and_what_lies_beyond_the_bmp_is_not() -> None:
    assert tidy("a\ud83d, \udc00\ud83d b\udfff") == "a\ufffd, \ufffd\ufffd b\ufffd"
    assert tidy("😀 Grüße") == "😀 Grüße"


@pytest.mark.parametrize(
    "charset", [None, "utf-8", "utf-16", "big5", "iso-2022-kr", "hz", "cp932", "utf-32", "gb18030"]
)
def test_any_octets_give_valid_text(charset: str | None) -> None:
    for seed in range(20):
        octets = bytes((seed * 37 + n * n * 11) % 256 for n in range(300))
        text = decode_charset(octets, charset)
        text.encode("utf-8")
        assert "\0" not in text
        decode_prefix(octets, charset).encode("utf-8")


def test_a_prefix_drops_a_split_character_only() -> None:
    assert decode_prefix("aü".encode()[:2], "utf-8") == "a"
    assert decode_prefix("日本".encode("shift-jis")[:3], "shift_jis") == "日"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("=?utf-8?q?a?= =?utf-8?q?b?=", "ab"),
        ("=?utf-8?q?a?= x =?utf-8?q?b?=", "a x b"),
        ("=?UTF-8?B?w6Q=?=", "ä"),
        ("=?utf-8?q?=C3?= =?UTF-8?q?=A4?=", "ä"),
        ("=?iso-8859-1*de?Q?gr=FC=DFe_=3F?=", "grüße ?"),
        ("=?x-none?q?abc?=", "abc"),
        ("=?utf-8?x?abc?=", "=?utf-8?x?abc?="),
        ("=?utf-8?q?a b?=", "a b"),
        ("=?utf-8?q?open", "=?utf-8?q?open"),
        ("=?utf-8?q??=", ""),
        ("a=?utf-8?q?b?=c", "abc"),
        ("=?utf-8?Q?Is it l=C3=A4te? Yes??= =?utf-8?q?_no?=", "Is it läte? Yes? no"),
        ("=?utf-8?q?open? =?utf-8?q?b?=", "=?utf-8?q?open? b"),
        ("=?utf-8?q?soft=?=?= x?=", "soft?= x?="),
    ],
)
def test_encoded_words(value: str, expected: str) -> None:
    assert decode_words(value) == expected


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (bomb("=?"), "=?" * 500_000),
        (bomb("=?u?q?"), "=?u?q?" * 166_666),
        (bomb("=?u?q?a? "), ("=?u?q?a? " * 111_111).rstrip()),
        (bomb("?a=", before="=?u?q?"), "=?u?q?" + "?a=" * 333_331),
        (bomb("=?u?q?a?= "), "a" * MAX_ENCODED_WORDS + "…"),
        (bomb(" ", before="=?u?q?"), "=?u?q?"),
    ],
)
def test_encoded_words_take_work_in_proportion(text: Bomb[str], read: str) -> None:
    assert_proportional(readable, text)
    assert readable(text.whole()) == read


def test_question_marks_take_no_memory_each() -> None:
    value = f"=?u?q?{'?' * 100_000}"
    tracemalloc.start()
    try:
        assert readable(value) == value
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10 * len(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('attachment; filename="a b.txt"', "a b.txt"),
        ("attachment; filename=a b.txt ; x=y", "a b.txt"),
        ("attachment; filename=report (final)", "report (final)"),
        ('attachment; filename="a\\"b.txt', 'a"b.txt'),
        ("attachment; filename*=utf-8'en'%e2%82%ac.txt; filename=fallback", "€.txt"),
        ("attachment; filename=fallback; filename*=iso-8859-1''%fc.txt", "ü.txt"),
        ("attachment; filename*0*=utf-8''%e2%82; filename*1*=%ac; filename*2=\".txt\"", "€.txt"),
        ("attachment; filename*0*=utf-8''%e2%8; filename*1*=2%ac%; filename*2*=41.txt", "€A.txt"),
        ("attachment; filename*0*=utf-8''%e2%; filename*1=x", "\ufffd%x"),
        ("attachment; filename*1=b; filename*0=a; filename*3=d", "ab"),
        ('attachment; filename="=?utf-8?b?w7wudHh0?="', "ü.txt"),
        ("attachment; filename=\xc3\xbc.txt", "ü.txt"),
        ("attachment; FileName = x.txt", "x.txt"),
        ("attachment; filename*=%41", "A"),
        ("attachment; filename*=x-none''%ff", "ÿ"),
        ("attachment", None),
        ('attachment filename="a b.txt"', "a b.txt"),
        ("attachment\tfilename=a b.txt; size=1", "a b.txt"),
        ('attachment; size=1 filename="a;b.txt"', "a;b.txt"),
        ("attachment; filename=v=2 of=3.txt; size=1", "v=2 of=3.txt"),
    ],
)
def test_filename_parameters(value: str, expected: str | None) -> None:
    word, parameters = read_value(value)
    assert word == "attachment"
    assert text_parameter(parameters, "filename") == expected


@pytest.mark.parametrize(
    ("value", "word", "parameters"),
    [
        # RFC 822 §3.1.4: blanks and comments may stand between the tokens that RFC 2045 §5.1 names.
        ("Multipart / Mixed; boundary=b", "multipart/mixed", {"boundary": "b"}),
        ("text/ html; charset=utf-8", "text/html", {"charset": "utf-8"}),
        ("(a) text (b) / (c) html (d); charset=utf-8 (e)", "text/html", {"charset": "utf-8"}),
        # Programs forget semicolons.
        ('multipart/mixed boundary="a; b"', "multipart/mixed", {"boundary": "a; b"}),
        ("text/html charset=utf-8; format=flowed", "text/html", {"charset": "utf-8", "format": "flowed"}),
        ("text/html;charset=utf-8 format=flowed", "text/html", {"charset": "utf-8", "format": "flowed"}),
        ('text/html; charset="utf-8" format=flowed', "text/html", {"charset": "utf-8", "format": "flowed"}),
        ("multipart/mixed; boundary=a =b c", "multipart/mixed", {"boundary": "a =b c"}),
        # Or quote what was quoted.
        ('a/b; name=""x y.pdf""', "a/b", {"name": "x y.pdf"}),
        ('a/b; name=""x y.pdf""; size=1', "a/b", {"name": "x y.pdf", "size": "1"}),
        ('a/b; name=""; size=1', "a/b", {"name": "", "size": "1"}),
        ('a/b; name="" size=1', "a/b", {"name": "", "size": "1"}),
        ('a/b; name=""', "a/b", {"name": ""}),
    ],
)
def test_media_types_as_programs_write_them(value: str, word: str, parameters: dict[str, str]) -> None:
    assert read_value(value) == (word, parameters)


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        (bomb(";", before="x"), {}),
        (bomb(" ;", before="x"), {}),
        (bomb(" ", before="x"), {}),
        (bomb(" y", before="x"), {}),
        (bomb(" y", before='x; a=""'), {"a": ""}),
        (bomb(" a=", before="x"), {"a": "a="}),
        (bomb(' a="', before="x"), {"a": " a="}),
        (bomb("; a=", before="x"), {"a": ""}),
        (bomb('; a="', before="x"), {"a": "; a="}),
        (bomb("; ", before="x"), {}),
        (bomb(" ", before="x;"), {}),
    ],
)
def test_parameters_take_work_in_proportion(text: Bomb[str], parameters: dict[str, str]) -> None:
    assert_proportional(read_value, text)
    assert read_value(text.whole()) == ("x", parameters)


def test_sections_of_a_parameter_are_counted() -> None:
    many = "; ".join(f"filename*{n}*=%41" for n in range(20_000))
    assert text_parameter(read_value(f"x; {many}")[1], "filename") == "A" * MAX_PARAMETERS


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "_.._etc_passwd"),
        # RFC 2183 §2.3: a path says where the sender keeps it
        ("C:\\temp\\x.doc", "x.doc"),
        ("c:/temp/x.doc", "x.doc"),
        ("\\\\files\\temp\\x.doc", "x.doc"),
        ("/mnt/x.doc", "x.doc"),
        ("/mnt/..", ""),
        ("/mnt/x/", "x_"),
        ("a/b.doc", "a_b.doc"),
        ("a: b/c.doc", "a: b_c.doc"),
        ("..", ""),
        ("...", ""),
        (" . ", ""),
        ("/", "_"),
        (".env", ".env"),
        ("trailing. . ", "trailing"),
        ("a\r\nb\x00c\x1b.txt", "abc.txt"),
        ("\u202egpj.exe", "gpj.exe"),
        ("a\u2066b\u200ec", "abc"),
        ("my long\treport.pdf", "my long report.pdf"),
        ("CON", "_CON"),
        ("aux.txt", "_aux.txt"),
        ("console.txt", "console.txt"),
        ("\ud800x", "x"),
        ("日本語.pdf", "日本語.pdf"),
    ],
)
def test_filenames_are_safe(name: str, expected: str) -> None:
    assert clean_filename(name) == expected


def test_long_filenames_keep_their_extension() -> None:
    assert clean_filename("x" * 300 + ".pdf") == "x" * (MAX_FILENAME_CHARS - 4) + ".pdf"
    assert len(clean_filename("." * 3 + "y" * 500 + "." + "z" * 300)) == MAX_FILENAME_CHARS


@pytest.mark.parametrize("letter", ["\u00fc", "\u8a9e", "\U0001f600"])
def test_a_file_can_be_saved_under_its_name(letter: str) -> None:
    """Names of files have 255 octets; clients put .aria2 and .crdownload behind them while they load."""
    size = len(letter.encode())
    assert clean_filename(letter * 300 + ".pdf") == letter * min(196, 236 // size) + ".pdf"
    assert clean_filename(letter * 300) == letter * min(200, 240 // size)


def test_derived_filenames() -> None:
    assert derived_filename("application/pdf", 3) == "attachment-3.pdf"
    assert derived_filename("image/jpg", 1) == derived_filename("image/jpeg", 1) == "attachment-1.jpg"
    assert derived_filename("application/x-zip-compressed", 2) == "attachment-2.zip"
    assert derived_filename("audio/amr", 1) == "attachment-1.amr"
    assert derived_filename("application/vnd.ms-outlook", 1) == "attachment-1.msg"
    assert derived_filename("message/rfc822-headers", 1) == "headers.txt"
    assert derived_filename("x/unknown", 1) == "attachment-1.bin"
    assert derived_filename("message/rfc822", 1) == "message.eml"


@pytest.mark.parametrize("size", [0, 1, 2, 3, 44, 45, 46, 5000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("form", ["as it is", "with blanks", "blanks taken off", "with checksums"])
def test_uuencoded_lines(size: int, end: bytes, form: str) -> None:
    content = bytes(range(256)) * 20 + bytes(100)
    lines = [
        binascii.b2a_uu(content[at : min(size, at + 45)], backtick=form == "as it is").rstrip(b"\n")
        for at in range(0, size, 45)
    ]
    if form == "blanks taken off":
        lines = [line.rstrip(b" ") for line in lines]
    if form == "with checksums":
        lines = [line + b"X" for line in lines]
    data = end.join([*lines, b"`", b""])
    assert decode_slice(data, "uuencode") == content[:size]
    assert decoded_size(memoryview(data), "uuencode") == size


@pytest.mark.parametrize(
    "data", [b"M", b"\xff\x00\x80", b"#" + b"\x00" * 4, b"\r\n\r\n", b"~~~~", b"M" * 100]
)
def test_what_is_no_uuencoding_decodes_to_something(data: bytes) -> None:
    assert len(decode_slice(data, "uuencode")) == decoded_size(memoryview(data), "uuencode")
