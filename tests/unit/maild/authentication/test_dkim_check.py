"""DKIM signatures as others make them (dkimpy, RFC 6376, RFC 8463), and what strangers can do to them."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maild.authentication import dkim_check
from maild.authentication.dkim_check import MAX_FIELDS, MAX_SIGNATURES, DkimResult
from maild.authentication.domain_keys import MAX_RECORDS, DomainKeys, read_key
from maild.authentication.signatures import (
    MAX_NAMES,
    MAX_SIGNATURE_OCTETS,
    PublicKeys,
    SignedMessage,
    Unacceptable,
)
from maild.message.parsing.parse import parse
from tests.support.mails.signers import FIELDS, Signer, rsa_key, rsa_public_record, rsa_record
from tests.support.worlds.zone import Zone

NOW_S = 1_800_000_000.0
MESSAGE = (
    b"From: Ann <ann@author.test>\r\nTo: bot@ours.test\r\nSubject: Hello  there\r\n"
    b"Date: Sun, 22 Nov 2026 10:00:00 +0000\r\nMessage-ID: <1@author.test>\r\n\r\nHi,\r\n\r\nAnn  \r\n\r\n\r\n"
)
# RFC 6376, appendix A.2, and its public key, appendix C
DINNER = b"""\
DKIM-Signature: v=1; a=rsa-sha256; s=brisbane; d=example.com;
      c=simple/simple; q=dns/txt; i=joe@football.example.com;
      h=Received : From : To : Subject : Date : Message-ID;
      bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;
      b=AuUoFEfDxTDkHlLXSZEpZj79LICEps6eda7W3deTVFOk4yAUoqOB
        4nujc7YopdG5dWLSdNg6xNAZpOPr+kHxt1IrE+NahM6L/LbvaHut
        KVdkLLkpVaVVQPzeRDI009SO2Il5Lu7rDNH6mZckBdrIx0orEtZV
        4bmp/YzhwvcubU4=;
Received: from client1.football.example.com  [192.0.2.1]
      by submitserver.example.com with SUBMISSION;
      Fri, 11 Jul 2003 21:01:54 -0700 (PDT)
From: Joe SixPack <joe@football.example.com>
To: Suzie Q <suzie@shopping.example.net>
Subject: Is dinner ready?
Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)
Message-ID: <20030712040037.46341.5F8J@football.example.com>

Hi.

We lost the game. Are you hungry yet?

Joe.
""".replace(b"\n", b"\r\n")
DINNER_KEY = (
    "v=DKIM1; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDwIRP/UC3SBsEmGqZ9ZJW3/DkMoGeLnQg1fWn7/zYtIxN2SnFCjxOCKG9v3b"
    "4jYfcTNh5ijSsq631uBItLa7od+v/RtdC2UzJ1lWT947qR+Rcac2gbto/NMqJ0fzfVjH4OuKhitdY9tf6mcwGjaNBcWToIMmPSPDdQPNUYckc"
    "Q2QIDAQAB"
)
# RFC 8463, appendix A.3
FOOTBALL = b"""\
DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;
 d=football.example.com; i=@football.example.com;
 q=dns/txt; s=brisbane; t=1528637909; h=from : to :
 subject : date : message-id : from : subject : date;
 bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;
 b=/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11Bus
 Fa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==
From: Joe SixPack <joe@football.example.com>
To: Suzie Q <suzie@shopping.example.net>
Subject: Is dinner ready?
Date: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)
Message-ID: <20030712040037.46341.5F8J@football.example.com>

Hi.

We lost the game.  Are you hungry yet?

