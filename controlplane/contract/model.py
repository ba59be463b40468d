"""What the models of requests and responses have in common. Names are those of the JSON, in camel case."""

from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError


class RequestBody(BaseModel):
    """A JSON body. `example`: a realistic one, for the document. `may_be_absent`: an empty body says what `{}` says."""

    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=False)
    example: ClassVar[dict[str, Any]]
    may_be_absent: ClassVar[bool] = False


# A field of a Change that was not given.
ABSENT: Any = None


class Change(RequestBody):
    """A PATCH: what is given changes, and something must be. Null is refused where the type has no null."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.model_fields_set:
            raise PydanticCustomError("nothing_to_change", "Give at least one field to change")
        return self


class RequestQuery(BaseModel):
    """Query strings are text: `limit=5` is the number 5 here. Not to be changed: requests share it."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ResponseModel(BaseModel):
    """Describes an answer; costs neither a request nor a start. Every key is always there; what is absent is null."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


def models_in(shape: Any) -> list[type[BaseModel]]:
    """The models that a type names: it, or its parts; not what those consist of."""
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        return [shape]
    return [model for part in get_args(shape) for model in models_in(part)]


def an_id(prefix: str) -> Any:
    """An id of ours, in a response."""
    return Field(pattern=rf"^{prefix}_", examples=[f"{prefix}_01m7yfag7w45tyj0v8xnjg5z6z"])


Timestamp = Annotated[
    str,
    Field(
        pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$",
        json_schema_extra={"format": "date-time"},
        examples=["2026-11-02T00:00:00.000Z"],
    ),
]
# Generators make 32 bits of an integer that says nothing. Some make a number of another kind of one that says this: it
# is for what may be beyond 2,147,483,647 alone.
Large = Annotated[int, Field(json_schema_extra={"format": "int64"})]
Mode = Literal["live", "test"]
# What the examples of request bodies name.
INBOX_ID = "inb_01m7yfag7w45tyj0v8xnjg5z6z"
MESSAGE_ID = "msg_01m7yfc2m9qk3s0r6t4v8wxyz1"
PDF = "JVBERi0xLjQKJSVFT0YK"  # "%PDF-1.4", "%%EOF"
