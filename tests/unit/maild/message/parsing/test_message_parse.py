"""What `parse` promises: the body a reader would see, exact slices, and defects instead of errors."""

from __future__ import annotations

import mmap
from pathlib import Path

import pytest

from maild.message.parsing.parse import (
    MAX_ANSWERED,
    MAX_DEPTH,
    MAX_HEADER_BYTES,
    MAX_PARTS,
    MAX_REFERENCES,
    AttachmentPart,
    ParsedMessage,
    decode_slice,
    parse,
    read_text,
)


def crlf(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


def content(raw: bytes, attachment: AttachmentPart) -> bytes:
    at = attachment.slice
    return decode_slice(raw[at.offset : at.offset + at.length], at.encoding)


def text_of(raw: bytes, message: ParsedMessage) -> str:
    return read_text(raw, message.text)[0]


def html_of(raw: bytes, message: ParsedMessage) -> str:
    return read_text(raw, message.html)[0]


PLAIN = crlf(
    "From: Alice <alice@example.org>\nTo: Bob <bob@example.net>, carol@example.net\n"
    "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\n =?utf-8?b?IGF1cyBCZXJsaW4=?=\n"
    "Message-ID: <1@example.org>\n\nHello\n"
)


def test_a_plain_message_is_indexed() -> None:
    message = parse(PLAIN)
    assert message.from_ is not None
    assert (message.from_.name, message.from_.address) == ("Alice", "alice@example.org")
    assert [box.address for box in message.to] == ["bob@example.net", "carol@example.net"]
    assert message.subject == "Grüße aus Berlin"
    assert message.message_id == "<1@example.org>"
    assert text_of(PLAIN, message) == "Hello\n"
    assert message.header_length == PLAIN.index(b"Hello")
    assert message.defects == ()


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_every_buffer_gives_the_same_index(kind: type) -> None:
    assert parse(kind(PLAIN)).text == parse(PLAIN).text


def test_a_mapped_file_is_read_and_can_be_closed(tmp_path: Path) -> None:
    path = tmp_path / "m"
    raw = PLAIN.replace(b"\r\n\r\nHello", b"\r\nContent-Type: application/pdf\r\n\r\nHello")
    path.write_bytes(raw)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        message = parse(mapped)
        assert message.attachments == parse(raw).attachments
        assert read_text(mapped, message.text) == ("", False)


def test_bare_line_feeds_are_read_like_crlf() -> None:
    raw = PLAIN.replace(b"\r\n", b"\n")
    assert text_of(raw, parse(raw)) == "Hello\n"
    assert parse(raw).subject == "Grüße aus Berlin"


@pytest.mark.parametrize(
    ("raw", "body"),
    [
        (b"", ""),
        (b"\r\n", ""),
        (b"\r\nbody", "body"),
        (b"no header at all", "no header at all"),
        (b"not a field\r\n\r\nmore", "not a field\n\nmore"),
        (b"Subject: x", ""),
        (b"Subject: x\r\n\r\n", ""),
        (b"From bob@x Mon Jan 1 00:00:00 2026\r\nSubject: x\r\n\r\nbody", "body"),
    ],
)
def test_where_the_body_begins(raw: bytes, body: str) -> None:
    assert text_of(raw, parse(raw)) == body


def test_headers_keep_order_case_and_repetition() -> None:
    headers = parse(b"X-B: 1\r\nx-a: two\r\n folded\r\nX-B: 3\r\nbroken line\r\nSubject : s\r\n\r\n").headers
    assert list(headers.items()) == [("X-B", "1"), ("x-a", "two folded"), ("X-B", "3"), ("Subject", "s")]
    assert headers.get("x-b") == "1"
    assert headers.get_all("x-b") == ["1", "3"]
    assert headers.get("none") is None
    assert headers.get_all("none") == []
    assert "x-A" in headers
    assert len(headers) == 4


def test_eight_bit_headers_are_utf8_then_latin1() -> None:
    message = parse("Subject: Grüße\r\nX-L: ".encode() + b"\xe9t\xe9\r\n\r\n")
    assert message.subject == "Grüße"
    assert message.headers.get("x-l") == "été"


def test_alternative_gives_one_text_and_one_html() -> None:
    raw = crlf(
        'From: a@x.org\nContent-Type: multipart/alternative; boundary="b"\n\npreamble\n'
        "--b\nContent-Type: text/plain; charset=utf-8\n"
        "Content-Transfer-Encoding: quoted-printable\n\nGr=C3=BC=\n=C3=9Fe\n"
        "--b\nContent-Type: text/html\n\n<p>Hi</p>\n"
        "--b\nContent-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\n--b--\nepilogue\n"
    )
    message = parse(raw)
    assert text_of(raw, message) == "Grüße"
    assert html_of(raw, message) == "<p>Hi</p>"
    assert [a.filename for a in message.attachments] == ["invite.ics"]


def test_a_second_html_in_an_alternative_is_no_second_body() -> None:
    raw = crlf(
        "Content-Type: multipart/alternative; boundary=b\n\n"
        "--b\nContent-Type: text/html\n\none\n--b\nContent-Type: text/html\n\ntwo\n--b--\n"
    )
    message = parse(raw)
    assert html_of(raw, message) == "one"
    assert [content(raw, a) for a in message.attachments] == [b"two"]


def test_related_pictures_are_inline_and_the_root_is_the_html() -> None:
    raw = crlf(
        'Content-Type: multipart/related; boundary=r; type="multipart/alternative"\n\n'
        "--r\nContent-Type: multipart/alternative; boundary=a\n\n"
        "--a\n\nplain\n--a\nContent-Type: text/html\n\n<img src=cid:i>\n--a--\n"
        "--r\nContent-Type: image/png; name=i.png\nContent-ID: <i@x>\nContent-Disposition: attachment\n"
        "Content-Transfer-Encoding: base64\n\niVBORw0KGgo=\n"
        "--r\nContent-Type: text/plain\n\nnot body\n--r--\n"
    )
    message = parse(raw)
    assert (text_of(raw, message), html_of(raw, message)) == ("plain", "<img src=cid:i>")
    picture, note = message.attachments
    assert (picture.filename, picture.content_id, picture.is_inline) == ("i.png", "i@x", True)
    assert (picture.size_bytes, content(raw, picture)) == (8, b"\x89PNG\r\n\x1a\n")
    assert (content(raw, note), note.is_inline) == (b"not body", True)


def test_mixed_joins_unnamed_text_and_keeps_named_text_apart() -> None:
    raw = crlf(
        "Content-Type: multipart/mixed; boundary=m\n\n--m\n\nfirst\n"
        '--m\nContent-Type: text/plain; name="notes.txt"\n\nnotes\n'
        "--m\nContent-Type: text/plain\nContent-Disposition: attachment\n\nattached\n"
        "--m\nContent-Type: text/plain\nContent-Disposition: inline\n\nfooter\n--m--\n"
    )
    message = parse(raw)
    assert text_of(raw, message) == "first\nfooter"
    assert [a.filename for a in message.attachments] == ["notes.txt", "attachment-2.txt"]


def test_a_bounce_keeps_its_machine_parts_as_attachments() -> None:
    raw = crlf(
        "From: MAILER-DAEMON@x.org\n"
        "Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n"
        "--b\n\nIt failed.\n--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\n"
        "Final-Recipient: rfc822; a@b\n"
        "--b\nContent-Type: message/rfc822\n\nSubject: original\n\nbody\n--b\n"
        "Content-Type: text/rfc822-headers\n\nSubject: x\n--b--\n"
    )
    message = parse(raw)
    assert text_of(raw, message) == "It failed."
    assert [a.filename for a in message.attachments] == ["delivery-status.txt", "message.eml", "headers.txt"]
    assert content(raw, message.attachments[1]) == b"Subject: original\r\n\r\nbody"


def test_a_forwarded_message_is_not_descended() -> None:
    inner = "Content-Type: multipart/mixed; boundary=i\n\n--i\n\ninner\n--i--\n"
    raw = crlf(
        f"Content-Type: multipart/mixed; boundary=o\n\n--o\n\nouter\n--o\n"
        f"Content-Type: message/rfc822\n\n{inner}--o--\n"
    )
    message = parse(raw)
    assert text_of(raw, message) == "outer"
    assert [a.content_type for a in message.attachments] == ["message/rfc822"]


def test_parts_of_a_digest_are_messages() -> None:
    raw = crlf("Content-Type: multipart/digest; boundary=d\n\n--d\n\nSubject: a\n\nx\n--d--\n")
    assert parse(raw).attachments[0].content_type == "message/rfc822"


def test_apple_mail_text_around_a_picture_stays_together() -> None:
    raw = crlf(
        "Content-Type: multipart/alternative; boundary=a\n\n--a\nContent-Type: text/plain\n\nplain\n"
        "--a\nContent-Type: multipart/mixed; boundary=m\n\n--m\nContent-Type: text/html\n\n<p>1</p>\n"
        "--m\nContent-Type: application/pdf; name=x.pdf\nContent-Disposition: inline; filename=x.pdf\n\nPDF\n"
        "--m\nContent-Type: text/html\n\n<p>2</p>\n--m--\n--a--\n"
    )
    message = parse(raw)
    assert text_of(raw, message) == "plain"
    assert html_of(raw, message) == "<p>1</p>\n<p>2</p>"
    assert [(a.filename, a.is_inline) for a in message.attachments] == [("x.pdf", True)]


@pytest.mark.parametrize(
    "fields",
    [
        'Content-Disposition: attachment; name="a.png"\n',
        'Content-Disposition: attachment; name="b.png"; filename="a.png"\n',
        'Content-Type: image/png; name="a.png"\nContent-Disposition: attachment; name="b.png"\n',
    ],
)
def test_files_are_named_where_programs_put_the_name(fields: str) -> None:
    (attachment,) = parse(crlf(f"{fields}\nx")).attachments
    assert attachment.filename == "a.png"


def test_an_unknown_transfer_encoding_makes_an_octet_stream() -> None:
    raw = crlf("Content-Type: image/png\nContent-Transfer-Encoding: x-uuencode\n\nbegin\n")
    (attachment,) = parse(raw).attachments
    assert (attachment.content_type, attachment.slice.encoding) == ("application/octet-stream", "identity")
    assert content(raw, attachment) == b"begin\r\n"


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("APPLICATION/PDF", "application/pdf"),
        ("appli cation/pdf", "application/octet-stream"),
        ("image/<b>", "application/octet-stream"),
        ("foo", "application/octet-stream"),
        ("a/b/c", "a/b"),
        ("image/png(comment)", "image/png"),
    ],
)
def test_content_types_are_tokens(declared: str, expected: str) -> None:
    raw = crlf(f"Content-Type: {declared}\nContent-Disposition: attachment\n\nx")
    assert parse(raw).attachments[0].content_type == expected


