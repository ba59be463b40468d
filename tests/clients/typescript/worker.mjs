// A worker as somebody would run it: says what it begins, waits for a line, answers. SIGTERM lets it finish.
// node worker.mjs INBOX CONCURRENCY     (MAILD_URL and MAILD_API_KEY say where)
import { createInterface } from "node:readline";
import { ClaimLost, Maild } from "maild-client";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const told = (...words) => process.stdout.write(words.join(" ") + "\n");

async function handle(message, claim) {
  told("begun", message.id);
  await lines.next();
  try {
    await claim.reply({ text: "Thank you." });
    told("answered", message.id);
  } catch (error) {
    if (error instanceof ClaimLost) told("lost", message.id);
    throw error;
  }
}

const [inboxId, concurrency] = process.argv.slice(2);
await new Maild().inboxes.work(inboxId, handle, { concurrency: Number(concurrency), waitSeconds: 1 });
told("ended");
process.stdin.destroy();
