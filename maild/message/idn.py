"""Domain names as the wire has them: A-labels (RFC 5890 §2.3.2.1), lower case, no last dot."""

from __future__ import annotations

import idna

MAX_DOMAIN_OCTETS = 255  # RFC 5321 §4.5.3.1.2


def ascii_domain(domain: str) -> str:
    """The lower-case A-label form; raises ValueError for what has none.

    ASCII names pass as they are, so also names that IDNA would refuse (underscores, old A-labels).
    """
    if domain.isascii():
        return domain.lower().removesuffix(".")
    if len(domain) > MAX_DOMAIN_OCTETS:  # before idna, whose checks are quadratic in a label
        raise ValueError("domain too long")
    try:
        return idna.encode(domain, uts46=True).decode("ascii").lower().removesuffix(".")
    except UnicodeError as error:  # idna.IDNAError among them
        raise ValueError("not a domain name") from error


def unicode_domain(domain: str) -> str:
    """The name as its readers write it (U-labels) of a lower-case A-label form; itself, where there is none."""
    if "xn--" not in domain:
        return domain
    try:
        return idna.decode(domain, uts46=True)
    except UnicodeError:
        return domain
