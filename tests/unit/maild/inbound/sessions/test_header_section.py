"""Forged results are taken out of the header section whole, and nothing else is."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from maild.inbound.sessions.header_section import MAX_COMMENT_MARKS, MAX_HELD_OCTETS, HeaderSection
from maild.message.parsing.parse import parse

OWN = "mx.agents.test"
FORGED = [
    b"Authentication-Results: mx.agents.test; dmarc=pass header.from=bank.test",
    b"authentication-RESULTS:MX.Agents.Test;dmarc=pass",
    b"Authentication-Results : mx.agents.test.; dmarc=pass",
    b"Authentication-Results:\r\n\tmx.agents.test\r\n\t;\r\n dmarc=pass",
    b"Authentication-Results: mx.agents.test 1; dmarc=pass",
    b'Authentication-Results: "mx.agents.test"; dmarc=pass',
    b'Authentication-Results: "mx\\.agents.test" 1; dmarc=pass',
    b"Authentication-Results: (a (nested\\) one)) (b)\r\n mx.agents.test; none",
    b"Authentication-Results: mx.agents.test(comment); none",
    b"Authentication-Results: mx.agents.test",
    b"Authentication-Results: (never closed mx.agents.test; dmarc=pass",
    b"Authentication-Results: " + b"()" * MAX_COMMENT_MARKS + b" mx.agents.test; dmarc=pass",
    "Authentication-Results: mx.ａgents.test; dmarc=pass".encode(),
    b"Authentication-Results: (" + b"x" * 2 * MAX_HELD_OCTETS + b") mx.agents.test; dmarc=pass",
    b"Authentication-Results" + b" " * 2 * MAX_HELD_OCTETS + b": mx.agents.test; dmarc=pass",
]
HONEST = [
    b"Authentication-Results: mx.elsewhere.test; dmarc=pass",
    b"Authentication-Results: notmx.agents.test; note=mx.agents.test",
    b"Authentication-Results: mx.agents.test.evil.test; none",
    b"Authentication-Results: (mx.agents.test) other.test; none",
    b"Authentication-Results: (a) (b (c)) (mx.agents.test) other.test; none",
    b"Authentication-Results: " + b"()" * MAX_COMMENT_MARKS + b" other.test; none",
    b"X-Authentication-Results: mx.agents.test; none",
    b"ARC-Authentication-Results: i=1; mx.agents.test; none",
    b"Authentication-Results-Too: mx.agents.test; none",
    b"Subject: hello\r\n Authentication-Results: mx.agents.test; none",
    b"Authentication-Results: ; none",
]
UNREADABLE = tuple(one for one in HONEST if one.endswith(b": ; none") or b"()" in one)
STAND_IN = b"X-Removed: Authentication-Results\r\n"
BODY = b"\r\nAuthentication-Results: mx.agents.test; none\r\n\r\nAuthentication-Results: mx.agents.test; none\r\n"


def clean(pieces: list[bytes]) -> bytes:
    section = HeaderSection(OWN)
    return b"".join([section.feed(piece) for piece in pieces]) + section.finish()


@pytest.mark.parametrize("field", FORGED)
@pytest.mark.parametrize("before", [b"", b"Subject: x\r\n", b"Received: a\r\n b\r\n"])
@pytest.mark.parametrize("after", [b"", b"To: y\r\n", FORGED[0] + b"\r\n"])
def test_results_in_our_name_are_taken_out(field: bytes, before: bytes, after: bytes) -> None:
    left = before + (after if after.startswith(b"To") else b"")
    # Without a field the body's first lines would be the header to those who pass over the empty line.
    assert clean([before + field + b"\r\n" + after + BODY]) == (left or STAND_IN) + BODY
    assert clean([before + field + b"\r\n" + after]) == left


@pytest.mark.parametrize("field", HONEST)
def test_all_else_stays(field: bytes) -> None:
    assert clean([field + b"\r\n" + BODY]) == field + b"\r\n" + BODY
    assert clean([field + b"\r\n"]) == field + b"\r\n"


def test_a_message_without_a_header_section_stays() -> None:
    assert clean([b"\r\nwords\r\n" + BODY]) == b"\r\nwords\r\n" + BODY
    assert clean([b""]) == b""
    assert clean([b"no line end"]) == b"no line end"
    assert clean([b"\r\n"]) == b"\r\n"


LINES = st.lists(
    st.sampled_from(
        [b"\r\n", b" folded\r\n", b"\tx", b"Subject: y\r\n", b"Received: z\r\n", b"x" * 70]
        + [b"%b\r\n" % one for one in FORGED[:-2] + HONEST]
    ),
    max_size=12,
).map(b"".join)  # fmt: skip


@given(LINES, st.lists(st.integers(0, 2000), max_size=10))
@example(b"Authentication-Results: mx.agents.test; none\r\n\r\n", [1, 2, 45, 46])
def test_pieces_cut_anywhere_give_the_same(data: bytes, cuts: list[int]) -> None:
    # As the decoder gives them: no cut between CR and LF.
    places = sorted({cut for cut in cuts if cut < len(data) and data[cut - 1 : cut] != b"\r"})
    pieces = [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]
    assert clean(pieces) == clean([data])


@given(LINES)
@example(HONEST[-1] + b"\r\n\tx" + FORGED[0] + b"\r\n")
@example(UNREADABLE[0] + b"\r\n\tx" + FORGED[0] + b"\r\n")
@example(HONEST[-1] + b"\r\n\txauthentication-RESULTS:MX.Agents.Test;dmarc=pass\r\n")
def test_what_is_left_is_the_other_fields_in_order(data: bytes) -> None:
    leader, data = cut_leader(data)
    section, end, body = (b"\r\n" + data).partition(b"\r\n\r\n")
    if not end and section.endswith(b"\r\n"):
        section, end = section[:-2], b"\r\n"
    fields = re.split(rb"(?=\r\n[^ \t])", section)
    left = b"".join(field for field in fields if not is_forged(field[2:]))
    if section and not left and end == b"\r\n\r\n":
        left = b"\r\n" + STAND_IN[:-2]
    assert clean([leader + data]) == leader + (left + end + body)[2:]


@given(
    LINES, st.sampled_from([b"", b" ", b"\r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf \r\n"]), st.integers(1, 200)
)
@example(FORGED[0] + b"\r\n\r\n" + FORGED[0] + b"\r\nSubject: y\r\n\r\n", b"", 20)
@example(FORGED[0] + b"\r\n" + FORGED[0] + b"\r\nSubject: y\r\n\r\n", b" ", 20)
def test_what_is_read_of_the_rest_has_no_forged_field(data: bytes, leader: bytes, step: int) -> None:
    data = leader + data
    message = parse(clean([data[at : at + step] for at in range(0, len(data), step)]))
    claimed = message.headers.get_all("authentication-results")
    assert not [one for one in claimed if OWN in one.partition(";")[0].lower().partition("(")[0].split()]


def cut_leader(data: bytes) -> tuple[bytes, bytes]:
    found = re.match(rb"(?:[ \t]*\r\n)*[ \t]*", data)
    assert found is not None
    return found[0], data[found.end() :]


def is_forged(field: bytes) -> bool:
    # In a line that is folded into it: what can't be read, a lax reader may take for ours.
    names_us = field.startswith(UNREADABLE) and OWN.encode() in field.lower()
    return names_us or any(field == one or field.startswith(one + b"\r\n") for one in FORGED)


def test_a_field_in_endless_pieces_is_not_kept_in_memory() -> None:
    section = HeaderSection(OWN)
    section.feed(b"Authentication-Results: (")
    for _ in range(100):
        assert section.feed(b"x" * 10_000) == b""
        assert len(section._held) <= MAX_HELD_OCTETS
    assert section.feed(b"\r\nSubject: x\r\n\r\nhi") == b"Subject: x\r\n\r\nhi"


def test_hops_are_counted_once_each() -> None:
    section = HeaderSection(OWN)
    for _ in range(30):
        for piece in (b"Rece", b"ived : from a\r\n", b"\tReceived: folded\r\n", b"X-Received: no\r\n"):
            section.feed(piece)
    section.feed(b"\r\nReceived: body\r\n")
    assert section.hops == 30


def test_names_of_others_are_not_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A header section of 25 MiB may name 80,000."""
    monkeypatch.setattr("idna.encode", _fail)
    field = f"Authentication-Results: {'日本語の名前' * 9}.test; none\r\n".encode()
    assert HeaderSection(OWN).feed(field * 100 + b"\r\nx") == field * 100 + b"\r\nx"


def _fail(*_: object, **__: object) -> bytes:
    raise AssertionError("a stranger's name was encoded")
