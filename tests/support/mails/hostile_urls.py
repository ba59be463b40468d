"""URLs that an attacker registers as webhooks (threats W1, W2), and what DNS says of the names in them.

One table for the three places where a URL counts: create, PATCH, and each delivery. `{port}` is a port on which
a test may lie in wait on loopback.
"""

import asyncio
from collections.abc import Iterator

from tests.support.peers.dns_server import DnsServer

# What a resolver says. Every other name does not exist.
NAMES = {
    "inside.test": ["10.1.2.3"],
    "mixed.test": ["93.184.215.14", "127.0.0.1"],
    "v6.test": ["fd00::1"],
    "metadata.test": ["169.254.169.254"],
    "mapped.test": ["::ffff:10.0.0.1"],
    "metadata.google.internal": ["169.254.169.254"],
    "instance-data": ["169.254.169.254"],
    "kubernetes.default.svc": ["10.96.0.1"],
    "127.0.0.1.nip.test": ["127.0.0.1"],
    "7f000001.rebind.test": ["127.0.0.1"],
    "unspecified.test": ["0.0.0.0"],
    "cgnat.test": ["100.64.0.1"],
    "ula.test": ["fd00:ec2::254"],
    "nat64.test": ["64:ff9b::7f00:1"],
    "six-to-four.test": ["2002:7f00:1::"],
    "teredo.test": ["2001:0:53aa:64c:0:7fff:80ff:fffe"],
    "alias.test": ["127.0.0.1"],
    "public.test": ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
    "xn--bcher-kva.test": ["93.184.215.14"],
}

