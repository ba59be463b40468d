"""Logging in to submit mail (RFC 4954): by an inbox's address and a key that may send from it, under TLS alone.

Whatever is wrong with the two, the client hears the same 535; how often it may be wrong is bounded.
"""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from conf.failed_logins import NETWORKS_MAX, FailedLogins
from maild.daemon import StartError
from tests.conftest import Start
from tests.support.clients.submitting import encrypted, greeted, logged_in, places, plain, submit, submitting
from tests.support.running import Running, Smtp

WRONG = (
    "535 5.7.8 authentication credentials invalid:"
    " the username is the address of an inbox, the password an API key that may send from it"
)
HI = "From: bot@agents.test\nTo: ada@elsewhere.test\n\nhi\n"


@pytest.fixture
async def maild(start: Start, tmp_path: Path) -> Running:
    return await submitting(start, tmp_path / "tls")


def b64(text: str | bytes) -> str:
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


# The ways in -------------------------------------------------------------------------------------


async def test_plain_in_one_line_and_in_two(maild: Running, bot: dict[str, Any]) -> None:
    said = plain(bot["address"], str(maild.api.key))
    talk = await encrypted(maild)
    assert await talk.say(f"auth plain {said}") == "235 2.7.0 authenticated"
    talk = await encrypted(maild)
    assert await talk.say("AUTH PLAIN") == "334 "
    assert await talk.say(said) == "235 2.7.0 authenticated"
    talk = await encrypted(maild)
    await talk.write(f"AUTH PLAIN\r\n{said}\r\nMAIL FROM:<>\r\n".encode())  # a client that does not wait
    assert [await talk.reply() for _ in range(3)] == ["334 ", "235 2.7.0 authenticated", "250 2.1.0 OK"]


async def test_login_with_and_without_the_name_in_its_line(maild: Running, bot: dict[str, Any]) -> None:
    talk = await encrypted(maild)
    assert await talk.say("AUTH LOGIN") == f"334 {b64('Username:')}"
    assert await talk.say(b64(bot["address"].upper())) == f"334 {b64('Password:')}"
    assert await talk.say(b64(str(maild.api.key))) == "235 2.7.0 authenticated"
    talk = await encrypted(maild)
    assert await talk.say(f"AUTH LOGIN {b64(bot['address'])}") == f"334 {b64('Password:')}"
    assert await talk.say(b64(str(maild.api.key))) == "235 2.7.0 authenticated"


async def test_with_tls_from_the_first_octet(maild: Running, bot: dict[str, Any]) -> None:
    talk = await Smtp.connect(places(maild)[1])
    maild._talks.append(talk)
    await talk.start_tls()
    assert (await talk.reply()).startswith("220 ")
    offered = (await talk.say("EHLO laptop.test")).split("\n")
    assert offered[1:] == [
        "250-SIZE 23068672", "250-8BITMIME", "250-SMTPUTF8", "250-PIPELINING", "250-AUTH PLAIN LOGIN",
        "250-LIMITS RCPTMAX=150", "250 ENHANCEDSTATUSCODES",
    ]  # fmt: skip
    assert (await talk.say("STARTTLS")).startswith("503 ")
    assert (await talk.say(f"AUTH PLAIN {plain(bot['address'], str(maild.api.key))}")).startswith("235 ")
    assert (await submit(talk, bot, HI, "ada@elsewhere.test")).startswith("250 ")


async def test_a_bound_key_sends_from_its_inbox(maild: Running, bot: dict[str, Any]) -> None:
    bound = await maild.key(inbox=bot)
    talk = await logged_in(maild, bot, bound.key)
    assert (await submit(talk, bot, HI, "ada@elsewhere.test")).startswith("250 ")


async def test_any_name_of_the_client_will_do(maild: Running, bot: dict[str, Any]) -> None:
    """smtplib, nodemailer, mutt say what their machine is called: `box.(none)` where it has no domain."""
    for name in ("box.(none)", "Ada's laptop", "müller-pc", "", "[IPv6:fe80::1%eth0]", "x" * 4000):
        talk = await Smtp.connect(places(maild)[1])
        maild._talks.append(talk)
        await talk.start_tls()
        assert (await talk.reply()).startswith("220 ")
        assert "AUTH PLAIN LOGIN" in await talk.say(f"EHLO {name}".rstrip()), name
        assert (await talk.say(f"AUTH PLAIN {plain(bot['address'], 'x')}")).startswith("535 ")
        assert (await talk.say(f"AUTH PLAIN {plain(bot['address'], str(maild.api.key))}")).startswith("235 ")
        assert (await submit(talk, bot, HI, "ada@elsewhere.test")).startswith("250 "), name
        talk.hang_up()


