"""The console as a part of the HTTP server: who is signed in, which page, and how its answer leaves.

In this order, and the first that fails is the answer: a form from another site (403), nobody signed in (303 to where
one can), the form itself, the page. What an operation refuses is a page with its status and text.
"""

import re
import secrets
from collections.abc import Mapping
from functools import partial
from typing import Any

import structlog
from aiohttp import web

from conf.log_events import clean
from controlplane.access.console_links import ROOT, SIGN_IN
from controlplane.console import safety
from controlplane.console.budget import FRAME_BYTES, PAGE_BYTES, octets_of
from controlplane.console.entrance import MAIL, SIGN_OUT, SIGNED_IN, Entrance, own_path, see
from controlplane.console.faults import AnotherOrganization, NoSuchPage, PageFault, SignedOut, told_of
from controlplane.console.figures import KeptFigures
from controlplane.console.forms import MEMBERS_FORM, Form, FormBody, read_form
from controlplane.console.live import Live
from controlplane.console.page import (
    Html,
    MailDocument,
    PageAnswer,
    PageCall,
    PageRoute,
    SeeOther,
    Show,
    TooLong,
)
from controlplane.console.pages import PAGES
from controlplane.console.presses import ONCE, Presses
from controlplane.console.rendering import Templates
from controlplane.console.session import SignedIn
from controlplane.console.shown_once import ShownOnce
from controlplane.contract.refusals import Refusal
from controlplane.operations.invoke import Operations
from controlplane.transport.callers import REQUEST
from controlplane.transport.door import Next
from controlplane.transport.downloads import send_download
from controlplane.transport.gate import CODE
from controlplane.transport.request_bodies import RequestBodies, expect
from controlplane.transport.statuses import headers_of, status_of
from storage.clock import Clock
from storage.engine.failures import StoreFailure
from storage.turns.cpu_threads import CpuThreads

log = structlog.get_logger("maild.api")

KEPT_BYTES = PAGE_BYTES - FRAME_BYTES  # of a form that is shown again to who is signed out
KEPT_FORM = FormBody(3 * KEPT_BYTES)  # each octet escaped
ONCE_BYTES = 12
FIELD_BYTES = 100  # the markup of a field
_SHOWN = frozenset(page.path for page in PAGES if page.method == "GET")
_ID = re.compile(r"[A-Za-z0-9_]+")  # pages put it into links, and into the path that a form leads on to


