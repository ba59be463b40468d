"""What other projects' verifiers say of a mail: opendkim as a milter, rspamd over HTTP.

Both ask the test's DNS server. libunbound, which opendkim looks up with, has to be told that it may ask a loopback
address, and for names that end in .test.
"""

import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

import aiohttp

from scripts.bench.measure import Helper
from tests.support.machine import tools
from tests.support.machine.ports import free_port
from tests.support.mails.verdict_cases import VerdictCase
from tests.support.peers import milter_client
from tests.support.peers import rspamd as private_rspamd

RESOLVER_CONF = """\
server:
  do-not-query-localhost: no
  local-zone: test. transparent
  module-config: iterator
forward-zone:
  name: .
  forward-addr: 127.0.0.1@{dns_port}
"""
OPENDKIM_CONF = """\
Mode v
ResolverConfiguration {folder}/resolver
AlwaysAddARHeader yes
Syslog no
Background no
InternalHosts 192.0.2.99
UMask 0000
RequireSafeKeys no
Socket local:{folder}/socket
"""
RSPAMD_CONF = """\
options {{
  pidfile = "{folder}/pid"; filters = "dkim"; url_tld = "{folder}/tlds"; check_local = true;
  dns {{ nameserver = ["127.0.0.1:{dns_port}:1"]; timeout = 2s; retransmits = 1; }}
}}
logging {{ type = "file"; filename = "{folder}/log"; level = "error"; }}
worker "normal" {{ bind_socket = "127.0.0.1:{port}"; count = 1; }}
actions {{ reject = 15; add_header = 6; greylist = 4; }}
{checks}
modules {{ {modules} }}
"""
RESULTS = "Authentication-Results"
_CHECKS = ("dkim", "spf", "dmarc", "arc")

_SIGNATURE = re.compile(r"\bdkim=(\w+)[^;]*?\bheader\.d=([^\s;]+)[^;]*?\bheader\.s=([^\s;]+)")
_COMMENT = re.compile(r"\([^()]*\)")
_DKIM = {"ALLOW": "pass", "REJECT": "fail", "PERMFAIL": "permerror", "TEMPFAIL": "temperror"}
# PLUSALL (rspamd 3.12): the record lets everybody send, and nothing else of it is looked at.
_SPF = {"ALLOW": "pass", "PLUSALL": "pass", "DNSFAIL": "temperror", "PERMFAIL": "permerror", "NA": "none"}
_DMARC = {
    "DMARC_POLICY_ALLOW": "pass",
    "DMARC_POLICY_ALLOW_WITH_FAILURES": "pass",
    "DMARC_POLICY_REJECT": "fail reject",
    "DMARC_POLICY_QUARANTINE": "fail quarantine",
    "DMARC_POLICY_SOFTFAIL": "fail none",
    "DMARC_DNSFAIL": "temperror",
    "DMARC_BAD_POLICY": "permerror",
    "DMARC_NA": "none",
}
_ARC = {"ARC_ALLOW": "pass", "ARC_REJECT": "fail", "ARC_INVALID": "fail", "ARC_DNSFAIL": "temperror"}


class Judgement(NamedTuple):
    """`dkim`: of each signature ("selector.domain") its result; `dmarc`: with the policy, when it failed. None where a
    verifier does not say."""

    dkim: Mapping[str, str]
    spf: str | None = None
    dmarc: str | None = None
    arc: str | None = None


class Verifier(Protocol):
    """Judges mail that 127.0.0.1 brings."""

    async def ask(self, case: VerdictCase, helo: str) -> Judgement: ...


def signatures_of(results: str) -> dict[str, str]:
    """What an Authentication-Results value says of the signatures that it can name."""
    bare = _COMMENT.sub("", results)
    return {f"{selector}.{domain}": result for result, domain, selector in _SIGNATURE.findall(bare)}


@asynccontextmanager
async def opendkim(folder: Path, dns_port: int) -> AsyncIterator["OpenDkim"]:
    """One that adds to each mail what it found."""
    folder.mkdir()
    (folder / "resolver").write_text(RESOLVER_CONF.format(dns_port=dns_port))
    (folder / "conf").write_text(OPENDKIM_CONF.format(folder=folder))
    socket = folder / "socket"
    async with Helper(tools.path_of("opendkim"), "-f", "-x", str(folder / "conf"), path=socket):
        yield OpenDkim(socket)


class OpenDkim:
    """Over the milter protocol: its files mode reads fields in another way than it does for an MTA."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    async def ask(self, case: VerdictCase, helo: str) -> Judgement:
        """Its judgement of the signatures."""
        added = await milter_client.show(self._socket, case.raw, helo=helo, sender=case.sender)
        return Judgement(signatures_of(";".join(value for name, value in added if name == RESULTS)))


@asynccontextmanager
async def rspamd(folder: Path, dns_port: int) -> AsyncIterator["Rspamd"]:
    """One that runs these four checks alone. `folder`: that its user may reach."""
    folder.mkdir()
    port = free_port()
    checks = "\n".join(f"{name} {{ check_local = true; }}" for name in _CHECKS)
    modules = " ".join(f'path = "/usr/share/rspamd/plugins/{name}.lua";' for name in _CHECKS[1:])
    conf = RSPAMD_CONF.format(folder=folder, port=port, dns_port=dns_port, checks=checks, modules=modules)
    async with private_rspamd.helper(folder, conf, port=port):
        yield Rspamd(f"http://127.0.0.1:{port}/checkv2")


class Rspamd:
    """Over HTTP."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def ask(self, case: VerdictCase, helo: str) -> Judgement:
        """Its judgement of mail that 127.0.0.1 brings."""
        fields = {"IP": "127.0.0.1", "Helo": helo, "From": case.sender, "Rcpt": "bot@agents.test"}
        async with (
            aiohttp.ClientSession() as session,
            session.post(self._url, data=case.raw, headers=fields) as answer,
        ):
            symbols = (await answer.json())["symbols"]
        return Judgement(
            dkim=_dkim_of(symbols),
            spf=next((_spf(name) for name in symbols if name.startswith("R_SPF_")), "none"),
            dmarc=next((_DMARC[name] for name in symbols if name in _DMARC), "none"),
            arc=next((_ARC[name] for name in symbols if name in _ARC), "none"),
        )


def _dkim_of(symbols: Mapping[str, Mapping[str, list[str]]]) -> dict[str, str]:
    found = {}
    for name, symbol in symbols.items():
        result = _DKIM.get(name.removeprefix("R_DKIM_"))
        for domain, _, selector in (one.partition(":s=") for one in symbol.get("options", ())):
            if result and name.startswith("R_DKIM_"):
                found[f"{selector}.{domain}"] = result
    return found


def _spf(symbol: str) -> str:
    word = symbol.removeprefix("R_SPF_")
    return _SPF.get(word, word.lower())


VERIFIERS: Mapping[str, Callable[[Path, int], AbstractAsyncContextManager[Verifier]]] = {
    "opendkim": opendkim,
    "rspamd": rspamd,
}