def test_a_search_for_a_delimiter_takes_work_in_proportion() -> None:
    for line in ("--b\n", "--" + "b" * 900 + "\n", "--b\ncontent-a\n", "--b\n--"):
        raw = crlf("Content-Type: multipart/mixed\n\n" + line * (1_000_000 // len(line)))
        assert parse(raw).text


@pytest.mark.parametrize(
    "declared",
    [
        "multipart/mixed; boundary=b (made here)",
        'multipart/mixed; boundary="b" (made here; boundary=c)',
        "multipart/mixed; (made here) boundary=b",
        "(made here) multipart/mixed; boundary=b",
        "(made (by hand)) multipart/mixed (here);\n (and) boundary=b\n (now)",
    ],
)
def test_comments_around_a_boundary_hide_no_attachment(declared: str) -> None:
    raw = crlf(f"Content-Type: {declared}\n\n--b\n\nfirst\n--b\nContent-Type: image/gif\n\nGIF89a\n--b--\n")
    message = parse(raw)
    assert text_of(raw, message) == "first"
    assert content(raw, message.attachments[0]) == b"GIF89a"


@pytest.mark.parametrize("name", ["report (1).pdf", "report (final)", "(draft).pdf"])
def test_a_name_without_quotes_keeps_its_parentheses(name: str) -> None:
    raw = crlf(f"Content-Type: application/pdf; name={name}\n\nx")
    assert parse(raw).attachments[0].filename == name


def test_a_boundary_without_quotes_keeps_its_parentheses() -> None:
    raw = crlf("Content-Type: multipart/mixed; boundary=b:(1)\n\n--b:(1)\n\nfirst\n--b:(1)--\n")
    assert text_of(raw, parse(raw)) == "first"


def test_missing_end_and_missing_boundary_lose_nothing() -> None:
    raw = crlf(
        "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nfirst\n--b\nContent-Type: image/gif\n\nGIF89a"
    )
    message = parse(raw)
    assert text_of(raw, message) == "first"
    assert content(raw, message.attachments[0]) == b"GIF89a"
    assert message.defects == ("no-author", "missing-end")
    for head in ("multipart/mixed", "multipart/mixed; boundary=zz", 'multipart/mixed; boundary=""'):
        raw = crlf(f"From: a@x.org\nContent-Type: {head}\n\n--b\nhello\n")
        assert "hello" in text_of(raw, parse(raw))
        assert parse(raw).defects == ("missing-boundary",)


def test_an_outer_delimiter_ends_the_inner_parts() -> None:
    raw = crlf(
        "Content-Type: multipart/mixed; boundary=o\n\n--o\n"
        "Content-Type: multipart/alternative; boundary=i\n\n"
        "--i\n\ninner\n--o\nContent-Type: image/gif\n\nGIF\n--i\nnot a part\n--o--\n"
    )
    message = parse(raw)
    assert text_of(raw, message) == "inner"
    assert content(raw, message.attachments[0]) == b"GIF\r\n--i\r\nnot a part"


def test_nested_identical_boundaries_still_give_the_bodies() -> None:
    raw = crlf(
        "Content-Type: multipart/mixed; boundary=b\n\n--b\n"
        "Content-Type: multipart/alternative; boundary=b\n\n"
        "--b\n\ntext\n--b\nContent-Type: text/html\n\nhtml\n--b--\n--b--\n"
    )
    assert (text_of(raw, parse(raw)), html_of(raw, parse(raw))) == ("text", "html")


@pytest.mark.parametrize("line", ["--bb", " --b", "x--b", "--b-", "--b--x", "--B"])
def test_only_a_whole_line_is_a_delimiter(line: str) -> None:
    raw = crlf(f"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nbefore\n{line}\nafter\n--b--\n")
    assert text_of(raw, parse(raw)) == f"before\n{line}\nafter"


def test_blanks_behind_a_delimiter_are_padding() -> None:
    raw = crlf("Content-Type: multipart/mixed; boundary=b\n\n--b \t\n\nbody\n--b-- \t\nrest")
    assert text_of(raw, parse(raw)) == "body"


def test_a_delimiter_is_found_behind_many_lookalikes() -> None:
    raw = crlf(
        "Content-Type: multipart/mixed; boundary=b\n\n--b\n\n" + "--bx\n" * 500 + "--b\n\nlast\n--b--\n"
    )
    assert text_of(raw, parse(raw)).endswith("--bx\nlast")


def test_parts_over_the_limit_stay_one_opaque_attachment() -> None:
    raw = crlf("Content-Type: multipart/mixed; boundary=b\n\n" + "--b\n\nx\n" * (MAX_PARTS + 500) + "--b--\n")
    message = parse(raw)
    assert "too-many-parts" in message.defects
    assert len(message.text) == MAX_PARTS
    assert [a.content_type for a in message.attachments] == ["application/octet-stream"]
    assert content(raw, message.attachments[0]).count(b"--b\r\n") == 499


def test_depth_over_the_limit_stays_opaque_without_recursion() -> None:
    depth = 10_000
    raw = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(depth))
    message = parse(crlf("From: a@x.org\n" + raw))
    assert "too-deep" in message.defects
    assert len(message.attachments) == 1
    assert MAX_DEPTH == 100


def test_a_huge_header_section_is_read_from_its_beginning() -> None:
    raw = b"From: a@x.org\r\n" + b"X-Filler: " + b"y" * MAX_HEADER_BYTES + b"\r\nSubject: late\r\n\r\nbody"
    message = parse(raw)
    assert message.defects == ("header-too-large",)
    assert message.from_ is not None
    assert message.subject == ""
    assert text_of(raw, message) == "body"


def test_ids_keep_brackets_and_references_keep_the_first_and_the_newest() -> None:
    many = " ".join(f"<{n}@x>" for n in range(250))
    message = parse(
        f"Message-ID: bare@x\r\nIn-Reply-To: Your mail <p@x> of today\r\nReferences: {many}\r\n\r\n".encode()
    )
    assert message.message_id == "<bare@x>"
    assert message.in_reply_to == "<p@x>"
    assert message.references == ("<0@x>", *(f"<{n}@x>" for n in range(250 - MAX_REFERENCES + 1, 250)))
    assert parse(b"Message-ID: two words\r\n\r\n").message_id is None


@pytest.mark.parametrize(
    "declared", ["multipart; boundary=a", "multipart/; boundary=a", "Multipart boundary=a"]
)
def test_a_multipart_that_does_not_say_of_which_kind_is_mixed(declared: str) -> None:
    raw = crlf(f"Content-Type: {declared}\n\n--a\n\nhi\n--a\nContent-Type: image/png\n\nx\n--a--\n")
    message = parse(raw)
    assert (text_of(raw, message), len(message.attachments), message.defects) == ("hi", 1, ("no-author",))


def test_an_empty_field_hides_none_of_its_name() -> None:
    """Programs that add a field where one stands already."""
    twice = ("Message-ID", "<m@x>"), ("In-Reply-To", "<a@x>"), ("References", "<r@x>\r\n <a@x>")
    message = parse("".join(f"{name}:\r\n{name}: {ids}\r\n" for name, ids in twice).encode() + b"\r\n")
    assert (message.message_id, message.answered, message.references) == (
        "<m@x>",
        ("<a@x>",),
        ("<r@x>", "<a@x>"),
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("<a@x>", ("<a@x>",)),
        ("<a@x> <b@x>", ("<a@x>", "<b@x>")),
        ("<a@x><a@x>, <b@x>", ("<a@x>", "<b@x>")),
        ("(from <j@x> at noon) <a@x> (not <b@x>)", ("<a@x>",)),
        ("bare@x (a comment)", ("<bare@x>",)),
        ("(only <j@x>)", ()),
        ("", ()),
        (" ".join(f"<{n}@x>" for n in range(50)), tuple(f"<{n}@x>" for n in range(MAX_ANSWERED))),
    ],
)
def test_what_a_message_answers_stands_outside_comments(value: str, expected: tuple[str, ...]) -> None:
    """RFC 5322 §3.6.4."""
    message = parse(crlf(f"In-Reply-To: {value}\nReferences: (not <c@x>) <r@x>\n\n"))
    assert message.answered == expected
    assert message.in_reply_to == (expected[0] if expected else None)
    assert message.references == ("<r@x>",)


