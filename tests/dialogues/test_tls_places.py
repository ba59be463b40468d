"""A handshake that fails, or never ends, frees the session's place."""

import pytest

from conf.tuning import SmtpTuning, Tuning
from tests.conftest import Start
from tests.support.running import until_true


@pytest.mark.parametrize("said", [b"no TLS at all\r\n" * 20, b"\x16\x03\x01", b""])
@pytest.mark.parametrize("leaves", [True, False])
async def test_a_handshake_that_comes_to_nothing(start: Start, said: bytes, leaves: bool) -> None:
    maild = await start(
        smtp={"max_sessions_per_address": 1, "command_timeout_s": 1},
        tuning=Tuning(smtp=SmtpTuning(hang_up_s=0.1)),
    )
    talk = await maild.smtp()
    await talk.say("EHLO client.test")
    assert (await talk.say("STARTTLS")).startswith("220 ")
    await talk.write(said)
    if leaves:
        talk.hang_up()
    await until_true(lambda: not maild.daemon.listener._sessions)
    assert (await (await maild.smtp()).say("NOOP")).startswith("250 ")
