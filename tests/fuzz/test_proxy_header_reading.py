"""A balancer's header is read, or refused by one kind of error, whatever its octets are."""

import ipaddress

from hypothesis import given
from hypothesis import strategies as st

from maild.inbound.wire.proxy_header import (
    FIXED_OCTETS,
    MORE_OCTETS_MAX,
    SIGNATURE,
    ProxyHeaderError,
    read_head,
    read_source,
)

heads = st.one_of(
    st.binary(min_size=FIXED_OCTETS, max_size=FIXED_OCTETS),
    st.binary(min_size=4, max_size=4).map(lambda rest: SIGNATURE + rest),
    st.tuples(st.sampled_from([0x20, 0x21]), st.sampled_from([0, 0x11, 0x21, 0x31]), st.integers(0, 300)).map(
        lambda told: SIGNATURE + bytes(told[:2]) + told[2].to_bytes(2, "big")
    ),
)


@given(head=heads, more=st.binary(max_size=400))
def test_it_gives_an_address_or_refuses(head: bytes, more: bytes) -> None:
    try:
        read = read_head(head)
        assert read.more_octets <= MORE_OCTETS_MAX
        source = read_source(read, more[: read.more_octets])
    except ProxyHeaderError as error:
        assert str(error)
        return
    assert source is None or str(ipaddress.ip_address(source)) == source