LONG_ID = "<AM0PR04MB4531C0C2D8F1C37E4E1E9A0C8F9A9@AM0PR04MB4531.eurprd04.prod.outlook.com>"


# As Python's email library writes ids that fit no line, which Outlook's do not: it takes them for words of a text.
ENCODED_IDS = b"""\
In-Reply-To: =?utf-8?q?=3CAM0PR04MB4531C0C2D8F1C37E4E1E9A0C8F9A9=40AM0PR04MB45?=
 =?utf-8?q?31=2Eeurprd04=2Eprod=2Eoutlook=2Ecom=3E?=
References: <first@x> =?utf-8?q?=3CAM0PR04MB4531C0C2D8F1C37E4E1E9A0C8F9A9=40?=
 =?utf-8?q?AM0PR04MB4531=2Eeurprd04=2Eprod=2Eoutlook=2Ecom=3E?=

""".replace(b"\n", b"\r\n")


def test_ids_that_stand_in_encoded_words_are_read() -> None:
    message = parse(ENCODED_IDS)
    assert message.answered == (LONG_ID,)
    assert message.references == ("<first@x>", LONG_ID)


@pytest.mark.parametrize(
    "written",
    [
        "a@x b@y.org",  # scripts take the brackets off
        "a@x, b@y.org",
        "&lt;a@x&gt; &lt;b@y.org&gt;",  # templates for pages
        "< a@x > <b@\n y.org>",
        "=?UTF-8?B?PGFAeD4=?= =?us-ascii?q?=3Cb@y.org=3E?=",
    ],
)
def test_ids_are_read_however_programs_wrote_them(written: str) -> None:
    message = parse(crlf(f"In-Reply-To: {written}\nReferences: {written}\n\n"))
    assert message.answered == ("<a@x>", "<b@y.org>")
    assert message.references == ("<a@x>", "<b@y.org>")


