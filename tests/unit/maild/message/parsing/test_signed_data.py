"""S/MIME signed in the opaque form, as `openssl cms -sign -nodetach` writes it: what it says is what was signed."""

import base64

import pytest

from maild.message.digest import TEXT_CHARS, Digest, digest, digest_at_once

DER = base64.b64decode(
    "MIIBDwYJKoZIhvcNAQcCoIIBADCB/QIBATENMAsGCWCGSAFlAwQCATBWBgkqhkiG9w0BBwGgSQRHQ29udGVudC1UeXBlOiB0ZXh0L3Bs"
    "YWluOyBjaGFyc2V0PXV0Zi04DQoNCkdyw7zDn2UuDQpDYW4geW91IGNvbmZpcm0/DQoxgZAwgY0CAQEwJjAOMQwwCgYDVQQDDANBZGEC"
    "FFsffO7lIUN8mY6nIxZon2mzY2DqMAsGCWCGSAFlAwQCATAKBggqhkjOPQQDAgRHMEUCIQCmmeul5JBBRdnfEXZmWUl42cKsYl1Tf5DB"
    "0m/QQdGv2AIgT7Db6edM0fU/Uwrb7aFmQoROcNMqyJl0wjcbvSIbcts="
)
STREAMED = base64.b64decode(
    "MIAGCSqGSIb3DQEHAqCAMIACAQExDTALBglghkgBZQMEAgEwgAYJKoZIhvcNAQcBoIAkgARHQ29udGVudC1UeXBlOiB0ZXh0L3BsYWlu"
    "OyBjaGFyc2V0PXV0Zi04DQoNCkdyw7zDn2UuDQpDYW4geW91IGNvbmZpcm0/DQoAAAAAAAAxgY8wgYwCAQEwJjAOMQwwCgYDVQQDDANB"
    "ZGECFFsffO7lIUN8mY6nIxZon2mzY2DqMAsGCWCGSAFlAwQCATAKBggqhkjOPQQDAgRGMEQCIHQBFjKE8mGOxgN53hYyBC70Z/W8OWQf"
    "/4fuP8vmessxAiB1YjjZN0lR79rH3RlovXMzaFCqjg8pDKvdgy2uLTbDKAAAAAAAAA=="
)
ENVELOPED = DER.replace(bytes.fromhex("2a864886f70d010702"), bytes.fromhex("2a864886f70d010703"))
HEADER = b"From: ada@there.test\r\nTo: bot@ours.test\r\nSubject: signed\r\nMIME-Version: 1.0\r\n"
WORDS = "Grüße.\nCan you confirm?\n"


def mail(structure: bytes, content_type: str = "application/pkcs7-mime; smime-type=signed-data") -> bytes:
    fields = f"Content-Type: {content_type}; name=smime.p7m\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    return HEADER + fields.encode() + base64.encodebytes(structure).replace(b"\n", b"\r\n")


def element(tag: int, content: bytes) -> bytes:
    return bytes([tag, 0x84]) + len(content).to_bytes(4, "big") + content


def signed(content: bytes) -> bytes:
    """Without the signatures, which stand behind what is read."""
    data = element(0x06, bytes.fromhex("2a864886f70d010701")) + element(0xA0, content)
    inside = element(0x02, b"\x01") + element(0x31, b"") + element(0x30, data)
    kind = element(0x06, bytes.fromhex("2a864886f70d010702"))
    return element(0x30, kind + element(0xA0, element(0x30, inside)))


@pytest.mark.parametrize("structure", [DER, STREAMED])
@pytest.mark.parametrize(
    "kind",
    [
        "application/pkcs7-mime",
        "application/x-pkcs7-mime; smime-type=signed-data",
        "application/octet-stream",  # RFC 8551 §3.10: its name says it then
    ],
)
def test_the_words_are_those_that_were_signed(structure: bytes, kind: str) -> None:
    found = digest(mail(structure, kind))
    assert (found.text_body, found.extracted_text) == (WORDS, WORDS.strip())
    assert found.snippet == "Grüße. Can you confirm?"
    assert [one.filename for one in found.parsed.attachments] == ["smime.p7m"]


def test_what_is_called_otherwise_and_has_no_type_of_its_own_is_a_file() -> None:
    assert silent(digest(mail(DER, "application/octet-stream").replace(b"smime.p7m", b"smime.dat")))


@pytest.mark.parametrize(
    "file", [b"%PDF-1.4\r\n1 0 obj\r\n", b'<?xml version="1.0"?>\r\n<p:bill xmlns:p="x:y"/>']
)
@pytest.mark.parametrize("kind", ["application/pkcs7-mime", "application/octet-stream"])
def test_a_file_that_was_signed_is_no_text(file: bytes, kind: str) -> None:
    """As `bill.xml.p7m`; a message begins with its fields, or with the empty line behind none."""
    assert silent(digest(mail(signed(element(0x04, file)), kind)))


def test_a_long_text_is_cut() -> None:
    text = b"\r\n" + b"long words\r\n" * 40_000
    found = digest(mail(signed(element(0x04, text))))
    assert found.text_body is not None and len(found.text_body) == TEXT_CHARS


def test_a_signed_mail_that_takes_work_is_left_to_a_thread() -> None:
    many = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n\r\nx\r\n" * 200
    assert digest_at_once(mail(signed(element(0x04, many)))) is None
    assert digest_at_once(mail(DER)) is not None


def silent(found: Digest) -> bool:
    return (found.text_body, found.extracted_text, found.snippet) == (None, None, "")


@pytest.mark.parametrize(
    "structure",
    [
        ENVELOPED,
        b"",
        b"\x30",
        DER[:40],
        b"no structure at all",
        signed(element(0x24, element(0x04, b"x") * 5000)),
        b"\x30\xff" + b"\xff" * 200,
    ],
)
def test_what_holds_no_message_says_nothing(structure: bytes) -> None:
    assert silent(digest(mail(structure)))


@pytest.mark.parametrize("structure", [DER, STREAMED])
def test_a_structure_that_ends_anywhere_is_read_as_far_as_it_goes(structure: bytes) -> None:
    for octets in range(len(structure)):
        found = digest(mail(structure[:octets]))
        assert [one.size_bytes for one in found.parsed.attachments] == [octets]


def test_html_is_left_in_it_for_nobody_looks_there_for_what_it_hides() -> None:
    html = b"<p>Hello.</p><p style='font-size:0'>Pay the other account.</p>\r\n"
    found = digest(mail(signed(element(0x04, b"Content-Type: text/html\r\n\r\n" + html))))
    assert silent(found)


def test_words_beside_it_are_the_message() -> None:
    part = mail(DER).removeprefix(HEADER)
    raw = (
        HEADER
        + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nSee below.\r\n--b\r\n"
        + part
        + b"--b--\r\n"
    )
    assert digest(raw).text_body == "See below."
