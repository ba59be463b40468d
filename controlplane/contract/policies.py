"""Policies: what an inbox's mail may and may not do."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from controlplane.contract.fields import WHOLE
from controlplane.contract.model import RequestBody, ResponseModel

# Factories, since a documented default makes a field a required one to some generated clients.


class GivenWorkPolicy(RequestBody):
    """A member that is left out is its default."""

    enabled: bool = Field(default_factory=bool)
    maxAttempts: Annotated[int, Field(ge=1, le=100), WHOLE] = Field(default_factory=lambda: 5)
    requireClaim: bool = Field(default_factory=bool)

    example: ClassVar[dict[str, Any]] = {"enabled": True}


class ReplacePolicy(RequestBody):
    """The whole document. `version`: that of the document that it replaces."""

    version: Annotated[int, Field(ge=0), WHOLE]
    work: GivenWorkPolicy = Field(default_factory=GivenWorkPolicy)

    example: ClassVar[dict[str, Any]] = {"version": 0, "work": {"enabled": True, "requireClaim": True}}


class ShownWorkPolicy(ResponseModel):
    enabled: bool
    maxAttempts: int
    requireClaim: bool


class EffectivePolicy(ResponseModel):
    """What holds for an inbox."""

    work: ShownWorkPolicy


class InboxPolicy(EffectivePolicy):
    """An inbox's own document. `version`: how often it was replaced."""

    version: int
