"""Mail as the big senders shape it, and mail shaped to take long.

The bombs assert results, never times: what is quadratic in one of them does not come back at all.
"""

from __future__ import annotations

import pytest

from maild.message.parsing.mime import find_delimiter
from maild.message.parsing.parse import MAX_HEADER_BYTES, parse, read_text

GMAIL = b"""\
DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=gmail.example; s=2023;\r
        h=to:subject:message-id:date:from:in-reply-to:references:mime-version;\r
        bh=x=; b=y=\r
MIME-Version: 1.0\r
References: <root@example.net> <CA+1@mail.gmail.example>\r
In-Reply-To: <CA+1@mail.gmail.example>\r
From: =?UTF-8?Q?J=C3=B6rg_M=C3=BCller?= <joerg@gmail.example>\r
Date: Thu, 1 Jan 2026 10:00:00 +0100\r
Message-ID: <CA+2@mail.gmail.example>\r
Subject: =?UTF-8?Q?Re=3A_Gr=C3=BC=C3=9Fe_aus_einer_sehr_langen_Betreffzeile_die_um?=\r
\t=?UTF-8?Q?bricht?=\r
To: Agent <agent@example.org>, "Doe, Jane" <jane@example.org>\r
Content-Type: multipart/mixed; boundary="000000000000aa"\r
\r
--000000000000aa\r
Content-Type: multipart/alternative; boundary="000000000000bb"\r
\r
--000000000000bb\r
Content-Type: text/plain; charset="UTF-8"\r
Content-Transfer-Encoding: quoted-printable\r
\r
Gr=C3=BC=C3=9Fe\r
\r
--000000000000bb\r
Content-Type: text/html; charset="UTF-8"\r
Content-Transfer-Encoding: quoted-printable\r
\r
<div dir=3D"ltr">Gr=C3=BC=C3=9Fe</div>\r
\r
--000000000000bb--\r
--000000000000aa\r
Content-Type: application/pdf; name="=?UTF-8?B?UsO8Y2t0ZXN0LnBkZg==?="\r
Content-Disposition: attachment; filename="=?UTF-8?B?UsO8Y2t0ZXN0LnBkZg==?="\r
Content-Transfer-Encoding: base64\r
Content-ID: <f_abc>\r
X-Attachment-Id: f_abc\r
\r
JVBERi0xLjQK\r
--000000000000aa--\r
"""

OUTLOOK = b"""\
From: "Example, Bob" <bob@contoso.example>\r
To: "'agent@example.org'" <agent@example.org>\r
Subject: Accepted: Meeting\r
Thread-Topic: Meeting\r
Message-ID:\r
 <AM0PR01MB1234@AM0PR01MB1234.eurprd01.prod.outlook.example>\r
Content-Type: multipart/related;\r
\tboundary="_004_X_";\r
\ttype="multipart/alternative"\r
MIME-Version: 1.0\r
\r
--_004_X_\r
Content-Type: multipart/alternative;\r
\tboundary="_000_X_"\r
\r
--_000_X_\r
Content-Type: text/plain; charset="iso-8859-1"\r
Content-Transfer-Encoding: quoted-printable\r
\r
It=92s fine=\r
!\r
\r
--_000_X_\r
Content-Type: text/html; charset="iso-8859-1"\r
Content-Transfer-Encoding: quoted-printable\r
\r
<img src=3D"cid:image001.png@01D">\r
--_000_X_\r
Content-Type: text/calendar; charset="utf-8"; method=REPLY\r
Content-Transfer-Encoding: base64\r
\r
QkVHSU46VkNBTEVOREFS\r
--_000_X_--\r
\r
--_004_X_\r
Content-Type: image/png; name="image001.png"\r
Content-Description: image001.png\r
Content-Disposition: inline; filename="image001.png"; size=8;\r
\tcreation-date="Thu, 01 Jan 2026 10:00:00 GMT"\r
Content-ID: <image001.png@01D>\r
Content-Transfer-Encoding: base64\r
\r
iVBORw0KGgo=\r
--_004_X_--\r
"""

NESTED_FORWARD = b"""\
From: a@x.org\r
Subject: Fwd: Fwd: x\r
Content-Type: multipart/mixed; boundary=o\r
\r
--o\r
\r
see below\r
--o\r
Content-Type: message/rfc822; name="a/b.eml"\r
Content-Disposition: attachment; filename="a/b.eml"\r
\r
From: b@x.org\r
Content-Type: multipart/mixed; boundary=p\r
\r
--p\r
Content-Type: message/rfc822\r
\r
From: c@x.org\r
\r
innermost\r
--p--\r
--o--\r
"""


