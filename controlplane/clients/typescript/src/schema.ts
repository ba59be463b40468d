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
            messageId?: string | null;
            organizationId?: string | null;
            destination?: string | null;
            all?: true | null;
        };
        /** @description The body of a forward, and what it passes on. */
        CheckForward: {
            to: string[];
            cc?: string[];
            bcc?: string[];
            text?: string | null;
            html?: string | null;
            attachmentIds?: string[] | null;
            /** @enum {string} */
            as?: "inline" | "eml";
            messageId: string;
        };
        /** @description A message as for sending, or one of `reply`, `forward` and `draftId`. */
        CheckMessage: {
            inboxId?: string;
            to?: string[];
            cc?: string[];
            bcc?: string[];
            subject?: string | null;
            text?: string | null;
            html?: string | null;
            inReplyTo?: string | null;
            sendAt?: string | null;
            attachments?: components["schemas"]["AttachmentInput"][];
            unsubscribe?: boolean;
            headers?: {
                [key: string]: string;
            };
            ifLastMessageId?: string | null;
            claimId?: string | null;
            completeClaim?: boolean;
            reply?: components["schemas"]["CheckReply"];
            forward?: components["schemas"]["CheckForward"];
            draftId?: string;
        };
        /** @description The body of a reply, and what it answers. */
        CheckReply: {
            text?: string | null;
            html?: string | null;
            replyAll?: boolean;
            /** @enum {string} */
            quote?: "none" | "text";
            attachments?: components["schemas"]["AttachmentInput"][];
            sendAt?: string | null;
            headers?: {
                [key: string]: string;
            };
            ifLastMessageId?: string | null;
            claimId?: string | null;
            completeClaim?: boolean;
            asDraft?: boolean;
            to?: string[] | null;
            cc?: string[];
            bcc?: string[];
            subject?: string | null;
            messageId: string;
        };
        /** @description `after`: a message, an event or a time; two minutes ago where it is left out. */
        ClaimCode: {
            fromDomain?: string | null;
            after?: string | null;
            waitSeconds?: number;
            kinds?: ("code" | "link")[];
            allowUnverified?: boolean;
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
            inboxId: string;
            to?: string[];
            cc?: string[];
            bcc?: string[];
            subject?: string | null;
            text?: string | null;
            html?: string | null;
            inReplyTo?: string | null;
            ifLastMessageId?: string | null;
            claimId?: string | null;
            completeClaim?: boolean;
        };
        CreateInbox: {
            username: string;
            name?: string | null;
            agentId?: string | null;
            domain?: string | null;
            metadata?: {
                [key: string]: string;
            };
        };
        CreateKey: {
            name: string;
            scopes?: ("*" | "audit:*" | "audit:read" | "domains:*" | "domains:read" | "domains:write" | "inboxes:*" | "inboxes:read" | "inboxes:write" | "keys:*" | "keys:read" | "keys:write" | "messages:*" | "messages:label" | "messages:read" | "messages:reply" | "messages:send" | "organization:*" | "organization:read" | "policies:*" | "policies:read" | "policies:write" | "reviews:*" | "reviews:read" | "reviews:write" | "suppressions:*" | "suppressions:read" | "suppressions:write" | "threads:*" | "threads:read" | "webhooks:*" | "webhooks:read" | "webhooks:write")[] | null;
            inboxId?: string | null;
            mode?: ("live" | "test") | null;
        };
        /** @description `inboxId` null: for every inbox of the organization. */
        CreateRule: {
            /** @enum {string} */
            direction: "inbound" | "outbound";
            /** @enum {string} */
            action: "allow" | "block" | "hold";
            /** @description An address, a domain (that alone), or `*.` and a domain (all below it) */
            value: string;
            inboxId?: string | null;
            note?: string | null;
        };
        CreateSuppression: {
            email: string;
            /** @enum {string} */
            reason?: "hard_bounce" | "complaint" | "unsubscribe" | "manual";
        };
        CreateWebhook: {
            url: string;
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
            to: string[];
            cc?: string[];
            bcc?: string[];
            text?: string | null;
            html?: string | null;
            attachmentIds?: string[] | null;
            /** @enum {string} */
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
            to?: string[];
            cc?: string[];
            bcc?: string[];
            subject?: string | null;
            text?: string | null;
            html?: string | null;
            inReplyTo?: string | null;
            ifLastMessageId?: string | null;
            claimId?: string | null;
            completeClaim?: boolean;
        };
        PatchInbox: {
            name?: string | null;
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
            text?: string | null;
            html?: string | null;
            replyAll?: boolean;
            /** @enum {string} */
            quote?: "none" | "text";
            attachments?: components["schemas"]["AttachmentInput"][];
            sendAt?: string | null;
            headers?: {
                [key: string]: string;
            };
            ifLastMessageId?: string | null;
            claimId?: string | null;
            completeClaim?: boolean;
            asDraft?: boolean;
            to?: string[] | null;
            cc?: string[];
            bcc?: string[];
            subject?: string | null;
        };
        ReplyThread: {
            text?: string | null;
            html?: string | null;
            replyAll?: boolean;
            /** @enum {string} */
            quote?: "none" | "text";
            attachments?: components["schemas"]["AttachmentInput"][];
            sendAt?: string | null;
            headers?: {
                [key: string]: string;
            };
            ifLastMessageId: string;
            claimId?: string | null;
            completeClaim?: boolean;
            asDraft?: boolean;
            to?: string[] | null;
            cc?: string[];
            bcc?: string[];
            subject?: string | null;
        };
        SendMessage: {
            inboxId: string;
            to: string[];
            cc?: string[];
            bcc?: string[];
            subject?: string | null;
            text?: string | null;
            html?: string | null;
            inReplyTo?: string | null;
            sendAt?: string | null;
            attachments?: components["schemas"]["AttachmentInput"][];
            unsubscribe?: boolean;
            headers?: {
                [key: string]: string;
            };
            ifLastMessageId?: string | null;
            claimId?: string | null;
            completeClaim?: boolean;
        };
        UpdateWebhook: {
            url?: string;
            subscribedEvents?: ("email.received" | "email.sent" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.delayed" | "email.failed" | "domain.verified" | "domain.failed" | "sending.paused" | "message.updated" | "message.deleted" | "thread.updated" | "draft.created" | "draft.updated" | "draft.discarded" | "claim.expired" | "claim.dead" | "review.requested" | "review.resolved" | "audit.head")[];
            isActive?: boolean;
        };
        Agent: {
            id: string;
            organizationId: string;
            name: string;
            createdAt: string;
        };
        /** @description What another host reports about the domain. `total` counts messages (dmarc) or sessions (tls). */
        AggregateReport: {
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
            messageId: string;
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
            id: string;
            filename: string;
            contentType: string;
            sizeBytes: number;
            contentId: string | null;
            isInline: boolean;
        };
        /** @description `hash` covers this row, and all rows before it. Without words of mail: contents and addresses are hashes. */
        AuditEntry: {
            seq: number;
            at: string;
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
            id: string;
            /** @constant */
            type: "audit.head";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["AuditHeadData"];
            /** @constant */
            mode?: "test";
        };
        /** @description `verifiedDomain` is the only sender identity that a program should trust. */
        Auth: {
            spf: string | null;
            dkim: string | null;
            dmarc: string | null;
            arc: string | null;
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
            messageId: string;
            inboxId: string;
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
            id: string;
            /** @constant */
            status: "cancelled";
        };
        /** @description `messageId`: what it was sent as. */
        ChangedDraftData: {
            draftId: string;
            inboxId: string;
            threadId: string | null;
            /** @enum {string} */
            status: "draft" | "sent" | "discarded";
            messageId: string | null;
        };
        /** @description What became of a message, or of all messages of a thread. */
        ChangedMessage: {
            id: string;
            /** @enum {string} */
            result: "changed" | "unchanged" | "not_found" | "inbox_access_denied";
        };
        /** @description Ids and labels, never words. */
        ChangedMessageData: {
            messageId: string;
            inboxId: string;
            threadId: string;
            labelsBefore: string[];
        };
        ChangedThreadData: {
            threadId: string;
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
            messageId: string | null;
        };
        /** @description What would become of a message. `sizeBytes`: null where it can't be composed. */
        CheckedMessage: {
            wouldSend: boolean;
            wouldHold: boolean;
            errors: components["schemas"]["CheckError"][];
            warnings: components["schemas"]["CheckWarning"][];
            recipients: components["schemas"]["CheckedRecipient"][];
            subject: string;
            sizeBytes: number | null;
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
            id: string;
            lastMessageId: string | null;
        };
        ClaimDeadEvent: {
            id: string;
            /** @constant */
            type: "claim.dead";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["EndedClaimData"];
            /** @constant */
            mode?: "test";
        };
        ClaimExpiredEvent: {
            id: string;
            /** @constant */
            type: "claim.expired";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["EndedClaimData"];
            /** @constant */
            mode?: "test";
        };
        /**
         * @description `value`: what is to be typed, or opened; `shown`: as it stands in the mail. `confidence`: beside a word for a
         *     code, the only one that could be it, or one of several `candidates`: then nothing is claimed.
         */
        ClaimedCode: {
            id: string | null;
            claimed: boolean;
            kind: ("code" | "link") | null;
            value: string | null;
            shown: string | null;
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
            id: string;
            inboxId: string;
            threadId: string;
            messageId: string;
            keyId: string;
            /** @enum {string} */
            mode: "live" | "test";
            /** @enum {string} */
            status: "live" | "released" | "expired" | "done" | "dead";
            attempt: number;
            holder: string | null;
            leaseExpiresAt: string;
            createdAt: string;
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
            messageId: string;
            inboxId: string;
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
            id: string;
            filename: string;
            contentType: string;
            sizeBytes: number;
        };
        DeactivatedInbox: {
            id: string;
            /** @constant */
            status: "deactivated";
            cooldownUntil: string;
        };
        /** @description Of one recipient. */
        DelayedData: {
            messageId: string;
            inboxId: string;
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
            id: string;
            /** @constant */
            status: "deleted";
        };
        DeletedMessage: {
            id: string;
            /** @constant */
            deleted: true;
        };
        DeletedRule: {
            id: string;
            /** @constant */
            deleted: true;
        };
        /**
         * @description Of one recipient. `class`, `permanence`, `advice`: of what failed. `suppressed`: the address is on the
         *     suppression list, by this attempt or from before it.
         */
        DeliveryAttempt: {
            address: string;
            /** @enum {string} */
            kind: "to" | "cc" | "bcc";
            attempt: number;
            /** @enum {string} */
            outcome: "sent" | "delivered" | "deferred" | "bounced" | "failed" | "suppressed" | "expired";
            remoteHost: string | null;
            smtpCode: number | null;
            enhancedCode: string | null;
            response: string | null;
            tls: string | null;
            durationMs: number;
            createdAt: string;
            class: ("address" | "mailbox_full" | "policy" | "content" | "reputation" | "throttled" | "infrastructure" | "unknown") | null;
            permanence: ("permanent" | "transient" | "undetermined") | null;
            advice: ("retry_later" | "fix_address" | "fix_content" | "fix_dns" | "slow_down" | "stop") | null;
            nextAttemptAt: string | null;
            gaveUpAt: string | null;
            suppressed: boolean;
            evidence: components["schemas"]["DeliveryEvidence"] | null;
        };
        /** @description What is kept of an attempt over the network. `endedAt`: the last host's stage, or what it did not get beyond. */
        DeliveryEvidence: {
            /** @enum {string} */
            endedAt: "wait" | "connect" | "greeting" | "hello" | "tls" | "auth" | "envelope" | "data" | "answer" | "not_tried" | "dns" | "policy" | "message";
            dnsMs: number | null;
            passedOver: components["schemas"]["PassedOverHost"][];
            hostsLeftOut: number;
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
            id: string;
            domainName: string;
            /** @enum {string} */
            status: "pending" | "verified" | "failed";
            mxStatus: boolean;
            spfStatus: boolean;
            dkimStatus: boolean;
            dmarcStatus: boolean;
            records: components["schemas"]["DomainRecord"][];
            dailyCap: number | null;
            todayUsed: number;
            resetsAt: string;
            note: string | null;
            verifiedAt: string | null;
            createdAt: string;
        };
        DomainCeiling: {
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
            id: string;
            /** @constant */
            type: "domain.failed";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["UnverifiedData"];
            /** @constant */
            mode?: "test";
        };
        DomainRecord: {
            /** @enum {string} */
            purpose: "ownership" | "mx" | "spf" | "dkim" | "dmarc";
            /** @enum {string} */
            type: "TXT" | "MX";
            name: string;
            value: string;
            priority: number | null;
            required: boolean;
            status: string;
            observed: string[];
        };
        DomainVerification: {
            id: string;
            domainName: string;
            /** @enum {string} */
            status: "active" | "pending" | "failed";
            checks: components["schemas"]["DomainChecks"];
            verifiedAt: string | null;
        };
        DomainVerifiedEvent: {
            id: string;
            /** @constant */
            type: "domain.verified";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["VerifiedData"];
            /** @constant */
            mode?: "test";
        };
        Draft: {
            id: string;
            inboxId: string;
            threadId: string | null;
            toAddresses: string[];
            ccAddresses: string[];
            bccAddresses: string[];
            subject: string;
            textBody: string | null;
            htmlBody: string | null;
            inReplyTo: string | null;
            ifLastMessageId: string | null;
            claimId: string | null;
            completeClaim: boolean;
            /** @enum {string} */
            status: "draft" | "sent" | "discarded";
            messageId: string | null;
            createdAt: string;
            updatedAt: string;
            sentAt: string | null;
            discardedAt: string | null;
        };
        DraftCreatedEvent: {
            id: string;
            /** @constant */
            type: "draft.created";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["ChangedDraftData"];
            /** @constant */
            mode?: "test";
        };
        DraftDiscardedEvent: {
            id: string;
            /** @constant */
            type: "draft.discarded";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["ChangedDraftData"];
            /** @constant */
            mode?: "test";
        };
        DraftUpdatedEvent: {
            id: string;
            /** @constant */
            type: "draft.updated";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["ChangedDraftData"];
            /** @constant */
            mode?: "test";
        };
        DraftedReply: {
            id: string;
            inboxId: string;
            threadId: string | null;
            toAddresses: string[];
            ccAddresses: string[];
            bccAddresses: string[];
            subject: string;
            textBody: string | null;
            htmlBody: string | null;
            inReplyTo: string | null;
            ifLastMessageId: string | null;
            claimId: string | null;
            completeClaim: boolean;
            /** @enum {string} */
            status: "draft" | "sent" | "discarded";
            messageId: string | null;
            createdAt: string;
            updatedAt: string;
            sentAt: string | null;
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
            id: string;
            /** @constant */
            type: "email.bounced";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["BouncedData"];
            /** @constant */
            mode?: "test";
        };
        EmailComplainedEvent: {
            id: string;
            /** @constant */
            type: "email.complained";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["ComplainedData"];
            /** @constant */
            mode?: "test";
        };
        EmailDelayedEvent: {
            id: string;
            /** @constant */
            type: "email.delayed";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["DelayedData"];
            /** @constant */
            mode?: "test";
        };
        EmailFailedEvent: {
            id: string;
            /** @constant */
            type: "email.failed";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["FailedData"];
            /** @constant */
            mode?: "test";
        };
        EmailReceivedEvent: {
            id: string;
            /** @constant */
            type: "email.received";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["ReceivedData"];
            /** @constant */
            mode?: "test";
        };
        EmailSentEvent: {
            id: string;
            /** @constant */
            type: "email.sent";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["SentData"];
            /** @constant */
            mode?: "test";
        };
        EmailUnsubscribedEvent: {
            id: string;
            /** @constant */
            type: "email.unsubscribed";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["UnsubscribedData"];
            /** @constant */
            mode?: "test";
        };
        /** @description `attempt`: which claim of the message it was. */
        EndedClaimData: {
            claimId: string;
            messageId: string;
            inboxId: string;
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
            messageId: string;
            inboxId: string;
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
            id: string;
            organizationId: string;
            address: string;
            username: string;
            domain: string;
            name: string | null;
            agentId: string | null;
            metadata: {
                [key: string]: string;
            };
            isActive: boolean;
            unreadCount: number;
            lastMessageAt: string | null;
            createdAt: string;
            updatedAt: string;
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
            host: string;
            address: string;
            port: number;
            isRelay: boolean;
            sourceAddress: string | null;
            ehloName: string | null;
            isReused: boolean;
            /** @enum {string} */
            tlsPolicy: "none" | "mta-sts" | "dane" | "override" | "relay";
            /** @enum {string} */
            tlsLevel: "none" | "opportunistic" | "testing" | "encrypt" | "verify" | "dane" | "starttls" | "implicit";
            tlsVersion: string | null;
            cipher: string | null;
            verifiedBy: ("webpki" | "dane") | null;
            tlsFailure: ("starttls-not-supported" | "certificate-host-mismatch" | "certificate-expired" | "certificate-not-trusted" | "validation-failure") | null;
            /** @enum {string} */
            stage: "wait" | "connect" | "greeting" | "hello" | "tls" | "auth" | "envelope" | "data" | "answer";
            durationsMs: components["schemas"]["StageDurations"];
            fault: string | null;
            dialogue: string[];
        };
        Inbox: {
            id: string;
            organizationId: string;
            address: string;
            username: string;
            domain: string;
            name: string | null;
            agentId: string | null;
            metadata: {
                [key: string]: string;
            };
            isActive: boolean;
            unreadCount: number;
            lastMessageAt: string | null;
            createdAt: string;
            updatedAt: string;
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
            id: string;
            name: string;
            keyPrefix: string;
            /** @enum {string} */
            mode: "live" | "test";
            scopes: string[];
            inboxId: string | null;
            isActive: boolean;
            mintedBy: string | null;
            lastUsedAt: string | null;
            createdAt: string;
        };
        LabelledData: {
            messageId: string;
            inboxId: string;
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
            id: string;
            inboxId: string;
            threadId: string;
            /** @enum {string} */
            direction: "inbound" | "outbound";
            /** @enum {string} */
            mode: "live" | "test";
            /** @enum {string} */
            status: "received" | "held" | "scheduled" | "queued" | "sent" | "delivered" | "failed" | "cancelled";
            review: components["schemas"]["HeldFor"] | null;
            fromAddress: string;
            fromDomain: string | null;
            fromDomainUnicode: string | null;
            fromName: string | null;
            toAddresses: string[];
            ccAddresses: string[];
            bccAddresses: string[];
            replyTo: string | null;
            replyToAddresses: string[];
            subject: string;
            snippet: string;
            extractedText: string | null;
            messageIdHeader: string | null;
            inReplyTo: string | null;
            references: string[];
            labels: string[];
            isAutoReply: boolean;
            isSpam: boolean;
            risk: ("none" | "low" | "medium" | "high") | null;
            auth: components["schemas"]["Auth"] | null;
            forwardOf: string | null;
            deliveredTo: string | null;
            mailingList: components["schemas"]["MailingListShown"] | null;
            recipients: components["schemas"]["Recipient"][];
            attachments: components["schemas"]["Attachment"][];
            failureReason: string | null;
            scheduledAt: string | null;
            sentAt: string | null;
            heldAt: string | null;
            createdAt: string;
        };
        LoopHealth: {
            holds: number;
            heldMs: number;
        };
        MailRule: {
            id: string;
            inboxId: string | null;
            /** @enum {string} */
            direction: "inbound" | "outbound";
            /** @enum {string} */
            action: "allow" | "block" | "hold";
            value: string;
            note: string | null;
            createdAt: string;
        };
        MailingListShown: {
            id: string | null;
            post: string | null;
            unsubscribe: string[];
            oneClick: boolean;
        };
        Member: {
            id: string;
            email: string;
            name: string | null;
            /** @enum {string} */
            role: "owner" | "admin" | "member";
            joinedAt: string;
        };
        Message: {
            id: string;
            inboxId: string;
            threadId: string;
            /** @enum {string} */
            direction: "inbound" | "outbound";
            /** @enum {string} */
            mode: "live" | "test";
            /** @enum {string} */
            status: "received" | "held" | "scheduled" | "queued" | "sent" | "delivered" | "failed" | "cancelled";
            review: components["schemas"]["HeldFor"] | null;
            fromAddress: string;
            fromDomain: string | null;
            fromDomainUnicode: string | null;
            fromName: string | null;
            toAddresses: string[];
            ccAddresses: string[];
            bccAddresses: string[];
            replyTo: string | null;
            replyToAddresses: string[];
            subject: string;
            snippet: string;
            extractedText: string | null;
            messageIdHeader: string | null;
            inReplyTo: string | null;
            references: string[];
            labels: string[];
            isAutoReply: boolean;
            isSpam: boolean;
            risk: ("none" | "low" | "medium" | "high") | null;
            auth: components["schemas"]["Auth"] | null;
            forwardOf: string | null;
            deliveredTo: string | null;
            mailingList: components["schemas"]["MailingListShown"] | null;
            recipients: components["schemas"]["Recipient"][];
            attachments: components["schemas"]["Attachment"][];
            failureReason: string | null;
            scheduledAt: string | null;
            sentAt: string | null;
            heldAt: string | null;
            createdAt: string;
            textBody: string | null;
            htmlBody: string | null;
        };
        MessageDeletedEvent: {
            id: string;
            /** @constant */
            type: "message.deleted";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["ChangedMessageData"];
            /** @constant */
            mode?: "test";
        };
        /** @description `version`: of what is looked for. `truncated`: not all of the message was looked at, or there are more items. */
        MessageEvidence: {
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
            id: string;
            /** @constant */
            type: "message.updated";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["LabelledData"];
            /** @constant */
            mode?: "test";
        };
        MintedKey: {
            id: string;
            name: string;
            keyPrefix: string;
            /** @enum {string} */
            mode: "live" | "test";
            scopes: string[];
            inboxId: string | null;
            isActive: boolean;
            mintedBy: string | null;
            lastUsedAt: string | null;
            createdAt: string;
            apiKey: string;
            warning: string;
        };
        NamedRule: {
            id: string;
            /** @enum {string} */
            action: "allow" | "block" | "hold";
        };
        Organization: {
            id: string;
            name: string;
            plan: string;
            limits: components["schemas"]["Limits"];
            usage: components["schemas"]["Usage"];
            resetsAt: components["schemas"]["Resets"];
            sendingApproval: components["schemas"]["SendingApproval"];
            reputation: components["schemas"]["Reputation"];
            /** @enum {string} */
            reviewers: "keys" | "members";
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
            messageId: string;
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
            messageId: string;
            inboxId: string;
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
            address: string;
            /** @enum {string} */
            kind: "to" | "cc" | "bcc";
            /** @enum {string} */
            status: "queued" | "deferred" | "sent" | "delivered" | "bounced" | "failed" | "suppressed";
            attempts: number;
            lastAttemptAt: string | null;
            nextAttemptAt: string | null;
            remoteHost: string | null;
            smtpCode: number | null;
            enhancedCode: string | null;
            response: string | null;
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
            messageId: string;
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
            messageId: string;
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
            id: string;
            inboxId: string;
            messageId: string;
            /** @enum {string} */
            direction: "inbound" | "outbound";
            /** @enum {string} */
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
            createdAt: string;
        };
        ReviewRequestedEvent: {
            id: string;
            /** @constant */
            type: "review.requested";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["RequestedReviewData"];
            /** @constant */
            mode?: "test";
        };
        ReviewResolvedEvent: {
            id: string;
            /** @constant */
            type: "review.resolved";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["ResolvedReviewData"];
            /** @constant */
            mode?: "test";
        };
        Revoked: {
            id: string;
            /** @constant */
            status: "revoked";
        };
        RevokedWithMail: {
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
            id: string;
            /** @constant */
            type: "sending.paused";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["PausedData"];
            /** @constant */
            mode?: "test";
        };
        SentData: {
            messageId: string;
            inboxId: string;
            threadId: string;
            fromAddress: string;
            toAddresses: string[];
            subject: string;
            sentAt: string | null;
            recipients: components["schemas"]["Recipient"][];
        };
        SentReply: {
            id: string;
            inboxId: string;
            threadId: string;
            /** @enum {string} */
            direction: "inbound" | "outbound";
            /** @enum {string} */
            mode: "live" | "test";
            /** @enum {string} */
            status: "received" | "held" | "scheduled" | "queued" | "sent" | "delivered" | "failed" | "cancelled";
            review: components["schemas"]["HeldFor"] | null;
            fromAddress: string;
            fromDomain: string | null;
            fromDomainUnicode: string | null;
            fromName: string | null;
            toAddresses: string[];
            ccAddresses: string[];
            bccAddresses: string[];
            replyTo: string | null;
            replyToAddresses: string[];
            subject: string;
            snippet: string;
            extractedText: string | null;
            messageIdHeader: string | null;
            inReplyTo: string | null;
            references: string[];
            labels: string[];
            isAutoReply: boolean;
            isSpam: boolean;
            risk: ("none" | "low" | "medium" | "high") | null;
            auth: components["schemas"]["Auth"] | null;
            forwardOf: string | null;
            deliveredTo: string | null;
            mailingList: components["schemas"]["MailingListShown"] | null;
            recipients: components["schemas"]["Recipient"][];
            attachments: components["schemas"]["Attachment"][];
            failureReason: string | null;
            scheduledAt: string | null;
            sentAt: string | null;
            heldAt: string | null;
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
            id: string;
            email: string;
            /** @enum {string} */
            reason: "hard_bounce" | "complaint" | "unsubscribe" | "manual";
            /** @enum {string} */
            source: "api" | "bounce" | "feedback_loop" | "list_unsubscribe";
            createdAt: string;
        };
        Thread: {
            id: string;
            organizationId: string;
            inboxId: string;
            subject: string;
            snippet: string;
            participants: string[];
            labels: string[];
            messageCount: number;
            unreadCount: number;
            lastMessageAt: string;
            isArchived: boolean;
            createdAt: string;
        };
        ThreadContext: {
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
            id: string;
            inboxId: string;
            threadId: string;
            /** @enum {string} */
            direction: "inbound" | "outbound";
            /** @enum {string} */
            mode: "live" | "test";
            /** @enum {string} */
            status: "received" | "held" | "scheduled" | "queued" | "sent" | "delivered" | "failed" | "cancelled";
            review: components["schemas"]["HeldFor"] | null;
            fromAddress: string;
            fromDomain: string | null;
            fromDomainUnicode: string | null;
            fromName: string | null;
            toAddresses: string[];
            ccAddresses: string[];
            bccAddresses: string[];
            replyTo: string | null;
            replyToAddresses: string[];
            subject: string;
            snippet: string;
            extractedText: string | null;
            messageIdHeader: string | null;
            inReplyTo: string | null;
            references: string[];
            labels: string[];
            isAutoReply: boolean;
            isSpam: boolean;
            risk: ("none" | "low" | "medium" | "high") | null;
            auth: components["schemas"]["Auth"] | null;
            forwardOf: string | null;
            deliveredTo: string | null;
            mailingList: components["schemas"]["MailingListShown"] | null;
            recipients: components["schemas"]["Recipient"][];
            attachments: components["schemas"]["Attachment"][];
            failureReason: string | null;
            scheduledAt: string | null;
            sentAt: string | null;
            heldAt: string | null;
            createdAt: string;
            textBody: string | null;
            htmlBody: string | null;
            from: string;
            to: string[];
            text: string | null;
            html: string | null;
        };
        ThreadUpdatedEvent: {
            id: string;
            /** @constant */
            type: "thread.updated";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["ChangedThreadData"];
            /** @constant */
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
            messageId: string | null;
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
            id: string;
            url: string;
            subscribedEvents: string[];
            isActive: boolean;
            createdAt: string;
            updatedAt: string;
        };
        WebhookDelivery: {
            id: string;
            webhookId: string;
            eventId: string | null;
            eventType: string;
            attempt: number;
            requestHeaders: {
                [key: string]: string;
            };
            responseStatus: number | null;
            responseBody: string | null;
            isSuccessful: boolean;
            error: string | null;
            durationMs: number;
            nextAttemptAt: string | null;
            createdAt: string;
        };
        /** @description The test ping, which stands in no log. */
        WebhookTestEvent: {
            id: string;
            /** @constant */
            type: "webhook.test";
            /** @constant */
            apiVersion: "v1";
            createdAt: string;
            organizationId: string;
            data: components["schemas"]["PingedData"];
            /** @constant */
            mode?: "test";
        };
        WebhookWithSecret: {
            id: string;
            url: string;
            subscribedEvents: string[];
            isActive: boolean;
            createdAt: string;
            updatedAt: string;
            secret: string;
        };
        /**
         * @description With what is decided about. `contentHash`: for the approval; it and the message are null once that was deleted.
         *     `context`: the conversation, as `GET /v1/threads/{id}/context` gives it; null where there is none.
         */
        WholeReview: {
            id: string;
            inboxId: string;
            messageId: string;
            /** @enum {string} */
            direction: "inbound" | "outbound";
            /** @enum {string} */
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
            createdAt: string;
            contentHash: string | null;
            message: components["schemas"]["Message"] | null;
            context: string | null;
        };
        WholeThread: {
            id: string;
            organizationId: string;
            inboxId: string;
            subject: string;
            snippet: string;
            participants: string[];
            labels: string[];
            messageCount: number;
            unreadCount: number;
            lastMessageAt: string;
            isArchived: boolean;
            createdAt: string;
            hasMore: boolean;
            messages: components["schemas"]["ThreadMessage"][];
        };
        WorkClaim: {
            id: string;
            inboxId: string;
            threadId: string;
            messageId: string;
            keyId: string;
            /** @enum {string} */
            mode: "live" | "test";
            /** @enum {string} */
            status: "live" | "released" | "expired" | "done" | "dead";
            attempt: number;
            holder: string | null;
            leaseExpiresAt: string;
            createdAt: string;
        };
        /** @description What `organization.members` is asked with. */
        ListMembersParams: {
            limit?: number;
            cursor?: string;
        };
        /** @description What `audit.list` is asked with. */
        ListAuditParams: {
            after?: number;
            /** @description Separated by commas; all by default */
            types?: ("key.minted" | "key.revoked" | "agent.created" | "agent.deleted" | "inbox.created" | "inbox.updated" | "inbox.deactivated" | "domain.registered" | "domain.updated" | "domain.key_rotated" | "domain.verified" | "domain.failed" | "domain.deleted" | "webhook.created" | "webhook.updated" | "webhook.secret_rotated" | "webhook.deleted" | "suppression.added" | "suppression.removed" | "policy.replaced" | "rule.created" | "rule.deleted" | "review.approved" | "review.rejected" | "review.withdrawn" | "review.expired" | "organization.reviewers_changed" | "message.held" | "message.queued" | "message.scheduled" | "message.dispatched" | "message.refused" | "message.cancelled" | "message.deleted" | "member.added" | "member.changed" | "member.removed" | "login.link_made" | "login.accepted" | "login.refused" | "session.ended" | "organization.created" | "organization.plan_changed" | "organization.approved" | "organization.paused" | "organization.closed" | "organization.deleted" | "organization.tripwire_tripped" | "organization.tripwire_reset" | "queue.paused" | "queue.resumed" | "queue.changed" | "queue.dropped" | "master_key.rotated" | "audit.key_shown" | "audit.key_lost" | "audit.sealed")[];
            actor?: string;
            limit?: number;
        };
        /** @description What `keys.list` is asked with. */
        ListKeysParams: {
            limit?: number;
            cursor?: string;
        };
        /** @description What `agents.list` is asked with. */
        ListAgentsParams: {
            limit?: number;
            cursor?: string;
        };
        /** @description What `inboxes.list` is asked with. */
        ListInboxesParams: {
            limit?: number;
            cursor?: string;
            isActive?: boolean;
        };
        /** @description What `claims.list` is asked with. */
        ListClaimsParams: {
            inboxId?: string;
            /** @enum {string} */
            status?: "live" | "released" | "expired" | "done" | "dead";
            limit?: number;
            cursor?: string;
        };
        /** @description What `messages.list` is asked with. */
        ListMessagesParams: {
            inboxId?: string;
            threadId?: string;
            limit?: number;
            q?: string;
            /** @enum {string} */
            direction?: "inbound" | "outbound";
            from?: string;
            fromDomain?: string;
            verified?: boolean;
            /** @description Separated by commas; all of them */
            labels?: string[];
            unread?: boolean;
            /** @enum {string} */
            status?: "received" | "held" | "scheduled" | "queued" | "sent" | "delivered" | "failed" | "cancelled";
            isAutoReply?: boolean;
            isSpam?: boolean;
            hasAttachments?: boolean;
            held?: boolean;
            /** @description ISO 8601 date (midnight UTC) or timestamp */
            since?: string;
            /** @description ISO 8601 date (midnight UTC) or timestamp */
            until?: string;
            before?: string;
            cursor?: string;
        };
        /** @description What `messages.wait` is asked with. */
        WaitForMessageParams: {
            inboxId?: string;
            threadId?: string;
            from?: string;
            fromDomain?: string;
            verified?: boolean;
            subject?: string;
            q?: string;
            hasCode?: boolean;
            /** @description The id of a message or an event, or an ISO 8601 date (midnight UTC) or timestamp */
            after?: string;
            timeoutSeconds?: number;
        };
        /** @description What `messages.get` is asked with. */
        GetMessageParams: {
            /** @enum {string} */
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
            /** @enum {string} */
            status?: "pending" | "approved" | "rejected" | "expired" | "withdrawn";
            /** @enum {string} */
            direction?: "inbound" | "outbound";
            inboxId?: string;
            limit?: number;
            cursor?: string;
        };
        /** @description What `threads.list` is asked with. */
        ListThreadsParams: {
            inboxId?: string;
            limit?: number;
            /** @description The last thread of the page before: its id, or `id@lastMessageAt`, which outlives it */
            cursor?: string;
            isArchived?: boolean;
            /** @description Separated by commas; all of them */
            labels?: string[];
            unread?: boolean;
        };
        /** @description What `threads.get` is asked with. */
        GetThreadParams: {
            limit?: number;
            before?: string;
        };
        /** @description What `threads.context` is asked with. */
        GetThreadContextParams: {
            maxTokens?: number;
            focus?: string;
            /** @description The `ETag` of an answer that the client has; 304 where it would come again */
            ifNoneMatch?: string;
        };
        /** @description What `attachments.download` is asked with. */
        GetAttachmentParams: {
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
            /** @enum {string} */
            status?: "draft" | "sent" | "discarded";
            inboxId?: string;
            limit?: number;
            cursor?: string;
        };
        /** @description What `domains.reports` is asked with. */
        ListDomainReportsParams: {
            /** @enum {string} */
            type?: "dmarc" | "tls";
            limit?: number;
            cursor?: string;
        };
        /** @description What `suppressions.list` is asked with. */
        ListSuppressionsParams: {
            /** @enum {string} */
            reason?: "hard_bounce" | "complaint" | "unsubscribe" | "manual";
            email?: string;
            limit?: number;
            cursor?: string;
        };
        /** @description What `rules.list` is asked with. */
        ListRulesParams: {
            /** @enum {string} */
            direction?: "inbound" | "outbound";
            /** @enum {string} */
            action?: "allow" | "block" | "hold";
            /** @description An address, a domain (that alone), or `*.` and a domain (all below it) */
            value?: string;
            inboxId?: string;
            limit?: number;
            cursor?: string;
        };
        /** @description What `unsubscribe.page` is asked with. */
        ShowUnsubscribeParams: {
            token?: string;
        };
        /** @description What `unsubscribe.confirm` is asked with. */
        UnsubscribeParams: {
            token?: string;
        };
        /** @description What `analytics.summary` is asked with. */
        GetSummaryParams: {
            inboxId?: string;
            /** @description ISO 8601 date (midnight UTC) or timestamp */
            since?: string;
            /** @description ISO 8601 date (midnight UTC) or timestamp */
            until?: string;
        };
        /** @description What `analytics.events` is asked with. */
        GetEventSeriesParams: {
            inboxId?: string;
            /** @description ISO 8601 date (midnight UTC) or timestamp */
            since?: string;
            /** @description ISO 8601 date (midnight UTC) or timestamp */
            until?: string;
            types?: ("email.received" | "email.sent" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.delayed" | "email.failed" | "domain.verified" | "domain.failed" | "sending.paused" | "message.updated" | "message.deleted" | "thread.updated" | "draft.created" | "draft.updated" | "draft.discarded" | "claim.expired" | "claim.dead" | "review.requested" | "review.resolved" | "audit.head")[];
            period?: number;
        };
        /** @description What `analytics.destinations` is asked with. */
        ListDestinationsParams: {
            inboxId?: string;
            /** @description ISO 8601 date (midnight UTC) or timestamp */
            since?: string;
            /** @description ISO 8601 date (midnight UTC) or timestamp */
            until?: string;
            limit?: number;
        };
        /** @description What `events.list` is asked with. */
        ListEventsParams: {
            after?: string;
            /** @description Separated by commas; `*`: all; those of mail, domains and sending by default */
            types?: ("email.received" | "email.sent" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.delayed" | "email.failed" | "domain.verified" | "domain.failed" | "sending.paused" | "message.updated" | "message.deleted" | "thread.updated" | "draft.created" | "draft.updated" | "draft.discarded" | "claim.expired" | "claim.dead" | "review.requested" | "review.resolved" | "audit.head" | "*")[];
            inboxId?: string;
            limit?: number;
        };
        /** @description What `events.stream` is asked with. */
        StreamEventsParams: {
            after?: string;
            /** @description Separated by commas; `*`: all; those of mail, domains and sending by default */
            types?: ("email.received" | "email.sent" | "email.bounced" | "email.complained" | "email.unsubscribed" | "email.delayed" | "email.failed" | "domain.verified" | "domain.failed" | "sending.paused" | "message.updated" | "message.deleted" | "thread.updated" | "draft.created" | "draft.updated" | "draft.discarded" | "claim.expired" | "claim.dead" | "review.requested" | "review.resolved" | "audit.head" | "*")[];
            inboxId?: string;
        };
        /** @description What `webhooks.deliveries` is asked with. */
        ListDeliveriesParams: {
            limit?: number;
            cursor?: string;
        };
        /** @description What `queue.list` is asked with. */
        ListQueueParams: {
            messageId?: string;
            organizationId?: string;
            destination?: string;
            isHeld?: boolean;
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
