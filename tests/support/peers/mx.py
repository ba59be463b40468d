"""A scriptable SMTP server on loopback, the other side of every delivery in the tests.

    mx.script["RCPT"] = ["451 4.7.1 later"]        replies for the next RCPTs, then the usual ones
    mx.always["greeting"] = "554 no"               a reply every time
    mx.always[("RCPT", "bad@x.test")] = "550 …"    for one address
    mx.drop_at = "dot"                             close instead of replying: greeting, EHLO, MAIL, …, dot
    mx.hang_up_after = ("RCPT", "bad@x.test")      close behind the reply; or "MAIL", for any
    mx.interrupt = 100_000, "552 too big"          say so once so much of a message has come, and close
    mx.full = 2, "DATA", "452 4.4.5 no more"       after two messages of a session, that reply to DATA
    mx.cut_at = [100_000]                          close once so much of the next message has come
    mx.vanish()                                    its connections die, and their clients are not told
    mx.hold["dot"] = asyncio.Event()               reply only when it is set; `mx.reached` says it got there
    mx.piece = 1                                   each reply in writes of so many octets
    mx.drips_at = "MAIL"                           a reply that goes on, line by line, and never ends
    mx.starttls = "good" | "broken" | "injecting" | "hanging"  offered when it is not ""
    mx.logins = {"user": "password"}               AUTH PLAIN, LOGIN, XOAUTH2, offered after TLS
    mx.offers = "AUTH=LOGIN PLAIN"                 how it offers them
    mx.repeats_logins = True                       a refusal of AUTH repeats what was said, and decoded
    mx.is_implicit = True                          TLS from the first octet

Stages are the verbs in upper case, `greeting`, and `dot` (the end of the message).
"""

import asyncio
import base64
import ctypes
import socket
import ssl
import struct
from collections import Counter
from dataclasses import dataclass, field

from tests.support.waiting import GIVES_UP_S

USUAL = {
    "greeting": "220 mx.test ESMTP",
    "HELO": "250 mx.test",
    "MAIL": "250 2.1.0 ok",
    "RCPT": "250 2.1.5 ok",
    "DATA": "354 go on",
    "dot": "250 2.0.0 taken",
    "RSET": "250 2.0.0 ok",
    "NOOP": "250 2.0.0 ok",
    "QUIT": "221 2.0.0 bye",
}

DRIP_S = 0.005

SO_ATTACH_FILTER = 26  # asm-generic/socket.h
TAKE_NOTHING = struct.pack("HBBI", 0x06, 0, 0, 0)  # BPF_RET | BPF_K, of a packet no octet

STEPS = frozenset({"MAIL", "RCPT", "DATA", "RSET", "NOOP", "HELO"})


@dataclass
class Received:
    """A message that was acknowledged, with its envelope; `raw` is unstuffed."""

    mail_from: str
    recipients: list[str]
    raw: bytes
    tls: bool
    mail_line: str
    rcpt_lines: list[str] = field(default_factory=list)
    login: str = ""


