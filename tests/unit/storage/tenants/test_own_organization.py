"""Which organization is the operator's: in its log stands what is done to the whole host."""

from storage.engine.tx import Tx
from storage.ids import Ids
from storage.tenants import organizations
from tests.support.worlds import memory_store
from tests.support.worlds.store import ManualClock


def test_it_is_the_first_also_where_its_clock_was_ahead() -> None:
    """Its id sorts behind that of a customer's, which came when the clock was right."""
    tx, clock = Tx(memory_store.empty()), ManualClock()
    assert organizations.own(tx) is None
    clock.forward(3600)
    own = Ids(clock).new("org")
    organizations.create(tx, own, "Ours", "selfhost", clock.now_ms())
    clock.set_back(3600)
    organizations.create(tx, Ids(clock).new("org"), "A customer", "selfhost", clock.now_ms())
    assert organizations.own(tx) == own
