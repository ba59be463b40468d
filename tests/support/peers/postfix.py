"""A private Postfix on a loopback port, with its own configuration, queue, log and mailboxes.

    async with Postfix("there.test") as postfix:
        postfix.port, await postfix.mail(1)

Mail for the domain is stored in one maildir by virtual(8); `relay_port` makes it pass everything else on
to a port of 127.0.0.1. The machine's own Postfix, if any, is not touched: what is stopped is what was
started here. Postfix drops its privileges, so its folder can't lie under pytest's private one.
"""

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from types import TracebackType

from tests.support.machine import tools
from tests.support.machine.ports import free_port
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.waiting import GIVES_UP_S

POLL_S = 0.05
NOBODY = 65534  # owns the mailboxes
LOG_TAIL_LINES = 30

MAIN_CF = """\
compatibility_level = 3.6
queue_directory = {folder}/spool
data_directory = {folder}/lib
command_directory = {commands}
daemon_directory = {daemons}
mail_owner = postfix
setgid_group = postdrop
myhostname = mx.{domain}
mydestination =
alias_maps =
alias_database =
local_recipient_maps =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
maillog_file = {folder}/maillog
maillog_file_prefixes = {folder}
smtpd_peername_lookup = no
smtpd_tls_security_level = may
smtpd_tls_chain_files = {folder}/mx.{domain}.pem
smtp_tls_security_level = none
smtp_dns_support_level = disabled
virtual_mailbox_domains = {domain}
virtual_mailbox_base = {folder}/mail
virtual_mailbox_maps = static:user/
virtual_uid_maps = static:{nobody}
virtual_gid_maps = static:{nobody}
virtual_minimum_uid = 100
virtual_mailbox_limit = 0
message_size_limit = 30000000
"""

# service, kind, private, unprivileged, chroot, wake-up, process limit, command
MASTER_CF = """\
127.0.0.1:{port} inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
proxywrite unix - - n - 1 proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
showq unix n - n - - showq
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
virtual unix - n n - - virtual
lmtp unix - - n - - lmtp
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
"""


class PostfixError(Exception):
    """The text ends with the last lines of its log."""


class LogIsStuck(PostfixError):
    """postlogd(8) takes nothing, as after few of a thousand starts: whoever has a line for it waits for ever."""


