"""Structures that the standards forbid, forget or advise against, and that mailers send
(maild/message/parsing/mime.py)."""

from base64 import b64encode

import pytest

from maild.message.characters.decode import decode_slice
from maild.message.parsing.parse import ParsedMessage, parse, read_text
from tests.support.laws.work import assert_proportional, bomb

FROM = b"From: a@b.test\r\n"


def crlf(text: str) -> bytes:
    return FROM + text.replace("\n", "\r\n").encode()


def bodies(raw: bytes) -> tuple[str, str]:
    message = parse(raw)
    return read_text(raw, message.text)[0], read_text(raw, message.html)[0]


def files(raw: bytes) -> list[tuple[str, bytes]]:
    slices = [(one.filename, one.slice) for one in parse(raw).attachments]
    return [(name, decode_slice(raw[at.offset : at.offset + at.length], at.encoding)) for name, at in slices]


@pytest.mark.parametrize(
    ("declared", "body", "expected"),
    [
        ("7-bit", "Hi =3D", "Hi =3D"),
        ("8 bit", "Hi", "Hi"),
        ("7bits", "Hi", "Hi"),
        ("8bits", "Hi", "Hi"),
        ("plain", "Hi", "Hi"),
        ("utf-8", "Grüße", "Grüße"),
        ("text/plain", "Hi", "Hi"),
        ("quoted -printable", "a=3Db", "a=b"),
        ("quoted_printable", "a=3Db", "a=b"),
        ("Base 64", "SGk=", "Hi"),
        ("x" * 5000, "Hi", "Hi"),
    ],
)
def test_text_in_an_unknown_encoding_is_shown(declared: str, body: str, expected: str) -> None:
    head = f"Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: {declared}\n\n"
    assert bodies(crlf(head + body)) == ("", expected)
    assert parse(crlf(head + body)).defects == ("unknown-encoding",)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Hello Ann,\n\nsee you at ten.\n", "Hello Ann,\n\nsee you at ten."),
        ("Grüße\n", "Grüße"),
        ("<p>Hello</p>\n", "<p>Hello</p>"),
        ("\n  R3L8c3Nl\n  \n_______\nOur list: a@b.c\n", "Grüsse"),
        (f"{'R3L8c3Nl' * 9}\x07 {'R3L8c3Nl' * 9}\n", "Grüsse" * 18),
        ("", ""),
    ],
)
def test_text_that_only_says_that_it_is_base64_is_shown(body: str, expected: str) -> None:
    """As scripts send it that learnt one field by heart; what a list adds below stays where it was."""
    charset = "utf-8" if "ü" in body else "iso-8859-1"
    head = f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: base64\n\n"
    assert bodies(crlf(head + body))[0].startswith(expected)
    image = crlf(f"Content-Type: image/png\nContent-Transfer-Encoding: base64\n\n{body}")
    assert parse(image).attachments[0].slice.encoding == "base64"


SAID = "Grüße aus Köln am Rhein, schöne Tage dort"
ENCODED = b64encode(SAID.encode()).decode()  # ends without "=", which ended it


@pytest.mark.parametrize(
    "footer",
    [
        "\n_______________________________________________\nList mailing list\nlist@lists.example.org\n",
        "\n\n--\nThis mail was scanned, and nothing was found.\n",
        "\n \nYou get this mail as a member of the list.\n\nhttps://lists.example.org/leave\n",
    ],
)
def test_a_footer_below_base64_is_not_read_as_more_of_it(footer: str) -> None:
    head = "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
    assert bodies(crlf(head + ENCODED + footer))[0] == SAID
    assert bodies(crlf(head + ENCODED + "\n" + footer))[0] == SAID


@pytest.mark.parametrize("litter", ["\n\n", "\n\n-- litter, on its way! --\n", "\n________\n"])
def test_litter_between_lines_of_base64_hides_none_of_them(litter: str) -> None:
    head = "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n"
    line = b64encode(b"sixty letters of the text are here, and some more").decode()[:64]
    text = bodies(crlf(head + line + litter + line + "\n"))[0]
    assert text.count("sixty") + text.count("letters") >= 2


