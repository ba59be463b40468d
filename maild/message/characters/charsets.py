"""Which Python codec may read a declared charset, and one that shows by itself.

A closed list: `codecs.lookup` on a word from a message imports modules, remembers every miss for ever,
and offers codecs that are not charsets at all.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from encodings.aliases import aliases
from typing import Any, Final

# utf-7 hides ASCII from every filter and is forbidden by the Encoding Standard: read as ASCII.
_ASCII_ONLY = {"utf_7": "ascii", "unicode_1_1_utf_7": "ascii", "u7": "ascii"}

# What mail calls things that Python's table lacks or reads too narrowly. Supersets as in the WHATWG
# Encoding Standard §4.2: the smart quotes of "iso-8859-1" mail are Windows-1252.
_OUR_ALIASES = _ASCII_ONLY | {
    "iso8859_1": "cp1252",
    "latin_1": "cp1252",
    "latin1": "cp1252",
    "l1": "cp1252",
    "ansi_x3_4_1968": "ascii",
    "utf8mb4": "utf-8",
    "utf_8": "utf-8",
    "utf8": "utf-8",
    "unicode_1_1_utf_8": "utf-8",
    "iso_8859_8_i": "iso8859_8",
    "iso_8859_8_e": "iso8859_8",
    "iso_8859_6_i": "iso8859_6",
    "iso_8859_6_e": "iso8859_6",
    "logical": "iso8859_8",
    "visual": "iso8859_8",
    "iso8859_9": "cp1254",
    "iso8859_11": "cp874",
    "tis_620": "cp874",
    "windows_874": "cp874",
    "dos_874": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x_gbk": "gb18030",
    "cp936": "gb18030",
    "gb_2312": "gb18030",
    "gb_2312_80": "gb18030",
    "csgb2312": "gb18030",
    "gb_18030": "gb18030",
    "hz_gb_2312": "hz",
    "shift_jis": "cp932",
    "sjis": "cp932",
    "x_sjis": "cp932",
    "windows_31j": "cp932",
    "cswindows31j": "cp932",
    "iso_2022_jp": "iso2022_jp_ext",
    "ks_c_5601_1987": "cp949",
    "ks_c_5601_1989": "cp949",
    "ks_c_5601": "cp949",
    "ksc_5601": "cp949",
    "ksc5601": "cp949",
    "iso_ir_149": "cp949",
    "cseuckr": "cp949",
    "euc_kr": "cp949",
    "big5": "cp950",
    "cn_big5": "cp950",
    "x_mac_roman": "mac_roman",
    "macintosh": "mac_roman",
    "x_mac_cyrillic": "mac_cyrillic",
    "x_mac_ce": "mac_latin2",
    "x_mac_centraleurroman": "mac_latin2",
    "x_mac_icelandic": "mac_iceland",
    "x_mac_ukrainian": "mac_cyrillic",
    "koi8": "koi8_r",
    "koi8r": "koi8_r",
    "koi8_ru": "koi8_u",
}

_CODECS = frozenset(
    ["ascii", "utf-8", "latin_1", "koi8_r", "koi8_u", "koi8_t"]
    + [f"mac_{name}" for name in ("roman", "cyrillic", "latin2", "greek", "turkish", "croatian")]
    + ["mac_romanian", "mac_iceland"]
    + ["utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_32_be", "utf_32_le", "hz"]
    + [f"iso8859_{n}" for n in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16)]
    + [
        f"cp{n}"
        for n in (437, 720, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 864, 865, 866, 869, 874)
    ]
    + [f"cp{n}" for n in (932, 949, 950, 1125, 1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258)]
    + ["gb2312", "gbk", "gb18030", "big5", "big5hkscs", "euc_jp", "euc_jis_2004", "euc_jisx0213", "euc_kr"]
    + ["shift_jis", "shift_jis_2004", "johab", "iso2022_jp", "iso2022_jp_1", "iso2022_jp_2"]
    + ["iso2022_jp_ext", "iso2022_kr"]
)

# What programs on Windows write under these names. Octets that are controls there are quotes, dashes and letters here.
_OF_WINDOWS = {
    "iso8859_2": "cp1250",
    "iso8859_7": "cp1253",
    "iso8859_8": "cp1255",
    "iso8859_13": "cp1257",
    "iso8859_15": "cp1252",
}
_CONTROLS = bytes(range(0x80, 0xA0))

# Their letters are no octets that go on a character in UTF-8 (0x80 to 0xBF), or few are.
_UNLIKE_UTF8 = ("cp125", "iso8859_", "koi8_")
_LIKE_UTF8 = "iso8859_5"
_SURE_CHARACTERS = 2
# One of these is enough in what calls itself Western: letters of Western Europe, quotes and dashes, a byte order mark,
# an emoji. Others may be a name in capitals with a mark behind it (`É’` is 0xC9 0x92).
_WESTERN = "cp1252"
_SURE_IN_WESTERN = re.compile("[\x80-\xff\u2000-\u20cf\ufeff\U00010000-\U0010ffff]")

_READ_PER_ERROR = (
    4  # as many make less than one short text in four hundred look damaged that is Japanese, and others none
)
ORDER_OCTETS = 1024  # of UTF-16 without a byte order mark, to tell its order by

_CODE_PAGE = re.compile(r"\A(?:windows|win|x_cp|cp|ibm|dos)_?(\d{3,4})\Z")
# Of CESU-8 (Unicode Technical Report 26): UTF-8 but for characters beyond the first plane, whose two surrogates are
# encoded one by one, as Java and Oracle do.
CESU_8: Final = "maild_cesu_8"
_CUT_SURROGATES = re.compile(rb"\xed(?:[\xa0-\xaf](?:[\x80-\xbf](?:\xed[\xb0-\xbf]?)?)?)?\Z")

_ISO_8859 = re.compile(r"\A(?:iso_?)?8859_?(\d{1,2})\Z")
_SEPARATORS = re.compile(r"[\s_.:-]+")
MAX_CHARSET_CHARS = 64
_OR_REPLACED = "-or-replaced"
_FIRST_OF_JIS, _LAST_OF_JIS = 0x21, 0x7E


def codec_for(charset: str | None) -> str | None:
    """The codec to use, or None for a charset that is absent, unknown or not one.

    US-ASCII is what mailers declare that know of no charset: octets beyond it are in some other, which nothing tells.
    """
    if charset is None or len(charset) > MAX_CHARSET_CHARS:
        return None
    known = _COMMON.get(charset, "")
    return _look_up(charset) if known == "" else known


def _look_up(charset: str) -> str | None:
    if not charset.isascii():
        return None
    # RFC 2231 §5 lets a language follow the charset of an encoded word.
    name = _SEPARATORS.sub("_", charset.partition("*")[0].strip("\"' \t").lower())
    name = _ISO_8859.sub(r"iso8859_\1", _CODE_PAGE.sub(r"cp\1", name))
    codec = _OUR_ALIASES.get(name) or aliases.get(name, name)
    codec = _OUR_ALIASES.get(codec, codec)
    if codec == "ascii" and name not in _ASCII_ONLY:
        return None
    if codec in _CODECS:
        return codec
    return _look_up(name.removeprefix("x_")) if name.startswith("x_") else None


_COMMON = {
    name: _look_up(name)
    for name in ("utf-8", "UTF-8", "us-ascii", "US-ASCII", "iso-8859-1", "ISO-8859-1", "windows-1252")
}


def in_order(codec: str, head: bytes) -> str:
    """The codec of octets that begin so: UTF-16 without a byte order mark has zeros where its blanks and ASCII have."""
    if codec != "utf_16" or head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return codec
    head = head[:ORDER_OCTETS]
    return "utf_16_be" if head[::2].count(0) > head[1::2].count(0) else "utf_16_le"


def may_be_of_windows(codec: str) -> bool:
    """Is there a charset of Windows that is called by the name of this one?"""
    return codec in _OF_WINDOWS


def of_windows(codec: str, octets: bytes) -> str:
    """The codec of a text with these octets: no text has the controls that a charset of ISO 8859 has from 0x80 on."""
    if codec not in _OF_WINDOWS or len(octets.translate(None, _CONTROLS)) == len(octets):
        return codec
    return _OF_WINDOWS[codec]


def beyond_ascii(text: str) -> int:
    """How many characters."""
    return 0 if text.isascii() else len(text) - len(text.encode("ascii", "ignore"))


def is_damaged_utf8(errors: int, beyond: int, read_per_error: int = _READ_PER_ERROR) -> bool:
    """Of a text that was read as UTF-8, with so many `errors` among what is `beyond` ASCII: is it UTF-8, which programs
    have cut within characters? Octets of other charsets are hardly ever characters of it."""
    return 0 < errors * (1 + read_per_error) <= beyond


def is_as_declared(codec: str, errors: int, beyond: int, length: int) -> bool:
    """Of a text of this `length`, read in its declared charset: a few bad octets do not make the declaration a lie."""
    return errors <= 1 + length // 50 or (codec == "utf-8" and is_damaged_utf8(errors, beyond, 1))


def begins_as_utf8(octets: bytes, *, is_whole: bool) -> bool:
    """May they be called UTF-8? UTF-16 and ISO 2022 can be made of the same octets, and show it by NULs and escapes."""
    if b"\0" in octets or b"\x1b$" in octets:  # other escapes colour the logs of terminals
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(octets, final=is_whole)
    except UnicodeDecodeError:
        return False
    return True


class HiddenUtf8:
    """Whether octets are UTF-8 that declare another charset, as programs do that name what was always named.

    Text in a charset of one octet a character is hardly ever UTF-8 by chance: each letter beyond ASCII would have to
    stand before a sign that follows no letter. Mail programs show such text as UTF-8; browsers would not.
    """

    def __init__(self, codec: str) -> None:
        self.may_be = codec.startswith(_UNLIKE_UTF8) and codec != _LIKE_UTF8
        self._is_western = codec == _WESTERN
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._found: set[str] = set()

    @property
    def is_sure(self) -> bool:
        """Of what was fed: of all that is UTF-8, were there enough characters to tell?"""
        return self.may_be and self._suffices()

    def feed(self, octets: bytes, *, is_last: bool = False) -> None:
        """The next of them, while they `may_be`."""
        try:
            text = self._decoder.decode(octets, is_last)
        except UnicodeDecodeError:
            self.may_be = False
            return
        if not text.isascii() and not self._suffices():
            self._found.update(one for one in set(text) if not one.isascii())

    def _suffices(self) -> bool:
        return len(self._found) >= _SURE_CHARACTERS or (
            self._is_western and any(_SURE_IN_WESTERN.match(one) for one in self._found)
        )


def escaped_codec(octets: bytes) -> str | None:
    """The codec of octets that declare no charset but switch to Japanese by escape sequences (RFC 1468), as mailers did
    that knew no MIME."""
    return "iso2022_jp_ext" if b"\x1b$B" in octets or b"\x1b$@" in octets else None


def has_more(codec: str) -> bool:
    """Has the Encoding Standard characters that the tables of Python lack? Each costs a microsecond to read."""
    return codec in _MORE_OF


def errors_of(codec: str, *, is_lenient: bool = False, has_time: bool = True) -> str:
    """What a decoder of the codec does with octets that the tables of Python lack (`codecs.register_error`): reads what
    the Encoding Standard has there, if it `has_time`; refuses the others, or replaces them where it `is_lenient`."""
    more = _MORE_OF.get(codec) if has_time else None
    if more is None:
        return "replace" if is_lenient else "strict"
    return more + _OR_REPLACED if is_lenient else more


def _more_of_iso2022_jp(octets: bytes, error: UnicodeDecodeError) -> tuple[str, int] | None:
    """The characters beyond JIS X 0208 that Windows has (① and ㈱ among them), as mailers write them in ISO-2022-JP
    (Encoding Standard §12.2.2)."""
    pair = octets[error.start : error.end]
    if len(pair) > 2 or not all(_FIRST_OF_JIS <= octet <= _LAST_OF_JIS for octet in pair):
        return None
    if len(pair) == 1:  # the text is cut
        return "\ufffd", error.end
    return _shifted(*pair).decode("cp932", "replace")[0], error.end


def _more_of_euc_jp(octets: bytes, error: UnicodeDecodeError) -> tuple[str, int] | None:
    """The same characters in EUC-JP (Encoding Standard §12.1.1)."""
    pair = bytes(octet & 0x7F for octet in octets[error.start : error.start + 2] if octet & 0x80)
    if len(pair) < 2 or not all(_FIRST_OF_JIS <= octet <= _LAST_OF_JIS for octet in pair):
        return None
    return _as_pair(_shifted(*pair), "cp932", error)


def _more_of_big5(octets: bytes, error: UnicodeDecodeError) -> tuple[str, int] | None:
    """The characters of Hong Kong, which name no charset but Big5 (Encoding Standard §11.1.1)."""
    return _as_pair(octets[error.start : error.start + 2], "big5hkscs", error)


def _as_pair(pair: bytes, codec: str, error: UnicodeDecodeError) -> tuple[str, int] | None:
    try:
        text = pair.decode(codec)
    except UnicodeDecodeError:
        return None
    # What Python calls an error is the first of the two octets.
    return (text, error.start + 2) if len(pair) == 2 and not text.isascii() else None


def _shifted(row: int, cell: int) -> bytes:
    """A pair of JIS X 0208 as Shift_JIS has it (JIS X 0208:1997, Annex 1)."""
    lead = (row - _FIRST_OF_JIS >> 1) + 0x81
    trail = (cell + 0x1F if cell < 0x60 else cell + 0x20) if row & 1 else cell + 0x7E
    return bytes([lead if lead < 0xA0 else lead + 0x40, trail])


_More = Callable[[bytes, UnicodeDecodeError], tuple[str, int] | None]


def _register(name: str, more: _More) -> str:
    def refusing(error: UnicodeError) -> tuple[str, int]:
        found = more(error.object, error) if isinstance(error, UnicodeDecodeError) else None
        if found is None:
            raise error
        return found

    def replacing(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeDecodeError):
            raise error
        return more(error.object, error) or ("\ufffd", error.end)

    codecs.register_error(name, refusing)
    codecs.register_error(name + _OR_REPLACED, replacing)
    return name


class _Cesu8Decoder(codecs.BufferedIncrementalDecoder):
    def _buffer_decode(self, octets: Any, _errors: str, final: bool) -> tuple[str, int]:
        cut = None if final else _CUT_SURROGATES.search(octets)
        text, length = codecs.utf_8_decode(octets[: cut.start()] if cut else octets, "surrogatepass", final)
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le"), length


def _find_cesu8(name: str) -> codecs.CodecInfo | None:
    if name != CESU_8:
        return None
    return codecs.CodecInfo(
        codecs.utf_8_encode,
        lambda octets, _errors="strict": (_Cesu8Decoder().decode(bytes(octets), True), len(octets)),
        incrementaldecoder=_Cesu8Decoder,
        name=CESU_8,
    )


codecs.register(_find_cesu8)


_MORE_OF = {
    "iso2022_jp_ext": _register("more-of-iso-2022-jp", _more_of_iso2022_jp),
    "euc_jp": _register("more-of-euc-jp", _more_of_euc_jp),
    "cp950": _register("more-of-big5", _more_of_big5),
}
