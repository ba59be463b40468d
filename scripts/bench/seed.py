"""Fill a new store with messages in bulk: one organization of a fixed size, the rest spread over others.

    scripts/bench/seed --folder /var/tmp/million --messages 1000000

The first organization ("mine") has the same number of messages however large the store is, so that two stores
show whether its requests grow with other tenants' mail. The second ("big") has a tenth of the rest. Words follow Zipf's
law; each message also has a word of its own (`rare<number>`). What is written goes through the functions of storage/, without fsync.
The last line printed is JSON: keys, ids and words for scripts/bench/api; it is also kept in the folder.
"""

import argparse
import json
import random
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

from conf.settings import parse
from maild.message.thread_headers import base_subject
from maild.operator_commands import OperatorCommands
from scripts.bench.words import Words
from storage import blobs, inboxes, messages, migrate, outbound, search, threads
from storage.blobs import Stored
from storage.clock import Clock
from storage.data_folder import DataFolder
from storage.database import Tx
from storage.ids import Ids
from storage.records import AttachmentRow, MessageRow, dump
from storage.search_index import SearchIndex

DOMAIN = "bench.test"
FACTS = "seed.json"
PER_COMMIT = 5000
PER_THREAD = 3
ROTATION = 997


class SeedClock(Clock):
    """A month that passes while the messages are made."""

    def __init__(self, count: int) -> None:
        self._at = time.time() * 1000 - 30 * 86_400_000
        self._step = 29 * 86_400_000 / max(count, 1)

    def tick(self) -> None:
        self._at += self._step

    def now_ms(self) -> int:
        return int(self._at)


def document(folder: Path) -> dict[str, Any]:
    return {
        "data_dir": str(folder),
        "server": {"hostname": DOMAIN, "shared_domains": [DOMAIN]},
        "smtp": {"listen": ["127.0.0.1:0"]},
        "http": {"listen": "127.0.0.1:0"},
        "dns": {"nameservers": ["127.0.0.1:9"]},
        "outbound": {"port": 9},
        "storage": {"reserve_percent": 0},
        "limits": {"requests_per_minute": 1_000_000_000},
    }


