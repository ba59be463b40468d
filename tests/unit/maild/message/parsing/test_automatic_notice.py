"""What GNU Mailutils' Sieve sends for `reject`: from its user's address, without a subject or a word of RFC 3834."""

import pytest

from maild.message.parsing.parse import parse

REJECTED = """To: bot@ours.test
Mime-Version: 1.0
Content-Type: multipart/mixed; boundary="b1"
From: Carol <carol@there.test>

--b1
Content-Type: text/plain; charset=utf-8

The original message was received at Sun, Nov 29 11:47:16 2026 +0000 from bot@ours.test.
Message was refused by recipient's mail filtering program.
Reason given was as follows:

I do not take mail from robots.
--b1
Content-Type: message/delivery-status

Reporting-UA: sieve; GNU Mailutils 3.15
Arrival-Date: Sun, Nov 29 11:15:47 2026 UTC
Final-Recipient: RFC822; carol@there.test
Action: deleted
Disposition: automatic-action/MDN-sent-automatically;deleted
Last-Attempt-Date: Sun, Nov 29 11:47:16 2026 +0000

--b1
Content-Type: message/rfc822

From: bot@ours.test
Message-ID: <one@ours.test>
Subject: hello

words
--b1--
"""


WRAPPED = """To: bot@ours.test
Subject: Read: hello
Content-Type: multipart/mixed; boundary="o"
From: Carol <carol@there.test>

--o
Content-Type: multipart/report; report-type=disposition-notification; boundary="i"

--i
Content-Type: text/plain

Your mail was read on Monday.
--i
Content-Type: message/disposition-notification

Final-Recipient: rfc822;carol@there.test
Disposition: manual-action/MDN-sent-automatically; displayed

--i--
--o
Content-Type: text/plain

This mail is confidential.
--o--
"""


def is_automatic(text: str) -> bool:
    return parse(text.replace("\n", "\r\n").encode()).is_auto_reply


@pytest.mark.parametrize("type", ["message/delivery-status", "message/disposition-notification"])
def test_what_a_program_did_with_a_mail_is_told_by_a_program(type: str) -> None:
    assert is_automatic(REJECTED.replace("message/delivery-status", type))


def test_a_receipt_that_nobody_was_asked_for_is_one_below_a_disclaimer_too() -> None:
    assert is_automatic(WRAPPED)
    assert not is_automatic(WRAPPED.replace("sent-automatically", "sent-manually"))
    assert not is_automatic(WRAPPED.replace("Subject: Read", "Subject: Fwd: Read"))


@pytest.mark.parametrize(
    "text",
    [
        REJECTED.replace("To: bot", "Subject: Fwd: rejected\nTo: bot", 1),
        REJECTED.replace("To: bot", "Subject: Re: rejected\nTo: bot", 1),
        REJECTED.replace("automatic-action/MDN-sent-automatically", "manual-action/MDN-sent-manually"),
        REJECTED.replace("Disposition: automatic", "X-Disposition: automatic"),
        REJECTED.replace("message/delivery-status", "text/x-notes"),
    ],
)
def test_what_a_person_hands_on_or_did_is_told_by_a_person(text: str) -> None:
    assert not is_automatic(text)
