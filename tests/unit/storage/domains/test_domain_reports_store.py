"""Reports about domains in the store: each domain keeps so many of its own, and takes no other's place."""

import sqlite3

import pytest

from storage.domains import domain_reports, domains
from storage.domains.domain_reports import DomainReportRow
from storage.engine.tx import Tx
from storage.tenants import organizations
from tests.support.worlds import memory_store

KEPT = 3
REPORT = DomainReportRow("", None, None, "dmarc", "there.test", "", None, 0, 1, 0, 0, 0, "{}", "msg_1", 0)


@pytest.fixture
def conn(monkeypatch: pytest.MonkeyPatch) -> sqlite3.Connection:
    monkeypatch.setattr(domain_reports, "KEPT", KEPT)
    conn = memory_store.empty()
    for owner, name in (("org_1", "one"), ("org_1", "other"), ("org_2", "theirs")):
        if name != "other":
            organizations.create(Tx(conn), owner, "Acme", "selfhost", 0)
        domains.register(
            Tx(conn), f"dom_{name}", 0, organization_id=owner, domain_name=f"{name}.test", challenge="", daily_cap=None
        )  # fmt: skip
    return conn


def keep(tx: Tx, number: int, domain_id: str) -> bool:
    row = REPORT._replace(id=f"rep_{number}", domain_id=domain_id, report_id=str(number))
    return domain_reports.keep(tx, row)


def test_the_oldest_of_the_same_domain_makes_room(conn: sqlite3.Connection) -> None:
    tx = Tx(conn)
    assert keep(tx, 0, "dom_other")
    assert [keep(tx, number, "dom_one") for number in range(1, 6)] == [True] * 5
    assert not keep(tx, 5, "dom_one")

    def listed(organization_id: str, domain_id: str) -> list[str]:
        rows = domain_reports.list_reports(tx, organization_id, domain_id, limit=9, kind=None, before=None)
        return [row.id for row in rows]

    assert listed("org_1", "dom_one") == ["rep_5", "rep_4", "rep_3"]
    assert listed("org_1", "dom_other") == ["rep_0"]
    assert listed("org_2", "dom_one") == []


def test_shared_domains_keep_their_own_by_name(conn: sqlite3.Connection) -> None:
    tx = Tx(conn)

    def keep_shared(number: int, name: str, sender: str | None = None) -> bool:
        row = REPORT._replace(
            id=f"rep_{number}", shared_domain=name, report_id=str(number), verified_domain=sender
        )
        return domain_reports.keep(tx, row)

    assert keep(tx, 0, "dom_one") and keep_shared(1, "other.test")
    assert [keep_shared(number, "ours.test") for number in range(2, 7)] == [True] * 5
    assert not keep_shared(6, "ours.test")
    rows = domain_reports.list_shared(tx, "ours.test", limit=9, kind=None)
    assert [row.id for row in rows] == ["rep_6", "rep_5", "rep_4"]
    assert domain_reports.list_shared(tx, "ours.test", limit=9, kind="tls") == []
    assert [row.id for row in domain_reports.list_shared(tx, "other.test", limit=9, kind="dmarc")] == [
        "rep_1"
    ]
    assert len(domain_reports.list_reports(tx, "org_1", "dom_one", limit=9, kind=None, before=None)) == 1


def test_a_report_is_about_one_domain(conn: sqlite3.Connection) -> None:
    for both in (REPORT, REPORT._replace(domain_id="dom_one", shared_domain="ours.test")):
        with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
            domain_reports.keep(Tx(conn), both._replace(id="rep_1"))


def test_a_report_is_about_a_registration_that_is_there(conn: sqlite3.Connection) -> None:
    tx = Tx(conn)
    assert domain_reports.about(tx, "org_1", "one.test") == "dom_one"
    assert domain_reports.about(tx, "org_1", "theirs.test") is None
    assert domains.delete(tx, "org_1", "dom_one", 1) is not None
    assert domain_reports.about(tx, "org_1", "one.test") is None
