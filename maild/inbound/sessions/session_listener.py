"""What all SMTP listeners have: sockets, the caps over all sessions, and the drain at stop."""

import asyncio
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from ssl import SSLContext

import structlog
from structlog.typing import FilteringBoundLogger

from conf.addresses import Networks, network_of
from conf.setting_kinds import address_port, host_port
from conf.settings import Smtp
from conf.strangers import StrangerLog
from conf.tuning import SmtpTuning
from maild.errors import SmtpError, no_storage, out_of_resources, shutting_down
from maild.inbound.sessions.conversation import Conversation, SessionSetup
from maild.inbound.sessions.intake import HeaderFilter, Intake
from maild.inbound.sessions.session_places import who_gives_way
from storage.byte_account import ByteAccount
from storage.disk import Disk
from storage.ids import Ids
from storage.mail.blobs import Blobs
from storage.service import Service
from storage.turns.cpu_threads import CpuThreads
from storage.turns.fair_server import FairServer
from storage.turns.one_a_round import OneARound
from storage.turns.recent_use import RecentUse
from storage.turns.round_share import RoundShare

log = structlog.get_logger("maild.smtp")

BEGUN_A_ROUND = 4  # connections: a fifth of a millisecond each
ANSWERED_A_ROUND = 8  # commands: 20 µs for EHLO, 65 for RCPT, in a hundred of which one takes 300
DECRYPTED_A_ROUND = 2  # pieces of TLS: half a millisecond for a handshake
TINY_REST_S = 0.005  # until the next piece of tiny records
COMMITTED_A_ROUND = 3  # a millisecond each, before the first wait
DRAIN_S = 6.0
PORT_ADVICE = (
    "; a port below 1024 wants the capability net_bind_service, which the unit of systemd gives ('systemctl start"
    ' maild\'): docs/operating.md, "Install", has the same by hand'
)
_GIVES_WAY = SmtpError(421, "4.3.2", "others need the place of this session, try again later")


class ListenError(Exception):
    """An address can't be listened on; the text says which and why."""


@dataclass(frozen=True, slots=True)
class ListenerGround:
    """What every listener stands on. Of all listeners: `memory`, the account of what messages in transfer hold, and
    `use`, the commands of each address."""

    blobs: Blobs
    disk: Disk
    store_stands_still: Callable[[], bool]
    cpu: CpuThreads
    tuning: SmtpTuning
    hostname: str
    tls: SSLContext
    ids: Ids
    strangers: StrangerLog
    memory: ByteAccount
    use: RecentUse


