"""Any octets in signatures, keys, policies and seals: a result, no exception, and work in proportion to their size."""

import email
import email.policy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maild.authentication import arc_check, dkim_check
from maild.authentication.arc_check import ArcChain, ArcResult
from maild.authentication.dkim_check import MAX_SIGNATURES, DkimResult
from maild.authentication.dmarc import DmarcRecord, DmarcResult, read_record, targets
from maild.authentication.domain_keys import DomainKey, read_key
from maild.authentication.signatures import SignedMessage, Unacceptable
from maild.authentication.spf import SpfResult
from maild.authentication.verdict import Findings, dmarc_passed, refusal_text, results_field, told_of
from maild.message.parsing.parse import parse
from tests.support.laws.work import Bomb, assert_proportional, bomb

RESULTS = {"pass", "fail", "policy", "neutral", "temperror", "permerror"}
POLICIES = {"none", "quarantine", "reject", None}
HASH = b"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="  # of an empty body

TAGS = [
    *(
        "v=1",
        "v=DMARC1",
        "v=DKIM1",
        "a=rsa-sha256",
        "a=ed25519-sha256",
        "c=relaxed/relaxed",
        "c=simple",
        "d=x.test",
    ),
    *(
        "d=.",
        "d=\u00fc.test",
        "d=*.test",
        "s=s",
        "s=a..b",
        "h=from",
        "h=from:from:x",
        "h=:",
        "b=AAAA",
        "b=",
        "b=\u00fc",
    ),
    *(
        "bh=" + HASH.decode(),
        "bh=!",
        "i=1",
        "i=2",
        "i=@x.test",
        "i=99",
        "i=0",
        "cv=none",
        "cv=pass",
        "cv=fail",
    ),
    *(
        "t=1",
        "t=y:s",
        "t=99999999999999",
        "x=1",
        "x=9999999999",
        "l=0",
        "q=dns/txt",
        "k=rsa",
        "k=ed25519",
        "s=email",
    ),
    *(
        "p=",
        "p=reject",
        "p=AAAA",
        "sp=none",
        "np=what",
        "adkim=s",
        "psd=y",
        "psd=n",
        "rua=mailto:a@b.test",
        "=",
        ";",
    ),
]
TAG_LISTS = st.one_of(
    st.lists(st.sampled_from(TAGS), max_size=16).map(lambda tags: "; ".join(tags).encode()),
    st.lists(st.sampled_from(TAGS), max_size=16).map(lambda tags: ";\r\n\t".join(tags).encode()),
    st.binary(max_size=80).map(lambda octets: b"v=1;" + octets),
    st.binary(max_size=80),
)
NAMES = [
    b"DKIM-Signature",
    b"ARC-Seal",
    b"ARC-Message-Signature",
    b"ARC-Authentication-Results",
    b"From",
    b"x y",
]
FIELDS = st.lists(st.tuples(st.sampled_from(NAMES), TAG_LISTS), max_size=12)
MESSAGES = st.one_of(
    FIELDS.map(lambda fields: b"".join(b"%s: %s\r\n" % one for one in fields) + b"\r\n"),
    st.binary(max_size=300),
)
WORDS = st.one_of(
    st.text(max_size=60),
    st.sampled_from(
        ["x.test", 'a"b\\', "a\r\nEvil: yes", "\r\n\r\nbody", "(((", ";", "x" * 5000, "\u2028", "\x00"]
    ),
)
ANY_RESULT = st.sampled_from([*RESULTS, "none"])
KEY_TYPES = st.sampled_from(["rsa", "ed25519", ""])
DKIM = st.builds(DkimResult, st.sampled_from(sorted(RESULTS)), WORDS, WORDS, WORDS, KEY_TYPES, WORDS, WORDS)
FINDINGS = st.builds(
    Findings,
    WORDS,
    st.builds(SpfResult, ANY_RESULT, WORDS, st.sampled_from(["helo", "mailfrom"]), st.none()),
    st.lists(DKIM, max_size=MAX_SIGNATURES),
    st.builds(ArcResult, st.sampled_from(["none", "pass", "fail"]), WORDS),
    st.builds(DmarcResult, ANY_RESULT, st.sampled_from(["none", "quarantine", "reject"]), WORDS, WORDS),
)


def signed(raw: bytes) -> SignedMessage:
    return SignedMessage(raw, parse(raw).header_length)


@given(MESSAGES, WORDS)
def test_any_signatures(raw: bytes, author: str) -> None:
    message = signed(raw)
    claims = dkim_check.claims(message, author, 1_800_000_000)
    assert len(claims) <= MAX_SIGNATURES
    for claim in claims:
        assert claim.described.result in RESULTS
        if claim.signature is not None:
            assert b"dkim-signature:" in message.covered(claim.signature).lower()


@given(MESSAGES)
def test_any_chain(raw: bytes) -> None:
    message = signed(raw)
    chain = arc_check.read_chain(message)
    if isinstance(chain, ArcResult):
        assert chain.result in ("none", "fail")
        return
    assert isinstance(chain, ArcChain)
    keys: list[Any] = [Unacceptable("permerror", "no key")] * len(chain.signatures())
    assert arc_check.verify_chain(message, chain, keys).result == "fail"


