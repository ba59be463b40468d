"""Smarthosts: hosts of the operator's choice that take mail instead of the recipient's own, and what they want of us.

Which one takes a message is decided by the domains that it names (`outbound.relays`): one that names the sender's and
the recipient's, else the recipient's, else the sender's, else none; else `outbound.relay`; else the recipient's MX.
"""

import errno
import os
from collections.abc import Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from conf.named_files import at_once
from conf.setting_kinds import host_port
from conf.settings import Outbound

CREDENTIAL = "credential:"  # systemd.exec(5), LoadCredential=
SECRET_CHARS_MAX = 16 * 1024

TlsMode = Literal["opportunistic", "starttls", "implicit"]
AuthMechanism = Literal["plain", "login", "xoauth2"]


@dataclass(frozen=True, slots=True)
class RelayHost:
    """`name`: of its section, "" of `outbound.relay`; `username`: "" where it wants no AUTH; `password_file`: read for
    each session, so that a token may change; `rewrites`: header fields that it writes anew, names in lower case;
    `takes_ed25519`: a second signature, beside that of RSA."""

    name: str
    host: str
    port: int
    tls: TlsMode = "opportunistic"
    auth: AuthMechanism = "plain"
    username: str = ""
    password_file: str = ""
    ca_file: str = ""
    rewrites: frozenset[str] = frozenset()
    takes_ed25519: bool = True


class Relays:
    """Those of the configuration."""

    def __init__(self, outbound: Outbound) -> None:
        self._named: dict[
            tuple[str, str], RelayHost
        ] = {}  # by the sender's and the recipient's domain, "" for any
        if outbound.relay:
            self._named["", ""] = RelayHost("", *host_port(outbound.relay))
        for name, section in outbound.relays.items():
            relay = RelayHost(
                name,
                *host_port(section.host),
                section.tls,
                section.auth,
                section.username,
                section.password_file,
                section.ca_file or outbound.ca_file,
                frozenset(section.rewrites),
                section.dkim_ed25519,
            )
            for sender in section.senders or ("",):
                for recipient in section.recipients or ("",):
                    self._named[sender, recipient] = relay

    @property
    def hosts(self) -> Set[RelayHost]:
        """All of them."""
        return set(self._named.values())

    def chosen(self, sender_domain: str, domain: str) -> RelayHost | None:
        """The smarthost for mail from one domain to the other, A-labels in lower case; None where the MX takes it."""
        named = self._named
        if not named:
            return None
        return (
            named.get((sender_domain, domain))
            or named.get(("", domain))
            or named.get((sender_domain, ""))
            or named.get(("", ""))
        )


def read_secret(relay: RelayHost, environment: Mapping[str, str] = os.environ) -> str:
    """The password or token, without the line end of its file; OSError, UnicodeDecodeError."""
    path = secret_path(relay.password_file, environment)
    with open(path, encoding="utf-8", opener=at_once) as file:
        secret = file.read(SECRET_CHARS_MAX).rstrip("\r\n")
    if not secret:  # as where it is being written anew
        raise OSError(errno.ENODATA, "there is no password in it", str(path))
    return secret


def secret_path(password_file: str, environment: Mapping[str, str] = os.environ) -> Path:
    """`credential:NAME` is a file that systemd hands to the service."""
    if not password_file.startswith(CREDENTIAL):
        return Path(password_file)
    if "CREDENTIALS_DIRECTORY" not in environment:
        raise FileNotFoundError(errno.ENOENT, "systemd handed over no credentials", password_file)
    return Path(environment["CREDENTIALS_DIRECTORY"], password_file.removeprefix(CREDENTIAL))
