"""Codes and links that mail asks its reader to use, each handed to one caller."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from controlplane.contract.fields import WHOLE, DomainName, Position
from controlplane.contract.mail.messages import WAIT_S, WAIT_S_MAX
from controlplane.contract.model import RequestBody, ResponseModel, an_id

CodeKind = Literal["code", "link"]
KINDS: tuple[CodeKind, ...] = ("code", "link")
LINK_HOSTS_MAX = 10


class ClaimCode(RequestBody):
    """`after`: a message, an event or a time; two minutes ago where it is left out."""

    fromDomain: DomainName | None = None
    after: Position | None = None
    waitSeconds: Annotated[int, Field(ge=0, le=WAIT_S_MAX), WHOLE] = WAIT_S
    kinds: Annotated[list[CodeKind], Field(min_length=1, max_length=2)] = Field(
        default_factory=lambda: list(KINDS)
    )
    allowUnverified: bool = False
    linkHosts: Annotated[list[DomainName], Field(max_length=LINK_HOSTS_MAX)] = Field(default_factory=list)

    example: ClassVar[dict[str, Any]] = {"fromDomain": "github.com", "waitSeconds": 25}

    @model_validator(mode="after")
    def _says_from_whom(self) -> Self:
        if self.fromDomain is None and not self.allowUnverified:
            raise PydanticCustomError("required", "Give 'fromDomain', or allow mail of unproven senders")
        return self


class CodePlace(ResponseModel):
    """Where it stands, in code points of a field that GET of the message shows."""

    view: Literal["subject", "extractedText", "textBody"]
    start: int
    end: int


class ClaimedCode(ResponseModel):
    """`value`: what is to be typed, or opened; `shown`: as it stands in the mail. `confidence`: beside a word for a
    code, the only one that could be it, or one of several `candidates`: then nothing is claimed."""

    id: Annotated[str, an_id("cod")] | None
    claimed: bool
    kind: CodeKind | None
    value: str | None
    shown: str | None
    messageId: str | None
    verifiedDomain: str | None
    confidence: Literal["labelled", "unlabelled", "ambiguous"] | None
    evidence: CodePlace | None
    candidates: list[str]
    timedOut: bool
    cursor: str
