"""The whole daemon in this process, built by its own root, and the clients that tests talk to it with.

    maild = await start(smtp={"max_sessions": 3})      the fixture of tests/conftest.py
    inbox = await maild.inbox("bot")                   an inbox of the first organization
    talk = await maild.smtp()                          a raw SMTP conversation, greeting read
    answer = await maild.api.get("/v1/messages")       status, headers, data, code

Ports are free ones, DNS is a dead loopback port, limits that a test is not about are out of reach. The data
folder is a copy of one made once for the session (DKIM keys take a while).
"""

import asyncio
import json
import shutil
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
import yarl

from conf.loading import parse
from conf.settings import Settings
from conf.tuning import ApiTuning, EvidenceTuning, Tuning
from controlplane.contract.scopes import MAIL_SCOPES, OPERATOR_SCOPES
from controlplane.operations.operation import Operation
from maild.commands.operator_commands import OperatorCommands
from maild.daemon import Daemon
from maild.inbound.wire import tls
from storage import server_secrets
from storage.clock import Clock
from storage.engine import migrate
from storage.sealing import Sealer, read_master_key
from tests.support.clients import answered
from tests.support.laws import audited, kept, published
from tests.support.waiting import GIVES_UP_S

T = TypeVar("T")

HOSTNAME = "mx.agents.test"
SHARED = "agents.test"
SHARED_TOO = "second.test"
APEX = "apex.test"
BRAND = "examplebrand"

DEFAULTS: Mapping[str, Any] = {
    "server": {
        "hostname": HOSTNAME,
        "public_url": "https://api.agents.test",
        "shared_domains": [SHARED, SHARED_TOO],
        "apex_domain": APEX,
        "reserved_usernames": [BRAND],
    },
    "smtp": {"listen": ["127.0.0.1:0"]},
    "http": {"listen": "127.0.0.1:0"},
    "dns": {"nameservers": ["127.0.0.1:9"], "timeout_s": GIVES_UP_S},
    "outbound": {"port": 9, "first_retry_s": 3600},
    "storage": {"reserve_percent": 0},
    "limits": {"requests_per_minute": 1_000_000, "bulk_recipients": 1_000_000},
    "plans": {
        "tiny": {"messages_daily": 1, "inboxes": 1, "webhooks": 1},
        "monthly": {"messages_monthly": 1},
        "thrifty": {"spend_pause_threshold": 1},
        "narrow": {"storage_bytes": 1000},
    },
}


def _quiet(tuning: Tuning) -> Tuning:
    """New mail is looked at when a test asks, so that no answer changes behind its back; unless it says how fast."""
    is_usual = tuning.evidence == EvidenceTuning()
    return replace(tuning, evidence=EvidenceTuning(look_s=3600)) if is_usual else tuning


def _patient(tuning: Tuning) -> Tuning:
    """Nothing is refused or left out because the machine is busy; unless the test says when it is."""
    api, usual = tuning.api, ApiTuning()
    if api.patience_s == usual.patience_s:
        api = replace(api, patience_s=GIVES_UP_S)
    if api.check_deadline_s == usual.check_deadline_s:
        api = replace(api, check_deadline_s=GIVES_UP_S)
    return replace(tuning, api=api)


def settings_for(folder: Path, **sections: Mapping[str, Any]) -> Settings:
    """The defaults of tests with these sections' keys on top."""
    document: dict[str, Any] = {"data_dir": str(folder)}
    for name in {*DEFAULTS, *sections}:
        document[name] = {**DEFAULTS.get(name, {}), **sections.get(name, {})}
    return parse(document)


@dataclass(frozen=True)
class Template:
    """A data folder as `maild init` leaves it, and the keys that init showed."""

    folder: Path
    organization_id: str
    api_key: str
    test_key: str

    @classmethod
    def make(cls, folder: Path) -> "Template":
        made = OperatorCommands(settings_for(folder)).init()
        tls.self_signed(folder, HOSTNAME)
        return cls(folder, made["organizationId"], made["apiKey"], made["testKey"])


