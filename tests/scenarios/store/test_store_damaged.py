"""The disk changes what is stored, or can't read it: the daemon notices, says so, and goes on serving the rest."""

from typing import Any

from structlog.testing import capture_logs

from tests.support.running import Running, until_true


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


async def test_a_page_that_can_not_be_read_is_told_when_it_is_met(
    maild: Running, bot: dict[str, Any]
) -> None:
    """Pages are looked at once a day, and a disk may fail meanwhile."""
    await overwrite(maild, "inboxes")
    with capture_logs() as lines:
        for _ in range(2):
            answer = await maild.api.get("/v1/inboxes")
            assert (answer.status, answer.code) == (503, "provider_unavailable")
            talk = await maild.smtp()
            await talk.say("EHLO client.elsewhere.test")
            await talk.say("MAIL FROM:<a@elsewhere.test>")
            assert (await talk.say(f"RCPT TO:<{bot['address']}>")).startswith("451 4.3.0 ")
    told = [one for one in lines if one["event"] == "store_damaged"]
    assert [one["error"] for one in told] == ["database disk image is malformed"]
    assert not any(one.get("exc_info") for one in lines)
    assert (await maild.api.get("/v1/suppressions")).status == 200
    health = await maild.api.with_key(None).get("/health")
    assert (health.status, health.json["store"]) == (200, "damaged")


async def overwrite(maild: Running, table: str) -> None:
    """The first page of a table, on the disk and in nobody's memory any more."""
    ((size,),) = maild.sql("PRAGMA page_size")
    ((number,),) = maild.sql("SELECT rootpage FROM sqlite_master WHERE name = ?", table)

    def is_written_back() -> bool:  # not while a reader is still at what was before
        ((_, log, written),) = maild.sql("PRAGMA wal_checkpoint(PASSIVE)")
        return bool(log == written)

    await until_true(is_written_back)
    with (maild.settings.data_path / "maild.sqlite3").open("r+b") as file:
        file.seek((number - 1) * size)
        file.write(b"\xff" * size)
    assert maild.daemon._db is not None
    await maild.daemon._db.empty_caches()
