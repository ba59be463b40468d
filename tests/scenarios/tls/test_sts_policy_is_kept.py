"""MTA-STS: somebody between us and a domain strips TLS, shows another certificate, or hinders the policy."""

import asyncio
from pathlib import Path

import pytest
import structlog

from tests.support.peers.webhook_sink import Reply
from tests.support.worlds.sts_world import DOMAIN, MX_HOST, StsWorld, policy_file

YEAR_S = 365 * 86_400
TEXT = {"Content-Type": "text/plain"}


def spoil(world: StsWorld, misfortune: str) -> None:
    if misfortune == "stripped":
        world.mx.starttls = ""
    elif misfortune == "broken":
        world.mx.starttls = "broken"
    elif misfortune == "another name":
        world.mx.tls_context = world.ca.server_context(["elsewhere.test"])
    elif misfortune == "expired":
        world.mx.tls_context = world.ca.server_context([MX_HOST], is_expired=True)
    elif misfortune == "a common name alone":  # RFC 8461 §4.1 wants a DNS-ID
        world.mx.tls_context = world.ca.server_context([MX_HOST], is_by_common_name=True)


async def test_under_enforce_the_host_proves_its_name(tmp_path: Path) -> None:
    async with StsWorld(tmp_path) as world:
        world.publish("enforce", "*.there.test")
        with structlog.testing.capture_logs() as lines:
            row = await world.sent("delivered")
        assert row.tls is not None
        assert row.tls.startswith("TLSv1.3 ") and row.tls.endswith(" (mta-sts)")
        assert world.mx.received[0].tls
        (attempt,) = [line for line in lines if line["event"] == "attempted"]
        assert (attempt["tls"], attempt["tls_policy"]) == (row.tls, "mta-sts")


@pytest.mark.parametrize(
    ("misfortune", "words"),
    [
        ("stripped", "TLS policy mta-sts: TLS is required and not offered"),
        ("broken", f"TLS policy mta-sts: {MX_HOST} [127.0.0.1]: "),
        ("another name", f"TLS policy mta-sts: {MX_HOST} [127.0.0.1]: the certificate does not verify: "),
        ("expired", f"TLS policy mta-sts: {MX_HOST} [127.0.0.1]: the certificate does not verify: "),
        (
            "a common name alone",
            f"TLS policy mta-sts: {MX_HOST} [127.0.0.1]: the certificate does not verify: ",
        ),
    ],
)
async def test_under_enforce_mail_waits_and_is_never_seen(
    tmp_path: Path, misfortune: str, words: str
) -> None:
    async with StsWorld(tmp_path) as world:
        world.publish("enforce")
        spoil(world, misfortune)
        row = await world.sent("deferred")
        assert (row.enhanced_code, row.tls) == ("4.7.0", None)
        assert row.response is not None and row.response.startswith(words)
        assert not any(line.startswith("MAIL") for line in world.mx.commands)


async def test_a_host_that_the_policy_does_not_name_is_not_even_connected_to(tmp_path: Path) -> None:
    async with StsWorld(tmp_path) as world:
        world.publish("enforce", "mx.elsewhere.test", "*.mx.there.test")
        row = await world.sent("deferred")
        assert row.response == f"TLS policy mta-sts of {DOMAIN} does not name its mail host {MX_HOST}"
        assert (row.enhanced_code, world.mx.connections) == ("4.7.0", 0)


async def test_of_several_hosts_the_named_one_takes_it(tmp_path: Path) -> None:
    async with StsWorld(tmp_path) as world:
        world.publish("enforce")
        world.sending.dns.add_mx(DOMAIN, host="evil.test", preference=1)
        assert (await world.sent("delivered")).remote_host == MX_HOST
        assert world.mx.connections == 1


@pytest.mark.parametrize("misfortune", ["stripped", "broken", "another name", "not named", ""])
async def test_under_testing_it_is_delivered_as_before_and_told(tmp_path: Path, misfortune: str) -> None:
    async with StsWorld(tmp_path) as world:
        world.publish("testing", *(["elsewhere.test"] if misfortune == "not named" else []))
        spoil(world, misfortune)
        with structlog.testing.capture_logs() as lines:
            row = await world.sent("delivered")
        told = [line for line in lines if line["event"] == "tls_policy_unmet"]
        assert bool(told) == bool(misfortune)
        assert all(line["policy"] == "mta-sts testing" and line["reason"] for line in told)
        is_encrypted = misfortune not in ("stripped", "broken")
        assert (row.tls is not None) == is_encrypted == world.mx.received[0].tls
        assert "(" not in (row.tls or "")


