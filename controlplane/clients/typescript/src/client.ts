import { Events } from "./events.js";
import { Resources } from "./operations.js";
import { type ClientOptions, Transport } from "./transport.js";
import { Inboxes } from "./work.js";

/**
 * A maild, as one API key sees it: `client.<resource>.<verb>(…)`.
 *
 *     const client = new Maild(); // MAILD_URL, MAILD_API_KEY
 *     await client.messages.send({ inboxId: "inb_…", to: ["ada@example.com"], text: "Hello" });
 */
export class Maild extends Resources {
  override readonly events: Events;
  override readonly inboxes: Inboxes;

  /** ConfigurationError where the key or the address is missing, or can't be one. */
  constructor(options: ClientOptions = {}) {
    const transport = new Transport(options);
    super(transport);
    this.events = new Events(transport);
    this.inboxes = new Inboxes(transport);
  }
}
