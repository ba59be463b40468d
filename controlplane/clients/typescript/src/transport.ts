/**
 * Requests, and when they are made again. All that a resource does goes through the transport.
 *
 * A call that no answer came to is repeated where that is safe: reads, and what has an Idempotency-Key. Redirects are
 * never followed: the key goes to the address that it was given for, and nowhere else.
 */
import {
  ApiError,
  apiError,
  ConfigurationError,
  ConnectionFailed,
  InvalidArgument,
  MaildError,
  NotModified,
  TimedOut,
} from "./errors.js";
import { follow } from "./following.js";
import { CALL_OPTIONS, checkedKey, checkOptions, inBody, inQuery, TIMER_MAX_MS, WRITE_OPTIONS } from "./given.js";
import { VERSION } from "./version.js";

const TIMEOUT_MS = 30_000;
const WAIT_MORE_S = 10; // than the server was asked to wait
const RETRIES = 2;
const RETRIED_STATUSES = new Set([408, 429, 502, 503, 504]);
const PAUSE_MS = 500;
const PAUSE_MAX_MS = 8_000;
const LONG_PAUSE_MAX_MS = 30_000;
const ASKED_MAX_S = 86_400; // where nobody else decides: timers have an end, and an outage too
const BODY_BYTES_PER_MS = 4; // a line of 40 kbit/s: a server with room to spare takes a body from it
const CLIENT_OPTIONS = ["apiKey", "url", "timeoutMs", "maxRetries", "fetch"];
const OBEYED_MAX_S = 60; // a longer Retry-After is for the caller to decide about

/** How a client is made. */
export interface ClientOptions {
  /** The API key; `MAILD_API_KEY` of the environment where it is left out. */
  apiKey?: string | undefined;
  /** The address of your maild, such as `https://mail.example.com`; else `MAILD_URL`. */
  url?: string | undefined;
  /**
   * Until an answer begins, and from one piece of it to the next: 30,000. Waits take their own time and ten seconds,
   * what is sent a second more for each 4 kB.
   */
  timeoutMs?: number | undefined;
  /** How often a call that may be repeated is tried once more: 2. */
  maxRetries?: number | undefined;
  /** Instead of the global one. */
  fetch?: typeof fetch | undefined;
}

/** What may be said of one call. */
export interface RequestOptions {
  /** Ends the call; what it throws is the signal's reason. */
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
}

/** What may be said of a call that takes an Idempotency-Key. */
export interface WriteOptions extends RequestOptions {
  /** Makes the call one, also across restarts of your program. Each call makes one for itself where it is left out. */
  idempotencyKey?: string | undefined;
}

/** One request of an operation. */
export interface Request {
  method: string;
  path: string;
  query?: object;
  headers?: Record<string, string | null | undefined>;
  body?: object;
  form?: Record<string, string>;
  takesIdempotencyKey?: boolean;
  /** How long the server may take its time. */
  waitSeconds?: number;
  isPublic?: boolean;
}

/** Octets in memory of their own, as every version of TypeScript calls them. */
export type Octets = ReturnType<typeof Uint8Array.of>;

/** An answer and what stands around it. */
export interface Answered<T> {
  data: T;
  status: number;
  headers: Headers;
  /** Names the request in the server's log. */
  requestId: string | undefined;
  /** It was done by an earlier request with the same Idempotency-Key. */
  isReplay: boolean;
}

/** An answer on its way: `await` it, or ask for what stands around it by `withResponse()`. */
export class Call<T> extends Promise<T> {
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  readonly #answered: Promise<Answered<T>>;

  constructor(answered: Promise<Answered<T>>) {
    super((resolve, reject) => {
      answered.then((one) => resolve(one.data), reject);
    });
    this.#answered = answered;
  }

  /** The answer with its status and headers. */
  withResponse(): Promise<Answered<T>> {
    this.catch(() => undefined); // whoever asked hears of it by the promise below
    return this.#answered;
  }
}

/** What an answer to a request with this key tells. `heard`: is told of each piece that comes. */
type Read<T> = (answer: Response, idempotencyKey: string | undefined, heard: () => void) => Promise<T>;
type Attempt = { request: Request; options: RequestOptions; idempotencyKey: string | undefined };

