"""Policies: one document for an organization, one for each inbox, replaced as a whole, with a version that counts its
changes.

What holds for an inbox is, member by member, the stricter of what both say; a level without a document says nothing.
How strict a word is, says its place in these lists. What the API takes and shows of it stands in
`controlplane/contract/work/policies.py`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from storage.engine.dialect import holds_word, member
from storage.engine.tx import Tx
from storage.records import load

# From the mildest on.
RECIPIENTS = ("any", "allowlist", "participants")
REVIEW = ("off", "first_time", "external", "all")
REPLY_TO = ("honor", "verified")
UNLISTED = ("accept", "hold", "refuse")
EXPIRES_AFTER_S = 172_800

# What an UPDATE of `inboxes` answers besides: is its mail work? Without a policy that is one step in an index.
HAS_WORK = "coalesce((SELECT has_work FROM policies WHERE owner_id = inboxes.id), 0)"
# Of an inbox `i`: is its mail looked at before it is stored? In one where nobody has said anything, two steps.
_HOLDS_RISK = f"""(SELECT {holds_word(member("document", "inbound.hold"), "high_risk")} FROM policies
    WHERE owner_id = {{}})"""
LOOKS_FIRST = (
    f"coalesce({_HOLDS_RISK.format('i.id')}, 0) OR coalesce({_HOLDS_RISK.format('i.organization_id')}, 0)"
)
NO_VERSION = 0


class OutboundPolicy(NamedTuple):
    """Of what is sent. `hold_on`: warnings for which a message waits for a review. `first_time_daily`: recipients never
    written to from the inbox, a day; None: as many as one likes."""

    recipients: str = "any"
    review: str = "off"
    hold_on: frozenset[str] = frozenset()
    first_time_daily: int | None = None
    reply_to: str = "honor"


class InboundPolicy(NamedTuple):
    """Of what comes in. `hold`: what of it waits for a review. `unlisted`: what becomes of mail that no rule names."""

    hold: frozenset[str] = frozenset()
    unlisted: str = "accept"


class WorkPolicy(NamedTuple):
    """`max_attempts`: claims of a message that may end undone. `requires_claim`: answers need a live claim."""

    is_enabled: bool = False
    max_attempts: int = 5
    requires_claim: bool = False


class ReviewPolicy(NamedTuple):
    """How long a review waits for somebody who decides, and whom a digest tells of those that wait."""

    expires_after_s: int = EXPIRES_AFTER_S
    notify: Sequence[str] = ()


class Policy(NamedTuple):
    """What one document says, or what holds."""

    outbound: OutboundPolicy = OutboundPolicy()
    inbound: InboundPolicy = InboundPolicy()
    work: WorkPolicy = WorkPolicy()
    review: ReviewPolicy = ReviewPolicy()


NO_POLICY = Policy()
# docs/agents/safety.md says why.
RECOMMENDED = Policy(outbound=OutboundPolicy(hold_on=frozenset({"secret", "recipient_from_content"})))


class Levels(NamedTuple):
    """What the organization's document says and what the inbox's does; None: there is none. `ruled`: the directions for
    which the organization has rules, of whatever inbox."""

    organization: Policy | None = None
    inbox: Policy | None = None
    ruled: frozenset[str] = frozenset()

    @property
    def effective(self) -> Policy:
        """What holds: the stricter of both, member by member."""
        if self.organization is None:
            return self.inbox or NO_POLICY
        return _stricter(self.organization, self.inbox) if self.inbox else self.organization

    @property
    def recipients(self) -> frozenset[str]:
        """What is asked of recipients, by either level: all of it holds, for none of it includes another."""
        return frozenset(
            level.outbound.recipients for level in (self.organization, self.inbox) if level is not None
        )


UNGOVERNED = Levels()
_HAS_RULES = """SELECT '{0}', NULL WHERE EXISTS
    (SELECT 1 FROM rules WHERE organization_id = :organization AND direction = '{0}')"""
_LEVELS = f"""SELECT owner_id, document FROM policies
    WHERE owner_id IN (:organization, :inbox) AND organization_id = :organization
    UNION ALL {_HAS_RULES.format("inbound")} UNION ALL {_HAS_RULES.format("outbound")}"""


class PolicyRow(NamedTuple):
    """`document`: JSON, as it was given, with every member that documents had then."""

    version: int
    document: str


def of_owner(tx: Tx, organization_id: str, owner_id: str) -> PolicyRow | None:
    """The own policy of an inbox, or of the organization; None: it never had one."""
    row = tx.one(
        "SELECT version, document FROM policies WHERE owner_id = ? AND organization_id = ?",
        (owner_id, organization_id),
    )
    return PolicyRow(*row) if row else None


def levels(tx: Tx, organization_id: str, inbox_id: str) -> Levels:
    """What both levels say of the inbox, and whether rules are to be asked at all: all that mail which nobody has said
    anything of asks, in one statement."""
    rows = tx.all(_LEVELS, {"organization": organization_id, "inbox": inbox_id})
    if not rows:
        return UNGOVERNED
    said = {owner_id: policy_of(load(document)) for owner_id, document in rows if document is not None}
    ruled = frozenset(direction for direction, document in rows if document is None)
    return Levels(said.get(organization_id), said.get(inbox_id), ruled)


def effective(tx: Tx, organization_id: str, inbox_id: str) -> Policy:
    """What holds for the inbox."""
    return levels(tx, organization_id, inbox_id).effective


def replace(
    tx: Tx, organization_id: str, owner_id: str, version: int, document: str, has_work: bool, now_ms: int
) -> bool:
    """Write the document in place of that version (NO_VERSION: there was none); False where it is another by now."""
    given = {
        "owner": owner_id, "organization": organization_id, "version": version, "document": document,
        "has_work": int(has_work), "now_ms": now_ms,
    }  # fmt: skip
    if version == NO_VERSION:
        statement = """INSERT INTO policies (owner_id, organization_id, version, document, has_work, updated_at)
            VALUES (:owner, :organization, :version + 1, :document, :has_work, :now_ms)
            ON CONFLICT (owner_id) DO NOTHING"""
    else:
        statement = """UPDATE policies SET version = version + 1, document = :document, has_work = :has_work,
              updated_at = :now_ms
            WHERE owner_id = :owner AND organization_id = :organization AND version = :version"""
    return tx.run(statement, given) == 1


def has_work(tx: Tx, organization_id: str) -> bool:
    """Is the mail of any inbox of the organization work?"""
    statement = "SELECT 1 FROM policies WHERE organization_id = ? AND has_work = 1 LIMIT 1"
    return tx.value(statement, (organization_id,)) is not None


def policy_of(document: dict[str, Any]) -> Policy:
    """What a document says. One of an earlier release may lack members: they are their defaults."""
    outbound, inbound = document.get("outbound"), document.get("inbound")
    work, review = document.get("work"), document.get("review")
    return Policy(
        outbound=OutboundPolicy(
            outbound["recipients"],
            outbound["review"],
            frozenset(outbound["holdOn"]),
            outbound["firstTimeDaily"],
            outbound["replyTo"],
        )
        if outbound
        else OutboundPolicy(),
        inbound=InboundPolicy(frozenset(inbound["hold"]), inbound["unlisted"])
        if inbound
        else InboundPolicy(),
        work=WorkPolicy(work["enabled"], work["maxAttempts"], work["requireClaim"]) if work else WorkPolicy(),
        review=ReviewPolicy(review["expiresAfterSeconds"], review["notify"]) if review else ReviewPolicy(),
    )


def document_of(policy: Policy) -> dict[str, Any]:
    """What `policy_of` reads: every member of it, named as the API names them."""
    outbound, inbound, work, review = policy
    return {
        "outbound": {
            "recipients": outbound.recipients,
            "review": outbound.review,
            "holdOn": sorted(outbound.hold_on),
            "firstTimeDaily": outbound.first_time_daily,
            "replyTo": outbound.reply_to,
        },
        "inbound": {"hold": sorted(inbound.hold), "unlisted": inbound.unlisted},
        "work": {
            "enabled": work.is_enabled,
            "maxAttempts": work.max_attempts,
            "requireClaim": work.requires_claim,
        },
        "review": {"expiresAfterSeconds": review.expires_after_s, "notify": list(review.notify)},
    }


def _stricter(ours: Policy, theirs: Policy) -> Policy:
    """`theirs` is the inbox's, which alone says whether mail is work."""
    one, other = ours.outbound, theirs.outbound
    budgets = [budget for budget in (one.first_time_daily, other.first_time_daily) if budget is not None]
    return Policy(
        outbound=OutboundPolicy(
            max(one.recipients, other.recipients, key=RECIPIENTS.index),
            max(one.review, other.review, key=REVIEW.index),
            one.hold_on | other.hold_on,
            min(budgets, default=None),
            max(one.reply_to, other.reply_to, key=REPLY_TO.index),
        ),
        inbound=InboundPolicy(
            ours.inbound.hold | theirs.inbound.hold,
            max(ours.inbound.unlisted, theirs.inbound.unlisted, key=UNLISTED.index),
        ),
        work=theirs.work,
        review=ReviewPolicy(
            min(ours.review.expires_after_s, theirs.review.expires_after_s),
            tuple(dict.fromkeys((*ours.review.notify, *theirs.review.notify))),
        ),
    )
