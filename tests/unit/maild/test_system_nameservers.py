"""/etc/resolv.conf is followed: a host that gets its resolvers later, or others, needs no restart."""

import os
import time
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from conf.settings import Dns
from maild import dns_client
from maild.dns_client import DnsClient, NoNameserver, SystemNameservers
from maild.resolver import DnsTemporary, Resolver
from tests.support.peers.dns_server import DnsServer
from tests.support.worlds.store import ManualClock


def write(path: Path, text: str) -> None:
    """As most programs do: a new file takes the place of the old one."""
    path.with_suffix(".new").write_text(text)
    os.replace(path.with_suffix(".new"), path)


def test_what_the_file_names_now_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "resolv.conf"
    named = SystemNameservers(str(path))
    with capture_logs() as told:
        assert named() == ()
        write(path, "nameserver 192.0.2.1\nnameserver 2001:db8::1\noptions edns0 trust-ad\nsearch .\n")
        assert named() == (("192.0.2.1", 53), ("2001:db8::1", 53))
        assert told == []
        write(path, "nameserver 192.0.2.2\n")
        assert named() == named() == (("192.0.2.2", 53),)
    assert [(one["event"], one["nameservers"]) for one in told] == [("nameservers_changed", ["192.0.2.2"])]


@pytest.mark.parametrize("text", ["", "# nobody\n", "nameserver\n", "search example.org\n"])
def test_the_last_ones_stay_while_the_file_names_nobody_or_is_away(tmp_path: Path, text: str) -> None:
    path = tmp_path / "resolv.conf"
    write(path, "nameserver 192.0.2.1\n")
    named = SystemNameservers(str(path))
    assert named() == (("192.0.2.1", 53),)
    write(path, text)
    assert named() == (("192.0.2.1", 53),)
    path.unlink()
    assert named() == (("192.0.2.1", 53),)
    write(path, "nameserver 192.0.2.3\n")
    assert named() == (("192.0.2.3", 53),)


@pytest.mark.parametrize(
    "line",
    [
        b"nameserver resolver.example",
        b"nameserver 127.1",
        b"nameserver https://192.0.2.3/dns-query",
        b"nameserver 192.0.2.3\0",
        b"# caf\xe9",
        b"search " + b"a" * 64 + b".example",
        b"domain ..",
    ],
)
def test_a_line_that_says_nothing_takes_no_nameserver_away(tmp_path: Path, line: bytes) -> None:
    """Read anew for each question, a file that somebody spoilt would otherwise fail them all."""
    path = tmp_path / "resolv.conf"
    path.write_bytes(line + b"\nnameserver fe80::1%eth0\n nameserver 192.0.2.1 # ours\n")
    assert SystemNameservers(str(path))() == (("fe80::1%eth0", 53), ("192.0.2.1", 53))


def test_as_many_are_asked_as_the_c_library_asks(tmp_path: Path) -> None:
    """resolv.conf(5), MAXNS. Of a file that a script has spoilt thousands would be read and asked."""
    path = tmp_path / "resolv.conf"
    path.write_text("".join(f"nameserver 192.0.2.{number % 250}\n" for number in range(100_000)))
    assert SystemNameservers(str(path))() == (("192.0.2.0", 53), ("192.0.2.1", 53), ("192.0.2.2", 53))


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_what_is_no_file_names_nobody(tmp_path: Path, kind: str) -> None:
    """A pipe into which nobody writes would be waited for, by the whole daemon."""
    path = tmp_path / "resolv.conf"
    os.mkfifo(path) if kind == "pipe" else path.mkdir()
    assert SystemNameservers(str(path))() == ()


async def test_each_question_goes_to_whom_is_named_then() -> None:
    async with DnsServer() as old, DnsServer() as new:
        new.add("there.example", "A", "192.0.2.9")
        named: list[tuple[str, int]] = []
        client = DnsClient(lambda: named, 5, time.monotonic)
        with pytest.raises(NoNameserver):
            await client.ask(b"\x05there\x07example\x00", "A")
        named.append(("127.0.0.1", new.port))
        assert (await client.ask(b"\x05there\x07example\x00", "A")).records
        assert not old.queries


async def test_a_host_without_a_resolver_makes_mail_wait_and_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dns_client, "RESOLV_CONF", str(tmp_path / "none"))
    resolver = Resolver(Dns(nameservers=()), ManualClock())
    with pytest.raises(DnsTemporary):
        await resolver.mx("there.example")
    await resolver.close()
