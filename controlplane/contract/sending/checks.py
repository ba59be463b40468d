"""Looking at a message before it is sent: what is asked, and what is told."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, ValidationError, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from controlplane.contract.common import ErrorBody
from controlplane.contract.fields import Email, id_of
from controlplane.contract.mail.messages import RECIPIENTS_MAX, SendMessage
from controlplane.contract.model import ABSENT, INBOX_ID, MESSAGE_ID, ResponseModel, an_id
from controlplane.contract.sending.replies import ForwardMessage, ReplyMessage

INSTEAD = ("reply", "forward", "draftId")  # of a message of the body's own


class CheckReply(ReplyMessage):
    """The body of a reply, and what it answers."""

    messageId: Annotated[str, id_of("msg")]

    @model_validator(mode="after")
    def _is_to_be_sent(self) -> Self:
        if self.asDraft:
            raise PydanticCustomError("not_allowed", "A draft is not sent: leave out 'asDraft'")
        return self


class CheckForward(ForwardMessage):
    """The body of a forward, and what it passes on."""

    messageId: Annotated[str, id_of("msg")]


class CheckMessage(SendMessage):
    """A message as for sending, or one of `reply`, `forward` and `draftId`."""

    inboxId: Annotated[str, Field(max_length=64)] = ABSENT
    to: Annotated[list[Email], Field(min_length=1, max_length=RECIPIENTS_MAX)] = ABSENT
    reply: CheckReply = ABSENT
    forward: CheckForward = ABSENT
    draftId: Annotated[str, id_of("drf")] = ABSENT

    @model_validator(mode="after")
    def _is_one_message(self) -> Self:
        instead = [name for name in INSTEAD if name in self.model_fields_set]
        others = self.model_fields_set - set(instead[:1])
        if instead and others:
            text = "Give a message, or one of 'reply', 'forward' and 'draftId', and nothing beside it"
            raise PydanticCustomError("not_allowed", text)
        missing = () if instead else [name for name in ("inboxId", "to") if name not in self.model_fields_set]
        if missing:
            faults = [InitErrorDetails(type="missing", loc=(name,), input=None) for name in missing]
            raise ValidationError.from_exception_data("", faults)
        return self

    example: ClassVar[dict[str, Any]] = {
        "inboxId": INBOX_ID,
        "to": ["ada@example.com"],
        "subject": "Your invoice for November",
        "text": "Dear {{name}},\n\nthe invoice is attached.\n",
        "inReplyTo": MESSAGE_ID,
    }


class CheckError(ErrorBody):
    """What the send would be refused with, and its status."""

    status: int


WarningCode = Literal[
    "empty_body",
    "placeholder",
    "model_artifact",
    "secret",
    "attachment_missing",
    "duplicate",
    "recipient_from_content",
    "reply_to_mismatch",
    "no_reply_address",
    "auto_reply_target",
]


class CheckWarning(ResponseModel):
    """`view`, `start`, `end`: where, in code points of that field, of the message that is looked at, or of `messageId`
    where that is given. `address`: the recipient that it is about."""

    code: WarningCode
    view: Literal["subject", "text", "html", "replyTo", "cc"] | None
    start: int | None
    end: int | None
    address: str | None
    messageId: str | None


class NamedRule(ResponseModel):
    id: Annotated[str, an_id("rul")]
    action: Literal["allow", "block", "hold"]


class CheckedRecipient(ResponseModel):
    address: str
    kind: Literal["to", "cc", "bcc"]
    isFirstTime: bool
    isSuppressed: bool
    route: Literal["local", "mx", "relay", "simulator"]
    finding: Literal["ok", "no_mx", "null_mx", "nxdomain", "unknown"]
    rule: NamedRule | None


class CheckedThread(ResponseModel):
    """`lastMessageId`: for `ifLastMessageId`; null where nothing in it counts."""

    id: Annotated[str, an_id("thd")]
    lastMessageId: str | None


class CheckedMessage(ResponseModel):
    """What would become of a message. `sizeBytes`: null where it can't be composed."""

    wouldSend: bool
    wouldHold: bool
    errors: list[CheckError]
    warnings: list[CheckWarning]
    recipients: list[CheckedRecipient]
    subject: str
    sizeBytes: int | None
    thread: CheckedThread | None