class Postfix:
    def __init__(
        self,
        domain: str,
        *,
        relay_port: int = 0,
        extra: Sequence[str] = (),
        mailbox: Path | None = None,
        resolver: str = "",
    ) -> None:
        """`extra`: lines for main.cf. `mailbox`: where these have the mail stored, if not by virtual(8). `resolver`:
        the address of the one that it asks for names, instead of the machine's."""
        self.domain = domain
        self._mailbox = mailbox
        self.port = free_port()
        self._relay = [f"relayhost = [127.0.0.1]:{relay_port}"] if relay_port else []
        self._extra = list(extra)
        self._resolver = resolver
        self.folder: Path
        self.master_pid = 0

    async def __aenter__(self) -> "Postfix":
        try:
            await self._begin()
        except LogIsStuck:
            await self._begin()
        return self

    async def _begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="maild-postfix-"))
        try:
            await self._configure()
            await self._command("start")
            await self._until(self._logs, LogIsStuck, "its log is silent")
            await self._until(self._greets, PostfixError, f"no greeting on port {self.port}")
            self.master_pid = int((self.folder / "spool/pid/master.pid").read_text())
        except BaseException:
            await self._end()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end()

    @property
    def mailbox(self) -> Path:
        return self._mailbox or self.folder / "mail/user/new"

    def stored(self) -> int:
        """How many messages lie in the mailbox."""
        return sum(1 for _ in os.scandir(self.mailbox)) if self.mailbox.exists() else 0

    async def mail(self, count: int, deadline_s: float = GIVES_UP_S) -> list[bytes]:
        """Wait until so many messages are stored, and return them with CRLF line ends, as they travelled."""
        await self.until_stored(count, deadline_s)
        files = sorted(self.mailbox.iterdir())
        return [file.read_bytes().replace(b"\n", b"\r\n") for file in files]

    async def until_stored(self, count: int, deadline_s: float = GIVES_UP_S) -> None:
        try:
            async with asyncio.timeout(deadline_s):
                while self.stored() < count:
                    await asyncio.sleep(POLL_S)
        except TimeoutError:
            raise PostfixError(f"{self.stored()} of {count} messages stored\n{self.log_tail()}") from None

    def empty_mailbox(self) -> None:
        for file in self.mailbox.iterdir() if self.mailbox.exists() else ():
            file.unlink()

    def log_tail(self) -> str:
        log = self.folder / "maillog"
        lines = log.read_text("utf-8", "replace").splitlines() if log.exists() else []
        return "\n".join(lines[-LOG_TAIL_LINES:])

    async def _configure(self) -> None:
        self.folder.chmod(0o755)
        for name in ("etc", "spool", "lib", "mail"):
            (self.folder / name).mkdir(mode=0o755)
        shutil.chown(self.folder / "lib", "postfix")
        os.chown(self.folder / "mail", NOBODY, NOBODY)
        ThrowawayCa(self.folder).server_context([f"mx.{self.domain}"])
        main = MAIN_CF.format(
            folder=self.folder,
            domain=self.domain,
            nobody=NOBODY,
            commands=await _built_in("command_directory"),
            daemons=await _built_in("daemon_directory"),
        )
        lines = [*self._relay, *self._extra, ""]
        (self.folder / "etc/main.cf").write_text(main + "\n".join(lines))
        (self.folder / "etc/master.cf").write_text(MASTER_CF.format(port=self.port))

    async def _command(self, word: str) -> None:
        """What it says goes to a file: the daemon that `start` leaves behind must not inherit a pipe."""
        with (self.folder / "postfix.out").open("ab") as out:
            process = await asyncio.create_subprocess_exec(
                *self._inside(), tools.path_of("postfix"), "-c", str(self.folder / "etc"), word,
                stdin=asyncio.subprocess.DEVNULL, stdout=out, stderr=out,
            )  # fmt: skip
            try:
                await process.wait()
            except asyncio.CancelledError:
                await process.wait()  # half a start could not be stopped
                raise
        if process.returncode:
            said = (self.folder / "postfix.out").read_text("utf-8", "replace")
            raise PostfixError(f"postfix {word}: {process.returncode}\n{said}{self.log_tail()}")

    def _inside(self) -> list[str]:
        """A mount namespace of its own, where /etc/resolv.conf names its resolver; it ends with its processes."""
        if not self._resolver:
            return []
        file = self.folder / "etc/resolv.conf"
        file.write_text(f"nameserver {self._resolver}\noptions trust-ad\n")
        script = f'mount --bind {file} /etc/resolv.conf && exec "$@"'
        return [tools.path_of("unshare"), "--mount", "sh", "-c", script, "sh"]

    async def _until(
        self, is_so: Callable[[], Awaitable[bool]], error: type[PostfixError], otherwise: str
    ) -> None:
        try:
            async with asyncio.timeout(GIVES_UP_S):
                while not await is_so():
                    await asyncio.sleep(POLL_S)
        except TimeoutError:
            raise error(f"{otherwise}\n{self.log_tail()}") from None

    async def _logs(self) -> bool:
        return "daemon started" in self.log_tail()  # by the master itself, through postlogd

    async def _greets(self) -> bool:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return False
        try:
            return (await reader.readline()).startswith(b"220 ")
        finally:
            writer.close()

    async def _end(self) -> None:
        """Stop the master (it ends its children), by force when it must be, and remove the folder. `postfix stop` says
        so in the log first, which may be stuck."""
        pid_file = self.folder / "spool/pid/master.pid"
        pid = int(pid_file.read_text()) if pid_file.exists() else 0
        if pid and _runs(pid):
            os.kill(pid, signal.SIGTERM)
            try:
                async with asyncio.timeout(GIVES_UP_S):
                    while _runs(pid):
                        await asyncio.sleep(POLL_S)
            except TimeoutError:
                os.killpg(pid, signal.SIGKILL)  # the master leads a group of its own
        shutil.rmtree(self.folder, ignore_errors=True)


async def _built_in(parameter: str) -> str:
    process = await asyncio.create_subprocess_exec(
        tools.path_of("postconf"), "-d", "-h", parameter, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    return out.decode().strip()


def _runs(pid: int) -> bool:
    """Also False for one that has ended and that its parent has not asked about."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
