"""`/v1/unsubscribe`: the page behind the links of List-Unsubscribe, and what its button or a mail client sends.

Open to every caller: the token is the permission. Pages are shown to people who follow a link, so they load
nothing, run nothing, and leak no address.
"""

from html import escape
from typing import Literal
from urllib.parse import parse_qs

from controlplane.contract.refusals import Refusal
from controlplane.operations.operation import PublicRequest
from controlplane.operations.results import HtmlPage, Result

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


async def show_unsubscribe(asked: PublicRequest) -> HtmlPage:
    try:
        offer = await asked.services.unsubscriber.offer(asked.input and asked.input.token)
    except Refusal as refusal:
        if not asked.prefers_html:
            raise
        return _refused(refusal)
    sender = f" from <b>{escape(offer.sender)}</b>" if offer.sender else ""
    return _page(_BUTTON.format(email=escape(offer.email), sender=sender))


async def unsubscribe(asked: PublicRequest) -> Result | HtmlPage:
    form = _read_form(asked)
    token = (asked.input and asked.input.token) or next(iter(form.get("token", ())), None)
    # RFC 8058 §3.2; a mail client may send it as multipart/form-data, which is not taken apart here.
    is_one_click = (
        form.get("List-Unsubscribe") == ["One-Click"] or asked.content_type == "multipart/form-data"
    )
    source: Literal["one_click", "link"] = "one_click" if is_one_click else "link"
    try:
        email = await asked.services.unsubscriber.act(token, source)
    except Refusal as refusal:
        if not asked.prefers_html:
            raise
        return _refused(refusal)
    if asked.prefers_html:
        return _page(_DONE.format(email=escape(email)))
    return Result({"email": email, "status": "unsubscribed"})


def _read_form(asked: PublicRequest) -> dict[str, list[str]]:
    if asked.content_type != "application/x-www-form-urlencoded":
        return {}
    return parse_qs(asked.body.decode("utf-8", "replace"))


def _refused(refusal: Refusal) -> HtmlPage:
    """The refusal as a page for a person."""
    return _page(_FAULT.format(message=escape(refusal.message)), refusal)


def _page(content: str, refusal: Refusal | None = None) -> HtmlPage:
    return HtmlPage(_PAGE.format(content=content), refusal)
