"""SMTP submission as a door to the operations: who logs in, the rate, the call, and what a refusal is in SMTP.

It belongs to the composition root: it knows both planes, and holds no rule of what may be sent.
"""

from contextlib import nullcontext

import msgspec

from controlplane.access.authentication import Authenticator
from controlplane.access.principal import Principal
from controlplane.access.rate_limit import RateLimit
from controlplane.contract.refusals import Refusal
from controlplane.operations.invoke import Operations
from controlplane.operations.results import Result
from controlplane.operations.table import SUBMIT_MESSAGE
from controlplane.sending.writing.written_mail import MailSubmission
from maild.errors import SmtpError
from maild.message.fields.address import normalize
from maild.ports import SubmittedMail
from maild.submission.replies import reply_to
from storage.audit.acts import Act
from storage.audit.repeats import RepeatedActs
from storage.engine.database import Database
from storage.mail import inboxes
from storage.mail.inboxes import RecipientInbox
from storage.turns.rounds import Kind, Overloaded, Rounds


class SubmissionDoor:
    """`log_in` is a `maild.ports.LogIn`."""

    def __init__(
        self,
        db: Database,
        operations: Operations,
        authenticator: Authenticator,
        rate_limit: RateLimit,
        rounds: Rounds,
        logins: RepeatedActs,
    ) -> None:
        self._db = db
        self._operations = operations
        self._authenticator = authenticator
        self._rate_limit = rate_limit
        self._rounds = rounds
        self._logins = logins

    async def log_in(self, username: str, password: str, peer: str) -> "LoggedIn | None":
        """Who sends, by the address of an active inbox and a key that may send from it; None: not these two."""
        try:
            principal = await self._authenticator.principal(password)
        except Refusal:
            return None  # nobody knows whose log it would stand in
        organization_id, actor = principal.organization_id, principal.actor
        try:
            inbox = await self._inbox_of(principal, username)
        except Refusal as refusal:
            await self._logins.note(organization_id, Act.LOGIN_REFUSED, actor, code=refusal.code)
            return None
        await self._logins.note(organization_id, Act.LOGIN_ACCEPTED, actor, inbox.inbox_id)
        return LoggedIn(self, principal, inbox, peer)

    async def _inbox_of(self, principal: Principal, username: str) -> RecipientInbox:
        principal.require(SUBMIT_MESSAGE.scope)
        inbox = await self._db.lookup(inboxes.mailbox, normalize(username))
        if inbox is None or inbox.organization_id != principal.organization_id:
            raise Refusal("inbox_not_found")
        principal.confine(inbox.inbox_id)
        return inbox

    async def begin(self, sender: "LoggedIn") -> None:
        """Count a message as a request is counted; SmtpError over the rate."""
        verdict = await self._rate_limit.count(sender.principal.organization_id)
        if not verdict.allowed:
            raise _reply(Refusal("rate_limit_exceeded"))

    async def submit(self, sender: "LoggedIn", mail: SubmittedMail) -> str:
        """The id of the message, which is durable and queued; SmtpError."""
        wish = MailSubmission(
            sender.inbox.inbox_id,
            sender.address,
            mail.recipients,
            mail.stored,
            mail.message_id,
            mail.own_hash,
            mail.token,
        )
        try:
            await self._rounds.begin(Kind.REQUEST, sender.peer)
            result = await self._operations.invoke(SUBMIT_MESSAGE, sender.principal, nullcontext(wish))
        except Refusal as refusal:
            raise _reply(refusal) from refusal
        except Overloaded as error:
            raise _reply(Refusal("provider_unavailable")) from error
        assert isinstance(result, Result)
        return msgspec.json.decode(bytes(result.data), type=_Made).id


class LoggedIn:
    """A `maild.ports.Submitter`."""

    def __init__(self, door: SubmissionDoor, principal: Principal, inbox: RecipientInbox, peer: str) -> None:
        self._door = door
        self.principal = principal
        self.inbox = inbox
        self.peer = peer

    @property
    def address(self) -> str:
        return self.inbox.address

    @property
    def told(self) -> dict[str, str]:
        return {
            "inbox_id": self.inbox.inbox_id,
            "key_id": self.principal.key_id,
            "organization_id": self.principal.organization_id,
        }

    async def begin(self) -> None:
        await self._door.begin(self)

    async def submit(self, mail: SubmittedMail) -> str:
        return await self._door.submit(self, mail)


class _Made(msgspec.Struct):
    """The answer to a send, as far as SMTP tells of it."""

    id: str


def _reply(refusal: Refusal) -> SmtpError:
    return reply_to(refusal.code, refusal.message, refusal.details or {})
