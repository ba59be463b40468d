"""What the operator decides about held mail from the command line, also beside a running daemon.

The rules are those of the API (`controlplane/sending/reviews/reviewing.py`): an approval quotes the hash of what was
shown, and every guard is asked. What an approval puts into the queue the daemon finds within seconds.
"""

from typing import Any

import msgspec

from controlplane.operations.work.reviews import shown_review
from controlplane.sending.admitting.admission import Admission, Refused
from controlplane.sending.reviews.reviewing import (
    Approval,
    Decided,
    Decider,
    Reviewing,
    content_hash,
    reviewed_json,
    reviewed_message,
)
from maild.commands.store_commands import CommandGround, StoreCommands
from storage.agents import reviews
from storage.agents.reviews import OPERATOR, ReviewFilter
from storage.data_folder import DataFolder
from storage.engine.tx import Tx
from storage.mail import blobs
from storage.mail.blobs import Blobs
from storage.records import ReviewRow
from storage.tenants import organizations


class ReviewCommands(StoreCommands):
    """Reviews of all organizations, or of one. KeyError names what does not exist; Refusal as over the API."""

    def __init__(self, ground: CommandGround, folder: DataFolder) -> None:
        super().__init__(ground)
        self._folder = folder
        admission = Admission(ground.settings, ground.ids, ground.audit)
        self._reviewing = Reviewing(ground.clock, ground.ids, admission, ground.audit)

    def list(self, organization_id: str | None, status: str | None, limit: int) -> list[dict[str, Any]]:
        """Newest first, each with its organization."""

        def unit(tx: Tx) -> list[ReviewRow]:
            every = [one.id for one in organizations.every(tx)]
            if organization_id is not None and organization_id not in every:
                raise KeyError(f"organization {organization_id}")
            owners = every if organization_id is None else [organization_id]
            found = [
                row
                for owner in owners
                for row in reviews.list_reviews(tx, ReviewFilter(owner, status=status), limit=limit)
            ]
            return sorted(found, key=lambda row: row.id, reverse=True)[:limit]

        return [{"organizationId": row.organization_id, **shown_review(row)} for row in self._look(unit)]

    def show(self, review_id: str) -> dict[str, Any]:
        """With the message and the hash that an approval quotes; both None where it was deleted."""

        def unit(tx: Tx) -> dict[str, Any]:
            review = _find(tx, review_id)
            shown = {"organizationId": review.organization_id, **shown_review(review)}
            message = reviewed_message(tx, review)
            json = reviewed_json(tx, review)
            if message is None or json is None:
                return {**shown, "contentHash": None, "message": None}
            told = {**msgspec.json.decode(json.json), "textBody": message.text_body}
            return {**shown, "contentHash": content_hash(tx, message), "message": told}

        return self._look(unit)

    def raw(self, review_id: str) -> bytes:
        """The message as it would be sent, byte for byte; KeyError also where its bytes are gone."""

        def unit(tx: Tx) -> bytes:
            message = reviewed_message(tx, _find(tx, review_id))
            blob = blobs.get(tx, message.blob_id) if message is not None and message.blob_id else None
            if message is None or blob is None:
                raise KeyError(f"message of review {review_id}")
            return (message.trace or b"") + Blobs(self._folder.blobs, self._ids, 0).read(blob)

        return self._look(unit)

    def approve(self, review_id: str, approval: Approval) -> dict[str, Any]:
        """The review, decided."""
        done = self._run(
            lambda tx: self._reviewing.approve(tx, _find(tx, review_id), Decider(OPERATOR), approval)
        )
        if isinstance(done, Refused):
            raise done.error
        return _shown(done)

    def reject(self, review_id: str, note: str | None) -> dict[str, Any]:
        """The review, decided."""
        return _shown(
            self._run(lambda tx: self._reviewing.reject(tx, _find(tx, review_id), Decider(OPERATOR), note))
        )


def _find(tx: Tx, review_id: str) -> ReviewRow:
    review = reviews.by_id(tx, review_id)
    if review is None:
        raise KeyError(f"review {review_id}")
    return review


def _shown(decided: Decided) -> dict[str, Any]:
    return {"organizationId": decided.review.organization_id, **shown_review(decided.review)}
