/**
 * What callers give, as it goes over the wire.
 *
 * What can't go there, or would be read as something else, is refused with its name before anything is sent. What the
 * server would refuse by itself is left to it: it names each fault.
 */
import { InvalidArgument } from "./errors.js";

const DEPTH_MAX = 100;
const BASE64 = new TextEncoder().encode("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
const PADDING = 61; // =
const CONTENT = /(^|\.)attachments\[\d+\]\.content$/; // of what is sent, and of what is checked
export const TIMER_MAX_MS = 2_147_483_647; // what is longer would be over at once
const ID_PREFIXES: Record<string, string> = {
  agent: "agt",
  attachment: "att",
  claim: "clm",
  delivery: "del",
  domain: "dom",
  draft: "drf",
  inbox: "inb",
  key: "key",
  message: "msg",
  organization: "org",
  review: "rev",
  rule: "rul",
  suppression: "sup",
  thread: "thd",
  webhook: "whk",
};
const KINDS = new Set(Object.values(ID_PREFIXES));
/** What may be said of any call. */
export const CALL_OPTIONS = ["signal", "timeoutMs", "maxRetries"];
/** What may be said of a call that takes an Idempotency-Key. */
export const WRITE_OPTIONS = [...CALL_OPTIONS, "idempotencyKey"];

/** What a call is given by names. InvalidArgument where it is no object, or has what stands behind it. */
export function fields<T extends object>(given: T): T {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new InvalidArgument(`fields are given by name, in an object, not as ${kindOf(given)}`);
  }
  const option = WRITE_OPTIONS.find((one) => one in given);
  if (option !== undefined) {
    throw new InvalidArgument(`${option} is an option of the call: it goes behind the fields, in an object of its own`);
  }
  return given;
}

/** An id as one segment of a path, whatever it holds. InvalidArgument where it can be none. */
export function segment(name: string, id: string): string {
  return encodeURIComponent(idOf(name, id));
}

function idOf(name: string, id: unknown): string {
  if (typeof id !== "string") {
    const more = typeof id === "object" && id !== null && "id" in id ? ": give its 'id'" : "";
    throw new InvalidArgument(`${name}: ${kindOf(id)} is no id${more}`);
  }
  // Controls, blanks and halves of characters.
  if (id === "" || id === "." || id === ".." || /[\p{C}\p{Z}]/u.test(id)) {
    throw new InvalidArgument(`${name}: ${JSON.stringify(id)} is no id`);
  }
  const prefix = ID_PREFIXES[name.replace(/Id$/, "")];
  if (!prefix || id.startsWith(`${prefix}_`)) return id;
  // A list of another kind's would be empty, and a 404 would look as if it were deleted.
  const it = KINDS.has(id.split("_", 1)[0] ?? "") ? "of another kind" : "none";
  throw new InvalidArgument(`${name} takes an id '${prefix}_…', and '${id}' is ${it}`);
}

/** A value as the text of a parameter. */
export function inQuery(name: string, value: unknown): string {
  if (name.endsWith("Id")) return idOf(name, value);
  if (Array.isArray(value)) return value.map((one) => inList(name, one)).join(",");
  const told = inBody(name, value);
  if (told === undefined || typeof told === "object") throw new InvalidArgument(`${name} can't be ${kindOf(value)}`);
  return String(told);
}

function inList(name: string, value: unknown): string {
  const told = inQuery(name, value);
  if (told.includes(",")) throw new InvalidArgument(`${name}: '${told}' has a comma, which parts one from the next`);
  return told;
}

