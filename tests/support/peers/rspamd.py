"""A private rspamd on a port of loopback, with a configuration of the caller's.

    async with rspamd(RULES) as port:
        await symbols(port, raw)

rspamd drops its privileges, so its folder can't lie under pytest's private one.
"""

import contextlib
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp

from scripts.bench.measure import Helper
from tests.support.machine import tools
from tests.support.peers.postfix import free_port

USER = "_rspamd"
# The rules that come with it, without those that ask somebody elsewhere.
RULES = """\
.include "/etc/rspamd/common.conf"
options {{
  pidfile = "{folder}/pid"; url_tld = "{folder}/tlds"; filters = "chartable,regexp"; disable_hyperscan = true;
  dns {{ nameserver = ["127.0.0.1:9:1"]; timeout = 0.05s; retransmits = 1; }}
}}
logging {{ type = "file"; filename = "{folder}/log"; level = "error"; }}
worker "normal" {{ bind_socket = "127.0.0.1:{port}"; count = 1; }}
"""
_ASKERS = (
    "rbl surbl fuzzy_check phishing asn spf dkim dmarc arc neural url_redirector mx_check hfilter".split()
)


@contextlib.asynccontextmanager
async def rspamd(conf: str) -> AsyncIterator[int]:
    """`conf`: with `{folder}` and `{port}`. The port that its worker listens on."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="maild-rspamd-") as name:
        folder = Path(name)
        (folder / "conf").write_text(conf.format(folder=folder, port=port))
        (folder / "tlds").write_text("test\n")
        (folder / "local.d").mkdir()
        for module in _ASKERS:
            (folder / "local.d" / f"{module}.conf").write_text("enabled = false;")
        for path in (folder, *folder.rglob("*")):
            shutil.chown(path, USER, USER)
        places = [f"--var={one}={folder}" for one in ("LOCAL_CONFDIR", "DBDIR", "RUNDIR")]
        who = ["-u", USER, "-g", USER]
        command = [tools.path_of("rspamd"), "-f", *who, "-c", str(folder / "conf"), *places]
        async with Helper(*command, port=port):
            yield port


async def symbols(port: int, raw: bytes) -> frozenset[str]:
    """The names of the rules that the mail meets."""
    headers = {"From": "b@ours.test", "IP": "192.0.2.1"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"http://127.0.0.1:{port}/checkv2", data=raw, headers=headers) as answer,
    ):
        answer.raise_for_status()
        return frozenset((await answer.json())["symbols"])
