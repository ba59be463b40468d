"""A mail has as many recipients as the operator allows, and the journal breaks lines of 48 KiB."""

import json

from structlog.testing import capture_logs

from tests.conftest import Start
from tests.support.running import SHARED

LINE_MAX = 48 * 1024  # systemd's LineMax=
LOCAL_PART_MAX = 64  # RFC 5321 §4.5.3.1.1


async def test_each_line_that_tells_of_it_is_whole(start: Start) -> None:
    maild = await start(smtp={"max_recipients": 1000})
    await maild.inbox("bot")
    addresses = [f"bot+{number:0>{LOCAL_PART_MAX - 4}}@{SHARED}" for number in range(1000)]
    talk = await maild.smtp()
    await talk.say("EHLO client.test")
    with capture_logs() as lines:
        await talk.say("MAIL FROM:<friend@elsewhere.test>")
        for address in addresses:
            assert (await talk.say(f"RCPT TO:<{address}>")).startswith("250")
        await talk.say("DATA")
        assert (await talk.say("Subject: hello\r\n\r\nhello\r\n.")).startswith("250")
    told = [line for line in lines if line["event"] == "accepted"]
    assert [address for line in told for address in line["recipients"]] == addresses
    assert [len(line["inboxes"]) for line in told if line["inboxes"]] == [1]
    assert max(len(json.dumps(line)) for line in told) < LINE_MAX