@pytest.mark.parametrize(
    "value", ["Your mail of 4 May", "ann@x wrote", "<see below>", "=?utf-8?q?=3C=00=3E?=", "<>"]
)
def test_words_are_no_ids(value: str) -> None:
    message = parse(crlf(f"In-Reply-To: {value}\nReferences: {value}\n\n"))
    assert (message.answered, message.references) == ((), ())


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("Auto-Submitted: auto-replied", True),
        ("Auto-Submitted: Auto-Replied; owner=x", True),
        ("Auto-Submitted: auto-replied (vacation)", True),
        ("Precedence: auto_reply", True),
        ("X-Autoreply: yes", True),
        ("Auto-Submitted: auto-generated\nSubject: Automatic reply: Hello", True),
        ("Auto-Submitted: auto-generated\nSubject: Your invoice", False),
        ("Subject: Out of office next week?", False),
        ("Auto-Submitted: no", False),
        ("Precedence: bulk", False),
    ],
)
def test_auto_replies_are_told_from_automatic_mail(fields: str, expected: bool) -> None:
    assert parse(crlf(fields + "\n\n")).is_auto_reply is expected


def test_subject_has_no_control_characters_even_encoded_ones() -> None:
    message = parse(b"Subject: a\x00b =?utf-8?q?c=0D=0ABcc:_x=00?= \x07d\r\n\r\n")
    assert message.subject == "ab cBcc: x d"