/** A value as JSON has it, which `JSON.stringify` makes null, {} or nothing of where it has none. */
export function inBody(name: string, value: unknown, depth = 0): unknown {
  if (value === null || value === undefined || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (CONTENT.test(name)) return content(name, value);
  if (typeof value !== "object" || depth > DEPTH_MAX) throw new InvalidArgument(`${name} can't be ${kindOf(value)}`);
  if (value instanceof Date && Number.isNaN(value.getTime())) throw new InvalidArgument(`${name} is no valid Date`);
  if (ArrayBuffer.isView(value)) throw new InvalidArgument(`${name} can't be ${kindOf(value)}: text is a string`);
  if ("toJSON" in value && typeof value.toJSON === "function") return value.toJSON();
  if (Array.isArray(value)) return value.map((one, at) => inBody(`${name}[${at}]`, one, depth + 1));
  const members = Object.entries(value);
  // A Map, a Set, Headers, a promise.
  if (members.length === 0 && !isPlain(value)) throw new InvalidArgument(`${name} can't be ${kindOf(value)}`);
  return Object.fromEntries(members.map(([key, one]) => [key, inBody(`${name}.${key}`, one, depth + 1)]));
}

/** Of no class, in whichever realm: tests may have one of their own. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The content of a file: octets as base64. */
function content(name: string, given: unknown): unknown {
  if (typeof given !== "object" || given === null) throw new InvalidArgument(`${name} can't be ${kindOf(given)}`);
  const octets = octetsOf(given);
  if (octets) return base64(octets);
  throw new InvalidArgument(`${name} takes a Uint8Array, or base64, not ${kindOf(given)}: read it before`);
}

/** The octets of whatever holds some; undefined where it does not. */
export function octetsOf(value: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (!ArrayBuffer.isView(value)) return undefined;
  const octets = new Uint8Array(value.byteLength);
  octets.set(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  return octets;
}

/** By hand, for `btoa` takes seven times as long, in which a program does nothing else. */
function base64(octets: Uint8Array): string {
  const text = new Uint8Array(Math.ceil(octets.length / 3) * 4).fill(PADDING);
  for (let at = 0, to = 0; at < octets.length; at += 3) {
    const [first = 0, second, third] = [octets[at], octets[at + 1], octets[at + 2]];
    const bits = (first << 16) | ((second ?? 0) << 8) | (third ?? 0);
    text[to++] = digit(bits >> 18);
    text[to++] = digit(bits >> 12);
    if (second !== undefined) text[to++] = digit(bits >> 6);
    if (third !== undefined) text[to++] = digit(bits);
  }
  return new TextDecoder().decode(text);
}

function digit(bits: number): number {
  return BASE64[bits & 63] ?? PADDING;
}

/** An Idempotency-Key that a header can hold. */
export function checkedKey(key: unknown): string {
  if (typeof key !== "string" || !/^[ -~]{1,255}$/.test(key)) {
    throw new InvalidArgument("idempotencyKey has 1 to 255 characters, of printable ASCII alone");
  }
  return key;
}

/** What is said of a client or a call, by names that there are; `refuse` makes the error. */
export function checkOptions(given: unknown, names: readonly string[], refuse: (why: string) => Error): void {
  if (typeof given !== "object" || given === null) throw refuse(`options are an object, not ${kindOf(given)}`);
  const unknown = Object.keys(given).find((one) => !names.includes(one));
  if (unknown !== undefined) throw refuse(`there is no option '${unknown}'; there are: ${names.join(", ")}`);
  const { timeoutMs, maxRetries, signal, fetch } = given as Record<string, unknown>;
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs > 0 && timeoutMs <= TIMER_MAX_MS)) {
    throw refuse(`timeoutMs is a number of milliseconds, above 0 and up to ${TIMER_MAX_MS}`);
  }
  if (maxRetries !== undefined && !(Number.isInteger(maxRetries) && Number(maxRetries) >= 0)) {
    throw refuse("maxRetries is a number of times, 0 or more");
  }
  if (signal !== undefined && typeof (signal as AbortSignal | null)?.addEventListener !== "function") {
    throw refuse("signal is an AbortSignal");
  }
  if (fetch !== undefined && typeof fetch !== "function") throw refuse(`fetch is a function, not ${kindOf(fetch)}`);
}

/** What it is, as an error says it: of an object its class, for it may hold what is nobody's business. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined || typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "object") return `a ${typeof value}`;
  const name: unknown = (value as { constructor?: { name?: unknown } }).constructor?.name;
  return typeof name === "string" && name ? `a value of class ${name}` : "an object";
}
