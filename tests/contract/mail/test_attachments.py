"""GET /v1/attachments/{id}: contract, section 4; A7, A8: bytes of strangers, served so that nothing runs them."""

import base64
import re
from typing import Any
from urllib.parse import unquote

import pytest

from controlplane.transport.downloads import disposition
from tests.conftest import on_shared
from tests.support.running import Answer, Running

INLINE = ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain"]
DOWNLOADED = [
    "text/html", "image/svg+xml", "application/xhtml+xml", "text/xml", "application/javascript", "text/css",
    "application/octet-stream", "message/rfc822", "image/bmp", "application/x-shockwave-flash",
]  # fmt: skip


def mail(content_type: str, content: bytes, filename: str = "a.bin", encoding: str = "base64") -> bytes:
    body = base64.encodebytes(content) if encoding == "base64" else content
    return (
        b"Subject: file\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\ntext\n--b\n"
        + f"Content-Type: {content_type}\nContent-Transfer-Encoding: {encoding}\n".encode()
        + f'Content-Disposition: attachment; filename="{filename}"\n\n'.encode()
        + body
        + b"\n--b--\n"
    )


async def attachment(maild: Running, bot: dict[str, Any], raw: bytes) -> dict[str, Any]:
    (one,) = (await maild.received(bot, raw))["attachments"]
    found: dict[str, Any] = one
    return found


async def fetch(maild: Running, attachment_id: str, inline: str = "") -> Answer:
    return await maild.api.get(f"/v1/attachments/{attachment_id}", **({"inline": inline} if inline else {}))


@pytest.mark.parametrize("content_type", INLINE + DOWNLOADED)
@on_shared
async def test_only_six_types_are_ever_shown_inline(
    shared: Running, shared_bot: dict[str, Any], content_type: str
) -> None:
    one = await attachment(shared, shared_bot, mail(content_type, b"<script>alert(1)</script>"))
    for inline in ("", "0", "false"):
        answer = await fetch(shared, one["id"], inline)
        assert answer.headers["Content-Disposition"].startswith("attachment;")
    answer = await fetch(shared, one["id"], "1")
    kind = "inline" if content_type in INLINE else "attachment"
    assert answer.headers["Content-Disposition"] == f'{kind}; filename="a.bin"'
    assert answer.headers["Content-Type"].partition(";")[0] == content_type
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    assert answer.body == b"<script>alert(1)</script>"
    if content_type == "text/plain":
        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize(
    ("charset", "content", "is_utf8"),
    [
        ("utf-8", "Größe".encode(), True),
        ("iso-8859-1", "Größe".encode(), True),
        ("us-ascii", b"size", True),
        ("utf-7", b"+ADw-script+AD4-", True),
        ("utf-8", b"", True),
        ("utf-8", "\x1b[31mGröße\x1b(B\x1b[m".encode(), True),
        ("utf-8", b"x" + "ü".encode() * 200_000, True),
        ("utf-8", b"size \xc3", False),
        ("iso-8859-1", "Größe".encode("latin-1"), False),
        ("koi8-r", "размер".encode("koi8-r"), False),
        ("utf-16", "size".encode("utf-16"), False),
        ("utf-16le", "size".encode("utf-16le"), False),
        ("iso-2022-jp", "サイズ".encode("iso-2022-jp"), False),
    ],
)
@on_shared
async def test_a_text_is_called_utf_8_where_it_is(
    shared: Running, shared_bot: dict[str, Any], charset: str, content: bytes, is_utf8: bool
) -> None:
    one = await attachment(shared, shared_bot, mail(f"text/plain; charset={charset}", content))
    for inline in ("", "1"):
        answer = await fetch(shared, one["id"], inline)
        assert answer.body == content
        assert answer.headers["Content-Type"] == ("text/plain; charset=utf-8" if is_utf8 else "text/plain")


