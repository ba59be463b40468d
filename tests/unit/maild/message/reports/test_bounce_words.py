"""The table of words: its rows are found by their own phrases, and by nothing that only looks like them."""

from typing import get_args

import pytest

from maild.message.reports import bounce_vocabulary, bounce_words, bounces
from maild.message.reports.bounce_classes import BounceClass
from maild.message.reports.bounce_words import (
    MAX_WORDS_CHARS,
    Wording,
    plain_words,
    read_words,
    says_nothing_else,
)
from maild.outbound.sessions.replies import SmtpReply
from tests.support.laws.work import assert_proportional, bomb

ROWS: list[Wording] = [
    *bounce_words._NOT_THE_ADDRESS, *bounce_words._EXPIRED, *bounce_words._ADDRESS, *bounce_words._WEAK,
]  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=[row.phrases[0] for row in ROWS])
def test_a_phrase_means_its_row_or_one_that_is_asked_before(row: Wording) -> None:
    assert row.source and row.bounce_class in get_args(BounceClass)
    for phrase in row.phrases:
        assert phrase == plain_words(phrase)[1:].rstrip() + " " * phrase.endswith(" "), "is not as words are"
        found = read_words(f"Host said: {phrase.upper()}.")
        assert found is not None and (found not in ROWS or ROWS.index(found) <= ROWS.index(row)), phrase


@pytest.mark.parametrize(
    "text",
    [
        "",
        "thank you",
        "unspamable",
        "the recipients are many",
        "unknown",
        "not found",
        "does not exist",
        "\x00",
        "user",
    ],
)
def test_other_words_mean_nothing(text: str) -> None:
    assert read_words(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "The address is not valid. A sender must be specified.",
        "Sender not on file: invalid address",
        "mail from invalid address",
        "Sender's mailbox <ann@here.test>: no such address",
        "Originator address does not exist",
        "The account you send from does not exist on this host",
        "The domain you claim to be from does not exist",
        "From header contains an address that does not exist",
        "URL domain does not exist",
        "Domain in message body is not valid",
        "Must issue STARTTLS first, user unknown otherwise",
    ],
)
def test_what_is_said_of_a_sender_alone_blames_no_address(text: str) -> None:
    assert not bounces.of_reply(550, None, text, is_ours=False).blames_address


@pytest.mark.parametrize(
    "text",
    [
        "No such address; mail is returned to sender",
        "Address not found, see our sender guidelines",
        "Recipient is unknown, and the sender was notified",
        "The address you sent your message to does not exist",
        "The account you send to does not exist",
        "Address retired",
    ],
)
def test_who_only_names_the_sender_still_blames_the_address(text: str) -> None:
    assert bounces.of_reply(550, None, text, is_ours=False).blames_address


@pytest.mark.parametrize(
    "text",
    [
        "Recipient lookup disabled",
        "User database does not exist",
        "Recipient verification failed: directory answered with unknown error",
        "Delivery to the mailbox failed for an unknown reason",
        "RCPT TO parameter unknown: NOTIFY",
        "The user has disabled mail from people whom they have not written to",
        "The recipient has disabled delivery of newsletters",
        "Sending user account disabled",
    ],
)
def test_a_fault_of_something_else_blames_no_mailbox(text: str) -> None:
    assert not bounces.of_reply(550, None, text, is_ours=False).blames_address


