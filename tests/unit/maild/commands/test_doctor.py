"""`maild doctor` finds what keeps a host from being one that others take mail from, and says what to do."""

import errno
import json
import os
import ssl
import time
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conf.loading import parse
from controlplane.domains import checks
from controlplane.domains.checks import PublishedKey
from maild.cli.program import main
from maild.commands.doctor.examination import examine
from maild.commands.doctor.outbound_checks import DUE_TOO_LONG_S
from maild.commands.doctor.patient import Patient, QueueMoves
from maild.inbound.wire import tls
from maild.outbound.signing import dkim
from maild.outbound.signing.dkim import SigningKey
from maild.resolver import Resolver
from storage.clock import BEHIND_MS, DAY_MS, iso
from storage.data_folder import DataFolder
from storage.disk import Disk
from storage.engine import migrate
from storage.mail import inboxes
from tests.conftest import Start
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.doh_server import txt
from tests.support.peers.mx import Mx
from tests.support.peers.throwaway_ca import ThrowawayCa
from tests.support.waiting import GIVES_UP_S
from tests.support.worlds.store import ManualClock

HOST, DOMAIN, ADDRESS, V6 = "mx.ours.example", "ours.example", "8.8.4.4", "2001:4860:4860::8844"
PRIVATE, PUBLIC = dkim.generate_key()
KEY = PublishedKey("s1", PUBLIC, True)
REVERSE, REVERSE_V6 = (
    "4.4.8.8.in-addr.arpa",
    "4.4.8.8.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.6.8.4.0.6.8.4.1.0.0.2.ip6.arpa",
)


class World:
    """A host that is as it should be, until a test spoils it."""

    def __init__(self, folder: Path, dns: DnsServer, mx: Mx, mx_v6: Mx) -> None:
        self.folder = folder
        self.dns = dns
        self.settings: dict[str, Any] = {
            "server": {"hostname": HOST, "shared_domains": [DOMAIN]},
            "smtp": {"listen": [f"127.0.0.1:{mx.port}", f"[::1]:{mx_v6.port}"]},
            "http": {"listen": f"127.0.0.1:{mx.port}"},
            "dns": {"nameservers": [f"127.0.0.1:{dns.port}"], "timeout_s": GIVES_UP_S, "trust_ad": True},
            "outbound": {"port": mx.port},
        }
        self.has_ipv4 = True
        self.knows_authorities = True
        self.keys = [KEY]
        self.outside: Callable[[Resolver], Resolver | None] = lambda resolver: resolver
        self.queue = QueueMoves()
        self.newest_ms: int | None = None
        self.signer: SigningKey | str = SigningKey(DOMAIN, "s1", dkim.load_key(PRIVATE))
        self.clock = ManualClock()
        self.clock.at_ms = int(time.time() * 1000)  # certificates are made by the clock of the machine
        dns.add(HOST, "A", ADDRESS)
        dns.add(HOST, "AAAA", V6)
        dns.add(REVERSE, "PTR", f"{HOST}.")
        dns.add(REVERSE_V6, "PTR", f"{HOST}.")
        dns.add(DOMAIN, "MX", f"10 {HOST}.")
        dns.add(DOMAIN, "TXT", '"v=spf1 mx -all"')
        dns.add(f"s1._domainkey.{DOMAIN}", "TXT", txt(f"v=DKIM1; k=rsa; p={PUBLIC}"))
        dns.add(f"_dmarc.{DOMAIN}", "TXT", '"v=DMARC1; p=quarantine"')
        for zone in ("org", "net"):
            dns.add(zone, "TXT", '"a zone"')
        dns.signed = {"org", "net"}

    def has_way(self, address: str, source: str) -> bool:
        return ":" in address or (self.has_ipv4 and source != "192.0.2.99")

    async def examined(self, *reach: str) -> dict[str, Any]:
        settings = parse(self.settings)
        resolver = Resolver(settings.dns, self.clock)
        records = {DOMAIN: checks.records(DOMAIN, HOST, self.keys)}
        signers = {DOMAIN: self.signer}
        outside = self.outside(resolver)
        return await examine(
            Patient(
                settings,
                self.folder,
                records,
                resolver,
                outside,
                self.clock,
                signers,
                self.queue,
                reach,
                self.has_way,
                lambda: self.knows_authorities,
                newest_ms=self.newest_ms,
            )
        )

    async def faults(self, *reach: str) -> dict[str, str]:
        """What is not ok, by check: its status, what was found, what to do."""
        found = await self.examined(*reach)
        told = [one for one in found["diagnoses"] if one["status"] != "ok"]
        assert found["ok"] == all(one["status"] == "warning" for one in told)
        assert all(one["advice"] for one in told)
        return {one["check"]: " | ".join([one["status"], one["found"], one["advice"]]) for one in told}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with DnsServer() as dns, Mx() as mx:
        mx_v6 = await Mx().start("::1")
        yield World(tmp_path, dns, mx, mx_v6)
        await mx_v6.stop()


