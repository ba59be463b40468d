// Asks a client what tests/clients/typescript_world.py says, one line of JSON for another. `body` is that of an
// async function of `client`, `maild` and `given`. Pauses are noted, and last no time; longer ones are time-outs.
import { createInterface } from "node:readline";
import { inspect } from "node:util";
import * as maild from "maild-client";

const LONGEST_PAUSE_MS = 25_000;
const OURS = /maild-client|eval/; // fetch has timers of its own
const AsyncFunction = (async () => {}).constructor;
const realTimeout = globalThis.setTimeout;
let pauses = [];
let hasTime = false;
globalThis.setTimeout = (act, ms, ...more) => {
  if (hasTime || ms > LONGEST_PAUSE_MS || !OURS.test(new Error().stack.split("\n")[2])) return realTimeout(act, ms, ...more);
  pauses.push(ms / 1000);
  return realTimeout(act, 0, ...more);
};

function plain(value) {
  if (value instanceof Uint8Array) return { bytes: value.length };
  return value ?? null;
}

function told(error) {
  const { name, message, code, status, details, requestId, retryAfter, idempotencyKey, newer, fields } = error;
  const families = [];
  for (let one = error.constructor; one && one !== Error; one = Object.getPrototypeOf(one)) families.push(one.name);
  const shown = inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error) + String(error.stack);
  return {
    name, families, message, code, status, details, requestId, retryAfter, idempotencyKey, newer, fields, shown,
    lastMessageId: code === "thread_advanced" ? error.lastMessageId : undefined,
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { options, body, given, isSlow } = JSON.parse(line);
  const asked = [];
  pauses = [];
  hasTime = isSlow;
  const answer = { asked, pauses };
  try {
    const watching = (url, init) => {
      asked.push([init.method, new URL(url).pathname]);
      return fetch(url, init);
    };
    const client = new maild.Maild({ fetch: watching, ...options });
    answer.value = plain(await new AsyncFunction("client", "maild", "given", "inspect", body)(client, maild, given, inspect));
  } catch (error) {
    answer.error = told(error);
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
