"""What follows from an attempt. Pure: the table of verdicts, and nothing else.

| the endpoint | then |
|---|---|
| answered 2xx | succeeded |
| answered 4xx | failed, at once: the contract calls it terminal, 408 and 429 too |
| answered anything else, 3xx too | the next attempt, after its delay; failed when there is none left |
| gave no whole answer: timeout, DNS, refused, TLS, a target that we do not call | the same |
| is deleted or inactive by now | halted, with a last record that says so |
"""

from collections.abc import Sequence
from typing import NamedTuple

ERROR_CHARACTERS_MAX = 300


class AttemptVerdict(NamedTuple):
    """`state`: of states.WEBHOOK_DELIVERY. `retry_after_s` is set exactly when it is `pending`."""

    state: str
    error: str | None
    retry_after_s: int | None

    @property
    def is_successful(self) -> bool:
        return self.state == "succeeded"


def answered(status: int, attempt: int, delays_s: Sequence[int]) -> AttemptVerdict:
    """`attempt` counts from 1; `delays_s` are those before attempts 2, 3, …"""
    if 200 <= status < 300:
        return AttemptVerdict("succeeded", None, None)
    if 400 <= status < 500:
        return AttemptVerdict("failed", f"the endpoint answered {status}, which is final", None)
    if 300 <= status < 400:
        return _again(f"the endpoint answered {status}; redirects are not followed", attempt, delays_s)
    return _again(f"the endpoint answered {status}", attempt, delays_s)


def unanswered(error: str, attempt: int, delays_s: Sequence[int]) -> AttemptVerdict:
    """`error`: why there was no whole answer."""
    return _again(error, attempt, delays_s)


def halted(deleted: bool) -> AttemptVerdict:
    what = "deleted" if deleted else "deactivated"
    return AttemptVerdict("halted", f"the webhook was {what}; retries halted", None)


def _again(error: str, attempt: int, delays_s: Sequence[int]) -> AttemptVerdict:
    error = error[:ERROR_CHARACTERS_MAX]
    if attempt <= len(delays_s):
        return AttemptVerdict("pending", error, delays_s[attempt - 1])
    if attempt == 1:  # a test ping is not tried again
        return AttemptVerdict("failed", error, None)
    return AttemptVerdict("failed", f"{error}; gave up after {attempt} attempts", None)
