"""Where a domain wants reports about TLS is read, or passed over, whatever octets it publishes."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from maild.message.fields.address import validate
from maild.message.reports.tls_report_record import DESTINATIONS_MAX, ReportDestination, read_destinations

OTHER = b"v=TLSRPTv1; rua=mailto:a@x.test"
uris = st.one_of(
    st.builds(
        lambda scheme, rest: scheme + rest,
        st.sampled_from(["mailto:", "MAILTO:", "https://", "https:", "http://", "ftp://", ""]),
        st.text(alphabet="abc@.:/?#[]%0aA,;!\"'\\ \t\r\n\u00e9", max_size=30),
    ),
    st.sampled_from(
        ["mailto:a@x.test", "https://x.test/tls", "mailto:a%0d%0aBcc:b@x.test", "mailto:a@x.test?cc=b@x.test"]
    ),
)
fields = st.builds(
    lambda name, values: f"{name}={','.join(values)}",
    st.sampled_from(["rua", " rua ", "RUA", "x", ""]),
    st.lists(uris, max_size=5),
)
records = st.one_of(
    st.binary(max_size=80),
    st.binary(max_size=60).map(lambda rest: b"v=TLSRPTv1;" + rest),
    st.lists(fields, max_size=4).map(lambda told: ";".join(["v=TLSRPTv1", *told]).encode()),
)


@given(found=st.lists(records, max_size=3))
@example(found=[b"v=TLSRPTv1;rua=" + b"mailto:a@x.test," * 200])
@example(found=[b"v=TLSRPTv1;" + b"rua=https://x.test/;" * 10_000])
def test_they_are_few_and_plain(found: list[bytes]) -> None:
    told = read_destinations(found)
    assert len(told) <= DESTINATIONS_MAX and len(set(told)) == len(told)
    for one in told:
        assert is_plain(one)


@given(found=st.lists(records, max_size=2))
def test_of_two_records_none_counts(found: list[bytes]) -> None:
    alone = read_destinations([OTHER])
    assert alone
    is_one_of_theirs = any(re.match(rb"v=TLSRPTv1[ \t]*(;|\Z)", record) for record in found)
    assert read_destinations([*found, OTHER]) == (() if is_one_of_theirs else alone)


def is_plain(one: ReportDestination) -> bool:
    if one.scheme == "https":
        return re.fullmatch(r"https://[!-~]*", one.target) is not None
    return (
        validate(one.target) == one.target and one.target.isascii() and not re.search(r"[\r\n\0]", one.target)
    )
