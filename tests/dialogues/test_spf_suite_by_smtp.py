"""The RFC 7208 test suite by way of the listener: a balancer's header brings the client's address, DNS its records, and
`auth` of the stored message is what the suite wants.

What no client can say by SMTP (a sender without a domain, a name that the listener refuses) is left out, and counted.
"""

from itertools import groupby

import pytest

from tests.conftest import Start
from tests.dialogues.test_proxy_protocol import LOOPBACK, begun, header
from tests.support.peers.dns_server import DnsServer
from tests.support.running import Running, Smtp
from tests.support.worlds.spf_zone import SuiteCase, suite, zone_of
from tests.unit.maild.authentication.test_spf_suite import publish

SCENARIOS = {name: list(cases) for name, cases in groupby(suite(), lambda case: case.scenario)}
# Senders and names that RFC 5321 does not have: an empty label, no local part, blanks, more than a path may be long.
REFUSED = {
    "Initial processing": ["emptylabel", "nolocalpart"],
    "Record evaluation": ["invalid-domain-long-via-macro"],
    "Semantics of exp and other modifiers": ["dorky-sentinel"],
    "Macro expansion rules": ["invalid-hello-macro"],
}
MESSAGE = b"From: someone@nowhere.test\r\nSubject: hi\r\n\r\nhello\r\n."


async def judged(maild: Running, to: str, case: SuiteCase) -> str | None:
    """`auth.spf` of a message that the case's client brings; None where the listener won't take it."""
    talk = await begun(maild, header(case.host))
    await talk.reply()
    for command in (f"EHLO {case.helo}", f"MAIL FROM:<{case.mailfrom}>", f"RCPT TO:<{to}>", "DATA"):
        if not (await talk.say(command)).startswith(("250", "354")):
            return None
    reply = await stored(talk)
    talk.hang_up()
    message = (await maild.api.get(f"/v1/messages/{reply.split()[-1]}")).data
    return str(message["auth"]["spf"])


async def stored(talk: Smtp) -> str:
    reply = await talk.say(MESSAGE)
    assert reply.startswith("250 "), reply
    return reply


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_a_scenario_by_smtp(start: Start, scenario: str) -> None:
    cases = SCENARIOS[scenario]
    async with DnsServer() as dns:
        publish(zone_of(cases[0].zone), dns)
        maild = await start(smtp=LOOPBACK, dns={"nameservers": [f"127.0.0.1:{dns.port}"]})
        inbox = await maild.inbox("bot")
        found = {case.name: await judged(maild, inbox["address"], case) for case in cases}
    wrong = {case.name: found[case.name] for case in cases if found[case.name] not in (None, *case.results)}
    assert wrong == {}
    assert [name for name, result in found.items() if result is None] == REFUSED.get(scenario, [])
