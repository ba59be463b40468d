"""What those may name who wait for something: lists of what is not there are empty, and a wait would be in vain."""

from collections.abc import Mapping

from controlplane.contract.refusals import Refusal
from controlplane.operations.operation import Call
from storage.engine.tx import Tx
from storage.mail import inboxes


def require_reach(tx: Tx, call: Call, named: Mapping[str, str | None]) -> str | None:
    """The inbox that what is named lies in; None where nothing is named. Refusal for an inbox or a thread that is not
    there, or out of a bound key's reach. `named`: kind → id, or None where none is named. A deactivated inbox is there;
    what is of another inbox than the one that is named is not."""
    found = None
    for kind, asked in named.items():
        if asked is None:
            continue
        inbox_id = inboxes.owner_of(tx, kind, call.organization_id, asked)
        if inbox_id is None:
            raise Refusal(f"{kind}_not_found")
        call.principal.confine(inbox_id)
        if named.get("inbox") not in (None, inbox_id):
            raise Refusal(f"{kind}_not_found", f"This {kind} is of another inbox.")
        found = inbox_id
    return found