@given(TAG_LISTS)
def test_any_key(record: bytes) -> None:
    try:
        found = read_key(record)
    except Unacceptable as error:
        assert error.result == "permerror"
    else:
        assert isinstance(found, DomainKey)


@given(WORDS, st.lists(st.one_of(TAG_LISTS, TAG_LISTS.map(lambda text: b"v=DMARC1;" + text)), max_size=3))
def test_any_policy(domain: str, records: list[bytes]) -> None:
    assert len(list(targets(domain))) <= 8
    found = read_record(domain, records)
    if found is not None:
        assert isinstance(found, DmarcRecord)
        assert {found.policy, found.subdomain_policy, found.missing_policy} <= POLICIES


@given(
    WORDS,
    st.one_of(WORDS, st.lists(st.sampled_from(["dmarc=pass", "header.from=x.test", ";", " "])).map("".join)),
)
def test_any_results_of_others(domain: str, results: str) -> None:
    assert dmarc_passed(results, domain) in (True, False)


@given(FINDINGS)
def test_what_we_say_is_one_field_and_one_line_of_log_and_reply(found: Findings) -> None:
    field = results_field("mx.test", found)
    assert all(line.startswith("\t") for line in field.split("\r\n")[1:])
    assert field.replace("\r\n\t", "").isprintable() and field.isascii()
    (name, value), *others = email.message_from_string(
        f"{field}\r\n\r\n", policy=email.policy.compat32
    ).items()
    assert (name, others) == ("Authentication-Results", [])
    assert value.startswith("mx.test;")
    reply = refusal_text(found)
    assert reply.isascii() and reply.isprintable()
    told = told_of(found)
    assert f"{told['spf']}{told['dmarc']}".isprintable()


# Work, at n and 2n ----------------------------------------------------------------------------------------

SIGNATURE = b"v=1; a=rsa-sha256; c=relaxed/relaxed; d=x.test; s=s; bh=%s; b=AAAA; h=from" % HASH
CHAIN = b"ARC-Authentication-Results: i=1; x.test\r\nARC-Message-Signature: i=1; %s\r\nARC-Seal: i=1; cv=none; %s\r\n"


def octets(unit: bytes, before: bytes = b"", after: bytes = b"") -> Bomb[bytes]:
    return Bomb(unit, before, after)


HEADERS = [
    octets(b"DKIM-Signature: %s\r\n" % SIGNATURE, after=b"\r\n"),
    octets(b";", b"DKIM-Signature: ", b"\r\n\r\n"),
    octets(b"a=b;", b"DKIM-Signature: ", b"\r\n\r\n"),
    octets(b":x", b"DKIM-Signature: %s" % SIGNATURE, b"\r\n\r\n"),
    octets(b" \r\n ", b"DKIM-Signature: %s" % SIGNATURE, b"\r\n\r\n"),
    octets(b"from: x\r\n", b"DKIM-Signature: %s%s\r\n" % (SIGNATURE, b":from" * 900), b"\r\n"),
    octets(b"ARC-Seal: i=1; %s\r\n" % SIGNATURE, after=b"\r\n"),
    octets(b"ARC-Authentication-Results: i=1;\r\n", after=b"\r\n"),
    octets(b" ", b"ARC-Authentication-Results: ", b"i=1\r\n\r\n"),
    octets(b"i =", b"ARC-Seal: ", b"\r\n\r\n"),
    octets(b"x", CHAIN % (SIGNATURE, SIGNATURE) + b"From: ", b"\r\n\r\n"),
]


@pytest.mark.parametrize("header", HEADERS, ids=lambda one: (one.before[:20] + one.unit[:20]).decode())
def test_fields_are_read_in_proportion(header: Bomb[bytes]) -> None:
    def read(raw: bytes) -> object:
        message = SignedMessage(raw, len(raw))
        claims = dkim_check.claims(message, "x.test", 0)
        covered = [message.covered(claim.signature) for claim in claims if claim.signature is not None]
        return covered, arc_check.read_chain(message)

    read(header.whole())
    assert_proportional(read, header)


@pytest.mark.parametrize("unit", [b";", b"a=b;", b"=", b" ", b":", b"p=", b"\xff"])
@pytest.mark.parametrize("before", [b"v=DKIM1; p=", b"v=DMARC1; p=", b"v=DKIM1; h=", b""])
def test_records_are_read_in_proportion(unit: bytes, before: bytes) -> None:
    def read(text: bytes) -> object:
        try:
            return read_record("x.test", [text]), read_key(text)
        except Unacceptable:
            return None

    read(octets(unit, before).whole())
    assert_proportional(read, octets(unit, before))


@pytest.mark.parametrize(
    "unit",
    [";", "dmarc=pass ", "dmarc=pass;", "header.from=x ", "dmarc=pass header.from=y;", " ", "(", '"\\'],
)
def test_results_of_others_are_read_in_proportion(unit: str) -> None:
    dmarc_passed(bomb(unit).whole(), "x.test")
    assert_proportional(lambda text: dmarc_passed(text, "x.test"), bomb(unit))
