"""Answers that several endpoints have."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from controlplane.contract.model import ResponseModel


class Deleted(ResponseModel):
    id: str
    status: Literal["deleted"]


class ErrorBody(ResponseModel):
    code: str
    message: str
    details: dict[str, Any] = Field(default_factory=dict)


class Error(ResponseModel):
    """Branch on `code`; show `message` to people; `details` are data to act on."""

    error: ErrorBody


class LoopHealth(BaseModel):
    holds: int
    heldMs: int


class Health(BaseModel):
    status: Literal["healthy", "unhealthy"]
    service: str
    store: Literal["ok", "damaged"]
    disk: Literal["ok", "short", "stalled", "failing"]
    descriptors: Literal["ok", "short"]
    loop: LoopHealth