@pytest.mark.parametrize(
    "text",
    [
        "The account on this server does not exist",
        "This user has been disabled",
        "The user's mailbox is disabled",
        "Recipient in our directory is unknown",
        "domain there.test does not accept mail",
        "Recipient domain there.test doesn't accept email",
    ],
)
def test_the_fault_of_a_mailbox_blames_it(text: str) -> None:
    assert bounces.of_reply(550, None, text, is_ours=False).blames_address


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (550, "This domain no longer accepts mail from free mail providers"),
        (550, "Our users do not accept email from unknown hosts; address invalid"),
        (550, "Relaying to this domain is disabled; user must authenticate"),
        (550, "The license for this mail domain has expired"),
        (550, "Mailbox unavailable or access denied"),
        (553, "Possible forgery or deactivated due to abuse (#5.1.1)"),
        (556, "remote ip check error"),
        (551, "Main account unavailable [@ud010102]"),
        (550, "5.1.1 Main account unavailable"),
        (550, "Domain there.test does not accept mail from elsewhere.test"),
        (550, "domain there.test doesn't accept mail for relaying"),
        (550, "5.1.1 client IP 192.0.2.1 not found"),
        (550, "Adresse de retour invalide"),
        (550, "La dirección de retorno no existe"),
        (550, "L'indirizzo di ritorno non esiste"),
        (550, "O endereço de retorno não existe"),
        (550, "Retouradres bestaat niet"),
        (550, "Rücksendeadresse ungültig"),
        (550, "Adres zwrotny nie istnieje"),
        (550, "Обратный адрес не существует"),
    ],
)
def test_whom_a_host_takes_mail_from_is_no_fault_of_the_address(code: int, text: str) -> None:
    said = SmtpReply.of(code, text)
    assert not bounces.of_reply(said.code, said.enhanced, said.text, is_ours=False).blames_address


@pytest.mark.parametrize(
    "text",
    [
        "Unavailable mail user",
        "Inactive mailbox <ann@there.test>",
        "Wrong recipients",
        "This server doesn't know that user; there don't exist that account",
        "ann is not a user of this system, not user of this server",
        "No such ID",
        "RCPT user <ann@there.test> not OK",
    ],
)
def test_a_fault_may_stand_before_its_mailbox(text: str) -> None:
    assert bounces.of_reply(550, None, text, is_ours=False).blames_address


@pytest.mark.parametrize(
    "text",
    [
        "<ann@there.test> not used",
        "<ann@there.test> is now disabled with MTA service.",
        "ann@there.test: disabled",
        '"ann@there.test" has been deleted',
        "ann@there.test...User account is unavailable",
        "<ann@there.test>... User account not activated",
        "recipient unrecognized",
        "RCPT (ann@there.test) dosn't exist",
        "No such mail drop defined",
        "destin. Sconosciuto",
        "ann@there.test does not exist here",
        "Recipient address rejected: Not in recipient list",
        "Unknown destination address",
        "No Redirect Entry for this address.",
        "NOACTIVITY: Sorry, no recipient activity since 2014-02-11",
        "Mailbox ann@there.test is locked due to inactivity for more than 180 days",
        "Mailbox is blocked due to long-time inactivity",
        "<ann@there.test> is a disabled mailbox",
        "RCPT address has non-existant domain there.test",
        "This address does not receive mail",
        "Account not available",
    ],
)
def test_what_is_said_of_the_address_that_stands_first_is_a_fault_of_it(text: str) -> None:
    assert bounces.of_reply(550, None, text, is_ours=False).blames_address


@pytest.mark.parametrize(
    "text",
    [
        "no users here by that name",
        "There is no user by that name",
        "bad destination email address",
        "not a recognised email account",
        "unknown mail address",
        "Invalid account",
        "Destinatario errato",
        "Niemand unter dieser Adresse bekannt",
        "<ann@there.test> is not one of our own addresses or at least syntactically incorrect.",
        "5.1.2 bad destination host 'DNS Hard Error looking up there.test (MX):  NXDomain'",
    ],
)
def test_a_mailbox_and_what_it_lacks_are_enough_where_nothing_else_is_said(text: str) -> None:
    said = SmtpReply.of(550, text)
    assert bounces.of_reply(said.code, said.enhanced, said.text, is_ours=False).blames_address


