"""What many sessions bring in one moment is taken in several rounds of the event loop, so that others get their turns
between (storage/turns/round_share.py)."""

import asyncio
import ssl
from collections import Counter
from collections.abc import Callable
from ssl import _TLSMessageType  # type: ignore[attr-defined]
from typing import Any

import pytest

from maild.inbound.accept import Acceptor
from maild.inbound.sessions import session_listener
from maild.inbound.sessions.conversation import Conversation
from maild.inbound.sessions.session_listener import ANSWERED_A_ROUND, COMMITTED_A_ROUND, DECRYPTED_A_ROUND
from maild.inbound.wire.tls_layer import PIECE_OCTETS, PIECE_RECORDS, TINY_OCTETS
from storage.turns.recent_use import RecentUse
from tests.conftest import Start
from tests.support.hostile.rekeying import RekeyingClient
from tests.support.running import Running, Smtp

MANY = 12
RECORDS = 3_000
Called = Callable[..., Any]


class CountedRounds:
    """How often a function is called in each round of the loop, until it was so often in all."""

    def __init__(self, in_all: int) -> None:
        self.calls: Counter[int] = Counter()
        self._in_all = in_all
        self.passed = 0

    def counted(self, function: Called) -> Called:
        def call(*args: Any) -> Any:
            self.calls[self.passed] += 1
            return function(*args)

        return call

    def begin(self) -> None:
        self.passed += 1
        if self.calls.total() < self._in_all:
            asyncio.get_running_loop().call_soon(self.begin)


