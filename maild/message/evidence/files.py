"""Names and first octets of attachments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from maild.message.evidence.confusables import LOOKS_LIKE
from maild.message.evidence.finding import Kind

HEAD_OCTETS: Final = 64  # of a file, as much as is looked at

_ACTIVE = frozenset(
    """ade adp apk app appx bat bin chm cmd com cpl dll dmg docm dotm exe gadget hta htm html img inf ins iso jar js jse
    lnk mht mhtml msc msi msix msp mst one pif potm ppam ppsm pptm ps1 ps1xml psc1 py reg scf scr sct sh shb shtml sldm
    svg swf url vb vbe vbs vhd vhdx wsc wsf wsh xhtml xlam xll xlsb xlsm xltm""".split()
)
_DOCUMENTS = frozenset(
    """avi bmp csv doc docx gif heic jpeg jpg json key log mov mp3 mp4 odp ods odt pages pdf png ppt pptx rtf tif tiff
    txt webp xls xlsx xml""".split()
)
_ACTIVE_TYPES = frozenset(
    """application/hta application/javascript application/x-javascript application/x-msdownload application/x-sh
    application/x-msdos-program application/vnd.microsoft.portable-executable application/java-archive text/html
    text/javascript image/svg+xml application/xhtml+xml application/x-bat""".split()
)
_GAP = re.compile(r"[\s\u00a0_.]{6,}\.?\w{1,8}\Z")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_SEVEN_Z_AES = b"\x06\xf1\x07\x01"  # a method of 7z, where its header is not packed


class NamedFile(NamedTuple):
    """An attachment: its id, its name as it is shown, and its first HEAD_OCTETS, or less, or none."""

    id: str
    filename: str
    content_type: str
    head: bytes = b""


class FileFact(NamedTuple):
    """`why`: the extension or type that it is about."""

    kind: Kind
    why: str | None = None


def file_facts(file: NamedFile) -> Iterator[FileFact]:
    """What there is to tell of an attachment."""
    name = file.filename.lower()
    pieces = [one.strip() for one in name.split(".")]
    extension = pieces[-1].translate(LOOKS_LIKE) if len(pieces) > 1 else ""
    if len(pieces) > 2 and extension in _ACTIVE and pieces[-2] in _DOCUMENTS:
        yield FileFact("double_extension", f"{pieces[-2]}.{extension}")
    if extension in _ACTIVE:
        yield FileFact("active_content", extension)
    elif file.content_type.lower() in _ACTIVE_TYPES:
        yield FileFact("active_content", file.content_type.lower())
    if is_encrypted(file.head):
        yield FileFact("encrypted_archive")
    if _BIDI.search(name):
        yield FileFact("filename_trick", "direction marks")
    elif _GAP.search(name):
        yield FileFact("filename_trick", "blanks before the extension")
    elif len(pieces) > 1 and not pieces[-1].isascii() and extension.isascii():
        yield FileFact("filename_trick", "an extension in look-alike letters")


def is_encrypted(head: bytes) -> bool:
    """Is it the beginning of an archive whose first member, or whose list, wants a password?"""
    if head.startswith(b"PK\x03\x04"):  # APPNOTE.TXT 4.4.4: bit 0
        return len(head) > 6 and bool(head[6] & 1)
    if head.startswith(b"Rar!\x1a\x07\x01\x00"):  # RAR 5: behind CRC and size a header of type 4
        return head[13:14] == b"\x04"
    if head.startswith(b"Rar!\x1a\x07\x00"):  # RAR 4: the flags of the main header
        return len(head) > 11 and bool(head[10] & 0x80)
    return head.startswith(b"7z\xbc\xaf\x27\x1c") and _SEVEN_Z_AES in head
