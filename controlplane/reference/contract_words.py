"""What docs/contract.md says of operations and of members, for `/openapi.json`: its tables.

A table of endpoints has a row for each operation; one whose head is `field` or `parameter` has a row for each member of
a body, an answer or a query. Where several stand before one text, it tells of all of them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_SECTION = re.compile(r"^##+ (?:\d+\. )?(.+)$")
_CELL = re.compile(r"(?<!\\)\|")
_ENDPOINT = re.compile(r"`([A-Z]+ /v1[^`]*)`")
_HEAD = re.compile(r"(?:field|parameter)\b.*")
_MEMBERS = re.compile(r"`\w+`(?:, `\w+`)*")
_LINK = re.compile(r"\]\((?:([\w-]+\.md)?(#[\w-]+)|([\w-]+\.md))\)")
_ELSEWHERE = "as on sends"

TableOf = tuple[str, str]  # the section, and the head of the first column


class OperationWords(NamedTuple):
    """`text`: CommonMark. `url`: where the section is."""

    text: str
    section: str
    url: str


class ContractWords(NamedTuple):
    """`operations`: by method and path. `members`: by table, by name."""

    operations: Mapping[str, OperationWords]
    members: Mapping[TableOf, Mapping[str, str]]

    def of_member(self, tables: Sequence[TableOf], name: str) -> str | None:
        """What the first of these tables that tells of it says."""
        return next((self.members[one][name] for one in tables if name in self.members[one]), None)


def read_contract(contract: str, documents_url: str) -> ContractWords:
    """The words of the contract, whose links lead below `documents_url`, where the documents are."""
    page = f"{documents_url}/contract.md"
    operations: dict[str, OperationWords] = {}
    members: dict[TableOf, dict[str, str]] = {}
    section, table = "", None
    for line in contract.splitlines():
        if heading := _SECTION.match(line):
            section = heading[1]
        if not line.startswith("|"):
            table = None
            continue
        first, *_, last = (cell.strip() for cell in _CELL.split(line)[1:-1])
        words = _sentence(last, documents_url)
        if _HEAD.fullmatch(first):
            table = members.setdefault((section, first), {})
        elif endpoint := _ENDPOINT.fullmatch(first):
            url = f"{page}#{_anchor(section)}"
            operations.setdefault(endpoint[1], OperationWords(words, section, url))
        elif table is not None and words and last != _ELSEWHERE and _MEMBERS.fullmatch(first):
            table |= dict.fromkeys(re.findall(r"\w+", first), words)
    return ContractWords(operations, members)


def _anchor(title: str) -> str:
    """As renderers of Markdown name it."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def _sentence(cell: str, documents_url: str) -> str:
    told = _LINK.sub(lambda link: f"]({documents_url}/{_target(link)})", cell).replace(r"\|", "|")
    if not told:
        return ""
    return f"{told[0].upper()}{told[1:]}" + ("" if told[-1] in ".?" else ".")


def _target(link: re.Match[str]) -> str:
    return link[3] or f"{link[1] or 'contract.md'}{link[2]}"
