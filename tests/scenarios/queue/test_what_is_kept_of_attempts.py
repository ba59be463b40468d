"""Somebody asks why a mail did not arrive: each attempt tells where it ended, what was said and what follows."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from storage.clock import iso
from tests.support.clients.attempts import shown_attempts
from tests.support.peers.mx import Mx
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.worlds.sending import SENDERS, Sending
from tests.support.worlds.store import RAW
from tests.support.worlds.sts_world import DOMAIN, MX_HOST, StsWorld

YOU = f"you@{DOMAIN}"
AS_SENT = "C: (the message, 899 octets)"  # signed and dot-stuffed, with the line that ends it


async def attempted(sending: Sending, message_id: str, count: int = 1) -> list[dict[str, Any]]:
    await sending.until_attempts(message_id, count)
    return await shown_attempts(sending.store, message_id)


async def only(sending: Sending, *recipients: str) -> dict[str, Any]:
    """The only attempt of a message to them."""
    (attempt,) = await attempted(sending, await sending.send(*recipients))
    return attempt


@pytest.mark.parametrize("extensions", [["PIPELINING", "SIZE 26214400"], ["SIZE 26214400"]])
async def test_a_command_stands_before_its_reply(tmp_path: Path, extensions: list[str]) -> None:
    async with Sending(tmp_path, mx=Mx(extensions=extensions)) as sending:
        sending.dns.add_mx(DOMAIN, host=MX_HOST)
        sending.mx.always["dot"] = "250-2.0.0 taken\r\n250 2.0.0 as 12"
        await sending.queue.start()
        message_id = await sending.send(YOU)
        (attempt,) = await attempted(sending, message_id)
        (host,) = attempt["evidence"]["hosts"]
        size = len(sending.mx.received[0].raw)
        assert host["dialogue"] == [
            "S: 220 mx.test ESMTP",
            "C: EHLO mail.ours.test",
            "S: 250-mx.test",
            *(f"S: 250-{one}" for one in extensions[:-1]),
            f"S: 250 {extensions[-1]}",
            f"C: MAIL FROM:<b+{message_id}.***@ours.test> SIZE={size}",
            "S: 250 2.1.0 ok",
            f"C: RCPT TO:<{YOU}>",
            "S: 250 2.1.5 ok",
            "C: DATA",
            "S: 354 go on",
            AS_SENT,
            "S: 250-2.0.0 taken",
            "S: 250 2.0.0 as 12",
        ]
        assert attempt["evidence"]["endedAt"] == host["stage"] == "answer"
        assert (host["host"], host["address"], host["port"]) == (MX_HOST, "127.0.0.1", sending.mx.port)
        assert (host["sourceAddress"], host["ehloName"]) == ("127.0.0.1", "mail.ours.test")
        assert (host["isReused"], host["isRelay"], host["fault"]) == (False, False, None)
        assert (attempt["class"], attempt["gaveUpAt"], attempt["nextAttemptAt"]) == (None, None, None)


async def test_neither_the_message_nor_the_secret_half_of_its_sender_is_kept(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx(DOMAIN)
        message_id = await sending.store.send(YOU, raw=RAW + b"the words of the message\r\n")
        sender = SENDERS.of(message_id, "ours.test", DOMAIN)
        tag = sender.partition("@")[0].partition(".")[2]
        sending.mx.always["RCPT"] = f"550 5.7.1 {sender}: not from you"
        await sending.queue.start()
        (attempt,) = await attempted(sending, message_id)
        lines = attempt["evidence"]["hosts"][0]["dialogue"]
        assert any(line.startswith(f"C: MAIL FROM:<b+{message_id}.***@ours.test>") for line in lines)
        assert attempt["response"] == f"b+{message_id}.***@ours.test: not from you (about MAIL FROM)"
        kept = await sending.store.scalar("SELECT group_concat(evidence) FROM delivery_evidence")
        assert "not from you" in kept
        assert tag not in kept
        assert "the words" not in kept


async def test_of_other_recipients_nothing_is_shown(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx(DOMAIN)
        sending.mx.always["RCPT", "gone@there.test"] = "550-5.1.1 no such user\r\n550 5.1.1 sorry"
        await sending.queue.start()
        message_id = await sending.send(YOU, "gone@there.test")
        mine, theirs = await attempted(sending, message_id, 2)
        lines = mine["evidence"]["hosts"][0]["dialogue"]
        assert f"C: RCPT TO:<{YOU}>" in lines
        assert not any("gone" in line or "sorry" in line for line in lines)
        lines = theirs["evidence"]["hosts"][0]["dialogue"]
        at = lines.index("C: RCPT TO:<gone@there.test>")
        assert lines[at + 1 : at + 4] == ["S: 550-5.1.1 no such user", "S: 550 5.1.1 sorry", "C: DATA"]
        assert (theirs["class"], theirs["permanence"], theirs["advice"]) == (
            "address",
            "permanent",
            "fix_address",
        )
        assert theirs["gaveUpAt"] == theirs["createdAt"]
        assert theirs["suppressed"] is True
        assert await sending.store.scalar("SELECT count(*) FROM delivery_evidence") == 1


async def test_each_attempt_says_when_the_next_is_and_the_last_that_it_was_the_last(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx(DOMAIN)
        sending.mx.always["RCPT"] = "452 4.2.2 mailbox full"
        await sending.queue.start()
        message_id = await sending.send(YOU, expires_in_ms=100_000)
        (first,) = await attempted(sending, message_id)
        (row,) = await sending.store.recipients(message_id)
        assert row.next_attempt_at is not None
        assert (first["outcome"], first["class"], first["permanence"]) == (
            "deferred",
            "mailbox_full",
            "transient",
        )
        assert (first["nextAttemptAt"], first["gaveUpAt"]) == (iso(row.next_attempt_at), None)
        (delayed,) = await sending.store.events("email.delayed")
        assert [delayed[name] for name in ("class", "advice", "nextAttemptAt")] == [
            first[name] for name in ("class", "advice", "nextAttemptAt")
        ]
        await sending.forward_to_retry(message_id)
        await attempted(sending, message_id, 2)
        await sending.forward_to_retry(message_id)
        *_, last = await attempted(sending, message_id, 3)
        assert (last["outcome"], last["attempt"], last["nextAttemptAt"]) == ("expired", 3, None)
        assert last["gaveUpAt"] == iso(sending.clock.now_ms())
        assert last["suppressed"] is False
        (bounced,) = await sending.store.events("email.bounced")
        assert (bounced["bounceType"], bounced["class"], bounced["advice"], bounced["suppressed"]) == (
            last["permanence"], last["class"], last["advice"], last["suppressed"],
        )  # fmt: skip
        (row,) = await sending.store.recipients(message_id)
        assert [row.attempts, row.remote_host, row.smtp_code, row.enhanced_code, row.response, row.tls] == [
            last[name] for name in ("attempt", "remoteHost", "smtpCode", "enhancedCode", "response", "tls")
        ]


async def test_what_takes_long_is_told_by_stage(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx(DOMAIN)
        stages = ("greeting", "MAIL", "dot")
        for stage in stages:
            sending.mx.hold[stage] = asyncio.Event()
        await sending.queue.start()
        message_id = await sending.send(YOU)
        for seconds, stage in enumerate(stages, 1):
            await sending.mx.until(stage)
            sending.clock.forward(seconds)
            sending.mx.hold[stage].set()
        (attempt,) = await attempted(sending, message_id)
        took = attempt["evidence"]["hosts"][0]["durationsMs"]
        assert {name: ms for name, ms in took.items() if ms} == {
            "greeting": 1000,
            "envelope": 2000,
            "answer": 3000,
        }
        assert took["tls"] is None
        assert attempt["durationMs"] == 6000


async def test_a_session_that_goes_on_is_said_to(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx(DOMAIN)
        await sending.queue.start()
        assert (await only(sending, YOU))["evidence"]["hosts"][0]["isReused"] is False
        (host,) = (await only(sending, YOU))["evidence"]["hosts"]
        assert host["isReused"] is True
        assert host["dialogue"][0].startswith("C: MAIL FROM:")
        assert (host["sourceAddress"], host["ehloName"]) == ("127.0.0.1", "mail.ours.test")


@pytest.mark.parametrize(
    ("stage", "ended_at", "last_line"),
    [
        ("greeting", "greeting", None),
        ("MAIL", "envelope", "C: DATA"),
        ("DATA", "envelope", "C: DATA"),
        ("dot", "answer", AS_SENT),
    ],
)
async def test_a_connection_that_is_lost(
    tmp_path: Path, stage: str, ended_at: str, last_line: str | None
) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx(DOMAIN)
        sending.mx.drop_at = stage
        await sending.queue.start()
        attempt = await only(sending, YOU)
        (host,) = attempt["evidence"]["hosts"]
        assert attempt["evidence"]["endedAt"] == host["stage"] == ended_at
        assert "connection lost" in host["fault"]
        assert host["fault"] == attempt["response"]
        assert (host["dialogue"] or [None])[-1] == last_line
        assert (attempt["outcome"], attempt["class"]) == ("deferred", "infrastructure")


async def test_starttls_that_fails_shows_both_connections(tmp_path: Path) -> None:
    async with Sending(tmp_path, mx=Mx(starttls="broken")) as sending:
        sending.dns.add_mx(DOMAIN)
        await sending.queue.start()
        (host,) = (await only(sending, YOU))["evidence"]["hosts"]
        lines = host["dialogue"]
        at = lines.index("C: STARTTLS")
        assert lines[at + 1] == "S: 220 go on"
        assert lines[at + 2].startswith("* TLS failed: ")
        assert lines[at + 2].endswith("; once more, in plain text")
        assert lines[at + 3] == "S: 220 mx.test ESMTP"
        assert lines[-1] == "S: 250 2.0.0 taken"
        assert (host["tlsVersion"], host["verifiedBy"]) == (None, None)
        assert host["tlsFailure"] == "validation-failure"
        (host,) = (await only(sending, YOU))["evidence"]["hosts"]  # the session that was kept
        assert (host["isReused"], host["tlsFailure"]) == (True, "validation-failure")


# Policies ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "tls_policy", "tls_level", "verified_by"),
    [
        ("enforce", "mta-sts", "verify", "webpki"),
        ("testing", "mta-sts", "testing", "webpki"),
        ("", "none", "opportunistic", None),
    ],
)
async def test_what_protected_the_session(
    tmp_path: Path, mode: str, tls_policy: str, tls_level: str, verified_by: str | None
) -> None:
    async with StsWorld(tmp_path) as world:
        if mode:
            world.publish(mode)
        attempt = await only(world.sending, YOU)
        (host,) = attempt["evidence"]["hosts"]
        assert (host["tlsPolicy"], host["tlsLevel"], host["verifiedBy"]) == (
            tls_policy,
            tls_level,
            verified_by,
        )
        assert attempt["tls"].startswith(f"{host['tlsVersion']} {host['cipher']}")
        assert host["tlsVersion"] == "TLSv1.3"
        lines = host["dialogue"]
        assert lines[lines.index("C: STARTTLS") + 1 :][:2] == ["S: 220 go on", "C: EHLO mail.ours.test"]
        assert host["durationsMs"]["tls"] is not None


async def test_a_host_that_offers_less_than_its_policy_wants(tmp_path: Path) -> None:
    async with StsWorld(tmp_path) as world:
        world.publish("enforce")
        world.mx.starttls = ""
        (host,) = (await only(world.sending, YOU))["evidence"]["hosts"]
        assert (host["stage"], host["tlsVersion"], host["verifiedBy"]) == ("hello", None, None)
        assert host["fault"] == "TLS policy mta-sts: TLS is required and not offered"


@pytest.mark.parametrize("mode", ["enforce", "testing"])
@pytest.mark.parametrize(
    ("misfortune", "failure"),
    [
        ("another name", "certificate-host-mismatch"),
        ("expired", "certificate-expired"),
        ("another authority", "certificate-not-trusted"),
        ("no handshake", "validation-failure"),
        ("stripped", "starttls-not-supported"),
    ],
)
async def test_why_tls_did_not_come_about(tmp_path: Path, mode: str, misfortune: str, failure: str) -> None:
    async with StsWorld(tmp_path) as world:
        world.publish(mode)
        spoil(world, tmp_path, misfortune)
        attempt = await only(world.sending, YOU)
        (host,) = attempt["evidence"]["hosts"]
        assert host["tlsFailure"] == failure
        assert attempt["outcome"] == ("deferred" if mode == "enforce" else "delivered")
        if mode == "testing" and misfortune not in ("no handshake", "stripped"):
            assert (host["tlsVersion"], host["verifiedBy"]) == ("TLSv1.3", None)
            assert any(line.endswith("; once more, with any certificate") for line in host["dialogue"])


def spoil(world: StsWorld, folder: Path, misfortune: str) -> None:
    match misfortune:
        case "another name":
            world.mx.tls_context = world.ca.server_context(["elsewhere.test"])
        case "expired":
            world.mx.tls_context = world.ca.server_context([MX_HOST], is_expired=True)
        case "another authority":
            (folder / "other").mkdir()
            world.mx.tls_context = ThrowawayCa(folder / "other", "another").server_context([MX_HOST])
        case "no handshake":
            world.mx.starttls = "broken"
        case _:
            world.mx.starttls = ""


async def test_a_host_that_its_policy_does_not_name(tmp_path: Path) -> None:
    async with StsWorld(tmp_path) as world:
        world.publish("enforce", "mx.elsewhere.test")
        evidence = (await only(world.sending, YOU))["evidence"]
        assert (evidence["endedAt"], evidence["hosts"]) == ("policy", [])
        why = f"TLS policy mta-sts of {DOMAIN} does not name its mail host {MX_HOST}"
        assert evidence["passedOver"] == [{"host": MX_HOST, "reason": why}]


@pytest.mark.parametrize("policy", ["encrypt", "opportunistic", "none"])
async def test_the_operator_s_word_for_a_destination(tmp_path: Path, policy: str) -> None:
    rule = {"partner": {"domains": [DOMAIN], "policy": policy}}
    async with StsWorld(tmp_path, tls=rule) as world:
        (host,) = (await only(world.sending, YOU))["evidence"]["hosts"]
        assert (host["tlsPolicy"], host["tlsLevel"], host["verifiedBy"]) == ("override", policy, None)


# No host -----------------------------------------------------------------------------------------


async def test_a_domain_that_is_not_there(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        await sending.queue.start()
        attempt = await only(sending, "you@nowhere.test")
        assert (attempt["evidence"]["endedAt"], attempt["evidence"]["hosts"]) == ("dns", [])
        assert attempt["evidence"]["dnsMs"] == 0
        assert (attempt["remoteHost"], attempt["class"]) == (None, "address")


async def test_a_message_that_can_not_be_signed(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx(DOMAIN)
        await sending.queue.start()
        message_id = await sending.send(YOU, from_address="bot@keyless.test")
        (attempt,) = await attempted(sending, message_id)
        assert (attempt["evidence"]["endedAt"], attempt["evidence"]["hosts"]) == ("message", [])
        assert attempt["response"] == "no DKIM key for the sender's domain"


async def test_all_hosts_are_dead_and_what_is_put_off_then_is_no_attempt(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx(DOMAIN, host="one.there.test", preference=10)
        sending.dns.add_mx(DOMAIN, host="two.there.test", preference=20)
        await sending.mx.stop()
        await sending.queue.start()
        evidence = (await only(sending, YOU))["evidence"]
        assert [(host["host"], host["stage"]) for host in evidence["hosts"]] == [
            ("one.there.test", "connect"), ("two.there.test", "connect"),
        ]  # fmt: skip
        assert all("refused" in host["fault"].lower() for host in evidence["hosts"])
        assert all(host["dialogue"] == [] for host in evidence["hosts"])
        message_id = await sending.send(YOU)
        await sending.until(message_id, "deferred")
        assert await sending.store.attempts(message_id) == []


async def test_no_way_is_found_and_then_not_looked_for_for_a_while(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.servfail.add(DOMAIN)
        await sending.queue.start()
        evidence = (await only(sending, YOU))["evidence"]
        assert (evidence["endedAt"], evidence["hosts"]) == ("dns", [])
        evidence = (await only(sending, YOU))["evidence"]
        assert (evidence["endedAt"], evidence["hosts"], evidence["dnsMs"]) == ("not_tried", [], None)


async def test_of_many_dead_hosts_the_first_and_the_last_are_kept(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        for number in range(7):
            sending.dns.add_mx(DOMAIN, host=f"mx{number}.there.test", preference=number)
        sending.mx.always["greeting"] = "421 4.3.2 busy"
        await sending.queue.start()
        evidence = (await only(sending, YOU))["evidence"]
        assert [host["host"] for host in evidence["hosts"]] == [
            "mx0.there.test", "mx4.there.test", "mx5.there.test", "mx6.there.test",
        ]  # fmt: skip
        assert evidence["hostsLeftOut"] == 3


# How long it is kept -----------------------------------------------------------------------------


async def test_of_many_attempts_the_first_and_the_latest_keep_their_evidence(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx(DOMAIN)
        sending.mx.always["RCPT"] = "451 4.7.1 later"
        await sending.queue.start()
        message_id = await sending.send(YOU)
        for count in range(1, 14):
            found = await attempted(sending, message_id, count)
            await sending.forward_to_retry(message_id)
        assert [one["attempt"] for one in found if one["evidence"]] == [1, 2, 3, 7, 8, 9, 10, 11, 12, 13]