@pytest.mark.parametrize(
    "text",
    [
        "5.4.0 Recipient lookup failed: directory server unknown error",
        "Invalid Domain [mx-41.there.test; LIB_420]",
        "bad destination email format",
        "Your account is not known here",
        "No users of newsletters by that name here",
        "Message to that recipient not delivered",
        "Mail for this user not accepted here",
        "syntax error in email address, wrong end",
    ],
)
def test_a_mailbox_beside_another_subject_or_no_lack_is_not_enough(text: str) -> None:
    said = SmtpReply.of(550, text)
    assert not bounces.of_reply(said.code, said.enhanced, said.text, is_ours=False).blames_address


@pytest.mark.parametrize(
    "text",
    [
        "5.1.2 User reject",
        "<ann@there.test>: TLS is disabled",
        "ann@there.test wants newsletters that are not used",
        "ann@there.test (about MAIL FROM) unknown",
        "Notices to <ann@there.test> are disabled",
    ],
)
def test_what_is_said_of_something_else_is_no_fault_of_an_address(text: str) -> None:
    said = SmtpReply.of(550, text)
    assert not bounces.of_reply(said.code, said.enhanced, said.text, is_ours=False).blames_address


@pytest.mark.parametrize("enhanced", ["", "5.1.1 "])
@pytest.mark.parametrize(
    "told",
    [
        "SMTP error from remote mail server after {}: 550 {}no such user here",
        "SMTP error from remote mailer after {}: host mx.there.test [192.0.2.1]: 550 {}User unknown",
    ],
)
@pytest.mark.parametrize(
    ("step", "blames"),
    [
        ("MAIL FROM:<me@ours.test> SIZE=1234", False),
        ("pipelined MAIL FROM:<me@ours.test> SIZE=1234", False),
        ("initial connection", False),
        ("EHLO ours.test", False),
        ("HELO ours.test", False),
        ("LHLO ours.test", False),
        ("STARTTLS", False),
        ("RCPT TO:<gone@there.test>", True),
        ("pipelined RCPT TO:<gone@there.test>", True),
    ],
)
def test_who_was_refused_before_it_was_said_for_whom_it_is_blames_nobody(
    step: str, blames: bool, told: str, enhanced: str
) -> None:
    text = told.format(step, enhanced)
    found = bounces.of_report(550, enhanced.strip() or None, text)
    assert (found.blames_address, found.bounce_class == "address") == (blames, blames)


