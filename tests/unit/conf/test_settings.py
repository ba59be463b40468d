"""The configuration: every key documented with its default, every fault told at once (conf/loading.py)."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from conf.loading import SettingsError, load, parse
from conf.settings import DEFAULT_PLAN, Settings

FILE = Path(__file__).parents[3] / "conf" / "maild.toml"
DOCUMENT = tomllib.loads(FILE.read_text("utf-8"))


def plain(value: Any) -> Any:
    """A section as TOML would have it."""
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    return list(value) if isinstance(value, tuple) else value


A_DAY = "must be from 86400 (a day) to 31622400 (a year), or 0 for signatures that do not expire"


def faults(document: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> list[str]:
    with pytest.raises(SettingsError) as told:
        parse(document, environment)
    return told.value.faults


def test_the_file_has_every_key_with_its_default_and_no_other() -> None:
    defaults = plain(Settings())
    plans = defaults.pop("plans")
    documented = {name: value for name, value in DOCUMENT.items() if name != "plans"}
    assert documented == defaults
    # A limit of a plan that is left out is unlimited; what is not, stands there.
    shown = {
        name: {**dict.fromkeys(plan), "single_recipient": False, **DOCUMENT["plans"][name]}
        for name, plan in plans.items()
    }
    assert shown == plans


def test_every_key_of_the_file_is_explained() -> None:
    """A comment stands above each key, or above the group of keys that it begins."""
    explained = False
    for line in FILE.read_text("utf-8").splitlines():
        if line.startswith("#"):
            explained = True
        elif line.startswith("[") or not line:
            explained = line.startswith("[plans.") or (explained and bool(line))
        else:
            assert explained, line


def test_the_file_as_shipped_is_the_default_configuration() -> None:
    assert load(FILE, {}) == Settings() == parse({})


def test_all_faults_are_told_at_once_by_the_name_of_their_key() -> None:
    found = faults(
        {
            "colour": "red",
            "data_dir": 5,
            "server": {"hostname": "-bad-", "shared_domains": [], "public_url": "ftp://x", "nick": "x"},
            "smtp": {
                "listen": ["127.0.0.1:0", "nowhere", "[::1]:25", "::1:25"],
                "max_sessions": 0,
                "max_recipients": 99,
                "bare_line_ends": "keep",
            },
            "http": {"listen": "127.0.0.1:99999"},
            "outbound": {"port": 0, "tls_reports": "daily", "tls_reports_contact": "postmaster"},
            "webhooks": {"retry_delays_s": [1, 2, 3, 4, 5]},
            "storage": {"reserve_percent": 51},
            "plans": {"gold": {"inboxes": -1, "colour": "gold"}},
        }
    )
    keys = sorted(one.split(":")[0] for one in found)
    assert keys == sorted(
        [
            "colour", "data_dir", "server.hostname", "server.shared_domains", "server.public_url", "server.nick",
            "smtp.listen.1", "smtp.listen.3", "smtp.max_sessions", "smtp.max_recipients", "smtp.bare_line_ends",
            "http.listen",
            "outbound.port", "outbound.tls_reports", "outbound.tls_reports_contact", "webhooks.retry_delays_s",
            "storage.reserve_percent", "plans.gold.inboxes",
            "plans.gold.colour",
        ]
    )  # fmt: skip
    assert all("\n" not in one for one in found)


@pytest.mark.parametrize(
    ("section", "key", "given", "says"),
    [
        ("smtp", "listen", "0.0.0.0:25", 'must be a list, such as ["a", "b"] (is \'0.0.0.0:25\')'),
        ("http", "mcp", "maybe", "must be true or false (is 'maybe')"),
        ("http", "mcp", 7, "must be true or false (is 7)"),
        ("smtp", "max_errors", "many", "must be a whole number (is 'many')"),
        ("smtp", "max_errors", 1.5, "must be a whole number (is 1.5)"),
        ("smtp", "max_errors", float("nan"), "must be a whole number (is nan)"),
        ("smtp", "max_errors", [], "must be a whole number (is [])"),
        ("server", "hostname", 5, "must be text in quotes (is 5)"),
        ("smtp", "max_sessions", 0, "input should be greater than or equal to 1 (is 0)"),
        ("outbound", "warmup", 5, "must be a section (is 5)"),
        *(
            ("outbound", "dkim_expires_after_s", short, f"{A_DAY} (is {short})")
            for short in (-1, 1, 86399, 10**8)
        ),
    ],
)
def test_a_value_of_another_type_is_told_in_the_words_of_toml(
    section: str, key: str, given: Any, says: str
) -> None:
    assert faults({section: {key: given}}) == [f"{section}.{key}: {says}"]


def test_signatures_outlast_the_queues_of_others_or_do_not_expire() -> None:
    assert Settings().outbound.dkim_expires_after_s > Settings().outbound.give_up_after_s + 86400
    for lasts_s in (0, 86400, 30 * 86400):
        assert parse({"outbound": {"dkim_expires_after_s": lasts_s}}).outbound.dkim_expires_after_s == lasts_s


def test_a_section_that_is_none_is_told() -> None:
    assert faults({"smtp": 5}) == ["smtp: must be a section (is 5)"]
    warmup = {"a": 5, "b": {"begins": 5, "messages": ["x"], "factor": "y"}, "c": {"begins": "x"}}
    assert faults({"outbound": {"warmup": warmup}}) == [
        "outbound.warmup.a: must be a section (is 5)",
        "outbound.warmup.b.begins: must be a date such as 2026-12-01 (is 5)",
        "outbound.warmup.b.messages.0: must be a whole number (is 'x')",
        "outbound.warmup.b.factor: must be a number (is 'y')",
        "outbound.warmup.c.begins: must be a date such as 2026-12-01 (is 'x')",
    ]


def test_contradictions_are_told_beside_the_faults_of_single_keys() -> None:
    document = {
        "http": {"listen": "nowhere"},
        "outbound": {
            "port": 0,
            "typo": 1,
            "tls_cert": "/no/such/cert",
            "relays": {
                "one": {"host": "relay.test:25", "username": "u"},
                "two": {"host": "relay.test:25", "username": "u", "tls": "perhaps"},
            },
            "tls": {
                "a": {"domains": ["x.test"], "policy": "verify"},
                "b": {"domains": ["x.test"], "policy": "verify"},
                "c": {"domains": ["y.test"]},
            },
        },
    }
    with pytest.raises(SettingsError) as raised:
        parse(document)
    keys = sorted(fault.partition(": ")[0] for fault in raised.value.faults)
    assert keys == [
        "http.listen",
        "outbound.port",
        "outbound.relays.one",
        "outbound.relays.two.tls",
        "outbound.tls.b.domains",
        "outbound.tls.c.policy",
        "outbound.tls_cert, outbound.tls_key",
        "outbound.typo",
    ]


def test_a_key_that_is_missing_is_told_without_what_stands_beside_it() -> None:
    """Such as a password under a name that is none."""
    told = faults({"outbound": {"relays": {"a": {"password": "s3cret"}}}})
    assert told == [
        "outbound.relays.a.host: is required",
        "outbound.relays.a.password: unknown key; is it password_file?",
    ]


@pytest.mark.parametrize("section", [name for name, value in DOCUMENT.items() if isinstance(value, dict)])
def test_an_unknown_key_is_a_fault_in_every_section(section: str) -> None:
    where = f"{section}.{DEFAULT_PLAN}" if section == "plans" else section
    inside: dict[str, Any] = {"surely_unknown": 1}
    document = {section: {DEFAULT_PLAN: inside} if section == "plans" else inside}
    (fault,) = faults(document)
    assert fault.startswith(f"{where}.surely_unknown: unknown key; [{where}] has ")


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"stmp": {}}, "stmp: unknown key; is it smtp?"),
        (
            {"outbound": {"relays": {"a": {"host": "a.test:25", "tsl": "implicit"}}}},
            "tsl: unknown key; is it tls?",
        ),
        ({"log": {"file": "x"}}, "log.file: unknown key; [log] has level, format"),
        (
            {"hostname": "x.test"},
            "hostname: unknown key; is it server.hostname? a configuration has data_dir, ",
        ),
        ({"log": {"requests_per_minute": 5}}, "is it limits.requests_per_minute? [log] has level, format"),
        ({"log": {"tls_key": "/x"}}, "is it smtp.tls_key or outbound.tls_key? [log] has level, format"),
    ],
)
def test_who_mistakes_a_key_is_told_which_one_is_meant(document: dict[str, Any], said: str) -> None:
    (fault,) = faults(document)
    assert said in fault


def test_contradictions() -> None:
    there = "/etc/there.pem"
    assert faults({"smtp": {"tls_cert": there}}) == [
        "smtp.tls_cert, smtp.tls_key: give both files or neither"
    ]
    assert faults({"outbound": {"tls_key": there}}) == [
        "outbound.tls_cert, outbound.tls_key: give both files or neither"
    ]
    assert faults({"server": {"shared_domains": ["a.test"], "apex_domain": "A.test."}}) == [
        "server.apex_domain: must not be one of server.shared_domains"
    ]


def test_below_a_path_there_is_no_console() -> None:
    """Its pages lead to /console, wherever they are."""
    below = {"server": {"public_url": "https://example.test/mail/"}}
    (fault,) = faults(below)
    assert fault.startswith("server.public_url, http.console: ")
    assert parse(below | {"http": {"console": False}}).server.public_url == "https://example.test/mail"
    assert parse({"server": {"public_url": "https://mail.example.test/"}}).http.console


def test_all_faults_of_paces_are_told_at_once_with_what_is_allowed() -> None:
    pace = {
        "a": {"domains": ["one.test"], "messages_per_minute": 0},
        "b": {"mx": ["*.one.test", "*", "mx.*.test"], "messages_per_connection": -1},
    }
    assert faults({"outbound": {"pace": pace}}) == [
        "outbound.pace.a.messages_per_minute: input should be greater than or equal to 1 (is 0)",
        *(
            f"outbound.pace.b.mx.{number}: must be a host name such as mx.example.org,"
            f" or *.example.org for all below it (is '{given}')"
            for number, given in ((1, "*"), (2, "mx.*.test"))
        ),
        "outbound.pace.b.messages_per_connection: input should be greater than or equal to 1 (is -1)",
    ]
    pace = {
        "a": {"domains": ["one.test"], "max_connections": 21},
        "b": {"mx": ["*.one.test"]},
        "c": {"domains": ["ONE.test"], "mx": ["*.one.test"]},
        "d": {"messages_per_minute": 5},
    }
    assert faults({"outbound": {"pace": pace}}) == [
        "outbound.pace.d: give domains, mx, or both",
        "outbound.pace.a.max_connections: must be 1 to 20, outbound.max_connections_per_destination (is 21)",
        "outbound.pace.c.domains: one.test is named by outbound.pace.a too",
        "outbound.pace.c.mx: *.one.test is named by outbound.pace.b too",
    ]


def test_names_are_compared_without_case_and_last_dot() -> None:
    settings = parse({"server": {"hostname": "MX.Example.ORG.", "shared_domains": ["Agents.Example.org."]}})
    assert settings.server.hostname == "mx.example.org"
    assert settings.server.shared_domains == ("agents.example.org",)


@pytest.mark.parametrize(
    "name", ["", "a b", "-a.test", "a..test", "b\u00fccher.test", "a" * 64 + ".test", "a@b.test"]
)
def test_what_is_no_host_name(name: str) -> None:
    assert len(faults({"server": {"hostname": name}})) == 1
    assert len(faults({"server": {"shared_domains": ["ok.test", name]}})) == 1


@pytest.mark.parametrize(
    "address",
    [
        "",
        ":25",
        "25",
        "a:b",
        "127.0.0.1:65536",
        "[::1]:-1",
        "127.0.0.1:",
        "[::1]:²",
        "[]:25",
        "[zz]:25",
        "[127.0.0.1]:25",
        "[::1:25",
        "::1]:25",
        "[::1%]:25",
    ],
)
def test_what_is_no_address_to_listen_on(address: str) -> None:
    (only,) = faults({"http": {"listen": address}})
    assert "must be address:port" in only
    assert len(faults({"smtp": {"listen": ["127.0.0.1:0", address]}})) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://[::1",
        "http://::1:8025",
        "http://[zz]:80",
        "http://x:99999",
        "http://:80",
        "https://[10.0.0.1]/a",
    ],
)
def test_what_is_no_address_on_the_web(url: str) -> None:
    """Some of them fail when they are taken apart, long after the start."""
    assert len(faults({"server": {"public_url": url}})) == 1
    assert len(faults({"inbound": {"rspamd_url": url}})) == 1


@pytest.mark.parametrize(
    "url",
    ["http://[::1]:8025", "https://[2001:db8::1]/api", "http://user:word@[::1]:80", "http://a.test:8025"],
)
def test_what_is_one(url: str) -> None:
    document = {"server": {"public_url": url}, "http": {"console": False}}
    assert parse(document).server.public_url == url


def test_addresses_of_ipv4_are_not_written_as_ipv6() -> None:
    """A client that comes by IPv4 has an address of IPv4, so such a rule would hold for nobody."""
    mapped = {"senders": ["a.test"], "addresses": ["::ffff:192.0.2.1"]}
    (balancers,) = faults({"smtp": {"proxy_from": ["::ffff:10.0.0.0/104"]}})
    (source,) = faults({"outbound": {"sources": {"a": mapped}}})
    assert "must be written as IPv4 (10.0.0.0)" in balancers
    assert "must be written as IPv4 (192.0.2.1)" in source


def test_the_environment_overrides_a_key() -> None:
    settings = parse(
        {"server": {"hostname": "file.test"}, "limits": {"requests_per_minute": 5}},
        {
            "MAILD_DATA_DIR": "/elsewhere",
            "MAILD_SERVER__HOSTNAME": "env.test",
            "MAILD_SMTP__LISTEN": '["127.0.0.1:0"]',
            "MAILD_LIMITS__REQUESTS_PER_MINUTE": "7",
            "MAILD_OUTBOUND__ALLOW_PRIVATE_NETWORKS": "true",
            "MAILD_PLANS__GOLD__INBOXES": "9",
            "OTHER_SERVER__HOSTNAME": "not.ours.test",
        },
    )
    assert settings.data_dir == "/elsewhere"
    assert settings.server.hostname == "env.test"
    assert settings.smtp.listen == ("127.0.0.1:0",)
    assert settings.limits.requests_per_minute == 7
    assert settings.outbound.allow_private_networks is True
    assert settings.plan("gold").inboxes == 9


def test_faults_of_the_environment_are_told_alike() -> None:
    found = faults(
        {}, {"MAILD_SMTP__MAX_SESSIONS": "many", "MAILD_COLOUR": "red", "MAILD_SMTP__COLOUR": "red"}
    )
    assert sorted(one.split(":")[0] for one in found) == ["colour", "smtp.colour", "smtp.max_sessions"]


@pytest.mark.parametrize(
    ("document", "variables", "key"),
    [
        # What an orchestrator sets for a service of that name.
        ({}, {"MAILD_PORT_25_TCP": "tcp://192.0.2.1:25"}, "port_25_tcp"),
        ({}, {"MAILD_SMPT__LISTEN": "x"}, "smpt"),
        ({"smtp": {"max_sessions": 7}}, {"MAILD_SMTP__MAX_SESSIONS": "many"}, "smtp.max_sessions"),
        ({}, {"MAILD_SMTP__LISTEN": '["127.0.0.1:x"]'}, "smtp.listen.0"),
        ({}, {"MAILD_SMTP__TLS_CERT": "/c.pem"}, "smtp.tls_cert, smtp.tls_key"),
    ],
)
def test_a_fault_that_no_file_has_names_its_variable(
    document: dict[str, Any], variables: dict[str, str], key: str
) -> None:
    (found,) = faults(document, variables)
    (name,) = variables
    assert found.startswith(f"{key}: ") and found.endswith(f"; so says {name} in the environment")


def test_a_fault_of_the_file_names_no_variable() -> None:
    (found,) = faults({"smtp": {"colour": 1}}, {"MAILD_SMTP__MAX_SESSIONS": "7"})
    assert "environment" not in found


def test_what_clients_find_in_the_environment_is_no_fault_of_the_daemon() -> None:
    assert parse({}, {"MAILD_URL": "https://mail.test", "MAILD_API_KEY": "svc_live_x"}) == parse({})


def test_an_override_below_something_that_is_no_section_is_a_fault_too() -> None:
    assert faults({}, {"MAILD_DATA_DIR__X": "1"})
    assert faults({"data_dir": "/x"}, {"MAILD_DATA_DIR__X": "1"})


def test_a_file_that_names_one_plan_keeps_the_shipped_ones() -> None:
    settings = parse({"plans": {"free": {"inboxes": 7}, "gold": {}}})
    assert set(settings.plans) == {"selfhost", "free", "pro", "gold"}
    assert settings.plan("free").inboxes == 7 and settings.plan("free").messages_daily is None
    assert settings.plan("taken out") == settings.plan(DEFAULT_PLAN)


def test_what_can_not_be_read_is_one_fault(tmp_path: Path) -> None:
    broken, latin = tmp_path / "broken.toml", tmp_path / "latin.toml"
    broken.write_text("[smtp\n")
    latin.write_bytes(b'data_dir = "\xff"')
    for path in (broken, latin, tmp_path / "gone.toml", tmp_path):
        with pytest.raises(SettingsError) as told:
            load(path, {})
        (fault,) = told.value.faults
        assert fault.startswith(f"{path}: ")


def test_a_file_may_begin_with_the_mark_that_editors_put_there(tmp_path: Path) -> None:
    marked = tmp_path / "marked.toml"
    marked.write_text('[server]\nhostname = "mx.here.test"\n', "utf-8-sig")
    assert load(marked, {}).server.hostname == "mx.here.test"


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_a_file_that_is_not_utf_8_hears_what_to_do(tmp_path: Path, encoding: str) -> None:
    """As PowerShell and old editors write it."""
    path = tmp_path / "maild.toml"
    path.write_text("# Stra\u00dfe\n", encoding)
    with pytest.raises(SettingsError) as told:
        load(path, {})
    (fault,) = told.value.faults
    assert fault == f"{path}: its line 1 is not UTF-8; save it in that encoding"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("pipe", "it is a pipe out of which nothing comes"),
        ("/dev/zero", "it is longer than 1 MiB; name another file"),
    ],
)
def test_what_never_ends_is_not_read_to_its_end(tmp_path: Path, name: str, says: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    path = tmp_path / name
    with pytest.raises(SettingsError) as told:
        load(path, {})
    assert told.value.faults == [f"{path}: {says}"]


def test_a_pipe_is_read_as_a_file_is(tmp_path: Path) -> None:
    """`--config <(…)` of a shell."""
    read, write = os.pipe()
    with os.fdopen(write, "w") as file:
        file.write('[server]\nhostname = "mx.here.test"\n')
    assert load(Path(f"/dev/fd/{read}"), {}).server.hostname == "mx.here.test"
    os.close(read)


def test_a_faulty_item_is_one_fault_and_does_not_make_its_list_empty() -> None:
    (only,) = faults({"smtp": {"listen": ["nowhere"]}})
    assert only.startswith("smtp.listen.0: ")


@pytest.mark.parametrize("given", ["", "/var/lib/ma\0ild"])
def test_the_data_folder_is_a_path_and_not_wherever_the_command_is_given(given: str) -> None:
    assert faults({"data_dir": given}) == [
        f"data_dir: must be the path of a folder such as /var/lib/maild (is {given!r})"
    ]


def test_the_name_of_a_file_is_a_path() -> None:
    relay = {"host": "a.test:25", "username": "u", "password_file": "a\0b", "ca_file": "a\0b"}
    assert faults({"smtp": {"tls_cert": "a\0b", "tls_key": "k"}, "outbound": {"relays": {"a": relay}}}) == [
        f"{key}: must be the path of a file such as /etc/maild/secret (is 'a\\x00b')"
        for key in ("smtp.tls_cert", "outbound.relays.a.password_file", "outbound.relays.a.ca_file")
    ]


def test_a_relative_data_folder_is_told_with_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The daemon of systemd begins in another folder than commands do."""
    monkeypatch.chdir(tmp_path)
    assert parse({"data_dir": "data"}).data_path == tmp_path / "data"


def test_settings_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Settings().smtp.max_sessions = 5  # type: ignore[misc]


def test_submission_wants_a_certificate_and_says_so_beside_other_faults() -> None:
    found = faults(
        {
            "smtp": {"submission_listen": ["0.0.0.0:587"], "submission_listen_tls": ["0.0.0.0:465"]},
            "server": {"apex_domain": "agents.test"},
        }
    )
    advice = "mail programs refuse a self-signed certificate; give smtp.tls_cert and smtp.tls_key"
    assert found[:2] == [f"smtp.submission_listen: {advice}", f"smtp.submission_listen_tls: {advice}"]
    assert len(found) == 3
    assert faults({"smtp": {"submission_listen": ["nowhere"]}})[0].startswith(
        "smtp.submission_listen.0: must be"
    )