Joe.
""".replace(b"\n", b"\r\n")


@pytest.fixture
def zone() -> Zone:
    return Zone()


@pytest.fixture
def author(zone: Zone) -> Signer:
    return Signer(zone, "author.test")


async def checked(zone: Zone, raw: bytes, author_domain: str = "author.test") -> list[DkimResult]:
    message = SignedMessage(raw, parse(raw).header_length)
    claims = dkim_check.claims(message, author_domain, NOW_S)
    keys: list[PublicKeys | Unacceptable | None] = []
    for claim in claims:
        try:
            keys.append(None if claim.signature is None else await DomainKeys().find(zone, claim.signature))
        except Unacceptable as found:
            keys.append(found)
    return dkim_check.results(message, claims, keys)


async def result_of(zone: Zone, raw: bytes) -> tuple[str, str]:
    (found,) = await checked(zone, raw)
    return found.result, found.reason


async def test_the_example_of_rfc_6376_passes(zone: Zone) -> None:
    zone.add("brisbane._domainkey.example.com", DINNER_KEY)
    (found,) = await checked(zone, DINNER, "football.example.com")
    assert found == DkimResult(
        "pass", "example.com", "brisbane", "joe@football.example.com", "rsa", "AuUoFEfD"
    )


async def test_the_example_of_rfc_8463_passes(zone: Zone) -> None:
    zone.add(
        "brisbane._domainkey.football.example.com",
        "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
    )
    (found,) = await checked(zone, FOOTBALL)
    assert found == DkimResult(
        "pass", "football.example.com", "brisbane", "@football.example.com", "ed25519", "/gCrinpc"
    )


@pytest.mark.parametrize("header_form", [b"simple", b"relaxed"])
@pytest.mark.parametrize("body_form", [b"simple", b"relaxed"])
@pytest.mark.parametrize("selector", ["rsa", "ed"])
@pytest.mark.parametrize("body", [b"", b"\r\n", b"a \t b\r\n\r\n \r\nlast line", b"." * 70_000 + b"\r\n"])
async def test_what_others_sign_passes_and_breaks_with_a_word(
    zone: Zone, author: Signer, header_form: bytes, body_form: bytes, selector: str, body: bytes
) -> None:
    message = MESSAGE.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" + body
    raw = author.sign(message, selector, (header_form, body_form))
    assert await result_of(zone, raw) == ("pass", "")
    assert await result_of(zone, raw + b"more\r\n") == ("fail", "the body is not as it was signed")
    assert await result_of(zone, raw.replace(b"Hello", b"Hullo")) == ("fail", "signature did not verify")
    is_relaxed = header_form == b"relaxed"
    assert (await result_of(zone, raw.replace(b"Hello  there", b"Hello\r\n there")))[0] == (
        "pass" if is_relaxed else "fail"
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (rb"v=1", b"v=2", ("permerror", "unknown version")),
        (rb"a=rsa-sha256", b"a=rsa-sha1", ("permerror", "rsa-sha1 is no longer accepted")),
        (rb"a=rsa-sha256", b"a=rsa-md5", ("permerror", "unknown algorithm")),
        (rb"a=rsa-sha256", b"a=ed25519-sha256", ("permerror", "the key is of another type")),
        (rb"c=relaxed/relaxed", b"c=loose", ("permerror", "unknown canonicalisation")),
        (rb"d=author.test", b"d=", ("permerror", "malformed domain or selector")),
        (rb"d=author.test", b"d=a..b", ("permerror", "malformed domain or selector")),
        (
            rb"d=author.test;\s+i=@author.test",
            b"d=b.test; i=@b.test",
            ("permerror", "no key for the signature"),
        ),
        (rb"s=rsa;", b"s=*;", ("permerror", "malformed domain or selector")),
        (rb"i=@author.test", b"i=@other.test", ("permerror", "i= is not within d=")),
        (rb"q=dns/txt", b"q=http", ("permerror", "unknown query method")),
        (rb"t=\d+", b"t=1; x=2", ("fail", "signature expired")),
        (rb"t=\d+", b"t=x", ("permerror", "malformed time")),
        (rb"t=\d+", b"x=" + b"9" * 600, ("permerror", "malformed time")),
        (rb"t=\d+", b"t=3900000000; x=2900000000", ("permerror", "expired before it was signed")),
        (rb"t=\d+", b"t=2900000000; x=2900000000", ("permerror", "expired before it was signed")),
        (rb"h=from", b"h=sender", ("permerror", "From is not signed")),
        (rb"h=from", b"h=from" + b":x" * MAX_NAMES, ("permerror", "malformed list of fields")),
        (rb"h=[^;]*", b"h= : :", ("permerror", "From is not signed")),
        (rb"bh=", b"bh=!", ("permerror", "malformed bh=")),
        (rb"b=[^;]*\Z", b"b=", ("permerror", "malformed b=")),
        (rb"b=[^;]*\Z", b"b=YQ==", ("fail", "signature did not verify")),
        (rb"b=[^;]*\Z", b"b=" + b"YWFh" * MAX_SIGNATURE_OCTETS, ("permerror", "malformed b=")),
        (rb"v=1;", b"v=1; v=1;", ("permerror", "malformed tags")),
        (rb"v=1;", b"v=1; \xff=1;", ("permerror", "malformed tags")),
    ],
)
async def test_a_signature_that_is_not_right_says_why(
    zone: Zone, author: Signer, old: bytes, new: bytes, expected: tuple[str, str]
) -> None:
    field, _, rest = author.sign(MESSAGE, identity=b"@author.test").partition(b"\r\nFrom:")
    changed = re.sub(old, new, field, count=1)
    assert changed != field
    assert await result_of(zone, changed + b"\r\nFrom:" + rest) == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (rb"h=from :", b"h=from : : "),
        (rb"h=from", b"h=:from"),
        (rb"(h=[^;]*);", rb"\1:;"),
        (rb"c=relaxed/relaxed", b"c=Relaxed/Relaxed"),
        (rb"q=dns/txt", b"q=DNS/TXT"),
        (rb"t=\d+", b"t=1790000000123"),  # in milliseconds
        (rb"t=\d+", b"x=99999999999999"),
        (rb"t=\d+", b"t=1700000000; x=1900000000"),
        (rb"(bh=[^;=]+)=;", rb"\1;"),
    ],
)
async def test_what_every_other_verifier_reads_is_read(
    zone: Zone, author: Signer, old: bytes, new: bytes
) -> None:
    signed = author.resign(author.sign(MESSAGE), old, new)
    assert await result_of(zone, signed) == ("pass", "")


@pytest.mark.parametrize("written", [b"relaxed", b"relaxed/"])
async def test_a_body_of_which_no_form_is_said_is_simple(zone: Zone, author: Signer, written: bytes) -> None:
    signed = author.sign(MESSAGE, forms=(b"relaxed", b"simple"))
    raw = author.resign(signed, rb"relaxed/simple", written)
    assert await result_of(zone, raw) == ("pass", "")
    assert (await result_of(zone, raw.replace(b"Ann  \r\n", b"Ann \r\n")))[0] == "fail"
    bare = author.resign(author.sign(MESSAGE), rb"relaxed/relaxed", written)
    assert (await result_of(zone, bare))[0] == "fail"


@pytest.mark.parametrize("selector", ["rsa", "ed"])
async def test_base64_may_lack_its_filling(zone: Zone, author: Signer, selector: str) -> None:
    """RFC 6376 §2.10 has the equals signs in brackets."""
    field, _, rest = author.sign(MESSAGE, selector).partition(b"\r\nFrom:")
    assert field.endswith(b"=")
    (record,) = await zone.txt(f"{selector}._domainkey.author.test")
    bare = Zone({f"{selector}._domainkey.author.test": record.decode().rstrip("=")})
    assert await result_of(bare, field.rstrip(b"=") + b"\r\nFrom:" + rest) == ("pass", "")


async def test_a_signature_over_part_of_the_body_does_not_count(zone: Zone, author: Signer) -> None:
    raw = author.sign(MESSAGE, length=True)
    assert (await result_of(zone, raw))[0] == "policy"
    assert (await result_of(zone, raw + b"and more\r\n"))[0] == "policy"


async def test_a_from_that_was_added_breaks_the_signature(zone: Zone, author: Signer) -> None:
    raw = author.sign(MESSAGE)
    forged = b"From: boss@bank.test\r\n"
    assert (await result_of(zone, raw.replace(b"\r\n\r\n", b"\r\n" + forged + b"\r\n", 1)))[0] == "fail"
    assert (await result_of(zone, forged + raw))[0] == "fail"
    assert parse(forged + raw).from_ is None


@pytest.mark.parametrize("name", [b"Subject", b"To", b"Date", b"Content-Type", b"reply-to", b"MIME-Version"])
async def test_another_field_of_a_kind_that_stands_once_breaks_the_signature(
    zone: Zone, author: Signer, name: bytes
) -> None:
    message = b"MIME-Version: 1.0\r\nContent-Type: text/plain\r\nReply-To: ann@author.test\r\n" + MESSAGE
    added = name + b": something else\r\n"
    raw = author.sign(message, fields=[*{*FIELDS, name.title().replace(b"Mime", b"MIME")}])
    assert await result_of(zone, raw) == ("pass", "")
    reason = f"there is another {name.decode().lower()} than the signed one"
    assert await result_of(zone, added + raw) == ("fail", reason)
    assert await result_of(zone, raw.replace(b"\r\n\r\n", b"\r\n" + added + b"\r\n", 1)) == ("fail", reason)
    # What says the same twice shows the same, whichever of the two a reader takes.
    again = re.search(rb"(?mi)^" + name + rb":[^\n]*\n", raw)
    assert again is not None
    copy = again[0].replace(b": ", b":  ")
    assert await result_of(zone, copy + raw) == ("pass", "")
    # Signed as often as it is there: the signer saw both.
    both = author.sign(added + message, fields=[*FIELDS, name, name])
    assert await result_of(zone, both) == ("pass", "")


async def test_a_field_that_is_not_signed_may_stand_twice(zone: Zone, author: Signer) -> None:
    """Who can add one that no signature covers can as well change the one that is there."""
    raw = author.sign(b"Sender: list@author.test\r\nSender: owner@author.test\r\n" + MESSAGE)
    assert await result_of(zone, raw) == ("pass", "")


async def test_a_dns_that_does_not_answer_is_no_verdict(zone: Zone, author: Signer) -> None:
    raw = author.sign(MESSAGE)
    zone.temporary.add("rsa._domainkey.author.test")
    assert await result_of(zone, raw) == ("temperror", "DNS does not answer for the key")


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ("v=DKIM1; k=rsa; p=", "the key was revoked"),
        ("v=DKIM2; k=rsa; p=AAAA", "malformed key record"),
        ("k=rsa", "malformed key record"),
        ("v=spf1 -all", "malformed key record"),
        ("v=DKIM1; k=rsa; p=AAAA", "malformed key"),
        ("v=DKIM1; k=rsa; p=!!!", "malformed key"),
        ("v=DKIM1; k=ed25519; p=AAAA", "malformed key"),
        ("v=DKIM1; k=dsa; p=AAAA", "unknown key type"),
        ("v=DKIM1; h=sha1; p=AAAA", "the key is not for sha256"),
        ("v=DKIM1; s=tlsrpt; p=AAAA", "the key is not for mail"),
        ("v=DKIM1; p=" + "A" * 5000, "malformed key record"),
        ("v=DKIM1; p=\u00e9", "malformed key"),
        ("v=DKIM1; \u00e9=1; p=AAAA", "malformed key record"),
    ],
)
def test_key_records_that_are_not_right(record: str, reason: str) -> None:
    with pytest.raises(Unacceptable) as found:
        read_key(record.encode())
    assert (found.value.result, found.value.reason) == ("permerror", reason)


@pytest.mark.parametrize("coding", ["utf-8", "latin-1"])
def test_notes_beside_a_key_may_be_in_any_language(coding: str) -> None:
    record = rsa_record(rsa_key(1024)).replace("k=rsa", "k=rsa; n=Schlüssel für März")
    assert read_key(record.encode(coding)).key_type == "rsa"


@pytest.mark.parametrize(
    "other", ["v=DKIM1; p=", "v=DKIM1; k=ed25519; p=AAAA", "v=DMARC1; p=none", "of another", "words"]
)
@pytest.mark.parametrize("is_first", [True, False])
async def test_of_several_key_records_each_is_tried(other: str, is_first: bool) -> None:
    """Two hosts of a domain with one selector, for one: DNS tells them in any order (RFC 6376 §6.1.2)."""
    published = Zone()
    signer = Signer(published, "author.test")
    (own,) = await published.txt("rsa._domainkey.author.test")
    records = [rsa_record(rsa_key(1024)) if other == "of another" else other, own.decode()]
    zone = Zone({"rsa._domainkey.author.test": records if is_first else records[::-1]})
    assert await result_of(zone, signer.sign(MESSAGE)) == ("pass", "")
    changed = signer.sign(MESSAGE).replace(b"Hello", b"Hullo")
    assert await result_of(zone, changed) == ("fail", "signature did not verify")


async def test_few_key_records_are_tried() -> None:
    published = Zone()
    signer = Signer(published, "author.test")
    (own,) = await published.txt("rsa._domainkey.author.test")
    others = [rsa_record(rsa_key(1024))] * MAX_RECORDS
    zone = Zone({"rsa._domainkey.author.test": ["words", *others, own.decode()]})
    assert await result_of(zone, signer.sign(MESSAGE)) == ("fail", "signature did not verify")


def test_keys_that_are_too_weak_or_cost_too_much() -> None:
    assert read_key(rsa_record(rsa_key(1024)).encode()).key_type == "rsa"
    with pytest.raises(Unacceptable, match="8192 bits"):
        read_key(EIGHT_THOUSAND_BITS.encode())
    with pytest.raises(Unacceptable, match="512 bits"):
        read_key(FIVE_HUNDRED_BITS.encode())
    with pytest.raises(Unacceptable, match="huge exponent"):
        read_key(rsa_public_record(2**64 + 13, rsa_key().public_key().public_numbers().n).encode())


async def test_a_key_for_its_very_domain_does_not_speak_for_names_below(zone: Zone) -> None:
    Signer(zone, "author.test")
    name = "rsa._domainkey.author.test"
    (record,) = await zone.txt(name)
    strict = Zone({name: record.decode() + "; t=s"})
    below = Signer(Zone(), "author.test").sign(MESSAGE, identity=b"@mail.author.test")
    same = Signer(Zone(), "author.test").sign(MESSAGE, identity=b"ann@author.test")
    assert await result_of(strict, below) == ("permerror", "the key is not for names below its domain")
    assert (await result_of(strict, same))[0] == "pass"


async def test_the_authors_signatures_come_first_and_few_are_verified(zone: Zone, author: Signer) -> None:
    raw = author.sign(MESSAGE)
    bogus = b"DKIM-Signature: v=1; a=rsa-sha256; d=x%d.test; s=s; h=from; bh=YQ==; b=YQ==\r\n"
    raw = b"".join(bogus % n for n in range(MAX_FIELDS - 1)) + raw
    found = await checked(zone, raw)
    assert len(found) == MAX_SIGNATURES
    assert (found[0].result, found[0].domain) == ("pass", "author.test")
    assert zone.asked.total() == 1  # what is over another body costs no look-up
    found = await checked(zone, bogus % 0 + raw)
    assert "author.test" not in [one.domain for one in found]  # behind the last that is looked at


@pytest.mark.parametrize("signer", ["mail.author.test", "author.test", "test"])
async def test_signatures_of_names_above_and_below_the_author_come_first(zone: Zone, signer: str) -> None:
    raw = Signer(zone, signer).sign(MESSAGE)
    bogus = b"DKIM-Signature: v=1; a=rsa-sha256; d=x%d.example; s=s; h=from; bh=YQ==; b=YQ==\r\n"
    found = await checked(zone, b"".join(bogus % n for n in range(MAX_SIGNATURES)) + raw)
    assert (found[0].result, found[0].domain) == ("pass", signer)


async def test_a_signature_signs_other_signatures_but_not_itself(zone: Zone, author: Signer) -> None:
    other = Signer(zone, "list.test")
    raw = other.sign(author.sign(MESSAGE), fields=[*FIELDS, b"DKIM-Signature"])
    assert [one.result for one in await checked(zone, raw)] == ["pass", "pass"]


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_no_octets_make_it_raise(data: st.DataObject) -> None:
    words = [
        b"DKIM-Signature:", b"v=1;", b"a=rsa-sha256;", b"d=a.test;", b"s=s;", b"h=from;", b"bh=;", b"b=YQ==;",
        b"From: a@a.test", b"\r\n", b" ", b"\xff", b"=", b";", b"i=@", b"t=1;", b"\x00", b"c=/;",
    ]  # fmt: skip
    raw = b"".join(data.draw(st.lists(st.sampled_from(words), max_size=40)))
    message = SignedMessage(raw, parse(raw).header_length)
    for claim in dkim_check.claims(message, "a.test", NOW_S):
        assert claim.signature is not None or claim.described.result != "pass"


EIGHT_THOUSAND_BITS = (
    "v=DKIM1; p=MIIEIjANBgkqhkiG9w0BAQEFAAOCBA8AMIIECgKCBAEAmV/G6GNxAlINGE0O46ShlQ54f8fvjaj1MuN483Lax9EDv"
    "rNzH30wSeDopI/4tkxO7sXpZdIQ3oLCtwsOjGEbV0gmiN9c11yF5tPymEH9x7Z6SVjtkYcU6+i788BomE5Z9SQDQ/fCw8xpeLXna"
    "4zVqhHvHvCiJm6zJLTxuHq0t38+zKxeECGYy1W6HW9E59GlYr1LJe23vyckrtESSTLltocCklz5rUA+U4IYwcldC2TWiwq+z3xvz"
    "waroaPqW1tjsM8A5cggV4n68miJSObcQb+YfKwXD/soZvax3mozNMh8Am211JKZqWRZLJDcGFypWyXX+0Nw7zehKyBOtGada7gpc"
    "yXqVXUo2egtOIAqbAYuyrfw75hEIfHydZg+m7C5IlrqGPvebISF8BovVvYZ6qdeYj+LjsqEQQkMSrJCwz0HIWrcfbscNv8hbAdOE"
    "EJ3ikyPVcnsUtJL+5MPvG7t5QO5Zwin3tmWF8hxEmKZV/kYtNB1b4Po1m6mo8b2pB4r2ZjQZGOw/2YlAFNgThmRvIvCJnFtvF0uk"
    "ufhJy19hhzremB67mbiCVrP6PdK/YENgpnfJRbpsk3/VGx2WqhplUqTwoTCbfjs1xHun20V5epb43/ESuPAPGYHuPM7BhlAvW3my"
    "dkgBz1qulB1v7CM+O22tpLx6CF+zBE3zgrO/OX2c/d8JG9lpPia7+LW2TL1B868lxgMbJTIRz4kGlUvv8kg1hjslKjLz4rBjnXtx"
    "8qqlag+8L8uLL8Ja8KrmRjY6Rl3/F/jF+/nPuePynzDjpfM1VUDkExEBANkM+U5Ay5wORP8+2GpjgnX+zQ9iFWq5oUIRdlv0U13W"
    "NZ2ho3GOyRCGzRMOKVNXMmJJGcJMOzWkWmzku4naow/azPBVMEW/6LktLZP6JhqBJ/oJASKwhoPqaaBH80kSsRRfw0PG9X8p5Yaz"
    "sAMLt8IH+ZMtkjIp3MM0uTy00wFAicZfa36j6t+AHP8VZVA3rM7hONiYyAO45M2H0hfx2d97X3DJUJMMEve3tyTPDgn5+w/dwC1h"
    "SfIzoxbl8icU0pCE/dDBWW2MYuTDBCSp/ys1xsb8G4ZnEiWVfWlY9SV4/P7T0I3yt8x/ao31H2XYHygnFTRouUUpHrbLcYlI8Hok"
    "s6B1HBlf7GYaHIH4u+7fVcfc4dLGchKYwOas7ik8VrkKwpcW58aubeENXL/5E8rOjN/IE3Ulo2nRZtRvA329wV28yGLlWRMs6NZM"
    "zGqHRytG/7CMAYfeGspjzz91TmpIzfOw7lxy+bN9XmaUl4p0A7HoiO/mHgNnCdVJfPgfTZ1nuqXJCm7iWp44gn0WeeksrXvCqE2y"
    "SGJnX0mWjlyiK9hy5EvAwIDAQAB"
)
FIVE_HUNDRED_BITS = (
    "v=DKIM1; p=MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAMDf/ZxTGzw3h1hXtbplPb3XIBK2ggpaQBVwSw2VAHWU+PQ1Bal67Vopj"
    "3IwlQXtbW0NIk/IZuKP+hv/XyRgo9ECAwEAAQ=="
)


def test_what_stands_for_a_key_that_is_late_keeps_no_message() -> None:
    late = Unacceptable("temperror", "DNS did not answer in time")
    message = SignedMessage(DINNER, parse(DINNER).header_length)
    claims = dkim_check.claims(message, "example.com", NOW_S)

    (found,) = dkim_check.results(message, claims, [late])

    assert found.result == "temperror"
    assert late.__traceback__ is None
