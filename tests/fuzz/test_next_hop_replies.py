"""Whatever a next hop says, and wherever it hangs up: every recipient one verdict an attempt, one end, one copy.

The queue, the store and the sockets are the real ones; hypothesis writes what the hop says at each step. When its
script is over the hop behaves, so every story ends. NEXT_HOP_STORIES=2000 tells more of them.
"""

import asyncio
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from maild.message.delivery_evidence import EVIDENCE_OCTETS_MAX, unpack
from storage.engine.tx import Tx
from storage.records import RecipientRow
from storage.states import RECIPIENT_PENDING
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.sending import Sending
from tests.support.worlds.store import RAW

STORIES = int(os.environ.get("NEXT_HOP_STORIES", "60"))
PEOPLE = ("a@there.test", "b@there.test", "c@there.test")
USUAL = {
    "greeting": b"220 hop",
    "MAIL": b"250 ok",
    "RCPT": b"250 ok",
    "DATA": b"354 go on",
    "dot": b"250 taken",
}
ONE_REPLY = re.compile(rb"(?:[2-5]\d\d-[^\r\n]*\r\n)*([2-5]\d\d)(?: [^\r\n]*)?\r\n")
UNFINISHED = re.compile(rb"(?:[^\n]|(?:^|\n)[2-5]\d\d-[^\n]*\n)\Z")

WORDS = "what only the message says"
HANG_UP = b""
codes = st.one_of(
    st.sampled_from([250, 251, 252, 220, 221, 354, 421, 450, 451, 452, 503, 550, 552, 554]),
    st.integers(0, 999),
)
replies = st.builds(
    lambda code, text: b"%03d%s\r\n" % (code, text),
    codes,
    st.sampled_from([b" hm", b"", b" 5.1.1 x", b"-", b"x"]),
)
lines = st.one_of(
    replies,
    st.builds(bytes.__add__, replies, replies),
    st.builds(lambda code: b"%d-one\r\n%d two\r\n" % (code, code), codes.filter(lambda code: code >= 200)),
    st.binary(min_size=1, max_size=20).map(lambda some: some + b"\r\n"),
    st.sampled_from(
        [b"250", b"250 " + b"x" * 9000 + b"\r\n", b"250-x\r\n" * 6000, b"\r\n", b"250 ok\n", b"\xff\xfe\r\n"]
    ),
)
# None: what a host says here as a rule.
script = st.lists(st.one_of(st.none(), st.none(), lines, st.just(HANG_UP)), max_size=12)


@dataclass
class Hop:
    """An SMTP server that says what is written, octet by octet where `drips`."""

    says: Iterator[bytes | None]
    pipelining: bool
    drips: bool
    copies: Counter[str] = field(default_factory=Counter)  # of conversations that were clean to their end

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._clean, self._in_data = True, False
        self._to: list[str] = []
        try:
            await self._say(writer, "greeting")
            while line := await reader.readline():
                if not self._in_data:
                    await self._obey(writer, line)
                elif line == b".\r\n":
                    self._in_data = False
                    if await self._say(writer, "dot") == 2 and self._clean:
                        self.copies.update(self._to)
        except (ConnectionError, asyncio.IncompleteReadError, ValueError):
            pass
        finally:
            writer.close()

    async def _obey(self, writer: asyncio.StreamWriter, line: bytes) -> None:
        match line[:4].decode("latin-1").upper():
            case "EHLO" | "HELO":
                writer.write(b"250-hop\r\n250-PIPELINING\r\n250 x\r\n" if self.pipelining else b"250 hop\r\n")
            case "RSET":
                writer.write(b"250 ok\r\n")
            case "MAIL":
                self._to, self._clean = [], await self._say(writer, "MAIL") == 2
            case "RCPT":
                if await self._say(writer, "RCPT") == 2:
                    self._to.append(line.split(b"<")[1].split(b">")[0].decode())
            case "DATA":
                self._in_data = await self._say(writer, "DATA") == 3
            case _:
                raise ConnectionAbortedError

    async def _say(self, writer: asyncio.StreamWriter, stage: str) -> int:
        """The first digit of what was said, if it was one reply; 0 and not clean else."""
        said = next(self.says, None)
        if said is None:
            said = USUAL[stage] + b"\r\n"
        if said == HANG_UP:
            raise ConnectionAbortedError
        for piece in (
            [said[at : at + 1] for at in range(len(said))] if self.drips and len(said) < 100 else [said]
        ):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0)
        if UNFINISHED.search(said):
            raise ConnectionAbortedError  # the client's patience would take minutes
        match = ONE_REPLY.fullmatch(said)
        self._clean &= match is not None
        return int(match[1][:1]) if match else 0


