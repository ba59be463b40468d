"""How a session with a next hop fails, and in which words that is told."""

import os
import ssl
from collections.abc import Sequence

from aiosmtplib import SMTPException, SMTPResponseException, SMTPServerDisconnected
from aiosmtplib.errors import SMTPReadTimeoutError

from maild.message.delivery_evidence import TlsFailure
from maild.outbound.sessions.replies import SmtpReply, clean

# X509_V_ERR_CERT_HAS_EXPIRED, _HOSTNAME_MISMATCH, _IP_ADDRESS_MISMATCH of OpenSSL
_CERTIFICATE_FAULTS: dict[int, TlsFailure] = {
    10: "certificate-expired",
    62: "certificate-host-mismatch",
    64: "certificate-host-mismatch",
}


class TlsFailed(Exception):
    """STARTTLS was offered and did not work; the session is closed."""

    def __init__(self, text: str, failure: TlsFailure) -> None:
        super().__init__(text)
        self.failure = failure


class EnvelopeCut(SMTPException):
    """The session was lost in the middle of an envelope. `heard`: the replies that came before, in order, one at least;
    `text`: how it was lost."""

    def __init__(self, heard: Sequence[SmtpReply], text: str) -> None:
        super().__init__(text)
        self.heard = heard
        self.text = text


class MessageCut(SMTPException):
    """The session was lost before the final dot was handed to the network: the host can't have taken the message."""


class NotAcknowledged(SMTPReadTimeoutError):
    """No reply to a message came in time, nor TCP's word for `octets` of it that they arrived."""

    def __init__(self, octets: int) -> None:
        super().__init__(
            f"timed out, and {octets} octets were not even acknowledged: large packets may be lost"
        )


class Desynchronized(SMTPException):
    """The host sent more replies than there were commands: replies can't be matched to commands any more."""


def tls_failure(error: Exception) -> TlsFailure:
    """What a handshake that failed is called (RFC 8460 §4.3.1)."""
    match error:
        case SMTPResponseException():  # to STARTTLS, which was offered
            return "starttls-not-supported"
        case ssl.SSLCertVerificationError(verify_code=code):
            return _CERTIFICATE_FAULTS.get(code, "certificate-not-trusted")
        case _:
            return "validation-failure"


def reason(error: Exception) -> str:
    """Why a session ended, in words that may be shown."""
    match error:
        case SMTPServerDisconnected():
            return "connection lost"
        case TimeoutError():
            return str(error) if isinstance(error, NotAcknowledged) else "timed out"
        case SMTPResponseException():
            return clean(f"{error.code} {error.message}")
        case ssl.SSLError():
            return _tls_reason(error)
        case OSError():  # `strerror` may be asyncio's own words
            return os.strerror(error.errno) if error.errno else "connection lost"
        case _:
            return clean(str(error))


def _tls_reason(error: ssl.SSLError) -> str:
    match error:
        case ssl.SSLCertVerificationError():
            return clean(f"the certificate does not verify: {error.verify_message}")
        case ssl.SSLEOFError() | ssl.SSLZeroReturnError():
            return "connection lost"
        case ssl.SSLError(reason="WRONG_VERSION_NUMBER"):
            return "the host does not speak TLS"
        case _:
            words = error.reason or "handshake failure"
            return clean(f"no TLS: {words.replace('_', ' ').lower()}")
