"""Who decides what is held, and says what is to be held (docs/contract.md, "Reviews").

An organization's keys do, those that hold the scopes; or members and the operator alone, where the operator has said so
(`maild org reviewers`). Then no key loosens what keeps it back.
"""

from controlplane.contract.refusals import Refusal
from storage.engine.tx import Tx
from storage.tenants import organizations

KEYS, MEMBERS = "keys", "members"


def refuse_keys(tx: Tx, organization_id: str) -> None:
    """Refusal `member_required` where keys may not."""
    organization = organizations.get(tx, organization_id)
    if organization is not None and organization.reviewers == MEMBERS:
        raise Refusal("member_required")
