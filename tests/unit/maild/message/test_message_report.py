"""Reports in the shapes that mail systems really write: who, what, why, and about which message."""

import base64
import json
from typing import Any

import pytest

from maild.message.parsing.parse import parse
from maild.message.reports.bounces import of_report
from maild.message.reports.fates import MAX_FATES, DeliveryReport
from maild.message.reports.report import Complaint, Report, read_report

ID = "<tok3n@ours.test>"
ORIGINAL = f"Return-Path: <b+tok3n@ours.test>\nFrom: bot@ours.test\nMessage-ID: {ID}\nSubject: hi\n"


def read(text: str | bytes) -> Report | None:
    octets = text.encode() if isinstance(text, str) else text
    octets = octets.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    return read_report(octets, parse(octets))


def delivery(text: str | bytes) -> DeliveryReport:
    found = read(text)
    assert isinstance(found, DeliveryReport)
    return found


def multipart(status: str, original: str = ORIGINAL, more: str = "", **types: str) -> str:
    status_type = types.get("status_type", "message/delivery-status")
    original_type = types.get("original_type", "message/rfc822")
    return f"""From: MAILER-DAEMON@there.test
Subject: Undelivered
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
\tboundary="b/there"
{more}
This is a MIME-encapsulated message.

--b/there
Content-Description: Notification
Content-Type: text/plain; charset=us-ascii

<quoted@elsewhere.test>: 550 5.1.1 said by nobody

--b/there
Content-Description: Delivery report
Content-Type: {status_type}

{status}
--b/there
Content-Description: Undelivered Message
Content-Type: {original_type}

{original}
the words

--b/there--
"""


POSTFIX = """Reporting-MTA: dns; mx.there.test
X-Postfix-Queue-ID: 4F9D195BE84
X-Postfix-Sender: rfc822; b+tok3n@ours.test
Arrival-Date: Sat, 21 Nov 2026 10:00:00 +0000 (UTC)

Final-Recipient: rfc822; gone@there.test
Original-Recipient: rfc822;Gone@There.test
Action: failed
Status: 5.1.1
Remote-MTA: dns; mail.there.test
Diagnostic-Code: smtp; 550 5.1.1 <gone@there.test>: Recipient address
    rejected: User unknown in virtual mailbox table
"""
EXCHANGE = """Reporting-MTA: dns;AM6PR01MB.eurprd01.prod.exchangelabs.test
Received-From-MTA: dns;mail.ours.test
Arrival-Date: Sat, 21 Nov 2026 10:00:00 +0000

Original-Recipient: rfc822;gone@there.test
Final-Recipient: rfc822;gone@there.test
Action: failed
Status: 5.1.10
Diagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient gone@there.test not found by SMTP address lookup
X-Display-Name: Gone
"""  # noqa: E501 (as it is written)
GMAIL = """Reporting-MTA: dns; googlemail.test
Arrival-Date: Sat, 21 Nov 2026 02:00:00 -0800 (PST)
X-Original-Message-ID: <tok3n@ours.test>

Final-Recipient: rfc822; gone@there.test
Action: failed
Status: 5.1.1
Remote-MTA: dns; aspmx.there.test. (192.0.2.27, the server for the domain there.test.)
Diagnostic-Code: smtp; 550-5.1.1 The email account that you tried to reach does not exist. Please try
 550-5.1.1 double-checking the recipient's email address for typos or
 550 5.1.1 unnecessary spaces. - gsmtp
Last-Attempt-Date: Sat, 21 Nov 2026 02:00:01 -0800 (PST)
"""
SENDMAIL = """Reporting-MTA: dns; relay.there.test
Received-From-MTA: DNS; mail.ours.test

Final-Recipient: RFC822; <gone@there.test>
Action: failed (and that is that)
Status: 5.0.0 (permanent failure)
Remote-MTA: DNS; mail.there.test
Diagnostic-Code: SMTP; 550 5.2.1 The account is disabled
"""
EXIM = """Reporting-MTA: dns; exim.there.test

Action: failed
Final-Recipient: rfc822;gone@there.test
Status: 5.0.0
Remote-MTA: dns; mail.there.test
Diagnostic-Code: smtp; 550 No such user
"""
NO_BLANK_LINE = """Reporting-MTA: dns; odd.there.test
Final-Recipient: gone@there.test
Status: 5.7.1
Diagnostic-Code: 554 we do not like you; go away
"""


@pytest.mark.parametrize(
    ("status", "facts", "host", "words"),
    [
        (POSTFIX, ("failed", 550, "5.1.1"), "mail.there.test", "User unknown in virtual mailbox table"),
        (EXCHANGE, ("failed", 550, "5.1.10"), "AM6PR01MB.eurprd01.prod.exchangelabs.test", "RESOLVER.ADR"),
        (GMAIL, ("failed", 550, "5.1.1"), "aspmx.there.test.", "does not exist"),
        (SENDMAIL, ("failed", 550, "5.2.1"), "mail.there.test", "The account is disabled"),
        (EXIM, ("failed", 550, "5.0.0"), "mail.there.test", "550 No such user"),
        (NO_BLANK_LINE, ("failed", 554, "5.7.1"), "odd.there.test", "554 we do not like you; go away"),
    ],
    ids=["postfix", "exchange", "gmail", "sendmail", "exim", "no-blank-line"],
)  # fmt: skip
@pytest.mark.parametrize("original_type", ["message/rfc822", "text/rfc822-headers", "message/global-headers"])
def test_delivery_reports(status: str, facts: Any, host: str, words: str, original_type: str) -> None:
    report = delivery(multipart(status, original_type=original_type))
    (fate,) = report.fates
    assert (fate.action, fate.code, fate.enhanced) == facts
    assert fate.addresses == ("gone@there.test",)
    assert fate.host is not None and fate.host.startswith(host)
    assert words in fate.diagnostic and "\n" not in fate.diagnostic
    assert report.message_ids == (ID,)


def test_each_recipient_has_its_own_fate() -> None:
    status = f"""{POSTFIX}
Final-Recipient: rfc822; slow@there.test
Action: delayed
Status: 4.4.1
Will-Retry-Until: Thu, 26 Nov 2026 10:00:00 +0000


Final-Recipient: rfc822; there@there.test
Action: Relayed
Status: 2.1.9
"""
    report = delivery(multipart(status))
    assert [(fate.addresses, fate.action, fate.enhanced) for fate in report.fates] == [
        (("gone@there.test",), "failed", "5.1.1"),
        (("slow@there.test",), "delayed", "4.4.1"),
        (("there@there.test",), "relayed", "2.1.9"),
    ]


def test_who_was_forwarded_has_both_names() -> None:
    status = "Final-Recipient: rfc822; x@far.test\nOriginal-Recipient: rfc822; gone@there.test\nStatus: 5.1.1"
    (fate,) = delivery(multipart(f"Reporting-MTA: dns; mx\n\n{status}\n")).fates
    assert fate.addresses == ("x@far.test", "gone@there.test")


@pytest.mark.parametrize(
    "named", ["utf-8; josé@bücher.test", r"utf-8; jos\x{E9}@b\x{fc}cher.test", "UTF-8;<josé@xn--bcher-kva.test>"]
)  # fmt: skip
def test_a_report_in_utf_8(named: str) -> None:
    """RFC 6533."""
    status = f"Reporting-MTA: dns; mx\n\nFinal-Recipient: {named}\nAction: failed\nStatus: 5.1.1\n"
    types = {"status_type": "message/global-delivery-status", "original_type": "message/global"}
    (fate,) = delivery(multipart(status, **types)).fates
    assert fate.addresses == ("josé@xn--bcher-kva.test",)


@pytest.mark.parametrize("number", ["D800", "DFFF", "110000", "FFFFFF"])
def test_escapes_of_what_is_no_character_stay(number: str) -> None:
    """A report is read whatever a stranger writes in it."""
    status = (
        f"Reporting-MTA: dns; mx\n\nFinal-Recipient: utf-8; a\\x{{{number}}}@there.test\nAction: failed\n"
    )
    (fate,) = delivery(multipart(status, status_type="message/global-delivery-status")).fates
    assert fate.addresses == (f"a\\x{{{number.lower()}}}@there.test",)


def test_a_report_in_base64() -> None:
    status_type = "message/delivery-status\nContent-Transfer-Encoding: base64"
    status = "UmVwb3J0aW5nLU1UQTogZG5zOyBteAoKRmluYWwtUmVjaXBpZW50OiByZmM4MjI7IGdvbmVA\ndGhlcmUudGVzdApBY3Rpb246IGZhaWxlZAo="  # noqa: E501
    (fate,) = delivery(multipart(status, status_type=status_type)).fates
    assert (fate.addresses, fate.action) == (("gone@there.test",), "failed")


@pytest.mark.parametrize(
    "named",
    [
        "",
        "Final-Recipient: rfc822; postmaster\n",
        "Final-Recipient: x400; /G=A/\n",
        "Final-Recipient: rfc822; @there.test\n",
    ],
)
def test_a_report_that_names_nobody(named: str) -> None:
    (fate,) = delivery(multipart(f"Reporting-MTA: dns; mx\n\n{named}Action: failed\nStatus: 5.1.1\n")).fates
    assert (fate.addresses, fate.action) == ((), "failed")


