"""A window of time as a span of ids: messages are found by id, and asked for by `created_at`.

Both are of one moment: an id is made within milliseconds of the time that its message bears. But after a clock was set
back by a day at most, ids run ahead of it until it has caught up (storage.ids). How far the two were ever apart is kept
for each organization, and a window is so much wider in ids. What lies in it is for `created_at` to say: the ids only
bound the search.
"""

from storage.engine.dialect import greatest
from storage.engine.tx import Tx
from storage.ids import first_at, made_at

MARGIN_MS = 60_000  # apart so far without being noted
_NOTE = f"""INSERT INTO id_drifts (organization_id, drift_ms) VALUES (?, ?) ON CONFLICT (organization_id)
    DO UPDATE SET drift_ms = {greatest("drift_ms", "excluded.drift_ms")}"""


def note(tx: Tx, organization_id: str, message_id: str, created_at: int) -> None:
    """A message was inserted."""
    drift_ms = abs(made_at(message_id) - created_at)
    if drift_ms >= MARGIN_MS:
        tx.run(_NOTE, (organization_id, drift_ms))


def between(
    tx: Tx, organization_id: str, since_ms: int | None, until_ms: int | None
) -> tuple[str | None, str | None]:
    """The ids of all messages that were created from `since_ms` on and before `until_ms` lie from the first on and
    before the last. None: no bound."""
    if since_ms is None and until_ms is None:
        return None, None
    wider_ms = MARGIN_MS + drift_ms(tx, organization_id)
    first = None if since_ms is None else first_at("msg", since_ms - wider_ms)
    return first, None if until_ms is None else first_at("msg", until_ms + wider_ms)


def drift_ms(tx: Tx, organization_id: str) -> int:
    """How far ids and times of its messages were ever apart; 0: never so far that it was noted."""
    found: int | None = tx.value(
        "SELECT drift_ms FROM id_drifts WHERE organization_id = ?", (organization_id,)
    )
    return found or 0