@pytest.mark.parametrize("misfortune", ["stripped", "broken", "another name"])
async def test_under_none_nothing_is_demanded(tmp_path: Path, misfortune: str) -> None:
    async with StsWorld(tmp_path) as world:
        world.publish("none")
        spoil(world, misfortune)
        await world.sent("delivered")


BAD = {
    "gone": Reply(404, TEXT, b""),
    "moved": Reply(301, {**TEXT, "Location": "https://there.test/"}, policy_file("none")),
    "html": Reply(200, {"Content-Type": "text/html"}, policy_file("none")),
    "untyped": Reply(200, {}, policy_file("none")),
    "huge": Reply(200, TEXT, policy_file("none") + b"x: y\r\n" * 12_000),
    "endless": Reply(200, TEXT, endless=True),
    "unframed": Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + policy_file("none")),
    "garbage": Reply(200, TEXT, b"\xff\x00 what"),
    "lying": Reply(200, TEXT, b"version: STSv1\nmode: none\nmax_age: -1\n"),
    "hung up": Reply(drop=True),
}


@pytest.mark.parametrize("bad", BAD)
async def test_a_fetch_that_fails_weakens_nothing(tmp_path: Path, bad: str) -> None:
    async with StsWorld(tmp_path) as world:
        world.publish("enforce")
        await world.sent("delivered")
        world.tell_id("2")
        world.serve(BAD[bad])
        world.mx.starttls = ""
        world.sending.clock.forward(400)
        with structlog.testing.capture_logs() as lines:
            row = await world.sent("deferred")
        assert world.fetches >= 2  # a kept-open connection that is closed is no answer
        assert [line["domain"] for line in lines if line["event"] == "sts_policy_not_fetched"] == [DOMAIN]
        assert row.response == "TLS policy mta-sts: TLS is required and not offered"


@pytest.mark.parametrize("bad", BAD)
async def test_without_a_policy_of_before_it_is_as_if_there_were_none(tmp_path: Path, bad: str) -> None:
    async with StsWorld(tmp_path) as world:
        world.tell_id("1")
        world.serve(BAD[bad])
        await world.sent("delivered")
        await world.sent("delivered")
        assert world.fetches == 1  # once in five minutes


async def test_a_policy_host_inside_is_not_called(tmp_path: Path) -> None:
    world = StsWorld(tmp_path)
    world.allow_private_networks = False
    async with world:
        world.publish("enforce")
        with structlog.testing.capture_logs() as lines:
            await world.sent("delivered")
        (line,) = [line for line in lines if line["event"] == "sts_policy_not_fetched"]
        assert "private" in line["reason"]
        assert world.host.connections == 0


async def test_another_id_brings_another_policy(tmp_path: Path) -> None:
    async with StsWorld(tmp_path) as world:
        world.publish("enforce", "old.there.test")
        await world.sent("deferred")
        world.publish("enforce", id="2")
        world.sending.clock.forward(400)
        assert (await world.sent("delivered")).tls.endswith(" (mta-sts)")  # type: ignore[union-attr]
        assert world.fetches == 2


async def test_it_outlives_a_restart_and_the_loss_of_its_record(tmp_path: Path) -> None:
    async with StsWorld(tmp_path) as world:
        world.publish("enforce")
        await world.sent("delivered")
        world.mx.starttls = ""
        world.tell_id(None)
        world.serve(BAD["gone"])
        await world.restart()
        world.sending.clock.forward(400)
        assert (await world.sent("deferred")).enhanced_code == "4.7.0"
        assert world.fetches == 1


async def test_it_ends_with_its_age_and_not_before(tmp_path: Path) -> None:
    async with StsWorld(tmp_path) as world:
        world.publish("enforce", max_age_s=10_000)
        await world.sent("delivered")
        world.tell_id(None)
        world.serve(BAD["gone"])
        world.mx.starttls = ""
        world.sending.clock.forward(9_000)
        await world.sent("deferred")
        world.sending.clock.forward(2_000)
        assert (await world.sent("delivered")).tls is None


