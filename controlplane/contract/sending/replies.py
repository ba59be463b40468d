"""Answering a message, and passing it on."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from controlplane.contract.fields import (
    NO_CONTROLS,
    ClaimId,
    CompleteClaim,
    CustomHeaders,
    Email,
    SendAt,
    id_of,
)
from controlplane.contract.mail.messages import (
    ATTACHMENTS_MAX,
    RECIPIENTS_MAX,
    SUBJECT_MAX,
    AttachmentInput,
    ListedMessage,
)
from controlplane.contract.model import MESSAGE_ID, RequestBody, ResponseModel, an_id
from controlplane.contract.sending.drafts import Draft

Recipients = Annotated[list[Email], Field(max_length=RECIPIENTS_MAX)]
NOT_OF_DRAFTS = ("attachments", "headers", "sendAt")
OVERRIDES = ("to", "cc", "bcc", "subject", "headers")  # what a key that may only answer may not give


class ReplyMessage(RequestBody):
    text: str | None = None
    html: str | None = None
    replyAll: bool = Field(default_factory=bool)
    quote: Literal["none", "text"] = Field(default_factory=lambda: "none")
    attachments: Annotated[list[AttachmentInput], Field(max_length=ATTACHMENTS_MAX)] = Field(
        default_factory=list
    )
    sendAt: SendAt | None = None
    headers: CustomHeaders = Field(default_factory=dict)
    ifLastMessageId: Annotated[str, id_of("msg")] | None = None
    claimId: ClaimId | None = None
    completeClaim: CompleteClaim = Field(default_factory=bool)
    asDraft: bool = Field(default_factory=bool)
    to: Annotated[Recipients, Field(min_length=1)] | None = None
    cc: Recipients = Field(default_factory=list)
    bcc: Recipients = Field(default_factory=list)
    subject: Annotated[str, Field(max_length=SUBJECT_MAX), NO_CONTROLS] | None = None

    @model_validator(mode="after")
    def _is_of_a_piece(self) -> Self:
        if self.replyAll and self.to is not None:
            raise PydanticCustomError("not_allowed", "Give either 'to' or 'replyAll', not both")
        given = [name for name in NOT_OF_DRAFTS if getattr(self, name)]
        if self.asDraft and given:
            raise PydanticCustomError(
                "not_allowed",
                "A draft has no {names}: leave them out, or 'asDraft'",
                {"names": ", ".join(given)},
            )
        return self

    example: ClassVar[dict[str, Any]] = {
        "text": "Thank you, it is paid.",
        "replyAll": True,
        "ifLastMessageId": MESSAGE_ID,
    }


class ReplyThread(ReplyMessage):
    ifLastMessageId: Annotated[str, id_of("msg")]

    example: ClassVar[dict[str, Any]] = {"text": "Thank you, it is paid.", "ifLastMessageId": MESSAGE_ID}


class ForwardMessage(RequestBody):
    to: Annotated[Recipients, Field(min_length=1)]
    cc: Recipients = Field(default_factory=list)
    bcc: Recipients = Field(default_factory=list)
    text: str | None = None
    html: str | None = None
    attachmentIds: Annotated[list[Annotated[str, id_of("att")]], Field(max_length=100)] | None = None
    as_: Annotated[Literal["inline", "eml"], Field(alias="as", default_factory=lambda: "inline")]

    @property
    def attachments(self) -> Sequence[AttachmentInput]:
        """None are uploaded with it."""
        return ()

    @model_validator(mode="after")
    def _chooses_once(self) -> Self:
        if self.as_ == "eml" and self.attachmentIds is not None:
            raise PydanticCustomError(
                "not_allowed", "As 'eml' the message goes whole: leave out 'attachmentIds'"
            )
        return self

    example: ClassVar[dict[str, Any]] = {"to": ["accounts@example.com"], "text": "Please pay this."}


class DroppedRecipient(ResponseModel):
    """Who stands there and is not written to."""

    address: str
    reason: Literal["own_address", "duplicate", "not_allowed", "invalid", "mailing_list"]


class ResolvedRecipients(ResponseModel):
    """How the recipients of an answer were found."""

    source: Literal["reply_to", "from", "recipients", "given"]
    dropped: list[DroppedRecipient]


class SentReply(ListedMessage):
    resolved: ResolvedRecipients


class DraftedReply(Draft):
    id: Annotated[str, an_id("drf")]
    resolved: ResolvedRecipients
