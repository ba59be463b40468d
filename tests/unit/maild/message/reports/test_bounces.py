"""What a failure means: the rules by which codes, the host's own code and words are weighed."""

from typing import Any, get_args

import pytest

from maild.message.reports import bounce_classes, bounces
from maild.message.reports.bounce_classes import ADVICE, BASIC_CODES, STATUSES, BounceClass
from maild.message.reports.bounces import Bounce
from maild.message.reports.fates import failure_code


def permanent(bounce_class: Any, advice: Any = None, *, blames: bool = False) -> Bounce:
    return Bounce(
        "permanent", bounce_class, advice or ADVICE[bounce_class], is_hard=True, blames_address=blames
    )


GONE = permanent("address", blames=True)


@pytest.mark.parametrize(
    ("code", "enhanced", "text", "expected"),
    [
        (550, "5.1.1", "", GONE),
        (556, "5.1.10", "null MX", GONE),
        (550, "5.1.3", "bad syntax", permanent("address")),
        (550, "5.7.1", "user unknown, it says", GONE),
        (550, None, "User unknown", GONE),
        (550, "5.0.0", "User unknown", GONE),
        (550, "5.5.0", "No such user", GONE),
        (550, "5.0.0", "", permanent("unknown")),
        (554, None, "User unknown", GONE),
        (542, None, "no such mailbox", GONE),
        (552, "5.2.2", "over quota", permanent("mailbox_full")),
        (550, "5.30.1", "", permanent("unknown")),
        (550, "5.7.26", "blocked as spam by the block list", permanent("policy", "fix_dns")),
        (
            550,
            "5.7.515",
            "Access denied, sending domain OURS.TEST doesn't meet the required authentication level.",
            permanent("policy", "fix_dns"),
        ),
        # How Yahoo says that DMARC failed.
        (554, "5.7.9", "Message not accepted for policy reasons.", permanent("policy", "fix_dns")),
        (None, "5.0.0", "No such domain", GONE),
        (None, "5.4.4", "Host or domain name not found", GONE),
        (None, "5.4.4", "no route", permanent("infrastructure")),
        (
            None,
            "5.4.1",
            "connect to there.test[203.0.113.9]:25: Connection refused",
            permanent("infrastructure"),
        ),
        (
            None,
            "5.0.0",
            "connect to there.test[203.0.113.9]:25: Connection refused",
            permanent("infrastructure"),
        ),
        (554, None, "there.test ESMTP connection refused", permanent("policy")),
        (550, "5.7.1", "connection refused", permanent("policy")),
        # A code that says nothing leaves it to the basic one.
        (556, "5.0.0", "SMTP protocol returned a permanent error", GONE),
        (552, "5.0.0", "no", permanent("mailbox_full")),
        (552, "5.2.0", "no", permanent("unknown")),
        # 5.7.27 is of a sender without mail hosts (RFC 7505 §4.2); sendmail says it of a recipient.
        (550, "5.7.27", "Host does not accept mail", GONE),
        (550, "5.7.27", "Host does not accept mail from ours.test", permanent("policy", "fix_dns")),
        (550, "5.7.27", "Domain ours.test does not accept mail (nullMX)", permanent("policy", "fix_dns")),
        (550, "5.7.27", "No such user", permanent("policy", "fix_dns")),
        (None, "5.4.4", "Illegal host/domain name found", GONE),
        (550, "5.0.0", "Mail system full", permanent("infrastructure")),
    ],
)
def test_what_replies_and_reports_agree_on(
    code: int | None, enhanced: str | None, text: str, expected: Bounce
) -> None:
    assert bounces.of_reply(code, enhanced, text, is_ours=False) == expected
    assert bounces.of_reply(code, enhanced, text, is_ours=True) == expected
    assert bounces.of_report(code, enhanced, text) == expected


def test_a_host_where_nobody_listens_is_no_policy() -> None:
    told = bounces.of_expiry(421, "4.4.1", "mx.there.test [203.0.113.9]: Connection refused")
    assert (told.bounce_class, told.advice) == ("infrastructure", "retry_later")


@pytest.mark.parametrize("fault", ["Network is unreachable", "Network is down", "Operation not permitted"])
def test_a_network_without_a_way_is_nobodys_reputation_and_no_policy(fault: str) -> None:
    ours = f"mx.x.test [192.0.2.1]: no way to it from this host: {fault}"
    theirs = f"connect to mx.x.test[192.0.2.1]:25: {fault}"
    told = [bounces.of_expiry(421, "4.4.1", ours), bounces.of_report(None, "5.4.1", theirs)]
    assert {(one.bounce_class, one.advice) for one in told} == {("infrastructure", "retry_later")}


@pytest.mark.parametrize(
    ("enhanced", "by_host", "by_us", "by_report"),
    [
        ("5.3.0", ("permanent", True), ("permanent", False), ("permanent", True)),
        ("5.3.4", ("permanent", True), ("permanent", False), ("permanent", True)),
        ("5.4.7", ("permanent", True), ("permanent", True), ("transient", False)),
    ],
)
def test_where_they_differ(enhanced: str, by_host: Any, by_us: Any, by_report: Any) -> None:
    told = [
        bounces.of_reply(550, enhanced, "", is_ours=False),
        bounces.of_reply(550, enhanced, "", is_ours=True),
        bounces.of_report(550, enhanced, ""),
    ]
    assert [(one.type, one.is_hard) for one in told] == [by_host, by_us, by_report]


