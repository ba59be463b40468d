"""maild from Python: `Maild`, and `AsyncMaild` with the same methods as coroutines."""

from maild_client import webhooks
from maild_client._async.client import AsyncMaild, AsyncResponse
from maild_client._async.pages import AsyncPages
from maild_client._async.stream import AsyncEventStream
from maild_client._async.work import AsyncClaim
from maild_client._sync.client import Maild, Response
from maild_client._sync.pages import Pages
from maild_client._sync.stream import EventStream
from maild_client._sync.work import Claim
from maild_client.errors import (
    ApiError,
    AuthenticationFailed,
    ClaimLost,
    ConfigurationError,
    Conflict,
    ConnectionFailed,
    EventsGap,
    InvalidArgument,
    InvalidRequest,
    InvalidSignature,
    MaildError,
    NotFound,
    NotModified,
    PermissionDenied,
    QuotaExceeded,
    RateLimited,
    ServerFailed,
    ThreadAdvanced,
    TimedOut,
)
from maild_client.version import __version__

__all__ = [
    "ApiError",
    "AsyncClaim",
    "AsyncEventStream",
    "AsyncMaild",
    "AsyncPages",
    "AsyncResponse",
    "AuthenticationFailed",
    "Claim",
    "ClaimLost",
    "ConfigurationError",
    "Conflict",
    "ConnectionFailed",
    "EventStream",
    "EventsGap",
    "InvalidArgument",
    "InvalidRequest",
    "InvalidSignature",
    "Maild",
    "MaildError",
    "NotFound",
    "NotModified",
    "Pages",
    "PermissionDenied",
    "QuotaExceeded",
    "RateLimited",
    "Response",
    "ServerFailed",
    "ThreadAdvanced",
    "TimedOut",
    "__version__",
    "webhooks",
]