# What is none --------------------------------------------------------------------------------------


async def test_what_does_not_fit_is_wrong_and_nothing_tells_why(maild: Running, bot: dict[str, Any]) -> None:
    """S31"""
    other, theirs = await maild.inbox("other"), await maild.organization()
    foreign = await maild.inbox("foreign", theirs.api)
    gone = await maild.inbox("gone")
    await maild.api.call("DELETE", f"/v1/inboxes/{gone['id']}")
    revoked = (await maild.api.post("/v1/keys", {"name": "brief"})).data
    await maild.api.call("DELETE", f"/v1/keys/{revoked['id']}")
    good = str(maild.api.key)
    tries = [
        (bot["address"], good[:-1] + ("0" if good[-1] != "0" else "1")),
        (bot["address"], revoked["apiKey"]),
        (bot["address"], ""),
        (bot["address"], good + " "),
        (bot["address"], "Bearer " + good),
        (bot["address"], "hunter2"),
        (bot["address"], str(theirs.api.key)),
        (foreign["address"], good),
        (gone["address"], good),
        ("nobody@agents.test", good),
        ("bot+tag@agents.test", good),
        ("bot", good),
        (bot["id"], good),
        ("", good),
        (other["address"], str((await maild.key(inbox=bot)).key)),
        (bot["address"], str((await maild.key("messages:read")).key)),
        (bot["address"], str((await maild.key("messages:read", inbox=bot)).key)),
        (bot["address"], "svc_live_é"),
    ]
    for username, password in tries:
        maild.daemon.submission._failed_logins._failures.clear()  # type: ignore[union-attr]
        talk = await encrypted(maild)
        assert await talk.say(f"AUTH PLAIN {plain(username, password)}") == WRONG, (username, password)
        assert (await talk.say("MAIL FROM:<bot@agents.test>")).startswith("530 5.7.0 authentication required")
        talk.hang_up()


MALFORMED = [
    ("AUTH PLAIN *", "501 5.7.0"),
    ("AUTH PLAIN !!!", "501 5.5.2"),
    ("AUTH PLAIN YQ", "501 5.5.2"),
    ("AUTH PLAIN =", "501 5.5.2"),
    (f"AUTH PLAIN {b64('only one part')}", "501 5.5.2"),
    (f"AUTH PLAIN {b64(chr(0) * 5)}", "501 5.5.2"),
    (f"AUTH PLAIN {b64(b'%c%c%c' % (0, 255, 0) + b'x')}", "535 5.7.8"),
    ("AUTH PLAIN " + "A" * 3000, "501 5.5.2"),
    ("AUTH PLAIN " + "A" * 5000, "500 5.5.2"),
    ("AUTH PLAIN " + "A" * 100_000, "500 5.5.2"),
    ("AUTH", "504 5.5.4"),
    ("AUTH CRAM-MD5", "504 5.5.4"),
    ("AUTH XOAUTH2 YQ==", "504 5.5.4"),
]


async def test_malformed_logins(maild: Running) -> None:
    for said, reply in MALFORMED:
        talk = await encrypted(maild)
        assert (await talk.say(said)).startswith(reply), said[:100]
        assert (await talk.say("NOOP")).startswith("250 ")
        talk.hang_up()


async def test_malformed_answers_to_a_challenge(maild: Running, bot: dict[str, Any]) -> None:
    for line in ("*", "!", "A" * 5000, "=", "", "\x00", "QUIT", "é"):
        talk = await encrypted(maild)
        await talk.say("AUTH PLAIN")
        assert (await talk.say(line))[:3] in ("501", "500"), line
        assert await talk.say(f"AUTH LOGIN {b64(bot['address'])}") == f"334 {b64('Password:')}"
        assert (await talk.say(line))[:3] in ("501", "500", "535"), line
        assert (await talk.say("NOOP")).startswith("250 ")
        talk.hang_up()


