"""Somebody between us and a domain spoils TLS: what our sessions with its hosts were like is counted, and told."""

from pathlib import Path

import pytest

from storage.clock import DAY_MS
from storage.sending import tls_sessions
from storage.sending.tls_sessions import TlsSession
from tests.scenarios.tls.test_dane_is_kept import DOMAIN as DANE_DOMAIN
from tests.scenarios.tls.test_dane_is_kept import HOST, DaneWorld
from tests.support.peers.mx import Mx
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.peers.tlsa import tlsa_record
from tests.support.peers.webhook_sink import Reply
from tests.support.worlds.sending import Sending
from tests.support.worlds.sts_world import DOMAIN, MX_HOST, StsWorld

REPORTS = {"tls_reports": True}
NO_POLICY = TlsSession("no-policy-found", "[[],[]]")


async def counted(sending: Sending, domain: str = DOMAIN) -> list[tuple[TlsSession, int]]:
    day = sending.clock.now_ms() // DAY_MS
    return await sending.store.db.read(tls_sessions.of, day, domain)


def sts(mode: str, *mx: str) -> str:
    patterns = mx or (MX_HOST,)
    lines = ["version: STSv1", f"mode: {mode}", *(f"mx: {one}" for one in patterns), "max_age: 604800"]
    return f"[{_array(lines)},{_array(patterns)}]"


def _array(texts: object) -> str:
    return "[" + ",".join(f'"{one}"' for one in texts) + "]"  # type: ignore[attr-defined]


def failed(
    result: str, policy_type: str = "no-policy-found", policy: str = "[[],[]]", **more: str
) -> TlsSession:
    where = {"mx_host": MX_HOST, "receiving_ip": "127.0.0.1", "sending_ip": "127.0.0.1", **more}
    return TlsSession(policy_type, policy, result, **where)


async def test_a_session_is_counted_once_however_many_messages_it_takes(tmp_path: Path) -> None:
    context = ThrowawayCa(tmp_path).server_context([MX_HOST])
    async with Sending(tmp_path, mx=Mx(starttls="good", tls_context=context), outbound=REPORTS) as sending:
        sending.dns.add_mx(DOMAIN, host=MX_HOST)
        await sending.queue.start()
        for _ in range(3):
            await sending.until(await sending.send(f"you@{DOMAIN}"), "delivered")
        assert sending.mx.connections == 1
        assert await counted(sending) == [(NO_POLICY, 1)]
        sending.clock.forward(60)  # the kept-open session is too old now
        await sending.until(await sending.send(f"you@{DOMAIN}"), "delivered")
        assert await counted(sending) == [(NO_POLICY, 2)]


