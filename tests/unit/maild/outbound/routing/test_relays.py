"""Smarthosts: which one takes a message, how it is protected, how we log in, and what it tells afterwards."""

import base64
import os
import re
import socket
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import dkim as dkimpy
import pytest
from structlog.testing import capture_logs

from conf.loading import SettingsError, parse
from conf.settings import Outbound
from maild.outbound.routing.relays import RelayHost, Relays, read_secret
from maild.outbound.routing.route import Hop
from maild.outbound.sessions.tls_policy import TlsPolicies
from maild.outbound.sessions.transaction import xtext
from storage.records import RecipientRow
from storage.sending import relay_message_ids
from tests.support.clients.attempts import shown_attempts
from tests.support.peers.mx import Mx
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.worlds.sending import Sending
from tests.support.worlds.store import DKIM_RECORD, ManualClock


def relays(**sections: dict[str, Any]) -> Relays:
    named = {name: {"host": f"{name}.test:587", **keys} for name, keys in sections.items()}
    return Relays(parse({"outbound": {"relays": named}}).outbound)


def chosen(found: Relays, sender: str, recipient: str) -> str | None:
    relay = found.chosen(sender, recipient)
    return None if relay is None else relay.name


def test_the_one_that_says_most_takes_the_mail() -> None:
    found = relays(
        both={"senders": ["a.test"], "recipients": ["b.test"]},
        to={"recipients": ["b.test", "c.test"]},
        by={"senders": ["a.test"]},
    )
    assert chosen(found, "a.test", "b.test") == "both"
    assert chosen(found, "x.test", "b.test") == "to"
    assert chosen(found, "a.test", "c.test") == "to"
    assert chosen(found, "a.test", "x.test") == "by"
    assert chosen(found, "x.test", "x.test") is None
    assert chosen(relays(all={}), "x.test", "y.test") == "all"
    assert Relays(Outbound()).chosen("x.test", "y.test") is None
    assert Relays(Outbound(relay="[::1]:25")).chosen("x.test", "y.test") == RelayHost("", "::1", 25)


@pytest.mark.parametrize(
    ("outbound", "fault"),
    [
        ({"relays": {"a": {"host": "a.test"}}}, "outbound.relays.a.host: must be host:port"),
        ({"relays": {"a": {"host": "a.test:0"}}}, "outbound.relays.a.host: must be host:port"),
        ({"relays": {"a": {"host": "a.test:25", "tsl": "implicit"}}}, "outbound.relays.a.tsl: unknown key"),
        ({"relays": {"a": {"host": "a.test:25", "username": "u"}}}, "give both username and password_file"),
        (
            {
                "relays": {
                    "a": {"host": "a.test:25", "tls": "opportunistic", "username": "u", "password_file": "/x"}
                }
            },
            'outbound.relays.a.tls: a password needs "starttls" or "implicit"',
        ),
        (
            {"relays": {"a": {"host": "a.test:25"}, "b": {"host": "b.test:25"}}},
            "outbound.relays.b: takes the same mail as outbound.relays.a",
        ),
        ({"relay": "a.test:25", "relays": {"b": {"host": "b.test:25"}}}, "outbound.relay: takes the same"),
        ({"sources": {"a": {"senders": ["x.test"], "addresses": ["nowhere"]}}}, "must be an IP address"),
        (
            {"sources": {"a": {"senders": ["x.test"], "addresses": ["192.0.2.1", "192.0.2.2"]}}},
            "outbound.sources.a.addresses: one of IPv4 and one of IPv6 at most",
        ),
        (
            {"sources": {"a": {"senders": ["x.test"]}, "b": {"senders": ["x.test"]}}},
            "outbound.sources.b.senders: x.test is named by outbound.sources.a too",
        ),
    ],
)
def test_faults_of_the_configuration_are_told(outbound: dict[str, Any], fault: str) -> None:
    with pytest.raises(SettingsError, match=fault.replace("(", r"\(")):
        parse({"outbound": outbound})


def test_the_name_that_a_certificate_is_for_has_no_last_dot() -> None:
    (found,) = relays(one={"host": "relay.test.:587"}).hosts
    assert (found.host, found.port) == ("relay.test", 587)


def test_a_secret_is_a_file_or_what_systemd_hands_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "smtp").write_text("s3cret\n")
    by_file = RelayHost("a", "a.test", 25, password_file=str(tmp_path / "smtp"))
    by_systemd = by_file.__class__("a", "a.test", 25, password_file="credential:smtp")
    assert read_secret(by_file) == "s3cret"
    assert read_secret(by_systemd, {"CREDENTIALS_DIRECTORY": str(tmp_path)}) == "s3cret"
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OSError, match="smtp"):  # not the file of that name which lies where it was started
        read_secret(by_systemd, {})


