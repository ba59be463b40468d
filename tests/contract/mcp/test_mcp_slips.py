"""What models get wrong in arguments: it is done as meant, or refused so that the next call succeeds."""

from typing import Any

import pytest

from tests.support.clients.mcp import Mcp, mail
from tests.support.running import Running


@pytest.fixture
async def agent(maild: Running, bot: dict[str, Any]) -> Mcp:
    """A model with a key of its own inbox."""
    return Mcp(await maild.key(inbox=bot))


def wish(**more: Any) -> dict[str, Any]:
    return {"to": ["a@elsewhere.test"], "subject": "t", "text": "w", **more}


# Words -------------------------------------------------------------------------------------------

SLIPS = (
    ("text", r"Hi Ada,\n\nit is done.\n", "escape line breaks once"),
    ("text", " \n\t", "blank"),
    ("text", "<p>Hello</p>\n<p>It is done.</p>", "'html'"),
    ("text", "<!DOCTYPE html><html><body>Hello</body></html>", "'html'"),
    ("text", "Hello,<br><br>it is done.", "'html'"),
    ("html", r"<p>Hello</p>\n<p>it is done</p>", "escape line breaks once"),
    ("html", "Hello,\n\nit is done.", "'text'"),
)


@pytest.mark.parametrize(("name", "words", "said"), SLIPS)
async def test_words_that_nobody_means_are_not_sent(
    maild: Running, bot: dict[str, Any], agent: Mcp, name: str, words: str, said: str
) -> None:
    message = await maild.received(bot, mail())
    answer = {"messageId": message["id"], "text": "w", "lastSeenMessageId": message["id"]}
    for tool, given in (
        ("send_message", wish()),
        ("send_message", wish(asDraft=True)),
        ("reply", answer),
        ("check_message", {**wish(), "kind": "send"}),
    ):
        told = await agent.call(tool, **{**given, name: words})
        assert told.code == "validation_failed" and f"\n{name}: " in told.text and said in told.text
    assert [one["direction"] for one in await maild.api.messages(inboxId=bot["id"])] == ["inbound"]


async def test_words_above_what_is_forwarded_are_looked_at_too(
    maild: Running, bot: dict[str, Any], agent: Mcp
) -> None:
    message = await maild.received(bot, mail())
    told = await agent.call(
        "forward_message", messageId=message["id"], to=["b@elsewhere.test"], text=r"See\nbelow"
    )
    assert told.code == "validation_failed" and "Nothing was sent" in told.text


@pytest.mark.parametrize(
    "words",
    [
        "Print \\n between the lines.\n",
        "Two lines,\nthe second with \\n",
        "a < b and b > c",
        "Take <br> for a line break.\nIt is short.",
        "Write to <ada@elsewhere.test>",
    ],
)
async def test_words_that_only_look_like_slips_are_sent(agent: Mcp, maild: Running, words: str) -> None:
    told = await agent.call("send_message", **wish(text=words))
    assert told.facts["status"] == "queued"
    shown = (await maild.api.get(f"/v1/messages/{told.facts['messageId']}")).data["textBody"]
    assert shown.rstrip() == words.rstrip()