async def test_a_host_that_is_set_up_has_no_fault(world: World) -> None:
    found = await world.examined()
    assert [one for one in found["diagnoses"] if one["status"] != "ok"] == []
    looked_at = {one["check"] for one in found["diagnoses"]}
    assert looked_at == {
        "nameservers", "name", "ptr", "mx", "spf", "dkim", "dmarc", "signing", "certificate", "listening", "clock",
        "disk", "files", "backup", "queue",
    }  # fmt: skip


async def test_a_clock_behind_what_the_store_has_is_told(world: World) -> None:
    world.newest_ms = world.clock.at_ms + BEHIND_MS
    assert await world.faults() == {}
    world.newest_ms += 1
    told = (await world.faults())["clock"]
    assert told.startswith(f"warning | it says {iso(world.clock.at_ms)}, and the store has")
    assert iso(world.newest_ms) in told


async def test_a_backup_that_is_old_is_told(world: World) -> None:
    DataFolder(world.folder).note_backup()
    assert await world.faults() == {}
    world.clock.at_ms += 3 * DAY_MS
    assert (await world.faults())["backup"].startswith("warning | the last one ended well at 20")
    world.clock.at_ms -= 6 * DAY_MS  # it was ahead, and would call the backup fresh until it is there again
    assert (await world.faults())["backup"].startswith("warning | the last one ended well at 20")


async def test_a_queue_that_is_paused_is_told_with_the_command_that_ends_it(world: World) -> None:
    """The pause outlives restarts, and nothing else that an operator looks at first shows it."""
    world.queue = QueueMoves(paused_since=world.clock.at_ms - DAY_MS, due_since=world.clock.at_ms)
    told = (await world.faults())["queue"]
    assert told.startswith("fault | paused since 20") and "maild queue resume" in told


async def test_mail_that_is_due_and_does_not_leave_is_told(world: World) -> None:
    world.queue = QueueMoves(due_since=world.clock.at_ms - DUE_TOO_LONG_S * 1000)
    assert await world.faults() == {}
    world.queue = QueueMoves(due_since=world.clock.at_ms - 2 * DUE_TOO_LONG_S * 1000)
    assert (await world.faults())["queue"].startswith("fault | mail has been due for 30 minutes")


