"""The bare aiohttp routes that the benches compare the API with, on the daemon's own server settings.

    python -m scripts.bench.peers.bare           GET /bare answers a small JSON
    python -m scripts.bench.peers.bare STORE     POST /bare answers it after one durable insert through the same writer

Prints where it listens, as the daemon does.
"""

import asyncio
import json
import sys
from pathlib import Path

import uvloop
from aiohttp import web

from storage.engine import migrate
from storage.engine.database import Database
from storage.engine.tx import Tx


async def read(request: web.Request) -> web.Response:
    return web.json_response({"data": {"id": "msg_1", "status": "received"}})


class Insert:
    def __init__(self, db: Database) -> None:
        self._db = db

    @classmethod
    async def into(cls, path: Path) -> "Insert":
        migrate.prepare(path)
        conn = migrate.connect(path)
        conn.execute("CREATE TABLE bench (id INTEGER PRIMARY KEY, body TEXT NOT NULL)")
        conn.close()
        return cls(await Database.open(path))

    async def __call__(self, request: web.Request) -> web.Response:
        body = json.loads(await request.read())
        number = await self._db.write(_insert, body["text"])
        return web.json_response({"data": {"id": number, "status": "queued"}}, status=201)


def _insert(tx: Tx, body: str) -> int:
    number: int = tx.value("INSERT INTO bench (body) VALUES (?) RETURNING id", (body,))
    return number


async def main() -> None:
    app = web.Application()
    if len(sys.argv) > 1:
        app.router.add_post("/bare", await Insert.into(Path(sys.argv[1])))
    else:
        app.router.add_get("/bare", read)
    runner = web.AppRunner(app, access_log=None, keepalive_timeout=75, handler_cancellation=False)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    print(json.dumps({"http": f"http://{host}:{port}"}), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(main())