class SessionListener(Service):
    """Accepts sessions on the two kinds of addresses of `limits`, and gives them what they share.

    `keys`: the names of these two in the configuration. `door`: what metrics call them. `tls`: of sessions that begin.
    """

    keys = ("smtp.listen", "smtp.listen_tls")
    door = "mail"

    def __init__(self, ground: ListenerGround, limits: Smtp) -> None:
        self._blobs = ground.blobs
        self._disk = ground.disk
        self._store_stands_still = ground.store_stands_still
        self._cpu = ground.cpu
        self._limits = limits
        self._tuning = ground.tuning
        self._hostname = ground.hostname
        self.tls = ground.tls
        self.strangers = ground.strangers
        # Bound once: finding the method anew costs more than not writing a line.
        self.log: FilteringBoundLogger = log.bind()
        self._ids = ground.ids
        self._balancers = Networks(limits.proxy_from)
        self._servers: list[FairServer] = []
        self._tls_servers: list[FairServer] = []
        self._is_open = False
        self._sessions: set[Conversation] = set()
        self._counted: dict[Conversation, str] = {}  # as whose each counts
        self._per_address: Counter[str] = Counter()  # of IPv6 one /64
        self._committing = 0  # messages, with or without their session
        self._memory = ground.memory
        self._changed = asyncio.Event()  # a session ended, or its message did
        self._use = ground.use
        self._begun = RoundShare(BEGUN_A_ROUND, self._use.is_light)
        self._answered = RoundShare(ANSWERED_A_ROUND, self._use.is_light)
        self._decrypted = RoundShare(DECRYPTED_A_ROUND, self._use.is_light)
        self._resting = OneARound(TINY_REST_S)
        self._committed = RoundShare(COMMITTED_A_ROUND, self._use.is_light)

    @abstractmethod
    def _session(self, setup: SessionSetup) -> Conversation:
        """A new session."""

    def _be_impatient(self) -> None:
        """The process stops, and no transfer is left: end what commits wait for."""

    @property
    def addresses(self) -> list[str]:
        """Where we listen really, as host:port (port 0 was replaced)."""
        return _addresses(self._servers)

    @property
    def tls_addresses(self) -> list[str]:
        """Where we listen for clients that begin with TLS."""
        return _addresses(self._tls_servers)

    @property
    def sessions(self) -> tuple[int, int]:
        """How many there are, and how many there may be."""
        return len(self._sessions), self._limits.max_sessions

    @property
    def is_scarce(self) -> bool:
        """Is half of the sessions, or of the memory for messages on their way, in use? Then a client that is slow may
        be in somebody's way."""
        return 2 * len(self._sessions) >= self._limits.max_sessions or self._memory.is_half_used

    async def start(self) -> None:
        """ListenError when an address can't be listened on."""
        self._is_open = True
        for address in self._limits.listen:
            self._servers.append(await self._listen(self.keys[0], address, is_tls_first=False))
        for address in self._limits.listen_tls:
            self._tls_servers.append(await self._listen(self.keys[1], address, is_tls_first=True))

    async def _listen(self, key: str, address: str, *, is_tls_first: bool) -> FairServer:
        loop = asyncio.get_running_loop()

        def begin() -> Conversation:
            # The context of this moment: a renewed certificate is that of the next session.
            return self._session(
                SessionSetup(self._limits, self._tuning, self._hostname, self.tls, is_tls_first, loop)
            )

        server = FairServer(begin, self._place_to_begin)
        try:
            await server.listen(*host_port(address))
        except OSError as error:
            advice = PORT_ADVICE if isinstance(error, PermissionError) else ""
            raise ListenError(
                f"{key}: can't listen on {address}: {error.strerror or error}{advice}"
            ) from error
        return server

    async def stop(self) -> None:
        """No new sessions and messages; idle sessions get 421, messages in transfer may finish within DRAIN_S, commits
        always do."""
        self._is_open = False
        for server in (*self._servers, *self._tls_servers):
            await server.close()
        idle = [session for session in self._sessions if not session.is_busy]
        for session in idle:
            session.hang_up(shutting_down())
        try:
            async with asyncio.timeout(DRAIN_S):
                while any(session.is_busy for session in self._sessions):
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            log.warning("drain_incomplete", sessions=len(self._sessions))
        for session in list(self._sessions):
            session.hang_up(shutting_down())
        self._be_impatient()
        while self._committing:
            self._changed.clear()
            await self._changed.wait()
        self._servers.clear()
        self._tls_servers.clear()

    # What sessions ask (conversation.ConversationHost) -------------------------------------------------

    def new_id(self) -> str:
        """A session's name in the log."""
        return self._ids.new("ses")

    def arrived(self, session: Conversation) -> SmtpError | None:
        """Count the session; the refusal when it is one too many."""
        self._sessions.add(session)
        if not self._is_open:
            return shutting_down()
        if len(self._sessions) > self._limits.max_sessions and not self._has_place(session):
            return SmtpError(421, "4.7.0", "too many sessions, try again later")
        return None

    def _has_place(self, newcomer: Conversation) -> bool:
        """Is there one, perhaps because somebody gives way? Those that are told to go have none any more."""
        if sum(one.is_open for one in self._sessions if one is not newcomer) < self._limits.max_sessions:
            return True
        if self._per_address[network_of(newcomer.peer)] >= self._limits.max_sessions_per_address:
            return False  # it will be refused anyway, and nobody gives way to that
        leaving = who_gives_way(self._sessions, newcomer, asyncio.get_running_loop().time())
        if leaving is not None:
            leaving.hang_up(_GIVES_WAY)
        return leaving is not None

    def opened(self, session: Conversation) -> SmtpError | None:
        """Count the session of this peer, once it is known who that is; the refusal when it is one too many."""
        address = self._counted[session] = network_of(session.peer)
        self._per_address[address] += 1
        if self._per_address[address] > self._limits.max_sessions_per_address:
            return SmtpError(421, "4.7.0", "too many sessions from your address, try again later")
        return None

    def closed(self, session: Conversation) -> None:
        self._sessions.discard(session)
        address = self._counted.pop(session, None)
        if address is not None:
            self._per_address[address] -= 1
            if not self._per_address[address]:
                del self._per_address[address]
        self._changed.set()

    def _place_to_begin(self, address: str) -> "asyncio.Future[None] | None":
        """None: a connection that has come may begin now; else what is done when it may."""
        return self._place(self._begun, network_of(address))

    async def may_answer(self, peer: str) -> None:
        """Return when a command that has come may be answered."""
        if (called := self._place(self._answered, network_of(peer))) is not None:
            await called

    def _place(self, share: RoundShare, address: str) -> "asyncio.Future[None] | None":
        self._use.note(address)
        return None if self._use.is_alone(address) else share.place(address)

    def place_to_decrypt(self, peer: str, *, is_tiny: bool) -> "asyncio.Future[None] | None":
        """None: what came under TLS may be looked at now; else what is done when it may. `is_tiny`: were the last
        records?"""
        if not is_tiny:
            return self._decrypted.place(network_of(peer))
        called: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._resting.put(network_of(peer), partial(called.set_result, None))
        return called

    async def may_commit(self, peer: str) -> None:
        """Return when a message that has come may be taken."""
        await self._committed.begin(network_of(peer))

    def is_balancer(self, peer: str) -> bool:
        """Does a connection from there begin with a PROXY header? From anywhere else none is ever looked for."""
        return self._balancers.have(peer)

    def _new_intake(self, header: HeaderFilter, peer: str, declared_bytes: int) -> Intake:
        return Intake(
            self._blobs.spool(),
            self._memory,
            self._disk,
            self._cpu,
            self._limits,
            header,
            peer,
            declared_bytes,
        )

    def refuse_message(self, size_bytes: int) -> SmtpError | None:
        """Why no message may begin now, or None."""
        if not self._is_open:
            return shutting_down()
        if self._store_stands_still():
            return out_of_resources()
        # Every open session may bring a message as large as this one.
        if not self._disk.has_room(int(1.5 * (size_bytes or self._limits.max_message_bytes))):
            return no_storage()
        return None

    def message_ended(self) -> None:
        self._changed.set()

    @contextmanager
    def committing(self) -> Iterator[None]:
        """Around the commit of a message: `stop` waits for it, whether its session is still there or not."""
        self._committing += 1
        try:
            yield
        finally:
            self._committing -= 1
            self._changed.set()


def _addresses(servers: Sequence[FairServer]) -> list[str]:
    sockets = [one for server in servers for one in server.sockets]
    return [address_port(*sock.getsockname()[:2]) for sock in sockets]