class Seed:
    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._chance = random.Random(options.seed)
        self._words = Words(self._chance, known=("the", "and", "invoice"))
        self._clock = SeedClock(options.messages)
        self._ids = Ids(self._clock)
        self._threads: dict[str, tuple[str, int]] = {}

    def run(self) -> dict[str, Any]:
        folder: Path = self._options.folder
        store = OperatorCommands(parse(document(folder)))
        store.init()
        names = ["mine", "big", *(f"other {number}" for number in range(self._options.organizations))]
        made = {name: store.create_organization(name, "selfhost") for name in names}
        conn = migrate.connect(DataFolder(folder).database)
        conn.execute("PRAGMA synchronous = OFF")
        conn.execute("PRAGMA wal_autocheckpoint = 20000")  # a long WAL makes every read slow
        conn.execute("PRAGMA cache_size = -500000")
        tx = Tx(conn)
        boxes = {
            name: [
                self._inbox(tx, one["organizationId"], f"{name[:1]}{row}-{at}")
                for at in range(self._options.inboxes)
            ]
            for row, (name, one) in enumerate(made.items())
        }
        facts: dict[str, Any] = {
            name: {**made[name], "inboxId": boxes[name][0].id} for name in ("mine", "big")
        }
        self._fill(conn, tx, names, boxes, facts)
        self._index(conn, tx, DataFolder(folder).search_index)
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        conn.execute("ANALYZE") if self._options.analyze else None
        conn.close()
        (folder / FACTS).write_text(json.dumps(facts))
        return facts

    def _inbox(self, tx: Tx, organization_id: str, username: str) -> Any:
        return inboxes.create(
            tx, self._ids.new("inb"), self._clock.now_ms(), organization_id=organization_id, username=username.replace(" ", ""),
            domain=DOMAIN, name=None, agent_id=None, metadata="{}",
        )  # fmt: skip

    def _fill(self, conn: Any, tx: Tx, names: list[str], boxes: Any, facts: dict[str, Any]) -> None:
        total, mine = self._options.messages, min(self._options.mine, self._options.messages)
        every = max(1, total // mine)
        given = 0
        for number in range(total):
            if number % PER_COMMIT == 0:
                if number:
                    conn.execute("COMMIT")
                    print(f"{number} messages", flush=True)
                conn.execute("BEGIN IMMEDIATE")
            if number % every == 0 and given < mine:
                name, given = "mine", given + 1
            else:
                name = (
                    "big"
                    if number % 10 == 0
                    else names[2 + number * ROTATION % (len(names) - 2)]
                    if len(names) > 2
                    else "big"
                )
            box = boxes[name][number % len(boxes[name])]
            message_id, thread_id, attachment_id = self._message(tx, box, number)
            if name in facts:
                facts[name].update(messageId=message_id, threadId=thread_id, rare=f"rare{number}x")
                if attachment_id:
                    facts[name]["attachmentId"] = attachment_id
            self._clock.tick()
        conn.execute("COMMIT")

    def _message(self, tx: Tx, box: Any, number: int) -> tuple[str, str, str | None]:
        now_ms = self._clock.now_ms()
        is_outbound = number % 10 == 3
        subject = self._words.some(6)
        peer = f"person{number % 5000}@peer{number % 300}.test"
        body = f"{self._words.some(self._options.words)} rare{number}x"
        sender, to = (box.address, peer) if is_outbound else (peer, box.address)
        raw = (
            f"From: Some Body <{sender}>\r\nTo: <{to}>\r\nSubject: {subject}\r\nMessage-ID: <{number}@seed.test>\r\n\r\n{body}\r\n"
        ).encode()
        message_id, blob_id = self._ids.new("msg"), self._ids.new("blb")
        thread_id = self._thread(tx, box, now_ms, subject, body[:100], peer, not is_outbound)
        blobs.insert(tx, Stored(blob_id, len(raw), sha256(raw).digest(), raw, None), now_ms)
        attachment = None
        if number % 20 == 0:
            attachment = AttachmentRow(
                self._ids.new("att"), message_id, 0, "part.txt", "text/plain", 64, None, 0, 0, 64, "identity"
            )
        messages.insert(
            tx,
            self._row(
                box,
                message_id,
                thread_id,
                blob_id,
                len(raw),
                now_ms,
                is_outbound,
                sender,
                to,
                subject,
                body,
                number,
            ),
            [attachment] if attachment else [],
        )
        if is_outbound:
            outbound.enqueue(tx, message_id, box.organization_id, [("to", to)], now_ms, now_ms)
            tx.run(
                "UPDATE recipients SET status = 'delivered', next_attempt_at = NULL WHERE message_id = ?",
                (message_id,),
            )
        else:
            inboxes.received(tx, box.id, now_ms)
        return message_id, thread_id, attachment.id if attachment else None

    def _thread(
        self, tx: Tx, box: Any, now_ms: int, subject: str, snippet: str, peer: str, is_unread: bool
    ) -> str:
        thread_id, left = self._threads.get(box.id, ("", 0))
        if left:
            threads.join(tx, thread_id, now_ms, snippet=snippet, participants=[peer], is_unread=is_unread)
        else:
            thread_id, left = self._ids.new("thd"), PER_THREAD
            threads.begin(
                tx, thread_id, now_ms, organization_id=box.organization_id, inbox_id=box.id, subject=subject,
                base_subject=base_subject(subject)[0], snippet=snippet, participants=[peer, box.address], is_unread=is_unread,
            )  # fmt: skip
        self._threads[box.id] = thread_id, left - 1
        return thread_id

    def _row(
        self, box: Any, message_id: str, thread_id: str, blob_id: str, size: int, now_ms: int, is_outbound: bool,
        sender: str, to: str, subject: str, body: str, number: int,
    ) -> MessageRow:  # fmt: skip
        return MessageRow(
            id=message_id, organization_id=box.organization_id, inbox_id=box.id, thread_id=thread_id,
            direction="outbound" if is_outbound else "inbound", mode="live", status="delivered" if is_outbound else "received",
            from_address=sender, from_name="Some Body", to_addresses=dump([to]), cc_addresses="[]", bcc_addresses="[]",
            reply_to=None, subject=subject, snippet=body[:100], text_body=body, text_slices=None, html_slices=None,
            extracted_text=None, message_id_header=f"<{number}@seed.test>", in_reply_to=None, reference_ids="[]",
            labels="[]" if is_outbound else '["unread"]', is_auto_reply=0, is_spam=0,
            auth=None if is_outbound else '{"spf":"pass","dkim":"pass","dmarc":"pass","arc":"none","verifiedDomain":"x.test"}',
            trace=b"" if not is_outbound else None, blob_id=blob_id, size_bytes=size, header_length=100, envelope_from=sender,
            bounce_token=None, failure_reason=None, scheduled_at=None, sent_at=now_ms if is_outbound else None, created_at=now_ms,
        )  # fmt: skip

    def _index(self, conn: Any, tx: Tx, path: Path) -> None:
        index, done = SearchIndex(path), 0
        mark = index.make()
        while True:
            conn.execute("BEGIN IMMEDIATE")
            # Organization after organization: each one's documents lie together in the first place.
            batch = search.waiting(tx, 20_000, max_bytes=1 << 40)
            mark = index.change(mark, batch.entries(), batch.gone, None)
            search.settle(tx, mark, batch)
            conn.execute("COMMIT")
            done += len(batch.keys)
            print(f"{done} indexed", flush=True)
            if not batch.keys:
                break
        index.complete()
        while index.merge():
            pass
        index.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/bench/seed", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True, help="the new store's data folder")
    parser.add_argument("--messages", type=int, default=10_000)
    parser.add_argument("--mine", type=int, default=5_000, help="of these, in the first organization")
    parser.add_argument(
        "--organizations", type=int, default=50, help="others beside the two (default: %(default)s)"
    )
    parser.add_argument("--inboxes", type=int, default=10, help="in each organization (default: %(default)s)")
    parser.add_argument("--words", type=int, default=120, help="in a message (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--analyze", action="store_true", help="gather SQLite's statistics, which a daemon never does"
    )
    options = parser.parse_args()
    began = time.perf_counter()
    facts = Seed(options).run()
    print(f"{time.perf_counter() - began:.0f} s")
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
