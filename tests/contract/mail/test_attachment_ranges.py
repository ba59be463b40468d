"""Byte ranges, HEAD, ETag and missing bytes of GET /v1/attachments/{id} and of raw messages (RFC 9110 §14)."""

import base64
import binascii
import os
import quopri
from typing import Any

import pytest

from storage.engine import migrate
from tests.support.running import Answer, Running

BYTES = os.urandom(700_001)


def base64_with(line: int, end: str, litter: str = "") -> str:
    text = base64.b64encode(BYTES).decode()
    return end.join(text[at : at + line] + litter for at in range(0, len(text), line))


def uuencoded(content: bytes) -> str:
    lines = [binascii.b2a_uu(content[at : at + 45]).decode() for at in range(0, len(content), 45)]
    return "begin 644 a.bin\n" + "".join(lines) + "`\nend\n"


ENCODED = {
    "base64 in lines of 76": ("base64", base64_with(76, "\n")),
    "base64 in lines of 900": ("base64", base64_with(900, "\n")),
    "base64 with litter": ("base64", base64_with(77, "\n", " !")),
    "base64 piece by piece": (
        "base64",
        "".join(
            base64.encodebytes(BYTES[at : at + 100_000]).decode() for at in range(0, len(BYTES), 100_000)
        ),
    ),
    "base64 of a few bytes": ("base64", base64.b64encode(BYTES[:10]).decode()),
    "quoted-printable": ("quoted-printable", quopri.encodestring(BYTES[:50_000], quotetabs=True).decode()),
    "uuencode": ("x-uuencode", uuencoded(BYTES[:50_000])),
    "identity": ("7bit", "0123456789" * 50),
}


async def attachment(maild: Running, inbox: dict[str, Any], kind: str) -> tuple[str, bytes]:
    encoding, text = ENCODED[kind]
    raw = (
        "From: a@elsewhere.test\nSubject: file\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=zzz\n\n"
        "--zzz\nContent-Type: text/plain\n\nhello\n--zzz\nContent-Type: application/octet-stream\n"
        f'Content-Transfer-Encoding: {encoding}\nContent-Disposition: attachment; filename="a.bin"\n\n{text}\n--zzz--\n'
    )
    message = await maild.received(inbox, raw)
    path = f"/v1/attachments/{message['attachments'][0]['id']}"
    whole = await maild.api.get(path)
    assert whole.status == 200 and len(whole.body) == message["attachments"][0]["sizeBytes"]
    return path, whole.body


async def ask(maild: Running, path: str, asked: str, method: str = "GET", **headers: str) -> Answer:
    return await maild.api.call(method, path, headers={"Range": asked, **headers})


async def test_what_the_client_has_is_not_sent_again(maild: Running, bot: dict[str, Any]) -> None:
    path, _ = await attachment(maild, bot, "identity")
    tag = (await maild.api.get(path)).headers["ETag"]
    for asked in ({"If-None-Match": tag}, {"If-None-Match": f'"x", W/{tag}', "Range": "bytes=0-1"}):
        unchanged = await maild.api.call("GET", path, headers=asked)
        assert (unchanged.status, unchanged.body, unchanged.headers["ETag"]) == (304, b"", tag)
    assert (await maild.api.call("GET", path, headers={"If-None-Match": '"x"'})).status == 200


