"""GET /v1/organization and its members: contract, section 4; decisions.md, "Organization"."""

from typing import Any

import pytest

from controlplane.operations.accounts import organization
from storage.clock import DAY_MS, day_of, month_of
from storage.ids import Ids
from tests.conftest import Start
from tests.support.running import SHARED, Api, Running
from tests.support.worlds.store import ManualClock

RESOURCES = {"messagesMonthly", "messagesDaily", "inboxes", "openDrafts", "webhooks", "storageBytes"}


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()  # 2026-11-18


async def profile(api: Api) -> dict[str, Any]:
    found: dict[str, Any] = (await api.get("/v1/organization")).data
    return found


def count(
    maild: Running, organization_id: str, period: str, metric: str, value: int, scope: str = ""
) -> None:
    maild.sql("INSERT INTO usage VALUES (?, ?, ?, ?, ?)", organization_id, scope, period, metric, value)


async def test_a_new_organization_is_complete(start: Start, clock: ManualClock) -> None:
    maild = await start(clock=clock)
    fresh = await maild.organization()
    found = await profile(fresh.api)
    assert found.pop("createdAt").endswith("Z")
    assert found == {
        "id": fresh.id,
        "name": "Another",
        "plan": "selfhost",
        "limits": {
            "messagesMonthly": None, "messagesDaily": None, "inboxes": None,
            "openDrafts": 1000, "webhooks": 50, "storageBytes": None,
        },
        "usage": dict.fromkeys(RESOURCES, 0),
        "resetsAt": {"daily": "2026-11-19T00:00:00.000Z", "monthly": "2026-12-01T00:00:00.000Z"},
        "sendingApproval": {"status": "approved", "reason": None, "action": None, "trippedAt": None},
        "reputation": {"windowDays": 30, "sent": 0, "hardBounceRate": 0.0, "complaintRate": 0.0},
        "reviewers": "keys",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("plan", "limits"),
    [
        ("free", {"messagesDaily": 100, "messagesMonthly": 3000, "inboxes": 3, "openDrafts": 50, "webhooks": 2}),
        ("pro", {"messagesDaily": 5000, "messagesMonthly": 100_000, "inboxes": 100, "openDrafts": 1000,
                 "webhooks": 20}),
        ("tiny", {"messagesDaily": 1, "messagesMonthly": None, "inboxes": 1, "openDrafts": None, "webhooks": 1}),
    ],
)  # fmt: skip
async def test_limits_are_those_of_the_plan(maild: Running, plan: str, limits: dict[str, int | None]) -> None:
    found = await profile((await maild.organization(plan)).api)
    assert found["plan"] == plan
    assert found["limits"] == {**limits, "storageBytes": None}


async def test_limits_and_usage_are_twins(maild: Running) -> None:
    found = await profile(maild.api)
    assert set(found["limits"]) == set(found["usage"]) == RESOURCES


async def test_usage_follows_what_the_organization_does(start: Start, clock: ManualClock) -> None:
    maild = await start(clock=clock)
    bot = await maild.inbox("bot")
    before = (await profile(maild.api))["usage"]
    assert before["inboxes"] == 2  # the operator's and the bot's
    assert (await maild.api.send(bot, text="one")).status == 201
    received = await maild.received(bot, "Subject: hi\n\nhello")
    sent = await maild.api.messages(inboxId=bot["id"], direction="outbound")
    maild.sql(
        """INSERT INTO drafts (id, organization_id, inbox_id, to_addresses, cc_addresses, bcc_addresses, subject,
             status, created_at, updated_at)
           SELECT 'drf_' || status, ?, ?, '[]', '[]', '[]', '', status, 1, 1
           FROM (SELECT 'draft' AS status UNION SELECT 'sent' UNION SELECT 'discarded')""",
        maild.organization_id,
        bot["id"],
    )
    await maild.organization()
    stored = [len(await maild.raw(one)) for one in (received["id"], sent[0]["id"])]
    assert (await profile(maild.api))["usage"] == {
        "messagesMonthly": 1,
        "messagesDaily": 1,
        "inboxes": 2,
        "openDrafts": 1,
        "webhooks": 0,
        "storageBytes": sum(stored),
    }


async def test_a_deleted_message_gives_its_room_back(maild: Running, bot: dict[str, Any]) -> None:
    kept, dropped = [await maild.received(bot, f"Subject: {n}\n\nhello") for n in range(2)]
    assert (await maild.api.call("DELETE", f"/v1/messages/{dropped['id']}")).status == 200
    usage = (await profile(maild.api))["usage"]
    assert usage["storageBytes"] == len(await maild.raw(kept["id"]))


async def test_test_mail_uses_nothing_but_room(maild: Running, bot: dict[str, Any]) -> None:
    assert (await maild.test_api.send(bot)).status == 201
    usage = (await profile(maild.api))["usage"]
    assert (usage["messagesDaily"], usage["messagesMonthly"]) == (0, 0)
    assert usage["storageBytes"] > 0


async def test_a_paused_organization_is_told_why(start: Start, clock: ManualClock) -> None:
    maild = await start(clock=clock)
    maild.store.organizations.pause(maild.organization_id, "hard_bounce_rate")
    assert (await profile(maild.api))["sendingApproval"] == {
        "status": "paused",
        "reason": "hard_bounce_rate",
        "action": "contact_operator",
        "trippedAt": "2026-11-18T11:06:40.000Z",
    }
    maild.store.organizations.approve(maild.organization_id)
    approval = (await profile(maild.api))["sendingApproval"]
    assert approval == {"status": "approved", "reason": None, "action": None, "trippedAt": None}


