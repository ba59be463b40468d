"""Writes what is generated of the clients, from the document that the daemon serves. `scripts/clients` runs it."""

import json
import re
import sys
from pathlib import Path
from typing import Any

from controlplane.operations.table import OPERATIONS
from controlplane.reference.documents import documents
from controlplane.reference.openapi import document
from scripts import client_cli, client_names, client_python, client_typescript
from scripts.followed import followed
from tests.support.machine import tools

_URL = "https://mail.example.com"
_LINK = re.compile(rf"\[([^\[\]]*)\]\({re.escape(_URL)}/docs[^()]*\)")
CLIENTS = Path(__file__).parents[1] / "controlplane" / "clients"


def main() -> None:
    generate(CLIENTS)
    missing = tools.lacking("node", "npm")
    if missing:
        sys.exit(f"scripts/clients: the TypeScript client stays as it is: {'; '.join(missing)}")
    client_typescript.write(read(), CLIENTS / "typescript")


def generate(folder: Path) -> None:
    """Write what Python alone generates below `folder`. Unnamed, where an operation has no name."""
    told = read()
    client_names.check(told)
    client_python.write(told, folder / "python")
    client_cli.write(told, folder / "python" / "maild_client" / "cli")


def read() -> dict[str, Any]:
    """The document as a client reads it: through JSON, its references followed. Its words lead to no host."""
    told = json.dumps(document(OPERATIONS, _URL, documents(_URL)["contract.md"]))
    return followed(json.loads(_LINK.sub(r"\1", told)))


if __name__ == "__main__":
    main()