@pytest.mark.parametrize("unit", ["\r\n\r\n", "\r\n \r\n", "\r\n________", "\r\n\r\nAAAA"])
def test_looking_for_a_footer_takes_work_in_proportion(unit: str) -> None:
    head = "Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\nQUFB"
    assert_proportional(lambda part: parse(crlf(head) + part.encode()), bomb(unit))


def test_other_types_in_an_unknown_encoding_are_opaque() -> None:
    """RFC 2045 §6.4."""
    (attachment,) = parse(
        crlf("Content-Type: image/png\nContent-Transfer-Encoding: x-secret\n\nx")
    ).attachments
    assert attachment.content_type == "application/octet-stream"


MALWARE = (
    "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/alternative; boundary=b\n\n"
    "--b\n\ntext\n--b\nContent-Type: text/html\n\nhtml\n--b--\n"
    "{between}--b\nContent-Type: application/zip; name=a.zip\n\nPK\n{end}"
)


@pytest.mark.parametrize("between", ["", "\n", "an epilogue\n"])
@pytest.mark.parametrize("end", ["--b--\n", ""])
def test_an_inner_multipart_of_the_same_boundary_ends_alone(between: str, end: str) -> None:
    raw = crlf(MALWARE.format(between=between, end=end))
    assert bodies(raw) == ("text", "html")
    assert [name for name, _ in files(raw)] == ["a.zip"]
    assert files(raw)[0][1].startswith(b"PK")


def test_three_of_the_same_boundary_end_one_by_one() -> None:
    head = "Content-Type: multipart/mixed; boundary=b\n\n--b\n"
    part = "--b\nContent-Type: image/png; name={}\n\nx\n"
    raw = crlf(head * 3 + "\ntext\n--b--\n" + part.format("one") + "--b--\n" + part.format("two") + "--b--\n")
    assert bodies(raw) == ("text", "")
    assert [name for name, _ in files(raw)] == ["one", "two"]


def test_an_inner_one_that_is_never_closed_has_the_rest() -> None:
    head = "Content-Type: multipart/mixed; boundary=b\n\n--b\n"
    raw = crlf(head * 2 + "\ntext\n--b\nContent-Type: image/png; name=one\n\nx\n")
    assert (bodies(raw), files(raw)) == (("text", ""), [("one", b"x\r\n")])


def test_html_behind_the_pictures_of_a_related_is_the_body() -> None:
    raw = crlf(
        "Content-Type: multipart/related; boundary=b\n\n--b\nContent-Type: image/png\nContent-ID: <p>\n\nPNG\n"
        "--b\nContent-Type: text/html\n\n<img src=cid:p>\n--b\nContent-Type: text/html; name=more.html\n\nmore\n--b--\n"
    )
    assert bodies(raw) == ("", "<img src=cid:p>")
    assert files(raw) == [("attachment-1.png", b"PNG"), ("more.html", b"more")]


RELATED = 'Content-Type: multipart/related; boundary=b; type="text/html"\n\n--b\nContent-Type: text/plain\n\nwords\n'
PICTURE = "--b\nContent-Type: image/png; name=p.png\nContent-ID: <p>\n\nPNG\n--b--\n"


@pytest.mark.parametrize("more", ["", "\nContent-ID: <it>"])
def test_html_beside_the_text_of_a_related_is_its_other_form(more: str) -> None:
    raw = crlf(f"{RELATED}--b\nContent-Type: text/html{more}\n\n<img src=cid:p>\n{PICTURE}")
    assert bodies(raw) == ("words", "<img src=cid:p>")
    assert files(raw) == [("p.png", b"PNG")]
    assert parse(raw).html_alone == ()


@pytest.mark.parametrize(
    "file", ["text/html; name=a.html", "text/html\nContent-Disposition: attachment; filename=a.html"]
)
def test_a_file_of_html_beside_the_text_of_a_related_stays_one(file: str) -> None:
    raw = crlf(f"{RELATED}--b\nContent-Type: {file}\n\nfile\n{PICTURE}")
    assert bodies(raw) == ("words", "")
    assert files(raw) == [("a.html", b"file"), ("p.png", b"PNG")]


PHONE = "Content-Type: multipart/mixed; boundary=b\n\n"
NAMED = "--b\nContent-Type: text/{}; name=text0.{}\nContent-Disposition: {}\n\n{}\n"
PHOTO = "--b\nContent-Type: image/jpeg; name=IMG_1.jpg\n\nJPG\n--b--\n"