@pytest.mark.parametrize(
    ("code", "enhanced", "text", "expected"),
    [
        (None, None, "", ("undetermined", False)),
        (None, None, "user unknown", ("permanent", True)),
        (None, None, "Unrouteable address", ("permanent", True)),
        (None, None, "over quota", ("undetermined", False)),
        (None, None, "retry timeout exceeded", ("transient", False)),
        (None, None, "all hosts have been failing for a long time", ("transient", False)),
        (None, None, "Envelope expired", ("transient", False)),
        (
            550,
            "5.4.300",
            "Message expired -> 451 4.4.397 Error communicating with target host",
            ("transient", False),
        ),
        (550, "5.4.316", "Message expired, connection refused", ("transient", False)),
        (550, "5.4.300", "Message expired -> 421 4.3.2 Service unavailable", ("transient", False)),
        (550, "5.4.310", "DNS domain there.test does not exist", ("permanent", True)),
        # As Google writes it.
        (
            None,
            "5.0.0",
            "DNS Error: 7 DNS type 'mx' lookup of there.test responded with code NXDOMAIN Domain name not found",
            ("permanent", True),
        ),
        (
            None,
            "5.0.0",
            "DNS Error: 7 DNS type 'mx' lookup of there.test responded with code SERVFAIL",
            ("permanent", False),
        ),
        (None, "4.4.1", "user unknown", ("transient", False)),
        (None, "5.1.1", "user unknown", ("permanent", True)),
        (451, None, "user unknown", ("transient", False)),
        (550, "4.2.2", "user unknown", ("transient", False)),  # the status counts before a code in the words
        (550, "4.0.0", "user unknown", ("transient", False)),
        (451, "5.0.0", "451 mailbox disabled", ("transient", False)),  # a reporter that gave up says no more
        (451, "5.1.1", "451 mailbox disabled", ("permanent", True)),
        (250, None, "user unknown", ("undetermined", False)),
        (550, "2.0.0", "user unknown", ("undetermined", False)),
    ],
)
def test_only_what_lasts_blames_an_address(
    code: int | None, enhanced: str | None, text: str, expected: Any
) -> None:
    told = bounces.of_report(code, enhanced, text)
    assert (told.type, told.blames_address) == expected
    assert told.is_hard == (told.type == "permanent")


@pytest.mark.parametrize(
    ("words", "bounce_class"),
    [
        ("over quota", "mailbox_full"),
        ("mailbox is full", "mailbox_full"),
        ("too many recipients this hour", "throttled"),
        ("is receiving mail at a rate that prevents additional messages", "throttled"),
        ("message too large", "content"),
        ("blocked using the block list", "reputation"),
        ("looks like spam", "content"),
        ("temporarily disabled", "infrastructure"),
        ("sender address rejected: user unknown", "policy"),
    ],
)
@pytest.mark.parametrize(("code", "enhanced"), [(550, "5.1.1"), (550, "5.2.1"), (550, None), (554, "5.0.0")])
def test_words_of_something_else_take_the_blame_off(
    code: int, enhanced: str | None, words: str, bounce_class: str
) -> None:
    for text in (words, f"User unknown: {words}", f"{words.upper()}, no such user"):
        told = bounces.of_report(code, enhanced, text)
        assert (told.bounce_class, told.blames_address) == (bounce_class, False)


@pytest.mark.parametrize(
    "text",
    [
        "<spam-quota@there.test>: User unknown",
        "host quota.spam.there.test said: User unknown",
        "User unknown, see https://spam.there.test/quota/blocked",
        "<blacklist@there.test>... User unknown",
    ],
)
def test_names_and_links_are_no_words(text: str) -> None:
    assert bounces.of_report(550, None, text) == GONE


@pytest.mark.parametrize(
    ("status", "text", "expected"),
    [
        ("5.1.1", "550 5.7.1 your IP is blacklisted", "5.7.1"),
        ("5.2.1", "552 5.2.2 over quota", "5.2.2"),
        ("5.0.0", "550 5.1.1 User unknown", "5.1.1"),
        ("5.1.1", "550 5.0.0 User unknown", "5.1.1"),
        ("5.1.1", "550 User unknown", "5.1.1"),
        ("5.0.0", "451 4.7.1 greylisted", "4.7.1"),
        ("5.0.0", "550 5.0.350 error -> 550 5.1.1 none", "5.1.1"),
        ("4.4.7", "550 5.1.1 User unknown", "4.4.7"),
        ("", "user unknown (#5.1.1)", "5.1.1"),
        ("", "see 192.0.2.5 and 15.1.1.7 and 5.1.1.2", None),
        ("", "", None),
        ("5.1.1 (bad mailbox)", "", "5.1.1"),
        ("5.0.0", "5.1.0 - Unknown address error 550-'5.7.1 not wanted' (delivery attempts: 0)", "5.7.1"),
        ("5.4.7", "5.4.7 - Delivery expired 452-'4.2.2 full' (delivery attempts: 40)", "4.2.2"),
        ("5.0.0", "5.1.0 - Unknown address error 550-'not wanted' (delivery attempts: 0)", "5.1.0"),
    ],
)
def test_the_hosts_own_code_counts_before_a_reporters(status: str, text: str, expected: str | None) -> None:
    assert bounces.telling_status(status, text) == expected


