"""The PEM files that the configuration names, looked into: certificates with their keys, and authorities.

Apart from `settings.load`, since commands on the store do without them, and so they work while a file is being renewed.
"""

import os
import ssl
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from conf.settings import Outbound, Settings, Smtp

# As OpenSSL takes them (PEM_bytes_read_bio(3)).
_CERTIFICATE = (b"BEGIN CERTIFICATE", b"BEGIN X509 CERTIFICATE", b"BEGIN TRUSTED CERTIFICATE")
_KEY = (b"PRIVATE KEY-----",)
# What OpenSSL says of a key that is another certificate's; the last two where it is of another kind (RSA, ECDSA).
_OF_ANOTHER = ("KEY_VALUES_MISMATCH", "KEY_TYPE_MISMATCH", "NO_CERTIFICATE_ASSIGNED")


def faults(settings: Settings) -> list[str]:
    """What keeps this user from using them, a line for each key, or pair of keys."""
    asked = {"dns.doh_ca_file": settings.dns.doh_ca_file, "webhooks.ca_file": settings.webhooks.ca_file}
    return [
        *pair_faults("smtp", settings.smtp),
        *outbound_faults(settings.outbound),
        *_authority_faults(asked),
    ]


def outbound_faults(outbound: Outbound) -> list[str]:
    """Of all that sessions with other mail hosts are begun with."""
    relays = {f"outbound.relays.{name}.ca_file": one.ca_file for name, one in outbound.relays.items()}
    return [
        *pair_faults("outbound", outbound),
        *_authority_faults({"outbound.ca_file": outbound.ca_file, **relays}),
    ]


def pair_faults(section: str, named: Smtp | Outbound) -> list[str]:
    """Of the certificate and the key that a section names, if it does."""
    cert, key = f"{section}.tls_cert", f"{section}.tls_key"
    found = [*_missing(cert, named.tls_cert, _CERTIFICATE), *_missing(key, named.tls_key, _KEY)]
    if found or not (named.tls_cert and named.tls_key):
        return found
    return list(_unfit(section, named.tls_cert, named.tls_key))


def _unfit(section: str, cert: str, key: str) -> Iterator[str]:
    keys = f"{section}.tls_cert, {section}.tls_key"
    try:
        # An encrypted key is a fault; without a password OpenSSL would ask for one on the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key, password="")
    except ssl.SSLError as error:
        if error.reason in _OF_ANOTHER:
            yield f"{keys}: {key} is not the key of the certificate that stands first in {cert}"
        elif b"ENCRYPTED" in Path(key).read_bytes():
            yield f"{keys}: {key} is encrypted, and nobody is asked for a password; name one that is not"
        elif found := list(_authority_faults({f"{section}.tls_cert": cert})):
            yield from found
        elif error.reason is None:  # "PEM lib": it does not get as far as to a key
            yield f"{section}.tls_key: the private key in {key} can't be read: {error}"
        else:
            yield f"{keys}: {cert} and {key} are no usable pair: {error}"


def _authority_faults(named: Mapping[str, str]) -> Iterator[str]:
    for key, file in named.items():
        found = _missing(key, file, _CERTIFICATE)
        yield from found
        if file and not found:
            try:
                ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
            except ssl.SSLError as error:
                yield f"{key}: a certificate in {file} can't be read: {error}"


def at_once(path: str, flags: int) -> int:
    """An `opener` for a file that somebody names: a pipe into which nobody writes is empty, and not waited for."""
    return os.open(path, flags | os.O_NONBLOCK)


def _missing(key: str, file: str, wanted: tuple[bytes, ...]) -> list[str]:
    """What is wrong with a file that is named, before anybody decodes it."""
    if not file:
        return []
    try:
        with open(file, "rb", opener=at_once) as read:
            if not stat.S_ISREG(os.fstat(read.fileno()).st_mode):
                return [f"{key}: {file} is a pipe or a device; name a file"]  # OpenSSL would wait for one
            content = read.read()
    except OSError as error:
        return [f"{key}: {file} is not readable: {error.strerror}"]
    if not any(label in content for label in wanted):
        what = "private key" if wanted is _KEY else "certificate"
        return [f"{key}: there is no {what} in {file}, as PEM has it"]
    return []