@pytest.mark.parametrize(
    ("max_age_s", "age_s"), [(10_000, 6_000), (YEAR_S, 87_000)], ids=["half of its age", "a day"]
)
async def test_an_old_one_is_fetched_anew_before_it_ends_and_nobody_waits(
    tmp_path: Path, max_age_s: int, age_s: int
) -> None:
    async with StsWorld(tmp_path) as world:
        world.publish("enforce", max_age_s=max_age_s)
        await world.sent("delivered")
        held = asyncio.Event()
        world.serve(Reply(headers=TEXT, body=policy_file("enforce"), hold=held))
        world.sending.clock.forward(age_s)
        await world.sent("delivered")
        await world.host.received_count(2)
        held.set()


async def test_one_of_a_domain_that_gets_no_mail_is_fetched_anew_before_it_ends(tmp_path: Path) -> None:
    async with StsWorld(tmp_path) as world:
        world.publish("enforce", max_age_s=10_000)
        await world.sent("delivered")
        await world.refresh()
        assert world.fetches == 1
        for _ in range(3):
            world.sending.clock.forward(6_000)
            await world.refresh()
        assert world.fetches == 4
        world.tell_id(None)
        world.mx.starttls = ""
        world.sending.clock.forward(6_000)
        await world.refresh()
        assert world.fetches == 4  # the record is gone
        assert (await world.sent("deferred")).enhanced_code == "4.7.0"


@pytest.mark.parametrize("bad", BAD)
async def test_fetching_it_anew_without_mail_weakens_nothing(tmp_path: Path, bad: str) -> None:
    async with StsWorld(tmp_path) as world:
        world.publish("enforce", max_age_s=10_000)
        await world.sent("delivered")
        world.serve(BAD[bad])
        world.sending.clock.forward(6_000)
        await world.refresh()
        world.mx.starttls = ""
        assert (await world.sent("deferred")).enhanced_code == "4.7.0"
        await world.until_fetched()
        await world.sending.queue.stop()  # the second attempt, which is due by then, would ask for it
        fetches = world.fetches
        world.sending.clock.forward(6_000)
        await world.refresh()
        assert world.fetches == fetches  # it has ended, and nobody asks for it any more


async def test_one_that_a_clock_ahead_has_fetched_is_fetched_anew(tmp_path: Path) -> None:
    """It was set back: the policy would be in force, and young, for years."""
    async with StsWorld(tmp_path) as world:
        world.sending.clock.forward(YEAR_S)
        world.publish("enforce", max_age_s=10_000)
        await world.sent("delivered")
        world.sending.clock.set_back(YEAR_S)
        world.sending.clock.forward(400)
        await world.sent("delivered")
        await world.host.received_count(2)


async def test_a_policy_host_that_hangs_holds_up_its_own_domain_once(tmp_path: Path) -> None:
    async with StsWorld(tmp_path) as world:
        world.sending.dns.add_mx("other.test")
        held = asyncio.Event()
        world.publish("enforce")
        world.serve(Reply(headers=TEXT, body=policy_file("enforce"), hold=held))
        waiting = [await world.sending.send(f"u{number}@{DOMAIN}") for number in range(5)]
        await world.host.received_count(1)
        await world.sent("delivered", to="you@other.test")
        assert [row.status for row in await world.sending.store.recipients(waiting[0])] == ["queued"]
        held.set()
        for message_id in waiting:
            await world.sending.until(message_id, "delivered")
        assert world.fetches == 1
        assert all(mail.tls for mail in world.mx.received if mail.recipients != ["you@other.test"])


async def test_what_is_known_costs_no_look_up_and_no_fetch(tmp_path: Path) -> None:
    async with StsWorld(tmp_path) as world:
        world.publish("enforce")
        for _ in range(5):
            await world.sent("delivered")
        assert world.fetches == 1
        assert world.sending.dns.queries[f"_mta-sts.{DOMAIN}", "TXT"] == 1


async def test_a_domain_without_one_costs_one_look_up(tmp_path: Path) -> None:
    async with StsWorld(tmp_path) as world:
        for _ in range(5):
            await world.sent("delivered")
        assert (world.fetches, world.sending.dns.queries[f"_mta-sts.{DOMAIN}", "TXT"]) == (0, 1)
