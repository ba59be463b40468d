"""Fresh DKIM keys of a name: of which algorithms it needs one, under which selector, and what each may do at first.

One is made at a time, on a thread, before the transaction that keeps it. Its private half is sealed from then on.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence

from storage.clock import Clock
from storage.domains import dkim_keys
from storage.domains.dkim_keys import Algorithm, DkimKey
from storage.sealing import Sealer

# A fresh key: the private half as PKCS#8 DER, the public half as a record's p= wants it.
MakeDkimKey = Callable[[], tuple[bytes, str]]


class DkimKeyMaker:
    """`makers`: of each algorithm that mail is signed by; `rsa` is one of them."""

    def __init__(self, sealer: Sealer, clock: Clock, makers: Mapping[Algorithm, MakeDkimKey]) -> None:
        self._sealer = sealer
        self._clock = clock
        self._makers = makers
        self.algorithms = frozenset(makers)
        self._slot = asyncio.Semaphore(1)  # making one takes 0.1 s of one core

    async def keys_for(
        self, name: str, keys: Sequence[DkimKey], *, rotate: bool = False
    ) -> Sequence[DkimKey]:
        """Fresh keys under the next selectors, of the algorithms that have none, or none that signs alone."""
        return [
            await self._key_for(name, algorithm, of_algorithm)
            for algorithm in self._makers
            if _is_wanted(of_algorithm := [key for key in keys if key.algorithm == algorithm], rotate)
        ]

    async def _key_for(self, name: str, algorithm: Algorithm, keys: Sequence[DkimKey]) -> DkimKey:
        async with self._slot:
            private, public = await asyncio.to_thread(self._makers[algorithm])
        # The first RSA key signs at once: nothing may be sent before a check has seen its record.
        status = "active" if algorithm == "rsa" and not keys else "published"
        row = DkimKey(name, "", status, private, public, self._clock.now_ms(), algorithm)
        return sealed_behind(keys, row, self._sealer)


def sealed_behind(keys: Iterable[DkimKey], fresh: DkimKey, sealer: Sealer) -> DkimKey:
    """A fresh key, whose private half is not sealed yet, as the store keeps it: under the selector behind those of
    `keys`, which are the name's others of the algorithm."""
    selector = dkim_keys.next_selector(fresh.algorithm, keys)
    sealed = sealer.seal(fresh.private_key, dkim_keys.context(fresh.domain_name, selector))
    return fresh._replace(selector=selector, private_key=sealed)


def _is_wanted(keys: Sequence[DkimKey], rotate: bool) -> bool:
    """A fresh key of the algorithm that these are of?"""
    is_waiting = any(key.status == "published" for key in keys)
    return not keys or (rotate and not is_waiting)