@pytest.mark.parametrize(
    ("code", "text", "bounce_class"),
    [
        (550, "Requested action not taken: Local user only or Authentication mechanism", "policy"),
        (553, "AUTH FAILED - ann@here.test", "policy"),
        (550, "relaying mail to there.test is not allowed", "policy"),
        (552, "MessageWall: MIME/REJECT: Invalid structure", "content"),
        (554, "5.5.2 Invalid data in message", "content"),
        (553, "Mail data refused by AISP, rule [169648].", "content"),
        (554, "5.7.1 Mail Score (59) over MessageScoringUpperLimit (50)", "content"),
        (550, "Benutzer hat zuviele Mails auf dem Server.", "mailbox_full"),
        (550, "User has too many messages on the server.", "mailbox_full"),
        (550, "IP 192.0.2.25 is blocked by there. Go to there.test/block for details.", "reputation"),
        (550, "5.7.1 192.0.2.25 blocked by ldap:ou=rblmx,dc=there,dc=test", "reputation"),
        (550, "5.1.0 192.0.2.25 rejected by there. AUP#CXBL", "reputation"),
        (550, "The user's space has used up.", "mailbox_full"),
        (550, "mail box space not enough", "mailbox_full"),
        (554, "The user has not enough diskspace available", "mailbox_full"),
        (550, "too many messages on this mailbox", "mailbox_full"),
        (554, "5.7.1 This message has been blocked because it contains a banned word.", "content"),
        (553, "5.7.1 Sensitive words detected", "content"),
        (550, "Mail contained a URL rejected by SURBL", "content"),
        (554, "5.7.1 - Connection refused. IP name lookup failed for 192.0.2.25", "policy"),
        (501, "<here.test> is invalid or DNS says does not exist", "policy"),
        (500, "Syntax error, command unrecognized", "infrastructure"),
        (550, "too many spams from your IP (192.0.2.25), please visit http://there.test/", "reputation"),
        (550, "Error opening input/output file", "infrastructure"),
        (550, "Unable to chdir to maildir", "infrastructure"),
        (550, "queue file write error", "infrastructure"),
        (550, "dns loop", "infrastructure"),
        (550, "Your message was received but it could not be saved. Please retry later.", "infrastructure"),
        (550, "Da die Kapazität des Empfänger E-Mail Postfaches erschöpft ist.", "mailbox_full"),
        (550, "Excessive userid unknowns from 192.0.2.25", "throttled"),
        (550, "Mail sending only allowed for local users!", "policy"),
        (550, "You do not have permissions to send to this recipient", "policy"),
        (550, "not allowed access from your location", "policy"),
        (550, "ann@there.test requires that you verify your message", "policy"),
        (550, "rejecting password protected file attachment", "content"),
        (550, "executable files are not allowed in compressed files", "content"),
        (553, "Header Error", "content"),
        (554, "mail address invalid. (发件人地址不匹配)", "policy"),
        (451, "4.4.3 temporary error when checking the SPF policy", "infrastructure"),
        (450, "4.4.0 Temporary DMARC DNS lookup failure", "infrastructure"),
        (553, "this route requires encryption (tls)", "policy"),
        (552, "looping message. (环回信件)", "infrastructure"),
        (554, "Message looping (received 6 times)", "infrastructure"),
        (552, "Daily sending quota exceeded", "throttled"),
        (556, "The number of RCPTs is over size", "throttled"),
        (421, "4.4.2 Message submission rate for this client has exceeded the configured limit", "throttled"),
        (450, "4.2.1 Mailbox received too much email in a short period of time (G30)", "throttled"),
        (452, "4.3.1 Mail system storage is full.", "infrastructure"),
        (503, "Bad sequence of commands", "infrastructure"),
        (450, "out of memory.", "infrastructure"),
        (550, "Sorry, no access for this ip", "reputation"),
        (554, "192.0.2.25 found on one or more RBLs (abusixip)", "reputation"),
        (553, "Relaying disallowed, mx.there.test", "policy"),
        (553, "host denies relay. (拒绝中继)", "policy"),
        (550, "Retransmissão Negada", "policy"),
        (550, "submitter failed to authenticate", "policy"),
        (550, "No such virtual user here", "address"),
        (559, "Invalid rcptto", "address"),
        # Codes of Cox and of Spectrum.
        (554, "mx.there.test ESMTP not accepted: AUP#I-1000", "reputation"),
        (554, "5.7.1 AUP#I-1220 listed", "reputation"),
        (550, "5.1.0 AUP#I-1110", "policy"),
        (554, "5.1.0 AUP#In-1490", "throttled"),
        (421, "AUP#CXCNCT", "throttled"),
        (452, "AUP#CXMXRT", "throttled"),
        (421, "AUP#CXDNS", "policy"),
        (550, "5.1.0 rejected AUP#CXSNDR", "policy"),
        (550, "5.1.0 AUP#CXBL", "reputation"),
        (550, "can't create user output file. Command output: there is a lock", "infrastructure"),
        (554, "procmail: Error while writing to /var/mail/a", "infrastructure"),
        (554, "5.2.0 STOREDRV.Deliver.Exception:MailboxInTransitException", "infrastructure"),
        (550, "a loop was found in the mail exchanger", "infrastructure"),
        (554, "Transaction failed: Duplicate header 'DKIM-Signature'.", "content"),
        (550, "There are multiple Subject headers.", "content"),
        (550, "bad HELO, connection dropped", "policy"),
        # Where a connection was lost, the step is no reason.
        (
            451,
            "lost connection with mx.there.test[192.0.2.1] while performing the EHLO handshake",
            "infrastructure",
        ),
        (
            451,
            "conversation with mx.there.test timed out while performing the HELO handshake",
            "infrastructure",
        ),
        (451, "Connection was dropped by remote host (SENT_HELO)", "infrastructure"),
        (
            554,
            "Could not initiate SMTP conversation: [mx.there.test (1): Connection dropped]",
            "infrastructure",
        ),
        (550, "5.0.350 Remote server returned an error -> 554 the x-dg-ref header is too long", "content"),
        (451, "4.7.850 Access denied, please try again later", "throttled"),
        (550, "Server IP 192.0.2.25 listed as abusive", "reputation"),
        (550, "because the sender isn't on the recipient's list of senders to accept mail from", "policy"),
        (554, "Message rejected due to user rules", "policy"),
        (550, "Connection forbidden", "policy"),
    ],
)
def test_hosts_are_known_by_what_they_say(code: int, text: str, bounce_class: BounceClass) -> None:
    said = SmtpReply.of(code, text)
    assert bounces.of_reply(said.code, said.enhanced, said.text, is_ours=False).bounce_class == bounce_class


