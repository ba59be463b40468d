"""The table of words: its rows are found by their own phrases, and by nothing that only looks like them."""

from typing import get_args

import pytest

from maild.message.reports import bounce_words, bounces
from maild.message.reports.bounce_classes import BounceClass
from maild.message.reports.bounce_words import MAX_WORDS_CHARS, Wording, plain_words, read_words
from maild.outbound.replies import SmtpReply
from tests.support.work import assert_proportional, bomb

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
    ["user ", "user x ", "unknown ", "a@", "<", ".", "x.", " ", "have a ", "does not have an x ", "不", "é "],
)
def test_reading_takes_work_in_proportion(unit: str) -> None:
    assert_proportional(read_words, bomb(unit))
    read_words(bomb(unit).whole())
