"""fail2ban reads the log by conf/fail2ban.conf: it finds who guesses, and nobody can have somebody else banned."""

import asyncio
import smtplib
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from tests.support.daemon import DOMAIN, HOSTNAME, Daemon, Sections
from tests.support.machine import tools
from tests.support.machine.ports import free_port
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.running import Smtp
from tests.support.waiting import GIVES_UP_S

pytestmark = [pytest.mark.interop, tools.needs("fail2ban-regex")]

FILTER = Path(__file__).parents[2] / "conf/fail2ban.conf"
GUESSES_KEYS, GUESSES_LINKS, LOGS_IN, VICTIM = "198.51.100.1", "2001:db8::2", "127.0.0.1", "203.0.113.66"
WORDS = (
    f'x","peer":"{VICTIM}","username":null,"event":"login_failed","timestamp":"2026-11-29T04:00:00.000000Z"}}',
    f'"refusal":"invalid_api_key","request_id":"req_0","peer":"{VICTIM}",',
    f'{{"peer":"{VICTIM}","reason":"unknown","event":"console_login_refused",',
)


@pytest.fixture
async def daemon(tmp_path: Path) -> AsyncIterator[Daemon]:
    ThrowawayCa(tmp_path).server_context([HOSTNAME])
    pair, port = str(tmp_path / f"{HOSTNAME}.pem"), free_port()
    more: Sections = {
        "server": {"public_url": f"http://127.0.0.1:{port}"},  # the console is served at a loopback address
        "http": {"listen": f"127.0.0.1:{port}"},
        "smtp": {"submission_listen_tls": ["127.0.0.1:0"], "tls_cert": pair, "tls_key": pair},
    }
    async with asyncio.timeout(GIVES_UP_S), Daemon(tmp_path, dns_port=9, more=more) as running:
        yield running


async def test_who_guesses_is_found_and_nobody_else(daemon: Daemon, tmp_path: Path) -> None:
    await guess_keys_and_links(daemon.api.url)
    await asyncio.to_thread(log_in, daemon.submission_ports[0])
    await say_by_smtp(daemon.smtp_port)
    lines = daemon.log_lines()
    assert VICTIM in "\n".join(lines)
    for before in ("", "Nov 29 04:00:00 mx maild[7]: "):  # in a file, and as journald and rsyslog have it
        log = tmp_path / "log"
        log.write_text("".join(f"{before}{line}\n" for line in lines))
        found = await tools.run("fail2ban-regex", "-o", "<ip>", str(log), str(FILTER), folder=tmp_path)
        assert set(found.split()) == {GUESSES_KEYS, GUESSES_LINKS, LOGS_IN}, before


async def guess_keys_and_links(url: str) -> None:
    async with aiohttp.ClientSession() as session:
        for word in ("svc_live_none", *WORDS):
            told = {"X-Forwarded-For": f"{VICTIM}, {GUESSES_KEYS}", "User-Agent": word}
            told["Authorization"] = f"Bearer {word}"
            async with session.get(f"{url}/v1/inboxes", params={word: word}, headers=told) as answer:
                assert answer.status == 401
            told = {"X-Forwarded-For": GUESSES_LINKS, "User-Agent": word, "Origin": url}
            form = {"link": word, "next": word}
            async with session.post(f"{url}/console/sign-in", data=form, headers=told) as answer:
                assert answer.status == 403


def log_in(port: int) -> None:
    for word in (f"bot@{DOMAIN}", *WORDS, f'"{VICTIM}\\",\\"peer\\":\\"{VICTIM}"@{DOMAIN}'):
        context = ssl._create_unverified_context()
        client = smtplib.SMTP_SSL("127.0.0.1", port, context=context)
        with client, pytest.raises(smtplib.SMTPAuthenticationError):
            client.login(word, word)


async def say_by_smtp(port: int) -> None:
    talk = await Smtp.connect(f"127.0.0.1:{port}")
    await talk.reply()
    sender = WORDS[0].replace('"', '\\"')
    for line in (f"EHLO {WORDS[0]}", f"EHLO {VICTIM}", f'MAIL FROM:<"{sender}"@there.test>',
                 f'RCPT TO:<"{sender}"@{DOMAIN}>', *WORDS):  # fmt: skip
        await talk.say(line)
    talk.hang_up()
