"""What sessions with mail hosts were like, counted by day and domain until it is reported (RFC 8460), and which reports
were sent.

A domain has ROWS_MAX rows a day, and beyond them one for each type of policy and result: whoever runs its hosts decides
what differs between them.
"""

from collections.abc import Sequence
from typing import NamedTuple

from storage.clock import DAY_MS
from storage.engine.tx import Tx
from storage.records import columns

ROWS_MAX = 100
KEEP_MS = 2 * DAY_MS  # after their day: RFC 8460 §5.5 asks for attempts of 24 hours
SENT_KEEP_MS = 60 * DAY_MS  # longer than mail waits in the queue
_PAGE = 1000


class TlsSession(NamedTuple):
    """What is told of a session. `policy`: JSON; `result_type`: of RFC 8460 §4.3, "" where TLS came about as the policy
    wants it: then nothing follows."""

    policy_type: str
    policy: str
    result_type: str = ""
    mx_host: str = ""
    receiving_ip: str = ""
    sending_ip: str = ""
    reason: str = ""


_FIELDS = columns(TlsSession)
_WHICH = " AND ".join(f"{name} = :{name}" for name in ("day", "domain", *TlsSession._fields))
_COUNT = f"UPDATE tls_sessions SET sessions = sessions + 1 WHERE {_WHICH}"
_TOLD = ("policy", "mx_host", "receiving_ip", "sending_ip", "reason")
_ADD = f"""INSERT INTO tls_sessions (day, domain, {_FIELDS}, sessions)
    SELECT :day, :domain,
      {", ".join(f"CASE WHEN is_full THEN '' ELSE :{n} END" if n in _TOLD else f":{n}" for n in TlsSession._fields)},
      1
    FROM (SELECT count(*) >= :rows_max AS is_full
          FROM (SELECT 1 FROM tls_sessions WHERE day = :day AND domain = :domain LIMIT :rows_max))
    WHERE true
    ON CONFLICT (day, domain, {_FIELDS}) DO UPDATE SET sessions = sessions + 1"""


def note(tx: Tx, day: int, domain: str, session: TlsSession) -> None:
    """Count a session with a host of the domain (an A-label). `day`: since 1970."""
    values = {"day": day, "domain": domain, **session._asdict()}
    if not tx.run(_COUNT, values):
        tx.run(_ADD, {**values, "rows_max": ROWS_MAX})


def unreported(tx: Tx, before_day: int, after: tuple[int, str] = (-1, "")) -> list[tuple[int, str]]:
    """Days and domains of sessions before that day, in order, the next ones after `after`; [] at the end."""
    rows = tx.all(
        """SELECT DISTINCT day, domain FROM tls_sessions
           WHERE day < :before AND (day, domain) > (:day, :domain) ORDER BY day, domain LIMIT :limit""",
        {"before": before_day, "day": after[0], "domain": after[1], "limit": _PAGE},
    )
    return [(row[0], row[1]) for row in rows]


def of(tx: Tx, day: int, domain: str) -> list[tuple[TlsSession, int]]:
    """The domain's sessions of a day, and how many of each; always in the same order."""
    rows = tx.all(
        f"SELECT {_FIELDS}, sessions FROM tls_sessions WHERE day = ? AND domain = ? ORDER BY {_FIELDS}",
        (day, domain),
    )
    return [(TlsSession(*row[:-1]), row[-1]) for row in rows]


def forget(tx: Tx, day: int, domain: str) -> None:
    """What there was to report of it was reported, or nobody wants to know."""
    tx.run("DELETE FROM tls_sessions WHERE day = ? AND domain = ?", (day, domain))


def mark_sent(tx: Tx, day: int, domain: str, destination: str, message_id: str | None = None) -> bool:
    """Note that a report went to that URI, as this message; False where one did before."""
    return (
        tx.run(
            """INSERT INTO tls_reports_sent (day, domain, destination, message_id) VALUES (?, ?, ?, ?)
               ON CONFLICT DO NOTHING""",
            (day, domain, destination, message_id),
        )
        == 1
    )


def sent(tx: Tx, day: int, domain: str) -> Sequence[str]:
    """The URIs that have the domain's report of a day."""
    rows = tx.all("SELECT destination FROM tls_reports_sent WHERE day = ? AND domain = ?", (day, domain))
    return [row[0] for row in rows]
