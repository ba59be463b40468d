"""DNS as the checks of a sender's identity ask it, in memory: TXT records and addresses by name, and what was asked."""

from collections import Counter

from maild.resolver import DnsTemporary, NoAnswer, NxDomain


class Zone:
    """`temporary`: names for which nobody answers. A name with addresses alone has no TXT record, and exists."""

    def __init__(self, txt: dict[str, str | list[str]] | None = None) -> None:
        self._txt: dict[str, list[bytes]] = {}
        self.addresses: dict[str, list[str]] = {}
        self.temporary: set[str] = set()
        self.asked: Counter[str] = Counter()
        for name, texts in (txt or {}).items():
            self.add(name, *([texts] if isinstance(texts, str) else texts))

    def add(self, name: str, *texts: str) -> None:
        self._txt.setdefault(name, []).extend(text.encode() for text in texts)

    async def txt(self, name: str) -> list[bytes]:
        self._ask(name)
        if name in self._txt:
            return self._txt[name]
        raise NoAnswer(name) if name in self.addresses else NxDomain(name)

    async def ipv4(self, host: str) -> list[str]:
        self._ask(host)
        if host in self.addresses:
            return self.addresses[host]
        raise NoAnswer(host) if host in self._txt else NxDomain(host)

    def _ask(self, name: str) -> None:
        self.asked[name] += 1
        if name in self.temporary:
            raise DnsTemporary(name)
