"""How a command ends: its exit code, and what it says on stderr."""

from typing import Any

DONE, REFUSED, USAGE, KEY, NOT_FOUND, CONFLICT, LIMIT, SERVER, TIMED_OUT = range(9)
INTERRUPTED = 130  # as shells have it: 128 and the signal's number

# What a code says goes before its status.
_BY_CODE = {
    "insufficient_scope": KEY,
    "inbox_access_denied": KEY,
    "validation_failed": USAGE,
    "unexpected_answer": SERVER,  # not of the API, whatever its status
}
_BY_STATUS = {
    401: KEY,
    402: LIMIT,
    404: NOT_FOUND,
    408: TIMED_OUT,
    409: CONFLICT,
    410: NOT_FOUND,
    412: CONFLICT,
    429: LIMIT,
}


class CommandEnded(Exception):
    """The command ends here. `error`: the member of the envelope, as the API has it."""

    def __init__(self, exit_code: int, code: str, message: str, details: Any = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.error: dict[str, Any] = {"code": code, "message": message}
        if details is not None:
            self.error["details"] = details


def unsure(told: str, idempotency_key: str | None) -> str:
    """What is told where it is not known what was done, and how to ask again."""
    if idempotency_key is None:
        return told
    return f"{told} With --idempotency-key {idempotency_key} the same command happens once."


def exit_code(status: int, code: str) -> int:
    """Of what the API refused."""
    if code in _BY_CODE:
        return _BY_CODE[code]
    return _BY_STATUS.get(status, REFUSED if 400 <= status < 500 else SERVER)
