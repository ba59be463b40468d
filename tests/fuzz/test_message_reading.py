"""Any octets: `parse` and what follows it never raise, and never point outside the message."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from maild.message.characters.decode import decode_slice, decode_stream, decoded_size
from maild.message.characters.encoded_words import readable
from maild.message.fields.address import AddressSyntaxError, normalize, parse_mailboxes, parse_path, validate
from maild.message.fields.thread_headers import base_subject, reply_references
from maild.message.parsing.filenames import MAX_FILENAME_CHARS, clean_filename
from maild.message.parsing.parse import decode_charset, parse, read_text
from maild.message.parsing.text import extract_reply, html_to_text, snippet

# Fragments that steer random input into the interesting branches.
FRAGMENTS = st.sampled_from(
    [
        b"\r\n",
        b"\n",
        b"\r",
        b"\r\n\r\n",
        b"--b",
        b"--b--",
        b"--",
        b"b",
        b"\r\n--b\r\n",
        b"\r\n--b--\r\n",
        b"\r\n--c\r\n",
        b"Content-Type: multipart/mixed; boundary=b\r\n",
        b"Content-Type: multipart/alternative; boundary=c\r\n",
        b"Content-Type: multipart/related; boundary=b; start=x\r\n",
        b"Content-Type: multipart/related; boundary=b\r\n",
        b"Content-Type: multipart/mixed; boundary*=utf-8''%62\r\n",
        b"Content-Type: multipart/mixed; boundary*0=b; boundary*1=\r\n",
        b"Content-Transfer-Encoding: 8 bits\r\n",
        b"\xef\xbb\xbf",
        b"Content-Type: text/html; charset=utf-16\r\n",
        b"Content-Type: text/plain; format=flowed; delsp=yes\r\n",
        b" \r\n",
        b"begin 644 a.txt\r\n",
        b"\r\nbegin 644 a\n",
        b"#86)C\r\n",
        b"`\r\nend\r\n",
        b"Content-Transfer-Encoding: x-uuencode\r\n",
        b"Content-Type: message/rfc822\r\n",
        b"Content-Type: multipart/digest; boundary=b\r\n",
        b"Content-ID: <x>\r\n",
        b"Content-Transfer-Encoding: base64\r\n",
        b"Content-Transfer-Encoding: quoted-printable\r\n",
        b"=",
        b"==",
        b"=\r\n",
        b"Content-Disposition: attachment; filename*0*=utf-8''%e2; filename*1=x\r\n",
        b'"',
        b"\\",
        b"(",
        b")",
        b"<",
        b">",
        b"From: ",
        b"To: a@x, ",
        b"Subject: =?utf-8?q?=e4?= ",
        b"=?utf-8?b?",
        b"?=",
        b"@",
        b",",
        b";",
        b":",
        b" ",
        b"\t",
        b"\x00",
        b"References: <a@b> ",
        b"\xff",
        b"\xe2\x82\xac",
        b"QUJD",
        b"From x\r\n",
        b"Auto-Submitted: auto-replied\r\n",
    ]
)
MESSAGES = st.lists(st.one_of(FRAGMENTS, st.binary(max_size=12)), max_size=60).map(b"".join)
TEXTS = st.text(max_size=400)
HTML = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "<p>",
                "</p>",
                "<",
                ">",
                "<a href='",
                "'",
                '"',
                "=",
                "<!--",
                "-->",
                "<script>",
                "</script>",
                "<li>",
            ]
        )
        | st.sampled_from(
            [
                "<ul>",
                "</ul>",
                "<pre>",
                "</pre>",
                "<blockquote>",
                "</blockquote>",
                "&#",
                "&amp;",
                "<br>",
                "</a>",
            ]
        )
        | st.sampled_from(
            [
                "<div style='display:none'>",
                "</div>",
                "\n",
                "> ",
                "-- ",
                "On 1 x wrote:",
                "From: a\nTo: b\nSent: c",
            ]
        ),
        st.text(max_size=8),
    ),
    max_size=60,
).map("".join)


@settings(max_examples=400, deadline=None)
@given(MESSAGES)
def test_parse_never_raises_and_stays_inside(raw: bytes) -> None:
    message = parse(raw)
    assert 0 <= message.header_start <= message.header_length <= len(raw)
    slices = [*message.text, *message.html, *(a.slice for a in message.attachments)]
    for part in slices:
        assert 0 <= message.header_length <= part.offset <= part.offset + part.length <= len(raw)
    ordered = sorted((part.offset, part.offset + part.length) for part in slices)
    assert all(one[1] <= other[0] for one, other in pairwise(ordered))
    for attachment in message.attachments:
        at = attachment.slice
        octets = decode_slice(raw[at.offset : at.offset + at.length], at.encoding)
        assert attachment.size_bytes == len(octets)
        assert attachment.filename == clean_filename(attachment.filename) != ""
        assert attachment.content_type == attachment.content_type.lower()
        assert attachment.content_type.count("/") == 1
    for found in (*message.text, *message.html):
        text, _ = read_text(raw, (found,))
        text.encode("utf-8")
        assert "\0" not in text
        assert "\r" not in text
    assert message.subject.isprintable() or not any(ord(c) < 32 for c in message.subject)
    assert len(set(message.defects)) == len(message.defects)
    list(message.headers.items())


@settings(max_examples=150, deadline=None)
@given(MESSAGES, st.integers(0, 50))
def test_a_limit_gives_a_beginning(raw: bytes, limit: int) -> None:
    message = parse(raw)
    text, is_cut = read_text(raw, message.text, limit)
    assert len(text) <= limit
    if not is_cut:
        assert text == read_text(raw, message.text)[0]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.one_of(FRAGMENTS, st.binary(max_size=6)), max_size=30).map(b"".join),
    st.sampled_from(["base64", "quoted-printable", "identity", "uuencode"]),
    st.lists(st.integers(1, 9), min_size=1, max_size=5),
)
def test_whole_piecewise_and_counted_decoding_agree(data: bytes, encoding: str, steps: list[int]) -> None:
    whole = decode_slice(data, encoding)
    assert decoded_size(memoryview(data), encoding) == len(whole)
    decoder = decode_stream(encoding)
    pieces = []
    position = turn = 0
    while position < len(data):
        step = steps[turn % len(steps)]
        pieces.append(decoder.feed(data[position : position + step]))
        position, turn = position + step, turn + 1
    assert b"".join(pieces) + decoder.flush() == whole


@settings(max_examples=200, deadline=None)
@given(
    st.binary(max_size=80),
    st.one_of(st.none(), st.text(max_size=12), st.sampled_from(["utf-7", "utf-16", "hz", "big5"])),
)
def test_charset_decoding_is_total(data: bytes, charset: str | None) -> None:
    text = decode_charset(data, charset)
    text.encode("utf-8")
    assert "\0" not in text


@settings(max_examples=300, deadline=None)
@given(st.one_of(TEXTS, MESSAGES.map(lambda raw: raw.decode("latin-1"))))
def test_readers_of_text_are_total(value: str) -> None:
    for mailbox in parse_mailboxes(value):
        local, at, domain = mailbox.address.rpartition("@")
        assert local and at and domain
        assert mailbox.address.isprintable()
    readable(value)
    normalize(value)
    base_subject(value)
    reply_references(value, (value,))
    assert len(clean_filename(value)) <= MAX_FILENAME_CHARS
    assert clean_filename(clean_filename(value)) == clean_filename(value)
    try:
        assert parse_path(b"<" + validate(value).encode() + b">", smtputf8=True)
    except AddressSyntaxError:
        pass
    try:
        parse_path(value.encode("utf-8", "surrogatepass"))
    except AddressSyntaxError:
        pass


@settings(max_examples=300, deadline=None)
@given(HTML)
def test_text_extraction_is_total(value: str) -> None:
    html_to_text(value).encode("utf-8")
    reply = extract_reply(value)
    assert bool(reply) == bool(value.strip())
    line = snippet(value)
    assert "\n" not in line
    assert len(line) <= 200
