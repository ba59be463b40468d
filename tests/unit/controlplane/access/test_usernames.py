"""Names that nobody may take (controlplane/access/usernames.py; decisions.md, "Inbox")."""

import pytest

from controlplane.access.usernames import is_reserved

# RFC 2142 §§2-6, in the order of its tables.
RFC_2142 = (
    "info marketing sales support abuse noc security postmaster hostmaster usenet news webmaster www uucp ftp"
).split()
DECISIONS = "noreply mailer-daemon root support security billing".split()


@pytest.mark.parametrize(
    "name", [*RFC_2142, *DECISIONS, "no-reply", "donotreply", "do-not-reply", "no_reply"]
)
def test_reserved_on_shared_domains(name: str) -> None:
    assert is_reserved(name, is_shared=True, brand=())


@pytest.mark.parametrize("name", ["postmaster", "abuse", "mailer-daemon"])
def test_reserved_on_ones_own_domain_too(name: str) -> None:
    assert is_reserved(name, is_shared=False, brand=())


@pytest.mark.parametrize("name", ["support", "sales", "noreply", "root", "brand"])
def test_ones_own_domain_has_its_own_support(name: str) -> None:
    assert not is_reserved(name, is_shared=False, brand=("brand",))


@pytest.mark.parametrize("name", ["bot", "salesbot", "support-7", "infoo", "rooted", "brandy"])
def test_names_that_only_resemble_pass(name: str) -> None:
    assert not is_reserved(name, is_shared=True, brand=("brand",))


def test_brands_are_the_configurations() -> None:
    assert is_reserved("acme", is_shared=True, brand=("Acme",))
    assert not is_reserved("acme", is_shared=True, brand=())
