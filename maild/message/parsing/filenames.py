"""Names for attachments that are safe to show and to save under."""

from __future__ import annotations

import re

MAX_FILENAME_CHARS = 200
_MAX_OCTETS = 240  # of 255 in a file system; clients put .crdownload and the like behind it while they load
_MAX_EXTENSION_CHARS = 20

# Separators; controls; direction marks that make "exe.gpj" read "jpg.exe" (UAX #9); surrogates.
_SEPARATORS = re.compile(r"[/\\\u2044\u2215\u29f8\uff0f\uff3c]")
_ON_A_DISK = re.compile(r"(?:[A-Za-z]:)?[/\\](?s:.*[/\\])?(?=[^/\\])")
_REMOVED = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+"
)
# Dots and blanks at the end are dropped by some file systems, so they would hide an extension.
_EDGE = ". \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|\Z)", re.IGNORECASE)

_FIXED = {
    "message/rfc822": "message.eml",
    "message/global": "message.eml",
    "message/delivery-status": "delivery-status.txt",
    "message/global-delivery-status": "delivery-status.txt",
    "message/disposition-notification": "disposition-notification.txt",
    "message/global-disposition-notification": "disposition-notification.txt",
    "message/feedback-report": "feedback-report.txt",
    "text/rfc822-headers": "headers.txt",
    "message/rfc822-headers": "headers.txt",
    "message/global-headers": "headers.txt",
    "application/pgp-signature": "signature.asc",
    "application/pkcs7-signature": "smime.p7s",
    "application/x-pkcs7-signature": "smime.p7s",
    "application/pkcs7-mime": "smime.p7m",
    "application/x-pkcs7-mime": "smime.p7m",
    "application/ms-tnef": "winmail.dat",
    "application/vnd.ms-tnef": "winmail.dat",
    "text/calendar": "invite.ics",
    "application/ics": "invite.ics",
}
_EXTENSIONS = {
    "text/plain": "txt",
    "text/html": "html",
    "text/csv": "csv",
    "text/markdown": "md",
    "text/vcard": "vcf",
    "text/x-vcard": "vcf",
    "text/xml": "xml",
    "text/rtf": "rtf",
    "application/rtf": "rtf",
    "application/xml": "xml",
    "application/json": "json",
    "application/pdf": "pdf",
    "application/zip": "zip",
    "application/gzip": "gz",
    "application/msword": "doc",
    "application/vnd.ms-excel": "xls",
    "application/vnd.ms-powerpoint": "ppt",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/pgp-encrypted": "asc",
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/svg+xml": "svg",
    "image/tiff": "tiff",
    "image/bmp": "bmp",
    "image/heic": "heic",
    "audio/mpeg": "mp3",
    "audio/wav": "wav",
    "audio/ogg": "ogg",
    "audio/mp4": "m4a",
    "video/mp4": "mp4",
    "video/quicktime": "mov",
    "video/webm": "webm",
}
# Unregistered names of such types, and rarer types: uuencoded files are not called so.
_OTHER_NAMES = {
    "image/jpg": "jpg",
    "image/pjpeg": "jpg",
    "image/x-png": "png",
    "image/x-ms-bmp": "bmp",
    "image/heif": "heif",
    "image/avif": "avif",
    "image/x-icon": "ico",
    "image/vnd.microsoft.icon": "ico",
    "application/x-pdf": "pdf",
    "application/x-zip-compressed": "zip",
    "application/x-zip": "zip",
    "application/x-gzip": "gz",
    "application/csv": "csv",
    "application/vnd.ms-outlook": "msg",
    "application/xhtml+xml": "xhtml",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "text/directory": "vcf",
    "text/json": "json",
    "text/tab-separated-values": "tsv",
    "text/x-vcalendar": "vcs",
    "text/x-amp-html": "html",
    "text/watch-html": "html",
    "audio/mp3": "mp3",
    "audio/x-wav": "wav",
    "audio/x-m4a": "m4a",
    "audio/aac": "aac",
    "audio/amr": "amr",
    "video/3gpp": "3gp",
}
_OPAQUE = "application/octet-stream"
_TYPES = {extension: content_type for content_type, extension in reversed(_EXTENSIONS.items())} | {
    "jpeg": "image/jpeg"
}


def clean_filename(name: str) -> str:
    """A name without separators, controls, direction marks and dots at its ends; "" if none is left.

    At most MAX_FILENAME_CHARS, and no more octets than a file system takes, keeping a short extension. A single
    leading dot stays (".env").
    """
    # Mailers fold names where a blank is, which comes as a tab.
    name = _REMOVED.sub("", name.replace("\t", " "))
    path = _ON_A_DISK.match(name)
    name = name[path.end() :] if path else name  # RFC 2183 §2.3
    name = _SEPARATORS.sub("_", name).strip().rstrip(_EDGE)
    if name.startswith(".."):
        name = name.lstrip(_EDGE)
    if _DEVICES.match(name):
        name = "_" + name
    if _cut(name, MAX_FILENAME_CHARS, _MAX_OCTETS) == name:
        return name
    stem, dot, extension = name.rpartition(".")
    if not dot or len(extension) > _MAX_EXTENSION_CHARS:
        stem, end = name, ""
    else:
        end = "." + extension
    chars, octets = MAX_FILENAME_CHARS - len(end), _MAX_OCTETS - len(end.encode())
    return _cut(stem, chars, octets).rstrip(_EDGE) + end


def _cut(name: str, chars: int, octets: int) -> str:
    return name[:chars].encode()[:octets].decode(errors="ignore")


def content_type_of(name: str) -> str:
    """The media type that a file's extension stands for; application/octet-stream where we know none."""
    return _TYPES.get(name.rpartition(".")[2].lower(), _OPAQUE) if "." in name else _OPAQUE


def derived_filename(content_type: str, number: int) -> str:
    """A name for the part that has none: `attachment-<number>.<ext>`, or its usual one."""
    fixed = _FIXED.get(content_type)
    if fixed is not None:
        return fixed
    extension = _EXTENSIONS.get(content_type) or _OTHER_NAMES.get(content_type, "bin")
    return f"attachment-{number}.{extension}"