def test_what_the_text_part_says_counts_where_the_status_is_about_nobody() -> None:
    report = delivery(multipart("Reporting-MTA: dns; mx\n"))
    assert [fate.addresses for fate in report.fates] == [("quoted@elsewhere.test",)] and report.is_worded
    report = delivery(multipart(POSTFIX))
    assert [fate.addresses for fate in report.fates] == [("gone@there.test",)] and not report.is_worded


def test_a_text_part_without_a_fate_leaves_the_report_what_it_is() -> None:
    raw = multipart("Reporting-MTA: dns; mx\n").replace(
        "<quoted@elsewhere.test>: 550 5.1.1 said by nobody", ""
    )
    assert delivery(raw) == DeliveryReport((), (ID,))


@pytest.mark.parametrize("type", ["multipart/mixed", "multipart/related", "multipart/x-odd"])
def test_a_status_counts_in_any_multipart(type: str) -> None:
    (fate,) = delivery(multipart(POSTFIX).replace("multipart/report", type)).fates
    assert fate.addresses == ("gone@there.test",)


@pytest.mark.parametrize(
    "type", ['message/xdelivery-status ; name="delivery-status.txt"', "application/x-dsn"]
)
def test_a_status_of_a_type_that_a_mailer_made_up_counts_in_a_report(type: str) -> None:
    text = multipart(POSTFIX, status_type=type)
    assert read(text) == read(multipart(POSTFIX))
    assert delivery(text.replace("report-type=delivery-status;", "")).is_worded
    in_original = multipart("nothing", original=f"{ORIGINAL}\n{POSTFIX}", status_type=type)
    assert delivery(in_original).is_worded


@pytest.mark.parametrize("action", ["failure", "Error", "failed", ""])
def test_other_words_for_failed(action: str) -> None:
    (fate,) = delivery(multipart(POSTFIX.replace("Action: failed", f"Action: {action}"))).fates
    assert fate.action == "failed"


def test_who_was_tried_in_vain_until_the_end_has_failed() -> None:
    """As SendGrid wrote it: no word of the RFC's, and no status."""
    fields = "Final-Recipient: rfc822; late@there.test\nAction: expired\nStatus: \n"
    status = f"X-Queue: 7\n\n{fields}Diagnostic-Code: Connection timed out\n"
    (fate,) = delivery(multipart(status)).fates
    assert (fate.action, fate.enhanced, fate.diagnostic) == ("failed", "4.4.7", "Connection timed out")
    (fate,) = delivery(multipart(status.replace("Status: ", "Status: 5.0.0"))).fates
    assert fate.enhanced == "4.4.7"


def test_recipients_without_blank_lines_between_them() -> None:
    status = """Reporting-MTA: dns; mx.there.test
Final-Recipient: rfc822; one@there.test
Action: failed
Status: 5.1.1
Final-Recipient: rfc822; two@there.test
Action: delayed
Status: 4.4.1

Final-Recipient: rfc822; three@there.test
Final-Recipient: rfc822; four@there.test
Action: failed
Status: 5.2.2
"""
    report = delivery(multipart(status))
    assert [(fate.addresses, fate.action, fate.enhanced) for fate in report.fates] == [
        (("one@there.test",), "failed", "5.1.1"),
        (("two@there.test",), "delayed", "4.4.1"),
        (("three@there.test",), "failed", "5.2.2"),
        (("four@there.test",), "failed", "5.2.2"),
    ]


def test_the_text_says_why_where_the_status_does_not() -> None:
    status = (
        "Reporting-MTA: dns; mx\n\nAction: failed\nFinal-Recipient: rfc822;gone@there.test\nStatus: 5.0.0\n"
    )
    raw = multipart(status).replace(
        "<quoted@elsewhere.test>: 550 5.1.1 said by nobody", "  gone@there.test\n    Unrouteable address"
    )
    (fate,) = delivery(raw).fates
    assert (fate.enhanced, fate.diagnostic) == ("5.0.0", "Unrouteable address")


def test_what_stands_behind_a_line_of_dashes_is_said_of_nobody() -> None:
    """Courier's notice, of a program that refused."""
    status = (
        "Reporting-MTA: dns; mx\n\nFinal-Recipient: rfc822; gone@there.test\nAction: failed\nStatus: 5.0.0\n"
        "Diagnostic-Code: unknown; no such program here\n"
    )
    rule = "-" * 75
    notice = (
        "Your message to the following recipients cannot be delivered:\n\n<gone@there.test>:\n"
        f" <<< no such program here\n\n{rule}\n\n"
        "If your message was also sent to additional recipients, their delivery\n"
        "status is not included in this report.  You may or may not receive\n"
        "other delivery status notifications for additional recipients.\n\n"
        "The original message follows as a separate attachment.\n"
    )
    raw = multipart(status).replace("<quoted@elsewhere.test>: 550 5.1.1 said by nobody", notice)
    (fate,) = delivery(raw).fates
    assert fate.diagnostic == "no such program here"

    said, shown = "Diagnostic-Code: unknown; no such program here\n", " <<< no such program here\n"
    (mute,) = delivery(raw.replace(said, "").replace(shown, "")).fates  # `exit 67`, and not a word
    assert (mute.enhanced, mute.diagnostic) == ("5.0.0", "")


@pytest.mark.parametrize(
    ("told", "blames"),
    [
        (
            "<gone@there.test>: host mx said: 550 5.1.1 User unknown (in reply to\n    MAIL FROM command)",
            False,
        ),
        ("<gone@there.test>: host mx said: 550 5.1.1 User unknown (in reply to EHLO command)", False),
        (
            "  gone@there.test\n    SMTP error from remote mail server after MAIL FROM:<me@ours.test>:\n    550",
            False,
        ),
        (
            "  gone@there.test\n    SMTP error from remote mail server after initial connection:\n    550",
            False,
        ),
        ("<gone@there.test>: host mx said: 550 5.1.1 User unknown (in reply to RCPT TO command)", True),
        (
            "  gone@there.test\n    SMTP error from remote mail server after RCPT TO:<gone@there.test>:\n    550",
            True,
        ),
        ("<ann@there.test>: host mx said: 550 5.1.1 User unknown (in reply to MAIL FROM command)", True),
    ],
)
def test_the_step_that_failed_stands_in_the_text_alone(told: str, blames: bool) -> None:
    status = (
        "Reporting-MTA: dns; mx\n\nFinal-Recipient: rfc822;gone@there.test\nAction: failed\nStatus: 5.1.1\n"
        "Diagnostic-Code: smtp; 550 5.1.1 User unknown\n"
    )
    raw = multipart(status).replace("<quoted@elsewhere.test>: 550 5.1.1 said by nobody", told)
    (fate,) = delivery(raw).fates
    assert of_report(fate.code, fate.enhanced, fate.diagnostic).blames_address == blames


AFTER_DATA = {
    "postfix": "<{}>: host mx said: {} (in reply to end of\n    DATA command)\n\n",
    "exim": "  {}\n    SMTP error from remote mail server after end of data:\n    {}\n\n",
    "exim's pipelining": "  {}\n    SMTP error from remote mail server after pipelined end of data:\n    {}\n\n",
    "postfix at DATA": "<{}>: host mx said: {} (in reply to DATA command)\n\n",
}


@pytest.mark.parametrize("told", AFTER_DATA.values(), ids=list(AFTER_DATA))
@pytest.mark.parametrize(
    ("others", "reply", "blamed"),
    [
        ([], "550 5.1.1 User unknown", ["gone@there.test"]),
        (["ann@there.test"], "550 5.1.1 User unknown", []),
        (["ann@there.test"], "550 5.1.1 <Gone@there.test>: User unknown", ["gone@there.test"]),
    ],
)
def test_a_refusal_of_a_message_for_several_blames_whom_it_names(
    told: str, others: list[str], reply: str, blamed: list[str]
) -> None:
    people = ["gone@there.test", *others]
    status = "Reporting-MTA: dns; mx\n" + "".join(
        f"\nFinal-Recipient: rfc822;{one}\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; {reply}\n"
        for one in people
    )
    text = "".join(told.format(one, reply) for one in people)
    raw = multipart(status).replace("<quoted@elsewhere.test>: 550 5.1.1 said by nobody", text)
    fates = delivery(raw).fates
    assert [one.addresses for one in fates] == [(one,) for one in people]
    found = [
        one.addresses[0] for one in fates if of_report(one.code, one.enhanced, one.diagnostic).blames_address
    ]
    assert found == blamed


@pytest.mark.parametrize(
    ("failed", "blames"), [("gone@there.test", True), ("gone@there.test, ann@there.test", False)]
)
def test_exim_tells_the_step_of_all(failed: str, blames: bool) -> None:
    told = "".join(AFTER_DATA["exim"].format(one, "550 no such user here") for one in failed.split(", "))
    raw = f"From: Mailer-Daemon@x.test\nX-Failed-Recipients: {failed}\n\nIt could not be delivered:\n\n{told}"
    fates = delivery(raw).fates
    assert {of_report(one.code, one.enhanced, one.diagnostic).blames_address for one in fates} == {blames}