@pytest.mark.parametrize(
    ("name", "rdtype", "now", "check", "told"),
    [
        (HOST, "A", [], "name", None),  # IPv6 alone is a name as well
        (
            REVERSE,
            "PTR",
            [],
            "ptr",
            "fault | it has no PTR record | Have whoever gave you 8.8.4.4 set its PTR",
        ),
        (
            REVERSE,
            "PTR",
            ["host.cloud.example."],
            "ptr",
            "fault | it names host.cloud.example | Have whoever",
        ),
        (REVERSE_V6, "PTR", [], "ptr", "fault | it has no PTR record | Have whoever gave you 2001:4860"),
        (
            DOMAIN,
            "MX",
            ["10 other.example."],
            "mx",
            "fault | it is 10 other.example | Publish: ours.example MX 10 mx",
        ),
        (DOMAIN, "MX", [], "mx", "fault | there is none | Publish: ours.example MX 10 mx.ours.example"),
        (
            DOMAIN,
            "TXT",
            ['"v=spf1 -all"'],
            "spf",
            "fault | it is v=spf1 -all | Publish: ours.example TXT v=spf1 mx",
        ),
        (f"s1._domainkey.{DOMAIN}", "TXT", [], "dkim", "fault | there is none | Publish: s1._domainkey.ours"),
        (
            f"_dmarc.{DOMAIN}",
            "TXT",
            [],
            "dmarc",
            "warning | there is none | Publish: _dmarc.ours.example TXT",
        ),
        (
            f"_dmarc.{DOMAIN}",
            "TXT",
            ['"v=DMARC1; p=\\027[2J"'],
            "dmarc",
            "warning | it is v=DMARC1; p=?[2J | Pub",
        ),
    ],
)
async def test_what_dns_lacks_is_told_with_what_to_publish(
    world: World, name: str, rdtype: str, now: list[str], check: str, told: str | None
) -> None:
    del world.dns.records[name, rdtype]
    if now:
        world.dns.add(name, rdtype, *now)
    faults = await world.faults()
    assert set(faults) == ({check} if told else set())
    assert told is None or faults[check].startswith(told)


async def test_a_name_without_an_address_or_with_a_private_one(world: World) -> None:
    del world.dns.records[HOST, "A"], world.dns.records[HOST, "AAAA"]
    assert (await world.faults())["name"].startswith("fault | it has no address | Publish an A record")
    world.dns.add(HOST, "A", "10.0.0.1")
    assert (await world.faults())["name"].startswith("fault | 10.0.0.1: nobody outside reaches it")
    world.settings["outbound"]["allow_private_networks"] = True
    world.dns.add("1.0.0.10.in-addr.arpa", "PTR", f"{HOST}.")
    assert await world.faults() == {}


async def test_no_pointer_is_asked_of_addresses_by_which_no_mail_leaves(world: World) -> None:
    del world.dns.records[REVERSE_V6, "PTR"]
    world.settings["outbound"]["ip_versions"] = "ipv4"
    assert await world.faults() == {}


async def test_behind_a_smarthost_a_pointer_is_but_worth_having(world: World) -> None:
    del world.dns.records[REVERSE, "PTR"]
    world.settings["outbound"]["relay"] = "smtp.provider.example:25"
    assert (await world.faults())["ptr"].startswith("warning | ")


async def test_the_names_of_other_sources_are_looked_at_as_well(world: World) -> None:
    source = {"senders": ["acme.example"], "addresses": [ADDRESS], "hostname": "mail.acme.example"}
    world.settings["outbound"]["sources"] = {"acme": source}
    found = await world.examined()
    told = {one["subject"]: one["found"] for one in found["diagnoses"] if one["check"] == "name"}
    assert told == {HOST: f"{ADDRESS}, {V6}", "mail.acme.example": "it has no address"}


@pytest.mark.parametrize(
    ("signed", "trust_ad", "told"),
    [
        ({"org", "net"}, False, "warning | they validate DNSSEC, and DANE is off | Set dns.trust_ad = true."),
        (set(), True, "fault | they validate nothing, though dns.trust_ad is true"),
        (set(), False, "warning | they answer, and validate nothing: DANE is off"),
        (None, True, "fault | none answers"),
    ],
)
async def test_whether_the_nameservers_validate(
    world: World, signed: set[str] | None, trust_ad: bool, told: str
) -> None:
    world.settings["dns"]["trust_ad"] = trust_ad
    world.dns.signed = signed or set()
    world.dns.servfail = {"org", "net"} if signed is None else set()
    assert (await world.faults())["nameservers"].startswith(told)


