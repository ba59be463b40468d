"""Where the command `maildc` has its server and its key from.

The key comes from `MAILD_API_KEY`, from a file that its owner alone can read, or from what `maildc login` kept; never
from an argument, which every program of the machine can see. A kept key belongs to one server and goes to no other. No
error shows a key, or what else a file holds.
"""

import contextlib
import json
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

URL_VARIABLE, KEY_VARIABLE = "MAILD_URL", "MAILD_API_KEY"
FILE_BYTES_MAX = 4096
_KEY = re.compile(r"[!-~]{8,512}")  # what a header can hold
_KEEPS_MODES = os.name == "posix"


class CredentialsError(Exception):
    """There is no usable key or address; the text says what to do. `is_key`: it is about the key."""

    def __init__(self, told: str, *, is_key: bool = True) -> None:
        super().__init__(told)
        self.is_key = is_key


class ClientCredentials(NamedTuple):
    """`url`: of the server, without a slash at its end."""

    url: str
    api_key: str

    def __repr__(self) -> str:
        return f"ClientCredentials({self.url!r}, …)"


def kept_file(environ: Mapping[str, str]) -> Path:
    """Where `maildc login` keeps them."""
    folder = environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(folder) / "maildc" / "credentials.json"


def find(
    environ: Mapping[str, str], url: str | None = None, key_file: Path | None = None
) -> ClientCredentials:
    """What to call, and with which key: `key_file` before the environment before what is kept. CredentialsError."""
    given_url = url or environ.get(URL_VARIABLE)
    checked = None if not given_url else checked_url(given_url)
    if key_file is not None:
        return ClientCredentials(_said(checked), checked_key(_private_text(key_file), str(key_file)))
    if environ.get(KEY_VARIABLE):
        return ClientCredentials(_said(checked), checked_key(environ[KEY_VARIABLE], KEY_VARIABLE))
    kept = _kept(kept_file(environ))
    if kept is None:
        raise CredentialsError(f"There is no key: set {KEY_VARIABLE}, or keep one with 'maildc login'.")
    if checked is not None and checked != kept.url:
        told = f"set {KEY_VARIABLE} for {checked}, or log in there"
        raise CredentialsError(f"The kept key is for {kept.url} and goes to no other server: {told}.")
    return kept


def keep(environ: Mapping[str, str], credentials: ClientCredentials) -> Path:
    """Write them to where `find` looks, readable by their owner alone; the file. OSError."""
    file = kept_file(environ)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    making = file.with_name(f".{file.name}.{os.getpid()}")
    with contextlib.suppress(FileNotFoundError):
        making.unlink()
    # Made with its mode, not narrowed afterwards: between the two anybody could open it.
    with os.fdopen(
        os.open(making, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
    ) as out:
        json.dump({"url": credentials.url, "apiKey": credentials.api_key}, out)
    making.replace(file)
    return file


def checked_url(url: str) -> str:
    """An address of a server as it is used; CredentialsError for what is none."""
    url = url.strip()  # as a key: what is read of a file ends with its line
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
    if not is_whole or not re.fullmatch(r"[!-~]+", url) or parts.query or parts.fragment:
        raise CredentialsError(
            f"{URL_VARIABLE} must be like https://mail.example.org, without a query or a fragment.",
            is_key=False,
        )
    if parts.username is not None or parts.password is not None:
        raise CredentialsError(f"{URL_VARIABLE} must hold no name or password.", is_key=False)
    url = url.rstrip("/")
    if url.endswith("/v1"):
        raise CredentialsError(f"{URL_VARIABLE} ends before /v1, which each command adds.", is_key=False)
    return url


def checked_key(text: str, source: str) -> str:
    """The key in a text; CredentialsError, which does not show it, for what can't be one."""
    key = text.strip()
    if not _KEY.fullmatch(key):
        raise CredentialsError(f"What {source} holds is no API key: it is one word that begins with 'svc_'.")
    return key


def _said(url: str | None) -> str:
    if url is None:
        raise CredentialsError(f"Set {URL_VARIABLE} to the server's address.", is_key=False)
    return url


def _kept(file: Path) -> ClientCredentials | None:
    if not file.exists():
        return None
    try:
        document: Any = json.loads(_private_text(file))
        return ClientCredentials(checked_url(document["url"]), checked_key(document["apiKey"], str(file)))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise CredentialsError(
            f"{file} can't be read as it was written: log in again with 'maildc login'."
        ) from None


def _private_text(file: Path) -> str:
    """A small file of ours that nobody else can read. What was opened is looked at, so nothing can be swapped."""
    try:
        # Without waiting: a FIFO would hold up the command before it is told to be none of ours.
        number = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        raise CredentialsError(f"{file} can't be opened: {error.strerror}.") from None
    try:
        told = os.fstat(number)
        if not stat.S_ISREG(told.st_mode):
            raise CredentialsError(f"{file} is no file.")
        if _KEEPS_MODES and told.st_mode & 0o077:
            told_what = f"'chmod 600 {file}', and mint a new key if they could"
            raise CredentialsError(f"{file} can be read by others: {told_what}.")
        if _KEEPS_MODES and told.st_uid not in (os.geteuid(), 0):
            raise CredentialsError(f"{file} belongs to somebody else.")
        octets = os.read(number, FILE_BYTES_MAX + 1)
    finally:
        os.close(number)
    if len(octets) > FILE_BYTES_MAX:
        raise CredentialsError(f"{file} is too long for a key.")
    return octets.decode("utf-8", "replace")
