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
from tests.support.machine.ports import free_port

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


def helper(folder: Path, conf: str, *arguments: str, port: int = 0, path: Path | None = None) -> Helper:
    """One whose worker listens there, with `conf` as its configuration. `folder`: that its user may reach; all in it is
    that user's then."""
    (folder / "conf").write_text(conf)
    (folder / "tlds").write_text("test\nexample\n")  # its own list takes it ten seconds to compile
    for one in (folder, *folder.rglob("*")):
        shutil.chown(one, USER, USER)
    command = [tools.path_of("rspamd"), "-f", "-u", USER, "-g", USER, "-c", str(folder / "conf")]
    return Helper(*command, *arguments, port=port, path=path)


@contextlib.asynccontextmanager
async def rspamd(conf: str) -> AsyncIterator[int]:
    """`conf`: with `{folder}` and `{port}`. The port that its worker listens on."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="maild-rspamd-") as name:
        folder = Path(name)
        (folder / "local.d").mkdir()
        for module in _ASKERS:
            (folder / "local.d" / f"{module}.conf").write_text("enabled = false;")
        places = [f"--var={one}={folder}" for one in ("LOCAL_CONFDIR", "DBDIR", "RUNDIR")]
        async with helper(folder, conf.format(folder=folder, port=port), *places, port=port):
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
