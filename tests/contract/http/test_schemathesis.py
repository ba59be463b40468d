"""schemathesis reads `/openapi.json` and tries to prove it wrong: against the real process, with a real key.

Bounded and with a fixed seed here. For a longer run, with chance and more of everything:

    SCHEMATHESIS_EXAMPLES=200 .venv/bin/pytest tests/contract/http/test_schemathesis.py

Nothing is excluded but two checks, named below, and the event stream, which does not end; what can't be in a schema is
named in tests/support/machine/schemathesis_hooks.py. No request leaves the host: names don't resolve, and the port of
mail is dead.
"""

import asyncio
import json
import os
import sys
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import aiosmtplib

from tests.support.daemon import ROOT, Api, Daemon, environment
from tests.support.peers.dns_server import DnsServer

EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "0"))
EXAMPLES_BOUNDED = 5
SEED = "20261121"
RUN_S = 450 if not EXAMPLES else 3600
EXCLUDED_CHECKS = ",".join(
    (
        # /v1/messages/send and /v1/webhooks/deliveries also match /v1/…/{id}, whose methods the router adds to
        # Allow. tests/contract/http/test_envelope.py looks at Allow for every path.
        "allow_header_conformance",
        # Needs a second identity; tests/contract has a test for each resource of another organization.
        "object_level_authorization",
    )
)


async def test_nothing_in_the_document_is_untrue(tmp_path: Path) -> None:
    async with (
        DnsServer() as dns,
        Daemon(tmp_path, dns_port=dns.port, outbound_port=9) as daemon,
    ):
        seeds = await seeded(daemon)
        code, told = await schemathesis(daemon, seeds, tmp_path)
        assert code == 0, told
        log = daemon.log.read_text("utf-8", "replace")
        assert "request_failed" not in log, log


async def seeded(daemon: Daemon) -> dict[str, Any]:
    """One of each resource, for the requests that name one."""
    api = daemon.api
    inbox = await api.post("/v1/inboxes", username="seeded")
    await deliver(daemon.smtp_port, inbox["address"])
    (message,) = await api.get("/v1/messages", inboxId=inbox["id"])
    keys = await api.get("/v1/keys")
    made: dict[str, Any] = {
        "inboxes": inbox,
        "messages": message,
        "threads": {"id": message["threadId"]},
        "attachments": message["attachments"][0],
        "agents": await api.post("/v1/agents", name="seeded"),
        "drafts": await api.post("/v1/drafts", inboxId=inbox["id"]),
        "domains": await api.post("/v1/domains", domainName="seeded.test"),
        "suppressions": await api.post("/v1/suppressions", email="seeded@elsewhere.test"),
        "rules": await api.post("/v1/rules", direction="inbound", action="block", value="elsewhere.test"),
        "webhooks": await api.post("/v1/webhooks", url="https://hooks.elsewhere.test/"),
        "reviews": await held(api),
    }
    own = next(one["id"] for one in keys if daemon.api_key.startswith(one["keyPrefix"]))
    return {"own_key": own, "ids": {f"/v1/{kind}/{{id}}": one["id"] for kind, one in made.items()}}


async def held(api: Api) -> dict[str, Any]:
    """The review of a message from an inbox of its own, all of whose mail is held."""
    inbox = await api.post("/v1/inboxes", username="held")
    await api.put(f"/v1/inboxes/{inbox['id']}/policy", version=0, outbound={"review": "all"})
    sent = await api.post("/v1/messages/send", inboxId=inbox["id"], to=["ada@elsewhere.test"])
    review: dict[str, Any] = sent["review"]
    return review


async def deliver(port: int, address: str) -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "ada@elsewhere.test", address, "Seeded"
    mail.set_content("With a file.")
    mail.add_attachment(b"%PDF-1.4\n%%EOF\n", maintype="application", subtype="pdf", filename="a.pdf")
    await aiosmtplib.send(mail, hostname="127.0.0.1", port=port, start_tls=False)


async def schemathesis(daemon: Daemon, seeds: dict[str, Any], folder: Path) -> tuple[int, str]:
    """The command's exit code and what it printed."""
    url = daemon.api.url
    limits = ("--max-examples", str(EXAMPLES or EXAMPLES_BOUNDED))
    chance = ("--generation-database", "none") if EXAMPLES else ("--seed", SEED, "--generation-deterministic")
    process = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("schemathesis")), "run", f"{url}/openapi.json", "--url", url,
        "--header", f"Authorization: Bearer {daemon.api_key}",
        "--checks", "all", "--exclude-checks", EXCLUDED_CHECKS, *limits, *chance,
        "--exclude-path", "/v1/events/stream", "--no-color", "--continue-on-failure", "--request-timeout", "20",
        cwd=folder,
        env={
            **environment(),
            "PYTHONPATH": str(ROOT),
            "SCHEMATHESIS_HOOKS": "tests.support.machine.schemathesis_hooks",
            "SCHEMATHESIS_SEEDS": json.dumps(seeds),
        },
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    try:
        async with asyncio.timeout(RUN_S):
            out, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.communicate()
        return 1, f"not done after {RUN_S} s"
    return process.returncode or 0, out.decode("utf-8", "replace")
