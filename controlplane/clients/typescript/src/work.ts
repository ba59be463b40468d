/**
 * An inbox as a queue of work: claim, handle, done.
 *
 * - One conversation is with one worker at a time, and its mail comes in order (the server sees to it).
 * - The lease is extended while the handler works. A worker that is killed loses it, and the message is offered again.
 * - `claim.reply` sends only while the claim lives, and ends it in the same transaction: nobody is answered twice.
 * - What a handler throws gives the message back; after `work.maxAttempts` of the inbox's policy it is dead.
 */
import { ClaimLost, ConfigurationError, MaildError } from "./errors.js";
import { follow } from "./following.js";
import { checkOptions, fields } from "./given.js";
import { ClaimsResource, InboxesResource, MessagesResource, ThreadsResource } from "./operations.js";
import type { ClaimedMessage, Message, ReplyMessage, SentReply, ThreadContext } from "./schema.js";
import { longPauseMs, pauseMs, sleep, type Transport } from "./transport.js";

const TAKEN_MAX = 20; // at once, says the API
const LEASE_S = 300;
const WAIT_S = 10; // also how long a stop may take while nothing is there to do
const RETRY_S = 30;
const INSISTS = 4;
const OPTIONS = [
  "concurrency", "leaseSeconds", "waitSeconds", "retryDelaySeconds", "holder", "signal", "handleSignals", "onError",
];

/** What is done with a message. Where it returns, the message is done; where it throws, it is given back. */
export type Handler = (message: Message, claim: Claim) => unknown;

export interface WorkOptions {
  /** How many messages at once: 1. */
  concurrency?: number;
  /** How long a worker that was killed keeps its messages from others: 300. */
  leaseSeconds?: number;
  /** How long the server waits for mail before it says that there is none: 10. */
  waitSeconds?: number;
  /** How long a message that was given back is not offered: 30. */
  retryDelaySeconds?: number;
  /** What the worker calls itself, in `claims.list`. */
  holder?: string;
  /** Stops it; what was begun is finished. */
  signal?: AbortSignal;
  /** Whether SIGTERM and SIGINT stop it, the first time: true. */
  handleSignals?: boolean;
  /** What went wrong and is not thrown: `console.error`, unless you say. */
  onError?: (error: unknown, claim: Claim | undefined) => void;
}

type Settings = Required<Omit<WorkOptions, "signal" | "handleSignals">>;

export type ClaimReply = Omit<ReplyMessage, "claimId" | "completeClaim" | "asDraft"> & {
  /** False: the claim lives on, for more answers. */
  complete?: boolean;
};

/** Your hold on a message. `isOver` once it was answered, finished, released or lost. */
export class Claim {
  readonly data: ClaimedMessage;
  readonly #transport: Transport;
  readonly #claims: ClaimsResource;
  readonly #leaseSeconds: number;
  readonly #lost = new AbortController();
  #isOver = false;

  constructor(transport: Transport, data: ClaimedMessage, leaseSeconds: number) {
    this.data = data;
    this.#transport = transport;
    this.#claims = new ClaimsResource(transport);
    this.#leaseSeconds = leaseSeconds;
  }

  get id(): string {
    return this.data.id;
  }

  get messageId(): string {
    return this.data.messageId;
  }

  get threadId(): string {
    return this.data.threadId;
  }

