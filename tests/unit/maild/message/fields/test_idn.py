"""Domain names as A-labels: which there are, and that none is long work (maild/message/fields/idn.py)."""

from encodings import punycode

import pytest

from maild.message.digest import digest_at_once
from maild.message.fields.address import AddressSyntaxError, validate
from maild.message.fields.idn import MAX_LABEL_OCTETS, ascii_domain, is_same_domain

LONG = "".join(chr(0x4E00 + number * 37) for number in range(248))  # no label's A-label has room for it
SOFT_HYPHEN, COMBINING_DIAERESIS = "\u00ad", "\u0308"


class Encodings:
    """How many characters each label had that was brought into punycode: the work is quadratic in them."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.characters: list[int] = []
        self._sort = punycode.insertion_unsort
        patch.setattr(punycode, "insertion_unsort", self)

    def __call__(self, text: str, extended: list[int]) -> object:
        self.characters.append(len(text))
        return self._sort(text, extended)


@pytest.fixture
def encodings(monkeypatch: pytest.MonkeyPatch) -> Encodings:
    return Encodings(monkeypatch)


def test_a_label_for_which_there_is_no_room_is_not_encoded(encodings: Encodings) -> None:
    with pytest.raises(ValueError, match="too long"):
        ascii_domain(f"{LONG}.test")
    with pytest.raises(AddressSyntaxError, match="label"):
        validate(f"ada@{LONG}.test")
    assert (
        digest_at_once("To: {}\r\n\r\nx".format(",\r\n ".join([f"a@{LONG}.test"] * 20)).encode()) is not None
    )
    assert not encodings.characters


def test_a_label_is_as_long_as_its_mapping(encodings: Encodings) -> None:
    umlauts = "u" + COMBINING_DIAERESIS
    assert ascii_domain(f"b{SOFT_HYPHEN * 100}{umlauts}cher.test") == "xn--bcher-kva.test"
    assert ascii_domain(f"{umlauts * 35}.test") == ascii_domain(f"{'ü' * 35}.test")
    assert validate(f"ada@{umlauts * 35}.test") == validate(f"ada@{'ü' * 35}.test")
    assert encodings.characters


def test_no_label_that_has_an_a_label_is_refused() -> None:
    for label in ("ü" * length for length in range(1, 70)):
        octets = f"xn--{label.encode('punycode').decode()}"
        if len(octets) <= MAX_LABEL_OCTETS:
            assert ascii_domain(f"{label}.test") == f"{octets}.test"
        else:
            with pytest.raises(ValueError, match=r"too long|not a domain name"):
                ascii_domain(f"{label}.test")


@pytest.mark.parametrize(
    "domain",
    [
        "bücher.mx.test",
        "BÜCHER.MX.TEST.",
        "xn--bcher-kva.mx.test",
        "xn--bcher-kva.ｍx。test",
        "bu\u0308cher.mx.test",
    ],
)
def test_a_domain_is_known_however_it_is_written(domain: str) -> None:
    assert is_same_domain(domain, "xn--bcher-kva.mx.test")
    assert ascii_domain(domain) == "xn--bcher-kva.mx.test"


@pytest.mark.parametrize(
    "domain", ["bücher.test", "bücher.mx.tesť", "bucher.mx.test", "ü" * 300, "\u2028.mx.test", ""]
)
def test_another_domain_is_another(domain: str) -> None:
    assert not is_same_domain(domain, "xn--bcher-kva.mx.test")


def test_whether_domains_are_the_same_is_no_long_work(encodings: Encodings) -> None:
    assert not is_same_domain(f"{LONG[:60]}.{LONG[60:120]}.mx.test", "mx.agents.test")
    assert not encodings.characters
