"""`maild queue retry` ends what the daemon remembers of a destination's hosts, once for each time that it is asked."""

from pathlib import Path

from maild.resolver import FAILURE_TTL_S
from storage.sending import queue_selection
from storage.sending.queue_selection import QueueSelection
from tests.scenarios.mail_hosts.test_421_storm import backs_off, group, storm
from tests.scenarios.queue.test_more_mail_than_a_destination_may_have import SLOW, settled, waiting
from tests.support.worlds.sending import Sending


async def retry(sending: Sending, destination: str) -> int:
    """As the operator's command does it, in another process perhaps."""
    sending.clock.forward(0.001)
    selection = QueueSelection(destination=destination)
    changed = await sending.store.db.write(queue_selection.retry, selection, sending.clock.now_ms())
    sending.queue.wake()
    return changed


async def test_a_receiver_that_is_well_again_gets_all_of_it_at_once(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sent = await storm(sending, 30)
        sending.mx.always.clear()
        assert await retry(sending, "storm.test") == 30
        for message_id in sent:
            await sending.until(message_id, "delivered")
        assert group(sending, "mx.storm.test").pace.waits_s == 0


async def test_a_receiver_that_is_not_hears_of_one_message_and_is_left_alone_for_longer(
    tmp_path: Path,
) -> None:
    async with Sending(tmp_path) as sending:
        await storm(sending, 30)
        assert await retry(sending, "storm.test") == 30
        await sending.mx.until("greeting", 2)
        await backs_off(sending, "mx.storm.test")
        await sending.until_true(
            "SELECT count(*) = 30 FROM recipients WHERE lease IS NULL AND next_attempt_at > ?",
            (sending.clock.now_ms(),),
        )
        assert sending.mx.connections == 2
        assert 51 < group(sending, "mx.storm.test").pace.waits_s <= 102


async def test_one_domain_of_a_provider_is_enough_for_all_of_its_domains(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        await storm(sending, 3)
        sending.dns.add_mx("other.test", host="mx.storm.test")
        other = await sending.send("you@other.test")
        await sending.until(other, "deferred")
        sending.mx.always.clear()
        assert await retry(sending, "other.test") == 1
        await sending.until(other, "delivered")
        assert group(sending, "mx.storm.test").pace.waits_s == 0


async def test_a_retry_of_what_goes_elsewhere_ends_no_back_off(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sent = await storm(sending, 3)
        sending.dns.add_mx("there.test", host="mx.there.test", address="127.0.0.2")
        elsewhere = await sending.send("you@there.test")
        await sending.until(elsewhere, "deferred")  # nobody listens there
        sending.mx.always.clear()
        assert await retry(sending, "there.test") == 1
        await sending.until_attempts(elsewhere, 2)
        assert group(sending, "mx.storm.test").pace.waits_s > 0
        assert [row.status for one in sent for row in await sending.store.recipients(one)] == ["deferred"] * 3


async def test_what_waits_for_its_rate_comes_no_later_for_it(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound=SLOW) as sending:
        await waiting(sending, 30)
        for _ in range(3):
            assert await retry(sending, "slow.test") == 29
            await settled(sending, 29)
        sql = "SELECT next_attempt_at FROM recipients WHERE next_attempt_at IS NOT NULL ORDER BY next_attempt_at"
        rows = await sending.store.db.read(lambda tx: tx.all(sql))
        due_s = [(at - sending.clock.now_ms()) // 1000 for (at,) in rows]
        assert due_s == list(range(10, 300, 10))
        assert len(sending.mx.received) == 1


async def test_a_retry_of_before_the_start_disturbs_no_plan(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound=SLOW) as sending:
        asked = "INSERT INTO retries_asked (destination, asked_at) VALUES ('slow.test', ?)"
        await sending.store.db.write(lambda tx: tx.run(asked, (sending.clock.now_ms(),)))
        sending.clock.forward(1)
        await waiting(sending, 5)
        sql = "SELECT count(DISTINCT next_attempt_at) FROM recipients WHERE next_attempt_at IS NOT NULL"
        assert await sending.store.db.read(lambda tx: tx.value(sql)) == 4


async def test_a_domain_whose_records_were_mended_is_looked_up_again(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.servfail.add("there.test")
        await sending.queue.start()
        sent = [await sending.send(f"u{number}@there.test") for number in range(3)]
        for message_id in sent:
            await sending.until(message_id, "deferred")
        sending.dns.servfail.clear()
        sending.clock.forward(FAILURE_TTL_S)  # but not until it would be looked up anyway
        sending.dns.add_mx("there.test")
        assert await retry(sending, "there.test") == 3
        for message_id in sent:
            await sending.until(message_id, "delivered")
