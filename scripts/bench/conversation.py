"""Reading a long conversation for a model, and claiming codes.

    scripts/bench/conversation [--messages 500] [--seconds 3]

A thread of so many messages of 2 KiB is taken in over SMTP. Then: its context, for several budgets, beside the bare GET
of its newest message, on one connection. Then as many mails with codes as there are messages, claimed one after the
other by four connections.
"""

import argparse
import asyncio
import random
import statistics
import time
from pathlib import Path

import aiohttp
import aiosmtplib
import uvloop

from scripts.bench import measure
from scripts.bench.api import Served, load, request
from scripts.bench.mails.words import Words
from tests.support.daemon import Daemon

BUDGETS = (500, 4000, 20_000, 100_000)
SENDER = "ada@there.test"
CLAIMERS = 4


async def take_in(daemon: Daemon, address: str, mails: list[bytes]) -> None:
    async with aiosmtplib.SMTP(hostname="127.0.0.1", port=daemon.smtp_port, start_tls=False) as smtp:
        for mail in mails:
            await smtp.sendmail(SENDER, [address], mail)


def conversation(count: int) -> list[bytes]:
    words = Words(random.Random(7))
    mails = []
    for number in range(count):
        text = "\r\n".join(words.some(11) for _ in range(30))
        head = f"From: Ada <{SENDER}>\r\nSubject: Re: topic\r\nMessage-ID: <{number}@there.test>\r\n"
        if number:
            head += f"In-Reply-To: <{number - 1}@there.test>\r\n"
        mails.append(f"{head}\r\n{text}\r\n".encode())
    return mails


async def contexts(daemon: Daemon, seconds: float) -> None:
    (newest,) = await daemon.api.get("/v1/messages", limit=1)
    served = Served(daemon.api.url, daemon.pid)
    paths = {"GET of a message": f"/v1/messages/{newest['id']}"}
    paths |= {
        f"context of {budget:,} tokens": f"/v1/threads/{newest['threadId']}/context?maxTokens={budget}"
        for budget in BUDGETS
    }
    rows: list[tuple[object, ...]] = [("", "p50 ms", "p99 ms", "CPU ms")]
    for name, path in paths.items():
        figures = await load(served, request(daemon.api.url, path, daemon.api_key), 1, seconds)
        rows.append((name, figures.p50_ms, figures.p99_ms, figures.cpu_ms))
    measure.table("a long conversation", rows)


async def claims(daemon: Daemon, count: int) -> None:
    inbox = await daemon.api.post("/v1/inboxes", username="codes")
    mails = [
        f"From: {SENDER}\r\nSubject: Sign in\r\n\r\nYour verification code is {100_000 + number}.\r\n".encode()
        for number in range(count)
    ]
    await take_in(daemon, inbox["address"], mails)
    left, times, values = count, list[float](), set[str]()
    headers = {"Authorization": f"Bearer {daemon.api_key}"}
    body = {"allowUnverified": True, "waitSeconds": 0, "after": "1970-01-01"}

    async def claim(session: aiohttp.ClientSession) -> None:
        nonlocal left
        while left > 0:
            left -= 1
            began = time.perf_counter()
            async with session.post(f"/v1/inboxes/{inbox['id']}/codes/claim", json=body) as answer:
                data = (await answer.json())["data"]
            times.append((time.perf_counter() - began) * 1000)
            assert data["claimed"] and data["value"] not in values, data
            values.add(data["value"])
            body["after"] = data["cursor"]

    cpu_s = measure.cpu_s(daemon.pid)
    async with aiohttp.ClientSession(daemon.api.url, headers=headers) as session:
        await asyncio.gather(*(claim(session) for _ in range(CLAIMERS)))
    cpu_ms = (measure.cpu_s(daemon.pid) - cpu_s) * 1000 / count
    rows = [("", "p50 ms", "worst ms", "CPU ms"), ("a code", statistics.median(times), max(times), cpu_ms)]
    measure.table(f"{count} codes, each to one of {CLAIMERS} callers", rows)


async def run(options: argparse.Namespace) -> None:
    with measure.open_folder() as folder:
        more = {"limits": {"requests_per_minute": 1_000_000}}
        async with Daemon(Path(folder), dns_port=9, outbound_port=9, more=more) as daemon:
            inbox = await daemon.api.post("/v1/inboxes", username="long")
            await take_in(daemon, inbox["address"], conversation(options.messages))
            await measure.rest(daemon.pid)
            await contexts(daemon, options.seconds)
            await claims(daemon, options.messages)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/bench/conversation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--messages", type=int, default=500)
    parser.add_argument("--seconds", type=float, default=3)
    uvloop.install()
    measure.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
