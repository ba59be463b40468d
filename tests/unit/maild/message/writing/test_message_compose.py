"""What goes on the wire: exact, safe, and read back alike by us and by software we did not write."""

from __future__ import annotations

import email
import email.policy
import quopri
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from email.message import EmailMessage, MIMEPart
from typing import Any

import pytest

from maild.message.parsing.parse import Mailbox, decode_slice, parse, read_text
from maild.message.writing.body_writer import write_base64, write_quoted_printable
from maild.message.writing.compose import Composed, ComposeError, Outgoing, OutgoingAttachment, compose
from maild.message.writing.header_writer import encode_words

BASE = Outgoing(
    from_=Mailbox("Agent", "agent@example.org"),
    to=("bob@example.net",),
    cc=(),
    reply_to=None,
    subject="Hello",
    text="Hi Bob\n",
    html=None,
    attachments=(),
    message_id="<1@example.org>",
    date=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    in_reply_to=None,
    references=(),
    headers=(),
    boundary_seed="seed",
)


def build(**changes: Any) -> Composed:
    composed = compose(replace(BASE, **changes))
    check_wire(composed)
    return composed


def check_wire(composed: Composed) -> None:
    raw = composed.raw
    assert raw[: composed.header_length].endswith(b"\r\n\r\n")
    assert b"\r\n\r\n" not in raw[: composed.header_length - 2]
    assert not re.search(rb"(?<!\r)\n|\r(?!\n)|\x00", raw)
    assert max(map(len, raw.split(b"\r\n"))) <= 998


def stdlib(composed: Composed) -> EmailMessage:
    message = email.message_from_bytes(composed.raw, policy=email.policy.default)
    assert isinstance(message, EmailMessage)
    return message


def field(composed: Composed, name: str) -> str | None:
    return parse(composed.raw).headers.get(name)


def test_the_plainest_message_is_exactly_this() -> None:
    assert build().raw == (
        b"Date: Fri, 02 Jan 2026 03:04:05 +0000\r\nFrom: Agent <agent@example.org>\r\nTo: bob@example.net\r\n"
        b"Subject: Hello\r\nMessage-ID: <1@example.org>\r\nMIME-Version: 1.0\r\n"
        b"Content-Type: text/plain; charset=us-ascii\r\nContent-Transfer-Encoding: 7bit\r\n\r\nHi Bob\r\n"
    )


def test_same_input_same_octets_and_other_seed_other_boundary() -> None:
    assert build(html="<p>x</p>").raw == build(html="<p>x</p>").raw
    assert build(html="<p>x</p>").raw != build(html="<p>x</p>", boundary_seed="other").raw


@pytest.mark.parametrize(
    ("text", "html", "attachments", "shape"),
    [
        (None, None, 0, "text/plain"),
        ("t", None, 0, "text/plain"),
        (None, "h", 0, "text/html"),
        ("t", "h", 0, "multipart/alternative[text/plain,text/html]"),
        ("t", None, 1, "multipart/mixed[text/plain,a/b]"),
        ("t", "h", 2, "multipart/mixed[multipart/alternative[text/plain,text/html],a/b,a/b]"),
    ],
)
def test_structure(text: str | None, html: str | None, attachments: int, shape: str) -> None:
    files = tuple(OutgoingAttachment("f.bin", "a/b", b"x") for _ in range(attachments))

    def show(message: MIMEPart) -> str:
        kind = message.get_content_type()
        if not message.is_multipart():
            return kind
        return f"{kind}[{','.join(show(part) for part in message.iter_parts())}]"

    assert show(stdlib(build(text=text, html=html, attachments=files))) == shape


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("plain\nlines\n", "7bit"),
        ("", "7bit"),
        ("x" * 78, "7bit"),
        ("x" * 79, "quoted-printable"),
        ("x" * 5000, "quoted-printable"),
        ("trailing \nblank", "quoted-printable"),
        ("tab at end\t", "quoted-printable"),
        ("From here", "quoted-printable"),
        ("a\nFrom here", "quoted-printable"),
        ("a\n.\nb", "quoted-printable"),
        (".", "quoted-printable"),
        ("bell \x07", "quoted-printable"),
        ("Grüße an alle, die dies lesen wollen. " * 20, "quoted-printable"),
        ("日本語のテキスト" * 50, "base64"),
    ],
)
def test_the_transfer_encoding_suits_the_text(text: str, encoding: str) -> None:
    composed = build(text=text)
    assert field(composed, "content-transfer-encoding") == encoding
    assert read_text(composed.raw, parse(composed.raw).text)[0] == text
    body = composed.raw[composed.header_length :]
    assert not re.search(rb"(?m)^From |^\.\r?$", body)
    assert max(map(len, body.split(b"\r\n"))) <= 78
    assert body.isascii()


