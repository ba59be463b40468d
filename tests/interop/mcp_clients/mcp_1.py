"""The official client, release 1: a question as JSON on stdin, what it got as JSON on stdout."""

import asyncio
import json
import sys

from mcp import ClientSession, McpError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamablehttp_client


async def main() -> None:
    asked = json.load(sys.stdin)
    if "bridge" in asked:
        transport = stdio_client(StdioServerParameters(**asked["bridge"]))
    else:
        transport = streamablehttp_client(asked["url"], headers={"Authorization": f"Bearer {asked['key']}"})
    async with (
        transport as (reader, writer, *_),
        ClientSession(reader, writer) as session,
    ):
        begun = await session.initialize()
        await session.send_ping()
        told = {
            "version": begun.protocolVersion,
            "server": begun.serverInfo.name,
            "instructions": begun.instructions,
            "tools": [tool.name for tool in (await session.list_tools()).tools],
            "answers": [],
        }
        for name, arguments in asked["calls"]:
            try:
                result = await session.call_tool(name, arguments)
            except McpError as error:
                told["answers"].append({"rpcError": error.error.code})
                continue
            told["answers"].append(result.model_dump(mode="json", by_alias=True, exclude_none=True))
    json.dump(told, sys.stdout)


asyncio.run(main())
