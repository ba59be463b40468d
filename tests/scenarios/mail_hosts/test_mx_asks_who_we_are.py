"""A mail host asks its clients for a certificate: it is shown the configured one."""

import ssl
from pathlib import Path

import pytest

from maild.daemon import StartError
from maild.inbound.wire import tls
from maild.outbound.routing.route import Hop
from maild.outbound.sessions.tls_policy import TlsPolicies
from tests.conftest import Start
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.running import Running, until
from tests.support.worlds.store import ManualClock

HOP = Hop("mx.there.test", "192.0.2.1", 25)


def pair(folder: Path, name: str) -> tuple[Path, Path]:
    (folder / name).mkdir()
    cert, key = tls.self_signed(folder / name, f"{name}.test")
    return Path(cert), Path(key)


def der(cert: Path) -> bytes:
    return ssl.PEM_cert_to_DER_cert(cert.read_text())


def asking(folder: Path, trusted: list[Path]) -> ssl.SSLContext:
    context = ThrowawayCa(folder).server_context(["mx.there.test"])
    context.verify_mode = ssl.CERT_OPTIONAL
    for cert in trusted:
        context.load_verify_locations(cert)
    return context


async def deliver(maild: Running, inbox_id: str) -> None:
    made = (await maild.api.send(inbox_id, to=["you@there.test"])).data

    async def is_delivered() -> bool | None:
        return (await maild.api.get(f"/v1/messages/{made['id']}")).data["status"] == "delivered" or None

    await until(is_delivered)


@pytest.mark.parametrize("has_pair", [True, False])
async def test_it_is_shown_the_certificate_where_there_is_one(
    start: Start, tmp_path: Path, has_pair: bool
) -> None:
    cert, key = pair(tmp_path, "ours")
    async with DnsServer() as dns, Mx(starttls="good", tls_context=asking(tmp_path, [cert])) as mx:
        dns.add_mx("there.test")
        shown = {"tls_cert": str(cert), "tls_key": str(key)} if has_pair else {}
        maild = await start(
            dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
            outbound={"port": mx.port, "allow_private_networks": True, **shown},
        )
        inbox = await maild.inbox("bot")
        await deliver(maild, inbox["id"])
        assert mx.clients_shown == [der(cert) if has_pair else None]


def test_a_renewed_pair_is_taken_once_it_fits(tmp_path: Path) -> None:
    old, new = pair(tmp_path, "old"), pair(tmp_path, "new")
    cert, key = (tmp_path / "live.pem", tmp_path / "live.key")
    cert.write_bytes(old[0].read_bytes())
    key.write_bytes(old[1].read_bytes())
    policies = TlsPolicies(ManualClock(), pair=(str(cert), str(key)))
    before = policies.for_hop(HOP).context
    cert.write_bytes(new[0].read_bytes())
    with pytest.raises(ssl.SSLError):
        policies.read()
    assert policies.for_hop(HOP).context is before
    key.write_bytes(new[1].read_bytes())
    policies.use(policies.read())
    assert policies.for_hop(HOP).context not in (None, before)


async def test_a_pair_that_does_not_fit_is_told_at_the_start(start: Start, tmp_path: Path) -> None:
    cert, key = pair(tmp_path, "one")[0], pair(tmp_path, "another")[1]
    with pytest.raises(StartError, match=r"outbound\.tls_cert, .* is not the key of the certificate"):
        await start(outbound={"tls_cert": str(cert), "tls_key": str(key)})
