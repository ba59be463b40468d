"""The operator's word for some destinations: more TLS than they ask for, or less than they do."""

from pathlib import Path
from typing import Any

import pytest

from conf.loading import SettingsError, parse
from tests.support.worlds.sts_world import DOMAIN, MX_HOST, StsWorld


def rule(policy: str, domain: str = DOMAIN) -> dict[str, Any]:
    return {"tls": {"partner": {"domains": [domain], "policy": policy}}}


def spoil(world: StsWorld, misfortune: str) -> None:
    if misfortune == "stripped":
        world.mx.starttls = ""
    elif misfortune == "another name":
        world.mx.tls_context = world.ca.server_context(["elsewhere.test"])


@pytest.mark.parametrize(
    ("policy", "misfortune", "status", "tls"),
    [
        ("verify", "", "delivered", "(verify)"),
        ("verify", "another name", "deferred", None),
        ("verify", "stripped", "deferred", None),
        ("encrypt", "", "delivered", "(encrypt)"),
        ("encrypt", "another name", "delivered", "(encrypt)"),
        ("encrypt", "stripped", "deferred", None),
        ("opportunistic", "another name", "delivered", "SHA384"),
        ("opportunistic", "stripped", "delivered", None),
        ("none", "", "delivered", None),
    ],
)
async def test_what_is_demanded_of_a_destination(
    tmp_path: Path, policy: str, misfortune: str, status: str, tls: str | None
) -> None:
    async with StsWorld(tmp_path, **rule(policy)) as world:
        spoil(world, misfortune)
        row = await world.sent(status)
        assert row.tls is None if tls is None else (row.tls or "").endswith(tls)
        if status == "deferred":
            assert row.enhanced_code == "4.7.0"
            assert row.response is not None and row.response.startswith(f"TLS policy {policy}: ")
            assert not any(line.startswith("MAIL") for line in world.mx.commands)


@pytest.mark.parametrize("policy", ["encrypt", "verify"])
async def test_a_demand_never_weakens_the_receiver_s(tmp_path: Path, policy: str) -> None:
    async with StsWorld(tmp_path, **rule(policy)) as world:
        world.publish("enforce", "mx.elsewhere.test")
        assert (await world.sent("deferred")).response == (
            f"TLS policy mta-sts of {DOMAIN} does not name its mail host {MX_HOST}"
        )


@pytest.mark.parametrize("policy", ["opportunistic", "none"])
async def test_the_operator_may_disregard_a_policy_and_then_asks_for_none(
    tmp_path: Path, policy: str
) -> None:
    async with StsWorld(tmp_path, **rule(policy)) as world:
        world.publish("enforce", "mx.elsewhere.test")
        await world.sent("delivered")
        assert (f"_mta-sts.{DOMAIN}", "TXT") not in world.sending.dns.queries


async def test_another_destination_is_none_of_its_business(tmp_path: Path) -> None:
    async with StsWorld(tmp_path, **rule("verify", "elsewhere.test")) as world:
        spoil(world, "stripped")
        await world.sent("delivered")


async def test_a_host_of_two_destinations_has_sessions_of_each_kind(tmp_path: Path) -> None:
    """A session that was opened for less is never used for more."""
    async with StsWorld(tmp_path, **rule("verify")) as world:
        world.sending.dns.add("other.test", "MX", f"10 {MX_HOST}.")
        assert "(" not in ((await world.sent("delivered", to="you@other.test")).tls or "(")
        spoil(world, "another name")
        await world.sent("deferred")
        await world.sent("delivered", to="you@other.test")


@pytest.mark.parametrize(
    ("tls", "fault"),
    [
        ({"a": {"domains": [], "policy": "verify"}}, "outbound.tls.a.domains"),
        ({"a": {"domains": ["x.test"]}}, "outbound.tls.a.policy"),
        ({"a": {"domains": ["x.test"], "policy": "dane"}}, "outbound.tls.a.policy"),
        (
            {
                "a": {"domains": ["x.test"], "policy": "verify"},
                "b": {"domains": ["X.test."], "policy": "none"},
            },
            "outbound.tls.b.domains: x.test is named by outbound.tls.a too",
        ),
    ],
)
def test_faults_of_the_configuration_are_told(tls: dict[str, Any], fault: str) -> None:
    with pytest.raises(SettingsError, match=fault):
        parse({"outbound": {"tls": tls}})
