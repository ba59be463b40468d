"""What TLS offers to hosts that a stranger may have chosen (conf/tls.py)."""

import ssl

from conf.settings import Webhooks
from conf.tls import client_context, unverified_context
from controlplane.egress.client import Egress
from maild.outbound.routing.route import Hop
from maild.outbound.sessions.tls_policy import TlsPolicies
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
