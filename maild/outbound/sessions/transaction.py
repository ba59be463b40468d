"""One envelope and one message on one session: MAIL, RCPTs, DATA, the message, and a verdict each.

What a code means stands in `replies.py`. Where a session is lost before the end of the message was written, what the
host refused before is refused, and the other recipients are deferred; where it had refused nobody, that raises. A
session lost afterwards is a deferral that may become a second copy (RFC 1047), and the verdict says so.

A host takes so many recipients in one message, and tells it by LIMITS (RFC 9422) or by refusing the others. They are
the surplus, which has no verdict: it follows in messages of its own.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

import structlog
from aiosmtplib import SMTPException, SMTPServerDisconnected

from maild.message.envelope_sender import without_tag
from maild.message.reports.account_refusals import is_of_our_account
from maild.message.reports.bounces import NAMES_THE_SENDER
from maild.outbound.routing.route import Hop
from maild.outbound.sessions.connections import PooledSession, Unreachable
from maild.outbound.sessions.given_message_ids import given_message_id
from maild.outbound.sessions.replies import (
    CLOSING,
    IN_REPLY_TO_SENDER,
    IN_REPLY_TO_SEVERAL,
    LEAST_REFUSAL,
    Meaning,
    SmtpReply,
    Step,
    clean,
    meaning,
    says_session_is_full,
)
from maild.outbound.sessions.session_faults import EnvelopeCut, MessageCut, reason
from maild.outbound.sessions.smtp_client import NextHopSession
from maild.outbound.signing.content import Content
from maild.outcomes.verdict import Verdict
from storage.sending.leases import Due

log = structlog.get_logger("maild.outbound")

# RFC 5321 §4.5.3.1.10, and how it was called before; both are also said of one recipient.
TOO_MANY = (452, 552)
LOGIN_REQUIRED = 530  # RFC 4954 §6: to any command while nobody is logged in; of TLS, RFC 3207 §4

# A path that can't be written in a command: an unquoted blank or bracket, a control anywhere.
_UNSAFE_PATH = re.compile(r'[\x00-\x1f\x7f]|^[^"]*[\s<>]')


class TransientRefusal(Unreachable):
    """A transient reply to MAIL: the host answers, and does not take this message now. The next host is tried."""


class Transaction:
    """One mail transaction (RFC 5321 §3.3) for rows of one message.

    `has_sent_mail_from`: the message counts as sent from this host, whatever comes of it. `lost_after_data`: the
    connection was lost after the message, before the reply to it. `cut`: how it was lost before, after a refusal.
    `surplus`: rows that go on with a transaction of their own, for the host takes no more recipients in one.
    """

    def __init__(
        self,
        hop: Hop,
        pooled: PooledSession,
        rows: Sequence[Due],
        content: Content,
        sender: str,
        stand_back: Callable[[], Awaitable[None]],
    ) -> None:
        """`stand_back`: waited for before the message is sent; never after it, where nothing may come between what the
        host answers and the store."""
        self._hop = hop
        self._pooled = pooled
        self._session: NextHopSession = pooled.session
        self._rows = rows
        self._content = content
        self._sender = sender
        self._stand_back = stand_back
        self._verdicts: dict[int, Verdict] = {}
        self.has_sent_mail_from = False
        self.lost_after_data = False
        self.cut: str | None = None
        self.surplus: list[Due] = []
        self._limited = SmtpReply(452, "4.5.3", "the host takes fewer recipients in one message")
        self._accepted: Literal["sent", "delivered"] = "sent" if hop.relay else "delivered"

    async def run(self) -> Mapping[int, Verdict]:
        """A verdict for each row but the surplus, by position. TransientRefusal; SMTPException or OSError when the
        session is lost before the message was written: no verdict holds then."""
        rows = [row for row in self._rows if not self._refused_here(row)]
        if rows:
            most = self._session.limits.get("RCPTMAX", len(rows))
            self.surplus = rows[most:]
            await self._run(rows[:most])
        else:
            self._pooled.is_reusable = True
        if self.surplus and not self._pooled.is_reusable:  # the host had better be left alone for a while
            self._record(self.surplus, self._limited, Step.RECIPIENT)
            self.surplus = []
        return self._verdicts

    async def _run(self, rows: Sequence[Due]) -> None:
        needs_utf8 = self._needs_utf8(rows)
        recipients = [self._rcpt(row) for row in rows]
        self.has_sent_mail_from = True
        try:
            mail, *answers = await self._session.envelope(self._mail(needs_utf8), recipients)
        except EnvelopeCut as cut:
            self._judge_cut(rows, cut)
            return
        await self._stand_back()
        self._check_login(mail)
        self._check_kept(mail, answers)
        match meaning(Step.MAIL, mail.code):
            case Meaning.GO_ON:
                await self._continue_after_mail(rows, answers)
            case Meaning.NEVER:
                self._record(rows, mail, Step.MAIL)
                await self._reset(answers[len(rows) :])
            case Meaning.LATER | Meaning.FAULT:
                raise TransientRefusal(mail.at(Step.MAIL), self._hop.host)

    def _check_login(self, mail: SmtpReply) -> None:
        """Unreachable where a smarthost wants a login that there is not: our configuration's fault, as a login that is
        refused, never the message's."""
        relay = self._hop.relay
        if relay is not None and mail.code == LOGIN_REQUIRED:
            log.error("relay_refuses_login", relay=relay.name, code=mail.code, reason=clean(mail.text))
            text = f"the smarthost wants a login: {mail.text}"
            raise Unreachable(SmtpReply(454, "4.7.0", text), self._hop.host)

    def _check_kept(self, mail: SmtpReply, answers: Sequence[SmtpReply]) -> None:
        """SMTPServerDisconnected where a session that had messages before takes no more of them."""
        if self._pooled.is_fresh:
            return
        if mail.code == CLOSING or any(map(says_session_is_full, (mail, *answers))):
            raise SMTPServerDisconnected(mail.text)

    def _judge_cut(self, rows: Sequence[Due], cut: EnvelopeCut) -> None:
        """TransientRefusal, or the loss itself, where nobody was refused."""
        mail, *answers = cut.heard
        self._check_login(mail)
        self._check_kept(mail, answers)
        match meaning(Step.MAIL, mail.code):
            case Meaning.NEVER:
                self._record(rows, mail, Step.MAIL)
                return
            case Meaning.LATER:
                raise TransientRefusal(mail, self._hop.host)
            case Meaning.GO_ON if any(answer.code >= LEAST_REFUSAL for answer in answers):
                taken = self._read_recipients(rows, answers)
            case _:
                raise SMTPServerDisconnected(cut.text)
        said = next((answer for answer in answers if answer.code == CLOSING), None)
        lost = said or SmtpReply(CLOSING, "4.4.2", cut.text)
        self.cut = cut.text
        self._record([*taken, *rows[len(answers) :]], lost, Step.RECIPIENT)

    async def _continue_after_mail(self, rows: Sequence[Due], answers: Sequence[SmtpReply]) -> None:
        """`answers`: one for each row, and for DATA where that was sent."""
        taken = self._read_recipients(rows, answers)
        start = answers[len(rows)] if len(answers) > len(rows) else None
        if not taken or start is None:
            await self._reset(answers[len(rows) :])
        elif meaning(Step.DATA, start.code) is Meaning.GO_ON:
            await self._send(taken)
        else:
            self._record(taken, start, Step.DATA)
            if meaning(Step.DATA, start.code) is not Meaning.FAULT:  # else it is unknown what it waits for
                await self._reset([])

    def _refused_here(self, row: Due) -> bool:
        """Permanent faults known before MAIL is sent: a path, SMTPUTF8 or SIZE that the host can't take."""
        if _UNSAFE_PATH.search(path(row)) or _UNSAFE_PATH.search(self._sender):
            refusal = SmtpReply(553, "5.1.3", "the address can't be written in SMTP")
        elif not path(row).isascii() and "smtputf8" not in self._session.extensions:
            # RFC 6531 §3.5, RFC 3463 X.6.7: no way to say this address to that host.
            refusal = SmtpReply(553, "5.6.7", "the host does not take internationalized addresses")
        elif 0 < self._size_limit() < self._content.size_bytes:
            # RFC 1870 §6.3: not even tried.
            refusal = SmtpReply(552, "5.3.4", f"the host takes {self._size_limit()} bytes at most")
        else:
            return False
        self._record([row], refusal, Step.RECIPIENT)
        return True

    def _size_limit(self) -> int:
        limit = self._session.extensions.get("size", "")
        return int(limit) if limit.isascii() and limit.isdigit() else 0

    def _needs_utf8(self, rows: Sequence[Due]) -> bool:
        """Hosts bounce what came with SMTPUTF8 where the one behind them doesn't know it (RFC 6531 §3.2), so it is said
        for addresses alone: words beyond ASCII, of programs that don't encode them, always went without."""
        words = [self._sender, *(path(row) for row in rows)]
        return self._content.has_utf8_address or not all(word.isascii() for word in words)

    def _mail(self, needs_utf8: bool) -> bytes:
        extensions = self._session.extensions
        command = f"MAIL FROM:<{self._sender}>"
        if "size" in extensions:
            command += f" SIZE={self._content.size_bytes}"  # RFC 1870 §6
        if self._content.has_8bit and "8bitmime" in extensions:
            command += " BODY=8BITMIME"  # RFC 6152 §2
        if needs_utf8 and "smtputf8" in extensions:
            command += " SMTPUTF8"  # RFC 6531 §3.4
        if self._wants_reports:
            command += f" RET=HDRS ENVID={xtext(self._rows[0].message_id)}"  # RFC 3461 §4.3, §4.4
        return command.encode()

    @property
    def _wants_reports(self) -> bool:
        """Is the host a smarthost that tells what becomes of the message? Of an MX its 250 says enough."""
        return self._hop.relay is not None and "dsn" in self._session.extensions

    def _rcpt(self, row: Due) -> bytes:
        command = f"RCPT TO:<{path(row)}>"
        if self._wants_reports and path(row).isascii():  # RFC 3461 §4.1, §4.2
            command += f" NOTIFY=SUCCESS,FAILURE,DELAY ORCPT=rfc822;{xtext(path(row))}"
        return command.encode()

    def _read_recipients(self, rows: Sequence[Due], answers: Sequence[SmtpReply]) -> list[Due]:
        """The recipients that were accepted; the others get their verdicts, or are surplus."""
        answered = list(zip(rows, answers, strict=False))
        is_taken = [meaning(Step.RECIPIENT, answer.code) is Meaning.GO_ON for answer in answers[: len(rows)]]
        for at, (row, answer) in enumerate(answered):
            if is_taken[at]:
                continue
            if any(is_taken[:at]) and _is_over_limit(answer, is_behind_all=not any(is_taken[at:])):
                self.surplus.append(row)
                self._limited = SmtpReply(452, "4.5.3", answer.text)
            else:
                self._record([row], answer, Step.RECIPIENT)
        return [row for (row, _), taken in zip(answered, is_taken, strict=True) if taken]

    async def _reset(self, start: Sequence[SmtpReply]) -> None:
        """End a transaction that takes no message, so that the session can be kept."""
        if any(verdict.code == CLOSING for verdict in self._verdicts.values()):
            return  # RFC 5321 §3.8: the host is closing
        try:
            if start and start[0].code == 354:
                # RFC 2920 §3.1: a server that goes on to DATA without a recipient gets an empty message.
                await self._session.content(b".\r\n")
            self._pooled.is_reusable = await self._session.reset()
        except (SMTPException, OSError):
            return  # the verdicts stand; the session is closed by the pool

    async def _send(self, taken: Sequence[Due]) -> None:
        try:
            if not self._session.is_usable:
                raise MessageCut("connection lost before the message")
            answer = await self._session.content(self._content.wire, self._pooled.took)
        except MessageCut as cut:
            if not self._verdicts:
                raise
            self.cut = reason(cut)
            self._record(taken, SmtpReply(CLOSING, "4.4.2", self.cut), Step.MESSAGE)
            return
        except (SMTPException, OSError) as error:
            self.lost_after_data = True
            log.warning("lost_after_data", message_id=taken[0].message_id, host=self._hop.host)
            text = f"no answer after the message was sent ({reason(error)}); it may arrive twice"
            self._record(taken, SmtpReply.of(421, f"4.4.2 {text}"), Step.MESSAGE)
            return
        self._record(taken, answer, Step.MESSAGE)
        self._pooled.is_reusable = (
            answer.code != CLOSING and meaning(Step.MESSAGE, answer.code) is not Meaning.FAULT
        )

    def _record(self, rows: Sequence[Due], answer: SmtpReply, step: Step) -> None:
        match meaning(step, answer.code):
            case Meaning.NEVER if self._is_of_our_account(answer, step):
                verdict = self._verdict("deferred", _account_refused(answer))
                self._verdicts |= {row.position: verdict for row in rows}
            case Meaning.NEVER:
                for row in rows:
                    told = _as_about(row, answer, step, len(rows), self._sender)
                    self._verdicts[row.position] = self._verdict("bounced", told)
            case found:
                status = self._accepted if found is Meaning.GO_ON else "deferred"
                verdict = self._verdict(status, answer.at(step))
                if status == "sent":
                    verdict = replace(verdict, known_as=given_message_id(self._hop.relay, answer.text))
                self._verdicts |= {row.position: verdict for row in rows}

    def _is_of_our_account(self, refusal: SmtpReply, step: Step) -> bool:
        """Does a smarthost refuse the account that the operator has there? The operator can mend that; the recipient
        can't."""
        relay = self._hop.relay
        is_to_recipient = step is Step.RECIPIENT
        if relay is None or not is_of_our_account(
            refusal.enhanced, refusal.text, to_recipient=is_to_recipient
        ):
            return False
        log.error("relay_refuses_account", relay=relay.name, code=refusal.code, reason=clean(refusal.text))
        return True

    def _verdict(
        self, status: Literal["sent", "delivered", "deferred", "bounced"], said: SmtpReply
    ) -> Verdict:
        return Verdict(
            status,
            said.code,
            said.enhanced,
            said.text,
            self._hop.host,
            self._session.tls,
            has_left=self.has_sent_mail_from,
        )


