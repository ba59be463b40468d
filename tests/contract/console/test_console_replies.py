"""A person answers on the page of a conversation: what they read is what they answer, and no word is lost."""

import html
import re

import pytest

from tests.conftest import Start
from tests.support.clients.console import LOCAL, PageAnswer, Visitor
from tests.support.running import Running
from tests.support.worlds.holding import mail
from tests.support.worlds.reviewing import Held


@pytest.fixture
async def local(start: Start) -> Running:
    return await start(server=LOCAL)


def typed(page: PageAnswer) -> str:
    """What stands in the field. A browser drops the first line end (HTML Living Standard, §13.2.6.4.7)."""
    (text,) = re.findall(r'<textarea id="(?:text|kept-\d+)"[^>]*>\n(.*?)</textarea>', page.text, re.DOTALL)
    return html.unescape(text)


async def test_an_answer_goes_to_who_wrote(local: Running) -> None:
    inbox = await local.inbox("bot")
    first = await local.received(inbox, mail("question", "how much?", "Cc: joe@elsewhere.test"))
    member = await Visitor.sign_in(local)
    path = f"/console/threads/{first['threadId']}"
    last = (await member.get(path)).hidden("last")
    done = await member.post(f"{path}/reply", last=last, text="Nine.\r\n\r\nAda", quote="1")
    assert done.location == f"{path}?done=sent"
    sent = (await local.api.get("/v1/messages", threadId=first["threadId"], direction="outbound")).data[0]
    whole = (await local.api.get(f"/v1/messages/{sent['id']}")).data
    assert whole["subject"] == "Re: question" and whole["toAddresses"] == [first["fromAddress"]]
    assert whole["ccAddresses"] == [] and whole["fromAddress"] == inbox["address"]
    assert whole["textBody"].startswith("Nine.\n\nAda\n") and "> how much?" in whole["textBody"]
    assert "Nine." in (await member.follow(done)).said
    (act,) = (await local.api.get("/v1/audit", types="message.queued")).data
    assert act["actor"].startswith("mem_") and act["subject"] == sent["id"]
    last = (await member.get(path)).hidden("last")
    await member.post(f"{path}/reply", last=last, text="And to all.", all="1")
    newest = (await local.api.get("/v1/messages", threadId=first["threadId"])).data[0]
    assert newest["ccAddresses"] == ["joe@elsewhere.test"]


async def test_a_form_that_is_sent_twice_answers_once(local: Running) -> None:
    inbox = await local.inbox("bot")
    first = await local.received(inbox, mail())
    member = await Visitor.sign_in(local)
    path = f"/console/threads/{first['threadId']}"
    last = (await member.get(path)).hidden("last")
    assert (await member.post(f"{path}/reply", last=last, text="once")).status == 303
    assert (await member.post(f"{path}/reply", last=last, text="once")).status == 409
    sent = (await local.api.get("/v1/messages", threadId=first["threadId"], direction="outbound")).data
    assert len(sent) == 1


async def test_words_are_kept_where_the_conversation_went_on(local: Running) -> None:
    inbox = await local.inbox("bot")
    first = await local.received(inbox, mail("hello", "one", message_id="1@elsewhere.test"))
    member = await Visitor.sign_in(local)
    path = f"/console/threads/{first['threadId']}"
    last = (await member.get(path)).hidden("last")
    await local.received(inbox, mail("hello", "two", "In-Reply-To: <1@elsewhere.test>"))
    words = "\n</textarea><script>alert(1)</script>\n  my words"
    page = await member.post(f"{path}/reply", last=last, text=words, all="1")
    assert page.status == 409 and "the conversation went on" in page.said and "two" in page.said
    assert typed(page) == words and "<script>alert" not in page.text
    assert re.search(r'name="all" value="1" checked', page.text)
    assert (await local.api.get("/v1/messages", direction="outbound")).data == []
    done = await member.post(f"{path}/reply", last=page.hidden("last"), text=typed(page))
    assert done.location == f"{path}?done=sent"


async def test_words_are_kept_where_the_session_has_ended(local: Running) -> None:
    inbox = await local.inbox("bot")
    first = await local.received(inbox, mail())
    member = await Visitor.sign_in(local)
    path = f"/console/threads/{first['threadId']}"
    last = (await member.get(path)).hidden("last")
    await member.post("/console/sign-out")
    words = "\n</textarea><script>alert(1)</script>\n  my words"
    page = await member.post(f"{path}/reply", last=last, text=words, all="1")
    assert page.status == 403 and "signed out" in page.said and "<script>alert" not in page.text
    assert f'action="{path}/reply"' in page.text and typed(page) == words
    assert (await local.api.get("/v1/messages", direction="outbound")).data == []
    member = await Visitor.sign_in(local)  # in another tab
    kept = {name: page.hidden(name) for name in ("last", "all")}
    done = await member.post(f"{path}/reply", text=typed(page), **kept)
    assert done.location == f"{path}?done=sent"


