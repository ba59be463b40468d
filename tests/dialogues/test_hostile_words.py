"""Whatever a stranger says, in whatever order: a reply or an end, never an exception of ours, never a place kept."""

import asyncio
import re

import structlog
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import on_shared
from tests.support.running import Running, Smtp

pytestmark = on_shared

WORDS = st.sampled_from(
    [
        b"EHLO c.test",
        b"HELO c.test",
        b"EHLO",
        b"EHLO \xff",
        b"MAIL FROM:<a@b.test>",
        b"MAIL FROM:<>",
        b"MAIL FROM:",
        b"RCPT TO:<bot@agents.test>",
        b"RCPT TO:<nobody@agents.test>",
        b"RCPT TO:<b+x@agents.test>",
        b"RCPT TO:<postmaster>",
        b"DATA",
        b"DATA now",
        b"RSET",
        b"NOOP",
        b"NOOP \x00",
        b"VRFY a",
        b"HELP",
        b"QUIT",
        b"STARTTLS x",
        b"BDAT 5 LAST",
        b"AUTH PLAIN =",
        b"Subject: x",
        b".",
        b"..",
        b"",
        b" ",
        b"\x16\x03\x01\x02",
        b"GET / HTTP/1.1",
    ]
)
VALUES = st.sampled_from(
    ["²", "١", "1e9", "-1", "+1", " 1", "0x1", "1" * 30, "", "\u00a0", "ǅ", "７BIT", "８BITMIME", "=", "<>"]
)
PARAMETERS = st.builds(
    lambda name, value: f"MAIL FROM:<a@b.test> {name}={value}".encode(),
    st.sampled_from(["SIZE", "BODY", "SMTPUTF8", "ſIZE", "RET", "AUTH"]),
    VALUES,
)
PATHS = st.builds(
    lambda verb, path: verb + b"<" + path + b">",
    st.sampled_from([b"MAIL FROM:", b"RCPT TO:"]),
    st.one_of(
        st.binary(max_size=20),
        st.sampled_from(
            [
                b"@" * 300,
                b'"\\"@agents.test',
                b"a@[::1]",
                b"a@[IPv6:zz]",
                b"a@[1.2.3]",
                b"b+" + b"x" * 300,
                b"a@" + b"x." * 130,
            ]
            + [
                one.encode()
                for one in (
                    "ü@agents.test",
                    "a@ü.test",
                    "a@xn--\u0661.test",
                    "İ@agents.test",
                    "ﬀ@agents.test",
                )
            ]
        ),
    ),
)
LINES = st.lists(st.one_of(WORDS, WORDS, PARAMETERS, PATHS, st.binary(max_size=40)), max_size=25)
ENDS = st.sampled_from([b"\r\n", b"\r\n", b"\r\n", b"\n", b"\r"])


def imagine() -> list[bytes]:
    made: list[bytes] = []

    @settings(max_examples=150, deadline=None, database=None)
    @given(lines=LINES, end=ENDS)
    def keep(lines: list[bytes], end: bytes) -> None:
        made.append(end.join(lines) + end)

    keep()
    return made


async def test_no_conversation_makes_an_exception(shared: Running, shared_bot: object) -> None:
    with structlog.testing.capture_logs() as logs:
        for said in imagine():
            talk = await Smtp.connect(shared.daemon.listener.addresses[0])
            await talk.write(said)
            talk.half_close()
            await hear(talk)
    assert [one for one in logs if "exc_info" in one or one["log_level"] == "error"] == []


async def hear(talk: Smtp) -> None:
    """All replies to the end; each is one of SMTP's."""
    try:
        while reply := await talk.reply():
            assert re.match(r"[245][0-9][0-9][ -]|354 ", reply), reply
    except ConnectionError:
        pass  # closed with something unread
    finally:
        talk.hang_up()
        await asyncio.sleep(0)
