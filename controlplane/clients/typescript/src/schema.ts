// What is given to the API and told by it. Generated from /openapi.json by scripts/clients.
export interface components {
    schemas: {
        /** @description `contentHash`: of what was shown to whoever approves. `force`: although the conversation went on. */
        ApproveReview: {
            contentHash: string;
            note?: string | null;
            force?: boolean;
        };
        AttachmentInput: {
            filename: string;
            contentType?: string;
            content: string;
        };
        /** @description The same for many messages, or their end. `threadIds`: all messages of these threads. */
        ChangeMessages: {
            addLabels?: string[];
            removeLabels?: string[];
            ids?: string[];
            threadIds?: string[];
            delete?: boolean;
        };
        ChangeQueue: {
            /** @description The message that it is about. */
            messageId?: string | null;
            /** @description The organization that it belongs to. */
            organizationId?: string | null;
            destination?: string | null;
            all?: true | null;
        };
        /** @description The body of a forward, and what it passes on. */
        CheckForward: {
            /** @description `cc`, `bcc` as on sends. */
            to: string[];
            /** @description Up to 50 each; an address that is named twice gets one copy, as in the first list it stands in. */
            cc?: string[];
            /** @description Up to 50 each; an address that is named twice gets one copy, as in the first list it stands in. */
            bcc?: string[];
            /** @description What stands above. */
            text?: string | null;
            /** @description What stands above. */
            html?: string | null;
            /** @description Null: all of its attachments; else these, each once (404 `attachment_not_found`). */
            attachmentIds?: string[] | null;
            /**
             * @description `inline` (the default): its words, HTML sanitized, stand below those of `text` and `html`; `eml`: it goes whole, as a file.
             * @enum {string}
             */
            as?: "inline" | "eml";
            /** @description The message that it is about. */
            messageId: string;
        };
        /** @description A message as for sending, or one of `reply`, `forward` and `draftId`. */
        CheckMessage: {
            /** @description The sending inbox. */
            inboxId?: string;
            /** @description 1-50 addresses; display names and comments are 400; quoted local parts are legal. */
            to?: string[];
            /** @description Up to 50 each; an address that is named twice gets one copy, as in the first list it stands in. */
            cc?: string[];
            /** @description Up to 50 each; an address that is named twice gets one copy, as in the first list it stands in. */
            bcc?: string[];
            /** @description As it would be sent. */
            subject?: string | null;
            /** @description Where it is left out: of `html`, else empty. */
            text?: string | null;
            /** @description Sanitized; a text part is derived from it where `text` is left out. More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`). */
            html?: string | null;
            /** @description A message, or a thread (its newest message), of the same inbox, else 404 `message_not_found`; sets In-Reply-To and References. */
            inReplyTo?: string | null;
            /** @description With an offset; 1 minute to 30 days ahead. */
            sendAt?: string | null;
            /** @description Up to 20 of `filename` (required, 1-200 characters; shortened to 240 octets, as file systems want), `contentType` (with parameters as well: `text/calendar; method=REPLY`), `content` (required, base64). Of `text/*`, UTF-8 is declared where it is that. */
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
            /** @description A draft; needs messages:send, as reading one does. */
            draftId?: string;
        };
        /** @description The body of a reply, and what it answers. */
        CheckReply: {
            /** @description Where it is left out: of `html`, else empty. */
            text?: string | null;
            /** @description Sanitized; a text part is derived from it where `text` is left out. More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`). */
            html?: string | null;
            /** @description To everybody who stands there; the default is the author alone. */
            replyAll?: boolean;
            /**
             * @description `none` (the default), or `text`: the message that is answered stands below, behind an attribution and `> `, in `html` as a blockquote; at most 64 KiB of it.
             * @enum {string}
             */
            quote?: "none" | "text";
            /** @description Up to 20 of `filename` (required, 1-200 characters; shortened to 240 octets, as file systems want), `contentType` (with parameters as well: `text/calendar; method=REPLY`), `content` (required, base64). Of `text/*`, UTF-8 is declared where it is that. */
            attachments?: components["schemas"]["AttachmentInput"][];
            /** @description With an offset; 1 minute to 30 days ahead. */
            sendAt?: string | null;
            /** @description Up to 50 custom headers, names to values. */
            headers?: {
                [key: string]: string;
            };
            /** @description Send only unless the conversation went on after this message; required in answers to threads. */
            ifLastMessageId?: string | null;
            /** @description Of an answer: send only while this claim lives. */
            claimId?: string | null;
            /** @description With `claimId`: end the claim as done, if the message is sent. */
            completeClaim?: boolean;
            /** @description Write a draft with these recipients, subject and words instead; not with `attachments`, `headers`, `sendAt`. */
            asDraft?: boolean;
            /** @description Instead of those who would be answered; not with `replyAll`. */
            to?: string[] | null;
            /** @description Besides them. */
            cc?: string[];
            /** @description Besides them. */
            bcc?: string[];
            /** @description Instead of `Re: …`. */
            subject?: string | null;
            /** @description The message that it is about. */
            messageId: string;
        };
        /** @description `after`: a message, an event or a time; two minutes ago where it is left out. */
        ClaimCode: {
            /** @description The domain that `auth.verifiedDomain` must be or lie below; required, unless `allowUnverified`. */
            fromDomain?: string | null;
            /** @description A message, an event or a time, as of a wait; left out, two minutes ago. */
            after?: string | null;
            /** @description How long to wait for one (25; 0-55). */
            waitSeconds?: number;
            /** @description `code`, `link` (both); a code goes before a link. */
            kinds?: ("code" | "link")[];
            /** @description Mail counts whose sender nobody proved, by whatever domain `fromAddress` claims (false). */
            allowUnverified?: boolean;
            /** @description Up to 10 hosts, with what lies below them, that a link may lead to besides the proven sender's own. */
            linkHosts?: string[];
        };
        ClaimMessages: {
            max?: number;
            /** @description 300 by default */
            leaseSeconds?: number;
            waitSeconds?: number;
            holder?: string | null;
        };
        CreateAgent: {
            name: string;
        };
        CreateDraft: {
            /** @description The sending inbox. */
            inboxId: string;
            /** @description 1-50 addresses; display names and comments are 400; quoted local parts are legal. */
            to?: string[];
            /** @description Up to 50 each; an address that is named twice gets one copy, as in the first list it stands in. */
            cc?: string[];
            /** @description Up to 50 each; an address that is named twice gets one copy, as in the first list it stands in. */
            bcc?: string[];
            /** @description Up to 500 characters; the default, also of a blank one, is `(no subject)`. */
            subject?: string | null;
            /** @description Where it is left out: of `html`, else empty. */
            text?: string | null;
            /** @description Sanitized; a text part is derived from it where `text` is left out. More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`). */
            html?: string | null;
            /** @description A message, or a thread (its newest message), of the same inbox, else 404 `message_not_found`; sets In-Reply-To and References. */
            inReplyTo?: string | null;
            /** @description With `inReplyTo`: send only unless the conversation went on after this message. */
            ifLastMessageId?: string | null;
            /** @description Of an answer: send only while this claim lives. */
            claimId?: string | null;
            /** @description With `claimId`: end the claim as done, if the message is sent. */
            completeClaim?: boolean;
        };
        CreateInbox: {
            /** @description The address, before and behind its `@`. */
            username: string;
            /** @description What stands beside the address in what it sends. */
            name?: string | null;
            /** @description The agent behind it. */
            agentId?: string | null;
            /** @description The address, before and behind its `@`. */
            domain?: string | null;
            /** @description Texts by key, the caller's own. */
            metadata?: {
                [key: string]: string;
            };
        };
        CreateKey: {
            /** @description 1-64 characters. */
            name: string;
            /** @description Section 5. */
            scopes?: ("*" | "audit:*" | "audit:read" | "domains:*" | "domains:read" | "domains:write" | "inboxes:*" | "inboxes:read" | "inboxes:write" | "keys:*" | "keys:read" | "keys:write" | "messages:*" | "messages:label" | "messages:read" | "messages:reply" | "messages:send" | "organization:*" | "organization:read" | "policies:*" | "policies:read" | "policies:write" | "reviews:*" | "reviews:read" | "reviews:write" | "suppressions:*" | "suppressions:read" | "suppressions:write" | "threads:*" | "threads:read" | "webhooks:*" | "webhooks:read" | "webhooks:write")[] | null;
            /** @description The inbox that the key is bound to. */
            inboxId?: string | null;
            /** @description `live` or `test`. */
            mode?: ("live" | "test") | null;
        };
        /** @description `inboxId` null: for every inbox of the organization. */
        CreateRule: {
            /**
             * @description `inbound` or `outbound`.
             * @enum {string}
             */
            direction: "inbound" | "outbound";
            /**
             * @description `allow`, `block` or `hold`.
             * @enum {string}
             */
            action: "allow" | "block" | "hold";
            /** @description An address without its tag (`ada@x.org`, which names `ada+news@x.org` as well), a domain (`x.org`, that alone), or `*.x.org`, all domains below it; in the form that is compared (lower case, domain as `xn--`). */
            value: string;
            /** @description The inbox whose mail it is about; null: every inbox of the organization. */
            inboxId?: string | null;
            /** @description Up to 200 characters, for people. */
            note?: string | null;
        };
        CreateSuppression: {
            email: string;
            /** @enum {string} */
            reason?: "hard_bounce" | "complaint" | "unsubscribe" | "manual";
        };
        CreateWebhook: {
            /** @description Where events are sent: https, public. */
            url: string;
            /** @description The types that are sent. */
            subscribedEvents?: ("email.received" | "email.sent" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.delayed" | "email.failed" | "domain.verified" | "domain.failed" | "sending.paused" | "message.updated" | "message.deleted" | "thread.updated" | "draft.created" | "draft.updated" | "draft.discarded" | "claim.expired" | "claim.dead" | "review.requested" | "review.resolved" | "audit.head")[];
        };
        DoneLabels: {
            add?: string[];
            remove?: string[];
        };
        ExtendClaim: {
            /** @description 300 by default */
            leaseSeconds?: number;
        };
        FinishClaim: {
            labels?: components["schemas"]["DoneLabels"];
        };
        ForwardMessage: {
            /** @description `cc`, `bcc` as on sends. */
            to: string[];
            /** @description Up to 50 each; an address that is named twice gets one copy, as in the first list it stands in. */
            cc?: string[];
            /** @description Up to 50 each; an address that is named twice gets one copy, as in the first list it stands in. */
            bcc?: string[];
            /** @description What stands above. */
            text?: string | null;
            /** @description What stands above. */
            html?: string | null;
            /** @description Null: all of its attachments; else these, each once (404 `attachment_not_found`). */
            attachmentIds?: string[] | null;
            /**
             * @description `inline` (the default): its words, HTML sanitized, stand below those of `text` and `html`; `eml`: it goes whole, as a file.
             * @enum {string}
             */
            as?: "inline" | "eml";
        };
        /** @description A member that is left out is its default. */
        GivenInboundPolicy: {
            hold?: ("unverified" | "high_risk")[];
            /** @enum {string} */
            unlisted?: "accept" | "hold" | "refuse";
        };
        /** @description A member that is left out is its default. */
        GivenOutboundPolicy: {
            /** @enum {string} */
            recipients?: "any" | "allowlist" | "participants";
            /** @enum {string} */
            review?: "off" | "external" | "first_time" | "all";
            holdOn?: ("empty_body" | "placeholder" | "model_artifact" | "secret" | "attachment_missing" | "duplicate" | "recipient_from_content" | "reply_to_mismatch" | "no_reply_address" | "auto_reply_target")[];
            firstTimeDaily?: number | null;
            /** @enum {string} */
            replyTo?: "honor" | "verified";
        };
        /** @description A member that is left out is its default. */
        GivenReviewPolicy: {
            expiresAfterSeconds?: number;
            notify?: string[];
        };
        /** @description A member that is left out is its default. */
        GivenWorkPolicy: {
            enabled?: boolean;
            maxAttempts?: number;
            requireClaim?: boolean;
        };
        PatchDomain: {
            dailyCap: number | null;
        };
        PatchDraft: {
            /** @description 1-50 addresses; display names and comments are 400; quoted local parts are legal. */
            to?: string[];
            /** @description Up to 50 each; an address that is named twice gets one copy, as in the first list it stands in. */
            cc?: string[];
            /** @description Up to 50 each; an address that is named twice gets one copy, as in the first list it stands in. */
            bcc?: string[];
            /** @description Up to 500 characters; the default, also of a blank one, is `(no subject)`. */
            subject?: string | null;
            /** @description Where it is left out: of `html`, else empty. */
            text?: string | null;
            /** @description Sanitized; a text part is derived from it where `text` is left out. More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`). */
            html?: string | null;
            /** @description A message, or a thread (its newest message), of the same inbox, else 404 `message_not_found`; sets In-Reply-To and References. */
            inReplyTo?: string | null;
            /** @description With `inReplyTo`: send only unless the conversation went on after this message. */
            ifLastMessageId?: string | null;
            /** @description Of an answer: send only while this claim lives. */
            claimId?: string | null;
            /** @description With `claimId`: end the claim as done, if the message is sent. */
            completeClaim?: boolean;
        };
        PatchInbox: {
            /** @description What stands beside the address in what it sends. */
            name?: string | null;
            /** @description Texts by key, the caller's own. */
            metadata?: {
                [key: string]: string;
            };
        };
        /** @description Either `labels`, which replaces all of them, or a change. */
        PatchMessage: {
            addLabels?: string[];
            removeLabels?: string[];
            labels?: string[];
        };
        PatchThread: {
            isArchived: boolean;
        };
        RegisterDomain: {
            domainName: string;
            dailyCap?: number | null;
        };
        RejectReview: {
            note?: string | null;
        };
        ReleaseClaim: {
            delaySeconds?: number;
        };
        /** @description As of an organization; and whether the mail of the inbox is work. */
        ReplaceInboxPolicy: {
            version: number;
            outbound?: components["schemas"]["GivenOutboundPolicy"];
            inbound?: components["schemas"]["GivenInboundPolicy"];
            review?: components["schemas"]["GivenReviewPolicy"];
            work?: components["schemas"]["GivenWorkPolicy"];
        };
        /** @description The whole document. `version`: that of the document that it replaces. */
        ReplaceOrganizationPolicy: {
            version: number;
            outbound?: components["schemas"]["GivenOutboundPolicy"];
            inbound?: components["schemas"]["GivenInboundPolicy"];
            review?: components["schemas"]["GivenReviewPolicy"];
        };
        ReplyMessage: {
            /** @description Where it is left out: of `html`, else empty. */
            text?: string | null;
            /** @description Sanitized; a text part is derived from it where `text` is left out. More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`). */
            html?: string | null;
            /** @description To everybody who stands there; the default is the author alone. */
            replyAll?: boolean;
            /**
             * @description `none` (the default), or `text`: the message that is answered stands below, behind an attribution and `> `, in `html` as a blockquote; at most 64 KiB of it.
             * @enum {string}
             */
            quote?: "none" | "text";
            /** @description Up to 20 of `filename` (required, 1-200 characters; shortened to 240 octets, as file systems want), `contentType` (with parameters as well: `text/calendar; method=REPLY`), `content` (required, base64). Of `text/*`, UTF-8 is declared where it is that. */
            attachments?: components["schemas"]["AttachmentInput"][];
            /** @description With an offset; 1 minute to 30 days ahead. */
            sendAt?: string | null;
            /** @description Up to 50 custom headers, names to values. */
            headers?: {
                [key: string]: string;
            };
            /** @description Send only unless the conversation went on after this message; required in answers to threads. */
            ifLastMessageId?: string | null;
            /** @description Of an answer: send only while this claim lives. */
            claimId?: string | null;
            /** @description With `claimId`: end the claim as done, if the message is sent. */
            completeClaim?: boolean;
            /** @description Write a draft with these recipients, subject and words instead; not with `attachments`, `headers`, `sendAt`. */
            asDraft?: boolean;
            /** @description Instead of those who would be answered; not with `replyAll`. */
            to?: string[] | null;
            /** @description Besides them. */
            cc?: string[];
            /** @description Besides them. */
            bcc?: string[];
            /** @description Instead of `Re: …`. */
            subject?: string | null;
        };
        ReplyThread: {
            /** @description Where it is left out: of `html`, else empty. */
            text?: string | null;
            /** @description Sanitized; a text part is derived from it where `text` is left out. More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`). */
            html?: string | null;
            /** @description To everybody who stands there; the default is the author alone. */
            replyAll?: boolean;
            /**
             * @description `none` (the default), or `text`: the message that is answered stands below, behind an attribution and `> `, in `html` as a blockquote; at most 64 KiB of it.
             * @enum {string}
             */
            quote?: "none" | "text";
            /** @description Up to 20 of `filename` (required, 1-200 characters; shortened to 240 octets, as file systems want), `contentType` (with parameters as well: `text/calendar; method=REPLY`), `content` (required, base64). Of `text/*`, UTF-8 is declared where it is that. */
            attachments?: components["schemas"]["AttachmentInput"][];
            /** @description With an offset; 1 minute to 30 days ahead. */
            sendAt?: string | null;
            /** @description Up to 50 custom headers, names to values. */
            headers?: {
                [key: string]: string;
            };
            /** @description Send only unless the conversation went on after this message; required in answers to threads. */
            ifLastMessageId: string;
            /** @description Of an answer: send only while this claim lives. */
            claimId?: string | null;
            /** @description With `claimId`: end the claim as done, if the message is sent. */
            completeClaim?: boolean;
            /** @description Write a draft with these recipients, subject and words instead; not with `attachments`, `headers`, `sendAt`. */
            asDraft?: boolean;
            /** @description Instead of those who would be answered; not with `replyAll`. */
            to?: string[] | null;
            /** @description Besides them. */
            cc?: string[];
            /** @description Besides them. */
            bcc?: string[];
            /** @description Instead of `Re: …`. */
            subject?: string | null;
        };
        SendMessage: {
            /** @description The sending inbox. */
            inboxId: string;
            /** @description 1-50 addresses; display names and comments are 400; quoted local parts are legal. */
            to: string[];
            /** @description Up to 50 each; an address that is named twice gets one copy, as in the first list it stands in. */
            cc?: string[];
            /** @description Up to 50 each; an address that is named twice gets one copy, as in the first list it stands in. */
            bcc?: string[];
            /** @description Up to 500 characters; the default, also of a blank one, is `(no subject)`. */
            subject?: string | null;
            /** @description Where it is left out: of `html`, else empty. */
            text?: string | null;
            /** @description Sanitized; a text part is derived from it where `text` is left out. More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`). */
            html?: string | null;
            /** @description A message, or a thread (its newest message), of the same inbox, else 404 `message_not_found`; sets In-Reply-To and References. */
            inReplyTo?: string | null;
            /** @description With an offset; 1 minute to 30 days ahead. */
            sendAt?: string | null;
            /** @description Up to 20 of `filename` (required, 1-200 characters; shortened to 240 octets, as file systems want), `contentType` (with parameters as well: `text/calendar; method=REPLY`), `content` (required, base64). Of `text/*`, UTF-8 is declared where it is that. */
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
            /** @description Where events are sent: https, public. */
            url?: string;
            /** @description The types that are sent. */
            subscribedEvents?: ("email.received" | "email.sent" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.delayed" | "email.failed" | "domain.verified" | "domain.failed" | "sending.paused" | "message.updated" | "message.deleted" | "thread.updated" | "draft.created" | "draft.updated" | "draft.discarded" | "claim.expired" | "claim.dead" | "review.requested" | "review.resolved" | "audit.head")[];
            /** @description False: nothing is sent. */
            isActive?: boolean;
        };
        Agent: {
            /** @description Its id. */
            id: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            name: string;
            /** @description When it was made. */
            createdAt: string;
        };
        /** @description What another host reports about the domain. `total` counts messages (dmarc) or sessions (tls). */
        AggregateReport: {
            /** @description Its id. */
            id: string;
            domainId: string;
            /** @enum {string} */
            type: "dmarc" | "tls";
            reporter: string;
            reportId: string;
            verifiedDomain: string | null;
            periodBegin: string;
            periodEnd: string;
            total: number;
            passed: number;
            failed: number;
            isTruncated: boolean;
            dmarc: components["schemas"]["DmarcSummary"] | null;
            tls: components["schemas"]["TlsSummary"] | null;
            /** @description The message that it is about. */
            messageId: string;
            /** @description When it was made. */
            createdAt: string;
        };
        AnalyticsDestination: {
            domain: string;
            sent: number;
            delivered: number;
            deferred: number;
            bounced: number;
            lastResponse: string | null;
            lastResponseAt: string | null;
        };
        AnalyticsLine: {
            type: string;
            total: number;
            points: components["schemas"]["AnalyticsPoint"][];
        };
        AnalyticsPoint: {
            at: string;
            count: number;
        };
        AnalyticsSeries: {
            period: number;
            since: string;
            until: string;
            series: components["schemas"]["AnalyticsLine"][];
        };
        AnalyticsSummary: {
            sent: number;
            delivered: number;
            bounced: number;
            complained: number;
            received: number;
            hardBounceRate: number;
            complaintRate: number;
            medianDeliverySeconds: number | null;
        };
        Attachment: {
            /** @description Its id. */
            id: string;
            /** @description As the mail has them; a name is made where there is none. */
            filename: string;
            /** @description As the mail has them; a name is made where there is none. */
            contentType: string;
            /** @description Of the bytes that can be fetched. */
            sizeBytes: number;
            /** @description For `cid:` images in HTML. */
            contentId: string | null;
            /** @description For `cid:` images in HTML. */
            isInline: boolean;
        };
        /** @description `hash` covers this row, and all rows before it. Without words of mail: contents and addresses are hashes. */
        AuditEntry: {
            seq: number;
            at: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            type: string;
            actor: string;
            subject: string | null;
            requestId: string | null;
            details: {
                [key: string]: unknown;
            };
            hash: string;
        };
        /** @description The newest row; number 0, 64 zeros and null where there is none yet. */
        AuditHead: {
            seq: number;
            hash: string;
            at: string | null;
        };
        /** @description The end of the audit log at that moment. */
        AuditHeadData: {
            seq: number;
            hash: string;
            at: string;
        };
        AuditHeadEvent: {
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "audit.head";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["AuditHeadData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @constant
             */
            mode?: "test";
        };
        /** @description `verifiedDomain` is the only sender identity that a program should trust. */
        Auth: {
            /** @description Results of RFC 8601: `pass`, `fail`, `none`, `temperror`, `permerror`, and others of their own. */
            spf: string | null;
            /** @description Results of RFC 8601: `pass`, `fail`, `none`, `temperror`, `permerror`, and others of their own. */
            dkim: string | null;
            /** @description Results of RFC 8601: `pass`, `fail`, `none`, `temperror`, `permerror`, and others of their own. */
            dmarc: string | null;
            /** @description Results of RFC 8601: `pass`, `fail`, `none`, `temperror`, `permerror`, and others of their own. */
            arc: string | null;
            /** @description The only sender identity that a program should trust: the domain of the author where that is proven; else null. */
            verifiedDomain: string | null;
        };
        /** @description `cursor`: the `after` that goes on behind it. */
        AwaitedMessage: {
            message: components["schemas"]["Message"] | null;
            timedOut: boolean;
            cursor: string;
        };
        /** @description Of one recipient. `suppressed`: it is on the suppression list. */
        BouncedData: {
            /** @description The message that it is about. */
            messageId: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The conversation that it belongs to. */
            threadId: string;
            fromAddress: string;
            toAddresses: string[];
            subject: string;
            sentAt: string | null;
            recipients: components["schemas"]["Recipient"][];
            recipient: string;
            /** @enum {string} */
            bounceType: "permanent" | "transient" | "undetermined";
            /** @enum {string} */
            class: "address" | "mailbox_full" | "policy" | "content" | "reputation" | "throttled" | "infrastructure" | "unknown";
            /** @enum {string} */
            advice: "retry_later" | "fix_address" | "fix_content" | "fix_dns" | "slow_down" | "stop";
            smtpCode: number | null;
            enhancedCode: string | null;
            diagnostic: string | null;
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
            draftId: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The conversation that it belongs to. */
            threadId: string | null;
            /** @enum {string} */
            status: "draft" | "sent" | "discarded";
            /** @description The message that it is about. */
            messageId: string | null;
        };
        /** @description What became of a message, or of all messages of a thread. */
        ChangedMessage: {
            /** @description Its id. */
            id: string;
            /** @enum {string} */
            result: "changed" | "unchanged" | "not_found" | "inbox_access_denied";
        };
        /** @description Ids and labels, never words. */
        ChangedMessageData: {
            /** @description The message that it is about. */
            messageId: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The conversation that it belongs to. */
            threadId: string;
            labelsBefore: string[];
        };
        ChangedThreadData: {
            /** @description The conversation that it belongs to. */
            threadId: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            isArchived: boolean;
        };
        /** @description What the send would be refused with, and its status. */
        CheckError: {
            code: string;
            message: string;
            details?: {
                [key: string]: unknown;
            };
            status: number;
        };
        /**
         * @description `view`, `start`, `end`: where, in code points of that field, of the message that is looked at, or of `messageId`
         *     where that is given. `address`: the recipient that it is about.
         */
        CheckWarning: {
            /** @enum {string} */
            code: "empty_body" | "placeholder" | "model_artifact" | "secret" | "attachment_missing" | "duplicate" | "recipient_from_content" | "reply_to_mismatch" | "no_reply_address" | "auto_reply_target";
            view: ("subject" | "text" | "html" | "replyTo" | "cc") | null;
            start: number | null;
            end: number | null;
            address: string | null;
            /** @description The message that it is about. */
            messageId: string | null;
        };
        /** @description What would become of a message. `sizeBytes`: null where it can't be composed. */
        CheckedMessage: {
            /** @description Are there no `errors`? */
            wouldSend: boolean;
            /** @description Would it wait for a review? Then the send answers 201 `held`. */
            wouldHold: boolean;
            /** @description A list of every refusal, not only the first, in the order in which a send meets them: `code`, `status`, `message`, `details`, as the error itself has them. A send's own is `errors[0]`. */
            errors: components["schemas"]["CheckError"][];
            /** @description A list of what looks wrong; none of it stops a send. */
            warnings: components["schemas"]["CheckWarning"][];
            /** @description Of each: `address`, `kind`; `isFirstTime`: the inbox never wrote to it (for test keys: nor a test key); `isSuppressed`; `route`; `finding`; `rule`: the rule that decides about it, `id` and `action`, or null. */
            recipients: components["schemas"]["CheckedRecipient"][];
            /** @description As it would be sent. */
            subject: string;
            /** @description Of the message as it would be stored; null where it can't be composed. */
            sizeBytes: number | null;
            /** @description The conversation that it would answer in (`id`, `lastMessageId` for `ifLastMessageId`, null where nothing counts), else null. */
            thread: components["schemas"]["CheckedThread"] | null;
        };
        CheckedRecipient: {
            address: string;
            /** @enum {string} */
            kind: "to" | "cc" | "bcc";
            isFirstTime: boolean;
            isSuppressed: boolean;
            /** @enum {string} */
            route: "local" | "mx" | "relay" | "simulator";
            /** @enum {string} */
            finding: "ok" | "no_mx" | "null_mx" | "nxdomain" | "unknown";
            rule: components["schemas"]["NamedRule"] | null;
        };
        /** @description `lastMessageId`: for `ifLastMessageId`; null where nothing in it counts. */
        CheckedThread: {
            /** @description Its id. */
            id: string;
            lastMessageId: string | null;
        };
        ClaimDeadEvent: {
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "claim.dead";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["EndedClaimData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @constant
             */
            mode?: "test";
        };
        ClaimExpiredEvent: {
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "claim.expired";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["EndedClaimData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @constant
             */
            mode?: "test";
        };
        /**
         * @description `value`: what is to be typed, or opened; `shown`: as it stands in the mail. `confidence`: beside a word for a
         *     code, the only one that could be it, or one of several `candidates`: then nothing is claimed.
         */
        ClaimedCode: {
            /** @description Its id. */
            id: string | null;
            claimed: boolean;
            kind: ("code" | "link") | null;
            value: string | null;
            shown: string | null;
            /** @description The message that it is about. */
            messageId: string | null;
            verifiedDomain: string | null;
            confidence: ("labelled" | "unlabelled" | "ambiguous") | null;
            evidence: components["schemas"]["CodePlace"] | null;
            candidates: string[];
            timedOut: boolean;
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
             * @description `live` or `test`: the kind of key that made it.
             * @enum {string}
             */
            mode: "live" | "test";
            /**
             * @description See section 3.
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
            /** @description Where claims are taken: the whole message; null once it was deleted. */
            message: components["schemas"]["Message"] | null;
        };
        /** @description Where it stands, in code points of a field that GET of the message shows. */
        CodePlace: {
            /** @enum {string} */
            view: "subject" | "extractedText" | "textBody";
            start: number;
            end: number;
        };
        /** @description Of one recipient. */
        ComplainedData: {
            /** @description The message that it is about. */
            messageId: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The conversation that it belongs to. */
            threadId: string;
            fromAddress: string;
            toAddresses: string[];
            subject: string;
            sentAt: string | null;
            recipients: components["schemas"]["Recipient"][];
            recipient: string;
            feedbackType: string | null;
            suppressed: boolean;
        };
        ContextFile: {
            /** @description Its id. */
            id: string;
            filename: string;
            contentType: string;
            sizeBytes: number;
        };
        DeactivatedInbox: {
            /** @description Its id. */
            id: string;
            /** @constant */
            status: "deactivated";
            cooldownUntil: string;
        };
        /** @description Of one recipient. */
        DelayedData: {
            /** @description The message that it is about. */
            messageId: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The conversation that it belongs to. */
            threadId: string;
            fromAddress: string;
            toAddresses: string[];
            subject: string;
            sentAt: string | null;
            recipients: components["schemas"]["Recipient"][];
            recipient: string;
            attempts: number;
            nextAttemptAt: string | null;
            /** @enum {string} */
            class: "address" | "mailbox_full" | "policy" | "content" | "reputation" | "throttled" | "infrastructure" | "unknown";
            /** @enum {string} */
            advice: "retry_later" | "fix_address" | "fix_content" | "fix_dns" | "slow_down" | "stop";
            smtpCode: number | null;
            enhancedCode: string | null;
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
            /** @description The recipient, and which attempt for it this is, from 1; of one that an operator took out of the queue, the one that will not be. */
            address: string;
            /**
             * @description The recipient, and which attempt for it this is, from 1; of one that an operator took out of the queue, the one that will not be.
             * @enum {string}
             */
            kind: "to" | "cc" | "bcc";
            /** @description The recipient, and which attempt for it this is, from 1; of one that an operator took out of the queue, the one that will not be. */
            attempt: number;
            /**
             * @description A recipient's status, or `expired`.
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
            /** @description How long it took; when it ended. */
            durationMs: number;
            /** @description How long it took; when it ended. */
            createdAt: string;
            /** @description What the failure means: `class`, `bounceType` and `advice` of the events (section 6); null where nothing failed. */
            class: ("address" | "mailbox_full" | "policy" | "content" | "reputation" | "throttled" | "infrastructure" | "unknown") | null;
            /** @description What the failure means: `class`, `bounceType` and `advice` of the events (section 6); null where nothing failed. */
            permanence: ("permanent" | "transient" | "undetermined") | null;
            /** @description What the failure means: `class`, `bounceType` and `advice` of the events (section 6); null where nothing failed. */
            advice: ("retry_later" | "fix_address" | "fix_content" | "fix_dns" | "slow_down" | "stop") | null;
            /** @description When a deferral was to be tried again; when it was given up for good. */
            nextAttemptAt: string | null;
            /** @description When a deferral was to be tried again; when it was given up for good. */
            gaveUpAt: string | null;
            /** @description The address is on the suppression list, by this attempt or from before it. */
            suppressed: boolean;
            /** @description What is kept of an attempt over the network; else null. */
            evidence: components["schemas"]["DeliveryEvidence"] | null;
        };
        /** @description What is kept of an attempt over the network. `endedAt`: the last host's stage, or what it did not get beyond. */
        DeliveryEvidence: {
            /**
             * @description `stage` of the last host; `dns`, `policy` (every host was kept from the mail by a TLS policy), `message` (it could not be read or signed), `not_tried` (no way to the destination was found a moment ago).
             * @enum {string}
             */
            endedAt: "wait" | "connect" | "greeting" | "hello" | "tls" | "auth" | "envelope" | "data" | "answer" | "not_tried" | "dns" | "policy" | "message";
            /** @description Spent on finding hosts and their TLS policies. */
            dnsMs: number | null;
            /** @description Mail hosts that were not tried: `host`, `reason`. */
            passedOver: components["schemas"]["PassedOverHost"][];
            /** @description Addresses that were tried, in order; of many the first and the last three, `hostsLeftOut` is the number of the others. */
            hostsLeftOut: number;
            /** @description Addresses that were tried, in order; of many the first and the last three, `hostsLeftOut` is the number of the others. */
            hosts: components["schemas"]["HostTried"][];
        };
        /** @description Messages that say to be from the domain, as their receiver judged them. */
        DmarcSummary: {
            dkimAligned: number;
            spfAligned: number;
            dispositions: components["schemas"]["ReportedDispositions"];
            sources: components["schemas"]["ReportedSource"][];
        };
        Domain: {
            /** @description Its id. */
            id: string;
            /** @description A lower-case A-label without a last dot: two labels or more, at most 238 characters. */
            domainName: string;
            /**
             * @description `pending`, `active` or `failed`, see section 3.
             * @enum {string}
             */
            status: "pending" | "verified" | "failed";
            /** @description Whether the records passed at the last check. */
            mxStatus: boolean;
            /** @description Whether the records passed at the last check. */
            spfStatus: boolean;
            /** @description Whether the records passed at the last check. */
            dkimStatus: boolean;
            /** @description Whether the records passed at the last check. */
            dmarcStatus: boolean;
            /** @description What to publish. */
            records: components["schemas"]["DomainRecord"][];
            /** @description How many messages may leave from it in a day (UTC); null: no ceiling. */
            dailyCap: number | null;
            /** @description How many did today, and when that begins again. */
            todayUsed: number;
            /** @description How many did today, and when that begins again. */
            resetsAt: string;
            /** @description Explains an exhausted ceiling. */
            note: string | null;
            /** @description When it first passed; null before. */
            verifiedAt: string | null;
            /** @description When it was made. */
            createdAt: string;
        };
        DomainCeiling: {
            /** @description Its id. */
            id: string;
            domainName: string;
            dailyCap: number | null;
            todayUsed: number;
            resetsAt: string;
            note: string | null;
        };
        DomainChecks: {
            ownership: boolean;
            mx: boolean;
            spf: boolean;
            dkim: boolean;
        };
        DomainFailedEvent: {
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "domain.failed";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["UnverifiedData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
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
             * @description The record as DNS has it; `priority` of MX alone.
             * @enum {string}
             */
            type: "TXT" | "MX";
            /** @description The record as DNS has it; `priority` of MX alone. */
            name: string;
            /** @description The record as DNS has it; `priority` of MX alone. */
            value: string;
            /** @description The record as DNS has it; `priority` of MX alone. */
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
            domainName: string;
            /** @enum {string} */
            status: "active" | "pending" | "failed";
            checks: components["schemas"]["DomainChecks"];
            verifiedAt: string | null;
        };
        DomainVerifiedEvent: {
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "domain.verified";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["VerifiedData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @constant
             */
            mode?: "test";
        };
        Draft: {
            /** @description Its id. */
            id: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The conversation that it answers in. */
            threadId: string | null;
            /** @description As they were given; HTML is sanitized when the draft is sent. */
            toAddresses: string[];
            /** @description As they were given; HTML is sanitized when the draft is sent. */
            ccAddresses: string[];
            /** @description As they were given; HTML is sanitized when the draft is sent. */
            bccAddresses: string[];
            /** @description As they were given; HTML is sanitized when the draft is sent. */
            subject: string;
            /** @description As they were given; HTML is sanitized when the draft is sent. */
            textBody: string | null;
            /** @description As they were given; HTML is sanitized when the draft is sent. */
            htmlBody: string | null;
            /** @description The message that it answers. */
            inReplyTo: string | null;
            /** @description It is sent only unless the conversation went on after this message. */
            ifLastMessageId: string | null;
            /** @description It is sent only while this claim lives, which it ends as done. */
            claimId: string | null;
            /** @description It is sent only while this claim lives, which it ends as done. */
            completeClaim: boolean;
            /**
             * @description `draft`, `sent` or `discarded`.
             * @enum {string}
             */
            status: "draft" | "sent" | "discarded";
            /** @description The message that it was sent as. */
            messageId: string | null;
            /** @description When it was made. */
            createdAt: string;
            /** @description When it last changed. */
            updatedAt: string;
            /** @description When it was sent, or discarded; else null. */
            sentAt: string | null;
            /** @description When it was sent, or discarded; else null. */
            discardedAt: string | null;
        };
        DraftCreatedEvent: {
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "draft.created";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["ChangedDraftData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @constant
             */
            mode?: "test";
        };
        DraftDiscardedEvent: {
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "draft.discarded";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["ChangedDraftData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @constant
             */
            mode?: "test";
        };
        DraftUpdatedEvent: {
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "draft.updated";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["ChangedDraftData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @constant
             */
            mode?: "test";
        };
        DraftedReply: {
            /** @description Its id. */
            id: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The conversation that it answers in. */
            threadId: string | null;
            /** @description As they were given; HTML is sanitized when the draft is sent. */
            toAddresses: string[];
            /** @description As they were given; HTML is sanitized when the draft is sent. */
            ccAddresses: string[];
            /** @description As they were given; HTML is sanitized when the draft is sent. */
            bccAddresses: string[];
            /** @description As they were given; HTML is sanitized when the draft is sent. */
            subject: string;
            /** @description As they were given; HTML is sanitized when the draft is sent. */
            textBody: string | null;
            /** @description As they were given; HTML is sanitized when the draft is sent. */
            htmlBody: string | null;
            /** @description The message that it answers. */
            inReplyTo: string | null;
            /** @description It is sent only unless the conversation went on after this message. */
            ifLastMessageId: string | null;
            /** @description It is sent only while this claim lives, which it ends as done. */
            claimId: string | null;
            /** @description It is sent only while this claim lives, which it ends as done. */
            completeClaim: boolean;
            /**
             * @description `draft`, `sent` or `discarded`.
             * @enum {string}
             */
            status: "draft" | "sent" | "discarded";
            /** @description The message that it was sent as. */
            messageId: string | null;
            /** @description When it was made. */
            createdAt: string;
            /** @description When it last changed. */
            updatedAt: string;
            /** @description When it was sent, or discarded; else null. */
            sentAt: string | null;
            /** @description When it was sent, or discarded; else null. */
            discardedAt: string | null;
            resolved: components["schemas"]["ResolvedRecipients"];
        };
        /** @description Who stands there and is not written to. */
        DroppedRecipient: {
            address: string;
            /** @enum {string} */
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
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "email.bounced";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["BouncedData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @constant
             */
            mode?: "test";
        };
        EmailComplainedEvent: {
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "email.complained";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["ComplainedData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @constant
             */
            mode?: "test";
        };
        EmailDelayedEvent: {
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "email.delayed";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["DelayedData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @constant
             */
            mode?: "test";
        };
        EmailFailedEvent: {
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "email.failed";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["FailedData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @constant
             */
            mode?: "test";
        };
        EmailReceivedEvent: {
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "email.received";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["ReceivedData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @constant
             */
            mode?: "test";
        };
        EmailSentEvent: {
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "email.sent";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["SentData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @constant
             */
            mode?: "test";
        };
        EmailUnsubscribedEvent: {
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "email.unsubscribed";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["UnsubscribedData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @constant
             */
            mode?: "test";
        };
        /** @description `attempt`: which claim of the message it was. */
        EndedClaimData: {
            claimId: string;
            /** @description The message that it is about. */
            messageId: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The conversation that it belongs to. */
            threadId: string;
            attempt: number;
            holder: string | null;
        };
        /** @description Branch on `code`; show `message` to people; `details` are data to act on. */
        RefusedAnswer: {
            error: components["schemas"]["ErrorBody"];
        };
        ErrorBody: {
            code: string;
            message: string;
            details?: {
                [key: string]: unknown;
            };
        };
        Event: components["schemas"]["EmailReceivedEvent"] | components["schemas"]["EmailSentEvent"] | components["schemas"]["EmailBouncedEvent"] | components["schemas"]["EmailComplainedEvent"] | components["schemas"]["EmailUnsubscribedEvent"] | components["schemas"]["EmailDelayedEvent"] | components["schemas"]["EmailFailedEvent"] | components["schemas"]["DomainVerifiedEvent"] | components["schemas"]["DomainFailedEvent"] | components["schemas"]["SendingPausedEvent"] | components["schemas"]["MessageUpdatedEvent"] | components["schemas"]["MessageDeletedEvent"] | components["schemas"]["ThreadUpdatedEvent"] | components["schemas"]["DraftCreatedEvent"] | components["schemas"]["DraftUpdatedEvent"] | components["schemas"]["DraftDiscardedEvent"] | components["schemas"]["ClaimExpiredEvent"] | components["schemas"]["ClaimDeadEvent"] | components["schemas"]["ReviewRequestedEvent"] | components["schemas"]["ReviewResolvedEvent"] | components["schemas"]["AuditHeadEvent"];
        EventAttachment: {
            /** @description Its id. */
            id: string;
            filename: string;
            contentType: string;
            sizeBytes: number;
        };
        /**
         * @description `excerpt` is `view[start:end]`, its first 200 code points at most, of the field that GET shows: `subject`,
         *     `fromName`, `text` (textBody), `html` (htmlBody), `filename:att_…`.
         */
        EvidenceItem: {
            /** @enum {string} */
            kind: "hidden_text" | "comment_text" | "zero_width" | "bidi_control" | "tag_characters" | "variation_smuggling" | "part_mismatch" | "preheader" | "display_name_address" | "reply_to_mismatch" | "several_from" | "lookalike_domain" | "unverified_sender" | "first_time_sender" | "link_text_mismatch" | "link_ip" | "link_userinfo" | "link_punycode" | "link_scheme" | "markdown_reference" | "remote_image_with_data" | "directive" | "role_markup" | "secret_request" | "fence_spoof" | "double_extension" | "active_content" | "encrypted_archive" | "filename_trick";
            /** @enum {string} */
            severity: "low" | "medium" | "high";
            view: string;
            start: number;
            end: number;
            excerpt: string;
            directive: boolean;
            why: string | null;
            shown: string | null;
            target: string | null;
        };
        FailedData: {
            /** @description The message that it is about. */
            messageId: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The conversation that it belongs to. */
            threadId: string;
            fromAddress: string;
            toAddresses: string[];
            subject: string;
            sentAt: string | null;
            recipients: components["schemas"]["Recipient"][];
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
            /** @description The address, before and behind its `@`. */
            username: string;
            /** @description The address, before and behind its `@`. */
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
            /** @description When it last changed. */
            updatedAt: string;
            /** @description Null while it is active. */
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
            reasons: string[];
            expiresAt: string;
        };
        /**
         * @description One address of a mail host or smarthost. `fault`: why it took no part in a transaction, or that it was lost in
         *     one. `dialogue`: what was said, `C: ` by this host, `S: ` by the other, `* ` remarks; without the message, and of
         *     the recipients this one alone.
         */
        HostTried: {
            /** @description `isRelay`: a smarthost. */
            host: string;
            /** @description `isRelay`: a smarthost. */
            address: string;
            /** @description `isRelay`: a smarthost. */
            port: number;
            /** @description `isRelay`: a smarthost. */
            isRelay: boolean;
            /** @description How this host showed itself; null where it did not come to that. */
            sourceAddress: string | null;
            /** @description How this host showed itself; null where it did not come to that. */
            ehloName: string | null;
            /** @description The session was open from an earlier message. */
            isReused: boolean;
            /**
             * @description Whose word counted (`none`, `mta-sts`, `dane`, `override`: the operator's for the destination, `relay`), and what it wanted (`none`, `opportunistic`, `testing`, `encrypt`, `verify`, `dane`, `starttls`, `implicit`).
             * @enum {string}
             */
            tlsPolicy: "none" | "mta-sts" | "dane" | "override" | "relay";
            /**
             * @description Whose word counted (`none`, `mta-sts`, `dane`, `override`: the operator's for the destination, `relay`), and what it wanted (`none`, `opportunistic`, `testing`, `encrypt`, `verify`, `dane`, `starttls`, `implicit`).
             * @enum {string}
             */
            tlsLevel: "none" | "opportunistic" | "testing" | "encrypt" | "verify" | "dane" | "starttls" | "implicit";
            /** @description Null in plain text; `verifiedBy`: what vouched for the host, `webpki` (its certificate, for its name) or `dane`; null: nobody. */
            tlsVersion: string | null;
            /** @description Null in plain text; `verifiedBy`: what vouched for the host, `webpki` (its certificate, for its name) or `dane`; null: nobody. */
            cipher: string | null;
            /** @description Null in plain text; `verifiedBy`: what vouched for the host, `webpki` (its certificate, for its name) or `dane`; null: nobody. */
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
            /** @description The address, before and behind its `@`. */
            username: string;
            /** @description The address, before and behind its `@`. */
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
            /** @description When it last changed. */
            updatedAt: string;
            /** @description Null while it is active. */
            deactivatedAt: string | null;
        };
        /** @description An inbox's own document. `version`: how often it was replaced. */
        InboxPolicy: {
            outbound: components["schemas"]["ShownOutboundPolicy"];
            inbound: components["schemas"]["ShownInboundPolicy"];
            work: components["schemas"]["ShownWorkPolicy"];
            review: components["schemas"]["ShownReviewPolicy"];
            version: number;
        };
        Key: {
            /** @description `key_…`. */
            id: string;
            /** @description 1-64 characters. */
            name: string;
            /** @description The first 16 characters of the key. */
            keyPrefix: string;
            /**
             * @description `live` or `test`.
             * @enum {string}
             */
            mode: "live" | "test";
            /** @description Section 5. */
            scopes: string[];
            /** @description The inbox that the key is bound to. */
            inboxId: string | null;
            /** @description False once revoked. */
            isActive: boolean;
            /** @description The key that minted it; null where the operator or a member did. */
            mintedBy: string | null;
            /** @description True to the minute; null when the key was never used. */
            lastUsedAt: string | null;
            /** @description When it was minted. */
            createdAt: string;
        };
        LabelledData: {
            /** @description The message that it is about. */
            messageId: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The conversation that it belongs to. */
            threadId: string;
            labelsBefore: string[];
            labels: string[];
        };
        Limits: {
            messagesMonthly: number | null;
            messagesDaily: number | null;
            inboxes: number | null;
            openDrafts: number | null;
            webhooks: number | null;
            storageBytes: number | null;
        };
        ListedMessage: {
            /** @description `msg_…`. */
            id: string;
            /** @description The inbox and the conversation that it is in. */
            inboxId: string;
            /** @description The inbox and the conversation that it is in. */
            threadId: string;
            /**
             * @description `inbound` or `outbound`.
             * @enum {string}
             */
            direction: "inbound" | "outbound";
            /**
             * @description `live`, or `test` for what a test key sent and the simulator answered.
             * @enum {string}
             */
            mode: "live" | "test";
            /**
             * @description Section 3.
             * @enum {string}
             */
            status: "received" | "held" | "scheduled" | "queued" | "sent" | "delivered" | "failed" | "cancelled";
            /** @description Of mail that waits for a decision: `id`, `reasons`, `expiresAt` of the review; null otherwise. */
            review: components["schemas"]["HeldFor"] | null;
            /** @description The one author (the envelope sender where a mail names none); the name as shown in the mail. */
            fromAddress: string;
            /** @description The domain of `fromAddress` as a lower-case A-label (`xn--…`), or its address literal; null where there is none. */
            fromDomain: string | null;
            /** @description The same domain as people write it, of inbound mail from an internationalized one; else null. Show both: letters of other scripts look alike. */
            fromDomainUnicode: string | null;
            /** @description The one author (the envelope sender where a mail names none); the name as shown in the mail. */
            fromName: string | null;
            /** @description As in the header of the mail, the first 1,000 of each. */
            toAddresses: string[];
            /** @description As in the header of the mail, the first 1,000 of each. */
            ccAddresses: string[];
            /** @description Empty for inbound mail. */
            bccAddresses: string[];
            /** @description The first mailbox of Reply-To. */
            replyTo: string | null;
            /** @description All of them, the first 1,000. */
            replyToAddresses: string[];
            /** @description The snippet is the beginning of the text. */
            subject: string;
            /** @description The snippet is the beginning of the text. */
            snippet: string;
            /** @description The new words alone, without quotes, signatures and footers. */
            extractedText: string | null;
            /** @description As in the header of the mail; of several ids the first. */
            messageIdHeader: string | null;
            /** @description As in the header of the mail; of several ids the first. */
            inReplyTo: string | null;
            /** @description 100 at most: the first, and the newest. */
            references: string[];
            /** @description `unread` on arrival. */
            labels: string[];
            /** @description Vacation notices and their kind, receipts, every bounce report, whatever else came to the envelope sender of a message, and what the inbox itself sent and a list or an alias sends back; not `auto-generated` mail. */
            isAutoReply: boolean;
            /** @description Its author's domain disowns it (DMARC), or it names no one author (but for a report about mail of ours that counts and names none). */
            isSpam: boolean;
            /** @description What its evidence comes to: `none`, `low`, `medium`, `high`; null: not looked at yet. */
            risk: ("none" | "low" | "medium" | "high") | null;
            /** @description Inbound: `spf`, `dkim`, `dmarc`, `arc`, `verifiedDomain`; null for outbound mail. */
            auth: components["schemas"]["Auth"] | null;
            /** @description The message that this one passes on (section 4, "Forwarding"); it may be gone since. */
            forwardOf: string | null;
            /** @description Of inbound mail: the address of the inbox that it came to, with its tag, also where To and Cc do not have it (Bcc, lists, aliases); null of what came before this was kept. */
            deliveredTo: string | null;
            /** @description Of inbound mail that says that a mailing list sends it: `id` (List-Id), `post` (the address by which one writes to all of its members), `unsubscribe` (string[], URLs, `mailto:` among them, five at most), `oneClick` (whether a POST of `List-Unsubscribe=One-Click` to that of https unsubscribes, and a valid DKIM signature covers both fields that say so, RFC 8058 §4). Whoever writes may say the rest. */
            mailingList: components["schemas"]["MailingListShown"] | null;
            /** @description Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
            recipients: components["schemas"]["Recipient"][];
            /** @description `id`, `filename`, `contentType`, `sizeBytes`, `contentId`, `isInline`. */
            attachments: components["schemas"]["Attachment"][];
            /** @description Of `failed`: `bounced`, `expired`, `dropped` (by the operator), `review_rejected`, `review_expired`, or the error code that refused it; `invalid_api_key` of what was withdrawn with its key. */
            failureReason: string | null;
            /** @description When it is to be sent, as it was asked for; when a host first took it. */
            scheduledAt: string | null;
            /** @description When it is to be sent, as it was asked for; when a host first took it. */
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
             * @description `inbound` or `outbound`.
             * @enum {string}
             */
            direction: "inbound" | "outbound";
            /**
             * @description `allow`, `block` or `hold`.
             * @enum {string}
             */
            action: "allow" | "block" | "hold";
            /** @description An address without its tag (`ada@x.org`, which names `ada+news@x.org` as well), a domain (`x.org`, that alone), or `*.x.org`, all domains below it; in the form that is compared (lower case, domain as `xn--`). */
            value: string;
            /** @description Up to 200 characters, for people. */
            note: string | null;
            /** @description When it was made. */
            createdAt: string;
        };
        MailingListShown: {
            /** @description Its id. */
            id: string | null;
            post: string | null;
            unsubscribe: string[];
            oneClick: boolean;
        };
        Member: {
            /** @description Its id. */
            id: string;
            email: string;
            name: string | null;
            /** @enum {string} */
            role: "owner" | "admin" | "member";
            joinedAt: string;
        };
        Message: {
            /** @description `msg_…`. */
            id: string;
            /** @description The inbox and the conversation that it is in. */
            inboxId: string;
            /** @description The inbox and the conversation that it is in. */
            threadId: string;
            /**
             * @description `inbound` or `outbound`.
             * @enum {string}
             */
            direction: "inbound" | "outbound";
            /**
             * @description `live`, or `test` for what a test key sent and the simulator answered.
             * @enum {string}
             */
            mode: "live" | "test";
            /**
             * @description Section 3.
             * @enum {string}
             */
            status: "received" | "held" | "scheduled" | "queued" | "sent" | "delivered" | "failed" | "cancelled";
            /** @description Of mail that waits for a decision: `id`, `reasons`, `expiresAt` of the review; null otherwise. */
            review: components["schemas"]["HeldFor"] | null;
            /** @description The one author (the envelope sender where a mail names none); the name as shown in the mail. */
            fromAddress: string;
            /** @description The domain of `fromAddress` as a lower-case A-label (`xn--…`), or its address literal; null where there is none. */
            fromDomain: string | null;
            /** @description The same domain as people write it, of inbound mail from an internationalized one; else null. Show both: letters of other scripts look alike. */
            fromDomainUnicode: string | null;
            /** @description The one author (the envelope sender where a mail names none); the name as shown in the mail. */
            fromName: string | null;
            /** @description As in the header of the mail, the first 1,000 of each. */
            toAddresses: string[];
            /** @description As in the header of the mail, the first 1,000 of each. */
            ccAddresses: string[];
            /** @description Empty for inbound mail. */
            bccAddresses: string[];
            /** @description The first mailbox of Reply-To. */
            replyTo: string | null;
            /** @description All of them, the first 1,000. */
            replyToAddresses: string[];
            /** @description The snippet is the beginning of the text. */
            subject: string;
            /** @description The snippet is the beginning of the text. */
            snippet: string;
            /** @description The new words alone, without quotes, signatures and footers. */
            extractedText: string | null;
            /** @description As in the header of the mail; of several ids the first. */
            messageIdHeader: string | null;
            /** @description As in the header of the mail; of several ids the first. */
            inReplyTo: string | null;
            /** @description 100 at most: the first, and the newest. */
            references: string[];
            /** @description `unread` on arrival. */
            labels: string[];
            /** @description Vacation notices and their kind, receipts, every bounce report, whatever else came to the envelope sender of a message, and what the inbox itself sent and a list or an alias sends back; not `auto-generated` mail. */
            isAutoReply: boolean;
            /** @description Its author's domain disowns it (DMARC), or it names no one author (but for a report about mail of ours that counts and names none). */
            isSpam: boolean;
            /** @description What its evidence comes to: `none`, `low`, `medium`, `high`; null: not looked at yet. */
            risk: ("none" | "low" | "medium" | "high") | null;
            /** @description Inbound: `spf`, `dkim`, `dmarc`, `arc`, `verifiedDomain`; null for outbound mail. */
            auth: components["schemas"]["Auth"] | null;
            /** @description The message that this one passes on (section 4, "Forwarding"); it may be gone since. */
            forwardOf: string | null;
            /** @description Of inbound mail: the address of the inbox that it came to, with its tag, also where To and Cc do not have it (Bcc, lists, aliases); null of what came before this was kept. */
            deliveredTo: string | null;
            /** @description Of inbound mail that says that a mailing list sends it: `id` (List-Id), `post` (the address by which one writes to all of its members), `unsubscribe` (string[], URLs, `mailto:` among them, five at most), `oneClick` (whether a POST of `List-Unsubscribe=One-Click` to that of https unsubscribes, and a valid DKIM signature covers both fields that say so, RFC 8058 §4). Whoever writes may say the rest. */
            mailingList: components["schemas"]["MailingListShown"] | null;
            /** @description Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
            recipients: components["schemas"]["Recipient"][];
            /** @description `id`, `filename`, `contentType`, `sizeBytes`, `contentId`, `isInline`. */
            attachments: components["schemas"]["Attachment"][];
            /** @description Of `failed`: `bounced`, `expired`, `dropped` (by the operator), `review_rejected`, `review_expired`, or the error code that refused it; `invalid_api_key` of what was withdrawn with its key. */
            failureReason: string | null;
            /** @description When it is to be sent, as it was asked for; when a host first took it. */
            scheduledAt: string | null;
            /** @description When it is to be sent, as it was asked for; when a host first took it. */
            sentAt: string | null;
            /** @description Since when mail that came in is held; null of all that others see. */
            heldAt: string | null;
            /** @description When it came in, or was accepted. */
            createdAt: string;
            /** @description The words as text, and as its author's HTML; not in lists. */
            textBody: string | null;
            /** @description The words as text, and as its author's HTML; not in lists. */
            htmlBody: string | null;
        };
        MessageDeletedEvent: {
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "message.deleted";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["ChangedMessageData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @constant
             */
            mode?: "test";
        };
        /** @description `version`: of what is looked for. `truncated`: not all of the message was looked at, or there are more items. */
        MessageEvidence: {
            /** @description The message that it is about. */
            messageId: string;
            version: number;
            /** @enum {string} */
            risk: "none" | "low" | "medium" | "high";
            hiddenCharacters: number;
            truncated: boolean;
            items: components["schemas"]["EvidenceItem"][];
        };
        /** @description Where the message stands in `text`, in code points, without its fences. */
        MessageInContext: {
            /** @description Its id. */
            id: string;
            /** @enum {string} */
            direction: "inbound" | "outbound";
            verifiedDomain: string | null;
            risk: ("none" | "low" | "medium" | "high") | null;
            start: number;
            end: number;
            isCut: boolean;
            attachments: components["schemas"]["ContextFile"][];
        };
        MessageUpdatedEvent: {
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "message.updated";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["LabelledData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @constant
             */
            mode?: "test";
        };
        MintedKey: {
            /** @description `key_…`. */
            id: string;
            /** @description 1-64 characters. */
            name: string;
            /** @description The first 16 characters of the key. */
            keyPrefix: string;
            /**
             * @description `live` or `test`.
             * @enum {string}
             */
            mode: "live" | "test";
            /** @description Section 5. */
            scopes: string[];
            /** @description The inbox that the key is bound to. */
            inboxId: string | null;
            /** @description False once revoked. */
            isActive: boolean;
            /** @description The key that minted it; null where the operator or a member did. */
            mintedBy: string | null;
            /** @description True to the minute; null when the key was never used. */
            lastUsedAt: string | null;
            /** @description When it was minted. */
            createdAt: string;
            /** @description In the response of the creation alone: the raw key, and a reminder to keep it. */
            apiKey: string;
            /** @description In the response of the creation alone: the raw key, and a reminder to keep it. */
            warning: string;
        };
        NamedRule: {
            /** @description Its id. */
            id: string;
            /** @enum {string} */
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
            version: number;
            outbound: components["schemas"]["ShownOutboundPolicy"];
            inbound: components["schemas"]["ShownInboundPolicy"];
            review: components["schemas"]["ShownReviewPolicy"];
        };
        /** @description A mail host of the domain that was not tried. */
        PassedOverHost: {
            host: string;
            reason: string;
        };
        PausedData: {
            /** @enum {string} */
            status: "paused" | "pending";
            reason: string | null;
            action: string | null;
            trippedAt: string | null;
        };
        PingedData: {
            webhookId: string;
        };
        QueueChanged: {
            recipients: number;
            more: boolean;
        };
        QueueState: {
            waiting: number;
            pausedSince: string | null;
            destinations: components["schemas"]["QueuedDestination"][];
        };
        QueuedDestination: {
            destination: string;
            waiting: number;
            held: number;
            firstDueAt: string | null;
        };
        QueuedRecipient: {
            /** @description The message that it is about. */
            messageId: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            address: string;
            destination: string;
            /** @enum {string} */
            status: "queued" | "deferred" | "held";
            attempts: number;
            lastAttemptAt: string | null;
            nextAttemptAt: string | null;
            expiresAt: string;
            smtpCode: number | null;
            enhancedCode: string | null;
            response: string | null;
        };
        /** @description `text` and `extractedText`: up to 64 KiB; null, with the other words empty, once the message is deleted. */
        ReceivedData: {
            /** @description The message that it is about. */
            messageId: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The conversation that it belongs to. */
            threadId: string;
            /** @constant */
            direction: "inbound";
            fromAddress: string;
            fromName: string | null;
            toAddresses: string[];
            subject: string;
            snippet: string;
            text: string | null;
            textTruncated: boolean;
            extractedText: string | null;
            hasHtml: boolean;
            auth: components["schemas"]["Auth"] | null;
            attachments: components["schemas"]["EventAttachment"][];
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
            /** @description How often it was tried, when at last, and when it is again; null: not. */
            attempts: number;
            /** @description How often it was tried, when at last, and when it is again; null: not. */
            lastAttemptAt: string | null;
            /** @description How often it was tried, when at last, and when it is again; null: not. */
            nextAttemptAt: string | null;
            /** @description Who answered the last attempt, and what: SMTP replies and plain words only. */
            remoteHost: string | null;
            /** @description Who answered the last attempt, and what: SMTP replies and plain words only. */
            smtpCode: number | null;
            /** @description Who answered the last attempt, and what: SMTP replies and plain words only. */
            enhancedCode: string | null;
            /** @description Who answered the last attempt, and what: SMTP replies and plain words only. */
            response: string | null;
            /** @description The version and the cipher of the session, with a space between; where a policy demanded TLS, and got it, its name follows in brackets (`mta-sts`, `dane`, `verify`, `encrypt`): `TLSv1.3 TLS_AES_256_GCM_SHA384 (mta-sts)`. Null in plain text. */
            tls: string | null;
        };
        ReportedDispositions: {
            none: number;
            quarantine: number;
            reject: number;
        };
        ReportedFailure: {
            type: string;
            sessions: number;
        };
        ReportedSource: {
            address: string;
            total: number;
            passed: number;
            failed: number;
        };
        Reputation: {
            windowDays: number;
            sent: number;
            hardBounceRate: number;
            complaintRate: number;
        };
        /** @description Ids and reasons, never words. */
        RequestedReviewData: {
            reviewId: string;
            /** @description The message that it is about. */
            messageId: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @enum {string} */
            direction: "inbound" | "outbound";
            /** @enum {string} */
            status: "pending" | "approved" | "rejected" | "expired" | "withdrawn";
            reasons: string[];
            expiresAt: string;
        };
        Resets: {
            daily: string;
            monthly: string;
        };
        /** @description How the recipients of an answer were found. */
        ResolvedRecipients: {
            /** @enum {string} */
            source: "reply_to" | "from" | "recipients" | "given";
            dropped: components["schemas"]["DroppedRecipient"][];
        };
        /** @description `resolvedBy`: a key, a member or `operator`; null: its time was over. */
        ResolvedReviewData: {
            reviewId: string;
            /** @description The message that it is about. */
            messageId: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @enum {string} */
            direction: "inbound" | "outbound";
            /** @enum {string} */
            status: "pending" | "approved" | "rejected" | "expired" | "withdrawn";
            reasons: string[];
            expiresAt: string;
            resolvedBy: string | null;
        };
        /** @description `resolvedBy`: a key, a member or `operator`; null while it is pending, and where its time was over. */
        Review: {
            /** @description Its id. */
            id: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The message that it is about. */
            messageId: string;
            /** @enum {string} */
            direction: "inbound" | "outbound";
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @enum {string}
             */
            mode: "live" | "test";
            /** @enum {string} */
            status: "pending" | "approved" | "rejected" | "expired" | "withdrawn";
            reasons: string[];
            warnings: components["schemas"]["CheckWarning"][];
            submittedBy: string | null;
            expiresAt: string;
            resolvedBy: string | null;
            resolvedAt: string | null;
            note: string | null;
            /** @description When it was made. */
            createdAt: string;
        };
        ReviewRequestedEvent: {
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "review.requested";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["RequestedReviewData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @constant
             */
            mode?: "test";
        };
        ReviewResolvedEvent: {
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "review.resolved";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["ResolvedReviewData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
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
            /** @constant */
            status: "revoked";
            revokedKeys: number;
            withdrawnMessages: number;
        };
        SendingApproval: {
            /** @enum {string} */
            status: "approved" | "pending" | "paused";
            reason: string | null;
            action: string | null;
            trippedAt: string | null;
        };
        SendingPausedEvent: {
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "sending.paused";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["PausedData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @constant
             */
            mode?: "test";
        };
        SentData: {
            /** @description The message that it is about. */
            messageId: string;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @description The conversation that it belongs to. */
            threadId: string;
            fromAddress: string;
            toAddresses: string[];
            subject: string;
            sentAt: string | null;
            recipients: components["schemas"]["Recipient"][];
        };
        SentReply: {
            /** @description `msg_…`. */
            id: string;
            /** @description The inbox and the conversation that it is in. */
            inboxId: string;
            /** @description The inbox and the conversation that it is in. */
            threadId: string;
            /**
             * @description `inbound` or `outbound`.
             * @enum {string}
             */
            direction: "inbound" | "outbound";
            /**
             * @description `live`, or `test` for what a test key sent and the simulator answered.
             * @enum {string}
             */
            mode: "live" | "test";
            /**
             * @description Section 3.
             * @enum {string}
             */
            status: "received" | "held" | "scheduled" | "queued" | "sent" | "delivered" | "failed" | "cancelled";
            /** @description Of mail that waits for a decision: `id`, `reasons`, `expiresAt` of the review; null otherwise. */
            review: components["schemas"]["HeldFor"] | null;
            /** @description The one author (the envelope sender where a mail names none); the name as shown in the mail. */
            fromAddress: string;
            /** @description The domain of `fromAddress` as a lower-case A-label (`xn--…`), or its address literal; null where there is none. */
            fromDomain: string | null;
            /** @description The same domain as people write it, of inbound mail from an internationalized one; else null. Show both: letters of other scripts look alike. */
            fromDomainUnicode: string | null;
            /** @description The one author (the envelope sender where a mail names none); the name as shown in the mail. */
            fromName: string | null;
            /** @description As in the header of the mail, the first 1,000 of each. */
            toAddresses: string[];
            /** @description As in the header of the mail, the first 1,000 of each. */
            ccAddresses: string[];
            /** @description Empty for inbound mail. */
            bccAddresses: string[];
            /** @description The first mailbox of Reply-To. */
            replyTo: string | null;
            /** @description All of them, the first 1,000. */
            replyToAddresses: string[];
            /** @description The snippet is the beginning of the text. */
            subject: string;
            /** @description The snippet is the beginning of the text. */
            snippet: string;
            /** @description The new words alone, without quotes, signatures and footers. */
            extractedText: string | null;
            /** @description As in the header of the mail; of several ids the first. */
            messageIdHeader: string | null;
            /** @description As in the header of the mail; of several ids the first. */
            inReplyTo: string | null;
            /** @description 100 at most: the first, and the newest. */
            references: string[];
            /** @description `unread` on arrival. */
            labels: string[];
            /** @description Vacation notices and their kind, receipts, every bounce report, whatever else came to the envelope sender of a message, and what the inbox itself sent and a list or an alias sends back; not `auto-generated` mail. */
            isAutoReply: boolean;
            /** @description Its author's domain disowns it (DMARC), or it names no one author (but for a report about mail of ours that counts and names none). */
            isSpam: boolean;
            /** @description What its evidence comes to: `none`, `low`, `medium`, `high`; null: not looked at yet. */
            risk: ("none" | "low" | "medium" | "high") | null;
            /** @description Inbound: `spf`, `dkim`, `dmarc`, `arc`, `verifiedDomain`; null for outbound mail. */
            auth: components["schemas"]["Auth"] | null;
            /** @description The message that this one passes on (section 4, "Forwarding"); it may be gone since. */
            forwardOf: string | null;
            /** @description Of inbound mail: the address of the inbox that it came to, with its tag, also where To and Cc do not have it (Bcc, lists, aliases); null of what came before this was kept. */
            deliveredTo: string | null;
            /** @description Of inbound mail that says that a mailing list sends it: `id` (List-Id), `post` (the address by which one writes to all of its members), `unsubscribe` (string[], URLs, `mailto:` among them, five at most), `oneClick` (whether a POST of `List-Unsubscribe=One-Click` to that of https unsubscribes, and a valid DKIM signature covers both fields that say so, RFC 8058 §4). Whoever writes may say the rest. */
            mailingList: components["schemas"]["MailingListShown"] | null;
            /** @description Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
            recipients: components["schemas"]["Recipient"][];
            /** @description `id`, `filename`, `contentType`, `sizeBytes`, `contentId`, `isInline`. */
            attachments: components["schemas"]["Attachment"][];
            /** @description Of `failed`: `bounced`, `expired`, `dropped` (by the operator), `review_rejected`, `review_expired`, or the error code that refused it; `invalid_api_key` of what was withdrawn with its key. */
            failureReason: string | null;
            /** @description When it is to be sent, as it was asked for; when a host first took it. */
            scheduledAt: string | null;
            /** @description When it is to be sent, as it was asked for; when a host first took it. */
            sentAt: string | null;
            /** @description Since when mail that came in is held; null of all that others see. */
            heldAt: string | null;
            /** @description When it came in, or was accepted. */
            createdAt: string;
            resolved: components["schemas"]["ResolvedRecipients"];
        };
        ShownInboundPolicy: {
            hold: ("unverified" | "high_risk")[];
            /** @enum {string} */
            unlisted: "accept" | "hold" | "refuse";
        };
        ShownOutboundPolicy: {
            /** @enum {string} */
            recipients: "any" | "allowlist" | "participants";
            /** @enum {string} */
            review: "off" | "external" | "first_time" | "all";
            holdOn: ("empty_body" | "placeholder" | "model_artifact" | "secret" | "attachment_missing" | "duplicate" | "recipient_from_content" | "reply_to_mismatch" | "no_reply_address" | "auto_reply_target")[];
            firstTimeDaily: number | null;
            /** @enum {string} */
            replyTo: "honor" | "verified";
        };
        ShownReviewPolicy: {
            expiresAfterSeconds: number;
            notify: string[];
        };
        ShownWorkPolicy: {
            enabled: boolean;
            maxAttempts: number;
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
            /** @description The address, in lower case, its domain as `xn--`. */
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
            /** @description Messages, and those with the label `unread`. */
            messageCount: number;
            /** @description Messages, and those with the label `unread`. */
            unreadCount: number;
            /** @description When the latest came in or was sent. */
            lastMessageAt: string;
            /** @description Put away; mail that comes in takes it out. */
            isArchived: boolean;
            /** @description When it was made. */
            createdAt: string;
        };
        ThreadContext: {
            /** @description The conversation that it belongs to. */
            threadId: string;
            lastMessageId: string | null;
            contextHash: string;
            estimatedTokens: number;
            maxTokens: number;
            truncated: boolean;
            omittedMessages: number;
            text: string;
            messages: components["schemas"]["MessageInContext"][];
        };
        /** @description The whole message, and the short names beside the long ones. */
        ThreadMessage: {
            /** @description `msg_…`. */
            id: string;
            /** @description The inbox and the conversation that it is in. */
            inboxId: string;
            /** @description The inbox and the conversation that it is in. */
            threadId: string;
            /**
             * @description `inbound` or `outbound`.
             * @enum {string}
             */
            direction: "inbound" | "outbound";
            /**
             * @description `live`, or `test` for what a test key sent and the simulator answered.
             * @enum {string}
             */
            mode: "live" | "test";
            /**
             * @description Section 3.
             * @enum {string}
             */
            status: "received" | "held" | "scheduled" | "queued" | "sent" | "delivered" | "failed" | "cancelled";
            /** @description Of mail that waits for a decision: `id`, `reasons`, `expiresAt` of the review; null otherwise. */
            review: components["schemas"]["HeldFor"] | null;
            /** @description The one author (the envelope sender where a mail names none); the name as shown in the mail. */
            fromAddress: string;
            /** @description The domain of `fromAddress` as a lower-case A-label (`xn--…`), or its address literal; null where there is none. */
            fromDomain: string | null;
            /** @description The same domain as people write it, of inbound mail from an internationalized one; else null. Show both: letters of other scripts look alike. */
            fromDomainUnicode: string | null;
            /** @description The one author (the envelope sender where a mail names none); the name as shown in the mail. */
            fromName: string | null;
            /** @description As in the header of the mail, the first 1,000 of each. */
            toAddresses: string[];
            /** @description As in the header of the mail, the first 1,000 of each. */
            ccAddresses: string[];
            /** @description Empty for inbound mail. */
            bccAddresses: string[];
            /** @description The first mailbox of Reply-To. */
            replyTo: string | null;
            /** @description All of them, the first 1,000. */
            replyToAddresses: string[];
            /** @description The snippet is the beginning of the text. */
            subject: string;
            /** @description The snippet is the beginning of the text. */
            snippet: string;
            /** @description The new words alone, without quotes, signatures and footers. */
            extractedText: string | null;
            /** @description As in the header of the mail; of several ids the first. */
            messageIdHeader: string | null;
            /** @description As in the header of the mail; of several ids the first. */
            inReplyTo: string | null;
            /** @description 100 at most: the first, and the newest. */
            references: string[];
            /** @description `unread` on arrival. */
            labels: string[];
            /** @description Vacation notices and their kind, receipts, every bounce report, whatever else came to the envelope sender of a message, and what the inbox itself sent and a list or an alias sends back; not `auto-generated` mail. */
            isAutoReply: boolean;
            /** @description Its author's domain disowns it (DMARC), or it names no one author (but for a report about mail of ours that counts and names none). */
            isSpam: boolean;
            /** @description What its evidence comes to: `none`, `low`, `medium`, `high`; null: not looked at yet. */
            risk: ("none" | "low" | "medium" | "high") | null;
            /** @description Inbound: `spf`, `dkim`, `dmarc`, `arc`, `verifiedDomain`; null for outbound mail. */
            auth: components["schemas"]["Auth"] | null;
            /** @description The message that this one passes on (section 4, "Forwarding"); it may be gone since. */
            forwardOf: string | null;
            /** @description Of inbound mail: the address of the inbox that it came to, with its tag, also where To and Cc do not have it (Bcc, lists, aliases); null of what came before this was kept. */
            deliveredTo: string | null;
            /** @description Of inbound mail that says that a mailing list sends it: `id` (List-Id), `post` (the address by which one writes to all of its members), `unsubscribe` (string[], URLs, `mailto:` among them, five at most), `oneClick` (whether a POST of `List-Unsubscribe=One-Click` to that of https unsubscribes, and a valid DKIM signature covers both fields that say so, RFC 8058 §4). Whoever writes may say the rest. */
            mailingList: components["schemas"]["MailingListShown"] | null;
            /** @description Outbound: what became of each; empty for inbound mail, and for scheduled and held mail until it is dispatched. */
            recipients: components["schemas"]["Recipient"][];
            /** @description `id`, `filename`, `contentType`, `sizeBytes`, `contentId`, `isInline`. */
            attachments: components["schemas"]["Attachment"][];
            /** @description Of `failed`: `bounced`, `expired`, `dropped` (by the operator), `review_rejected`, `review_expired`, or the error code that refused it; `invalid_api_key` of what was withdrawn with its key. */
            failureReason: string | null;
            /** @description When it is to be sent, as it was asked for; when a host first took it. */
            scheduledAt: string | null;
            /** @description When it is to be sent, as it was asked for; when a host first took it. */
            sentAt: string | null;
            /** @description Since when mail that came in is held; null of all that others see. */
            heldAt: string | null;
            /** @description When it came in, or was accepted. */
            createdAt: string;
            /** @description The words as text, and as its author's HTML; not in lists. */
            textBody: string | null;
            /** @description The words as text, and as its author's HTML; not in lists. */
            htmlBody: string | null;
            /** @description `fromAddress`, `toAddresses`, `textBody`, `htmlBody`. */
            from: string;
            /** @description `fromAddress`, `toAddresses`, `textBody`, `htmlBody`. */
            to: string[];
            /** @description `fromAddress`, `toAddresses`, `textBody`, `htmlBody`. */
            text: string | null;
            /** @description `fromAddress`, `toAddresses`, `textBody`, `htmlBody`. */
            html: string | null;
        };
        ThreadUpdatedEvent: {
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "thread.updated";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["ChangedThreadData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @constant
             */
            mode?: "test";
        };
        /** @description Sessions of the reporter with the domain's mail hosts. */
        TlsSummary: {
            policyTypes: string[];
            failures: components["schemas"]["ReportedFailure"][];
        };
        Unsubscribed: {
            email: string;
            /** @constant */
            status: "unsubscribed";
        };
        UnsubscribedData: {
            email: string;
            /** @description The message that it is about. */
            messageId: string | null;
            /** @description The inbox that it belongs to, or is about. */
            inboxId: string;
            /** @enum {string} */
            source: "one_click" | "link";
            suppressionId: string;
        };
        UnverifiedData: {
            domainId: string;
            domainName: string;
            /** @constant */
            status: "failed";
            checks: components["schemas"]["DomainChecks"];
            verifiedAt: string | null;
        };
        Usage: {
            messagesMonthly: number;
            messagesDaily: number;
            inboxes: number;
            openDrafts: number;
            webhooks: number;
            storageBytes: number;
        };
        VerifiedData: {
            domainId: string;
            domainName: string;
            /** @constant */
            status: "verified";
            checks: components["schemas"]["DomainChecks"];
            verifiedAt: string | null;
        };
        Webhook: {
            /** @description Its id. */
            id: string;
            /** @description Where events are sent: https, public. */
            url: string;
            /** @description The types that are sent. */
            subscribedEvents: string[];
            /** @description False: nothing is sent. */
            isActive: boolean;
            /** @description When it was made. */
            createdAt: string;
            /** @description When it last changed. */
            updatedAt: string;
        };
        WebhookDelivery: {
            /** @description Its id. */
            id: string;
            /** @description To which webhook, and of what. */
            webhookId: string;
            /** @description To which webhook, and of what. */
            eventId: string | null;
            /** @description To which webhook, and of what. */
            eventType: string;
            /** @description Its number, from 1. */
            attempt: number;
            /** @description What was sent beside the body. */
            requestHeaders: {
                [key: string]: string;
            };
            /** @description What was answered, the first 1,000 characters of it; null where nothing was. */
            responseStatus: number | null;
            /** @description What was answered, the first 1,000 characters of it; null where nothing was. */
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
            /** @description Its id. */
            id: string;
            /** @constant */
            type: "webhook.test";
            /** @constant */
            apiVersion: "v1";
            /** @description When it was made. */
            createdAt: string;
            /** @description The organization that it belongs to. */
            organizationId: string;
            data: components["schemas"]["PingedData"];
            /**
             * @description `live` or `test`: the kind of key that made it.
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
            /** @description False: nothing is sent. */
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
            /** @description The message that it is about. */
            messageId: string;
            /** @enum {string} */
            direction: "inbound" | "outbound";
            /**
             * @description `live` or `test`: the kind of key that made it.
             * @enum {string}
             */
            mode: "live" | "test";
            /** @enum {string} */
            status: "pending" | "approved" | "rejected" | "expired" | "withdrawn";
            reasons: string[];
            warnings: components["schemas"]["CheckWarning"][];
            submittedBy: string | null;
            expiresAt: string;
            resolvedBy: string | null;
            resolvedAt: string | null;
            note: string | null;
            /** @description When it was made. */
            createdAt: string;
            contentHash: string | null;
            message: components["schemas"]["Message"] | null;
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
            /** @description Messages, and those with the label `unread`. */
            messageCount: number;
            /** @description Messages, and those with the label `unread`. */
            unreadCount: number;
            /** @description When the latest came in or was sent. */
            lastMessageAt: string;
            /** @description Put away; mail that comes in takes it out. */
            isArchived: boolean;
            /** @description When it was made. */
            createdAt: string;
            /** @description Of one thread alone: its messages, oldest first, and whether there are older ones. An element is the whole message, and beside the long names the short ones `from`, `to`, `text`, `html`. */
            hasMore: boolean;
            /** @description Of one thread alone: its messages, oldest first, and whether there are older ones. An element is the whole message, and beside the long names the short ones `from`, `to`, `text`, `html`. */
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
             * @description `live` or `test`: the kind of key that made it.
             * @enum {string}
             */
            mode: "live" | "test";
            /**
             * @description See section 3.
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
            /** @description The `id` of the last item of the page before; with it comes the next page. */
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
            /** @description The `id` of the last item of the page before; with it comes the next page. */
            cursor?: string;
        };
        /** @description What `agents.list` is asked with. */
        ListAgentsParams: {
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last item of the page before; with it comes the next page. */
            cursor?: string;
        };
        /** @description What `inboxes.list` is asked with. */
        ListInboxesParams: {
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last item of the page before; with it comes the next page. */
            cursor?: string;
            /** @description Those alone that have this. */
            isActive?: boolean;
        };
        /** @description What `claims.list` is asked with. */
        ListClaimsParams: {
            /** @description Of this inbox alone; of one that does not exist there is nothing. */
            inboxId?: string;
            /**
             * @description Those alone that have this.
             * @enum {string}
             */
            status?: "live" | "released" | "expired" | "done" | "dead";
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last item of the page before; with it comes the next page. */
            cursor?: string;
        };
        /** @description What `messages.list` is asked with. */
        ListMessagesParams: {
            /** @description Of this inbox alone; of one that does not exist there is nothing. */
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
            /** @description `true`: `auth.verifiedDomain` is not null. */
            verified?: boolean;
            /** @description Separated by commas: all of them. */
            labels?: string[];
            /** @description `true`: has the label `unread`. */
            unread?: boolean;
            /**
             * @description In this state.
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
            since?: string;
            /** @description Before this time. */
            until?: string;
            /** @description The same as `cursor`. */
            before?: string;
            /** @description The `id` of the last item of the page before; with it comes the next page. */
            cursor?: string;
        };
        /** @description What `messages.wait` is asked with. */
        WaitForMessageParams: {
            /** @description In this inbox, or conversation, alone. */
            inboxId?: string;
            /** @description In this inbox, or conversation, alone. */
            threadId?: string;
            /** @description As on lists. */
            from?: string;
            /** @description The domain of the sender or one above it: of `auth.verifiedDomain`, or, with `verified=false`, of whatever `fromAddress` claims. */
            fromDomain?: string;
            /** @description `true` alone asks for any `auth.verifiedDomain`. */
            verified?: boolean;
            /** @description A part of the subject, in any case. */
            subject?: string;
            /** @description As on lists. */
            q?: string;
            /** @description It has, or has not, a code. */
            hasCode?: boolean;
            /** @description The position: a message, an event or a time; left out, two minutes ago. */
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
             * @description Those alone that have this.
             * @enum {string}
             */
            status?: "pending" | "approved" | "rejected" | "expired" | "withdrawn";
            /**
             * @description Those alone that have this.
             * @enum {string}
             */
            direction?: "inbound" | "outbound";
            /** @description Of this inbox alone; of one that does not exist there is nothing. */
            inboxId?: string;
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last item of the page before; with it comes the next page. */
            cursor?: string;
        };
        /** @description What `threads.list` is asked with. */
        ListThreadsParams: {
            /** @description Of this inbox alone; of one that does not exist there is nothing. */
            inboxId?: string;
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last thread of the page before, or `<id>@<lastMessageAt>`. */
            cursor?: string;
            /** @description Both kinds without it. */
            isArchived?: boolean;
            /** @description Separated by commas: all of them, as the thread shows them. */
            labels?: string[];
            /** @description `true`: `unreadCount` is above 0. */
            unread?: boolean;
        };
        /** @description What `threads.get` is asked with. */
        GetThreadParams: {
            /** @description How many at most. */
            limit?: number;
            /** @description Of one thread: the `id` of the first message shown, for older ones. */
            before?: string;
        };
        /** @description What `threads.context` is asked with. */
        GetThreadContextParams: {
            /** @description Of a context: its budget (4000; 200-100,000). */
            maxTokens?: number;
            /** @description Of a context: the message that gets most room. */
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
             * @description Those alone that have this.
             * @enum {string}
             */
            status?: "draft" | "sent" | "discarded";
            /** @description Of this inbox alone; of one that does not exist there is nothing. */
            inboxId?: string;
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last item of the page before; with it comes the next page. */
            cursor?: string;
        };
        /** @description What `domains.reports` is asked with. */
        ListDomainReportsParams: {
            /**
             * @description Those alone that have this.
             * @enum {string}
             */
            type?: "dmarc" | "tls";
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last item of the page before; with it comes the next page. */
            cursor?: string;
        };
        /** @description What `suppressions.list` is asked with. */
        ListSuppressionsParams: {
            /**
             * @description Those alone that have this.
             * @enum {string}
             */
            reason?: "hard_bounce" | "complaint" | "unsubscribe" | "manual";
            /** @description Those alone that have this. */
            email?: string;
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last item of the page before; with it comes the next page. */
            cursor?: string;
        };
        /** @description What `rules.list` is asked with. */
        ListRulesParams: {
            /**
             * @description Those alone that have this.
             * @enum {string}
             */
            direction?: "inbound" | "outbound";
            /**
             * @description Those alone that have this.
             * @enum {string}
             */
            action?: "allow" | "block" | "hold";
            /** @description Those alone that have this. */
            value?: string;
            /** @description Of this inbox alone; of one that does not exist there is nothing. */
            inboxId?: string;
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last item of the page before; with it comes the next page. */
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
            /** @description Of this inbox alone; of one that does not exist there is nothing. */
            inboxId?: string;
            /** @description From this time on: a date (midnight UTC) or a timestamp. */
            since?: string;
            /** @description Before this time. */
            until?: string;
        };
        /** @description What `analytics.events` is asked with. */
        GetEventSeriesParams: {
            /** @description Of this inbox alone; of one that does not exist there is nothing. */
            inboxId?: string;
            /** @description From this time on: a date (midnight UTC) or a timestamp. */
            since?: string;
            /** @description Before this time. */
            until?: string;
            /** @description Types of events, separated by commas. */
            types?: ("email.received" | "email.sent" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.delayed" | "email.failed" | "domain.verified" | "domain.failed" | "sending.paused" | "message.updated" | "message.deleted" | "thread.updated" | "draft.created" | "draft.updated" | "draft.discarded" | "claim.expired" | "claim.dead" | "review.requested" | "review.resolved" | "audit.head")[];
            /** @description Seconds, 60 to 31 days (3,600). */
            period?: number;
        };
        /** @description What `analytics.destinations` is asked with. */
        ListDestinationsParams: {
            /** @description Of this inbox alone; of one that does not exist there is nothing. */
            inboxId?: string;
            /** @description From this time on: a date (midnight UTC) or a timestamp. */
            since?: string;
            /** @description Before this time. */
            until?: string;
            /** @description How many at most. */
            limit?: number;
        };
        /** @description What `events.list` is asked with. */
        ListEventsParams: {
            /** @description The id of the last event that is known: those behind it are told. */
            after?: string;
            /** @description Types of events, separated by commas; `*`: all. */
            types?: ("email.received" | "email.sent" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.delayed" | "email.failed" | "domain.verified" | "domain.failed" | "sending.paused" | "message.updated" | "message.deleted" | "thread.updated" | "draft.created" | "draft.updated" | "draft.discarded" | "claim.expired" | "claim.dead" | "review.requested" | "review.resolved" | "audit.head" | "*")[];
            /** @description Of this inbox alone; of one that does not exist there is nothing. */
            inboxId?: string;
            /** @description How many at most. */
            limit?: number;
        };
        /** @description What `events.stream` is asked with. */
        StreamEventsParams: {
            /** @description The id of the last event that is known: those behind it are told. */
            after?: string;
            /** @description Types of events, separated by commas; `*`: all. */
            types?: ("email.received" | "email.sent" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.delayed" | "email.failed" | "domain.verified" | "domain.failed" | "sending.paused" | "message.updated" | "message.deleted" | "thread.updated" | "draft.created" | "draft.updated" | "draft.discarded" | "claim.expired" | "claim.dead" | "review.requested" | "review.resolved" | "audit.head" | "*")[];
            /** @description Of this inbox alone; of one that does not exist there is nothing. */
            inboxId?: string;
        };
        /** @description What `webhooks.deliveries` is asked with. */
        ListDeliveriesParams: {
            /** @description How many at most. */
            limit?: number;
            /** @description The `id` of the last item of the page before; with it comes the next page. */
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
