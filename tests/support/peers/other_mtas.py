"""Exim and OpenSMTPD, which Debian can't install beside Postfix, run from where `scripts/peers` put them.

Both take mail for every recipient on a port of loopback.
"""

import asyncio
import contextlib
import fcntl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from tests.support.machine import tools
from tests.support.machine.ports import free_port
from tests.support.peers.mx import Mx
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.waiting import GIVES_UP_S

PEERS = Path(__file__).resolve().parents[3] / ".peers"
EXIM, OPENSMTPD = PEERS / "usr/sbin/exim4", PEERS / "usr/sbin/smtpd"

EXIM_CONFIG = """
primary_hostname = mx.there.test
exim_user = root
exim_group = root
keep_environment =
spool_directory = {folder}/spool
log_file_path = {folder}/%slog
pid_file_path = {folder}/pid
daemon_smtp_ports = {port}
local_interfaces = 127.0.0.1
queue_only = true
host_lookup =
rfc1413_query_timeout = 0s
tls_advertise_hosts = {tls_hosts}
acl_smtp_rcpt = take
acl_smtp_data = take
begin acl
take:
  accept
"""

OPENSMTPD_CONFIG = """
{pki}
listen on 127.0.0.1 port {port} {tls} hostname mx.there.test
action "onward" relay host smtp://127.0.0.1:{next_port}
match from any for any action "onward"
"""


def missing() -> list[str]:
    """What stands in the way of running them."""
    problems = [
        f"{one.name} is not there: scripts/peers fetches it" for one in (EXIM, OPENSMTPD) if not one.exists()
    ]
    return [*problems, *tools.lacking(root=True)]


class Taken(NamedTuple):
    """A message that the mail server took: its header section, as it keeps it, and its body with CRLF line ends."""

    recipients: list[str]
    header: bytes
    body: bytes


Mta = Callable[[Path, bool], contextlib.AbstractAsyncContextManager["RunningMta"]]


class RunningMta(NamedTuple):
    """`taken`: the first message, once it is there."""

    port: int
    taken: Callable[[], Awaitable[Taken]]


@contextlib.asynccontextmanager
async def exim(folder: Path, has_tls: bool) -> AsyncIterator[RunningMta]:
    """With TLS it makes a certificate for itself. It keeps what it takes in its queue."""
    port, config, spool = free_port(), folder / "exim.conf", folder / "spool"
    config.write_text(EXIM_CONFIG.format(folder=folder, port=port, tls_hosts="*" if has_tls else ""))
    spool.mkdir()

    async def taken() -> Taken:
        (header,) = (spool / "input").glob("*-H")
        (body,) = (spool / "input").glob("*-D")
        envelope, fields = header.read_bytes().split(b"\n\n", 1)
        recipients = [one.decode() for one in envelope.split(b"\n") if b"@there.test" in one]
        return Taken(recipients, fields, body.read_bytes().partition(b"\n")[2].replace(b"\n", b"\r\n"))

    async with _running(port, str(EXIM), "-C", str(config), "-bdf"):
        yield RunningMta(port, taken)


@contextlib.asynccontextmanager
async def opensmtpd(folder: Path, has_tls: bool) -> AsyncIterator[RunningMta]:
    """It hands on what it takes. One at a time on a host: its control socket has a place that is compiled in."""
    port, config, pki, tls = free_port(), folder / "smtpd.conf", "", ""
    if has_tls:
        ThrowawayCa(folder).server_context(["mx.there.test"])
        chain = folder / "mx.there.test.pem"
        chain.chmod(0o600)
        pki = f'pki mx.there.test cert "{chain}"\npki mx.there.test key "{chain}"'
        tls = "tls pki mx.there.test"
    async with Mx() as farther:
        config.write_text(OPENSMTPD_CONFIG.format(pki=pki, port=port, tls=tls, next_port=farther.port))

        async def taken() -> Taken:
            await farther.until("dot")
            header, _, body = farther.received[0].raw.partition(b"\r\n\r\n")
            return Taken(farther.received[0].recipients, header, body)

        with (PEERS / "opensmtpd.lock").open("w") as lock:
            await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX)
            async with _running(port, str(OPENSMTPD), "-d", "-f", str(config)):
                yield RunningMta(port, taken)


def breaks_handshakes() -> bool:
    """Whether OpenSMTPD takes STARTTLS and then fails: Debian 12's, 6.8, was written for another OpenSSL."""
    if missing():
        return False
    told = subprocess.run([OPENSMTPD, "-h"], capture_output=True, text=True, check=False)
    return "OpenSMTPD 6." in told.stdout + told.stderr


@contextlib.asynccontextmanager
async def _running(port: int, *command: str) -> AsyncIterator[None]:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with asyncio.timeout(GIVES_UP_S):
            while not await _answers(port):
                assert process.returncode is None, f"{command[0]} ended with {process.returncode}"
                await asyncio.sleep(0.05)
        yield
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


async def _answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True
