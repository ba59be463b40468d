"""Chains of ARC as dkimpy makes them, and what can be wrong with one (RFC 8617 §5.2)."""

import re
from collections.abc import Callable

import pytest

from maild.authentication.arc_check import MAX_SEALERS, ArcChain, ArcResult, read_chain, verify_chain
from maild.authentication.domain_keys import DomainKeys
from maild.authentication.signatures import PublicKeys, SignedMessage, Unacceptable
from maild.authentication.verdict import dmarc_passed
from maild.message.parsing.parse import parse
from tests.support.mails.signers import Signer
from tests.support.worlds.zone import Zone
from tests.unit.maild.authentication.test_dkim_check import MESSAGE

SEEN = "dmarc=pass header.from=author.test"


async def checked(zone: Zone, raw: bytes) -> ArcResult:
    message = SignedMessage(raw, parse(raw).header_length)
    chain = read_chain(message)
    if not isinstance(chain, ArcChain):
        return chain
    keys: list[PublicKeys | Unacceptable | None] = []
    for signature in chain.signatures():
        try:
            keys.append(await DomainKeys().find(zone, signature))
        except Unacceptable as found:
            keys.append(found)
    return verify_chain(message, chain, keys)


def forwarded(zone: Zone, hops: int) -> bytes:
    """The message as the last of so many lists sent it on, each with what it put in front."""
    raw = MESSAGE
    for hop in range(1, hops + 1):
        name = f"list{hop}.test"
        seen = SEEN if hop == 1 else f"arc=pass; {SEEN}"
        raw = b"Received: by %d\r\n" % hop + Signer(zone, name).seal(raw, seen)
    return raw


async def test_mail_without_a_chain() -> None:
    assert await checked(Zone(), MESSAGE) == ArcResult("none")


@pytest.mark.parametrize("hops", [1, 2, 5])
async def test_a_whole_chain_names_its_sealers(hops: int) -> None:
    zone = Zone()
    found = await checked(zone, forwarded(zone, hops))
    assert (found.result, found.reason) == ("pass", "")
    assert found.sealers == tuple(f"list{hop}.test" for hop in range(hops, 0, -1))
    assert SEEN in found.first_results


async def test_a_seal_of_a_key_for_its_very_domain_counts() -> None:
    """A seal speaks for nobody (i= of RFC 6376), so t=s of its key restricts nothing."""
    zone = Zone()
    raw = forwarded(zone, 1)
    (record,) = await zone.txt("rsa._domainkey.list1.test")
    strict = Zone({"rsa._domainkey.list1.test": f"{record.decode()}; t=s"})
    assert (await checked(strict, raw)).result == "pass"


Change = Callable[[bytes], bytes]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda raw: raw + b"more\r\n", "the body is not as it was sealed"),
        (lambda raw: raw.replace(b"Hello", b"Hullo"), "signature did not verify"),
        (lambda raw: raw.replace(b"dmarc=pass", b"dmarc=fail"), "signature did not verify"),
        (lambda raw: re.sub(rb"ARC-Seal: i=1", b"X-Seal: i=1", raw), "the chain has gaps"),
        (lambda raw: re.sub(rb"i=2", b"i=3", raw), "the chain has gaps"),
        (
            lambda raw: re.sub(rb"ARC-Seal: i=1", b"ARC-Seal: i=2", raw),
            "an instance has no number of its own",
        ),
        (
            lambda raw: re.sub(rb"ARC-Seal: i=1", b"ARC-Seal: i=x", raw),
            "an instance has no number of its own",
        ),
        (lambda raw: raw.replace(b"cv=pass", b"cv=fail"), "the last sealer found it broken"),
        (lambda raw: raw.replace(b"cv=pass", b"cv=none"), "a seal is malformed"),
        (lambda raw: raw.replace(b"cv=none", b"cv=pass"), "a seal is malformed"),
        (lambda raw: raw.replace(b"cv=none", b"h=from; cv=none"), "a seal is malformed"),
        (lambda raw: raw.replace(b"d=list2.test", b"d=list3.test"), "no key for the signature"),
        (lambda raw: b"ARC-Seal: i=3\r\n" + raw, "the chain has gaps"),
        (
            lambda raw: b"ARC-Authentication-Results: dmarc=pass\r\n" + raw,
            "an instance has no number of its own",
        ),
        (
            lambda raw: b"".join(b"ARC-Seal: i=%d\r\n" % n for n in range(3, 60)) + raw,
            "the chain is too long",
        ),
    ],
)
async def test_a_chain_that_is_not_whole_fails(change: Change, reason: str) -> None:
    zone = Zone()
    raw = forwarded(zone, 2)
    changed = change(raw)
    assert changed != raw
    assert await checked(zone, changed) == ArcResult("fail", reason)


async def test_a_sealer_that_does_not_sign_who_wrote_the_mail_vouches_for_nobody() -> None:
    """RFC 8617 §4.1.2, RFC 6376 §5.4: anybody could write another author in."""
    zone = Zone()
    sealer = Signer(zone, "list1.test")
    sealed = sealer.seal(MESSAGE, SEEN)
    fewer = sealer.reseal(sealed, rb"h=from : to : subject", b"h=to : subject")
    assert (await checked(zone, sealer.reseal(sealed, rb"h=from : to", b"h=from"))).result == "pass"
    assert await checked(zone, fewer) == ArcResult("fail", "the message signature is malformed")


@pytest.mark.parametrize(
    "instance", [b"i=1", b" i = 1 ", b"(what we saw) i=1", b"i=1 (the first; so far)", b"i (a\\)b) = (c) 1"]
)
async def test_comments_may_stand_around_an_instance(instance: bytes) -> None:
    """RFC 8617 §4.1.1, §4.2.1."""
    zone = Zone()
    sealer = Signer(zone, "list1.test")
    sealed = sealer.seal(MESSAGE, SEEN)
    commented = sealed.replace(b"Results: i=1", b"Results: " + instance)
    same = rb"c=relaxed/relaxed"
    found = await checked(zone, sealer.reseal(commented, same, same))
    assert (found.result, found.reason) == ("pass", "")
    assert dmarc_passed(found.first_results, "author.test")


async def test_a_chain_of_many_sealers_asks_nobody() -> None:
    zone = Zone()
    assert await checked(zone, forwarded(zone, MAX_SEALERS + 1)) == ArcResult("fail", "too many sealers")
    assert zone.asked.total() == 0


async def test_dns_that_does_not_answer_breaks_the_chain() -> None:
    zone = Zone()
    raw = forwarded(zone, 1)
    zone.temporary.add("rsa._domainkey.list1.test")
    assert await checked(zone, raw) == ArcResult("fail", "DNS does not answer for the key")
