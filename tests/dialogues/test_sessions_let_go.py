"""A session that has ended leaves nothing to the collector of cycles: looking at all that there is holds the event loop
for long, and a stranger's connections would have it look often."""

import gc
from collections.abc import Awaitable, Callable

import pytest

from maild.inbound.sessions.session import Session
from maild.inbound.wire.tls_layer import TlsLayer
from tests.conftest import Start
from tests.support.running import Smtp, until_true

pytestmark = pytest.mark.usefixtures("no_collector")

Dialogue = Callable[[Smtp, str], Awaitable[None]]


def in_memory() -> list[object]:
    return [one for one in gc.get_objects() if isinstance(one, Session | TlsLayer)]


async def says_quit(talk: Smtp, _: str) -> None:
    assert (await talk.say("QUIT")).startswith("221 ")


async def hangs_up(talk: Smtp, _: str) -> None:
    talk.hang_up()


async def sends_a_refused_message(talk: Smtp, mailbox: str) -> None:
    await talk.begin(mailbox)
    await talk.write(b"Received: by a.test\r\n" * 101 + b"\r\n")
    assert (await talk.say(b".")).startswith("554 ")
    talk.hang_up()


async def quits_under_tls(talk: Smtp, mailbox: str) -> None:
    assert (await talk.say("STARTTLS")).startswith("220 ")
    await talk.start_tls()
    await says_quit(talk, mailbox)


async def speaks_no_tls(talk: Smtp, _: str) -> None:
    assert (await talk.say("STARTTLS")).startswith("220 ")
    await talk.write(b"no TLS at all\r\n" * 20)
    assert await talk.closed()


async def leaves_the_handshake(talk: Smtp, _: str) -> None:
    assert (await talk.say("STARTTLS")).startswith("220 ")
    talk.hang_up()


@pytest.mark.parametrize(
    "dialogue",
    [says_quit, hangs_up, sends_a_refused_message, quits_under_tls, speaks_no_tls, leaves_the_handshake],
)
async def test_a_session_that_ended_is_in_memory_no_more(start: Start, dialogue: Dialogue) -> None:
    maild = await start()
    inbox = await maild.inbox()
    before = len(in_memory())
    talk = await maild.smtp()
    assert len(in_memory()) > before
    await talk.say("EHLO client.test")
    await dialogue(talk, inbox["address"])
    await until_true(lambda: len(in_memory()) == before)
