"""What goes over the wire and comes back, without going there: calls, answers, and when to try again."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from numbers import Real
from typing import Any
from urllib.parse import urlsplit

from maild_client._given import UNSET, in_body, in_query
from maild_client.errors import (
    ApiError,
    ConfigurationError,
    ConnectionFailed,
    InvalidArgument,
    NotModified,
    family,
)
from maild_client.version import __version__

TIMEOUT_S = 30.0
WAIT_MORE_S = 10.0  # than the server was asked to wait
WAIT_USUAL_S = 25.0  # where it was not said how long
BODY_BYTES_PER_S = 4_000  # a line of 40 kbit/s: a server with room to spare takes a body from it
UNDER_WAY_BYTES = 4_194_304  # of what was written, at most, by Linux's defaults (net.ipv4.tcp_wmem)
RETRIES = 2
RETRIED_STATUSES = frozenset({408, 429, 502, 503, 504})
PAUSE_S, PAUSE_MAX_S = 0.5, 8.0
OBEYED_MAX_S = 60.0  # a longer Retry-After is for the caller to decide about
LONG_PAUSE_MAX_S = 30.0
ASKED_MAX_S = 86_400.0  # where nobody else decides: timers have an end, and an outage too
# What httpx2 reads of the environment.
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE")
_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")


class Key:
    """An API key that shows in no repr, log line or traceback."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        value = value.strip() if isinstance(value, str) else ""
        # What is no header's value would be quoted by whoever refuses it.
        if not value or not value.isascii() or not value.isprintable() or " " in value:
            raise ConfigurationError("the API key is empty, or has characters that no key has")
        self._value = value

    def header(self) -> str:
        """The value of Authorization."""
        return f"Bearer {self._value}"

    def __repr__(self) -> str:
        return "Key(…)"


@dataclass(frozen=True)
class Options:
    """How requests are made. `timeout_s` is for each step of one: to connect, to write, to hear more."""

    url: str
    timeout_s: float = TIMEOUT_S
    max_retries: int = RETRIES

    def __post_init__(self) -> None:
        is_time = isinstance(self.timeout_s, Real) and not isinstance(self.timeout_s, bool)
        if not is_time or not 0 < self.timeout_s < float("inf"):
            raise ConfigurationError("timeout is a number of seconds, above 0")
        if not isinstance(self.max_retries, int) or self.max_retries < 0:
            raise ConfigurationError("max_retries is a number of times, 0 or more")


def settings(api_key: str | None, url: str | None, timeout: float, max_retries: int) -> tuple[Key, Options]:
    """Key and options from arguments, or from MAILD_API_KEY and MAILD_URL. ConfigurationError says what is missing."""
    if api_key is None:  # not where it is blank: the key of the environment may be another's
        api_key = os.environ.get("MAILD_API_KEY")
    if api_key is None:
        raise ConfigurationError("set MAILD_API_KEY, or pass api_key")
    if isinstance(api_key, str) and _is_address(api_key.strip()):
        raise ConfigurationError("api_key is an address: the key stands before the address, or is named")
    if url is None:
        url = os.environ.get("MAILD_URL")
    if url is None:
        raise ConfigurationError("set MAILD_URL to the address of your maild, or pass url")
    url = url.strip() if isinstance(url, str) else ""  # as a key: what is read of a file ends with its line
    if url.rstrip("/").endswith("/v1"):
        raise ConfigurationError("the address of a maild ends before /v1, which each call adds")
    if not _is_address(url):
        raise ConfigurationError("the address of a maild is https://host, or http://host, and maybe a path")
    return Key(api_key), Options(url.rstrip("/"), timeout, max_retries)


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        has_port = parts.port != 0
        (parts.hostname or "").encode("idna")  # a name that no DNS has
    except ValueError:
        return False
    is_plain = url.isprintable() and " " not in url and not (parts.username or parts.query or parts.fragment)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and has_port and is_plain


def is_sealed(url: str) -> bool:
    """Does what is sent there go encrypted? A proxy of the environment would read a key that goes in the clear."""
    return urlsplit(url).scheme == "https"


def unusable(fault: Exception) -> ConfigurationError:
    """An HTTP client can't be made with what the environment names: files of certificates, or proxies."""
    kinds = _CERTIFICATES if isinstance(fault, OSError) else _PROXIES
    named = [name for name, value in os.environ.items() if value and name.upper() in kinds]
    return ConfigurationError(f"{' or '.join(named) or 'a proxy'} of the environment can't be used: {fault}")