@pytest.mark.parametrize(
    ("command", "others", "blames"),
    [
        ("MAIL From:<me@ours.test> SIZE=100", [], False),
        ("EHLO ours.test", [], False),
        ("RCPT To:<gone@there.test>", [], True),
        ("DATA", [], True),
        ("DATA", ["ann@there.test"], True),  # sendmail shows what was answered to RCPT there
    ],
)
@pytest.mark.parametrize("reply", ["550 5.1.1 User unknown", "550 no such user here"])
def test_sendmail_shows_what_a_reply_answered(
    command: str, others: list[str], blames: bool, reply: str
) -> None:
    people = ["gone@there.test", *others]
    status = "Reporting-MTA: dns; mx\n" + "".join(
        f"\nFinal-Recipient: rfc822;{one}\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: SMTP; {reply}\n"
        for one in people
    )
    names = "".join(f"<{one}>\n    (reason: {reply})\n" for one in people)
    told = (
        f"   ----- The following addresses had permanent fatal errors -----\n{names}\n"
        "   ----- Transcript of session follows -----\n... while talking to mx.there.test.:\n"
        f">>> {command}\n<<< {reply}\n554 5.0.0 Service unavailable\n"
    )
    fates = delivery(
        multipart(status).replace("<quoted@elsewhere.test>: 550 5.1.1 said by nobody", told)
    ).fates
    assert {of_report(one.code, one.enhanced, one.diagnostic).blames_address for one in fates} == {blames}


@pytest.mark.parametrize("rule", ["_" * 40, "_" * 5, "-- ", "-" * 60, "*" * 50, "=" * 30])
@pytest.mark.parametrize("blank", ["", "\n"])
def test_what_a_scanner_or_a_list_puts_below_is_no_reason_beside_a_status(rule: str, blank: str) -> None:
    status = (
        "Reporting-MTA: dns; mx\n\nFinal-Recipient: rfc822;gone@there.test\nAction: failed\nStatus: 5.1.1\n"
    )
    notice = (
        "Delivery to the following recipients failed.\n\n       gone@there.test\n\n\n\n"
        f"{rule}\n{blank}This mail was checked for viruses and spam on behalf of There.\n"
    )
    raw = multipart(status).replace("<quoted@elsewhere.test>: 550 5.1.1 said by nobody", notice)
    (fate,) = delivery(raw).fates
    assert (fate.code, fate.enhanced, fate.diagnostic) == (None, "5.1.1", "")


def test_the_line_that_a_list_puts_below_is_no_reason() -> None:
    text = (
        "From: postmaster@there.test\nSubject: Delivery Status Notification (Failure)\n\n"
        "Delivery to the following recipients failed.\n\n       gone@there.test\n\n"
        "________________________________\n{}\n\nDiagnostic information:\n\n{}"
    )
    (fate,) = delivery(text.format("Checked for viruses by There", "")).fates
    assert "virus" not in fate.diagnostic
    (fate,) = delivery(text.format("Sent by There", "gone@there.test\n#550 5.1.1 not found ##\n")).fates
    assert (fate.code, fate.enhanced) == (550, "5.1.1")
    (fate,) = delivery(text.format("550 5.2.2 mailbox full", "")).fates
    assert fate.enhanced == "5.2.2"


@pytest.mark.parametrize("rule", ["________________________________", "--", "-- "])
def test_what_is_wrong_with_an_address_may_stand_below_a_line(rule: str) -> None:
    text = (
        "From: postmaster@there.test\nSubject: Undeliverable mail\n\nYour message could not be delivered.\n\n"
    )
    (fate,) = delivery(f"{text}{rule}\ngone@there.test: user unknown\n").fates
    assert (fate.addresses, fate.diagnostic) == (("gone@there.test",), "gone@there.test: user unknown")
    (fate,) = delivery(f"{text}{rule}\ngone@there.test\n\n550 5.1.1 user unknown\n").fates
    assert (fate.addresses, fate.code) == (("gone@there.test",), 550)
    (fate,) = delivery(
        f"{text}<gone@there.test>: 550 no such user\n\n{rule}\nMail Team\nteam@there.test\n"
    ).fates
    assert fate.addresses == ("gone@there.test",)


@pytest.mark.parametrize(
    ("status", "diagnostic", "told"),
    [
        ("5.4.4 (Illegal host/domain name found)", "", "Illegal host/domain name found"),
        ("5.0.0 (mailbox over quota)", "", "mailbox over quota"),
        ("5.0.0 (over quota)", "Diagnostic-Code: smtp; 550 no such user\n", "550 no such user"),
        ("5.0.0 (permanent failure)", "", ""),
    ],
)
def test_a_comment_in_the_status_may_be_all_that_says_why(status: str, diagnostic: str, told: str) -> None:
    """As Oracle's Messaging Server writes it; what only says that it failed is no reason."""
    fields = f"Final-Recipient: rfc822; gone@there.test\nAction: failed\nStatus: {status}\n{diagnostic}"
    raw = multipart(f"Reporting-MTA: dns; mx\n\n{fields}")
    (fate,) = delivery(raw.replace("<quoted@elsewhere.test>: 550 5.1.1 said by nobody", "It failed.")).fates
    assert fate.diagnostic == told or (not told and fate.diagnostic == "It failed.")


def test_the_text_says_why_where_the_status_is_about_a_file() -> None:
    """Exim names what it delivers to: a file, which is no address, but what the only recipient is to it."""
    named = "Action: failed\nFinal-Recipient: rfc822;/var/mail/a/ann\nStatus: 5.0.0\n"
    raw = multipart(f"Reporting-MTA: dns; mx\n\n{named}").replace(
        "<quoted@elsewhere.test>: 550 5.1.1 said by nobody",
        "  save to /var/mail/a/ann\n    generated by ann%there.test@mx.there.test\n    mailbox is full",
    )
    (fate,) = delivery(raw).fates
    assert (fate.addresses, fate.enhanced) == ((), "5.0.0")
    assert fate.diagnostic.endswith("mailbox is full")
    other = "Action: failed\nFinal-Recipient: rfc822;/var/mail/b/bob\nStatus: 5.0.0\n"
    two = delivery(raw.replace("Status: 5.0.0\n", f"Status: 5.0.0\n\n{other}")).fates
    assert [fate.diagnostic for fate in two] == ["", ""]


@pytest.mark.parametrize(
    "closing",
    ["554 <gone@there.test>... Service unavailable", "554 5.0.0 Service unavailable"],
)
def test_how_sendmail_ends_its_transcript_is_no_reason_beside_one(closing: str) -> None:
    fields = "Final-Recipient: RFC822; gone@there.test\nAction: failed\nStatus: 5.5.0\n"
    raw = multipart(f"Reporting-MTA: dns; mx\n\n{fields}")
    head = "   ----- The following addresses had permanent fatal errors -----\n<gone@there.test>\n\n"
    for reason, words in (("mail.local: unknown user: gone\n", "unknown user"), ("", "Service unavailable")):
        told = f"{head}   ----- Transcript of session follows -----\n{reason}{closing}\n"
        text = raw.replace("<quoted@elsewhere.test>: 550 5.1.1 said by nobody", told)
        (fate,) = delivery(text).fates
        assert words in fate.diagnostic and ("Service" in fate.diagnostic) == (not reason)


SENDMAIL_TRANSCRIPT = """   ----- The following addresses had permanent fatal errors -----
<gone@there.test>
    (reason: can't create (user) output file)

   ----- Transcript of session follows -----
procmail: Quota exceeded while writing "/var/mail/gone"
550 5.0.0 <gone@there.test>... Can't create output
"""


@pytest.mark.parametrize(
    ("status", "diagnostic", "text", "code", "words"),
    [
        ("5.0.0", "X-Unix; 73", SENDMAIL_TRANSCRIPT, 550, "Quota exceeded"),
        ("5.0.0", "X-Unix; 73", "It failed.", None, "73"),
        ("2.0.0", "SMTP; 250 OK", "gone@there.test\n<<< 550 MAILBOX NOT FOUND", 550, "MAILBOX NOT FOUND"),
        ("2.0.0", "SMTP; 250 OK", "It failed.", None, "250 OK"),
        ("5.0.0", "SMTP; 250 OK, then 550 5.1.1 no such user", "It failed.", 550, "no such user"),
        ("5.0.0", "SMTP; 554 it said", "gone@there.test: Quota exceeded", 554, "it said"),
    ],
)
def test_the_text_says_why_where_the_diagnostic_does_not(
    status: str, diagnostic: str, text: str, code: int | None, words: str
) -> None:
    """And no host's success is the code of a failure."""
    fields = f"Final-Recipient: rfc822; gone@there.test\nAction: failed\nStatus: {status}\n"
    raw = multipart(f"Reporting-MTA: dns; mx\n\n{fields}Diagnostic-Code: {diagnostic}\n")
    (fate,) = delivery(raw.replace("<quoted@elsewhere.test>: 550 5.1.1 said by nobody", text)).fates
    assert fate.code == code and words in fate.diagnostic
    assert not (fate.enhanced or "").startswith("2")


