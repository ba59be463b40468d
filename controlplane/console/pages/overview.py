"""What a person wants to know first: what waits, and how the mail goes."""

from typing import Any

from controlplane.access.principal import Principal
from controlplane.console.charts import ShareOfBar, bar_chart, shares
from controlplane.console.figures import Count, Figures
from controlplane.console.page import Html, PageCall, ask_operation
from controlplane.console.pages.found import with_messages
from controlplane.operations.invoke import Operations
from storage.clock import DAY_MS, Clock, iso

DAYS = 30
DAY_S = DAY_MS // 1000
SHOWN = 5
DESTINATIONS = 8
VOLUME = (("email.received", "in", "received"), ("email.sent", "out", "sent"))
TROUBLE = (("email.bounced", "bad", "bounced"), ("email.complained", "worse", "complained of"))


async def show(call: PageCall) -> Html:
    reviews = await call.ask("listReviews", status="pending", limit=SHOWN)
    return Html(
        "overview.html",
        {
            "organization": await call.ask("getOrganization"),
            "figures": await call.figures.of(call.signed_in.principal),
            "reviews": await with_messages(call, reviews),
            "inboxes": await call.ask("listInboxes", limit=1),
            "days": DAYS,
            "public_url": call.public_url,
        },
    )


def counting(operations: Operations, clock: Clock) -> Count:
    """What counts the figures of an organization for its overview."""

    async def count(principal: Principal) -> Figures:
        async def ask(operation: str, **given: Any) -> Any:
            return await ask_operation(operations, principal, operation, **given)

        since = iso(clock.now_ms() // DAY_MS * DAY_MS - (DAYS - 1) * DAY_MS)
        types = ",".join(type for type, _, _ in (*VOLUME, *TROUBLE))
        found = await ask("getEventSeries", since=since, types=types, period=DAY_S)
        series = {line["type"]: line for line in found["series"]}
        destinations = await ask("listDestinations", since=since, limit=DESTINATIONS)
        return {
            "summary": await ask("getSummary", since=since),
            "volume": bar_chart("Mail by day", series, VOLUME),
            "trouble": bar_chart("Bounces by day", series, TROUBLE),
            "destinations": [{**one, "shares": _shares(one)} for one in destinations],
        }

    return count


def _shares(one: dict[str, int]) -> list[ShareOfBar]:
    rest = one["sent"] - one["delivered"] - one["bounced"] - one["deferred"]
    parts = (("good", one["delivered"]), ("out", rest), ("wait", one["deferred"]), ("bad", one["bounced"]))
    return shares(parts, one["sent"])