async def test_nothing_is_counted_unless_the_operator_wants_it(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx(DOMAIN, host=MX_HOST)
        await sending.queue.start()
        await sending.until(await sending.send(f"you@{DOMAIN}"), "delivered")
        assert await counted(sending) == []


@pytest.mark.parametrize(
    ("starttls", "result"), [("", "starttls-not-supported"), ("broken", "validation-failure")]
)
async def test_without_a_policy_failures_are_told_though_the_mail_goes(
    tmp_path: Path, starttls: str, result: str
) -> None:
    async with Sending(tmp_path, mx=Mx(starttls=starttls), outbound=REPORTS) as sending:
        sending.dns.add_mx(DOMAIN, host=MX_HOST)
        await sending.queue.start()
        await sending.until(await sending.send(f"you@{DOMAIN}"), "delivered")
        assert await counted(sending) == [(failed(result), 1)]


async def test_a_host_that_is_not_there_tells_nothing_of_tls(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound=REPORTS) as sending:
        sending.dns.add_mx(DOMAIN, host=MX_HOST)
        sending.mx.always["greeting"] = "421 later"
        await sending.queue.start()
        await sending.until(await sending.send(f"you@{DOMAIN}"), "deferred")
        assert await counted(sending) == []


@pytest.mark.parametrize(
    "outbound", [{"relay": ""}, {"tls": {"x": {"domains": [DOMAIN], "policy": "encrypt"}}}]
)
async def test_sessions_that_the_operator_rules_are_not_told(
    tmp_path: Path, outbound: dict[str, object]
) -> None:
    context = ThrowawayCa(tmp_path).server_context([MX_HOST])
    async with Mx(starttls="good", tls_context=context) as mx:
        if "relay" in outbound:
            outbound = {"relay": f"127.0.0.1:{mx.port}"}
        async with Sending(tmp_path, mx=mx, outbound={**REPORTS, **outbound}) as sending:
            sending.dns.add_mx(DOMAIN, host=MX_HOST)
            await sending.queue.start()
            status = "sent" if "relay" in outbound else "delivered"
            await sending.until(await sending.send(f"you@{DOMAIN}"), status)
            assert await counted(sending) == []


@pytest.mark.parametrize("mode", ["enforce", "testing"])
@pytest.mark.parametrize(
    ("misfortune", "result"),
    [
        ("", ""),
        ("stripped", "starttls-not-supported"),
        ("broken", "validation-failure"),
        ("another name", "certificate-host-mismatch"),
        ("stranger", "certificate-not-trusted"),
    ],
)
async def test_under_an_sts_policy(tmp_path: Path, mode: str, misfortune: str, result: str) -> None:
    async with StsWorld(tmp_path, tls_reports=True) as world:
        world.publish(mode)
        if misfortune == "stripped":
            world.mx.starttls = ""
        elif misfortune == "broken":
            world.mx.starttls = "broken"
        elif misfortune == "another name":
            world.mx.tls_context = world.ca.server_context(["elsewhere.test"])
        elif misfortune == "stranger":
            (tmp_path / "other").mkdir()
            world.mx.tls_context = ThrowawayCa(tmp_path / "other").server_context([MX_HOST])
        await world.sent("deferred" if mode == "enforce" and misfortune else "delivered")
        told = failed(result, "sts", sts(mode)) if result else TlsSession("sts", sts(mode))
        assert await counted(world.sending) == [(told, 1)]


async def test_after_a_remembered_failure_a_session_is_no_success(tmp_path: Path) -> None:
    async with StsWorld(tmp_path, tls_reports=True) as world:
        world.publish("testing")
        world.mx.tls_context = world.ca.server_context(["elsewhere.test"])
        await world.sent("delivered")
        world.sending.clock.forward(60)
        await world.sent("delivered")
        told = failed("certificate-host-mismatch", "sts", sts("testing"))
        assert await counted(world.sending) == [(told, 1)]


@pytest.mark.parametrize("mode", ["enforce", "testing"])
async def test_a_host_that_the_policy_does_not_name(tmp_path: Path, mode: str) -> None:
    async with StsWorld(tmp_path, tls_reports=True) as world:
        world.publish(mode, "mx.elsewhere.test")
        await world.sent("deferred" if mode == "enforce" else "delivered")
        nowhere = {"receiving_ip": "", "sending_ip": ""} if mode == "enforce" else {}
        policy = sts(mode, "mx.elsewhere.test")
        told = failed("validation-failure", "sts", policy, reason="mx-not-in-policy", **nowhere)
        assert await counted(world.sending) == [(told, 1)]


@pytest.mark.parametrize(
    ("reply", "result"),
    [
        (Reply(404), "sts-policy-fetch-error"),
        (Reply(200, {"Content-Type": "text/plain"}, b"what"), "sts-policy-invalid"),
    ],
)
async def test_a_policy_that_can_not_be_had(tmp_path: Path, reply: Reply, result: str) -> None:
    async with StsWorld(tmp_path, tls_reports=True) as world:
        world.tell_id("1")
        world.serve(reply)
        await world.sent("delivered")
        assert await counted(world.sending) == [(failed(result, "sts"), 1)]
        world.publish("enforce", id="2")
        world.sending.clock.forward(400)
        await world.sent("delivered")
        assert (TlsSession("sts", sts("enforce")), 1) in await counted(world.sending)


async def test_a_policy_whose_host_nobody_vouches_for(tmp_path: Path) -> None:
    world = StsWorld(tmp_path, tls_reports=True)
    world.both.write_bytes(world.ca.ca_file.read_bytes())
    async with world:
        world.publish("enforce")
        await world.sent("delivered")
        assert await counted(world.sending) == [(failed("sts-webpki-invalid", "sts"), 1)]


@pytest.mark.parametrize("misfortune", ["", "another certificate", "unusable"])
async def test_under_dane(tmp_path: Path, misfortune: str) -> None:
    world = DaneWorld(tmp_path)
    world.sending.outbound = REPORTS
    async with world:
        vouched = b"another" if misfortune == "another certificate" else world.leaf
        usage = 1 if misfortune == "unusable" else 3
        text = tlsa_record(usage, 0, 1, vouched)
        world.add(text)
        await world.sent("deferred" if misfortune == "another certificate" else "delivered")
        strings = "" if misfortune == "unusable" else f'"{world.tlsa_name}. IN TLSA {text}"'
        policy = f'[[{strings}],["{HOST}"]]'
        result = {"": "", "unusable": "tlsa-invalid", "another certificate": "certificate-not-trusted"}[
            misfortune
        ]
        told = failed(result, "tlsa", policy, mx_host=HOST) if result else TlsSession("tlsa", policy)
        assert await counted(world.sending, DANE_DOMAIN) == [(told, 1)]


async def test_a_report_is_sent_though_the_policy_forbids_it_and_nothing_else_is(tmp_path: Path) -> None:
    async with StsWorld(tmp_path, tls_reports=True, max_connections_per_destination=1) as world:
        world.publish("enforce")
        world.mx.starttls = ""
        sending = world.sending
        await sending.queue.stop()
        reports = [await sending.store.send(f"tls@{DOMAIN}") for _ in range(2)]
        for day, report in enumerate(reports):
            await sending.store.db.write(tls_sessions.mark_sent, day, DOMAIN, f"mailto:tls@{DOMAIN}", report)
        other = await sending.store.send(f"you@{DOMAIN}")
        await world.restart()
        for report in reports:
            await sending.until(report, "delivered")
        await sending.until(other, "deferred")
        # Not even on the session that took the last report.
        assert [mail.recipients for mail in world.mx.received] == [[f"tls@{DOMAIN}"]] * 2
        # Of the other message's session alone.
        told = failed("starttls-not-supported", "sts", sts("enforce"))
        assert await counted(sending) == [(told, 1)]