async def test_words_are_kept_where_the_conversation_was_deleted(local: Running) -> None:
    first = await local.received(await local.inbox("bot"), mail())
    member = await Visitor.sign_in(local)
    path = f"/console/threads/{first['threadId']}"
    last = (await member.get(path)).hidden("last")
    await local.api.call("DELETE", f"/v1/messages/{first['id']}")
    words = "\n</textarea><script>alert(1)</script>\n  my words"
    page = await member.post(f"{path}/reply", last=last, text=words, all="1")
    assert page.status == 404 and "it was deleted" in page.said
    assert typed(page) == words and "<script>alert" not in page.text
    gone = await member.get(path)
    assert gone.status == 404 and "it was deleted" in gone.said


async def test_words_are_kept_where_another_tab_signed_in_to_another_organization(local: Running) -> None:
    first = await local.received(await local.inbox("bot"), mail())
    member = await Visitor.sign_in(local)
    path = f"/console/threads/{first['threadId']}"
    last = (await member.get(path)).hidden("last")
    elsewhere = await Visitor.sign_in(local, organization_id=(await local.organization()).id)
    page = await elsewhere.post(f"{path}/reply", last=last, text="my words", all="1")
    assert page.status == 404 and "of an organization that this browser is not signed in to" in page.said
    assert f'action="{path}/reply"' in page.text and typed(page) == "my words"
    kept = {name: page.hidden(name) for name in ("last", "all")}
    done = await member.post(f"{path}/reply", text=typed(page), **kept)
    assert done.location == f"{path}?done=sent"


async def test_a_person_answers_without_a_claim(local: Running) -> None:
    inbox = await local.inbox("bot")
    work = {"version": 0, "work": {"enabled": True, "requireClaim": True}}
    assert (await local.api.call("PUT", f"/v1/inboxes/{inbox['id']}/policy", work)).status == 200
    first = await local.received(inbox, mail())
    refused = await local.api.post(f"/v1/messages/{first['id']}/reply", {"text": "mine"})
    assert refused.code == "claim_required"
    member = await Visitor.sign_in(local)
    path = f"/console/threads/{first['threadId']}"
    last = (await member.get(path)).hidden("last")
    assert (await member.post(f"{path}/reply", last=last, text="ours")).location == f"{path}?done=sent"


async def test_an_answer_can_be_held_or_kept_as_a_draft(local: Running) -> None:
    held = await Held.make(local)
    first = await local.received(held.inbox, mail())
    member = await Visitor.sign_in(local)
    path = f"/console/threads/{first['threadId']}"
    last = (await member.get(path)).hidden("last")
    done = await member.post(f"{path}/reply", last=last, text="later", draft="1")
    (draft,) = (await held.reviewer.get("/v1/drafts")).data
    assert done.location == f"/console/drafts/{draft['id']}?done=drafted"
    assert draft["textBody"] == "later" and draft["toAddresses"] == [first["fromAddress"]]
    done = await member.post(f"{path}/reply", last=last, text="now")
    (review,) = (await local.api.get("/v1/reviews")).data
    assert done.location == f"/console/reviews/{review['id']}?done=held"


async def test_what_hinders_an_answer_is_told_beside_the_words(local: Running) -> None:
    inbox = await local.inbox("bot")
    first = await local.received(inbox, mail())
    rule = {"direction": "outbound", "action": "block", "value": first["fromAddress"]}
    await local.api.post("/v1/rules", rule)
    member = await Visitor.sign_in(local)
    path = f"/console/threads/{first['threadId']}"
    last = (await member.get(path)).hidden("last")
    page = await member.post(f"{path}/reply", last=last, text="still here")
    assert page.status == 403 and typed(page) == "still here" and 'role="alert"' in page.text
    page = await member.post(f"{path}/reply", last="nothing", text="still here")
    assert page.status == 400 and typed(page) == "still here" and "ifLastMessageId:" in page.said
    assert (await member.post("/console/threads/thd_none/reply", last=last, text="x")).status == 404


async def test_a_reader_answers_nobody(local: Running) -> None:
    first = await local.received(await local.inbox("bot"), mail())
    reader = await Visitor.sign_in(local, "member")
    path = f"/console/threads/{first['threadId']}"
    assert "Send the answer" not in (await reader.get(path)).said
    done = await reader.post(f"{path}/reply", last=first["id"], text="written as an admin")
    assert done.status == 403 and "Your role reads" in done.said and typed(done) == "written as an admin"
    assert (await local.api.get("/v1/messages", direction="outbound")).data == []
