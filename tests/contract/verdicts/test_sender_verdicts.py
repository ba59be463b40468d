"""Who really wrote: what `auth` says of mail that a signing domain, a forwarder or a forger sends by SMTP, and what
follows (decisions.md, "Message").

Signers are dkimpy's, policies come from a DNS server on loopback, and the whole daemon judges.
"""

import email
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.conftest import Start
from tests.support.peers.dns_server import DnsServer
from tests.support.running import HOSTNAME
from tests.support.worlds.sender_world import SenderWorld, mail_from

HERE = "ip4:127.0.0.1 -all"
NOT_HERE = "ip4:192.0.2.1 -all"


@pytest.fixture
async def dns() -> AsyncIterator[DnsServer]:
    async with DnsServer() as server:
        yield server


async def begin(start: Start, dns: DnsServer, **inbound: Any) -> SenderWorld:
    maild = await start(
        dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
        inbound={"dmarc": "enforce", **inbound},
    )
    return SenderWorld(maild, dns, await maild.inbox("bot"))


@pytest.fixture
async def world(start: Start, dns: DnsServer) -> SenderWorld:
    return await begin(start, dns)


def auth(spf: str, dkim: str, dmarc: str, arc: str, verified: str | None) -> dict[str, str | None]:
    return {"spf": spf, "dkim": dkim, "dmarc": dmarc, "arc": arc, "verifiedDomain": verified}


async def test_mail_that_its_author_s_domain_signs_is_verified(world: SenderWorld) -> None:
    bank = world.domain("bank.test", dmarc="p=reject")
    message = await world.judged(bank.sign(mail_from("Bank <info@bank.test>")))
    assert message["auth"] == auth("none", "pass", "pass", "none", "bank.test")
    assert not message["isSpam"]
    (event,) = (await world.maild.api.get("/v1/events")).data
    assert event["data"]["auth"] == message["auth"]
    raw = (await world.maild.api.call("GET", f"/v1/messages/{message['id']}/raw")).body
    assert email.message_from_bytes(raw).get_all("Authentication-Results") == [
        f"{HOSTNAME};\r\n\tspf=none smtp.mailfrom=sender.test;\r\n"
        "\tdkim=pass header.d=bank.test header.a=rsa-sha256 header.s=rsa;\r\n"
        "\tdmarc=pass header.from=bank.test;\r\n\tarc=none"
    ]


async def test_mail_from_a_client_that_its_author_s_domain_lets_send_is_verified(world: SenderWorld) -> None:
    world.domain("bank.test", dmarc="p=reject", spf=HERE)
    message = await world.judged(mail_from("info@bank.test"), "bounces@bank.test")
    assert message["auth"] == auth("pass", "none", "pass", "none", "bank.test")


async def test_somebody_else_s_pass_proves_nothing(world: SenderWorld) -> None:
    world.domain("bank.test", dmarc="p=none")
    evil = world.domain("evil.test", dmarc="p=none", spf=HERE)
    message = await world.judged(evil.sign(mail_from("info@bank.test")), "x@evil.test")
    assert message["auth"] == auth("pass", "pass", "fail", "none", None)


async def test_without_a_policy_a_signature_must_be_the_very_domain_s(world: SenderWorld) -> None:
    plain = world.domain("plain.test", spf=HERE)
    signed = await world.judged(plain.sign(mail_from("ann@plain.test")), "x@plain.test")
    assert signed["auth"] == auth("pass", "pass", "none", "none", "plain.test")
    below = await world.judged(plain.sign(mail_from("ann@mail.plain.test")))
    assert below["auth"] == auth("none", "pass", "none", "none", None)
    by_address = await world.judged(mail_from("ann@plain.test"), "x@plain.test")
    assert by_address["auth"] == auth("pass", "none", "none", "none", None)


ONE_CLICK = (
    b"List-Unsubscribe: <https://bank.test/u?t=1>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"
)


