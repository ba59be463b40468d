"""What a body asks is read in time that its length alone decides, whatever it holds (controlplane/mcp/eras.py)."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import PROTOCOL_VERSION_META_KEY

from controlplane.mcp import eras
from controlplane.mcp.eras import Rejection
from controlplane.mcp.routing_headers import ROUTING_HEADERS

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.just("\udc80"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8) | st.just("\udc80"), inner, max_size=3)
    ),
)
NAMES = st.sampled_from(
    ["jsonrpc", "id", "method", "params", "_meta", "name", "arguments", "2.0", "tools/call"]
)
VERSIONS = st.sampled_from(["2026-07-28", "2025-11-25", "2099-01-01", "", "\udcff", "=?base64?eA==?="])
METHODS = st.sampled_from(["tools/call", "tools/list", "initialize", "server/discover", "ping", "x"])
REQUESTS = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "method": METHODS},
    optional={
        "id": st.integers() | st.text(max_size=3) | st.none(),
        "params": st.dictionaries(NAMES, JSON, max_size=4)
        | st.fixed_dictionaries(
            {"_meta": st.dictionaries(st.just(PROTOCOL_VERSION_META_KEY), VERSIONS | JSON)}
        ),
    },
)


@given(
    JSON | REQUESTS,
    st.lists(VERSIONS, max_size=2),
    st.lists(METHODS, max_size=2),
    st.lists(VERSIONS, max_size=2),
)
def test_any_body_under_any_headers_is_asked_or_rejected(
    document: Any, versions: list[str], methods: list[str], names: list[str]
) -> None:
    headers = dict(zip(ROUTING_HEADERS, (versions, methods, names), strict=True))
    try:
        message = eras.message_of(document)
        if message.id is None:
            eras.check_notified_version(headers)
        else:
            assert eras.asked(message, headers).id == message.id
    except Rejection as rejection:
        msgspec.json.encode([rejection.message, rejection.data, rejection.id])
        assert rejection.status in (200, 400, 404) and rejection.code in range(-32768, -32000)


def test_of_a_name_that_is_no_use_the_beginning_is_told() -> None:
    """It may be as long as the body, and is written once more for each fault."""
    client = {"protocolVersion": "2025-11-25", "clientInfo": {"name": "x", "version": "1"}}
    params = {**client, "capabilities": {"experimental": {"x" * 70_000: 1}}}
    message = eras.message_of({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    with pytest.raises(
        Rejection, match=r"not those of initialize: capabilities\.experimental\.x+"
    ) as rejected:
        eras.asked(message, {name: [] for name in ROUTING_HEADERS})
    assert len(rejected.value.message) < 300


def nested(depth: int, inner: Any = 1) -> Any:
    for number in range(depth):
        inner = [inner] if number % 2 else {"x": inner}
    return inner


def test_the_newest_handshake_that_both_know_is_agreed_on() -> None:
    assert eras.agreed_version("2025-03-26") == "2025-03-26"
    assert eras.agreed_version("2026-07-28") == eras.agreed_version("x") == "2025-11-25"