def test_a_diagnostic_in_the_language_of_the_house() -> None:
    """As Domino writes it: in encoded words, by escape sequences, in UTF-8; what is in no known charset stays."""
    fields = (
        "Final-Recipient: rfc822; gone@there.test\nAction: failed\nStatus: 5.0.0\nDiagnostic-Code: X-Notes; "
    )
    raw = multipart(f"Reporting-MTA: dns; mx\n\n{fields}WORDS\n").encode()
    for written, told in (
        (b"nicht im Verzeichnis =?UTF-8?Q?aufgef=C3=BChrt?=", "nicht im Verzeichnis aufgeführt"),
        ("ユーザーは\n 見つかりません。".encode("iso2022_jp"), "ユーザーは 見つかりません。"),
        ("není uveden v adresáři".encode(), "není uveden v adresáři"),
        (b"=?x-nobodys?Q?=E4=F6?= !", "=?x-nobodys?Q?=E4=F6?= !"),
    ):
        (fate,) = delivery(raw.replace(b"WORDS", written)).fates
        assert fate.diagnostic == told


QMAIL = f"""From: MAILER-DAEMON@there.test
Subject: failure notice

Hi. This is the qmail-send program at there.test.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<gone@there.test>:
192.0.2.1 does not like recipient.
Remote host said: 550 5.1.1 no such user
Giving up on 192.0.2.1.

<slow@there.test>:
Sorry, I wasn't able to establish an SMTP connection. (#4.4.1)
I'm not going to try again; this message has been in the queue too long.

--- Below this line is a copy of the message.

{ORIGINAL}
<innocent@there.test>:
550 5.1.1 quoted
"""


def test_a_bounce_of_qmail() -> None:
    report = delivery(QMAIL)
    assert [(fate.addresses, fate.code, fate.enhanced) for fate in report.fates] == [
        (("gone@there.test",), 550, "5.1.1"),
        (("slow@there.test",), None, "4.4.1"),
    ]
    assert report.message_ids == (ID,)


OLD_EXIM = f"""From: Mail Delivery System <Mailer-Daemon@there.test>
X-Failed-Recipients: gone@there.test,
  <also@there.test>
Auto-Submitted: auto-replied
Subject: Mail delivery failed: returning message to sender

This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  gone@there.test
    SMTP error from remote mail server after RCPT TO:<gone@there.test>:
    host mail.there.test [192.0.2.1]: 550 5.1.1 User unknown

  also@there.test
    retry timeout exceeded

------ This is a copy of the message, including all the headers. ------

{ORIGINAL}
hello
"""


def test_a_bounce_of_an_older_exim() -> None:
    report = delivery(OLD_EXIM)
    assert [(fate.addresses, fate.action, fate.code, fate.enhanced) for fate in report.fates] == [
        (("gone@there.test",), "failed", 550, "5.1.1"),
        (("also@there.test",), "failed", None, None),
    ]
    assert report.message_ids == (ID,)


@pytest.mark.parametrize(
    "came_of",
    [
        "  far@elsewhere.test\n    (generated from gone@there.test)\n    550 no such user",
        "  far@elsewhere.test\n    (ultimately generated from gone@there.test)\n    550 no such user",
        "  an undisclosed address\n    (generated from gone@there.test)\n    550 no such user",
        "<far@elsewhere.test>\n    (reason: 550 no such user)\n    (expanded from: <gone@there.test>)",
        "<far@elsewhere.test> (expanded from <gone@there.test>): host mx said: 550 no such user",
    ],
    ids=["exim", "exim, two redirections", "exim, hidden", "sendmail", "postfix"],
)
def test_who_failed_has_the_name_that_we_wrote_to(came_of: str) -> None:
    status = "Final-Recipient: rfc822; far@elsewhere.test\nAction: failed\nStatus: 5.0.0\n"
    raw = multipart(f"Reporting-MTA: dns; mx\n\n{status}Diagnostic-Code: smtp; 550 no such user\n")
    raw = raw.replace("<quoted@elsewhere.test>: 550 5.1.1 said by nobody", f"{came_of}\n")
    (fate,) = delivery(raw).fates
    assert fate.addresses == ("far@elsewhere.test", "gone@there.test")
    (delayed,) = delivery(raw.replace("Action: failed", "Action: delayed")).fates
    assert delayed.addresses == ("far@elsewhere.test",)


# As sendmail 8.17 writes of what its own mailer refused: nothing in a code, and the mailbox behind an alias.
SENDMAILS_OWN = """\
   ----- The following addresses had permanent fatal errors -----
{named}

   ----- Transcript of session follows -----
{transcript}
"""


@pytest.mark.parametrize(
    ("named", "transcript", "status", "told"),
    [
        (
            "<gone@there.test>\n    (reason: User unknown)",
            "550 5.1.1 <gone@there.test>... User unknown",
            "Status: 5.1.1\nDiagnostic-Code: X-Unix; 67",
            "(reason: User unknown)",
        ),
        (
            "<gone@there.test>",
            "554 5.4.6 aliasing/forwarding loop broken",
            "Status: 5.4.6",
            "554 5.4.6 aliasing/forwarding loop broken",
        ),
        (
            "/far/file\n    (reason: Can't create output)\n    (expanded from: <gone@there.test>)",
            "",
            "Status: 5.3.0\nDiagnostic-Code: X-Unix; 73",
            "/far/file (reason: Can't create output) (expanded from: <gone@there.test>)",
        ),
    ],
    ids=["a user", "a loop", "a file"],
)
def test_a_report_that_has_no_words_for_a_person_gets_them_from_its_text(
    named: str, transcript: str, status: str, told: str
) -> None:
    raw = multipart(
        f"Reporting-MTA: dns; mx\n\nFinal-Recipient: RFC822; gone@there.test\nAction: failed\n{status}\n"
    )
    text = SENDMAILS_OWN.format(named=named, transcript=transcript)
    (fate,) = delivery(raw.replace("<quoted@elsewhere.test>: 550 5.1.1 said by nobody", text)).fates
    assert (fate.diagnostic, fate.enhanced) == (told, status.partition("\n")[0].removeprefix("Status: "))


def test_who_failed_behind_an_alias_is_told() -> None:
    fields = (
        "Final-Recipient: RFC822; all@there.test\nX-Actual-Recipient: rfc822; ann@mx.there.test\n"
        "Action: failed\nStatus: 5.1.1\n"
    )
    (fate,) = delivery(multipart(f"Reporting-MTA: dns; mx\n\n{fields}")).fates
    assert (fate.addresses, fate.mailbox) == (("all@there.test",), "ann@mx.there.test")


HARAKA_OF_TWO = """\
Hi. This is the Haraka Mailer program at mx.relay.test.
I'm afraid I wasn't able to deliver your message
    "hi"
to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

Intended Recipients: <gone@there.test>, <also@there.test>
Failure Reason: Error: Some recipients failed: <gone@there.test>, <also@there.test>
"""


def test_recipients_of_whom_a_report_has_names_alone_are_those_that_its_words_give_up() -> None:
    names = "Final-Recipient: rfc822;gone@there.test\n\nFinal-Recipient: rfc822;also@there.test\n"
    raw = multipart(f"Reporting-MTA: dns;mx.relay.test\n\n{names}")
    report = delivery(raw.replace("<quoted@elsewhere.test>: 550 5.1.1 said by nobody", HARAKA_OF_TWO))
    assert report.is_worded
    assert [(fate.addresses, fate.action, fate.code, fate.enhanced) for fate in report.fates] == [
        (("gone@there.test",), "failed", None, None),
        (("also@there.test",), "failed", None, None),
    ]


def test_each_that_failed_has_its_own_origin() -> None:
    status = "Final-Recipient: rfc822; {}@far.test\nAction: failed\nStatus: 5.1.1\n\n"
    text = "  {0}@far.test\n    (ultimately generated from {0}@there.test)\n    550 no such user\n\n"
    told = "".join(text.format(name) for name in ("a", "b")) + "  c@far.test\n    550 no such user"
    raw = multipart("Reporting-MTA: dns; mx\n\n" + "".join(status.format(name) for name in "abc"))
    report = delivery(raw.replace("<quoted@elsewhere.test>: 550 5.1.1 said by nobody", told))
    assert [fate.addresses for fate in report.fates] == [
        ("a@far.test", "a@there.test"),
        ("b@far.test", "b@there.test"),
        ("c@far.test",),
    ]


# Complaints -----------------------------------------------------------------------------------------


def feedback(fields: str, original: str = ORIGINAL, kind: str = "message/rfc822") -> str:
    return f"""From: <abuse@provider.test>
Subject: FW: hi
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report; boundary="arf"

--arf
Content-Type: text/plain; charset="US-ASCII"

This is an email abuse report.

--arf
Content-Type: message/feedback-report

{fields}
--arf
Content-Type: {kind}
Content-Disposition: inline

{original}
words

--arf--
"""


ARF = """Feedback-Type: abuse
User-Agent: SomeGenerator/1.0
Version: 1
Original-Mail-From: <b+tok3n@ours.test>
Original-Rcpt-To: <User@There.test>
Original-Rcpt-To: other@there.test
Arrival-Date: Sat, 21 Nov 2026 14:00:00 -0500
"""


def test_a_complaint() -> None:
    """RFC 5965, appendix B."""
    assert read(feedback(ARF)) == Complaint(
        "abuse", ("user@there.test", "other@there.test"), ("b+tok3n@ours.test",), (ID,)
    )


def test_a_complaint_that_hides_who_complained() -> None:
    found = read(feedback("Feedback-Type: ABUSE\nVersion: 0.1\n", kind="text/rfc822-headers"))
    assert found == Complaint("abuse", (), ("b+tok3n@ours.test",), (ID,))


