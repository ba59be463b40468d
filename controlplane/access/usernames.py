"""Usernames that are reserved: they belong to the operator, or would pass for another sender."""

from collections.abc import Iterable

# What a customer's own domain keeps for its postmaster.
_EVERYWHERE = frozenset({"postmaster", "abuse", "mailer-daemon"})
# RFC 2142, and names that mail systems and their readers give a meaning to.
_SHARED = _EVERYWHERE | {
    "info", "marketing", "sales", "support", "noc", "security", "hostmaster", "usenet", "news", "webmaster",
    "www", "uucp", "ftp",
    "root", "admin", "administrator", "sysadmin", "system", "daemon", "nobody", "operator", "owner", "staff",
    "team", "help", "helpdesk",
    "noreply", "no-reply", "no.reply", "no_reply", "donotreply", "do-not-reply", "do.not.reply",
    "do_not_reply", "bounce", "bounces",
    "mailer", "mailerdaemon", "mailer.daemon", "mail", "smtp", "imap", "pop", "dns", "fbl", "dmarc",
    "dmarc-reports", "tlsrpt",
    "billing", "payments", "invoice", "invoices", "accounts", "accounting", "legal", "privacy", "compliance",
    "trust", "safety", "official", "verify", "verification", "notifications", "alert", "alerts",
}  # fmt: skip


def is_reserved(username: str, *, is_shared: bool, brand: Iterable[str]) -> bool:
    """Is this username reserved on a shared domain (or, with is_shared False, on a custom one)?"""
    if not is_shared:
        return username in _EVERYWHERE
    return username in _SHARED or username in {name.lower() for name in brand}
