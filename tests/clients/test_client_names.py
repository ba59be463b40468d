"""Every operation has its name in the clients, and each name is one operation."""

import json
from typing import Any

import pytest

from controlplane.operations.table import OPERATIONS
from controlplane.reference.documents import documents
from controlplane.reference.openapi import document
from scripts import client_names
from scripts.client_names import NAMES, Unnamed

URL = "https://mail.test"


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    read: dict[str, Any] = json.loads(json.dumps(document(OPERATIONS, URL, documents(URL)["contract.md"])))
    return read


def test_every_operation_has_one_row(told: dict[str, Any]) -> None:
    client_names.check(told)


def test_a_new_operation_without_a_row_is_told(told: dict[str, Any]) -> None:
    new = {"/v1/moods": {"get": {"operationId": "listMoods"}}}
    with pytest.raises(Unnamed, match=r"without a row .*: listMoods"):
        client_names.check({"paths": {**told["paths"], **new}})


def test_a_row_without_its_operation_is_told(told: dict[str, Any]) -> None:
    rest = {path: one for path, one in told["paths"].items() if path != "/v1/keys/{id}"}
    with pytest.raises(Unnamed, match="rows without an operation: revokeKey"):
        client_names.check({"paths": rest})


def test_a_name_that_stands_twice_is_told(told: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_names, "NAMES", {**NAMES, "getThread": NAMES["getMessage"]})
    with pytest.raises(Unnamed, match=r"names that stand twice: messages\.get"):
        client_names.check(told)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/messages/{id}/reply", "message_id"),
        ("/v1/inboxes/{id}/claims", "inbox_id"),
        ("/v1/webhooks/deliveries/{id}/redeliver", "delivery_id"),
        ("/v1/messages", None),
    ],
)
def test_ids_of_paths_say_what_they_are_of(path: str, name: str | None) -> None:
    assert client_names.id_name(path) == name
