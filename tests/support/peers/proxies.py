"""The TLS proxies of docs/operating.md, as they stand there, before a daemon on loopback.

    async with Proxy("nginx", daemon.api.url, folder) as proxy: …   proxy.url, proxy.ca_file

Names of files and addresses are replaced; what a proxy wants around its file (where to log, whose user) is put there.
"""

import asyncio
import os
import re
import signal
import socket
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

from tests.support.machine import tools
from tests.support.machine.ports import free_port
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.waiting import GIVES_UP_S

OPERATING = Path(__file__).resolve().parents[3] / "docs" / "operating.md"
NAME = "agents.example.org"
POLL_S = 0.02

PROGRAMS = {"nginx": "nginx", "apache": "apache2", "caddy": "caddy", "haproxy": "haproxy"}
_APACHE_MODULES = ("mpm_event", "authz_core", "ssl", "socache_shmcb", "http2", "proxy", "proxy_http")


class Proxy:
    def __init__(self, name: str, upstream: str, folder: Path) -> None:
        self.name = name
        self.folder = folder / name
        self.folder.mkdir()
        self.port = free_port()
        self.ca_file = self.folder / "ca.pem"
        self._bundle = str(self.folder / f"{NAME}.pem")  # key and certificate
        self.url = f"https://{NAME}:{self.port}"
        self._upstream = urlsplit(upstream).netloc
        self._process: asyncio.subprocess.Process | None = None

    @property
    def log(self) -> str:
        """All that it said."""
        return (self.folder / "log").read_text("utf-8", "replace")

    async def __aenter__(self) -> "Proxy":
        ThrowawayCa(self.folder).server_context([NAME])
        written = _fence(self.name).replace("127.0.0.1:8025", self._upstream)
        written = re.sub(r"/etc/(letsencrypt|haproxy)/\S+\.pem", self._bundle, written)
        (self.folder / "written").write_text(getattr(self, f"_{self.name}")(written))
        try:
            await self._start()
        except BaseException:
            await self._end()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end()

    def _nginx(self, written: str) -> str:
        told = written.replace("listen 443", f"listen {self.port}")
        temporary = "".join(
            f"{kind}_temp_path {self.folder}/{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        return (
            f"daemon off; master_process off; pid {self.folder}/pid; error_log stderr;\n"
            f"events {{}}\nhttp {{ access_log off; {temporary} {told} }}\n"
        )

    def _apache(self, written: str) -> str:
        modules = "".join(f"LoadModule {name}_module modules/mod_{name}.so\n" for name in _APACHE_MODULES)
        return (
            f"ServerRoot /usr/lib/apache2\nDefaultRuntimeDir {self.folder}\nPidFile {self.folder}/pid\n"
            f"ErrorLog /dev/stderr\n{modules}User nobody\nGroup nogroup\nListen {self.port}\n"
        ) + written.replace("*:443", f"*:{self.port}")

    def _caddy(self, written: str) -> str:
        opened = f"{NAME}:{self.port} {{\n    tls {self._bundle} {self._bundle}"
        # Certificates by itself, for which it would ask the net, are what is not tried.
        return "{\n    admin off\n    auto_https off\n}\n" + written.replace(f"{NAME} {{", opened, 1)

    def _haproxy(self, written: str) -> str:
        return written.replace("bind :443", f"bind :{self.port}")

    async def _start(self) -> None:
        file = str(self.folder / "written")
        arguments = {
            "nginx": ("-p", str(self.folder), "-c", file),
            "apache": ("-DFOREGROUND", "-f", file),
            "caddy": ("run", "--adapter", "caddyfile", "--config", file),
            "haproxy": ("-db", "-f", file),
        }
        with (self.folder / "log").open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                tools.path_of(PROGRAMS[self.name]),
                *arguments[self.name],
                env={**os.environ, "HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder)},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        async with asyncio.timeout(GIVES_UP_S):
            while not self._answers():
                assert self._process.returncode is None, self.log
                await asyncio.sleep(POLL_S)

    def _answers(self) -> bool:
        with socket.socket() as sock:
            return sock.connect_ex(("127.0.0.1", self.port)) == 0

    async def _end(self) -> None:
        if self._process is not None and self._process.returncode is None:
            os.killpg(self._process.pid, signal.SIGKILL)  # Apache has children
            await self._process.wait()


def _fence(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", OPERATING.read_text(), re.DOTALL | re.MULTILINE)
    assert found is not None, f"docs/operating.md has no fence of {language}"
    return found[1]
