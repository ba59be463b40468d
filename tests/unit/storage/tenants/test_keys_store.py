"""Keys and who minted them (storage/tenants/keys.py)."""

from storage.engine.tx import Tx
from storage.tenants import keys
from tests.support.laws.vm_steps import steps_of
from tests.support.worlds import memory_store


def mint(tx: Tx, key_id: str, minted_by: str | None, organization_id: str = "org_1") -> None:
    keys.create(
        tx, key_id, key_id, 0,
        organization_id=organization_id, name="", scopes=[], mode="live", minted_by=minted_by,
    )  # fmt: skip


def test_those_minted_since_are_found_through_revoked_ones_whatever_the_clock_said() -> None:
    tx = Tx(memory_store.with_inboxes())
    assert keys.newest(tx) == 0
    for key_id, minter in (("k", None), ("l", "k"), ("z", "l")):
        mint(tx, key_id, minter)
    then = keys.newest(tx)
    for key_id, minter in (("d", "k"), ("e", "d"), ("f", None), ("g", "f")):  # the clock was set back
        mint(tx, key_id, minter)
    mint(tx, "h", "k", "org_2")
    keys.revoke(tx, "org_1", "d", 1)
    assert keys.minted_with(tx, "org_1", "k") == {"l": True, "z": True, "d": False, "e": True}
    assert keys.minted_with(tx, "org_1", "k", then) == {"d": False, "e": True}


def test_those_before_it_are_not_read_for_that() -> None:
    def steps(size: int) -> int:
        conn = memory_store.with_inboxes()
        tx = Tx(conn)
        for number in range(size):
            mint(tx, f"a_{number}", "a")
        then = keys.newest(tx)
        mint(tx, "b", "a")
        return steps_of(conn, lambda: keys.minted_with(tx, "org_1", "a", then))

    assert steps(1000) <= steps(100) + 1
