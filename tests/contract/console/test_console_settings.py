"""Who is signed in where, and signing a browser out."""

import re

import pytest

from controlplane.access.principal import LIVE, Principal
from controlplane.contract.refusals import Refusal
from controlplane.operations.operation import Operation
from controlplane.operations.table import END_SESSION, LIST_SESSIONS
from tests.conftest import Start
from tests.support.clients.console import LOCAL, PageAnswer, Visitor
from tests.support.running import Running


@pytest.fixture
async def local(start: Start) -> Running:
    return await start(server=LOCAL)


def ends(page: PageAnswer) -> list[str]:
    """Where the buttons lead that sign a browser out."""
    return re.findall(r'action="(/console/settings/sessions/[^"]+/end)"', page.text)


async def test_who_acts_signs_other_browsers_out(local: Running) -> None:
    ada = await Visitor.sign_in(local, "owner")
    eve = await Visitor.sign_in(local, "member", "eve@people.test")
    page = await ada.get("/console/settings")
    assert "This browser" in page.said.replace("this browser", "This browser")
    assert page.said.count("eve@people.test") == 2, "as a member, and with a browser"
    (end,) = ends(page)
    assert (await ada.post(end)).location == "/console/settings?done=session_ended"
    assert (await eve.get("/console")).status == 303
    assert (await ada.get("/console")).status == 200
    (act,) = (await local.api.get("/v1/audit", types="session.ended")).data
    assert act["actor"] != act["details"]["memberId"] and act["subject"] in end
    assert (await ada.post(end)).status == 404


async def test_who_reads_sees_and_ends_their_own_alone(local: Running) -> None:
    await Visitor.sign_in(local, "owner")
    eve, phone = [await Visitor.sign_in(local, "member", "eve@people.test") for _ in range(2)]
    theirs = [id for (id, email) in local.sql(
        "SELECT s.id, m.email FROM console_sessions s JOIN members m ON m.id = s.member_id"
    ) if email == "ada@people.test"]  # fmt: skip
    page = await eve.get("/console/settings")
    assert page.text.count("this browser") == 1 and theirs[0] not in page.text
    (end,) = ends(page)
    assert (await eve.post(f"/console/settings/sessions/{theirs[0]}/end")).status == 404
    assert (await eve.post(end)).status == 303
    assert (await phone.get("/console")).status == 303


async def test_nobody_reaches_another_organization(local: Running) -> None:
    ada = await Visitor.sign_in(local, "owner")
    other = await local.organization()
    stranger = await Visitor.sign_in(local, "owner", "eve@people.test", other.id)
    (mine,) = [id for (id, owner) in local.sql("SELECT id, organization_id FROM console_sessions")
               if owner == local.organization_id]  # fmt: skip
    page = await stranger.get("/console/settings")
    assert mine not in page.text and "ada@people.test" not in page.said
    assert (await stranger.post(f"/console/settings/sessions/{mine}/end")).status == 404
    assert (await ada.get("/console")).status == 200


@pytest.mark.parametrize("operation", [LIST_SESSIONS, END_SESSION])
async def test_no_key_reaches_sessions(local: Running, operation: Operation) -> None:
    key = Principal("key_1", local.organization_id, None, ("*",), LIVE)
    with pytest.raises(Refusal) as refused:
        nothing = local.daemon.operations.values(operation, key, None)
        await local.daemon.operations.invoke(operation, key, nothing, id="ses_1")
    assert refused.value.code == "member_required"
