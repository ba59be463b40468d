"""A plan's `storage_bytes`: decisions.md, "Organization"."""

from tests.support.running import Running, until


async def test_who_is_full_neither_sends_nor_receives_until_something_is_deleted(maild: Running) -> None:
    narrow = await maild.organization("narrow")
    bot = await maild.inbox("bot", narrow.api)
    large = "From: a@elsewhere.test\nSubject: large\n\n" + "x" * 60 + "\n" + "words " * 200
    assert (await maild.deliver(bot["address"], large)).startswith("250 ")

    answer = await narrow.api.send(bot)
    assert (answer.status, answer.code) == (402, "limit_reached")
    used = (await narrow.api.get("/v1/organization")).data["usage"]["storageBytes"]
    assert used >= 1000
    assert answer.error["details"] == {
        "resource": "storageBytes", "limit": 1000, "used": used, "resetsAt": None
    }  # fmt: skip

    talk = await maild.smtp()
    await talk.say("EHLO client.elsewhere.test")
    await talk.say("MAIL FROM:<a@elsewhere.test>")
    assert (await talk.say(f"RCPT TO:<{bot['address']}>")).startswith("452 4.2.2 ")
    other = await maild.inbox("other")
    assert (await talk.say(f"RCPT TO:<{other['address']}>")).startswith("250 ")

    (message,) = await narrow.api.messages()
    await narrow.api.call("DELETE", f"/v1/messages/{message['id']}")
    assert (await narrow.api.send(bot)).status == 201
    assert (await maild.deliver(bot["address"], large)).startswith("250 ")


async def test_mail_between_inboxes_waits_for_room_as_well(maild: Running) -> None:
    narrow = await maild.organization("narrow")
    full = await maild.inbox("full", narrow.api)
    await maild.deliver(full["address"], "From: a@elsewhere.test\n\n" + "words " * 300)
    bot = await maild.inbox("bot")
    sent = (await maild.api.send(bot, to=[full["address"]])).data

    async def look() -> str | None:
        found = (await maild.api.get(f"/v1/messages/{sent['id']}")).data["recipients"][0]
        return str(found["enhancedCode"]) if found["status"] == "deferred" else None

    assert await until(look) == "4.2.2"
