"""Stores that were lived in under older versions: what clients were answered then, they are answered now.

Each of `tests/data/older_stores` is the data folder of a daemon of that schema after all that it could do: mail of many
forms in and out, large and small, bounces, drafts, what is scheduled, labels, suppressions, webhooks, a domain; of the
later one rules, reviews, claims and an audit log, too. `answers.json` has the key, the time, and what GET answered
then, but for what is judged anew at each look (classes of failures, risks).
"""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon import ROOT
from tests.support.running import Running, Template
from tests.support.worlds.store import ManualClock

STORES = sorted((ROOT / "tests" / "data" / "older_stores").glob("*.zip"))


def lost(then: Any, now: Any, at: str) -> list[str]:
    """Where an answer of now does not say what it said then; it may say more."""
    if at.endswith("/context"):  # a line more in what a model reads moves all others, and has another hash
        return [f"{at}: {line!r} is gone" for line in said(then) - said(now)]
    if isinstance(then, dict) and isinstance(now, dict):
        gone = [f"{at}.{name} is gone" for name in then.keys() - now.keys()]
        return gone + [
            fault
            for name in then.keys() & now.keys()
            for fault in lost(then[name], now[name], f"{at}.{name}")
        ]
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        return [
            fault
            for place, pair in enumerate(zip(then, now, strict=True))
            for fault in lost(*pair, f"{at}[{place}]")
        ]
    return [] if then == now else [f"{at}: {then!r} has become {now!r}"]


def said(context: dict[str, Any]) -> set[str]:
    """The lines of a context but its fences, which have its hash."""
    return {line for line in context["text"].splitlines() if "<<<" not in line and not line.endswith(">>>")}


@pytest.mark.parametrize("archive", STORES, ids=lambda path: path.stem)
async def test_what_clients_were_answered_they_are_answered_now(archive: Path, tmp_path: Path) -> None:
    folder = tmp_path / "older"
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)
    kept = json.loads((folder / "answers.json").read_text("utf-8"))
    template = Template(folder, kept["organizationId"], kept["apiKey"], kept["testKey"])
    maild = await Running.start(template, tmp_path / "data", clock=ManualClock(kept["atMs"]))
    try:
        faults = []
        for path, then in kept["answers"].items():
            faults += lost(then, (await maild.api.get(path)).data, path)
    finally:
        await maild.stop()
    assert len(kept["answers"]) > 150
    assert faults == []
