"""The receiver of scripts/bench/webhooks: HTTPS on loopback, as little work for a request as can be.

    python -m scripts.bench.peers.webhook_sink FOLDER

It prints its port and the file of its CA. POST answers 200, but below /hang never. It notes when the first octet of each
request came (CLOCK_MONOTONIC, which all processes share). GET /seen shows and forgets: {"arrivals": {path: [s, …]}, "body": n}.
"""

import asyncio
import json
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import uvloop

from tests.support.peers.throwaway_ca import ThrowawayCa

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Seen:
    def __init__(self) -> None:
        self.arrivals: defaultdict[str, list[float]] = defaultdict(list)
        self.body_bytes = 0

    def shown(self) -> bytes:
        document = json.dumps({"arrivals": self.arrivals, "body": self.body_bytes}).encode()
        self.arrivals.clear()
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(document), document)


class Receiver(asyncio.Protocol):
    def __init__(self, seen: Seen) -> None:
        self._seen = seen
        self._buffer = b""
        self._began = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport  # uvloop's TLS transport is no asyncio.Transport

    def data_received(self, data: bytes) -> None:
        if not self._buffer:
            self._began = time.monotonic()
        self._buffer += data
        head, end, rest = self._buffer.partition(b"\r\n\r\n")
        if not end:
            return
        method, path = head.split(b" ", 2)[:2]
        if method == b"GET":
            self._buffer = b""
            self._transport.write(self._seen.shown())
            return
        at = head.lower().index(b"content-length:") + 15
        length = int(head[at:].split(b"\r", 1)[0])
        if len(rest) < length:
            return
        self._buffer = b""
        self._seen.arrivals[path.decode()].append(self._began)
        self._seen.body_bytes = length
        if not path.startswith(b"/hang"):
            self._transport.write(OK)


async def serve(folder: Path) -> None:
    ca = ThrowawayCa(folder)
    seen = Seen()
    server = await asyncio.get_running_loop().create_server(
        lambda: Receiver(seen), "127.0.0.1", 0, ssl=ca.server_context(["127.0.0.1"]), backlog=1000
    )
    port = server.sockets[0].getsockname()[1]
    print(json.dumps({"http": f"https://127.0.0.1:{port}", "ca_file": str(ca.ca_file)}), flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(serve(Path(sys.argv[1])))
