"""What docs/contract.md says of operations, of members and of parameters, for `/openapi.json`: its tables.

A table of endpoints has a row for each operation. One whose head is `field`, `field of …` or `parameter` has a row for
each member of an answer or a body, or parameter of a query; where several stand before one text, it tells of each of
them. `a.b` is the member `b` of `a`.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_SECTION = re.compile(r"^##+ (?:\d+\. )?(.+)$")
_CELL = re.compile(r"(?<!\\)\|")
_ENDPOINT = re.compile(r"`([A-Z]+ /v1[^`]*)`")
_HEAD = re.compile(r"field(?: of (?:an? |the )?`?(?P<whole>\w+)`?)?|(?P<query>parameter)")
_NAMES = re.compile(r"`[\w.]+`(?:, `[\w.]+`)*")
_LINK = re.compile(r"\]\((?:([\w-]+\.md)?(#[\w-]+)|([\w-]+\.md))\)")


class OperationWords(NamedTuple):
    """`text`: CommonMark. `url`: where the section is."""

    text: str
    section: str
    url: str


class ContractWords(NamedTuple):
    """`operations`: by method and path. `members`: by table, by name. A table is called after its section, and after
    what its head names, if anything: `Message`, `Message/recipients`, `Messages/parameter`."""

    operations: Mapping[str, OperationWords]
    members: Mapping[str, Mapping[str, str]]

    def of_member(self, tables: Sequence[str], name: str) -> str | None:
        """What the first of these tables that tells of it says."""
        return next((self.members[one][name] for one in tables if name in self.members[one]), None)


def read_contract(contract: str, documents_url: str) -> ContractWords:
    """The words of the contract, whose links lead below `documents_url`, where the documents are."""
    page = f"{documents_url}/contract.md"
    operations: dict[str, OperationWords] = {}
    members: defaultdict[str, dict[str, str]] = defaultdict(dict)
    section, table = "", None
    for line in contract.splitlines():
        if heading := _SECTION.match(line):
            section = heading[1]
        if not line.startswith("|"):
            table = None
            continue
        first, *_, last = (cell.strip() for cell in _CELL.split(line)[1:-1])
        words = _sentence(last, documents_url)
        if head := _HEAD.fullmatch(first):
            table = _of(section, head["whole"] or head["query"])
        elif endpoint := _ENDPOINT.fullmatch(first):
            url = f"{page}#{_anchor(section)}"
            operations.setdefault(endpoint[1], OperationWords(words, section, url))
        elif table is not None and _NAMES.fullmatch(first):
            for name in re.findall(r"[\w.]+", first):
                whole, _, member = name.rpartition(".")
                members[_of(section, whole) if whole else table][member] = words
    return ContractWords(operations, dict(members))


def _of(section: str, whole: str | None) -> str:
    return f"{section}/{whole}" if whole else section


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
