"""Every operation, called by the TypeScript client against a real daemon: the day of test_python_operations.py."""

import re
from typing import Any

import pytest

from scripts.client_names import NAMES
from tests.clients.test_python_operations import DAY, Row, World, keys
from tests.clients.typescript_world import Driver
from tests.conftest import Start
from tests.support.clients.answered import route_of
from tests.support.machine import tools
from tests.support.peers.dns_server import DnsServer

pytestmark = [pytest.mark.interop, tools.needs("node", "npm")]

CALL = """
    const [resource, verb, ids, params] = given;
    const answer = client[resource][verb](...ids, ...(params ? [params] : []));
    if (answer instanceof maild.Pages) return answer.page();
    if (answer instanceof maild.EventStream) for await (const event of answer) return event;
    return answer;
"""


async def test_every_operation(start: Start, driver: Driver) -> None:
    async with DnsServer() as dns:  # a host that does not answer: mail waits
        dns.add_mx("elsewhere.test", "127.0.0.1")
        maild = await start(dns={"nameservers": [f"127.0.0.1:{dns.port}"]})
        world, known = World(maild), await keys(maild)
        for row in DAY:
            if isinstance(row, str):
                await world.happens(row)
                continue
            resource, verb = map(camel, NAMES[row.operation])
            ids, given = world.arguments(row)
            params = {camel(name): value for name, value in given.items()} or None
            answer = await driver.ask(maild.api.url, CALL, [resource, verb, ids, params], key=known[row.by])
            keep(world, row, driver, answer)


def keep(world: World, row: Row, driver: Driver, answer: Any) -> None:
    """Remember the answer, once the call was the operation's."""
    (asked,) = driver.asked
    operation = route_of(*asked)
    assert asked == ("GET", "/health") or (operation is not None and operation.id == row.operation), asked
    assert answer is not None
    if row.keep:
        world.made[row.keep] = answer


def camel(name: str) -> str:
    """`from_` → `from`, `inbox_id` → `inboxId`."""
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), name.removesuffix("_"))
