"""Calls of operations, and what goes wrong with them as the end of a command."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from maild_client._given import UNSET, repeated_under, segment
from maild_client._sync.client import Maild
from maild_client._sync.pages import Pages
from maild_client._sync.stream import EventStream
from maild_client._wire import Call
from maild_client.cli import exits
from maild_client.cli.common import CommandRun
from maild_client.cli.exits import CommandEnded
from maild_client.cli.rows import OperationRow
from maild_client.errors import (
    ApiError,
    ConfigurationError,
    ConnectionFailed,
    EventsGap,
    InvalidArgument,
    MaildError,
    NotModified,
    TimedOut,
)

_KEY_HEADER = "Idempotency-Key"
Parts = Mapping[str, Mapping[str, Any]]


class Caller:
    """The server, as a command calls it."""

    def __init__(self, run: CommandRun) -> None:
        self._run = run
        credentials = run.credentials()
        with told():
            self.client = Maild(credentials.api_key, credentials.url)
        self._transport = self.client._transport

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.client.close()

    def json(self, row: OperationRow, parts: Parts) -> Any:
        """What the operation answers; CommandEnded."""
        with told():
            call = call_of(row, parts)
            self._run.idempotency_key = call.idempotency_key
            return self._transport.json(call)

    def items(self, row: OperationRow, parts: Parts) -> Iterator[Any]:
        """All items of a list, across its pages; CommandEnded."""
        assert row.pages is not None
        with told():
            yield from Pages(self._transport, call_of(row, parts), row.pages["cursor"], row.pages["of"])

    def octets(self, row: OperationRow, parts: Parts) -> bytes:
        """The bytes that it answers; CommandEnded."""
        with told():
            return self._transport.octets(call_of(row, parts))

    def events(self, row: OperationRow, parts: Parts) -> Iterator[Any]:
        """Events as they happen, for ever; CommandEnded."""
        with told(), EventStream(self._transport, call_of(row, parts)) as stream:
            yield from stream


def call_of(row: OperationRow, parts: Parts) -> Call:
    """The request. What can be repeated under a key gets one, so that a lost answer does not make a second."""
    path = row.path
    for taken in row.takes:
        if taken.place == "path":
            path = path.replace("{" + taken.name + "}", segment(taken.option, parts["path"][taken.name]))
    headers = dict(parts["header"])
    key = headers.pop(_KEY_HEADER, None)
    if key is None and row.taken(_KEY_HEADER) is not None:
        key = repeated_under(None)
    has_body = any(one.place == "body" for one in row.takes)
    call = Call(
        row.method,
        path,
        query=parts["query"],
        body=parts["body"] if has_body else None,
        form=row.form or None,
        headers=headers,
        idempotency_key=None if key is None else repeated_under(key),
        is_public=row.is_public,
    )
    if row.waits is None:
        return call
    return replace(call, wait_s={**parts["query"], **parts["body"]}.get(row.waits, UNSET))


@contextmanager
def told() -> Iterator[None]:
    """What the client raises, as the end of the command."""
    try:
        yield
    except ApiError as error:
        code = exits.exit_code(error.status, error.code)
        message = (
            exits.unsure(error.message, error.idempotency_key) if code == exits.SERVER else error.message
        )
        raise CommandEnded(code, error.code, message, dict(error.details) or None) from None
    except TimedOut as error:
        raise CommandEnded(
            exits.TIMED_OUT, "timed_out", exits.unsure(f"{error}.", error.idempotency_key)
        ) from None
    except ConnectionFailed as error:
        raise CommandEnded(
            exits.SERVER, "connection_failed", exits.unsure(f"{error}.", error.idempotency_key)
        ) from None
    except (ConfigurationError, InvalidArgument) as error:
        raise CommandEnded(exits.USAGE, "usage", str(error)) from None
    except NotModified:
        raise CommandEnded(exits.DONE, "not_modified", "It is as it was.") from None
    except EventsGap as error:
        raise CommandEnded(exits.CONFLICT, "events_gap", str(error)) from None
    except MaildError as error:
        raise CommandEnded(exits.SERVER, "failed", str(error)) from None