@pytest.mark.parametrize("encoding", ["base64", "7bit", "quoted-printable"])
@pytest.mark.parametrize("size", [0, 1, 1000, 400_000])
@on_shared
async def test_the_bytes_are_those_that_were_sent(
    shared: Running, shared_bot: dict[str, Any], encoding: str, size: int
) -> None:
    content = bytes(range(32, 127)) * (size // 95 + 1)
    content = content[:size].replace(b"=", b"-")
    lines = (
        content if encoding == "base64" else b"\r\n".join(content[at : at + 70] for at in range(0, size, 70))
    )
    one = await attachment(shared, shared_bot, mail("application/octet-stream", lines, encoding=encoding))
    answer = await fetch(shared, one["id"])
    assert answer.status == 200
    assert answer.body == lines
    assert int(answer.headers["Content-Length"]) == len(lines) == one["sizeBytes"]


@on_shared
async def test_inline_must_be_a_truth(shared: Running, shared_bot: dict[str, Any]) -> None:
    one = await attachment(shared, shared_bot, mail("text/plain", b"x"))
    assert (await fetch(shared, one["id"], "perhaps")).faults == {"inline": "wrong_type"}


@on_shared
async def test_an_unknown_attachment_is_404(shared: Running) -> None:
    for path in (
        "att_01m7yg00000000000000000000",
        "x",
        "%00",
        "..%2f..%2fmaster.key",
        "%2e%2e",
        "blobs%2ftmp",
    ):
        answer = await shared.api.get(f"/v1/attachments/{path}")
        assert (answer.status, answer.code) == (404, "attachment_not_found")


@pytest.mark.parametrize("content_type", ["image/png", "text/plain"])
async def test_bytes_that_are_gone_are_410(maild: Running, bot: dict[str, Any], content_type: str) -> None:
    """By retention (the row forgets its blob) or by a lost or damaged file: never 500, never half a file."""
    large = await maild.received(bot, mail(content_type, b"x" * 300_000))
    one = large["attachments"][0]["id"]
    (file,) = [
        path for path in (maild.settings.data_path / "blobs").glob("*/blb_*") if path.parent.name != "tmp"
    ]
    kept = file.read_bytes()
    file.write_bytes(kept[:1000])
    answer = await fetch(maild, one)
    assert (answer.status, answer.code) == (410, "attachment_bytes_missing")
    file.unlink()
    assert (await fetch(maild, one)).code == "attachment_bytes_missing"
    maild.sql("UPDATE messages SET blob_id = NULL WHERE id = ?", large["id"])
    assert (await fetch(maild, one)).code == "attachment_bytes_missing"


async def test_a_message_whose_bytes_are_gone_is_shown_without_them(
    maild: Running, bot: dict[str, Any]
) -> None:
    large = await maild.received(bot, "Subject: large\n\n" + "x" * 300_000)
    for file in (maild.settings.data_path / "blobs").glob("*/blb_*"):
        file.unlink()
    answer = await maild.api.get(f"/v1/messages/{large['id']}")
    assert answer.status == 200
    assert answer.data["textBody"] is None
    assert (await maild.api.get(f"/v1/threads/{large['threadId']}")).status == 200


@pytest.mark.parametrize(
    "name",
    [
        "plain.pdf", "two words.pdf", "Gr\u00fc\u00dfe.pdf", 'quo"te.pdf', "back\\slash.pdf", "semi;colon.pdf",
        "100%.pdf", "a\u202efdp.exe", "\U0001f600.png", "it's (1).pdf", "x" * 255, "%41.pdf", "a*b.pdf",
    ],
)  # fmt: skip
def test_the_disposition_keeps_the_name_and_breaks_no_header(name: str) -> None:
    """RFC 6266 §4.3, RFC 8187."""
    header = disposition("attachment", name)
    assert header.isascii() and not set(header) & set("\r\n\0")
    plain = re.fullmatch(
        r"attachment; filename=\"([^\"\\]*)\"(?:; filename\*=UTF-8''([A-Za-z0-9!#$&+.^_`|~%-]+))?", header
    )
    assert plain, header
    assert (unquote(plain[2]) if plain[2] else plain[1]) == name


def test_no_likeness_of_a_name_is_decoded_into_another() -> None:
    """RFC 6266, appendix D: some clients take % and two digits for a character, and so for a separator."""
    header = disposition("attachment", "..%2Fa 100%25.pdf")
    assert header == "attachment; filename=\".._2Fa 100_25.pdf\"; filename*=UTF-8''..%252Fa%20100%2525.pdf"
    assert disposition("attachment", "100% new.pdf") == 'attachment; filename="100% new.pdf"'


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "..\\..\\boot.ini", "/etc/shadow", "a/../b", "..", ".", "CON", "\x00x"]
)
@on_shared
async def test_a_strangers_filename_is_no_path(
    shared: Running, shared_bot: dict[str, Any], name: str
) -> None:
    one = await attachment(shared, shared_bot, mail("image/png", b"x", name.replace("\\", "\\\\")))
    assert not set(one["filename"]) & set("/\\\0\r\n")
    assert one["filename"] not in ("", ".", "..")
    assert (await fetch(shared, one["id"])).status == 200


@pytest.mark.parametrize(
    "content_type", ["image/png\u00fc", "text/html/x", "a b/c", "image", "*/*", "x" * 300 + "/y"]
)
@on_shared
async def test_a_strangers_content_type_is_a_type_or_none(
    shared: Running, shared_bot: dict[str, Any], content_type: str
) -> None:
    parts = (await shared.received(shared_bot, mail(content_type, b"x")))["attachments"]
    for one in parts:
        # RFC 9110 §5.6.2: both are tokens, so they break no header.
        assert re.fullmatch(
            r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,127}/[A-Za-z0-9!#$%&'*+.^_`|~-]{1,127}", one["contentType"]
        )
        answer = await fetch(shared, one["id"], "1")
        assert answer.status == 200 and answer.headers["X-Content-Type-Options"] == "nosniff"
