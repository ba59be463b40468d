"""A real rspamd decides: what it knows as spam (GTUBE, the test string of all filters) is refused."""

import asyncio

import pytest

from tests.conftest import Start
from tests.support.machine import tools
from tests.support.peers.rspamd import rspamd
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.sender_world import mail_from

pytestmark = pytest.mark.interop

GTUBE = b"XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X\r\n"
CONF = """\
options {{
  pidfile = "{folder}/pid"; filters = "regexp"; url_tld = "{folder}/tlds"; gtube_patterns = "reject";
  dns {{ nameserver = ["127.0.0.1:9:1"]; timeout = 0.1s; retransmits = 1; }}
}}
logging {{ type = "file"; filename = "{folder}/log"; level = "error"; }}
worker "normal" {{ bind_socket = "127.0.0.1:{port}"; count = 1; }}
actions {{ reject = 15; add_header = 6; greylist = 4; }}
"""


@tools.needs("rspamd", root=True)
async def test_rspamd_refuses_what_it_knows_as_spam(start: Start) -> None:
    async with asyncio.timeout(GIVES_UP_S), rspamd(CONF) as port:
        maild = await start(inbound={"rspamd_url": f"http://127.0.0.1:{port}"})
        inbox = await maild.inbox("bot")
        spam = mail_from("ann@elsewhere.test") + b"\r\n" + GTUBE
        assert (await maild.deliver(inbox["address"], spam)).startswith("550 5.7.1 ")
        message = await maild.received(inbox, mail_from("ann@elsewhere.test"))
        assert message["isSpam"] is False
