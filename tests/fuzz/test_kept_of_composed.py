"""What is known of a message because it was just written is what reading it back says."""

from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from maild.message.digest import TEXT_CHARS, digest, kept_of_composed
from maild.message.model import Mailbox
from maild.message.writing.compose import Outgoing, OutgoingAttachment, compose

WORDS = st.text() | st.lists(
    st.sampled_from(
        ["> quoted", "On Monday, Ada wrote:", "-- ", "Regards", "", ".", "From here", "begin 644 a.txt", "end",
         "#0V%T", "`", "ä" * 30, "x" * 900, "\t", " leading", "trailing ", "=20", "--_=", "\r", "\x00", "\ud800",
         "\ufeff", "\u2028", "\x85", "\x0c", "\x1c"]
    ) | st.text(max_size=20),
    max_size=12,
).map("\n".join)  # fmt: skip
SUBJECT = st.sampled_from(
    [
        "Hello",
        "Fwd: Hello",
        "Re: Fwd: Hello",
        "=?utf-8?q?Fwd:_Hello?=",
        "WG: Grüße",
        " Fwd:  a",
        "",
        "Fwd:",
        "転送: あ",
    ]
) | st.text(max_size=40).map(lambda text: "".join(one for one in text if one.isprintable()))
IDS = st.sampled_from(["<a@x.test>", "<b.c-d@y.test>", "<" + "i" * 200 + "@z.test>"])
FIELDS = st.lists(st.sampled_from([("X-Tag", "one"), ("Reply-To", "Ada <a@x.test>, b@y.test")]), max_size=2)


def outgoing(text: str | None, **said: object) -> Outgoing:
    given = {
        "from_": Mailbox("Ada", "ada@x.test"), "to": ("b@y.test",), "cc": (), "reply_to": None,
        "subject": "Hello", "text": text, "html": None, "attachments": (), "message_id": "<t@x.test>",
        "date": datetime(2026, 11, 21, tzinfo=UTC), "in_reply_to": None, "references": (),
        "headers": (("Auto-Submitted", "auto-generated"),), "boundary_seed": "seed",
    }  # fmt: skip
    return Outgoing(**{**given, **said})  # type: ignore[arg-type]


@settings(max_examples=300)
@given(text=WORDS, subject=SUBJECT, parent=st.none() | IDS, chain=st.lists(IDS, max_size=120), fields=FIELDS)
@example(text="begin 644 a.txt\n#0V%T\n`\nend\n", subject="", parent=None, chain=[], fields=[])
@example(text="\ufeffa", subject="", parent=None, chain=[], fields=[])
@example(text="a" * TEXT_CHARS + "b", subject="", parent=None, chain=[], fields=[])
@example(text="a" * (TEXT_CHARS - 1) + "\r\n", subject="", parent=None, chain=[], fields=[])
def test_what_was_written_is_what_is_read(
    text: str, subject: str, parent: str | None, chain: list[str], fields: list[tuple[str, str]]
) -> None:
    given = outgoing(
        text, subject=subject, in_reply_to=parent, references=tuple(chain[-100:]), headers=tuple(fields)
    )
    composed = compose(given)
    assert kept_of_composed(given, composed) == digest(composed.raw).kept()


@pytest.mark.parametrize("said", [
    {"html": "<p>Hello</p>"},
    {"attachments": (OutgoingAttachment("a.txt", "text/plain", b"words"),)},
    {"text": None, "html": "<p>Hello</p>"},
    {"text": None},
    {"reply_to": "c@z.test"},
])  # fmt: skip
def test_what_is_more_than_a_text_is_read(said: dict[str, object]) -> None:
    given = outgoing(**{"text": "Hello", **said})  # type: ignore[arg-type]
    composed = compose(given)
    assert kept_of_composed(given, composed) == digest(composed.raw).kept()
