"""Claims: mail as a queue of work."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

from controlplane.contract.fields import NO_CONTROLS, WHOLE, InboxId, Limit, cursor_of
from controlplane.contract.mail.messages import GivenLabels, Message, TakenLabels, labels_apart
from controlplane.contract.model import Mode, RequestBody, RequestQuery, ResponseModel, Timestamp, an_id

CLAIMED_MAX = 20
LEASE_S = 300
LEASE_S_MIN, LEASE_S_MAX = 30, 3600
CLAIM_WAIT_S_MAX = 50
DELAY_S_MAX = 86_400

ClaimStatus = Literal["live", "released", "expired", "done", "dead"]
# Factories, since a documented default makes a field a required one to some generated clients.
LeaseSeconds = Annotated[
    int,
    Field(ge=LEASE_S_MIN, le=LEASE_S_MAX, default_factory=lambda: LEASE_S, description="300 by default"),
    WHOLE,
]


class ClaimMessages(RequestBody):
    max: Annotated[int, Field(ge=1, le=CLAIMED_MAX), WHOLE] = Field(default_factory=lambda: 1)
    leaseSeconds: LeaseSeconds
    waitSeconds: Annotated[int, Field(ge=0, le=CLAIM_WAIT_S_MAX), WHOLE] = Field(default_factory=int)
    holder: Annotated[str, Field(max_length=100), NO_CONTROLS] | None = None

    may_be_absent = True
    example: ClassVar[dict[str, Any]] = {
        "max": 1, "leaseSeconds": 300, "waitSeconds": 0, "holder": "worker-3",
    }  # fmt: skip


class ExtendClaim(RequestBody):
    leaseSeconds: LeaseSeconds

    may_be_absent = True
    example: ClassVar[dict[str, Any]] = {"leaseSeconds": 300}


class ReleaseClaim(RequestBody):
    delaySeconds: Annotated[int, Field(ge=0, le=DELAY_S_MAX), WHOLE] = Field(default_factory=int)

    may_be_absent = True
    example: ClassVar[dict[str, Any]] = {"delaySeconds": 60}


class DoneLabels(RequestBody):
    add: GivenLabels = Field(default_factory=list)
    remove: TakenLabels = Field(default_factory=list)

    @field_validator("remove")
    @classmethod
    def _are_others(cls, labels: list[str], info: ValidationInfo) -> list[str]:
        return labels_apart(labels, info.data.get("add", ()))

    example: ClassVar[dict[str, Any]] = {"add": ["answered"]}


class FinishClaim(RequestBody):
    labels: DoneLabels = Field(default_factory=DoneLabels)

    may_be_absent = True
    example: ClassVar[dict[str, Any]] = {"labels": {"add": ["answered"], "remove": []}}


class ListClaims(RequestQuery):
    inboxId: InboxId | None = None
    status: ClaimStatus | None = None
    limit: Limit = 50
    cursor: Annotated[str, cursor_of("clm")] | None = None


class WorkClaim(ResponseModel):
    id: Annotated[str, an_id("clm")]
    inboxId: Annotated[str, an_id("inb")]
    threadId: Annotated[str, an_id("thd")]
    messageId: Annotated[str, an_id("msg")]
    keyId: Annotated[str, an_id("key")]
    mode: Mode
    status: ClaimStatus
    attempt: int
    holder: str | None
    leaseExpiresAt: Timestamp
    createdAt: Timestamp


class ClaimedMessage(WorkClaim):
    """With the whole message; null where it was deleted since."""

    message: Message | None
