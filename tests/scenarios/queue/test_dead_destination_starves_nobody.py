"""A destination that accepts connections and then says nothing, with a long line of mail."""

import asyncio
from pathlib import Path

from tests.support.worlds.sending import Sending


async def test_others_are_served_while_one_hangs(tmp_path: Path) -> None:
    async with Sending(tmp_path, outbound={"max_connections": 4}) as sending:
        sending.dns.add_mx("hangs.test")
        sending.dns.add_mx("there.test", address="127.0.0.2")
        sending.mx.hold["greeting"] = asyncio.Event()
        for number in range(100):
            await sending.store.send(f"u{number}@hangs.test")
        await sending.queue.start()
        await sending.mx.until("greeting")

        lively = await type(sending.mx)().start("127.0.0.2", sending.mx.port)
        async with lively:
            messages = [await sending.send(f"u{number}@there.test") for number in range(30)]
            for message_id in messages:
                await sending.until(message_id, "delivered")
            assert len(lively.received) == 30
            assert sending.mx.connections == 1  # one probe for the silent one, not a hundred
        sending.mx.hold.pop("greeting").set()


async def test_a_destination_out_of_reach_is_deferred_without_dialling_for_each(tmp_path: Path) -> None:
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("gone.test")
        sending.dns.add_mx("there.test", address="127.0.0.2")
        await sending.mx.stop()  # connections are refused
        gone = [await sending.store.send(f"u{number}@gone.test") for number in range(60)]
        await sending.queue.start()
        for message_id in gone:
            await sending.until(message_id, "deferred")
        (row,) = await sending.store.recipients(gone[-1])
        assert (row.remote_host, row.enhanced_code) == (None, "4.4.1")
        assert "mx.gone.test" in row.response


async def test_what_has_no_room_in_its_line_is_not_asked_for_again_and_again(tmp_path: Path) -> None:
    """Messages of a hundred recipients, more than the line of a host takes that has not answered yet."""
    async with Sending(tmp_path) as sending:
        sending.dns.add_mx("hangs.test")
        sending.mx.hold["greeting"] = asyncio.Event()
        await sending.store.send("first@hangs.test")
        await sending.queue.start()
        await sending.mx.until("greeting")
        leases, lease = 0, sending.queue._leases._take_due

        def counting(*given: object) -> object:
            nonlocal leases
            leases += 1
            return lease(*given)  # type: ignore[arg-type]

        sending.queue._leases._take_due = counting  # type: ignore[method-assign, assignment]
        many = [
            await sending.store.send(*(f"u{number}@hangs.test" for number in range(100))) for _ in range(3)
        ]
        sending.queue.wake()
        sending.dns.add_mx("there.test", address="127.0.0.2")
        async with await type(sending.mx)().start("127.0.0.2", sending.mx.port):
            for number in range(10):
                await sending.until(await sending.send(f"u{number}@there.test"), "delivered")
        assert leases < 40
        sending.mx.hold.pop("greeting").set()
        for message_id in many:
            await sending.until(message_id, *["delivered"] * 100)