@pytest.mark.parametrize("disposition", ["inline", "", "inline; filename=text0.txt"])
def test_the_only_text_is_the_body_though_it_has_a_name(disposition: str) -> None:
    """Networks of phones name the words of a message."""
    raw = crlf(PHONE + NAMED.format("plain", "txt", disposition, "on my way") + PHOTO)
    assert bodies(raw) == ("on my way", "")
    assert files(raw) == [("text0.txt", b"on my way"), ("IMG_1.jpg", b"JPG")]
    raw = crlf(
        PHONE + NAMED.format("html", "html", disposition.replace("txt", "html"), "<p>on my way") + PHOTO
    )
    assert bodies(raw) == ("", "<p>on my way")


@pytest.mark.parametrize("start", ["", "; start=<s>"])
@pytest.mark.parametrize("name", ["", "; name=text0.txt"])
def test_the_words_beside_the_slides_of_a_phone_s_message_are_the_body(start: str, name: str) -> None:
    raw = crlf(
        f"Content-Type: multipart/related; boundary=b{start}\n\n--b\nContent-Type: application/smil; name=s.smil\n"
        f"Content-ID: <s>\n\n<smil/>\n--b\nContent-Type: text/plain{name}\nContent-ID: <t>\n\non my way\n{PHOTO}"
    )
    assert bodies(raw) == ("on my way", "")
    assert ("IMG_1.jpg", b"JPG") in files(raw)


@pytest.mark.parametrize(
    "parts",
    [
        NAMED.format("plain", "txt", "attachment", "file"),
        NAMED.format("plain", "jpg", "inline", "file"),
        NAMED.format("plain", "csv", "inline", "file"),
        NAMED.format("x-patch", "diff", "inline", "file"),
        "--b\n\nwords\n" + NAMED.format("plain", "txt", "inline", "file"),
        NAMED.format("plain", "txt", "inline", "file") + "--b\n\nwords\n",
        "--b\nContent-Type: text/html\n\nwords\n" + NAMED.format("plain", "txt", "inline", "file"),
    ],
)
def test_text_with_a_name_stays_a_file(parts: str) -> None:
    text, html = bodies(crlf(PHONE + parts + PHOTO))
    assert text + html in ("", "words")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("Content-Disposition: attachment; filename=photo.PNG", "image/png"),
        ("Content-Disposition: attachment; filename=notes", "text/plain"),
        ("Content-Disposition: inline; filename=photo.png", "image/png"),
        ("Content-Disposition: attachment; filename=photo.png\nContent-Type: text/plain", "text/plain"),
        ("Content-Disposition: attachment", "text/plain"),
    ],
)
def test_a_file_without_a_type_has_that_of_its_name(fields: str, expected: str) -> None:
    raw = crlf(f"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nwords\n--b\n{fields}\n\nfile\n--b--\n")
    (file,) = parse(raw).attachments
    assert file.content_type == expected


def test_a_start_that_no_part_has_names_no_root() -> None:
    raw = crlf(
        'Content-Type: multipart/related; boundary=b; start="<r>"\n\n--b\nContent-Type: image/png\n\nPNG\n'
        "--b\nContent-Type: text/html\n\nit\n--b--\n"
    )
    assert bodies(raw) == ("", "it")
    assert files(raw) == [("attachment-1.png", b"PNG")]


def test_start_names_the_root_of_a_related_all_the_same() -> None:
    raw = crlf(
        'Content-Type: multipart/related; boundary=b; start="<r>"\n\n--b\nContent-Type: image/png\n\nPNG\n'
        "--b\nContent-Type: text/html\n\nnot it\n--b\nContent-Type: text/html\nContent-ID: <r>\n\nit\n--b--\n"
    )
    assert bodies(raw) == ("", "it")


