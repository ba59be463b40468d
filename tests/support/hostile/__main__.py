"""The attacks named on the command line, at once, until SIGTERM; then one line of JSON: how often each was begun."""

import asyncio
import json
import os
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from typing import Any

import uvloop

from tests.support.hostile import Attack, Target, hops
from tests.support.hostile.attacks import ATTACKS, CROWDS

REST_S = 0.5


async def repeat(attack: Attack, target: Target, rounds: Counter[str]) -> None:
    while True:
        rounds[attack.__name__] += 1
        try:
            await attack(target)
        except (ConnectionError, TimeoutError, EOFError, IndexError):
            pass  # refused in the middle, which is as good an end as any
        except Exception:
            traceback.print_exc()
        await asyncio.sleep(REST_S)


async def main(target: Target, names: Sequence[str]) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    hop = await hops.serve(target.hop_address, target.hop_port)
    rounds: Counter[str] = Counter()
    attacks = ATTACKS | CROWDS
    tasks = [asyncio.create_task(repeat(attacks[name], target, rounds)) for name in names]
    print("attacking", flush=True)
    await stopped.wait()
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    hop.close()
    print(json.dumps(rounds), flush=True)


os.nice(19)  # strangers have machines of their own: here they get what the daemon and the healthy leave
document = json.loads(sys.argv[1])
lists: dict[str, Any] = {
    name: tuple(value) if isinstance(value, list) else value for name, value in document.items()
}
uvloop.run(main(Target(**lists), sys.argv[2:]))
