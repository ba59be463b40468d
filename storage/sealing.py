"""Secrets at rest: AES-256-GCM under one master key, which stands in a file of its own (0600).

The file is `master.key` in the data folder, or the systemd credential of that name (systemd.exec(5), LoadCredential=),
which is taken before it. The store says which key is the right one (storage.upkeep.rotation).

A sealed value is bound to its context (such as `webhook:whk_…`), so that one copied into another row
does not open. Losing the master key loses the DKIM keys, the webhook secrets and the server's own
(links that were sent to unsubscribe, envelope senders), and no mail.
"""

import hashlib
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from storage.durable_files import is_there, write_new_file

CREDENTIAL = "master.key"
_KEY_BYTES = 32
_NONCE_BYTES = 12


class SealError(Exception):
    """The value does not open: another master key, another context, or damage."""


class Sealer:
    """Seals and opens under one master key (32 bytes); a value is nonce (12 bytes), ciphertext, tag (16 bytes)."""

    def __init__(self, master_key: bytes, entropy: Callable[[int], bytes] = os.urandom) -> None:
        self._cipher = AESGCM(master_key)
        self._entropy = entropy

    def seal(self, secret: bytes, context: str) -> bytes:
        """The sealed value, which opens in this context alone; never the same one twice."""
        nonce = self._entropy(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, secret, context.encode())

    def open(self, sealed: bytes, context: str) -> bytes:
        """The secret; SealError unless it was sealed under this key and context."""
        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], context.encode())
        except (InvalidTag, ValueError) as error:  # ValueError: too short to hold a nonce
            raise SealError(f"{context} does not open under this master key") from error


def master_key_file(in_folder: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """The path of the master key: systemd's credential, if the service got one, else `in_folder`."""
    folder = environment.get("CREDENTIALS_DIRECTORY")
    credential = Path(folder) / CREDENTIAL if folder else None
    return credential if credential is not None and is_there(credential) else in_folder


def fingerprint(master_key: bytes) -> bytes:
    """16 bytes that name the key and do not reveal it."""
    return hashlib.sha256(b"maild master key\n" + master_key).digest()[:16]


def new_master_key() -> bytes:
    """32 random bytes, written nowhere yet."""
    return os.urandom(_KEY_BYTES)


def make_master_key(path: Path) -> None:
    """Write a fresh key to `path`, durably, unless the file exists."""
    if not is_there(path):
        with suppress(FileExistsError):  # another process was faster: its key is the one
            write_master_key(path, new_master_key())


def write_master_key(path: Path, key: bytes, like: Path | None = None) -> None:
    """Write the key to a new file, as `write_new_file` does; FileExistsError."""
    write_new_file(path, key.hex().encode() + b"\n", like)


def read_master_key(path: Path) -> bytes:
    """The 32 bytes in `path` (64 hex digits); SealError when the file can't be read or is not such a key."""
    try:
        key = bytes.fromhex(path.read_text("ascii").strip())
    except OSError as error:
        raise SealError(
            f"{path} is no readable master key ({error.strerror}): put the key there; where it is a credential,"
            " commands want its file (--key-file), and the daemon LoadCredential= in its unit (systemctl edit maild);"
            " where it is lost for good, see 'maild replace-lost-master-key --help'"
        ) from error
    except ValueError as error:
        raise SealError(f"{path} is no readable master key: {error}") from error
    if len(key) != _KEY_BYTES:
        raise SealError(f"{path} is no master key: expected {_KEY_BYTES * 2} hex digits")
    return key