@pytest.mark.parametrize("kind", ["mixed", "related"])
def test_a_complaint_counts_in_any_multipart(kind: str) -> None:
    raw = feedback(ARF).replace("multipart/report; report-type=feedback-report", f"multipart/{kind}")
    assert read(raw) == read(feedback(ARF))


@pytest.mark.parametrize(
    "who", ["Original-Rcpt-To: rfc822; User@There.test", "Removal-Recipient: <user@there.test>"]
)
def test_who_complained_may_be_told_otherwise(who: str) -> None:
    found = read(feedback(f"Feedback-Type: opt-out\nVersion: 1\n{who}\n"))
    assert found == Complaint("opt-out", ("user@there.test",), ("b+tok3n@ours.test",), (ID,))


def xarf(document: dict[str, Any]) -> str:
    fields = "Feedback-Type: xarf\nUser-Agent: SomeGenerator/1.0\nVersion: 1\n"
    return feedback(fields, json.dumps(document), "application/json").replace("\nwords\n", "\n")


def of_sample(**more: Any) -> dict[str, Any]:
    sample = {
        "ContentType": "message/rfc822",
        "Base64Encoded": True,
        "Payload": base64.b64encode(ORIGINAL.encode()).decode(),
    }
    report = {"ReportClass": "Activity", "ReportType": "Spam", "Samples": [sample], **more}
    return {"Version": "3", "ReporterInfo": {"ReporterOrg": "Traps"}, "Report": report}


def of_evidence(**more: Any) -> dict[str, Any]:
    evidence = {"content_type": "message/rfc822", "payload": base64.b64encode(ORIGINAL.encode()).decode()}
    return {"xarf_version": "4.0.0", "category": "messaging", "type": "spam", "evidence": [evidence], **more}


@pytest.mark.parametrize(
    ("document", "who"),
    [
        (of_sample(SmtpRcptToAddress="User@There.test"), ("user@there.test",)),
        (of_sample(SmtpRcptToAddress=None), ()),
        (of_evidence(smtp_to="User@There.test", message_id=ID), ("user@there.test",)),
        (of_evidence(type="bulk_messaging"), ()),
    ],
)
def test_a_complaint_in_json(document: dict[str, Any], who: tuple[str, ...]) -> None:
    """XARF, versions 3 and 4: who got the mail may be kept back; what was sent tells it."""
    found = read(xarf(document))
    assert isinstance(found, Complaint)
    assert (found.feedback_type, found.addresses, found.senders) == ("abuse", who, ("b+tok3n@ours.test",))
    assert set(found.message_ids) == {ID}


@pytest.mark.parametrize(
    "document",
    [
        of_sample(ReportType="LoginAttack"),
        of_evidence(type="login_attack"),
        {"Report": None},
        {"Report": []},
        {"evidence": [[]], "type": "spam"},
    ],
)
def test_json_about_something_else_is_no_complaint(document: dict[str, Any]) -> None:
    assert read(xarf(document)) is None


# What is none ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Subject: Re: failure notice\n\nMy friend, look at this:\n\n> Hi. This is the qmail-send program\n",
        "Subject: out of office\nAuto-Submitted: auto-replied\n\n<gone@there.test>: 550 5.1.1 I am away\n",
        "Subject: away\nFrom: ann@there.test\nAuto-Submitted: auto-replied\n\nThe user gone@there.test is unknown\n",
        "From: ann@there.test\nSubject: Out of office\n\nThe user gone@there.test is unknown\n",
        "From: ann@there.test\n\nYour mail to gone@there.test said 550 5.7.1 no\n",
        "From: Help <help@there.test>\n\nIf you cannot find the customer number, call.\n",
        "From: MAILER-DAEMON@there.test\n\n> gone@there.test: user unknown\n",
        "From: postmaster@there.test\n\nIt waits.\n\n--- Original message follows.\n\nunknown user: gone@there.test\n",
        "From: MAILER-DAEMON@there.test\n\ngone@there.test: mailbox full, or user unknown\n",
        "From: MAILER-DAEMON@there.test\n\ngone@there.test: 451 4.1.1 user unknown\n",
        "From: MAILER-DAEMON@there.test\n\ngone@there.test: host not found\n\nWe will keep trying for 5 days.\n",
        multipart("Disposition: automatic-action", status_type="message/disposition-notification"),
        f"Subject: Fwd: bounce\nContent-Type: message/rfc822\n\n{multipart(POSTFIX)}",
    ],
    ids=[
        "empty",
        "a human quotes one",
        "vacation",
        "a person's answer",
        "a person's answer that does not say that it is one",
        "a person's quote of a code",
        "a help desk's answer",
        "a quote",
        "the message that came back",
        "a full mailbox",
        "a transient code",
        "a delay",
        "read receipt",
        "a forwarded bounce",
    ],
)
def test_other_mail_is_no_report(text: str) -> None:
    assert read(text) is None


def test_a_huge_report_is_read_in_part() -> None:
    one = "Final-Recipient: rfc822; u{}@there.test\nAction: failed\nStatus: 5.1.1\n\n"
    status = "Reporting-MTA: dns; mx\n\n" + "".join(one.format(number) for number in range(MAX_FATES * 20))
    assert len(delivery(multipart(status)).fates) == MAX_FATES


def test_a_huge_report_of_qmail_is_read_in_part() -> None:
    told = "".join(f"<u{number}@x.test>:\nno such user\n\n" for number in range(MAX_FATES + 2))
    text = f"\nHi. This is the qmail-send program at x.test.\n\n{told}"
    assert len(delivery(text).fates) == MAX_FATES


# Texts for people ------------------------------------------------------------------------------------


def test_a_text_names_whom_it_is_about() -> None:
    text = """From: Mail Administrator <mail@there.test>
Subject: Mail System Error

For help write to postmaster@there.test.

These addresses do not exist:

one@there.test
two@there.test
    User unknown

three@there.test: 552 5.2.2 mailbox full
four@there.test: 550 5.1.1 no such user
"""
    report = delivery(text)
    assert report.is_worded
    assert [(fate.addresses, fate.code) for fate in report.fates] == [
        (("one@there.test",), None),
        (("two@there.test",), None),
        (("three@there.test",), 552),
        (("four@there.test",), 550),
    ]


def test_what_the_returned_message_says_is_not_the_reporters_word() -> None:
    text = (
        "From: MAILER-DAEMON@there.test\n\ngone@there.test: user unknown\n\n----- Original message -----\n\n"
    )
    report = delivery(f"{text}We will retry. other@there.test: user unknown\n")
    assert [fate.addresses for fate in report.fates] == [("gone@there.test",)]


def test_a_text_that_names_nobody_is_about_the_only_one() -> None:
    (fate,) = delivery("From: postmaster@there.test\n\nUnfortunately there is\nno such user here.\n").fates
    assert (fate.addresses, fate.action, fate.diagnostic) == (
        (),
        "failed",
        "Unfortunately there is no such user here.",
    )


WORDED_FAILURES = [
    "From: MAILER-DAEMON@there.test\nSubject: failure notice\n\nHi. This is the deliver program at there.test.\n"
    "I'm afraid I wasn't able to deliver your message to the following addresses.\n\n"
    "gone@there.test\n\nNo such user\n\n--- Attachment is a copy of the message.\n",
    "From: MDaemon@there.test\nSubject: Permanent Delivery Failure\n\nYOUR MESSAGE WAS NOT DELIVERED!\n\n"
    "The following addresses did NOT receive a copy of your message:\n\n> gone@there.test\n\n"
    "--- Session Transcript ---\n RCPT To:<gone@there.test>\n 550 no such user\n",
    "From: Postmaster <postmaster@there.test>\nSubject: Undeliverable Mail\n\nno room for you: gone@there.test\n",
    "From: hall@there.test\nSubject: RE: hi : non remis\n\nYour message could not be delivered to\ngone@there.test\n",
    "From: admin@there.test\nSubject: Non-Delivery: hi\n\n--- Non-Delivery Report ---\n"
    'The email below could not be delivered to the following user:\n\n"Gone" <gone@there.test>\n\nOld message:\n',
    "From: <>\nAuto-Submitted: auto-replied\n\nYou sent mail to gone@there.test. That's not a valid user here.\n",
    "From: tower@there.test\nSubject: Undeliverable: hi\n\nThe mailbox gone@there.test is\nnot there\n",
    "From: MAILER-DAEMON@there.test\n\nDelivery to the following recipients was aborted after 5.0 hours:\n\n"
    "  * gone@there.test\n",
    "From: MAILER-DAEMON@there.test\nSubject: Processing Error\n\nIntended recipient: gone@there.test\n\n"
    "The following mail has been returned because it encountered an error.\n",
    "From: MAILER-DAEMON@there.test\n\n邮件无法送达。\n\n<gone@there.test>:\n\n--- 附件\n",
    "From: postmaster@there.test\n\n--- The following addresses had delivery problems ---\ngone@there.test\n\n"
    "--- Non-delivered information ---\nToo many of them.\n",
    "From: postmaster@there.test\n\nUnable to deliver message to: <gone@there.test>\nDelivery failed.\n\n"
    "No further delivery attempts will be made.\n",
    "From: Postmaster <postmaster@there.test>\nSubject: Message blocked: hi\n\n"
    "The message you sent to the following recipient(s) was rejected and has not\nbeen delivered:\n\n"
    "    gone@there.test\n\nReason: The message violated the content policy.\n",
    "From: postmaster@there.test\n\nVotre message n'a pas pu être délivré à gone@there.test\n",
    "From: postmaster@there.test\n\nIhre Nachricht an gone@there.test konnte nicht zugestellt werden.\n",
    "From: MAILER-DAEMON@there.test\n\nVaši zprávu se nepodařilo doručit na adresu:\n\ngone@there.test\n\n"
    "Schránka je plná.\n",
    "From: MAILER-DAEMON@there.test\n\nİletiniz aşağıdaki alıcıya teslim edilemedi:\n\ngone@there.test\n\n"
    "Neden: böyle bir kullanıcı yok.\n",
    "From: MAILER-DAEMON@there.test\n\ngone@there.test 로 메일을 보내지 못했습니다. 편지함 용량 초과.\n",
    "From: Mailer Daemon <MAILER-DAEMON@there.test>\nSubject: Delivery status notification: error\n\n"
    "    An error has occurred while attempting to deliver a message for\n    the following list of recipients:\n\n"
    "gone@there.test: Envelope expired\n\n    Below is a copy of the original message:\n",
]


