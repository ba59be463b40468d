"""ValiMail's test suite of ARC (tests/vectors/arc): every chain that others wrote down, and what it is worth."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.worlds.zone import Zone
from tests.unit.maild.authentication.test_arc_check import checked

SUITE = Path(__file__).parents[3] / "vectors/arc/arc-validation-tests.json"
SHA1 = "rsa-sha1 proves nothing any more (RFC 8301 §3.1), and the suite is older"
CV_FAIL = "open in the suite; whoever sealed with cv=fail ended the chain (RFC 8617 §5.2, step 2)"
EMPTY_NAME = "h= has names, and none of them is empty (RFC 6376 §3.5)"
# Where we find something else than the suite.
OURS = {
    "cv_fail_i1_as_cv_fail": ("fail", CV_FAIL),
    "cv_fail_i2_as2_fail": ("fail", CV_FAIL),
    "cv_fail_i2_as1_fail": ("fail", CV_FAIL),
    "ams_fields_a_sha1": ("fail", SHA1),
    "as_fields_a_sha1": ("fail", SHA1),
    "ams_fields_h_empty": ("fail", EMPTY_NAME),
    "ams_fields_h_mis_hdr": ("fail", EMPTY_NAME),
    "as_format_tags_sc": ("pass", "`;;` in a list of tags is common, and harmless (maild/message/tags.py)"),
}


class Chain(NamedTuple):
    name: str
    raw: bytes
    worth: str
    records: dict[str, str]


def chains() -> list[Chain]:
    scenarios: list[dict[str, Any]] = json.loads(SUITE.read_text("utf-8"))
    return [
        Chain(name, case["message"].encode().replace(b"\n", b"\r\n"), case["cv"].lower(), one["txt-records"])
        for one in scenarios
        for name, case in one["tests"].items()
    ]


CHAINS = chains()


def test_the_suite_is_whole() -> None:
    assert len(CHAINS) == 170
    assert {name for name, *_ in CHAINS} >= set(OURS)


@pytest.mark.parametrize("chain", CHAINS, ids=[one.name for one in CHAINS])
async def test_a_chain_of_the_suite(chain: Chain) -> None:
    zone = Zone({name.lower(): text for name, text in chain.records.items()})
    found = await checked(zone, chain.raw)
    ours, _ = OURS.get(chain.name, (chain.worth, ""))
    assert found.result == ours, found.reason
    assert ours != chain.worth or chain.name not in OURS
