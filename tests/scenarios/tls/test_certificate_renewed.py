"""A renewed certificate is taken without a pause, at SIGHUP or when its files change; one that does not fit is not."""

import asyncio
import os
import shutil
import signal
import smtplib
import ssl
import threading
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import pytest
import structlog

from conf.tuning import SmtpTuning, Tuning
from maild.inbound.wire import tls
from maild.outbound.sessions.tls_policy import ClientContexts, TlsPolicies
from tests.conftest import Start
from tests.support.daemon import Daemon
from tests.support.machine.ports import free_port
from tests.support.running import Running, Smtp, until
from tests.support.waiting import GIVES_UP_S


def pair(folder: Path, name: str) -> tuple[Path, Path]:
    made = folder / name
    made.mkdir()
    cert, key = tls.self_signed(made, f"{name}.test")
    return Path(cert), Path(key)


def install(source: Path, target: Path) -> None:
    """As ACME clients do it: the file changes at once."""
    shutil.copy(source, target.with_suffix(".new"))
    target.with_suffix(".new").rename(target)


class LivePair:
    """The files that a renewal replaces."""

    def __init__(self, folder: Path, first: tuple[Path, Path]) -> None:
        self.cert, self.key = folder / "live.pem", folder / "live.key"
        self.renew(first)

    def renew(self, pair: tuple[Path, Path]) -> None:
        install(pair[0], self.cert)
        install(pair[1], self.key)

    @property
    def settings(self) -> dict[str, str]:
        return {"tls_cert": str(self.cert), "tls_key": str(self.key)}


LOOKS_OFTEN = Tuning(smtp=SmtpTuning(certificate_look_s=0.01))


