"""Exim, OpenSMTPD and Postfix take our mail, with and without TLS, as it was sent."""

import asyncio
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.daemon import Daemon
from tests.support.machine import tools
from tests.support.peers import other_mtas
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.other_mtas import Mta, Taken
from tests.support.peers.postfix import Postfix
from tests.support.waiting import GIVES_UP_S

THERE = "there.test"
ALICE, BOB = f"alice@{THERE}", f"bob@{THERE}"
TEXT = "Grüße aus Köln.\n.\nFrom here on\n" + "long " * 300

pytestmark = [
    pytest.mark.interop,
    pytest.mark.skipif(bool(other_mtas.missing()), reason="; ".join(other_mtas.missing())),
]

_BREAKS = other_mtas.breaks_handshakes()
is_able = pytest.mark.skipif(_BREAKS, reason="this OpenSMTPD breaks every handshake")
is_unable = pytest.mark.skipif(not _BREAKS, reason="this OpenSMTPD shakes hands")


class Sent(NamedTuple):
    """A message that was delivered, as the API shows it, its attempts and octets, and what the mail server took."""

    message: dict[str, Any]
    attempts: list[dict[str, Any]]
    raw: bytes
    taken: Taken

    @property
    def body(self) -> bytes:
        return self.raw.partition(b"\r\n\r\n")[2] + b"\r\n"  # which the dot stands behind

    def tls_versions(self) -> set[str | None]:
        return {one["tls"] for one in self.message["recipients"]}


async def sent_to(mta: Mta, has_tls: bool, folder: Path) -> Sent:
    (folder / "mta").mkdir()
    async with asyncio.timeout(GIVES_UP_S), DnsServer() as dns, mta(folder / "mta", has_tls) as running:
        dns.add_mx(THERE, "127.0.0.1")
        async with Daemon(folder, dns_port=dns.port, outbound_port=running.port) as daemon:
            inbox = await daemon.api.post("/v1/inboxes", username="bot")
            made = await daemon.api.post(
                "/v1/messages/send", inboxId=inbox["id"], to=[ALICE, BOB], subject="Köln", text=TEXT
            )
            path = f"/v1/messages/{made['id']}"
            message = await daemon.api.until(path, lambda one: one["status"] == "delivered")
            attempts = await daemon.api.get(f"{path}/attempts")
            return Sent(message, attempts, await daemon.api.get_bytes(f"{path}/raw"), await running.taken())


@pytest.mark.parametrize("mta", [other_mtas.exim, other_mtas.opensmtpd])
async def test_mail_is_taken_without_tls(tmp_path: Path, mta: Mta) -> None:
    sent = await sent_to(mta, False, tmp_path)
    assert sent.tls_versions() == {None}
    assert sorted(sent.taken.recipients) == [ALICE, BOB]
    assert sent.taken.body == sent.body
    assert b"DKIM-Signature:" in sent.taken.header


@pytest.mark.parametrize("mta", [other_mtas.exim, pytest.param(other_mtas.opensmtpd, marks=is_able)])
async def test_mail_is_taken_by_tls(tmp_path: Path, mta: Mta) -> None:
    sent = await sent_to(mta, True, tmp_path)
    (version,) = sent.tls_versions()
    assert version is not None and version.startswith("TLSv1.3")
    (host,) = sent.attempts[0]["evidence"]["hosts"]
    assert "C: STARTTLS" in host["dialogue"]
    assert sent.taken.body == sent.body


@is_unable
async def test_a_host_that_breaks_every_handshake_gets_its_mail_in_clear(tmp_path: Path) -> None:
    """RFC 7435 §3: where nobody demands TLS, that it fails is no reason to keep the mail."""
    sent = await sent_to(other_mtas.opensmtpd, True, tmp_path)
    assert sent.tls_versions() == {None}
    (host,) = sent.attempts[0]["evidence"]["hosts"]
    assert host["tlsFailure"] == "validation-failure"
    assert [line for line in host["dialogue"] if line.endswith("once more, in plain text")]
    assert sent.taken.body == sent.body


@tools.needs("postfix", root=True)
async def test_postfix_that_takes_few_recipients_gets_the_others_at_once(tmp_path: Path) -> None:
    many = [f"r{number}@{THERE}" for number in range(10)]
    async with (
        asyncio.timeout(GIVES_UP_S),
        DnsServer() as dns,
        Postfix(THERE, extra=["smtpd_recipient_limit = 4"]) as postfix,
        Daemon(tmp_path, dns_port=dns.port, outbound_port=postfix.port) as daemon,
    ):
        dns.add_mx(THERE, "127.0.0.1")
        inbox = await daemon.api.post("/v1/inboxes", username="bot")
        made = await daemon.api.post(
            "/v1/messages/send", inboxId=inbox["id"], to=many[:2], cc=many[2:], text=TEXT
        )
        message = await daemon.api.until(
            f"/v1/messages/{made['id']}", lambda one: one["status"] == "delivered"
        )
        assert [one["attempts"] for one in message["recipients"]] == [1] * 10
        delivered = [name for mail in await postfix.mail(10) for name in many if _delivered_to(name) in mail]
        assert sorted(delivered) == many


def _delivered_to(address: str) -> bytes:
    return f"Delivered-To: {address}\r\n".encode()
