"""A plan keeps raw messages for 30 days: then attachments are 410, the message and its words stay."""

from email.message import EmailMessage

from storage.clock import DAY_MS
from tests.conftest import Start
from tests.support.running import Running, until
from tests.support.worlds.store import ManualClock


async def test_bytes_go_and_the_message_stays(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock)
    free = await maild.organization("free")
    inbox = await maild.inbox("free", free.api)
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "ada@elsewhere.test", inbox["address"], "With a file"
    mail.set_content("It is attached.")
    mail.add_alternative("<p>It is attached.</p>", subtype="html")
    mail.add_attachment(b"x" * 300_000, maintype="application", subtype="octet-stream", filename="a.bin")
    message = await maild.received(inbox, bytes(mail), free.api)
    attachment = message["attachments"][0]["id"]
    assert files(maild) == 1

    clock.at_ms += 31 * DAY_MS
    fresh = await maild.received(inbox, bytes(mail), free.api)
    maild.daemon.retention.wake()

    async def swept() -> bool | None:
        return files(maild) == 1 or None  # an answer that is just read to its end would be cut off

    await until(swept)
    for path in (f"/v1/attachments/{attachment}", f"/v1/messages/{message['id']}/raw"):
        answer = await free.api.get(path)
        assert (answer.status, answer.code) == (410, "attachment_bytes_missing")
    kept = (await free.api.get(f"/v1/messages/{message['id']}")).data
    assert (kept["textBody"], kept["htmlBody"]) == ("It is attached.\n", None)
    assert kept["attachments"] == message["attachments"]
    (thread,) = {kept["threadId"]}
    assert (await free.api.get(f"/v1/threads/{thread}")).status == 200
    assert (await free.api.get("/v1/messages", q="attached")).data[-1]["id"] == message["id"]

    raw = await free.api.get(f"/v1/messages/{fresh['id']}/raw")
    assert raw.status == 200
    usage = (await free.api.get("/v1/organization")).data["usage"]
    assert usage["storageBytes"] == len(await maild.raw(fresh["id"]))


async def test_what_comes_by_a_clock_that_was_set_back_loses_its_bytes_in_its_time(start: Start) -> None:
    clock = ManualClock()
    maild = await start(clock=clock)
    free = await maild.organization("free")
    inbox = await maild.inbox("free", free.api)
    mail = b"Subject: large\r\n\r\n" + b"x" * 300_000
    clock.forward(400 * DAY_MS // 1000)
    await maild.received(inbox, mail, free.api)
    clock.forward(40 * DAY_MS // 1000)
    await maild.daemon.retention.round()
    assert files(maild) == 0
    clock.set_back(440 * DAY_MS // 1000)
    await maild.received(inbox, mail, free.api)
    clock.forward(31 * DAY_MS // 1000)
    await maild.daemon.retention.round()
    assert files(maild) == 0


def files(maild: Running) -> int:
    return len([one for one in (maild.settings.data_path / "blobs").glob("*/*") if one.is_file()])
