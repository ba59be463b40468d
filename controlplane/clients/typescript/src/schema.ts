// What is given to the API and told by it. Generated from /openapi.json by scripts/clients.
/** `contentHash`: of what was shown to whoever approves. `force`: although the conversation went on. */
export type ApproveReview = {
    /** That of the review, as it was shown (required to approve). */
    contentHash: string;
    /** Why, for people: up to 2,000 characters. */
    note?: string | null;
    /** Approve although the conversation went on. */
    force?: boolean;
};
export type AttachmentInput = {
    /** Its name: 1-200 characters (required); shortened to 240 octets, as file systems want. */
    filename: string;
    /** Its type, with parameters as well: `text/calendar; method=REPLY`; the default is `application/octet-stream`. Of `text/*`, UTF-8 is declared where it is that. */
    contentType?: string;
    /** The bytes in base64 (required). */
    content: Uint8Array | string;
};
/** The same for many messages, or their end. `threadIds`: all messages of these threads. */
export type ChangeMessages = {
    /** Labels that come behind those that are there. */
    addLabels?: string[];
    /** Labels to take away. */
    removeLabels?: string[];
    /** Up to 100 messages. */
    ids?: string[];
    /** Up to 20 threads: all messages of each. */
    threadIds?: string[];
    /** True: delete the messages, for good. */
    delete?: boolean;
};
export type ChangeQueue = {
    /** The recipients of this message. */
    messageId?: string | null;
    /** The recipients of this organization's messages. */
    organizationId?: string | null;
    /** What goes to this domain, or group of mail hosts. */
    destination?: string | null;
    /** `true`: all that waits. */
    all?: true | null;
};
/** The body of a forward, and what it passes on. */
export type CheckForward = {
    /** Whom it goes to: 1-50 addresses; `cc`, `bcc` are as on sends. */
    to: string[];
    /** Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
    cc?: string[];
    /** Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
    bcc?: string[];
    /** Your words, above those that are passed on. */
    text?: string | null;
    /** The same as HTML, sanitized. */
    html?: string | null;
    /** Which attachments go along, each once (404 `attachment_not_found`); null: all of them. Not with `eml`. */
    attachmentIds?: string[] | null;
    /**
     * `inline` (the default): its words, HTML sanitized, stand below those of `text` and `html`; `eml`: it goes whole, as a file.
     * @enum {string}
     */
    as?: "inline" | "eml";
    /** The message that is answered, or passed on (required). */
    messageId: string;
};
/** A message as for sending, or one of `reply`, `forward` and `draftId`. */
export type CheckMessage = {
    /** The sending inbox. */
    inboxId?: string;
    /** Whom it goes to: 1-50 addresses; display names and comments are 400; quoted local parts are legal. */
    to?: string[];
    /** Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
    cc?: string[];
    /** Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
    bcc?: string[];
    /** Up to 500 characters; the default, also of a blank one, is `(no subject)`. */
    subject?: string | null;
    /** The words; where they are left out, those of `html`, else none. */
    text?: string | null;
    /** The words as HTML, which is sanitized; a text part is derived from it where `text` is left out. More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`). */
    html?: string | null;
    /** What it answers: a message, or a thread (its newest message that came in or went), of the same inbox, else 404 `message_not_found`; sets In-Reply-To and References. */
    inReplyTo?: string | null;
    /** When to send it: a time with an offset, 1 minute to 30 days ahead. */
    sendAt?: Date | string | null;
    /** Up to 20 files. */
    attachments?: AttachmentInput[];
    /** One-click unsubscribing (RFC 8058): every recipient gets a copy with a link of its own. */
    unsubscribe?: boolean;
    /** Up to 50 custom headers, names to values. */
    headers?: {
        [key: string]: string;
    };
    /** With `inReplyTo`: send only unless the conversation went on after this message. */
    ifLastMessageId?: string | null;
    /** Of an answer: send only while this claim lives. */
    claimId?: string | null;
    /** With `claimId`: end the claim as done, if the message is sent. */
    completeClaim?: boolean;
    reply?: CheckReply;
    forward?: CheckForward;
    /** This draft; needs messages:send, as reading one does. */
    draftId?: string;
};
/** The body of a reply, and what it answers. */
export type CheckReply = {
    /** The words; where they are left out, those of `html`, else none. */
    text?: string | null;
    /** The words as HTML, which is sanitized; a text part is derived from it where `text` is left out. More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`). */
    html?: string | null;
    /** Answer everybody who stands in the message; the default is its author alone. */
    replyAll?: boolean;
    /**
     * `none` (the default), or `text`: the message that is answered stands below, behind an attribution and `> `, in `html` as a blockquote; at most 64 KiB of it.
     * @enum {string}
     */
    quote?: "none" | "text";
    /** Up to 20 files. */
    attachments?: AttachmentInput[];
    /** When to send it: a time with an offset, 1 minute to 30 days ahead. */
    sendAt?: Date | string | null;
    /** Up to 50 custom headers, names to values. */
    headers?: {
        [key: string]: string;
    };
    /** Send only unless the conversation went on after this message, the newest that you know of; required in answers to threads. */
    ifLastMessageId?: string | null;
    /** Of an answer: send only while this claim lives. */
    claimId?: string | null;
    /** With `claimId`: end the claim as done, if the message is sent. */
    completeClaim?: boolean;
    /** Write a draft with these recipients, subject and words instead; not with `attachments`, `headers`, `sendAt`. */
    asDraft?: boolean;
    /** Whom to write to instead of those who would be answered; not with `replyAll`. */
    to?: string[] | null;
    /** Up to 50 more recipients, besides those who are answered. */
    cc?: string[];
    /** Up to 50 more recipients, besides those who are answered. */
    bcc?: string[];
    /** What to put instead of `Re: …`; up to 500 characters. */
    subject?: string | null;
    /** The message that is answered, or passed on (required). */
    messageId: string;
};
/** `after`: a message, an event or a time; two minutes ago where it is left out. */
export type ClaimCode = {
    /** Whose mail counts: the domain that `auth.verifiedDomain` must be or lie below; required, unless `allowUnverified`. */
    fromDomain?: string | null;
    /** Mail behind this message, event or time counts (one that is still to come is now); left out, two minutes ago. */
    after?: string | null;
    /** How long to wait for one (25; 0-55). */
    waitSeconds?: number;
    /** What to look for: `code`, `link` (both); a code goes before a link. */
    kinds?: ("code" | "link")[];
    /** Whether mail counts whose sender nobody proved, by whatever domain `fromAddress` claims (false). */
    allowUnverified?: boolean;
    /** Up to 10 hosts, with what lies below them, that a link may lead to besides the proven sender's own. */
    linkHosts?: string[];
};
export type ClaimMessages = {
    /** How many messages to take at most (1; up to 20). */
    max?: number;
    /** How long a claim lives from now on (300; 30-3,600). */
    leaseSeconds?: number;
    /** How long to wait where nothing is offered (0; up to 50). */
    waitSeconds?: number;
    /** What the worker calls itself, up to 100 characters. */
    holder?: string | null;
};
export type CreateAgent = {
    /** What it is called: 1-100 characters. */
    name: string;
};
export type CreateDraft = {
    /** The sending inbox. */
    inboxId: string;
    /** Up to 50 addresses; a recipient in any of the three lists is enough to send. */
    to?: string[];
    /** Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
    cc?: string[];
    /** Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
    bcc?: string[];
    /** Up to 500 characters; a blank one is sent as `(no subject)`. */
    subject?: string | null;
    /** The words; where they are left out, those of `html`, else none. */
    text?: string | null;
    /** The words as HTML, which is sanitized when the draft is sent. */
    html?: string | null;
    /** What it answers: a message, or a thread (its newest message that came in or went), of the same inbox, else 404 `message_not_found`. */
    inReplyTo?: string | null;
    /** With `inReplyTo`: send only unless the conversation went on after this message. */
    ifLastMessageId?: string | null;
    /** Of an answer: send only while this claim lives. */
    claimId?: string | null;
    /** With `claimId`: end the claim as done, if the message is sent. */
    completeClaim?: boolean;
};
export type CreateInbox = {
    /** The address before its `@` (required): 2-48 characters, `^[a-z0-9._-]+$`, dots neither first, last nor doubled. */
    username: string;
    /** What stands beside the address in what it sends: at most 100 characters; null takes it away. */
    name?: string | null;
    /** The agent behind it (404 `agent_not_found`). */
    agentId?: string | null;
    /** A shared domain or a verified one of the organization; the default is the first shared domain. */
    domain?: string | null;
    /** Texts by key, your own: 50 keys of 1-40 characters, values of up to 256. PATCH replaces all of it. */
    metadata?: {
        [key: string]: string;
    };
};
export type CreateKey = {
    /** What to call it (required): 1-64 characters. */
    name: string;
    /** The scopes that it is to hold; the default is `*`. */
    scopes?: ("*" | "audit:*" | "audit:read" | "domains:*" | "domains:read" | "domains:write" | "inboxes:*" | "inboxes:read" | "inboxes:write" | "keys:*" | "keys:read" | "keys:write" | "messages:*" | "messages:label" | "messages:read" | "messages:reply" | "messages:send" | "organization:*" | "organization:read" | "policies:*" | "policies:read" | "policies:write" | "reviews:*" | "reviews:read" | "reviews:write" | "suppressions:*" | "suppressions:read" | "suppressions:write" | "threads:*" | "threads:read" | "webhooks:*" | "webhooks:read" | "webhooks:write")[] | null;
    /** Binds it to this active inbox. */
    inboxId?: string | null;
    /** `live` or `test`; the default is that of the key that asks. */
    mode?: ("live" | "test") | null;
};
/** `inboxId` null: for every inbox of the organization. */
export type CreateRule = {
    /**
     * `inbound`: mail that comes in; `outbound`: mail that is sent.
     * @enum {string}
     */
    direction: "inbound" | "outbound";
    /**
     * What becomes of it: `allow`, `block` or `hold`.
     * @enum {string}
     */
    action: "allow" | "block" | "hold";
    /** An address without its tag (`ada@x.org`, which names `ada+news@x.org` as well), a domain (`x.org`, that alone), or `*.x.org`, all domains below it; shown as it is compared (lower case, domain as `xn--`). */
    value: string;
    /** The inbox whose mail it is about; null: every inbox of the organization. */
    inboxId?: string | null;
    /** Up to 200 characters, for people. */
    note?: string | null;
};
export type CreateSuppression = {
    /** The address; shown in lower case, its domain as `xn--`. */
    email: string;
    /**
     * `hard_bounce`, `complaint`, `unsubscribe` or `manual`.
     * @enum {string}
     */
    reason?: "hard_bounce" | "complaint" | "unsubscribe" | "manual";
};
export type CreateWebhook = {
    /** Where events are to be sent: `https://`, public, up to 2,048 characters. */
    url: string;
    /** The types that are to be sent, one at least; the default is `email.received`, `email.sent`, `email.bounced`. */
    subscribedEvents?: ("email.received" | "email.sent" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.delayed" | "email.failed" | "domain.verified" | "domain.failed" | "sending.paused" | "message.updated" | "message.deleted" | "thread.updated" | "draft.created" | "draft.updated" | "draft.discarded" | "claim.expired" | "claim.dead" | "review.requested" | "review.resolved" | "audit.head")[];
};
export type DoneLabels = {
    /** Labels to add to the message. */
    add?: string[];
    /** Labels to take from it. */
    remove?: string[];
};
export type ExtendClaim = {
    /** How long a claim lives from now on (300; 30-3,600). */
    leaseSeconds?: number;
};
export type FinishClaim = {
    labels?: DoneLabels;
};
export type ForwardMessage = {
    /** Whom it goes to: 1-50 addresses; `cc`, `bcc` are as on sends. */
    to: string[];
    /** Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
    cc?: string[];
    /** Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
    bcc?: string[];
    /** Your words, above those that are passed on. */
    text?: string | null;
    /** The same as HTML, sanitized. */
    html?: string | null;
    /** Which attachments go along, each once (404 `attachment_not_found`); null: all of them. Not with `eml`. */
    attachmentIds?: string[] | null;
    /**
     * `inline` (the default): its words, HTML sanitized, stand below those of `text` and `html`; `eml`: it goes whole, as a file.
     * @enum {string}
     */
    as?: "inline" | "eml";
};
/** A member that is left out is its default. */
export type GivenInboundPolicy = {
    /** Mail that comes in and is shown to nobody until it is approved: `unverified`: without `auth.verifiedDomain`; `high_risk`: with `risk` `high`; both levels' lists count. */
    hold?: ("unverified" | "high_risk")[];
    /**
     * What becomes of mail whose sender no rule names: `accept`, `hold`, `refuse`.
     * @enum {string}
     */
    unlisted?: "accept" | "hold" | "refuse";
};
/** A member that is left out is its default. */
export type GivenOutboundPolicy = {
    /**
     * Who may be written to: `any`: anybody; `allowlist`: whom a rule allows; `participants`: who takes part in the conversation.
     * @enum {string}
     */
    recipients?: "any" | "allowlist" | "participants";
    /**
     * What waits for somebody's approval: `off`: nothing; `first_time`: mail to recipients outside the organization never written to from the inbox; `external`: to any outside the organization; `all`: all.
     * @enum {string}
     */
    review?: "off" | "first_time" | "external" | "all";
    /** Warnings of a check: a message that looks like this waits, too; both levels' lists count. */
    holdOn?: ("empty_body" | "placeholder" | "model_artifact" | "secret" | "attachment_missing" | "duplicate" | "recipient_from_content" | "reply_to_mismatch" | "no_reply_address" | "auto_reply_target")[];
    /** How many recipients never written to from the inbox a UTC day may have, 0-1,000,000; null: no limit. Beyond it live sends are 402 `limit_reached`, `resource: "firstTimeRecipientsDaily"`; the smaller counts. */
    firstTimeDaily?: number | null;
    /**
     * `honor`: a Reply-To is answered; `verified`: one of a foreign organization is not, From is.
     * @enum {string}
     */
    replyTo?: "honor" | "verified";
};
/** A member that is left out is its default. */
export type GivenReviewPolicy = {
    /** How long a review waits before it is rejected (60-2,592,000, default 172,800); the smaller counts. */
    expiresAfterSeconds?: number;
    /** Up to 10 addresses that a digest tells, once an hour, of reviews that wait; both levels' lists count. */
    notify?: string[];
};
/** A member that is left out is its default. */
export type GivenWorkPolicy = {
    /** Of inboxes alone: their mail is work. */
    enabled?: boolean;
    /** After how many claims that ended undone a message is dead (1-100, default 5). */
    maxAttempts?: number;
    /** Whether an answer needs a `claimId`. */
    requireClaim?: boolean;
};
export type PatchDomain = {
    /** How many messages may leave from it in a day (UTC), 1-1,000,000; null: no ceiling. */
    dailyCap: number | null;
};
export type PatchDraft = {
    /** Up to 50 addresses; a recipient in any of the three lists is enough to send. */
    to?: string[];
    /** Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
    cc?: string[];
    /** Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
    bcc?: string[];
    /** Up to 500 characters; a blank one is sent as `(no subject)`. */
    subject?: string | null;
    /** The words; where they are left out, those of `html`, else none. */
    text?: string | null;
    /** The words as HTML, which is sanitized when the draft is sent. */
    html?: string | null;
    /** What it answers: a message, or a thread (its newest message that came in or went), of the same inbox, else 404 `message_not_found`. */
    inReplyTo?: string | null;
    /** With `inReplyTo`: send only unless the conversation went on after this message. */
    ifLastMessageId?: string | null;
    /** Of an answer: send only while this claim lives. */
    claimId?: string | null;
    /** With `claimId`: end the claim as done, if the message is sent. */
    completeClaim?: boolean;
};
export type PatchInbox = {
    /** What stands beside the address in what it sends: at most 100 characters; null takes it away. */
    name?: string | null;
    /** Texts by key, your own: 50 keys of 1-40 characters, values of up to 256. PATCH replaces all of it. */
    metadata?: {
        [key: string]: string;
    };
};
/** Either `labels`, which replaces all of them, or a change. */
export type PatchMessage = {
    /** Labels that come behind those that are there. */
    addLabels?: string[];
    /** Labels to take away. */
    removeLabels?: string[];
    /** Replaces all labels: up to 50 of 1-64 characters without a comma, kept in their order, each once. */
    labels?: string[];
};
export type PatchThread = {
    /** Whether it is put away; mail that comes in takes it out. */
    isArchived: boolean;
};
export type RegisterDomain = {
    /** A lower-case A-label without a last dot: two labels or more, at most 238 characters. */
    domainName: string;
    /** How many messages may leave from it in a day (UTC), 1-1,000,000; null: no ceiling. */
    dailyCap?: number | null;
};
export type RejectReview = {
    /** Why, for people: up to 2,000 characters. */
    note?: string | null;
};
export type ReleaseClaim = {
    /** Not to be offered again before (0; up to 86,400). */
    delaySeconds?: number;
};
/** As of an organization; and whether the mail of the inbox is work. */
export type ReplaceInboxPolicy = {
    /** How often it was changed. PUT takes the one that was read, 0 where there was no document. */
    version: number;
    outbound?: GivenOutboundPolicy;
    inbound?: GivenInboundPolicy;
    review?: GivenReviewPolicy;
    work?: GivenWorkPolicy;
};
/** The whole document. `version`: that of the document that it replaces. */
export type ReplaceOrganizationPolicy = {
    /** How often it was changed. PUT takes the one that was read, 0 where there was no document. */
    version: number;
    outbound?: GivenOutboundPolicy;
    inbound?: GivenInboundPolicy;
    review?: GivenReviewPolicy;
};
export type ReplyMessage = {
    /** The words; where they are left out, those of `html`, else none. */
    text?: string | null;
    /** The words as HTML, which is sanitized; a text part is derived from it where `text` is left out. More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`). */
    html?: string | null;
    /** Answer everybody who stands in the message; the default is its author alone. */
    replyAll?: boolean;
    /**
     * `none` (the default), or `text`: the message that is answered stands below, behind an attribution and `> `, in `html` as a blockquote; at most 64 KiB of it.
     * @enum {string}
     */
    quote?: "none" | "text";
    /** Up to 20 files. */
    attachments?: AttachmentInput[];
    /** When to send it: a time with an offset, 1 minute to 30 days ahead. */
    sendAt?: Date | string | null;
    /** Up to 50 custom headers, names to values. */
    headers?: {
        [key: string]: string;
    };
    /** Send only unless the conversation went on after this message, the newest that you know of; required in answers to threads. */
    ifLastMessageId?: string | null;
    /** Of an answer: send only while this claim lives. */
    claimId?: string | null;
    /** With `claimId`: end the claim as done, if the message is sent. */
    completeClaim?: boolean;
    /** Write a draft with these recipients, subject and words instead; not with `attachments`, `headers`, `sendAt`. */
    asDraft?: boolean;
    /** Whom to write to instead of those who would be answered; not with `replyAll`. */
    to?: string[] | null;
    /** Up to 50 more recipients, besides those who are answered. */
    cc?: string[];
    /** Up to 50 more recipients, besides those who are answered. */
    bcc?: string[];
    /** What to put instead of `Re: …`; up to 500 characters. */
    subject?: string | null;
};
export type ReplyThread = {
    /** The words; where they are left out, those of `html`, else none. */
    text?: string | null;
    /** The words as HTML, which is sanitized; a text part is derived from it where `text` is left out. More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`). */
    html?: string | null;
    /** Answer everybody who stands in the message; the default is its author alone. */
    replyAll?: boolean;
    /**
     * `none` (the default), or `text`: the message that is answered stands below, behind an attribution and `> `, in `html` as a blockquote; at most 64 KiB of it.
     * @enum {string}
     */
    quote?: "none" | "text";
    /** Up to 20 files. */
    attachments?: AttachmentInput[];
    /** When to send it: a time with an offset, 1 minute to 30 days ahead. */
    sendAt?: Date | string | null;
    /** Up to 50 custom headers, names to values. */
    headers?: {
        [key: string]: string;
    };
    /** Send only unless the conversation went on after this message, the newest that you know of; required in answers to threads. */
    ifLastMessageId: string;
    /** Of an answer: send only while this claim lives. */
    claimId?: string | null;
    /** With `claimId`: end the claim as done, if the message is sent. */
    completeClaim?: boolean;
    /** Write a draft with these recipients, subject and words instead; not with `attachments`, `headers`, `sendAt`. */
    asDraft?: boolean;
    /** Whom to write to instead of those who would be answered; not with `replyAll`. */
    to?: string[] | null;
    /** Up to 50 more recipients, besides those who are answered. */
    cc?: string[];
    /** Up to 50 more recipients, besides those who are answered. */
    bcc?: string[];
    /** What to put instead of `Re: …`; up to 500 characters. */
    subject?: string | null;
};
export type SendMessage = {
    /** The sending inbox. */
    inboxId: string;
    /** Whom it goes to: 1-50 addresses; display names and comments are 400; quoted local parts are legal. */
    to: string[];
    /** Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
    cc?: string[];
    /** Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
    bcc?: string[];
    /** Up to 500 characters; the default, also of a blank one, is `(no subject)`. */
    subject?: string | null;
    /** The words; where they are left out, those of `html`, else none. */
    text?: string | null;
    /** The words as HTML, which is sanitized; a text part is derived from it where `text` is left out. More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`). */
    html?: string | null;
    /** What it answers: a message, or a thread (its newest message that came in or went), of the same inbox, else 404 `message_not_found`; sets In-Reply-To and References. */
    inReplyTo?: string | null;
    /** When to send it: a time with an offset, 1 minute to 30 days ahead. */
    sendAt?: Date | string | null;
    /** Up to 20 files. */
    attachments?: AttachmentInput[];
    /** One-click unsubscribing (RFC 8058): every recipient gets a copy with a link of its own. */
    unsubscribe?: boolean;
    /** Up to 50 custom headers, names to values. */
    headers?: {
        [key: string]: string;
    };
    /** With `inReplyTo`: send only unless the conversation went on after this message. */
    ifLastMessageId?: string | null;
    /** Of an answer: send only while this claim lives. */
    claimId?: string | null;
    /** With `claimId`: end the claim as done, if the message is sent. */
    completeClaim?: boolean;
};
export type UpdateWebhook = {
    /** Where events are to be sent: `https://`, public, up to 2,048 characters. */
    url?: string;
    /** The types that are to be sent, one at least; the default is `email.received`, `email.sent`, `email.bounced`. */
    subscribedEvents?: ("email.received" | "email.sent" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.delayed" | "email.failed" | "domain.verified" | "domain.failed" | "sending.paused" | "message.updated" | "message.deleted" | "thread.updated" | "draft.created" | "draft.updated" | "draft.discarded" | "claim.expired" | "claim.dead" | "review.requested" | "review.resolved" | "audit.head")[];
    /** False: send nothing. */
    isActive?: boolean;
};
export type Agent = {
    /** Its id. */
    id: string;
    /** The organization that it belongs to. */
    organizationId: string;
    /** What it is called: 1-100 characters. */
    name: string;
    /** When it was made. */
    createdAt: string;
};
/** What another host reports about the domain. `total` counts messages (dmarc) or sessions (tls). */
export type AggregateReport = {
    /** Its id. */
    id: string;
    /** The domain that it is about. */
    domainId: string;
    /**
     * `dmarc` or `tls`.
     * @enum {string}
     */
    type: "dmarc" | "tls";
    /** Who it says reports. */
    reporter: string;
    /** What the reporter calls it. */
    reportId: string;
    /** Who sent it, proven; null where nobody knows: anybody can send a report. */
    verifiedDomain: string | null;
    /** When the time begins that it is of. */
    periodBegin: string;
    /** When that ends. */
    periodEnd: string;
    /** How many messages, of a `tls` report sessions, it tells of. */
    total: number;
    /** Those of them that passed; a message did when DKIM or SPF is aligned. */
    passed: number;
    /** Those of them that did not. */
    failed: number;
    /** Whether it had more than 10,000 rows (or 400,000 elements of XML), and the rest is not counted. */
    isTruncated: boolean;
    /** Of a `dmarc` report; else null. */
    dmarc: DmarcSummary | null;
    /** Of a `tls` report; else null. */
    tls: TlsSummary | null;
    /** The mail that it came in. */
    messageId: string;
    /** When it came in. */
    createdAt: string;
};
export type AnalyticsDestination = {
    /** The domain of the recipients. */
    domain: string;
    /** Recipients of messages that were accepted for sending. */
    sent: number;
    /** Recipients that took it. */
    delivered: number;
    /** Recipients that are to be tried again. */
    deferred: number;
    /** Recipients that refused it for good or were given up. */
    bounced: number;
    /** What was answered last; null where nothing was. */
    lastResponse: string | null;
    /** When that was. */
    lastResponseAt: string | null;
};
export type AnalyticsLine = {
    /** The type of the events. */
    type: string;
    /** How many in all. */
    total: number;
    /** One for each period, empty ones too, in order of time. */
    points: AnalyticsPoint[];
};
export type AnalyticsPoint = {
    /** When the period begins. */
    at: string;
    /** How many events fall in it. */
    count: number;
};
export type AnalyticsSeries = {
    /** How long each point is, in seconds. */
    period: number;
    /** From when on it counts. */
    since: string;
    /** Before when it counts. */
    until: string;
    /** One for each type. */
    series: AnalyticsLine[];
};
export type AnalyticsSummary = {
    /** Recipients of messages that were accepted for sending. */
    sent: number;
    /** Recipients that took it. */
    delivered: number;
    /** Recipients that refused it for good or were given up. */
    bounced: number;
    /** Complaints. */
    complained: number;
    /** Messages that came in. */
    received: number;
    /** Refused for good ÷ `sent`. */
    hardBounceRate: number;
    /** Complaints ÷ `sent`. */
    complaintRate: number;
    /** From the send (or `sendAt`) to the acceptance; null without one. */
    medianDeliverySeconds: number | null;
};
export type Attachment = {
    /** Its id. */
    id: string;
    /** As the mail has it; one is made where there is none. */
    filename: string;
    /** As the mail has it. */
    contentType: string;
    /** How many bytes can be fetched. */
    sizeBytes: number;
    /** What a `cid:` in HTML names it by; null where nothing does. */
    contentId: string | null;
    /** Whether it is shown within the HTML. */
    isInline: boolean;
};
/** `hash` covers this row, and all rows before it. Without words of mail: contents and addresses are hashes. */
export type AuditEntry = {
    /** The number of the row, from 1, without gaps. */
    seq: number;
    /** When it was done. */
    at: string;
    /** The organization that it belongs to. */
    organizationId: string;
    /** What was done: the acts. */
    type: string;
    /** Who did it: a key, a member, `operator`, `recipient`, `others` or a part of the server (audit.md). */
    actor: string;
    /** The id of what it was done to, or null. */
    subject: string | null;
    /** `X-Request-Id` of the request that did it; null without one. */
    requestId: string | null;
    /** What else there is to tell, by type. */
    details: {
        [key: string]: unknown;
    };
    /** Over this row and all before it. */
    hash: string;
};
/** The newest row; number 0, 64 zeros and null where there is none yet. */
export type AuditHead = {
    /** The number of the row, from 1, without gaps. */
    seq: number;
    /** Over this row and all before it. */
    hash: string;
    /** When it was done. */
    at: string | null;
};
/** The end of the audit log at that moment. */
export type AuditHeadData = {
    /** The number of the row, from 1, without gaps. */
    seq: number;
    /** Over this row and all before it. */
    hash: string;
    /** When it was done. */
    at: string;
};
export type AuditHeadEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "audit.head";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: AuditHeadData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
/** `verifiedDomain` is the only sender identity that a program should trust. */
export type Auth = {
    /** The result (RFC 8601): `pass`, `fail`, `none`, `temperror`, `permerror`, and others of its own. It says nothing of the author: see `verifiedDomain`. */
    spf: string | null;
    /** The result (RFC 8601): `pass`, `fail`, `none`, `temperror`, `permerror`, and others of its own. It says nothing of the author: see `verifiedDomain`. */
    dkim: string | null;
    /** The result (RFC 8601) for the author's domain: `pass`, `fail`, `none`, `temperror`, `permerror`. */
    dmarc: string | null;
    /** The result (RFC 8601): `pass`, `fail`, `none`, `temperror`, `permerror`, and others of its own. It says nothing of the author: see `verifiedDomain`. */
    arc: string | null;
    /** The only sender identity that a program should trust: the domain of the author where that is proven; else null. */
    verifiedDomain: string | null;
};
/** `cursor`: the `after` that goes on behind it. */
export type AwaitedMessage = {
    /** The whole message, the oldest behind the position; null where none came. */
    message: Message | null;
    /** Whether none came within `timeoutSeconds`. */
    timedOut: boolean;
    /** What to give as `after` in the next call: nothing is missed, and nothing comes twice. */
    cursor: string;
};
/** Of one recipient. `suppressed`: it is on the suppression list. */
export type BouncedData = {
    /** The message that it is about. */
    messageId: string;
    /** The inbox that it is in. */
    inboxId: string;
    /** The conversation that it is in. */
    threadId: string;
    /** The address of the one author; of the envelope sender where a mail names none. */
    fromAddress: string;
    /** As in the header of the mail; the first 1,000. */
    toAddresses: string[];
    /** As in the header of the mail. */
    subject: string;
    /** When a host first took it. */
    sentAt: string | null;
    /** Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
    recipients: Recipient[];
    /** The recipient whom it is about. */
    recipient: string;
    /**
     * `permanent`, `transient` or `undetermined`.
     * @enum {string}
     */
    bounceType: "permanent" | "transient" | "undetermined";
    /**
     * What the refusal is about.
     * @enum {string}
     */
    class: "address" | "mailbox_full" | "policy" | "content" | "reputation" | "throttled" | "infrastructure" | "unknown";
    /**
     * What would help.
     * @enum {string}
     */
    advice: "retry_later" | "fix_address" | "fix_content" | "fix_dns" | "slow_down" | "stop";
    /** The code of the reply, or that a report names. */
    smtpCode: number | null;
    /** The enhanced status code of the reply, or that a report names. */
    enhancedCode: string | null;
    /** The words of the reply, or of a report. */
    diagnostic: string | null;
    /** Whether the recipient is on the suppression list now. */
    suppressed: boolean;
};
export type CancelledMessage = {
    /** Its id. */
    id: string;
    /** @constant */
    status: "cancelled";
};
/** `messageId`: what it was sent as. */
export type ChangedDraftData = {
    /** The draft. */
    draftId: string;
    /** The inbox that it belongs to, or is about. */
    inboxId: string;
    /** The conversation that it answers in; null: it begins one. */
    threadId: string | null;
    /**
     * `draft`, `sent` or `discarded`.
     * @enum {string}
     */
    status: "draft" | "sent" | "discarded";
    /** The message that it was sent as; null before. */
    messageId: string | null;
};
/** What became of a message, or of all messages of a thread. */
export type ChangedMessage = {
    /** The message or thread. */
    id: string;
    /**
     * `changed`, `unchanged`, `not_found` or `inbox_access_denied`.
     * @enum {string}
     */
    result: "changed" | "unchanged" | "not_found" | "inbox_access_denied";
};
/** Ids and labels, never words. */
export type ChangedMessageData = {
    /** The message that it is about. */
    messageId: string;
    /** The inbox that it is in. */
    inboxId: string;
    /** The conversation that it is in. */
    threadId: string;
    /** The labels that it had before. */
    labelsBefore: string[];
};
export type ChangedThreadData = {
    /** The conversation that it belongs to. */
    threadId: string;
    /** The inbox that it belongs to, or is about. */
    inboxId: string;
    /** Whether it is put away; mail that comes in takes it out. */
    isArchived: boolean;
};
/** What the send would be refused with, and its status. */
export type CheckError = {
    /** As the error itself has it. */
    code: string;
    /** As the error itself has it. */
    message: string;
    /** As the error itself has it. */
    details?: {
        [key: string]: unknown;
    };
    /** As the error itself has it. */
    status: number;
};
/**
 * `view`, `start`, `end`: where, in code points of that field, of the message that is looked at, or of `messageId`
 *     where that is given. `address`: the recipient that it is about.
 */
export type CheckWarning = {
    /**
     * What looks wrong: one of these.
     * @enum {string}
     */
    code: "empty_body" | "placeholder" | "model_artifact" | "secret" | "attachment_missing" | "duplicate" | "recipient_from_content" | "reply_to_mismatch" | "no_reply_address" | "auto_reply_target";
    /** The field that it is in: `subject`, `text`, `html`, `replyTo`, `cc`, of the request or the draft, or of the message `messageId` where that is given beside it; null where it is in none. */
    view: ("subject" | "text" | "html" | "replyTo" | "cc") | null;
    /** Where it begins and ends there, in code points; null where it has no place. */
    start: number | null;
    /** Where it begins and ends there, in code points; null where it has no place. */
    end: number | null;
    /** The recipient that it is about; else null. */
    address: string | null;
    /** The message that it is about, or that `view` is of; else null. */
    messageId: string | null;
};
/** What would become of a message. `sizeBytes`: null where it can't be composed. */
export type CheckedMessage = {
    /** Whether it would be accepted: there are no `errors`. */
    wouldSend: boolean;
    /** Whether it would wait for a review: then the send answers 201 `held`. */
    wouldHold: boolean;
    /** Every refusal, not only the first, in the order in which a send meets them. A send's own is `errors[0]`. */
    errors: CheckError[];
    /** What looks wrong; none of it stops a send. */
    warnings: CheckWarning[];
    /** Whom it would go to. */
    recipients: CheckedRecipient[];
    /** As it would be sent. */
    subject: string;
    /** How large the message would be as it is stored; null where it can't be composed. */
    sizeBytes: number | null;
    /** The conversation that it would answer in, else null. */
    thread: CheckedThread | null;
};
export type CheckedRecipient = {
    /** Whom it would go to. */
    address: string;
    /**
     * `to`, `cc` or `bcc`.
     * @enum {string}
     */
    kind: "to" | "cc" | "bcc";
    /** The inbox never wrote to it (for test keys: nor a test key). */
    isFirstTime: boolean;
    /** It is on the suppression list. */
    isSuppressed: boolean;
    /**
     * How it would go: `local` (an inbox domain of this host), `relay` (a smarthost), `simulator` (test keys), `mx`.
     * @enum {string}
     */
    route: "local" | "mx" | "relay" | "simulator";
    /**
     * What DNS says of an `mx` domain within 3 seconds for all of them: `ok` (a mail host has an address), `no_mx` (no mail host, or none with an address), `null_mx` (RFC 7505), `nxdomain`, `unknown` (no answer, or not in time). Of the other routes it is `ok`; whether there is such a mailbox, nobody is asked.
     * @enum {string}
     */
    finding: "ok" | "no_mx" | "null_mx" | "nxdomain" | "unknown";
    /** The rule that decides about it, or null. */
    rule: NamedRule | null;
};
/** `lastMessageId`: for `ifLastMessageId`; null where nothing in it counts. */
export type CheckedThread = {
    /** The thread. */
    id: string;
    /** What to give as `ifLastMessageId`; null where nothing counts. */
    lastMessageId: string | null;
};
export type ClaimDeadEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "claim.dead";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: EndedClaimData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
export type ClaimExpiredEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "claim.expired";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: EndedClaimData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
/**
 * `value`: what is to be typed, or opened; `shown`: as it stands in the mail. `confidence`: beside a word for a
 *     code, the only one that could be it, or one of several `candidates`: then nothing is claimed.
 */
export type ClaimedCode = {
    /** Its id; null where nothing is claimed. */
    id: string | null;
    /** Whether `value` is yours, and nobody else's. */
    claimed: boolean;
    /** `code` or `link`; null where there is none. */
    kind: ("code" | "link") | null;
    /** What is to be typed or opened; null where there is none, or several could be meant. */
    value: string | null;
    /** The code as it stands in the mail. */
    shown: string | null;
    /** The mail that has it; null where there is none. */
    messageId: string | null;
    /** The `auth.verifiedDomain` of that mail. */
    verifiedDomain: string | null;
    /** `labelled`: it stands beside a word for a code; `unlabelled`: nothing else in the mail could be it; `ambiguous`: several could be meant, and nothing is claimed. */
    confidence: ("labelled" | "unlabelled" | "ambiguous") | null;
    /** Where it stands; null unless there is a `value`. */
    evidence: CodePlace | null;
    /** Those that could be meant, where it is `ambiguous`. */
    candidates: string[];
    /** Whether none came within `waitSeconds`. */
    timedOut: boolean;
    /** What to give as `after` in the next call. */
    cursor: string;
};
/** With the whole message; null where it was deleted since. */
export type ClaimedMessage = {
    /** Its id. */
    id: string;
    /** The inbox that it belongs to, or is about. */
    inboxId: string;
    /** The conversation that it belongs to. */
    threadId: string;
    /** The message that it is about. */
    messageId: string;
    /** The key that claimed. */
    keyId: string;
    /**
     * `test` for what comes of a test key, else `live`.
     * @enum {string}
     */
    mode: "live" | "test";
    /**
     * `live`, or how it ended: `done`, `released`, `expired`, `dead`.
     * @enum {string}
     */
    status: "live" | "released" | "expired" | "done" | "dead";
    /** Which claim of the message this is, from 1; a requeue begins anew. */
    attempt: number;
    /** What the claimer called itself. */
    holder: string | null;
    /** Until when it lives, unless it is extended. */
    leaseExpiresAt: string;
    /** When it was made. */
    createdAt: string;
    /** The whole message, where claims are taken; null once it was deleted. */
    message: Message | null;
};
/** Where it stands, in code points of a field that GET of the message shows. */
export type CodePlace = {
    /**
     * The field of the message: `subject`, `extractedText`, `textBody`.
     * @enum {string}
     */
    view: "subject" | "extractedText" | "textBody";
    /** Where it begins and ends there, in code points. */
    start: number;
    /** Where it begins and ends there, in code points. */
    end: number;
};
/** Of one recipient. */
export type ComplainedData = {
    /** The message that it is about. */
    messageId: string;
    /** The inbox that it is in. */
    inboxId: string;
    /** The conversation that it is in. */
    threadId: string;
    /** The address of the one author; of the envelope sender where a mail names none. */
    fromAddress: string;
    /** As in the header of the mail; the first 1,000. */
    toAddresses: string[];
    /** As in the header of the mail. */
    subject: string;
    /** When a host first took it. */
    sentAt: string | null;
    /** Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
    recipients: Recipient[];
    /** The recipient whom it is about. */
    recipient: string;
    /** What the complaint calls itself, such as `abuse`. */
    feedbackType: string | null;
    /** Whether the recipient is on the suppression list now. */
    suppressed: boolean;
};
export type ContextFile = {
    /** Its id. */
    id: string;
    /** As the mail has it; one is made where there is none. */
    filename: string;
    /** As the mail has it. */
    contentType: string;
    /** How many bytes can be fetched. */
    sizeBytes: number;
};
export type DeactivatedInbox = {
    /** Its id. */
    id: string;
    /**
     * `deactivated`.
     * @constant
     */
    status: "deactivated";
    /** Until when nobody can have the address. */
    cooldownUntil: string;
};
/** Of one recipient. */
export type DelayedData = {
    /** The message that it is about. */
    messageId: string;
    /** The inbox that it is in. */
    inboxId: string;
    /** The conversation that it is in. */
    threadId: string;
    /** The address of the one author; of the envelope sender where a mail names none. */
    fromAddress: string;
    /** As in the header of the mail; the first 1,000. */
    toAddresses: string[];
    /** As in the header of the mail. */
    subject: string;
    /** When a host first took it. */
    sentAt: string | null;
    /** Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
    recipients: Recipient[];
    /** The recipient whom it is about. */
    recipient: string;
    /** How often it was tried. */
    attempts: number;
    /** When it is tried again. */
    nextAttemptAt: string | null;
    /**
     * What the refusal is about.
     * @enum {string}
     */
    class: "address" | "mailbox_full" | "policy" | "content" | "reputation" | "throttled" | "infrastructure" | "unknown";
    /**
     * What would help.
     * @enum {string}
     */
    advice: "retry_later" | "fix_address" | "fix_content" | "fix_dns" | "slow_down" | "stop";
    /** The code of the reply, or that a report names. */
    smtpCode: number | null;
    /** The enhanced status code of the reply, or that a report names. */
    enhancedCode: string | null;
    /** The words of the reply, or of a report. */
    diagnostic: string | null;
};
export type Deleted = {
    /** Its id. */
    id: string;
    /** @constant */
    status: "deleted";
};
export type DeletedMessage = {
    /** Its id. */
    id: string;
    /** @constant */
    deleted: true;
};
export type DeletedRule = {
    /** Its id. */
    id: string;
    /** @constant */
    deleted: true;
};
/**
 * Of one recipient. `class`, `permanence`, `advice`: of what failed. `suppressed`: the address is on the
 *     suppression list, by this attempt or from before it.
 */
export type DeliveryAttempt = {
    /** The recipient. */
    address: string;
    /**
     * `to`, `cc` or `bcc`.
     * @enum {string}
     */
    kind: "to" | "cc" | "bcc";
    /** Which attempt for the recipient this is, from 1; of one that an operator took out of the queue, the one that will not be. */
    attempt: number;
    /**
     * What became of the recipient: its status in `recipients` of the message, or `expired`.
     * @enum {string}
     */
    outcome: "sent" | "delivered" | "deferred" | "bounced" | "failed" | "suppressed" | "expired";
    /** As in `recipients` of the message after this attempt. */
    remoteHost: string | null;
    /** As in `recipients` of the message after this attempt. */
    smtpCode: number | null;
    /** As in `recipients` of the message after this attempt. */
    enhancedCode: string | null;
    /** As in `recipients` of the message after this attempt. */
    response: string | null;
    /** As in `recipients` of the message after this attempt. */
    tls: string | null;
    /** How long it took, in milliseconds. */
    durationMs: number;
    /** When it ended. */
    createdAt: string;
    /** What the failure is about; null where nothing failed. */
    class: ("address" | "mailbox_full" | "policy" | "content" | "reputation" | "throttled" | "infrastructure" | "unknown") | null;
    /** `permanent`, `transient` or `undetermined`, as the `bounceType` of events; null where nothing failed. */
    permanence: ("permanent" | "transient" | "undetermined") | null;
    /** What would help; null where nothing failed. */
    advice: ("retry_later" | "fix_address" | "fix_content" | "fix_dns" | "slow_down" | "stop") | null;
    /** When a deferral was to be tried again; else null. */
    nextAttemptAt: string | null;
    /** When it was given up for good; else null. */
    gaveUpAt: string | null;
    /** Whether the address is on the suppression list, by this attempt or from before it. */
    suppressed: boolean;
    /** What is kept of an attempt over the network; else null. */
    evidence: DeliveryEvidence | null;
};
/** What is kept of an attempt over the network. `endedAt`: the last host's stage, or what it did not get beyond. */
export type DeliveryEvidence = {
    /**
     * How far it came: `stage` of the last host; `dns`, `policy` (every host was kept from the mail by a TLS policy), `message` (it could not be read or signed), `not_tried` (no way to the destination was found a moment ago).
     * @enum {string}
     */
    endedAt: "wait" | "connect" | "greeting" | "hello" | "tls" | "auth" | "envelope" | "data" | "answer" | "not_tried" | "dns" | "policy" | "message";
    /** Milliseconds spent on finding hosts and their TLS policies. */
    dnsMs: number | null;
    /** Mail hosts that were not tried. */
    passedOver: PassedOverHost[];
    /** How many addresses `hosts` leaves out. */
    hostsLeftOut: number;
    /** Addresses that were tried, in order; of many the first and the last three. */
    hosts: HostTried[];
};
/** Messages that say to be from the domain, as their receiver judged them. */
export type DmarcSummary = {
    /** Messages of which DKIM is aligned. */
    dkimAligned: number;
    /** Messages of which SPF is aligned. */
    spfAligned: number;
    dispositions: ReportedDispositions;
    /** The hosts that sent them, the 20 with most. */
    sources: ReportedSource[];
};
export type Domain = {
    /** Its id. */
    id: string;
    /** A lower-case A-label without a last dot: two labels or more, at most 238 characters. */
    domainName: string;
    /**
     * `pending`, `verified` or `failed`, see its states.
     * @enum {string}
     */
    status: "pending" | "verified" | "failed";
    /** Whether this record passed at the last check. */
    mxStatus: boolean;
    /** Whether this record passed at the last check. */
    spfStatus: boolean;
    /** Whether this record passed at the last check. */
    dkimStatus: boolean;
    /** Whether this record passed at the last check. */
    dmarcStatus: boolean;
    /** What to publish. */
    records: DomainRecord[];
    /** How many messages may leave from it in a day (UTC), 1-1,000,000; null: no ceiling. */
    dailyCap: number | null;
    /** How many messages left today. */
    todayUsed: number;
    /** When `todayUsed` begins again. */
    resetsAt: string;
    /** Explains an exhausted ceiling; else null. */
    note: string | null;
    /** When it was verified; null before, and once it failed. */
    verifiedAt: string | null;
    /** When it was made. */
    createdAt: string;
};
export type DomainCeiling = {
    /** Its id. */
    id: string;
    /** A lower-case A-label without a last dot: two labels or more, at most 238 characters. */
    domainName: string;
    /** How many messages may leave from it in a day (UTC), 1-1,000,000; null: no ceiling. */
    dailyCap: number | null;
    /** How many messages left today. */
    todayUsed: number;
    /** When `todayUsed` begins again. */
    resetsAt: string;
    /** Explains an exhausted ceiling; else null. */
    note: string | null;
};
export type DomainChecks = {
    /** Whether this record passed. */
    ownership: boolean;
    /** Whether this record passed. */
    mx: boolean;
    /** Whether this record passed. */
    spf: boolean;
    /** Whether this record passed. */
    dkim: boolean;
};
export type DomainFailedEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "domain.failed";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: UnverifiedData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
export type DomainRecord = {
    /**
     * `ownership`, `mx`, `spf`, `dkim` or `dmarc` (informative, not `required`).
     * @enum {string}
     */
    purpose: "ownership" | "mx" | "spf" | "dkim" | "dmarc";
    /**
     * `TXT` or `MX`.
     * @enum {string}
     */
    type: "TXT" | "MX";
    /** The name at which it is published, in full. */
    name: string;
    /** What it says. */
    value: string;
    /** Of MX; else null. */
    priority: number | null;
    /** Whether the domain needs it to be verified. */
    required: boolean;
    /** `unchecked`; `ok`; `missing`; `mismatch` (there is one, but not what is wanted); `conflicting` (resolvers disagree); `unavailable` (too few of them answered). Only `ok` passes. */
    status: string;
    /** What all resolvers together showed at the last check: at most 10 texts of 600 characters; of the TXT records at `spf` and `dmarc` only those that are SPF and DMARC. */
    observed: string[];
};
export type DomainVerification = {
    /** Its id. */
    id: string;
    /** A lower-case A-label without a last dot: two labels or more, at most 238 characters. */
    domainName: string;
    /**
     * `active` (elsewhere `verified`), `pending` or `failed`.
     * @enum {string}
     */
    status: "active" | "pending" | "failed";
    checks: DomainChecks;
    /** When it was verified; null before, and once it failed. */
    verifiedAt: string | null;
};
export type DomainVerifiedEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "domain.verified";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: VerifiedData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
export type Draft = {
    /** Its id. */
    id: string;
    /** The inbox that it belongs to, or is about. */
    inboxId: string;
    /** The conversation that it answers in; null: it begins one. */
    threadId: string | null;
    /** As given. */
    toAddresses: string[];
    /** As given. */
    ccAddresses: string[];
    /** As given. */
    bccAddresses: string[];
    /** As given. */
    subject: string;
    /** As given. */
    textBody: string | null;
    /** As given; it is sanitized when the draft is sent. */
    htmlBody: string | null;
    /** The message, or the thread, that it answers. */
    inReplyTo: string | null;
    /** It is sent only unless the conversation went on after this message. */
    ifLastMessageId: string | null;
    /** It is sent only while this claim lives. */
    claimId: string | null;
    /** Whether sending it ends the claim as done. */
    completeClaim: boolean;
    /**
     * `draft`, `sent` or `discarded`.
     * @enum {string}
     */
    status: "draft" | "sent" | "discarded";
    /** The message that it was sent as; null before. */
    messageId: string | null;
    /** When it was made. */
    createdAt: string;
    /** When it last changed. */
    updatedAt: string;
    /** When it was sent; else null. */
    sentAt: string | null;
    /** When it was discarded; else null. */
    discardedAt: string | null;
};
export type DraftCreatedEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "draft.created";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: ChangedDraftData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
export type DraftDiscardedEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "draft.discarded";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: ChangedDraftData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
export type DraftUpdatedEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "draft.updated";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: ChangedDraftData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
export type DraftedReply = {
    /** Its id. */
    id: string;
    /** The inbox that it belongs to, or is about. */
    inboxId: string;
    /** The conversation that it answers in; null: it begins one. */
    threadId: string | null;
    /** As given. */
    toAddresses: string[];
    /** As given. */
    ccAddresses: string[];
    /** As given. */
    bccAddresses: string[];
    /** As given. */
    subject: string;
    /** As given. */
    textBody: string | null;
    /** As given; it is sanitized when the draft is sent. */
    htmlBody: string | null;
    /** The message, or the thread, that it answers. */
    inReplyTo: string | null;
    /** It is sent only unless the conversation went on after this message. */
    ifLastMessageId: string | null;
    /** It is sent only while this claim lives. */
    claimId: string | null;
    /** Whether sending it ends the claim as done. */
    completeClaim: boolean;
    /**
     * `draft`, `sent` or `discarded`.
     * @enum {string}
     */
    status: "draft" | "sent" | "discarded";
    /** The message that it was sent as; null before. */
    messageId: string | null;
    /** When it was made. */
    createdAt: string;
    /** When it last changed. */
    updatedAt: string;
    /** When it was sent; else null. */
    sentAt: string | null;
    /** When it was discarded; else null. */
    discardedAt: string | null;
    resolved: ResolvedRecipients;
};
/** Who stands there and is not written to. */
export type DroppedRecipient = {
    /** The address, as the message has it. */
    address: string;
    /**
     * `own_address`, `duplicate`, `not_allowed`, `mailing_list` or `invalid`.
     * @enum {string}
     */
    reason: "own_address" | "duplicate" | "not_allowed" | "invalid" | "mailing_list";
};
/** What holds for an inbox. */
export type EffectivePolicy = {
    outbound: ShownOutboundPolicy;
    inbound: ShownInboundPolicy;
    work: ShownWorkPolicy;
    review: ShownReviewPolicy;
};
export type EmailBouncedEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "email.bounced";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: BouncedData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
export type EmailComplainedEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "email.complained";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: ComplainedData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
export type EmailDelayedEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "email.delayed";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: DelayedData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
export type EmailFailedEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "email.failed";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: FailedData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
export type EmailReceivedEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "email.received";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: ReceivedData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
export type EmailSentEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "email.sent";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: SentData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
export type EmailUnsubscribedEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "email.unsubscribed";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: UnsubscribedData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
/** `attempt`: which claim of the message it was. */
export type EndedClaimData = {
    /** The claim that ended. */
    claimId: string;
    /** The message that it is about. */
    messageId: string;
    /** The inbox that it belongs to, or is about. */
    inboxId: string;
    /** The conversation that it belongs to. */
    threadId: string;
    /** Which claim of the message this is, from 1; a requeue begins anew. */
    attempt: number;
    /** What the claimer called itself. */
    holder: string | null;
};
/** Branch on `code`; show `message` to people; `details` are data to act on. */
export type RefusedAnswer = {
    error: ErrorBody;
};
export type ErrorBody = {
    /** Stable: branch on it. */
    code: string;
    /** Tells a person what to do. */
    message: string;
    /** Data to act on; left out where there are none. */
    details?: {
        [key: string]: unknown;
    };
};
export type Event = EmailReceivedEvent | EmailSentEvent | EmailBouncedEvent | EmailComplainedEvent | EmailUnsubscribedEvent | EmailDelayedEvent | EmailFailedEvent | DomainVerifiedEvent | DomainFailedEvent | SendingPausedEvent | MessageUpdatedEvent | MessageDeletedEvent | ThreadUpdatedEvent | DraftCreatedEvent | DraftUpdatedEvent | DraftDiscardedEvent | ClaimExpiredEvent | ClaimDeadEvent | ReviewRequestedEvent | ReviewResolvedEvent | AuditHeadEvent;
export type EventAttachment = {
    /** Its id. */
    id: string;
    /** As the mail has it; one is made where there is none. */
    filename: string;
    /** As the mail has it. */
    contentType: string;
    /** How many bytes can be fetched. */
    sizeBytes: number;
};
/**
 * `excerpt` is `view[start:end]`, its first 200 code points at most, of the field that GET shows: `subject`,
 *     `fromName`, `text` (textBody), `html` (htmlBody), `filename:att_…`.
 */
export type EvidenceItem = {
    /**
     * What it is, one of these.
     * @enum {string}
     */
    kind: "hidden_text" | "comment_text" | "zero_width" | "bidi_control" | "tag_characters" | "variation_smuggling" | "part_mismatch" | "preheader" | "display_name_address" | "reply_to_mismatch" | "several_from" | "lookalike_domain" | "unverified_sender" | "first_time_sender" | "link_text_mismatch" | "link_ip" | "link_userinfo" | "link_punycode" | "link_scheme" | "markdown_reference" | "remote_image_with_data" | "directive" | "role_markup" | "secret_request" | "fence_spoof" | "double_extension" | "active_content" | "encrypted_archive" | "filename_trick";
    /**
     * How grave it is.
     * @enum {string}
     */
    severity: "low" | "medium" | "high";
    /** The field that it is in, as GET shows it: `subject`, `fromName`, `text` (`textBody`), `html` (`htmlBody` as it came), `filename:att_…`. */
    view: string;
    /** Where it begins and ends there, in code points. */
    start: number;
    /** Where it begins and ends there, in code points. */
    end: number;
    /** Its first 200 code points. */
    excerpt: string;
    /** Whether words there tell a program what to do. */
    directive: boolean;
    /** What hides them, which order it is, which extension; else null. */
    why: string | null;
    /** The name that is shown, or imitated; else null. */
    shown: string | null;
    /** The name that is meant; else null. */
    target: string | null;
};
export type FailedData = {
    /** The message that it is about. */
    messageId: string;
    /** The inbox that it is in. */
    inboxId: string;
    /** The conversation that it is in. */
    threadId: string;
    /** The address of the one author; of the envelope sender where a mail names none. */
    fromAddress: string;
    /** As in the header of the mail; the first 1,000. */
    toAddresses: string[];
    /** As in the header of the mail. */
    subject: string;
    /** When a host first took it. */
    sentAt: string | null;
    /** Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
    recipients: Recipient[];
    /** Why it is `failed`: `bounced`, `expired`, `dropped` (by the operator), `review_rejected`, `review_expired`, or the error code that refused it; `invalid_api_key` of what was withdrawn with its key. */
    failureReason: string | null;
};
/** With the policy that holds for it. */
export type GovernedInbox = {
    /** Its id. */
    id: string;
    /** The organization that it belongs to. */
    organizationId: string;
    /** Where its mail comes in, and what it sends from. */
    address: string;
    /** The address before its `@`. */
    username: string;
    /** The address behind its `@`. */
    domain: string;
    /** What stands beside the address in what it sends. */
    name: string | null;
    /** The agent behind it. */
    agentId: string | null;
    /** Texts by key, the caller's own. */
    metadata: {
        [key: string]: string;
    };
    /** False once deactivated. */
    isActive: boolean;
    /** Messages with the label `unread`. */
    unreadCount: number;
    /** When mail last came in, or was accepted for sending; null where none was. */
    lastMessageAt: string | null;
    /** When it was made. */
    createdAt: string;
    /** When its name, metadata, agent or state last changed; mail changes nothing here. */
    updatedAt: string;
    /** When it was deactivated; null while it is active. */
    deactivatedAt: string | null;
    policy: EffectivePolicy;
};
export type Health = {
    /** @enum {string} */
    status: "healthy" | "unhealthy";
    service: string;
    /** @enum {string} */
    store: "ok" | "damaged";
    /** @enum {string} */
    disk: "ok" | "short" | "stalled" | "failing";
    /** @enum {string} */
    descriptors: "ok" | "short";
    loop: LoopHealth;
};
/** The review that a held message waits for. */
export type HeldFor = {
    /** Its id. */
    id: string;
    /** Why it is held. */
    reasons: string[];
    /** Until when it waits; then it is rejected. */
    expiresAt: string;
};
/**
 * One address of a mail host or smarthost. `fault`: why it took no part in a transaction, or that it was lost in
 *     one. `dialogue`: what was said, `C: ` by this host, `S: ` by the other, `* ` remarks; without the message, and of
 *     the recipients this one alone.
 */
export type HostTried = {
    /** The name of the mail host. */
    host: string;
    /** Where it was called. */
    address: string;
    /** Where it was called. */
    port: number;
    /** Whether it is a smarthost. */
    isRelay: boolean;
    /** The address that it was called from; null where it did not come to that. */
    sourceAddress: string | null;
    /** The name that was given in EHLO; null where it did not come to that. */
    ehloName: string | null;
    /** Whether the session was open from an earlier message. */
    isReused: boolean;
    /**
     * Whose word about TLS counted: `none`, `mta-sts`, `dane`, `override` (the operator's for the destination), `relay`.
     * @enum {string}
     */
    tlsPolicy: "none" | "mta-sts" | "dane" | "override" | "relay";
    /**
     * What that policy wanted: `none`, `opportunistic`, `testing`, `encrypt`, `verify`, `dane`, `starttls`, `implicit`.
     * @enum {string}
     */
    tlsLevel: "none" | "opportunistic" | "testing" | "encrypt" | "verify" | "dane" | "starttls" | "implicit";
    /** Of the session; null in plain text. */
    tlsVersion: string | null;
    /** Of the session; null in plain text. */
    cipher: string | null;
    /** What vouched for the host: `webpki` (its certificate, for its name) or `dane`; null: nothing. */
    verifiedBy: ("webpki" | "dane") | null;
    /** Why TLS did not come about at first, also where the session went on with less, as RFC 8460 calls it: `starttls-not-supported`, `certificate-host-mismatch`, `certificate-expired`, `certificate-not-trusted` (no TLSA record fits it, too), `validation-failure`; else null. */
    tlsFailure: ("starttls-not-supported" | "certificate-host-mismatch" | "certificate-expired" | "certificate-not-trusted" | "validation-failure") | null;
    /**
     * How far it came: `wait` (for a place), `connect` (of a smarthost also the handshake that its sessions begin with), `greeting`, `hello`, `tls`, `auth`, `envelope` (MAIL, RCPT, DATA), `data` (the message), `answer` (the reply to it).
     * @enum {string}
     */
    stage: "wait" | "connect" | "greeting" | "hello" | "tls" | "auth" | "envelope" | "data" | "answer";
    durationsMs: StageDurations;
    /** Why the host took no part in a transaction, or that it was lost in one; else null. */
    fault: string | null;
    /** What was said: `C: ` this host, `S: ` the other, `* ` remarks. A command stands before its reply, also where several were sent at once. Without the message, what AUTH carries, the tag of the envelope sender (`***`), and what was said of other recipients. */
    dialogue: string[];
};
export type Inbox = {
    /** Its id. */
    id: string;
    /** The organization that it belongs to. */
    organizationId: string;
    /** Where its mail comes in, and what it sends from. */
    address: string;
    /** The address before its `@`. */
    username: string;
    /** The address behind its `@`. */
    domain: string;
    /** What stands beside the address in what it sends. */
    name: string | null;
    /** The agent behind it. */
    agentId: string | null;
    /** Texts by key, the caller's own. */
    metadata: {
        [key: string]: string;
    };
    /** False once deactivated. */
    isActive: boolean;
    /** Messages with the label `unread`. */
    unreadCount: number;
    /** When mail last came in, or was accepted for sending; null where none was. */
    lastMessageAt: string | null;
    /** When it was made. */
    createdAt: string;
    /** When its name, metadata, agent or state last changed; mail changes nothing here. */
    updatedAt: string;
    /** When it was deactivated; null while it is active. */
    deactivatedAt: string | null;
};
/** An inbox's own document. `version`: how often it was replaced. */
export type InboxPolicy = {
    outbound: ShownOutboundPolicy;
    inbound: ShownInboundPolicy;
    work: ShownWorkPolicy;
    review: ShownReviewPolicy;
    /** How often it was changed. PUT takes the one that was read, 0 where there was no document. */
    version: number;
};
export type Key = {
    /** Its id: `key_…`. */
    id: string;
    /** What it is called: 1-64 characters. */
    name: string;
    /** The first 16 characters of the key. */
    keyPrefix: string;
    /**
     * `live`, or `test`: what it sends reaches nobody.
     * @enum {string}
     */
    mode: "live" | "test";
    /** The scopes that it holds. */
    scopes: string[];
    /** The inbox that it is bound to; null: none. */
    inboxId: string | null;
    /** False once revoked. */
    isActive: boolean;
    /** The key that minted it; null where the operator or a member did. */
    mintedBy: string | null;
    /** When it was last used, true to the minute; null: never. */
    lastUsedAt: string | null;
    /** When it was minted. */
    createdAt: string;
};
export type LabelledData = {
    /** The message that it is about. */
    messageId: string;
    /** The inbox that it is in. */
    inboxId: string;
    /** The conversation that it is in. */
    threadId: string;
    /** The labels that it had before. */
    labelsBefore: string[];
    /** The labels that it has now. */
    labels: string[];
};
export type Limits = {
    /** Messages of this month (UTC). */
    messagesMonthly: number | null;
    /** Messages of today (UTC). */
    messagesDaily: number | null;
    /** Active inboxes. */
    inboxes: number | null;
    /** Drafts that are neither sent nor discarded. */
    openDrafts: number | null;
    /** Webhooks. */
    webhooks: number | null;
    /** The size of the stored messages; as `usage` of those that the key can read. What is held counts against the limit, and is shown to those who decide about it. */
    storageBytes: number | null;
};
export type ListedMessage = {
    /** Its id: `msg_…`. */
    id: string;
    /** The inbox that it is in. */
    inboxId: string;
    /** The conversation that it is in. */
    threadId: string;
    /**
     * `inbound`: it came in; `outbound`: it was sent, or is to be.
     * @enum {string}
     */
    direction: "inbound" | "outbound";
    /**
     * `live`, or `test` for what a test key sent and the simulator answered.
     * @enum {string}
     */
    mode: "live" | "test";
    /**
     * What became of it.
     * @enum {string}
     */
    status: "received" | "held" | "scheduled" | "queued" | "sent" | "delivered" | "failed" | "cancelled";
    /** Of mail that waits for a decision: the review; else null. */
    review: HeldFor | null;
    /** The address of the one author; of the envelope sender where a mail names none. */
    fromAddress: string;
    /** The domain of `fromAddress` as a lower-case A-label (`xn--…`), or its address literal; null where there is none. */
    fromDomain: string | null;
    /** The same domain as people write it, of inbound mail from an internationalized one; else null. Show both: letters of other scripts look alike. */
    fromDomainUnicode: string | null;
    /** The author's name as shown in the mail. */
    fromName: string | null;
    /** As in the header of the mail; the first 1,000. */
    toAddresses: string[];
    /** As in the header of the mail; the first 1,000. */
    ccAddresses: string[];
    /** Of mail that was sent; empty for inbound mail. */
    bccAddresses: string[];
    /** The first mailbox of Reply-To. */
    replyTo: string | null;
    /** All mailboxes of Reply-To, the first 1,000. */
    replyToAddresses: string[];
    /** As in the header of the mail. */
    subject: string;
    /** The beginning of the text. */
    snippet: string;
    /** The new words alone, without quotes, signatures and footers. */
    extractedText: string | null;
    /** The Message-ID in the header of the mail. */
    messageIdHeader: string | null;
    /** The Message-ID that In-Reply-To in the header of the mail names; of several the first. */
    inReplyTo: string | null;
    /** The Message-IDs of References, 100 at most: the first, and the newest. */
    references: string[];
    /** `unread` on arrival; what keys gave it, in its order. */
    labels: string[];
    /** Vacation notices and their kind, receipts, every bounce report, whatever else came to the envelope sender of a message, and what the inbox itself sent and a list or an alias sends back; not `auto-generated` mail. */
    isAutoReply: boolean;
    /** Its author's domain disowns it (DMARC), or it names no one author (but for a report about mail of ours that counts and names none). */
    isSpam: boolean;
    /** What its evidence comes to: `none`, `low`, `medium`, `high`; null: not looked at yet. */
    risk: ("none" | "low" | "medium" | "high") | null;
    /** What is proven of the sender of inbound mail; null for outbound mail. */
    auth: Auth | null;
    /** The message that this one passes on; it may be gone since. */
    forwardOf: string | null;
    /** Of inbound mail: the address of the inbox that it came to, with its tag, also where To and Cc do not have it (Bcc, lists, aliases); null of what came before this was kept. */
    deliveredTo: string | null;
    /** Of inbound mail that says that a mailing list sends it; else null. Whoever writes may say so. */
    mailingList: MailingListShown | null;
    /** Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
    recipients: Recipient[];
    /** What is not its words: files, invitations, pictures. */
    attachments: Attachment[];
    /** Why it is `failed`: `bounced`, `expired`, `dropped` (by the operator), `review_rejected`, `review_expired`, or the error code that refused it; `invalid_api_key` of what was withdrawn with its key. */
    failureReason: string | null;
    /** When it is to be sent, as it was asked for. */
    scheduledAt: string | null;
    /** When a host first took it. */
    sentAt: string | null;
    /** Since when mail that came in is held; null of all that others see. */
    heldAt: string | null;
    /** When it came in, or was accepted. */
    createdAt: string;
};
export type LoopHealth = {
    holds: number;
    heldMs: number;
};
export type MailRule = {
    /** Its id. */
    id: string;
    /** The inbox whose mail it is about; null: every inbox of the organization. */
    inboxId: string | null;
    /**
     * `inbound`: mail that comes in; `outbound`: mail that is sent.
     * @enum {string}
     */
    direction: "inbound" | "outbound";
    /**
     * What becomes of it: `allow`, `block` or `hold`.
     * @enum {string}
     */
    action: "allow" | "block" | "hold";
    /** An address without its tag (`ada@x.org`, which names `ada+news@x.org` as well), a domain (`x.org`, that alone), or `*.x.org`, all domains below it; shown as it is compared (lower case, domain as `xn--`). */
    value: string;
    /** Up to 200 characters, for people. */
    note: string | null;
    /** When it was made. */
    createdAt: string;
};
export type MailingListShown = {
    /** What List-Id calls it. */
    id: string | null;
    /** The address by which one writes to all of its members. */
    post: string | null;
    /** URLs, `mailto:` among them, five at most. */
    unsubscribe: string[];
    /** Whether a POST of `List-Unsubscribe=One-Click` to that of https unsubscribes, and a valid DKIM signature covers both fields that say so (RFC 8058 §4). */
    oneClick: boolean;
};
export type Member = {
    /** Its id. */
    id: string;
    /** The address at which they sign in. */
    email: string;
    /** What they are called; null where nobody said. */
    name: string | null;
    /**
     * `owner`, `admin` or `member`.
     * @enum {string}
     */
    role: "owner" | "admin" | "member";
    /** When they joined. */
    joinedAt: string;
};
export type Message = {
    /** Its id: `msg_…`. */
    id: string;
    /** The inbox that it is in. */
    inboxId: string;
    /** The conversation that it is in. */
    threadId: string;
    /**
     * `inbound`: it came in; `outbound`: it was sent, or is to be.
     * @enum {string}
     */
    direction: "inbound" | "outbound";
    /**
     * `live`, or `test` for what a test key sent and the simulator answered.
     * @enum {string}
     */
    mode: "live" | "test";
    /**
     * What became of it.
     * @enum {string}
     */
    status: "received" | "held" | "scheduled" | "queued" | "sent" | "delivered" | "failed" | "cancelled";
    /** Of mail that waits for a decision: the review; else null. */
    review: HeldFor | null;
    /** The address of the one author; of the envelope sender where a mail names none. */
    fromAddress: string;
    /** The domain of `fromAddress` as a lower-case A-label (`xn--…`), or its address literal; null where there is none. */
    fromDomain: string | null;
    /** The same domain as people write it, of inbound mail from an internationalized one; else null. Show both: letters of other scripts look alike. */
    fromDomainUnicode: string | null;
    /** The author's name as shown in the mail. */
    fromName: string | null;
    /** As in the header of the mail; the first 1,000. */
    toAddresses: string[];
    /** As in the header of the mail; the first 1,000. */
    ccAddresses: string[];
    /** Of mail that was sent; empty for inbound mail. */
    bccAddresses: string[];
    /** The first mailbox of Reply-To. */
    replyTo: string | null;
    /** All mailboxes of Reply-To, the first 1,000. */
    replyToAddresses: string[];
    /** As in the header of the mail. */
    subject: string;
    /** The beginning of the text. */
    snippet: string;
    /** The new words alone, without quotes, signatures and footers. */
    extractedText: string | null;
    /** The Message-ID in the header of the mail. */
    messageIdHeader: string | null;
    /** The Message-ID that In-Reply-To in the header of the mail names; of several the first. */
    inReplyTo: string | null;
    /** The Message-IDs of References, 100 at most: the first, and the newest. */
    references: string[];
    /** `unread` on arrival; what keys gave it, in its order. */
    labels: string[];
    /** Vacation notices and their kind, receipts, every bounce report, whatever else came to the envelope sender of a message, and what the inbox itself sent and a list or an alias sends back; not `auto-generated` mail. */
    isAutoReply: boolean;
    /** Its author's domain disowns it (DMARC), or it names no one author (but for a report about mail of ours that counts and names none). */
    isSpam: boolean;
    /** What its evidence comes to: `none`, `low`, `medium`, `high`; null: not looked at yet. */
    risk: ("none" | "low" | "medium" | "high") | null;
    /** What is proven of the sender of inbound mail; null for outbound mail. */
    auth: Auth | null;
    /** The message that this one passes on; it may be gone since. */
    forwardOf: string | null;
    /** Of inbound mail: the address of the inbox that it came to, with its tag, also where To and Cc do not have it (Bcc, lists, aliases); null of what came before this was kept. */
    deliveredTo: string | null;
    /** Of inbound mail that says that a mailing list sends it; else null. Whoever writes may say so. */
    mailingList: MailingListShown | null;
    /** Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
    recipients: Recipient[];
    /** What is not its words: files, invitations, pictures. */
    attachments: Attachment[];
    /** Why it is `failed`: `bounced`, `expired`, `dropped` (by the operator), `review_rejected`, `review_expired`, or the error code that refused it; `invalid_api_key` of what was withdrawn with its key. */
    failureReason: string | null;
    /** When it is to be sent, as it was asked for. */
    scheduledAt: string | null;
    /** When a host first took it. */
    sentAt: string | null;
    /** Since when mail that came in is held; null of all that others see. */
    heldAt: string | null;
    /** When it came in, or was accepted. */
    createdAt: string;
    /** The words as text; not in lists. */
    textBody: string | null;
    /** The words as its author's HTML, scripts and all; not in lists. */
    htmlBody: string | null;
};
export type MessageDeletedEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "message.deleted";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: ChangedMessageData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
/** `version`: of what is looked for. `truncated`: not all of the message was looked at, or there are more items. */
export type MessageEvidence = {
    /** The message that it is about. */
    messageId: string;
    /** Of the rules by which it was looked at. */
    version: number;
    /**
     * What it all comes to: `none`, `low`, `medium`, `high`.
     * @enum {string}
     */
    risk: "none" | "low" | "medium" | "high";
    /** How many characters of the text nobody sees. */
    hiddenCharacters: number;
    /** Whether something was not looked at, or there are more items. */
    truncated: boolean;
    /** What was found, the gravest first. */
    items: EvidenceItem[];
};
/** Where the message stands in `text`, in code points, without its fences. */
export type MessageInContext = {
    /** Its id. */
    id: string;
    /**
     * `inbound` or `outbound`.
     * @enum {string}
     */
    direction: "inbound" | "outbound";
    /** Its `auth.verifiedDomain`. */
    verifiedDomain: string | null;
    /** What its evidence comes to; null: not looked at yet. */
    risk: ("none" | "low" | "medium" | "high") | null;
    /** Where its words begin and end in `text`, in code points, without the lines around them. */
    start: number;
    /** Where its words begin and end in `text`, in code points, without the lines around them. */
    end: number;
    /** Whether some of its words are missing for want of room; false of what is one line by its kind. */
    isCut: boolean;
    /** Its files; their bytes are not read. */
    attachments: ContextFile[];
};
export type MessageUpdatedEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "message.updated";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: LabelledData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
export type MintedKey = {
    /** Its id: `key_…`. */
    id: string;
    /** What it is called: 1-64 characters. */
    name: string;
    /** The first 16 characters of the key. */
    keyPrefix: string;
    /**
     * `live`, or `test`: what it sends reaches nobody.
     * @enum {string}
     */
    mode: "live" | "test";
    /** The scopes that it holds. */
    scopes: string[];
    /** The inbox that it is bound to; null: none. */
    inboxId: string | null;
    /** False once revoked. */
    isActive: boolean;
    /** The key that minted it; null where the operator or a member did. */
    mintedBy: string | null;
    /** When it was last used, true to the minute; null: never. */
    lastUsedAt: string | null;
    /** When it was minted. */
    createdAt: string;
    /** The raw key; in the response of the creation alone. */
    apiKey: string;
    /** A reminder to keep it; in the response of the creation alone. */
    warning: string;
};
export type NamedRule = {
    /** Its id. */
    id: string;
    /**
     * `allow`, `block` or `hold`.
     * @enum {string}
     */
    action: "allow" | "block" | "hold";
};
export type Organization = {
    /** Its id. */
    id: string;
    /** What the operator called it. */
    name: string;
    /** One of the operator's (`[plans.NAME]` of the configuration); `selfhost`, `free` and `pro` are shipped. */
    plan: string;
    limits: Limits;
    usage: Usage;
    resetsAt: Resets;
    sendingApproval: SendingApproval;
    reputation: Reputation;
    /**
     * Who decides what is held, and changes policies and rules: `keys` (those with the scopes, and members), or `members` alone. The operator sets it (`maild org reviewers`).
     * @enum {string}
     */
    reviewers: "keys" | "members";
    /** When it was made. */
    createdAt: string;
};
/** An organization's own document. `version`: how often it was replaced. */
export type OrganizationPolicy = {
    /** How often it was changed. PUT takes the one that was read, 0 where there was no document. */
    version: number;
    outbound: ShownOutboundPolicy;
    inbound: ShownInboundPolicy;
    review: ShownReviewPolicy;
};
/** A mail host of the domain that was not tried. */
export type PassedOverHost = {
    /** The name of the mail host. */
    host: string;
    /** Why it was not tried. */
    reason: string;
};
export type PausedData = {
    /**
     * `approved`, `pending` or `paused`: it sends only while it is approved.
     * @enum {string}
     */
    status: "paused" | "pending";
    /** `hard_bounce_rate`, `complaint_rate`, `manual_review`, `bulk_pattern` (in events alone) or a word of the operator's; null where there is none. */
    reason: string | null;
    /** What to do: `contact_operator`, `ask_operator_to_reset_tripwire` (in events alone); null where there is nothing to be done. */
    action: string | null;
    /** Since when sending is paused; null where it is not. */
    trippedAt: string | null;
};
export type PingedData = {
    /** The webhook that is tested. */
    webhookId: string;
};
export type QueueChanged = {
    /** How many were changed. */
    recipients: number;
    /** Whether there are more: ask again while it is true. */
    more: boolean;
};
export type QueueState = {
    /** How many recipients wait on this host. */
    waiting: number;
    /** Since when the queue is paused; null: it is not. */
    pausedSince: string | null;
    /** The 20 where most wait. */
    destinations: QueuedDestination[];
};
export type QueuedDestination = {
    /** A domain, or a group of mail hosts. */
    destination: string;
    /** How many recipients wait for it. */
    waiting: number;
    /** How many of these are held. */
    held: number;
    /** When the first is to be tried; null: none is. */
    firstDueAt: string | null;
};
export type QueuedRecipient = {
    /** The message. */
    messageId: string;
    /** The organization that it belongs to. */
    organizationId: string;
    /** Whom it goes to. */
    address: string;
    /** The domain, or the group of mail hosts, that it waits for. */
    destination: string;
    /**
     * `queued`, `deferred` or `held`.
     * @enum {string}
     */
    status: "queued" | "deferred" | "held";
    /** How often it was tried. */
    attempts: number;
    /** When it was tried at last; null: never. */
    lastAttemptAt: string | null;
    /** When it is tried again; null: not before it is released. */
    nextAttemptAt: string | null;
    /** When it is given up. */
    expiresAt: string;
    /** The code of the last reply. */
    smtpCode: number | null;
    /** The enhanced status code of the last reply. */
    enhancedCode: string | null;
    /** The words of the last reply. */
    response: string | null;
};
/** `text` and `extractedText`: up to 64 KiB; null, with the other words empty, once the message is deleted. */
export type ReceivedData = {
    /** The message that it is about. */
    messageId: string;
    /** The inbox that it is in. */
    inboxId: string;
    /** The conversation that it is in. */
    threadId: string;
    /**
     * `inbound`: it came in; `outbound`: it was sent, or is to be.
     * @constant
     */
    direction: "inbound";
    /** The address of the one author; of the envelope sender where a mail names none. */
    fromAddress: string;
    /** The author's name as shown in the mail. */
    fromName: string | null;
    /** As in the header of the mail; the first 1,000. */
    toAddresses: string[];
    /** As in the header of the mail. */
    subject: string;
    /** The beginning of the text. */
    snippet: string;
    /** The words as text, the first 64 KiB. */
    text: string | null;
    /** Whether there are more. */
    textTruncated: boolean;
    /** The new words alone, without quotes, signatures and footers. */
    extractedText: string | null;
    /** Whether it has HTML as well. */
    hasHtml: boolean;
    /** What is proven of the sender of inbound mail; null for outbound mail. */
    auth: Auth | null;
    /** Its files, without their bytes. */
    attachments: EventAttachment[];
    /** When it came in, or was approved. */
    receivedAt: string;
};
export type Recipient = {
    /** Whom it goes to. */
    address: string;
    /**
     * `to`, `cc` or `bcc`.
     * @enum {string}
     */
    kind: "to" | "cc" | "bcc";
    /**
     * `queued`, `deferred`, `sent`, `delivered`, `bounced`, `failed` or `suppressed`.
     * @enum {string}
     */
    status: "queued" | "deferred" | "sent" | "delivered" | "bounced" | "failed" | "suppressed";
    /** How often it was tried. */
    attempts: number;
    /** When it was tried at last; null: never. */
    lastAttemptAt: string | null;
    /** When it is tried again; null: not. */
    nextAttemptAt: string | null;
    /** Who answered the last attempt. */
    remoteHost: string | null;
    /** The code of its last reply. */
    smtpCode: number | null;
    /** The enhanced status code of its last reply (RFC 3463). */
    enhancedCode: string | null;
    /** The words of its last reply, or why there is none: plain words only. */
    response: string | null;
    /** The version and the cipher of the session, with a space between; where a policy demanded TLS, and got it, its name follows in brackets (`mta-sts`, `dane`, `verify`, `encrypt`): `TLSv1.3 TLS_AES_256_GCM_SHA384 (mta-sts)`. Null in plain text. */
    tls: string | null;
};
export type ReportedDispositions = {
    /** Messages with which the receiver did this. */
    none: number;
    /** Messages with which the receiver did this. */
    quarantine: number;
    /** Messages with which the receiver did this. */
    reject: number;
};
export type ReportedFailure = {
    /** The failure, such as `certificate-expired`. */
    type: string;
    /** How many sessions failed so. */
    sessions: number;
};
export type ReportedSource = {
    /** The IP address of the host. */
    address: string;
    /** How many messages came from it. */
    total: number;
    /** Those of them that passed. */
    passed: number;
    /** Those of them that did not. */
    failed: number;
};
export type Reputation = {
    /** How many days it is of: today (UTC) and the 29 before. */
    windowDays: number;
    /** How many messages were sent. */
    sent: number;
    /** The share of recipients (of messages, where those are more) that were refused for good; never above 1. */
    hardBounceRate: number;
    /** The share of recipients (of messages, where those are more) that called it spam; never above 1. */
    complaintRate: number;
};
/** Ids and reasons, never words. */
export type RequestedReviewData = {
    /** The review. */
    reviewId: string;
    /** The message that is held. */
    messageId: string;
    /** The inbox that it belongs to, or is about. */
    inboxId: string;
    /**
     * `outbound`, or `inbound`: of mail that came in.
     * @enum {string}
     */
    direction: "inbound" | "outbound";
    /**
     * `pending`, `approved`, `rejected`, `expired` or `withdrawn`.
     * @enum {string}
     */
    status: "pending" | "approved" | "rejected" | "expired" | "withdrawn";
    /** Why it is held: `all`, `external`, `first_time`, codes of warnings, `unverified`, `high_risk`, `unlisted`, ids of rules. */
    reasons: string[];
    /** Until when it waits; then it is rejected. */
    expiresAt: string;
};
export type Resets = {
    /** When the figures of today begin again. */
    daily: string;
    /** When the figures of this month begin again. */
    monthly: string;
};
/** How the recipients of an answer were found. */
export type ResolvedRecipients = {
    /**
     * Where its recipients are from: `reply_to`, `from`, `recipients` (of a message that was sent) or `given`.
     * @enum {string}
     */
    source: "reply_to" | "from" | "recipients" | "given";
    /** Who stands in the message and is not written to. */
    dropped: DroppedRecipient[];
};
/** `resolvedBy`: a key, a member or `operator`; null: its time was over. */
export type ResolvedReviewData = {
    /** The review. */
    reviewId: string;
    /** The message that is held. */
    messageId: string;
    /** The inbox that it belongs to, or is about. */
    inboxId: string;
    /**
     * `outbound`, or `inbound`: of mail that came in.
     * @enum {string}
     */
    direction: "inbound" | "outbound";
    /**
     * `pending`, `approved`, `rejected`, `expired` or `withdrawn`.
     * @enum {string}
     */
    status: "pending" | "approved" | "rejected" | "expired" | "withdrawn";
    /** Why it is held: `all`, `external`, `first_time`, codes of warnings, `unverified`, `high_risk`, `unlisted`, ids of rules. */
    reasons: string[];
    /** Until when it waits; then it is rejected. */
    expiresAt: string;
    /** The key or member that decided, or `operator`; null while it is pending, where its time was over, and where it went with its inbox or its key. */
    resolvedBy: string | null;
};
/** `resolvedBy`: a key, a member or `operator`; null while it is pending, and where its time was over. */
export type Review = {
    /** Its id. */
    id: string;
    /** The inbox that it belongs to, or is about. */
    inboxId: string;
    /** The message that is held. */
    messageId: string;
    /**
     * `outbound`, or `inbound`: of mail that came in.
     * @enum {string}
     */
    direction: "inbound" | "outbound";
    /**
     * `test` for what comes of a test key, else `live`.
     * @enum {string}
     */
    mode: "live" | "test";
    /**
     * `pending`, `approved`, `rejected`, `expired` or `withdrawn`.
     * @enum {string}
     */
    status: "pending" | "approved" | "rejected" | "expired" | "withdrawn";
    /** Why it is held: `all`, `external`, `first_time`, codes of warnings, `unverified`, `high_risk`, `unlisted`, ids of rules. */
    reasons: string[];
    /** What looks wrong in the message, as a check tells it. */
    warnings: CheckWarning[];
    /** The key that sent it; null of mail that came in. */
    submittedBy: string | null;
    /** Until when it waits; then it is rejected. */
    expiresAt: string;
    /** The key or member that decided, or `operator`; null while it is pending, where its time was over, and where it went with its inbox or its key. */
    resolvedBy: string | null;
    /** When it was decided; null before. */
    resolvedAt: string | null;
    /** What was said with the decision; else null. */
    note: string | null;
    /** When it was made. */
    createdAt: string;
};
export type ReviewRequestedEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "review.requested";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: RequestedReviewData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
export type ReviewResolvedEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "review.resolved";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: ResolvedReviewData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
export type Revoked = {
    /** Its id. */
    id: string;
    /** @constant */
    status: "revoked";
};
export type RevokedWithMail = {
    /** Its id. */
    id: string;
    /**
     * `revoked`.
     * @constant
     */
    status: "revoked";
    /** How many keys were revoked. */
    revokedKeys: number;
    /** How much mail was withdrawn, what fails within minutes included. */
    withdrawnMessages: number;
};
export type SendingApproval = {
    /**
     * `approved`, `pending` or `paused`: it sends only while it is approved.
     * @enum {string}
     */
    status: "approved" | "pending" | "paused";
    /** `hard_bounce_rate`, `complaint_rate`, `manual_review`, `bulk_pattern` (in events alone) or a word of the operator's; null where there is none. */
    reason: string | null;
    /** What to do: `contact_operator`, `ask_operator_to_reset_tripwire` (in events alone); null where there is nothing to be done. */
    action: string | null;
    /** Since when sending is paused; null where it is not. */
    trippedAt: string | null;
};
export type SendingPausedEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "sending.paused";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: PausedData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
export type SentData = {
    /** The message that it is about. */
    messageId: string;
    /** The inbox that it is in. */
    inboxId: string;
    /** The conversation that it is in. */
    threadId: string;
    /** The address of the one author; of the envelope sender where a mail names none. */
    fromAddress: string;
    /** As in the header of the mail; the first 1,000. */
    toAddresses: string[];
    /** As in the header of the mail. */
    subject: string;
    /** When a host first took it. */
    sentAt: string | null;
    /** Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
    recipients: Recipient[];
};
export type SentReply = {
    /** Its id: `msg_…`. */
    id: string;
    /** The inbox that it is in. */
    inboxId: string;
    /** The conversation that it is in. */
    threadId: string;
    /**
     * `inbound`: it came in; `outbound`: it was sent, or is to be.
     * @enum {string}
     */
    direction: "inbound" | "outbound";
    /**
     * `live`, or `test` for what a test key sent and the simulator answered.
     * @enum {string}
     */
    mode: "live" | "test";
    /**
     * What became of it.
     * @enum {string}
     */
    status: "received" | "held" | "scheduled" | "queued" | "sent" | "delivered" | "failed" | "cancelled";
    /** Of mail that waits for a decision: the review; else null. */
    review: HeldFor | null;
    /** The address of the one author; of the envelope sender where a mail names none. */
    fromAddress: string;
    /** The domain of `fromAddress` as a lower-case A-label (`xn--…`), or its address literal; null where there is none. */
    fromDomain: string | null;
    /** The same domain as people write it, of inbound mail from an internationalized one; else null. Show both: letters of other scripts look alike. */
    fromDomainUnicode: string | null;
    /** The author's name as shown in the mail. */
    fromName: string | null;
    /** As in the header of the mail; the first 1,000. */
    toAddresses: string[];
    /** As in the header of the mail; the first 1,000. */
    ccAddresses: string[];
    /** Of mail that was sent; empty for inbound mail. */
    bccAddresses: string[];
    /** The first mailbox of Reply-To. */
    replyTo: string | null;
    /** All mailboxes of Reply-To, the first 1,000. */
    replyToAddresses: string[];
    /** As in the header of the mail. */
    subject: string;
    /** The beginning of the text. */
    snippet: string;
    /** The new words alone, without quotes, signatures and footers. */
    extractedText: string | null;
    /** The Message-ID in the header of the mail. */
    messageIdHeader: string | null;
    /** The Message-ID that In-Reply-To in the header of the mail names; of several the first. */
    inReplyTo: string | null;
    /** The Message-IDs of References, 100 at most: the first, and the newest. */
    references: string[];
    /** `unread` on arrival; what keys gave it, in its order. */
    labels: string[];
    /** Vacation notices and their kind, receipts, every bounce report, whatever else came to the envelope sender of a message, and what the inbox itself sent and a list or an alias sends back; not `auto-generated` mail. */
    isAutoReply: boolean;
    /** Its author's domain disowns it (DMARC), or it names no one author (but for a report about mail of ours that counts and names none). */
    isSpam: boolean;
    /** What its evidence comes to: `none`, `low`, `medium`, `high`; null: not looked at yet. */
    risk: ("none" | "low" | "medium" | "high") | null;
    /** What is proven of the sender of inbound mail; null for outbound mail. */
    auth: Auth | null;
    /** The message that this one passes on; it may be gone since. */
    forwardOf: string | null;
    /** Of inbound mail: the address of the inbox that it came to, with its tag, also where To and Cc do not have it (Bcc, lists, aliases); null of what came before this was kept. */
    deliveredTo: string | null;
    /** Of inbound mail that says that a mailing list sends it; else null. Whoever writes may say so. */
    mailingList: MailingListShown | null;
    /** Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
    recipients: Recipient[];
    /** What is not its words: files, invitations, pictures. */
    attachments: Attachment[];
    /** Why it is `failed`: `bounced`, `expired`, `dropped` (by the operator), `review_rejected`, `review_expired`, or the error code that refused it; `invalid_api_key` of what was withdrawn with its key. */
    failureReason: string | null;
    /** When it is to be sent, as it was asked for. */
    scheduledAt: string | null;
    /** When a host first took it. */
    sentAt: string | null;
    /** Since when mail that came in is held; null of all that others see. */
    heldAt: string | null;
    /** When it came in, or was accepted. */
    createdAt: string;
    resolved: ResolvedRecipients;
};
export type ShownInboundPolicy = {
    /** Mail that comes in and is shown to nobody until it is approved: `unverified`: without `auth.verifiedDomain`; `high_risk`: with `risk` `high`; both levels' lists count. */
    hold: ("unverified" | "high_risk")[];
    /**
     * What becomes of mail whose sender no rule names: `accept`, `hold`, `refuse`.
     * @enum {string}
     */
    unlisted: "accept" | "hold" | "refuse";
};
export type ShownOutboundPolicy = {
    /**
     * Who may be written to: `any`: anybody; `allowlist`: whom a rule allows; `participants`: who takes part in the conversation.
     * @enum {string}
     */
    recipients: "any" | "allowlist" | "participants";
    /**
     * What waits for somebody's approval: `off`: nothing; `first_time`: mail to recipients outside the organization never written to from the inbox; `external`: to any outside the organization; `all`: all.
     * @enum {string}
     */
    review: "off" | "first_time" | "external" | "all";
    /** Warnings of a check: a message that looks like this waits, too; both levels' lists count. */
    holdOn: ("empty_body" | "placeholder" | "model_artifact" | "secret" | "attachment_missing" | "duplicate" | "recipient_from_content" | "reply_to_mismatch" | "no_reply_address" | "auto_reply_target")[];
    /** How many recipients never written to from the inbox a UTC day may have, 0-1,000,000; null: no limit. Beyond it live sends are 402 `limit_reached`, `resource: "firstTimeRecipientsDaily"`; the smaller counts. */
    firstTimeDaily: number | null;
    /**
     * `honor`: a Reply-To is answered; `verified`: one of a foreign organization is not, From is.
     * @enum {string}
     */
    replyTo: "honor" | "verified";
};
export type ShownReviewPolicy = {
    /** How long a review waits before it is rejected (60-2,592,000, default 172,800); the smaller counts. */
    expiresAfterSeconds: number;
    /** Up to 10 addresses that a digest tells, once an hour, of reviews that wait; both levels' lists count. */
    notify: string[];
};
export type ShownWorkPolicy = {
    /** Of inboxes alone: their mail is work. */
    enabled: boolean;
    /** After how many claims that ended undone a message is dead (1-100, default 5). */
    maxAttempts: number;
    /** Whether an answer needs a `claimId`. */
    requireClaim: boolean;
};
/**
 * Milliseconds; null: it did not come to that. `wait`: for a place among the sessions; `greeting`: the host's;
 *     `hello`: EHLO; `envelope`: MAIL, RCPT; `data`: the message; `answer`: the reply to it.
 */
export type StageDurations = {
    wait: number | null;
    connect: number | null;
    greeting: number | null;
    hello: number | null;
    tls: number | null;
    auth: number | null;
    envelope: number | null;
    data: number | null;
    answer: number | null;
};
export type Suppression = {
    /** Its id. */
    id: string;
    /** The address; shown in lower case, its domain as `xn--`. */
    email: string;
    /**
     * `hard_bounce`, `complaint`, `unsubscribe` or `manual`.
     * @enum {string}
     */
    reason: "hard_bounce" | "complaint" | "unsubscribe" | "manual";
    /**
     * What put it there: `api`, `bounce`, `feedback_loop` or `list_unsubscribe`.
     * @enum {string}
     */
    source: "api" | "bounce" | "feedback_loop" | "list_unsubscribe";
    /** When it was made. */
    createdAt: string;
};
export type Thread = {
    /** Its id. */
    id: string;
    /** The organization that it belongs to. */
    organizationId: string;
    /** The inbox that it belongs to, or is about. */
    inboxId: string;
    /** Of the message that began it. */
    subject: string;
    /** The beginning of the latest message's text. */
    snippet: string;
    /** The latest 50 addresses in it. */
    participants: string[];
    /** Those of the newest 200 messages, at most 100, and `unread` while anything in the thread is. */
    labels: string[];
    /** Messages in it. */
    messageCount: number;
    /** Those with the label `unread`. */
    unreadCount: number;
    /** When the latest came in, or was accepted for sending. */
    lastMessageAt: string;
    /** Whether it is put away; mail that comes in takes it out. */
    isArchived: boolean;
    /** When it was made. */
    createdAt: string;
};
export type ThreadContext = {
    /** The conversation that it belongs to. */
    threadId: string;
    /** The newest message that counts for `ifLastMessageId`: hand it back with the answer; null where none does. */
    lastMessageId: string | null;
    /** That of `text`. */
    contextHash: string;
    /** How many tokens `text` is, by estimate; never above `maxTokens`. */
    estimatedTokens: number;
    /** The budget that was asked for. */
    maxTokens: number;
    /** Whether a message is missing, or words of one, for want of room. */
    truncated: boolean;
    /** How many messages of the thread are not in `text`. */
    omittedMessages: number;
    /** The conversation, for a model. */
    text: string;
    /** The messages in `text`, oldest first. */
    messages: MessageInContext[];
};
/** The whole message, and the short names beside the long ones. */
export type ThreadMessage = {
    /** Its id: `msg_…`. */
    id: string;
    /** The inbox that it is in. */
    inboxId: string;
    /** The conversation that it is in. */
    threadId: string;
    /**
     * `inbound`: it came in; `outbound`: it was sent, or is to be.
     * @enum {string}
     */
    direction: "inbound" | "outbound";
    /**
     * `live`, or `test` for what a test key sent and the simulator answered.
     * @enum {string}
     */
    mode: "live" | "test";
    /**
     * What became of it.
     * @enum {string}
     */
    status: "received" | "held" | "scheduled" | "queued" | "sent" | "delivered" | "failed" | "cancelled";
    /** Of mail that waits for a decision: the review; else null. */
    review: HeldFor | null;
    /** The address of the one author; of the envelope sender where a mail names none. */
    fromAddress: string;
    /** The domain of `fromAddress` as a lower-case A-label (`xn--…`), or its address literal; null where there is none. */
    fromDomain: string | null;
    /** The same domain as people write it, of inbound mail from an internationalized one; else null. Show both: letters of other scripts look alike. */
    fromDomainUnicode: string | null;
    /** The author's name as shown in the mail. */
    fromName: string | null;
    /** As in the header of the mail; the first 1,000. */
    toAddresses: string[];
    /** As in the header of the mail; the first 1,000. */
    ccAddresses: string[];
    /** Of mail that was sent; empty for inbound mail. */
    bccAddresses: string[];
    /** The first mailbox of Reply-To. */
    replyTo: string | null;
    /** All mailboxes of Reply-To, the first 1,000. */
    replyToAddresses: string[];
    /** As in the header of the mail. */
    subject: string;
    /** The beginning of the text. */
    snippet: string;
    /** The new words alone, without quotes, signatures and footers. */
    extractedText: string | null;
    /** The Message-ID in the header of the mail. */
    messageIdHeader: string | null;
    /** The Message-ID that In-Reply-To in the header of the mail names; of several the first. */
    inReplyTo: string | null;
    /** The Message-IDs of References, 100 at most: the first, and the newest. */
    references: string[];
    /** `unread` on arrival; what keys gave it, in its order. */
    labels: string[];
    /** Vacation notices and their kind, receipts, every bounce report, whatever else came to the envelope sender of a message, and what the inbox itself sent and a list or an alias sends back; not `auto-generated` mail. */
    isAutoReply: boolean;
    /** Its author's domain disowns it (DMARC), or it names no one author (but for a report about mail of ours that counts and names none). */
    isSpam: boolean;
    /** What its evidence comes to: `none`, `low`, `medium`, `high`; null: not looked at yet. */
    risk: ("none" | "low" | "medium" | "high") | null;
    /** What is proven of the sender of inbound mail; null for outbound mail. */
    auth: Auth | null;
    /** The message that this one passes on; it may be gone since. */
    forwardOf: string | null;
    /** Of inbound mail: the address of the inbox that it came to, with its tag, also where To and Cc do not have it (Bcc, lists, aliases); null of what came before this was kept. */
    deliveredTo: string | null;
    /** Of inbound mail that says that a mailing list sends it; else null. Whoever writes may say so. */
    mailingList: MailingListShown | null;
    /** Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
    recipients: Recipient[];
    /** What is not its words: files, invitations, pictures. */
    attachments: Attachment[];
    /** Why it is `failed`: `bounced`, `expired`, `dropped` (by the operator), `review_rejected`, `review_expired`, or the error code that refused it; `invalid_api_key` of what was withdrawn with its key. */
    failureReason: string | null;
    /** When it is to be sent, as it was asked for. */
    scheduledAt: string | null;
    /** When a host first took it. */
    sentAt: string | null;
    /** Since when mail that came in is held; null of all that others see. */
    heldAt: string | null;
    /** When it came in, or was accepted. */
    createdAt: string;
    /** The words as text; not in lists. */
    textBody: string | null;
    /** The words as its author's HTML, scripts and all; not in lists. */
    htmlBody: string | null;
    /** The same as `fromAddress`. */
    from: string;
    /** The same as `toAddresses`. */
    to: string[];
    /** The same as `textBody`. */
    text: string | null;
    /** The same as `htmlBody`. */
    html: string | null;
};
export type ThreadUpdatedEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "thread.updated";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: ChangedThreadData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
/** Sessions of the reporter with the domain's mail hosts. */
export type TlsSummary = {
    /** `sts`, `tlsa`, `no-policy-found`. */
    policyTypes: string[];
    /** Why sessions failed, the 20 with most. */
    failures: ReportedFailure[];
};
export type Unsubscribed = {
    email: string;
    /** @constant */
    status: "unsubscribed";
};
export type UnsubscribedData = {
    /** The address that wants no more mail. */
    email: string;
    /** The message that it is about. */
    messageId: string | null;
    /** The inbox that it belongs to, or is about. */
    inboxId: string;
    /**
     * `one_click` or `link`: how it said so.
     * @enum {string}
     */
    source: "one_click" | "link";
    /** The suppression that was made of it. */
    suppressionId: string;
};
export type UnverifiedData = {
    /** The domain. */
    domainId: string;
    /** A lower-case A-label without a last dot: two labels or more, at most 238 characters. */
    domainName: string;
    /**
     * `pending`, `verified` or `failed`, see its states.
     * @constant
     */
    status: "failed";
    checks: DomainChecks;
    /** When it was verified; null before, and once it failed. */
    verifiedAt: string | null;
};
export type Usage = {
    /** Messages of this month (UTC). */
    messagesMonthly: number;
    /** Messages of today (UTC). */
    messagesDaily: number;
    /** Active inboxes. */
    inboxes: number;
    /** Drafts that are neither sent nor discarded. */
    openDrafts: number;
    /** Webhooks. */
    webhooks: number;
    /** The size of the stored messages; as `usage` of those that the key can read. What is held counts against the limit, and is shown to those who decide about it. */
    storageBytes: number;
};
export type VerifiedData = {
    /** The domain. */
    domainId: string;
    /** A lower-case A-label without a last dot: two labels or more, at most 238 characters. */
    domainName: string;
    /**
     * `pending`, `verified` or `failed`, see its states.
     * @constant
     */
    status: "verified";
    checks: DomainChecks;
    /** When it was verified; null before, and once it failed. */
    verifiedAt: string | null;
};
export type Webhook = {
    /** Its id. */
    id: string;
    /** Where events are sent: https, public. */
    url: string;
    /** The types that are sent. */
    subscribedEvents: string[];
    /** Whether anything is sent. */
    isActive: boolean;
    /** When it was made. */
    createdAt: string;
    /** When it last changed. */
    updatedAt: string;
};
export type WebhookDelivery = {
    /** Its id. */
    id: string;
    /** The webhook. */
    webhookId: string;
    /** The event. */
    eventId: string | null;
    /** The event's type. */
    eventType: string;
    /** Its number, from 1. */
    attempt: number;
    /** What was sent beside the body. */
    requestHeaders: {
        [key: string]: string;
    };
    /** The status of the answer; null where there was none. */
    responseStatus: number | null;
    /** The first 1,000 characters of the answer; null where there was none. */
    responseBody: string | null;
    /** Whether the answer took the event (2xx). */
    isSuccessful: boolean;
    /** Why it failed; null where it did not. */
    error: string | null;
    /** How long it took, in milliseconds. */
    durationMs: number;
    /** When it is tried again; null: not. */
    nextAttemptAt: string | null;
    /** When it was made. */
    createdAt: string;
};
/** The test ping, which stands in no log. */
export type WebhookTestEvent = {
    /** What to dedupe it on. */
    id: string;
    /**
     * What happened.
     * @constant
     */
    type: "webhook.test";
    /**
     * `v1`.
     * @constant
     */
    apiVersion: "v1";
    /** When it happened. */
    createdAt: string;
    /** The organization that it happened in. */
    organizationId: string;
    data: PingedData;
    /**
     * `test`, of what a test key did; else it is left out.
     * @constant
     */
    mode?: "test";
};
export type WebhookWithSecret = {
    /** Its id. */
    id: string;
    /** Where events are sent: https, public. */
    url: string;
    /** The types that are sent. */
    subscribedEvents: string[];
    /** Whether anything is sent. */
    isActive: boolean;
    /** When it was made. */
    createdAt: string;
    /** When it last changed. */
    updatedAt: string;
    /** What signs deliveries; in the responses of creation and rotate-secret alone. */
    secret: string;
};
/**
 * With what is decided about. `contentHash`: for the approval; it and the message are null once that was deleted.
 *     `context`: the conversation, as `GET /v1/threads/{id}/context` gives it; null where there is none.
 */
export type WholeReview = {
    /** Its id. */
    id: string;
    /** The inbox that it belongs to, or is about. */
    inboxId: string;
    /** The message that is held. */
    messageId: string;
    /**
     * `outbound`, or `inbound`: of mail that came in.
     * @enum {string}
     */
    direction: "inbound" | "outbound";
    /**
     * `test` for what comes of a test key, else `live`.
     * @enum {string}
     */
    mode: "live" | "test";
    /**
     * `pending`, `approved`, `rejected`, `expired` or `withdrawn`.
     * @enum {string}
     */
    status: "pending" | "approved" | "rejected" | "expired" | "withdrawn";
    /** Why it is held: `all`, `external`, `first_time`, codes of warnings, `unverified`, `high_risk`, `unlisted`, ids of rules. */
    reasons: string[];
    /** What looks wrong in the message, as a check tells it. */
    warnings: CheckWarning[];
    /** The key that sent it; null of mail that came in. */
    submittedBy: string | null;
    /** Until when it waits; then it is rejected. */
    expiresAt: string;
    /** The key or member that decided, or `operator`; null while it is pending, where its time was over, and where it went with its inbox or its key. */
    resolvedBy: string | null;
    /** When it was decided; null before. */
    resolvedAt: string | null;
    /** What was said with the decision; else null. */
    note: string | null;
    /** When it was made. */
    createdAt: string;
    /** Of one review alone: that of all that is shown and sent, to approve it with; null once the message was deleted. */
    contentHash: string | null;
    /** Of one review alone: the whole message; null once it was deleted. */
    message: Message | null;
    /** Of one review alone: the thread as text for a model; null where there is none. */
    context: string | null;
};
export type WholeThread = {
    /** Its id. */
    id: string;
    /** The organization that it belongs to. */
    organizationId: string;
    /** The inbox that it belongs to, or is about. */
    inboxId: string;
    /** Of the message that began it. */
    subject: string;
    /** The beginning of the latest message's text. */
    snippet: string;
    /** The latest 50 addresses in it. */
    participants: string[];
    /** Those of the newest 200 messages, at most 100, and `unread` while anything in the thread is. */
    labels: string[];
    /** Messages in it. */
    messageCount: number;
    /** Those with the label `unread`. */
    unreadCount: number;
    /** When the latest came in, or was accepted for sending. */
    lastMessageAt: string;
    /** Whether it is put away; mail that comes in takes it out. */
    isArchived: boolean;
    /** When it was made. */
    createdAt: string;
    /** Of one thread alone: whether there are older messages. */
    hasMore: boolean;
    /** Of one thread alone: its messages, oldest first. An element is the whole message, and beside the long names the short ones `from`, `to`, `text`, `html`. */
    messages: ThreadMessage[];
};
export type WorkClaim = {
    /** Its id. */
    id: string;
    /** The inbox that it belongs to, or is about. */
    inboxId: string;
    /** The conversation that it belongs to. */
    threadId: string;
    /** The message that it is about. */
    messageId: string;
    /** The key that claimed. */
    keyId: string;
    /**
     * `test` for what comes of a test key, else `live`.
     * @enum {string}
     */
    mode: "live" | "test";
    /**
     * `live`, or how it ended: `done`, `released`, `expired`, `dead`.
     * @enum {string}
     */
    status: "live" | "released" | "expired" | "done" | "dead";
    /** Which claim of the message this is, from 1; a requeue begins anew. */
    attempt: number;
    /** What the claimer called itself. */
    holder: string | null;
    /** Until when it lives, unless it is extended. */
    leaseExpiresAt: string;
    /** When it was made. */
    createdAt: string;
};
/** What `organization.members` is asked with. */
export type ListMembersParams = {
    /** How many at most. */
    limit?: number;
    /** The `id` of the last item of a page, to get the next one. */
    cursor?: string;
};
/** What `audit.list` is asked with. */
export type ListAuditParams = {
    /** A `seq`: the rows behind it are told. */
    after?: number;
    /** Separated by commas; all by default. */
    types?: ("key.minted" | "key.revoked" | "agent.created" | "agent.deleted" | "inbox.created" | "inbox.updated" | "inbox.deactivated" | "domain.registered" | "domain.updated" | "domain.key_rotated" | "domain.verified" | "domain.failed" | "domain.deleted" | "webhook.created" | "webhook.updated" | "webhook.secret_rotated" | "webhook.deleted" | "suppression.added" | "suppression.removed" | "policy.replaced" | "rule.created" | "rule.deleted" | "review.approved" | "review.rejected" | "review.withdrawn" | "review.expired" | "organization.reviewers_changed" | "message.held" | "message.queued" | "message.scheduled" | "message.dispatched" | "message.refused" | "message.cancelled" | "message.deleted" | "member.added" | "member.changed" | "member.removed" | "login.link_made" | "login.accepted" | "login.refused" | "session.ended" | "organization.created" | "organization.plan_changed" | "organization.approved" | "organization.paused" | "organization.closed" | "organization.deleted" | "organization.tripwire_tripped" | "organization.tripwire_reset" | "queue.paused" | "queue.resumed" | "queue.changed" | "queue.dropped" | "master_key.rotated" | "audit.key_shown" | "audit.key_lost" | "audit.sealed")[];
    /** The id of a key or member: what it did. */
    actor?: string;
    /** How many at most. */
    limit?: number;
};
/** What `keys.list` is asked with. */
export type ListKeysParams = {
    /** How many at most. */
    limit?: number;
    /** The `id` of the last item of a page, to get the next one. */
    cursor?: string;
};
/** What `agents.list` is asked with. */
export type ListAgentsParams = {
    /** How many at most. */
    limit?: number;
    /** The `id` of the last item of a page, to get the next one. */
    cursor?: string;
};
/** What `inboxes.list` is asked with. */
export type ListInboxesParams = {
    /** How many at most. */
    limit?: number;
    /** The `id` of the last item of a page, to get the next one. */
    cursor?: string;
    /** Only those that have this. */
    isActive?: boolean;
    /** Only those that have this. */
    address?: string;
};
/** What `claims.list` is asked with. */
export type ListClaimsParams = {
    /** Of this inbox alone; lists and figures of one that does not exist are empty. */
    inboxId?: string;
    /**
     * Only those that have this.
     * @enum {string}
     */
    status?: "live" | "released" | "expired" | "done" | "dead";
    /** How many at most. */
    limit?: number;
    /** The `id` of the last item of a page, to get the next one. */
    cursor?: string;
};
/** What `messages.list` is asked with. */
export type ListMessagesParams = {
    /** Of this inbox alone; lists and figures of one that does not exist are empty. */
    inboxId?: string;
    /** Of this conversation alone; of one that does not exist there is nothing. */
    threadId?: string;
    /** How many at most. */
    limit?: number;
    /** A part of the subject, the body, the sender or a recipient, up to 200 characters. */
    q?: string;
    /**
     * `inbound` or `outbound`.
     * @enum {string}
     */
    direction?: "inbound" | "outbound";
    /** A part of the sender's address; behind an @ U-labels are as good as A-labels. */
    from?: string;
    /** The whole domain of the sender's address, as A-label or U-label. */
    fromDomain?: string;
    /** Whether `auth.verifiedDomain` is not null. */
    verified?: boolean;
    /** Separated by commas: has all of them. */
    labels?: string[];
    /** Whether it has the label `unread`. */
    unread?: boolean;
    /**
     * Only those in this state.
     * @enum {string}
     */
    status?: "received" | "held" | "scheduled" | "queued" | "sent" | "delivered" | "failed" | "cancelled";
    /** Whether a program wrote it by itself. */
    isAutoReply?: boolean;
    /** Whether it counts as spam. */
    isSpam?: boolean;
    /** Whether it has any. */
    hasAttachments?: boolean;
    /** `true`: mail that is held and nothing else, for keys with reviews:read. */
    held?: boolean;
    /** From this time on: a date (midnight UTC) or a timestamp. */
    since?: Date | string;
    /** Before this time. */
    until?: Date | string;
    /** The same as `cursor`. */
    before?: string;
    /** The `id` of the last item of a page, to get the next one. */
    cursor?: string;
};
/** What `messages.wait` is asked with. */
export type WaitForMessageParams = {
    /** In this inbox alone. */
    inboxId?: string;
    /** In this conversation alone. */
    threadId?: string;
    /** A part of the sender's address, as on lists. */
    from?: string;
    /** The domain of the sender or one above it: of `auth.verifiedDomain`, or, with `verified=false`, of whatever `fromAddress` claims. */
    fromDomain?: string;
    /** Whether `auth.verifiedDomain` must not be null; `true` by default where `fromDomain` is given, else `false`. */
    verified?: boolean;
    /** A part of the subject, in any case. */
    subject?: string;
    /** A part of the subject, the body, the sender or a recipient, as on lists. */
    q?: string;
    /** It has, or has not, a code. */
    hasCode?: boolean;
    /** The position: a message, an event or a time (one that is still to come is now); left out, two minutes ago. */
    after?: string;
    /** How long to wait (25; 0-55). */
    timeoutSeconds?: number;
};
/** What `messages.get` is asked with. */
export type GetMessageParams = {
    /**
     * Of one message: `sanitized`, to get `htmlBody` as sends are sanitized.
     * @enum {string}
     */
    html?: "original" | "sanitized";
};
/** What `messages.raw` is asked with. */
export type GetRawMessageParams = {
    /** RFC 9110 §14.2, one range of bytes: `bytes=0-1023`; anything else is ignored */
    range?: string;
    /** The `ETag` that the range is of; the whole is sent when it is another */
    ifRange?: string;
    /** The `ETag` of an answer that the client has; 304 where it would come again */
    ifNoneMatch?: string;
};
/** What `reviews.list` is asked with. */
export type ListReviewsParams = {
    /**
     * Only those that have this.
     * @enum {string}
     */
    status?: "pending" | "approved" | "rejected" | "expired" | "withdrawn";
    /**
     * Only those that have this.
     * @enum {string}
     */
    direction?: "inbound" | "outbound";
    /** Of this inbox alone; lists and figures of one that does not exist are empty. */
    inboxId?: string;
    /** How many at most. */
    limit?: number;
    /** The `id` of the last item of a page, to get the next one. */
    cursor?: string;
};
/** What `threads.list` is asked with. */
export type ListThreadsParams = {
    /** Of this inbox alone; lists and figures of one that does not exist are empty. */
    inboxId?: string;
    /** How many at most. */
    limit?: number;
    /** The `id` of the last thread of a page, or `<id>@<lastMessageAt>`, to get the next one. */
    cursor?: string;
    /** Whether they are put away; both kinds without it. */
    isArchived?: boolean;
    /** Separated by commas: has all of them, as the thread shows them. */
    labels?: string[];
    /** Whether `unreadCount` is above 0. */
    unread?: boolean;
};
/** What `threads.get` is asked with. */
export type GetThreadParams = {
    /** How many at most. */
    limit?: number;
    /** The `id` of the first message that was shown, to get older ones. */
    before?: string;
};
/** What `threads.context` is asked with. */
export type GetThreadContextParams = {
    /** How many tokens the text may have (4000; 200-100,000). */
    maxTokens?: number;
    /** The message that gets most room; by default the newest inbound one that no program wrote by itself. */
    focus?: string;
    /** The `ETag` of an answer that the client has; 304 where it would come again */
    ifNoneMatch?: string;
};
/** What `attachments.download` is asked with. */
export type GetAttachmentParams = {
    /** `1` or `true`: let a browser show it, where that is safe. */
    inline?: boolean;
    /** RFC 9110 §14.2, one range of bytes: `bytes=0-1023`; anything else is ignored */
    range?: string;
    /** The `ETag` that the range is of; the whole is sent when it is another */
    ifRange?: string;
    /** The `ETag` of an answer that the client has; 304 where it would come again */
    ifNoneMatch?: string;
};
/** What `drafts.list` is asked with. */
export type ListDraftsParams = {
    /**
     * Only those that have this.
     * @enum {string}
     */
    status?: "draft" | "sent" | "discarded";
    /** Of this inbox alone; lists and figures of one that does not exist are empty. */
    inboxId?: string;
    /** How many at most. */
    limit?: number;
    /** The `id` of the last item of a page, to get the next one. */
    cursor?: string;
};
/** What `domains.reports` is asked with. */
export type ListDomainReportsParams = {
    /**
     * Only those that have this.
     * @enum {string}
     */
    type?: "dmarc" | "tls";
    /** How many at most. */
    limit?: number;
    /** The `id` of the last item of a page, to get the next one. */
    cursor?: string;
};
/** What `suppressions.list` is asked with. */
export type ListSuppressionsParams = {
    /**
     * Only those that have this.
     * @enum {string}
     */
    reason?: "hard_bounce" | "complaint" | "unsubscribe" | "manual";
    /** Only those that have this. */
    email?: string;
    /** How many at most. */
    limit?: number;
    /** The `id` of the last item of a page, to get the next one. */
    cursor?: string;
};
/** What `rules.list` is asked with. */
export type ListRulesParams = {
    /**
     * Only those that have this.
     * @enum {string}
     */
    direction?: "inbound" | "outbound";
    /**
     * Only those that have this.
     * @enum {string}
     */
    action?: "allow" | "block" | "hold";
    /** Only those that have this. */
    value?: string;
    /** Of this inbox alone; lists and figures of one that does not exist are empty. */
    inboxId?: string;
    /** How many at most. */
    limit?: number;
    /** The `id` of the last item of a page, to get the next one. */
    cursor?: string;
};
/** What `unsubscribe.page` is asked with. */
export type ShowUnsubscribeParams = {
    /** That of the link. */
    token?: string;
};
/** What `unsubscribe.confirm` is asked with. */
export type UnsubscribeParams = {
    /** That of the link. */
    token?: string;
};
/** What `analytics.summary` is asked with. */
export type GetSummaryParams = {
    /** Of this inbox alone; lists and figures of one that does not exist are empty. */
    inboxId?: string;
    /** From this time on: a date (midnight UTC) or a timestamp. */
    since?: Date | string;
    /** Before this time. */
    until?: Date | string;
};
/** What `analytics.events` is asked with. */
export type GetEventSeriesParams = {
    /** Of this inbox alone; lists and figures of one that does not exist are empty. */
    inboxId?: string;
    /** From this time on: a date (midnight UTC) or a timestamp. */
    since?: Date | string;
    /** Before this time. */
    until?: Date | string;
    /** Types of events, separated by commas. */
    types?: ("email.received" | "email.sent" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.delayed" | "email.failed" | "domain.verified" | "domain.failed" | "sending.paused" | "message.updated" | "message.deleted" | "thread.updated" | "draft.created" | "draft.updated" | "draft.discarded" | "claim.expired" | "claim.dead" | "review.requested" | "review.resolved" | "audit.head")[];
    /** How long each is, in seconds: 60 to 31 days (3,600). */
    period?: number;
};
/** What `analytics.destinations` is asked with. */
export type ListDestinationsParams = {
    /** Of this inbox alone; lists and figures of one that does not exist are empty. */
    inboxId?: string;
    /** From this time on: a date (midnight UTC) or a timestamp. */
    since?: Date | string;
    /** Before this time. */
    until?: Date | string;
    /** How many at most. */
    limit?: number;
};
/** What `events.list` is asked with. */
export type ListEventsParams = {
    /** The id of the last event that is known: those behind it are told. */
    after?: string;
    /** Types of events, separated by commas; `*`: all; by default `email.…`, `domain.…` and `sending.…`. */
    types?: ("email.received" | "email.sent" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.delayed" | "email.failed" | "domain.verified" | "domain.failed" | "sending.paused" | "message.updated" | "message.deleted" | "thread.updated" | "draft.created" | "draft.updated" | "draft.discarded" | "claim.expired" | "claim.dead" | "review.requested" | "review.resolved" | "audit.head" | "*")[];
    /** Of this inbox alone; lists and figures of one that does not exist are empty. */
    inboxId?: string;
    /** How many at most. */
    limit?: number;
};
/** What `events.stream` is asked with. */
export type StreamEventsParams = {
    /** The id of the last event that is known: those behind it are told. */
    after?: string;
    /** Types of events, separated by commas; `*`: all; by default `email.…`, `domain.…` and `sending.…`. */
    types?: ("email.received" | "email.sent" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.delayed" | "email.failed" | "domain.verified" | "domain.failed" | "sending.paused" | "message.updated" | "message.deleted" | "thread.updated" | "draft.created" | "draft.updated" | "draft.discarded" | "claim.expired" | "claim.dead" | "review.requested" | "review.resolved" | "audit.head" | "*")[];
    /** Of this inbox alone; lists and figures of one that does not exist are empty. */
    inboxId?: string;
};
/** What `webhooks.deliveries` is asked with. */
export type ListDeliveriesParams = {
    /** How many at most. */
    limit?: number;
    /** The `id` of the last item of a page, to get the next one. */
    cursor?: string;
};
/** What `queue.list` is asked with. */
export type ListQueueParams = {
    /** Whose recipients. */
    messageId?: string;
    /** Whose recipients. */
    organizationId?: string;
    /** Whom it goes to: a domain, or a group of mail hosts. */
    destination?: string;
    /** Whether an operator holds it. */
    isHeld?: boolean;
    /** How many at most. */
    limit?: number;
};
export type WebhookEvent = EmailReceivedEvent | EmailSentEvent | EmailBouncedEvent | EmailComplainedEvent | EmailUnsubscribedEvent | EmailDelayedEvent | EmailFailedEvent | DomainVerifiedEvent | DomainFailedEvent | SendingPausedEvent | MessageUpdatedEvent | MessageDeletedEvent | ThreadUpdatedEvent | DraftCreatedEvent | DraftUpdatedEvent | DraftDiscardedEvent | ClaimExpiredEvent | ClaimDeadEvent | ReviewRequestedEvent | ReviewResolvedEvent | AuditHeadEvent | WebhookTestEvent;
