"""Faults of a request are told in words of the API: what is allowed, and no word of the library that looked."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from controlplane.contract.accounts.inboxes import CreateInbox
from controlplane.contract.mail.messages import ListMessages, SendMessage
from controlplane.contract.model import models_in
from controlplane.contract.refusals import Refusal
from controlplane.contract.telling.webhooks import CreateWebhook
from controlplane.contract.validation import validated
from controlplane.contract.work.rules import CreateRule
from controlplane.mcp.tools import TOOLS
from controlplane.operations.table import OPERATIONS

LONG = "X" * 3000
TOO_LARGE = 2**70
MANY = ["x"] * 200
ATTACHED = {"filename": "a.txt", "content": ""}
# One of each kind that may stand where another is expected.
WRONG: tuple[Any, ...] = (
    None,
    True,
    -1,
    TOO_LARGE,
    1.5,
    "",
    "x",
    LONG,
    "\ud800",
    "9" * 5000,
    [],
    [None],
    MANY,
    {},
    {"": 1},
    {LONG: "x"},
    {name: "x" for name in map(str, range(200))},
)
LIBRARYS_WORDS = re.compile(
    r"Input should|Field required|should (have|match)|unable to|validation|List |Dictionary |String |\^"
)
RULE_VALUE = "Expected an address, a domain such as mail.example.org, or '*.' and a domain"
MODELS = {one.input for one in OPERATIONS if one.input is not None} | {tool.arguments for tool in TOOLS}


def told(model: type[BaseModel], document: Any) -> dict[str, str]:
    """Path → message of each fault."""
    try:
        validated(model, document)
    except Refusal as refusal:
        assert refusal.details is not None
        return {one["path"]: one["message"] for one in refusal.details["fields"]}
    return {}


def documents(model: type[BaseModel]) -> Iterator[Any]:
    """Each field of the model, and of the models within it, with each wrong value, alone, in an array, in an object."""
    yield from WRONG
    for name, field in model.model_fields.items():
        for value in (*WRONG, *(one for inner in models_in(field.annotation) for one in documents(inner))):
            for given in (value, [value], {"x": value}):
                yield {field.alias or name: given}


@pytest.mark.parametrize("model", sorted(MODELS, key=str), ids=lambda model: model.__name__)
def test_no_fault_is_told_in_words_of_the_library(model: type[BaseModel]) -> None:
    for document in documents(model):
        for path, message in told(model, document).items():
            assert not LIBRARYS_WORDS.search(message), (path, message)


@pytest.mark.parametrize(
    ("model", "document", "path", "message"),
    [
        (CreateInbox, {}, "username", "Required, but not given"),
        (CreateInbox, {"username": 5}, "username", "Expected a string"),
        (CreateInbox, {"username": "x"}, "username", "Expected 2 or more characters"),
        (CreateInbox, {"username": "x" * 49}, "username", "Expected 48 or fewer characters"),
        (CreateInbox, {"username": "Ann"}, "username", "Expected a-z, 0-9, '.', '_' and '-' alone"),
        (
            CreateInbox,
            {"username": "ann", "metadata": {LONG[:41]: "x"}},
            f"metadata.{LONG[:41]}",
            "Expected 40 or fewer characters in its name",
        ),
        (
            CreateInbox,
            {"username": "ann", "metadata": dict.fromkeys(map(str, range(51)), "x")},
            "metadata",
            "Expected 50 or fewer entries",
        ),
        (
            CreateInbox,
            {"username": "\ud800"},
            "username",
            "Expected whole characters: a surrogate stands alone",
        ),
        (SendMessage, {"to": "a@b.example"}, "to", "Expected a JSON array"),
        (SendMessage, {"to": []}, "to", "Expected 1 or more entries"),
        (
            SendMessage,
            {"attachments": [{**ATTACHED, "contentType": "text"}]},
            "attachments[0].contentType",
            "Expected a media type such as text/plain or application/pdf",
        ),
        (CreateWebhook, {"url": "http://a.example"}, "url", "Expected a URL that begins with https://"),
        (CreateRule, {"value": "org"}, "value", RULE_VALUE),
        (CreateRule, {"value": "*.*.example.org"}, "value", RULE_VALUE),
        (ListMessages, {"limit": "many"}, "limit", "Expected an integer"),
        (ListMessages, {"limit": "0"}, "limit", "Expected an integer of 1 or more"),
        (ListMessages, {"limit": "101"}, "limit", "Expected an integer of 100 or less"),
        (ListMessages, {"limit": "9" * 5000}, "limit", "Expected an integer of fewer digits"),
        (ListMessages, {"direction": "in"}, "direction", "Expected 'inbound' or 'outbound'"),
    ],
)
def test_a_fault_says_what_is_allowed(model: type[BaseModel], document: Any, path: str, message: str) -> None:
    assert told(model, document)[path] == message


@pytest.mark.parametrize("given", ["text/plain\n", "text/plain; a", "text", "a/b;\x00c=d", "é/b"])
def test_what_is_no_media_type_is_refused(given: str) -> None:
    assert "attachments[0].contentType" in told(
        SendMessage, {"attachments": [{**ATTACHED, "contentType": given}]}
    )


@pytest.mark.parametrize("given", ["ann\n", "ann@", "é"])
def test_what_is_no_username_is_refused(given: str) -> None:
    assert "username" in told(CreateInbox, {"username": given})
