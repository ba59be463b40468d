"""Forms of URLs and addresses that a stranger may try (threat W1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conf.settings import Webhooks
from controlplane.egress.client import Egress
from controlplane.egress.targets import EgressRefused, parse
from tests.support.mails.hostile_urls import NAMES, hostile

# What no DNS can say, but a resolver could hand over.
NONSENSE = {"zone.test": ["fe80::1%eth0"], "nonsense.test": ["not an address"], "empty.test": [""]}

# By the names that are looked up for them.
HARMLESS = {
    "https://public.test": ["public.test"],
    "https://public.test/": ["public.test"],
    "https://public.test.:8443/hook?token=1#part": ["public.test"],
    "https://PUBLIC.test/a%20b": ["public.test"],
    "https://bücher.test/": ["xn--bcher-kva.test"],
    "https://does-not-resolve.test/": ["does-not-resolve.test"],
    "https://93.184.215.14/": [],
    "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:8443/x": [],
    "https://public.test/?next=http://user@127.0.0.1/": ["public.test"],
    "https://public.test:/": ["public.test"],  # RFC 3986 §3.2.3: an empty port is the scheme's
    "https://public.test/#@127.0.0.1/": ["public.test"],
    "https://xn--a.test/": ["xn--a.test"],
}


async def resolve(host: str) -> list[str]:
    known = NAMES | NONSENSE
    if host not in known:
        raise LookupError("NXDOMAIN")
    return known[host]


class Noted:
    """The resolver, and the names that it was asked for."""

    def __init__(self) -> None:
        self.names: list[str] = []

    async def resolve(self, host: str) -> list[str]:
        self.names.append(host)
        return await resolve(host)


@pytest.mark.parametrize("url", [*(url for url, _ in hostile()), *(f"https://{name}/" for name in NONSENSE)])
async def test_hostile_urls_are_refused_when_registered(url: str) -> None:
    with pytest.raises(EgressRefused):
        await Egress(Webhooks(), resolve).check_url(url)


@pytest.mark.parametrize("url", HARMLESS)
async def test_harmless_urls_pass(url: str) -> None:
    asked = Noted()
    await Egress(Webhooks(), asked.resolve).check_url(url)
    assert asked.names == HARMLESS[url]


async def test_reasons_do_not_tell_what_a_name_resolves_to() -> None:
    with pytest.raises(EgressRefused) as refused:
        await Egress(Webhooks(), resolve).check_url("https://inside.test/")
    assert "10.1.2.3" not in refused.value.reason


@pytest.mark.parametrize(
    ("url", "names"),
    [
        ("https://127.0.0.1:9/", []),
        ("https://[::1]/", []),
        ("https://localhost/", []),  # RFC 6761 §6.3: loopback without a question
        ("https://inside.test/", ["inside.test"]),
    ],
)
async def test_development_may_call_its_own_network(url: str, names: list[str]) -> None:
    asked = Noted()
    await Egress(Webhooks(allow_private_networks=True), asked.resolve).check_url(url)
    assert asked.names == names
    with pytest.raises(EgressRefused):
        await Egress(Webhooks(), asked.resolve).check_url(url)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "https://127.1/", "https://a@127.0.0.1/", "https://[fe80::1%25lo]/"]
)
async def test_development_too_wants_one_reading_of_a_url(url: str) -> None:
    with pytest.raises(EgressRefused):
        await Egress(Webhooks(allow_private_networks=True), resolve).check_url(url)


def test_a_target_s_host_is_what_is_looked_up() -> None:
    assert parse("https://BÜCHER.test.:8443/a?b").endpoint.host == "xn--bcher-kva.test"
    assert parse("https://8.8.8.8/").address == "8.8.8.8"
    assert parse("https://[2606:2800::1]/").address == "2606:2800::1"


@given(st.text(max_size=60))
def test_any_text_is_refused_or_understood(text: str) -> None:
    for url in (text, f"https://{text}", f"https://{text}/"):
        try:
            target = parse(url)
        except EgressRefused:
            continue
        assert target.endpoint.host and target.path.startswith("/") and "@" not in target.authority
