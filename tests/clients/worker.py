"""A worker as somebody would run it: says what it begins, waits for a line, answers. SIGTERM lets it finish.

python -m tests.clients.worker plain|coroutines INBOX     (MAILD_URL and MAILD_API_KEY say where)
"""

import asyncio
import sys
from typing import Any

from maild_client import AsyncClaim, AsyncMaild, Claim, ClaimLost, Maild
from maild_client.types import Message

CONCURRENCY = 2


def told(*words: Any) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")  # in one piece: there are two threads
    sys.stdout.flush()


def handle(message: Message, claim: Claim) -> None:
    told("begun", message["id"])
    sys.stdin.readline()
    try:
        claim.reply("Thank you.")
        told("answered", message["id"])
    except ClaimLost:
        told("lost", message["id"])
        raise


async def handle_too(message: Message, claim: AsyncClaim) -> None:
    told("begun", message["id"])
    await asyncio.to_thread(sys.stdin.readline)
    try:
        await claim.reply("Thank you.")
        told("answered", message["id"])
    except ClaimLost:
        told("lost", message["id"])
        raise


async def work(inbox_id: str) -> None:
    async with AsyncMaild() as client:
        await client.inboxes.work(inbox_id, handle_too, concurrency=CONCURRENCY, wait_seconds=1)


def main() -> None:
    kind, inbox_id = sys.argv[1:]
    if kind == "plain":
        with Maild() as client:
            client.inboxes.work(inbox_id, handle, concurrency=CONCURRENCY, wait_seconds=1)
    else:
        asyncio.run(work(inbox_id))
    told("ended")


if __name__ == "__main__":
    main()
