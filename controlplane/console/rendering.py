"""Templates and what they may call. All values are escaped by Jinja; nothing here makes markup."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import resources
from typing import Any

import jinja2

from controlplane.console.budget import cut, drawn_within
from storage.clock import Clock
from storage.searching.labels import COUNTED_MAX

_FOLDER = "controlplane.console"
ASSETS = {
    "console.css": "text/css",
    "console.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
_UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"))


class Asset:
    """A static file, read once. `tag`: changes with what it holds."""

    def __init__(self, name: str) -> None:
        self.content_type = ASSETS[name]
        self.octets = (resources.files(_FOLDER) / "static" / name).read_bytes()
        self.tag = hashlib.sha256(self.octets).hexdigest()[:12]


class Templates:
    """All templates, which `compile` makes ready for `render`."""

    def __init__(self, clock: Clock, hostname: str) -> None:
        self._clock = clock
        self.assets = {name: Asset(name) for name in ASSETS}
        texts = {
            one.name: one.read_text("utf-8") for one in (resources.files(_FOLDER) / "templates").iterdir()
        }
        self._environment = jinja2.Environment(
            loader=jinja2.DictLoader(texts),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._environment.filters |= {
            "ago": self._ago,
            "moment": moment,
            "day": day,
            "size": size,
            "counted": counted,
            "cut": cut,
            "words": words,
            "percent": percent,
            "lasting": lasting,
        }
        self._environment.globals |= {"asset": self._asset, "hostname": hostname}
        self._names = tuple(texts)

    def compile(self) -> None:
        """Compile every template: 0.2 s of work. May run in a thread."""
        for name in self._names:
            self._environment.get_template(name)

    def render(self, template: str, shown: Mapping[str, Any]) -> str:
        """The page, of `budget.PAGE_BYTES` at most."""
        page = self._environment.get_template(template)
        return drawn_within(lambda room: page.render({**shown, "room": room}))

    def _asset(self, name: str) -> str:
        return f"/console/static/{name}?v={self.assets[name].tag}"

    def _ago(self, at: str | None) -> str:
        """`3 minutes ago`, `in 2 hours`, of a timestamp of the API."""
        if at is None:
            return "never"
        seconds = self._clock.now_ms() // 1000 - int(_read(at).timestamp())
        distance = abs(seconds)
        for length, name in _UNITS:
            if distance >= length:
                count = distance // length
                told = f"{count} {name}{'' if count == 1 else 's'}"
                return f"in {told}" if seconds < 0 else f"{told} ago"
        return "in a moment" if seconds < 0 else "just now"


def moment(at: str | None) -> str:
    """`22 Nov 2026, 19:04 UTC`, of a timestamp of the API."""
    return "never" if at is None else f"{_read(at):%-d %b %Y, %H:%M UTC}"


def day(at: str) -> str:
    """`22 Nov`, of a timestamp of the API."""
    return f"{_read(at):%-d %b}"


def size(octets: int) -> str:
    """`17 KB`: as people say how long a file is."""
    if octets < 1000:
        return f"{octets} bytes"
    amount, unit = octets / 1000, "KB"
    if amount >= 1000:
        amount, unit = amount / 1000, "MB"
    return f"{amount:.1f} {unit}" if amount < 10 else f"{amount:.0f} {unit}"


def counted(count: int) -> str:
    """`204`; where counting stops, `1,000+`."""
    return f"{count:,}+" if count >= COUNTED_MAX else str(count)


def words(name: str) -> str:
    """A code of the API as words: `first_time` → `first time`."""
    return name.replace("_", " ")


def percent(share: float) -> str:
    """`2.5 %`, of a share from 0 to 1."""
    return f"{share * 100:.1f} %"


def lasting(seconds: int) -> str:
    """`2 days`, `90 seconds`: in the longest unit that says it exactly."""
    length, name = next((unit for unit in _UNITS if seconds % unit[0] == 0), (1, "second"))
    count = seconds // length
    return f"{count} {name}{'' if count == 1 else 's'}"


def _read(at: str) -> datetime:
    return datetime.fromisoformat(at).astimezone(UTC)
