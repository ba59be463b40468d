"""Trace header fields (RFC 5321 §4.4), which stand in front of the message as it came."""

from datetime import UTC, datetime
from email.utils import format_datetime

from maild.inbound.envelope import InboundEnvelope
from storage.clock import Clock


class TraceWriter:
    """Each returns whole lines, newest field first, for one inbox's copy or for all of them."""

    def __init__(self, hostname: str, clock: Clock) -> None:
        self._hostname = hostname
        self._clock = clock
        self._dated = (0, "")

    def of_smtp(
        self, envelope: InboundEnvelope, results: str, message_id: str, recipients: list[str]
    ) -> bytes:
        """Return-Path, Authentication-Results (`results`: the field) and Received."""
        # §4.4: "for" only when it discloses no other recipient.
        whose = f"\r\n\tfor <{recipients[0]}>" if len(recipients) == 1 else ""
        literal = f"IPv6:{envelope.peer}" if ":" in envelope.peer else envelope.peer  # §4.1.3
        return (
            f"Return-Path: <{envelope.mail_from}>\r\n{results}\r\n"
            f"Received: from {envelope.helo} ([{literal}])\r\n\tby {self._hostname} with"
            f" {envelope.protocol} id {message_id}{whose};\r\n\t{self._date()}\r\n"
        ).encode()

    def of_local(self, mail_from: str, recipient: str, message_id: str) -> bytes:
        """Return-Path and Received of what no SMTP brought."""
        return (
            f"Return-Path: <{mail_from}>\r\n"
            f"Received: by {self._hostname} id {message_id}\r\n\tfor <{recipient}>;\r\n\t{self._date()}\r\n"
        ).encode()

    def _date(self) -> str:
        """Now in RFC 5322 §3.3 form, made once a second."""
        second = self._clock.now_ms() // 1000
        if second != self._dated[0]:
            self._dated = second, format_datetime(datetime.fromtimestamp(second, UTC))
        return self._dated[1]