def shown(port: int) -> bytes:
    """The certificate that a new session gets."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with smtplib.SMTP("127.0.0.1", port, timeout=GIVES_UP_S) as client:
        client.starttls(context=context)
        assert isinstance(client.sock, ssl.SSLSocket)
        return client.sock.getpeercert(binary_form=True) or b""


def der(cert: Path) -> bytes:
    return ssl.PEM_cert_to_DER_cert(cert.read_text())


async def test_a_renewed_certificate_is_taken(tmp_path: Path) -> None:
    old, new = pair(tmp_path, "old"), pair(tmp_path, "new")
    live = LivePair(tmp_path, old)
    smtp = live.settings
    async with Daemon(tmp_path, dns_port=free_port(), more={"smtp": smtp}) as daemon:
        assert await asyncio.to_thread(shown, daemon.smtp_port) == der(old[0])
        before = await Smtp.connect(f"127.0.0.1:{daemon.smtp_port}")
        await before.reply()
        await before.say("EHLO client.test")

        install(new[0], live.cert)  # its key comes later
        os.kill(daemon.pid, signal.SIGHUP)
        (fault,) = await daemon.until_logged("certificate_not_reloaded")
        assert fault["level"] == "error"
        assert "smtp.tls_cert, smtp.tls_key" in fault["error"] and str(live.cert) in fault["error"]
        assert await asyncio.to_thread(shown, daemon.smtp_port) == der(old[0])

        install(new[1], live.key)
        os.kill(daemon.pid, signal.SIGHUP)
        await daemon.until_logged("certificate_reloaded")
        assert await asyncio.to_thread(shown, daemon.smtp_port) == der(new[0])

        assert (await before.say("STARTTLS")).startswith("220 ")
        await before.start_tls()
        assert (await before.say("EHLO client.test")).startswith("250")
        assert (await before.say("QUIT")).startswith("221 ")


async def test_files_are_read_beside_the_loop(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    maild = await start()
    readers: list[threading.Thread] = []
    reads = TlsPolicies.read

    def read(policies: TlsPolicies) -> ClientContexts:
        readers.append(threading.current_thread())
        return reads(policies)

    monkeypatch.setattr(TlsPolicies, "read", read)
    before = maild.daemon.listener.tls
    maild.daemon.reload()

    async def is_taken() -> bool | None:
        return maild.daemon.listener.tls is not before or None

    await until(is_taken)
    assert readers and threading.current_thread() not in readers


async def test_who_may_read_a_file_is_seen_to_change(tmp_path: Path, start: Start) -> None:
    """ACME clients write keys that only root may read, and operators mend that when they are told."""
    cert, key = pair(tmp_path, "one")
    maild = await start(
        smtp={"tls_cert": str(cert), "tls_key": str(key)},
        tuning=LOOKS_OFTEN,
    )
    before = maild.daemon.listener.tls
    key.chmod(0o640)

    async def is_taken() -> bool | None:
        return maild.daemon.listener.tls is not before or None

    await until(is_taken)


async def test_nobody_waits_for_a_file_that_became_a_pipe(tmp_path: Path, start: Start) -> None:
    old, new = pair(tmp_path, "old"), pair(tmp_path, "new")
    live = LivePair(tmp_path, old)
    with structlog.testing.capture_logs() as lines:
        maild = await start(
            smtp=live.settings,
            tuning=LOOKS_OFTEN,
        )
        live.key.unlink()
        os.mkfifo(live.key)
        fault = await until(lambda: told(lines, "certificate_not_reloaded"))
        assert fault["error"] == f"smtp.tls_key: {live.key} is a pipe or a device; name a file"
        live.renew(new)
        await until(lambda: told(lines, "certificate_reloaded"))
        assert await asyncio.to_thread(shown, port_of(maild)) == der(new[0])


async def test_what_is_wrong_with_one_pair_keeps_no_other_back(tmp_path: Path, start: Start) -> None:
    old, new, outbound = pair(tmp_path, "old"), pair(tmp_path, "new"), pair(tmp_path, "out")
    live = LivePair(tmp_path, old)
    with structlog.testing.capture_logs() as lines:
        maild = await start(
            smtp=live.settings,
            outbound={"tls_cert": str(outbound[0]), "tls_key": str(outbound[1])},
        )
        outbound[1].unlink()
        live.renew(new)
        maild.daemon.reload()
        await until(lambda: told(lines, "certificate_reloaded"))
        (fault,) = [line["error"] for line in lines if line["event"] == "certificate_not_reloaded"]
        assert fault == f"outbound.tls_key: {outbound[1]} is not readable: No such file or directory"
        assert await asyncio.to_thread(shown, port_of(maild)) == der(new[0])


async def test_a_pair_that_is_renewed_while_the_daemon_starts_is_taken(
    tmp_path: Path, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = pair(tmp_path, "old"), pair(tmp_path, "new")
    live = LivePair(tmp_path, old)
    read = tls.context

    def read_before(*files: str) -> ssl.SSLContext:
        found = read(*files)
        live.renew(new)
        monkeypatch.undo()
        return found

    monkeypatch.setattr(tls, "context", read_before)
    maild = await start(
        smtp=live.settings,
        tuning=LOOKS_OFTEN,
    )

    async def is_taken() -> bool | None:
        return await asyncio.to_thread(shown, port_of(maild)) == der(new[0]) or None

    await until(is_taken)


async def told(lines: list[MutableMapping[str, Any]], event: str) -> MutableMapping[str, Any] | None:
    return next((line for line in lines if line["event"] == event), None)


def port_of(maild: Running) -> int:
    return int(maild.daemon.listener.addresses[0].rpartition(":")[2])


async def test_a_changed_file_is_seen_and_a_pair_that_does_not_fit_is_told_once(
    tmp_path: Path, start: Start
) -> None:
    old, new = pair(tmp_path, "old"), pair(tmp_path, "new")
    live = LivePair(tmp_path, old)
    with structlog.testing.capture_logs() as lines:
        maild = await start(
            smtp=live.settings,
            tuning=LOOKS_OFTEN,
        )
        port = port_of(maild)

        async def seen(event: str, count: int) -> bool | None:
            return [line["event"] for line in lines].count(event) >= count or None

        install(new[0], live.cert)
        await until(lambda: seen("certificate_not_reloaded", 1))
        live.cert.unlink()  # another change, that does not fit either
        await until(lambda: seen("certificate_not_reloaded", 2))
        assert await asyncio.to_thread(shown, port) == der(old[0])
        live.renew(new)
        await until(lambda: seen("certificate_reloaded", 1))
        assert await asyncio.to_thread(shown, port) == der(new[0])
        failures = [line for line in lines if line["event"] == "certificate_not_reloaded"]
        assert len(failures) <= 3  # each change once; the third where the look fell between the two files


@pytest.mark.parametrize(("lasts_s", "is_resumed"), [(3600.0, True), (0.0, False)])
async def test_a_session_is_resumed_until_its_ticket_is_too_old(
    start: Start, lasts_s: float, is_resumed: bool
) -> None:
    """RFC 9325 §3.4: who gets at the keys of tickets late can't open the sessions of weeks."""
    tuning = SmtpTuning(certificate_look_s=0.01, ticket_keys_s=lasts_s)
    maild = await start(tuning=Tuning(smtp=tuning))
    port = port_of(maild)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2  # of TLS 1.3 a ticket opens nothing by itself
    session, _ = await asyncio.to_thread(resumed, port, context, None)
    before = maild.daemon.listener.tls

    async def is_another() -> bool | None:
        return maild.daemon.listener.tls is not before or is_resumed or None

    await until(is_another)
    _, was_resumed = await asyncio.to_thread(resumed, port, context, session)
    assert was_resumed is is_resumed


def resumed(
    port: int, context: ssl.SSLContext, session: ssl.SSLSession | None
) -> tuple[ssl.SSLSession | None, bool | None]:
    """The session of a connection that asked to go on with that one, and whether it was."""
    with smtplib.SMTP("127.0.0.1", port, timeout=GIVES_UP_S) as client:
        assert client.docmd("STARTTLS")[0] == 220
        assert client.sock is not None
        with context.wrap_socket(client.sock, session=session) as connection:
            return connection.session, connection.session_reused
