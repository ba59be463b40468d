"""Rules: whom the organization's inboxes may write to, and who may write to them."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field
from pydantic_core import PydanticCustomError

from controlplane.contract.fields import (
    NO_CONTROLS,
    Check,
    InboxId,
    Limit,
    cursor_of,
    domain_name,
    email,
)
from controlplane.contract.model import RequestBody, RequestQuery, ResponseModel, Timestamp, an_id
from maild.message.fields.address import normalize, split, strip_plus
from storage.agents.rules import LABELS_BELOW_MAX

NOTE_CHARS = 200
_BELOW = "*."

RuleDirection = Literal["inbound", "outbound"]
RuleAction = Literal["allow", "block", "hold"]


def _value(given: str) -> str:
    """In the form that is compared: lower case, A-labels, without a tag."""
    if "@" in given:
        local, domain = split(normalize(email(given)))
        return f"{strip_plus(local)}@{domain}"
    if not given.startswith(_BELOW):
        return _domain(given)
    below = _domain(f"x.{given.removeprefix(_BELOW)}").removeprefix("x.")  # `*.org` as well
    if below.count(".") >= LABELS_BELOW_MAX:
        raise PydanticCustomError(
            "invalid_domain", "Expected at most {most} labels behind '*.'", {"most": LABELS_BELOW_MAX}
        )
    return f"{_BELOW}{below}"


def _domain(given: str) -> str:
    try:
        return domain_name(given)
    except PydanticCustomError as error:
        raise PydanticCustomError(
            "invalid_domain", "Expected an address, a domain such as mail.example.org, or '*.' and a domain"
        ) from error


RuleValue = Annotated[
    str,
    Check(_value, {"description": "An address, a domain (that alone), or `*.` and a domain (all below it)"}),
]


class CreateRule(RequestBody):
    """`inboxId` null: for every inbox of the organization."""

    direction: RuleDirection
    action: RuleAction
    value: RuleValue
    inboxId: InboxId | None = None
    note: Annotated[str, Field(max_length=NOTE_CHARS), NO_CONTROLS] | None = None

    example: ClassVar[dict[str, Any]] = {
        "direction": "outbound", "action": "block", "value": "*.example.net", "note": "asked us to stop",
    }  # fmt: skip


class ListRules(RequestQuery):
    direction: RuleDirection | None = None
    action: RuleAction | None = None
    value: RuleValue | None = None
    inboxId: InboxId | None = None
    limit: Limit = 50
    cursor: Annotated[str, cursor_of("rul")] | None = None


class MailRule(ResponseModel):
    id: Annotated[str, an_id("rul")]
    inboxId: Annotated[str, an_id("inb")] | None
    direction: RuleDirection
    action: RuleAction
    value: str
    note: str | None
    createdAt: Timestamp


class DeletedRule(ResponseModel):
    id: Annotated[str, an_id("rul")]
    deleted: Literal[True]
