"""TLSA records and certificates, whatever their octets are, match or don't."""

from hypothesis import given
from hypothesis import strategies as st

from maild.outbound.tls.dane import is_matched, public_key_of, read_usable

records = st.lists(
    st.one_of(
        st.binary(max_size=70),
        st.tuples(st.sampled_from([2, 3]), st.integers(0, 1), st.integers(0, 2), st.binary(max_size=64)).map(
            lambda told: bytes(told[:3]) + told[3]
        ),
    ),
    max_size=5,
)
elements = st.recursive(
    st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=8).map(
        lambda parts: b"\x30" + bytes([len(b"".join(parts)) % 128]) + b"".join(parts)
    ),
)
certificates = st.lists(st.one_of(st.binary(max_size=80), elements), max_size=4)


@given(told=records, chain=certificates)
def test_it_says_yes_or_no(told: list[bytes], chain: list[bytes]) -> None:
    usable = read_usable(told)
    matched = is_matched(usable, chain, ["mx.there.test"])
    exact = any(
        one.usage == 3 and (one.selector, one.matching) == (0, 0) and one.data in chain[:1] for one in usable
    )
    assert matched or not exact


@given(octets=st.one_of(st.binary(max_size=200), elements))
def test_a_key_stands_in_its_certificate(octets: bytes) -> None:
    key = public_key_of(octets)
    assert key is None or key in octets