def test_a_secret_is_not_waited_for(tmp_path: Path) -> None:
    """A pipe that nobody writes into would keep the delivery, its thread and the end of the process for ever."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "empty").touch()
    for name in ("pipe", "empty"):
        with pytest.raises(OSError, match="there is no password in it"):
            read_secret(RelayHost("a", "a.test", 25, password_file=str(tmp_path / name)))
    with (
        open(tmp_path / "pipe", "r+b", buffering=0),
        pytest.raises(OSError, match="there is no password in it"),
    ):
        read_secret(RelayHost("a", "a.test", 25, password_file=str(tmp_path / "pipe")))


def test_nothing_is_read_from_the_disk_for_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's authorities take 20 ms of the event loop, in which nobody is served."""
    modes = {"one": "starttls", "two": "implicit", "three": "opportunistic"}
    found = relays(**{name: {"tls": mode, "senders": [f"{name}.test"]} for name, mode in modes.items()})
    policies = TlsPolicies(ManualClock(), relays=found.hosts)
    monkeypatch.setattr("maild.outbound.sessions.tls_policy.client_context", None)
    of = {one.name: policies.for_hop(Hop(one.host, "192.0.2.1", one.port, one)) for one in found.hosts}
    assert {name: (one.name, one.verified_by, one.is_implicit) for name, one in of.items()} == {
        "one": ("starttls", "webpki", False),
        "two": ("implicit", "webpki", True),
        "three": ("opportunistic", None, False),
    }


def test_xtext_is_rfc_3461_s() -> None:
    assert xtext("a+b=c d\u00e9@x.test") == "a+2Bb+3Dc+20d+E9@x.test"


class Smarthost:
    """`relay.test` with a certificate of an own authority, and a password file for `user`."""

    def __init__(self, folder: Path, mx: Mx) -> None:
        self.mx = mx
        self.password = folder / "password"
        self.password.write_text("s3cret\n")
        self.ca = ThrowawayCa(folder)
        mx.tls_context = self.ca.server_context(["relay.test"])
        mx.logins = {"user": "s3cret"}
        mx.extensions.append("DSN")

    def section(self, **keys: Any) -> dict[str, Any]:
        return {
            "host": f"relay.test:{self.mx.port}",
            "username": "user",
            "password_file": str(self.password),
            "ca_file": str(self.ca.ca_file),
            **keys,
        }


@pytest.fixture
async def smarthost(tmp_path: Path) -> AsyncIterator[Smarthost]:
    mx = Mx(starttls="good")
    found = Smarthost(tmp_path, mx)
    yield found
    await mx.stop()


async def sent_by(
    tmp_path: Path, smarthost: Smarthost, status: str, more: Mapping[str, Any] | None = None, **keys: Any
) -> RecipientRow:
    """The only recipient of a message by this smarthost, once it has the status. `more`: of [outbound]."""
    await smarthost.mx.start()
    outbound = {"relays": {"one": smarthost.section(**keys)}, **(more or {})}
    async with Sending(tmp_path, mx=smarthost.mx, outbound=outbound) as sending:
        sending.dns.add("relay.test", "A", "127.0.0.1")
        await sending.queue.start()
        message_id = await sending.send("you@there.test")
        await sending.until(message_id, status)
        (row,) = await sending.store.recipients(message_id)
        return row


@pytest.mark.parametrize("auth", ["plain", "login", "xoauth2"])
@pytest.mark.parametrize("tls", ["starttls", "implicit"])
async def test_we_log_in_under_verified_tls(
    tmp_path: Path, smarthost: Smarthost, auth: str, tls: str
) -> None:
    smarthost.mx.is_implicit = tls == "implicit"
    await sent_by(tmp_path, smarthost, "sent", tls=tls, auth=auth)
    (mail,) = smarthost.mx.received
    assert (mail.tls, mail.login) == (True, f"{auth.upper()} user")


async def test_authorities_of_a_closed_network_vouch_for_smarthosts_too(
    tmp_path: Path, smarthost: Smarthost
) -> None:
    ca_file = str(smarthost.ca.ca_file)
    await sent_by(tmp_path, smarthost, "sent", {"ca_file": ca_file}, ca_file="")


