"""A smarthost that nobody here wrote, Postfix with Dovecot's logins, takes our mail once we have logged in."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.daemon import Daemon
from tests.support.machine import tools
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.postfix import Postfix
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.waiting import GIVES_UP_S

pytestmark = [pytest.mark.interop, tools.needs("postfix", "dovecot", root=True)]

THERE, RELAY = "there.test", "relay.test"
COMMON = """\
base_dir = {folder}/run
log_path = {folder}/log
protocols =
ssl = no
auth_mechanisms = plain login
service auth {{
  unix_listener {folder}/auth {{
    mode = 0666
  }}
}}
"""
DOVECOT_2_3 = """\
passdb {{
  driver = passwd-file
  args = scheme=PLAIN {folder}/users
}}
userdb {{
  driver = static
  args = uid=nobody gid=nogroup home=/nonexistent
}}
"""
DOVECOT_2_4 = """\
passdb passwd-file {{
  passwd_file_path = {folder}/users
  passdb_default_password_scheme = PLAIN
}}
userdb static {{
  fields {{
    uid = nobody
    gid = nogroup
    home = /nonexistent
  }}
}}
"""


async def dovecot_config(folder: Path) -> str:
    """As the installed version wants it: since 2.4 the first line must name a version."""
    told = await tools.run(tools.path_of("dovecot"), "--version", folder=folder)
    if told.startswith("2.3."):
        config = COMMON + DOVECOT_2_3
    else:
        config = "dovecot_config_version = 2.4.0\ndovecot_storage_version = 2.4.0\n" + COMMON + DOVECOT_2_4
    return config.format(folder=folder)


@asynccontextmanager
async def logins(users: str) -> AsyncIterator[Path]:
    """Dovecot answers who may log in, at this socket."""
    with tempfile.TemporaryDirectory(prefix="maild-dovecot-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "users").write_text(users)
        (folder / "conf").write_text(await dovecot_config(folder))
        process = await asyncio.create_subprocess_exec(
            tools.path_of("dovecot"), "-F", "-c", str(folder / "conf"), stdout=asyncio.subprocess.DEVNULL
        )
        try:
            while not (folder / "auth").exists():
                assert process.returncode is None, (folder / "log").read_text()
                await asyncio.sleep(0.05)
            yield folder / "auth"
        finally:
            process.terminate()
            await process.wait()


@pytest.mark.parametrize(
    ("mechanism", "password"), [("plain", "sécret wörd"), ("login", "sécret wörd"), ("plain", "wrong")]
)
async def test_it_takes_mail_of_who_logged_in(tmp_path: Path, mechanism: str, password: str) -> None:
    (tmp_path / "ca").mkdir()
    ca = ThrowawayCa(tmp_path / "ca")
    ca.server_context([RELAY])
    chain = tmp_path / "ca" / f"{RELAY}.pem"
    secret = tmp_path / "password"
    secret.write_text(password + "\n")
    async with asyncio.timeout(GIVES_UP_S), DnsServer() as dns, logins("apikey:sécret wörd\n") as socket:
        asks = [
            f"smtpd_tls_chain_files = {chain}",
            "smtpd_tls_auth_only = yes",
            "smtpd_sasl_auth_enable = yes",
            "smtpd_sasl_type = dovecot",
            f"smtpd_sasl_path = {socket}",
            "smtpd_relay_restrictions = permit_sasl_authenticated, reject",
            "smtpd_recipient_restrictions = permit_sasl_authenticated, reject",
        ]
        async with Postfix(THERE, extra=asks) as postfix:
            dns.add(RELAY, "A", "127.0.0.1")
            relay = {
                "host": f"{RELAY}:{postfix.port}",
                "tls": "starttls",
                "username": "apikey",
                "password_file": str(secret),
                "auth": mechanism,
                "ca_file": str(ca.ca_file),
            }
            async with Daemon(tmp_path, dns_port=dns.port, more={"outbound.relays.one": relay}) as daemon:
                inbox = await daemon.api.post("/v1/inboxes", username="bot")
                made = await daemon.api.post(
                    "/v1/messages/send", inboxId=inbox["id"], to=[f"ann@{THERE}"], text="hi"
                )
                path = f"/v1/messages/{made['id']}"
                if password == "wrong":
                    shown = await daemon.api.until(path, lambda one: one["recipients"][0]["response"])
                    (recipient,) = shown["recipients"]
                    assert (recipient["status"], recipient["smtpCode"]) == ("deferred", 454)
                    assert "refuses our login: Error: authentication failed" in recipient["response"]
                    assert "relay_refuses_login" in daemon.log.read_text()
                    assert postfix.stored() == 0
                else:
                    await daemon.api.until(path, lambda one: one["status"] == "sent")
                    assert len(await postfix.mail(1)) == 1
                attempts = await daemon.api.get(f"{path}/attempts")
                dialogue = attempts[0]["evidence"]["hosts"][0]["dialogue"]
                said = "C: AUTH LOGIN" if mechanism == "login" else "C: AUTH PLAIN (credentials)"
                assert said in dialogue
                assert password not in daemon.log.read_text()