export class Transport {
  readonly url: string;
  readonly #key: string;
  readonly #timeoutMs: number;
  readonly #maxRetries: number;
  readonly #fetch: typeof fetch;

  constructor(options: ClientOptions) {
    checkOptions(options, CLIENT_OPTIONS, (why) => new ConfigurationError(why));
    this.#key = keyOf(said(options.apiKey, "MAILD_API_KEY"));
    this.url = addressOf(said(options.url, "MAILD_URL"));
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.#maxRetries = options.maxRetries ?? RETRIES;
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
  }

  /** The answer's `data`, or all of it where it has no envelope. */
  json<T>(request: () => Request, options: WriteOptions = {}): Call<T> {
    const read: Read<T> = async (answer, key, heard) => {
      const text = new TextDecoder().decode(await octetsOf(answer, heard));
      return dataOf<T>(answer, text, key);
    };
    return new Call(this.#whole(request, options, read));
  }

  /** The answer's bytes. */
  bytes(request: () => Request, options: WriteOptions = {}): Call<Octets> {
    return new Call(this.#whole(request, options, (answer, _, heard) => octetsOf(answer, heard)));
  }

  /** The answer, not read yet; `options.signal` ends it. The time-out is for its head alone. */
  async opened(request: () => Request, options: RequestOptions): Promise<Response> {
    return this.#again(request, options, async (answer) => answer);
  }

  #whole<T>(request: () => Request, options: WriteOptions, read: Read<T>): Promise<Answered<T>> {
    return this.#again(request, options, async (answer, key, heard) => ({
      data: await read(answer, key, heard),
      status: answer.status,
      headers: answer.headers,
      requestId: answer.headers.get("x-request-id") ?? undefined,
      isReplay: answer.headers.get("idempotent-replayed") === "true",
    }));
  }

  async #again<T>(made: () => Request, options: WriteOptions, read: Read<T>): Promise<T> {
    const request = made(); // here, so that what it refuses is told by the promise
    const names = request.takesIdempotencyKey ? WRITE_OPTIONS : CALL_OPTIONS;
    checkOptions(options, names, (why) => new InvalidArgument(why));
    const { idempotencyKey = crypto.randomUUID() } = options;
    const key = request.takesIdempotencyKey ? checkedKey(idempotencyKey) : undefined;
    const isRepeatable = request.method === "GET" || key !== undefined;
    const maxRetries = isRepeatable ? (options.maxRetries ?? this.#maxRetries) : 0;
    for (let retries = 0; ; retries += 1) {
      try {
        return await this.#attempt({ request, options, idempotencyKey: key }, read);
      } catch (error) {
        const pauseMs = retries < maxRetries ? pauseBefore(error, retries) : undefined;
        if (pauseMs === undefined) throw error;
        await sleep(pauseMs, options.signal);
      }
    }
  }

  async #attempt<T>(attempt: Attempt, read: Read<T>): Promise<T> {
    const { request, options, idempotencyKey } = attempt;
    const address = this.#address(request);
    const body = bodyOf(request) ?? null;
    const asked = { method: request.method, headers: this.#headers(attempt), body };
    const bodyMs = typeof body === "string" ? Math.floor(body.length / BODY_BYTES_PER_MS) : 0;
    const deadline = new Deadline(this.#deadlineMs(request, options) + bodyMs, options.signal);
    try {
      const answer = await this.#fetch(address, { ...asked, redirect: "manual", signal: deadline.signal });
      if (!answer.ok) throw await refusal(answer, idempotencyKey);
      return await read(answer, idempotencyKey, deadline.again);
    } catch (fault) {
      if (fault instanceof MaildError) throw fault;
      options.signal?.throwIfAborted();
      throw this.#unanswered(attempt, address, deadline.isOver ? undefined : reasonsOf(fault));
    } finally {
      deadline.clear();
    }
  }

  /** `reasons`: undefined where time was over. */
  #unanswered({ request, idempotencyKey }: Attempt, address: string, reasons: string[] | undefined): ConnectionFailed {
    const asked = `no answer from ${this.url} to ${request.method} ${request.path}`;
    if (!reasons) return new TimedOut(`${asked} in time`, idempotencyKey);
    // Of whichever `fetch` that was, the fault may hold the request: so it is no cause, and not all of it is told.
    const secrets = [this.#key, ...address.split("?").slice(1)];
    const reason = reasons.find((one) => !secrets.some((secret) => one.includes(secret)));
    return new ConnectionFailed(`${asked}: ${reason}`, idempotencyKey);
  }

  #deadlineMs(request: Request, options: RequestOptions): number {
    const timeoutMs = options.timeoutMs ?? this.#timeoutMs;
    if (request.waitSeconds === undefined) return timeoutMs;
    const waitMs = (Number(request.waitSeconds) + WAIT_MORE_S) * 1000; // which is no number where it is to be refused
    return waitMs > timeoutMs ? Math.min(waitMs, TIMER_MAX_MS) : timeoutMs;
  }

  #address(request: Request): string {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(request.query ?? {})) {
      // Null can't be said in a query: what is left out is.
      if (value !== undefined && value !== null) query.set(name, inQuery(name, value));
    }
    const asked = query.toString();
    return this.url + request.path + (asked && `?${asked}`);
  }

  #headers({ request, idempotencyKey }: Attempt): Headers {
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers ?? {})) {
      if (value !== undefined && value !== null) headers.set(name, value);
    }
    if (request.body) headers.set("Content-Type", "application/json");
    if (!("document" in globalThis)) headers.set("User-Agent", `maild-client-typescript/${VERSION}`);
    if (!request.isPublic) headers.set("Authorization", `Bearer ${this.#key}`);
    if (idempotencyKey !== undefined) headers.set("Idempotency-Key", idempotencyKey);
    return headers;
  }
}

