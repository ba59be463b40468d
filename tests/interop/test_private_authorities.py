"""Certificates of a closed network, made by `openssl` as its manuals say: who may prove a name by them."""

import ssl
from pathlib import Path

import pytest

from conf.tls import client_context
from tests.support.machine import tools

pytestmark = [pytest.mark.interop, tools.needs("openssl")]

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
HOST = "smarthost.there.test"


async def openssl(folder: Path, *words: str) -> None:
    await tools.run(tools.path_of("openssl"), *words, folder=folder)


async def authority(folder: Path, name: str) -> str:
    """As `req -x509` makes it where nobody asks for more: it does not say what its key is for."""
    names = ("-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}")
    await openssl(folder, "req", "-x509", *KEY, *names)
    return str(folder / f"{name}.pem")


async def certificate(folder: Path, by: str) -> tuple[str, str]:
    """Of the host, with its key, by this authority."""
    (folder / "names").write_text(f"subjectAltName=DNS:{HOST}\n")
    await openssl(folder, "req", *KEY, "-keyout", "host.key", "-out", "host.csr", "-subj", f"/CN={HOST}")
    signing = ("-CA", f"{by}.pem", "-CAkey", f"{by}.key", "-CAcreateserial")
    await openssl(
        folder, "x509", "-req", "-in", "host.csr", *signing, "-extfile", "names", "-out", "host.pem"
    )
    return str(folder / "host.pem"), str(folder / "host.key")


def refusal(trusted: str, shown: tuple[str, str], called: str = HOST) -> str:
    """Why a client that trusts this file does not believe who shows this pair; empty when it does."""
    client = client_context()
    client.load_verify_locations(trusted)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(*shown)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = client.wrap_bio(to_client, to_server, server_hostname=called)
    theirs = server.wrap_bio(to_server, to_client, server_side=True)
    for side in (ours, theirs, ours):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
        except ssl.SSLCertVerificationError as error:
            return error.verify_message
    assert ours.version()
    return ""


async def test_an_authority_as_openssl_makes_it_vouches_for_its_hosts(tmp_path: Path) -> None:
    office = await authority(tmp_path, "office")
    shown = await certificate(tmp_path, by="office")
    assert refusal(office, shown) == ""
    assert "Hostname mismatch" in refusal(office, shown, called="other.there.test")
    stranger = await authority(tmp_path, "stranger")
    assert refusal(stranger, shown) == "unable to get local issuer certificate"


async def test_a_certificate_in_the_file_vouches_for_its_host_alone(tmp_path: Path) -> None:
    await authority(tmp_path, "office")
    pinned, _ = shown = await certificate(tmp_path, by="office")
    assert refusal(pinned, shown) == ""
    assert "Hostname mismatch" in refusal(pinned, shown, called="other.there.test")
    (tmp_path / "before.pem").write_bytes(Path(pinned).read_bytes())
    later = await certificate(tmp_path, by="office")
    assert refusal(str(tmp_path / "before.pem"), later) == "unable to get local issuer certificate"
