"""Our webhooks' signatures, verified by others: standardwebhooks (Python, Node), openssl as docs/contract.md says.

The deliveries are real ones: mail comes in over SMTP, the daemon calls an HTTPS endpoint. Each refuses others.
"""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiosmtplib
import pytest
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError

from tests.support.daemon import DOMAIN, ROOT, Daemon
from tests.support.machine import node, tools
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.webhook_sink import HOST, WebhookSink

pytestmark = pytest.mark.interop

STRANGERS = Path(__file__).parent / "strangers"
OLD_S = 600


@dataclass(frozen=True)
class Delivery:
    secret: str
    headers: dict[str, str]
    body: bytes


Verify = Callable[[Delivery, Path], Awaitable[bool]]


@pytest.fixture(scope="module")
def deliveries(tmp_path_factory: pytest.TempPathFactory) -> list[Delivery]:
    """Before a rotation, and after it under the old and the new secret."""
    return asyncio.run(delivered(tmp_path_factory.mktemp("signatures")))


async def delivered(folder: Path) -> list[Delivery]:
    more = {"webhooks": {"allow_private_networks": True}}
    async with DnsServer() as dns, WebhookSink(folder) as sink:
        more["webhooks"]["ca_file"] = str(sink.ca_file)  # type: ignore[assignment]
        async with Daemon(folder, dns_port=dns.port, more=more) as daemon:
            dns.add(HOST, "A", "127.0.0.1")
            await daemon.api.post("/v1/inboxes", username="bot")
            made = await daemon.api.post("/v1/webhooks", url=sink.url(), subscribedEvents=["email.received"])
            await mail(daemon, "Grüße 👋")
            (first,) = await sink.received_count(1)
            rotated = await daemon.api.post(f"/v1/webhooks/{made['id']}/rotate-secret")
            await mail(daemon, "您好")
            second = (await sink.received_count(2))[1]
    old, new = made["secret"], rotated["secret"]
    return [
        Delivery(secret, one.headers, one.body)
        for secret, one in ((old, first), (old, second), (new, second))
    ]


async def mail(daemon: Daemon, subject: str) -> None:
    raw = f"Subject: {subject}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n{subject}\n'$(x)`%s\\n\r\n"
    await aiosmtplib.send(
        raw.encode(), sender="ada@there.test", recipients=[f"bot@{DOMAIN}"],
        hostname="127.0.0.1", port=daemon.smtp_port, start_tls=False,
    )  # fmt: skip


async def by_python(delivery: Delivery, _folder: Path) -> bool:
    try:
        event: Any = Webhook(delivery.secret).verify(delivery.body, delivery.headers)
    except WebhookVerificationError:
        return False
    return bool(event["type"] == "email.received")


async def by_node(delivery: Delivery, folder: Path) -> bool:
    question = {"secret": delivery.secret, "headers": delivery.headers, "body": delivery.body.decode()}
    answer = await node.run_json(STRANGERS, "verify_webhook.js", question, folder)
    assert set(answer) == {"event"} or "refused" in answer
    return "event" in answer


async def by_openssl(delivery: Delivery, folder: Path) -> bool:
    (script,) = re.findall(r"```sh\n(set -eu\n.*?)```", (ROOT / "docs/contract.md").read_text(), re.S)
    (folder / "headers").write_text(
        "".join(f"{name}: {value}\r\n" for name, value in delivery.headers.items())
    )
    (folder / "body").write_bytes(delivery.body)
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", script, cwd=folder, env={**os.environ, "SECRET": delivery.secret},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    _, error = await process.communicate()
    assert not error  # it refuses, it does not stumble
    return process.returncode == 0


@pytest.mark.parametrize(
    "verify",
    [
        by_python,
        pytest.param(by_node, marks=tools.needs("node", "npm")),
        pytest.param(by_openssl, marks=tools.needs("openssl")),
    ],
)
async def test_others_verify_what_is_ours_and_refuse_what_is_not(
    deliveries: list[Delivery], verify: Verify, tmp_path: Path
) -> None:
    before, under_old, under_new = deliveries
    for genuine in deliveries:
        assert await verify(genuine, tmp_path)
    for forged in (
        replace(before, secret=under_new.secret),
        replace(before, body=before.body.replace(b"email.received", b"email.receivee")),
        replace(before, body=before.body + b"\n"),
        replace(before, headers={**before.headers, "webhook-id": "evt_other"}),
        replace(before, headers=under_old.headers),
        replace(before, headers=aged(before.headers)),
    ):
        assert not await verify(forged, tmp_path)


def aged(headers: dict[str, str]) -> dict[str, str]:
    """As if it had been held back for a while, its time made to fit what is signed."""
    at_s = int(headers["webhook-timestamp"]) - OLD_S
    return {**headers, "webhook-timestamp": str(at_s), "x-svc-signature": f"t={at_s},v1=00"}
