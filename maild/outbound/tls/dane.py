"""DANE for mail hosts (RFC 6698, RFC 7672): does the chain that a host showed match its TLSA records? Pure.

Records and chains are written by whoever owns the host, so nothing that they hold raises, and what can't be read does
not match. Of the usages, DANE-TA(2) and DANE-EE(3) are used; the others are "unusable" for SMTP (RFC 7672 §3.1.3).
"""

import hashlib
import hmac
from collections.abc import Callable, Sequence
from typing import NamedTuple

from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from cryptography.x509.verification import (
    Criticality,
    ExtensionPolicy,
    Policy,
    PolicyBuilder,
    Store,
    VerificationError,
)

from maild.message.fields.address import is_named

DANE_TA, DANE_EE = 2, 3
CERT, SPKI = 0, 1
RECORDS_MAX = 20  # of one host
CHAIN_MAX = 6  # certificates of what a host shows

_SEQUENCE, _VERSION = 0x30, 0xA0
_FIELDS_BEFORE_KEY = 5  # serial number, signature, issuer, validity, subject (RFC 5280 §4.1)


class Tlsa(NamedTuple):
    """A record that can be used (RFC 6698 §2.1)."""

    usage: int
    selector: int
    matching: int
    data: bytes


_DIGESTS: dict[int, tuple[Callable[[bytes], bytes], int]] = {
    0: (lambda octets: octets, 0),  # the octets themselves
    1: (lambda octets: hashlib.sha256(octets).digest(), 32),
    2: (lambda octets: hashlib.sha512(octets).digest(), 64),
}


def read_usable(records: Sequence[bytes]) -> tuple[Tlsa, ...]:
    """Those of a host's records (as octets) that can be used, in an order of their own."""
    found = (_read(record) for record in sorted(records)[:RECORDS_MAX])
    return tuple(record for record in found if record is not None)


def _read(record: bytes) -> Tlsa | None:
    if len(record) < 4:
        return None
    usage, selector, matching, data = record[0], record[1], record[2], record[3:]
    if usage not in (DANE_TA, DANE_EE) or selector not in (CERT, SPKI) or matching not in _DIGESTS:
        return None
    length = _DIGESTS[matching][1]
    return Tlsa(usage, selector, matching, data) if length in (0, len(data)) else None


def is_matched(records: Sequence[Tlsa], chain: Sequence[bytes], names: Sequence[str]) -> bool:
    """Does one of the records vouch for the chain (DER, the host's own certificate first)? `names`: the host's, and the
    domain's whose mail it takes; one of them has to be in the certificate where an authority is vouched for."""
    if not chain:
        return False
    # RFC 7672 §3.1.1: neither names nor dates count, the record alone.
    if any(_fits(record, chain[0]) for record in records if record.usage == DANE_EE):
        return True
    anchor = next(
        (
            certificate
            for certificate in chain[1:CHAIN_MAX]
            if any(_fits(record, certificate) for record in records if record.usage == DANE_TA)
        ),
        None,
    )
    return anchor is not None and _is_issued_by(anchor, chain, names)


def _fits(record: Tlsa, certificate: bytes) -> bool:
    selected = certificate if record.selector == CERT else public_key_of(certificate)
    if selected is None:
        return False
    return hmac.compare_digest(_DIGESTS[record.matching][0](selected), record.data)


def _is_issued_by(anchor: bytes, chain: Sequence[bytes], names: Sequence[str]) -> bool:
    """RFC 7672 §3.1.2: the anchor signed the chain, dates hold, and one of the names is in the certificate."""
    try:
        leaf, *others = (x509.load_der_x509_certificate(one) for one in chain[:CHAIN_MAX])
        store = Store([x509.load_der_x509_certificate(anchor)])
        builder = PolicyBuilder().store(store).extension_policies(ca_policy=_AUTHORITY, ee_policy=_HOST)
        # The verifier for servers would have names in a form that only some authorities use.
        verified = builder.build_client_verifier().verify(leaf, one_of_each_name(others))
        presented = _names(leaf, verified.subjects or ())
        return any(is_named(name, presented) for name in names)
    except _UNREADABLE:
        return False


_UNREADABLE = (
    VerificationError,
    ValueError,
    TypeError,
    x509.InvalidVersion,
    x509.DuplicateExtension,
    x509.UnsupportedGeneralNameType,
)


def _signs(policy: Policy, certificate: x509.Certificate, usage: x509.KeyUsage | None) -> None:
    if usage is not None and not usage.key_cert_sign:
        raise ValueError("the key is not for signing certificates")


def _serves(policy: Policy, certificate: x509.Certificate, usage: x509.ExtendedKeyUsage | None) -> None:
    purposes = {ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}
    if usage is not None and purposes.isdisjoint(usage):
        raise ValueError("the certificate is not for servers")


# What RFC 5280 §6.1 asks of a path, and no more: what browsers ask of public authorities besides, the authorities that
# people make for themselves seldom fulfil.
_ANY = Criticality.AGNOSTIC
_AUTHORITY = (
    ExtensionPolicy.permit_all()
    .require_present(x509.BasicConstraints, _ANY, None)
    .may_be_present(x509.KeyUsage, _ANY, _signs)
)
_HOST = ExtensionPolicy.permit_all().may_be_present(x509.ExtendedKeyUsage, _ANY, _serves)


def _names(leaf: x509.Certificate, subjects: Sequence[x509.GeneralName]) -> frozenset[str]:
    """In lower case. RFC 7672 §3.2.3: the common name counts where there is no DNS-ID."""
    presented = [one.value for one in subjects if isinstance(one, x509.DNSName)]
    names = presented or [str(one.value) for one in leaf.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    return frozenset(map(str.lower, names))


def one_of_each_name(authorities: Sequence[x509.Certificate]) -> list[x509.Certificate]:
    """The first with each subject. Who shows several that could have signed the same would have all ways through
    them tried, a signature to check at each step."""
    return list({one.subject.public_bytes(): one for one in reversed(authorities)}.values())


def public_key_of(certificate: bytes) -> bytes | None:
    """The SubjectPublicKeyInfo of a certificate, octet by octet as it stands there; None where there is none."""
    try:
        tag, place, _ = _element(certificate, 0)
        inner, place, end = _element(certificate, place)
        if tag != _SEQUENCE or inner != _SEQUENCE:
            return None
        if certificate[place] == _VERSION:
            place = _element(certificate, place)[2]
        for _ in range(_FIELDS_BEFORE_KEY):
            place = _element(certificate, place)[2]
        tag, _, behind = _element(certificate, place)
    except IndexError:
        return None
    return certificate[place:behind] if tag == _SEQUENCE and behind <= end else None


def _element(octets: bytes, place: int) -> tuple[int, int, int]:
    """Of the DER element at a place: its tag, where its content begins, and what is behind it. IndexError."""
    tag, length, content = octets[place], octets[place + 1], place + 2
    if length & 0x80:
        count = length & 0x7F
        if not 1 <= count <= 4:
            raise IndexError
        length, content = int.from_bytes(octets[content : content + count], "big"), content + count
    if content + length > len(octets):
        raise IndexError
    return tag, content, content + length
