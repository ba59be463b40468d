"""What walks over the queue reads its index alone: a look at the row behind each place costs thirty times as much, and
a hundred thousand may wait."""

from collections.abc import Callable
from typing import Any

import pytest

from storage.engine.tx import Tx
from storage.sending import leases, outbound, queue_selection
from storage.sending.leases import FullLines
from storage.sending.queue_selection import QueueSelection
from storage.tenants import overview
from tests.support.worlds import memory_store

FULL = FullLines(destinations=frozenset({"there.test"}))
OF_ONE = QueueSelection(organization_id="org_1", destination="there.test")


@pytest.mark.parametrize(
    "walk",
    [
        outbound.depth,
        lambda tx: leases.lease(tx, "run_1", 1, 10, lambda n, at: n, FULL),
        lambda tx: overview.waiting(tx, "org_1"),
        lambda tx: queue_selection.lines(tx, 10),
        lambda tx: queue_selection.found(tx, "drop", OF_ONE, 1),
        lambda tx: queue_selection.found(tx, "retry", OF_ONE, 1),
    ],
    ids=["depth", "lease", "figures", "lines", "found", "found for a retry"],
)
def test_what_walks_over_the_queue_reads_its_index_alone(walk: Callable[[Tx], Any]) -> None:
    conn = memory_store.empty()
    asked: list[str] = []
    conn.set_trace_callback(asked.append)
    walk(Tx(conn))
    conn.set_trace_callback(None)
    plans = [step for sql in asked for *_, step in conn.execute(f"EXPLAIN QUERY PLAN {sql}")]
    walked = [step for step in plans if "recipients_due" in step]
    assert walked
    assert [step for step in walked if "COVERING INDEX" not in step] == []
