"""Webhooks and the record of each attempt."""

from typing import Annotated, Any, ClassVar

from pydantic import Field
from pydantic_core import PydanticCustomError

from controlplane.contract.fields import DEFAULT_EVENTS, Check, EventType, Limit, cursor_of
from controlplane.contract.model import (
    ABSENT,
    Change,
    RequestBody,
    RequestQuery,
    ResponseModel,
    Timestamp,
    an_id,
)


def _over_https(value: str) -> str:
    if not value.startswith("https://"):
        raise PydanticCustomError("invalid_format", "Expected a URL that begins with https://")
    return value


# JSON may say U+0000, which no text of ours holds; which hosts are called is a policy of the network.
WebhookUrl = Annotated[
    str,
    Field(max_length=2048, json_schema_extra={"not": {"pattern": r"\x00"}}),
    Check(_over_https, {"pattern": "^https://"}),
]
Subscription = Annotated[list[EventType], Field(min_length=1)]


class CreateWebhook(RequestBody):
    url: WebhookUrl
    subscribedEvents: Subscription = Field(default_factory=lambda: list(DEFAULT_EVENTS))

    example: ClassVar[dict[str, Any]] = {
        "url": "https://hooks.example.com/mail",
        "subscribedEvents": ["email.received", "email.bounced"],
    }


class UpdateWebhook(Change):
    url: WebhookUrl = ABSENT
    subscribedEvents: Subscription = ABSENT
    isActive: bool = ABSENT

    example: ClassVar[dict[str, Any]] = {"isActive": False}


class ListDeliveries(RequestQuery):
    limit: Limit = 50
    cursor: Annotated[str, cursor_of("del")] | None = None


class Webhook(ResponseModel):
    id: Annotated[str, an_id("whk")]
    url: str
    subscribedEvents: list[str]
    isActive: bool
    createdAt: Timestamp
    updatedAt: Timestamp


class WebhookWithSecret(Webhook):
    secret: Annotated[str, Field(pattern=r"^whsec_")]


class WebhookDelivery(ResponseModel):
    id: Annotated[str, an_id("del")]
    webhookId: str
    eventId: str | None
    eventType: str
    attempt: int
    requestHeaders: dict[str, str]
    responseStatus: int | None
    responseBody: str | None
    isSuccessful: bool
    error: str | None
    durationMs: int
    nextAttemptAt: Timestamp | None
    createdAt: Timestamp
