"""A real Postfix that wants proof of who we are: by a certificate where we send to it, by DANE or by what a plugin for
MTA-STS answers where it sends to us."""

import asyncio
import random
import smtplib
import ssl
from pathlib import Path

import aiosmtplib
import pytest

from tests.support.daemon import HOSTNAME, Daemon
from tests.support.machine import tools
from tests.support.machine.ports import free_port
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.postfix import Postfix
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.peers.tlsa import tlsa_record
from tests.support.waiting import GIVES_UP_S

pytestmark = [pytest.mark.interop, tools.needs("postfix", "unshare", root=True)]

THERE = "there.test"
RAW = b"From: ann@there.test\r\nTo: bot@ours.test\r\nSubject: hi\r\n\r\nhello\r\n"


@pytest.mark.parametrize("is_ours", [True, False], ids=["known", "unknown"])
async def test_it_takes_mail_of_the_client_whose_certificate_it_trusts(tmp_path: Path, is_ours: bool) -> None:
    (tmp_path / "ca").mkdir()
    ca = ThrowawayCa(tmp_path / "ca")
    ca.server_context([HOSTNAME])
    pair = str(tmp_path / "ca" / f"{HOSTNAME}.pem")
    shown = {"tls_cert": pair, "tls_key": pair} if is_ours else {}
    asks = [
        "smtpd_tls_security_level = encrypt",
        "smtpd_tls_req_ccert = yes",
        f"smtpd_tls_CAfile = {ca.ca_file}",
    ]
    async with (
        asyncio.timeout(GIVES_UP_S),
        DnsServer() as dns,
        Postfix(THERE, extra=asks) as postfix,
        Daemon(tmp_path, dns_port=dns.port, outbound_port=postfix.port, more={"outbound": shown}) as daemon,
    ):
        dns.add_mx(THERE, "127.0.0.1")
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        made = await daemon.api.post("/v1/messages/send", inboxId=inbox["id"], to=[f"ann@{THERE}"], text="hi")
        path = f"/v1/messages/{made['id']}"
        if is_ours:
            await daemon.api.until(path, lambda one: one["status"] == "delivered")
            assert len(await postfix.mail(1)) == 1
        else:
            message = await daemon.api.until(path, lambda one: one["recipients"][0]["response"])
            assert "No client certificate" in message["recipients"][0]["response"]
            assert postfix.stored() == 0


@pytest.mark.parametrize("is_ours", [True, False], ids=["ours", "another one's"])
async def test_it_sends_to_us_where_a_tlsa_record_has_our_key(tmp_path: Path, is_ours: bool) -> None:
    """RFC 7672: our own certificate is enough, which no authority knows."""
    port, resolver = free_port(), any_loopback()
    dane = [
        "smtp_dns_support_level = dnssec",
        "smtp_tls_security_level = dane-only",
        "smtp_tls_loglevel = 1",
        f"relayhost = [{HOSTNAME}]:{port}",
    ]
    async with (
        asyncio.timeout(GIVES_UP_S),
        DnsServer(resolver, 53) as dns,
        Postfix(THERE, extra=dane, resolver=resolver) as postfix,
        Daemon(tmp_path, dns_port=9, more={"smtp": {"listen": [f"127.0.0.1:{port}"]}}) as daemon,
    ):
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        certificate = await asyncio.to_thread(shown_at, port) if is_ours else other_certificate(tmp_path)
        dns.add(HOSTNAME, "A", "127.0.0.1")
        dns.add(f"_{port}._tcp.{HOSTNAME}", "TLSA", tlsa_record(3, 1, 1, certificate))
        dns.signed.add(HOSTNAME)
        await arrives_if(is_ours, inbox["address"], postfix, daemon)


@pytest.mark.parametrize("is_proven", [True, False], ids=["proven", "of no authority"])
async def test_it_sends_to_us_where_an_authority_vouches(tmp_path: Path, is_proven: bool) -> None:
    """The policy is what postfix-mta-sts-resolver answers for a domain under "enforce"."""
    (tmp_path / "ca").mkdir()
    ca = ThrowawayCa(tmp_path / "ca")
    ca.server_context([HOSTNAME])
    pair = str(tmp_path / "ca" / f"{HOSTNAME}.pem")
    port, resolver = free_port(), any_loopback()
    next_hop = f"[{HOSTNAME}]:{port}"
    enforced = [
        f"relayhost = {next_hop}",
        f"smtp_tls_CAfile = {ca.ca_file}",
        "smtp_tls_loglevel = 1",
        f"smtp_tls_policy_maps = inline:{{ {{ {next_hop} = secure match={HOSTNAME} servername=hostname }} }}",
    ]
    listener = {"listen": [f"127.0.0.1:{port}"], **({"tls_cert": pair, "tls_key": pair} if is_proven else {})}
    async with (
        asyncio.timeout(GIVES_UP_S),
        DnsServer(resolver, 53) as dns,
        Postfix(THERE, extra=enforced, resolver=resolver) as postfix,
        Daemon(tmp_path, dns_port=9, more={"smtp": listener}) as daemon,
    ):
        dns.add(HOSTNAME, "A", "127.0.0.1")
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        await arrives_if(is_proven, inbox["address"], postfix, daemon)


async def arrives_if(is_proven: bool, to: str, postfix: Postfix, daemon: Daemon) -> None:
    await aiosmtplib.send(RAW, sender=f"ann@{THERE}", recipients=[to], port=postfix.port, start_tls=False)
    if is_proven:
        (mail,) = await daemon.api.until("/v1/messages", bool)
        assert mail["subject"] == "hi"
        assert "Verified TLS connection established to" in postfix.log_tail()
        return
    while "Server certificate not" not in postfix.log_tail():  # verified, or trusted
        await asyncio.sleep(0.05)
    assert await daemon.api.get("/v1/messages") == []


def any_loopback() -> str:
    """An address whose port 53 nobody has, also where several run at once."""
    return ".".join(["127", *(str(random.randrange(1, 255)) for _ in range(3))])


def shown_at(port: int) -> bytes:
    """The certificate that our listener shows, as DER."""
    with smtplib.SMTP("127.0.0.1", port) as client:
        client.starttls(context=ssl._create_unverified_context())
        assert isinstance(client.sock, ssl.SSLSocket)
        found = client.sock.getpeercert(binary_form=True)
    assert found is not None
    return found


def other_certificate(folder: Path) -> bytes:
    (folder / "other").mkdir()
    ca = ThrowawayCa(folder / "other")
    ca.server_context([HOSTNAME])
    return ca.certificate(HOSTNAME)
