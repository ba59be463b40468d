// The main journey through types that openapi-typescript made of /openapi.json. test_generated_clients.py tells
// the steps: this prints the inbox's address, and goes on when a line on stdin says that the mail is there.
import { once } from "node:events";
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

type Message = components["schemas"]["Message"];
type ErrorCode = components["schemas"]["Error"]["error"]["code"];

const client = createClient<paths>({
  baseUrl: process.env["BASE_URL"] ?? "",
  headers: { Authorization: `Bearer ${process.env["API_KEY"]}` },
});

function got<T>(answer: { data?: { data: T }; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data.data;
}

function tell(line: object): void {
  process.stdout.write(JSON.stringify(line) + "\n");
}

const inbox = got(await client.POST("/v1/inboxes", { body: { username: "typed", name: "Typed" } }));
tell({ address: inbox.address });
await once(process.stdin, "data");
process.stdin.destroy();

const query = { inboxId: inbox.id, direction: "inbound", limit: 10 } as const;
const [listed] = got(await client.GET("/v1/messages", { params: { query } }));
if (listed === undefined) throw new Error("no message");
const path = { id: listed.id };
const message: Message = got(await client.GET("/v1/messages/{id}", { params: { path } }));

const reply = got(
  await client.POST("/v1/messages/send", {
    body: {
      inboxId: inbox.id,
      to: [message.fromAddress],
      subject: `Re: ${message.subject}`,
      text: "It is paid.",
      inReplyTo: message.id,
    },
  }),
);
const thread = got(await client.GET("/v1/threads/{id}", { params: { path: { id: reply.threadId } } }));

const missing = await client.GET("/v1/inboxes/{id}", { params: { path: { id: "inb_none" } } });
const code: ErrorCode | undefined = missing.error?.error.code;

const attachment = message.attachments[0];
if (attachment === undefined) throw new Error("no attachment");
const file = await client.GET("/v1/attachments/{id}", {
  params: { path: { id: attachment.id }, query: { inline: false } },
  parseAs: "arrayBuffer",
});

tell({
  text: message.textBody,
  replyId: reply.id,
  threadId: thread.id,
  directions: thread.messages.map((one) => one.direction),
  code,
  bytes: file.data?.byteLength,
});
