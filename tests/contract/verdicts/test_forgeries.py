"""Forgers of every school, and honest senders in unusual forms, before the whole daemon: who may be verified, and who
is shown as the author.

`tests/vectors/forgeries.jsonl` was written by somebody who had not seen the reader. A row: what is said at EHLO and
MAIL, the octets (as Latin-1) with `{RECEIVER}` for our name and `{RECIPIENT}` for the inbox, what `verifiedDomain` may
be where the mail is taken, and sometimes the author's address. Forgeries and edge cases may be refused, honest mail may
not.
"""

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import dns.name
import pytest

from tests.conftest import Start
from tests.support.peers.dns_server import DnsServer
from tests.support.running import HOSTNAME, Running, dot_stuffed

VECTORS = Path("tests/vectors")
TXT_OCTETS = 255

Row = Mapping[str, Any]


def rows() -> list[Row]:
    return [json.loads(line) for line in (VECTORS / "forgeries.jsonl").read_text("utf-8").splitlines()]


@pytest.fixture
async def zone() -> AsyncIterator[DnsServer]:
    async with DnsServer() as server:
        for name, types in json.loads((VECTORS / "forgeries_zone.json").read_text("utf-8")).items():
            labels = [label.encode() for label in name.split(".")]  # some hold brackets, quotes and blanks
            owner = dns.name.Name([*labels, b""]).to_text(omit_final_dot=True)
            for rdtype, values in types.items():
                server.add(owner, rdtype, *(presented(rdtype, value) for value in values))
        yield server


def presented(rdtype: str, value: str) -> str:
    if rdtype == "MX":
        return f"{value}."
    if rdtype != "TXT":
        return value
    octets = [f"\\{octet:03}" for octet in value.encode()]
    strings = ["".join(octets[at : at + TXT_OCTETS]) for at in range(0, len(octets), TXT_OCTETS)]
    return " ".join(f'"{string}"' for string in strings)


async def offer(maild: Running, to: str, row: Row) -> str:
    """The reply that decides about the message."""
    octets = (
        row["raw"]
        .encode("latin-1")
        .replace(b"{RECEIVER}", HOSTNAME.encode())
        .replace(b"{RECIPIENT}", to.encode())
    )
    if not row.get("stuffed"):
        octets = dot_stuffed(octets)
    talk = await maild.smtp()
    parameter = " SMTPUTF8" if row.get("smtputf8") else ""
    reply = ""
    for command in (
        f"EHLO {row['helo']}",
        f"MAIL FROM:<{row['sender']}>{parameter}",
        f"RCPT TO:<{to}>",
        "DATA",
    ):
        reply = await talk.say(command)
        if not reply.startswith(("250", "354")):
            break
    else:
        await talk.write(octets if octets.endswith(b"\r\n") else octets + b"\r\n")
        reply = await talk.say(b".")
    talk.hang_up()
    return reply


def faults(row: Row, message: Mapping[str, Any]) -> list[str]:
    """What is wrong about a message that was taken."""
    auth, author = message["auth"], message["fromAddress"]
    found = []
    if auth["verifiedDomain"] not in row["verified"]:
        found.append(f"verified is {auth['verifiedDomain']}")
    if auth["verifiedDomain"] not in (None, message["fromDomain"]):
        found.append(f"verified is {auth['verifiedDomain']} for {author}")
    if row.get("from") not in (None, author):
        found.append(f"the author is {author}")
    is_flagged = message["isSpam"] and auth["dmarc"] == "permerror"
    if row.get("flagged") and not (is_flagged and author == (row["sender"] or author)):
        found.append(f"not flagged: {author}, {auth}")
    return found


@pytest.mark.parametrize("policy", ["report", "enforce"])
async def test_nobody_is_verified_but_who_wrote(start: Start, zone: DnsServer, policy: str) -> None:
    maild = await start(
        dns={"nameservers": [f"127.0.0.1:{zone.port}"]},
        inbound={"dmarc": policy},
        limits={"requests_per_minute": 100_000},
    )
    bot = await maild.inbox("bot")
    wrong, taken = {}, 0
    for row in rows():
        reply = await offer(maild, bot["address"], row)
        if not reply.startswith("250"):
            if row["kind"] == "honest" or not reply.startswith("5"):
                wrong[row["name"]] = [reply]
            continue
        newest = (await maild.api.messages(limit="1"))[0]
        assert newest["id"] == reply.split()[-1]
        taken += 1
        found = faults(row, newest)
        if found:
            wrong[row["name"]] = found
    assert wrong == {}
    # No second one behind a false end of another.
    assert maild.sql("SELECT count(*) FROM messages")[0][0] == taken
