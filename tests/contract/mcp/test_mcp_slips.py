"""What models get wrong in arguments: it is done as meant, or refused so that the next call succeeds."""

from typing import Any

import pytest

from tests.support.clients.mcp import Mcp, RpcError, mail
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
    ("text", "Tom &amp; Ada,\nit&#39;s done: phase 1 &gt; phase 2.", "entities"),
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
        "Write &amp; for & there.",
        "R&D;, AT&T and Q&A",
    ],
)
async def test_words_that_only_look_like_slips_are_sent(agent: Mcp, maild: Running, words: str) -> None:
    told = await agent.call("send_message", **wish(text=words))
    assert told.facts["status"] == "queued"
    shown = (await maild.api.get(f"/v1/messages/{told.facts['messageId']}")).data["textBody"]
    assert shown.rstrip() == words.rstrip()


# Lists -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said", ["a@elsewhere.test, b@elsewhere.test", '["a@elsewhere.test", "b@elsewhere.test"]']
)
async def test_a_list_that_was_written_as_a_text_is_that_list(
    maild: Running, bot: dict[str, Any], agent: Mcp, said: str
) -> None:
    told = await agent.call("send_message", **wish(to=said))
    assert told.facts["to"] == ["a@elsewhere.test", "b@elsewhere.test"]
    message = await maild.received(bot, mail())
    label = await agent.call("label_messages", messageIds=message["id"], add="invoice")
    assert label.facts["results"] == [{"id": message["id"], "result": "changed"}]
    assert message["id"] in (await agent.call("find_messages", labels="invoice, unread")).text


@pytest.mark.parametrize("said", ['["a@elsewhere.test"', '{"email": "a@elsewhere.test"}', "me", 7])
async def test_a_text_that_is_no_list_sends_nothing(agent: Mcp, maild: Running, said: object) -> None:
    told = await agent.call("send_message", **wish(to=said))
    assert told.code == "validation_failed" and "\nto" in told.text
    assert await maild.api.messages() == []


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("Ada <ada@elsewhere.test>", "bare address"),
        ("<ada@elsewhere.test>", "bare address"),
        ("ada@elsewhere.test; bo@elsewhere.test", "One address"),
        ("ada@elsewhere.test,bo@elsewhere.test", "One address"),
    ],
)
async def test_an_address_with_more_than_it_is_told_what_is_too_much(
    agent: Mcp, address: str, said: str
) -> None:
    told = await agent.call("send_message", **wish(to=[address]))
    assert "\nto[0]: " in told.text and said in told.text and "special-use" not in told.text


# Ids ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("find_messages", {"inboxId": "bot@agents.test"}, "inboxId: Expected an id 'inb_…'"),
        ("wait_for_message", {"inboxId": "bot"}, "inboxId: Expected an id 'inb_…'"),
        ("wait_for_message", {"threadId": "msg_x"}, "threadId: Expected an id 'thd_…'"),
        ("read_thread", {"threadId": "msg_x"}, "threadId: Expected an id 'thd_…'"),
        ("read_message", {"messageId": "thd_x"}, "messageId: Expected an id 'msg_…'"),
        ("read_message", {"messageId": "<q@elsewhere.test>"}, "messageId: Expected an id 'msg_…'"),
        ("get_attachment", {"attachmentId": "invoice.pdf"}, "attachmentId: Expected an id 'att_…'"),
        ("cancel_message", {"messageId": "drf_x"}, "messageId: Expected an id 'msg_…'"),
    ],
)
async def test_an_id_of_another_kind_is_told_where_the_right_one_stands(
    agent: Mcp, tool: str, given: dict[str, Any], said: str
) -> None:
    """It was "not found; it may have been deleted", and no mail at all where it was looked for in an inbox."""
    told = await agent.call(tool, **given)
    assert told.code == "validation_failed" and said in told.text
    assert "read_message" in told.text or "find_messages" in told.text or "whoami" in told.text


async def test_mail_of_an_inbox_out_of_reach_is_not_said_to_be_none(maild: Running, agent: Mcp) -> None:
    other = await maild.inbox("other")
    assert "doesn't reach that inbox" in (await agent.call("find_messages", inboxId=other["id"])).text


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"query": "from:ada@elsewhere.test"}, "no operators"),
        ({"from": "Ada Lovelace"}, "query"),
        ({"labels": ["INBOX"]}, "unread"),
        ({"since": "2030-01-01"}, "since"),
    ],
)
async def test_nothing_found_is_said_with_how_the_filters_are_read(
    maild: Running, bot: dict[str, Any], agent: Mcp, given: dict[str, Any], said: str
) -> None:
    """Models search as in Gmail, and took what they wrote by mistake for no mail."""
    await maild.received(bot, mail())
    first, told = (await agent.call("find_messages", **given)).text.split("\n")
    assert first == "No message is like that." and told.startswith(next(iter(given))) and said in told


async def test_a_blank_around_an_id_is_none_of_it(maild: Running, bot: dict[str, Any], agent: Mcp) -> None:
    message = await maild.received(bot, mail())
    assert message["id"] in (await agent.call("read_message", messageId=f" {message['id']}\n")).text


async def test_an_answer_to_what_is_automatic_alone_can_be_named(
    maild: Running, bot: dict[str, Any], agent: Mcp
) -> None:
    """None of its mail counts as the last; read_message spoke of another one, which read_thread did not know."""
    message = await maild.received(bot, mail(Auto_Submitted="auto-replied"))
    for tool, given in (
        ("read_message", {"messageId": message["id"]}),
        ("read_thread", {"threadId": message["threadId"]}),
    ):
        assert (await agent.call(tool, **given)).text.endswith("\nlastMessageId: none")
    answer = {"messageId": message["id"], "text": "w"}
    told = await agent.call("reply", **answer, lastSeenMessageId="none")
    assert "that it answers" in told.text
    assert (await agent.call("reply", **answer, lastSeenMessageId=message["id"])).facts["status"] == "queued"


# Labels ------------------------------------------------------------------------------------------


async def test_labels_that_are_none_are_told_in_the_words_of_the_tool(
    maild: Running, bot: dict[str, Any], agent: Mcp
) -> None:
    message = await maild.received(bot, mail())
    nothing = await agent.call("label_messages", messageIds=[message["id"]])
    assert "'add'" in nothing.text and "addLabels" not in nothing.text and "delete" not in nothing.text
    read = await agent.call("label_messages", messageIds=[message["id"]], add=["read"])
    assert "\nadd[0]: " in read.text and "remove 'unread'" in read.text
    several = await agent.call("label_messages", messageIds=[message["id"]], add=["a,b"])
    assert "\nadd[0]: " in several.text and "item" in several.text
    assert (await maild.api.get(f"/v1/messages/{message['id']}")).data["labels"] == ["unread"]


# Times -------------------------------------------------------------------------------------------


async def test_a_time_that_is_over_is_told_what_time_it_is(agent: Mcp) -> None:
    """A model may take the year of its training for this one."""
    told = await agent.call("send_message", **wish(sendAt="2024-01-01T09:00:00Z"))
    assert "\nsendAt: Give a time from 1 minute to 30 days ahead; now it is 20" in told.text


# Tools -------------------------------------------------------------------------------------------


async def test_a_tool_that_is_not_there_is_told_with_those_that_are(agent: Mcp) -> None:
    """A model hears of this error and can't list the tools itself."""
    with pytest.raises(RpcError) as caught:
        await agent.call("send_email", to=["a@elsewhere.test"])
    said = caught.value.answer.json["error"]["message"]
    assert "send_message, " in said and "create_inbox" not in said and "claim_work" not in said