def _account_refused(refusal: SmtpReply) -> SmtpReply:
    """RFC 3463 §3.4, "system not accepting network messages": the pace slows down by it."""
    return SmtpReply(454, "4.3.2", f"the smarthost refuses our account: {refusal.code} {refusal.text}")


def _is_over_limit(refusal: SmtpReply, is_behind_all: bool) -> bool:
    """Is it about how many recipients the message has, and not about this one? `is_behind_all`: the host has taken
    nobody behind it."""
    if refusal.code == CLOSING:
        return False
    if refusal.enhanced is not None:
        return refusal.enhanced.endswith(".5.3")  # RFC 3463 §3.6, which wants the message in segments then
    return is_behind_all and refusal.code in TOO_MANY


def _as_about(row: Due, refusal: SmtpReply, step: Step, recipients: int, sender: str) -> SmtpReply:
    """What the recipient is told of a refusal, which may be about another."""
    if step is Step.MAIL:
        return refusal.remarked(IN_REPLY_TO_SENDER)
    said = refusal.text.lower()
    if path(row).lower() in said:
        return refusal
    if sender and without_tag(sender) in said:
        return refusal.remarked(NAMES_THE_SENDER)
    is_for_all = step in (Step.DATA, Step.MESSAGE) and recipients > 1
    return refusal.remarked(IN_REPLY_TO_SEVERAL) if is_for_all else refusal


def path(row: Due) -> str:
    """The recipient's address with its domain as an A-label."""
    return f"{row.address.rpartition('@')[0]}@{row.domain}"


def xtext(text: str) -> str:
    """RFC 3461 §4: printable ASCII but `+` and `=`, which are hexadecimal."""
    return "".join(one if "!" <= one <= "~" and one not in "+=" else f"+{ord(one):02X}" for one in text)
