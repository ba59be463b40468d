"""The certificates that this host shows, and those of others that it believes."""

import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509

from conf import named_files
from conf.settings import Outbound, Smtp
from conf.tls import client_context
from maild.commands.doctor.patient import Diagnosis, Patient
from maild.inbound.wire import tls
from maild.message.fields.address import is_named
from storage.clock import Clock
from storage.data_folder import DataFolder

EXPIRES_SOON_DAYS = 14
_RENEW = "Renew it; maild reads it by itself."


async def certificate(patient: Patient) -> list[Diagnosis]:
    """Are they ones that can be shown, for a while yet? Is that of SMTP for its name, and do others believe it?"""
    smtp, outbound = patient.settings.smtp, patient.settings.outbound
    found = []
    if not smtp.tls_cert:
        words = "a self-signed one, which mail servers take"
        found.append(Diagnosis("certificate", "smtp.tls_cert", "ok", words))
    named: tuple[tuple[str, Smtp | Outbound], ...] = ("smtp", smtp), ("outbound", outbound)
    for section, one in named:
        if one.tls_cert:
            found += _told_of(patient, section, one)
    return found


def _told_of(patient: Patient, section: str, named: Smtp | Outbound) -> list[Diagnosis]:
    try:
        with DataFolder(patient.folder).as_its_owner():  # what root may read the daemon may not
            faults = named_files.pair_faults(section, named)
            if not faults:
                context = tls.context(named.tls_cert, named.tls_key)
                shown = x509.load_pem_x509_certificate(Path(named.tls_cert).read_bytes())
    except (OSError, ValueError, x509.InvalidVersion) as error:  # ssl.SSLError is an OSError
        faults = [f"no usable pair: {error}"]
    if faults:
        advice = "Name a pair of PEM files that belong together and that the daemon's user can read."
        return [Diagnosis("certificate", named.tls_cert, "fault", "; ".join(faults), advice)]
    told = list(_of_time(named.tls_cert, shown, patient.clock))
    if section == "smtp":
        may_be_believed = all(one.status != "fault" for one in told)
        told += _of_name(named.tls_cert, shown, patient.settings.server.hostname)
        if may_be_believed and patient.knows_authorities():
            told += _of_belief(named.tls_cert, context)
    return told or [Diagnosis("certificate", named.tls_cert, "ok", f"it is valid until {_day_of_end(shown)}")]


def _day_of_end(shown: x509.Certificate) -> str:
    return f"{shown.not_valid_after_utc:%Y-%m-%d}"


def _of_time(file: str, shown: x509.Certificate, clock: Clock) -> Iterator[Diagnosis]:
    now = datetime.fromtimestamp(clock.now_ms() / 1000, UTC)
    left, until = shown.not_valid_after_utc - now, f"it is valid until {_day_of_end(shown)}"
    if left.total_seconds() <= 0:
        yield Diagnosis("certificate", file, "fault", until, _RENEW)
    elif left.days < EXPIRES_SOON_DAYS:
        yield Diagnosis("certificate", file, "warning", until, _RENEW)
    if shown.not_valid_before_utc > now:
        found = f"it is valid from {shown.not_valid_before_utc:%Y-%m-%d %H:%M} UTC on, and not yet"
        advice = "Show the one before it until then; or the clock of this host is wrong."
        yield Diagnosis("certificate", file, "fault", found, advice)


def _of_name(file: str, shown: x509.Certificate, hostname: str) -> Iterator[Diagnosis]:
    if not is_named(hostname, _names_of(shown)):  # RFC 9525 §6.3: a wildcard is the whole first label.
        advice = (
            f"Get one for {hostname}: programs that submit mail, and hosts under MTA-STS, check the name."
        )
        yield Diagnosis("certificate", file, "fault", f"it is not for {hostname}", advice)


def _names_of(shown: x509.Certificate) -> frozenset[str]:
    try:
        names = shown.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return frozenset()
    return frozenset(map(str.lower, names.get_values_for_type(x509.DNSName)))


def _of_belief(file: str, context: ssl.SSLContext) -> Iterator[Diagnosis]:
    doubt = _doubt(context)
    if doubt:
        found = f"who believes this system's authorities does not believe it: {doubt}"
        advice = (
            "Name the file that has the chain with it (fullchain.pem). If an authority of your own issued it, programs"
            " that submit mail have to be told of that, and hosts under MTA-STS never believe it."
        )
        yield Diagnosis("certificate", file, "warning", found, advice)


def _doubt(context: ssl.SSLContext) -> str:
    """What OpenSSL says against the chain that is shown; "" where it is believed. Names are not looked at."""
    to_client, to_host, client_side = ssl.MemoryBIO(), ssl.MemoryBIO(), client_context()
    client_side.check_hostname = False
    client = client_side.wrap_bio(to_client, to_host)
    host = context.wrap_bio(to_host, to_client, server_side=True)
    for side in (client, host) * 3:  # a third time where a group of the client's was refused (RFC 8446 §2.1)
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
        except ssl.SSLCertVerificationError as error:
            return error.verify_message
        except ssl.SSLError as error:
            return str(error)
    return ""


async def authorities(patient: Patient) -> list[Diagnosis]:
    """Is there any that certificates of others are believed for?"""
    if patient.knows_authorities():
        return []
    found = "OpenSSL has none: no endpoint of a webhook is believed to be who it is, nor are hosts of MTA-STS and DoH"
    advice = "apt install ca-certificates. If SSL_CERT_FILE or SSL_CERT_DIR is set for the daemon, set it here, too."
    return [Diagnosis("authorities", ssl.get_default_verify_paths().openssl_capath, "warning", found, advice)]
