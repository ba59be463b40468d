"""Codes and links of mail, each handed out once: the row is written before the answer, and who writes it first has it.

The row goes with its message. What the code is, it does not say: the mail does.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from storage.engine.dialect import each_of, unindexed
from storage.engine.tx import Tx
from storage.records import dump, load, verified_domain
from storage.visibility import VISIBLE


class CodeMail(NamedTuple):
    """What of a message that came in may hold a code. `words` are of the field `view`, as GET shows it. `org_domains`:
    domain → that of its organization, as far as known."""

    message_id: str
    mode: str
    subject: str
    words: str
    view: str
    verified_domain: str | None
    org_domains: dict[str, str]


_THESE = f"m.id IN {each_of('?')} AND {unindexed('m.organization_id')} = ?"
_SIZES = f"""SELECT m.id, coalesce(length(m.text_body), 0) + coalesce(length(m.extracted_apart), 0)
    FROM messages m WHERE {_THESE} AND m.{VISIBLE}"""
_MAILS = f"""SELECT m.id, m.mode, m.subject, m.extracted_text, m.text_body, m.auth, m.org_domains
    FROM messages m WHERE {_THESE} AND m.{VISIBLE}"""


def sizes(tx: Tx, organization_id: str, message_ids: Sequence[str]) -> list[tuple[str, int]]:
    """Those of these messages that the organization has, in their order, each with how many characters `mails` would
    read of it at most."""
    rows = dict(tx.all(_SIZES, (dump(list(message_ids)), organization_id)))
    return [(one, rows[one]) for one in message_ids if one in rows]


def mails(tx: Tx, organization_id: str, message_ids: Sequence[str]) -> list[CodeMail]:
    """Those of these messages that the organization has, in their order."""
    rows = {row[0]: row for row in tx.all(_MAILS, (dump(list(message_ids)), organization_id))}
    return [_mail(rows[one]) for one in message_ids if one in rows]


def _mail(row: tuple[Any, ...]) -> CodeMail:
    extracted, text, auth, org_domains = row[3:]
    is_quoted_whole = extracted == "" and bool(text)  # nothing new stands in it: look at all of it
    return CodeMail(
        message_id=row[0],
        mode=row[1],
        subject=row[2],
        words=(text if is_quoted_whole or extracted is None else extracted) or "",
        view="textBody" if is_quoted_whole else "extractedText",
        verified_domain=verified_domain(auth),
        org_domains=load(org_domains) if org_domains else {},
    )


def unclaimed(tx: Tx, message_ids: Sequence[str]) -> list[str]:
    """Those of these messages whose code or link nobody has, in their order."""
    rows = tx.all(
        f"SELECT message_id FROM code_claims WHERE message_id IN {each_of('?')}", (dump(message_ids),)
    )
    taken = {message_id for (message_id,) in rows}
    return [one for one in message_ids if one not in taken]


def taken_by(tx: Tx, organization_id: str, key_id: str, after: str) -> list[str]:
    """The messages with ids behind that whose code or link the key has."""
    rows = tx.all(
        f"""SELECT message_id FROM code_claims
            WHERE message_id > ? AND {unindexed("organization_id")} = ? AND {unindexed("key_id")} = ?""",
        (after, organization_id, key_id),
    )
    return [message_id for (message_id,) in rows]


def claim(
    tx: Tx, claim_id: str, organization_id: str, key_id: str, message_id: str, kind: str, now_ms: int
) -> bool:
    """Is the message's code, or link, the caller's? False: another has it."""
    return (
        tx.run(
            """INSERT INTO code_claims (message_id, id, organization_id, key_id, kind, created_at)
               VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (message_id) DO NOTHING""",
            (message_id, claim_id, organization_id, key_id, kind, now_ms),
        )
        == 1
    )
