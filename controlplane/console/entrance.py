"""Signing in and out over HTTP: the pages, and the cookie.

The link's GET shows a button and uses nothing up: programs that look at links in mail press none. The cookie's name
binds it to this host and to https (RFC 6265bis §4.1.3.2); where `public_url` is http, which it may be for this very
host alone, it is a plain one.
"""

from urllib.parse import urlencode

from aiohttp import web

from controlplane.access.console_links import ROOT, SIGN_IN
from controlplane.console.faults import NoSuchPage
from controlplane.console.forms import ENTRANCE_FORM, read_form
from controlplane.console.link_mail import LinkMail
from controlplane.console.page import Html
from controlplane.console.session import MemberSessions, SignedIn
from controlplane.transport.callers import PRINCIPAL, REQUEST, client_of
from controlplane.transport.request_bodies import RequestBodies
from controlplane.transport.request_headers import cookie
from storage.tenants.console_sessions import SESSION_MS

MAIL = f"{SIGN_IN}/mail"
SIGN_OUT = f"{ROOT}/sign-out"
SECURE_COOKIE, PLAIN_COOKIE = "__Host-maild", "maild"
PATH_CHARS = 500
LINK_CHARS = 100
SIGNED_IN = web.RequestKey("signed_in", SignedIn)


class Entrance:
    """`link_mail`: sends links to members who ask; None: nobody may ask."""

    def __init__(
        self, sessions: MemberSessions, bodies: RequestBodies, link_mail: LinkMail | None, *, is_secure: bool
    ) -> None:
        self._sessions = sessions
        self._bodies = bodies
        self._link_mail = link_mail
        self._is_secure = is_secure
        self._cookie = SECURE_COOKIE if is_secure else PLAIN_COOKIE

    async def who(self, request: web.Request) -> SignedIn | None:
        """The member who asks, whom the request keeps; None: nobody is signed in."""
        secret = cookie(request, self._cookie)
        signed_in = await self._sessions.find(secret, request[REQUEST]) if secret else None
        if signed_in is not None:
            request[SIGNED_IN] = signed_in
            request[PRINCIPAL] = signed_in.principal
        return signed_in

    def lead_in(self, request: web.Request) -> web.Response:
        """To where one signs in. A page that was asked for is shown then; what a form asked for is not done."""
        after = own_path(request.path_qs) if request.method != "POST" and request.path != ROOT else ""
        return see(f"{SIGN_IN}?{urlencode({'next': after})}" if after else SIGN_IN)

    async def ask(self, request: web.Request) -> Html:
        """The page with the button, or the one that says where links come from."""
        link = request.query.get("link", "")
        return self._page(
            link=link if len(link) <= LINK_CHARS else "",
            after=own_path(request.query.get("next", "")),
            is_sent=request.query.get("done") == "link_sent",
            signed_in=await self.who(request),
        )

    async def let_in(self, request: web.Request) -> Html | web.Response:
        """Use the link up. A session that the browser has already goes on in no way: its cookie is replaced."""
        async with read_form(self._bodies, request, ENTRANCE_FORM) as form:
            after = own_path(form.get("next", ""))
            token = await self._sessions.begin(
                form.get("link", ""),
                client_of(request),
                request.headers.get("User-Agent", ""),
                request[REQUEST],
            )
        if token is None:
            return self._page(after=after, is_refused=True, signed_in=await self.who(request))
        response = see(after or ROOT)
        response.set_cookie(
            self._cookie,
            token,
            max_age=SESSION_MS // 1000,
            path="/",
            secure=self._is_secure,
            httponly=True,
            samesite="Strict",
        )
        return response

    async def mail_link(self, request: web.Request) -> web.Response:
        """The same answer, as fast, for every address."""
        if self._link_mail is None:
            raise NoSuchPage("Links are not sent by mail here. Ask whoever runs this server for one.")
        async with read_form(self._bodies, request, ENTRANCE_FORM) as form:
            self._sessions.refuse_guessing(client_of(request))
            self._sessions.note_ask(client_of(request))
            self._link_mail.ask(form.get("email", ""))
        return see(f"{SIGN_IN}?done=link_sent")

    async def sign_out(self, request: web.Request) -> web.Response:
        """The session ends, here and in the store."""
        signed_in = await self.who(request)
        if signed_in is not None:
            await self._sessions.end(signed_in, signed_in.session.id)
        response = see(SIGN_IN)
        response.del_cookie(self._cookie, path="/", secure=self._is_secure, httponly=True, samesite="Strict")
        return response

    def _page(
        self,
        *,
        link: str = "",
        after: str = "",
        is_sent: bool = False,
        is_refused: bool = False,
        signed_in: SignedIn | None = None,
    ) -> Html:
        shown = {
            "link": link,
            "next": after,
            "by_mail": self._link_mail is not None,
            "is_sent": is_sent,
            "is_refused": is_refused,
            "signed_in": signed_in.session if signed_in else None,
        }
        return Html("sign_in.html", shown, 403 if is_refused else 200)


def own_path(path: str) -> str:
    """The path where it leads to a page of ours, else nothing: a link to sign in must not lead elsewhere."""
    is_ours = path == ROOT or path.startswith((f"{ROOT}/", f"{ROOT}?"))
    is_plain = path.isascii() and path.isprintable() and "\\" not in path and "//" not in path
    return path if is_ours and is_plain and len(path) <= PATH_CHARS else ""


def see(path: str) -> web.Response:
    """RFC 9110 §15.4.4: what follows is a GET."""
    return web.Response(status=303, headers={"Location": path, "Cache-Control": "no-store"})
