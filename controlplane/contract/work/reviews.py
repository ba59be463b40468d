"""Reviews: what is held, and deciding about it."""

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field
from pydantic_core import PydanticCustomError

from controlplane.contract.fields import Check, InboxId, Limit, ReviewStatus, cursor_of
from controlplane.contract.mail.messages import Message
from controlplane.contract.model import Mode, RequestBody, RequestQuery, ResponseModel, Timestamp, an_id
from controlplane.contract.sending.checks import CheckWarning

NOTE_CHARS = 2000
_CONTENT_HASH = re.compile("sha256:[0-9a-f]{64}")

Direction = Literal["inbound", "outbound"]


class ListReviews(RequestQuery):
    status: ReviewStatus | None = None
    direction: Direction | None = None
    inboxId: InboxId | None = None
    limit: Limit = 50
    cursor: Annotated[str, cursor_of("rev")] | None = None


def _is_content_hash(value: str) -> str:
    if not _CONTENT_HASH.fullmatch(value):
        raise PydanticCustomError(
            "invalid_format", "Expected the 'contentHash' of the review, as it was shown"
        )
    return value


ContentHash = Annotated[str, Check(_is_content_hash, {"pattern": f"^{_CONTENT_HASH.pattern}$"})]
Note = Annotated[str, Field(max_length=NOTE_CHARS)]


class ApproveReview(RequestBody):
    """`contentHash`: of what was shown to whoever approves. `force`: although the conversation went on."""

    contentHash: ContentHash
    note: Note | None = None
    force: bool = Field(default_factory=bool)

    example: ClassVar[dict[str, Any]] = {
        "contentHash": f"sha256:{'9f' * 32}",
        "note": "checked with Ada",
    }


class RejectReview(RequestBody):
    note: Note | None = None

    may_be_absent = True
    example: ClassVar[dict[str, Any]] = {"note": "wrong account number"}


class Review(ResponseModel):
    """`resolvedBy`: a key, a member or `operator`; null while it is pending, and where its time was over."""

    id: Annotated[str, an_id("rev")]
    inboxId: Annotated[str, an_id("inb")]
    messageId: Annotated[str, an_id("msg")]
    direction: Direction
    mode: Mode
    status: ReviewStatus
    reasons: list[str]
    warnings: list[CheckWarning]
    submittedBy: str | None
    expiresAt: Timestamp
    resolvedBy: str | None
    resolvedAt: Timestamp | None
    note: str | None
    createdAt: Timestamp


class WholeReview(Review):
    """With what is decided about. `contentHash`: for the approval; it and the message are null once that was deleted.
    `context`: the conversation, as `GET /v1/threads/{id}/context` gives it; null where there is none."""

    contentHash: ContentHash | None
    message: Message | None
    context: str | None
