"""Policies: what the mail of an organization, or of an inbox, may and may not do."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from controlplane.contract.fields import WHOLE, Email
from controlplane.contract.model import RequestBody, ResponseModel
from controlplane.contract.sending.checks import WarningCode
from storage.agents.policies import EXPIRES_AFTER_S

# How strict each word is, says storage/agents/policies.py.
Recipients = Literal["any", "allowlist", "participants"]
Review = Literal["off", "first_time", "external", "all"]
ReplyTo = Literal["honor", "verified"]
Held = Literal["unverified", "high_risk"]
Unlisted = Literal["accept", "hold", "refuse"]

EXPIRES_AFTER_S_MAX = 30 * 24 * 3600
VERSION_MAX = 2**53 - 1  # what every reader of JSON can hold

# Defaults are factories, since a documented default makes a field a required one to some generated clients.


class GivenOutboundPolicy(RequestBody):
    """A member that is left out is its default."""

    recipients: Recipients = Field(default_factory=lambda: "any")
    review: Review = Field(default_factory=lambda: "off")
    holdOn: Annotated[list[WarningCode], Field(max_length=20)] = Field(default_factory=list)
    firstTimeDaily: Annotated[int, Field(ge=0, le=1_000_000), WHOLE] | None = None
    replyTo: ReplyTo = Field(default_factory=lambda: "honor")


class GivenInboundPolicy(RequestBody):
    """A member that is left out is its default."""

    hold: Annotated[list[Held], Field(max_length=20)] = Field(default_factory=list)
    unlisted: Unlisted = Field(default_factory=lambda: "accept")


class GivenWorkPolicy(RequestBody):
    """A member that is left out is its default."""

    enabled: bool = Field(default_factory=bool)
    maxAttempts: Annotated[int, Field(ge=1, le=100), WHOLE] = Field(default_factory=lambda: 5)
    requireClaim: bool = Field(default_factory=bool)

    example: ClassVar[dict[str, Any]] = {"enabled": True}


class GivenReviewPolicy(RequestBody):
    """A member that is left out is its default."""

    expiresAfterSeconds: Annotated[int, Field(ge=60, le=EXPIRES_AFTER_S_MAX), WHOLE] = Field(
        default_factory=lambda: EXPIRES_AFTER_S
    )
    notify: Annotated[list[Email], Field(max_length=10)] = Field(default_factory=list)


class ReplaceOrganizationPolicy(RequestBody):
    """The whole document. `version`: that of the document that it replaces."""

    version: Annotated[int, Field(ge=0, le=VERSION_MAX), WHOLE]
    outbound: GivenOutboundPolicy = Field(default_factory=GivenOutboundPolicy)
    inbound: GivenInboundPolicy = Field(default_factory=GivenInboundPolicy)
    review: GivenReviewPolicy = Field(default_factory=GivenReviewPolicy)

    example: ClassVar[dict[str, Any]] = {
        "version": 0,
        "outbound": {"holdOn": ["secret", "recipient_from_content"]},
        "review": {"notify": ["ada@example.com"]},
    }


class ReplaceInboxPolicy(ReplaceOrganizationPolicy):
    """As of an organization; and whether the mail of the inbox is work."""

    work: GivenWorkPolicy = Field(default_factory=GivenWorkPolicy)

    example: ClassVar[dict[str, Any]] = {
        "version": 0,
        "outbound": {"recipients": "participants"},
        "work": {"enabled": True, "requireClaim": True},
    }


class ShownOutboundPolicy(ResponseModel):
    recipients: Recipients
    review: Review
    holdOn: list[WarningCode]
    firstTimeDaily: int | None
    replyTo: ReplyTo


class ShownInboundPolicy(ResponseModel):
    hold: list[Held]
    unlisted: Unlisted


class ShownWorkPolicy(ResponseModel):
    enabled: bool
    maxAttempts: int
    requireClaim: bool


class ShownReviewPolicy(ResponseModel):
    expiresAfterSeconds: int
    notify: list[str]


class OrganizationPolicy(ResponseModel):
    """An organization's own document. `version`: how often it was replaced."""

    version: int
    outbound: ShownOutboundPolicy
    inbound: ShownInboundPolicy
    review: ShownReviewPolicy


class EffectivePolicy(ResponseModel):
    """What holds for an inbox."""

    outbound: ShownOutboundPolicy
    inbound: ShownInboundPolicy
    work: ShownWorkPolicy
    review: ShownReviewPolicy


class InboxPolicy(EffectivePolicy):
    """An inbox's own document. `version`: how often it was replaced."""

    version: int
