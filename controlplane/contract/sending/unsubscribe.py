"""The link of List-Unsubscribe."""

from typing import Annotated, Literal

from pydantic import Field

from controlplane.contract.model import RequestQuery, ResponseModel


class UnsubscribeToken(RequestQuery):
    # Not checked here: a token that is not ours has an error of its own.
    token: (
        Annotated[str, Field(json_schema_extra={"pattern": "^[A-Za-z0-9_-]*$", "maxLength": 500})] | None
    ) = None


class Unsubscribed(ResponseModel):
    email: str
    status: Literal["unsubscribed"]
