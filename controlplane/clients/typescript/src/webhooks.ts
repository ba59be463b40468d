import { ConfigurationError, InvalidSignature } from "./errors.js";
import { checkOptions, isPlain, kindOf, octetsOf } from "./given.js";
import type { WebhookEvent } from "./schema.js";

const TOLERANCE_S = 300;

/** Headers as any server shows them. */
export type GivenHeaders = Headers | Record<string, string | readonly string[] | null | undefined>;

export interface VerifyOptions {
  /** How old a request may be, and how much its clock may differ: 300. */
  toleranceSeconds?: number;
  /** For tests: the time, in seconds since 1970. */
  nowSeconds?: number;
}

/**
 * The event of a webhook request, if it is from whoever knows the secret, and fresh; else InvalidSignature.
 *
 * `body` as it came, octet for octet. Events come at least once: dedupe on `id`. The scheme is that of
 * standardwebhooks.com: HMAC-SHA256 over `<id>.<timestamp>.<body>`.
 */
export async function verifyWebhook(
  headers: GivenHeaders,
  body: string | Uint8Array | ArrayBuffer,
  secret: string,
  options: VerifyOptions = {},
): Promise<WebhookEvent> {
  const { toleranceSeconds = TOLERANCE_S, nowSeconds = Date.now() / 1000 } = checked(options);
  const octets = typeof body === "string" ? new TextEncoder().encode(body) : octetsOf(body);
  // Of parsed JSON nobody knows how it was written.
  if (!octets) throw new TypeError(`body is the request's, as it came: text or bytes, not ${kindOf(body)}`);
  const given = new Map(entriesOf(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) => {
    const value = given.get(`webhook-${name}`);
    if (value === undefined) throw new InvalidSignature(`the request has no header webhook-${name}`);
    return value;
  }) as [string, string, string];
  if (!/^\d{1,15}$/.test(timestamp)) throw new InvalidSignature("webhook-timestamp is no number");
  if (Math.abs(nowSeconds - Number(timestamp)) > toleranceSeconds) {
    throw new InvalidSignature(`the request is not of the last ${toleranceSeconds} seconds`);
  }
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), octets);
  // One under the new and one under the old secret, while it is rotated.
  const key = await keyOf(secret);
  const found = signatures.split(" ").filter((one) => one.startsWith("v1,"));
  for (const one of found) {
    const signature = decoded(one.slice(3));
    // Compares in a time that does not depend on how much of it is right.
    if (signature && (await crypto.subtle.verify("HMAC", key, signature, signed))) {
      return JSON.parse(new TextDecoder().decode(octets)) as WebhookEvent;
    }
  }
  throw new InvalidSignature("no signature is right: is it the secret of this webhook, and the body unchanged?");
}

/** A tolerance that is no number would let a request of any age pass. */
function checked(options: VerifyOptions): VerifyOptions {
  checkOptions(options, ["toleranceSeconds", "nowSeconds"], (why) => new ConfigurationError(why));
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    if (value === undefined || (typeof value === "number" && value >= 0)) continue;
    throw new ConfigurationError(`${name} is a number of seconds, 0 or more, not ${kindOf(value)}`);
  }
  return options;
}

async function keyOf(secret: string): Promise<CryptoKey> {
  const octets = typeof secret === "string" && decoded(secret.trim().replace(/^whsec_/, ""));
  if (!octets || !octets.length) {
    throw new ConfigurationError("the webhook's secret is `whsec_` and base64, as it was shown once");
  }
  return crypto.subtle.importKey("raw", octets, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function entriesOf(headers: GivenHeaders): [string, string][] {
  // Of whichever `fetch`, or realm, they are.
  if (Object.prototype.toString.call(headers) === "[object Headers]") {
    const found: [string, string][] = [];
    (headers as Headers).forEach((value, name) => found.push([name, value]));
    return found;
  }
  // Else it would look like a stranger's: of a request, or of a promise, none has such a name.
  if (typeof headers !== "object" || headers === null || !isPlain(headers) || "headers" in headers) {
    throw new TypeError(`headers are those of the request, not ${kindOf(headers)}`);
  }
  // Of `headers.get(…)` what the request does not have is null.
  return Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === null ? [] : [[name, Array.isArray(value) ? value.join(" ") : String(value)]],
  );
}

/** Of base64; undefined where it is none. */
function decoded(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4) return undefined;
  return Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
}

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(head.length + tail.length);
  whole.set(head);
  whole.set(tail, head.length);
  return whole;
}
