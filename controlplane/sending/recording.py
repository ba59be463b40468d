"""What the audit log says of a message that is sent: hashes and numbers, no word and no address."""

from collections.abc import Sequence
from typing import Any

from controlplane.sending.admitting.guards import Attempt
from storage.audit.acts import Act, Actor
from storage.audit.trail import Records, addresses_hash, content_hash
from storage.clock import iso
from storage.engine.tx import Tx
from storage.records import InboxRow, ReviewRow, load


def record_send(
    tx: Tx,
    audit: Records,
    actor: Actor,
    act: Act,
    attempt: Attempt,
    inbox: InboxRow,
    message_id: str,
    *,
    sha256: bytes | None = None,
    send_at: int | None = None,
    draft_id: str | None = None,
    review: ReviewRow | None = None,
) -> None:
    """The message was taken. `sha256`: of the stored message, where it is new. `review`: what it waits for."""
    organization_id = attempt.organization.id
    said = said_of(organization_id, inbox.id, attempt.mode, attempt.keys, sha256)
    if send_at is not None:
        said["sendAt"] = iso(send_at)
    if draft_id is not None:
        said["draftId"] = draft_id
    if review is not None:
        said |= {"reviewId": review.id, "reasons": load(review.reasons)}
    audit.record(tx, organization_id, act, actor, message_id, said)


def said_of(
    organization_id: str, inbox_id: str, mode: str, recipients: Sequence[str], sha256: bytes | None
) -> dict[str, Any]:
    """The details that all sends have. `recipients`: comparison keys."""
    said: dict[str, Any] = {
        "inboxId": inbox_id,
        "mode": mode,
        "recipients": len(recipients),
        "recipientsHash": addresses_hash(organization_id, recipients),
    }
    if sha256 is not None:
        said["contentHash"] = content_hash(sha256)
    return said
