"""What docs/audit.md tells a stranger is enough to check an export."""

import re
from collections.abc import Callable
from typing import Any

from storage.audit.acts import Act
from storage.clock import DAY_MS
from tests.conftest import Start
from tests.support.daemon import ROOT
from tests.support.running import Running
from tests.support.worlds.store import ManualClock

PAGE = (ROOT / "docs" / "audit.md").read_text("utf-8")
Check = Callable[[list[dict[str, Any]], str], int | None]


def told() -> Check:
    """The function of the page, as a reader would run it."""
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len([line for line in program.splitlines() if line.strip()]) <= 21
    found: dict[str, Any] = {}
    exec(program, found)
    check: Check = found["check"]
    return check


async def export(maild: Running) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    while page := (
        await maild.api.get("/v1/audit", after=str(rows[-1]["seq"] if rows else 0), limit="5")
    ).data:
        rows += page
    return rows


async def chain_key(maild: Running) -> str:
    shown = await maild.operate(maild.store.show_chain_key, None, maild.organization_id)
    key: str = shown["chainKey"]
    return key


async def test_an_export_is_checked_by_the_page_alone(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock, storage={"keep_audit_days": 3, "reserve_percent": 0})
    check = told()
    await maild.api.post("/v1/agents", {"name": "a"})
    await maild.api.post("/v1/inboxes", {"username": "gr-e", "name": "Grüße \u2028 😀"})
    rows, key = await export(maild), await chain_key(maild)
    assert check(rows, key) is None and rows[0]["seq"] == 1
    clock.forward(30 * DAY_MS / 1000)
    await maild.api.post("/v1/agents", {"name": "b"})
    await maild.daemon.retention.round()
    rows = await export(maild)
    assert rows[0]["seq"] > 1 and check(rows, key) is None
    assert check(rows, "00" * 32) == rows[0]["seq"]
    for at in range(len(rows) - 1):
        spoiled = [dict(row) for row in rows]
        spoiled[at]["actor"] = "key_other"
        assert check(spoiled, key) == rows[at]["seq"]
    unsealed = [row for row in rows if row["type"] != "audit.sealed"]
    assert check(unsealed, key) == rows[0]["seq"] - 1
    longer = [*rows, *(await export_after(maild, rows))]
    for at in range(1, len(longer) - 1):
        if longer[at]["type"] != "audit.sealed":
            assert check(longer[:at] + longer[at + 1 :], key) == longer[at]["seq"]


async def export_after(maild: Running, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One more row at least."""
    await maild.api.post("/v1/agents", {"name": "c"})
    found: list[dict[str, Any]] = (await maild.api.get("/v1/audit", after=str(rows[-1]["seq"]))).data
    return found


def test_the_page_has_every_act() -> None:
    table = PAGE.split("| type | subject |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| (`[^|]*`) \|", table, re.MULTILINE)
    types = [name for row in rows for name in re.findall(r"`([\w.]+)`", row)]
    assert sorted(types) == sorted(one.value for one in Act)
