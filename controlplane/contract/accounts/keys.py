"""API keys."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from controlplane.contract.fields import NO_CONTROLS, Limit, Scope, cursor_of
from controlplane.contract.model import Mode, RequestBody, RequestQuery, ResponseModel, Timestamp, an_id
from controlplane.contract.scopes import GRANTABLE


class CreateKey(RequestBody):
    name: Annotated[str, Field(min_length=1, max_length=64), NO_CONTROLS]
    # None of them is refused where the key's binding is known: under two codes.
    scopes: (
        Annotated[list[Scope], Field(max_length=len(GRANTABLE), json_schema_extra={"minItems": 1})] | None
    ) = None
    inboxId: Annotated[str, Field(max_length=64)] | None = None
    mode: Literal["live", "test"] | None = None

    example: ClassVar[dict[str, Any]] = {
        "name": "billing bot",
        "scopes": ["messages:send", "messages:read", "threads:read"],
    }


class ListKeys(RequestQuery):
    limit: Limit | None = None
    cursor: Annotated[str, cursor_of("key")] | None = None


class Key(ResponseModel):
    id: Annotated[str, an_id("key")]
    name: str
    keyPrefix: str
    mode: Mode
    scopes: list[str]
    inboxId: str | None
    isActive: bool
    mintedBy: str | None
    lastUsedAt: Timestamp | None
    createdAt: Timestamp


class MintedKey(Key):
    apiKey: Annotated[str, Field(pattern=r"^svc_(live|test)_[0-9a-f]{48}$")]
    warning: str


class Revoked(ResponseModel):
    id: str
    status: Literal["revoked"]


class RevokedWithMail(Revoked):
    revokedKeys: int
    withdrawnMessages: int