/** Wait, unless the signal comes first, whose reason is thrown then. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(() => {
      forget?.();
      resolve();
    }, ms);
    const forget =
      signal &&
      follow(signal, () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
  });
}

/** Twice as long after each failure, and not all clients at once: half of it is chance. */
export function pauseMs(failures: number, atMostMs: number = PAUSE_MAX_MS): number {
  return Math.min(atMostMs, PAUSE_MS * 2 ** Math.min(failures, 10)) * (0.5 + Math.random() / 2);
}

/** How long to wait after so many failures on end, where there is always another attempt. */
export function longPauseMs(error: unknown, failures: number): number {
  const askedS = error instanceof ApiError ? error.retryAfter : undefined;
  return askedS ? Math.min(askedS, ASKED_MAX_S) * 1000 : pauseMs(failures, LONG_PAUSE_MAX_MS);
}

/** How long to wait before the next attempt; undefined: there is none. */
function pauseBefore(error: unknown, retries: number): number | undefined {
  if (error instanceof ConnectionFailed) return pauseMs(retries);
  if (!(error instanceof ApiError) || !RETRIED_STATUSES.has(error.status)) return undefined;
  if (error.retryAfter === undefined) return pauseMs(retries);
  return error.retryAfter <= OBEYED_MAX_S ? error.retryAfter * 1000 * (1 + Math.random() / 10) : undefined;
}

/** Aborts when the time is over or the caller does. Not AbortSignal.any, which Node 20.0 lacks. */
class Deadline {
  isOver = false;
  readonly #controller = new AbortController();
  readonly #ms: number;
  #beganAt = performance.now();
  #timer: ReturnType<typeof setTimeout>;
  readonly #forget: (() => void) | undefined;

  /** The time begins anew. */
  readonly again = (): void => {
    this.#beganAt = performance.now();
  };

  constructor(ms: number, caller: AbortSignal | undefined) {
    this.#ms = ms;
    this.#timer = setTimeout(this.#look, ms);
    const leave = (): void => this.#controller.abort(caller?.reason);
    if (caller?.aborted) leave();
    else this.#forget = caller && follow(caller, leave);
  }

  readonly #look = (): void => {
    const leftMs = this.#beganAt + this.#ms - performance.now();
    if (leftMs >= 1) {
      this.#timer = setTimeout(this.#look, leftMs);
      return;
    }
    this.isOver = true;
    this.#controller.abort();
  };

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#forget?.();
  }
}

/** All of an answer. */
async function octetsOf(answer: Response, heard: () => void): Promise<Octets> {
  if (!answer.body) return new Uint8Array(await answer.arrayBuffer());
  const reader = answer.body.getReader();
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    heard();
    pieces.push(value);
    length += value.length;
  }
  const octets = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    octets.set(piece, at);
    at += piece.length;
  }
  return octets;
}