# By the fault that the API names (at `url`, but for a body that is no text).
HOSTILE = {
    "invalid_format": [
        "",
        "http://public.test/",
        "HTTPS://public.test/",
        " https://public.test/",
        "//public.test/",
        "ftp://public.test/",
        "file:///etc/passwd",
        "https:public.test",
        "https:/127.0.0.1/",
        "https:\\\\127.0.0.1/",
        "https:/\\127.0.0.1/",
        "gopher://127.0.0.1:25/_MAIL",
        "dict://127.0.0.1/",
        "ldap://127.0.0.1/",
        "unix:///run/docker.sock",
        "data:text/html,x",
        "javascript:alert(1)",
        "wss://public.test/",
        "https",
        "ｈttps://public.test/",
    ],
    "too_long": [
        "https://public.test/" + "a" * 2048,
    ],
    "invalid_text": [
        "https://\ud800.test/",
        "https://public.test/\ud800",
    ],
    "refused_target": [
        # schemes and shapes
        "https:///path",
        "https://",
        "https://?x",
        "https://:443/",
        "https://.",
        "https://..:{port}/",
        "https://public..test:{port}/",
        "https://-public.test:{port}/",
        "https://pub lic.test:{port}/",
        "https://public.test/a b",
        "https://public.test/\r\nX-Evil: 1",
        "https://pub\tlic.test/",
        "https://public.test/\x00",
        "https://public.test\\@127.0.0.1/",
        "https://public.test:0/",
        "https://public.test:65536/",
        "https://public.test:x/",
        "https://public.test:1:2/",
        "https://" + "a" * 64 + ".test/",
        "https://" + "a." * 130 + "test/",
        "https:////127.0.0.1/",
        "https://\\127.0.0.1/",
        "https://public.test\u2044@127.0.0.1/",
        "https://127.0.0.1\x85/",
        "https://127.0.0.1\u3000/",
        "https://127.0.0.1\\.public.test/",
        "https://127.0.0.1?.public.test/",
        "https://127.0.0.1#.public.test/",
        "https://127.0.0.1?@public.test/",
        "https://127.0.0.1#@public.test/",
        "https://127.0.0.1/@public.test/",
        "https://127.0.0.1;.public.test:{port}/",
        "https://127.0.0.1,public.test:{port}/",
        "https://public.test:-1/",
        "https://public.test:+443/",
        "https://public.test:４４３/",
        "https://public.test:0x1bb/",
        "https://public.test:443\x00/",
        "https://public.test: 443/",
        "https://public.test:99999999999999999999/",
        "https://xn--/",
        "https://*.test:{port}/",
        "https://public.test\u200b@127.0.0.1/",
        # user information
        "https://public.test:443@127.0.0.1/",
        "https://:@127.0.0.1/",
        "https://public.test＠127.0.0.1:{port}/",
        "https://user@public.test:{port}/",
        "https://user:password@public.test/",
        "https://@public.test:{port}/",
        "https://public.test@127.0.0.1:{port}/",
        "https://public.test%40127.0.0.1:{port}/",
        # private, loopback, link-local, reserved literals
        "https://127.0.0.1:{port}/",
        "https://127.0.0.1:8025/v1/keys",
        "https://127.255.255.254:{port}/",
        "https://0.0.0.0:{port}/",
        "https://10.0.0.1:{port}/",
        "https://172.16.0.1:{port}/",
        "https://172.31.255.255:{port}/",
        "https://192.168.1.1:{port}/",
        "https://169.254.169.254/latest/meta-data/",
        "https://168.63.129.16:{port}/",
        "https://100.64.0.1:{port}/",
        "https://100.100.100.200:{port}/",
        "https://192.0.0.192:{port}/",
        "https://192.0.2.1:{port}/",
        "https://198.18.0.1:{port}/",
        "https://198.51.100.7:{port}/",
        "https://203.0.113.9:{port}/",
        "https://224.0.0.1:{port}/",
        "https://240.0.0.1:{port}/",
        "https://255.255.255.255:{port}/",
        # other ways to write an IPv4 address
        "https://2130706433:{port}/",
        "https://0x7f000001:{port}/",
        "https://0x7f.0.0.1:{port}/",
        "https://0177.0.0.1:{port}/",
        "https://017700000001:{port}/",
        "https://127.1:{port}/",
        "https://127.0.1:{port}/",
        "https://127.0.0.1.:{port}/",
        "https://127.0.0.1.:443/",
        "https://1.1.1.1.1:{port}/",
        "https://public.test.1:{port}/",
        "https://256.256.256.256:{port}/",
        "https://0:{port}/",
        "https://0x:{port}/",
        "https://08.8.8.8:{port}/",
        "https://١٢٧.0.0.1:{port}/",
        "https://１２７.0.0.1:{port}/",
        "https://①②⑦.0.0.1:{port}/",
        "https://127。0。0。1:{port}/",
        "https://%31%32%37.0.0.1:{port}/",
        "https://0300.0250.1.1:{port}/",
        "https://0x7f.1:{port}/",
        "https://0177.1:{port}/",
        "https://127.0.0.0x1:{port}/",
        "https://127.0.0.000001:{port}/",
        "https://00000127.0.0.1:{port}/",
        "https://0xa9fea9fe:{port}/",
        "https://2852039166:{port}/",
        "https://4294967297:{port}/",
        "https://0251.0376.0251.0376:{port}/",
        "https://169.254.43518:{port}/",
        "https://①⑥⑨.②⑤④.①⑥⑨.②⑤④:{port}/",
        "https://①②⑦.⓪.⓪.①:{port}/",
        "https://127.0.0.1%2f.public.test:{port}/",
        "https://127.0.0.1%23.public.test:{port}/",
        "https://127.0.0.1\u200b/",
        "https://127.0.0.1\u00ad/",
        "https://127.0.0.1\ufeff/",
        "https://127.0.0.1%00.public.test:{port}/",
        # IPv6
        "https://[::1]:{port}/",
        "https://[::]:{port}/",
        "https://[::ffff:127.0.0.1]:{port}/",
        "https://[::ffff:7f00:1]:{port}/",
        "https://[::127.0.0.1]:{port}/",
        "https://[0:0:0:0:0:ffff:a00:1]:{port}/",
        "https://[fe80::1]:{port}/",
        "https://[fe80::1%25eth0]:{port}/",
        "https://[2606:2800::1%25eth0]:{port}/",
        "https://[fc00::1]:{port}/",
        "https://[fd00:ec2::254]:{port}/",
        "https://[ff02::1]:{port}/",
        "https://[64:ff9b::7f00:1]:{port}/",
        "https://[64:ff9b:1::a00:1]:{port}/",
        "https://[2002:7f00:1::]:{port}/",
        "https://[2001::1]:{port}/",
        "https://[2001:db8::1]:{port}/",
        "https://[3fff::1]:{port}/",
        "https://[100::1]:{port}/",
        "https://[0000:0000:0000:0000:0000:0000:0000:0001]:{port}/",
        "https://[::0001]:{port}/",
        "https://[::1%25lo]:{port}/",
        "https://[::1%lo]:{port}/",
        "https://[::1%00]:{port}/",
        "https://[::ffff:169.254.169.254]:{port}/",
        "https://[::ffff:a9fe:a9fe]:{port}/",
        "https://[::ffff:0:127.0.0.1]:{port}/",
        "https://[64:ff9b::169.254.169.254]:{port}/",
        "https://[2002:a9fe:a9fe::]:{port}/",
        "https://[2001:0:7f00:1::]:{port}/",
        "https://[2001:0:53aa:64c:0:7fff:80ff:fffe]:{port}/",
        "https://[2001:20::1]:{port}/",
        "https://[3ffe::1]:{port}/",
        "https://[5f00::1]:{port}/",
        "https://[fec0::1]:{port}/",
        "https://[ff01::1]:{port}/",
        "https://[::1].public.test:{port}/",
        "https://[::1]public.test:{port}/",
        "https://::1/",
        "https://[]:{port}/",
        "https://[[::1]]:{port}/",
        "https://[：：1]:{port}/",
        "https://[v1.fe80]:{port}/",
        "https://[127.0.0.1]:{port}/",
        "https://[::1:{port}/",
        # names
        "https://localhost:{port}/",
        "https://localhost.:{port}/",
        "https://LOCALHOST:{port}/",
        "https://any.localhost:{port}/",
        "https://ⓛocalhost:{port}/",
        "https://inside.test:{port}/",
        "https://inside.test.:{port}/",
        "https://INSIDE.test:{port}/",
        "https://mixed.test:{port}/",
        "https://v6.test:{port}/",
        "https://metadata.test:{port}/",
        "https://mapped.test:{port}/",
        "https://metadata.google.internal/computeMetadata/v1/",
        "https://METADATA.google.internal.:{port}/",
        "https://instance-data/latest/",
        "https://kubernetes.default.svc:{port}/",
        "https://127.0.0.1.nip.test:{port}/",
        "https://7f000001.rebind.test:{port}/",
        "https://unspecified.test:{port}/",
        "https://cgnat.test:{port}/",
        "https://ula.test:{port}/",
        "https://nat64.test:{port}/",
        "https://six-to-four.test:{port}/",
        "https://teredo.test:{port}/",
        "https://alias.test:{port}/",
        "https://ⅰnside.test:{port}/",
        "https://inside.test。/",
        "https://inside。test:{port}/",
        "https://in\u00adside.test/",
        "https://lo\u200dcalhost/",
        "https://l\u00adocalhost/",
        "https://ｌｏｃａｌｈｏｓｔ:{port}/",
        "https://localhost。/",
        "https://%6cocalhost:{port}/",
        "https://a.b.localhost:8025/",
        "https://localhost..:{port}/",
    ],
}


def hostile(port: int = 443) -> Iterator[tuple[str, str]]:
    """(URL, code) of each."""
    for code, urls in HOSTILE.items():
        for url in urls:
            yield url.replace("{port}", str(port)), code


def publish(dns: DnsServer) -> None:
    """Put the names into the DNS."""
    for name, addresses in NAMES.items():
        for address in addresses:
            dns.add(name, "AAAA" if ":" in address else "A", address)


class Trap:
    """Listens on loopback, both families, and counts who comes."""

    def __init__(self) -> None:
        self.connections = 0
        self.port = 0
        self._servers: list[asyncio.Server] = []

    async def __aenter__(self) -> "Trap":
        for address in ("127.0.0.1", "::1"):
            server = await asyncio.start_server(self._caught, address, self.port)
            self.port = server.sockets[0].getsockname()[1]
            self._servers.append(server)
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self._servers:
            server.close()

    def _caught(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        writer.close()
