"""What smarthosts say of the account that hands them mail, in the words of their manuals, and what is near it."""

import pytest

from maild.message.reports.account_refusals import is_of_our_account
from maild.outbound.sessions.replies import SmtpReply

OURS = [
    "554 Sending paused for this account.",
    "554 Message rejected: Sending suspended for this account. For more information, please check the inbox",
    "554 Message rejected: Sending paused for configuration set bulk.",
    "554 Message rejected: Daily message quota exceeded",
    "554 Your account is on probation and domains are limited to 100 messages / hour.",
    "552 Your account has been suspended. Please contact us to reactivate",
    "502 5.7.0 Your SMTP account is not yet activated. Please contact us",
    "550 5.7.0 Your account is temporarily blocked",
    "550 5.7.1 Your account is pending approval",
    "550 5.7.1 Not allowed to send. You ran out of credits.",
    "550 5.4.5 Daily user sending limit exceeded. - gsmtp",
    "550 5.7.1 Daily SMTP relay limit exceeded for customer. - gsmtp",
    "550 5.1.8 Access denied, bad outbound sender AS(42003)",
    "550 5.1.90 Your message can't be sent because you've reached your daily limit for message recipients",
    "550 5.7.233 Your message can't be sent because your tenant exceeded its daily limit for sending email",
    "554 5.2.0 STOREDRV.Submission.Exception:SubmissionQuotaExceededException; the sender's submission quota",
    "550 5.7.705 Access denied, tenant has exceeded threshold",
]
NOT_OURS = [
    "554 Message rejected: Email address is not verified.",
    "550 5.1.1 <you@there.test>: Recipient address rejected: User unknown",
    "550 5.2.1 The email account that you tried to reach is disabled.",
    "552 5.2.2 mailbox full, over quota",
    "554 5.7.1 Message rejected as spam",
    "550 5.7.60 Client does not have permissions to send as this sender",
    "552 5.3.4 Message size exceeds limit",
    "554 Transaction failed: Recipient count exceeds 50.",
    "554 5.7.1 Rejected: 'Your account is suspended' is a known lure",
    '554 5.7.1 Rejected for "sending paused for this account"',
    "554 5.7.1 Message rejected, subject: Your account has been blocked",
    '550 5.7.1 <"your account is suspended now"@there.test>: Recipient address rejected',
    r'550 5.7.1 <"a\" sending paused \"b"@there.test>: Recipient address rejected',
    '554 5.7.1 Message rejected: the subject "Your account has been locked" is that of spam',
    "550 5.1.1 <you@there.test>: host mx.there.test said: 550 5.2.1 Your account has been disabled",
    "552 5.2.2 <you@there.test>: the recipient has exceeded its daily quota",
    "552 5.3.4 The message exceeds the sending limit of 20 MB",
    "554 5.7.1 The recipient's account is suspended",
    "550 User's account is disabled",
]


@pytest.mark.parametrize("said", OURS)
@pytest.mark.parametrize("to_recipient", [False, True])
def test_the_account_is_refused(said: str, to_recipient: bool) -> None:
    assert is_read_so(said, to_recipient)


@pytest.mark.parametrize("said", NOT_OURS)
def test_something_else_is_refused(said: str) -> None:
    assert not is_read_so(said, to_recipient=False)


def test_an_account_that_is_disabled_is_the_recipients_at_rcpt() -> None:
    assert is_read_so("550 5.7.1 Account is disabled. Please contact support", to_recipient=False)
    assert not is_read_so("550 5.7.1 Account is disabled. Please contact support", to_recipient=True)


def is_read_so(said: str, to_recipient: bool) -> bool:
    reply = SmtpReply.of(int(said[:3]), said[4:])
    return is_of_our_account(reply.enhanced, reply.text, to_recipient=to_recipient)