@pytest.mark.parametrize(
    ("signed", "added", "is_offered"),
    [
        ([b"From", b"List-Unsubscribe", b"List-Unsubscribe-Post"], b"", True),
        ([b"From", b"List-Unsubscribe-Post"], b"", False),
        ([b"From", b"List-Unsubscribe"], b"", False),
        # Readers may take the upper one.
        (
            [b"From", b"List-Unsubscribe", b"List-Unsubscribe-Post"],
            b"List-Unsubscribe: <https://x.test/>\r\n",
            False,
        ),
    ],
)
async def test_one_click_is_offered_where_a_signature_covers_it(
    world: SenderWorld, signed: list[bytes], added: bytes, is_offered: bool
) -> None:
    """RFC 8058 §4: else anybody has programs post to addresses of his choice."""
    bank = world.domain("bank.test", dmarc="p=reject")
    message = await world.judged(added + bank.sign(ONE_CLICK + mail_from("info@bank.test"), fields=signed))
    assert message["auth"]["verifiedDomain"] == "bank.test"
    assert message["mailingList"]["oneClick"] is is_offered


async def test_mail_that_the_domain_asks_to_refuse_is_refused(world: SenderWorld) -> None:
    world.domain("bank.test", dmarc="p=reject", spf=NOT_HERE)
    reply = await world.refused(mail_from("info@bank.test"), "info@bank.test")
    assert reply == (
        "550 5.7.1 bank.test asks to refuse mail in its name that neither SPF nor DKIM proves (DMARC):"
        " spf=fail dkim=none"
    )


@pytest.mark.parametrize("policy", ["p=quarantine; t=y", "p=none"])
async def test_a_policy_that_asks_for_nothing_changes_nothing(world: SenderWorld, policy: str) -> None:
    world.domain("bank.test", dmarc=policy)
    message = await world.judged(mail_from("info@bank.test"))
    assert (message["auth"]["dmarc"], message["isSpam"]) == ("fail", False)


@pytest.mark.parametrize("policy", ["p=quarantine", "p=reject; t=y"])
async def test_quarantine_is_spam(world: SenderWorld, policy: str) -> None:
    world.domain("bank.test", dmarc=policy)
    message = await world.judged(mail_from("info@bank.test"))
    assert (message["auth"]["dmarc"], message["isSpam"]) == ("fail", True)


async def test_who_is_disowned_joins_no_conversation_by_its_subject(world: SenderWorld) -> None:
    bank = world.domain("bank.test", dmarc="p=quarantine")
    first = await world.judged(bank.sign(mail_from("info@bank.test")))
    answer = mail_from("info@bank.test").replace(b"Subject: ", b"Subject: Re: ")
    assert (await world.judged(answer))["threadId"] != first["threadId"]
    assert (await world.judged(bank.sign(answer)))["threadId"] == first["threadId"]


async def test_report_alone_refuses_nothing(start: Start, dns: DnsServer) -> None:
    world = await begin(start, dns, dmarc="report")
    world.domain("bank.test", dmarc="p=reject")
    message = await world.judged(mail_from("info@bank.test"))
    assert (message["auth"]["dmarc"], message["auth"]["verifiedDomain"], message["isSpam"]) == (
        "fail",
        None,
        True,
    )


async def test_a_trusted_sealer_vouches_for_what_it_changed(start: Start, dns: DnsServer) -> None:
    world = await begin(start, dns, trusted_sealers=["list.test"])
    bank, mailing_list = world.domain("bank.test", dmarc="p=reject"), world.domain("list.test")
    sent = bank.sign(mail_from("info@bank.test")).replace(b"Subject: ", b"Subject: [list] ")
    vouched = mailing_list.seal(sent, "dmarc=pass header.from=bank.test")
    message = await world.judged(vouched)
    assert message["auth"] == auth("none", "fail", "fail", "pass", None)
    assert not message["isSpam"]
    saw_nothing = mailing_list.seal(sent, "dmarc=fail header.from=bank.test")
    another_s = mailing_list.seal(sent, "dmarc=pass header.from=evil.test")
    for raw in (saw_nothing, another_s, vouched + b"more\r\n"):
        assert (await world.refused(raw)).startswith("550 5.7.1 ")