@pytest.mark.parametrize("text", WORDED_FAILURES)
def test_a_text_that_says_it_failed_names_who_failed(text: str) -> None:
    fates = [fate for fate in delivery(text).fates if "gone@there.test" in fate.addresses]
    assert [fate.action for fate in fates] == ["failed"]


def test_a_mail_system_that_gave_up_on_a_transient_fault_has_given_up() -> None:
    text = """From: mailer-daemon@there.test
Subject: Email Delivery Failure

A message addressed to email address :
-- gone@there.test
could not be delivered. The problem appears to be :
-- Recipient server unavailable

Additional information follows :
-- 4.4.4 Temporary server error. Please try again later

This happened after 30 attempts over a period of 92 hours.
"""
    (fate,) = delivery(text).fates
    assert (fate.addresses, fate.enhanced) == (("gone@there.test",), "4.4.4")


def test_the_code_that_says_it_for_good_is_the_one_that_refused() -> None:
    text = (
        "From: MAILER-DAEMON@there.test\nSubject: Returned mail: Host unknown\n\n"
        "   ----- Transcript of session follows -----\n"
        "421 gone@there.test: Host there.test not found for mailer smtp.\n550 gone@there.test... Host unknown\n"
    )
    (fate,) = delivery(text).fates
    assert (fate.addresses, fate.code) == (("gone@there.test",), 550)


def test_the_id_of_what_came_back_names_nobody() -> None:
    text = (
        "From: MAILER-DAEMON@there.test\nSubject: Returned mail: User unknown\n\n"
        "Your message could not be delivered because the recipient's mail\naccount does not exist (user unknown).\n\n"
        "  Subject: hi ann@there.test\n  Message-ID: <1.2@ours.test>\n"
    )
    (fate,) = delivery(text).fates
    assert fate.addresses == () and "user unknown" in fate.diagnostic


def test_a_program_that_answers_and_cites_a_refusal_reports_none() -> None:
    """What names nobody would mean the only recipient, whose mailbox has just answered."""
    text = (
        "From: postmaster@there.test\nSubject: Re: hi\nAuto-Submitted: auto-replied\n\n"
        'Q: What does "550 5.1.1 User unknown" mean?\nA: The address does not exist.\n\nYour mail was received.\n'
    )
    assert read(text) is None
    named = text.replace("Q: What", "<gone@there.test>: What")
    assert [fate.addresses for fate in delivery(named).fates] == [("gone@there.test",)]
    assert delivery(text.replace("Re: hi", "Undeliverable: hi")).fates


def test_a_warning_in_the_form_of_qmail_is_no_failure() -> None:
    text = (
        "From: MAILER-DAEMON@there.test\nSubject: delivery delayed\n\n"
        "Hi. This is the qmail-send program at there.test.\n"
        "This message was not yet delivered to the following addresses.\nI will keep trying.\n\n"
        "<slow@there.test>:\n192.0.2.1 temporarily not reachable (#4.4.1)\n\n"
        "--- Below this line is a copy of the message.\n\nReturn-Path: <bot@ours.test>\n"
    )
    assert read(text) is None
    assert delivery(text.replace("not yet", "not").replace("I will keep", "I have given up")).fates


@pytest.mark.parametrize(
    ("subject", "told"),
    [
        ("Доставка задерживается", "Не удалось доставить письмо получателю\n\ngone@there.test\n"),
        ("Zustellung verzögert", "Ihre Nachricht konnte nicht zugestellt werden an:\n\ngone@there.test\n"),
        (
            "Warning: 4 hours",
            "Your message could not be delivered to:\n\ngone@there.test\n    Connection timed out\n",
        ),
        ("Warning", "gone@there.test: host not found\n"),
        ("Status", "Ваше письмо для gone@there.test пока не доставлено.\n"),
        ("Status", "gone@there.test 宛のメールは過去4時間配信できませんでした。\n"),
        ("Status", "Could not be delivered:\n\ngone@there.test\n\nIt stays in the queue for 3 days.\n"),
    ],
)
def test_a_warning_ends_nobody(subject: str, told: str) -> None:
    text = f"From: MAILER-DAEMON@there.test\nSubject: {subject}\n\n{told}"
    assert read(text) is None


@pytest.mark.parametrize(
    "told",
    [
        "Vaši zprávu pro slow@there.test se nepodařilo doručit, server je zaneprázdněn.",
        "Viestiä ei voitu toimittaa vastaanottajalle slow@there.test, koska palvelin on varattu.",
        "İletiniz sunucu meşgul olduğu için slow@there.test adresine teslim edilemedi.",
        "slow@there.test 로 메일을 전송하지 못했습니다. 서버에 일시적 문제가 있습니다.",
    ],
)
def test_what_only_says_that_it_did_not_arrive_may_be_a_warning(told: str) -> None:
    """In words of which English knows more: with a reason that lasts they are a failure (`WORDED_FAILURES`)."""
    assert read(f"From: MAILER-DAEMON@there.test\n\n{told}\n") is None


def test_a_host_that_refused_for_good_has_done_so_however_late_it_is() -> None:
    text = "From: MAILER-DAEMON@there.test\nSubject: Warning\n\n<<< 550 5.1.1 no such user: gone@there.test\n"
    assert [fate.enhanced for fate in delivery(text).fates] == ["5.1.1"]


def test_a_warning_that_nobody_is_there_is_none() -> None:
    """MDaemon's."""
    text = (
        "From: MDaemon@there.test\nSubject: Warning: gone@there.test - User unknown!\n\n"
        "gone@there.test - no such user here.\n\nThere is no user by that name at this server.\n"
    )
    assert [fate.addresses for fate in delivery(text).fates] == [("gone@there.test",)]
    assert read(text.replace(" - User unknown!", " - delayed")) is None


@pytest.mark.parametrize(
    ("subject", "told"),
    [
        ("Undeliverable: Delayed shipment", "Your message could not be delivered to gone@there.test.\n"),
        ("Undeliverable: Warning", "Delivery failed:\n\ngone@there.test\n"),
        ("配信不能：遅延のお知らせ", "gone@there.test 宛のメールは配信できませんでした。\n"),
        ("Failure", "Your message\n\n  Subject: Delayed\n\ncould not be delivered to:\n\ngone@there.test\n"),
        ("Failure", f"Could not be delivered to:\n\ngone@there.test\n\n{'word ' * 400}\n24 hours of delay\n"),
    ],
)
def test_what_our_own_message_says_of_delays_is_no_warning(subject: str, told: str) -> None:
    text = f"From: MAILER-DAEMON@there.test\nSubject: {subject}\n\n{told}"
    assert [fate.addresses for fate in delivery(text).fates] == [("gone@there.test",)]


def test_a_warning_in_the_form_of_qmail_may_say_it_in_its_second_paragraph() -> None:
    text = (
        "From: MAILER-DAEMON@there.test\n\nHi. This is the qmail-send program at there.test.\n\n"
        "I'll keep trying to reach these addresses.\n\n<slow@there.test>:\nConnection timed out (#4.4.1)\n\n"
        "--- Below this line is a copy of the message.\n\nReturn-Path: <bot@ours.test>\n"
    )
    assert read(text) is None
    assert delivery(text.replace("I'll keep trying", "I have given up trying")).fates


@pytest.mark.parametrize(
    "told",
    [
        "Your message was delivered to kept@there.test. A copy for old@elsewhere.test failed (550 user unknown).",
        "Your message has been delivered to <kept@there.test>.\n\nIts copy was rejected: 550 5.1.1 no such user.",
        "It was successfully delivered to kept@there.test, but could not be delivered to its archive.",
    ],
)
def test_who_has_the_message_did_not_fail(told: str) -> None:
    report = read(f"From: MAILER-DAEMON@there.test\n\n{told}\n")
    fates = report.fates if isinstance(report, DeliveryReport) else ()
    assert all(fate.addresses not in ((), ("kept@there.test",)) for fate in fates)
    for denied in ("has not been delivered to", "could not be delivered to", "was not delivered to"):
        text = f"From: MAILER-DAEMON@there.test\n\nYour message {denied} gone@there.test: user unknown.\n"
        assert [fate.addresses for fate in delivery(text).fates] == [("gone@there.test",)]


