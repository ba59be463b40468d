"""This host has no way to a mail host, or none from the address that a domain's mail leaves from: of the host that
says nothing."""

from pathlib import Path

from tests.support.peers.mx import Mx
from tests.support.worlds.sending import Sending

MISSING = "192.0.2.99"  # documentation, RFC 5737: no host has it
NOWHERE = "255.255.255.255"  # TCP has no way to it, whatever routes there are


async def test_a_source_address_that_is_missing_holds_up_the_mail_of_its_domain_alone(tmp_path: Path) -> None:
    sources = {"second": {"senders": ["second.test"], "addresses": [MISSING]}}
    async with Sending(tmp_path, outbound={"sources": sources}) as sending:
        sending.dns.add_mx("there.test")
        await sending.store.sign_for("second.test")
        await sending.queue.start()
        theirs = await sending.send("you@there.test", from_address="bot@second.test")
        await sending.until(theirs, "deferred")
        await sending.until(await sending.send("you@there.test"), "delivered")
        (row,) = await sending.store.recipients(theirs)
    assert f"no way to it from {MISSING}" in row.response


async def test_hosts_that_there_is_no_way_to_are_not_left_alone_when_there_is_one_again(
    tmp_path: Path,
) -> None:
    """Else it takes up to an hour after a short fault of our own network, for each of them."""
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("there.test", NOWHERE)
        await sending.queue.start()
        message_id = await sending.send("you@there.test")
        await sending.until(message_id, "deferred")
        (row,) = await sending.store.recipients(message_id)
        assert "no way to it from this host: Network is unreachable" in row.response
        assert not sending.queue._deliverer._groups.group("mx.there.test").pace.waits_s
        sending.dns.add_mx("other.test", host="mx.there.test")
        sending.dns.records["mx.there.test", "A"] = ["127.0.0.1"]
        sending.clock.forward(301)
        await sending.until(await sending.send("you@other.test"), "delivered")


async def test_what_another_host_did_is_told_rather_than_that_there_is_no_way(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending, Mx() as gone:
        sending.dns.add_mx("there.test", NOWHERE, "mx4.there.test")
        sending.dns.add_mx("there.test", "127.0.0.2", "mx6.there.test", 20)
        await gone.stop()
        await sending.queue.start()
        message_id = await sending.send("you@there.test")
        await sending.until(message_id, "deferred")
        (row,) = await sending.store.recipients(message_id)
    assert row.response == "mx6.there.test [127.0.0.2]: Connection refused"