async def test_a_trusted_sealer_does_not_vouch_for_what_others_sealed_too(
    start: Start, dns: DnsServer
) -> None:
    """Before it, they may have told it of a DMARC pass that nobody saw; behind it, put in any words."""
    world = await begin(start, dns, trusted_sealers=["list.test", "second.test"])
    bank, evil = world.domain("bank.test", dmarc="p=reject"), world.domain("evil.test")
    mailing_list, second = world.domain("list.test"), world.domain("second.test")
    sent, seen = bank.sign(mail_from("info@bank.test")), "dmarc=pass header.from=bank.test"
    changed = sent.replace(b"Subject: ", b"Subject: [list] ")
    message = await world.judged(second.seal(mailing_list.seal(changed, seen), f"arc=pass; {seen}"))
    assert (message["auth"]["arc"], message["isSpam"]) == ("pass", False)
    forged = changed.replace(b"Subject: [list] ", b"Subject: Pay ")
    for raw in (
        evil.seal(mailing_list.seal(changed, seen).replace(b"[list]", b"Pay"), f"arc=pass; {seen}"),
        mailing_list.seal(evil.seal(forged, seen), f"arc=pass; {seen}"),
    ):
        assert (await world.refused(raw)).startswith("550 5.7.1 ")


async def test_a_sealer_that_nobody_trusts_vouches_for_nothing(world: SenderWorld) -> None:
    world.domain("bank.test", dmarc="p=reject")
    evil = world.domain("evil.test")
    raw = evil.seal(mail_from("info@bank.test"), "dmarc=pass header.from=bank.test")
    assert (await world.refused(raw)).startswith("550 5.7.1 ")


async def test_dns_that_fails_loses_no_mail(world: SenderWorld) -> None:
    bank = world.domain("bank.test", dmarc="p=reject", spf=NOT_HERE)
    world.dns.servfail.update({"_dmarc.bank.test", "bank.test", "rsa._domainkey.bank.test"})
    message = await world.judged(bank.sign(mail_from("info@bank.test")), "x@bank.test")
    assert message["auth"] == auth("temperror", "temperror", "temperror", "none", None)


async def test_a_key_that_can_not_be_had_now_is_no_failure(world: SenderWorld) -> None:
    bank = world.domain("bank.test", dmarc="p=reject")
    world.dns.servfail.add("rsa._domainkey.bank.test")
    message = await world.judged(bank.sign(mail_from("info@bank.test")))
    assert message["auth"] == auth("none", "temperror", "temperror", "none", None)


async def test_a_forger_s_dns_that_fails_protects_no_forger(world: SenderWorld) -> None:
    world.domain("bank.test", dmarc="p=reject")
    evil = world.domain("evil.test")
    world.dns.servfail.update({"rsa._domainkey.evil.test", "evil.test"})
    raw = evil.sign(mail_from("info@bank.test"))
    assert (await world.refused(raw, "x@evil.test")).startswith("550 5.7.1 ")


async def test_two_authors_are_flagged_and_prove_nobody(world: SenderWorld) -> None:
    evil = world.domain("evil.test", dmarc="p=none", spf=HERE)
    world.domain("bank.test", dmarc="p=reject")
    raw = b"From: info@bank.test\r\n" + evil.sign(mail_from("x@evil.test"))
    message = await world.judged(raw, "x@evil.test")
    assert message["auth"] == auth("pass", "fail", "permerror", "none", None)
    assert (message["isSpam"], message["fromAddress"]) == (True, "x@evil.test")