def test_read_text_cuts_and_says_so() -> None:
    raw = crlf("Content-Type: text/plain; charset=utf-8\n\n") + "ü".encode() * 5000
    slices = parse(raw).text
    assert read_text(raw, slices, 10) == ("ü" * 10, True)
    assert read_text(raw, slices, 5000) == ("ü" * 5000, False)
    assert read_text(raw, slices, 4999) == ("ü" * 4999, True)
    assert read_text(raw, slices, 0) == ("", True)
    assert read_text(raw, (), 0) == ("", False)


def test_the_beginning_of_a_large_text_is_found_without_decoding_all_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = b"Subject: x\r\n\r\n" + b"words\r\n" * 10_000
    decoded: list[int] = []

    def counted(data: bytes, encoding: str) -> bytes:
        decoded.append(len(data))
        return decode_slice(data, encoding)

    monkeypatch.setattr("maild.message.parsing.parse.decode_slice", counted)
    assert read_text(raw, parse(raw).text, 600) == ("words\n" * 100, True)
    assert sum(decoded) < 3 * 600


def test_as_much_is_read_of_characters_that_take_many_octets() -> None:
    raw = (
        b"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
        + b"=F0=9F=8C=BB" * 5000
    )
    assert read_text(raw, parse(raw).text, 1000) == ("\N{SUNFLOWER}" * 1000, True)


