"""An answer that says itself what it is about: the message is done in the transaction that stores the answer.

So both are there after a crash, or neither is.
"""

from storage.agents import claims
from storage.engine.tx import Tx
from storage.mail import messages
from storage.publishing.change_events import ChangeEvents
from storage.records import load
from storage.searching.labels import UNREAD


def complete(tx: Tx, organization_id: str, claim_id: str, told: ChangeEvents) -> None:
    """End the claim, which lives (`guards.claim_is_live`), as done; its message is not unread any more."""
    claim = claims.get(tx, organization_id, claim_id)
    assert claim is not None
    claims.done(tx, claim)
    message = messages.get(tx, organization_id, claim.message_id)
    if message is not None and messages.is_unread(message):
        labels = [label for label in load(message.labels) if label != UNREAD]
        messages.set_labels(tx, message, labels)
        told.message_updated(tx, message, labels)
