"""Threads: conversations with their messages."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field

from controlplane.contract.fields import InboxId, LabelFilter, Limit, ThreadsCursor, cursor_of, id_of
from controlplane.contract.mail.messages import Message, Risk
from controlplane.contract.model import RequestBody, RequestQuery, ResponseModel, Timestamp, an_id
from maild.message.context.thread_context import BUDGET_MAX, BUDGET_MIN


class ListThreads(RequestQuery):
    inboxId: InboxId | None = None
    limit: Limit = 50
    cursor: ThreadsCursor | None = None
    isArchived: bool | None = None
    labels: LabelFilter | None = None
    unread: bool | None = None


class GetThread(RequestQuery):
    limit: Annotated[int, Field(ge=1, le=200)] = 100
    before: Annotated[str, cursor_of("msg")] | None = None


class GetThreadContext(RequestQuery):
    maxTokens: Annotated[int, Field(ge=BUDGET_MIN, le=BUDGET_MAX)] = 4000
    focus: Annotated[str, id_of("msg")] | None = None


class PatchThread(RequestBody):
    isArchived: bool

    example: ClassVar[dict[str, Any]] = {"isArchived": True}


class ThreadMessage(Message):
    """The whole message, and the short names beside the long ones."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    from_: Annotated[str, Field(alias="from")]
    to: list[str]
    text: str | None
    html: str | None


class Thread(ResponseModel):
    id: Annotated[str, an_id("thd")]
    organizationId: str
    inboxId: str
    subject: str
    snippet: str
    participants: list[str]
    labels: list[str]
    messageCount: int
    unreadCount: int
    lastMessageAt: Timestamp
    isArchived: bool
    createdAt: Timestamp


class WholeThread(Thread):
    hasMore: bool
    messages: list[ThreadMessage]


class ContextFile(ResponseModel):
    id: Annotated[str, an_id("att")]
    filename: str
    contentType: str
    sizeBytes: int


class MessageInContext(ResponseModel):
    """Where the message stands in `text`, in code points, without its fences."""

    id: Annotated[str, an_id("msg")]
    direction: Literal["inbound", "outbound"]
    verifiedDomain: str | None
    risk: Risk | None
    start: int
    end: int
    isCut: bool
    attachments: list[ContextFile]


class ThreadContext(ResponseModel):
    threadId: Annotated[str, an_id("thd")]
    lastMessageId: str | None
    contextHash: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
    estimatedTokens: int
    maxTokens: int
    truncated: bool
    omittedMessages: int
    text: str
    messages: list[MessageInContext]
