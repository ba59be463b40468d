"""The console as a browser without JavaScript has it: pages, forms, the cookie.

member = await Visitor.sign_in(maild)              an admin, by a link of the operator
page = await member.get("/console/reviews")        status, headers, text
done = await member.post("/console/keys", name="bot")   the answer itself: redirects are not followed
"""

import html
import re
from collections.abc import Mapping
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode

import aiohttp
import yarl
from multidict import CIMultiDict

from tests.support.running import Running

LOCAL = {"public_url": "http://127.0.0.1:8025"}  # the console is served there without TLS
FORM = "application/x-www-form-urlencoded"
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


class PageAnswer:
    """One answer, read."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes, cookies: SimpleCookie) -> None:
        self.status = status
        self.headers = headers
        self.body = body
        self.cookies = cookies

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def location(self) -> str:
        """Where it leads."""
        assert self.status == 303, (self.status, self.body)
        return self.headers["Location"]

    def hidden(self, name: str) -> str:
        """The value of a hidden field."""
        (value,) = set(re.findall(rf'<input type="hidden" name="{name}" value="([^"]*)"', self.text))
        return html.unescape(value)

    @property
    def said(self) -> str:
        """The words of the page's main part, without tags."""
        main = self.text.partition("<main")[2].partition(">")[2]
        return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", main)).split())


class Visitor:
    """`cookie`: of a session, as `name=value`; empty: nobody is signed in."""

    def __init__(self, session: aiohttp.ClientSession, url: str, cookie: str = "") -> None:
        self._session = session
        self.url = url
        self.cookie = cookie

    @classmethod
    def of(cls, maild: Running, cookie: str = "") -> "Visitor":
        return cls(maild._session, maild.daemon.http.url, cookie)

    @classmethod
    async def sign_in(
        cls,
        maild: Running,
        role: str = "admin",
        email: str = "ada@people.test",
        organization_id: str | None = None,
    ) -> "Visitor":
        """A member of the organization (the first), made where it is not there yet."""
        visitor = cls.of(maild)
        link = await link_for(maild, role, email, organization_id)
        done = await visitor.post("/console/sign-in", link=link)
        assert done.status == 303, done.said
        (cookie,) = done.cookies.values()
        visitor.cookie = f"{cookie.key}={cookie.value}"
        return visitor

    async def get(self, path: str, **headers: str) -> PageAnswer:
        return await self.call("GET", path, headers=headers)

    async def post(self, path: str, /, **form: str | list[str]) -> PageAnswer:
        return await self.call("POST", path, form=form, headers=SAME_ORIGIN)

    async def call(
        self,
        method: str,
        path: str,
        *,
        form: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        data: bytes | None = None,
    ) -> PageAnswer:
        sent = CIMultiDict(headers or {})
        if self.cookie:
            sent["Cookie"] = self.cookie
        if form is not None:
            sent.setdefault("Content-Type", FORM)
            data = urlencode(form, doseq=True).encode()
        async with self._session.request(
            method, yarl.URL(self.url + path, encoded=True), data=data, headers=sent, allow_redirects=False
        ) as response:
            return PageAnswer(response.status, response.headers, await response.read(), response.cookies)

    async def follow(self, done: PageAnswer) -> PageAnswer:
        """The page that a form led to."""
        return await self.get(done.location)


async def link_for(
    maild: Running, role: str = "admin", email: str = "ada@people.test", organization_id: str | None = None
) -> str:
    """The secret of a fresh link for the member."""
    owner = organization_id or maild.organization_id
    await maild.operate(maild.store.members.add, owner, email, role, None)
    made = await maild.operate(maild.store.members.link, owner, email)
    return yarl.URL(made["link"]).query["link"]
