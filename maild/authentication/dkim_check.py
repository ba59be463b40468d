"""The DKIM signatures of a message (RFC 6376 §6): which are looked at, and what each is worth.

    claims       what the fields say; the body's hash is compared before anybody's DNS is asked
    find keys    (domain_keys.py, by the caller)
    results      what the keys say

The first and the last only compute. A stranger chooses how many signatures there are: MAX_SIGNATURES of them are
verified, those of the author's own domain first.
"""

from collections.abc import Sequence
from typing import NamedTuple

from maild.authentication.signatures import (
    PublicKeys,
    Signature,
    SignedMessage,
    Unacceptable,
    read_signature,
    tags_of,
    verify,
)
from maild.message.canonical import Field

MAX_FIELDS = 50  # that are looked at
MAX_SIGNATURES = 8  # that are verified
# RFC 5322 §3.6, RFC 2045 §3: at most one of each. Readers show one of several, and not all the same one.
_ONCE = (
    b"from sender reply-to to cc subject date message-id in-reply-to references"
    b" mime-version content-type content-transfer-encoding"
).split()
_ONE_CLICK = (b"list-unsubscribe", b"list-unsubscribe-post")
_MARK_CHARS = 8  # RFC 6008 §4: enough of b= to tell signatures apart


class DkimResult(NamedTuple):
    """`result`: pass, fail, policy, neutral, temperror, permerror (RFC 8601 §2.7.1); `reason`: in words, of others
    than pass. The names are "" where the field could not be read. `covers_one_click`: it signs how one unsubscribes."""

    result: str
    domain: str = ""
    selector: str = ""
    identity: str = ""
    key_type: str = ""
    mark: str = ""
    reason: str = ""
    covers_one_click: bool = False


class Claim(NamedTuple):
    """What one field says. `signature`: None where there is nothing to verify; `described`: its names, and the result
    so far."""

    signature: Signature | None
    described: DkimResult


def claims(message: SignedMessage, author_domain: str, now_s: float) -> list[Claim]:
    """What the signatures say, those of the author's domain first; at most MAX_SIGNATURES."""
    positions = message.positions(b"dkim-signature")[:MAX_FIELDS]
    found = [(position, _tags(message.fields[position])) for position in positions]
    found.sort(key=lambda one: _distance(one[1].get("d", "").lower(), author_domain))
    return [_claim(message, position, tags, now_s) for position, tags in found[:MAX_SIGNATURES]]


def _tags(field: Field) -> dict[str, str]:
    try:
        return tags_of(field)
    except Unacceptable:
        return {}


def _distance(domain: str, author_domain: str) -> int:
    """0 where the signature may be the author's, 1 elsewhere."""
    is_near = domain and (domain.endswith(author_domain) or author_domain.endswith(domain))
    return 0 if is_near else 1


def _claim(message: SignedMessage, position: int, tags: dict[str, str], now_s: float) -> Claim:
    described = _described(tags)
    try:
        if not tags:
            raise Unacceptable("permerror", "malformed tags")
        signature = read_signature(message.fields, position, tags, now_s)
        if message.body_hash(signature.body_form) != signature.body_hash:
            raise Unacceptable("fail", "the body is not as it was signed")
        _check_additions(message, signature)
    except Unacceptable as found:
        return Claim(None, described._replace(result=found.result, reason=found.reason))
    names = {"domain": signature.domain, "selector": signature.selector, "identity": signature.identity}
    is_covered = all(0 < len(message.positions(name)) <= signature.names.count(name) for name in _ONE_CLICK)
    return Claim(signature, described._replace(**names, covers_one_click=is_covered))


def _check_additions(message: SignedMessage, signature: Signature) -> None:
    """RFC 6376 §8.15: who adds a second Subject on top leaves a signature whole that covers the lower one alone."""
    for name in _ONCE:
        if 0 < signature.names.count(name) < len(message.positions(name)) and message.has_several(name):
            raise Unacceptable("fail", f"there is another {name.decode()} than the signed one")


def _described(tags: dict[str, str]) -> DkimResult:
    """A signature's names, as far as they can be read, under the result `pass`."""
    key_type = "ed25519" if tags.get("a", "").startswith("ed25519") else "rsa" if tags else ""
    mark = "".join(tags.get("b", "")[: 2 * _MARK_CHARS].split())[:_MARK_CHARS]
    return DkimResult("pass", tags.get("d", "").lower(), tags.get("s", "").lower(), "", key_type, mark)


def results(
    message: SignedMessage, made: Sequence[Claim], keys: Sequence[PublicKeys | Unacceptable | None]
) -> list[DkimResult]:
    """What each claim is worth. `keys`: of each signature its keys, or why there is none."""
    return [_result(message, claim, key) for claim, key in zip(made, keys, strict=True)]


def _result(message: SignedMessage, claim: Claim, key: PublicKeys | Unacceptable | None) -> DkimResult:
    if claim.signature is None:
        return claim.described
    try:
        if key is None:
            raise Unacceptable("permerror", "no key for the signature")
        if isinstance(key, Unacceptable):
            raise key.anew()
        verify(message.covered(claim.signature), claim.signature, key)
    except Unacceptable as found:
        return claim.described._replace(result=found.result, reason=found.reason)
    return claim.described
