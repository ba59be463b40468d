"""Signatures that are made before they are needed, and those that may be needed again.

What a signature covers is the same in each attempt, so a message that is deferred is signed once, as one is that stands
in a line. In memory alone, and bounded: KEPT_MAX of less than a KiB each, of which the oldest give way. One of another
key, or that is older than KEPT_S, does not count: its time is what receivers are told.
"""

from collections import OrderedDict
from typing import NamedTuple

from maild.outbound.signing.dkim import SigningKey
from maild.outbound.signing.signing_threads import SigningJob
from storage.clock import Clock

KEPT_MAX = 10_000
KEPT_S = 3_600

Signed = tuple[bytes, bytes]  # the fields to put before the message, and the hash of its body
Copy = tuple[str, int]  # a message, or where each recipient has a link of its own, the recipient's


class _KeptSignature(NamedTuple):
    """`job`: makes it, or has made it, with this key, at this time (Unix seconds)."""

    job: SigningJob[Signed]
    key: SigningKey
    at_s: int


class KeptSignatures:
    """By what they sign."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: OrderedDict[Copy, _KeptSignature] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def keep(self, copy: Copy, job: SigningJob[Signed], key: SigningKey, at_s: int) -> None:
        """In place of the one that it may have."""
        self.forget(copy)
        self._kept[copy] = _KeptSignature(job, key, at_s)
        while len(self._kept) > KEPT_MAX:
            self._kept.popitem(last=False)

    def get(self, copy: Copy, key: SigningKey) -> SigningJob[Signed] | None:
        """Its signature by this key, made or being made; none that failed."""
        kept = self._kept.get(copy)
        if kept is None or kept.key != key or _has_failed(kept.job):
            return None
        age_s = self._clock.now_ms() // 1000 - kept.at_s  # below 0: the clock was set back
        return kept.job if 0 <= age_s < KEPT_S else None

    def forget(self, copy: Copy) -> None:
        self._kept.pop(copy, None)


def _has_failed(job: SigningJob[Signed]) -> bool:
    return job.done.done() and (job.done.cancelled() or job.done.exception() is not None)