async def test_nobody_acts_for_another(maild: Running, bot: dict[str, Any]) -> None:
    other, key = await maild.inbox("other"), str(maild.api.key)
    talk = await encrypted(maild)
    assert await talk.say(f"AUTH PLAIN {plain(bot['address'], key, other['address'])}") == WRONG
    assert (await talk.say(f"AUTH PLAIN {plain(bot['address'], key, bot['address'])}")).startswith("235 ")


async def test_nul_ends_nothing(maild: Running, bot: dict[str, Any]) -> None:
    key = str(maild.api.key)
    for said in (
        f"\0{bot['address']}\0{key}\0x",
        f"\0{bot['address']}\0\0{key}",
        f"\0\0{bot['address']}\0{key}",
    ):
        talk = await encrypted(maild)
        assert (await talk.say(f"AUTH PLAIN {b64(said)}")).startswith("501 5.5.2")


# The order of things -------------------------------------------------------------------------------


async def test_no_password_in_clear_text_and_no_mail_either(maild: Running, bot: dict[str, Any]) -> None:
    talk = await greeted(maild)
    assert "AUTH" not in await talk.say("EHLO laptop.test")
    for said in (f"AUTH PLAIN {plain(bot['address'], str(maild.api.key))}", "AUTH LOGIN", "AUTH PLAIN"):
        assert (await talk.say(said)).startswith("538 5.7.11 encryption required")
    for said in ("MAIL FROM:<bot@agents.test>", "RCPT TO:<ada@elsewhere.test>"):
        assert (await talk.say(said)).startswith("530 5.7.0 say STARTTLS first")
    assert (await talk.say("DATA")).startswith("503 ")
    assert (await talk.say("VRFY ada")).startswith("252 ") and (await talk.say("EXPN all")).startswith("500 ")


async def test_what_stood_behind_starttls_is_never_heard(maild: Running, bot: dict[str, Any]) -> None:
    """CVE-2011-0411: a login, or mail, that somebody in between put before the handshake."""
    talk = await greeted(maild)
    login = plain(bot["address"], str(maild.api.key)).encode()
    await talk.write(b"STARTTLS\r\nEHLO evil.test\r\nAUTH PLAIN " + login + b"\r\nMAIL FROM:<>\r\n")
    assert (await talk.reply()).startswith("220 ")
    await talk.start_tls()
    assert await talk.say("NOOP") == "250 2.0.0 OK"
    assert (await talk.say("MAIL FROM:<>")).startswith("530 5.7.0 authentication required")


async def test_mail_that_is_pipelined_before_the_login_is_refused(
    maild: Running, bot: dict[str, Any]
) -> None:
    talk = await encrypted(maild)
    login = plain(bot["address"], str(maild.api.key)).encode()
    await talk.write(
        b"MAIL FROM:<bot@agents.test>\r\nRCPT TO:<a@b.test>\r\nDATA\r\nAUTH PLAIN " + login + b"\r\n"
    )
    assert [(await talk.reply())[:3] for _ in range(4)] == ["530", "530", "503", "235"]


async def test_a_login_holds_and_comes_at_its_time(maild: Running, bot: dict[str, Any]) -> None:
    login = f"AUTH PLAIN {plain(bot['address'], str(maild.api.key))}"
    talk = await greeted(maild)
    await talk.say("STARTTLS")
    await talk.start_tls()
    assert (await talk.say(login)).startswith("503 5.5.1 say EHLO first")
    await talk.say("EHLO laptop.test")
    assert (await talk.say(login)).startswith("235 ")
    assert (await talk.say(login)).startswith("503 ")
    assert (await submit(talk, bot, HI, "ada@elsewhere.test")).startswith("250 ")
    assert (await talk.say("RSET")).startswith("250 ")
    await talk.say("EHLO laptop.test")
    assert (await submit(talk, bot, HI, "ada@elsewhere.test")).startswith("250 ")
    assert (await talk.say("QUIT")).startswith("221 ")


# The envelope ----------------------------------------------------------------------------------------


