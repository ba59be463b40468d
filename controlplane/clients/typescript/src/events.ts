/** Events as they happen. A stream that breaks off goes on where it was. */
import { ConnectionFailed, EventsGap, MaildError } from "./errors.js";
import { follow } from "./following.js";
import { fields } from "./given.js";
import { EventsResource } from "./operations.js";
import type { Event, StreamEventsParams } from "./schema.js";
import { longPauseMs, type RequestOptions, sleep, type Transport, unexpected } from "./transport.js";

const IDLE_MS = 70_000; // the server sends a comment every 15 seconds

export class Events extends EventsResource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    super(transport);
    this.#transport = transport;
  }

  /**
   * Events as they happen: `for await (const event of client.events.stream())`, for ever.
   *
   * Begins with what happens from now on, or behind `after`. Ends by `break`, `close()` or the signal.
   */
  stream(params: StreamEventsParams = {}, options: RequestOptions = {}): EventStream {
    return new EventStream(this.#transport, params, options);
  }
}

interface Told {
  id: string | undefined;
  event: string | undefined;
  data: string | undefined;
}

/**
 * Events for ever: at least once, in the order of their commits; dedupe on `id`.
 *
 * EventsGap where events are missing; the same stream then goes on with those that are kept.
 */
export class EventStream implements AsyncIterable<Event> {
  readonly #transport: Transport;
  readonly #params: StreamEventsParams;
  readonly #options: RequestOptions;
  #connection: Connection | undefined;
  #left = new AbortController(); // of whoever waits for the next event
  #turn: Promise<unknown> = Promise.resolve(); // of one after another: both would read pieces of one event
  #lastEventId: string | undefined;
  #hasBegun = false;
  #failures = 0;

  constructor(transport: Transport, params: StreamEventsParams, options: RequestOptions) {
    this.#transport = transport;
    this.#params = params;
    this.#options = options;
  }

  /** The position: hand it back as `after` to go on there in another process. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  [Symbol.asyncIterator](): AsyncIterator<Event, undefined> {
    const left = this.#left.signal; // of the loop, which may be busy with an event when that comes
    return {
      next: async () => {
        const turn = this.#turn.then(() => this.#next(left));
        this.#turn = turn.catch(() => undefined); // whoever asked hears of it
        const event = await turn;
        return event ? { done: false, value: event } : { done: true, value: undefined };
      },
      return: async () => {
        await this.close();
        return { done: true, value: undefined };
      },
    };
  }

  /** Leave the stream, and end whatever waits for its next event; asked again, it goes on where it was. */
  async close(): Promise<void> {
    this.#left.abort();
    this.#left = new AbortController();
    await this.#disconnect();
  }

  async #disconnect(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close();
  }

  /** Undefined where the stream is left meanwhile. */
  async #next(left: AbortSignal): Promise<Event | undefined> {
    if (left.aborted) return undefined;
    const caller = this.#options.signal;
    const ended = new AbortController();
    const end = (): void => ended.abort();
    const signals = caller ? [left, caller] : [left];
    const forgets = signals.map((one) => follow(one, end));
    if (caller?.aborted) end();
    try {
      return await this.#heard(ended.signal);
    } finally {
      for (const forget of forgets) forget();
    }
  }

  async #heard(left: AbortSignal): Promise<Event | undefined> {
    for (;;) {
      const told = await this.#told(left);
      if (left.aborted) return undefined;
      if (told === undefined) continue;
      this.#hasBegun = true;
      if (told.id !== undefined) this.#lastEventId = told.id;
      if (told.event === "gap") {
        throw new EventsGap("events are missing, they are not kept any more: read the lists anew");
      }
      if (told.data === undefined) continue; // an id may come without an event
      this.#failures = 0;
      return JSON.parse(told.data) as Event;
    }
  }

  /** What comes next; undefined where the connection broke, and it is time for another. */
  async #told(left: AbortSignal): Promise<Told | undefined> {
    try {
      this.#connection ??= await this.#connected(left);
      const told = await this.#connection.next();
      if (told === undefined) throw new ConnectionFailed("the event stream ended");
      return told;
    } catch (fault) {
      await this.#disconnect();
      this.#options.signal?.throwIfAborted();
      if (left.aborted) return undefined;
      // Who never had a stream is told why.
      if (!(fault instanceof MaildError && fault.isPassing && this.#hasBegun)) throw fault;
      this.#failures += 1;
      await this.#pause(longPauseMs(fault, this.#failures - 1), left);
      return undefined;
    }
  }

  async #pause(ms: number, left: AbortSignal): Promise<void> {
    await sleep(ms, left).catch(() => this.#options.signal?.throwIfAborted());
  }

  async #connected(left: AbortSignal): Promise<Connection> {
    const headers = { Accept: "text/event-stream", "Last-Event-ID": this.#lastEventId };
    const request = () => ({ method: "GET", path: "/v1/events/stream", query: fields(this.#params), headers });
    const answer = await this.#transport.opened(request, { ...this.#options, signal: left });
    if (!answer.body || !answer.headers.get("content-type")?.startsWith("text/event-stream")) {
      await answer.body?.cancel();
      throw unexpected(answer, "what answered is no event stream: is the address right?");
    }
    return new Connection(answer.body, this.#options.signal);
  }
}

/** One answer of server-sent events, read block by block (HTML Living Standard, §9.2). */
class Connection {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #forget: (() => void) | undefined;
  readonly #decoder = new TextDecoder();
  readonly #leave = (): void => void this.close();
  #lines: string[] = [];
  #rest = "";

  constructor(body: ReadableStream<Uint8Array>, signal: AbortSignal | undefined) {
    this.#reader = body.getReader();
    this.#forget = signal && follow(signal, this.#leave);
  }

  /** The next block that says something; undefined when the answer ended, or nothing came for too long. */
  async next(): Promise<Told | undefined> {
    const told: Told = { id: undefined, event: undefined, data: undefined };
    for (;;) {
      const line = this.#lines.shift();
      if (line === undefined) {
        if (!(await this.#more())) return undefined;
      } else if (line !== "") {
        const colon = line.indexOf(":");
        const name = colon < 0 ? line : line.slice(0, colon);
        const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
        if (name === "id") told.id = value;
        else if (name === "event") told.event = value;
        else if (name === "data") told.data = told.data === undefined ? value : `${told.data}\n${value}`;
      } else if (told.id !== undefined || told.event !== undefined || told.data !== undefined) {
        return told;
      }
    }
  }

  async close(): Promise<void> {
    this.#forget?.();
    await this.#reader.cancel().catch(() => undefined); // a connection that broke can't be closed, and need not be
  }

  async #more(): Promise<boolean> {
    const timer = setTimeout(this.#leave, IDLE_MS);
    try {
      const { done, value } = await this.#reader.read();
      if (done) return false;
      const lines = (this.#rest + this.#decoder.decode(value, { stream: true })).split("\n");
      this.#rest = lines.pop() ?? "";
      this.#lines = lines.map((line) => line.replace(/\r$/, ""));
      return true;
    } catch (fault) {
      throw new ConnectionFailed(`the event stream broke: ${fault instanceof Error ? fault.name : "no reason"}`);
    } finally {
      clearTimeout(timer);
    }
  }
}
