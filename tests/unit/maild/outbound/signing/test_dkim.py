"""Our signatures, verified by software that we did not write."""

import base64
import re
import shutil
import subprocess
import time
from pathlib import Path

import dkim as dkimpy
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from hypothesis import given, settings
from hypothesis import strategies as st

from maild.outbound.signing import dkim
from maild.outbound.signing.content import with_crlf

DER, PUBLIC = dkim.generate_key()
KEY = dkim.SigningKey("ours.test", "s1", dkim.load_key(DER))
RECORD = f"v=DKIM1; k=rsa; p={PUBLIC}".encode()
WEEK_S = 7 * 86400
LASTING = KEY._replace(lasts_s=WEEK_S)

MESSAGE = (
    b"Received: from a by b\r\nFrom: Bot <bot@ours.test>\r\nTo: you@there.test,\r\n\tother@there.test\r\n"
    b"Subject:   folded\r\n  and  spaced \t out\r\nDate: Sat, 21 Nov 2026 10:00:00 +0000\r\n"
    b"Message-ID: <1@ours.test>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"List-Unsubscribe: <https://ours.test/u?t=x>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"
    b"\r\nhello  \t there \r\n\r\n.\r\n \r\nbye\t\r\n\r\n\r\n"
)


SECOND_DER, SECOND_PUBLIC = dkim.generate_ed25519_key()
SECOND = dkim.SigningKey("ours.test", "e1", dkim.load_key(SECOND_DER))
BOTH = KEY._replace(second=SECOND)
RECORDS = {
    b"s1._domainkey.ours.test.": RECORD,
    b"e1._domainkey.ours.test.": f"v=DKIM1; k=ed25519; p={SECOND_PUBLIC}".encode(),
}


def signed(raw: bytes, at_s: int = 1_790_000_000) -> bytes:
    return dkim.sign(raw, KEY, at_s)[0] + raw


def verifies(raw: bytes) -> bool:
    return bool(dkimpy.verify(raw, dnsfunc=lambda name, timeout=5: RECORD))


BODIES = {
    "usual": MESSAGE,
    "no body": MESSAGE.partition(b"\r\n\r\n")[0] + b"\r\n\r\n",
    "blank lines only": MESSAGE.partition(b"\r\n\r\n")[0] + b"\r\n\r\n\r\n \r\n\r\n",
    "8-bit": MESSAGE + "grüße".encode() + b"\r\n",
    "a subject twice": b"Subject: other\r\n" + MESSAGE,
}


@pytest.mark.parametrize("name", BODIES)
def test_dkimpy_verifies(name: str) -> None:
    assert verifies(signed(BODIES[name]))


@pytest.mark.interop
@pytest.mark.parametrize(
    "name", [name for name in BODIES if name != "a subject twice"]
)  # which it refuses to read
def test_opendkim_verifies(name: str, tmp_path: Path) -> None:
    said = opendkim(signed(BODIES[name]), tmp_path)
    assert b"verification (s=s1, d=ours.test, 2048-bit key" in said
    assert b"succeeded" in said


@pytest.mark.interop
@pytest.mark.parametrize(("age_s", "says"), [(0, b"succeeded"), (WEEK_S + 3600, b"signature expired")])
def test_opendkim_heeds_the_end_of_a_signature(age_s: int, says: bytes, tmp_path: Path) -> None:
    at_s = int(time.time()) - age_s
    assert says in opendkim(dkim.sign(MESSAGE, LASTING, at_s)[0] + MESSAGE, tmp_path)


def opendkim(raw: bytes, folder: Path) -> bytes:
    """What it says of a message."""
    tool = shutil.which("opendkim")
    if tool is None:
        pytest.skip("opendkim is not installed: only dkimpy verifies our signatures here")
    (folder / "keys").write_text(f"s1._domainkey.ours.test {RECORD.decode()}\n")
    (folder / "conf").write_text(f"Mode v\nTestPublicKeys {folder}/keys\n")
    (folder / "message").write_bytes(raw.replace(b"\r\n", b"\n"))
    command = [tool, "-t", str(folder / "message"), "-x", str(folder / "conf")]
    return subprocess.run(command, capture_output=True, check=False).stdout


@pytest.mark.parametrize("name", BODIES)
def test_dkimpy_verifies_both_signatures(name: str) -> None:
    fields, _ = dkim.sign(BODIES[name], BOTH, 1_790_000_000)
    assert re.findall(rb"a=(\S+);", fields) == [b"rsa-sha256", b"ed25519-sha256"]
    message = dkimpy.DKIM(fields + BODIES[name])
    for number in range(2):
        assert message.verify(idx=number, dnsfunc=lambda asked, timeout=5: RECORDS[asked])
    broken = dkimpy.DKIM(fields + BODIES[name].replace(b"ours.test>", b"evil.test>", 1))
    for number in range(2):
        assert not broken.verify(idx=number, dnsfunc=lambda asked, timeout=5: RECORDS[asked])