async def test_the_envelope_sender_is_the_inbox_or_nobody(maild: Running, bot: dict[str, Any]) -> None:
    await maild.inbox("other")
    talk = await logged_in(maild, bot)
    for sender in (
        "other@agents.test",
        "ceo@bank.test",
        "bot@second.test",
        "bot+x@agents.test",
        "postmaster",
    ):
        assert (await talk.say(f"MAIL FROM:<{sender}>")).startswith(
            "550 5.7.1 you may send as bot@agents.test"
        )
    for sender in ("bot@agents.test", "BOT@Agents.Test", ""):
        assert (await talk.say(f"MAIL FROM:<{sender}>")).startswith("250 ")
        await talk.say("RSET")


async def test_parameters_of_mail_and_rcpt(maild: Running, bot: dict[str, Any]) -> None:
    talk = await logged_in(maild, bot)
    for parameters, reply in (
        ("BODY=8BITMIME SIZE=1000", "250 "), ("SMTPUTF8", "250 "), ("AUTH=<>", "250 "), ("AUTH=bot@x.test", "250 "),
        ("SIZE=23068673", "552 5.3.4"), ("BODY=BINARYMIME", "501 "), ("RET=FULL", "555 "), ("SIZE=x", "501 "),
    ):  # fmt: skip
        assert (await talk.say(f"MAIL FROM:<bot@agents.test> {parameters}")).startswith(reply), parameters
        await talk.say("RSET")
    await talk.say("MAIL FROM:<>")
    for recipient, reply in (
        ("<ada@elsewhere.test>", "250 "), ("<ada@elsewhere.test> NOTIFY=NEVER", "555 "), ("<>", "553 5.1.3"),
        ("<postmaster>", "553 5.1.3"), ("ada@elsewhere.test", "501 "), ('<"a b"@elsewhere.test>', "250 "),
        ("<a@b.test\x00>", "501 "), ("<ädä@bücher.test>", "250 "),
    ):  # fmt: skip
        assert (await talk.say(f"RCPT TO:{recipient}")).startswith(reply), recipient


async def test_why_an_address_is_none_is_said_with_the_address(maild: Running, bot: dict[str, Any]) -> None:
    """A mail program shows its user the reply, and often nothing else of twenty recipients."""
    talk = await logged_in(maild, bot)
    await talk.say("MAIL FROM:<> SMTPUTF8")
    for address, why in (
        ("you@intranet", "The part after the @-sign is not valid. It should have a period."),
        ("postmaster", "An email address must have an @-sign."),
        ("ädä@intranet", "The part after the @-sign is not valid. It should have a period."),
    ):
        shown = address.replace("ä", "?")
        assert await talk.say(f"RCPT TO:<{address}>") == f"553 5.1.3 <{shown}>: {why}"


async def test_as_many_recipients_as_a_send_may_have(maild: Running, bot: dict[str, Any]) -> None:
    talk = await logged_in(maild, bot)
    await talk.say("MAIL FROM:<>")
    for number in range(150):
        assert (await talk.say(f"RCPT TO:<a{number}@elsewhere.test>")).startswith("250 ")
    assert (await talk.say("RCPT TO:<more@elsewhere.test>")).startswith("452 4.5.3 too many recipients")
    await talk.say("DATA")
    assert (await talk.say(HI.replace("\n", "\r\n") + ".")).startswith("250 ")
    (message,) = await maild.api.messages()
    assert len(message["recipients"]) == 150


# How often -------------------------------------------------------------------------------------------


async def test_a_session_fails_three_times(maild: Running, bot: dict[str, Any]) -> None:
    talk = await encrypted(maild)
    wrong = f"AUTH PLAIN {plain(bot['address'], 'svc_live_' + '0' * 48)}"
    assert [(await talk.say(wrong))[:3] for _ in range(3)] == ["535", "535", "421"]
    assert await talk.closed()