@pytest.mark.parametrize(
    "text", ["a\r\nb", "a\nb", "a\rb", "a\n\r\nb\r", "a\0b", "\ud800", "\r\n.\r\nMAIL FROM:<x>\r\n"]
)
def test_smuggling_sequences_never_reach_the_wire(text: str) -> None:
    composed = build(text=text, html=text)
    expected = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    got = read_text(composed.raw, parse(composed.raw).text)[0]
    assert got == expected.replace("\ud800", "\ufffd")


def test_attachments_come_through_exactly() -> None:
    files = (
        OutgoingAttachment("a.bin", "application/octet-stream", bytes(range(256)) * 100),
        OutgoingAttachment("Größe 日本.pdf", "application/pdf", b""),
        OutgoingAttachment("x" * 195 + ".txt", "Text/Plain; charset=UTF-8", b"x\n"),
        OutgoingAttachment("ü" * 118 + ".txt", "text/csv", b"1,2"),  # 240 octets
        OutgoingAttachment('quote"back.txt', "text/plain", b"q"),
        OutgoingAttachment("=?utf-8?q?x?=.txt", "text/plain", b"q"),
        OutgoingAttachment("50%41.txt", "text/plain", b"q"),
    )
    composed = build(attachments=files)
    message = parse(composed.raw)
    assert [a.filename for a in message.attachments] == [one.filename for one in files]
    assert [part.get_filename() for part in stdlib(composed).iter_attachments()] == [
        one.filename for one in files
    ]
    for sent, got in zip(files, message.attachments, strict=True):
        at = got.slice
        assert decode_slice(composed.raw[at.offset : at.offset + at.length], at.encoding) == sent.content
        assert got.size_bytes == len(sent.content)


@pytest.mark.parametrize(
    ("filename", "type_parameter", "disposition_parameters"),
    [
        ("plain, (1) 100%.pdf", "", '; filename="plain, (1) 100%.pdf"'),
        ("é.pdf", '; name="_.pdf"', "; filename*=utf-8''%C3%A9.pdf"),
        ('a"b;c.pdf', '; name="a_b_c.pdf"', "; filename*=utf-8''a%22b%3Bc.pdf"),
        (
            "=?utf-8?q?x?=.pdf",
            '; name="=_utf-8?q?x?=.pdf"',
            "; filename*=utf-8''%3D%3Futf-8%3Fq%3Fx%3F%3D.pdf",
        ),
        (
            "é" * 12,
            f'; name="{"_" * 12}"',
            f"; filename*0*=utf-8''{'%C3%A9' * 9}; filename*1*={'%C3%A9' * 3}",
        ),
    ],
)
def test_a_name_that_needs_rfc_2231_stands_alone_in_its_field(
    filename: str, type_parameter: str, disposition_parameters: str
) -> None:
    composed = build(attachments=(OutgoingAttachment(filename, "application/pdf", b"x"),))
    unfolded = composed.raw.replace(b"\r\n ", b" ").decode()
    assert f"\r\nContent-Type: application/pdf{type_parameter}\r\n" in unfolded
    assert f"\r\nContent-Disposition: attachment{disposition_parameters}\r\n" in unfolded
    (part,) = stdlib(composed).iter_attachments()
    assert part.get_filename() == filename
    assert not part["content-disposition"].defects and not part["content-type"].defects


@pytest.mark.parametrize("filename", ["имя файла" * 13, "名" * 80, "👋" * 60, "é" * 118 + "👋"])
def test_the_sections_of_a_name_stand_in_the_order_of_their_names(filename: str) -> None:
    """Ruby's mail sorts them as text, `*10*` before `*2*`, and joins the name so."""
    composed = build(attachments=(OutgoingAttachment(filename, "application/pdf", b"x"),))
    named = re.findall(rb"filename\*(\d+)\*=", composed.raw)
    assert len(named) > 1 and named == sorted(named)
    (part,) = stdlib(composed).iter_attachments()
    assert part.get_filename() == filename


