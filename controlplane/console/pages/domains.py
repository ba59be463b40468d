"""Domains of the organization's own: the records to publish, and whether DNS shows them."""

from controlplane.console.page import Html, PageCall, SeeOther
from controlplane.console.pages.found import part_of

PAGE = 50
# What a check came to, as the page's notice is called.
_TOLD = {"active": "domain_active", "pending": "domain_pending", "failed": "domain_failed"}


async def show_list(call: PageCall) -> Html:
    domains = await call.ask("listDomains")
    shown, next_cursor = part_of(domains, call.query.get("cursor"), PAGE)
    return Html("domains.html", {"domains": shown, "next_cursor": next_cursor})


async def register(call: PageCall) -> SeeOther:
    made = await call.ask("registerDomain", domainName=call.form.get("domain", "").strip().rstrip("."))
    return SeeOther(f"/console/domains/{made['id']}", "domain_made")


async def show(call: PageCall) -> Html:
    return Html(
        "domain.html", {"domain": await call.ask("getDomain", call.id), "place": call.place("records")}
    )


async def verify(call: PageCall) -> SeeOther:
    checked = await call.ask("verifyDomain", call.id)
    return SeeOther(f"/console/domains/{call.id}", _TOLD[checked["status"]])
