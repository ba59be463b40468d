"""Forms as browsers send them (HTML Living Standard, §4.10.22.7), read in bounds."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import NamedTuple
from urllib.parse import parse_qsl

from aiohttp import web

from controlplane.console.faults import Unreadable
from controlplane.transport.callers import address_of
from controlplane.transport.request_bodies import RequestBodies
from controlplane.transport.request_headers import media_type

FORM = "application/x-www-form-urlencoded"
FIELDS_MAX = 200
ANONYMOUS = "console"  # who holds the bytes of a form, where neither member nor address is known


class FormBody(NamedTuple):
    """How long a form may be."""

    body_bytes_max: int


MEMBERS_FORM = FormBody(3 * 1024 * 1024)  # as long as the words of a draft, each octet escaped
ENTRANCE_FORM = FormBody(16 * 1024)  # a link, or an address, and where to go on
AT_ONCE_BYTES = 32 * 1024  # more is read on a thread: escapes take 160 ns an octet


class Form(dict[str, str]):
    """Fields by name, the last of each; `several`: all of them, `pairs`: in their order. Line ends are LF."""

    def __init__(self, pairs: Sequence[tuple[str, str]] = ()) -> None:
        self.pairs = [(name, value.replace("\r\n", "\n")) for name, value in pairs]
        super().__init__(self.pairs)
        self.several: dict[str, list[str]] = {}
        for name, value in self.pairs:
            self.several.setdefault(name, []).append(value)


def addresses_in(typed: str) -> list[str]:
    """The addresses of a field, with commas, semicolons or blanks between them."""
    return typed.replace(",", " ").replace(";", " ").split()


@asynccontextmanager
async def read_form(
    bodies: RequestBodies, request: web.Request, body: FormBody, organization_id: str | None = None
) -> AsyncIterator[Form]:
    """The form of the request, whose bytes are counted until the block ends. Unreadable; Refusal of the body."""
    if media_type(request) != FORM:
        raise Unreadable("This is not what a form sends. Go back, load the page, and send it again.")
    holders = (organization_id or ANONYMOUS, *address_of(request))
    async with bodies.octets(body, request, holders) as raw:
        yield (
            _read(raw) if len(raw) <= AT_ONCE_BYTES else await bodies.cpu.run(holders[0], partial(_read, raw))
        )


def _read(raw: bytearray) -> Form:
    try:
        return Form(
            parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=FIELDS_MAX)
        )
    except ValueError as error:  # not ASCII, not UTF-8 behind the escapes, too many
        raise Unreadable("The form could not be read. Go back and try again.") from error