async def test_it_is_asked_to_tell_what_becomes_of_the_message(tmp_path: Path, smarthost: Smarthost) -> None:
    await sent_by(tmp_path, smarthost, "sent")
    (mail,) = smarthost.mx.received
    assert " RET=HDRS ENVID=msg_" in mail.mail_line
    assert mail.rcpt_lines == [
        "RCPT TO:<you@there.test> NOTIFY=SUCCESS,FAILURE,DELAY ORCPT=rfc822;you@there.test"
    ]


def written_anew(raw: bytes) -> bytes:
    """As Amazon SES does with every message."""
    raw = re.sub(rb"(?m)^Message-ID: .*\r$", b"Message-ID: <1@eu-west-1.amazonses.test>\r", raw)
    return re.sub(rb"(?m)^Date: .*\r$", b"Date: Thu, 01 Jan 2026 00:00:00 +0000\r", raw)


@pytest.mark.parametrize(("rewrites", "outlives_it"), [(["date", "message-id"], True), ([], False)])
async def test_a_signature_leaves_out_what_the_smarthost_writes_anew(
    tmp_path: Path, smarthost: Smarthost, rewrites: list[str], outlives_it: bool
) -> None:
    await sent_by(tmp_path, smarthost, "sent", rewrites=rewrites)
    (mail,) = smarthost.mx.received
    assert dkimpy.verify(mail.raw, dnsfunc=lambda name, timeout=5: DKIM_RECORD)
    assert dkimpy.verify(written_anew(mail.raw), dnsfunc=lambda name, timeout=5: DKIM_RECORD) is outlives_it


async def test_the_message_id_that_a_smarthost_gives_is_kept(tmp_path: Path, smarthost: Smarthost) -> None:
    smarthost.mx.always["dot"] = "250 2.0.0 OK: queued as <2026.1@smtp.there.test>"
    await smarthost.mx.start()
    outbound = {"relays": {"one": smarthost.section(rewrites=["message-id"])}}
    async with Sending(tmp_path, mx=smarthost.mx, outbound=outbound) as sending:
        sending.dns.add("relay.test", "A", "127.0.0.1")
        await sending.queue.start()
        for recipients in (["you@there.test"], ["a@other.test", "b@other.test"]):
            message_id = await sending.send(*recipients)
            await sending.until(message_id, *["sent"] * len(recipients))
            assert (
                await sending.store.db.read(relay_message_ids.of_message, message_id)
                == "<2026.1@smtp.there.test>"
            )


async def test_mail_to_others_is_signed_in_full(tmp_path: Path, smarthost: Smarthost) -> None:
    await smarthost.mx.start()
    section = smarthost.section(recipients=["there.test"], rewrites=["date", "message-id"])
    async with Sending(tmp_path, mx=smarthost.mx, outbound={"relays": {"one": section}}) as sending:
        sending.dns.add("relay.test", "A", "127.0.0.1")
        sending.dns.add("elsewhere.test", "A", "127.0.0.1")
        await sending.queue.start()
        message_id = await sending.send("you@there.test", "you@elsewhere.test")
        await sending.until(message_id, "sent", "delivered")
    for mail in smarthost.mx.received:
        assert dkimpy.verify(mail.raw, dnsfunc=lambda name, timeout=5: DKIM_RECORD)
    signed = {not mail.login: b"message-id" in signed_names(mail.raw) for mail in smarthost.mx.received}
    assert signed == {True: True, False: False}


def signed_names(raw: bytes) -> list[bytes]:
    found = re.search(rb"(?s)^DKIM-Signature:.*?h=(.*?);", raw)
    assert found
    return re.split(rb"[:\s]+", found[1])


async def test_a_login_that_is_refused_is_no_bounce(tmp_path: Path, smarthost: Smarthost) -> None:
    smarthost.password.write_text("wrong")
    row = await sent_by(tmp_path, smarthost, "deferred")
    assert (row.smtp_code, row.enhanced_code) == (454, "4.7.0")
    assert row.response == "the smarthost refuses our login: no such login"
    assert smarthost.mx.received == []


@pytest.mark.parametrize("hangs_up", [False, True])
async def test_a_login_that_is_missing_is_no_bounce(
    tmp_path: Path, smarthost: Smarthost, hangs_up: bool
) -> None:
    smarthost.mx.always["MAIL"] = "530 5.7.0 Authentication required"
    if hangs_up:
        smarthost.mx.hang_up_after = "MAIL"
    row = await sent_by(tmp_path, smarthost, "deferred", username="", password_file="")
    assert (row.smtp_code, row.enhanced_code) == (454, "4.7.0")
    assert row.response == "the smarthost wants a login: Authentication required"
    assert smarthost.mx.received == []


