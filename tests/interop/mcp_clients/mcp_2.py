"""The official client, release 2: a question as JSON on stdin, what it got as JSON on stdout."""

import asyncio
import json
import sys

import httpx2
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError


async def main() -> None:
    asked = json.load(sys.stdin)
    if "bridge" in asked:
        transport = stdio_client(StdioServerParameters(**asked["bridge"]))
    else:
        http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {asked['key']}"}, timeout=300)
        transport = streamable_http_client(asked["url"], http_client=http)
    async with Client(transport, mode=asked["mode"]) as client:
        tools = (await client.list_tools()).tools
        told = {
            "version": client.protocol_version,
            "server": client.server_info and client.server_info.name,
            "instructions": client.instructions,
            "tools": [tool.name for tool in tools],
            "answers": [],
        }
        for name, arguments in asked["calls"]:
            try:
                result = await client.call_tool(name, arguments)
            except MCPError as error:
                told["answers"].append({"rpcError": error.error.code})
                continue
            told["answers"].append(result.model_dump(mode="json", by_alias=True, exclude_none=True))
    json.dump(told, sys.stdout)


asyncio.run(main())
