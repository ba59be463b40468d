"""Analytics, additive: decisions.md, "Analytics"."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from storage.clock import DAY_MS, iso
from storage.ids import made_at
from tests.conftest import Start
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.running import Api, Running, until

PATHS = ("/v1/analytics/summary", "/v1/analytics/events", "/v1/analytics/destinations")
NOTHING = {
    "sent": 0, "delivered": 0, "bounced": 0, "complained": 0, "received": 0, "hardBounceRate": 0.0,
    "complaintRate": 0.0, "medianDeliverySeconds": None,
}  # fmt: skip


@pytest.fixture
async def dns() -> AsyncIterator[DnsServer]:
    server = await DnsServer().start()
    for domain in ("there.test", "elsewhere.test"):
        server.add_mx(domain)
    yield server
    await server.stop()


@pytest.fixture
async def mx() -> AsyncIterator[Mx]:
    async with Mx() as mx:
        mx.always["RCPT", "gone@there.test"] = "550 5.1.1 no such user"
        mx.always["RCPT", "later@there.test"] = "451 4.7.1 later"
        yield mx


@pytest.fixture
async def connected(start: Start, dns: DnsServer, mx: Mx) -> Running:
    """A daemon whose mail arrives."""
    return await start(
        dns={"nameservers": [f"127.0.0.1:{dns.port}"]},
        outbound={"port": mx.port, "allow_private_networks": True},
    )


async def settled(maild: Running, sent: dict[str, Any], *statuses: str) -> None:
    async def look() -> bool | None:
        message = (await maild.api.get(f"/v1/messages/{sent['id']}")).data
        return [one["status"] for one in message["recipients"]] == list(statuses) or None

    await until(look)


async def summary(api: Api, **params: str) -> dict[str, Any]:
    found: dict[str, Any] = (await api.get("/v1/analytics/summary", **params)).data
    return found


async def totals(api: Api, **params: str) -> dict[str, int]:
    found = (await api.get("/v1/analytics/events", **params)).data
    return {one["type"]: one["total"] for one in found["series"] if one["total"]}


async def test_nothing_is_zero(maild: Running) -> None:
    assert await summary(maild.api) == NOTHING
    assert (await maild.api.get("/v1/analytics/destinations")).data == []
    assert await totals(maild.api) == {}


async def test_each_recipient_counts(connected: Running) -> None:
    maild, bot = connected, await connected.inbox("bot")
    one = (await maild.api.send(bot, to=["you@there.test", "gone@there.test", "later@there.test"])).data
    two = (await maild.api.send(bot, to=["other@elsewhere.test"])).data
    await maild.received(bot, "Subject: hi\n\nhello")
    await settled(maild, one, "delivered", "bounced", "deferred")
    await settled(maild, two, "delivered")

    found = await summary(maild.api)
    took = found.pop("medianDeliverySeconds")
    assert 0 <= took < 10 and round(took, 3) == took
    assert found == {
        "sent": 4, "delivered": 2, "bounced": 1, "complained": 0, "received": 1,
        "hardBounceRate": 0.25, "complaintRate": 0.0,
    }  # fmt: skip
    destinations = (await maild.api.get("/v1/analytics/destinations")).data
    said_at = [one.pop("lastResponseAt") for one in destinations]
    assert all(one.endswith("Z") for one in said_at)
    responses = [one.pop("lastResponse") for one in destinations]
    assert responses[1] == "250 2.0.0 taken"
    assert responses[0] in ("250 2.0.0 taken", "550 5.1.1 no such user", "451 4.7.1 later")
    assert destinations == [
        {"domain": "there.test", "sent": 3, "delivered": 1, "deferred": 1, "bounced": 1},
        {"domain": "elsewhere.test", "sent": 1, "delivered": 1, "deferred": 0, "bounced": 0},
    ]
    assert (await maild.api.get("/v1/analytics/destinations", limit="1")).data[0]["domain"] == "there.test"
    assert await totals(maild.api) == {"email.received": 1, "email.sent": 2, "email.bounced": 1}
    assert await totals(maild.api, types="email.sent,email.received") == {
        "email.received": 1,
        "email.sent": 2,
    }


async def test_suppressed_and_test_mail_counts_for_nothing(connected: Running) -> None:
    maild, bot = connected, await connected.inbox("bot")
    await maild.test_api.send(bot, to=["bounce@simulator.test"])
    sent = (await maild.api.send(bot, to=["later@there.test"])).data
    await settled(maild, sent, "deferred")
    maild.sql("UPDATE recipients SET status = 'suppressed' WHERE message_id = ?", sent["id"])
    assert await summary(maild.api) == NOTHING
    assert (await maild.api.get("/v1/analytics/destinations")).data == []
    assert await totals(maild.api) == {}


async def test_what_waits_for_its_time_is_not_sent(maild: Running, bot: dict[str, Any]) -> None:
    sent = (await maild.api.send(bot)).data
    assert (await summary(maild.api))["sent"] == 1

    async def attempts() -> Any:
        return (await maild.api.get(f"/v1/messages/{sent['id']}/attempts")).data or None

    await until(attempts)  # the queue's own verdict, which finds no MX, is written by now
    for status in ("scheduled", "cancelled"):
        maild.sql("UPDATE messages SET status = ? WHERE id = ?", status, sent["id"])
        assert (await summary(maild.api))["sent"] == 0


async def test_a_complaint_counts_for_its_message(maild: Running, bot: dict[str, Any]) -> None:
    sent = [(await maild.api.send(bot, to=[f"n{number}@there.test"])).data for number in range(4)]
    for number, (mode, message) in enumerate((("live", sent[0]), ("test", sent[1]))):
        maild.sql(
            """INSERT INTO events (id, organization_id, inbox_id, message_id, type, mode, data, created_at)
               VALUES (?, ?, ?, ?, 'email.complained', ?, '{}', ?)""",
            f"evt_{number}", maild.organization_id, bot["id"], message["id"], mode, 2**45,
        )  # fmt: skip
    found = await summary(maild.api)
    assert (found["sent"], found["complained"], found["complaintRate"]) == (4, 1, 0.25)
    assert (await summary(maild.api, inboxId="inb_x"))["complained"] == 0


async def test_a_message_that_was_deleted_counts_in_no_figure_of_the_summary(
    maild: Running, bot: dict[str, Any]
) -> None:
    """Complaints about what is gone, over what is still there, would be a rate of nothing."""
    for message in [(await maild.api.send(bot, to=[f"n{number}@there.test"])).data for number in range(2)]:
        maild.sql(
            """INSERT INTO events (id, organization_id, inbox_id, message_id, type, mode, data, created_at)
               VALUES (?, ?, ?, ?, 'email.complained', 'live', '{}', ?)""",
            f"evt_of_{message['id']}", maild.organization_id, bot["id"], message["id"], 2**45,
        )  # fmt: skip
    assert (await maild.api.call("DELETE", f"/v1/messages/{message['id']}")).status == 200
    found = await summary(maild.api)
    assert (found["sent"], found["complained"], found["complaintRate"]) == (1, 1, 1.0)


async def test_a_window_of_what_was_sent(maild: Running, bot: dict[str, Any]) -> None:
    sent_at = made_at((await maild.api.send(bot)).data["id"])
    for since_ms, until_ms, sent in (
        (sent_at, sent_at + 1, 1), (sent_at + 1, sent_at + 1000, 0), (sent_at - 1000, sent_at, 0)
    ):  # fmt: skip
        window = {"since": iso(since_ms), "until": iso(until_ms)}
        assert (await summary(maild.api, **window))["sent"] == sent
        destinations = (await maild.api.get("/v1/analytics/destinations", **window)).data
        assert len(destinations) == sent


async def test_a_window_begins_with_since_and_ends_before_until(maild: Running, bot: dict[str, Any]) -> None:
    await maild.received(bot, "Subject: hi\n\nhello")
    message = (await maild.api.messages())[0]
    (created_at,), (event_at,) = maild.sql("SELECT created_at FROM messages") + maild.sql(
        "SELECT created_at FROM events"
    )
    # An id is minted within a few milliseconds of its row's time.
    at_ms = int.from_bytes(_decode(message["id"][4:14]), "big")
    assert 0 <= at_ms - created_at < 1000
    for since_ms, until_ms, received in (
        (at_ms, at_ms + 1, 1), (at_ms + 1, at_ms + 2, 0), (at_ms - 1, at_ms, 0), (at_ms - DAY_MS, at_ms + DAY_MS, 1),
    ):  # fmt: skip
        found = await summary(maild.api, since=iso(since_ms), until=iso(until_ms))
        assert found["received"] == received
    assert await totals(maild.api, since=iso(event_at), until=iso(event_at + 1)) == {"email.received": 1}
    assert await totals(maild.api, since=iso(event_at + 1), until=iso(event_at + 2)) == {}
    assert await totals(maild.api, since=iso(event_at - 1), until=iso(event_at)) == {}


def _decode(text: str) -> bytes:
    number = 0
    for character in text:
        number = number * 32 + "0123456789abcdefghjkmnpqrstvwxyz".index(character)
    return number.to_bytes(8, "big")


async def test_the_series_has_every_period(maild: Running, bot: dict[str, Any]) -> None:
    for at in (
        "2026-11-01T00:30:00",
        "2026-11-01T00:59:59.999",
        "2026-11-01T02:00:00",
        "2026-11-02T02:00:00",
    ):
        maild.sql(
            """INSERT INTO events (id, organization_id, type, mode, data, created_at)
               VALUES (?1, ?2, 'email.sent', 'live', '{}', strftime('%s', ?1) * 1000)""",
            at, maild.organization_id,
        )  # fmt: skip
    found = (
        await maild.api.get(
            "/v1/analytics/events",
            types="email.sent",
            since="2026-11-01T00:15:00Z",
            until="2026-11-01T03:00:00Z",
        )
    ).data
    assert found == {
        "period": 3600,
        "since": "2026-11-01T00:15:00.000Z",
        "until": "2026-11-01T03:00:00.000Z",
        "series": [
            {
                "type": "email.sent",
                "total": 3,
                "points": [
                    {"at": "2026-11-01T00:00:00.000Z", "count": 2},
                    {"at": "2026-11-01T01:00:00.000Z", "count": 0},
                    {"at": "2026-11-01T02:00:00.000Z", "count": 1},
                ],
            }
        ],
    }
    days = (
        await maild.api.get(
            "/v1/analytics/events", types="email.sent", period="86400", since="2026-11-01", until="2026-11-03"
        )
    ).data
    assert [one["count"] for one in days["series"][0]["points"]] == [3, 1]


async def test_the_last_moment_that_can_be_said_is_a_window_s_end(maild: Running) -> None:
    for last in ("9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.999Z"):  # the first is .NET's
        found = (await maild.api.get("/v1/analytics/events", until=last)).data
        assert found["until"] == "9999-12-31T23:59:59.999Z"


async def test_the_default_series_are_the_five_live_events_of_a_day(maild: Running) -> None:
    found = (await maild.api.get("/v1/analytics/events")).data
    assert [one["type"] for one in found["series"]] == [
        "email.received", "email.sent", "email.bounced", "email.complained", "email.unsubscribed",
    ]  # fmt: skip
    assert all(len(one["points"]) in (24, 25) for one in found["series"])


@pytest.mark.parametrize("until", ["2026-11-01T16:40:00Z", "2026-11-01T16:39:30Z"])
async def test_a_series_has_up_to_a_thousand_points(maild: Running, until: str) -> None:
    given = {"period": "60", "since": "2026-11-01T00:00:00Z", "until": until}
    found = (await maild.api.get("/v1/analytics/events", **given)).data
    assert {len(one["points"]) for one in found["series"]} == {1000}


@pytest.mark.parametrize(
    ("path", "params", "faults"),
    [
        (0, {"since": "yesterday"}, {"since": "invalid_date"}),
        (1, {"until": "9999-12-31T23:59:59-23:59"}, {"until": "invalid_date"}),  # the year 10000, in UTC
        (1, {"since": "0001-01-01T00:00:00+14:00"}, {"since": "invalid_date"}),
        (0, {"since": "2026-11-02", "until": "2026-11-02"}, {"since": "out_of_range"}),
        (0, {"since": "2026-01-01", "until": "2026-11-02"}, {"since": "out_of_range"}),
        (0, {"since": "1969-12-01", "until": "1970-01-02"}, {"since": "out_of_range"}),
        (0, {"limit": "3"}, {"limit": "unknown_field"}),
        (1, {"types": "email.sent,email.eaten"}, {"types[1]": "not_allowed"}),
        (1, {"types": ""}, {"types[0]": "not_allowed"}),
        (1, {"period": "59"}, {"period": "out_of_range"}),
        (1, {"period": "hour"}, {"period": "wrong_type"}),
        (1, {"period": "60", "since": "2026-11-01", "until": "2026-11-03"}, {"period": "out_of_range"}),
        (1, {"period": "60", "since": "2026-11-01T00:00:30Z", "until": "2026-11-01T16:40:30Z"},
         {"period": "out_of_range"}),  # a thousand minutes, of which the first and the last are cut
        (2, {"limit": "101"}, {"limit": "out_of_range"}),
        (2, {"domain": "x.test"}, {"domain": "unknown_field"}),
    ],
)  # fmt: skip
async def test_every_fault_is_named(maild: Running, path: int, params: dict[str, str], faults: Any) -> None:
    assert (await maild.api.get(PATHS[path], **params)).faults == faults


async def test_an_inbox_can_be_looked_at_alone(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    await maild.received(bot, "Subject: hi\n\nhello")
    await maild.api.send(other)
    assert (await summary(maild.api, inboxId=bot["id"])) == {**NOTHING, "received": 1}
    assert (await summary(maild.api, inboxId=other["id"])) == {**NOTHING, "sent": 1}
    assert await totals(maild.api, inboxId=bot["id"]) == {"email.received": 1}
    assert await totals(maild.api, inboxId=other["id"]) == {}
    assert (await maild.api.get(PATHS[2], inboxId=bot["id"])).data == []
    assert len((await maild.api.get(PATHS[2], inboxId=other["id"])).data) == 1


async def test_a_bound_key_sees_its_inbox_alone(maild: Running, bot: dict[str, Any]) -> None:
    other = await maild.inbox("other")
    await maild.received(bot, "Subject: hi\n\nhello")
    await maild.received(other, "Subject: hi\n\nhello")
    await maild.api.send(other)
    bound = await maild.key(inbox=bot)
    for params in ({}, {"inboxId": bot["id"]}):
        assert (await summary(bound, **params)) == {**NOTHING, "received": 1}
        assert await totals(bound, **params) == {"email.received": 1}
        assert (await bound.get(PATHS[2], **params)).data == []
    assert (await summary(bound, inboxId=other["id"])) == NOTHING
    assert await totals(bound, inboxId=other["id"]) == {}
    assert (await bound.get(PATHS[2], inboxId=other["id"])).data == []


async def test_other_organizations_see_nothing_of_it(maild: Running, bot: dict[str, Any]) -> None:
    await maild.received(bot, "Subject: hi\n\nhello")
    await maild.api.send(bot)
    stranger = await maild.organization()
    for params in ({}, {"inboxId": bot["id"]}):
        assert await summary(stranger.api, **params) == NOTHING
        assert await totals(stranger.api, **params) == {}
        assert (await stranger.api.get(PATHS[2], **params)).data == []


async def test_many_slices_make_one_sum(maild: Running, bot: dict[str, Any]) -> None:
    await maild.api.send(bot)
    changed = {
        "id": "substr(m.id, 1, 24) || printf('%06d', n.i)",
        "direction": "CASE WHEN n.i % 2 THEN 'inbound' ELSE 'outbound' END",
        "bounce_token": "NULL",
    }
    names = [name for (name,) in maild.sql("SELECT name FROM pragma_table_info('messages')")]
    copied = [changed.get(column, f"m.{column}") for column in names]
    maild.sql(
        f"""WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
            INSERT INTO messages ({", ".join(names)}) SELECT {", ".join(copied)}
            FROM n, (SELECT * FROM messages LIMIT 1) m"""
    )
    maild.sql(
        """INSERT INTO recipients (message_id, position, organization_id, address, domain, kind, status, expires_at)
           SELECT id, 0, organization_id, 'a@b.test', 'd' || (rowid % 3) || '.test', 'to', 'delivered', 0
           FROM messages WHERE direction = 'outbound' AND bounce_token IS NULL"""
    )
    found = await summary(maild.api)
    assert (found["received"], found["sent"], found["delivered"]) == (1250, 1251, 1250)
    destinations = (await maild.api.get("/v1/analytics/destinations")).data
    assert sum(one["sent"] for one in destinations) == 1251
    assert [one["sent"] for one in destinations] == sorted(
        (one["sent"] for one in destinations), reverse=True
    )
