"""A domain's way from its name to mail, in a person's hands."""

import html
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.conftest import Start
from tests.support.clients.console import LOCAL, Visitor
from tests.support.peers.doh_server import publish
from tests.support.worlds.domain_world import NAME, DomainWorld, domain_world, record_of


@pytest.fixture
async def world(start: Start, tmp_path: Path) -> AsyncIterator[DomainWorld]:
    async with domain_world(start, tmp_path, server=LOCAL) as made:
        yield made


async def test_a_domain_is_registered_published_and_verified(world: DomainWorld) -> None:
    member = await Visitor.sign_in(world.maild)
    assert "No domain of your own yet" in (await member.get("/console/domains")).said
    done = await member.post("/console/domains", domain=f" {NAME.upper()}. ")
    (domain,) = (await world.api.get("/v1/domains")).data
    path = f"/console/domains/{domain['id']}"
    assert done.location == f"{path}?done=domain_made" and domain["domainName"] == NAME
    page = await member.follow(done)
    copied = [html.unescape(one) for one in re.findall(r"<pre[^>]*><code>(.*?)</code>", page.text)]
    assert copied == [one[name] for one in domain["records"] for name in ("name", "value")]
    done = await member.post(f"{path}/verify")
    assert done.location == f"{path}?done=domain_pending"
    page = await member.follow(done)
    assert page.said.lower().count("missing") >= len(domain["records"])
    publish(world.zone, domain["records"])
    done = await member.post(f"{path}/verify")
    assert done.location == f"{path}?done=domain_active"
    page = await member.follow(done)
    assert "verified" in page.said and "missing" not in page.said
    (act,) = (await world.api.get("/v1/audit", types="domain.verified")).data
    assert act["actor"].startswith("mem_")


async def test_what_dns_shows_instead_is_told(world: DomainWorld) -> None:
    domain = await world.register()
    spf = record_of(domain, "spf")
    publish(world.zone, [{**spf, "value": "v=spf1 include:<b>other</b>.test -all"}])
    member = await Visitor.sign_in(world.maild)
    done = await member.post(f"/console/domains/{domain['id']}/verify")
    page = await member.follow(done)
    assert "another value" in page.said and "include:<b>other</b>.test" in page.said
    assert "<b>other" not in page.text


async def test_many_domains_are_walked_through(world: DomainWorld) -> None:
    names = {f"d{number}.acme.test" for number in range(53)}
    first = await world.register("d0.acme.test")
    columns = [name for (name,) in world.maild.sql("SELECT name FROM pragma_table_info('domains')")]
    given = {"id": "printf('dom_%026d', n)", "domain_name": "'d' || n || '.acme.test'"}
    picked = ", ".join(given.get(name, name) for name in columns)
    world.maild.sql(
        f"""WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 52)
            INSERT INTO domains ({", ".join(columns)})
            SELECT {picked} FROM domains, numbers WHERE id = '{first["id"]}'"""
    )
    member = await Visitor.sign_in(world.maild)
    path, seen = "/console/domains", []
    while path:
        page = await member.get(path)
        seen += re.findall(r"<b>(d\d+\.acme\.test)</b>", page.text)
        older = re.findall(r'href="(\?[^"]*cursor=[^"]+)"', page.text)
        path = f"/console/domains{html.unescape(older[0])}" if older else ""
    assert sorted(seen) == sorted(names)


async def test_what_is_no_domain_to_have_is_told(world: DomainWorld) -> None:
    member = await Visitor.sign_in(world.maild)
    done = await member.post("/console/domains", domain="no domain")
    assert done.status == 400 and "domain:" in done.said
    await world.register()
    done = await member.post("/console/domains", domain=NAME)
    assert done.status == 409 and (await world.api.get("/v1/domains")).data[1:] == []
