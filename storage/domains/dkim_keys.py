"""DKIM keys of the domains that we sign for; private keys are sealed before they come here.

One key of a domain and an algorithm is `active` and signs; `published` ones wait for DNS to show them. A domain that
signs has an RSA key, and may have an Ed25519 key besides (RFC 8463).
"""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from storage.engine.tx import Tx
from storage.records import columns

Algorithm = Literal["rsa", "ed25519"]


class DkimKey(NamedTuple):
    """A key pair of a domain. `status`: of states.DKIM_KEY; `created_at`: Unix milliseconds."""

    domain_name: str
    selector: str
    status: str
    private_key: bytes  # PKCS#8 DER, sealed under `context(domain_name, selector)`
    public_key: str  # base64: the p= of the record
    created_at: int
    algorithm: Algorithm = "rsa"


SELECTORS: Mapping[Algorithm, str] = {"rsa": "s", "ed25519": "e"}  # with a number behind it
_SELECT = f"SELECT {columns(DkimKey)} FROM dkim_keys"


def context(domain_name: str, selector: str) -> str:
    """What the sealed private key is bound to."""
    return f"dkim:{domain_name}:{selector}"


def next_selector(algorithm: Algorithm, keys: Iterable[DkimKey]) -> str:
    """The first that comes after those of all these keys, which are of the domain and the algorithm."""
    numbers = [int(key.selector[1:]) for key in keys if key.selector[1:].isdigit()]
    return f"{SELECTORS[algorithm]}{max(numbers, default=0) + 1}"


def insert(tx: Tx, key: DkimKey) -> None:
    """Write a key; a second `active` one of a domain and an algorithm is refused by the store (StoreFailure)."""
    tx.run(f"INSERT INTO dkim_keys ({columns(DkimKey)}) VALUES (?, ?, ?, ?, ?, ?, ?)", key)


def active(tx: Tx, domain_name: str) -> DkimKey | None:
    """The RSA key that signs for the domain; None when it does not have one."""
    return next((key for key in signing(tx, domain_name) if key.algorithm == "rsa"), None)


def signing(tx: Tx, domain_name: str) -> list[DkimKey]:
    """The keys that sign for the domain, one of each algorithm."""
    rows = tx.all(f"{_SELECT} WHERE domain_name = ? AND status = 'active'", (domain_name,))
    return [DkimKey(*row) for row in rows]


def of_domain(tx: Tx, domain_name: str) -> list[DkimKey]:
    """All keys of the domain, those of RSA first, of each algorithm the oldest first."""
    rows = tx.all(
        f"{_SELECT} WHERE domain_name = ? ORDER BY algorithm = 'rsa' DESC, created_at, selector",
        (domain_name,),
    )
    return [DkimKey(*row) for row in rows]


def publish(tx: Tx, key: DkimKey) -> DkimKey:
    """Write a key that is to sign once DNS shows it, and answer it; where one of the algorithm waits already, or came
    under this selector since the key was made, answer only that one."""
    row = tx.one(
        f"""{_SELECT} WHERE domain_name = ? AND algorithm = ? AND (status = 'published' OR selector = ?)
            ORDER BY status = 'published' DESC""",
        (key.domain_name, key.algorithm, key.selector),
    )
    if row is not None:
        return DkimKey(*row)
    insert(tx, key)
    return key


def promote(tx: Tx, domain_name: str, selector: str) -> bool:
    """The published key signs from this commit on, and the private half of the one before, of its algorithm, is
    blanked.

    False when the domain does not have a published key with this selector.
    """
    algorithm = tx.value(
        "SELECT algorithm FROM dkim_keys WHERE domain_name = ? AND selector = ? AND status = 'published'",
        (domain_name, selector),
    )
    if algorithm is None:
        return False
    tx.run(
        """UPDATE dkim_keys SET status = 'retired', private_key = x''
           WHERE domain_name = ? AND algorithm = ? AND status = 'active'""",
        (domain_name, algorithm),
    )
    tx.run(
        """UPDATE dkim_keys SET status = 'active'
           WHERE domain_name = ? AND selector = ? AND status = 'published'""",
        (domain_name, selector),
    )
    return True


def names(tx: Tx) -> list[str]:
    """Every domain that has a key which signs, or waits to."""
    return [
        name for (name,) in tx.all("SELECT DISTINCT domain_name FROM dkim_keys WHERE status <> 'retired'")
    ]


def retire(tx: Tx, domain_name: str) -> None:
    """No key of the domain signs any more, and the private halves are blanked."""
    tx.run(
        "UPDATE dkim_keys SET status = 'retired', private_key = x'' WHERE domain_name = ? AND status <> 'retired'",
        (domain_name,),
    )