@pytest.mark.parametrize("step", ["MAIL", "RCPT", "DATA", "dot"])
async def test_an_account_that_is_paused_holds_mail_up(
    tmp_path: Path, smarthost: Smarthost, step: str
) -> None:
    smarthost.mx.always[step] = "554 Sending paused for this account."
    with capture_logs() as logs:
        row = await sent_by(tmp_path, smarthost, "deferred")
    told = "the smarthost refuses our account: 554 Sending paused for this account."
    assert (row.smtp_code, row.enhanced_code, row.response) == (454, "4.3.2", told)
    assert {"relay": "one", "code": 554} in [
        {name: one[name] for name in ("relay", "code")}
        for one in logs
        if one["event"] == "relay_refuses_account"
    ]


async def test_an_account_that_a_mail_host_has_disabled_bounces(tmp_path: Path) -> None:
    async with Mx() as mx:
        mx.always["RCPT"] = "550 Your account is suspended"
        async with Sending(tmp_path, mx=mx) as sending:
            sending.dns.add_mx("there.test")
            await sending.queue.start()
            await sending.until(await sending.send("you@there.test"), "bounced")


async def test_what_a_mail_host_refuses_for_want_of_a_login_bounces(tmp_path: Path) -> None:
    async with Mx() as mx:
        mx.always["MAIL"] = "530 5.7.0 Authentication required"
        async with Sending(tmp_path, mx=mx) as sending:
            sending.dns.add_mx("there.test")
            await sending.queue.start()
            await sending.until(await sending.send("you@there.test"), "bounced")


@pytest.mark.parametrize(
    ("offers", "told"),
    [
        ("HELP", "the smarthost offers no login"),
        ("AUTH", "the smarthost offers no login"),
        ("AUTH LOGIN XOAUTH2", "the smarthost offers no login by PLAIN, but by LOGIN XOAUTH2"),
    ],
)
async def test_a_password_is_not_sent_where_its_mechanism_is_not_offered(
    tmp_path: Path, smarthost: Smarthost, offers: str, told: str
) -> None:
    smarthost.mx.offers = offers
    row = await sent_by(tmp_path, smarthost, "deferred")
    assert (row.smtp_code, row.enhanced_code, row.response) == (454, "4.7.0", told)
    assert not any(line.startswith(("AUTH", "MAIL")) for line in smarthost.mx.commands)


async def test_an_offer_from_before_the_standard_is_one(tmp_path: Path, smarthost: Smarthost) -> None:
    smarthost.mx.offers = "AUTH=LOGIN PLAIN"
    await sent_by(tmp_path, smarthost, "sent")


async def test_a_smarthost_that_dns_does_not_know_is_told_by_its_name(
    tmp_path: Path, smarthost: Smarthost
) -> None:
    row = await sent_by(tmp_path, smarthost, "deferred", host="rellay.test:587")
    assert row.response == "the smarthost rellay.test has no address now"


@pytest.mark.parametrize(
    ("misfortune", "told"),
    [
        ("another authority", "the certificate does not verify: "),
        ("plain text", "the host does not speak TLS"),
        ("nobody listens", "Connection refused"),
    ],
)
async def test_why_there_is_no_session_is_told_in_plain_words(
    tmp_path: Path, smarthost: Smarthost, misfortune: str, told: str
) -> None:
    keys: dict[str, Any] = {"tls": "implicit"}
    smarthost.mx.is_implicit = misfortune == "another authority"
    if misfortune == "another authority":
        keys["ca_file"] = ""
    elif misfortune == "nobody listens":
        with socket.create_server(("127.0.0.1", 0)) as listener:
            keys["host"] = f"relay.test:{listener.getsockname()[1]}"
    row = await sent_by(tmp_path, smarthost, "deferred", **keys)
    assert row.response is not None and row.response.startswith(f"relay.test [127.0.0.1]: {told}")
    assert not any(word in row.response for word in ("_ssl", "SSL:", "('", "call failed"))


