"""Who is signed in: by a link that works once, into a session that a cookie names.

Nobody learns from an answer why a link did not work, whether an address is a member's, or whose a session was. An
address (of IPv6 a /64) that failed FAILURES_MAX times within a minute is not looked at.
"""

from typing import NamedTuple

import structlog

from conf.failed_logins import FailedLogins
from conf.log_events import LogEvent, tell
from conf.strangers import StrangerLog
from controlplane.access.principal import LIVE, Principal
from controlplane.console.faults import TooMany
from controlplane.contract.scopes import ALL, SCOPES
from controlplane.operations.accounts.sessions import end_of
from storage.audit.acts import Act, Actor
from storage.audit.repeats import RepeatedActs
from storage.audit.trail import Records
from storage.clock import Clock, is_recent
from storage.engine.database import Database
from storage.engine.failures import StoreFailure
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.tenants import console_sessions
from storage.tenants.console_sessions import (
    MINUTE_MS,
    PREFIX,
    SECRET_BYTES,
    SESSION_MS,
    LinkRow,
    OpenSession,
    SessionRow,
    hash_of,
    secret_of,
)

log = structlog.get_logger("maild.api")

FAILURES_MAX = 5
FAILURES_S = 60.0
TOUCH_MS = MINUTE_MS  # how exact the end of an unused session is
SECRET_CHARS = 43
AGENT_CHARS = 200
ADDRESS_CHARS = 45
_READING = tuple(scope for scope in SCOPES if scope.endswith(":read"))
# What members may, by their role: the scopes of a key that could do the same.
SCOPES_OF = {"owner": (ALL,), "admin": (ALL,), "member": _READING}


class SignedIn(NamedTuple):
    """A member in a browser. `principal`: what operations are called for."""

    session: OpenSession
    principal: Principal

    @property
    def acts(self) -> bool:
        """May it change anything?"""
        return ALL in self.principal.scopes


class MemberSessions:
    """Begins, finds and ends sessions. `repeats`: notes links that did not work."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        ids: Ids,
        audit: Records,
        repeats: RepeatedActs,
        strangers: StrangerLog,
    ) -> None:
        self._db = db
        self._clock = clock
        self._ids = ids
        self._audit = audit
        self._repeats = repeats
        self._strangers = strangers
        self._failed = FailedLogins(FAILURES_MAX, FAILURES_S, clock.monotonic)

    async def find(self, secret: str, request_id: str) -> SignedIn | None:
        """Whose session the cookie names; None: it is over, revoked, or nobody's."""
        if not 0 < len(secret) <= SECRET_CHARS:
            return None
        now_ms = self._clock.now_ms()
        session = await self._db.peek(console_sessions.by_hash, hash_of(secret), now_ms)
        if session is None:
            return None
        if not is_recent(session.last_used_at, now_ms, TOUCH_MS):
            try:
                await self._db.impatient().write(console_sessions.touch, session.id, now_ms)
            except StoreFailure as error:  # a store that can't be written can still be read
                log.error("last_use_not_noted", session=session.id, error=str(error))
        scopes = SCOPES_OF[session.role]
        return SignedIn(
            session,
            Principal(session.member_id, session.organization_id, None, scopes, LIVE, request_id, session.id),
        )

    async def begin(self, secret: str, peer: str, user_agent: str, request_id: str) -> str | None:
        """Use the link up; the secret of the session, which is durable. None: the link does not work (any more).
        TooMany."""
        self.refuse_guessing(peer)
        token = secret_of(self._ids.chance(SECRET_BYTES))
        now_ms = self._clock.now_ms()
        row = SessionRow(
            self._ids.new(PREFIX.rstrip("_")),
            "",
            "",
            hash_of(token),
            now_ms,
            now_ms,
            now_ms + SESSION_MS,
            peer[:ADDRESS_CHARS],
            user_agent[:AGENT_CHARS],
        )
        done = await self._db.impatient().write(self._begin, hash_of(secret), row, request_id)
        if isinstance(done, SessionRow):
            tell(
                log,
                LogEvent.CONSOLE_LOGIN,
                peer=peer,
                member_id=done.member_id,
                session_id=done.id,
                organization_id=done.organization_id,
            )
            return token
        await self._refused(done, now_ms, peer, request_id)
        return None

    def _begin(
        self, tx: Tx, link_hash: bytes, row: SessionRow, request_id: str
    ) -> SessionRow | LinkRow | None:
        """The session, or the link where it does not work; None: there is none."""
        link = console_sessions.link(tx, link_hash)
        if link is None or not console_sessions.use_link(tx, link, row.created_at):
            return link
        made = row._replace(organization_id=link.organization_id, member_id=link.member_id)
        console_sessions.open_(tx, made)
        actor = Actor(made.member_id, request_id)
        self._audit.record(tx, made.organization_id, Act.LOGIN_ACCEPTED, actor, made.id)
        return made

    async def _refused(self, link: LinkRow | None, now_ms: int, peer: str, request_id: str) -> None:
        self._failed.note(peer)
        if link is None:
            self._strangers.note(LogEvent.CONSOLE_LOGIN_REFUSED, peer=peer, reason="unknown")
            return
        reason = "used" if link.used_at is not None else "expired"
        self._strangers.note(LogEvent.CONSOLE_LOGIN_REFUSED, peer=peer, reason=reason)
        await self._repeats.note(
            link.organization_id,
            Act.LOGIN_REFUSED,
            Actor(link.member_id, request_id),
            code=f"link_{reason}",
        )

    def refuse_guessing(self, peer: str) -> None:
        """TooMany, where the address has failed too often lately."""
        if self._failed.has_too_many(peer):
            self._strangers.note(LogEvent.CONSOLE_LOGIN_REFUSED, peer=peer, reason="too_many")
            raise TooMany(
                "Links from your address did not work several times. Wait a minute, then try again."
            )

    def note_ask(self, peer: str) -> None:
        """Count something that is asked without being signed in, as if it had failed."""
        self._failed.note(peer)

    async def end(self, signed_in: SignedIn, session_id: str) -> bool:
        """Revoke a session that the member may end, from the commit on; False: there is none of that id."""
        return await self._db.impatient().write(self._end, signed_in.principal, session_id)

    def _end(self, tx: Tx, principal: Principal, session_id: str) -> bool:
        principal.ask(tx)
        return end_of(tx, self._audit, principal, session_id)
