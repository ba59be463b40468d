"""The disk changes a stored message: the daemon notices by itself, says so, and goes on serving the rest."""

from typing import Any

from tests.support.running import Running


async def test_a_changed_message_is_told_by_health_and_the_others_are_served(
    maild: Running, bot: dict[str, Any]
) -> None:
    for number in range(2):
        body = f"{number} words " * 60_000
        await maild.deliver(bot["address"], f"From: a@elsewhere.test\nSubject: {number}\n\n{body}\n")
    daemon, keyless = maild.daemon, maild.api.with_key(None)
    await daemon.self_check.round()
    before = (await keyless.get("/health")).json
    assert (before["status"], before["store"]) == ("healthy", "ok")

    file = next((maild.settings.data_path / "blobs").glob("??/blb_*"))
    with file.open("r+b") as opened:
        opened.seek(400_000)
        opened.write(b"\0")
    await daemon.self_check.round()
    answer = await keyless.get("/health")
    assert (answer.status, answer.json["status"], answer.json["store"]) == (200, "healthy", "damaged")
    texts = [
        (await maild.api.get(f"/v1/messages/{one['id']}")).data["textBody"]
        for one in await maild.api.messages()
    ]
    assert sorted(text is None for text in texts) == [False, True]
    assert (await maild.received(bot, "From: a@elsewhere.test\nSubject: new\n\nx\n"))["textBody"] == "x\n"
