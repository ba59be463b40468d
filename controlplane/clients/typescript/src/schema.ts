// What is given to the API and told by it. Generated from /openapi.json by scripts/clients.
export interface components {
    schemas: {
        /** @description `contentHash`: of what was shown to whoever approves. `force`: although the conversation went on. */
        ApproveReview: {
            /** @description That of the review, as it was shown (required to approve). */
            contentHash: string;
            /** @description Why, for people: up to 2,000 characters. */
            note?: string | null;
            /** @description Approve although the conversation went on. */
            force?: boolean;
        };
        AttachmentInput: {
            /** @description Its name: 1-200 characters (required); shortened to 240 octets, as file systems want. */
            filename: string;
            /** @description Its type, with parameters as well: `text/calendar; method=REPLY`; the default is `application/octet-stream`. Of `text/*`, UTF-8 is declared where it is that. */
            contentType?: string;
            /** @description The bytes in base64 (required). */
            content: Uint8Array | string;
        };
        /** @description The same for many messages, or their end. `threadIds`: all messages of these threads. */
        ChangeMessages: {
            /** @description Labels that come behind those that are there. */
            addLabels?: string[];
            /** @description Labels to take away. */
            removeLabels?: string[];
            /** @description Up to 100 messages. */
            ids?: string[];
            /** @description Up to 20 threads: all messages of each. */
            threadIds?: string[];
            /** @description True: delete the messages, for good. */
            delete?: boolean;
        };
        ChangeQueue: {
            /** @description The recipients of this message. */
            messageId?: string | null;
            /** @description The recipients of this organization's messages. */
            organizationId?: string | null;
            /** @description What goes to this domain, or group of mail hosts. */
            destination?: string | null;
            /** @description `true`: all that waits. */
            all?: true | null;
        };
        /** @description The body of a forward, and what it passes on. */
        CheckForward: {
            /** @description Whom it goes to: 1-50 addresses; `cc`, `bcc` are as on sends. */
            to: string[];
            /** @description Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
            cc?: string[];
            /** @description Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
            bcc?: string[];
            /** @description Your words, above those that are passed on. */
            text?: string | null;
            /** @description The same as HTML, sanitized. */
            html?: string | null;
            /** @description Which attachments go along, each once (404 `attachment_not_found`); null: all of them. Not with `eml`. */
            attachmentIds?: string[] | null;
            /**
             * @description `inline` (the default): its words, HTML sanitized, stand below those of `text` and `html`; `eml`: it goes whole, as a file.
             * @enum {string}
             */
            as?: "inline" | "eml";
            /** @description The message that is answered, or passed on (required). */
            messageId: string;
        };
        /** @description A message as for sending, or one of `reply`, `forward` and `draftId`. */
        CheckMessage: {
            /** @description The sending inbox. */
            inboxId?: string;
            /** @description Whom it goes to: 1-50 addresses; display names and comments are 400; quoted local parts are legal. */
            to?: string[];
            /** @description Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
            cc?: string[];
            /** @description Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
            bcc?: string[];
            /** @description Up to 500 characters; the default, also of a blank one, is `(no subject)`. */
            subject?: string | null;
            /** @description The words; where they are left out, those of `html`, else none. */
            text?: string | null;
            /** @description The words as HTML, which is sanitized; a text part is derived from it where `text` is left out. More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`). */
            html?: string | null;
            /** @description What it answers: a message, or a thread (its newest message), of the same inbox, else 404 `message_not_found`; sets In-Reply-To and References. */
            inReplyTo?: string | null;
            /** @description When to send it: a time with an offset, 1 minute to 30 days ahead. */
            sendAt?: Date | string | null;
            /** @description Up to 20 files. */
            attachments?: components["schemas"]["AttachmentInput"][];
            /** @description One-click unsubscribing (RFC 8058): every recipient gets a copy with a link of its own. */
            unsubscribe?: boolean;
            /** @description Up to 50 custom headers, names to values. */
            headers?: {
                [key: string]: string;
            };
            /** @description With `inReplyTo`: send only unless the conversation went on after this message. */
            ifLastMessageId?: string | null;
            /** @description Of an answer: send only while this claim lives. */
            claimId?: string | null;
            /** @description With `claimId`: end the claim as done, if the message is sent. */
            completeClaim?: boolean;
            reply?: components["schemas"]["CheckReply"];
            forward?: components["schemas"]["CheckForward"];
            /** @description This draft; needs messages:send, as reading one does. */
            draftId?: string;
        };
        /** @description The body of a reply, and what it answers. */
        CheckReply: {
            /** @description The words; where they are left out, those of `html`, else none. */
            text?: string | null;
            /** @description The words as HTML, which is sanitized; a text part is derived from it where `text` is left out. More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`). */
            html?: string | null;
            /** @description Answer everybody who stands in the message; the default is its author alone. */
            replyAll?: boolean;
            /**
             * @description `none` (the default), or `text`: the message that is answered stands below, behind an attribution and `> `, in `html` as a blockquote; at most 64 KiB of it.
             * @enum {string}
             */
            quote?: "none" | "text";
            /** @description Up to 20 files. */
            attachments?: components["schemas"]["AttachmentInput"][];
            /** @description When to send it: a time with an offset, 1 minute to 30 days ahead. */
            sendAt?: Date | string | null;
            /** @description Up to 50 custom headers, names to values. */
            headers?: {
                [key: string]: string;
            };
            /** @description Send only unless the conversation went on after this message, the newest that you know of; required in answers to threads. */
            ifLastMessageId?: string | null;
            /** @description Of an answer: send only while this claim lives. */
            claimId?: string | null;
            /** @description With `claimId`: end the claim as done, if the message is sent. */
            completeClaim?: boolean;
            /** @description Write a draft with these recipients, subject and words instead; not with `attachments`, `headers`, `sendAt`. */
            asDraft?: boolean;
            /** @description Whom to write to instead of those who would be answered; not with `replyAll`. */
            to?: string[] | null;
            /** @description Up to 50 more recipients, besides those who are answered. */
            cc?: string[];
            /** @description Up to 50 more recipients, besides those who are answered. */
            bcc?: string[];
            /** @description What to put instead of `Re: …`; up to 500 characters. */
            subject?: string | null;
            /** @description The message that is answered, or passed on (required). */
            messageId: string;
        };
        /** @description `after`: a message, an event or a time; two minutes ago where it is left out. */
        ClaimCode: {
            /** @description Whose mail counts: the domain that `auth.verifiedDomain` must be or lie below; required, unless `allowUnverified`. */
            fromDomain?: string | null;
            /** @description Mail behind this message, event or time counts (one that is still to come is now); left out, two minutes ago. */
            after?: string | null;
            /** @description How long to wait for one (25; 0-55). */
            waitSeconds?: number;
            /** @description What to look for: `code`, `link` (both); a code goes before a link. */
            kinds?: ("code" | "link")[];
            /** @description Whether mail counts whose sender nobody proved, by whatever domain `fromAddress` claims (false). */
            allowUnverified?: boolean;
            /** @description Up to 10 hosts, with what lies below them, that a link may lead to besides the proven sender's own. */
            linkHosts?: string[];
        };
        ClaimMessages: {
            /** @description How many messages to take at most (1; up to 20). */
            max?: number;
            /** @description How long a claim lives from now on (300; 30-3,600). */
            leaseSeconds?: number;
            /** @description How long to wait where nothing is offered (0; up to 50). */
            waitSeconds?: number;
            /** @description What the worker calls itself, up to 100 characters. */
            holder?: string | null;
        };
        CreateAgent: {
            /** @description What it is called: 1-100 characters. */
            name: string;
        };
        CreateDraft: {
            /** @description The sending inbox. */
            inboxId: string;
            /** @description Up to 50 addresses; a recipient in any of the three lists is enough to send. */
            to?: string[];
            /** @description Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
            cc?: string[];
            /** @description Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
            bcc?: string[];
            /** @description Up to 500 characters; a blank one is sent as `(no subject)`. */
            subject?: string | null;
            /** @description The words; where they are left out, those of `html`, else none. */
            text?: string | null;
            /** @description The words as HTML, which is sanitized when the draft is sent. */
            html?: string | null;
            /** @description What it answers: a message, or a thread (its newest message), of the same inbox, else 404 `message_not_found`. */
            inReplyTo?: string | null;
            /** @description With `inReplyTo`: send only unless the conversation went on after this message. */
            ifLastMessageId?: string | null;
            /** @description Of an answer: send only while this claim lives. */
            claimId?: string | null;
            /** @description With `claimId`: end the claim as done, if the message is sent. */
            completeClaim?: boolean;
        };
        CreateInbox: {
            /** @description The address before its `@` (required): 2-48 characters, `^[a-z0-9._-]+$`, dots neither first, last nor doubled. */
            username: string;
            /** @description What stands beside the address in what it sends: at most 100 characters; null takes it away. */
            name?: string | null;
            /** @description The agent behind it (404 `agent_not_found`). */
            agentId?: string | null;
            /** @description A shared domain or a verified one of the organization; the default is the first shared domain. */
            domain?: string | null;
            /** @description Texts by key, your own: 50 keys of 1-40 characters, values of up to 256. PATCH replaces all of it. */
            metadata?: {
                [key: string]: string;
            };
        };
        CreateKey: {
            /** @description What to call it (required): 1-64 characters. */
            name: string;
            /** @description The scopes that it is to hold; the default is `*`. */
            scopes?: ("*" | "audit:*" | "audit:read" | "domains:*" | "domains:read" | "domains:write" | "inboxes:*" | "inboxes:read" | "inboxes:write" | "keys:*" | "keys:read" | "keys:write" | "messages:*" | "messages:label" | "messages:read" | "messages:reply" | "messages:send" | "organization:*" | "organization:read" | "policies:*" | "policies:read" | "policies:write" | "reviews:*" | "reviews:read" | "reviews:write" | "suppressions:*" | "suppressions:read" | "suppressions:write" | "threads:*" | "threads:read" | "webhooks:*" | "webhooks:read" | "webhooks:write")[] | null;
            /** @description Binds it to this active inbox. */
            inboxId?: string | null;
            /** @description `live` or `test`; the default is that of the key that asks. */
            mode?: ("live" | "test") | null;
        };
        /** @description `inboxId` null: for every inbox of the organization. */
        CreateRule: {
            /**
             * @description `inbound`: mail that comes in; `outbound`: mail that is sent.
             * @enum {string}
             */
            direction: "inbound" | "outbound";
            /**
             * @description What becomes of it: `allow`, `block` or `hold`.
             * @enum {string}
             */
            action: "allow" | "block" | "hold";
            /** @description An address without its tag (`ada@x.org`, which names `ada+news@x.org` as well), a domain (`x.org`, that alone), or `*.x.org`, all domains below it; shown as it is compared (lower case, domain as `xn--`). */
            value: string;
            /** @description The inbox whose mail it is about; null: every inbox of the organization. */
            inboxId?: string | null;
            /** @description Up to 200 characters, for people. */
            note?: string | null;
        };
        CreateSuppression: {
            /** @description The address; shown in lower case, its domain as `xn--`. */
            email: string;
            /**
             * @description `hard_bounce`, `complaint`, `unsubscribe` or `manual`.
             * @enum {string}
             */
            reason?: "hard_bounce" | "complaint" | "unsubscribe" | "manual";
        };
        CreateWebhook: {
            /** @description Where events are to be sent: `https://`, public, up to 2,048 characters. */
            url: string;
            /** @description The types that are to be sent, one at least; the default is `email.received`, `email.sent`, `email.bounced`. */
            subscribedEvents?: ("email.received" | "email.sent" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.delayed" | "email.failed" | "domain.verified" | "domain.failed" | "sending.paused" | "message.updated" | "message.deleted" | "thread.updated" | "draft.created" | "draft.updated" | "draft.discarded" | "claim.expired" | "claim.dead" | "review.requested" | "review.resolved" | "audit.head")[];
        };
        DoneLabels: {
            /** @description Labels to add to the message. */
            add?: string[];
            /** @description Labels to take from it. */
            remove?: string[];
        };
        ExtendClaim: {
            /** @description How long a claim lives from now on (300; 30-3,600). */
            leaseSeconds?: number;
        };
        FinishClaim: {
            labels?: components["schemas"]["DoneLabels"];
        };
        ForwardMessage: {
            /** @description Whom it goes to: 1-50 addresses; `cc`, `bcc` are as on sends. */
            to: string[];
            /** @description Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
            cc?: string[];
            /** @description Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
            bcc?: string[];
            /** @description Your words, above those that are passed on. */
            text?: string | null;
            /** @description The same as HTML, sanitized. */
            html?: string | null;
            /** @description Which attachments go along, each once (404 `attachment_not_found`); null: all of them. Not with `eml`. */
            attachmentIds?: string[] | null;
            /**
             * @description `inline` (the default): its words, HTML sanitized, stand below those of `text` and `html`; `eml`: it goes whole, as a file.
             * @enum {string}
             */
            as?: "inline" | "eml";
        };
        /** @description A member that is left out is its default. */
        GivenInboundPolicy: {
            /** @description Mail that comes in and is shown to nobody until it is approved: `unverified`: without `auth.verifiedDomain`; `high_risk`: with `risk` `high`; both levels' lists count. */
            hold?: ("unverified" | "high_risk")[];
            /**
             * @description What becomes of mail whose sender no rule names: `accept`, `hold`, `refuse`.
             * @enum {string}
             */
            unlisted?: "accept" | "hold" | "refuse";
        };
        /** @description A member that is left out is its default. */
        GivenOutboundPolicy: {
            /**
             * @description Who may be written to: `any`: anybody; `allowlist`: whom a rule allows; `participants`: who takes part in the conversation.
             * @enum {string}
             */
            recipients?: "any" | "allowlist" | "participants";
            /**
             * @description What waits for somebody's approval: `off`: nothing; `first_time`: mail to recipients outside the organization never written to from the inbox; `external`: to any outside the organization; `all`: all.
             * @enum {string}
             */
            review?: "off" | "first_time" | "external" | "all";
            /** @description Warnings of a check: a message that looks like this waits, too; both levels' lists count. */
            holdOn?: ("empty_body" | "placeholder" | "model_artifact" | "secret" | "attachment_missing" | "duplicate" | "recipient_from_content" | "reply_to_mismatch" | "no_reply_address" | "auto_reply_target")[];
            /** @description How many recipients never written to from the inbox a UTC day may have, 0-1,000,000; null: no limit. Beyond it live sends are 402 `limit_reached`, `resource: "firstTimeRecipientsDaily"`; the smaller counts. */
            firstTimeDaily?: number | null;
            /**
             * @description `honor`: a Reply-To is answered; `verified`: one of a foreign organization is not, From is.
             * @enum {string}
             */
            replyTo?: "honor" | "verified";
        };
        /** @description A member that is left out is its default. */
        GivenReviewPolicy: {
            /** @description How long a review waits before it is rejected (60-2,592,000, default 172,800); the smaller counts. */
            expiresAfterSeconds?: number;
            /** @description Up to 10 addresses that a digest tells, once an hour, of reviews that wait; both levels' lists count. */
            notify?: string[];
        };
        /** @description A member that is left out is its default. */
        GivenWorkPolicy: {
            /** @description Of inboxes alone: their mail is work. */
            enabled?: boolean;
            /** @description After how many claims that ended undone a message is dead (1-100, default 5). */
            maxAttempts?: number;
            /** @description Whether an answer needs a `claimId`. */
            requireClaim?: boolean;
        };
        PatchDomain: {
            /** @description How many messages may leave from it in a day (UTC), 1-1,000,000; null: no ceiling. */
            dailyCap: number | null;
        };
        PatchDraft: {
            /** @description Up to 50 addresses; a recipient in any of the three lists is enough to send. */
            to?: string[];
            /** @description Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
            cc?: string[];
            /** @description Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
            bcc?: string[];
            /** @description Up to 500 characters; a blank one is sent as `(no subject)`. */
            subject?: string | null;
            /** @description The words; where they are left out, those of `html`, else none. */
            text?: string | null;
            /** @description The words as HTML, which is sanitized when the draft is sent. */
            html?: string | null;
            /** @description What it answers: a message, or a thread (its newest message), of the same inbox, else 404 `message_not_found`. */
            inReplyTo?: string | null;
            /** @description With `inReplyTo`: send only unless the conversation went on after this message. */
            ifLastMessageId?: string | null;
            /** @description Of an answer: send only while this claim lives. */
            claimId?: string | null;
            /** @description With `claimId`: end the claim as done, if the message is sent. */
            completeClaim?: boolean;
        };
        PatchInbox: {
            /** @description What stands beside the address in what it sends: at most 100 characters; null takes it away. */
            name?: string | null;
            /** @description Texts by key, your own: 50 keys of 1-40 characters, values of up to 256. PATCH replaces all of it. */
            metadata?: {
                [key: string]: string;
            };
        };
        /** @description Either `labels`, which replaces all of them, or a change. */
        PatchMessage: {
            /** @description Labels that come behind those that are there. */
            addLabels?: string[];
            /** @description Labels to take away. */
            removeLabels?: string[];
            /** @description Replaces all labels: up to 50 of 1-64 characters, kept in their order, each once. */
            labels?: string[];
        };
        PatchThread: {
            /** @description Whether it is put away; mail that comes in takes it out. */
            isArchived: boolean;
        };
        RegisterDomain: {
            /** @description A lower-case A-label without a last dot: two labels or more, at most 238 characters. */
            domainName: string;
            /** @description How many messages may leave from it in a day (UTC), 1-1,000,000; null: no ceiling. */
            dailyCap?: number | null;
        };
        RejectReview: {
            /** @description Why, for people: up to 2,000 characters. */
            note?: string | null;
        };
        ReleaseClaim: {
            /** @description Not to be offered again before (0; up to 86,400). */
            delaySeconds?: number;
        };
        /** @description As of an organization; and whether the mail of the inbox is work. */
        ReplaceInboxPolicy: {
            /** @description How often it was changed. PUT takes the one that was read, 0 where there was no document. */
            version: number;
            outbound?: components["schemas"]["GivenOutboundPolicy"];
            inbound?: components["schemas"]["GivenInboundPolicy"];
            review?: components["schemas"]["GivenReviewPolicy"];
            work?: components["schemas"]["GivenWorkPolicy"];
        };
        /** @description The whole document. `version`: that of the document that it replaces. */
        ReplaceOrganizationPolicy: {
            /** @description How often it was changed. PUT takes the one that was read, 0 where there was no document. */
            version: number;
            outbound?: components["schemas"]["GivenOutboundPolicy"];
            inbound?: components["schemas"]["GivenInboundPolicy"];
            review?: components["schemas"]["GivenReviewPolicy"];
        };
        ReplyMessage: {
            /** @description The words; where they are left out, those of `html`, else none. */
            text?: string | null;
            /** @description The words as HTML, which is sanitized; a text part is derived from it where `text` is left out. More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`). */
            html?: string | null;
            /** @description Answer everybody who stands in the message; the default is its author alone. */
            replyAll?: boolean;
            /**
             * @description `none` (the default), or `text`: the message that is answered stands below, behind an attribution and `> `, in `html` as a blockquote; at most 64 KiB of it.
             * @enum {string}
             */
            quote?: "none" | "text";
            /** @description Up to 20 files. */
            attachments?: components["schemas"]["AttachmentInput"][];
            /** @description When to send it: a time with an offset, 1 minute to 30 days ahead. */
            sendAt?: Date | string | null;
            /** @description Up to 50 custom headers, names to values. */
            headers?: {
                [key: string]: string;
            };
            /** @description Send only unless the conversation went on after this message, the newest that you know of; required in answers to threads. */
            ifLastMessageId?: string | null;
            /** @description Of an answer: send only while this claim lives. */
            claimId?: string | null;
            /** @description With `claimId`: end the claim as done, if the message is sent. */
            completeClaim?: boolean;
            /** @description Write a draft with these recipients, subject and words instead; not with `attachments`, `headers`, `sendAt`. */
            asDraft?: boolean;
            /** @description Whom to write to instead of those who would be answered; not with `replyAll`. */
            to?: string[] | null;
            /** @description Up to 50 more recipients, besides those who are answered. */
            cc?: string[];
            /** @description Up to 50 more recipients, besides those who are answered. */
            bcc?: string[];
            /** @description What to put instead of `Re: …`; up to 500 characters. */
            subject?: string | null;
        };
        ReplyThread: {
            /** @description The words; where they are left out, those of `html`, else none. */
            text?: string | null;
            /** @description The words as HTML, which is sanitized; a text part is derived from it where `text` is left out. More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`). */
            html?: string | null;
            /** @description Answer everybody who stands in the message; the default is its author alone. */
            replyAll?: boolean;
            /**
             * @description `none` (the default), or `text`: the message that is answered stands below, behind an attribution and `> `, in `html` as a blockquote; at most 64 KiB of it.
             * @enum {string}
             */
            quote?: "none" | "text";
            /** @description Up to 20 files. */
            attachments?: components["schemas"]["AttachmentInput"][];
            /** @description When to send it: a time with an offset, 1 minute to 30 days ahead. */
            sendAt?: Date | string | null;
            /** @description Up to 50 custom headers, names to values. */
            headers?: {
                [key: string]: string;
            };
            /** @description Send only unless the conversation went on after this message, the newest that you know of; required in answers to threads. */
            ifLastMessageId: string;
            /** @description Of an answer: send only while this claim lives. */
            claimId?: string | null;
            /** @description With `claimId`: end the claim as done, if the message is sent. */
            completeClaim?: boolean;
            /** @description Write a draft with these recipients, subject and words instead; not with `attachments`, `headers`, `sendAt`. */
            asDraft?: boolean;
            /** @description Whom to write to instead of those who would be answered; not with `replyAll`. */
            to?: string[] | null;
            /** @description Up to 50 more recipients, besides those who are answered. */
            cc?: string[];
            /** @description Up to 50 more recipients, besides those who are answered. */
            bcc?: string[];
            /** @description What to put instead of `Re: …`; up to 500 characters. */
            subject?: string | null;
        };
        SendMessage: {
            /** @description The sending inbox. */
            inboxId: string;
            /** @description Whom it goes to: 1-50 addresses; display names and comments are 400; quoted local parts are legal. */
            to: string[];
            /** @description Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
            cc?: string[];
            /** @description Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in. */
            bcc?: string[];
            /** @description Up to 500 characters; the default, also of a blank one, is `(no subject)`. */
            subject?: string | null;
            /** @description The words; where they are left out, those of `html`, else none. */
            text?: string | null;
            /** @description The words as HTML, which is sanitized; a text part is derived from it where `text` is left out. More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`). */
            html?: string | null;
            /** @description What it answers: a message, or a thread (its newest message), of the same inbox, else 404 `message_not_found`; sets In-Reply-To and References. */
            inReplyTo?: string | null;
            /** @description When to send it: a time with an offset, 1 minute to 30 days ahead. */
            sendAt?: Date | string | null;
            /** @description Up to 20 files. */
            attachments?: components["schemas"]["AttachmentInput"][];
            /** @description One-click unsubscribing (RFC 8058): every recipient gets a copy with a link of its own. */
            unsubscribe?: boolean;
            /** @description Up to 50 custom headers, names to values. */
            headers?: {
                [key: string]: string;
            };
            /** @description With `inReplyTo`: send only unless the conversation went on after this message. */
            ifLastMessageId?: string | null;
            /** @description Of an answer: send only while this claim lives. */
            claimId?: string | null;
            /** @description With `claimId`: end the claim as done, if the message is sent. */
            completeClaim?: boolean;
        };
        UpdateWebhook: {
            /** @description Where events are to be sent: `https://`, public, up to 2,048 characters. */
            url?: string;
            /** @description The types that are to be sent, one at least; the default is `email.received`, `email.sent`, `email.bounced`. */
            subscribedEvents?: ("email.received" | "email.sent" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.delayed" | "email.failed" | "domain.verified" | "domain.failed" | "sending.paused" | "message.updated" | "message.deleted" | "thread.updated" | "draft.created" | "draft.updated" | "draft.discarded" | "claim.expired" | "claim.dead" | "review.requested" | "review.resolved" | "audit.head")[];
            /** @description False: send nothing. */
            isActive?: boolean;
        };
        Agent: {
            /** @description Its id. */
            id: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            /** @description What it is called: 1-100 characters. */
            name: string;
            /** @description When it was made. */
            createdAt: string;
        };
        /** @description What another host reports about the domain. `total` counts messages (dmarc) or sessions (tls). */
        AggregateReport: {
            /** @description Its id. */
            id: string;
            /** @description The domain that it is about. */
            domainId: string;
            /**
             * @description `dmarc` or `tls`.
             * @enum {string}
             */
            type: "dmarc" | "tls";
            /** @description Who it says reports. */
            reporter: string;
            /** @description What the reporter calls it. */
            reportId: string;
            /** @description Who sent it, proven; null where nobody knows: anybody can send a report. */
            verifiedDomain: string | null;
            /** @description When the time begins that it is of. */
            periodBegin: string;
            /** @description When that ends. */
            periodEnd: string;
            /** @description How many messages, of a `tls` report sessions, it tells of. */
            total: number;
            /** @description Those of them that passed; a message did when DKIM or SPF is aligned. */
            passed: number;
            /** @description Those of them that did not. */
            failed: number;
            /** @description Whether it had more than 1,000 rows, and the rest is not counted. */
            isTruncated: boolean;
            /** @description Of a `dmarc` report; else null. */
            dmarc: components["schemas"]["DmarcSummary"] | null;
            /** @description Of a `tls` report; else null. */
            tls: components["schemas"]["TlsSummary"] | null;
            /** @description The mail that it came in. */
            messageId: string;
            /** @description When it came in. */
            createdAt: string;
        };
        AnalyticsDestination: {
            /** @description The domain of the recipients. */
            domain: string;
            /** @description Recipients of messages that were accepted for sending. */
            sent: number;
            /** @description Recipients that took it. */
            delivered: number;
            /** @description Recipients that are to be tried again. */
            deferred: number;
            /** @description Recipients that refused it for good or were given up. */
            bounced: number;
            /** @description What was answered last; null where nothing was. */
            lastResponse: string | null;
            /** @description When that was. */
            lastResponseAt: string | null;
        };
        AnalyticsLine: {
            /** @description The type of the events. */
            type: string;
            /** @description How many in all. */
            total: number;
            /** @description One for each period, empty ones too, in order of time. */
            points: components["schemas"]["AnalyticsPoint"][];
        };
        AnalyticsPoint: {
            /** @description When the period begins. */
            at: string;
            /** @description How many events fall in it. */
            count: number;
        };
        AnalyticsSeries: {
            /** @description How long each point is, in seconds. */
            period: number;
            /** @description From when on it counts. */
            since: string;
            /** @description Before when it counts. */
            until: string;
            /** @description One for each type. */
            series: components["schemas"]["AnalyticsLine"][];
        };
        AnalyticsSummary: {
            /** @description Recipients of messages that were accepted for sending. */
            sent: number;
            /** @description Recipients that took it. */
            delivered: number;
            /** @description Recipients that refused it for good or were given up. */
            bounced: number;
            /** @description Complaints. */
            complained: number;
            /** @description Messages that came in. */
            received: number;
            /** @description Refused for good ÷ `sent`. */
            hardBounceRate: number;
            /** @description Complaints ÷ `sent`. */
            complaintRate: number;
            /** @description From the send (or `sendAt`) to the acceptance; null without one. */
            medianDeliverySeconds: number | null;
        };
        Attachment: {
            /** @description Its id. */
            id: string;
            /** @description As the mail has it; one is made where there is none. */
            filename: string;
            /** @description As the mail has it. */
            contentType: string;
            /** @description How many bytes can be fetched. */
            sizeBytes: number;
            /** @description What a `cid:` in HTML names it by; null where nothing does. */
            contentId: string | null;
            /** @description Whether it is shown within the HTML. */
            isInline: boolean;
        };
        /** @description `hash` covers this row, and all rows before it. Without words of mail: contents and addresses are hashes. */
        AuditEntry: {
            /** @description The number of the row, from 1, without gaps. */
            seq: number;
            /** @description When it was done. */
            at: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            /** @description What was done: the acts. */
            type: string;
            /** @description Who did it: a key, a member, `operator`, `recipient`, `others` or a part of the server (audit.md). */
            actor: string;
            /** @description The id of what it was done to, or null. */
            subject: string | null;
            /** @description `X-Request-Id` of the request that did it; null without one. */
            requestId: string | null;
            /** @description What else there is to tell, by type. */
            details: {
                [key: string]: unknown;
            };
            /** @description Over this row and all before it. */
            hash: string;
        };
        /** @description The newest row; number 0, 64 zeros and null where there is none yet. */
        AuditHead: {
            /** @description The number of the row, from 1, without gaps. */
            seq: number;
            /** @description Over this row and all before it. */
            hash: string;
            /** @description When it was done. */
            at: string | null;
        };
        /** @description The end of the audit log at that moment. */
        AuditHeadData: {
            /** @description The number of the row, from 1, without gaps. */
            seq: number;
            /** @description Over this row and all before it. */
            hash: string;
            /** @description When it was done. */
            at: string;
        };
        AuditHeadEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "audit.head";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["AuditHeadData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        /** @description `verifiedDomain` is the only sender identity that a program should trust. */
        Auth: {
            /** @description The result (RFC 8601): `pass`, `fail`, `none`, `temperror`, `permerror`, and others of its own. It says nothing of the author: see `verifiedDomain`. */
            spf: string | null;
            /** @description The result (RFC 8601): `pass`, `fail`, `none`, `temperror`, `permerror`, and others of its own. It says nothing of the author: see `verifiedDomain`. */
            dkim: string | null;
            /** @description The result (RFC 8601) for the author's domain: `pass`, `fail`, `none`, `temperror`, `permerror`. */
            dmarc: string | null;
            /** @description The result (RFC 8601): `pass`, `fail`, `none`, `temperror`, `permerror`, and others of its own. It says nothing of the author: see `verifiedDomain`. */
            arc: string | null;
            /** @description The only sender identity that a program should trust: the domain of the author where that is proven; else null. */
            verifiedDomain: string | null;
        };
        /** @description `cursor`: the `after` that goes on behind it. */
        AwaitedMessage: {
            /** @description The whole message, the oldest behind the position; null where none came. */
            message: components["schemas"]["Message"] | null;
            /** @description Whether none came within `timeoutSeconds`. */
            timedOut: boolean;
            /** @description What to give as `after` in the next call: nothing is missed, and nothing comes twice. */
            cursor: string;
        };
        /** @description Of one recipient. `suppressed`: it is on the suppression list. */
        BouncedData: {
            /** @description The message that it is about. */
            messageId: string;
            /** @description The inbox that it is in. */
            inboxId: string;
            /** @description The conversation that it is in. */
            threadId: string;
            /** @description The address of the one author; of the envelope sender where a mail names none. */
            fromAddress: string;
            /** @description As in the header of the mail; the first 1,000. */
            toAddresses: string[];
            /** @description As in the header of the mail. */
            subject: string;
            /** @description When a host first took it. */
            sentAt: string | null;
            /** @description Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
            recipients: components["schemas"]["Recipient"][];
            /** @description The recipient whom it is about. */
            recipient: string;
            /**
             * @description `permanent`, `transient` or `undetermined`.
             * @enum {string}
             */
            bounceType: "permanent" | "transient" | "undetermined";
            /**
             * @description What the refusal is about.
             * @enum {string}
             */
            class: "address" | "mailbox_full" | "policy" | "content" | "reputation" | "throttled" | "infrastructure" | "unknown";
            /**
             * @description What would help.
             * @enum {string}
             */
            advice: "retry_later" | "fix_address" | "fix_content" | "fix_dns" | "slow_down" | "stop";
            /** @description The code of the reply, or that a report names. */
            smtpCode: number | null;
            /** @description The enhanced status code of the reply, or that a report names. */
            enhancedCode: string | null;
            /** @description The words of the reply, or of a report. */
            diagnostic: string | null;
            /** @description Whether the recipient is on the suppression list now. */
            suppressed: boolean;
        };
        CancelledMessage: {
            /** @description Its id. */
            id: string;
            /** @constant */
            status: "cancelled";
        };
        /** @description `messageId`: what it was sent as. */
        ChangedDraftData: {
            /** @description The draft. */
            draftId: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The conversation that it answers in; null: it begins one. */
            threadId: string | null;
            /**
             * @description `draft`, `sent` or `discarded`.
             * @enum {string}
             */
            status: "draft" | "sent" | "discarded";
            /** @description The message that it was sent as; null before. */
            messageId: string | null;
        };
        /** @description What became of a message, or of all messages of a thread. */
        ChangedMessage: {
            /** @description The message or thread. */
            id: string;
            /**
             * @description `changed`, `unchanged`, `not_found` or `inbox_access_denied`.
             * @enum {string}
             */
            result: "changed" | "unchanged" | "not_found" | "inbox_access_denied";
        };
        /** @description Ids and labels, never words. */
        ChangedMessageData: {
            /** @description The message that it is about. */
            messageId: string;
            /** @description The inbox that it is in. */
            inboxId: string;
            /** @description The conversation that it is in. */
            threadId: string;
            /** @description The labels that it had before. */
            labelsBefore: string[];
        };
        ChangedThreadData: {
            /** @description The conversation that it belongs to. */
            threadId: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description Whether it is put away; mail that comes in takes it out. */
            isArchived: boolean;
        };
        /** @description What the send would be refused with, and its status. */
        CheckError: {
            /** @description As the error itself has it. */
            code: string;
            /** @description As the error itself has it. */
            message: string;
            /** @description As the error itself has it. */
            details?: {
                [key: string]: unknown;
            };
            /** @description As the error itself has it. */
            status: number;
        };
        /**
         * @description `view`, `start`, `end`: where, in code points of that field, of the message that is looked at, or of `messageId`
         *     where that is given. `address`: the recipient that it is about.
         */
        CheckWarning: {
            /**
             * @description What looks wrong: one of these.
             * @enum {string}
             */
            code: "empty_body" | "placeholder" | "model_artifact" | "secret" | "attachment_missing" | "duplicate" | "recipient_from_content" | "reply_to_mismatch" | "no_reply_address" | "auto_reply_target";
            /** @description The field that it is in: `subject`, `text`, `html`, `replyTo`, `cc`, of the request or the draft, or of the message `messageId` where that is given beside it; null where it is in none. */
            view: ("subject" | "text" | "html" | "replyTo" | "cc") | null;
            /** @description Where it begins and ends there, in code points; null where it has no place. */
            start: number | null;
            /** @description Where it begins and ends there, in code points; null where it has no place. */
            end: number | null;
            /** @description The recipient that it is about; else null. */
            address: string | null;
            /** @description The message that it is about, or that `view` is of; else null. */
            messageId: string | null;
        };
        /** @description What would become of a message. `sizeBytes`: null where it can't be composed. */
        CheckedMessage: {
            /** @description Whether it would be accepted: there are no `errors`. */
            wouldSend: boolean;
            /** @description Whether it would wait for a review: then the send answers 201 `held`. */
            wouldHold: boolean;
            /** @description Every refusal, not only the first, in the order in which a send meets them. A send's own is `errors[0]`. */
            errors: components["schemas"]["CheckError"][];
            /** @description What looks wrong; none of it stops a send. */
            warnings: components["schemas"]["CheckWarning"][];
            /** @description Whom it would go to. */
            recipients: components["schemas"]["CheckedRecipient"][];
            /** @description As it would be sent. */
            subject: string;
            /** @description How large the message would be as it is stored; null where it can't be composed. */
            sizeBytes: number | null;
            /** @description The conversation that it would answer in, else null. */
            thread: components["schemas"]["CheckedThread"] | null;
        };
        CheckedRecipient: {
            /** @description Whom it would go to. */
            address: string;
            /**
             * @description `to`, `cc` or `bcc`.
             * @enum {string}
             */
            kind: "to" | "cc" | "bcc";
            /** @description The inbox never wrote to it (for test keys: nor a test key). */
            isFirstTime: boolean;
            /** @description It is on the suppression list. */
            isSuppressed: boolean;
            /**
             * @description How it would go: `local` (an inbox domain of this host), `relay` (a smarthost), `simulator` (test keys), `mx`.
             * @enum {string}
             */
            route: "local" | "mx" | "relay" | "simulator";
            /**
             * @description What DNS says of an `mx` domain within 3 seconds for all of them: `ok` (a mail host has an address), `no_mx` (no mail host, or none with an address), `null_mx` (RFC 7505), `nxdomain`, `unknown` (no answer, or not in time). Of the other routes it is `ok`; whether there is such a mailbox, nobody is asked.
             * @enum {string}
             */
            finding: "ok" | "no_mx" | "null_mx" | "nxdomain" | "unknown";
            /** @description The rule that decides about it, or null. */
            rule: components["schemas"]["NamedRule"] | null;
        };
        /** @description `lastMessageId`: for `ifLastMessageId`; null where nothing in it counts. */
        CheckedThread: {
            /** @description The thread. */
            id: string;
            /** @description What to give as `ifLastMessageId`; null where nothing counts. */
            lastMessageId: string | null;
        };
        ClaimDeadEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "claim.dead";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["EndedClaimData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        ClaimExpiredEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "claim.expired";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["EndedClaimData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        /**
         * @description `value`: what is to be typed, or opened; `shown`: as it stands in the mail. `confidence`: beside a word for a
         *     code, the only one that could be it, or one of several `candidates`: then nothing is claimed.
         */
        ClaimedCode: {
            /** @description Its id; null where nothing is claimed. */
            id: string | null;
            /** @description Whether `value` is yours, and nobody else's. */
            claimed: boolean;
            /** @description `code` or `link`; null where there is none. */
            kind: ("code" | "link") | null;
            /** @description What is to be typed or opened; null where there is none, or several could be meant. */
            value: string | null;
            /** @description The code as it stands in the mail. */
            shown: string | null;
            /** @description The mail that has it; null where there is none. */
            messageId: string | null;
            /** @description The `auth.verifiedDomain` of that mail. */
            verifiedDomain: string | null;
            /** @description `labelled`: it stands beside a word for a code; `unlabelled`: nothing else in the mail could be it; `ambiguous`: several could be meant, and nothing is claimed. */
            confidence: ("labelled" | "unlabelled" | "ambiguous") | null;
            /** @description Where it stands; null unless there is a `value`. */
            evidence: components["schemas"]["CodePlace"] | null;
            /** @description Those that could be meant, where it is `ambiguous`. */
            candidates: string[];
            /** @description Whether none came within `waitSeconds`. */
            timedOut: boolean;
            /** @description What to give as `after` in the next call. */
            cursor: string;
        };
        /** @description With the whole message; null where it was deleted since. */
        ClaimedMessage: {
            /** @description Its id. */
            id: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The conversation that it belongs to. */
            threadId: string;
            /** @description The message that it is about. */
            messageId: string;
            /** @description The key that claimed. */
            keyId: string;
            /**
             * @description `test` for what comes of a test key, else `live`.
             * @enum {string}
             */
            mode: "live" | "test";
            /**
             * @description `live`, or how it ended: `done`, `released`, `expired`, `dead`.
             * @enum {string}
             */
            status: "live" | "released" | "expired" | "done" | "dead";
            /** @description Which claim of the message this is, from 1. */
            attempt: number;
            /** @description What the claimer called itself. */
            holder: string | null;
            /** @description Until when it lives, unless it is extended. */
            leaseExpiresAt: string;
            /** @description When it was made. */
            createdAt: string;
            /** @description The whole message, where claims are taken; null once it was deleted. */
            message: components["schemas"]["Message"] | null;
        };
        /** @description Where it stands, in code points of a field that GET of the message shows. */
        CodePlace: {
            /**
             * @description The field of the message: `subject`, `extractedText`, `textBody`.
             * @enum {string}
             */
            view: "subject" | "extractedText" | "textBody";
            /** @description Where it begins and ends there, in code points. */
            start: number;
            /** @description Where it begins and ends there, in code points. */
            end: number;
        };
        /** @description Of one recipient. */
        ComplainedData: {
            /** @description The message that it is about. */
            messageId: string;
            /** @description The inbox that it is in. */
            inboxId: string;
            /** @description The conversation that it is in. */
            threadId: string;
            /** @description The address of the one author; of the envelope sender where a mail names none. */
            fromAddress: string;
            /** @description As in the header of the mail; the first 1,000. */
            toAddresses: string[];
            /** @description As in the header of the mail. */
            subject: string;
            /** @description When a host first took it. */
            sentAt: string | null;
            /** @description Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
            recipients: components["schemas"]["Recipient"][];
            /** @description The recipient whom it is about. */
            recipient: string;
            /** @description What the complaint calls itself, such as `abuse`. */
            feedbackType: string | null;
            /** @description Whether the recipient is on the suppression list now. */
            suppressed: boolean;
        };
        ContextFile: {
            /** @description Its id. */
            id: string;
            /** @description As the mail has it; one is made where there is none. */
            filename: string;
            /** @description As the mail has it. */
            contentType: string;
            /** @description How many bytes can be fetched. */
            sizeBytes: number;
        };
        DeactivatedInbox: {
            /** @description Its id. */
            id: string;
            /**
             * @description `deactivated`.
             * @constant
             */
            status: "deactivated";
            /** @description Until when nobody can have the address. */
            cooldownUntil: string;
        };
        /** @description Of one recipient. */
        DelayedData: {
            /** @description The message that it is about. */
            messageId: string;
            /** @description The inbox that it is in. */
            inboxId: string;
            /** @description The conversation that it is in. */
            threadId: string;
            /** @description The address of the one author; of the envelope sender where a mail names none. */
            fromAddress: string;
            /** @description As in the header of the mail; the first 1,000. */
            toAddresses: string[];
            /** @description As in the header of the mail. */
            subject: string;
            /** @description When a host first took it. */
            sentAt: string | null;
            /** @description Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
            recipients: components["schemas"]["Recipient"][];
            /** @description The recipient whom it is about. */
            recipient: string;
            /** @description How often it was tried. */
            attempts: number;
            /** @description When it is tried again. */
            nextAttemptAt: string | null;
            /**
             * @description What the refusal is about.
             * @enum {string}
             */
            class: "address" | "mailbox_full" | "policy" | "content" | "reputation" | "throttled" | "infrastructure" | "unknown";
            /**
             * @description What would help.
             * @enum {string}
             */
            advice: "retry_later" | "fix_address" | "fix_content" | "fix_dns" | "slow_down" | "stop";
            /** @description The code of the reply, or that a report names. */
            smtpCode: number | null;
            /** @description The enhanced status code of the reply, or that a report names. */
            enhancedCode: string | null;
            /** @description The words of the reply, or of a report. */
            diagnostic: string | null;
        };
        Deleted: {
            /** @description Its id. */
            id: string;
            /** @constant */
            status: "deleted";
        };
        DeletedMessage: {
            /** @description Its id. */
            id: string;
            /** @constant */
            deleted: true;
        };
        DeletedRule: {
            /** @description Its id. */
            id: string;
            /** @constant */
            deleted: true;
        };
        /**
         * @description Of one recipient. `class`, `permanence`, `advice`: of what failed. `suppressed`: the address is on the
         *     suppression list, by this attempt or from before it.
         */
        DeliveryAttempt: {
            /** @description The recipient. */
            address: string;
            /**
             * @description `to`, `cc` or `bcc`.
             * @enum {string}
             */
            kind: "to" | "cc" | "bcc";
            /** @description Which attempt for the recipient this is, from 1; of one that an operator took out of the queue, the one that will not be. */
            attempt: number;
            /**
             * @description What became of the recipient: its status in `recipients` of the message, or `expired`.
             * @enum {string}
             */
            outcome: "sent" | "delivered" | "deferred" | "bounced" | "failed" | "suppressed" | "expired";
            /** @description As in `recipients` of the message after this attempt. */
            remoteHost: string | null;
            /** @description As in `recipients` of the message after this attempt. */
            smtpCode: number | null;
            /** @description As in `recipients` of the message after this attempt. */
            enhancedCode: string | null;
            /** @description As in `recipients` of the message after this attempt. */
            response: string | null;
            /** @description As in `recipients` of the message after this attempt. */
            tls: string | null;
            /** @description How long it took, in milliseconds. */
            durationMs: number;
            /** @description When it ended. */
            createdAt: string;
            /** @description What the failure is about; null where nothing failed. */
            class: ("address" | "mailbox_full" | "policy" | "content" | "reputation" | "throttled" | "infrastructure" | "unknown") | null;
            /** @description `permanent`, `transient` or `undetermined`, as the `bounceType` of events; null where nothing failed. */
            permanence: ("permanent" | "transient" | "undetermined") | null;
            /** @description What would help; null where nothing failed. */
            advice: ("retry_later" | "fix_address" | "fix_content" | "fix_dns" | "slow_down" | "stop") | null;
            /** @description When a deferral was to be tried again; else null. */
            nextAttemptAt: string | null;
            /** @description When it was given up for good; else null. */
            gaveUpAt: string | null;
            /** @description Whether the address is on the suppression list, by this attempt or from before it. */
            suppressed: boolean;
            /** @description What is kept of an attempt over the network; else null. */
            evidence: components["schemas"]["DeliveryEvidence"] | null;
        };
        /** @description What is kept of an attempt over the network. `endedAt`: the last host's stage, or what it did not get beyond. */
        DeliveryEvidence: {
            /**
             * @description How far it came: `stage` of the last host; `dns`, `policy` (every host was kept from the mail by a TLS policy), `message` (it could not be read or signed), `not_tried` (no way to the destination was found a moment ago).
             * @enum {string}
             */
            endedAt: "wait" | "connect" | "greeting" | "hello" | "tls" | "auth" | "envelope" | "data" | "answer" | "not_tried" | "dns" | "policy" | "message";
            /** @description Milliseconds spent on finding hosts and their TLS policies. */
            dnsMs: number | null;
            /** @description Mail hosts that were not tried. */
            passedOver: components["schemas"]["PassedOverHost"][];
            /** @description How many addresses `hosts` leaves out. */
            hostsLeftOut: number;
            /** @description Addresses that were tried, in order; of many the first and the last three. */
            hosts: components["schemas"]["HostTried"][];
        };
        /** @description Messages that say to be from the domain, as their receiver judged them. */
        DmarcSummary: {
            /** @description Messages of which DKIM is aligned. */
            dkimAligned: number;
            /** @description Messages of which SPF is aligned. */
            spfAligned: number;
            dispositions: components["schemas"]["ReportedDispositions"];
            /** @description The hosts that sent them, the 20 with most. */
            sources: components["schemas"]["ReportedSource"][];
        };
        Domain: {
            /** @description Its id. */
            id: string;
            /** @description A lower-case A-label without a last dot: two labels or more, at most 238 characters. */
            domainName: string;
            /**
             * @description `pending`, `verified` or `failed`, see its states.
             * @enum {string}
             */
            status: "pending" | "verified" | "failed";
            /** @description Whether this record passed at the last check. */
            mxStatus: boolean;
            /** @description Whether this record passed at the last check. */
            spfStatus: boolean;
            /** @description Whether this record passed at the last check. */
            dkimStatus: boolean;
            /** @description Whether this record passed at the last check. */
            dmarcStatus: boolean;
            /** @description What to publish. */
            records: components["schemas"]["DomainRecord"][];
            /** @description How many messages may leave from it in a day (UTC), 1-1,000,000; null: no ceiling. */
            dailyCap: number | null;
            /** @description How many messages left today. */
            todayUsed: number;
            /** @description When `todayUsed` begins again. */
            resetsAt: string;
            /** @description Explains an exhausted ceiling; else null. */
            note: string | null;
            /** @description When it was verified; null before, and once it failed. */
            verifiedAt: string | null;
            /** @description When it was made. */
            createdAt: string;
        };
        DomainCeiling: {
            /** @description Its id. */
            id: string;
            /** @description A lower-case A-label without a last dot: two labels or more, at most 238 characters. */
            domainName: string;
            /** @description How many messages may leave from it in a day (UTC), 1-1,000,000; null: no ceiling. */
            dailyCap: number | null;
            /** @description How many messages left today. */
            todayUsed: number;
            /** @description When `todayUsed` begins again. */
            resetsAt: string;
            /** @description Explains an exhausted ceiling; else null. */
            note: string | null;
        };
        DomainChecks: {
            /** @description Whether this record passed. */
            ownership: boolean;
            /** @description Whether this record passed. */
            mx: boolean;
            /** @description Whether this record passed. */
            spf: boolean;
            /** @description Whether this record passed. */
            dkim: boolean;
        };
        DomainFailedEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "domain.failed";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["UnverifiedData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        DomainRecord: {
            /**
             * @description `ownership`, `mx`, `spf`, `dkim` or `dmarc` (informative, not `required`).
             * @enum {string}
             */
            purpose: "ownership" | "mx" | "spf" | "dkim" | "dmarc";
            /**
             * @description `TXT` or `MX`.
             * @enum {string}
             */
            type: "TXT" | "MX";
            /** @description The name at which it is published, in full. */
            name: string;
            /** @description What it says. */
            value: string;
            /** @description Of MX; else null. */
            priority: number | null;
            /** @description Whether the domain needs it to be verified. */
            required: boolean;
            /** @description `unchecked`; `ok`; `missing`; `mismatch` (there is one, but not what is wanted); `conflicting` (resolvers disagree); `unavailable` (too few of them answered). Only `ok` passes. */
            status: string;
            /** @description What all resolvers together showed at the last check: at most 10 texts of 600 characters; of the TXT records at `spf` and `dmarc` only those that are SPF and DMARC. */
            observed: string[];
        };
        DomainVerification: {
            /** @description Its id. */
            id: string;
            /** @description A lower-case A-label without a last dot: two labels or more, at most 238 characters. */
            domainName: string;
            /**
             * @description `active` (elsewhere `verified`), `pending` or `failed`.
             * @enum {string}
             */
            status: "active" | "pending" | "failed";
            checks: components["schemas"]["DomainChecks"];
            /** @description When it was verified; null before, and once it failed. */
            verifiedAt: string | null;
        };
        DomainVerifiedEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "domain.verified";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["VerifiedData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        Draft: {
            /** @description Its id. */
            id: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The conversation that it answers in; null: it begins one. */
            threadId: string | null;
            /** @description As given. */
            toAddresses: string[];
            /** @description As given. */
            ccAddresses: string[];
            /** @description As given. */
            bccAddresses: string[];
            /** @description As given. */
            subject: string;
            /** @description As given. */
            textBody: string | null;
            /** @description As given; it is sanitized when the draft is sent. */
            htmlBody: string | null;
            /** @description The message, or the thread, that it answers. */
            inReplyTo: string | null;
            /** @description It is sent only unless the conversation went on after this message. */
            ifLastMessageId: string | null;
            /** @description It is sent only while this claim lives. */
            claimId: string | null;
            /** @description Whether sending it ends the claim as done. */
            completeClaim: boolean;
            /**
             * @description `draft`, `sent` or `discarded`.
             * @enum {string}
             */
            status: "draft" | "sent" | "discarded";
            /** @description The message that it was sent as; null before. */
            messageId: string | null;
            /** @description When it was made. */
            createdAt: string;
            /** @description When it last changed. */
            updatedAt: string;
            /** @description When it was sent; else null. */
            sentAt: string | null;
            /** @description When it was discarded; else null. */
            discardedAt: string | null;
        };
        DraftCreatedEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "draft.created";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["ChangedDraftData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        DraftDiscardedEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "draft.discarded";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["ChangedDraftData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        DraftUpdatedEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "draft.updated";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["ChangedDraftData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        DraftedReply: {
            /** @description Its id. */
            id: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The conversation that it answers in; null: it begins one. */
            threadId: string | null;
            /** @description As given. */
            toAddresses: string[];
            /** @description As given. */
            ccAddresses: string[];
            /** @description As given. */
            bccAddresses: string[];
            /** @description As given. */
            subject: string;
            /** @description As given. */
            textBody: string | null;
            /** @description As given; it is sanitized when the draft is sent. */
            htmlBody: string | null;
            /** @description The message, or the thread, that it answers. */
            inReplyTo: string | null;
            /** @description It is sent only unless the conversation went on after this message. */
            ifLastMessageId: string | null;
            /** @description It is sent only while this claim lives. */
            claimId: string | null;
            /** @description Whether sending it ends the claim as done. */
            completeClaim: boolean;
            /**
             * @description `draft`, `sent` or `discarded`.
             * @enum {string}
             */
            status: "draft" | "sent" | "discarded";
            /** @description The message that it was sent as; null before. */
            messageId: string | null;
            /** @description When it was made. */
            createdAt: string;
            /** @description When it last changed. */
            updatedAt: string;
            /** @description When it was sent; else null. */
            sentAt: string | null;
            /** @description When it was discarded; else null. */
            discardedAt: string | null;
            resolved: components["schemas"]["ResolvedRecipients"];
        };
        /** @description Who stands there and is not written to. */
        DroppedRecipient: {
            /** @description The address, as the message has it. */
            address: string;
            /**
             * @description `own_address`, `duplicate`, `not_allowed`, `mailing_list` or `invalid`.
             * @enum {string}
             */
            reason: "own_address" | "duplicate" | "not_allowed" | "invalid" | "mailing_list";
        };
        /** @description What holds for an inbox. */
        EffectivePolicy: {
            outbound: components["schemas"]["ShownOutboundPolicy"];
            inbound: components["schemas"]["ShownInboundPolicy"];
            work: components["schemas"]["ShownWorkPolicy"];
            review: components["schemas"]["ShownReviewPolicy"];
        };
        EmailBouncedEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "email.bounced";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["BouncedData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        EmailComplainedEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "email.complained";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["ComplainedData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        EmailDelayedEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "email.delayed";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["DelayedData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        EmailFailedEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "email.failed";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["FailedData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        EmailReceivedEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "email.received";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["ReceivedData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        EmailSentEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "email.sent";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["SentData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        EmailUnsubscribedEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "email.unsubscribed";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["UnsubscribedData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        /** @description `attempt`: which claim of the message it was. */
        EndedClaimData: {
            /** @description The claim that ended. */
            claimId: string;
            /** @description The message that it is about. */
            messageId: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The conversation that it belongs to. */
            threadId: string;
            /** @description Which claim of the message this is, from 1. */
            attempt: number;
            /** @description What the claimer called itself. */
            holder: string | null;
        };
        /** @description Branch on `code`; show `message` to people; `details` are data to act on. */
        RefusedAnswer: {
            error: components["schemas"]["ErrorBody"];
        };
        ErrorBody: {
            /** @description Stable: branch on it. */
            code: string;
            /** @description Tells a person what to do. */
            message: string;
            /** @description Data to act on; left out where there are none. */
            details?: {
                [key: string]: unknown;
            };
        };
        Event: components["schemas"]["EmailReceivedEvent"] | components["schemas"]["EmailSentEvent"] | components["schemas"]["EmailBouncedEvent"] | components["schemas"]["EmailComplainedEvent"] | components["schemas"]["EmailUnsubscribedEvent"] | components["schemas"]["EmailDelayedEvent"] | components["schemas"]["EmailFailedEvent"] | components["schemas"]["DomainVerifiedEvent"] | components["schemas"]["DomainFailedEvent"] | components["schemas"]["SendingPausedEvent"] | components["schemas"]["MessageUpdatedEvent"] | components["schemas"]["MessageDeletedEvent"] | components["schemas"]["ThreadUpdatedEvent"] | components["schemas"]["DraftCreatedEvent"] | components["schemas"]["DraftUpdatedEvent"] | components["schemas"]["DraftDiscardedEvent"] | components["schemas"]["ClaimExpiredEvent"] | components["schemas"]["ClaimDeadEvent"] | components["schemas"]["ReviewRequestedEvent"] | components["schemas"]["ReviewResolvedEvent"] | components["schemas"]["AuditHeadEvent"];
        EventAttachment: {
            /** @description Its id. */
            id: string;
            /** @description As the mail has it; one is made where there is none. */
            filename: string;
            /** @description As the mail has it. */
            contentType: string;
            /** @description How many bytes can be fetched. */
            sizeBytes: number;
        };
        /**
         * @description `excerpt` is `view[start:end]`, its first 200 code points at most, of the field that GET shows: `subject`,
         *     `fromName`, `text` (textBody), `html` (htmlBody), `filename:att_…`.
         */
        EvidenceItem: {
            /**
             * @description What it is, one of these.
             * @enum {string}
             */
            kind: "hidden_text" | "comment_text" | "zero_width" | "bidi_control" | "tag_characters" | "variation_smuggling" | "part_mismatch" | "preheader" | "display_name_address" | "reply_to_mismatch" | "several_from" | "lookalike_domain" | "unverified_sender" | "first_time_sender" | "link_text_mismatch" | "link_ip" | "link_userinfo" | "link_punycode" | "link_scheme" | "markdown_reference" | "remote_image_with_data" | "directive" | "role_markup" | "secret_request" | "fence_spoof" | "double_extension" | "active_content" | "encrypted_archive" | "filename_trick";
            /**
             * @description How grave it is.
             * @enum {string}
             */
            severity: "low" | "medium" | "high";
            /** @description The field that it is in, as GET shows it: `subject`, `fromName`, `text` (`textBody`), `html` (`htmlBody` as it came), `filename:att_…`. */
            view: string;
            /** @description Where it begins and ends there, in code points. */
            start: number;
            /** @description Where it begins and ends there, in code points. */
            end: number;
            /** @description Its first 200 code points. */
            excerpt: string;
            /** @description Whether words there tell a program what to do. */
            directive: boolean;
            /** @description What hides them, which order it is, which extension; else null. */
            why: string | null;
            /** @description The name that is shown, or imitated; else null. */
            shown: string | null;
            /** @description The name that is meant; else null. */
            target: string | null;
        };
        FailedData: {
            /** @description The message that it is about. */
            messageId: string;
            /** @description The inbox that it is in. */
            inboxId: string;
            /** @description The conversation that it is in. */
            threadId: string;
            /** @description The address of the one author; of the envelope sender where a mail names none. */
            fromAddress: string;
            /** @description As in the header of the mail; the first 1,000. */
            toAddresses: string[];
            /** @description As in the header of the mail. */
            subject: string;
            /** @description When a host first took it. */
            sentAt: string | null;
            /** @description Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
            recipients: components["schemas"]["Recipient"][];
            /** @description Why it is `failed`: `bounced`, `expired`, `dropped` (by the operator), `review_rejected`, `review_expired`, or the error code that refused it; `invalid_api_key` of what was withdrawn with its key. */
            failureReason: string | null;
        };
        /** @description With the policy that holds for it. */
        GovernedInbox: {
            /** @description Its id. */
            id: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            /** @description Where its mail comes in, and what it sends from. */
            address: string;
            /** @description The address before its `@`. */
            username: string;
            /** @description The address behind its `@`. */
            domain: string;
            /** @description What stands beside the address in what it sends. */
            name: string | null;
            /** @description The agent behind it. */
            agentId: string | null;
            /** @description Texts by key, the caller's own. */
            metadata: {
                [key: string]: string;
            };
            /** @description False once deactivated. */
            isActive: boolean;
            /** @description Messages with the label `unread`. */
            unreadCount: number;
            /** @description When mail last came in or was sent; null where none did. */
            lastMessageAt: string | null;
            /** @description When it was made. */
            createdAt: string;
            /** @description When its name, metadata, agent or state last changed; mail changes nothing here. */
            updatedAt: string;
            /** @description When it was deactivated; null while it is active. */
            deactivatedAt: string | null;
            policy: components["schemas"]["EffectivePolicy"];
        };
        Health: {
            /** @enum {string} */
            status: "healthy" | "unhealthy";
            service: string;
            /** @enum {string} */
            store: "ok" | "damaged";
            /** @enum {string} */
            disk: "ok" | "short" | "stalled" | "failing";
            /** @enum {string} */
            descriptors: "ok" | "short";
            loop: components["schemas"]["LoopHealth"];
        };
        /** @description The review that a held message waits for. */
        HeldFor: {
            /** @description Its id. */
            id: string;
            /** @description Why it is held. */
            reasons: string[];
            /** @description Until when it waits; then it is rejected. */
            expiresAt: string;
        };
        /**
         * @description One address of a mail host or smarthost. `fault`: why it took no part in a transaction, or that it was lost in
         *     one. `dialogue`: what was said, `C: ` by this host, `S: ` by the other, `* ` remarks; without the message, and of
         *     the recipients this one alone.
         */
        HostTried: {
            /** @description The name of the mail host. */
            host: string;
            /** @description Where it was called. */
            address: string;
            /** @description Where it was called. */
            port: number;
            /** @description Whether it is a smarthost. */
            isRelay: boolean;
            /** @description The address that it was called from; null where it did not come to that. */
            sourceAddress: string | null;
            /** @description The name that was given in EHLO; null where it did not come to that. */
            ehloName: string | null;
            /** @description Whether the session was open from an earlier message. */
            isReused: boolean;
            /**
             * @description Whose word about TLS counted: `none`, `mta-sts`, `dane`, `override` (the operator's for the destination), `relay`.
             * @enum {string}
             */
            tlsPolicy: "none" | "mta-sts" | "dane" | "override" | "relay";
            /**
             * @description What that policy wanted: `none`, `opportunistic`, `testing`, `encrypt`, `verify`, `dane`, `starttls`, `implicit`.
             * @enum {string}
             */
            tlsLevel: "none" | "opportunistic" | "testing" | "encrypt" | "verify" | "dane" | "starttls" | "implicit";
            /** @description Of the session; null in plain text. */
            tlsVersion: string | null;
            /** @description Of the session; null in plain text. */
            cipher: string | null;
            /** @description What vouched for the host: `webpki` (its certificate, for its name) or `dane`; null: nothing. */
            verifiedBy: ("webpki" | "dane") | null;
            /** @description Why TLS did not come about at first, also where the session went on with less, as RFC 8460 calls it: `starttls-not-supported`, `certificate-host-mismatch`, `certificate-expired`, `certificate-not-trusted` (no TLSA record fits it, too), `validation-failure`; else null. */
            tlsFailure: ("starttls-not-supported" | "certificate-host-mismatch" | "certificate-expired" | "certificate-not-trusted" | "validation-failure") | null;
            /**
             * @description How far it came: `wait` (for a place), `connect` (of a smarthost also the handshake that its sessions begin with), `greeting`, `hello`, `tls`, `auth`, `envelope` (MAIL, RCPT, DATA), `data` (the message), `answer` (the reply to it).
             * @enum {string}
             */
            stage: "wait" | "connect" | "greeting" | "hello" | "tls" | "auth" | "envelope" | "data" | "answer";
            durationsMs: components["schemas"]["StageDurations"];
            /** @description Why the host took no part in a transaction, or that it was lost in one; else null. */
            fault: string | null;
            /** @description What was said: `C: ` this host, `S: ` the other, `* ` remarks. A command stands before its reply, also where several were sent at once. Without the message, what AUTH carries, the tag of the envelope sender (`***`), and what was said of other recipients. */
            dialogue: string[];
        };
        Inbox: {
            /** @description Its id. */
            id: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            /** @description Where its mail comes in, and what it sends from. */
            address: string;
            /** @description The address before its `@`. */
            username: string;
            /** @description The address behind its `@`. */
            domain: string;
            /** @description What stands beside the address in what it sends. */
            name: string | null;
            /** @description The agent behind it. */
            agentId: string | null;
            /** @description Texts by key, the caller's own. */
            metadata: {
                [key: string]: string;
            };
            /** @description False once deactivated. */
            isActive: boolean;
            /** @description Messages with the label `unread`. */
            unreadCount: number;
            /** @description When mail last came in or was sent; null where none did. */
            lastMessageAt: string | null;
            /** @description When it was made. */
            createdAt: string;
            /** @description When its name, metadata, agent or state last changed; mail changes nothing here. */
            updatedAt: string;
            /** @description When it was deactivated; null while it is active. */
            deactivatedAt: string | null;
        };
        /** @description An inbox's own document. `version`: how often it was replaced. */
        InboxPolicy: {
            outbound: components["schemas"]["ShownOutboundPolicy"];
            inbound: components["schemas"]["ShownInboundPolicy"];
            work: components["schemas"]["ShownWorkPolicy"];
            review: components["schemas"]["ShownReviewPolicy"];
            /** @description How often it was changed. PUT takes the one that was read, 0 where there was no document. */
            version: number;
        };
        Key: {
            /** @description Its id: `key_…`. */
            id: string;
            /** @description What it is called: 1-64 characters. */
            name: string;
            /** @description The first 16 characters of the key. */
            keyPrefix: string;
            /**
             * @description `live`, or `test`: what it sends reaches nobody.
             * @enum {string}
             */
            mode: "live" | "test";
            /** @description The scopes that it holds. */
            scopes: string[];
            /** @description The inbox that it is bound to; null: none. */
            inboxId: string | null;
            /** @description False once revoked. */
            isActive: boolean;
            /** @description The key that minted it; null where the operator or a member did. */
            mintedBy: string | null;
            /** @description When it was last used, true to the minute; null: never. */
            lastUsedAt: string | null;
            /** @description When it was minted. */
            createdAt: string;
        };
        LabelledData: {
            /** @description The message that it is about. */
            messageId: string;
            /** @description The inbox that it is in. */
            inboxId: string;
            /** @description The conversation that it is in. */
            threadId: string;
            /** @description The labels that it had before. */
            labelsBefore: string[];
            /** @description The labels that it has now. */
            labels: string[];
        };
        Limits: {
            /** @description Messages of this month (UTC). */
            messagesMonthly: number | null;
            /** @description Messages of today (UTC). */
            messagesDaily: number | null;
            /** @description Active inboxes. */
            inboxes: number | null;
            /** @description Drafts that are neither sent nor discarded. */
            openDrafts: number | null;
            /** @description Webhooks. */
            webhooks: number | null;
            /** @description The size of the stored messages; as `usage` of those that the key can read. What is held counts against the limit, and is shown to those who decide about it. */
            storageBytes: number | null;
        };
        ListedMessage: {
            /** @description Its id: `msg_…`. */
            id: string;
            /** @description The inbox that it is in. */
            inboxId: string;
            /** @description The conversation that it is in. */
            threadId: string;
            /**
             * @description `inbound`: it came in; `outbound`: it was sent, or is to be.
             * @enum {string}
             */
            direction: "inbound" | "outbound";
            /**
             * @description `live`, or `test` for what a test key sent and the simulator answered.
             * @enum {string}
             */
            mode: "live" | "test";
            /**
             * @description What became of it.
             * @enum {string}
             */
            status: "received" | "held" | "scheduled" | "queued" | "sent" | "delivered" | "failed" | "cancelled";
            /** @description Of mail that waits for a decision: the review; else null. */
            review: components["schemas"]["HeldFor"] | null;
            /** @description The address of the one author; of the envelope sender where a mail names none. */
            fromAddress: string;
            /** @description The domain of `fromAddress` as a lower-case A-label (`xn--…`), or its address literal; null where there is none. */
            fromDomain: string | null;
            /** @description The same domain as people write it, of inbound mail from an internationalized one; else null. Show both: letters of other scripts look alike. */
            fromDomainUnicode: string | null;
            /** @description The author's name as shown in the mail. */
            fromName: string | null;
            /** @description As in the header of the mail; the first 1,000. */
            toAddresses: string[];
            /** @description As in the header of the mail; the first 1,000. */
            ccAddresses: string[];
            /** @description Of mail that was sent; empty for inbound mail. */
            bccAddresses: string[];
            /** @description The first mailbox of Reply-To. */
            replyTo: string | null;
            /** @description All mailboxes of Reply-To, the first 1,000. */
            replyToAddresses: string[];
            /** @description As in the header of the mail. */
            subject: string;
            /** @description The beginning of the text. */
            snippet: string;
            /** @description The new words alone, without quotes, signatures and footers. */
            extractedText: string | null;
            /** @description The Message-ID in the header of the mail. */
            messageIdHeader: string | null;
            /** @description The Message-ID that In-Reply-To in the header of the mail names; of several the first. */
            inReplyTo: string | null;
            /** @description The Message-IDs of References, 100 at most: the first, and the newest. */
            references: string[];
            /** @description `unread` on arrival; what keys gave it, in its order. */
            labels: string[];
            /** @description Vacation notices and their kind, receipts, every bounce report, whatever else came to the envelope sender of a message, and what the inbox itself sent and a list or an alias sends back; not `auto-generated` mail. */
            isAutoReply: boolean;
            /** @description Its author's domain disowns it (DMARC), or it names no one author (but for a report about mail of ours that counts and names none). */
            isSpam: boolean;
            /** @description What its evidence comes to: `none`, `low`, `medium`, `high`; null: not looked at yet. */
            risk: ("none" | "low" | "medium" | "high") | null;
            /** @description What is proven of the sender of inbound mail; null for outbound mail. */
            auth: components["schemas"]["Auth"] | null;
            /** @description The message that this one passes on; it may be gone since. */
            forwardOf: string | null;
            /** @description Of inbound mail: the address of the inbox that it came to, with its tag, also where To and Cc do not have it (Bcc, lists, aliases); null of what came before this was kept. */
            deliveredTo: string | null;
            /** @description Of inbound mail that says that a mailing list sends it; else null. Whoever writes may say so. */
            mailingList: components["schemas"]["MailingListShown"] | null;
            /** @description Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
            recipients: components["schemas"]["Recipient"][];
            /** @description What is not its words: files, invitations, pictures. */
            attachments: components["schemas"]["Attachment"][];
            /** @description Why it is `failed`: `bounced`, `expired`, `dropped` (by the operator), `review_rejected`, `review_expired`, or the error code that refused it; `invalid_api_key` of what was withdrawn with its key. */
            failureReason: string | null;
            /** @description When it is to be sent, as it was asked for. */
            scheduledAt: string | null;
            /** @description When a host first took it. */
            sentAt: string | null;
            /** @description Since when mail that came in is held; null of all that others see. */
            heldAt: string | null;
            /** @description When it came in, or was accepted. */
            createdAt: string;
        };
        LoopHealth: {
            holds: number;
            heldMs: number;
        };
        MailRule: {
            /** @description Its id. */
            id: string;
            /** @description The inbox whose mail it is about; null: every inbox of the organization. */
            inboxId: string | null;
            /**
             * @description `inbound`: mail that comes in; `outbound`: mail that is sent.
             * @enum {string}
             */
            direction: "inbound" | "outbound";
            /**
             * @description What becomes of it: `allow`, `block` or `hold`.
             * @enum {string}
             */
            action: "allow" | "block" | "hold";
            /** @description An address without its tag (`ada@x.org`, which names `ada+news@x.org` as well), a domain (`x.org`, that alone), or `*.x.org`, all domains below it; shown as it is compared (lower case, domain as `xn--`). */
            value: string;
            /** @description Up to 200 characters, for people. */
            note: string | null;
            /** @description When it was made. */
            createdAt: string;
        };
        MailingListShown: {
            /** @description What List-Id calls it. */
            id: string | null;
            /** @description The address by which one writes to all of its members. */
            post: string | null;
            /** @description URLs, `mailto:` among them, five at most. */
            unsubscribe: string[];
            /** @description Whether a POST of `List-Unsubscribe=One-Click` to that of https unsubscribes, and a valid DKIM signature covers both fields that say so (RFC 8058 §4). */
            oneClick: boolean;
        };
        Member: {
            /** @description Its id. */
            id: string;
            /** @description The address at which they sign in. */
            email: string;
            /** @description What they are called; null where nobody said. */
            name: string | null;
            /**
             * @description `owner`, `admin` or `member`.
             * @enum {string}
             */
            role: "owner" | "admin" | "member";
            /** @description When they joined. */
            joinedAt: string;
        };
        Message: {
            /** @description Its id: `msg_…`. */
            id: string;
            /** @description The inbox that it is in. */
            inboxId: string;
            /** @description The conversation that it is in. */
            threadId: string;
            /**
             * @description `inbound`: it came in; `outbound`: it was sent, or is to be.
             * @enum {string}
             */
            direction: "inbound" | "outbound";
            /**
             * @description `live`, or `test` for what a test key sent and the simulator answered.
             * @enum {string}
             */
            mode: "live" | "test";
            /**
             * @description What became of it.
             * @enum {string}
             */
            status: "received" | "held" | "scheduled" | "queued" | "sent" | "delivered" | "failed" | "cancelled";
            /** @description Of mail that waits for a decision: the review; else null. */
            review: components["schemas"]["HeldFor"] | null;
            /** @description The address of the one author; of the envelope sender where a mail names none. */
            fromAddress: string;
            /** @description The domain of `fromAddress` as a lower-case A-label (`xn--…`), or its address literal; null where there is none. */
            fromDomain: string | null;
            /** @description The same domain as people write it, of inbound mail from an internationalized one; else null. Show both: letters of other scripts look alike. */
            fromDomainUnicode: string | null;
            /** @description The author's name as shown in the mail. */
            fromName: string | null;
            /** @description As in the header of the mail; the first 1,000. */
            toAddresses: string[];
            /** @description As in the header of the mail; the first 1,000. */
            ccAddresses: string[];
            /** @description Of mail that was sent; empty for inbound mail. */
            bccAddresses: string[];
            /** @description The first mailbox of Reply-To. */
            replyTo: string | null;
            /** @description All mailboxes of Reply-To, the first 1,000. */
            replyToAddresses: string[];
            /** @description As in the header of the mail. */
            subject: string;
            /** @description The beginning of the text. */
            snippet: string;
            /** @description The new words alone, without quotes, signatures and footers. */
            extractedText: string | null;
            /** @description The Message-ID in the header of the mail. */
            messageIdHeader: string | null;
            /** @description The Message-ID that In-Reply-To in the header of the mail names; of several the first. */
            inReplyTo: string | null;
            /** @description The Message-IDs of References, 100 at most: the first, and the newest. */
            references: string[];
            /** @description `unread` on arrival; what keys gave it, in its order. */
            labels: string[];
            /** @description Vacation notices and their kind, receipts, every bounce report, whatever else came to the envelope sender of a message, and what the inbox itself sent and a list or an alias sends back; not `auto-generated` mail. */
            isAutoReply: boolean;
            /** @description Its author's domain disowns it (DMARC), or it names no one author (but for a report about mail of ours that counts and names none). */
            isSpam: boolean;
            /** @description What its evidence comes to: `none`, `low`, `medium`, `high`; null: not looked at yet. */
            risk: ("none" | "low" | "medium" | "high") | null;
            /** @description What is proven of the sender of inbound mail; null for outbound mail. */
            auth: components["schemas"]["Auth"] | null;
            /** @description The message that this one passes on; it may be gone since. */
            forwardOf: string | null;
            /** @description Of inbound mail: the address of the inbox that it came to, with its tag, also where To and Cc do not have it (Bcc, lists, aliases); null of what came before this was kept. */
            deliveredTo: string | null;
            /** @description Of inbound mail that says that a mailing list sends it; else null. Whoever writes may say so. */
            mailingList: components["schemas"]["MailingListShown"] | null;
            /** @description Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
            recipients: components["schemas"]["Recipient"][];
            /** @description What is not its words: files, invitations, pictures. */
            attachments: components["schemas"]["Attachment"][];
            /** @description Why it is `failed`: `bounced`, `expired`, `dropped` (by the operator), `review_rejected`, `review_expired`, or the error code that refused it; `invalid_api_key` of what was withdrawn with its key. */
            failureReason: string | null;
            /** @description When it is to be sent, as it was asked for. */
            scheduledAt: string | null;
            /** @description When a host first took it. */
            sentAt: string | null;
            /** @description Since when mail that came in is held; null of all that others see. */
            heldAt: string | null;
            /** @description When it came in, or was accepted. */
            createdAt: string;
            /** @description The words as text; not in lists. */
            textBody: string | null;
            /** @description The words as its author's HTML, scripts and all; not in lists. */
            htmlBody: string | null;
        };
        MessageDeletedEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "message.deleted";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["ChangedMessageData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        /** @description `version`: of what is looked for. `truncated`: not all of the message was looked at, or there are more items. */
        MessageEvidence: {
            /** @description The message that it is about. */
            messageId: string;
            /** @description Of the rules by which it was looked at. */
            version: number;
            /**
             * @description What it all comes to: `none`, `low`, `medium`, `high`.
             * @enum {string}
             */
            risk: "none" | "low" | "medium" | "high";
            /** @description How many characters of the text nobody sees. */
            hiddenCharacters: number;
            /** @description Whether something was not looked at, or there are more items. */
            truncated: boolean;
            /** @description What was found, the gravest first. */
            items: components["schemas"]["EvidenceItem"][];
        };
        /** @description Where the message stands in `text`, in code points, without its fences. */
        MessageInContext: {
            /** @description Its id. */
            id: string;
            /**
             * @description `inbound` or `outbound`.
             * @enum {string}
             */
            direction: "inbound" | "outbound";
            /** @description Its `auth.verifiedDomain`. */
            verifiedDomain: string | null;
            /** @description What its evidence comes to; null: not looked at yet. */
            risk: ("none" | "low" | "medium" | "high") | null;
            /** @description Where its words begin and end in `text`, in code points, without the lines around them. */
            start: number;
            /** @description Where its words begin and end in `text`, in code points, without the lines around them. */
            end: number;
            /** @description Whether there is more of it than is shown. */
            isCut: boolean;
            /** @description Its files; their bytes are not read. */
            attachments: components["schemas"]["ContextFile"][];
        };
        MessageUpdatedEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "message.updated";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["LabelledData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        MintedKey: {
            /** @description Its id: `key_…`. */
            id: string;
            /** @description What it is called: 1-64 characters. */
            name: string;
            /** @description The first 16 characters of the key. */
            keyPrefix: string;
            /**
             * @description `live`, or `test`: what it sends reaches nobody.
             * @enum {string}
             */
            mode: "live" | "test";
            /** @description The scopes that it holds. */
            scopes: string[];
            /** @description The inbox that it is bound to; null: none. */
            inboxId: string | null;
            /** @description False once revoked. */
            isActive: boolean;
            /** @description The key that minted it; null where the operator or a member did. */
            mintedBy: string | null;
            /** @description When it was last used, true to the minute; null: never. */
            lastUsedAt: string | null;
            /** @description When it was minted. */
            createdAt: string;
            /** @description The raw key; in the response of the creation alone. */
            apiKey: string;
            /** @description A reminder to keep it; in the response of the creation alone. */
            warning: string;
        };
        NamedRule: {
            /** @description Its id. */
            id: string;
            /**
             * @description `allow`, `block` or `hold`.
             * @enum {string}
             */
            action: "allow" | "block" | "hold";
        };
        Organization: {
            /** @description Its id. */
            id: string;
            /** @description What the operator called it. */
            name: string;
            /** @description One of the operator's (`[plans.NAME]` of the configuration); `selfhost`, `free` and `pro` are shipped. */
            plan: string;
            limits: components["schemas"]["Limits"];
            usage: components["schemas"]["Usage"];
            resetsAt: components["schemas"]["Resets"];
            sendingApproval: components["schemas"]["SendingApproval"];
            reputation: components["schemas"]["Reputation"];
            /**
             * @description Who decides what is held, and changes policies and rules: `keys` (those with the scopes, and members), or `members` alone. The operator sets it (`maild org reviewers`).
             * @enum {string}
             */
            reviewers: "keys" | "members";
            /** @description When it was made. */
            createdAt: string;
        };
        /** @description An organization's own document. `version`: how often it was replaced. */
        OrganizationPolicy: {
            /** @description How often it was changed. PUT takes the one that was read, 0 where there was no document. */
            version: number;
            outbound: components["schemas"]["ShownOutboundPolicy"];
            inbound: components["schemas"]["ShownInboundPolicy"];
            review: components["schemas"]["ShownReviewPolicy"];
        };
        /** @description A mail host of the domain that was not tried. */
        PassedOverHost: {
            /** @description The name of the mail host. */
            host: string;
            /** @description Why it was not tried. */
            reason: string;
        };
        PausedData: {
            /**
             * @description `approved`, `pending` or `paused`: it sends only while it is approved.
             * @enum {string}
             */
            status: "paused" | "pending";
            /** @description `hard_bounce_rate`, `complaint_rate`, `manual_review`, `bulk_pattern` (in events alone) or a word of the operator's; null where there is none. */
            reason: string | null;
            /** @description What to do: `contact_operator`, `ask_operator_to_reset_tripwire` (in events alone); null where there is nothing to be done. */
            action: string | null;
            /** @description Since when sending is paused; null where it is not. */
            trippedAt: string | null;
        };
        PingedData: {
            /** @description The webhook that is tested. */
            webhookId: string;
        };
        QueueChanged: {
            /** @description How many were changed. */
            recipients: number;
            /** @description Whether there are more: ask again while it is true. */
            more: boolean;
        };
        QueueState: {
            /** @description How many recipients wait on this host. */
            waiting: number;
            /** @description Since when the queue is paused; null: it is not. */
            pausedSince: string | null;
            /** @description The 20 where most wait. */
            destinations: components["schemas"]["QueuedDestination"][];
        };
        QueuedDestination: {
            /** @description A domain, or a group of mail hosts. */
            destination: string;
            /** @description How many recipients wait for it. */
            waiting: number;
            /** @description How many of these are held. */
            held: number;
            /** @description When the first is to be tried; null: none is. */
            firstDueAt: string | null;
        };
        QueuedRecipient: {
            /** @description The message. */
            messageId: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            /** @description Whom it goes to. */
            address: string;
            /** @description The domain, or the group of mail hosts, that it waits for. */
            destination: string;
            /**
             * @description `queued`, `deferred` or `held`.
             * @enum {string}
             */
            status: "queued" | "deferred" | "held";
            /** @description How often it was tried. */
            attempts: number;
            /** @description When it was tried at last; null: never. */
            lastAttemptAt: string | null;
            /** @description When it is tried again; null: not before it is released. */
            nextAttemptAt: string | null;
            /** @description When it is given up. */
            expiresAt: string;
            /** @description The code of the last reply. */
            smtpCode: number | null;
            /** @description The enhanced status code of the last reply. */
            enhancedCode: string | null;
            /** @description The words of the last reply. */
            response: string | null;
        };
        /** @description `text` and `extractedText`: up to 64 KiB; null, with the other words empty, once the message is deleted. */
        ReceivedData: {
            /** @description The message that it is about. */
            messageId: string;
            /** @description The inbox that it is in. */
            inboxId: string;
            /** @description The conversation that it is in. */
            threadId: string;
            /**
             * @description `inbound`: it came in; `outbound`: it was sent, or is to be.
             * @constant
             */
            direction: "inbound";
            /** @description The address of the one author; of the envelope sender where a mail names none. */
            fromAddress: string;
            /** @description The author's name as shown in the mail. */
            fromName: string | null;
            /** @description As in the header of the mail; the first 1,000. */
            toAddresses: string[];
            /** @description As in the header of the mail. */
            subject: string;
            /** @description The beginning of the text. */
            snippet: string;
            /** @description The words as text, the first 64 KiB. */
            text: string | null;
            /** @description Whether there are more. */
            textTruncated: boolean;
            /** @description The new words alone, without quotes, signatures and footers. */
            extractedText: string | null;
            /** @description Whether it has HTML as well. */
            hasHtml: boolean;
            /** @description What is proven of the sender of inbound mail; null for outbound mail. */
            auth: components["schemas"]["Auth"] | null;
            /** @description Its files, without their bytes. */
            attachments: components["schemas"]["EventAttachment"][];
            /** @description When it came in, or was approved. */
            receivedAt: string;
        };
        Recipient: {
            /** @description Whom it goes to. */
            address: string;
            /**
             * @description `to`, `cc` or `bcc`.
             * @enum {string}
             */
            kind: "to" | "cc" | "bcc";
            /**
             * @description `queued`, `deferred`, `sent`, `delivered`, `bounced`, `failed` or `suppressed`.
             * @enum {string}
             */
            status: "queued" | "deferred" | "sent" | "delivered" | "bounced" | "failed" | "suppressed";
            /** @description How often it was tried. */
            attempts: number;
            /** @description When it was tried at last; null: never. */
            lastAttemptAt: string | null;
            /** @description When it is tried again; null: not. */
            nextAttemptAt: string | null;
            /** @description Who answered the last attempt. */
            remoteHost: string | null;
            /** @description The code of its last reply. */
            smtpCode: number | null;
            /** @description The enhanced status code of its last reply (RFC 3463). */
            enhancedCode: string | null;
            /** @description The words of its last reply, or why there is none: plain words only. */
            response: string | null;
            /** @description The version and the cipher of the session, with a space between; where a policy demanded TLS, and got it, its name follows in brackets (`mta-sts`, `dane`, `verify`, `encrypt`): `TLSv1.3 TLS_AES_256_GCM_SHA384 (mta-sts)`. Null in plain text. */
            tls: string | null;
        };
        ReportedDispositions: {
            /** @description Messages with which the receiver did this. */
            none: number;
            /** @description Messages with which the receiver did this. */
            quarantine: number;
            /** @description Messages with which the receiver did this. */
            reject: number;
        };
        ReportedFailure: {
            /** @description The failure, such as `certificate-expired`. */
            type: string;
            /** @description How many sessions failed so. */
            sessions: number;
        };
        ReportedSource: {
            /** @description The IP address of the host. */
            address: string;
            /** @description How many messages came from it. */
            total: number;
            /** @description Those of them that passed. */
            passed: number;
            /** @description Those of them that did not. */
            failed: number;
        };
        Reputation: {
            /** @description How many days it is of: today (UTC) and the 29 before. */
            windowDays: number;
            /** @description How many messages were sent. */
            sent: number;
            /** @description The share of recipients (of messages, where those are more) that were refused for good; never above 1. */
            hardBounceRate: number;
            /** @description The share of recipients (of messages, where those are more) that called it spam; never above 1. */
            complaintRate: number;
        };
        /** @description Ids and reasons, never words. */
        RequestedReviewData: {
            /** @description The review. */
            reviewId: string;
            /** @description The message that is held. */
            messageId: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /**
             * @description `outbound`, or `inbound`: of mail that came in.
             * @enum {string}
             */
            direction: "inbound" | "outbound";
            /**
             * @description `pending`, `approved`, `rejected`, `expired` or `withdrawn`.
             * @enum {string}
             */
            status: "pending" | "approved" | "rejected" | "expired" | "withdrawn";
            /** @description Why it is held: `all`, `external`, `first_time`, codes of warnings, `unverified`, `high_risk`, `unlisted`, ids of rules. */
            reasons: string[];
            /** @description Until when it waits; then it is rejected. */
            expiresAt: string;
        };
        Resets: {
            /** @description When the figures of today begin again. */
            daily: string;
            /** @description When the figures of this month begin again. */
            monthly: string;
        };
        /** @description How the recipients of an answer were found. */
        ResolvedRecipients: {
            /**
             * @description Where its recipients are from: `reply_to`, `from`, `recipients` (of a message that was sent) or `given`.
             * @enum {string}
             */
            source: "reply_to" | "from" | "recipients" | "given";
            /** @description Who stands in the message and is not written to. */
            dropped: components["schemas"]["DroppedRecipient"][];
        };
        /** @description `resolvedBy`: a key, a member or `operator`; null: its time was over. */
        ResolvedReviewData: {
            /** @description The review. */
            reviewId: string;
            /** @description The message that is held. */
            messageId: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /**
             * @description `outbound`, or `inbound`: of mail that came in.
             * @enum {string}
             */
            direction: "inbound" | "outbound";
            /**
             * @description `pending`, `approved`, `rejected`, `expired` or `withdrawn`.
             * @enum {string}
             */
            status: "pending" | "approved" | "rejected" | "expired" | "withdrawn";
            /** @description Why it is held: `all`, `external`, `first_time`, codes of warnings, `unverified`, `high_risk`, `unlisted`, ids of rules. */
            reasons: string[];
            /** @description Until when it waits; then it is rejected. */
            expiresAt: string;
            /** @description The key or member that decided, or `operator`; null while it is pending, and where its time was over. */
            resolvedBy: string | null;
        };
        /** @description `resolvedBy`: a key, a member or `operator`; null while it is pending, and where its time was over. */
        Review: {
            /** @description Its id. */
            id: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The message that is held. */
            messageId: string;
            /**
             * @description `outbound`, or `inbound`: of mail that came in.
             * @enum {string}
             */
            direction: "inbound" | "outbound";
            /**
             * @description `test` for what comes of a test key, else `live`.
             * @enum {string}
             */
            mode: "live" | "test";
            /**
             * @description `pending`, `approved`, `rejected`, `expired` or `withdrawn`.
             * @enum {string}
             */
            status: "pending" | "approved" | "rejected" | "expired" | "withdrawn";
            /** @description Why it is held: `all`, `external`, `first_time`, codes of warnings, `unverified`, `high_risk`, `unlisted`, ids of rules. */
            reasons: string[];
            /** @description What looks wrong in the message, as a check tells it. */
            warnings: components["schemas"]["CheckWarning"][];
            /** @description The key that sent it; null of mail that came in. */
            submittedBy: string | null;
            /** @description Until when it waits; then it is rejected. */
            expiresAt: string;
            /** @description The key or member that decided, or `operator`; null while it is pending, and where its time was over. */
            resolvedBy: string | null;
            /** @description When it was decided; null before. */
            resolvedAt: string | null;
            /** @description What was said with the decision; else null. */
            note: string | null;
            /** @description When it was made. */
            createdAt: string;
        };
        ReviewRequestedEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "review.requested";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["RequestedReviewData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        ReviewResolvedEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "review.resolved";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["ResolvedReviewData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        Revoked: {
            /** @description Its id. */
            id: string;
            /** @constant */
            status: "revoked";
        };
        RevokedWithMail: {
            /** @description Its id. */
            id: string;
            /**
             * @description `revoked`.
             * @constant
             */
            status: "revoked";
            /** @description How many keys were revoked. */
            revokedKeys: number;
            /** @description How much mail was withdrawn, what fails within minutes included. */
            withdrawnMessages: number;
        };
        SendingApproval: {
            /**
             * @description `approved`, `pending` or `paused`: it sends only while it is approved.
             * @enum {string}
             */
            status: "approved" | "pending" | "paused";
            /** @description `hard_bounce_rate`, `complaint_rate`, `manual_review`, `bulk_pattern` (in events alone) or a word of the operator's; null where there is none. */
            reason: string | null;
            /** @description What to do: `contact_operator`, `ask_operator_to_reset_tripwire` (in events alone); null where there is nothing to be done. */
            action: string | null;
            /** @description Since when sending is paused; null where it is not. */
            trippedAt: string | null;
        };
        SendingPausedEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "sending.paused";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["PausedData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        SentData: {
            /** @description The message that it is about. */
            messageId: string;
            /** @description The inbox that it is in. */
            inboxId: string;
            /** @description The conversation that it is in. */
            threadId: string;
            /** @description The address of the one author; of the envelope sender where a mail names none. */
            fromAddress: string;
            /** @description As in the header of the mail; the first 1,000. */
            toAddresses: string[];
            /** @description As in the header of the mail. */
            subject: string;
            /** @description When a host first took it. */
            sentAt: string | null;
            /** @description Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
            recipients: components["schemas"]["Recipient"][];
        };
        SentReply: {
            /** @description Its id: `msg_…`. */
            id: string;
            /** @description The inbox that it is in. */
            inboxId: string;
            /** @description The conversation that it is in. */
            threadId: string;
            /**
             * @description `inbound`: it came in; `outbound`: it was sent, or is to be.
             * @enum {string}
             */
            direction: "inbound" | "outbound";
            /**
             * @description `live`, or `test` for what a test key sent and the simulator answered.
             * @enum {string}
             */
            mode: "live" | "test";
            /**
             * @description What became of it.
             * @enum {string}
             */
            status: "received" | "held" | "scheduled" | "queued" | "sent" | "delivered" | "failed" | "cancelled";
            /** @description Of mail that waits for a decision: the review; else null. */
            review: components["schemas"]["HeldFor"] | null;
            /** @description The address of the one author; of the envelope sender where a mail names none. */
            fromAddress: string;
            /** @description The domain of `fromAddress` as a lower-case A-label (`xn--…`), or its address literal; null where there is none. */
            fromDomain: string | null;
            /** @description The same domain as people write it, of inbound mail from an internationalized one; else null. Show both: letters of other scripts look alike. */
            fromDomainUnicode: string | null;
            /** @description The author's name as shown in the mail. */
            fromName: string | null;
            /** @description As in the header of the mail; the first 1,000. */
            toAddresses: string[];
            /** @description As in the header of the mail; the first 1,000. */
            ccAddresses: string[];
            /** @description Of mail that was sent; empty for inbound mail. */
            bccAddresses: string[];
            /** @description The first mailbox of Reply-To. */
            replyTo: string | null;
            /** @description All mailboxes of Reply-To, the first 1,000. */
            replyToAddresses: string[];
            /** @description As in the header of the mail. */
            subject: string;
            /** @description The beginning of the text. */
            snippet: string;
            /** @description The new words alone, without quotes, signatures and footers. */
            extractedText: string | null;
            /** @description The Message-ID in the header of the mail. */
            messageIdHeader: string | null;
            /** @description The Message-ID that In-Reply-To in the header of the mail names; of several the first. */
            inReplyTo: string | null;
            /** @description The Message-IDs of References, 100 at most: the first, and the newest. */
            references: string[];
            /** @description `unread` on arrival; what keys gave it, in its order. */
            labels: string[];
            /** @description Vacation notices and their kind, receipts, every bounce report, whatever else came to the envelope sender of a message, and what the inbox itself sent and a list or an alias sends back; not `auto-generated` mail. */
            isAutoReply: boolean;
            /** @description Its author's domain disowns it (DMARC), or it names no one author (but for a report about mail of ours that counts and names none). */
            isSpam: boolean;
            /** @description What its evidence comes to: `none`, `low`, `medium`, `high`; null: not looked at yet. */
            risk: ("none" | "low" | "medium" | "high") | null;
            /** @description What is proven of the sender of inbound mail; null for outbound mail. */
            auth: components["schemas"]["Auth"] | null;
            /** @description The message that this one passes on; it may be gone since. */
            forwardOf: string | null;
            /** @description Of inbound mail: the address of the inbox that it came to, with its tag, also where To and Cc do not have it (Bcc, lists, aliases); null of what came before this was kept. */
            deliveredTo: string | null;
            /** @description Of inbound mail that says that a mailing list sends it; else null. Whoever writes may say so. */
            mailingList: components["schemas"]["MailingListShown"] | null;
            /** @description Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
            recipients: components["schemas"]["Recipient"][];
            /** @description What is not its words: files, invitations, pictures. */
            attachments: components["schemas"]["Attachment"][];
            /** @description Why it is `failed`: `bounced`, `expired`, `dropped` (by the operator), `review_rejected`, `review_expired`, or the error code that refused it; `invalid_api_key` of what was withdrawn with its key. */
            failureReason: string | null;
            /** @description When it is to be sent, as it was asked for. */
            scheduledAt: string | null;
            /** @description When a host first took it. */
            sentAt: string | null;
            /** @description Since when mail that came in is held; null of all that others see. */
            heldAt: string | null;
            /** @description When it came in, or was accepted. */
            createdAt: string;
            resolved: components["schemas"]["ResolvedRecipients"];
        };
        ShownInboundPolicy: {
            /** @description Mail that comes in and is shown to nobody until it is approved: `unverified`: without `auth.verifiedDomain`; `high_risk`: with `risk` `high`; both levels' lists count. */
            hold: ("unverified" | "high_risk")[];
            /**
             * @description What becomes of mail whose sender no rule names: `accept`, `hold`, `refuse`.
             * @enum {string}
             */
            unlisted: "accept" | "hold" | "refuse";
        };
        ShownOutboundPolicy: {
            /**
             * @description Who may be written to: `any`: anybody; `allowlist`: whom a rule allows; `participants`: who takes part in the conversation.
             * @enum {string}
             */
            recipients: "any" | "allowlist" | "participants";
            /**
             * @description What waits for somebody's approval: `off`: nothing; `first_time`: mail to recipients outside the organization never written to from the inbox; `external`: to any outside the organization; `all`: all.
             * @enum {string}
             */
            review: "off" | "first_time" | "external" | "all";
            /** @description Warnings of a check: a message that looks like this waits, too; both levels' lists count. */
            holdOn: ("empty_body" | "placeholder" | "model_artifact" | "secret" | "attachment_missing" | "duplicate" | "recipient_from_content" | "reply_to_mismatch" | "no_reply_address" | "auto_reply_target")[];
            /** @description How many recipients never written to from the inbox a UTC day may have, 0-1,000,000; null: no limit. Beyond it live sends are 402 `limit_reached`, `resource: "firstTimeRecipientsDaily"`; the smaller counts. */
            firstTimeDaily: number | null;
            /**
             * @description `honor`: a Reply-To is answered; `verified`: one of a foreign organization is not, From is.
             * @enum {string}
             */
            replyTo: "honor" | "verified";
        };
        ShownReviewPolicy: {
            /** @description How long a review waits before it is rejected (60-2,592,000, default 172,800); the smaller counts. */
            expiresAfterSeconds: number;
            /** @description Up to 10 addresses that a digest tells, once an hour, of reviews that wait; both levels' lists count. */
            notify: string[];
        };
        ShownWorkPolicy: {
            /** @description Of inboxes alone: their mail is work. */
            enabled: boolean;
            /** @description After how many claims that ended undone a message is dead (1-100, default 5). */
            maxAttempts: number;
            /** @description Whether an answer needs a `claimId`. */
            requireClaim: boolean;
        };
        /**
         * @description Milliseconds; null: it did not come to that. `wait`: for a place among the sessions; `greeting`: the host's;
         *     `hello`: EHLO; `envelope`: MAIL, RCPT; `data`: the message; `answer`: the reply to it.
         */
        StageDurations: {
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
        Suppression: {
            /** @description Its id. */
            id: string;
            /** @description The address; shown in lower case, its domain as `xn--`. */
            email: string;
            /**
             * @description `hard_bounce`, `complaint`, `unsubscribe` or `manual`.
             * @enum {string}
             */
            reason: "hard_bounce" | "complaint" | "unsubscribe" | "manual";
            /**
             * @description What put it there: `api`, `bounce`, `feedback_loop` or `list_unsubscribe`.
             * @enum {string}
             */
            source: "api" | "bounce" | "feedback_loop" | "list_unsubscribe";
            /** @description When it was made. */
            createdAt: string;
        };
        Thread: {
            /** @description Its id. */
            id: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description Of the message that began it. */
            subject: string;
            /** @description The beginning of the latest message's text. */
            snippet: string;
            /** @description The latest 50 addresses in it. */
            participants: string[];
            /** @description Those of the newest 200 messages, at most 100, and `unread` while anything in the thread is. */
            labels: string[];
            /** @description Messages in it. */
            messageCount: number;
            /** @description Those with the label `unread`. */
            unreadCount: number;
            /** @description When the latest came in or was sent. */
            lastMessageAt: string;
            /** @description Whether it is put away; mail that comes in takes it out. */
            isArchived: boolean;
            /** @description When it was made. */
            createdAt: string;
        };
        ThreadContext: {
            /** @description The conversation that it belongs to. */
            threadId: string;
            /** @description The newest message that counts for `ifLastMessageId`: hand it back with the answer; null where none does. */
            lastMessageId: string | null;
            /** @description That of `text`. */
            contextHash: string;
            /** @description How many tokens `text` is, by estimate; never above `maxTokens`. */
            estimatedTokens: number;
            /** @description The budget that was asked for. */
            maxTokens: number;
            /** @description Whether something was cut or left out. */
            truncated: boolean;
            /** @description How many messages of the thread are not in `text`. */
            omittedMessages: number;
            /** @description The conversation, for a model. */
            text: string;
            /** @description The messages in `text`, oldest first. */
            messages: components["schemas"]["MessageInContext"][];
        };
        /** @description The whole message, and the short names beside the long ones. */
        ThreadMessage: {
            /** @description Its id: `msg_…`. */
            id: string;
            /** @description The inbox that it is in. */
            inboxId: string;
            /** @description The conversation that it is in. */
            threadId: string;
            /**
             * @description `inbound`: it came in; `outbound`: it was sent, or is to be.
             * @enum {string}
             */
            direction: "inbound" | "outbound";
            /**
             * @description `live`, or `test` for what a test key sent and the simulator answered.
             * @enum {string}
             */
            mode: "live" | "test";
            /**
             * @description What became of it.
             * @enum {string}
             */
            status: "received" | "held" | "scheduled" | "queued" | "sent" | "delivered" | "failed" | "cancelled";
            /** @description Of mail that waits for a decision: the review; else null. */
            review: components["schemas"]["HeldFor"] | null;
            /** @description The address of the one author; of the envelope sender where a mail names none. */
            fromAddress: string;
            /** @description The domain of `fromAddress` as a lower-case A-label (`xn--…`), or its address literal; null where there is none. */
            fromDomain: string | null;
            /** @description The same domain as people write it, of inbound mail from an internationalized one; else null. Show both: letters of other scripts look alike. */
            fromDomainUnicode: string | null;
            /** @description The author's name as shown in the mail. */
            fromName: string | null;
            /** @description As in the header of the mail; the first 1,000. */
            toAddresses: string[];
            /** @description As in the header of the mail; the first 1,000. */
            ccAddresses: string[];
            /** @description Of mail that was sent; empty for inbound mail. */
            bccAddresses: string[];
            /** @description The first mailbox of Reply-To. */
            replyTo: string | null;
            /** @description All mailboxes of Reply-To, the first 1,000. */
            replyToAddresses: string[];
            /** @description As in the header of the mail. */
            subject: string;
            /** @description The beginning of the text. */
            snippet: string;
            /** @description The new words alone, without quotes, signatures and footers. */
            extractedText: string | null;
            /** @description The Message-ID in the header of the mail. */
            messageIdHeader: string | null;
            /** @description The Message-ID that In-Reply-To in the header of the mail names; of several the first. */
            inReplyTo: string | null;
            /** @description The Message-IDs of References, 100 at most: the first, and the newest. */
            references: string[];
            /** @description `unread` on arrival; what keys gave it, in its order. */
            labels: string[];
            /** @description Vacation notices and their kind, receipts, every bounce report, whatever else came to the envelope sender of a message, and what the inbox itself sent and a list or an alias sends back; not `auto-generated` mail. */
            isAutoReply: boolean;
            /** @description Its author's domain disowns it (DMARC), or it names no one author (but for a report about mail of ours that counts and names none). */
            isSpam: boolean;
            /** @description What its evidence comes to: `none`, `low`, `medium`, `high`; null: not looked at yet. */
            risk: ("none" | "low" | "medium" | "high") | null;
            /** @description What is proven of the sender of inbound mail; null for outbound mail. */
            auth: components["schemas"]["Auth"] | null;
            /** @description The message that this one passes on; it may be gone since. */
            forwardOf: string | null;
            /** @description Of inbound mail: the address of the inbox that it came to, with its tag, also where To and Cc do not have it (Bcc, lists, aliases); null of what came before this was kept. */
            deliveredTo: string | null;
            /** @description Of inbound mail that says that a mailing list sends it; else null. Whoever writes may say so. */
            mailingList: components["schemas"]["MailingListShown"] | null;
            /** @description Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
            recipients: components["schemas"]["Recipient"][];
            /** @description What is not its words: files, invitations, pictures. */
            attachments: components["schemas"]["Attachment"][];
            /** @description Why it is `failed`: `bounced`, `expired`, `dropped` (by the operator), `review_rejected`, `review_expired`, or the error code that refused it; `invalid_api_key` of what was withdrawn with its key. */
            failureReason: string | null;
            /** @description When it is to be sent, as it was asked for. */
            scheduledAt: string | null;
            /** @description When a host first took it. */
            sentAt: string | null;
            /** @description Since when mail that came in is held; null of all that others see. */
            heldAt: string | null;
            /** @description When it came in, or was accepted. */
            createdAt: string;
            /** @description The words as text; not in lists. */
            textBody: string | null;
            /** @description The words as its author's HTML, scripts and all; not in lists. */
            htmlBody: string | null;
            /** @description The same as `fromAddress`. */
            from: string;
            /** @description The same as `toAddresses`. */
            to: string[];
            /** @description The same as `textBody`. */
            text: string | null;
            /** @description The same as `htmlBody`. */
            html: string | null;
        };
        ThreadUpdatedEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "thread.updated";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["ChangedThreadData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        /** @description Sessions of the reporter with the domain's mail hosts. */
        TlsSummary: {
            /** @description `sts`, `tlsa`, `no-policy-found`. */
            policyTypes: string[];
            /** @description Why sessions failed, the 20 with most. */
            failures: components["schemas"]["ReportedFailure"][];
        };
        Unsubscribed: {
            email: string;
            /** @constant */
            status: "unsubscribed";
        };
        UnsubscribedData: {
            /** @description The address that wants no more mail. */
            email: string;
            /** @description The message that it is about. */
            messageId: string | null;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /**
             * @description `one_click` or `link`: how it said so.
             * @enum {string}
             */
            source: "one_click" | "link";
            /** @description The suppression that was made of it. */
            suppressionId: string;
        };
        UnverifiedData: {
            /** @description The domain. */
            domainId: string;
            /** @description A lower-case A-label without a last dot: two labels or more, at most 238 characters. */
            domainName: string;
            /**
             * @description `pending`, `verified` or `failed`, see its states.
             * @constant
             */
            status: "failed";
            checks: components["schemas"]["DomainChecks"];
            /** @description When it was verified; null before, and once it failed. */
            verifiedAt: string | null;
        };
        Usage: {
            /** @description Messages of this month (UTC). */
            messagesMonthly: number;
            /** @description Messages of today (UTC). */
            messagesDaily: number;
            /** @description Active inboxes. */
            inboxes: number;
            /** @description Drafts that are neither sent nor discarded. */
            openDrafts: number;
            /** @description Webhooks. */
            webhooks: number;
            /** @description The size of the stored messages; as `usage` of those that the key can read. What is held counts against the limit, and is shown to those who decide about it. */
            storageBytes: number;
        };
        VerifiedData: {
            /** @description The domain. */
            domainId: string;
            /** @description A lower-case A-label without a last dot: two labels or more, at most 238 characters. */
            domainName: string;
            /**
             * @description `pending`, `verified` or `failed`, see its states.
             * @constant
             */
            status: "verified";
            checks: components["schemas"]["DomainChecks"];
            /** @description When it was verified; null before, and once it failed. */
            verifiedAt: string | null;
        };
        Webhook: {
            /** @description Its id. */
            id: string;
            /** @description Where events are sent: https, public. */
            url: string;
            /** @description The types that are sent. */
            subscribedEvents: string[];
            /** @description Whether anything is sent. */
            isActive: boolean;
            /** @description When it was made. */
            createdAt: string;
            /** @description When it last changed. */
            updatedAt: string;
        };
        WebhookDelivery: {
            /** @description Its id. */
            id: string;
            /** @description The webhook. */
            webhookId: string;
            /** @description The event. */
            eventId: string | null;
            /** @description The event's type. */
            eventType: string;
            /** @description Its number, from 1. */
            attempt: number;
            /** @description What was sent beside the body. */
            requestHeaders: {
                [key: string]: string;
            };
            /** @description The status of the answer; null where there was none. */
            responseStatus: number | null;
            /** @description The first 1,000 characters of the answer; null where there was none. */
            responseBody: string | null;
            /** @description Whether the answer took the event (2xx). */
            isSuccessful: boolean;
            /** @description Why it failed; null where it did not. */
            error: string | null;
            /** @description How long it took, in milliseconds. */
            durationMs: number;
            /** @description When it is tried again; null: not. */
            nextAttemptAt: string | null;
            /** @description When it was made. */
            createdAt: string;
        };
        /** @description The test ping, which stands in no log. */
        WebhookTestEvent: {
            /** @description What to dedupe it on. */
            id: string;
            /**
             * @description What happened.
             * @constant
             */
            type: "webhook.test";
            /**
             * @description `v1`.
             * @constant
             */
            apiVersion: "v1";
            /** @description When it happened. */
            createdAt: string;
            /** @description The organization that it happened in. */
            organizationId: string;
            data: components["schemas"]["PingedData"];
            /**
             * @description `test`, of what a test key did; else it is left out.
             * @constant
             */
            mode?: "test";
        };
        WebhookWithSecret: {
            /** @description Its id. */
            id: string;
            /** @description Where events are sent: https, public. */
            url: string;
            /** @description The types that are sent. */
            subscribedEvents: string[];
            /** @description Whether anything is sent. */
            isActive: boolean;
            /** @description When it was made. */
            createdAt: string;
            /** @description When it last changed. */
            updatedAt: string;
            /** @description What signs deliveries; in the responses of creation and rotate-secret alone. */
            secret: string;
        };
        /**
         * @description With what is decided about. `contentHash`: for the approval; it and the message are null once that was deleted.
         *     `context`: the conversation, as `GET /v1/threads/{id}/context` gives it; null where there is none.
         */
        WholeReview: {
            /** @description Its id. */
            id: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The message that is held. */
            messageId: string;
            /**
             * @description `outbound`, or `inbound`: of mail that came in.
             * @enum {string}
             */
            direction: "inbound" | "outbound";
            /**
             * @description `test` for what comes of a test key, else `live`.
             * @enum {string}
             */
            mode: "live" | "test";
            /**
             * @description `pending`, `approved`, `rejected`, `expired` or `withdrawn`.
             * @enum {string}
             */
            status: "pending" | "approved" | "rejected" | "expired" | "withdrawn";
            /** @description Why it is held: `all`, `external`, `first_time`, codes of warnings, `unverified`, `high_risk`, `unlisted`, ids of rules. */
            reasons: string[];
            /** @description What looks wrong in the message, as a check tells it. */
            warnings: components["schemas"]["CheckWarning"][];
            /** @description The key that sent it; null of mail that came in. */
            submittedBy: string | null;
            /** @description Until when it waits; then it is rejected. */
            expiresAt: string;
            /** @description The key or member that decided, or `operator`; null while it is pending, and where its time was over. */
            resolvedBy: string | null;
            /** @description When it was decided; null before. */
            resolvedAt: string | null;
            /** @description What was said with the decision; else null. */
            note: string | null;
            /** @description When it was made. */
            createdAt: string;
            /** @description Of one review alone: that of all that is shown and sent, to approve it with; null once the message was deleted. */
            contentHash: string | null;
            /** @description Of one review alone: the whole message; null once it was deleted. */
            message: components["schemas"]["Message"] | null;
            /** @description Of one review alone: the thread as text for a model; null where there is none. */
            context: string | null;
        };
        WholeThread: {
            /** @description Its id. */
            id: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description Of the message that began it. */
            subject: string;
            /** @description The beginning of the latest message's text. */
            snippet: string;
            /** @description The latest 50 addresses in it. */
            participants: string[];
            /** @description Those of the newest 200 messages, at most 100, and `unread` while anything in the thread is. */
            labels: string[];
            /** @description Messages in it. */
            messageCount: number;
            /** @description Those with the label `unread`. */
            unreadCount: number;
            /** @description When the latest came in or was sent. */
            lastMessageAt: string;
            /** @description Whether it is put away; mail that comes in takes it out. */
            isArchived: boolean;
            /** @description When it was made. */
            createdAt: string;
            /** @description Of one thread alone: whether there are older messages. */
            hasMore: boolean;
            /** @description Of one thread alone: its messages, oldest first. An element is the whole message, and beside the long names the short ones `from`, `to`, `text`, `html`. */
            messages: components["schemas"]["ThreadMessage"][];
        };
        WorkClaim: {
            /** @description Its id. */
            id: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The conversation that it belongs to. */
            threadId: string;
            /** @description The message that it is about. */
            messageId: string;
            /** @description The key that claimed. */
            keyId: string;
            /**
             * @description `test` for what comes of a test key, else `live`.
             * @enum {string}
             */
            mode: "live" | "test";
            /**
             * @description `live`, or how it ended: `done`, `released`, `expired`, `dead`.
             * @enum {string}
             */
            status: "live" | "released" | "expired" | "done" | "dead";
            /** @description Which claim of the message this is, from 1. */
            attempt: number;
            /** @description What the claimer called itself. */
            holder: string | null;
            /** @description Until when it lives, unless it is extended. */
            leaseExpiresAt: string;
            /** @description When it was made. */
            createdAt: string;
        };
        /** @description What `organization.members` is asked with. */
        ListMembersParams: {
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last item of a page, to get the next one. */
            cursor?: string;
        };
        /** @description What `audit.list` is asked with. */
        ListAuditParams: {
            /** @description A `seq`: the rows behind it are told. */
            after?: number;
            /** @description Separated by commas; all by default. */
            types?: ("key.minted" | "key.revoked" | "agent.created" | "agent.deleted" | "inbox.created" | "inbox.updated" | "inbox.deactivated" | "domain.registered" | "domain.updated" | "domain.key_rotated" | "domain.verified" | "domain.failed" | "domain.deleted" | "webhook.created" | "webhook.updated" | "webhook.secret_rotated" | "webhook.deleted" | "suppression.added" | "suppression.removed" | "policy.replaced" | "rule.created" | "rule.deleted" | "review.approved" | "review.rejected" | "review.withdrawn" | "review.expired" | "organization.reviewers_changed" | "message.held" | "message.queued" | "message.scheduled" | "message.dispatched" | "message.refused" | "message.cancelled" | "message.deleted" | "member.added" | "member.changed" | "member.removed" | "login.link_made" | "login.accepted" | "login.refused" | "session.ended" | "organization.created" | "organization.plan_changed" | "organization.approved" | "organization.paused" | "organization.closed" | "organization.deleted" | "organization.tripwire_tripped" | "organization.tripwire_reset" | "queue.paused" | "queue.resumed" | "queue.changed" | "queue.dropped" | "master_key.rotated" | "audit.key_shown" | "audit.key_lost" | "audit.sealed")[];
            /** @description The id of a key or member: what it did. */
            actor?: string;
            /** @description How many at most. */
            limit?: number;
        };
        /** @description What `keys.list` is asked with. */
        ListKeysParams: {
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last item of a page, to get the next one. */
            cursor?: string;
        };
        /** @description What `agents.list` is asked with. */
        ListAgentsParams: {
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last item of a page, to get the next one. */
            cursor?: string;
        };
        /** @description What `inboxes.list` is asked with. */
        ListInboxesParams: {
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last item of a page, to get the next one. */
            cursor?: string;
            /** @description Only those that have this. */
            isActive?: boolean;
            /** @description Only those that have this. */
            address?: string;
        };
        /** @description What `claims.list` is asked with. */
        ListClaimsParams: {
            /** @description Of this inbox alone; lists and figures of one that does not exist are empty. */
            inboxId?: string;
            /**
             * @description Only those that have this.
             * @enum {string}
             */
            status?: "live" | "released" | "expired" | "done" | "dead";
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last item of a page, to get the next one. */
            cursor?: string;
        };
        /** @description What `messages.list` is asked with. */
        ListMessagesParams: {
            /** @description Of this inbox alone; lists and figures of one that does not exist are empty. */
            inboxId?: string;
            /** @description Of this conversation alone; of one that does not exist there is nothing. */
            threadId?: string;
            /** @description How many at most. */
            limit?: number;
            /** @description A part of the subject, the body, the sender or a recipient, up to 200 characters. */
            q?: string;
            /**
             * @description `inbound` or `outbound`.
             * @enum {string}
             */
            direction?: "inbound" | "outbound";
            /** @description A part of the sender's address; behind an @ U-labels are as good as A-labels. */
            from?: string;
            /** @description The whole domain of the sender's address, as A-label or U-label. */
            fromDomain?: string;
            /** @description Whether `auth.verifiedDomain` is not null. */
            verified?: boolean;
            /** @description Separated by commas: has all of them. */
            labels?: string[];
            /** @description Whether it has the label `unread`. */
            unread?: boolean;
            /**
             * @description Only those in this state.
             * @enum {string}
             */
            status?: "received" | "held" | "scheduled" | "queued" | "sent" | "delivered" | "failed" | "cancelled";
            /** @description Whether a program wrote it by itself. */
            isAutoReply?: boolean;
            /** @description Whether it counts as spam. */
            isSpam?: boolean;
            /** @description Whether it has any. */
            hasAttachments?: boolean;
            /** @description `true`: mail that is held and nothing else, for keys with reviews:read. */
            held?: boolean;
            /** @description From this time on: a date (midnight UTC) or a timestamp. */
            since?: Date | string;
            /** @description Before this time. */
            until?: Date | string;
            /** @description The same as `cursor`. */
            before?: string;
            /** @description The `id` of the last item of a page, to get the next one. */
            cursor?: string;
        };
        /** @description What `messages.wait` is asked with. */
        WaitForMessageParams: {
            /** @description In this inbox alone. */
            inboxId?: string;
            /** @description In this conversation alone. */
            threadId?: string;
            /** @description A part of the sender's address, as on lists. */
            from?: string;
            /** @description The domain of the sender or one above it: of `auth.verifiedDomain`, or, with `verified=false`, of whatever `fromAddress` claims. */
            fromDomain?: string;
            /** @description Whether `auth.verifiedDomain` must not be null; `true` by default where `fromDomain` is given, else `false`. */
            verified?: boolean;
            /** @description A part of the subject, in any case. */
            subject?: string;
            /** @description A part of the subject, the body, the sender or a recipient, as on lists. */
            q?: string;
            /** @description It has, or has not, a code. */
            hasCode?: boolean;
            /** @description The position: a message, an event or a time (one that is still to come is now); left out, two minutes ago. */
            after?: string;
            /** @description How long to wait (25; 0-55). */
            timeoutSeconds?: number;
        };
        /** @description What `messages.get` is asked with. */
        GetMessageParams: {
            /**
             * @description Of one message: `sanitized`, to get `htmlBody` as sends are sanitized.
             * @enum {string}
             */
            html?: "original" | "sanitized";
        };
        /** @description What `messages.raw` is asked with. */
        GetRawMessageParams: {
            /** @description RFC 9110 §14.2, one range of bytes: `bytes=0-1023`; anything else is ignored */
            range?: string;
            /** @description The `ETag` that the range is of; the whole is sent when it is another */
            ifRange?: string;
            /** @description The `ETag` of an answer that the client has; 304 where it would come again */
            ifNoneMatch?: string;
        };
        /** @description What `reviews.list` is asked with. */
        ListReviewsParams: {
            /**
             * @description Only those that have this.
             * @enum {string}
             */
            status?: "pending" | "approved" | "rejected" | "expired" | "withdrawn";
            /**
             * @description Only those that have this.
             * @enum {string}
             */
            direction?: "inbound" | "outbound";
            /** @description Of this inbox alone; lists and figures of one that does not exist are empty. */
            inboxId?: string;
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last item of a page, to get the next one. */
            cursor?: string;
        };
        /** @description What `threads.list` is asked with. */
        ListThreadsParams: {
            /** @description Of this inbox alone; lists and figures of one that does not exist are empty. */
            inboxId?: string;
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last thread of a page, or `<id>@<lastMessageAt>`, to get the next one. */
            cursor?: string;
            /** @description Whether they are put away; both kinds without it. */
            isArchived?: boolean;
            /** @description Separated by commas: has all of them, as the thread shows them. */
            labels?: string[];
            /** @description Whether `unreadCount` is above 0. */
            unread?: boolean;
        };
        /** @description What `threads.get` is asked with. */
        GetThreadParams: {
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the first message that was shown, to get older ones. */
            before?: string;
        };
        /** @description What `threads.context` is asked with. */
        GetThreadContextParams: {
            /** @description How many tokens the text may have (4000; 200-100,000). */
            maxTokens?: number;
            /** @description The message that gets most room; by default the newest inbound one. */
            focus?: string;
            /** @description The `ETag` of an answer that the client has; 304 where it would come again */
            ifNoneMatch?: string;
        };
        /** @description What `attachments.download` is asked with. */
        GetAttachmentParams: {
            /** @description `1` or `true`: let a browser show it, where that is safe. */
            inline?: boolean;
            /** @description RFC 9110 §14.2, one range of bytes: `bytes=0-1023`; anything else is ignored */
            range?: string;
            /** @description The `ETag` that the range is of; the whole is sent when it is another */
            ifRange?: string;
            /** @description The `ETag` of an answer that the client has; 304 where it would come again */
            ifNoneMatch?: string;
        };
        /** @description What `drafts.list` is asked with. */
        ListDraftsParams: {
            /**
             * @description Only those that have this.
             * @enum {string}
             */
            status?: "draft" | "sent" | "discarded";
            /** @description Of this inbox alone; lists and figures of one that does not exist are empty. */
            inboxId?: string;
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last item of a page, to get the next one. */
            cursor?: string;
        };
        /** @description What `domains.reports` is asked with. */
        ListDomainReportsParams: {
            /**
             * @description Only those that have this.
             * @enum {string}
             */
            type?: "dmarc" | "tls";
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last item of a page, to get the next one. */
            cursor?: string;
        };
        /** @description What `suppressions.list` is asked with. */
        ListSuppressionsParams: {
            /**
             * @description Only those that have this.
             * @enum {string}
             */
            reason?: "hard_bounce" | "complaint" | "unsubscribe" | "manual";
            /** @description Only those that have this. */
            email?: string;
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last item of a page, to get the next one. */
            cursor?: string;
        };
        /** @description What `rules.list` is asked with. */
        ListRulesParams: {
            /**
             * @description Only those that have this.
             * @enum {string}
             */
            direction?: "inbound" | "outbound";
            /**
             * @description Only those that have this.
             * @enum {string}
             */
            action?: "allow" | "block" | "hold";
            /** @description Only those that have this. */
            value?: string;
            /** @description Of this inbox alone; lists and figures of one that does not exist are empty. */
            inboxId?: string;
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last item of a page, to get the next one. */
            cursor?: string;
        };
        /** @description What `unsubscribe.page` is asked with. */
        ShowUnsubscribeParams: {
            /** @description That of the link. */
            token?: string;
        };
        /** @description What `unsubscribe.confirm` is asked with. */
        UnsubscribeParams: {
            /** @description That of the link. */
            token?: string;
        };
        /** @description What `analytics.summary` is asked with. */
        GetSummaryParams: {
            /** @description Of this inbox alone; lists and figures of one that does not exist are empty. */
            inboxId?: string;
            /** @description From this time on: a date (midnight UTC) or a timestamp. */
            since?: Date | string;
            /** @description Before this time. */
            until?: Date | string;
        };
        /** @description What `analytics.events` is asked with. */
        GetEventSeriesParams: {
            /** @description Of this inbox alone; lists and figures of one that does not exist are empty. */
            inboxId?: string;
            /** @description From this time on: a date (midnight UTC) or a timestamp. */
            since?: Date | string;
            /** @description Before this time. */
            until?: Date | string;
            /** @description Types of events, separated by commas. */
            types?: ("email.received" | "email.sent" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.delayed" | "email.failed" | "domain.verified" | "domain.failed" | "sending.paused" | "message.updated" | "message.deleted" | "thread.updated" | "draft.created" | "draft.updated" | "draft.discarded" | "claim.expired" | "claim.dead" | "review.requested" | "review.resolved" | "audit.head")[];
            /** @description How long each is, in seconds: 60 to 31 days (3,600). */
            period?: number;
        };
        /** @description What `analytics.destinations` is asked with. */
        ListDestinationsParams: {
            /** @description Of this inbox alone; lists and figures of one that does not exist are empty. */
            inboxId?: string;
            /** @description From this time on: a date (midnight UTC) or a timestamp. */
            since?: Date | string;
            /** @description Before this time. */
            until?: Date | string;
            /** @description How many at most. */
            limit?: number;
        };
        /** @description What `events.list` is asked with. */
        ListEventsParams: {
            /** @description The id of the last event that is known: those behind it are told. */
            after?: string;
            /** @description Types of events, separated by commas; `*`: all; those that are not opt-in by default. */
            types?: ("email.received" | "email.sent" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.delayed" | "email.failed" | "domain.verified" | "domain.failed" | "sending.paused" | "message.updated" | "message.deleted" | "thread.updated" | "draft.created" | "draft.updated" | "draft.discarded" | "claim.expired" | "claim.dead" | "review.requested" | "review.resolved" | "audit.head" | "*")[];
            /** @description Of this inbox alone; lists and figures of one that does not exist are empty. */
            inboxId?: string;
            /** @description How many at most. */
            limit?: number;
        };
        /** @description What `events.stream` is asked with. */
        StreamEventsParams: {
            /** @description The id of the last event that is known: those behind it are told. */
            after?: string;
            /** @description Types of events, separated by commas; `*`: all; those that are not opt-in by default. */
            types?: ("email.received" | "email.sent" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.delayed" | "email.failed" | "domain.verified" | "domain.failed" | "sending.paused" | "message.updated" | "message.deleted" | "thread.updated" | "draft.created" | "draft.updated" | "draft.discarded" | "claim.expired" | "claim.dead" | "review.requested" | "review.resolved" | "audit.head" | "*")[];
            /** @description Of this inbox alone; lists and figures of one that does not exist are empty. */
            inboxId?: string;
        };
        /** @description What `webhooks.deliveries` is asked with. */
        ListDeliveriesParams: {
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last item of a page, to get the next one. */
            cursor?: string;
        };
        /** @description What `queue.list` is asked with. */
        ListQueueParams: {
            /** @description Whose recipients. */
            messageId?: string;
            /** @description Whose recipients. */
            organizationId?: string;
            /** @description Whom it goes to: a domain, or a group of mail hosts. */
            destination?: string;
            /** @description Whether an operator holds it. */
            isHeld?: boolean;
            /** @description How many at most. */
            limit?: number;
        };
    };
}
export type ApproveReview = components['schemas']['ApproveReview'];
export type AttachmentInput = components['schemas']['AttachmentInput'];
export type ChangeMessages = components['schemas']['ChangeMessages'];
export type ChangeQueue = components['schemas']['ChangeQueue'];
export type CheckForward = components['schemas']['CheckForward'];
export type CheckMessage = components['schemas']['CheckMessage'];
export type CheckReply = components['schemas']['CheckReply'];
export type ClaimCode = components['schemas']['ClaimCode'];
export type ClaimMessages = components['schemas']['ClaimMessages'];
export type CreateAgent = components['schemas']['CreateAgent'];
export type CreateDraft = components['schemas']['CreateDraft'];
export type CreateInbox = components['schemas']['CreateInbox'];
export type CreateKey = components['schemas']['CreateKey'];
export type CreateRule = components['schemas']['CreateRule'];
export type CreateSuppression = components['schemas']['CreateSuppression'];
export type CreateWebhook = components['schemas']['CreateWebhook'];
export type DoneLabels = components['schemas']['DoneLabels'];
export type ExtendClaim = components['schemas']['ExtendClaim'];
export type FinishClaim = components['schemas']['FinishClaim'];
export type ForwardMessage = components['schemas']['ForwardMessage'];
export type GivenInboundPolicy = components['schemas']['GivenInboundPolicy'];
export type GivenOutboundPolicy = components['schemas']['GivenOutboundPolicy'];
export type GivenReviewPolicy = components['schemas']['GivenReviewPolicy'];
export type GivenWorkPolicy = components['schemas']['GivenWorkPolicy'];
export type PatchDomain = components['schemas']['PatchDomain'];
export type PatchDraft = components['schemas']['PatchDraft'];
export type PatchInbox = components['schemas']['PatchInbox'];
export type PatchMessage = components['schemas']['PatchMessage'];
export type PatchThread = components['schemas']['PatchThread'];
export type RegisterDomain = components['schemas']['RegisterDomain'];
export type RejectReview = components['schemas']['RejectReview'];
export type ReleaseClaim = components['schemas']['ReleaseClaim'];
export type ReplaceInboxPolicy = components['schemas']['ReplaceInboxPolicy'];
export type ReplaceOrganizationPolicy = components['schemas']['ReplaceOrganizationPolicy'];
export type ReplyMessage = components['schemas']['ReplyMessage'];
export type ReplyThread = components['schemas']['ReplyThread'];
export type SendMessage = components['schemas']['SendMessage'];
export type UpdateWebhook = components['schemas']['UpdateWebhook'];
export type Agent = components['schemas']['Agent'];
export type AggregateReport = components['schemas']['AggregateReport'];
export type AnalyticsDestination = components['schemas']['AnalyticsDestination'];
export type AnalyticsLine = components['schemas']['AnalyticsLine'];
export type AnalyticsPoint = components['schemas']['AnalyticsPoint'];
export type AnalyticsSeries = components['schemas']['AnalyticsSeries'];
export type AnalyticsSummary = components['schemas']['AnalyticsSummary'];
export type Attachment = components['schemas']['Attachment'];
export type AuditEntry = components['schemas']['AuditEntry'];
export type AuditHead = components['schemas']['AuditHead'];
export type AuditHeadData = components['schemas']['AuditHeadData'];
export type AuditHeadEvent = components['schemas']['AuditHeadEvent'];
export type Auth = components['schemas']['Auth'];
export type AwaitedMessage = components['schemas']['AwaitedMessage'];
export type BouncedData = components['schemas']['BouncedData'];
export type CancelledMessage = components['schemas']['CancelledMessage'];
export type ChangedDraftData = components['schemas']['ChangedDraftData'];
export type ChangedMessage = components['schemas']['ChangedMessage'];
export type ChangedMessageData = components['schemas']['ChangedMessageData'];
export type ChangedThreadData = components['schemas']['ChangedThreadData'];
export type CheckError = components['schemas']['CheckError'];
export type CheckWarning = components['schemas']['CheckWarning'];
export type CheckedMessage = components['schemas']['CheckedMessage'];
export type CheckedRecipient = components['schemas']['CheckedRecipient'];
export type CheckedThread = components['schemas']['CheckedThread'];
export type ClaimDeadEvent = components['schemas']['ClaimDeadEvent'];
export type ClaimExpiredEvent = components['schemas']['ClaimExpiredEvent'];
export type ClaimedCode = components['schemas']['ClaimedCode'];
export type ClaimedMessage = components['schemas']['ClaimedMessage'];
export type CodePlace = components['schemas']['CodePlace'];
export type ComplainedData = components['schemas']['ComplainedData'];
export type ContextFile = components['schemas']['ContextFile'];
export type DeactivatedInbox = components['schemas']['DeactivatedInbox'];
export type DelayedData = components['schemas']['DelayedData'];
export type Deleted = components['schemas']['Deleted'];
export type DeletedMessage = components['schemas']['DeletedMessage'];
export type DeletedRule = components['schemas']['DeletedRule'];
export type DeliveryAttempt = components['schemas']['DeliveryAttempt'];
export type DeliveryEvidence = components['schemas']['DeliveryEvidence'];
export type DmarcSummary = components['schemas']['DmarcSummary'];
export type Domain = components['schemas']['Domain'];
export type DomainCeiling = components['schemas']['DomainCeiling'];
export type DomainChecks = components['schemas']['DomainChecks'];
export type DomainFailedEvent = components['schemas']['DomainFailedEvent'];
export type DomainRecord = components['schemas']['DomainRecord'];
export type DomainVerification = components['schemas']['DomainVerification'];
export type DomainVerifiedEvent = components['schemas']['DomainVerifiedEvent'];
export type Draft = components['schemas']['Draft'];
export type DraftCreatedEvent = components['schemas']['DraftCreatedEvent'];
export type DraftDiscardedEvent = components['schemas']['DraftDiscardedEvent'];
export type DraftUpdatedEvent = components['schemas']['DraftUpdatedEvent'];
export type DraftedReply = components['schemas']['DraftedReply'];
export type DroppedRecipient = components['schemas']['DroppedRecipient'];
export type EffectivePolicy = components['schemas']['EffectivePolicy'];
export type EmailBouncedEvent = components['schemas']['EmailBouncedEvent'];
export type EmailComplainedEvent = components['schemas']['EmailComplainedEvent'];
export type EmailDelayedEvent = components['schemas']['EmailDelayedEvent'];
export type EmailFailedEvent = components['schemas']['EmailFailedEvent'];
export type EmailReceivedEvent = components['schemas']['EmailReceivedEvent'];
export type EmailSentEvent = components['schemas']['EmailSentEvent'];
export type EmailUnsubscribedEvent = components['schemas']['EmailUnsubscribedEvent'];
export type EndedClaimData = components['schemas']['EndedClaimData'];
export type RefusedAnswer = components['schemas']['RefusedAnswer'];
export type ErrorBody = components['schemas']['ErrorBody'];
export type Event = components['schemas']['Event'];
export type EventAttachment = components['schemas']['EventAttachment'];
export type EvidenceItem = components['schemas']['EvidenceItem'];
export type FailedData = components['schemas']['FailedData'];
export type GovernedInbox = components['schemas']['GovernedInbox'];
export type Health = components['schemas']['Health'];
export type HeldFor = components['schemas']['HeldFor'];
export type HostTried = components['schemas']['HostTried'];
export type Inbox = components['schemas']['Inbox'];
export type InboxPolicy = components['schemas']['InboxPolicy'];
export type Key = components['schemas']['Key'];
export type LabelledData = components['schemas']['LabelledData'];
export type Limits = components['schemas']['Limits'];
export type ListedMessage = components['schemas']['ListedMessage'];
export type LoopHealth = components['schemas']['LoopHealth'];
export type MailRule = components['schemas']['MailRule'];
export type MailingListShown = components['schemas']['MailingListShown'];
export type Member = components['schemas']['Member'];
export type Message = components['schemas']['Message'];
export type MessageDeletedEvent = components['schemas']['MessageDeletedEvent'];
export type MessageEvidence = components['schemas']['MessageEvidence'];
export type MessageInContext = components['schemas']['MessageInContext'];
export type MessageUpdatedEvent = components['schemas']['MessageUpdatedEvent'];
export type MintedKey = components['schemas']['MintedKey'];
export type NamedRule = components['schemas']['NamedRule'];
export type Organization = components['schemas']['Organization'];
export type OrganizationPolicy = components['schemas']['OrganizationPolicy'];
export type PassedOverHost = components['schemas']['PassedOverHost'];
export type PausedData = components['schemas']['PausedData'];
export type PingedData = components['schemas']['PingedData'];
export type QueueChanged = components['schemas']['QueueChanged'];
export type QueueState = components['schemas']['QueueState'];
export type QueuedDestination = components['schemas']['QueuedDestination'];
export type QueuedRecipient = components['schemas']['QueuedRecipient'];
export type ReceivedData = components['schemas']['ReceivedData'];
export type Recipient = components['schemas']['Recipient'];
export type ReportedDispositions = components['schemas']['ReportedDispositions'];
export type ReportedFailure = components['schemas']['ReportedFailure'];
export type ReportedSource = components['schemas']['ReportedSource'];
export type Reputation = components['schemas']['Reputation'];
export type RequestedReviewData = components['schemas']['RequestedReviewData'];
export type Resets = components['schemas']['Resets'];
export type ResolvedRecipients = components['schemas']['ResolvedRecipients'];
export type ResolvedReviewData = components['schemas']['ResolvedReviewData'];
export type Review = components['schemas']['Review'];
export type ReviewRequestedEvent = components['schemas']['ReviewRequestedEvent'];
export type ReviewResolvedEvent = components['schemas']['ReviewResolvedEvent'];
export type Revoked = components['schemas']['Revoked'];
export type RevokedWithMail = components['schemas']['RevokedWithMail'];
export type SendingApproval = components['schemas']['SendingApproval'];
export type SendingPausedEvent = components['schemas']['SendingPausedEvent'];
export type SentData = components['schemas']['SentData'];
export type SentReply = components['schemas']['SentReply'];
export type ShownInboundPolicy = components['schemas']['ShownInboundPolicy'];
export type ShownOutboundPolicy = components['schemas']['ShownOutboundPolicy'];
export type ShownReviewPolicy = components['schemas']['ShownReviewPolicy'];
export type ShownWorkPolicy = components['schemas']['ShownWorkPolicy'];
export type StageDurations = components['schemas']['StageDurations'];
export type Suppression = components['schemas']['Suppression'];
export type Thread = components['schemas']['Thread'];
export type ThreadContext = components['schemas']['ThreadContext'];
export type ThreadMessage = components['schemas']['ThreadMessage'];
export type ThreadUpdatedEvent = components['schemas']['ThreadUpdatedEvent'];
export type TlsSummary = components['schemas']['TlsSummary'];
export type Unsubscribed = components['schemas']['Unsubscribed'];
export type UnsubscribedData = components['schemas']['UnsubscribedData'];
export type UnverifiedData = components['schemas']['UnverifiedData'];
export type Usage = components['schemas']['Usage'];
export type VerifiedData = components['schemas']['VerifiedData'];
export type Webhook = components['schemas']['Webhook'];
export type WebhookDelivery = components['schemas']['WebhookDelivery'];
export type WebhookTestEvent = components['schemas']['WebhookTestEvent'];
export type WebhookWithSecret = components['schemas']['WebhookWithSecret'];
export type WholeReview = components['schemas']['WholeReview'];
export type WholeThread = components['schemas']['WholeThread'];
export type WorkClaim = components['schemas']['WorkClaim'];
export type ListMembersParams = components['schemas']['ListMembersParams'];
export type ListAuditParams = components['schemas']['ListAuditParams'];
export type ListKeysParams = components['schemas']['ListKeysParams'];
export type ListAgentsParams = components['schemas']['ListAgentsParams'];
export type ListInboxesParams = components['schemas']['ListInboxesParams'];
export type ListClaimsParams = components['schemas']['ListClaimsParams'];
export type ListMessagesParams = components['schemas']['ListMessagesParams'];
export type WaitForMessageParams = components['schemas']['WaitForMessageParams'];
export type GetMessageParams = components['schemas']['GetMessageParams'];
export type GetRawMessageParams = components['schemas']['GetRawMessageParams'];
export type ListReviewsParams = components['schemas']['ListReviewsParams'];
export type ListThreadsParams = components['schemas']['ListThreadsParams'];
export type GetThreadParams = components['schemas']['GetThreadParams'];
export type GetThreadContextParams = components['schemas']['GetThreadContextParams'];
export type GetAttachmentParams = components['schemas']['GetAttachmentParams'];
export type ListDraftsParams = components['schemas']['ListDraftsParams'];
export type ListDomainReportsParams = components['schemas']['ListDomainReportsParams'];
export type ListSuppressionsParams = components['schemas']['ListSuppressionsParams'];
export type ListRulesParams = components['schemas']['ListRulesParams'];
export type ShowUnsubscribeParams = components['schemas']['ShowUnsubscribeParams'];
export type UnsubscribeParams = components['schemas']['UnsubscribeParams'];
export type GetSummaryParams = components['schemas']['GetSummaryParams'];
export type GetEventSeriesParams = components['schemas']['GetEventSeriesParams'];
export type ListDestinationsParams = components['schemas']['ListDestinationsParams'];
export type ListEventsParams = components['schemas']['ListEventsParams'];
export type StreamEventsParams = components['schemas']['StreamEventsParams'];
export type ListDeliveriesParams = components['schemas']['ListDeliveriesParams'];
export type ListQueueParams = components['schemas']['ListQueueParams'];
export type WebhookEvent = EmailReceivedEvent | EmailSentEvent | EmailBouncedEvent | EmailComplainedEvent | EmailUnsubscribedEvent | EmailDelayedEvent | EmailFailedEvent | DomainVerifiedEvent | DomainFailedEvent | SendingPausedEvent | MessageUpdatedEvent | MessageDeletedEvent | ThreadUpdatedEvent | DraftCreatedEvent | DraftUpdatedEvent | DraftDiscardedEvent | ClaimExpiredEvent | ClaimDeadEvent | ReviewRequestedEvent | ReviewResolvedEvent | AuditHeadEvent | WebhookTestEvent;