async def test_one_of_two_nameservers_is_silent(world: World) -> None:
    """Which nothing else shows: the other one answers."""
    silent = "127.0.0.1:1"
    world.settings["dns"]["nameservers"].append(silent)
    told = [one for one in (await world.examined())["diagnoses"] if one["check"] == "nameservers"]
    assert [one["subject"] for one in told if one["status"] == "warning"] == [silent]
    assert next(one for one in told if one["subject"] == silent)["found"] == "it does not answer, others do"


@pytest.mark.parametrize(
    ("outbound", "is_told"),
    [({}, True), ({"ip_versions": "ipv6"}, False), ({"relay": "relay.example:25"}, False)],
)
async def test_a_host_without_ipv4_can_not_reach_those_that_have_nothing_else(
    world: World, outbound: dict[str, str], is_told: bool
) -> None:
    world.has_ipv4 = False
    world.settings["outbound"] |= outbound
    faults = await world.faults()
    assert ("ways" in faults) == is_told
    assert not is_told or 'outbound.ip_versions = "ipv6"' in faults["ways"]


async def test_a_source_address_that_this_host_does_not_have(world: World) -> None:
    source = {"senders": ["acme.example"], "addresses": ["192.0.2.99", V6]}
    world.settings["outbound"]["sources"] = {"acme": source}
    told = [one for one in (await world.examined())["diagnoses"] if one["check"] == "ways"]
    assert [(one["subject"], one["status"]) for one in told] == [("192.0.2.99", "fault"), (V6, "ok")]
    assert "outbound.sources.acme" in told[0]["advice"]


async def test_silence_of_dns_is_no_fault_of_the_host(world: World) -> None:
    world.dns.servfail = {HOST, REVERSE, DOMAIN, f"s1._domainkey.{DOMAIN}", f"_dmarc.{DOMAIN}"}
    faults = await world.faults()
    assert set(faults) == {"name", "mx", "spf", "dkim", "dmarc"}
    assert all(told.startswith("warning | DNS does not answer") for told in faults.values())


async def test_a_domain_without_a_key_wants_init(world: World) -> None:
    world.keys = []
    assert await world.faults() == {"dkim": "fault | there is no key for it | Run maild init."}


class Certified:
    """The world's host with a certificate of an authority that this system believes."""

    def __init__(self, world: World, folder: Path) -> None:
        self.ca = ThrowawayCa(folder)
        self._world, self._folder = world, folder

    def show(self, *names: str, section: str = "smtp", **how: Any) -> Path:
        self.ca.server_context(names, **{"lasts": timedelta(days=90), **how})
        pem = self._folder / f"{names[0]}.pem"
        of = self._world.settings.setdefault(section, {})
        of.update(tls_cert=str(pem), tls_key=str(pem))
        return pem


@pytest.fixture
def certified(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Certified:
    made = Certified(world, tmp_path)

    def read_authorities(context: ssl.SSLContext, *_: object) -> None:
        context.load_verify_locations(made.ca.ca_file)

    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", read_authorities)
    return made


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ([HOST], None),
        (["*.ours.example"], None),
        (["*.example", "ours.example"], f"fault | it is not for {HOST} | Get one for {HOST}"),
    ],
)
async def test_the_certificate_must_have_our_name(
    world: World, certified: Certified, names: list[str], told: str | None
) -> None:
    certified.show(*names)
    faults = await world.faults()
    assert (faults == {}) if told is None else faults["certificate"].startswith(told)


@pytest.mark.parametrize("section", ["smtp", "outbound"])
async def test_a_certificate_that_ends_soon_is_to_be_renewed(
    world: World, certified: Certified, section: str
) -> None:
    certified.show(HOST, section=section)
    told = []
    for days in (70, 10, 20):
        world.clock.at_ms += days * DAY_MS
        told.append((await world.faults()).get("certificate", "ok").partition(" | ")[0])
    assert told == ["ok", "warning", "fault"]