@dataclass(frozen=True)
class Call:
    """One request. `wait_s`: how long the server may take its time; UNSET where it decides."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    form: Mapping[str, str] | None = None
    headers: Mapping[str, Any] = field(default_factory=dict)
    idempotency_key: str | None = None
    wait_s: Any = None
    is_public: bool = False

    @property
    def is_repeatable(self) -> bool:
        """May it be sent again where it is not known what became of it?"""
        return self.method == "GET" or self.idempotency_key is not None

    def asking(self, **query: Any) -> "Call":
        """The same with these parameters of the query."""
        return replace(self, query={**self.query, **query})

    def with_headers(self, **headers: Any) -> "Call":
        """The same with these header fields, `_` for `-`."""
        return replace(self, headers={**self.headers, **{k.replace("_", "-"): v for k, v in headers.items()}})

    def timeout_s(self, options: Options) -> float:
        """The time-out: that of the options, or longer than the server may take its time."""
        if self.wait_s is None:
            return options.timeout_s
        wait_s = WAIT_USUAL_S if self.wait_s is UNSET else _number_of_seconds(self.wait_s)
        return max(options.timeout_s, wait_s + WAIT_MORE_S)

    def request(self, key: Key, options: Options) -> dict[str, Any]:
        """The arguments of `build_request`."""
        headers = {name: value for name, value in self.headers.items() if value is not UNSET}
        headers["User-Agent"] = f"maild-client-python/{__version__}"
        if not self.is_public:
            headers["Authorization"] = key.header()
        if self.idempotency_key is not None:
            headers["Idempotency-Key"] = self.idempotency_key
        timeout_s = self.timeout_s(options)
        request: dict[str, Any] = {
            "method": self.method,
            "url": options.url + self.path,
            "params": {name: in_query(name, value) for name, value in self.query.items() if _is_said(value)},
            "headers": headers,
            "timeout": timeout_s,
        }
        if self.body is not None:
            headers["Content-Type"] = "application/json"
            said = {name: value for name, value in self.body.items() if value is not UNSET}
            content = _json({name: in_body(name, value) for name, value in said.items()})
            request["content"] = content
            # Coroutines write all of it in one step, and of what was written much is still on its way.
            write_s = timeout_s + len(content) / BODY_BYTES_PER_S
            read_s = timeout_s + min(len(content), UNDER_WAY_BYTES) / BODY_BYTES_PER_S
            request["timeout"] = (timeout_s, read_s, write_s, timeout_s)  # connect, read, write, pool
        if self.form is not None:
            request["data"] = self.form
        return request


def _number_of_seconds(told: Any) -> float:
    try:
        return float(told)
    except (TypeError, ValueError):
        raise InvalidArgument(f"how long to wait is a number of seconds, not {told!r}") from None


def _json(body: Any) -> bytes:
    try:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        # Half a character, as where a model's words were cut: escaped it arrives, and the server names its field.
        return json.dumps(body).encode()


def _is_said(value: Any) -> bool:
    return value is not UNSET and value is not None  # null can't be said in a query


# Answers ------------------------------------------------------------------------------------------


def refusal(
    status: int, headers: Mapping[str, str], content: bytes, idempotency_key: str | None
) -> ApiError | NotModified:
    """What an answer to a request with this key raises, where it is no success."""
    if status == 304:
        return NotModified("it is as it was")
    body = _parsed(content)
    told = body.get("error") if isinstance(body, dict) else None
    if not isinstance(told, dict):
        told = {"code": "unexpected_answer", "message": _not_ours(status, headers)}
    code = str(told.get("code", ""))
    details = told.get("details")
    return family(code, status)(
        str(told.get("message", "")),
        code=code,
        status=status,
        details=details if isinstance(details, dict) else {},
        request_id=headers.get("x-request-id"),
        retry_after=seconds(headers.get("retry-after")),
        idempotency_key=idempotency_key,
    )


def data_of(status: int, headers: Mapping[str, str], content: bytes, idempotency_key: str | None) -> Any:
    """What a successful answer to a request with this key tells: its `data`, or all where it has no envelope."""
    body = _parsed(content)
    if isinstance(body, dict):
        return body.get("data", body)
    raise family("unexpected_answer", 502)(
        "what answered is no maild: is MAILD_URL right?",
        code="unexpected_answer",
        status=status,
        details={},
        request_id=headers.get("x-request-id"),
        retry_after=None,
        idempotency_key=idempotency_key,
    )


def seconds(retry_after: str | None) -> float | None:
    """The seconds of a Retry-After (RFC 9110 §10.2.3), a number or a date; None where it is neither."""
    if retry_after is None:
        return None
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after[:9])
    try:
        at = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _not_ours(status: int, headers: Mapping[str, str]) -> str:
    if 300 <= status < 400:  # whoever follows it would hand the key to somebody else
        return f"redirects are not followed; is MAILD_URL right? It leads to {headers.get('location', 'nowhere')}"
    return "what answered is no maild: is MAILD_URL right, or a proxy between?"


# Again --------------------------------------------------------------------------------------------


def retry_pause_s(
    call: Call, error: ApiError | ConnectionFailed, retries: int, options: Options, chance: float
) -> float | None:
    """How long to wait before the call is tried again, after so many retries; None: not at all. `chance`: 0 to 1."""
    if retries >= options.max_retries or not call.is_repeatable:
        return None
    if isinstance(error, ApiError):
        if error.status not in RETRIED_STATUSES:
            return None
        if error.retry_after is not None:
            return error.retry_after * (1 + chance / 10) if error.retry_after <= OBEYED_MAX_S else None
    return pause_s(retries, chance)


def pause_s(failures: int, chance: float, at_most_s: float = PAUSE_MAX_S) -> float:
    """Twice as long after each failure, and not all clients at once: half of it is chance."""
    return min(at_most_s, PAUSE_S * 2.0 ** min(failures, 10)) * (0.5 + chance / 2)


def long_pause_s(fault: Exception, failures: int, chance: float) -> float:
    """How long to wait after so many failures on end, where there is always another attempt."""
    asked_s = fault.retry_after if isinstance(fault, ApiError) else None
    return min(asked_s, ASKED_MAX_S) if asked_s else pause_s(failures, chance, LONG_PAUSE_MAX_S)
