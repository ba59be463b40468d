"""A forger with a domain of his own, where SPF, DKIM and DMARC all pass, writes as the bank in every shape we know.

Whatever `fromAddress` says, `verifiedDomain` is never the bank's, and DMARC never passes for an address at the bank.
"""

from collections.abc import AsyncIterator

import pytest

from maild.message.fields.idn import ascii_domain
from tests.conftest import Start
from tests.contract.verdicts.test_sender_verdicts import HERE, begin
from tests.support.mails.signers import Signer
from tests.support.peers.dns_server import DnsServer
from tests.support.worlds.sender_world import TEXT, SenderWorld

VICTIM, FORGER = "info@bank.test", "x@evil.test"
ENCODED = "=?utf-8?q?info=40bank.test?="

FROM_FIELDS = {
    "the plain lie": f"From: {VICTIM}",
    "two fields, the victim's first": f"From: {VICTIM}\r\nFrom: {FORGER}",
    "two fields, the victim's last": f"From: {FORGER}\r\nFrom: {VICTIM}",
    "a second field that is folded": f"From: {FORGER}\r\nFrom:\r\n {VICTIM}",
    "a second field with a blank before its colon": f"From: {FORGER}\r\nFrom : {VICTIM}",
    "a second field in other case": f"fRoM: {VICTIM}\r\nFrom: {FORGER}",
    "two mailboxes": f"From: {VICTIM}, {FORGER}",
    "two mailboxes, the forger's first": f"From: {FORGER}, {VICTIM}",
    "two mailboxes and a Sender": f"From: {VICTIM}, {FORGER}\r\nSender: {FORGER}",
    "a Sender": f"From: {VICTIM}\r\nSender: {FORGER}",
    "a Resent-From": f"Resent-From: {FORGER}\r\nFrom: {VICTIM}",
    "a group": f"From: Bank: {VICTIM}, {FORGER};",
    "a group of one": f"From: {FORGER}: {VICTIM};",
    "an address as the name": f'From: "{VICTIM}" <{FORGER}>',
    "an address as the name, unquoted": f"From: {VICTIM} <{FORGER}>",
    "the forger's address as the name": f"From: {FORGER} <{VICTIM}>",
    "an encoded name": f"From: {ENCODED} <{FORGER}>",
    "an encoded bracket": f"From: =?utf-8?q?=3Cinfo=40bank.test=3E?= <{FORGER}>",
    "an encoded address": f"From: <{ENCODED}>",
    "an encoded local part": "From: =?utf-8?q?info?=@bank.test",
    "an encoded NUL": f"From: =?utf-8?b?{'aW5mb0BiYW5rLnRlc3QA'}?= <{FORGER}>",
    "a NUL": f"From: {VICTIM}\0 <{FORGER}>",
    "a NUL in the address": "From: info@bank.test\0.evil.test",
    "a lone CR": f"From: {VICTIM}\r <{FORGER}>",
    "a comment": f"From: {VICTIM} ({FORGER})",
    "a comment that hides a bracket": f"From: <{VICTIM}(> {FORGER})",
    "a comment that does not end": f"From: {FORGER} (<{VICTIM}>",
    "two angle addresses": f"From: <{VICTIM}> <{FORGER}>",
    "a missing bracket": f"From: <{VICTIM} {FORGER}",
    "a bracket too many": f"From: <{VICTIM}>> {FORGER}",
    "a route": f"From: <@bank.test:{FORGER}>",
    "a route the other way": f"From: <@evil.test:{VICTIM}>",
    "two at signs": f"From: {VICTIM}@evil.test",
    "a quoted local part": f'From: "{VICTIM}"@evil.test',
    "a quote that does not end": f'From: "{VICTIM} <{FORGER}>',
    "a percent": "From: info%bank.test@evil.test",
    "a UUCP path": "From: bank.test!info@evil.test",
    "a semicolon": f"From: {VICTIM}; {FORGER}",
    "a dot at the end": f"From: {VICTIM}.",
    "blanks about the at sign": "From: info @ bank.test",
    "a name below the forger's": "From: info@bank.test.evil.test",
    "a name above": "From: info@test",
    "a look-alike": "From: info@b\u0430nk.test",
    "a direction override": "From: \u202etset.knab@ofni\u202c <x@evil.test>",
    "no From": f"Sender: {VICTIM}",
    "an empty From": f"From: \r\nReply-To: {VICTIM}",
    "a From behind a thousand fields": "X: y\r\n" * 1000 + f"From: {VICTIM}",
    "more fields than are read": f"From: {FORGER}\r\n" + "X: y\r\n" * 10_000 + f"From: {VICTIM}",
    "a header section of 300 KiB": f"From: {FORGER}\r\nX: {'y' * 300_000}\r\nFrom: {VICTIM}",
}


@pytest.fixture
async def world(start: Start) -> AsyncIterator[SenderWorld]:
    async with DnsServer() as dns:
        made = await begin(start, dns, dmarc="report")  # so that what is not proven can be looked at
        made.domain("bank.test", dmarc="p=reject", spf="-all")
        made.domain("evil.test", dmarc="p=none", spf=HERE)
        yield made


async def test_no_shape_of_from_makes_a_forger_the_bank(world: SenderWorld) -> None:
    evil = world.signers["evil.test"]
    proven = {}
    for shape, fields in FROM_FIELDS.items():
        for raw in signed_and_forged(evil, fields.encode()):
            message = await world.judged(raw, FORGER)
            verdict, domain = message["auth"], ascii_domain(message["fromAddress"].rpartition("@")[2])
            assert verdict["verifiedDomain"] != "bank.test", shape
            assert (domain, verdict["dmarc"]) != ("bank.test", "pass"), shape
            assert verdict["verifiedDomain"] in (None, domain), shape
            if verdict["verifiedDomain"] is not None:
                proven[shape] = message["fromAddress"]
    assert proven == {
        "an address as the name": FORGER,
        "a percent": "info%bank.test@evil.test",
        "a UUCP path": "bank.test!info@evil.test",
        "a quoted local part": f'"{VICTIM}"@evil.test',
        "a name below the forger's": "info@bank.test.evil.test",
    }


def signed_and_forged(evil: Signer, fields: bytes) -> list[bytes]:
    """The forger signs his own address, and puts the victim's in place, above and below; or signs it as it is."""
    honest = b"From: " + FORGER.encode() + b"\r\n" + TEXT
    signature = evil.sign(honest).removesuffix(honest)
    plain = fields + b"\r\n" + TEXT
    found = [signature + plain, fields + b"\r\n" + signature + TEXT]
    if b"\nFrom" not in fields and fields.startswith(b"From: ") and b"\0" not in fields:
        found.append(evil.sign(plain))
    return found
