import { EventsGap, InvalidArgument } from "./errors.js";
import { Call, type Request, type RequestOptions, type Transport } from "./transport.js";

/** How the next page of a list is asked for. */
export interface Paging<T> {
  /** The parameter that takes the position. */
  parameter: string;
  /** The position behind an item. */
  behind: (item: T) => string | number;
}

/** All items of a list, across its pages: `for await (const item of pages)`. `limit` is the size of a page. */
export class Pages<T> implements AsyncIterable<T> {
  readonly #transport: Transport;
  readonly #request: () => Request;
  readonly #paging: Paging<T>;
  readonly #options: RequestOptions;

  constructor(transport: Transport, request: () => Request, paging: Paging<T>, options: RequestOptions = {}) {
    this.#transport = transport;
    this.#request = request;
    this.#paging = paging;
    this.#options = options;
  }

  /** The first page alone: one request. */
  page(): Call<T[]> {
    return this.#page(this.#request);
  }

  /** Page after page, none of them empty. */
  async *pages(): AsyncGenerator<T[], void, undefined> {
    let page = await this.page();
    for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
      yield page;
      // `before` is another word for the cursor of messages, and must not stand beside it.
      const first = this.#request();
      const query = { ...first.query, before: undefined, [this.#paging.parameter]: this.#paging.behind(last) };
      page = await this.#page(() => ({ ...first, query }));
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page;
  }

  // Whoever takes it for an array would see an empty one: nothing was asked yet.

  /** @internal */
  get length(): never {
    throw unread();
  }

  /** @internal */
  get data(): never {
    throw unread();
  }

  /** @internal */
  [Symbol.iterator](): never {
    throw unread();
  }

  /** @internal */
  toJSON(): never {
    throw unread();
  }

  #page(request: () => Request): Call<T[]> {
    return new Call(this.#whole(request));
  }

  async #whole(request: () => Request) {
    const answered = await this.#transport.json<T[]>(request, this.#options).withResponse();
    if (answered.headers.get("x-events-gap") === "true") {
      throw new EventsGap("the log does not go back so far: read the lists anew, then the log from its beginning");
    }
    return answered;
  }
}

function unread(): InvalidArgument {
  return new InvalidArgument(
    "a list is no array: `for await (const one of list)` walks over all of it, `await list.page()` is its first page",
  );
}