@pytest.mark.parametrize("kind", list(ENCODED))
async def test_a_range_is_that_slice_of_the_whole(maild: Running, bot: dict[str, Any], kind: str) -> None:
    path, whole = await attachment(maild, bot, kind)
    size = len(whole)
    spans = {
        (0, 1),
        (0, size),
        (1, 2),
        (2, 7),
        (size - 1, size),
        (size // 2, size // 2 + 5),
        (size // 3, size),
    }
    spans |= {(at, min(size, at + 4)) for at in (3, 4, 5, 350_000, 350_001, 350_002) if at < size}
    for start, stop in sorted(spans):
        answer = await ask(maild, path, f"bytes={start}-{stop - 1}")
        assert (answer.status, answer.body) == (206, whole[start:stop]), (start, stop)
        assert answer.headers["Content-Range"] == f"bytes {start}-{stop - 1}/{size}"
        assert int(answer.headers["Content-Length"]) == stop - start
        assert answer.headers["Accept-Ranges"] == "bytes"


async def test_open_ranges(maild: Running, bot: dict[str, Any]) -> None:
    path, whole = await attachment(maild, bot, "identity")
    size = len(whole)
    for asked, expected in (
        ("bytes=490-", whole[490:]),
        ("bytes=-10", whole[-10:]),
        ("bytes=-9999", whole),
        ("bytes=480-99999999", whole[480:]),
        ("BYTES=0-4", whole[:5]),
    ):
        answer = await ask(maild, path, asked)
        assert (answer.status, answer.body) == (206, expected), asked
    for asked in (f"bytes={size}-", f"bytes={size + 5}-{size + 9}", "bytes=-0"):
        answer = await ask(maild, path, asked)
        assert (answer.status, answer.code) == (416, "range_not_satisfiable"), asked
        assert answer.headers["Content-Range"] == f"bytes */{size}"


@pytest.mark.parametrize(
    "asked",
    ["bytes=", "bytes=-", "bytes=5-2", "bytes=a-b", "bytes=0-1,3-4", "lines=0-1", "bytes=" + "9" * 400 + "-"],
)
async def test_what_is_no_single_range_is_ignored(maild: Running, bot: dict[str, Any], asked: str) -> None:
    path, whole = await attachment(maild, bot, "identity")
    answer = await ask(maild, path, asked)
    assert (answer.status, answer.body) == (200, whole)


async def test_an_etag_ties_a_range_to_its_bytes(maild: Running, bot: dict[str, Any]) -> None:
    path, whole = await attachment(maild, bot, "identity")
    etag = (await maild.api.get(path)).headers["ETag"]
    assert (await ask(maild, path, "bytes=0-1", **{"If-Range": etag})).status == 206
    assert (await ask(maild, path, "bytes=0-1", **{"If-Range": '"other"'})).body == whole


async def test_head_tells_what_get_would(maild: Running, bot: dict[str, Any]) -> None:
    path, whole = await attachment(maild, bot, "base64 in lines of 76")
    got, head = await maild.api.get(path), await maild.api.call("HEAD", path)
    assert (head.status, head.body) == (200, b"")
    for name in ("Content-Length", "Content-Type", "Content-Disposition", "ETag", "Accept-Ranges"):
        assert head.headers[name] == got.headers[name]
    part = await ask(maild, path, "bytes=5-9", "HEAD")
    assert (part.status, part.headers["Content-Range"]) == (206, f"bytes 5-9/{len(whole)}")
    absent = await maild.api.call("HEAD", "/v1/attachments/att_01m7yg00000000000000000000")
    assert absent.status == 404


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_bytes_that_are_gone_are_410(maild: Running, bot: dict[str, Any], method: str) -> None:
    large, _ = await attachment(maild, bot, "base64 in lines of 76")
    small, _ = await attachment(maild, bot, "identity")
    for file in (maild.settings.data_path / "blobs").glob("??/blb_*"):
        file.unlink()
    maild.sql("UPDATE messages SET blob_id = NULL WHERE size_bytes < 10000")
    for path in (large, small):
        for headers in ({}, {"Range": "bytes=5-9"}):
            answer = await maild.api.call(method, path, headers=headers)
            assert answer.status == 410
            assert method == "HEAD" or answer.code == "attachment_bytes_missing"


def change_bytes(maild: Running) -> None:
    """As a failing disk does: another letter in each stored message."""
    conn = migrate.connect(maild.settings.data_path / "maild.sqlite3")
    conn.execute(
        """UPDATE blobs SET data = CAST(replace(CAST(data AS TEXT), 'From: a@', 'From: b@') AS BLOB)
           WHERE data IS NOT NULL"""
    )
    conn.close()
    for file in (maild.settings.data_path / "blobs").glob("??/blb_*"):
        with file.open("r+b") as opened:
            opened.seek(file.stat().st_size - 1)
            opened.write(b"?")


@pytest.mark.parametrize("kind", ["base64 in lines of 76", "identity"])
async def test_bytes_that_changed_are_410_and_bodies_null(
    maild: Running, bot: dict[str, Any], kind: str
) -> None:
    path, _ = await attachment(maild, bot, kind)
    (message,) = await maild.api.messages()
    change_bytes(maild)
    for where in (path, f"/v1/messages/{message['id']}/raw"):
        answer = await maild.api.get(where)
        assert (answer.status, answer.code) == (410, "attachment_bytes_missing")
    answer = await maild.api.call("GET", path, headers={"Range": "bytes=0-9"})
    assert (answer.status, answer.code) == (410, "attachment_bytes_missing")
    shown = (await maild.api.get(f"/v1/messages/{message['id']}")).data
    assert shown["subject"] == "file" and shown["htmlBody"] is None


async def test_a_raw_message_that_broke_off_goes_on_where_it_was(maild: Running, bot: dict[str, Any]) -> None:
    await attachment(maild, bot, "base64 in lines of 76")
    (message,) = await maild.api.messages()
    path = f"/v1/messages/{message['id']}/raw"
    whole = await maild.api.get(path)
    tag, size, trace = whole.headers["ETag"], len(whole.body), whole.body.index(b"From: a@elsewhere.test")
    head = await maild.api.call("HEAD", path)
    assert (head.status, head.body, head.headers["ETag"]) == (200, b"", tag)
    assert (head.headers["Content-Length"], head.headers["Accept-Ranges"]) == (str(size), "bytes")
    spans = (
        (0, 1),
        (0, trace),
        (trace - 2, trace + 2),
        (trace, size),
        (trace + 9, size - 9),
        (size - 1, size),
    )
    for start, stop in spans:
        rest = await ask(maild, path, f"bytes={start}-{stop - 1}", **{"If-Range": tag})
        assert (rest.status, rest.body) == (206, whole.body[start:stop]), (start, stop)
        assert rest.headers["Content-Range"] == f"bytes {start}-{stop - 1}/{size}"
    assert (await ask(maild, path, f"bytes={size}-")).code == "range_not_satisfiable"
    assert (await maild.api.call("GET", path, headers={"If-None-Match": tag})).status == 304
