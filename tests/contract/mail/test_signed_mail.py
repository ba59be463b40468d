"""Parts for programs (signatures, encrypted mail, invitations, TNEF) come out octet for octet, the text beside them."""

import base64
import binascii
import hashlib
from typing import Any

import pytest

from tests.conftest import on_shared
from tests.support.running import Running

BINARY = bytes(range(256)) * 40
ARMOR = b"-----BEGIN PGP SIGNATURE-----\r\n\r\niQEzBAEBCAAdFiEE \r\n=abcd\r\n-----END PGP SIGNATURE-----\r\n"
SECRET = ARMOR.replace(b"SIGNATURE", b"MESSAGE")
INVITATION = (
    b"BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nSUMMARY:x\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)
WORDS = b"Content-Type: text/plain; charset=utf-8\r\n\r\nSigned words, \r\n- dashed -\r\n"


def part(kind: str, content: bytes, encoding: str = "7bit") -> bytes:
    octets = base64.encodebytes(content).replace(b"\n", b"\r\n") if encoding == "base64" else content
    return f"Content-Type: {kind}\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n".encode() + octets


def mail(kind: str, *parts: bytes) -> bytes:
    head = f"From: ada@elsewhere.test\r\nSubject: x\r\nMIME-Version: 1.0\r\nContent-Type: {kind}; boundary=b\r\n\r\n"
    return head.encode() + b"".join(b"--b\r\n" + one + b"\r\n" for one in parts) + b"--b--\r\n"


def alone(kind: str, content: bytes) -> bytes:
    return b"From: ada@elsewhere.test\r\nSubject: x\r\nMIME-Version: 1.0\r\n" + part(kind, content, "base64")


def uuencoded(content: bytes) -> bytes:
    lines = [binascii.b2a_uu(content[at : at + 45]).rstrip(b"\n") for at in range(0, len(content), 45)]
    return b"\r\n".join([b"begin 644 a.pdf", *lines, b"`", b"end", b""])


MAILS: dict[str, tuple[bytes, str | None, list[tuple[str, str, bytes]]]] = {
    "S/MIME, signed": (
        mail(
            'multipart/signed; protocol="application/pkcs7-signature"; micalg=sha-256',
            WORDS,
            part("application/pkcs7-signature; name=smime.p7s", BINARY, "base64"),
        ),
        "Signed words, \n- dashed -\n",
        [("smime.p7s", "application/pkcs7-signature", BINARY)],
    ),
    "S/MIME, signed, an alternative inside": (
        mail(
            'multipart/signed; protocol="application/x-pkcs7-signature"',
            b"Content-Type: multipart/mixed; boundary=i\r\n\r\n--i\r\n"
            + WORDS
            + b"\r\n--i\r\n"
            + part("application/pdf; name=a.pdf", BINARY, "base64")
            + b"\r\n--i--\r\n",
            part("application/x-pkcs7-signature", BINARY, "base64"),
        ),
        "Signed words, \n- dashed -\n",
        [("a.pdf", "application/pdf", BINARY), ("smime.p7s", "application/x-pkcs7-signature", BINARY)],
    ),
    "S/MIME, encrypted": (
        alone("application/pkcs7-mime; smime-type=enveloped-data", BINARY),
        None,
        [("smime.p7m", "application/pkcs7-mime", BINARY)],
    ),
    "PGP, signed": (
        mail(
            'multipart/signed; protocol="application/pgp-signature"; micalg=pgp-sha512',
            WORDS,
            part("application/pgp-signature", ARMOR),
        ),
        "Signed words, \n- dashed -\n",
        [("signature.asc", "application/pgp-signature", ARMOR)],
    ),
    "PGP, encrypted": (
        mail(
            'multipart/encrypted; protocol="application/pgp-encrypted"',
            part("application/pgp-encrypted", b"Version: 1\r\n"),
            part("application/octet-stream; name=encrypted.asc", SECRET),
        ),
        None,
        [
            ("attachment-1.asc", "application/pgp-encrypted", b"Version: 1\r\n"),
            ("encrypted.asc", "application/octet-stream", SECRET),
        ],
    ),
    "an invitation": (
        mail(
            "multipart/alternative", WORDS, part("text/calendar; charset=utf-8; method=REQUEST", INVITATION)
        ),
        "Signed words, \n- dashed -\n",
        [("invite.ics", "text/calendar", INVITATION)],
    ),
    "an invitation alone": (
        alone("text/calendar; method=CANCEL", INVITATION),
        None,
        [("invite.ics", "text/calendar", INVITATION)],
    ),
    "uuencoded in a text": (
        b"From: ada@elsewhere.test\r\nSubject: x\r\n\r\nbefore\r\n" + uuencoded(BINARY) + b"after\r\n",
        "before\nafter\n",
        [("a.pdf", "application/pdf", BINARY)],
    ),
    "TNEF": (
        mail("multipart/mixed", WORDS, part("application/ms-tnef", b"\x78\x9f\x3e\x22" + BINARY, "base64")),
        "Signed words, \n- dashed -\n",
        [("winmail.dat", "application/ms-tnef", b"\x78\x9f\x3e\x22" + BINARY)],
    ),
}


@pytest.mark.parametrize("name", MAILS)
@on_shared
async def test_parts_for_programs_are_exact(shared: Running, shared_bot: dict[str, Any], name: str) -> None:
    raw, text, files = MAILS[name]
    message = await shared.received(shared_bot, raw)
    assert (message["textBody"], message["htmlBody"]) == (text, None)
    listed = [(one["filename"], one["contentType"], one["sizeBytes"]) for one in message["attachments"]]
    assert listed == [(filename, kind, len(content)) for filename, kind, content in files]
    for one, (_, _, content) in zip(message["attachments"], files, strict=True):
        answer = await shared.api.get(f"/v1/attachments/{one['id']}")
        assert hashlib.sha256(answer.body).digest() == hashlib.sha256(content).digest()
    whole = (await shared.api.get(f"/v1/messages/{message['id']}/raw")).body
    assert whole.endswith(b"\r\n" + raw)