async def test_reputation_is_that_of_the_last_30_days(start: Start, clock: ManualClock) -> None:
    maild = await start(clock=clock)
    mine, now_ms = maild.organization_id, clock.now_ms()
    oldest, too_old = day_of(now_ms - 29 * DAY_MS), day_of(now_ms - 30 * DAY_MS)
    for period, sent, bounced, complained in (
        (day_of(now_ms), 100, 1, 1),
        (oldest, 150, 0, 0),
        (too_old, 1000, 1000, 1000),
        (month_of(now_ms), 1000, 1000, 1000),
    ):
        count(maild, mine, period, "messages", sent)
        count(maild, mine, period, "bounced", bounced)
        count(maild, mine, period, "complained", complained)
    count(maild, mine, day_of(now_ms), "messages", 7, scope=SHARED)
    count(maild, (await maild.organization()).id, day_of(now_ms), "bounced", 7)
    assert (await profile(maild.api))["reputation"] == {
        "windowDays": 30,
        "sent": 250,
        "hardBounceRate": 0.004,
        "complaintRate": 0.004,
    }


async def test_rates_are_over_recipients(start: Start, clock: ManualClock) -> None:
    """One message to 50, of whom 3 bounce: 6 %, not 300 %."""
    maild = await start(clock=clock)
    today = day_of(clock.now_ms())
    for metric, value in (("messages", 1), ("delivered", 47), ("bounced", 3)):
        count(maild, maild.organization_id, today, metric, value)
    reputation = (await profile(maild.api))["reputation"]
    assert (reputation["sent"], reputation["hardBounceRate"]) == (1, 0.06)


async def test_members_are_listed_as_they_joined(maild: Running) -> None:
    assert (await maild.api.get("/v1/organization/members")).data == []
    other = await maild.organization()
    for member_id, organization_id, email, name, role, joined_at in (
        ("mem_2", maild.organization_id, "b@x.test", None, "member", 2000),
        ("mem_1", maild.organization_id, "a@x.test", "Ann", "owner", 1000),
        ("mem_3", other.id, "c@x.test", None, "admin", 1500),
    ):
        maild.sql(
            "INSERT INTO members VALUES (?, ?, ?, ?, ?, ?)",
            member_id, organization_id, email, name, role, joined_at,
        )  # fmt: skip
    assert (await maild.api.get("/v1/organization/members")).data == [
        {"id": "mem_1", "email": "a@x.test", "name": "Ann", "role": "owner", "joinedAt": "1970-01-01T00:00:01.000Z"},
        {"id": "mem_2", "email": "b@x.test", "name": None, "role": "member", "joinedAt": "1970-01-01T00:00:02.000Z"},
    ]  # fmt: skip
    assert [one["role"] for one in (await other.api.get("/v1/organization/members")).data] == ["admin"]


async def test_members_come_in_pages(maild: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = Ids(ManualClock())
    joined = [(ids.new("mem"), 1000 + number // 2) for number in range(7)]  # two at a time
    for member_id, joined_at in joined:
        maild.sql(
            "INSERT INTO members VALUES (?, ?, ?, NULL, 'member', ?)",
            member_id, maild.organization_id, f"{member_id}@x.test", joined_at,
        )  # fmt: skip
    pages: list[list[str]] = [[]]
    given = {"limit": "3"}
    while pages == [[]] or pages[-1]:
        page = (await maild.api.get("/v1/organization/members", **given)).data
        pages.append([one["id"] for one in page])
        given |= {"cursor": pages[-1][-1]} if page else {}
    expected = [one for one, _ in joined]
    assert pages == [[], expected[:3], expected[3:6], expected[6:], []]
    monkeypatch.setattr(organization, "LISTED_MAX", 2)
    first = (await maild.api.get("/v1/organization/members")).data
    assert [one["id"] for one in first] == expected[:2]


async def test_a_page_of_members_goes_on_behind_one_who_is_removed(maild: Running) -> None:
    ids = Ids(clock := ManualClock())
    joined = []
    for _ in range(3):
        joined.append((ids.new("mem"), clock.now_ms()))
        clock.forward(1)
    for member_id, joined_at in joined:
        maild.sql(
            "INSERT INTO members VALUES (?, ?, ?, NULL, 'member', ?)",
            member_id, maild.organization_id, f"{member_id}@x.test", joined_at,
        )  # fmt: skip
    gone = joined[1][0]
    maild.sql("DELETE FROM members WHERE id = ?", gone)
    (last,) = (await maild.api.get("/v1/organization/members", cursor=gone)).data
    assert last["id"] == joined[2][0]


@pytest.mark.parametrize("path", ["/v1/organization", "/v1/organization/members"])
async def test_a_bound_key_reads_neither(maild: Running, bot: dict[str, Any], path: str) -> None:
    answer = await (await maild.key(inbox=bot)).get(path)
    assert (answer.status, answer.code) == (403, "insufficient_scope")
    assert answer.error["details"]["requiredScope"] == "organization:read"
