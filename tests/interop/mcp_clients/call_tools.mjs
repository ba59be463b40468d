// Both official clients for Node: a question as JSON on stdin, what the client got as JSON on stdout.
import { text } from "node:stream/consumers";

const asked = JSON.parse(await text(process.stdin));
const isOld = asked.client === "sdk";
const { Client } = await import(
  isOld ? "@modelcontextprotocol/sdk/client/index.js" : "@modelcontextprotocol/client"
);
const { StreamableHTTPClientTransport } = isOld
  ? await import("@modelcontextprotocol/sdk/client/streamableHttp.js")
  : await import("@modelcontextprotocol/client");
const { StdioClientTransport } = await import(
  isOld ? "@modelcontextprotocol/sdk/client/stdio.js" : "@modelcontextprotocol/client/stdio"
);

const transport = asked.bridge
  ? new StdioClientTransport(asked.bridge)
  : new StreamableHTTPClientTransport(new URL(asked.url), {
      requestInit: { headers: { Authorization: `Bearer ${asked.key}` } },
    });
const options = asked.mode ? { versionNegotiation: { mode: asked.mode } } : {};
const client = new Client({ name: "stranger", version: "1" }, options);
await client.connect(transport);
const { tools } = await client.listTools();
const answers = [];
for (const [name, args] of asked.calls) {
  try {
    answers.push(await client.callTool({ name, arguments: args }));
  } catch (error) {
    answers.push({ rpcError: error.code, message: String(error) });
  }
}
console.log(
  JSON.stringify({
    version: client.getNegotiatedProtocolVersion?.() ?? null,
    server: client.getServerVersion()?.name,
    instructions: client.getInstructions(),
    tools: tools.map((one) => one.name),
    answers,
  }),
);
await client.close();
