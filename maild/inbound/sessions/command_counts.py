"""How often a client may say in one session what moves no mail: each kind has a limit of its own, and 421 beyond."""

from conf.settings import Smtp
from maild.errors import SmtpError

RECIPIENTS_BEYOND = 10_000  # the rest of a large list
MOST_OF_KNOWN = 10_000  # of each kind, by a client that logged in: a large list has many who are suppressed


class CommandCounts:
    """The counters of one session. What is returned or raised is the SmtpError to reply with."""

    def __init__(self, limits: Smtp) -> None:
        self._limits = limits
        self._most_errors, self._most_junk = limits.max_errors, limits.max_junk_commands
        self._errors = self._junk = self._unknown = self._beyond = 0

    def known(self) -> None:
        """The client has logged in. What it is refused from now on is recipients and messages: what it sends beside
        them must not fail for it, and what it does wrong has a name."""
        self._most_errors = self._most_junk = MOST_OF_KNOWN

    def error(self) -> None:
        """A command was refused, whatever for."""
        self._errors += 1

    @property
    def has_too_many_errors(self) -> bool:
        return self._errors > self._most_errors

    def unrecognized(self) -> SmtpError:
        """The reply to a verb that does not exist."""
        self._errors -= 1  # junk has a limit of its own
        self._junk += 1
        if self._junk > self._most_junk:
            return SmtpError(421, "4.7.0", "too many unrecognized commands, closing connection", closes=True)
        return SmtpError(500, "5.5.1", "command not recognized")

    def idle(self) -> None:
        """Commands that move no mail: any number is allowed (RFC 5321 §4.1.1.9), no client needs more."""
        self._junk += 1
        if self._junk > self._most_junk:
            raise SmtpError(421, "4.7.0", "too many commands, closing connection", closes=True)

    def unknown_recipient(self, refusal: SmtpError) -> SmtpError:
        """The reply to RCPT."""
        self._errors -= 1  # unknown recipients have a limit of their own
        self._unknown += 1
        if self._unknown > self._limits.max_unknown_recipients:
            return SmtpError(421, "4.7.0", "too many unknown recipients, closing connection", closes=True)
        return refusal

    def recipient_beyond(self) -> SmtpError:
        """The reply to RCPT once a message has all that it may have. RFC 5321 §4.5.3.1.10: a client goes on with them
        in another message; it has given most of them in one packet by then."""
        self._errors -= 1  # they have a limit of their own
        self._beyond += 1
        if self._beyond > RECIPIENTS_BEYOND:
            return SmtpError(421, "4.7.0", "too many recipients, closing connection", closes=True)
        return SmtpError(452, "4.5.3", "too many recipients, send the rest in another message")

    def mail_came(self) -> None:
        """A session that brings mail may go on for long."""
        self._junk = self._beyond = 0
