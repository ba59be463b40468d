"""The listener for clients that submit mail: its sessions, and what they ask of the control plane."""

from datetime import UTC, datetime
from email.utils import format_datetime
from functools import partial

import structlog

from conf.failed_logins import FailedLogins
from conf.settings import Smtp
from maild.errors import SmtpError, no_storage
from maild.inbound.sessions.conversation import SessionSetup
from maild.inbound.sessions.intake import Intake, want
from maild.inbound.sessions.session_listener import ListenerGround, SessionListener
from maild.message.writing.long_lines import break_long_lines
from maild.message.writing.submitted_header import ServerFields
from maild.ports import LogIn, SubmittedMail, Submitter
from maild.submission.credentials import Credentials
from maild.submission.header_filter import SubmittedSection
from maild.submission.session import SubmissionSession
from storage.clock import Clock
from storage.mail.blobs import Stored

log = structlog.get_logger("maild.submission")


class SubmissionListener(SessionListener):
    """Accepts sessions on the addresses of `smtp.submission_listen` and `smtp.submission_listen_tls`.

    `limits`: of submission, with these addresses. `log_in`: who may send, and as whom.
    """

    name = "submission"
    keys = ("smtp.submission_listen", "smtp.submission_listen_tls")
    door = "submission"

    def __init__(self, ground: ListenerGround, limits: Smtp, clock: Clock, log_in: LogIn) -> None:
        super().__init__(ground, limits)
        self._clock = clock
        self._log_in = log_in
        self._failed_logins = FailedLogins(
            ground.tuning.failed_logins, ground.tuning.failed_logins_s, clock.monotonic
        )

    def _session(self, setup: SessionSetup) -> SubmissionSession:
        return SubmissionSession(self, setup)

    # What sessions ask (session.SubmissionHost) -----------------------------------------------------------

    async def log_in(self, credentials: Credentials | None, peer: str) -> Submitter | None:
        """The client that these are the credentials of, or None; SmtpError when it can't be said now."""
        if self._failed_logins.has_too_many(peer):
            raise SmtpError(
                421, "4.7.0", "too many failed logins from your address, try again later", closes=True
            )
        submitter = None
        if credentials is not None:
            try:
                submitter = await self._log_in(*credentials, peer)
            except SmtpError:
                raise
            except Exception as error:
                log.exception("login_not_checked", peer=peer)
                # RFC 4954 §6
                raise SmtpError(454, "4.7.0", "credentials could not be checked, try again later") from error
        if submitter is None:
            self._failed_logins.note(peer)
        return submitter

    def token(self) -> str:
        """What our Message-ID and envelope senders of one message carry."""
        return self._ids.token()

    def section(self, token: str, domain: str) -> SubmittedSection:
        """What reads the header of a message that is sent from an inbox on the domain."""
        now = datetime.fromtimestamp(self._clock.now_ms() // 1000, UTC)
        return SubmittedSection(ServerFields(format_datetime(now), f"<{token}@{domain}>"))

    async def submit(self, submitter: Submitter, mail: SubmittedMail, peer: str) -> str:
        """The id of the message, which is durable and queued; SmtpError, and its file goes where it made no message."""
        if mail.has_long_lines:
            return await self._blobs.keep(mail.stored, partial(self._submit_broken, submitter, mail, peer))
        return await self._blobs.keep(mail.stored, lambda: submitter.submit(mail))

    async def _submit_broken(self, submitter: Submitter, mail: SubmittedMail, peer: str) -> str:
        """With its long lines broken the message is another file; its own goes."""
        stored = await self._broken(mail.stored, peer)
        broken = mail._replace(stored=stored)
        return await self._blobs.keep(stored, lambda: submitter.submit(broken))

    async def _broken(self, stored: Stored, peer: str) -> Stored:
        if not self._disk.has_room(2 * stored.size_bytes):
            raise no_storage()
        try:
            return await self._blobs.store_pieces(self._cpu.steps(peer, break_long_lines(stored.view())))
        except OSError as error:
            want.note(error)
            raise no_storage() from error

    def intake(self, section: SubmittedSection, peer: str, declared_bytes: int) -> Intake:
        return self._new_intake(section, peer, declared_bytes)
