"""The inbox that receives mail for an address. One unit of work finds it, for SMTP and for local delivery."""

from collections.abc import Set

from maild.errors import SmtpError
from maild.message import envelope_sender
from maild.message.fields import address as addresses
from storage.domains import domains
from storage.engine.tx import Tx
from storage.mail import inboxes
from storage.mail.inboxes import RecipientInbox

OPERATOR_NAMES = frozenset({"postmaster", "abuse"})  # RFC 5321 §4.5.1, RFC 2142 §4
FEEDBACK_NAME = "fbl"  # where providers send complaints (docs/contract.md, section 6)
NO_MAILBOX = (550, "5.1.1", "mailbox unavailable")
# A domain in use that moves here points here before it is verified, and is verified before it has inboxes: until then
# senders keep its mail (RFC 5321 §4.2.1).
NO_MAILBOX_YET = (450, "4.1.1", "this domain is being set up here, try again later")
# RFC 3463 §3.8: not 5.1.1, by which senders take the address for gone for good, though a domain may only be verified no
# more.
NO_DOMAIN = (550, "5.7.1", "relaying denied: no mail for this domain is taken here")


class UnknownRecipient(SmtpError):
    """No inbox here receives mail for the address. Which addresses exist on a domain of ours, it does not tell."""


def is_feedback_address(address: str, shared_domains: Set[str]) -> bool:
    """Is it fbl@ of a shared domain?"""
    local, domain = addresses.split(addresses.normalize(address))
    return addresses.strip_plus(local) == FEEDBACK_NAME and domain in shared_domains


def is_operator_address(address: str) -> bool:
    """Is it postmaster@ or abuse@, of whatever domain?"""
    return addresses.strip_plus(addresses.split(addresses.normalize(address))[0]) in OPERATOR_NAMES


def is_owed(address: str, shared_domains: Set[str]) -> bool:
    """Is it an address at which a host takes mail from everybody (RFC 5321 §4.5.1, RFC 2142, RFC 6650)?"""
    return is_operator_address(address) or is_feedback_address(address, shared_domains)


def is_served(tx: Tx, domain: str, shared_domains: Set[str]) -> bool:
    """Do we receive mail for this domain (lower-case A-label)?"""
    return domain in shared_domains or domains.is_verified(tx, domain)


def unknown(tx: Tx, address: str, shared_domains: Set[str]) -> UnknownRecipient:
    """Why `find_mailbox` finds none."""
    local, domain = addresses.split(addresses.normalize(address))
    if domain in shared_domains:
        return UnknownRecipient(*NO_MAILBOX)
    owner = domains.verified_by(tx, domain)
    if owner is None:
        return UnknownRecipient(*(NO_MAILBOX_YET if domains.is_pending(tx, domain) else NO_DOMAIN))
    was_here = inboxes.was_deactivated(tx, f"{addresses.strip_plus(local)}@{domain}")
    is_set_up = was_here or inboxes.were_made(tx, domain, owner)
    return UnknownRecipient(*(NO_MAILBOX if is_set_up else NO_MAILBOX_YET))


def find_mailbox(tx: Tx, address: str, shared_domains: Set[str]) -> RecipientInbox | None:
    """The inbox that `address` reaches, or None when the domain is not ours or has no such inbox. One that is not
    active is found by our own envelope senders alone."""
    local, domain = addresses.split(addresses.normalize(address))
    # RFC 5321 §4.5.1: <Postmaster> without a domain is ours as well.
    if local == "postmaster" and not domain:
        return inboxes.operator_mailbox(tx)
    owner = None if domain in shared_domains else domains.verified_by(tx, domain)
    if owner is None and domain not in shared_domains:
        return None
    if local.startswith(addresses.BOUNCE_PREFIX):
        # Our own envelope senders: what comes back belongs to the inbox that sent.
        token = envelope_sender.read(address)
        found = inboxes.mailbox_by_bounce_token(tx, token.value, domain) if token else None
    else:
        name = addresses.strip_plus(local)
        if name in OPERATOR_NAMES or is_feedback_address(address, shared_domains):
            return inboxes.operator_mailbox(tx)
        found = inboxes.mailbox(tx, f"{name}@{domain}")
    if owner is not None and found is not None and found.organization_id != owner:
        return None  # the domain belongs to another organization now
    return found