class Console:
    """`public_url`: what pages tell of the API's address."""

    def __init__(
        self,
        operations: Operations,
        entrance: Entrance,
        live: Live,
        figures: KeptFigures,
        bodies: RequestBodies,
        templates: Templates,
        cpu: CpuThreads,
        clock: Clock,
        public_url: str,
    ) -> None:
        self._operations = operations
        self._entrance = entrance
        self._live = live
        self._figures = figures
        self._bodies = bodies
        self._templates = templates
        self._templates_are_compiled = cpu.once(templates.compile)
        self._cpu = cpu
        self._shown_once = ShownOnce(clock)
        self._presses = Presses()
        self._clock = clock
        self._public_url = public_url

    def add_to(self, app: web.Application) -> None:
        """Add the routes. What leaves by them, files too, is kept by no browser, unless it says so itself."""
        app.on_response_prepare.append(_keep_nothing)
        app.router.add_get(f"{ROOT}/static/{{name}}", self._asset)
        self._add(app, "GET", SIGN_IN, self._ask_in)
        self._add(app, "POST", SIGN_IN, self._let_in)
        self._add(app, "POST", MAIL, self._entrance.mail_link)
        self._add(app, "POST", SIGN_OUT, self._entrance.sign_out)
        self._add(app, "GET", f"{ROOT}/live", self._tell_live)
        for page in PAGES:
            self._add(app, page.method, f"{ROOT}{page.path}", self._page(page))
            if page.path not in _SHOWN:
                self._add(app, "GET", f"{ROOT}{page.path}", _to_page_of(page))
        self._add(app, "*", f"{ROOT}/{{rest:.*}}", self._nothing)

    def _add(self, app: web.Application, method: str, path: str, inner: Next) -> None:
        # RFC 9110 §9.3.2: who looks at a link with HEAD finds what GET would bring.
        for one in ("GET", "HEAD") if method == "GET" else (method,):
            app.router.add_route(one, path, self._around(inner), expect_handler=expect)

    def _around(self, inner: Next) -> Next:
        async def serve(request: web.Request) -> web.StreamResponse:
            try:
                if request.method not in ("GET", "HEAD"):
                    safety.check_sender(request)
                return await inner(request)
            except PageFault as fault:
                return await self._fault(request, fault)
            except Refusal as refusal:
                return await self._refused(request, refusal)
            except web.HTTPException:
                raise
            except Exception as error:
                if _is_past_telling(request):
                    raise
                return await self._failed(request, error)

        return serve

    async def _failed(self, request: web.Request, error: Exception) -> web.Response:
        """A fault of ours, told in the log as the gate tells it, and to a person as a page."""
        log.error("request_failed", request_id=request[REQUEST], path=clean(request.path), exc_info=error)
        request[CODE] = "internal_error"
        told = f"Something failed on our side. Whoever runs this server finds it in the log as {request[REQUEST]}."
        return await self._fault(request, PageFault(told))

    # What does not work ------------------------------------------------------------------------

    async def _refused(self, request: web.Request, refusal: Refusal) -> web.Response:
        request[CODE] = refusal.code
        status = status_of(refusal)
        if status == 401:  # the session was revoked while it was at it
            return self._entrance.lead_in(request)
        response = await self._fault(request, told_of(refusal, status))
        response.headers.update(headers_of(refusal))
        return response

    async def _fault(self, request: web.Request, fault: PageFault) -> web.Response:
        shown = {"title": fault.title, "text": fault.text, "details": fault.details}
        return await self._html(request, request.get(SIGNED_IN), Html("fault.html", shown, fault.status))

    async def _nothing(self, request: web.Request) -> web.Response:
        meant = own_path(request.path.rstrip("/"))
        if meant and meant != request.path and request.method in ("GET", "HEAD"):
            return see(meant)
        if await self._entrance.who(request) is None:
            return self._entrance.lead_in(request)
        raise NoSuchPage

    # Pages -------------------------------------------------------------------------------------

    def _page(self, page: PageRoute) -> Next:
        async def serve(request: web.Request) -> web.StreamResponse:
            signed_in = await self._entrance.who(request)
            if signed_in is None:
                return await self._signed_out(page, request)
            if page.method == "GET":
                return await self._run(page, request, signed_in, Form())
            owner = signed_in.principal.organization_id
            async with read_form(self._bodies, request, MEMBERS_FORM, owner) as form:
                return await self._run(page, request, signed_in, form)

        return serve

    async def _signed_out(self, page: PageRoute, request: web.Request) -> web.Response:
        """To where one signs in; but what a form holds stays with who wrote it, to be sent again then."""
        if page.method == "POST" and (request.content_length or 0) <= KEPT_FORM.body_bytes_max:
            async with read_form(self._bodies, request, KEPT_FORM) as form:
                if form and _length(request.raw_path, form) <= KEPT_BYTES:
                    request[CODE] = "unauthorized"
                    shown = _kept(request, form, SignedOut())
                    return await self._html(request, None, Html("kept.html", shown, SignedOut.status))
        return self._entrance.lead_in(request)

    async def _run(
        self, page: PageRoute, request: web.Request, signed_in: SignedIn, form: Form
    ) -> web.StreamResponse:
        call = PageCall(
            self._operations,
            signed_in,
            self._clock.now_ms(),
            self._public_url,
            self._cpu,
            self._shown_once,
            self._figures,
            _id_in(request),
            request.query,
            form,
        )
        try:
            return await self._answer(request, signed_in, await self._act(page, request, call))
        except AnotherOrganization as fault:
            answer = await self._again(request, page.again, call, fault)
            if answer is None:
                raise
            return answer
        except Refusal as refusal:
            status = status_of(refusal)
            if page.method == "GET" or status == 401:
                raise
            answer = await self._again(request, page.again, call, told_of(refusal, status))
            if answer is None:
                raise
            answer.headers.update(headers_of(refusal))
            return answer
        except TooLong:
            raise NoSuchPage("This is longer than a page shows. The API gives it whole.") from None

    async def _act(self, page: PageRoute, request: web.Request, call: PageCall) -> PageAnswer:
        if page.method == "GET":
            return await page.run(call)
        if not call.form.get(ONCE, mark := _mark_of(call.signed_in)).startswith(mark):
            raise AnotherOrganization
        session_id = call.signed_in.session.id
        return await self._presses.answer(session_id, request.path, call.form, partial(page.run, call))

    async def _again(
        self, request: web.Request, show: Show | None, call: PageCall, fault: PageFault
    ) -> web.Response | None:
        """The page of the form that was refused: why, and with what was typed. Where the page is gone, or has no form
        for this member, what was typed stands alone; None where nothing was."""
        page = await self._page_with_form(show, call)
        if page is not None:
            given = call.form if call.form.keys() - {ONCE} else Form()
            shown = {**page.shown, "fault": fault, "given": given}
        elif _has_words(call.form) and _length(request.raw_path, call.form) <= KEPT_BYTES:
            page, shown = Html("kept.html", {}), _kept(request, call.form, fault)
        else:
            return None
        request[CODE] = fault.code
        return await self._html(request, call.signed_in, Html(page.template, shown, fault.status))

    async def _page_with_form(self, show: Show | None, call: PageCall) -> Html | None:
        if show is None or not call.signed_in.acts:
            return None
        try:
            return await show(call)
        except (Refusal, TooLong):
            return None

    async def _answer(
        self, request: web.Request, signed_in: SignedIn, answer: PageAnswer
    ) -> web.StreamResponse:
        if isinstance(answer, Html):
            return await self._html(request, signed_in, answer)
        if isinstance(answer, SeeOther):
            if answer.shown_once is not None:
                self._shown_once.put(*answer.shown_once)
            mark = "&" if "?" in answer.path else "?"
            return see(f"{answer.path}{mark}done={answer.done}" if answer.done else answer.path)
        if isinstance(answer, MailDocument):
            return web.Response(text=answer.html, content_type="text/html", headers=safety.MAIL_HEADERS)
        return await send_download(request, answer)

    async def _html(self, request: web.Request, signed_in: SignedIn | None, answer: Html) -> web.Response:
        frame = {
            "member": signed_in.session if signed_in else None,
            "acts": signed_in is not None and signed_in.acts,
            "waiting": await self._waiting(signed_in),
            "path": request.path,
            "done": request.query.get("done", ""),
            "fault": None,
            "given": Form(),
            ONCE: f"{_mark_of(signed_in)}{secrets.token_urlsafe(ONCE_BYTES)}",
        }
        await self._templates_are_compiled()
        return web.Response(
            text=self._templates.render(answer.template, {**frame, **answer.shown}),
            status=answer.status,
            content_type="text/html",
            headers=safety.PAGE_HEADERS,
        )

    async def _waiting(self, signed_in: SignedIn | None) -> Mapping[str, int] | None:
        """The figures beside the menu. A page is a page without them."""
        try:
            return None if signed_in is None else await self._live.waiting(signed_in)
        except (Refusal, StoreFailure):
            return None

    # Beside the pages --------------------------------------------------------------------------

    async def _ask_in(self, request: web.Request) -> web.Response:
        return await self._html(request, None, await self._entrance.ask(request))

    async def _let_in(self, request: web.Request) -> web.Response:
        answer = await self._entrance.let_in(request)
        return await self._html(request, None, answer) if isinstance(answer, Html) else answer

    async def _tell_live(self, request: web.Request) -> web.StreamResponse:
        signed_in = await self._entrance.who(request)
        if signed_in is None or request.method == "HEAD":
            return web.Response(status=204)  # HTML Living Standard, §9.2.3: do not come back
        return await self._live.tell(request, signed_in)

    async def _asset(self, request: web.Request) -> web.Response:
        asset = self._templates.assets.get(request.match_info["name"])
        if asset is None:
            raise web.HTTPNotFound
        return web.Response(
            body=asset.octets,
            content_type=asset.content_type,
            charset="utf-8",
            headers=safety.ASSET_HEADERS,
        )


