"""Forms of URLs and addresses that a stranger may try (reliability.md W1)."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conf.settings import Webhooks
from controlplane.webhooks.egress import Egress
from controlplane.webhooks.targets import EgressRefused, is_public, parse

# What a resolver could say of the names below.
NAMES = {
    "inside.test": ["10.1.2.3"],
    "mixed.test": ["93.184.215.14", "127.0.0.1"],
    "v6.test": ["fd00::1"],
    "metadata.test": ["169.254.169.254"],
    "mapped.test": ["::ffff:10.0.0.1"],
    "zone.test": ["fe80::1%eth0"],
    "nonsense.test": ["not an address"],
    "public.test": ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
    "xn--bcher-kva.test": ["93.184.215.14"],
}

HOSTILE = [
    # schemes and shapes
    "",
    "http://public.test/",
    "HTTPS://public.test/",
    " https://public.test/",
    "//public.test/",
    "ftp://public.test/",
    "file:///etc/passwd",
    "https:public.test",
    "https:///path",
    "https://",
    "https://?x",
    "https://:443/",
    "https://.",
    "https://../",
    "https://public..test/",
    "https://-public.test/",
    "https://pub lic.test/",
    "https://public.test/a b",
    "https://public.test/\r\nX-Evil: 1",
    "https://pub\tlic.test/",
    "https://public.test/\x00",
    "https://public.test\\@127.0.0.1/",
    "https://public.test:0/",
    "https://public.test:65536/",
    "https://public.test:x/",
    "https://public.test:1:2/",
    "https://" + "a" * 64 + ".test/",
    "https://" + "a." * 130 + "test/",
    "https://public.test/" + "a" * 2048,
    # user information
    "https://user@public.test/",
    "https://user:password@public.test/",
    "https://@public.test/",
    "https://public.test@127.0.0.1/",
    "https://public.test%40127.0.0.1/",
    # private, loopback, link-local, reserved literals
    "https://127.0.0.1/",
    "https://127.0.0.1:8025/v1/keys",
    "https://127.255.255.254/",
    "https://0.0.0.0/",
    "https://10.0.0.1/",
    "https://172.16.0.1/",
    "https://172.31.255.255/",
    "https://192.168.1.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://168.63.129.16/",
    "https://100.64.0.1/",
    "https://100.100.100.200/",
    "https://192.0.0.192/",
    "https://192.0.2.1/",
    "https://198.18.0.1/",
    "https://198.51.100.7/",
    "https://203.0.113.9/",
    "https://224.0.0.1/",
    "https://240.0.0.1/",
    "https://255.255.255.255/",
    # other ways to write an IPv4 address
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0x7f.0.0.1/",
    "https://0177.0.0.1/",
    "https://017700000001/",
    "https://127.1/",
    "https://127.0.1/",
    "https://127.0.0.1./",
    "https://127.0.0.1.:443/",
    "https://1.1.1.1.1/",
    "https://public.test.1/",
    "https://256.256.256.256/",
    "https://0/",
    "https://0x/",
    "https://08.8.8.8/",
    "https://١٢٧.0.0.1/",
    "https://１２７.0.0.1/",
    "https://①②⑦.0.0.1/",
    "https://127。0。0。1/",
    "https://%31%32%37.0.0.1/",
    "https://127.0.0.1%00.public.test/",
    # IPv6
    "https://[::1]/",
    "https://[::]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[::127.0.0.1]/",
    "https://[0:0:0:0:0:ffff:a00:1]/",
    "https://[fe80::1]/",
    "https://[fe80::1%25eth0]/",
    "https://[2606:2800::1%25eth0]/",
    "https://[fc00::1]/",
    "https://[fd00:ec2::254]/",
    "https://[ff02::1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[64:ff9b:1::a00:1]/",
    "https://[2002:7f00:1::]/",
    "https://[2001::1]/",
    "https://[2001:db8::1]/",
    "https://[3fff::1]/",
    "https://[100::1]/",
    "https://[v1.fe80]/",
    "https://[127.0.0.1]/",
    "https://[::1/",
    # names
    "https://localhost/",
    "https://localhost./",
    "https://LOCALHOST/",
    "https://any.localhost/",
    "https://ⓛocalhost/",
    "https://inside.test/",
    "https://inside.test./",
    "https://INSIDE.test/",
    "https://mixed.test/",
    "https://v6.test/",
    "https://metadata.test/",
    "https://mapped.test/",
    "https://zone.test/",
    "https://nonsense.test/",
]

HARMLESS = [
    "https://public.test",
    "https://public.test/",
    "https://public.test.:8443/hook?token=1#part",
    "https://PUBLIC.test/a%20b",
    "https://bücher.test/",
    "https://does-not-resolve.test/",
    "https://93.184.215.14/",
    "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:8443/x",
    "https://public.test/?next=http://user@127.0.0.1/",
]


async def resolve(host: str) -> list[str]:
    if host not in NAMES:
        raise LookupError("NXDOMAIN")
    return NAMES[host]


@pytest.mark.parametrize("url", HOSTILE)
async def test_hostile_urls_are_refused_when_registered(url: str) -> None:
    with pytest.raises(EgressRefused):
        await Egress(Webhooks(), resolve).check_url(url)


@pytest.mark.parametrize("url", HARMLESS)
async def test_harmless_urls_pass(url: str) -> None:
    await Egress(Webhooks(), resolve).check_url(url)


async def test_reasons_do_not_tell_what_a_name_resolves_to() -> None:
    with pytest.raises(EgressRefused) as refused:
        await Egress(Webhooks(), resolve).check_url("https://inside.test/")
    assert "10.1.2.3" not in refused.value.reason


@pytest.mark.parametrize(
    "url", ["https://127.0.0.1:9/", "https://[::1]/", "https://localhost/", "https://inside.test/"]
)
async def test_development_may_call_its_own_network(url: str) -> None:
    await Egress(Webhooks(allow_private_networks=True), resolve).check_url(url)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "https://127.1/", "https://a@127.0.0.1/", "https://[fe80::1%25lo]/"]
)
async def test_development_too_wants_one_reading_of_a_url(url: str) -> None:
    with pytest.raises(EgressRefused):
        await Egress(Webhooks(allow_private_networks=True), resolve).check_url(url)


def test_a_target_s_host_is_what_is_looked_up() -> None:
    assert parse("https://BÜCHER.test.:8443/a?b").host == "xn--bcher-kva.test"
    assert parse("https://8.8.8.8/").address == "8.8.8.8"
    assert parse("https://[2606:2800::1]/").address == "2606:2800::1"


@given(st.ip_addresses())
def test_nothing_public_is_special(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    if is_public(str(address)):
        assert address.is_global and not address.is_multicast
        assert getattr(address, "ipv4_mapped", None) is None
        assert getattr(address, "sixtofour", None) is None
        assert getattr(address, "teredo", None) is None


@given(st.text(max_size=60))
def test_any_text_is_refused_or_understood(text: str) -> None:
    for url in (text, f"https://{text}", f"https://{text}/"):
        try:
            target = parse(url)
        except EgressRefused:
            continue
        assert target.host and target.url.scheme == "https" and target.url.user is None
