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


def test_active_ones_are_found_by_who_minted_them() -> None:
    tx = Tx(memory_store.with_inboxes())
    for key_id, minter in (
        ("a", None),
        ("b", "a"),
        ("c", "b"),
        ("d", "c"),
        ("e", "a"),
        ("f", "e"),
        ("g", None),
    ):
        mint(tx, key_id, minter)
    mint(tx, "foreign", "a", "org_2")
    keys.revoke(tx, "org_1", "e", 1)  # it mints no more
    assert keys.active_minted_by(tx, "org_1", "a") == ["b", "c", "d"]
    assert keys.active_minted_by(tx, "org_1", "g") == []


def test_others_are_not_read_for_that() -> None:
    def steps(size: int) -> int:
        conn = memory_store.with_inboxes()
        tx = Tx(conn)
        for number in range(size):
            mint(tx, f"revoked_{number}", "a")
            keys.revoke(tx, "org_1", f"revoked_{number}", 1)
            mint(tx, f"other_{number}", "z")
        mint(tx, "b", "a")
        return steps_of(conn, lambda: keys.active_minted_by(tx, "org_1", "a"))

    assert steps(1000) <= steps(100) + 1