@pytest.mark.parametrize(
    ("reply", "bounce_class", "is_gone"),
    [
        ("550-'5.1.1 User unknown'", "address", True),
        ("550-'user unknown'", "address", True),
        ("553-'<ann@there.test>... no such user'", "address", True),
        ('550-"there is no such user here"', "address", True),
        ("550-'5.7.1 rejected for what it says'", "policy", False),
        ("554-'rejected by the domain of the recipient'", "policy", False),
        ("552-'5.2.2 the mailbox is full'", "mailbox_full", False),
        ("550-'looks like spam'", "content", False),
    ],
)
def test_an_ironport_that_quotes_a_host_says_nothing_of_the_address(
    reply: str, bounce_class: str, is_gone: bool
) -> None:
    """It calls every refusal of a recipient, and of what was sent to one, an unknown address."""
    text = f"5.1.0 - Unknown address error {reply} (delivery attempts: 0)"
    enhanced = bounces.telling_status("5.0.0 (permanent failure)", text)
    found = bounces.of_report(failure_code(text), enhanced, text)
    assert (found.bounce_class, found.blames_address) == (bounce_class, is_gone)


def test_a_name_server_that_does_not_answer_is_no_bad_host() -> None:
    text = "5.1.2 - Bad destination host 'DNS Soft Error looking up there.test (MX): SERVFAIL' (delivery attempts: 9)"
    found = bounces.of_report(None, "5.1.2", text)
    assert (found.bounce_class, found.blames_address) == ("infrastructure", False)


@pytest.mark.parametrize(
    ("code", "enhanced", "text", "bounce_class", "advice"),
    [
        (451, None, "greylisted", "throttled", "retry_later"),
        (450, "4.1.1", "unverified address", "address", "retry_later"),
        (452, "4.2.2", "", "mailbox_full", "retry_later"),
        (421, "4.7.0", "[TSS04] deferred", "throttled", "slow_down"),
        (450, "4.7.1", "cannot find your hostname", "policy", "fix_dns"),
        (450, "4.7.1", "", "policy", "retry_later"),
    ],
)
def test_what_is_put_off_has_a_class_and_advice(
    code: int, enhanced: str | None, text: str, bounce_class: str, advice: str
) -> None:
    assert bounces.of_expiry(code, enhanced, text) == Bounce("transient", bounce_class, advice)  # type: ignore[arg-type]


def test_every_row_has_its_source_and_its_class() -> None:
    rows = [*STATUSES.values(), *BASIC_CODES.values()]
    assert all(row.source and row.bounce_class in get_args(BounceClass) for row in rows)
    assert all(row.bounce_class == "address" for row in rows if row.blames_address)
    assert set(bounce_classes.ADVICE) == set(get_args(BounceClass))


def test_a_reporter_that_no_host_answered_has_given_up_on_hosts_and_not_on_the_address() -> None:
    """As Haraka 3.3 has it, which calls it a bad domain in its own code, and ZoneMTA 3."""
    for text in ("550 Tried all MXs there.test", "550 Temporary MX lookup error for there.test"):
        found = bounces.of_report(550, "5.1.2", text)
        assert found == bounces.Bounce("transient", "infrastructure", "retry_later")
    for text in (
        "Network error: Network error when connecting to MX server mx.there.test[192.0.2.7] for there.test: Connection"
        " refused",
        "DNS Error: DNS error occurred while resolving the Mail Exchange (MX) server for the specified domain"
        " (there.test). DNS server returned general failure",
    ):
        assert bounces.of_report(None, "5.0.0", text) == found
    nowhere = bounces.of_report(550, "5.1.2", "550 Nowhere to deliver mail to for domain: there.test")
    assert nowhere.blames_address


@pytest.mark.parametrize(
    ("code", "enhanced", "text"),
    [
        (
            553,
            "5.0.0",
            "553-The recipient's mail server does not support E-mail 553-messages with international Unicode E-mail"
            " addresses or 553-E-mail messages in the international Unicode E-mail format. 553 Unable to deliver"
            " Unicode E-mail to a non-Unicode mail server.",
        ),
        (501, "5.1.3", '501 5.1.3 8-bit character in mailbox address "<grC<C?e@there.test>"'),
        (550, None, "SMTPUTF8 is required, but was not offered by host mx.there.test"),
    ],
    ids=["courier", "sendmail", "postfix"],
)
def test_a_host_that_takes_ascii_alone_is_a_matter_of_form(code: int, enhanced: str, text: str) -> None:
    found = bounces.of_report(code, enhanced, text)
    assert (found.bounce_class, found.advice, found.blames_address) == ("content", "fix_content", False)
