"""Secrets at rest: AES-256-GCM under one master key, which stands in a file of its own (0600).

A sealed value is bound to its context (such as `webhook:whk_…`), so that one copied into another row
does not open. Losing the master key loses the DKIM keys and webhook secrets, and nothing else.
"""

import os
from collections.abc import Callable
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_KEY_BYTES = 32
_NONCE_BYTES = 12


class SealError(Exception):
    """The value does not open: another master key, another context, or damage."""


class Sealer:
    def __init__(self, master_key: bytes, entropy: Callable[[int], bytes] = os.urandom) -> None:
        self._cipher = AESGCM(master_key)
        self._entropy = entropy

    def seal(self, secret: bytes, context: str) -> bytes:
        nonce = self._entropy(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, secret, context.encode())

    def open(self, sealed: bytes, context: str) -> bytes:
        try:
            return self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], context.encode())
        except (InvalidTag, ValueError) as error:  # ValueError: too short to hold a nonce
            raise SealError(f"{context} does not open under this master key") from error


def make_master_key(path: Path) -> None:
    """Write a fresh key where there is none; readable by its owner alone from the first byte on."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with os.fdopen(descriptor, "wb") as file:
        file.write(os.urandom(_KEY_BYTES).hex().encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read_master_key(path: Path) -> bytes:
    """The 32 bytes in `path` (64 hex digits); SealError when there is no such key."""
    try:
        key = bytes.fromhex(path.read_text("ascii").strip())
    except (OSError, ValueError) as error:
        raise SealError(f"{path} is no readable master key: {error}") from error
    if len(key) != _KEY_BYTES:
        raise SealError(f"{path} is no master key: expected {_KEY_BYTES * 2} hex digits")
    return key
