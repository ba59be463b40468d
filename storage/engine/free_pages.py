"""Pages of the database that nothing is in any more: what is deleted leaves them, what is written takes them again.

The file becomes smaller when what lies at its end is moved into free pages. A database can do that which was told so
before its first table was made (`MOVABLE_PAGES`), for each page then says who points to it; another one is written anew
(`storage.upkeep.compaction`).
"""

from typing import NamedTuple

from storage.engine.tx import Tx

MOVABLE_PAGES = "PRAGMA auto_vacuum = INCREMENTAL"


class FreePages(NamedTuple):
    """`free` of `pages` are, each of `page_bytes`. `can_move`: the file can become smaller."""

    free: int
    pages: int
    page_bytes: int
    can_move: bool


def free_pages(tx: Tx) -> FreePages:
    """As of the last commit."""
    free, pages, page_bytes, kind = (
        tx.value(f"PRAGMA {name}") for name in ("freelist_count", "page_count", "page_size", "auto_vacuum")
    )
    return FreePages(free, pages, page_bytes, bool(kind))


def cutting(pages: int) -> str:
    """The script that cuts up to so many pages off the file; the file itself is shorter after the next checkpoint."""
    return f"PRAGMA incremental_vacuum({pages})"
