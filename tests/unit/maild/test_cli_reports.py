"""`maild reports`: what other hosts report about the shared domains, for a person and for a program."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from maild.cli.program import main
from storage.domains import domain_reports
from storage.domains.domain_reports import DomainReportRow
from storage.engine import migrate

DMARC = {"dkimAligned": 2, "spfAligned": 3, "dispositions": {}, "sources": []}
HOSTILE = "evil.test\x1b[2J\nrep_9  ours.test"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "maild.toml"
    path.write_text(
        f"data_dir = '{tmp_path / 'data'}'\n[server]\nshared_domains = ['ours.test', 'two.test']\n"
    )
    assert run("init", "--config", str(path)).exit_code == 0
    day, rows = 86_400_000, [("dmarc", "ours.test", "there.test", 3, 1), ("tls", "two.test", None, 7, 0)]
    with migrate.transaction(tmp_path / "data" / "maild.sqlite3") as tx:
        for number, (kind, name, sender, total, is_truncated) in enumerate(rows):
            row = DomainReportRow(
                f"rep_{number}", None, name, kind, HOSTILE, "7", sender, 0, day - 1, total, 2, is_truncated,
                json.dumps(DMARC), "msg_1", day,
            )  # fmt: skip
            assert domain_reports.keep(tx, row)
    return str(path)


def test_a_person_reads_a_line_for_each_and_nothing_of_it_acts_on_the_terminal(config: str) -> None:
    shown = run("reports", "--config", config)
    assert (shown.exit_code, shown.stderr) == (0, "")
    newest, oldest = shown.stdout.splitlines()
    assert newest.startswith(
        "rep_1  two.test  tls  from 1970-01-01T00:00:00.000Z to 1970-01-01T23:59:59.999Z  "
    )
    assert newest.endswith("  2 of 7 sessions passed  evil.test\\u001b[2J\\nrep_9  ours.test [nobody proven]")
    assert "  2 of 3 messages passed (there are more)  " in oldest and oldest.endswith(" [there.test]")


def test_a_program_reads_all_of_it(config: str) -> None:
    told = json.loads(run("reports", "OURS.test.", "--config", config, "--json").stdout)
    (report,) = told["reports"]
    assert (report["domainName"], report["failed"], report["dmarc"], report["tls"]) == (
        "ours.test",
        1,
        DMARC,
        None,
    )
    assert json.loads(run("reports", "--type", "tls", "--limit", "1", "--config", config, "--json").stdout)[
        "reports"
    ]
    assert json.loads(run("reports", "ours.test", "--type", "tls", "--config", config, "--json").stdout) == {
        "reports": [],
        "more": False,
    }


def test_another_domain_is_refused_with_those_that_there_are(config: str) -> None:
    refused = run("reports", "acme.test", "--config", config)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert (
        refused.stderr
        == "maild: there is no shared domain acme.test; server.shared_domains has ours.test, two.test\n"
    )