class Answer:
    """One HTTP answer, read."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def data(self) -> Any:
        assert 200 <= self.status < 300, (self.status, self.body)
        answer = self.json
        assert set(answer) == {"data"}
        return answer["data"]

    @property
    def error(self) -> dict[str, Any]:
        answer = self.json
        assert set(answer) == {"error"}, answer
        assert set(answer["error"]) in ({"code", "message"}, {"code", "message", "details"})
        error: dict[str, Any] = answer["error"]
        return error

    @property
    def code(self) -> str:
        """The error's code, or "" for a success (and for HEAD, which has no body)."""
        return str(self.error["code"]) if self.status >= 400 and self.body else ""

    @property
    def faults(self) -> dict[str, str]:
        """Path → code of each fault of a `validation_failed`."""
        assert self.code == "validation_failed", self.body
        return {one["path"]: one["code"] for one in self.error["details"]["fields"]}


class Api:
    """The HTTP API as one key sees it (None: without a key). What `/openapi.json` does not know fails the test."""

    def __init__(self, session: aiohttp.ClientSession, url: str, key: str | None) -> None:
        self._session = session
        self.url = url
        self.key = key

    def with_key(self, key: str | None) -> "Api":
        return Api(self._session, self.url, key)

    async def call(
        self,
        method: str,
        path: str,
        json: Any = None,
        *,
        data: bytes | Any = None,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """`path` goes out as it stands, escapes and dots included."""
        sent = dict(headers or {})
        if self.key is not None:
            sent.setdefault("Authorization", f"Bearer {self.key}")
        url = yarl.URL(self.url + path, encoded=True)
        if params:
            url = url.with_query(params)
        async with asyncio.timeout(GIVES_UP_S):
            async with self._session.request(
                method, url, json=json, data=data, headers=sent, allow_redirects=False
            ) as response:
                body = await response.read()
                answered.check(method, path, response.status, body)
                return Answer(response.status, response.headers, body)

    async def get(self, path: str, **params: str) -> Answer:
        return await self.call("GET", path, params=params)

    async def post(self, path: str, json: Any) -> Answer:
        return await self.call("POST", path, json)

    async def send(self, inbox: Mapping[str, Any] | str, **fields: Any) -> Answer:
        """POST /v1/messages/send, to somebody elsewhere unless told."""
        inbox_id = inbox if isinstance(inbox, str) else inbox["id"]
        return await self.post(
            "/v1/messages/send", {"inboxId": inbox_id, "to": ["somebody@elsewhere.test"], **fields}
        )

    async def messages(self, **params: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self.get("/v1/messages", **params)).data
        return found


def dot_stuffed(octets: bytes) -> bytes:
    """RFC 5321 §4.5.2, of CRLF lines."""
    return (b"\r\n" + octets).replace(b"\r\n.", b"\r\n..").removeprefix(b"\r\n")


class Smtp:
    """A raw SMTP client: it says what it is told and shows what it hears."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def connect(cls, address: str, source: str | None = None) -> "Smtp":
        host, _, port = address.rpartition(":")
        local = (source, 0) if source else None
        reader, writer = await asyncio.open_connection(host, int(port), local_addr=local)
        return cls(reader, writer)

    async def line(self) -> str:
        """One line without its end; "" when the server has closed."""
        async with asyncio.timeout(GIVES_UP_S):
            line = await self._reader.readline()
        assert not line or line.endswith(b"\r\n"), line
        return line.decode("utf-8").removesuffix("\r\n")

    async def reply(self) -> str:
        """One whole reply, its lines joined by LF; "" when the server has closed."""
        lines = [await self.line()]
        while lines[-1][3:4] == "-":
            lines.append(await self.line())
        return "\n".join(lines)

    async def write(self, octets: bytes) -> None:
        self._writer.write(octets)
        await self._writer.drain()

    async def say(self, command: str | bytes) -> str:
        """A command with its CRLF; the reply."""
        octets = command.encode() if isinstance(command, str) else command
        await self.write(octets + b"\r\n")
        return await self.reply()

    async def begin(self, to: str, sender: str = "friend@elsewhere.test") -> None:
        """EHLO to DATA; the next octet is the message's first."""
        for command, wanted in (
            ("EHLO client.elsewhere.test", "250"),
            (f"MAIL FROM:<{sender}>", "250"),
            (f"RCPT TO:<{to}>", "250"),
            ("DATA", "354"),
        ):
            reply = await self.say(command)
            assert reply.startswith(wanted), f"{command} → {reply}"

    async def start_tls(self, context: ssl.SSLContext | None = None) -> None:
        """The handshake, after the server's 220; without a context the certificate is nobody's business."""
        if context is None:
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        async with asyncio.timeout(GIVES_UP_S):
            await self._writer.start_tls(context, server_hostname=HOSTNAME)

    async def closed(self) -> bool:
        """Has the server closed, with nothing left to read?"""
        try:
            async with asyncio.timeout(GIVES_UP_S):
                return await self._reader.read(1) == b""
        except ConnectionError:
            return True

    def half_close(self) -> None:
        """Say nothing any more, go on listening."""
        self._writer.write_eof()

    def hang_up(self) -> None:
        self._writer.transport.abort()


@dataclass(frozen=True)
class Organization:
    id: str
    api: Api
    test_api: Api


class Running:
    """One daemon, its first organization (`api`, `test_api`), and means to speak with both planes."""

    def __init__(
        self, settings: Settings, template: Template, clock: Clock | None, tuning: Tuning | None
    ) -> None:
        self.settings = settings
        self.daemon = Daemon(settings, clock, _patient(_quiet(tuning or Tuning())))
        self.store = OperatorCommands(settings, clock)
        self.organization_id = template.organization_id
        self._talks: list[Smtp] = []

    @classmethod
    async def start(
        cls,
        template: Template,
        folder: Path,
        clock: Clock | None = None,
        tuning: Tuning | None = None,
        **sections: Mapping[str, Any],
    ) -> "Running":
        shutil.copytree(template.folder, folder)
        running = cls(settings_for(folder, **sections), template, clock, tuning)
        await running.daemon.start()
        running._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), skip_auto_headers=["Accept-Encoding"]
        )
        running.api = Api(running._session, running.daemon.http.url, template.api_key)
        running.test_api = running.api.with_key(template.test_key)
        return running

    _session: aiohttp.ClientSession
    api: Api
    test_api: Api

    async def stop(self) -> None:
        for talk in self._talks:
            talk.hang_up()
        await self._session.close()
        await self.daemon.stop()
        audited.check(self.settings.data_path)
        published.check(self.settings.data_path / "maild.sqlite3")
        kept.check(self.settings.data_path / "maild.sqlite3", self.daemon.operations._services.kept_json)

    # What a test begins with ---------------------------------------------------------------------

    async def operate(self, command: Callable[..., T], *arguments: Any) -> T:
        """An operator's command beside the daemon, as `maild` runs it."""
        done = await asyncio.to_thread(command, *arguments)
        # The daemon may have begun to wait for the write lock meanwhile: let it finish what it took the lock
        # for, since `sql` would hold up its event loop and wait for the same lock.
        assert self.daemon._db is not None
        await self.daemon._db.write(lambda tx: None)
        return done

    async def until_withdrawn(self) -> None:
        """Until nothing waits any more of inboxes that were deactivated, and of keys revoked with their mail."""

        async def look() -> bool | None:
            marked = [f"SELECT 1 FROM {one} WHERE withdraws_mail = 1" for one in ("inboxes", "api_keys")]
            return not self.sql(" UNION ALL ".join(marked)) or None

        await until(look)

    async def organization(self, plan: str = "selfhost") -> Organization:
        made = await self.operate(self.store.organizations.create, "Another", plan)
        return Organization(
            made["organizationId"], self.api.with_key(made["apiKey"]), self.api.with_key(made["testKey"])
        )

    async def key(
        self, *scopes: str, inbox: Mapping[str, Any] | None = None, organization_id: str | None = None
    ) -> Api:
        """The API as a fresh live key of these scopes sees it (default: all that it can hold)."""
        made = await self.operate(
            self.store.keys.create,
            organization_id or self.organization_id,
            "a key",
            scopes or (MAIL_SCOPES if inbox else ["*"]),
            inbox["id"] if inbox else None,
            "live",
        )
        return self.api.with_key(made["apiKey"])

    async def key_for(self, operation: Operation) -> Api:
        """As a fresh key sees it that holds all that an organization's can, or the operator's scope where it needs
        that."""
        return await self.key(*({operation.scope} & {*OPERATOR_SCOPES}))

    async def inbox(self, username: str = "bot", api: Api | None = None, **fields: Any) -> dict[str, Any]:
        answer = await (api or self.api).post("/v1/inboxes", {"username": username, **fields})
        made: dict[str, Any] = answer.data
        return made

    def sql(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """One statement on a connection of its own, as an operator's tool would run it."""
        conn = migrate.connect(self.settings.data_path / "maild.sqlite3")
        try:
            return conn.execute(statement, parameters).fetchall()
        finally:
            conn.close()

    def server_secret(self, name: str) -> bytes:
        """A key that the server made for itself."""
        folder = self.settings.data_path
        sealer = Sealer(read_master_key(folder / "master.key"))
        ((sealed,),) = self.sql("SELECT secret FROM server_secrets WHERE name = ?", name)
        return sealer.open(sealed, server_secrets.context(name))

    # The mail plane ------------------------------------------------------------------------------

    async def smtp(self, *, greeting: bool = True, source: str | None = None) -> Smtp:
        talk = await Smtp.connect(self.daemon.listener.addresses[0], source)
        self._talks.append(talk)
        if greeting:
            assert (await talk.reply()).startswith("220 ")
        return talk

    async def deliver(self, to: str, raw: bytes | str, sender: str = "friend@elsewhere.test") -> str:
        """One message by SMTP, dots stuffed; the reply to its end."""
        octets = raw.encode() if isinstance(raw, str) else raw
        octets = octets.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        octets = dot_stuffed(octets)
        talk = await self.smtp()
        await talk.begin(to, sender)
        await talk.write(octets + (b"" if octets.endswith(b"\r\n") else b"\r\n"))
        reply = await talk.say(b".")
        if reply.startswith("250 "):
            await talk.say("QUIT")  # who says nothing more may not have heard it
        talk.hang_up()
        return reply

    async def received(
        self, inbox: Mapping[str, Any], raw: bytes | str, api: Api | None = None
    ) -> dict[str, Any]:
        """The message, delivered by SMTP, as GET shows it."""
        reply = await self.deliver(inbox["address"], raw)
        assert reply.startswith("250 "), reply
        newest = (await (api or self.api).messages(inboxId=inbox["id"], limit="1"))[0]
        whole: dict[str, Any] = (await (api or self.api).get(f"/v1/messages/{newest['id']}")).data
        return whole

    async def raw(self, message_id: str) -> bytes:
        """The stored bytes of a message."""
        (size, data, blob_id) = self.sql(
            "SELECT b.size_bytes, b.data, b.id FROM messages m JOIN blobs b ON b.id = m.blob_id WHERE m.id = ?",
            message_id,
        )[0]
        if data is not None:
            return bytes(data)
        found = Path(self.settings.data_path, "blobs", blob_id[-2:], blob_id).read_bytes()
        assert len(found) == size
        return found

    async def arrival(
        self, inbox: Mapping[str, Any], api: Api | None = None, count: int = 1
    ) -> dict[str, Any]:
        """The newest inbound message of the inbox, once there are so many."""

        async def look() -> list[dict[str, Any]] | None:
            found = await (api or self.api).messages(inboxId=inbox["id"], direction="inbound")
            return found if len(found) >= count else None

        return (await until(look))[0]


async def until_true(is_so: Callable[[], object]) -> None:
    """Wait until it is so. For what has no signal to wait on."""

    async def look() -> bool | None:
        return bool(is_so()) or None

    await until(look)


async def until(look: Callable[[], Awaitable[T | None]]) -> T:
    """What `look` finds, as soon as it finds something. For what has no signal to wait on."""
    async with asyncio.timeout(GIVES_UP_S):
        while True:
            found = await look()
            if found is not None:
                return found
            await asyncio.sleep(0.005)
