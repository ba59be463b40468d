"""What can go wrong.

MaildError
├── ConfigurationError        no key or no address, or one that can't be; nothing was sent
├── InvalidArgument           what was given can't be sent, or would be misread; nothing was sent
├── ConnectionFailed          no answer came
│   └── TimedOut              no answer came in time
├── ApiError                  the server refused: branch on `code`
│   ├── InvalidRequest        400, 413, 415-417, 422; `fields` names each fault
│   ├── AuthenticationFailed  401
│   ├── QuotaExceeded         402
│   ├── PermissionDenied      403
│   ├── NotFound              404, 410
│   ├── Conflict              409
│   │   ├── ThreadAdvanced    nothing was sent: `newer` came meanwhile
│   │   └── ClaimLost         nothing was done or sent: somebody else has the work now
│   ├── RateLimited           429; `retry_after`
│   └── ServerFailed          5xx, and answers that are not the API's
├── NotModified               304: what `if_none_match` names is still so
├── EventsGap                 events between are not kept any more: read the lists anew
└── InvalidSignature          a webhook that is not from your maild, or is old
"""

from collections.abc import Mapping
from typing import Any, TypedDict, TypeGuard

SHOWN_FAULTS = 10


class MaildError(Exception):
    """Whatever this package raises."""

    @property
    def is_passing(self) -> bool:
        """May the same succeed later: no network, a restart, too much at once?"""
        return False


class ConfigurationError(MaildError):
    """No key or address, or one that can't be. Nothing was sent."""


class InvalidArgument(MaildError, ValueError):
    """What a call was given can't be sent, or would be read as something else. Nothing was sent."""


class ConnectionFailed(MaildError):
    """No answer came, so it is not known what the server did.

    `idempotency_key` is that of the request, if it had one: the same call with it can't happen twice.
    """

    def __init__(self, message: str, idempotency_key: str | None = None) -> None:
        super().__init__(message)
        self.idempotency_key = idempotency_key

    @property
    def is_passing(self) -> bool:
        return True


class TimedOut(ConnectionFailed):
    """No answer came in time."""


class NotModified(MaildError):
    """The answer would be the one that `if_none_match` names."""


class EventsGap(MaildError):
    """The log does not keep all events behind your position any more. What was missed shows in the lists."""


class InvalidSignature(MaildError):
    """The request is not from your maild, was changed on its way, or is too old."""


class ApiError(MaildError):
    """The server refused. `code` is stable; `details` are data to act on; `retry_after` is seconds or None.

    `idempotency_key` is that of the request, if it had one. Where the server failed, or a proxy before it, it is not
    known what was done: the same call with the key can't happen twice.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int,
        details: Mapping[str, Any],
        request_id: str | None,
        retry_after: float | None,
        idempotency_key: str | None = None,
    ) -> None:
        named = f", request {request_id}" if request_id else ""
        super().__init__(f"{code} ({status}{named}): {message}")
        self.message = message
        self.code = code
        self.status = status
        self.details = details
        self.request_id = request_id
        self.retry_after = retry_after
        self.idempotency_key = idempotency_key

    def __reduce__(self) -> Any:
        """Without `__init__`, to which an exception of another process would be one argument."""
        return type(self).__new__, (type(self), *self.args), self.__dict__

    def __str__(self) -> str:
        """With the details that are one word or number: a log has nothing else of what the message refers to."""
        told = (f"{name}: {one}" for name, one in self.details.items() if isinstance(one, str | int | float))
        return " · ".join([super().__str__(), *told])

    @property
    def is_passing(self) -> bool:
        return self.status >= 500 or self.status in (408, 429)


class Fault(TypedDict):
    """One fault of a request: where, a stable code, and what to do."""

    path: str
    code: str
    message: str


class InvalidRequest(ApiError):
    """The request is not valid."""

    @property
    def fields(self) -> list[Fault]:
        """Every fault of a `validation_failed`; empty of other codes."""
        told = self.details.get("fields")
        return [one for one in told if _is_fault(one)] if isinstance(told, list) else []

    def __str__(self) -> str:
        shown = self.fields[:SHOWN_FAULTS]
        # Of the whole body the path is empty.
        faults = [f"{one['path']}: {one['message']}" if one["path"] else one["message"] for one in shown]
        return " · ".join([super().__str__(), *faults])


def _is_fault(told: object) -> TypeGuard[Fault]:
    return isinstance(told, dict) and {"path", "message"} <= told.keys()


class AuthenticationFailed(ApiError):
    """The key is missing, ill-formed, unknown or revoked."""


class QuotaExceeded(ApiError):
    """An allowance is used up: `details` has `resource`, `limit`, `used`, `resetsAt`."""


class PermissionDenied(ApiError):
    """The key may not, or a rule, a policy or the operator does not let it."""


class NotFound(ApiError):
    """There is no such thing, for this key at least, or it is gone."""


class Conflict(ApiError):
    """It is not in the state that this needs."""


class NewerMessage(TypedDict):
    """What came after the message that `if_last_message_id` named."""

    id: str
    direction: str
    fromAddress: str
    verifiedDomain: str | None
    createdAt: str
    snippet: str


class ThreadAdvanced(Conflict):
    """Nothing was sent: the conversation went on. Read `newer`, then answer with `last_message_id`."""

    @property
    def newer(self) -> list[NewerMessage]:
        """The newest five, oldest first."""
        return list(self.details.get("newer", []))

    @property
    def last_message_id(self) -> str:
        """What to send with, once it is read."""
        return str(self.details["lastMessageId"])


class ClaimLost(Conflict):
    """Nothing was done or sent: the claim ended."""


class RateLimited(ApiError):
    """Too much at once: wait `retry_after` seconds."""


class ServerFailed(ApiError):
    """The server failed, or what answered was not maild."""


_BY_CODE: Mapping[str, type[ApiError]] = {"thread_advanced": ThreadAdvanced, "claim_lost": ClaimLost}
_BY_STATUS: Mapping[int, type[ApiError]] = {
    401: AuthenticationFailed,
    402: QuotaExceeded,
    403: PermissionDenied,
    404: NotFound,
    409: Conflict,
    410: NotFound,
    429: RateLimited,
}


def family(code: str, status: int) -> type[ApiError]:
    """The class that tells of such an error."""
    if 400 <= status < 500:
        return _BY_CODE.get(code) or _BY_STATUS.get(status, InvalidRequest)
    return ServerFailed