function bodyOf(request: Request): string | URLSearchParams | undefined {
  if (request.form) return new URLSearchParams(request.form);
  if (!request.body) return undefined;
  const said = Object.entries(request.body).map(([name, value]): [string, unknown] => [name, inBody(name, value)]);
  return JSON.stringify(Object.fromEntries(said));
}

/** What a fault says of itself: its code first, then in words, then what it is. */
function reasonsOf(fault: unknown): string[] {
  const { code, cause, message, name } = Object(fault) as Record<string, unknown>;
  const deeper = Object(cause) as Record<string, unknown>;
  const said = [deeper["code"], code, deeper["message"], message, name, "no reason"];
  return said.filter((one): one is string => typeof one === "string" && one !== "");
}

async function refusal(answer: Response, idempotencyKey: string | undefined): Promise<MaildError> {
  if (answer.status === 304) return new NotModified("it is as it was");
  const body = parsed(await answer.text());
  const error = isObject(body) && isObject(body["error"]) ? body["error"] : undefined;
  if (!error) return unexpected(answer, notOurs(answer), idempotencyKey);
  return apiError({
    code: String(error["code"]),
    message: String(error["message"]),
    status: answer.status,
    details: isObject(error["details"]) ? error["details"] : {},
    requestId: answer.headers.get("x-request-id") ?? undefined,
    retryAfter: seconds(answer.headers.get("retry-after")),
    idempotencyKey,
  });
}

function notOurs(answer: Response): string {
  // Whoever follows it would hand the key to somebody else. Browsers show no more of it than its type.
  if (answer.type === "opaqueredirect" || (answer.status >= 300 && answer.status < 400)) {
    const to = answer.headers.get("location") ?? "somewhere";
    return `redirects are not followed; is the address right? It leads to ${to}`;
  }
  return "what answered is no maild: is the address right, or a proxy between?";
}

function dataOf<T>(answer: Response, text: string, idempotencyKey: string | undefined): T {
  const body = parsed(text);
  if (isObject(body)) return ("data" in body ? body["data"] : body) as T;
  throw unexpected(answer, "what answered is no maild: is the address right?", idempotencyKey);
}

/** An answer that is not what was asked for, and is no refusal of maild's. */
export function unexpected(answer: Response, message: string, idempotencyKey?: string): MaildError {
  return apiError({
    code: "unexpected_answer",
    message,
    status: answer.status,
    details: {},
    requestId: answer.headers.get("x-request-id") ?? undefined,
    retryAfter: seconds(answer.headers.get("retry-after")),
    idempotencyKey,
  });
}

/** The seconds of a Retry-After (RFC 9110 §10.2.3), a number or a date; undefined where it is neither. */
function seconds(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined;
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter);
  const at = / GMT$/.test(retryAfter) ? Date.parse(retryAfter) : NaN; // which takes nearly anything for a date
  return Number.isNaN(at) ? undefined : Math.max(0, (at - Date.now()) / 1000);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// What is no header's value would be quoted by whoever refuses it, so it does not come so far.
function keyOf(value: unknown): string {
  const key = typeof value === "string" ? value.trim() : undefined;
  if (!key) throw new ConfigurationError("set MAILD_API_KEY, or pass apiKey");
  if (!/^[!-~]+$/.test(key)) throw new ConfigurationError("the API key has characters that no key has");
  return key;
}

function addressOf(value: unknown): string {
  if (!value) throw new ConfigurationError("set MAILD_URL to the address of your maild, or pass url");
  let url: URL | undefined;
  try {
    url = new URL(String(value));
  } catch {
    url = undefined; // told below, with what is wrong by other measures
  }
  const isPlain = url && /^https?:$/.test(url.protocol) && !(url.username || url.password || url.search || url.hash);
  if (!url || !isPlain) {
    throw new ConfigurationError("the address of a maild is https://host, or http://host, and maybe a path");
  }
  if (/\/v1\/*$/.test(url.pathname)) {
    throw new ConfigurationError("the address of a maild ends before /v1, which each call adds");
  }
  return url.href.replace(/\/+$/, "");
}

/** Not of the environment where it is null or blank, for that may be another's. */
function said(given: unknown, name: string): unknown {
  return given === undefined ? environment(name) : given;
}

/** Of Node, Bun and Deno; a browser has none. */
function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name];
}
