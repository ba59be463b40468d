/**
 * What can go wrong.
 *
 *     MaildError
 *     ├── ConfigurationError        no key or no address, or one that can't be; nothing was sent
 *     ├── InvalidArgument           what was given can't be sent, or would be misread; nothing was sent
 *     ├── ConnectionFailed          no answer came
 *     │   └── TimedOut              no answer came in time
 *     ├── ApiError                  the server refused: branch on `code`
 *     │   ├── InvalidRequest        400, 413, 415-417, 422; `fields` names each fault
 *     │   ├── AuthenticationFailed  401
 *     │   ├── QuotaExceeded         402
 *     │   ├── PermissionDenied      403
 *     │   ├── NotFound              404, 410
 *     │   ├── Conflict              409
 *     │   │   ├── ThreadAdvanced    nothing was sent: `newer` came meanwhile
 *     │   │   └── ClaimLost         nothing was done or sent: somebody else has the work now
 *     │   ├── RateLimited           429; `retryAfter`
 *     │   └── ServerFailed          5xx, and answers that are not the API's
 *     ├── NotModified               304: what `ifNoneMatch` names is still so
 *     ├── EventsGap                 events between are not kept any more: read the lists anew
 *     └── InvalidSignature          a webhook that is not from your maild, or is old
 */

const SHOWN_FAULTS = 10;

/** Whatever this package throws, but for an abort, which is the signal's own reason. */
export class MaildError extends Error {
  /** May the same succeed later: no network, a restart, too much at once? */
  get isPassing(): boolean {
    return false;
  }

  /** What a log of JSON has of it; of an Error it would have neither name nor words. */
  toJSON(): object {
    return Object.assign({ name: this.name, message: this.message }, this);
  }
}

/** No key or address, or one that can't be. Nothing was sent. */
export class ConfigurationError extends MaildError {}

/** What a call was given can't be sent, or would be read as something else. Nothing was sent. */
export class InvalidArgument extends MaildError {}

/**
 * No answer came, so it is not known what the server did.
 *
 * `idempotencyKey` is that of the request, if it had one: the same call with it can't happen twice.
 */
export class ConnectionFailed extends MaildError {
  constructor(
    message: string,
    readonly idempotencyKey?: string,
  ) {
    super(message);
  }

  override get isPassing(): boolean {
    return true;
  }
}

/** No answer came in time. */
export class TimedOut extends ConnectionFailed {}

/** The answer would be the one that `ifNoneMatch` names. */
export class NotModified extends MaildError {}

/** The log does not keep all events behind your position any more. What was missed shows in the lists. */
export class EventsGap extends MaildError {}

/** The request is not from your maild, was changed on its way, or is too old. */
export class InvalidSignature extends MaildError {}

/** What an answer that refuses says. */
export interface Told {
  code: string;
  message: string;
  status: number;
  details: Record<string, unknown>;
  requestId: string | undefined;
  retryAfter: number | undefined;
  idempotencyKey: string | undefined;
}

/**
 * The server refused. `code` is stable; `details` are data to act on; `retryAfter` is seconds.
 *
 * `idempotencyKey` is that of the request, if it had one. Where the server failed, or a proxy before it, it is not known
 * what was done: the same call with the key can't happen twice.
 */
export class ApiError extends MaildError {
  readonly code: string;
  readonly status: number;
  readonly details: Record<string, unknown>;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
  readonly idempotencyKey: string | undefined;

  constructor(told: Told) {
    super(worded(told));
    this.code = told.code;
    this.status = told.status;
    this.details = told.details;
    this.requestId = told.requestId;
    this.retryAfter = told.retryAfter;
    this.idempotencyKey = told.idempotencyKey;
  }

  override get isPassing(): boolean {
    return this.status >= 500 || this.status === 408 || this.status === 429;
  }
}

/** One fault of a request: where, a stable code, and what to do. */
export interface Fault {
  path: string;
  code: string;
  message: string;
}

/** The request is not valid. */
export class InvalidRequest extends ApiError {
  /** Every fault of a `validation_failed`; empty of other codes. */
  get fields(): Fault[] {
    return faultsOf(this.details);
  }
}

/** The key is missing, ill-formed, unknown or revoked. */
export class AuthenticationFailed extends ApiError {}

/** An allowance is used up: `details` has `resource`, `limit`, `used`, `resetsAt`. */
export class QuotaExceeded extends ApiError {}

/** The key may not, or a rule, a policy or the operator does not let it. */
export class PermissionDenied extends ApiError {}

/** There is no such thing, for this key at least, or it is gone. */
export class NotFound extends ApiError {}

/** It is not in the state that this needs. */
export class Conflict extends ApiError {}

/** What came after the message that `ifLastMessageId` named. */
export interface NewerMessage {
  id: string;
  direction: "inbound" | "outbound";
  fromAddress: string;
  verifiedDomain: string | null;
  createdAt: string;
  snippet: string;
}

/** Nothing was sent: the conversation went on. Read `newer`, then answer with `lastMessageId`. */
export class ThreadAdvanced extends Conflict {
  /** The newest five, oldest first. */
  get newer(): NewerMessage[] {
    return listed<NewerMessage>(this.details["newer"]);
  }

  /** What to send with, once it is read. */
  get lastMessageId(): string {
    return String(this.details["lastMessageId"]);
  }
}

/** Nothing was done or sent: the claim ended. */
export class ClaimLost extends Conflict {}

/** Too much at once: wait `retryAfter` seconds. */
export class RateLimited extends ApiError {}

/** The server failed, or what answered was not maild. */
export class ServerFailed extends ApiError {}

// Not that of the constructor, which bundlers shorten.
const FAMILIES = {
  MaildError, ConfigurationError, InvalidArgument, ConnectionFailed, TimedOut, NotModified, EventsGap, InvalidSignature,
  ApiError, InvalidRequest, AuthenticationFailed, QuotaExceeded, PermissionDenied, NotFound, Conflict, ThreadAdvanced,
  ClaimLost, RateLimited, ServerFailed,
};
for (const [name, { prototype }] of Object.entries(FAMILIES)) {
  Object.defineProperty(prototype, "name", { value: name, writable: true, configurable: true });
}

const BY_CODE: Record<string, typeof ApiError> = { thread_advanced: ThreadAdvanced, claim_lost: ClaimLost };
const BY_STATUS: Record<number, typeof ApiError> = {
  401: AuthenticationFailed,
  402: QuotaExceeded,
  403: PermissionDenied,
  404: NotFound,
  409: Conflict,
  410: NotFound,
  429: RateLimited,
};

/** The error that tells of it, of its family. */
export function apiError(told: Told): ApiError {
  if (told.status < 400 || told.status >= 500) return new ServerFailed(told);
  const known = Object.hasOwn(BY_CODE, told.code) ? BY_CODE[told.code] : undefined;
  return new (known ?? BY_STATUS[told.status] ?? InvalidRequest)(told);
}

function worded(told: Told): string {
  const named = told.requestId === undefined ? "" : `, request ${told.requestId}`;
  const faults = faultsOf(told.details).slice(0, SHOWN_FAULTS);
  const head = `${told.code} (${told.status}${named}): ${told.message}`;
  // Of the whole body the path is empty.
  return [head, ...faults.map((one) => (one.path ? `${one.path}: ${one.message}` : one.message))].join(" · ");
}

function faultsOf(details: Record<string, unknown>): Fault[] {
  return listed<unknown>(details["fields"]).filter(isFault);
}

function isFault(told: unknown): told is Fault {
  return typeof told === "object" && told !== null && "path" in told && "message" in told;
}

function listed<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value as T[]) : [];
}