@pytest.mark.parametrize("auth", ["plain", "login", "xoauth2"])
@pytest.mark.parametrize("is_right", [True, False])
async def test_no_secret_is_kept_of_a_login(
    tmp_path: Path, smarthost: Smarthost, auth: str, is_right: bool
) -> None:
    """Also where the host repeats it, then or later."""
    mx = smarthost.mx
    if not is_right:
        smarthost.password.write_text("s3cret2")
    mx.repeats_logins = True
    mx.always["RCPT"] = "550 5.7.1 not with s3cret"
    await mx.start()
    outbound = {"relays": {"one": smarthost.section(auth=auth)}}
    async with Sending(tmp_path, mx=mx, outbound=outbound) as sending:
        sending.dns.add("relay.test", "A", "127.0.0.1")
        await sending.queue.start()
        message_id = await sending.send("you@there.test")
        await sending.until_attempts(message_id, 1)
        (attempt,) = await shown_attempts(sending.store, message_id)
    (host,) = attempt["evidence"]["hosts"]
    lines = host["dialogue"]
    assert (host["isRelay"], host["tlsPolicy"], host["tlsLevel"]) == (True, "relay", "starttls")
    assert host["verifiedBy"] == "webpki"
    assert f"C: AUTH {auth.upper()}{'' if auth == 'login' else ' (credentials)'}" in lines
    said = base64.b64encode(smarthost.password.read_bytes().strip()).decode()
    assert not any(word in str(attempt) for word in ("s3cret", said, said.rstrip("=")[:-1]))
    if is_right:
        assert "S: 550 5.7.1 not with ***" in lines
        assert attempt["response"] == "not with ***"
    else:
        assert host["stage"] == "auth"
        assert lines[-1].startswith("S: 535 5.7.8 no such login AUTH ")
        assert attempt["response"].startswith("the smarthost refuses our login: no such login AUTH ")


@pytest.mark.parametrize("misfortune", ["no STARTTLS", "another name", "another authority", "no password"])
async def test_nothing_is_said_where_the_host_is_not_proven(
    tmp_path: Path, smarthost: Smarthost, misfortune: str
) -> None:
    keys: dict[str, Any] = {}
    if misfortune == "no STARTTLS":
        smarthost.mx.starttls = ""
    elif misfortune == "another name":
        smarthost.mx.tls_context = smarthost.ca.server_context(["elsewhere.test"])
    elif misfortune == "another authority":
        keys["ca_file"] = ""
    else:
        smarthost.password.unlink()
    await sent_by(tmp_path, smarthost, "deferred", **keys)
    assert not any(line.startswith(("AUTH", "MAIL")) for line in smarthost.mx.commands)


@pytest.mark.parametrize(
    ("misfortune", "told"),
    [
        ("no STARTTLS", "TLS is required and not offered"),
        ("another name", "the certificate does not verify: Hostname mismatch"),
        ("another name, TLS first", "the certificate does not verify: Hostname mismatch"),
    ],
)
async def test_the_operator_is_told_of_tls_that_fails(
    tmp_path: Path, smarthost: Smarthost, misfortune: str, told: str
) -> None:
    """All mail by the smarthost waits, and a warning is what is looked for."""
    smarthost.mx.is_implicit = "first" in misfortune
    if misfortune == "no STARTTLS":
        smarthost.mx.starttls = ""
    else:
        smarthost.mx.tls_context = smarthost.ca.server_context(["elsewhere.test"])
    with capture_logs() as lines:
        await sent_by(
            tmp_path, smarthost, "deferred", tls="implicit" if smarthost.mx.is_implicit else "starttls"
        )
    (line,) = [one for one in lines if one["event"] == "relay_tls_failed"]
    assert (line["log_level"], line["relay"], line["host"]) == ("error", "one", "relay.test")
    assert line["reason"].startswith(told)


async def test_senders_of_one_destination_take_their_own_ways(tmp_path: Path, smarthost: Smarthost) -> None:
    await smarthost.mx.start()
    async with Mx() as direct:
        outbound = {
            "relays": {"one": smarthost.section(senders=["ours.test"])},
            "sources": {
                "b": {"senders": ["second.test"], "addresses": ["127.0.0.2"], "hostname": "b.ours.test"}
            },
            "port": direct.port,
        }
        async with Sending(tmp_path, mx=smarthost.mx, outbound=outbound) as sending:
            sending.dns.add("relay.test", "A", "127.0.0.1")
            sending.dns.add_mx("there.test")
            await sending.store.sign_for("second.test")
            first = await sending.send("you@there.test")
            second = await sending.send("you@there.test", from_address="bot@second.test")
            await sending.queue.start()
            await sending.until(first, "sent")
            await sending.until(second, "delivered")
            (attempt,) = await shown_attempts(sending.store, second)
        assert len(smarthost.mx.received) == len(direct.received) == 1
        assert "EHLO b.ours.test" in direct.commands
        assert (direct.clients, smarthost.mx.clients) == (["127.0.0.2"], ["127.0.0.1"])
        assert attempt["evidence"]["hosts"][0]["sourceAddress"] == "127.0.0.2"