async def test_an_address_that_fails_often_is_not_looked_at_for_a_while(
    maild: Running, bot: dict[str, Any]
) -> None:
    wrong = f"AUTH PLAIN {plain(bot['address'], 'svc_live_' + '0' * 48)}"
    right = f"AUTH PLAIN {plain(bot['address'], str(maild.api.key))}"
    for _ in range(10):
        talk = await encrypted(maild, source="127.0.0.2")
        assert (await talk.say(wrong)).startswith("535 ")
        assert (await talk.say(wrong)).startswith("535 ")
        talk.hang_up()
    talk = await encrypted(maild, source="127.0.0.2")
    assert (await talk.say(right)).startswith("421 4.7.0 too many failed logins from your address")
    assert await talk.closed()
    talk = await encrypted(maild, source="127.0.0.3")
    assert (await talk.say(right)).startswith("235 ")


def test_failures_are_counted_for_networks_and_forgotten_in_time() -> None:
    now = 0.0
    failed = FailedLogins(3, 10, lambda: now)
    for _ in range(3):
        assert not failed.has_too_many("2001:db8::1")
        failed.note("2001:db8::1")
        now += 1
    assert failed.has_too_many("2001:db8::2") and not failed.has_too_many("2001:db8:0:1::1")
    now = 10.0  # the first of them is ten seconds old
    assert not failed.has_too_many("2001:db8::1")
    failed.note("2001:db8::1")
    assert failed.has_too_many("2001:db8::1")
    now = 100.0
    assert not failed.has_too_many("2001:db8::1")
    for number in range(NETWORKS_MAX + 5):
        failed.note(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    assert len(failed._failures) == NETWORKS_MAX


# The log --------------------------------------------------------------------------------------------


async def test_the_log_has_who_failed_and_never_what_was_given(maild: Running, bot: dict[str, Any]) -> None:
    secret = "svc_live_" + "7" * 48
    with capture_logs() as lines:
        talk = await encrypted(maild)
        await talk.say(f"AUTH PLAIN {plain(bot['address'], secret)}")
        await talk.say(f"AUTH PLAIN {plain(secret, bot['address'])}")  # in the wrong field
        talk = await logged_in(maild, bot)
        reply = await submit(talk, bot, HI, "ada@elsewhere.test")
    message_id, session = (
        reply.split()[-1],
        next(one["session"] for one in lines if one["event"] == "logged_in"),
    )
    life = [one["event"] for one in lines if one.get("message_id") == message_id]
    assert life[:2] == ["queued", "submitted"]
    failed = [one for one in lines if one["event"] == "login_failed"]
    assert [one["username"] for one in failed] == [bot["address"], None]
    assert failed[0]["peer"] == "127.0.0.1" and failed[0]["session"].startswith("ses_")
    (login,) = [one for one in lines if one["event"] == "logged_in"]
    assert login["inbox_id"] == bot["id"] and login["key_id"].startswith("key_")
    assert login["session"] == session
    told = json.dumps(lines, default=str)
    for word in (secret, secret[9:], str(maild.api.key), b64(secret), plain(bot["address"], secret)):
        assert word not in told


async def test_without_an_address_for_it_nobody_logs_in(start: Start) -> None:
    maild = await start()
    assert maild.daemon.submission is None
    talk = await maild.smtp()
    await talk.say("EHLO laptop.test")
    await talk.say("STARTTLS")
    await talk.start_tls()
    assert "AUTH" not in await talk.say("EHLO laptop.test")
    assert (await talk.say("AUTH PLAIN AAAA")).startswith("500 ")


async def test_an_address_that_is_taken_is_told_by_its_key(
    maild: Running, start: Start, tmp_path: Path
) -> None:
    for key, place in zip(("submission_listen", "submission_listen_tls"), places(maild), strict=True):
        with pytest.raises(StartError, match=f"smtp.{key}: can't listen on {place}"):
            await submitting(
                start,
                tmp_path / "tls",
                smtp={"submission_listen": [], "submission_listen_tls": [], key: [place]},
            )
        (tmp_path / "data-1").rename(tmp_path / f"left-{key}")


async def test_one_kind_of_port_is_enough(start: Start, tmp_path: Path) -> None:
    maild = await submitting(start, tmp_path / "tls", smtp={"submission_listen": []})
    submission = maild.daemon.submission
    assert submission is not None and submission.addresses == [] and len(submission.tls_addresses) == 1
    talk = await Smtp.connect(submission.tls_addresses[0])
    await talk.start_tls()
    assert (await talk.reply()).startswith("220 ")
    talk.hang_up()