@pytest.mark.parametrize("leader", [b"\r\n", b" ", b"\xef\xbb\xbf"], ids=["empty line", "blank", "mark"])
async def test_an_author_whom_not_all_readers_see_is_not_proven(world: SenderWorld, leader: bytes) -> None:
    bank = world.domain("bank.test", dmarc="p=none", spf=HERE)
    message = await world.judged(leader + bank.sign(mail_from("info@bank.test")), "x@bank.test")
    assert message["auth"] == auth("pass", "pass", "permerror", "none", None)
    assert (message["isSpam"], message["fromAddress"]) == (True, "info@bank.test")


@pytest.mark.parametrize("below", ["l" * 64, ".".join(["l" * 60] * 4)])
async def test_a_name_that_is_too_long_for_dns_is_not_proven(world: SenderWorld, below: str) -> None:
    evil = world.domain("evil.test", dmarc="p=none")
    message = await world.judged(evil.sign(mail_from(f"info@bank.test.{below}.evil.test")))
    assert message["auth"] == auth("none", "pass", "permerror", "none", None)


async def test_mail_of_a_large_attachment_is_judged_too(world: SenderWorld) -> None:
    bank = world.domain("bank.test", dmarc="p=reject")
    raw = bank.sign(mail_from("info@bank.test") + (b"x" * 998 + b"\r\n") * 1000)
    assert (await world.judged(raw))["auth"]["dmarc"] == "pass"
    assert (await world.refused(raw + b"more\r\n")).startswith("550 5.7.1 ")


async def test_lists_can_be_asked_for_the_proven_and_for_a_domain(world: SenderWorld) -> None:
    bank = world.domain("bank.test", dmarc="p=none")
    proven = await world.judged(bank.sign(mail_from("info@bank.test")))
    forged = await world.judged(mail_from("info@BANK.test"))
    below = await world.judged(mail_from("info@mail.bank.test"))
    other = await world.judged(mail_from("bank.test@other.test"))
    idn = await world.judged(mail_from("ann@b\u00fccher.test"))
    encoded = await world.judged(mail_from("ann@xn--bcher-kva.test"))
    wide = await world.judged(mail_from("gr\u00fcn@b\u00fccher.test"))

    async def ids(**query: str) -> list[str]:
        return [one["id"] for one in await world.maild.api.messages(**query)]

    assert (idn["fromDomain"], idn["fromDomainUnicode"]) == ("xn--bcher-kva.test", "b\u00fccher.test")
    assert (encoded["fromDomain"], encoded["fromDomainUnicode"]) == ("xn--bcher-kva.test", "b\u00fccher.test")
    assert (below["fromDomain"], below["fromDomainUnicode"]) == ("mail.bank.test", None)
    assert await ids(verified="true") == [proven["id"]]
    assert await ids(fromDomain="bank.test") == [forged["id"], proven["id"]]
    assert await ids(fromDomain="Bank.Test", verified="true") == [proven["id"]]
    assert await ids(fromDomain="bank.test", verified="false") == [forged["id"]]
    for name in ("b\u00fccher.test", "B\u00dcCHER.test", "xn--bcher-kva.test", "XN--BCHER-KVA.TEST"):
        assert await ids(fromDomain=name) == [wide["id"], encoded["id"], idn["id"]], name
    assert await ids(fromDomain="bank.test", q="hello", verified="false") == [forged["id"]]
    assert await ids(fromDomain="mail.bank.test") == [below["id"]]
    assert await ids(verified="false") == [one["id"] for one in (wide, encoded, idn, other, below, forged)]
    for odd in ("[192.0.2.1]", "localhost", "sub_under.test"):
        message = await world.judged(mail_from(f"ann@{odd}"))
        assert await ids(fromDomain=message["fromDomain"]) == [message["id"]], odd
    answer = await world.maild.api.get("/v1/messages", fromDomain="no domain", verified="maybe")
    assert answer.faults == {"fromDomain": "invalid_domain", "verified": "wrong_type"}
