"""A DNS-over-HTTPS resolver on loopback that answers from a scriptable zone, or misbehaves as told.

    zone = DnsServer()                              what it knows; never started itself
    async with DohServer(ca, zone) as doh:          doh.url for `[dns] doh`, ca.ca_file for `doh_ca_file`
        publish(zone, domain["records"])            the records of a domain, as its owner would
        doh.fault = "garbage"                       see FAULTS

Several servers may share a zone; one that lies has a zone of its own.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import dns.flags
import dns.message
import dns.rcode
from aiohttp import web

from tests.support.peers.dns_server import DnsServer
from tests.support.peers.throwaway_ca import ThrowawayCa

TYPE = "application/dns-message"
FAULTS = frozenset({"", "garbage", "status", "servfail", "other", "truncated", "redirect", "slow", "empty"})
STRING_OCTETS = 255  # RFC 1035 §3.3


class DohServer:
    def __init__(self, ca: ThrowawayCa, zone: DnsServer) -> None:
        self._context = ca.server_context(["127.0.0.1"])
        self._released = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self.zone = zone
        self.fault = ""
        self.requests = 0
        self.held = 0  # by "slow", at this moment
        self.held_most = 0
        self.port = 0

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}/dns-query"

    async def __aenter__(self) -> "DohServer":
        app = web.Application()
        app.router.add_post("/dns-query", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, ssl_context=self._context)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._released.set()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        self.requests += 1
        wire = await request.read()
        assert request.content_type == TYPE and request.headers["Accept"] == TYPE
        assert dns.message.from_wire(wire).id == 0  # RFC 8484 §4.1
        assert self.fault in FAULTS
        if self.fault == "slow":
            await self._hold()
        if self.fault == "status":
            return web.Response(status=503, body=await self.zone.answer(wire, True), content_type=TYPE)
        if self.fault == "redirect":
            return web.Response(status=307, headers={"Location": self.url})
        return web.Response(body=await self._body(wire), content_type=TYPE)

    async def _hold(self) -> None:
        self.held += 1
        self.held_most = max(self.held_most, self.held)
        try:
            await self._released.wait()
        finally:
            self.held -= 1

    async def _body(self, wire: bytes) -> bytes:
        answer = await self.zone.answer(wire, over_tcp=True)
        assert answer is not None
        response = dns.message.from_wire(answer)
        match self.fault:
            case "garbage":
                return b"<html>not found</html>"
            case "empty":
                return b""
            case "servfail":
                response.set_rcode(dns.rcode.SERVFAIL)
            case "truncated":
                response.flags |= dns.flags.TC
            case "other":
                other = dns.message.make_query("elsewhere.test.", "TXT", id=0)
                return dns.message.make_response(other).to_wire()
        return response.to_wire()


def publish(
    zone: DnsServer,
    records: Iterable[Mapping[str, Any]],
    *,
    without: Collection[str] = (),
) -> None:
    """Put a domain's records into the zone, but for those of some purposes; long texts in several strings."""
    for record in records:
        if record["purpose"] in without:
            continue
        value = record["value"]
        text = f"{record['priority']} {value}." if record["type"] == "MX" else txt(value)
        zone.add(record["name"], record["type"], text)


def txt(value: str) -> str:
    """A TXT record's text as zone files have it."""
    pieces = [value[at : at + STRING_OCTETS] for at in range(0, len(value), STRING_OCTETS)]
    return " ".join(f'"{piece}"' for piece in pieces or [""])
