"""What docs/contract.md says of each operation, for `/openapi.json`: the row of a table that begins with the endpoint,
and the section that it stands in."""

import re
from collections.abc import Mapping
from typing import NamedTuple

_SECTION = re.compile(r"^### (.+)$")
_ROW = re.compile(r"^\| `([A-Z]+ /v1[^`]*)` (?:\| [^|]* )?\| (.+) \|$")  # between them, the scope
_LINK = re.compile(r"\]\((?:([\w-]+\.md)?(#[\w-]+)|([\w-]+\.md))\)")


class ContractRow(NamedTuple):
    """`text`: CommonMark, whose links lead to the documents at `url`'s host; `section` is at `url`."""

    text: str
    section: str
    url: str


def contract_rows(contract: str, documents_url: str) -> Mapping[str, ContractRow]:
    """Method and path → its first row in the contract, whose documents lie below `documents_url`."""
    page = f"{documents_url}/contract.md"
    rows: dict[str, ContractRow] = {}
    section = ""
    for line in contract.splitlines():
        if heading := _SECTION.match(line):
            section = heading[1]
        elif row := _ROW.match(line):
            url = f"{page}#{_anchor(section)}"
            rows.setdefault(row[1], ContractRow(_sentence(row[2], documents_url), section, url))
    return rows


def _anchor(title: str) -> str:
    """As renderers of Markdown name it."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _sentence(cell: str, documents_url: str) -> str:
    told = _LINK.sub(lambda link: f"]({documents_url}/{_target(link)})", cell).replace(r"\|", "|")
    return f"{told[0].upper()}{told[1:]}."


def _target(link: re.Match[str]) -> str:
    return link[3] or f"{link[1] or 'contract.md'}{link[2]}"
