// A program as somebody would write it with the TypeScript client: with what its tarball brings, and nothing else.
//
// MAILD_URL and MAILD_API_KEY say where. It says the address of its inbox, waits for a line when the mail is there,
// goes its way, and ends with what it saw, as one line of JSON. tsc reads it strictly: what is wrong in `mistakes`
// must be seen by it.
import { once } from "node:events";
import { type Claim, type DraftedReply, EventsGap, Maild, type Message, type SentReply, ThreadAdvanced } from "maild-client";

const client = new Maild();
const tell = (line: object): void => void process.stdout.write(JSON.stringify(line) + "\n");

const inbox = await client.inboxes.create({ username: "journey", metadata: { team: "a" } });
await client.inboxes.replacePolicy(inbox.id, { version: 0, work: { enabled: true } });
tell({ address: inbox.address });
await once(process.stdin, "data");
process.stdin.destroy();

const told = await client.messages.wait({ inboxId: inbox.id, timeoutSeconds: 20 });
const message: Message | null = told.message;
if (message === null) throw new Error("no mail");
const [attachment] = message.attachments;
if (attachment === undefined) throw new Error("no file");
const file: Uint8Array = await client.attachments.download(attachment.id);
const { data: context, requestId } = await client.threads.context(message.threadId, { maxTokens: 2000 }).withResponse();
const ifLastMessageId = context.lastMessageId ?? "";
const sent: SentReply = await client.messages.reply(message.id, { text: "One.", ifLastMessageId });
const draft: DraftedReply = await client.messages.reply(message.id, { text: "Later.", asDraft: true });

async function advanced(): Promise<string> {
  try {
    await client.messages.reply(message!.id, { text: "Two.", ifLastMessageId });
  } catch (error) {
    if (!(error instanceof ThreadAdvanced)) throw error;
    const newest = error.newer.at(-1);
    if (newest?.id !== error.lastMessageId) throw new Error("not the newest");
    return newest.id;
  }
  throw new Error("it was sent");
}

async function worked(): Promise<string[]> {
  const answered: string[] = [];
  const stop = new AbortController();
  const handle = async (one: Message, claim: Claim): Promise<void> => {
    answered.push((await claim.reply({ text: `Thank you for ${one.subject}.` })).subject);
    stop.abort();
  };
  await client.inboxes.work(inbox.id, handle, { waitSeconds: 1, signal: stop.signal });
  return answered;
}

async function typesSoFar(): Promise<string[]> {
  const seen = new Set<string>();
  try {
    for await (const event of client.events.list({ types: ["*"], inboxId: inbox.id })) {
      if (event.type === "email.received" && event.data.inboxId !== inbox.id) throw new Error("another's");
      seen.add(event.type);
    }
  } catch (error) {
    if (!(error instanceof EventsGap)) throw error;
  }
  return [...seen].sort();
}

const newer = [await advanced(), sent.id];
const answered = await worked();
const directions: string[] = [];
for await (const one of client.messages.list({ inboxId: inbox.id, limit: 1 })) directions.push(one.direction);
tell({
  text: message.textBody, bytes: file.length, newer, words: context.text.includes("Please pay."), worked: answered,
  directions, types: await typesSoFar(), draft: draft.status, requestId: requestId !== undefined,
});

/** What is downloaded may be passed on as the body of an answer. */
export const passedOn = async (id: string): Promise<Blob> => new Blob([await client.attachments.download(id)]);

/** Nobody calls this: it is for tsc, which must find fault with every line of it. */
export async function mistakes(): Promise<void> {
  // @ts-expect-error: a list
  await client.messages.send({ inboxId: "inb_1", to: 1 });
  // @ts-expect-error: inboxId is required
  await client.messages.send({ to: ["ada@example.com"] });
  // @ts-expect-error: no such field
  await client.messages.send({ inboxId: "inb_1", to: [], inbox_id: "" });
  // @ts-expect-error: no such word
  await client.messages.reply("msg_1", { quote: "all" });
  // @ts-expect-error: no such field
  (await client.messages.get("msg_1")).sujbect;
  // @ts-expect-error: no such field
  await client.inboxes.replacePolicy("inb_1", { version: 0, work: { enable: true } });
  // @ts-expect-error: a thread of a list has no messages
  for await (const one of client.threads.list()) one.messages;
  // @ts-expect-error: ifLastMessageId is required
  await client.threads.reply("thd_1", { text: "no" });
  // @ts-expect-error: nothing is made twice here
  await client.messages.label("msg_1", { addLabels: ["a"] }, { idempotencyKey: "k" });
  // @ts-expect-error: a list is no array
  (await client.inboxes.list()).length;
  // @ts-expect-error: a list is no array
  for (const one of await client.inboxes.list()) void one;
  // @ts-expect-error: the other kind of answer
  const wrong: DraftedReply = await client.messages.reply("msg_1", { text: "now" });
  void wrong;
}
