"""What a person wants to know first: what waits, and how the mail goes."""

from controlplane.console.charts import bar_chart, shares
from controlplane.console.page import Html, PageCall
from controlplane.console.pages.found import with_messages
from storage.clock import DAY_MS, iso

DAYS = 30
DAY_S = DAY_MS // 1000
SHOWN = 5
DESTINATIONS = 8
VOLUME = (("email.received", "in", "received"), ("email.sent", "out", "sent"))
TROUBLE = (("email.bounced", "bad", "bounced"), ("email.complained", "worse", "complained of"))


async def show(call: PageCall) -> Html:
    since_ms = call.now_ms // DAY_MS * DAY_MS - (DAYS - 1) * DAY_MS
    types = ",".join(type for type, _, _ in (*VOLUME, *TROUBLE))
    found = await call.ask("getEventSeries", since=iso(since_ms), types=types, period=DAY_S)
    series = {line["type"]: line for line in found["series"]}
    summary = await call.ask("getSummary", since=iso(since_ms))
    reviews = await call.ask("listReviews", status="pending", limit=SHOWN)
    destinations = await call.ask("listDestinations", since=iso(since_ms), limit=DESTINATIONS)
    return Html(
        "overview.html",
        {
            "organization": await call.ask("getOrganization"),
            "summary": summary,
            "volume": bar_chart("Mail by day", series, VOLUME),
            "trouble": bar_chart("Bounces by day", series, TROUBLE),
            "destinations": [{**one, "shares": _shares(one)} for one in destinations],
            "reviews": await with_messages(call, reviews),
            "inboxes": await call.ask("listInboxes", limit=1),
            "days": DAYS,
            "public_url": call.public_url,
        },
    )


def _shares(one: dict[str, int]) -> list[object]:
    rest = one["sent"] - one["delivered"] - one["bounced"] - one["deferred"]
    parts = (("good", one["delivered"]), ("out", rest), ("wait", one["deferred"]), ("bad", one["bounced"]))
    return list(shares(parts, one["sent"]))
