"""Domain names as the wire has them: A-labels (RFC 5890 §2.3.2.1), lower case, no last dot."""

from __future__ import annotations

from functools import lru_cache

import idna

MAX_DOMAIN_OCTETS = 255  # RFC 5321 §4.5.3.1.2
MAX_LABEL_OCTETS = 63  # RFC 1035 §2.3.4


def ascii_domain(domain: str) -> str:
    """The lower-case A-label form; raises ValueError for what has none.

    ASCII names pass as they are, so also names that IDNA would refuse (underscores, old A-labels).
    """
    if domain.isascii():
        return domain.lower().removesuffix(".")
    if len(domain) > MAX_DOMAIN_OCTETS or not has_fit_labels(domain):
        raise ValueError("domain or label too long")
    try:
        return idna.encode(domain, uts46=True).decode("ascii").lower().removesuffix(".")
    except UnicodeError as error:  # idna.IDNAError among them
        raise ValueError("not a domain name") from error


def has_fit_labels(domain: str) -> bool:
    """May its A-labels be short enough? Asked before idna, whose work is quadratic in a label.

    An A-label has an octet or more for each character of its U-label (RFC 3492 §6.3). What the mapping drops or joins
    (UTS #46) is no character of it any more."""
    if _longest_label(domain) <= MAX_LABEL_OCTETS:
        return True
    mapped = _mapped(domain)
    return mapped is not None and _longest_label(mapped) <= MAX_LABEL_OCTETS


def _mapped(domain: str) -> str | None:
    """As UTS #46 maps it; None of what is no domain name."""
    try:
        return idna.uts46_remap(domain, std3_rules=False, transitional=False)
    except UnicodeError:
        return None


def _longest_label(domain: str) -> int:
    return max(map(len, domain.split(".")))


def is_same_domain(domain: str, name: str) -> bool:
    """Is it another way to write `name`, which is a lower-case A-label form? Linear in the domain, unlike
    `ascii_domain`: it is mapped (UTS #46), and nothing is encoded."""
    if domain.isascii():
        return ascii_domain(domain) == name
    if len(domain) > MAX_DOMAIN_OCTETS:
        return False
    mapped = _mapped(domain)
    if mapped is None:
        return False
    labels, written = mapped.removesuffix(".").split("."), _ways_to_write(name)
    return len(labels) == len(written) and all(map(tuple.__contains__, written, labels))


@lru_cache(16)
def _ways_to_write(name: str) -> list[tuple[str, str]]:
    """Each label of an A-label form, and what its readers write."""
    return list(zip(name.split("."), unicode_domain(name).split("."), strict=True))


def unicode_domain(domain: str) -> str:
    """The name as its readers write it (U-labels) of a lower-case A-label form; itself, where there is none."""
    if "xn--" not in domain:
        return domain
    try:
        return idna.decode(domain, uts46=True)
    except UnicodeError:
        return domain