@pytest.mark.parametrize(
    "declared",
    [
        "boundary*=utf-8''a%20b",
        "boundary*=us-ascii'en'a%20b",
        'boundary*0="a "; boundary*1=b',
        "boundary*0*=us-ascii''a%20; boundary*1=b",
        'boundary="a b"; boundary*=x',
    ],
)
def test_a_boundary_in_the_forms_of_rfc_2231(declared: str) -> None:
    raw = crlf(
        f"Content-Type: multipart/mixed; {declared}\n\n--a b\n\ntext\n--a b\nContent-Type: image/png\n\nx\n--a b--\n"
    )
    assert bodies(raw) == ("text", "")
    assert files(raw) == [("attachment-1.png", b"x")]


@pytest.mark.parametrize(("length", "is_read"), [(70, True), (201, True), (998, True), (999, False)])
def test_long_boundaries(length: int, is_read: bool) -> None:
    boundary = "b" * length
    raw = crlf(
        f'Content-Type: multipart/mixed; boundary="{boundary}"\n\n--{boundary}\n\ntext\n--{boundary}--\n'
    )
    assert (bodies(raw)[0] == "text") is is_read


SAME = "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n"


@pytest.mark.parametrize(
    "unit", [SAME, "--b--\r\n", SAME + "--b--\r\n", "--b\r\n" + SAME + "--b--\r\n--b\r\n\r\nx\r\n"]
)
def test_equal_boundaries_take_work_in_proportion(unit: str) -> None:
    def read(text: str) -> ParsedMessage:
        return parse(text.encode())

    assert_proportional(read, bomb(unit, before=SAME))
    read(bomb(unit, before=SAME).whole())


UNKNOWN_TEXT = ["text/markdown", "text/enriched", "text/richtext", "text/x-patch", "TEXT/Unheard-Of"]
FILES_OF_TEXT = [
    *("text/calendar", "text/x-vcalendar", "text/vcard", "text/x-vcard", "text/directory", "text/csv"),
    *(
        "text/tab-separated-values",
        "text/rtf",
        "text/xml",
        "text/css",
        "text/javascript",
        "text/rfc822-headers",
    ),
    *("text/x-amp-html", "text/watch-html"),
]


@pytest.mark.parametrize("content_type", UNKNOWN_TEXT)
def test_text_of_an_unknown_type_is_read_as_plain(content_type: str) -> None:
    """RFC 2046 §4.1.4."""
    one = crlf(
        f"Content-Type: {content_type}; charset=iso-8859-1\nContent-Transfer-Encoding: base64\n\nR3L8c3Nl\n"
    )
    assert bodies(one) == ("Grüsse", "") and files(one) == []
    mixed = crlf(
        f"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: {content_type}\n\nwords\n"
        f"--b\nContent-Type: {content_type}; name=a.md\n\nfile\n"
        f"--b\nContent-Type: {content_type}\nContent-Disposition: attachment\n\nfile too\n--b--\n"
    )
    assert bodies(mixed) == ("words", "")
    assert [content for _, content in files(mixed)] == [b"file", b"file too"]


@pytest.mark.parametrize("content_type", UNKNOWN_TEXT)
def test_of_alternatives_the_text_is_the_plain_one(content_type: str) -> None:
    unknown, html = f"--b\nContent-Type: {content_type}\n\nother\n", "--b\nContent-Type: text/html\n\nhtml\n"
    begin = "Content-Type: multipart/alternative; boundary=b\n\n"
    assert bodies(crlf(f"{begin}--b\n\nplain\n{unknown}{html}--b--\n")) == ("plain", "html")
    assert bodies(crlf(f"{begin}{unknown}{html}--b--\n")) == ("other", "html")


def test_a_type_and_an_encoding_in_quotes_are_read() -> None:
    """As scripts write them: the whole message came as a file without a name."""
    raw = crlf(
        'Content-Type: "multipart/mixed"; boundary=b\n\n'
        '--b\nContent-Type: "text/plain"; charset=utf-8\nContent-Transfer-Encoding: "base64"\n\nR3LDvMOfZQ==\n'
        '--b\nContent-Type: "text/html"\n\n<p>Hi\n'
        '--b\nContent-Disposition: "attachment"\n\nfile\n--b--\n'
    )
    assert bodies(raw) == ("Grüße", "<p>Hi")
    assert [content for _, content in files(raw)] == [b"file"]


