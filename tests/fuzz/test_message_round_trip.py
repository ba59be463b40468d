"""compose → parse gives back what was given, and the standard library's parser reads the same."""

from __future__ import annotations

import email
import email.policy
import re
from dataclasses import replace
from datetime import UTC, datetime
from email.message import Message

from hypothesis import example, given, settings
from hypothesis import strategies as st

from maild.message.parsing.filenames import clean_filename
from maild.message.parsing.parse import Mailbox, decode_slice, parse, read_text
from maild.message.writing.compose import ComposeError, Outgoing, OutgoingAttachment, compose
from maild.message.writing.header_writer import clean_text

CHARACTERS = st.characters(exclude_categories=["Cs"])
LINES = st.lists(
    st.one_of(st.text(CHARACTERS, max_size=30), st.sampled_from(["From x", ".", "a ", "x" * 1200, "--b"])),
    max_size=8,
)
BODIES = st.one_of(
    st.none(), st.builds(lambda lines, end: end.join(lines), LINES, st.sampled_from(["\n", "\r\n", "\r"]))
)
NAMES = st.text(st.one_of(CHARACTERS, st.sampled_from(' "\\,<>@=?_')), max_size=80)
ADDRESSES = st.from_regex(r"[a-z0-9]{1,20}(\.[a-z+]{1,9})?@[a-z]{1,12}\.(test|example)", fullmatch=True)
IDS = st.from_regex(r"<[a-z0-9.]{1,80}@[a-z.]{1,20}>", fullmatch=True)
FILES = st.builds(
    OutgoingAttachment,
    st.text(st.one_of(CHARACTERS, st.sampled_from(" \"\\'%=?;")), max_size=120),
    st.sampled_from(
        ["application/pdf", "text/plain; charset=utf-8", "image/png", "message/rfc822", "text/html"]
    ),
    st.binary(max_size=300),
)
MESSAGES = st.builds(
    Outgoing,
    from_=st.builds(Mailbox, st.one_of(st.none(), NAMES), ADDRESSES),
    to=st.lists(ADDRESSES, max_size=8).map(tuple),
    cc=st.lists(ADDRESSES, max_size=4).map(tuple),
    reply_to=st.one_of(st.none(), ADDRESSES),
    subject=NAMES,
    text=BODIES,
    html=BODIES,
    attachments=st.lists(FILES, max_size=3).map(tuple),
    message_id=IDS,
    date=st.datetimes(datetime(1970, 1, 2), datetime(2999, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    in_reply_to=st.one_of(st.none(), IDS),
    references=st.lists(IDS, max_size=12).map(tuple),
    headers=st.lists(
        st.tuples(st.just("X-Extra"), st.from_regex(r"[!-~]{1,9}( {1,2}[!-~]{1,30}){0,9}", fullmatch=True)),
        max_size=2,
    ).map(tuple),
    boundary_seed=st.text(max_size=10),
)

OPENS_A_COMMENT = Outgoing(
    from_=Mailbox("(\xa0", "0@a.test"),
    to=(),
    cc=(),
    reply_to=None,
    subject="",
    text=None,
    html=None,
    attachments=(),
    message_id="<0@a.test>",
    date=datetime(2000, 1, 1, tzinfo=UTC),
    in_reply_to=None,
    references=(),
    headers=(),
    boundary_seed="",
)
OPENS_A_QUOTE = replace(OPENS_A_COMMENT, from_=Mailbox('"\xa0', "0@a.test"))


def sent_text(text: str | None) -> str:
    return (text or "").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def stdlib_text(part: Message) -> str:
    octets = part.get_payload(decode=True)
    assert isinstance(octets, bytes)
    return octets.decode(part.get_content_charset() or "ascii").replace("\r\n", "\n")


def shown_name(name: str | None) -> str | None:
    shown = re.sub("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+", "", clean_text(name or "")).strip()
    return shown or None


@settings(max_examples=60, deadline=None)
@given(MESSAGES)
@example(OPENS_A_COMMENT)
@example(OPENS_A_QUOTE)
def test_round_trip(outgoing: Outgoing) -> None:
    composed = compose(outgoing)
    raw = composed.raw
    assert not re.search(rb"(?<!\r)\n|\r(?!\n)|\x00", raw)
    assert max(map(len, raw.split(b"\r\n"))) <= 998
    message = parse(raw)
    assert message.header_length == composed.header_length
    author = Mailbox(shown_name(outgoing.from_.name), outgoing.from_.address)
    # A name that shows an address, encoded or with quotes in it, is an author to some readers; of one that opens a
    # comment, encoded, those who decode first see no author.
    is_ambiguous = message.from_ is None and not {"@", "(", '"'}.isdisjoint(author.name or "")
    assert message.from_ == author or is_ambiguous
    assert tuple(box.address for box in message.to) == outgoing.to
    assert tuple(box.address for box in message.cc) == outgoing.cc
    assert message.subject == clean_text(outgoing.subject)
    assert message.message_id == outgoing.message_id
    assert message.in_reply_to == outgoing.in_reply_to
    assert message.references == outgoing.references
    assert message.headers.get_all("x-extra") == [value for _, value in outgoing.headers]
    if outgoing.html is None or outgoing.text is not None:
        assert read_text(raw, message.text)[0] == sent_text(outgoing.text).removeprefix("\ufeff")
    assert read_text(raw, message.html)[0] == sent_text(outgoing.html).removeprefix("\ufeff")
    assert len(message.attachments) == len(outgoing.attachments)
    for sent, got in zip(outgoing.attachments, message.attachments, strict=True):
        wanted = clean_filename(clean_text(sent.filename))
        assert got.filename == wanted or not wanted
        at = got.slice
        assert decode_slice(raw[at.offset : at.offset + at.length], at.encoding) == sent.content
        assert got.size_bytes == len(sent.content)
    assert message.defects == (("ambiguous-author",) if is_ambiguous else ())


@settings(max_examples=25, deadline=None)
@given(MESSAGES)
def test_the_standard_library_reads_the_same(outgoing: Outgoing) -> None:
    raw = compose(outgoing).raw
    message = email.message_from_bytes(raw, policy=email.policy.compat32)
    assert message["message-id"] == outgoing.message_id
    assert (message["references"] or "").split() == list(outgoing.references)
    if any(one.content_type == "message/rfc822" for one in outgoing.attachments):
        return  # the standard library goes into attached messages
    leaves = [part for part in message.walk() if not part.is_multipart()]
    files = len(outgoing.attachments)
    bodies = leaves[:-files] if files else leaves
    wanted = [body for body in (outgoing.text, outgoing.html) if body is not None] or [""]
    assert [stdlib_text(part) for part in bodies] == [sent_text(body) for body in wanted]
    for sent, part in zip(outgoing.attachments, leaves[-files:] if files else (), strict=True):
        assert part.get_payload(decode=True) == sent.content


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_nothing_injects(subject: str, name: str, value: str, filename: str) -> None:
    outgoing = Outgoing(
        Mailbox(name, "a@x.test"), ("b@x.test",), (), None, subject, value, value,
        (OutgoingAttachment(filename, "a/b", b"x"),), "<i@x>", datetime(2026, 1, 1, tzinfo=UTC), None, (),
        (("X-A", value),), value,
    )  # fmt: skip
    try:
        raw = compose(outgoing).raw
    except ComposeError:
        return
    names = [key.lower() for key, _ in parse(raw).headers.items()]
    assert names == ["date", "from", "to", "subject", "message-id", "x-a", "mime-version", "content-type"]