@pytest.mark.parametrize(
    "reason",
    [
        "The user(s) account is temporarily over quota.",
        "Your message was not delivered because the destination computer was\n"
        "not reachable within the allowed queue period.",
        "Your message was refused: message too large.",
    ],
)
def test_a_reason_that_blames_nobody_is_told_above_the_names_as_well(reason: str) -> None:
    """InterMail and Notes write so."""
    text = (
        "From: Mail Administrator <Postmaster@there.test>\nSubject: Mail System Error - Returned Mail\n\n"
        f"This Message was undeliverable due to the following reason:\n\n{reason}\n\n"
        "<one@there.test>\n<two@there.test>\n\n"
        "Please reply to Postmaster@there.test\nif you feel this message to be in error.\n"
    )
    fates = delivery(text).fates
    assert [fate.addresses for fate in fates] == [("one@there.test",), ("two@there.test",)]
    assert {fate.diagnostic for fate in fates} == {reason.replace("\n", " ")}
    (own, _) = delivery(text.replace("<one@there.test>\n", "one@there.test: 550 5.7.1 no\n\n")).fates
    assert own.enhanced == "5.7.1"


def test_one_reason_above_all_names_is_everybodys() -> None:
    text = """From: postmaster@there.test
Subject: Undeliverable Mail

Your message:
   From:    bot@ours.test
   Subject: hi

could not be delivered because of

550 5.1.1 User unknown

The following recipients were affected:
    one@there.test
    two@there.test
"""
    fates = delivery(text).fates
    assert [(fate.addresses, fate.enhanced) for fate in fates] == [
        (("one@there.test",), "5.1.1"),
        (("two@there.test",), "5.1.1"),
    ]
    second = delivery(text.replace("The following", "550 5.7.1 Access denied\n\nThe following")).fates
    assert [fate.enhanced for fate in second] == [None, None]
    more = "\nMore\n====\nOriginal Sender:    <b+tok3n@ours.test>\nSender-MTA:         <192.0.2.7>\n"
    assert delivery(f"{text}{more}").fates == fates  # who sent it is no reason either


TO_SEVERAL = """From: System Administrator <postmaster@there.test>
Subject: Undeliverable: Hello

Your message

  {}:      ann@there.test; gone@there.test
  Cc:      cyd@there.test
  Subject: Hello
  Sent:    Fri, 20 Jul 2001 08:53:08 -0700

did not reach the following recipient(s):

gone@there.test on Fri, 20 Jul 2001 11:08:59 -0700
    The recipient name is not recognized
"""


@pytest.mark.parametrize("to", ["To", "An", "Para", "宛先"])
def test_all_to_whom_a_message_went_are_not_who_failed(to: str) -> None:
    (fate,) = delivery(TO_SEVERAL.format(to)).fates
    assert fate.addresses == ("gone@there.test",)


def test_all_to_whom_a_message_went_may_stand_below() -> None:
    text = (
        "From: MAILER-DAEMON@there.test\nSubject: Undeliverable: Hello\n\nDelivery has failed to these recipients:\n\n"
        "\t* [gone@there.test]: 550 over quota\n\n\nOriginal message details:\n\n\t* To: ann@there.test\n"
    )
    (fate,) = delivery(text).fates
    assert fate.addresses == ("gone@there.test",)


def test_whom_a_message_went_to_is_who_failed_where_no_other_did() -> None:
    text = (
        "From: postmaster@there.test\nSubject: Undeliverable: Hello\n\nYour message\n\nTo: gone@there.test\n\n"
        "was not delivered. {}"
    )
    assert "gone@there.test" in [fate.addresses[0] for fate in delivery(text.format("")).fates]
    told = delivery(text.format("The user is unknown.\n\nWrite to help@there.test, which failed too.")).fates
    assert "gone@there.test" in [fate.addresses[0] for fate in told]


WHO_SENT_IT = """From: postmaster@there.test
Subject: Undeliverable: Hello

Your message to gone@there.test couldn't be delivered.

Original Message Details
{}
Recipient Address: gone@there.test

Error Details
Error: {}
"""


@pytest.mark.parametrize(
    "line",
    [
        "Sender Address:  me@ours.test",
        "Sender: Me <me@ours.test>",
        "Sender's e-mail: me@ours.test",
        "Original sender: me@ours.test",
        "Envelope-From: <me@ours.test>",
        "Envelope sender address: me@ours.test",
        "From address: me@ours.test<mailto:me@ours.test>",
        "Von: Me Meier <me@ours.test>",
        "Absenderadresse: me@ours.test",
        "De : me@ours.test",
        "Adresse de l’expéditeur : me@ours.test",
        "Dirección del remitente: me@ours.test",
        "Indirizzo del mittente: me@ours.test",
        "Endereço do remetente: me@ours.test",
        "Adres van afzender: me@ours.test",
        "Avsändaradress: me@ours.test",
        "Nadawca: me@ours.test",
        "Odesílatel: me@ours.test",
        "Отправитель: me@ours.test",
        "送信者のアドレス:me@ours.test",
        "发件人地址:me@ours.test",
    ],
)
def test_who_sent_it_is_not_who_failed(line: str) -> None:
    (fate,) = delivery(WHO_SENT_IT.format(line, "550 5.1.1 User unknown")).fates
    assert fate.addresses == ("gone@there.test",)
    assert (fate.code, fate.enhanced) == (550, "5.1.1")


@pytest.mark.parametrize("said", ["rejected", "is unknown here", "550 5.1.8 does not exist"])
def test_what_is_said_of_who_sent_it_is_a_reason(said: str) -> None:
    fates = delivery(WHO_SENT_IT.format(f"Sender address: <me@ours.test> {said}", "550 refused")).fates
    assert all(f"<me@ours.test> {said}" in fate.diagnostic for fate in fates)


@pytest.mark.parametrize(
    "label", ["Undeliverable from your sender to", "Unknown to sender", "Sender wrote to"]
)
def test_whom_a_line_about_the_sender_names_may_have_failed(label: str) -> None:
    text = f"From: postmaster@there.test\nSubject: Undeliverable\n\n{label}: gone@there.test\n550 5.1.1 not found\n"
    (fate,) = delivery(text).fates
    assert fate.addresses == ("gone@there.test",)


NO_LONGER = (
    "From: noreply@there.test\nSubject: Re: Hello\n\nThe address gone@there.test is no longer in use. {}\n"
)


@pytest.mark.parametrize(
    "words",
    [
        "Please use ann@there.test instead.",
        "Please use the new address: ann@there.test",
        "Please write to <ann@there.test>.",
        "Please send your mail to ann@there.test in future.",
        "Please contact us at ann@there.test",
        "Write to ann@there.test instead.",
        "The new address is ann@there.test.",
        "Your mail has been forwarded to ann@there.test.",
        "It was redirected to <ann@there.test>.",
        "Bitte verwenden Sie ann@there.test.",
        "Bitte wenden Sie sich an ann@there.test.",
        "Die neue Adresse lautet: ann@there.test",
        "Merci d'écrire à ann@there.test",
        "Veuillez utiliser ann@there.test.",
        "Utilice ann@there.test",
        "Si prega di scrivere a ann@there.test",
        "Gebruik ann@there.test",
    ],
)
def test_who_is_to_be_written_to_instead_is_not_who_failed(words: str) -> None:
    (fate,) = delivery(NO_LONGER.format(words)).fates
    assert fate.addresses == ("gone@there.test",)
    assert "ann@there.test" in fate.diagnostic


@pytest.mark.parametrize(
    "words",
    [
        "Unable to contact gone@there.test: user unknown",
        "Impossible de contacter gone@there.test : utilisateur inconnu",
        "Impossibile contattare gone@there.test: utente sconosciuto",
        "Failed to send mail to gone@there.test: user unknown",
        "The following address is not in use: gone@there.test",
        "Please try again later: gone@there.test: user unknown",
        "Please contact gone@there.test by other means. The mailbox gone@there.test does not exist.",
        "We could not reach gone@there.test, for the user is unknown.",
        "The mail was forwarded to gone@there.test, but failed:\n\n<gone@there.test>: 550 5.1.1 User unknown",
        "It was redirected to gone@there.test by a rule.\n\ngone@there.test: Mailbox does not exist",
    ],
)
def test_who_failed_is_told_from_who_is_to_be_written_to(words: str) -> None:
    (fate,) = delivery(f"From: MAILER-DAEMON@there.test\nSubject: Undeliverable\n\n{words}\n").fates
    assert fate.addresses == ("gone@there.test",)


def test_an_address_to_use_instead_of_one_that_is_not_named_blames_nobody() -> None:
    text = "From: MAILER-DAEMON@there.test\n\nThis address is no longer in use. Please use ann@there.test instead.\n"
    assert read(text) is None


OLD_GMAIL = """From: mailer-daemon@there.test
Subject: Delivery Status Notification (Failure)

Delivery to the following recipient failed permanently:

     gone@there.test

Technical details of permanent failure:
The host said: {}

   ----- Original message -----
"""


