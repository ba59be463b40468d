"""The certificates that this host shows: that of `[smtp]` to who brings mail, that of `[outbound]` to hosts that ask.

They are read at the start, and again as their files change, at SIGHUP and once a day. What can't be used then leaves
what is in use; what is wrong with one pair keeps the other back from nothing.
"""

import asyncio
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import structlog

from conf import named_files
from conf.log_events import LogEvent, tell
from conf.settings import Settings
from conf.tuning import SmtpTuning
from maild.inbound.sessions.session_listener import SessionListener
from maild.inbound.wire import tls
from maild.inbound.wire.certificate_watch import CertificateWatch
from maild.outbound.routing.relays import Relays
from maild.outbound.sessions.tls_policy import ClientContexts, TlsPolicies
from storage.clock import Clock

T = TypeVar("T")

log = structlog.get_logger("maild.daemon")


class UnfitCertificate(Exception):
    """What is wrong, for the operator: each fault with the key of the configuration and the file."""


class Certificates:
    """Of these settings. `folder`: where the one is that we make ourselves, where none is configured.

    `ends`: when those in use end, Unix time, by the keys that name them. `listeners`: given what is renewed."""

    listeners: Sequence[SessionListener] = ()

    def __init__(self, settings: Settings, folder: Path, pace: SmtpTuning) -> None:
        """Looks at the files before they are read, so that no change is missed."""
        self._settings = settings
        self._folder = folder
        self.ends: dict[str, float] = {}
        smtp, outbound = settings.smtp, settings.outbound
        files = [one for one in (smtp.tls_cert, smtp.tls_key, outbound.tls_cert, outbound.tls_key) if one]
        self.watch = CertificateWatch(files, self._renew, pace.certificate_look_s, pace.ticket_keys_s)

    def of_smtp(self) -> ssl.SSLContext:
        """UnfitCertificate, OSError (ssl.SSLError is one)."""
        smtp = self._settings.smtp
        if not smtp.tls_cert:
            return tls.context(*tls.self_signed(self._folder, self._settings.server.hostname))
        _refuse(named_files.pair_faults("smtp", smtp))
        made = tls.context(smtp.tls_cert, smtp.tls_key)
        self._note_end("smtp.tls_cert", smtp.tls_cert)
        return made

    def of_outbound(self, clock: Clock) -> TlsPolicies:
        """With which sessions with other hosts begin, of renewed certificates as well. UnfitCertificate, OSError."""
        outbound = self._settings.outbound
        _refuse(named_files.outbound_faults(outbound))
        pair = (outbound.tls_cert, outbound.tls_key) if outbound.tls_cert else None
        self._policies = TlsPolicies(clock, outbound.ca_file, pair, Relays(outbound).hosts)
        self._note_end("outbound.tls_cert", outbound.tls_cert)
        return self._policies

    async def _renew(self) -> None:
        """For the sessions that begin from now on."""
        outbound = await self._read(self._outbound_contexts)
        if outbound is not None:
            self._policies.use(outbound)
        smtp = await self._read(self.of_smtp)
        if smtp is not None:
            for listener in self.listeners:
                listener.tls = smtp
            tell(log, LogEvent.CERTIFICATE_RELOADED)

    async def _read(self, read: Callable[[], T]) -> T | None:
        try:
            return await asyncio.to_thread(read)
        except (UnfitCertificate, OSError) as error:
            log.error("certificate_not_reloaded", error=str(error))
            return None

    def _outbound_contexts(self) -> ClientContexts:
        outbound = self._settings.outbound
        _refuse(named_files.outbound_faults(outbound))
        made = self._policies.read()
        self._note_end("outbound.tls_cert", outbound.tls_cert)
        return made

    def _note_end(self, key: str, cert: str) -> None:
        if cert:
            self.ends[key] = tls.end_of(cert)


def _refuse(faults: Sequence[str]) -> None:
    if faults:
        raise UnfitCertificate("; ".join(faults))
