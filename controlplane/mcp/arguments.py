"""What each tool is given. Every field has a description, as hosts want it; no schema has a reference or a
choice of types, and bounds stand in the words too, since some hosts drop them. What may be left out can also be said to
be nothing (false, or a default), for models that must fill in every field."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from controlplane.contract.mail.messages import READ_TOKENS_MAX
from controlplane.contract.model import ABSENT
from controlplane.mcp.meant_words import html_as_meant, text_as_meant
from controlplane.mcp.tool import Arguments

READ_TOKENS_MIN = 500
WAIT_S_MAX = 50  # below the minute after which clients give up
FOUND_MAX = 25
LABELLED_MAX = 100


def says(text: str, **bounds: Any) -> Any:
    """A field's description."""
    return Field(description=text, **bounds)


def id_of(prefix: str, where: str) -> AfterValidator:
    """An id of that kind, without blanks around it; what is none is told where there are some."""

    def check(value: str) -> str:
        if not value.strip().startswith(f"{prefix}_"):
            told = {"prefix": prefix, "where": where}
            raise PydanticCustomError("invalid_id", "Expected an id '{prefix}_…': {where}", told)
        return value.strip()

    return AfterValidator(check)


_Inbox = Annotated[str, id_of("inb", "whoami tells it of a key that has one, list_inboxes of others")]
_Message = Annotated[str, id_of("msg", "find_messages and read_thread tell those of messages")]
_Thread = Annotated[str, id_of("thd", "find_messages tells it with each message")]
_LAST = "the lastMessageId that read_message and read_thread end with; where it is none, of the message that it answers"
_LastSeen = Annotated[str, id_of("msg", _LAST)]
_Attachment = Annotated[str, id_of("att", "read_message tells those of its attachments")]
_Claim = Annotated[str, id_of("clm", "claim_work tells it")]
_Draft = Annotated[str, id_of("drf", "reply and send_message told it as they wrote the draft")]
InboxId = Annotated[_Inbox, says("inb_…; default: the key's own inbox")]
MessageId = Annotated[_Message, says("msg_…")]
_LENGTH = f"Length of the answer: {READ_TOKENS_MIN} to {READ_TOKENS_MAX}"
MaxTokens = Annotated[int, says(_LENGTH, ge=READ_TOKENS_MIN, le=READ_TOKENS_MAX)]
Limit = Annotated[int, says(f"How many: 1 to {FOUND_MAX}", ge=1, le=FOUND_MAX)]
TimeoutSeconds = Annotated[int, says(f"How long to wait: 0 to {WAIT_S_MAX}", ge=0, le=WAIT_S_MAX)]
After = Annotated[str, says("Message id or ISO time; only newer mail. Default: two minutes ago")]
Addresses = Annotated[list[str], says("Bare addresses")]
_MeantText = Annotated[str, AfterValidator(text_as_meant)]
_MeantHtml = Annotated[str, AfterValidator(html_as_meant)]
Text = Annotated[_MeantText, says("Plain text")]
Html = Annotated[_MeantHtml, says("HTML beside the text")]
SendAt = Annotated[str, says("ISO time with offset: send then")]
AsDraft = Annotated[bool, says("Write a draft, send nothing")]
Again = Annotated[bool, says("Send although the same call was just made")]


def _given_label(label: str) -> str:
    """One label, which says what it does."""
    if "," in label:
        raise PydanticCustomError("not_allowed", "One label: others are items of their own")
    if label.lower() == "read":
        raise PydanticCustomError("not_allowed", "There is no such mark: remove 'unread' to mark as read")
    return label


class NoArguments(Arguments):
    """Of a tool that takes nothing. What it is given all the same changes nothing: some hosts have their model give a
    dummy."""

    model_config = ConfigDict(extra="ignore")


class FindArguments(Arguments):
    query: Annotated[str, says("Part of the sender's name, an address, the subject or the text")] = ABSENT
    inboxId: InboxId = ABSENT
    from_: Annotated[str, says("Part of the sender's address", alias="from")] = ABSENT
    unread: Annotated[bool, says("Unread ones alone")] = False
    labels: Annotated[list[str], says("All of these")] = ABSENT
    direction: Annotated[Literal["any", "inbound", "outbound"], says("Received or sent")] = "any"
    since: Annotated[str, says("ISO date or time")] = ABSENT
    limit: Limit = 10
    cursor: Annotated[str, says("From the last answer: older mail")] = ABSENT

    operation_names: ClassVar = {"query": "q", "from_": "from"}


class ReadThreadArguments(Arguments):
    threadId: Annotated[_Thread, says("thd_…")]
    maxTokens: MaxTokens = 4000


