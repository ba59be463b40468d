"""What TLS offers to hosts that a stranger may have chosen (conf/tls.py)."""

import ssl
from contextlib import suppress
from pathlib import Path

import pytest

from conf.settings import Webhooks
from conf.tls import HANDSHAKE_OCTETS, LongHandshake, client_context, unverified_context
from controlplane.egress.client import Egress
from maild.outbound.routing.route import Hop
from maild.outbound.sessions.tls_policy import TlsPolicies
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.worlds.store import ManualClock


def names(context: ssl.SSLContext) -> set[str]:
    return {cipher["name"] for cipher in context.get_ciphers()}


def test_no_server_can_hold_the_loop_with_handshakes() -> None:
    ours = client_context()
    assert ours.options & ssl.OP_NO_RENEGOTIATION
    assert names(ours) == {
        name for name in names(ssl.create_default_context()) if not name.startswith("DHE-")
    }


def test_it_verifies_and_speaks_nothing_old() -> None:
    ours = client_context()
    assert (ours.verify_mode, ours.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert ours.minimum_version is ssl.TLSVersion.TLSv1_2


def test_who_believes_any_certificate_reads_no_authorities() -> None:
    ours = unverified_context()
    assert (ours.verify_mode, ours.check_hostname) == (ssl.CERT_NONE, False)
    assert ours.cert_store_stats()["x509_ca"] == 0
    assert names(ours) == names(client_context()) and ours.options == client_context().options


async def test_mail_and_webhooks_go_out_over_it() -> None:
    async def resolve(_host: str) -> list[str]:
        return []

    egress = Egress(Webhooks(), resolve)
    await egress.start()
    mail = TlsPolicies(ManualClock()).for_hop(Hop("mx.test", "192.0.2.1", 25)).context
    for context in (egress._tls, mail):
        assert context is not None
        assert names(context) == names(client_context()) and context.options & ssl.OP_NO_RENEGOTIATION
    await egress.stop()


def shake_hands(server: ssl.SSLContext, piece: int) -> int:
    """By a client of ours, which is given so many octets at a time; how many the server said until the client was
    done."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = unverified_context().wrap_bio(to_client, to_server)
    other, said = ssl.MemoryBIO(), ssl.MemoryBIO()
    host, octets, waiting = server.wrap_bio(other, said, server_side=True), 0, b""
    while True:
        try:
            client.do_handshake()
            return octets
        except ssl.SSLWantReadError:
            other.write(to_server.read())
            with suppress(ssl.SSLWantReadError):
                host.do_handshake()
            waiting += said.read()
        octets += to_client.write(waiting[:piece])
        waiting = waiting[piece:]


@pytest.mark.parametrize("piece", [1_000, 1_000_000])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_chain_without_end_is_not_even_read(tmp_path: Path, piece: int, version: ssl.TLSVersion) -> None:
    """Two hundred small certificates held the loop for 100 ms."""
    usual = ThrowawayCa(tmp_path).server_context(["mx.test"], shows_ca=40)
    long = ThrowawayCa(tmp_path).server_context(["mx.test"], shows_ca=80)
    for server in (usual, long):
        server.maximum_version = version
    assert 10_000 < shake_hands(usual, piece) < HANDSHAKE_OCTETS
    with pytest.raises(LongHandshake):
        shake_hands(long, piece)
