"""Programs that use a client as its callers do: each says the address of an inbox, and goes on when mail has come."""

import asyncio
import json
from collections.abc import Mapping
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import aiosmtplib

from tests.support.daemon import Daemon, environment

THERE = "there.test"
ADA = f"ada@{THERE}"
PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n%%EOF\n"


async def travelled(*command: str, folder: Path, daemon: Daemon, variables: Mapping[str, str]) -> Any:
    """Run the program with these environment variables: the JSON that it says at its end."""
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env={**environment(), **variables},
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        first = await process.stdout.readline()
        if first:
            await _deliver(daemon.smtp_port, json.loads(first)["address"])
        out, error = await process.communicate(b"it is there\n" if first else b"")
        assert process.returncode == 0, error.decode("utf-8", "replace")
        return json.loads(out)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _deliver(port: int, address: str) -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = ADA, address, "Invoice"
    mail["Message-ID"] = f"<1@{THERE}>"
    mail.set_content("Please pay.")
    mail.add_attachment(PDF, maintype="application", subtype="pdf", filename="invoice.pdf")
    await aiosmtplib.send(mail, hostname="127.0.0.1", port=port, start_tls=False)
