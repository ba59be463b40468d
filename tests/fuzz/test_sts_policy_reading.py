"""A domain's TLS policy is read, or refused by one kind of error, whatever its octets are."""

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from maild.outbound.tls.sts_policy import (
    MAX_AGE_S,
    PATTERN_CHARS_MAX,
    PATTERNS_MAX,
    BadPolicy,
    Mode,
    read_id,
    read_policy,
)

values = st.one_of(
    st.sampled_from(["STSv1", "enforce", "testing", "none", "1", "604800", "*.a.test", "a.test", ""]),
    st.text(max_size=20),
)
lines = st.builds(
    lambda name, colon, value: name + colon + value,
    st.sampled_from(["version", "mode", "mx", "max_age", "x", "", " "]),
    st.sampled_from([": ", ":", " ", "\t:\t"]),
    values,
)
files = st.one_of(
    st.binary(max_size=300),
    st.tuples(st.lists(lines, max_size=12), st.sampled_from(["\n", "\r\n", "\r"])).map(
        lambda told: told[1].join(["version: STSv1", "mode: enforce", "max_age: 5", *told[0]]).encode()
    ),
)
records = st.lists(
    st.one_of(st.binary(max_size=60), st.binary(max_size=40).map(lambda rest: b"v=STSv1;" + rest))
)


@given(file=files)
def test_it_is_a_policy_or_none(file: bytes) -> None:
    try:
        policy = read_policy(file)
    except BadPolicy as error:
        assert str(error)
        return
    assert policy.mode in get_args(Mode)
    assert 0 <= policy.max_age_s <= MAX_AGE_S
    assert bool(policy.mx) or policy.mode == "none"
    assert len(policy.mx) <= PATTERNS_MAX and sum(map(len, policy.mx)) <= PATTERN_CHARS_MAX
    assert tuple(" ".join(policy.mx).split()) == policy.mx  # as it is stored
    assert isinstance(policy.names("mx.a.test"), bool)


@given(found=records)
def test_an_id_is_short_and_plain(found: list[bytes]) -> None:
    told = read_id(found)
    assert told is None or (told.isascii() and told.isalnum() and len(told) <= 32)