# Headers that no empty line ends -------------------------------------------------------------------


@pytest.mark.parametrize("end", [b"", b" \r\n", b"\t \r\n"], ids=["nothing", "a blank", "blanks"])
@pytest.mark.parametrize("after", [b"", b"\r\n", b"\r\n \r\n"])
def test_words_right_behind_the_fields_are_the_body_where_there_is_no_other(end: bytes, after: bytes) -> None:
    fields = b"From: ada@b.test\r\nSubject: hello\r\n world\r\n"
    raw = fields + end + b"Hi all...\r\n  and bye\r\n" + after
    message = parse(raw)
    assert (message.subject, len(message.headers)) == ("hello world", 2)
    assert read_text(raw, message.text)[0].strip() == "Hi all...\n  and bye"
    assert raw[message.header_length :].lstrip().startswith(b"Hi all")


def test_words_right_behind_the_fields_of_a_part_are_its_body() -> None:
    raw = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n<p>Hi\r\n\r\n--b--\r\n"
    assert read_text(raw, parse(raw).html)[0].strip() == "<p>Hi"


@pytest.mark.parametrize(
    "raw",
    [
        b"Subject: hello\r\nstray words\r\n\r\nthe body\r\n",
        b"Subject: hello\r\n\r\n",
        b"Subject: hello\r\n folded\r\n\r\n",
        b"Subject: hello",
        b"Subject: hello\r\nFr\x00om: b@y.org\r\n",
        b"Subject: hello\r\nstray\rFrom: b@y.org\r\n",
    ],
)
def test_where_there_is_another_body_they_are_not(raw: bytes) -> None:
    assert raw[parse(raw).header_length :] == (b"the body\r\n" if b"body" in raw else b"")