@dataclass
class Mx:
    extensions: list[str] = field(default_factory=lambda: ["PIPELINING", "8BITMIME", "SIZE 26214400"])
    starttls: str = ""
    logins: dict[str, str] = field(default_factory=dict)
    offers: str = "AUTH PLAIN LOGIN XOAUTH2"
    repeats_logins: bool = False
    is_implicit: bool = False
    tls_context: ssl.SSLContext | None = None
    script: dict[str, list[str]] = field(default_factory=dict)
    always: dict[str | tuple[str, str], str] = field(default_factory=dict)
    hold: dict[str, asyncio.Event] = field(default_factory=dict)
    piece: int = 0
    drips_at: str = ""
    drop_at: str = ""
    hang_up_after: str | tuple[str, str] = ""
    interrupt: tuple[int, str] | None = None
    full: tuple[int, str, str] | None = None
    cut_at: list[int] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    clients: list[str] = field(default_factory=list)  # addresses
    clients_shown: list[bytes | None] = field(default_factory=list)  # certificates, as DER
    commands: list[str] = field(default_factory=list)
    connections: int = 0
    open_now: int = 0
    open_max: int = 0
    stages: Counter[str] = field(default_factory=Counter)
    port: int = 0

    def __post_init__(self) -> None:
        self.reached = asyncio.Condition()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._sockets: set[socket.socket] = set()

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> "Mx":
        context = self.tls_context if self.is_implicit else None
        self._server = await asyncio.start_server(self._serve, host, port, limit=1 << 26, ssl=context)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def __aenter__(self) -> "Mx":
        return self if self.port else await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def until(self, stage: str, times: int = 1) -> None:
        """Return when the stage has been reached so often."""
        async with asyncio.timeout(GIVES_UP_S), self.reached:
            await self.reached.wait_for(lambda: self.stages[stage] >= times)

    def vanish(self) -> None:
        """As if its machine were gone, for the connections that there are: what comes is not even acknowledged."""
        program = ctypes.create_string_buffer(TAKE_NOTHING, len(TAKE_NOTHING))
        for one in self._sockets:
            one.setsockopt(
                socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", 1, ctypes.addressof(program))
            )

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._sockets.add(connection := writer.get_extra_info("socket"))
        self.connections += 1
        self.clients.append(writer.get_extra_info("peername")[0])
        self.open_now += 1
        self.open_max = max(self.open_max, self.open_now)
        try:
            await _Conversation(self, reader, writer).run()
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass
        finally:
            self.open_now -= 1
            self._tasks.discard(task)
            self._sockets.discard(connection)
            writer.close()

    async def reply_at(self, stage: str, address: str = "") -> str | None:
        async with self.reached:
            self.stages[stage] += 1
            self.reached.notify_all()
        if stage in self.hold:
            await self.hold[stage].wait()
        if self.drop_at == stage:
            return None
        if self.script.get(stage):
            return self.script[stage].pop(0)
        for key in ((stage, address), stage):
            if key in self.always:
                return self.always[key]
        return USUAL.get(stage, "500 5.5.2 what?")


