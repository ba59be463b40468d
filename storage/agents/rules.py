"""Rules: what an organization wants of single correspondents and of whole domains, in and out.

A rule's value is a comparison key without its tag (`ada@x.org`), a domain (`x.org`, that alone), or `*.x.org`, all that
is below it. Of the rules that name an address the sternest decides, at whatever level it stands: block, then hold, then
allow. Whom none names is unlisted; what becomes of that, policies say.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from storage.engine.dialect import each_of
from storage.engine.tx import Tx
from storage.records import columns, dump

RULES_MAX = 1000  # of an organization
STERNEST_FIRST = ("block", "hold", "allow")
# What a stranger writes may be longer, and have more; no rule's value is, so it is not looked for.
KEY_CHARS_MAX = 320
DOMAIN_CHARS_MAX = 253
LABELS_BELOW_MAX = 10  # behind `*.`


class RuleRow(NamedTuple):
    """`inbox_id` None: for every inbox. `value`: as the module's head says."""

    id: str
    organization_id: str
    inbox_id: str | None
    direction: str
    action: str
    value: str
    note: str | None
    created_at: int


class Ruling(NamedTuple):
    """What the sternest rule says of an address, and which rule that is (the oldest of equals)."""

    action: str
    rule_id: str


_SELECT = f"SELECT {columns(RuleRow)} FROM rules"
_NAMING = f"""SELECT value, action, id FROM rules
    WHERE organization_id = :organization AND direction = :direction AND value IN {each_of(":values")}
      AND (inbox_id IS NULL OR inbox_id = :inbox)"""


def decide(
    tx: Tx, organization_id: str, inbox_id: str, direction: str, keys: Iterable[str]
) -> Mapping[str, Ruling]:
    """What rules say of these comparison keys, in one statement; whom it does not have is unlisted."""
    values = {key: naming(key) for key in keys}
    asked = {value for several in values.values() for value in several}
    found: dict[str, Ruling] = {}
    for value, action, rule_id in tx.all(
        _NAMING,
        {
            "organization": organization_id,
            "inbox": inbox_id,
            "direction": direction,
            "values": dump(list(asked)),
        },
    ):
        ruling = Ruling(action, rule_id)
        found[value] = _sterner(found.get(value), ruling)
    rulings = {}
    for key, several in values.items():
        ruled: Ruling | None = None
        for value in several:
            if value in found:
                ruled = _sterner(ruled, found[value])
        if ruled is not None:
            rulings[key] = ruled
    return rulings


def _sterner(one: Ruling | None, other: Ruling) -> Ruling:
    if one is None:
        return other
    return min(one, other, key=lambda ruling: (STERNEST_FIRST.index(ruling.action), ruling.rule_id))


def naming(key: str) -> tuple[str, ...]:
    """The values of all rules that would name this comparison key."""
    local, at, domain = key.rpartition("@")
    if not at:
        return ()
    plain = local.partition("+")[0] or local
    values = [f"{plain}@{domain}"] if len(key) <= KEY_CHARS_MAX else []
    values += (f"*.{above}" for above in _above(domain) if len(above) <= DOMAIN_CHARS_MAX)
    if len(domain) <= DOMAIN_CHARS_MAX:
        values.append(domain)
    return tuple(values)


def _above(domain: str) -> Iterator[str]:
    """The domains that it is below, those of at most LABELS_BELOW_MAX labels."""
    if domain.startswith("["):  # RFC 5321 §4.1.3: an address literal is below nothing
        return
    _, *labels = domain.rsplit(".", LABELS_BELOW_MAX)
    for place in range(len(labels)):
        yield ".".join(labels[place:])


def find_same(tx: Tx, row: RuleRow) -> RuleRow | None:
    """The rule that says the same, if there is one."""
    known = tx.one(
        f"""{_SELECT} WHERE organization_id = :organization_id AND direction = :direction AND value = :value
              AND action = :action AND inbox_id IS :inbox_id""",
        row._asdict(),
    )
    return RuleRow(*known) if known else None


def add(tx: Tx, row: RuleRow) -> RuleRow:
    """Write the rule."""
    names = ", ".join(f":{name}" for name in RuleRow._fields)
    tx.run(f"INSERT INTO rules ({columns(RuleRow)}) VALUES ({names})", row._asdict())
    return row


def count(tx: Tx, organization_id: str) -> int:
    """How many rules the organization has."""
    found: int = tx.value("SELECT count(*) FROM rules WHERE organization_id = ?", (organization_id,))
    return found


def list_rules(
    tx: Tx,
    organization_id: str,
    *,
    limit: int,
    direction: str | None = None,
    action: str | None = None,
    value: str | None = None,
    inbox_id: str | None = None,
    before: str | None = None,
) -> list[RuleRow]:
    """Newest first, older than `before`; every filter that is given must hold. `inbox_id`: of this inbox alone."""
    conditions = ["organization_id = :organization"]
    parameters: dict[str, Any] = {"organization": organization_id, "limit": limit}
    for condition, name, given in (
        ("direction = :direction", "direction", direction),
        ("action = :action", "action", action),
        ("value = :value", "value", value),
        ("inbox_id = :inbox", "inbox", inbox_id),
        ("id < :before", "before", before),
    ):
        if given is not None:
            conditions.append(condition)
            parameters[name] = given
    rows = tx.all(f"{_SELECT} WHERE {' AND '.join(conditions)} ORDER BY id DESC LIMIT :limit", parameters)
    return [RuleRow(*row) for row in rows]


def get(tx: Tx, organization_id: str, rule_id: str) -> RuleRow | None:
    """The organization's rule, or None."""
    row = tx.one(f"{_SELECT} WHERE id = ? AND organization_id = ?", (rule_id, organization_id))
    return RuleRow(*row) if row else None


def remove(tx: Tx, organization_id: str, rule_id: str) -> bool:
    """Delete the rule; False when the organization does not have it."""
    return tx.run("DELETE FROM rules WHERE id = ? AND organization_id = ?", (rule_id, organization_id)) == 1
