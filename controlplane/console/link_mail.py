"""Mails links to members who ask for one (`console.login_by_mail`), by the queue, from the operator's inbox.

Who asks is answered before anything is looked up, so neither words nor time tell whether an address is a member's. A
member gets LINKS_PER_HOUR at most, and as a whole ASKED_MAX wait to be looked at; more are dropped.
"""

from collections import deque
from typing import NamedTuple

import structlog

from conf.log_events import LogEvent, tell
from controlplane.access.console_links import link_to
from controlplane.sending.from_us.operator_mail import OperatorMail, plain_mail
from maild.message.fields.address import normalize
from storage.audit.acts import Act, system
from storage.audit.trail import Records
from storage.clock import Clock, iso
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.service import Enduring, LoopService
from storage.tenants import console_sessions, members
from storage.tenants.console_sessions import HOUR_MS, SECRET_BYTES, secret_of
from storage.tenants.members import MemberRow

ASKED_MAX = 100
LINKS_PER_HOUR = 3
ORGANIZATIONS_MAX = 5  # that one address may be a member of, and is told of at once
ADDRESS_CHARS = 320
CONSOLE = system("console")

log = structlog.get_logger("maild.api")


class MailedLink(NamedTuple):
    """A link for a member. `url` has its secret, and goes nowhere but into the mail."""

    member: MemberRow
    secret: str
    url: str


class LinkMail(LoopService):
    """`public_url`: of the host that links lead to."""

    name = "console links"

    def __init__(
        self, db: Database, clock: Clock, ids: Ids, audit: Records, mail: OperatorMail, public_url: str
    ) -> None:
        super().__init__()
        self._db = db
        self._clock = clock
        self._ids = ids
        self._audit = audit
        self._mail = mail
        self._public_url = public_url
        self._asked: deque[str] = deque(maxlen=ASKED_MAX)

    def ask(self, email: str) -> None:
        """Send the address a link in a while, if it is a member's."""
        if len(email) <= ADDRESS_CHARS and len(self._asked) < ASKED_MAX:
            self._asked.append(email)
            self.wake()

    async def run(self) -> None:
        while True:
            while self._asked:
                with Enduring(log, "console_links_failed"):
                    await self._answer(normalize(self._asked.popleft().strip()))
            await self.pause(None)

    async def _answer(self, email: str) -> None:
        for member in await self._db.read(members.everywhere, email, ORGANIZATIONS_MAX):
            await self._send(member)

    async def _send(self, member: MemberRow) -> None:
        sender = await self._mail.sender()
        if sender is None:  # nobody to write as
            return
        secret = secret_of(self._ids.chance(SECRET_BYTES))
        link = MailedLink(member, secret, link_to(self._public_url, secret))

        def write(token: str, address: str) -> bytes:
            return _mail(link, address, token, self._clock.now_ms())

        def mark(tx: Tx, message_id: str) -> bool:
            return self._make(tx, link)

        message_id = await self._mail.queue(sender, member.email, write, mark)
        if message_id is not None:
            tell(
                log,
                LogEvent.CONSOLE_LINK_SENT,
                message_id=message_id,
                member_id=member.id,
                organization_id=member.organization_id,
            )

    def _make(self, tx: Tx, link: MailedLink) -> bool:
        """The link, in the transaction that queues its mail; False: the member is gone, or has had enough."""
        now_ms, member = self._clock.now_ms(), link.member
        known = members.by_email(tx, member.organization_id, member.email)
        is_gone = known is None or known.id != member.id
        if is_gone or console_sessions.links_within(tx, member.id, now_ms, HOUR_MS) >= LINKS_PER_HOUR:
            return False
        console_sessions.add_link(tx, link.secret, member.organization_id, member.id, now_ms)
        self._audit.record(tx, member.organization_id, Act.LOGIN_LINK_MADE, CONSOLE, member.id)
        return True


def _mail(link: MailedLink, sender: str, token: str, now_ms: int) -> bytes:
    """`token`: of its Message-ID."""
    until = iso(now_ms + console_sessions.LINK_MS)
    lines = (
        "Open this link, and press the button there, to sign in to the console:",
        "",
        link.url,
        "",
        f"It works once, until {until}. If you did not ask for it, do nothing.",
        "",
    )
    return plain_mail(link.member.email, "Your link to the console", lines, sender, token, now_ms)
