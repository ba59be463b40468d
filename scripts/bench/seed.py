"""Fill a new store with messages in bulk: one organization of a fixed size, the rest spread over others.

    scripts/bench/seed --folder /var/tmp/million --messages 1000000

The first organization ("mine") has the same number of messages however large the store is, so that two stores
show whether its requests grow with other tenants' mail. The second ("big") has a tenth of the rest.
What is written goes through the functions of storage/, without fsync and without a journal: a folder whose making was
cut short is to be thrown away. One process fills the store, another builds the index of searches meanwhile.
A million messages took 3 min 27 s on two cores beside other work, and 5 GB of disk.
The last line printed is JSON: keys, ids and words for scripts/bench/api; it is also kept in the folder.
"""

import argparse
import gc
import json
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from conf.loading import parse
from maild.commands.operator_commands import OperatorCommands
from scripts.bench.seeding import seed_index
from scripts.bench.seeding.seed_store import SeedStore
from scripts.bench.seeding.stream import BIG, MINE, MONTH_MS, Inbox, Mail, Stream, StreamClock
from storage.data_folder import DataFolder
from storage.engine import migrate
from storage.ids import Ids
from storage.mail import inboxes

DOMAIN = "bench.test"
FACTS = "seed.json"
SHOWN = {MINE: "mine", BIG: "big"}  # what scripts/bench/api asks for
TOLD_EACH = 50_000


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


def seed(options: argparse.Namespace) -> dict[str, Any]:
    """Make the store that the options describe; the facts that scripts/bench/api needs."""
    folder = DataFolder(options.folder)
    operator = OperatorCommands(parse(document(folder.path)))
    operator.init()
    names = [*SHOWN.values(), *(f"other {number}" for number in range(options.organizations))]
    made = [operator.organizations.create(name, "selfhost") for name in names]
    begin_ms = time.time() * 1000 - MONTH_MS
    boxes = _inboxes(folder, options.inboxes, [one["organizationId"] for one in made], names, begin_ms)
    stream = Stream(options.messages, options.mine, options.words, options.seed, begin_ms, boxes)
    facts = {name: {**made[place], "inboxId": boxes[place][0].id} for place, name in SHOWN.items()}
    with ProcessPoolExecutor(1, initializer=gc.disable) as apart:  # many texts at once, and no circles
        index = apart.submit(seed_index.build, folder.search_index, stream)
        store = SeedStore(folder.database)
        for mail in store.fill(stream):
            if mail.place in SHOWN:
                facts[SHOWN[mail.place]].update(_facts(mail))
            if mail.number % TOLD_EACH == 0:
                print(f"{mail.number} messages", flush=True)
        store.finish(index.result(), options.analyze)
    (folder.path / FACTS).write_text(json.dumps(facts))
    return facts


def _inboxes(
    folder: DataFolder, count: int, organization_ids: list[str], names: list[str], begin_ms: float
) -> list[list[Inbox]]:
    clock = StreamClock(begin_ms, 0)
    ids = Ids(clock)
    with migrate.transaction(folder.database) as tx:
        rows = [
            [
                inboxes.create(
                    tx, ids.new("inb"), clock.now_ms(), organization_id=organization_id, username=f"{names[row][:1]}{row}-{at}",
                    domain=DOMAIN, name=None, agent_id=None, metadata="{}",
                )
                for at in range(count)
            ]
            for row, organization_id in enumerate(organization_ids)
        ]  # fmt: skip
    return [[Inbox(box.id, box.organization_id, box.address) for box in boxes] for boxes in rows]


def _facts(mail: Mail) -> dict[str, str]:
    facts = {"messageId": mail.message_id, "threadId": mail.thread_id, "rare": f"rare{mail.number}x"}
    return {**facts, "attachmentId": mail.attachment_id} if mail.attachment_id else facts


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
    facts = seed(options)
    print(f"{time.perf_counter() - began:.0f} s")
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