@pytest.mark.parametrize(
    ("content_type", "content", "written"),
    [
        ("text/csv", "größe;1\n".encode(), "text/csv; charset=utf-8"),
        ("text/csv", "größe;1\n".encode() * 20_000, "text/csv; charset=utf-8"),
        ("text/csv", b"a" * 100_000 + "ö".encode(), "text/csv; charset=utf-8"),
        ("text/csv", b"a" * 100_000 + "ö".encode()[:1], "text/csv"),
        ("text/csv", b"size;1\n", "text/csv"),
        ("text/csv", "größe;1\n".encode("latin-1"), "text/csv"),
        ("text/csv", "größe\0".encode(), "text/csv"),
        ("text/csv; charset=big5", "größe;1\n".encode(), "text/csv; charset=big5"),
        ("application/json", '"größe"'.encode(), "application/json"),
    ],
)
def test_a_text_file_in_utf_8_says_so(content_type: str, content: bytes, written: str) -> None:
    """RFC 2046 §4.1.2: without a charset it would be US-ASCII."""
    composed = build(attachments=(OutgoingAttachment("a", content_type, content),))
    assert f"\r\nContent-Type: {written}\r\n".encode() in composed.raw


def test_what_html_shows_lies_in_a_part_that_tells_its_root() -> None:
    """RFC 2387 §3.1."""
    picture = OutgoingAttachment("a.png", "image/png", b"x", "a@x.test")
    for text, root in (("words", "multipart/alternative"), (None, "text/html")):
        message = stdlib(build(text=text, html="<img src='cid:a@x.test'>", attachments=(picture,)))
        assert (message.get_content_type(), message.get_param("type")) == ("multipart/related", root)
        (first, *_) = message.iter_parts()
        assert first.get_content_type() == root


def test_an_attached_message_is_not_encoded() -> None:
    mail = b"Subject: x\r\n\r\nbody\r\n"
    composed = build(attachments=(OutgoingAttachment("m.eml", "message/rfc822", mail),))
    (got,) = parse(composed.raw).attachments
    assert (got.content_type, got.slice.encoding) == ("message/rfc822", "identity")
    assert mail in composed.raw
    for unfit in (b"bare\nline", b"\xff", b"x" * 999, b"\0", b"a\rb"):
        composed = build(attachments=(OutgoingAttachment("m.eml", "message/rfc822", unfit),))
        (got,) = parse(composed.raw).attachments
        assert (got.content_type, got.size_bytes) == ("application/octet-stream", len(unfit))


@pytest.mark.parametrize("size", [0, 1, 56, 57, 58, 57 * 256 - 1, 57 * 256, 57 * 256 + 1, 57 * 1000])
def test_base64_lines_are_76_and_exact(size: int) -> None:
    octets = bytes(n % 251 for n in range(size))
    encoded = write_base64(octets)
    assert decode_slice(encoded, "base64") == octets
    lines = encoded.split(b"\r\n")
    assert all(len(line) == 76 for line in lines[:-1])
    assert size == 0 or 0 < len(lines[-1]) <= 76


def test_quoted_printable_protects_special_lines() -> None:
    for octets in (
        b"From a",
        b".\r\nFrom b\r\n.",
        b".",
        b"..",
        b"a \r\nb\t",
        "ü".encode() * 100,
        b"x" * 1000,
    ):
        encoded = write_quoted_printable(octets)
        assert decode_slice(encoded, "quoted-printable") == octets
        assert not re.search(rb"(?m)^From |^\.\r?$|[ \t]\r?$", encoded)


def test_quoted_printable_lines_are_76_at_most_and_exact() -> None:
    """RFC 2045 §6.7 (5)."""
    for length in range(10, 80):
        for text in (
            "From " + "x" * length + "\nä",
            "From " + "x" * length + " From me",
            "From " + " " * length + "\nä",
            "From " + "ä" * length + "\t",
            "x" * length + " \ny",
            "ä" + "x" * length + "\t\ny",
        ):
            encoded = write_quoted_printable(text.replace("\n", "\r\n").encode())
            lines = encoded.split(b"\r\n")
            assert max(map(len, lines)) <= 76, text
            assert not any(line.startswith(b"From ") or line.endswith((b" ", b"\t")) for line in lines), text
            assert quopri.decodestring(encoded).decode().replace("\r\n", "\n") == text


