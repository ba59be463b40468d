"""What browsers are told about pages of the console, and which requests are believed to come from them.

A page may load what is ours and nothing else, runs no inline script, and is in nobody's frame. HTML that came by mail
is a document of its own, without an origin, scripts, or a way to load anything.
"""

from aiohttp import web

from controlplane.console.faults import Forbidden

_COMMON = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
PAGE_HEADERS = {
    **_COMMON,
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; "
    "require-trusted-types-for 'script'",
}
MAIL_HEADERS = {
    **_COMMON,
    "Content-Security-Policy": "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    "frame-ancestors 'self'",
}
ASSET_HEADERS = {
    **_COMMON,
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "public, max-age=31536000, immutable",  # its address has its hash
}


def check_sender(request: web.Request) -> None:
    """Forbidden unless a page of ours sent this form. Every browser of today says so itself (Fetch Metadata, §2.1); of
    one that does not, the Origin must be the host that it asks."""
    site = request.headers.getall("Sec-Fetch-Site", [])
    if site:
        is_ours = site == ["same-origin"]
    else:
        named = request.headers.getall("Origin", [])
        is_ours = len(named) == 1 and _host(named[0]) == request.headers.get("Host", "").lower() != ""
    if not is_ours:
        raise Forbidden(
            "This form was not sent by a page of this console. Go back, load the page, try again."
        )


def _host(origin: str) -> str:
    return origin.lower().partition("://")[2]  # RFC 6454 §6.2: nothing is behind host and port
