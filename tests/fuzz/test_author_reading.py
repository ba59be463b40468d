"""The author that we name is the one that other readers show: Python's two parsers of addresses, and the same on what
is decoded first, dropped of controls or cut at a bare CR."""

import re
from email import message_from_bytes, policy
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.utils import parseaddr

from hypothesis import example, given, settings
from hypothesis import strategies as st

from maild.message.parsing.parse import parse

PIECES = st.sampled_from(
    [
        "a@evil.test", "b@bank.test", "<a@evil.test>", "<b@bank.test>", "Ada", '"', '"Ada, B." ', "(", ")",
        "(b@bank.test)", "<", ">", "@", ",", ";", ":", ".", " ", "\t", "\\", '\\"', "\0", "\x0b", "\r", "\r\n ",
        "\r\nFrom: ", "\r\nfrom : ", "\rFrom: ", "\r\nSubject: ", "=?utf-8?q?", "?=", "=?utf-8?q?b=40bank.test?=",
        "=?utf-8?q?=3Cb=40bank.test=3E?=", "=?utf-8?q?b=40bank.test=00?=", "=?utf-8?b?YkBiYW5rLnRlc3QK?=", "Team:",
        "=?utf-8?q?=22?=", "=?utf-8?q?=2C?=", "\u00fc", "m\u00fcller.test", "[192.0.2.1]", "'b@bank.test'",
        "undisclosed-recipients:;",
    ]
)  # fmt: skip
PARSER_FAULTS = (AttributeError, LookupError, TypeError, ValueError)  # of Python's own, on odd fields
ADDRESS = re.compile(r"[^\s<>()\"',;:]+@[^\s<>()\"',;:]+[.][^\s<>()\"',;:]+")


def seen_by_python(raw: bytes) -> set[str]:
    """Each address that one of its readers shows as the author."""
    shown: set[str] = set()
    for one in (policy.default, policy.compat32):
        message = message_from_bytes(raw, policy=one)
        try:
            values = message.get_all("from") or ()
        except PARSER_FAULTS:
            continue
        for value in values:
            text = str(value)
            shown.add(parseaddr(text)[1])
            if one is policy.compat32:
                try:
                    shown.add(parseaddr(str(make_header(decode_header(text))))[1])
                except (HeaderParseError, *PARSER_FAULTS):
                    pass
            else:
                shown.update(address.addr_spec for address in value.addresses)
    # Of a domain with U-labels they show what they were given.
    return {one.removesuffix(".").casefold() for one in shown if ADDRESS.fullmatch(one) and one.isascii()}


@settings(max_examples=1500, deadline=None)
@given(st.lists(PIECES, max_size=8).map("".join))
@example("=?utf-8?q?b=40bank.test?= <a@evil.test>")
@example('"b@bank.test" <a@evil.test>')
@example('b@bank.test"Ada')
@example("a@evil.test\rFrom: b@bank.test")
def test_no_reader_shows_another_author(value: str) -> None:
    raw = f"From: {value}\r\nSubject: x\r\n\r\nhi".encode()
    author = parse(raw).from_
    if author is None or not author.address.isascii():
        return
    others = seen_by_python(raw) - {author.address.removesuffix(".").casefold()}
    assert not others, (author.address, others)


@settings(max_examples=500, deadline=None)
@given(st.lists(PIECES | st.text(max_size=4), max_size=12).map("".join))
def test_the_author_is_one_mailbox_or_a_defect(value: str) -> None:
    message = parse(f"From: {value}\r\n\r\n".encode("utf-8", "replace"))
    defects = {"no-author", "several-from-fields", "several-authors", "ambiguous-author"} & set(
        message.defects
    )
    assert len(defects) == (message.from_ is None)
    if message.from_ is not None:
        local, at, domain = message.from_.address.rpartition("@")
        assert local and at and domain and domain.isascii() and message.from_.address.isprintable()
