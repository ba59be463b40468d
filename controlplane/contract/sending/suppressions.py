"""Suppressed addresses."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from controlplane.contract.fields import Email, Limit, cursor_of, with_plus
from controlplane.contract.model import RequestBody, RequestQuery, ResponseModel, Timestamp, an_id

SuppressionReason = Literal["hard_bounce", "complaint", "unsubscribe", "manual"]


class CreateSuppression(RequestBody):
    email: Email
    reason: SuppressionReason = "manual"

    example: ClassVar[dict[str, Any]] = {"email": "no-more@example.com", "reason": "unsubscribe"}


class ListSuppressions(RequestQuery):
    reason: SuppressionReason | None = None
    email: Annotated[str, Field(max_length=320), AfterValidator(with_plus)] | None = None
    limit: Limit = 50
    cursor: Annotated[str, cursor_of("sup")] | None = None


class Suppression(ResponseModel):
    id: Annotated[str, an_id("sup")]
    email: str
    reason: Literal["hard_bounce", "complaint", "unsubscribe", "manual"]
    source: Literal["api", "bounce", "feedback_loop", "list_unsubscribe"]
    createdAt: Timestamp