  /** Which claim of the message this is, from 1. */
  get attempt(): number {
    return this.data.attempt;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Aborted when the claim is lost: whatever is still done for it is in vain. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** Answer the message, and end the claim with it. ClaimLost: nothing was sent, somebody else has the work. */
  async reply(given: ClaimReply): Promise<SentReply> {
    const { complete = true, ...words } = fields(given);
    const messages = new MessagesResource(this.#transport);
    const params = { ...words, claimId: this.id, completeClaim: complete };
    const answer = await messages.reply(this.messageId, params);
    this.#isOver ||= complete;
    return answer;
  }

  /** The conversation as text for a model, within a budget. */
  async context(params: { maxTokens?: number } = {}): Promise<ThreadContext> {
    return new ThreadsResource(this.#transport).context(this.threadId, { ...fields(params), focus: this.messageId });
  }

  /** The message is done. The worker says so by itself when the handler returns. */
  async finish(labels: { add?: string[]; remove?: string[] } = {}): Promise<void> {
    await insist(() => this.#claims.finish(this.id, { labels }));
    this.#isOver = true;
  }

  /** Give the message back, to be offered again after the delay. */
  async release(params: { delaySeconds?: number } = {}): Promise<void> {
    await insist(() => this.#claims.release(this.id, params));
    this.#isOver = true;
  }

  /** Let the lease begin anew. The worker does, while the handler works. */
  async extend(): Promise<void> {
    await this.#claims.extend(this.id, { leaseSeconds: this.#leaseSeconds });
  }

  /** The claim ended by other means than this. */
  lose(): void {
    this.#isOver = true;
    this.#lost.abort(new MaildError(`the claim ${this.id} is lost`));
  }

  /** Extend the lease until the signal comes or the claim is over. */
  async keep(until: AbortSignal, onError: Settings["onError"]): Promise<void> {
    let pause = this.#leaseSeconds / 3;
    while (await passed(pause * 1000, until)) {
      if (this.#isOver) return;
      pause = this.#leaseSeconds / 3;
      try {
        await this.extend();
      } catch (error) {
        if (this.#isOver || until.aborted) return;
        onError(error, this);
        if (!isPassing(error)) return this.lose();
        pause = this.#leaseSeconds / 10;
      }
    }
  }
}

/** Inboxes, and working on their mail. */
export class Inboxes extends InboxesResource {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    super(transport);
    this.#transport = transport;
  }

  /**
   * Claim what comes in and hand it to `handle(message, claim)`, until SIGTERM, Ctrl-C or the signal.
   *
   * Where the handler returns, the message is done; where it throws, it is given back and offered again after
   * `retryDelaySeconds`. `claim.reply({ text })` answers and ends the claim in one transaction. Leases are extended
   * while handlers work. What was begun is finished before this resolves. The inbox's policy must have `work.enabled`.
   * ApiError where the server won't have it; what passes (no network, a restart) is waited for.
   */
  async work(inboxId: string, handle: Handler, options: WorkOptions = {}): Promise<void> {
    checkOptions(options, OPTIONS, (why) => new ConfigurationError(why));
    // A message that is claimed for nobody is given back, and dead after some times.
    if (typeof handle !== "function") throw new ConfigurationError("the handler is a function of message and claim");
    const { signal, handleSignals = true } = options;
    const settings = settingsOf(options);
    const stop = new AbortController();
    const forget = stoppedBy(stop, signal, handleSignals);
    try {
      await new Worker(this.#transport, inboxId, handle, settings, stop.signal).run();
    } finally {
      forget();
    }
  }
}

/** What is said, and what holds otherwise. ConfigurationError. */
function settingsOf(options: WorkOptions): Settings {
  const {
    concurrency = 1,
    leaseSeconds = LEASE_S,
    waitSeconds = WAIT_S,
    retryDelaySeconds = RETRY_S,
    holder = `typescript-${crypto.randomUUID().slice(0, 8)}`,
    onError = (error, claim) => console.error(claim ? `maild: ${claim.id}:` : "maild:", error),
  } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new ConfigurationError("concurrency is a number of messages, 1 or more");
  }
  for (const [name, value] of Object.entries({ leaseSeconds, waitSeconds, retryDelaySeconds })) {
    if (!(typeof value === "number" && value >= 0)) throw new ConfigurationError(`${name} is a number of seconds, 0 or more`);
  }
  if (typeof onError !== "function") throw new ConfigurationError("onError is a function of error and claim");
  return { concurrency, leaseSeconds, waitSeconds, retryDelaySeconds, holder, onError };
}

/** Claims what an inbox offers, and hands it to the handler, `concurrency` messages at once. */
class Worker {
  readonly #claims: ClaimsResource;
  readonly #atWork = new Set<Promise<void>>();
  #asking: { max: number; idempotencyKey: string } | undefined;
  #failures = 0;

  constructor(
    private readonly transport: Transport,
    private readonly inboxId: string,
    private readonly handle: Handler,
    private readonly settings: Settings,
    private readonly stop: AbortSignal,
  ) {
    this.#claims = new ClaimsResource(transport);
  }

  async run(): Promise<void> {
    try {
      while (!this.stop.aborted) {
        while (this.#atWork.size >= this.settings.concurrency) await Promise.race(this.#atWork);
        for (const data of await this.#taken(this.settings.concurrency - this.#atWork.size)) this.#begin(data);
      }
    } finally {
      await Promise.all(this.#atWork);
    }
  }

  async #taken(free: number): Promise<ClaimedMessage[]> {
    if (this.stop.aborted) return [];
    const { leaseSeconds, waitSeconds, holder, onError } = this.settings;
    // Where no answer came, the same is asked again: what was claimed meanwhile is ours.
    this.#asking ??= { max: Math.min(free, TAKEN_MAX), idempotencyKey: crypto.randomUUID() };
    const { max, idempotencyKey } = this.#asking;
    try {
      const wanted = { max, leaseSeconds, waitSeconds, holder };
      const found = await this.#claims.take(this.inboxId, wanted, { idempotencyKey });
      this.#asking = undefined;
      this.#failures = 0;
      return found;
    } catch (error) {
      if (!isPassing(error)) throw error;
      onError(error, undefined);
      await passed(longPauseMs(error, this.#failures), this.stop);
      this.#failures += 1;
      return [];
    }
  }

  #begin(data: ClaimedMessage): void {
    const work = this.#serve(new Claim(this.transport, data, this.settings.leaseSeconds)).finally(() => {
      this.#atWork.delete(work);
    });
    this.#atWork.add(work);
  }

  async #serve(claim: Claim): Promise<void> {
    const { message, status } = claim.data;
    if (message === null || status !== "live") return; // of an answer that came late: deleted, or over
    if (this.stop.aborted) return this.#giveBack(claim, 0);
    const handled = new AbortController();
    const kept = claim.keep(handled.signal, this.settings.onError);
    try {
      await this.handle(message, claim);
      if (!claim.isOver) await claim.finish();
    } catch (error) {
      this.settings.onError(error, claim);
      if (error instanceof ClaimLost) claim.lose();
      else await this.#giveBack(claim, this.settings.retryDelaySeconds);
    } finally {
      handled.abort();
      await kept;
    }
  }

  async #giveBack(claim: Claim, delaySeconds: number): Promise<void> {
    if (claim.isOver) return;
    try {
      await claim.release({ delaySeconds });
    } catch (error) {
      // It ended meanwhile, by an answer whose success nobody heard of perhaps; else it stays until its lease is over.
      if (error instanceof ClaimLost) claim.lose();
      else this.settings.onError(error, claim);
    }
  }
}

function isPassing(error: unknown): boolean {
  return error instanceof MaildError && error.isPassing;
}

/** What ends a claim may be said twice, so it is, where no answer comes. */
async function insist(ask: () => Promise<unknown>): Promise<void> {
  for (let failures = 0; ; failures += 1) {
    try {
      await ask();
      return;
    } catch (error) {
      if (!isPassing(error) || failures === INSISTS - 1) throw error;
      await sleep(pauseMs(failures));
    }
  }
}

/** Did the time pass before the signal came? */
async function passed(ms: number, until: AbortSignal): Promise<boolean> {
  await sleep(ms, until).catch(() => undefined); // the signal's reason, which is told by its state
  return !until.aborted;
}

/** Aborts `stop` with the signal, and with SIGTERM and SIGINT the first time; answers what forgets that. */
function stoppedBy(stop: AbortController, signal: AbortSignal | undefined, handleSignals: boolean): () => void {
  const { process } = globalThis as {
    process?: { once?: (name: string, act: () => void) => void; off?: (name: string, act: () => void) => void };
  };
  const names = handleSignals && process?.once && process.off ? ["SIGTERM", "SIGINT"] : [];
  const asked = (): void => {
    stop.abort();
    forget();
  };
  const forget = (): void => {
    unfollow?.();
    for (const name of names) process?.off?.(name, asked);
  };
  for (const name of names) process?.once?.(name, asked);
  const unfollow = signal && follow(signal, asked);
  if (signal?.aborted) asked();
  return forget;
}