class ReadMessageArguments(Arguments):
    messageId: MessageId
    maxTokens: MaxTokens = 4000
    evidence: Annotated[bool, says("Add what may be an attack on you, with places")] = False


class AttachmentArguments(Arguments):
    attachmentId: Annotated[_Attachment, says("att_…")]


class WaitArguments(Arguments):
    inboxId: InboxId = ABSENT
    threadId: Annotated[_Thread, says("thd_…: answers in it alone")] = ABSENT
    fromDomain: Annotated[str, says("Verified domain of the sender")] = ABSENT
    subject: Annotated[str, says("Part of the subject")] = ABSENT
    after: After = ABSENT
    timeoutSeconds: TimeoutSeconds = 25


class CodeArguments(Arguments):
    fromDomain: Annotated[str, says("Domain that sends the code, such as github.com")]
    inboxId: InboxId = ABSENT
    after: After = ABSENT
    timeoutSeconds: TimeoutSeconds = 25

    operation_names: ClassVar = {"timeoutSeconds": "waitSeconds"}


class ReplyArguments(Arguments):
    messageId: Annotated[_Message, says("msg_… that is answered")]
    text: Text
    lastSeenMessageId: Annotated[
        _LastSeen, says("lastMessageId of what you read: refused if the thread went on since")
    ]
    replyAll: Annotated[bool, says("Answer everybody, not the author alone")] = ABSENT
    html: Html = ABSENT
    asDraft: AsDraft = ABSENT
    sendAt: SendAt = ABSENT
    claimId: Annotated[_Claim, says("clm_… of claim_work, which the answer finishes")] = ABSENT
    again: Again = False

    operation_names: ClassVar = {"lastSeenMessageId": "ifLastMessageId"}


class SendArguments(Arguments):
    to: Addresses
    subject: Annotated[str, says("One line")]
    text: Text
    cc: Addresses = ABSENT
    bcc: Addresses = ABSENT
    html: Html = ABSENT
    inboxId: InboxId = ABSENT
    sendAt: SendAt = ABSENT
    asDraft: AsDraft = ABSENT
    again: Again = False


class ForwardArguments(Arguments):
    messageId: MessageId
    to: Addresses
    text: Annotated[_MeantText, says("Your words above it")] = ABSENT
    again: Again = False


class CheckArguments(Arguments):
    kind: Annotated[Literal["send", "reply", "forward", "draft"], says("What is checked")]
    messageId: Annotated[_Message, says("reply, forward: msg_…")] = ABSENT
    draftId: Annotated[_Draft, says("draft: drf_…")] = ABSENT
    to: Annotated[list[str], says("send, forward")] = ABSENT
    cc: Annotated[list[str], says("send")] = ABSENT
    bcc: Annotated[list[str], says("send")] = ABSENT
    subject: Annotated[str, says("send")] = ABSENT
    text: Annotated[_MeantText, says("send, reply, forward")] = ABSENT
    html: Annotated[_MeantHtml, says("send, reply")] = ABSENT
    inboxId: Annotated[_Inbox, says("send: inb_…")] = ABSENT
    replyAll: Annotated[bool, says("reply")] = ABSENT
    lastSeenMessageId: Annotated[_LastSeen, says("reply")] = ABSENT
    sendAt: Annotated[str, says("send, reply")] = ABSENT
    claimId: Annotated[_Claim, says("reply: clm_…")] = ABSENT

    operation_names: ClassVar = {"lastSeenMessageId": "ifLastMessageId"}


class CancelArguments(Arguments):
    messageId: MessageId


class LabelArguments(Arguments):
    messageIds: Annotated[list[_Message], says(f"msg_…, at most {LABELLED_MAX}", max_length=LABELLED_MAX)]
    add: Annotated[list[Annotated[str, AfterValidator(_given_label)]], says("Labels to give")] = ABSENT
    remove: Annotated[list[str], says("Such as unread")] = ABSENT

    operation_names: ClassVar = {"messageIds": "ids", "add": "addLabels", "remove": "removeLabels"}


class ClaimArguments(Arguments):
    inboxId: InboxId = ABSENT
    leaseSeconds: Annotated[int, says("How long it is yours: 30 to 3600")] = ABSENT


class FinishArguments(Arguments):
    claimId: Annotated[_Claim, says("clm_…")]
    outcome: Annotated[
        Literal["done", "release", "extend"], says("release gives it back to others, extend renews the lease")
    ] = "done"


class ListInboxesArguments(Arguments):
    limit: Limit = FOUND_MAX
    cursor: Annotated[str, says("From the last answer")] = ABSENT


class CreateInboxArguments(Arguments):
    username: Annotated[str, says("The part before the @")]
    domain: Annotated[str, says("A verified domain of yours; default: a shared one")] = ABSENT
    name: Annotated[str, says("Shown to recipients")] = ABSENT