@pytest.mark.parametrize(
    "subject",
    [
        "",
        "plain",
        "Grüße",
        "日本語の件名" * 20,
        "x" * 70,
        "x" * 500,
        "word " * 100 + "end",
        "a  b",
        "=?utf-8?q?x?=",
        "a =?= b",
        "😀" * 40,
        "ü" * 300,
        "tail =",
        'quo"te, <x@y>',
        "1" * 66,
        "Re: " + "é" + "x" * 200,
        "Re:  two blanks " + "é",
        "one two three four five six seven eight é",
        "x" * 70 + " é",
        "two  blanks, and  words " * 10 + "end",
    ],
)
def test_subjects_come_through_exactly(subject: str) -> None:
    composed = build(subject=subject)
    assert parse(composed.raw).subject == subject
    assert stdlib(composed)["subject"] == subject
    lines = composed.raw[: composed.header_length].split(b"\r\n")
    assert all(len(line) <= 78 for line in lines if line.count(b" ") > 1)  # no fold shortens a word
    assert all(len(word) <= 75 for line in lines for word in line.split() if word.startswith(b"=?"))


@pytest.mark.parametrize(
    ("subject", "written"),
    [
        ("Re: 您好", "Re: =?utf-8?b?5oKo5aW9?="),
        ("Re: a =? b", "Re: a =?utf-8?q?=3D=3F_b?="),
        ("a  b", "a  b"),
        ("x" * 200, "x" * 200),
        ("", ""),
        (" \x07 ", ""),
    ],
)
def test_subjects_are_encoded_from_where_they_must_be(subject: str, written: str) -> None:
    field = f"Subject: {written}".rstrip(" ")
    assert f"\r\n{field}\r\n".encode() in build(subject=subject, headers=(("X-Empty", ""),)).raw
    assert b"\r\nX-Empty:\r\n" in build(headers=(("X-Empty", " "),)).raw


@pytest.mark.parametrize("length", range(20, 60))
def test_a_line_with_an_encoded_word_has_76_octets_at_most(length: int) -> None:
    """RFC 2047 §2."""
    head = build(from_=Mailbox("é" * 10, f"{'b' * length}@example.org")).raw.split(b"\r\n\r\n")[0]
    assert max(len(line) for line in head.split(b"\r\n") if b"=?" in line) <= 76


@pytest.mark.parametrize(
    "name", ["Bob", "Bob Q. Public", 'B "x" \\ y', "Böb, Inc.", "日本" * 40, "x" * 300, "a@b.c", "=?u?q?x?="]
)
def test_display_names_come_through_exactly(name: str) -> None:
    composed = build(from_=Mailbox(name, "bob@example.org"))
    assert parse(composed.raw).from_ == Mailbox(name, "bob@example.org")
    sender = stdlib(composed)["from"].addresses[0]
    # Python 3.11 shows the blanks between encoded words of a phrase, against RFC 2047 §6.2.
    assert sender.display_name.replace(" ", "") == name.replace(" ", "")
    assert sender.addr_spec == "bob@example.org"


@pytest.mark.parametrize(
    ("name", "written"),
    [("x" * 100, "x" * 100), ("Ada Q., " * 12, f'"{("Ada Q., " * 12).strip()}"'), ("Bob Jones " * 9, None)],
)
def test_names_of_ascii_are_not_encoded_and_have_no_fold(name: str, written: str | None) -> None:
    field = f"From: {written or name.strip()}\r\n <bob@example.org>\r\n"
    assert field.encode() in build(from_=Mailbox(name, "bob@example.org")).raw


def test_a_blank_display_name_is_none() -> None:
    assert b"From: bob@example.org\r\n" in build(from_=Mailbox(" \r\n", "bob@example.org")).raw


INJECTIONS = [
    "x\r\nBcc: victim@example.com",
    "x\nBcc: victim@example.com",
    "x\rBcc: victim@example.com",
    "x\r\n\r\nbody",
    "x\0y",
    "x\u2028Bcc: v@x.org",
    "x\u0085Bcc: v@x.org",
    "=?utf-8?q?=0D=0ABcc:_v@x.org?=",
    "%0d%0aBcc: v@x.org",
    "x\r\n Bcc: v@x.org",
    "\ud800",
    "x\x0bBcc: v@x.org\x0c",
]


