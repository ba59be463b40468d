"""Attempts to deliver a message, as the API shows them: what became of a recipient, what follows, and the evidence.

A message to many recipients that were deferred for days has thousands, so they are rendered PAGE at a time, in a read
each. What a failure means is read from `maild.message.reports.bounces` when it is shown, as the events read it.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from maild.message import delivery_evidence
from maild.message.reports import bounces
from storage.clock import iso, iso_or_none
from storage.engine.tx import Tx
from storage.records import DeliveryAttemptRow, dump
from storage.sending import attempts
from storage.sending.attempts import OneAttempt

PAGE = 50

# A unit of work and its parameters → what it answers.
Read = Callable[..., Awaitable[Any]]


class Attempts(NamedTuple):
    """Those of one message. `kept`: which have evidence, and under which of them it stands."""

    organization_id: str
    message_id: str
    is_live: bool
    rows: Sequence[DeliveryAttemptRow]
    kept: Mapping[OneAttempt, OneAttempt]

    @classmethod
    def of(cls, tx: Tx, organization_id: str, message_id: str, is_live: bool) -> "Attempts":
        """Without the evidence itself, which `parts` reads."""
        rows = attempts.listed(tx, organization_id, message_id)
        return cls(organization_id, message_id, is_live, rows, attempts.kept(tx, organization_id, message_id))


async def parts(read: Read, found: Attempts) -> AsyncIterator[bytes]:
    """Elements of the array of all of them, oldest first, each part with commas between its own."""
    for start in range(0, len(found.rows), PAGE):
        yield await read(_page, found, found.rows[start : start + PAGE])


def _page(tx: Tx, found: Attempts, rows: Sequence[DeliveryAttemptRow]) -> bytes:
    return ",".join(dump(one) for one in shown(tx, found, rows)).encode()


def shown(tx: Tx, found: Attempts, rows: Sequence[DeliveryAttemptRow]) -> list[dict[str, Any]]:
    """Some of its rows."""
    firsts = [found.kept[key] for row in rows if (key := _key(row)) in found.kept]
    texts = attempts.evidence(tx, found.organization_id, found.message_id, firsts)
    read = {first: delivery_evidence.unpack(text) for first, text in texts.items()}
    return [
        _outcome(row, found.is_live)
        | {"evidence": _evidence(row, read.get(found.kept.get(_key(row), _key(row))))}
        for row in rows
    ]


def _key(row: DeliveryAttemptRow) -> OneAttempt:
    return OneAttempt(row.position, row.attempt)


def _outcome(row: DeliveryAttemptRow, is_live: bool) -> dict[str, Any]:
    is_ours = row.remote_host is None
    meaning = bounces.of_outcome(
        row.outcome, row.smtp_code, row.enhanced_code, row.response or "", is_ours=is_ours
    )
    has_failed = meaning is not None and row.outcome != "deferred"
    blames_address = has_failed and meaning is not None and meaning.blames_address
    return {
        "address": row.address,
        "kind": row.kind,
        "attempt": row.attempt,
        "outcome": row.outcome,
        "remoteHost": row.remote_host,
        "smtpCode": row.smtp_code,
        "enhancedCode": row.enhanced_code,
        "response": row.response,
        "tls": row.tls,
        "durationMs": row.duration_ms,
        "createdAt": iso(row.created_at),
        "class": meaning and meaning.bounce_class,
        "permanence": meaning and meaning.type,
        "advice": meaning and meaning.advice,
        "nextAttemptAt": iso_or_none(row.next_attempt_at),
        "gaveUpAt": iso(row.created_at) if has_failed else None,
        "suppressed": row.outcome == "suppressed" or (blames_address and is_live),
    }


def _evidence(row: DeliveryAttemptRow, found: delivery_evidence.Evidence | None) -> dict[str, Any] | None:
    path = f"{row.address.rpartition('@')[0]}@{row.domain}"
    return None if found is None else delivery_evidence.shown(found, path)