class _Conversation:
    def __init__(self, mx: Mx, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._mx = mx
        self._reader = reader
        self._writer = writer
        self._tls = mx.is_implicit
        self._login = ""
        self._messages = 0
        self._forget()

    def _forget(self) -> None:
        self._rcpt_lines: list[str] = []
        self._from: str | None = None
        self._mail_line = ""
        self._to: list[str] = []

    async def run(self) -> None:
        if not await self._say("greeting"):
            return
        while line := await self._reader.readline():
            command = line.decode("utf-8", "surrogateescape").rstrip("\r\n")
            self._mx.commands.append(command)
            verb = command.split(" ")[0].upper()
            if verb == "EHLO" and not await self._ehlo():
                return
            elif verb == "STARTTLS":
                await self._start_tls()
            elif verb == "AUTH":
                await self._auth(command)
            elif verb == "QUIT":
                await self._say("QUIT")
                return
            elif verb in STEPS and not await self._step(verb, command):
                return

    async def _ehlo(self) -> bool:
        if "EHLO" in self._mx.always or self._mx.drop_at == "EHLO":
            return await self._say("EHLO") != 0
        lines = ["mx.test", *self._mx.extensions]
        if self._mx.starttls and not self._tls:
            lines.append("STARTTLS")
        if self._mx.logins and self._tls:
            lines.append(self._mx.offers)
        return await self._write("".join(f"250-{line}\r\n" for line in lines[:-1]) + f"250 {lines[-1]}")

    async def _step(self, verb: str, command: str) -> bool:
        address = command.partition("<")[2].partition(">")[0]
        if verb == "DATA" and not self._to and "DATA" not in self._mx.always:
            return await self._write("503 5.5.1 no valid recipients")
        code = await self._say(verb, address)
        if verb == "MAIL" and code == 250:
            self._from, self._mail_line = address, command
        elif verb == "RCPT" and code == 250:
            self._to.append(address)
            self._rcpt_lines.append(command)
        elif verb == "RSET":
            self._forget()
        elif verb == "DATA" and code == 354:
            return await self._message()
        return code != 0

    async def _message(self) -> bool:
        if self._mx.interrupt is not None:
            octets, reply = self._mx.interrupt
            await self._reader.readexactly(octets)
            await self._write(reply)
            return False
        if self._mx.cut_at:
            await self._reader.readexactly(self._mx.cut_at.pop(0))
            return False
        lines = []
        while (line := await self._reader.readuntil(b"\r\n")) != b".\r\n":
            lines.append(line[1:] if line.startswith(b".") else line)
        code = await self._say("dot")
        if code == 250:
            self._messages += 1
            self._mx.received.append(
                Received(
                    self._from or "",
                    self._to,
                    b"".join(lines),
                    self._tls,
                    self._mail_line,
                    self._rcpt_lines,
                    self._login,
                )
            )
        self._forget()
        return code != 0

    async def _auth(self, command: str) -> None:
        _, mechanism, *initial = command.split(" ")
        first = "".join(initial)
        if mechanism == "PLAIN":
            _, user, password = _decoded(first).split("\0")
        elif mechanism == "LOGIN":  # some hosts ask for the name, whatever came behind the mechanism
            await self._write("334 VXNlcm5hbWU6")
            user = _decoded((await self._reader.readline()).decode())
            await self._write("334 UGFzc3dvcmQ6")
            password = _decoded((await self._reader.readline()).decode())
        else:
            user, _, rest = _decoded(first).removeprefix("user=").partition("\x01auth=Bearer ")
            password = rest.removesuffix("\x01\x01")
        if self._mx.logins.get(user) == password:
            self._login = f"{mechanism} {user}"
            await self._write("235 2.7.0 welcome")
            return
        if mechanism == "XOAUTH2":
            await self._write("334 eyJzdGF0dXMiOiI0MDAifQ==")
            assert await self._reader.readline() == b"\r\n"
        repeated = f"{command} {user} {password}".replace("\0", " ") if self._mx.repeats_logins else ""
        await self._write(f"535 5.7.8 no such login {repeated}".rstrip())

    async def _start_tls(self) -> None:
        kind = self._mx.starttls
        injected = b"250-injected\r\n250 injected\r\n" if kind == "injecting" else b""
        self._writer.write(b"220 go on\r\n" + injected)
        await self._writer.drain()
        if kind == "hanging":
            await self._reader.read(-1)  # the ClientHello, and no word
            raise ConnectionResetError
        if kind == "broken":
            await self._reader.read(1)
            self._writer.write(b"this is no ServerHello\r\n")
            await self._writer.drain()
            await self._reader.read()
            raise ConnectionResetError
        assert self._mx.tls_context is not None
        await self._writer.start_tls(self._mx.tls_context)
        self._mx.clients_shown.append(self._writer.get_extra_info("ssl_object").getpeercert(True))
        self._tls = True
        self._forget()

    async def _say(self, stage: str, address: str = "") -> int:
        reply = await self._mx.reply_at(stage, address)
        if self._mx.full is not None:
            messages, at, said = self._mx.full
            reply = said if stage == at and self._messages >= messages else reply
        if reply is None:
            return 0
        while self._mx.drips_at == stage:
            await self._write(f"{reply[:3]}-a moment")
            await asyncio.sleep(DRIP_S)
        await self._write(reply)
        if self._mx.hang_up_after in (stage, (stage, address)):
            return 0
        return int(reply[:3]) if reply[:3].isdigit() else -1

    async def _write(self, text: str) -> bool:
        octets = text.encode("utf-8", "surrogateescape") + b"\r\n"
        piece = self._mx.piece or len(octets)
        for at in range(0, len(octets), piece):
            self._writer.write(octets[at : at + piece])
            await self._writer.drain()
            if self._mx.piece:
                await asyncio.sleep(0)  # uvloop writes once a turn
        return True


def vanish(connection: socket.socket) -> None:
    """What comes from now on is dropped, unacknowledged; on a socket that listens, attempts to connect are."""
    program = ctypes.create_string_buffer(TAKE_NOTHING, len(TAKE_NOTHING))
    fprog = struct.pack("HP", 1, ctypes.addressof(program))
    connection.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, fprog)


def _decoded(text: str) -> str:
    return base64.b64decode(text.strip()).decode()
