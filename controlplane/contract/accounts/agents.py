"""Agents: names for the programs behind inboxes."""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from controlplane.contract.fields import NO_CONTROLS, Limit, cursor_of
from controlplane.contract.model import RequestBody, RequestQuery, ResponseModel, Timestamp, an_id


class CreateAgent(RequestBody):
    name: Annotated[str, Field(min_length=1, max_length=100), NO_CONTROLS]

    example: ClassVar[dict[str, Any]] = {"name": "Billing agent"}


class ListAgents(RequestQuery):
    limit: Limit = 50
    cursor: Annotated[str, cursor_of("agt")] | None = None


class Agent(ResponseModel):
    id: Annotated[str, an_id("agt")]
    organizationId: str
    name: str
    createdAt: Timestamp
