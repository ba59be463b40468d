"""The outbound queue of the whole host, for its operator."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from controlplane.contract.fields import Check, DomainName, id_of
from controlplane.contract.model import RequestBody, RequestQuery, ResponseModel, Timestamp, an_id


def _true(value: bool) -> bool:
    if not value:
        raise PydanticCustomError("not_allowed", "Expected true")
    return value


MessageId = Annotated[str, id_of("msg")]
OrganizationId = Annotated[str, id_of("org")]
# Not `Literal[True]`, which takes 1 for it.
OnlyTrue = Annotated[bool, Check(_true, {"const": True})]


class ListQueue(RequestQuery):
    messageId: MessageId | None = None
    organizationId: OrganizationId | None = None
    destination: DomainName | None = None
    isHeld: bool | None = None
    limit: Annotated[int, Field(ge=1, le=500)] = 50


class ChangeQueue(RequestBody):
    messageId: MessageId | None = None
    organizationId: OrganizationId | None = None
    destination: DomainName | None = None
    all: OnlyTrue | None = None

    example: ClassVar[dict[str, Any]] = {"destination": "example.com"}

    @model_validator(mode="after")
    def _says_which(self) -> Self:
        if (self.all is None) is not any((self.messageId, self.organizationId, self.destination)):
            raise PydanticCustomError(
                "nothing_selected",
                "Say which: 'messageId', 'organizationId', 'destination' (together they narrow), or 'all'",
            )
        return self


class QueuedDestination(ResponseModel):
    destination: str
    waiting: int
    held: int
    firstDueAt: Timestamp | None


class QueueState(ResponseModel):
    waiting: int
    pausedSince: Timestamp | None
    destinations: list[QueuedDestination]


class QueuedRecipient(ResponseModel):
    messageId: Annotated[str, an_id("msg")]
    organizationId: Annotated[str, an_id("org")]
    address: str
    destination: str
    status: Literal["queued", "deferred", "held"]
    attempts: int
    lastAttemptAt: Timestamp | None
    nextAttemptAt: Timestamp | None
    expiresAt: Timestamp
    smtpCode: int | None
    enhancedCode: str | None
    response: str | None


class QueueChanged(ResponseModel):
    recipients: int
    more: bool