@pytest.mark.parametrize(
    "text",
    [
        "Unavailable user database",
        "Wrong sender or recipient policy",
        "Disabled feature: user groups",
        "No such idea",
        "TLS is disabled. Recipients want it",
        "The option is not there or wrong. Recipient not asked",
    ],
)
def test_what_stands_before_another_thing_is_no_fault_of_a_mailbox(text: str) -> None:
    assert not bounces.of_reply(550, None, text, is_ours=False).blames_address


@pytest.mark.parametrize(
    "text",
    [
        "No such user [1f8e2a] (Mode: normal)",
        "Invalid Recipient - https://community.there.test/docs/DOC-1369#550 [1f8e2a] (Mode: normal)",
        "User unknown; IP name possibly forged [192.0.2.1]",
        "Callout verification failed: 550 5.1.1 <ann@there.test>: Recipient address rejected: User unknown",
        "No one with that email address here",
        "User not a member of domain: <ann@there.test>",
        "5.0.0 ann is not a subscriber of our service any more",
        "Requested action was not taken because this server doesn't handle mail for that user",
        "The person you are trying to reach is no longer an employee of There Ltd",
        "<ann@there.test>... We do not know of anyone by that name",
    ],
)
def test_what_a_filter_adds_to_every_refusal_takes_no_blame_off(text: str) -> None:
    found = read_words(text)
    assert found is not None and found.bounce_class == "address"


@pytest.mark.parametrize(
    "text",
    [
        "Mailbox unavailable. The frequency of receiving messages is limited.",
        "5.7.1 Mailbox unavailable. The sending MTA or the sender has not passed validation",
        "No such user among our approved trading partners",
        "Recipient address invalid during summer holidays",
        "5.7.1 Invalid recipient preferences",
        "5.4.0 Recipient address not found while cluster node restarts",
        "5.1.1 Your newsletter arrived outside office hours",
        "mailbox not found: storage node 7 offline",
        "5.2.1 Mailbox unavailable. This server does not accept mails from this sender address",
        "Domain here.test has outgoing email disabled",
        "Address not found during maintenance",
        "User not found in department of weather months",
    ],
)
def test_words_that_no_refusal_of_an_address_has_suppress_nobody(text: str) -> None:
    said = SmtpReply.of(550, text)
    found = bounces.of_reply(said.code, said.enhanced, said.text, is_ours=False)
    assert not found.blames_address and found.type == "permanent"
    assert not bounces.of_report(None, None, f"mx.there.test said: 550 {text}").blames_address


