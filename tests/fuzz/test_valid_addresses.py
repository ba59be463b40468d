"""What is remembered of domains changes nothing: addresses are valid, and written, as email-validator says of each; but
for local parts, which it counts in characters and without their quotes."""

import email_validator
import idna
from hypothesis import example, given
from hypothesis import strategies as st

from maild.message.fields.address import AddressSyntaxError, validate

_LOCALS = st.one_of(
    st.text("aZ9.+-_'\"\\ @", max_size=70),
    st.text(max_size=8),
    st.sampled_from(["ada", "Info", "POSTMASTER", "a" * 64, "a" * 65, "ü", "ü" * 33, f'"{"a " * 32}"']),
)
_LABELS = st.one_of(
    st.text("aZ9-_", max_size=66),
    st.text(max_size=4),
    st.sampled_from(["xn--mnchen-3ya", "xn--a", "XN--MNCHEN-3YA", "ab--c", "münchen", "org", "b" * 62]),
)
_DOMAINS = st.lists(_LABELS, max_size=6).map(".".join)


@given(_LOCALS, _DOMAINS)
@example("ada", "X.Org")
@example("Info", "x.org")
@example("a" * 64, ".".join(["b" * 61] * 3 + ["org"]))  # 254 octets
@example("a" * 64, ".".join(["b" * 61] * 3 + ["orgs"]))
@example("a" * 64, idna.encode(".".join(["你" * 50, "你" * 20, "org"])).decode())  # too long with U-labels
def test_as_the_package_says(local: str, domain: str) -> None:
    address = f"{local}@{domain}"
    is_special = domain.lower().rpartition(".")[2] in email_validator.SPECIAL_USE_DOMAIN_NAMES
    if not is_special and not any(
        ord(character) < 32 or 127 <= ord(character) < 160 for character in address
    ):
        assert _twice(address) == _said_of(address)


def _twice(address: str) -> str | None:
    """The second time its domain may be known."""
    first, second = _validated(address), _validated(address)
    assert first == second
    return second


def _validated(address: str) -> str | None:
    try:
        return validate(address)
    except AddressSyntaxError:
        return None


def _said_of(address: str) -> str | None:
    try:
        checked = email_validator.validate_email(
            address, check_deliverability=False, strict=True, allow_quoted_local=True
        )
    except ValueError:
        return None
    written = f"{checked.local_part}@{checked.ascii_domain.lower()}"
    return written if len(checked.local_part.encode()) <= 64 and len(written.encode()) <= 254 else None