@pytest.mark.interop
def test_opendkim_takes_the_first_whatever_it_makes_of_the_second(tmp_path: Path) -> None:
    tool = shutil.which("opendkim")
    if tool is None:
        pytest.skip("opendkim is not installed: only dkimpy verifies our signatures here")
    keys = [f"{name.decode().rstrip('.')} {record.decode()}\n" for name, record in RECORDS.items()]
    (tmp_path / "keys").write_text("".join(keys))
    (tmp_path / "conf").write_text(f"Mode v\nTestPublicKeys {tmp_path}/keys\n")
    fields, _ = dkim.sign(MESSAGE, BOTH, 1_790_000_000)
    (tmp_path / "message").write_bytes((fields + MESSAGE).replace(b"\r\n", b"\n"))
    command = [tool, "-t", str(tmp_path / "message"), "-x", str(tmp_path / "conf")]
    done = subprocess.run(command, capture_output=True, check=False)
    assert b"verification (s=s1, d=ours.test, 2048-bit key" in done.stdout, done
    assert b"succeeded" in done.stdout, done


def test_the_second_key_has_the_32_octets_of_its_record() -> None:
    assert len(base64.b64decode(SECOND_PUBLIC)) == 32  # RFC 8463 §4.2


@given(st.binary(max_size=300))
@settings(max_examples=60, deadline=None)
def test_any_body_verifies(body: bytes) -> None:
    raw = with_crlf(MESSAGE.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" + body)
    assert verifies(signed(raw))


@pytest.mark.parametrize(
    "field",
    [
        b"From: evil@x.test",
        b"Subject: other",
        b"To: all@x.test",
        b"Reply-To: evil@x.test",
        b"Cc: c@x.test",
        b"List-Unsubscribe: <https://evil.test>",
        b"Content-Type: text/html",
        b"References: <x@y>",
    ],
)
def test_a_field_added_afterwards_breaks_the_signature(field: bytes) -> None:
    message = signed(MESSAGE)
    head, _, body = message.partition(b"\r\n\r\n")
    assert not verifies(field + b"\r\n" + message)
    assert not verifies(head + b"\r\n" + field + b"\r\n\r\n" + body)


def test_what_the_field_says() -> None:
    field = dkim.sign(MESSAGE, KEY, 1_790_000_000)[0]
    assert all(len(line) <= 78 for line in field.split(b"\r\n"))
    tags = dict(
        re.sub(rb"\s", b"", part).split(b"=", 1) for part in field.partition(b":")[2].rstrip().split(b";")
    )
    assert (tags[b"a"], tags[b"c"], tags[b"d"], tags[b"s"]) == (
        b"rsa-sha256",
        b"relaxed/relaxed",
        b"ours.test",
        b"s1",
    )
    assert (tags[b"t"], b"l" in tags) == (b"1790000000", False)
    names = tags[b"h"].split(b":")
    assert (names.count(b"from"), names.count(b"cc"), names.count(b"list-unsubscribe-post")) == (2, 1, 2)
    assert b"received" not in names


@pytest.mark.parametrize("key", [LASTING, LASTING._replace(second=SECOND._replace(lasts_s=WEEK_S))])
def test_a_signature_says_when_it_ends_and_nobody_can_say_otherwise(key: dkim.SigningKey) -> None:
    now_s = int(time.time())
    fields = dkim.sign(MESSAGE, key, now_s)[0]
    assert all(len(line) <= 78 for line in fields.split(b"\r\n"))
    assert fields.count(b"t=%d; x=%d;" % (now_s, now_s + WEEK_S)) == len(key.selectors)
    for later in (b"x=%d" % (now_s + 2 * WEEK_S), b"t=%d" % (now_s + 1)):
        changed = re.sub(rb"\b%s=\d+" % later[:1], later, fields)
        assert verifies(fields + MESSAGE) and not verifies(changed + MESSAGE)
    dropped = re.sub(rb" x=\d+;", b"", fields)
    assert not verifies(dropped + MESSAGE)


def test_a_signature_that_ended_is_none() -> None:
    long_ago_s = int(time.time()) - 2 * WEEK_S
    assert verifies(signed(MESSAGE, long_ago_s))
    assert not verifies(dkim.sign(MESSAGE, LASTING, long_ago_s)[0] + MESSAGE)


def test_a_body_of_blanks_takes_no_quadratic_time() -> None:
    # dkimpy's own canonicalisation takes minutes for this one.
    raw = b"From: a@ours.test\r\n\r\n" + b" " * 2_000_000 + b"x\r\n"
    assert len(dkim.sign(raw, KEY, 1)[1]) == 32


def test_the_key_is_rsa_2048_in_pkcs8() -> None:
    key = dkim.load_key(DER)
    assert isinstance(key, rsa.RSAPrivateKey) and key.key_size == 2048
    assert base64.b64decode(PUBLIC).startswith(b"\x30\x82\x01\x22")
