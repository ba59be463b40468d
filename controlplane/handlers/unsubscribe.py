"""`/v1/unsubscribe`: the page behind the links of List-Unsubscribe, and what its button or a mail client sends.

Open to everybody: the token is the permission. Pages are shown to people who follow a link, so they load
nothing, run nothing, and leak no address to anybody.
"""

from html import escape
from typing import Literal
from urllib.parse import parse_qs

from aiohttp import web

from controlplane.api import PublicRequest, Result
from controlplane.contract.refusals import Refusal

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
    "Cache-Control": "no-store",
}
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Unsubscribe</title>
<style>
  body {{ font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 15vh auto; padding: 0 1rem }}
  button {{ font: inherit; padding: .5rem 1.5rem; cursor: pointer }}
  b {{ overflow-wrap: anywhere }}
</style>
{content}
</html>
"""
_BUTTON = """<h1>Unsubscribe</h1>
<p>Stop mail to <b>{email}</b>{sender}?</p>
<form method="post"><button>Unsubscribe</button></form>"""
_DONE = "<h1>Unsubscribed</h1>\n<p><b>{email}</b> gets no more mail from this sender.</p>"
_FAULT = "<h1>This link does not work</h1>\n<p>{message}</p>"


async def show(visit: PublicRequest) -> web.StreamResponse:
    try:
        offer = await visit.rooms.unsubscriber.offer(visit.query and visit.query.token)
    except Refusal as error:
        return _fault(visit.request, error)
    sender = f" from <b>{escape(offer.sender)}</b>" if offer.sender else ""
    return _page(_BUTTON.format(email=escape(offer.email), sender=sender))


async def act(visit: PublicRequest) -> Result | web.StreamResponse:
    form = _read_form(visit)
    token = (visit.query and visit.query.token) or next(iter(form.get("token", ())), None)
    # RFC 8058 §3.2; a mail client may send it as multipart/form-data, which is not taken apart here.
    is_one_click = form.get("List-Unsubscribe") == ["One-Click"] or _is_multipart(visit.request)
    source: Literal["one_click", "link"] = "one_click" if is_one_click else "link"
    try:
        email = await visit.rooms.unsubscriber.act(token, source)
    except Refusal as error:
        return _fault(visit.request, error)
    if _prefers_html(visit.request):
        return _page(_DONE.format(email=escape(email)))
    return Result({"email": email, "status": "unsubscribed"}, headers={"Cache-Control": "no-store"})


def _read_form(visit: PublicRequest) -> dict[str, list[str]]:
    if visit.request.content_type != "application/x-www-form-urlencoded":
        return {}
    return parse_qs(visit.body.decode("utf-8", "replace"))


def _is_multipart(request: web.Request) -> bool:
    return request.content_type == "multipart/form-data"


def _prefers_html(request: web.Request) -> bool:
    """A browser says so; a program that takes anything gets JSON."""
    return "text/html" in request.headers.get("Accept", "").lower()


def _fault(request: web.Request, error: Refusal) -> web.StreamResponse:
    if not _prefers_html(request):
        raise error
    return _page(_FAULT.format(message=escape(error.message)), error.status)


def _page(content: str, status: int = 200) -> web.Response:
    return web.Response(
        text=_PAGE.format(content=content), status=status, content_type="text/html", headers=_HEADERS
    )