@pytest.mark.parametrize("payload", INJECTIONS)
def test_no_value_leaves_its_field(payload: str) -> None:
    wanted = [name for name, _ in parse(build().raw).headers.items()]
    attempts: list[dict[str, Any]] = [
        {"subject": payload},
        {"from_": Mailbox(payload, "a@x.org")},
        {"from_": Mailbox("A", payload)},
        {"to": (payload,)},
        {"to": (payload + "@x.org",)},
        {"to": (f"a@{payload}",)},
        {"message_id": payload},
        {"message_id": f"<{payload}>"},
        {"text": payload},
    ]
    for changes in attempts:
        try:
            composed = build(**changes)
        except ComposeError:
            continue
        assert [name for name, _ in parse(composed.raw).headers.items()] == wanted
        assert [name.lower() for name in stdlib(composed)] == [name.lower() for name in wanted]
    optional: list[dict[str, Any]] = [
        {"cc": (payload,)},
        {"reply_to": payload},
        {"in_reply_to": payload},
        {"references": (payload,)},
        {"headers": (("X-A", payload),)},
        {"headers": ((payload, "v"),)},
        {"headers": (("List-Unsubscribe", payload),)},
    ]
    for changes in optional:
        try:
            composed = build(**changes)
        except ComposeError:
            continue
        assert len(parse(composed.raw).headers) == len(wanted) + 1
        assert "bcc" not in stdlib(composed)


@pytest.mark.parametrize(
    ("content_type", "written"),
    [
        ("Text/Calendar; Method=REPLY; charset=UTF-8", "text/calendar; method=REPLY; charset=UTF-8"),
        ('text/plain;format=flowed ; x="a; b"', 'text/plain; format=flowed; x="a; b"'),
        ("text/plain; charset=us-ascii; CHARSET=big5", "text/plain; charset=us-ascii"),
        ("image/png; name=evil.exe; boundary=--x", "image/png"),
        (
            "application/vnd.oasis.opendocument.text; version=1.2; profile=extended",
            "application/vnd.oasis.opendocument.text;\r\n version=1.2;\r\n profile=extended",
        ),
    ],
)
def test_a_content_type_keeps_what_its_reader_goes_by(content_type: str, written: str) -> None:
    """RFC 6047 §2.4: a calendar takes an answer to an invitation by the `method` there."""
    composed = build(attachments=(OutgoingAttachment("a.bin", content_type, b"x"),))
    assert f"\r\nContent-Type: {written}\r\nContent-Transfer-Encoding: base64\r\n".encode() in composed.raw


@pytest.mark.parametrize("payload", INJECTIONS)
def test_no_file_name_or_type_leaves_its_field(payload: str) -> None:
    for filename, content_type in (
        (payload, "a/b"),
        ("f", payload),
        ("f", f"a/b; charset={payload}"),
        ("f", f"a/{payload}"),
    ):
        try:
            composed = build(attachments=(OutgoingAttachment(filename, content_type, b"x"),))
        except ComposeError:
            continue
        assert "bcc" not in stdlib(composed)
        (part,) = stdlib(composed).iter_attachments()
        assert set(map(str.lower, part.keys())) == {
            "content-type", "content-transfer-encoding", "content-disposition"
        }  # fmt: skip


@pytest.mark.parametrize("name", ["", "X A", "X:A", "Ü", "X-A\r\n", "x" * 200])
def test_header_names_are_tokens(name: str) -> None:
    with pytest.raises(ComposeError):
        compose(replace(BASE, headers=((name, "v"),)))


def test_extra_headers_are_folded_and_never_encoded_when_ascii() -> None:
    url = "<https://mail.example.org/v1/unsubscribe?token=" + "t" * 200 + ">"
    value = f"{url}, <mailto:u@example.org?subject=unsubscribe>"
    composed = build(
        headers=(("List-Unsubscribe", value), ("X-Note", "Grüße"), ("X-Long", "w " * 200 + "end"))
    )
    assert field(composed, "List-Unsubscribe") == value
    assert url.encode() in composed.raw
    assert stdlib(composed)["X-Note"] == "Grüße"
    assert field(composed, "X-Long") == "w " * 200 + "end"
    for unfit in ("x" * 2000, "a " + "x" * 998):
        with pytest.raises(ComposeError):
            compose(replace(BASE, headers=(("X-A", unfit),)))
    with pytest.raises(ComposeError):
        compose(replace(BASE, headers=(("List-Unsubscribe", "<https://é>"),)))


