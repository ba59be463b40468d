"""The chain of custody that forwarders leave (RFC 8617): is it whole, who sealed it, and what did the first one see?

    read_chain   the fields, their order and what they say of each other (§5.2, steps 1 to 3)
    find keys    (domain_keys.py, by the caller)
    verify       the newest message signature, then every seal (steps 4 to 6)

A chain is one thing: whatever is wrong with it, it is `fail`. A failing chain says nothing; nobody is refused for it.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from maild.authentication.signatures import (
    PublicKeys,
    Signature,
    SignedMessage,
    Unacceptable,
    read_message_signature,
    read_seal,
    tags_of,
    verify,
)
from maild.message.canonical import Field

MAX_SETS = 50  # RFC 8617 §4.2.1
MAX_SEALERS = 12  # whose keys are asked for; honest chains have two or three

_RESULTS, _MESSAGE_SIGNATURE, _SEAL = b"arc-authentication-results", b"arc-message-signature", b"arc-seal"
_CFWS = r"(?:[ \t\r\n]++|\((?:[^()\\]++|\\.)*\))*"  # RFC 5322 §3.2.2; comments in comments nobody writes here
_INSTANCE = re.compile(rf"{_CFWS}i{_CFWS}={_CFWS}(\d{{1,2}}){_CFWS};", re.DOTALL)  # RFC 8617 §4.1.1, §4.2.1


class ArcResult(NamedTuple):
    """`result`: none, pass or fail. `sealers`: domains, the newest first; `first_results`: what the first of them saw,
    an Authentication-Results value without its instance. Both are empty unless the chain passed."""

    result: str
    reason: str = ""
    sealers: tuple[str, ...] = ()
    first_results: str = ""


class ArcChain(NamedTuple):
    """A chain that is whole. `sets`: positions of results, message signature and seal of each instance, from 1 on."""

    sets: list[tuple[int, int, int]]
    message_signature: Signature
    seals: list[Signature]
    first_results: str

    def signatures(self) -> list[Signature]:
        """Those to be verified, in the order of their keys."""
        return [self.message_signature, *reversed(self.seals)]


def read_chain(message: SignedMessage) -> ArcChain | ArcResult:
    """The chain, or why there is none to verify."""
    if not any(message.positions(name) for name in (_RESULTS, _MESSAGE_SIGNATURE, _SEAL)):
        return ArcResult("none")
    try:
        return _read_chain(message)
    except Unacceptable as found:
        return ArcResult("fail", found.reason)


def _read_chain(message: SignedMessage) -> ArcChain:
    results = _by_instance(message, _RESULTS)
    signatures = _by_instance(message, _MESSAGE_SIGNATURE)
    seals = _by_instance(message, _SEAL)
    count = len(seals)
    whole = set(range(1, count + 1))
    if not count or not whole == set(results) == set(signatures) == set(seals):
        raise Unacceptable("fail", "the chain has gaps")
    sets = [(results[i], signatures[i], seals[i]) for i in range(1, count + 1)]
    seal_tags = [tags_of(message.fields[position]) for _, _, position in sets]
    if seal_tags[-1].get("cv", "").lower() == "fail":
        raise Unacceptable("fail", "the last sealer found it broken")
    for number, tags in enumerate(seal_tags):
        if tags.get("cv", "").lower() != ("none" if number == 0 else "pass") or "h" in tags:
            raise Unacceptable("fail", "a seal is malformed")
    newest = sets[-1][1]
    tags = tags_of(message.fields[newest])
    signature = read_message_signature(message.fields, newest, tags)
    # §4.1.2, RFC 6376 §5.4
    if {_SEAL, b""} & set(signature.names) or b"from" not in signature.names or "l" in tags:
        raise Unacceptable("fail", "the message signature is malformed")
    if message.body_hash(signature.body_form) != signature.body_hash:
        raise Unacceptable("fail", "the body is not as it was sealed")
    sealed = [read_seal(message.fields, one[2], tags) for one, tags in zip(sets, seal_tags, strict=True)]
    if len({(seal.domain, seal.selector) for seal in sealed}) > MAX_SEALERS:
        raise Unacceptable("fail", "too many sealers")
    first = message.fields[sets[0][0]][1].decode("utf-8", "replace")
    return ArcChain(sets, signature, sealed, _INSTANCE.sub("", first, count=1))


def verify_chain(
    message: SignedMessage, chain: ArcChain, keys: Sequence[PublicKeys | Unacceptable | None]
) -> ArcResult:
    """What the chain is worth. `keys`: of `chain.signatures()` each one's key, or why there is none."""
    newest_key, *seal_keys = keys
    try:
        verify(message.covered(chain.message_signature), chain.message_signature, _present(newest_key))
        for number, key in zip(range(len(chain.seals), 0, -1), seal_keys, strict=True):
            seal = chain.seals[number - 1]
            verify(message.covered_by_seal(chain.sets[:number], seal), seal, _present(key))
    except Unacceptable as found:
        return ArcResult("fail", found.reason)
    sealers = tuple(seal.domain for seal in reversed(chain.seals))
    return ArcResult("pass", "", sealers, chain.first_results)


def _present(key: PublicKeys | Unacceptable | None) -> PublicKeys:
    if key is None:
        raise Unacceptable("fail", "no key")
    if isinstance(key, Unacceptable):
        raise key.anew()
    return key


def _by_instance(message: SignedMessage, name: bytes) -> dict[int, int]:
    """Instance → position; Unacceptable where one has no number or two have the same."""
    found: dict[int, int] = {}
    positions = message.positions(name)
    if len(positions) > MAX_SETS:
        raise Unacceptable("fail", "the chain is too long")
    for position in positions:
        field = message.fields[position]
        text = _results_instance(field) if name == _RESULTS else tags_of(field).get("i", "")
        if not (text.isascii() and text.isdigit() and len(text) <= 2) or int(text) in found:
            raise Unacceptable("fail", "an instance has no number of its own")
        found[int(text)] = position
    return found


def _results_instance(field: Field) -> str:
    """The number in front of another host's results, which are no tag list; "" where there is none."""
    found = _INSTANCE.match(field[1].decode("latin-1"))
    return found[1] if found else ""