def _mark_of(signed_in: SignedIn | None) -> str:
    """How tokens begin on pages of this organization, which another tab may have left meanwhile."""
    return f"{signed_in.principal.organization_id}." if signed_in else ""


def _to_page_of(form: PageRoute) -> Next:
    """Who reloads what a form was answered with, as a browser does that is started again, comes to the form's page."""
    path = form.path
    while path not in _SHOWN:
        path = path.rpartition("/")[0]

    async def lead(request: web.Request) -> web.StreamResponse:
        return see(f"{ROOT}{path}".format(id=_id_in(request)))

    return lead


def _id_in(request: web.Request) -> str:
    """The id that the path names, empty where it names none; NoSuchPage: it can be none."""
    id = request.match_info.get("id", "")
    if "id" in request.match_info and not _ID.fullmatch(id):
        raise NoSuchPage
    return id


def _kept(request: web.Request, form: Form, fault: PageFault) -> dict[str, Any]:
    """What a form holds that has no page any more, to be sent again from where it stands."""
    told = {"title": fault.title, "text": fault.text, "details": fault.details}
    return {**told, "action": request.raw_path, "fields": form.pairs}


def _is_past_telling(request: web.Request) -> bool:
    """Is nobody there any more who could be told of a fault, or half an answer before it?"""
    transport = request.transport
    return transport is None or transport.is_closing() or request.writer.output_size > 0


def _has_words(form: Form) -> bool:
    return any(" " in value or "\n" in value for value in form.values())


def _length(action: str, form: Form) -> int:
    """How long it is on a page, at most."""
    words = (octets_of(name) * 2 + octets_of(value) + FIELD_BYTES for name, value in form.pairs)
    return octets_of(action) + sum(words)


async def _keep_nothing(request: web.Request, response: web.StreamResponse) -> None:
    if request.path == ROOT or request.path.startswith(f"{ROOT}/"):
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers.setdefault("Referrer-Policy", "no-referrer")