def test_gmail() -> None:
    message = parse(GMAIL)
    assert message.from_ is not None
    assert message.from_.name == "Jörg Müller"
    assert message.subject == "Re: Grüße aus einer sehr langen Betreffzeile die umbricht"
    assert [box.name for box in message.to] == ["Agent", "Doe, Jane"]
    assert message.references == ("<root@example.net>", "<CA+1@mail.gmail.example>")
    assert read_text(GMAIL, message.text) == ("Grüße\n", False)
    assert read_text(GMAIL, message.html) == ('<div dir="ltr">Grüße</div>\n', False)
    (attachment,) = message.attachments
    assert (attachment.filename, attachment.size_bytes, attachment.is_inline) == ("Rücktest.pdf", 9, False)
    assert message.defects == ()


def test_outlook_with_invitation_and_inline_picture() -> None:
    message = parse(OUTLOOK)
    assert message.message_id == "<AM0PR01MB1234@AM0PR01MB1234.eurprd01.prod.outlook.example>"
    assert [box.name for box in message.to] == ["'agent@example.org'"]
    assert read_text(OUTLOOK, message.text) == ("It’s fine!\n", False)
    invitation, picture = message.attachments
    assert (invitation.content_type, invitation.filename) == ("text/calendar", "invite.ics")
    assert (picture.content_id, picture.is_inline, picture.size_bytes) == ("image001.png@01D", True, 8)
    assert message.defects == ()


def test_nested_forwards_stay_one_attachment() -> None:
    message = parse(NESTED_FORWARD)
    assert read_text(NESTED_FORWARD, message.text)[0] == "see below"
    (attachment,) = message.attachments
    at = attachment.slice
    assert attachment.filename == "a_b.eml"
    assert NESTED_FORWARD[at.offset :].startswith(b"From: b@x.org\r\n")
    assert NESTED_FORWARD[: at.offset + at.length].endswith(b"--p--")


@pytest.mark.parametrize("gap", range(0, 20))
def test_a_delimiter_across_a_search_window_is_found(gap: int) -> None:
    window = 1024 * 1024
    lookalikes = b"\n--bx" * 100
    for line in (b"\n--b\r\n", b"\n--b--  \n", b"\n--b"):
        raw = lookalikes + b"y" * (64 * 5 - 1 + window - len(lookalikes) - gap) + line
        found = find_delimiter(raw, b"--b", 1, len(raw))
        assert found is not None
        assert found[0] == raw.rindex(b"--b", 0, len(raw) - len(line) + 4)
        assert found[1] == len(raw)
        assert found[2] is line.startswith(b"\n--b--")


HEAD = b"From: a@x.org\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n"
MIB = 1024 * 1024


@pytest.mark.parametrize(
    ("raw", "parts"),
    [
        (HEAD + b"\n--" * MIB, 1),
        (HEAD + b"\n--bx" * MIB, 1),
        (HEAD + b"--b" * MIB, 1),
        (HEAD + (b"\n--b" + b" " * 1000 + b"x") * 1000, 1),
        (HEAD + b"--b\r\n\r\n" * 200_000, 1),
        (
            HEAD
            + (b"--b\r\nContent-Type: multipart/mixed; boundary=z\r\n\r\n" + b"y" * 2000 + b"\r\n") * 999,
            999,
        ),
        (b"a:\r\n" * MIB, 0),
        (b"Subject: x\r\n" + b" y\r\n" * MIB, 0),
        (b"From: " + b'("' * (MAX_HEADER_BYTES // 2) + b"\r\n\r\n", 0),
        (b"Subject: " + b"=?utf-8?q?=e4?= " * 16_000 + b"\r\n\r\n", 0),
        (b"References: " + b"<" * 250_000 + b"\r\n\r\n", 0),
        (b"Content-Type: a/b" + b"; filename*0*=x''" * 15_000 + b"\r\n\r\nx", 1),
        (b"Content-Type: a/b\r\nContent-Transfer-Encoding: base64\r\n\r\n" + b"Q=" * MIB, 1),
        (b"Content-Type: a/b\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n" + b"=" * MIB, 1),
        (b"x" * (2 * MIB), 1),
        (b"\n" * MIB, 1),
    ],
    ids=lambda value: str(len(value)) if isinstance(value, bytes) else None,
)
def test_mime_and_header_bombs_end(raw: bytes, parts: int) -> None:
    message = parse(raw)
    found = len(message.text) + len(message.attachments)
    assert found == parts or found >= 1 <= parts
    read_text(raw, message.text, 10_000)


def test_deep_nesting_around_a_large_body_ends() -> None:
    heads = [b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (n, n) for n in range(99)]
    raw = b"".join(heads) + b"\r\n" + b"\n--b" * 200_000
    message = parse(raw)
    assert len(message.text) == 1
    assert len(message.attachments) == 0