async def test_messages_that_end_at_once_are_taken_in_several_rounds(
    maild: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds = CountedRounds(MANY)
    monkeypatch.setattr(Acceptor, "accept", rounds.counted(Acceptor.accept))
    inbox = await maild.inbox("bot")
    talks = [await maild.smtp() for _ in range(MANY)]
    for talk in talks:
        await talk.say("EHLO friend.test")
        await talk.say("MAIL FROM:<f@friend.test>")
        await talk.say(f"RCPT TO:<{inbox['address']}>")
        assert (await talk.say("DATA")).startswith("354")
    rounds.begin()
    await asyncio.gather(*(talk.write(b"Subject: hi\r\n\r\nhello\r\n.\r\n") for talk in talks))
    assert [(await talk.reply())[:3] for talk in talks] == ["250"] * MANY
    assert 1 < max(rounds.calls.values()) <= COMMITTED_A_ROUND


@pytest.mark.parametrize(
    ("is_alone", "most"), [(False, ANSWERED_A_ROUND), (True, MANY)], ids=("beside_others", "alone")
)
async def test_commands_that_come_at_once_are_answered_in_several_rounds_unless_nobody_else_is_there(
    maild: Running, monkeypatch: pytest.MonkeyPatch, is_alone: bool, most: int
) -> None:
    monkeypatch.setattr(RecentUse, "is_alone", lambda *_: is_alone)
    talks = [await maild.smtp() for _ in range(MANY)]
    for talk in talks:
        await talk.say("EHLO friend.test")
    rounds = CountedRounds(MANY)
    monkeypatch.setattr(Conversation, "active", rounds.counted(Conversation.active))
    rounds.begin()
    await asyncio.gather(*(talk.write(b"NOOP\r\n") for talk in talks))
    assert [(await talk.reply())[:3] for talk in talks] == ["250"] * MANY
    assert 1 < max(rounds.calls.values()) <= most
    assert is_alone is (max(rounds.calls.values()) > ANSWERED_A_ROUND)


async def test_handshakes_that_come_at_once_are_made_in_several_rounds(
    maild: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    talks = await asyncio.gather(*(ready_for_tls(maild) for _ in range(MANY)))
    hellos = [Client().said() for _ in range(MANY)]
    rounds = CountedRounds(MANY)
    monkeypatch.setattr(ssl.SSLObject, "do_handshake", rounds.counted(ssl.SSLObject.do_handshake))
    rounds.begin()
    await asyncio.gather(*(talk.write(hello) for talk, hello in zip(talks, hellos, strict=True)))
    assert [len(await talk._reader.read(1)) for talk in talks] == [1] * MANY
    assert 1 < max(rounds.calls.values()) <= DECRYPTED_A_ROUND


async def test_records_of_one_octet_leave_others_their_rounds(
    maild: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk, client = await under_tls(maild)
    rounds = CountedRounds(RECORDS)
    monkeypatch.setattr(ssl.SSLObject, "read", rounds.counted(ssl.SSLObject.read))
    rounds.begin()
    assert (await answer(talk, client, *[b"x"] * (RECORDS - 2), b"\r\n")).startswith(b"500 ")
    # Those that were called in the round before come beside those that needn't wait.
    assert max(rounds.calls.values()) <= 2 * DECRYPTED_A_ROUND * (PIECE_RECORDS + 1)
    # A rest is five milliseconds, which are hundreds of rounds where nobody else wants the loop.
    assert len(rounds.calls) < rounds.passed / 4, "most rounds are free of it"


async def test_changes_of_keys_leave_others_their_rounds(maild: Running) -> None:
    """They hold no data, so OpenSSL reads on behind them: a piece of them would take ten milliseconds."""
    rounds = CountedRounds(RECORDS)
    changed = rounds.counted(lambda: None)
    maild.daemon.listener.tls._msg_callback = lambda *what: (  # type: ignore[attr-defined]
        changed() if _TLSMessageType.KEY_UPDATE in what else None
    )
    talk, client = await ready_for_tls(maild), RekeyingClient()
    await shake_hands(talk, client)
    rounds.begin()
    await talk.write(client.said(b"NOOP\r\n", new_keys=RECORDS))
    assert (await heard(talk, client)).startswith(b"250 ")
    client.close()
    assert rounds.calls.total() == RECORDS
    assert max(rounds.calls.values()) <= 2 * DECRYPTED_A_ROUND * PIECE_RECORDS


async def test_records_of_some_size_never_rest(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_listener, "TINY_REST_S", 3600.0)
    talk, client = await under_tls(await start())
    words = [b"x" * (TINY_OCTETS + 1)] * RECORDS
    assert (await answer(talk, client, *words, b"\r\n")).startswith(b"500 ")


async def test_a_mail_in_tiny_records_arrives_as_it_was_sent(maild: Running) -> None:
    inbox = await maild.inbox("bot")
    talk, client = await under_tls(maild)
    for line in ("EHLO friend.test", "MAIL FROM:<f@friend.test>", f"RCPT TO:<{inbox['address']}>", "DATA"):
        assert (await answer(talk, client, f"{line}\r\n".encode()))[:1] in b"23"
    text = "".join(f"line {number}\r\n" for number in range(400))
    octets = f"Subject: hi\r\n\r\n{text}.\r\n".encode()
    said = await answer(talk, client, *(octets[at : at + 7] for at in range(0, len(octets), 7)))
    assert said.startswith(b"250 ")
    (mail,) = await maild.api.messages(inboxId=inbox["id"])
    assert (await maild.raw(mail["id"])).endswith(octets.removesuffix(b".\r\n"))


async def under_tls(maild: Running) -> "tuple[Smtp, Client]":
    talk, client = await ready_for_tls(maild), Client()
    await shake_hands(talk, client)
    return talk, client


async def shake_hands(talk: Smtp, client: "Client | RekeyingClient") -> None:
    while not client.is_ready:
        await talk.write(client.said())
        client.hear(await talk._reader.read(PIECE_OCTETS))
    await talk.write(client.said())


async def answer(talk: Smtp, client: "Client", *words: bytes) -> bytes:
    """What is said first when each of the words came in a record of its own."""
    await talk.write(client.said(*words))
    return await heard(talk, client)


async def heard(talk: Smtp, client: "Client | RekeyingClient") -> bytes:
    while not (reply := client.heard()):
        client.hear(await talk._reader.read(PIECE_OCTETS))
    return reply


class Client:
    """The client's side of TLS, whose octets leave when it is told to."""

    def __init__(self) -> None:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self._heard, self._said = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._heard, self._said)
        self.is_ready = False
        self._shake_hands()

    def _shake_hands(self) -> None:
        try:
            self._tls.do_handshake()
            self.is_ready = True
        except ssl.SSLWantReadError:
            pass

    def hear(self, octets: bytes) -> None:
        self._heard.write(octets)
        if not self.is_ready:
            self._shake_hands()

    def heard(self) -> bytes:
        """What was said to it in the records that came; nothing in those of the handshake."""
        try:
            return self._tls.read(1000)
        except ssl.SSLWantReadError:
            return b""

    def said(self, *words: bytes) -> bytes:
        """A record for each of the words."""
        for word in words:
            self._tls.write(word)
        return self._said.read()


async def ready_for_tls(maild: Running) -> Smtp:
    talk = await maild.smtp()
    await talk.say("EHLO friend.test")
    assert (await talk.say("STARTTLS")).startswith("220 ")
    return talk