@pytest.mark.parametrize(
    "text",
    [
        "user ann not found",
        "5.1.1 Recipient not found in Rivendell",
        "5.1.1 Неизвестна особа",
        "Mailbox doesn't exist [x1Y-2bZ.q8] mx7.there.test (QsCowADX) v2.fqdn/k3 p=NoSuchUser",
        "Sorry, no mailbox here by that name. Please check the spelling, or see https://there.test/help for more",
        "No such recipient. Double-check for typos",
        "Unknown user ann.lee+tag",
        "Invalid recipient ann@there.test (Mode: normal)",
        'unknown local-part "ann" in domain "there.test"',
        "Mailbox was not used for more than 3 months",
        "vdelivermail: account is locked email bounced",
        "<ann@there.test>: Recipient address rejected: Account closed due to inactivity. No forwarding information",
    ],
)
def test_names_and_advice_take_no_blame_off(text: str) -> None:
    said = SmtpReply.of(550, text)
    assert bounces.of_reply(said.code, said.enhanced, said.text, is_ours=False).blames_address


@pytest.mark.parametrize(
    "text",
    [
        "While talking to our smarthost somewhere: 550 No such user",
        "host mx.there.test said: 550 No such user (expanded from: <ann@here.test>)",
        "Remote host said: 550 No such user Giving up on 192.0.2.7.",
        "The gateway of the elves found out that this user does not exist",
    ],
)
def test_what_a_reporter_says_of_its_own_takes_no_blame_off(text: str) -> None:
    assert bounces.of_report(None, None, text).blames_address


@pytest.mark.parametrize(
    "reply",
    [
        "550 <ann@there.test> not found",
        "550 5.0.0 ann@there.test has been suspended",
        "550 Inactive account",
        "550 Bad destination recipient",
        "#550 Ann has left the company",
        "550 5.0.0 Ann has left the company",
    ],
)
def test_what_a_host_says_is_read_alone_as_well(reply: str) -> None:
    for text in (f"host mx.there.test [192.0.2.7]: {reply}", f"<ann@there.test>\n(reason: {reply})"):
        assert bounces.is_address_fault(text)
        assert bounces.of_report(550, "5.0.0", text).blames_address


@pytest.mark.parametrize(
    "text",
    [
        "192.0.2.7 does not like recipient. Remote host said: 554 invalid domain. Giving up on 192.0.2.7.",
        "SMTP error after RCPT TO:<ann@there.test>: host mx.there.test [192.0.2.7]: 554 invalid domain",
        "No such user, thought the gateway: 550 Not today",
        "ann@there.test #550 Mailbox unavailable, rejected because the sending MTA has not passed validation ##",
        "ann@there.test #550 error: no valid recipients from 192.0.2.1 ##",
    ],
)
def test_what_a_reporter_says_of_its_own_puts_no_blame_on(text: str) -> None:
    """Where a host is quoted, it is the one that must speak of an address."""
    assert not bounces.of_report(None, None, text).blames_address


def test_the_vocabulary_has_each_word_once() -> None:
    words = " ".join(bounce_vocabulary._SAID_OF_ADDRESSES).split()
    assert all(word.isalpha() and word.islower() for word in words)
    assert len(words) == len(set(words))


def test_words_far_behind_are_not_read() -> None:
    assert read_words("x" * MAX_WORDS_CHARS + " user unknown") is None


def test_what_is_between_a_mailbox_and_its_fault_may_be_a_name() -> None:
    for text in (
        "user John Smith not found",
        "The mailbox 'ann@x.test' doesn’t exist",
        "account <a@x.test>: is disabled",
    ):
        found = read_words(text)
        assert found is not None and found.bounce_class == "address", text


@pytest.mark.parametrize(
    "unit",
    [
        "user ",
        "user x ",
        "unknown ",
        "a@",
        "<",
        ".",
        "x.",
        " ",
        "have a ",
        "does not have an x ",
        "不",
        "é ",
        "a-",
        "a-a",
        "Aa",
        "A",
    ],
)
def test_reading_takes_work_in_proportion(unit: str) -> None:
    assert_proportional(read_words, bomb(unit))
    assert_proportional(lambda text: says_nothing_else(text, 0), bomb(unit))
    read_words(bomb(unit).whole())