def test_whom_a_hosts_reply_tells_to_write_to_is_not_another_who_failed() -> None:
    said = "550 5.7.1 Blocked by our DNSBL, send the address to delist@there.test from elsewhere"
    (fate,) = delivery(OLD_GMAIL.format(said)).fates
    assert fate.addresses == ("gone@there.test",)
    assert (fate.code, fate.enhanced) == (550, "5.7.1")
    assert of_report(fate.code, fate.enhanced, fate.diagnostic).bounce_class == "reputation"


def test_whose_fault_a_reply_says_it_is_has_failed_alone() -> None:
    fates = delivery(OLD_GMAIL.format("550 5.1.1 <other@there.test>: no such user")).fates
    blamed = [
        fate.addresses
        for fate in fates
        if of_report(fate.code, fate.enhanced, fate.diagnostic).blames_address
    ]
    assert blamed == [("other@there.test",)]


def test_a_state_is_no_word_of_the_host() -> None:
    (fate,) = delivery(OLD_GMAIL.format("550 550 Address unknown (state 14).")).fates
    assert of_report(fate.code, fate.enhanced, fate.diagnostic).blames_address


def test_a_reporter_may_have_a_name_and_no_address() -> None:
    text = (
        'From: "There\'s Mail System" <>\nSubject: Mail Error\n\n'
        "Your mail cannot be delivered to the following address:\n\n gone (ErrMsg=mail box space not enough)\n"
    )
    (fate,) = delivery(text).fates
    assert fate.addresses == ()


def test_the_code_is_the_one_that_refused() -> None:
    text = (
        "From: MAILER-DAEMON@there.test\n\ngone@there.test\n220 there.test ready\n250 ok\n550 no such user\n"
    )
    (fate,) = delivery(text).fates
    assert fate.code == 550
    (fate,) = delivery(text.replace("550 no such user", "#550 no such user ## (#5.1.1)")).fates
    assert (fate.code, fate.enhanced) == (550, "5.1.1")


def test_a_report_may_be_wrapped_as_a_message() -> None:
    text = f"""From: scanner@ours.test
Content-Type: multipart/mixed; boundary=w

--w
Content-Type: message/rfc822

{multipart(POSTFIX)}
--w--
"""
    (fate,) = delivery(text).fates
    assert fate.action == "failed" and fate.addresses
    assert delivery(text).message_ids == (ID,)


def test_a_wrapped_report_says_more_than_the_words_around_it() -> None:
    text = f"""From: postmaster@gateway.test
Subject: Notification: undeliverable
Content-Type: multipart/mixed; boundary=w

--w
Content-Type: text/plain

The attached notification was received for you: delivery failed.
--w
Content-Type: message/rfc822

{multipart(POSTFIX)}
--w--
"""
    (fate,) = delivery(text).fates
    assert (fate.enhanced, fate.addresses) == (delivery(multipart(POSTFIX)).fates[0].enhanced, fate.addresses)
    assert fate.addresses


REJECTED = """From: Mail Delivery Subsystem <admin@there.test>
Subject: Automatically rejected mail
Auto-Submitted: auto-replied (rejected)
Content-Type: multipart/report; report-type=disposition-notification; boundary=m

--m
Content-Type: text/plain

Your message to <full@there.test> was automatically rejected:
Quota exceeded
--m
Content-Type: message/disposition-notification

Final-Recipient: rfc822; full@there.test
Disposition: automatic-action/MDN-sent-automatically; deleted

--m--
"""


def test_a_notification_that_a_message_was_rejected_is_a_report() -> None:
    """RFC 5429 §2.2.1: so the Sieve action `reject` says it."""
    (fate,) = delivery(REJECTED).fates
    assert (fate.addresses, fate.action) == (("full@there.test",), "failed")
    assert "Quota exceeded" in fate.diagnostic
    for ours, other in (("deleted", "displayed"), ("automatically rejected:", "read, and thrown away:")):
        assert read(REJECTED.replace(ours, other)) is None


REFUSED = """From: MAILER-DAEMON@there.test
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="m"

--m
Content-Type: text/plain;charset=UTF-8
Content-Transfer-Encoding: 8bit

The original message was received at Mon, Nov 30 07:35:00 2026 +0000 from b@ours.test.
Message was refused by recipient's mail filtering program.
Reason given was as follows:

I do not want mail of robots. Please stop.
--m
Content-Type: message/delivery-status

Reporting-UA: sieve; GNU Mailutils 3.15
Arrival-Date: Mon, Nov 30 07:33:03 2026 UTC
Final-Recipient: RFC822; full@there.test
Action: deleted
Disposition: automatic-action/MDN-sent-automatically;deleted
Last-Attempt-Date: Mon, Nov 30 07:35:00 2026 +0000

--m
Content-Type: message/rfc822

Message-ID: <one@ours.test>

--m--
"""


def test_the_sieve_of_mailutils_says_it_in_a_delivery_status() -> None:
    report = delivery(REFUSED)
    (fate,) = report.fates
    assert (fate.addresses, fate.action) == (("full@there.test",), "failed")
    assert report.message_ids == ("<one@ours.test>",)
    found = of_report(fate.code, fate.enhanced, fate.diagnostic)
    assert (found.type, found.bounce_class, found.blames_address) == ("permanent", "policy", False)


@pytest.mark.parametrize(
    ("words", "meaning"),
    [
        ("I do not want mail of robots. Please stop.", ("permanent", "policy", "stop", False)),
        ("Quota exceeded (mailbox for user is full)", ("permanent", "mailbox_full", "retry_later", False)),
        ("552 4.2.2 Over quota", ("transient", "mailbox_full", "retry_later", False)),
    ],
)
def test_what_a_notification_says_was_rejected_is_as_final_as_a_refusal(
    words: str, meaning: tuple[str, str, str, bool]
) -> None:
    """Where LMTP takes one recipient of two, or the script asks for it, `reject` says so by mail, and else at DATA."""
    (fate,) = delivery(REJECTED.replace("Quota exceeded", words)).fates
    found = of_report(fate.code, fate.enhanced, fate.diagnostic)
    assert (found.type, found.bounce_class, found.advice, found.blames_address) == meaning


def test_a_mail_system_that_gave_up_and_names_nobody_gave_up_on_the_only_one() -> None:
    text = "From: POSTMASTER@there.test\nSubject: Undeliverable message\n\n-- Failure Reasons --\n\nToo many hops\n"
    (fate,) = delivery(text).fates
    assert (fate.addresses, fate.action) == ((), "failed")
    assert read(text.replace("POSTMASTER", "ann").replace("Undeliverable", "My")) is None


def test_a_mail_system_that_cannot_send_for_days_gave_up() -> None:
    text = "From: MAILER-DAEMON@there.test\nSubject: Returned mail: Cannot send message for 4 days\n\n421 Deferred\n"
    (fate,) = delivery(text).fates
    assert (fate.addresses, fate.action, fate.code) == ((), "failed", 421)
    assert read(text.replace("4 days", "4 hours")) is None


# Hotmail's complaints ---------------------------------------------------------------------------------

HOTMAIL = f"""From: staff@hotmail.test
Subject: complaint about message from 192.0.2.1
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="h"

--h
Content-Type: message/rfc822
Content-Disposition: inline

X-HmXmrOriginalRecipient: <User@There.test>
{ORIGINAL}
the words

--h--
"""


def test_a_complaint_of_hotmail() -> None:
    assert read(HOTMAIL) == Complaint("abuse", ("user@there.test",), ("b+tok3n@ours.test",), (ID,))


def test_a_complaint_of_hotmail_may_be_a_message_and_nothing_else() -> None:
    fields = "From: staff@hotmail.test\nSubject: complaint\nContent-Type: message/rfc822\n\n"
    line = "X-HmXmrOriginalRecipient: <User@There.test>\n"
    assert read(f"{fields}{line}{ORIGINAL}\nwords\n") == read(HOTMAIL)
    for other in (ORIGINAL, f"Subject: look\n{line}{ORIGINAL}", f"Subject: look\n\n{line}{ORIGINAL}"):
        assert read(f"{fields}{other}\nwords\n") is None


def test_hotmails_field_elsewhere_is_no_complaint() -> None:
    line = "X-HmXmrOriginalRecipient: <User@There.test>\n"
    assert read(HOTMAIL.replace(line, "").replace("Subject: hi\n", f"Subject: hi\n{line}")) is None


def test_a_complaint_with_nothing_but_hotmails_field_names_who_complained() -> None:
    found = read(feedback("Feedback-Type: abuse\n", f"X-HmXmrOriginalRecipient: user@there.test\n{ORIGINAL}"))
    assert isinstance(found, Complaint) and found.addresses == ("user@there.test",)


def test_a_report_that_says_it_is_feedback_may_have_hotmails_field_alone() -> None:
    line = "X-HmXmrOriginalRecipient: <User@There.test>\n"
    report = HOTMAIL.replace("multipart/mixed", "multipart/report; report-type={}").replace(line, "")
    told = report.replace("Subject: hi\n", f"Subject: hi\n{line}")
    assert read(told.format("feedback-report")) == read(HOTMAIL)
    assert read(told.format("delivery-status")) is None
    assert read(report.format("feedback-report")) is None