def test_a_multipart_that_ends_before_it_begins_hides_nothing() -> None:
    """Delimiters in another case than the boundary's, and a list's footer in front of them, for two."""
    begin = "Content-Type: multipart/mixed; boundary=b4\n\n"
    assert bodies(crlf(f"{begin}--B4\n\nwords\n--b4--\n"))[0].split() == ["--B4", "words", "--b4--"]
    raw = crlf(f"{begin}--b4--\n--b4--\n--b4\n\nwords\n--b4\nContent-Type: image/png\n\nfile\n--b4--\n")
    assert bodies(raw) == ("words", "")
    assert [content for _, content in files(raw)] == [b"file"]


def test_a_type_ends_at_a_comma() -> None:
    raw = crlf(
        "Content-Type: text/html, x; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n<p>Gr=FC=DFe"
    )
    assert bodies(raw) == ("", "<p>Grüße")


@pytest.mark.parametrize("content_type", FILES_OF_TEXT)
def test_text_for_programs_stays_a_file(content_type: str) -> None:
    raw = crlf(f"Content-Type: {content_type}\n\nwords\n")
    assert bodies(raw) == ("", "")
    assert [content for _, content in files(raw)] == [b"words\r\n"]


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("<a@b>", "a@b"),
        ("<a@b> (pic)", "a@b"),
        ("(pic <c@d>) <a@b>", "a@b"),
        ("<a(1)@b>", "a(1)@b"),
        ("<a b@c>", "a b@c"),
        ("bare(1)@b", "bare(1)@b"),
        (" bare@b ", "bare@b"),
        ("<open@b", "open@b"),
        ("<>", None),
        ("", None),
        (  # Python's email library, of an id that fits no line: that of a part on a host with a long name
            "=?utf-8?q?=3C179603676447=2E21771=2E3538339388900482344=40ip-172?=\n"
            " =?utf-8?q?-31-10-123=2Eeu-central-1=2Ecompute=2Einternal=3E?=",
            "179603676447.21771.3538339388900482344@ip-172-31-10-123.eu-central-1.compute.internal",
        ),
    ],
)
def test_a_content_id_is_what_stands_in_brackets(declared: str, expected: str | None) -> None:
    (part,) = parse(crlf(f"Content-Type: image/png\nContent-ID: {declared}\n\nx\n")).attachments
    assert part.content_id == expected


@pytest.mark.parametrize(
    "fields",
    [
        'Content-Type: application/pdf;\nname="a b.pdf"',
        'Content-Disposition: attachment; \nfilename="a b.pdf"',
        "Content-Disposition: attachment;\nfilename*=utf-8''a%20b.pdf\nContent-Type: application/pdf",
        'Content-Disposition: attachment;\nfilename*0=a;\nfilename*1=" b.pdf"\nContent-Type: application/pdf',
    ],
)
def test_parameters_that_nobody_folded_belong_to_the_field_above(fields: str) -> None:
    mixed = f"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nwords\n--b\n{fields}\n\nfile\n--b--\n"
    assert files(crlf(mixed)) == files(crlf(mixed).replace(b"\r", b"")) == [("a b.pdf", b"file")]


def test_the_charset_that_nobody_folded_counts() -> None:
    part = (
        "Content-Type: text/plain;\ncharset=iso-8859-5\nContent-Transfer-Encoding: quoted-printable\n\n=BF=E0"
    )
    assert bodies(crlf(f"Content-Type: multipart/mixed; boundary=b\n\n--b\n{part}\n--b--\n")) == ("Пр", "")


@pytest.mark.parametrize("line", ['name="a.pdf"', ";name=a.pdf", "name=a.pdf", "Subject: name=a.pdf"])
def test_lines_among_fields_are_no_parameters_where_none_is_awaited(line: str) -> None:
    part = f"Content-Type: application/pdf\n{line}\n\nfile"
    raw = crlf(f"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nwords\n--b\n{part}\n--b--\n")
    assert files(raw) == [("attachment-1.pdf", b"file")]


@pytest.mark.parametrize("unit", [";\n", "; ", ";\na", ";\na=", ";\na*", " "])
def test_looking_for_parameters_that_nobody_folded_takes_work_in_proportion(unit: str) -> None:
    head = "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain;"
    assert_proportional(lambda lines: parse(crlf(head) + lines.encode()), bomb(unit))