def test_references_are_folded_between_ids_and_never_encoded() -> None:
    ids = tuple(f"<{'x' * 60}{n}@example.org>" for n in range(40))
    composed = build(references=ids, in_reply_to="<" + "y" * 200 + "@x>")
    assert parse(composed.raw).references == ids
    assert b"=?" not in composed.raw
    assert stdlib(composed)["References"].split() == list(ids)
    assert parse(composed.raw).in_reply_to == "<" + "y" * 200 + "@x>"


def test_recipients_are_folded_and_bcc_only_mail_has_an_empty_group() -> None:
    to = tuple(f"user{n}@example.org" for n in range(200))
    composed = build(to=to, cc=("c@x.org",))
    assert tuple(box.address for box in parse(composed.raw).to) == to
    assert max(map(len, composed.raw.split(b"\r\n"))) <= 78
    assert b"To: undisclosed-recipients:;\r\n" in build(to=()).raw
    assert b"\r\nTo:" not in build(to=(), cc=("c@x.org",)).raw


def test_international_addresses() -> None:
    composed = build(to=("jö@bücher.example",), reply_to='"a b"@x.org')
    assert "To: jö@xn--bcher-kva.example\r\n".encode() in composed.raw
    assert b'Reply-To: "a b"@x.org\r\n' in composed.raw


@pytest.mark.parametrize(
    "address",
    [
        "",
        "a",
        "@x",
        "a@",
        "a b@x.org",
        "a@x.org,b@y.org",
        "a@x.org>",
        "<a@x.org>",
        "a@b@c.org",
        "a..b@é.org",
        "a@x.org\n",
        "x" * 300 + "@x.org",
        "a(b)@x.org",
        "a@x;y",
        "a:b@x.org",
        "a@\u202ex.org",
        "\u202ea@x.org",
    ],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ComposeError):
        compose(replace(BASE, to=(address,)))


def test_dates_have_a_zone() -> None:
    moment = datetime(2026, 2, 28, 23, 59, 60 - 1, tzinfo=timezone(-timedelta(hours=3, minutes=30)))
    assert b"Date: Sat, 28 Feb 2026 23:59:59 -0330\r\n" in build(date=moment).raw
    with pytest.raises(ComposeError):
        compose(replace(BASE, date=moment.replace(tzinfo=None)))


def test_encoded_words_never_split_a_character() -> None:
    for word in encode_words("aü日😀" * 50, 40):
        assert len(word) <= 75
        assert email.header.decode_header(word)[0][0].decode("utf-8")


@pytest.mark.parametrize(
    "text", ["aü日😀" * 50, "日" * 100, "a" + "日" * 100, "ü" * 99, "😀" * 50, "日 " + "日" * 60, "日a" * 60]
)
def test_base64_of_encoded_words_is_padded_in_the_last_alone(text: str) -> None:
    words = encode_words(text, 9)
    padded = [word for word in words if word.startswith("=?utf-8?b?") and "=" in word[10:-2]]
    assert padded in ([], words[-1:])
    assert str(email.header.make_header(email.header.decode_header("\r\n ".join(words)))) == text


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("Jürgen <j@x.test>", "=?utf-8?q?J=C3=BCrgen?= <j@x.test>"),
        ('"Müller, J" <j@x.test>, b@y.test', "=?utf-8?q?M=C3=BCller=2C_J?= <j@x.test>, b@y.test"),
        ("j@bücher.test", "j@xn--bcher-kva.test"),
        ("desk: j@x.test;", "desk: j@x.test;"),
        ("=?utf-8?q?J=C3=BCrgen?= <j@x.test>", "=?utf-8?q?J=C3=BCrgen?= <j@x.test>"),
    ],
)
@pytest.mark.parametrize("name", ["Reply-To", "Disposition-Notification-To"])
def test_addresses_in_headers_of_ones_own_stay_addresses(name: str, value: str, written: str) -> None:
    """RFC 2047 §5 (3): no part of an address is encoded."""
    unfolded = build(headers=((name, value),)).raw.replace(b"\r\n ", b" ")
    assert f"\r\n{name}: {written}\r\n".encode() in unfolded


@pytest.mark.parametrize("value", ["", "nobody", "Jürgen", "Müller, J <j@x.test>", "a@x.test b@y.test"])
def test_a_reply_to_that_names_nobody_for_certain_is_refused(value: str) -> None:
    with pytest.raises(ComposeError, match="must be addresses"):
        compose(replace(BASE, headers=(("Reply-To", value),)))
