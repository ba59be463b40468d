"""The document of `/openapi.json` as one reads it who follows each reference, but to models: they keep their names."""

from collections.abc import Mapping
from typing import Any

_MODELS = "#/components/schemas/"


def followed(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with parameters, answers, headers, examples and `data` where it names them; of the components, the
    models are left."""
    schemas = document["components"]["schemas"]
    envelopes = {
        f"{_MODELS}{name}" for name, one in schemas.items() if [*one.get("properties", ())] == ["data"]
    }
    models = {name: one for name, one in schemas.items() if f"{_MODELS}{name}" not in envelopes}

    def read(told: Any) -> Any:
        if isinstance(told, list):
            return [read(one) for one in told]
        if not isinstance(told, Mapping):
            return told
        name = told.get("$ref")
        if not isinstance(name, str) or (name.startswith(_MODELS) and name not in envelopes):
            return {key: read(one) for key, one in told.items()}
        found: Any = document
        for step in name.removeprefix("#/").split("/"):
            found = found[step]
        return read(found)

    places = {place: read(document[place]) for place in ("paths", "webhooks")}
    return {**document, **places, "components": {"schemas": models}}
