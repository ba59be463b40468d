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


def test_those_minted_behind_an_id_are_found_through_revoked_ones() -> None:
    tx = Tx(memory_store.with_inboxes())
    for key_id, minter in (
        ("a", None),
        ("b", "a"),
        ("c", "b"),
        ("d", "a"),
        ("e", "d"),
        ("f", None),
        ("g", "f"),
    ):
        mint(tx, key_id, minter)
    mint(tx, "h", "a", "org_2")
    keys.revoke(tx, "org_1", "d", 1)
    assert keys.minted_with(tx, "org_1", "a") == {"b": True, "c": True, "d": False, "e": True}
    assert keys.minted_with(tx, "org_1", "a", "c") == {"d": False, "e": True}
    assert keys.newest(tx, "org_1") == "g"
    assert keys.newest(tx, "org_3") == ""


def test_those_before_it_are_not_read_for_that() -> None:
    def steps(size: int) -> int:
        conn = memory_store.with_inboxes()
        tx = Tx(conn)
        for number in range(size):
            mint(tx, f"a_{number}", "a")
        mint(tx, "b", "a")
        return steps_of(conn, lambda: keys.minted_with(tx, "org_1", "a", "a_~"))

    assert steps(1000) <= steps(100) + 1