@pytest.mark.parametrize("end", [b"", b" \r\n", b"\t \r\n"], ids=["nothing", "a blank", "blanks"])
@pytest.mark.parametrize("boundary", [b"b", b'"4D_===1=="', b'"a b"; charset=utf-8'])
def test_a_delimiter_right_behind_the_fields_begins_the_body(end: bytes, boundary: bytes) -> None:
    delimiter = b"--" + boundary.partition(b";")[0].strip(b'"')
    fields = (
        b"From: ada@b.test\r\nContent-Type: multipart/mixed; boundary=%b\r\nSubject: hello\r\n" % boundary
    )
    part = b"Content-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\nPGI+SGk8L2I+\r\n"
    raw = fields + end + delimiter + b"\r\n" + part + delimiter + b"--\r\n"
    message = parse(raw)
    assert (message.subject, len(message.headers), message.defects) == ("hello", 3, ())
    assert read_text(raw, message.html)[0].strip() == "<b>Hi</b>"
    assert raw[message.header_length :].startswith(delimiter)


@pytest.mark.parametrize(
    "line", [b"--c\r\n", b"--b\r\nFrom: bob@y.org\r\n", b"--b\r\nFr\x00om: bob@y.org\r\n", b"--b-\r\n"]
)
def test_what_could_hide_an_author_begins_no_body(line: bytes) -> None:
    raw = (
        b"Content-Type: multipart/mixed; boundary=b\r\n"
        + line
        + b"Content-Type: text/plain\r\n\r\nHi\r\n--b--\r\n"
    )
    assert raw[parse(raw).header_length :] == b"Hi\r\n--b--\r\n"


def test_the_first_thousand_addresses_of_a_field_are_read() -> None:
    names = [f"{n}@x.org" for n in range(1001)]
    folded = ",\r\n ".join(names)
    message = parse(f"To: {folded}\r\nCc: {folded}\r\nReply-To: {folded}\r\n\r\n".encode())
    for boxes in (message.to, message.cc, message.reply_to):
        assert [box.address for box in boxes] == names[:1000]
