"""A store in memory, for tests of single statements, and rows to put into it."""

import sqlite3
from importlib import resources
from typing import Any

from storage.engine.tx import Tx
from storage.records import MessageRow, ThreadRow, columns
from storage.tenants import organizations

INBOXES = ("inb_1", "inb_2")


class MemoryStore(sqlite3.Connection):
    """Closed with whoever holds it: one that is left open is told by Python 3.13."""

    def __del__(self) -> None:
        self.close()


def empty() -> sqlite3.Connection:
    """No row in it, and foreign keys not enforced: a test needs no owners of its rows."""
    conn = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False, factory=MemoryStore)
    conn.executescript((resources.files("storage") / "schema.sql").read_text("utf-8"))
    return conn


def with_organizations(*organization_ids: str) -> Tx:
    tx = Tx(empty())
    for one in organization_ids:
        organizations.create(tx, one, "Acme", "selfhost", 0)
    return tx


def with_inboxes() -> sqlite3.Connection:
    """INBOXES, of the organization org_1."""
    conn = empty()
    conn.execute(
        """INSERT INTO organizations (id, name, plan, sending_status, created_at)
           VALUES ('org_1', '', '', 'approved', 1)"""
    )
    for inbox_id in INBOXES:
        conn.execute(
            """INSERT INTO inboxes (id, organization_id, address, username, domain, created_at, updated_at)
               VALUES (?, 'org_1', ?, ?, 'd', 1, 1)""",
            (inbox_id, f"{inbox_id}@d", inbox_id),
        )
    return conn


def message_row(number: int = 1, **fields: Any) -> MessageRow:
    """An empty message that came into inb_1, but for these fields."""
    given: dict[str, Any] = dict.fromkeys(MessageRow._fields)
    given |= {
        name: "[]" for name in ("to_addresses", "cc_addresses", "bcc_addresses", "reference_ids", "labels")
    }
    given |= {name: "" for name in ("from_address", "subject", "snippet", "envelope_from")}
    numbers = ("is_auto_reply", "is_spam", "size_bytes", "header_length", "created_at", "unsubscribe")
    given |= dict.fromkeys(numbers, 0)
    given |= {"id": f"msg_{number:03}", "organization_id": "org_1", "inbox_id": "inb_1", "thread_id": "thd_1"}
    given |= {"direction": "inbound", "mode": "live", "status": "received"}
    return MessageRow(**{**given, **fields})


def insert_thread(tx: Tx, row: ThreadRow) -> None:
    marks = ", ".join("?" for _ in row)
    tx.run(f"INSERT INTO threads ({columns(ThreadRow)}, base_subject) VALUES ({marks}, '')", row)