@pytest.mark.parametrize(
    ("is_expired", "days_ago", "told"), [(True, 0, "it is valid until "), (False, 30, "it is valid from ")]
)
async def test_a_certificate_that_is_over_or_has_yet_to_begin_is_told_once(
    world: World, certified: Certified, is_expired: bool, days_ago: int, told: str
) -> None:
    certified.show(HOST, is_expired=is_expired)
    world.clock.at_ms -= days_ago * DAY_MS
    found = await world.examined()
    (one,) = [one for one in found["diagnoses"] if one["check"] == "certificate"]
    assert one["status"] == "fault" and one["found"].startswith(told)


async def test_a_chain_that_leads_to_no_authority_of_the_system_is_told(
    world: World, certified: Certified, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the certificate alone is named, without those that its authority gave with it."""
    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", lambda *_: None)
    certified.show(HOST)
    told = (await world.faults())["certificate"]
    assert told.startswith(
        "warning | who believes this system's authorities does not believe it: unable to get"
    )
    assert "fullchain.pem" in told
    certified.show(HOST, section="outbound")
    del world.settings["smtp"]["tls_cert"], world.settings["smtp"]["tls_key"]
    assert await world.faults() == {}


async def test_a_chain_is_looked_at_where_a_group_of_a_client_is_refused(
    world: World, certified: Certified, monkeypatch: pytest.MonkeyPatch
) -> None:
    """RFC 8446 §2.1: it then begins anew."""
    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", lambda *_: None)
    made = tls.context

    def of_another_group(cert: str, key: str) -> ssl.SSLContext:
        context = made(cert, key)
        context.set_ecdh_curve("secp521r1")
        return context

    monkeypatch.setattr(tls, "context", of_another_group)
    certified.show(HOST)
    assert "does not believe it" in (await world.faults())["certificate"]


@pytest.mark.parametrize("section", ["smtp", "outbound"])
async def test_a_pair_that_is_none_is_told(world: World, tmp_path: Path, section: str) -> None:
    (tmp_path / "no.pem").write_text("no certificate")
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    world.settings.setdefault(section, {}).update(tls_cert=str(tmp_path / "no.pem"), tls_key=pipe)
    told = (await world.faults())["certificate"]
    assert told.startswith(
        f"fault | {section}.tls_cert: there is no certificate in {tmp_path}/no.pem, as PEM has it; "
    )
    assert f"{section}.tls_key: {pipe} is a pipe" in told


async def test_that_no_certificate_of_others_is_believed_is_told(world: World) -> None:
    """The owner of each endpoint would look for the fault on his side."""
    world.knows_authorities = False
    told = (await world.faults())["authorities"]
    assert told.startswith("warning | OpenSSL has none") and "apt install ca-certificates" in told


async def test_a_daemon_that_does_not_run_is_told(world: World) -> None:
    async with Mx() as gone:
        port = gone.port
    world.settings["http"]["listen"] = f"0.0.0.0:{port}"
    assert (await world.faults())["listening"].startswith("fault | Connection refused | Start")


async def test_a_version_of_ip_that_is_published_and_not_listened_to_is_told(world: World) -> None:
    """Who comes by IPv6 first waits for nothing, if the way there drops what comes."""
    v4, v6 = world.settings["smtp"]["listen"]
    world.settings["smtp"]["listen"] = [v4]
    told = (await world.faults())["listening"]
    assert told.startswith("warning | DNS has an address of IPv6 for it") and '"[::]:25"' in told
    world.settings["smtp"]["listen"] = [v6]
    assert (await world.faults())["listening"].startswith("fault | DNS has an address of IPv4 for it")
    world.settings["smtp"]["proxy_from"] = ["10.0.0.0/8"]
    assert "listening" not in await world.faults()


async def test_a_full_disk_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Disk, "has_room", lambda self: False)
    assert (await world.faults())["disk"].startswith("fault | less is free than storage.reserve_percent")


async def test_a_disk_that_takes_nothing_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """There may be room on it: a file system that was made read-only has as much as before."""

    def refuse(file: int) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "fsync", refuse)
    told = (await world.faults())["disk"]
    assert told.startswith("fault | nothing can be written there: Read-only file system | Until it can")


async def test_the_mail_hosts_of_others_are_tried(world: World) -> None:
    world.dns.add("there.example", "MX", "10 mx1.there.example.", "20 mx2.there.example.")
    world.dns.add("mx1.there.example", "A", "127.0.0.3")  # nobody is there
    world.dns.add("mx2.there.example", "A", "127.0.0.1")
    found = await world.examined("there.example")
    (told,) = (one for one in found["diagnoses"] if one["check"] == "reach")
    assert (told["status"], told["found"]) == ("ok", "mx2.there.example [127.0.0.1] says 220 mx.test ESMTP")
    world.dns.records["there.example", "MX"] = ["10 mx1.there.example."]
    assert (await world.faults("there.example"))["reach"].startswith(
        "fault | mx1.there.example [127.0.0.3]: "
    )
    assert (await world.faults("nowhere.example"))["reach"].startswith(
        "warning | no mail host of it is in DNS"
    )


async def test_mail_hosts_are_tried_by_the_addresses_that_there_is_a_way_to(world: World) -> None:
    """A host with IPv6 alone delivers to the last of these, so it is well."""
    world.has_ipv4 = False
    world.dns.add("there.example", "MX", "10 mx.there.example.")
    world.dns.add("mx.there.example", "A", "127.0.0.3", "127.0.0.4", "127.0.0.5")
    told = (await world.faults("there.example"))["reach"]
    assert told.startswith("fault | mx.there.example [127.0.0.") and "no way to it from this host" in told
    world.dns.add("mx.there.example", "AAAA", "::1")
    world.settings["outbound"]["port"] = int(world.settings["smtp"]["listen"][1].rpartition(":")[2])
    assert "reach" not in await world.faults("there.example")


def test_the_command_ends_with_1_where_something_is_at_fault(tmp_path: Path) -> None:
    config = tmp_path / "maild.toml"
    config.write_text(
        f"data_dir = '{tmp_path / 'data'}'\n[server]\nshared_domains = ['{DOMAIN}']\n"
        "[smtp]\nlisten = ['127.0.0.1:0']\n[http]\nlisten = '127.0.0.1:0'\n"
        "[dns]\nnameservers = ['127.0.0.1:1']\ntimeout_s = 1\n"
    )
    refused = CliRunner().invoke(main, ["doctor", "--config", str(config)])
    assert (refused.exit_code, "run 'maild init' first" in refused.stderr) == (2, True)
    assert CliRunner().invoke(main, ["init", "--config", str(config), "--no-policy"]).exit_code == 0
    shown = CliRunner().invoke(main, ["doctor", "--config", str(config)])
    assert shown.exit_code == 1
    assert "fault   nameservers 127.0.0.1:1: none answers\n        Name one that answers" in shown.stdout
    as_json = CliRunner().invoke(main, ["doctor", "--config", str(config), "--json"])
    assert (as_json.exit_code, json.loads(as_json.stdout)["ok"]) == (1, False)


def test_inboxes_at_a_domain_that_the_configuration_lacks_are_told(tmp_path: Path) -> None:
    """As after a move to another host with another configuration: their mail is refused for good."""
    config = tmp_path / "maild.toml"
    written = (
        f"data_dir = '{tmp_path / 'data'}'\n[server]\nshared_domains = ['{DOMAIN}']\n"
        "[dns]\nnameservers = ['127.0.0.1:1']\ntimeout_s = 1\n"
    )
    config.write_text(written)
    assert CliRunner().invoke(main, ["init", "--config", str(config), "--no-policy"]).exit_code == 0
    assert "fault   inboxes" not in CliRunner().invoke(main, ["doctor", "--config", str(config)]).stdout
    config.write_text(written.replace(DOMAIN, "other.example"))
    told = CliRunner().invoke(main, ["doctor", "--config", str(config)])
    assert f"fault   inboxes {DOMAIN}: 1 at a domain that nobody has\n        Name it in" in told.stdout
    assert told.exit_code == 1


async def test_an_inbox_at_a_domain_of_its_organization_has_a_home(start: Start) -> None:
    """Whether DNS shows it now or not: that is between the organization and its DNS."""
    maild = await start()
    made = (await maild.api.post("/v1/domains", {"domainName": "customer.example"})).data
    assert made["status"] == "pending"
    for domain, homeless in (("customer.example", []), ("nobodys.example", [("nobodys.example", 1)])):
        maild.sql("UPDATE inboxes SET domain = ?", domain)
        with migrate.look(maild.settings.data_path / "maild.sqlite3") as tx:
            assert inboxes.without_domain(tx, maild.settings.server.shared_domains, 10) == homeless


def test_a_master_key_that_is_a_credential_is_read_where_it_is_named(tmp_path: Path) -> None:
    config = tmp_path / "maild.toml"
    config.write_text(
        f"data_dir = '{tmp_path / 'data'}'\n[server]\nshared_domains = ['{DOMAIN}']\n"
        "[dns]\nnameservers = ['127.0.0.1:1']\ntimeout_s = 1\n"
    )
    assert CliRunner().invoke(main, ["init", "--config", str(config), "--no-policy"]).exit_code == 0
    moved = (tmp_path / "data" / "master.key").rename(tmp_path / "credential")
    told = CliRunner().invoke(main, ["doctor", "--config", str(config)]).stdout
    assert "signing ours.example: not tried" in told and "where systemd hands it over" in told
    named = CliRunner().invoke(main, ["doctor", "--config", str(config), "--key-file", str(moved)])
    assert (named.exit_code, "not tried" in named.stdout) == (1, False)


async def test_what_others_hear_of_this_host_is_asked_outside(world: World) -> None:
    """systemd-resolved invents a PTR record for each address of the host it runs on."""
    async with DnsServer() as others:
        others.add(HOST, "A", ADDRESS)
        settings = parse({"dns": {"nameservers": [f"127.0.0.1:{others.port}"], "timeout_s": GIVES_UP_S}})
        world.outside = lambda resolver: Resolver(settings.dns, world.clock)
        told = await world.faults()
    assert list(told) == ["ptr"] and told["ptr"].startswith("fault | it has no PTR record")


async def test_where_nobody_tells_what_others_hear_it_is_not_looked_at(world: World) -> None:
    world.outside = lambda resolver: None
    told = await world.faults()
    assert list(told) == ["name"] and told["name"].startswith("warning | systemd-resolved answers by itself")


async def test_where_the_system_names_no_nameserver_that_is_told(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was said that systemd-resolved answers, which is not even there."""
    monkeypatch.setattr("maild.dns_client.RESOLV_CONF", str(tmp_path / "none"))
    world.settings["dns"] = {"timeout_s": GIVES_UP_S}
    world.outside = lambda resolver: None
    told = await world.faults()
    assert told["nameservers"].startswith(
        "fault | /etc/resolv.conf is not there or not readable, or names none"
    )
    assert "name" not in told and "systemd-resolved" not in str(told)


async def test_what_others_could_not_verify_is_a_fault(world: World) -> None:
    """The record is as it should be, and the key that signs is another: restored from an old backup, say."""
    private, _ = dkim.generate_key()
    world.signer = SigningKey(DOMAIN, "s1", dkim.load_key(private))
    told = await world.faults()
    assert list(told) == ["signing"]
    assert told["signing"].startswith("fault | what it signs does not verify: ")


async def test_a_key_that_can_not_be_opened_here_is_told(world: World) -> None:
    world.signer = "dkim:ours.example:s1 does not open under this master key"
    assert (await world.faults())["signing"].startswith("warning | not tried: dkim:ours.example:s1 does not")
