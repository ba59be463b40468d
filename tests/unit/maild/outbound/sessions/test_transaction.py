"""A transaction asks before it sends the message, and never between the host's answer and the verdict."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

from maild.outbound.sessions.replies import SmtpReply
from maild.outbound.sessions.transaction import Transaction


class Session:
    """A host that takes everything. `said`: what was asked of it, in order."""

    extensions: dict[str, str] = {}  # noqa: RUF012
    limits: dict[str, int] = {}  # noqa: RUF012
    tls = None
    is_usable = True

    def __init__(self) -> None:
        self.said: list[str] = []

    async def envelope(self, mail: bytes, recipients: list[bytes]) -> list[SmtpReply]:
        self.said.append("envelope")
        return [SmtpReply(250, "2.1.0", "ok"), SmtpReply(250, "2.1.5", "ok"), SmtpReply(354, None, "go on")]

    async def content(self, wire: bytes, took: Callable[[int], None]) -> SmtpReply:
        self.said.append("message")
        return SmtpReply(250, "2.0.0", "taken")


async def test_it_asks_before_the_message_and_not_after_it() -> None:
    session = Session()

    async def stand_back() -> None:
        session.said.append("asked")

    pooled = SimpleNamespace(session=session, is_fresh=True, is_reusable=False, took=None)
    row = SimpleNamespace(position=0, address="a@there.test", domain="there.test")
    content = SimpleNamespace(size_bytes=9, has_8bit=False, has_utf8_address=False, wire=b".\r\n")
    hop = SimpleNamespace(host="mx.there.test", relay=None)
    given = cast(Any, (hop, pooled, [row], content, "b@here.test", stand_back))
    verdicts = await Transaction(*given).run()
    assert session.said == ["envelope", "asked", "message"]
    assert [(one.status, one.code) for one in verdicts.values()] == [("delivered", 250)]
    assert pooled.is_reusable