async def tell(sending: Sending, hop: Hop, people: tuple[str, ...]) -> None:
    server = await asyncio.start_server(hop.serve, "127.0.0.1", sending.settings.outbound.port)
    try:
        message_id = await sending.send(*people, raw=RAW + WORDS.encode() + b"\r\n")
        for attempt in range(1, 30):
            rows = await settled(sending, message_id, attempt)
            if all(row.status not in RECIPIENT_PENDING for row in rows):
                break
            sending.clock.forward(9 * 3600)
            sending.queue.wake()
        assert all(row.status not in RECIPIENT_PENDING for row in rows)
        assert max([*hop.copies.values(), 0]) <= 1
        for row in rows:
            assert row.smtp_code is None or 200 <= row.smtp_code < 600
            assert hop.copies[row.address] == 0 or row.status == "delivered"
        for row in rows:
            told = await sending.store.db.read(attempts_of, message_id, row.position)
            assert told == (row.attempts, row.attempts)
        for packed in await sending.store.db.read(evidence_of, message_id):
            assert len(packed.encode()) <= EVIDENCE_OCTETS_MAX
            assert unpack(packed).hosts
            assert WORDS not in packed
        # Nothing is held up by what was said.
        await sending.until(await sending.send("bot@ours.test"), "delivered")
    finally:
        server.close()
        await sending.queue._deliverer._connections.close()
        sending.clock.forward(3600)


def attempts_of(tx: Tx, message_id: str, position: int) -> tuple[int, ...] | None:
    """How many attempts the recipient has, and how many numbers of attempts."""
    count = "SELECT count(*), count(DISTINCT attempt) FROM delivery_attempts WHERE message_id = ? AND position = ?"
    return tx.one(count, (message_id, position))


def evidence_of(tx: Tx, message_id: str) -> list[str]:
    """What is kept of its attempts."""
    return [
        row[0] for row in tx.all("SELECT evidence FROM delivery_evidence WHERE message_id = ?", (message_id,))
    ]


async def settled(sending: Sending, message_id: str, attempt: int) -> list[RecipientRow]:
    """The rows, once each has had so many attempts or its end, and nobody holds any of them."""
    held = "SELECT count(*) FROM recipients WHERE lease IS NOT NULL"
    async with asyncio.timeout(GIVES_UP_S):
        while True:
            rows = await sending.store.recipients(message_id)
            is_over = all(row.attempts >= attempt or row.status not in RECIPIENT_PENDING for row in rows)
            if is_over and not await sending.store.scalar(held):
                return rows
            await asyncio.sleep(0.001)


def test_every_recipient_has_one_verdict_and_one_end(tmp_path: Path) -> None:
    with asyncio.Runner() as runner:
        sending = Sending(tmp_path, local_domains={"ours.test"})
        runner.run(sending.__aenter__())
        sending.dns.add_mx("there.test")
        runner.run(sending.mx.stop())  # its port is the hop's
        runner.run(sending.queue.start())

        @settings(
            max_examples=STORIES,
            deadline=None,
            phases=[Phase.explicit, Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @given(script, st.booleans(), st.booleans(), st.integers(1, len(PEOPLE)))
        def told(says: list[bytes | None], pipelining: bool, drips: bool, recipients: int) -> None:
            hop = Hop(iter(says), pipelining, drips)
            runner.run(tell(sending, hop, PEOPLE[:recipients]))

        try:
            told()
        finally:
            runner.run(sending.__aexit__())
