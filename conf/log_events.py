"""What the log says of decisions: one name for each, with the level it is told at.

Both planes tell them by `tell`, so that a name, its level and its meaning stand here alone; docs/operating.md lists
them, and a test compares. Faults (an exception of ours, a store that refuses) are lines of their own, where they
happen.

A line never has a subject, a body, a secret or a key; it has addresses of senders and recipients. Words that a peer
chose (a host's reply) go through `clean`, unless a grammar has bounded them before (HELO, addresses).
"""

import logging
from enum import StrEnum
from typing import Any

CLEAN_CHARS = 200

LEVELS = {name.lower(): number for name, number in logging.getLevelNamesMapping().items()}


class LogEvent(StrEnum):
    """A line's name. `level`: the level it is told at; `says`: its meaning, in words for the operator."""

    level: str
    says: str

    def __new__(cls, name: str, level: str, says: str) -> "LogEvent":
        event = str.__new__(cls, name)
        event._value_, event.level, event.says = name, level, says
        return event

    # Mail in
    CONNECTED = "connected", "debug", "A peer opened an SMTP session."
    TLS_STARTED = "tls_started", "debug", "The session is encrypted from here on."
    TLS_FAILED = (
        "tls_failed",
        "info",
        "A peer's handshake failed: its affair, unless it is all of them. `reason` is OpenSSL's word for it (with"
        " `ALERT`: the peer's; `UNKNOWN_CA`: it does not believe the certificate), null where the peer was gone,"
        " `GIVEN_UP` where its time was over.",
    )
    PROXY_HEADER_REFUSED = (
        "proxy_header_refused",
        "info",
        "A connection from `smtp.proxy_from` did not begin with a PROXY header of version 2, and was closed.",
    )
    LOGGED_IN = "logged_in", "debug", "A client logged in to submit mail for an inbox."
    LOGIN_FAILED = (
        "login_failed",
        "info",
        "A client that submits mail gave a name and a key that don't fit.",
    )
    SUBMITTED = (
        "submitted",
        "info",
        "A client heard 250: its message is queued, by this session or an earlier one.",
    )
    REFUSED = (
        "refused",
        "info",
        "The peer heard a 4xx or 5xx of ours; where inboxes refused its mail, `refused_for` has their reasons.",
    )
    ACCEPTED = (
        "accepted",
        "info",
        "The peer heard 250: the message is in the store, once for each inbox (`held`: those that hold it, and why).",
    )
    RECEIVED_AGAIN = (
        "received_again",
        "info",
        "A client sent a message again whose 250 it had not heard: it heard 250, and nothing was stored.",
    )
    ANSWER_REFUSED = (
        "answer_refused",
        "info",
        "The simulator's answer was refused by its inbox (`refused_for`: ids of rules, or `unlisted`).",
    )
    DISCONNECTED = "disconnected", "debug", "The session is over."
    SPAM_FILTER_SILENT = (
        "spam_filter_silent",
        "warning",
        "The spam filter gave no opinion (`reason`): the message was taken as if there were none.",
    )
    REPORTED = "reported", "info", "A bounce or a complaint that came by mail was looked at."

    # Mail out
    SCHEDULED = "scheduled", "info", "A send was accepted for later."
    HELD = "held", "info", "A send was accepted, and waits until somebody has decided (`review_id`)."
    REVIEW_RESOLVED = (
        "review_resolved",
        "info",
        "It was decided about mail that was held (`status`, `resolved_by`), or its time was over.",
    )
    REVIEW_DIGEST_SENT = (
        "review_digest_sent",
        "info",
        "An address is told of what is held; the mail is queued.",
    )
    QUEUED = "queued", "info", "A message entered the queue."
    NOT_QUEUED = (
        "scheduled_message_refused",
        "info",
        "A guard refused a scheduled message when its time came (`refusal`).",
    )
    ATTEMPTED = "attempted", "info", "One host was tried for recipients of a message."
    BACKED_OFF = (
        "backed_off",
        "info",
        "Hosts that are one destination (`group`) asked for less or can't be reached: none is tried for `wait_s`.",
    )
    STARTTLS_FAILED = (
        "starttls_failed",
        "info",
        "A host offers STARTTLS and can't do it: plain text for an hour.",
    )
    TLS_POLICY_UNMET = (
        "tls_policy_unmet",
        "info",
        "A policy that a domain only tests (`policy`) would have kept mail from this host; it is delivered as before.",
    )
    STS_POLICY_NOT_FETCHED = (
        "sts_policy_not_fetched",
        "info",
        "A domain tells of an MTA-STS policy that can't be had (`reason`): the last one holds, if there was one.",
    )
    CLOCK_BEHIND = (
        "clock_behind",
        "warning",
        "At start: the store has what was made later than now (`newest`). The clock is wrong, as after a machine was"
        " restored, or it was ahead then: `maild doctor`.",
    )
    FEW_DESCRIPTORS = (
        "few_descriptors",
        "warning",
        "At start: what the configuration allows wants more open files (`wanted`) than the `limit`: fewer connections"
        " are allowed, as the line says.",
    )
    NAMESERVERS_CHANGED = (
        "nameservers_changed",
        "info",
        "/etc/resolv.conf names others, which are asked from now on (`dns.nameservers` is empty).",
    )
    DANE_OFF = (
        "dane_off",
        "warning",
        "After the start: `dns.trust_ad` is false, so no mail host's TLSA records are looked at. Where "
        "`resolver_validates` is true it may be set; null: no nameserver answered.",
    )
    DANE_NOT_VALIDATED = (
        "dane_not_validated",
        "warning",
        "After the start: `dns.trust_ad` is true, and the nameservers validate nothing: no host's TLSA records count.",
    )
    DANE_FORGEABLE = (
        "dane_forgeable",
        "warning",
        "After the start: `dns.trust_ad` is true, and a resolver is not on this host: who is in between can turn DANE "
        "off.",
    )
    TLS_REPORT_SENT = (
        "tls_report_sent",
        "info",
        "A domain is told how TLS with its hosts went on a day: by mail, which is queued, or by HTTPS (`destination`).",
    )
    TLS_REPORT_NOT_SENT = (
        "tls_report_not_sent",
        "info",
        "A domain could not be told (`reason`); another attempt follows for two days, unless `is_given_up`.",
    )
    DELIVERED = "delivered", "info", "The recipient's own host, or a local inbox, took the message."
    SENT = "sent", "info", "The smarthost took the message."
    DEFERRED = (
        "deferred",
        "info",
        "The recipient is tried again later; `class` and `advice` as the API has them.",
    )
    BOUNCED = (
        "bounced",
        "info",
        "The recipient was refused for good; `class` and `advice` as the API has them.",
    )
    EXPIRED = "expired", "info", "The recipient was deferred until its time was over."
    SUPPRESSED = "suppressed", "info", "Not tried: the address is on the suppression list."
    FAILED = "failed", "info", "Not tried: the sender's domain may not send any more."

    # Console
    CONSOLE_LOGIN = "console_login", "info", "A member signed in to the console (`session_id`)."
    CONSOLE_LOGIN_REFUSED = (
        "console_login_refused",
        "info",
        "A link to the console did not sign in (`reason`): unknown, used, expired, or too many failures.",
    )
    CONSOLE_LINK_SENT = (
        "console_link_sent",
        "info",
        "A member asked for a link to the console; the mail is queued.",
    )

    # Audit
    AUDIT_HEAD = (
        "audit_head",
        "info",
        "Once an hour: the end of an organization's audit log (`seq`, `hash`), where it has grown.",
    )

    # Webhooks
    WEBHOOK_ATTEMPTED = "webhook_attempted", "info", "An event was posted to a webhook, or could not be."

    # Work
    CLAIM_EXPIRED = (
        "claim_expired",
        "info",
        "The lease of a claim was over before its message was done; it is offered again.",
    )
    CLAIM_DEAD = (
        "claim_dead",
        "warning",
        "The same, for the last time (`work.maxAttempts`): the message waits until somebody requeues it.",
    )

    # HTTP
    REQUEST_READ = "request_read", "debug", "A request that changes nothing was answered with 2xx or 3xx."
    REQUEST_DONE = "request_done", "info", "A request that changes something was answered with 2xx or 3xx."
    REQUEST_REFUSED = (
        "request_refused",
        "info",
        "A request was answered with 4xx or 5xx, or a tool (`tool`, of MCP) with an error (`refusal`); `faults`, "
        "`reason`, `resource` and `required_scope` are those of its details.",
    )
    HTTP_MALFORMED = "http_malformed", "info", "Octets came that are not an HTTP request."
    HTTP_CLIENT_LEFT = "http_client_left", "info", "The client was gone before its answer."
    HTTP_ANSWER_CUT = (
        "http_answer_cut",
        "info",
        "A message was deleted, or its bytes failed, while an answer told of it.",
    )
    HTTP_CONNECTION_REFUSED = "http_connection_refused", "info", "One connection too many."
    HTTP_CONNECTION_CUT = "http_connection_cut", "info", "The peer was too slow."

    # Customers' domains
    RESOLVER_SILENT = (
        "resolver_silent",
        "warning",
        "A resolver did not answer what a domain's check asks; the domain keeps its state.",
    )

    # The daemon
    LEFT_OUT = "left_out", "info", "So many lines of a kind were not written in the last minute."
    MIGRATING = (
        "migrating",
        "info",
        "An older version wrote the store: step `step` of `steps` begins. Nothing is served until `ready`.",
    )
    BUILT = (
        "built",
        "info",
        "The store is open; how many files were removed that nothing knows or nobody finished.",
    )
    READY = "ready", "info", "It serves."
    CERTIFICATE_RELOADED = (
        "certificate_reloaded",
        "info",
        "SIGHUP came, the files changed, or a day is over: new SMTP sessions get the new pair.",
    )
    WHEREABOUTS = (
        "whereabouts",
        "warning",
        "SIGUSR1 or SIGUSR2 came, and nothing else of it: how many `tasks` and `threads` are where, from the outermost"
        " function on.",
    )
    LOOP_HELD = (
        "loop_held",
        "warning",
        "The event loop served nobody for `held_ms` or more; `where` says what it did, `cpu_ms` how much it computed.",
    )
    LOG_LINES_LOST = (
        "log_lines_lost",
        "error",
        "The log could not be written, as where its disk was full: about so many `lines` are missing before this one.",
    )
    DISK_SHORT = (
        "disk_short",
        "error",
        "Mail is refused, or sends are: what is to come in and `storage.reserve_percent` want more room than there is.",
    )
    DISK_HAS_ROOM = "disk_has_room", "info", "What was refused since `disk_short` is taken again."
    RETENTION = "retention", "info", "What was removed because of its age."
    ORGANIZATION_ERASED = (
        "organization_erased",
        "info",
        "A deleted organization is gone; `erased`: how many rows of each kind, and `bytes` of raw messages.",
    )
    SPACE_GIVEN_BACK = (
        "space_given_back",
        "info",
        "So many `bytes` of the database, which deleting had made free, are the file system's again.",
    )
    SEARCH_REBUILD_BEGUN = (
        "search_rebuild_begun",
        "info",
        "The search index is made (anew), `why`; until it is done a search of rare words takes longer.",
    )
    SEARCH_REBUILT = "search_rebuilt", "info", "It is done: how many messages, and how long it took."
    SELF_CHECK_UNFINISHED = (
        "self_check_unfinished",
        "info",
        "A large store: a minute was not enough for its pages; run `maild check` now and then.",
    )
    LEASES_FREED = (
        "leases_freed",
        "info",
        "The process before died while delivering; those recipients are due again.",
    )
    STOPPING = "stopping", "info", "It takes nothing new."
    STOPPED = "stopped", "info", "It ended."


def tell(log: Any, event: LogEvent, **fields: Any) -> None:
    """One line of structlog's `log`, at the event's level."""
    getattr(log, event.level)(event, **fields)


def is_told(log: Any, event: LogEvent) -> bool:
    """Would `tell` write a line? For an event of every request, whose fields cost more than the question."""
    return bool(log.is_enabled_for(LEVELS[event.level]))


def clean(words: str, chars: int = CLEAN_CHARS) -> str:
    """A peer's words, fit to be shown: at most `chars` characters, each of them printable."""
    if len(words) > chars:
        words = words[: chars - 3] + "..."
    if words.isprintable():
        return words
    return "".join(one if one.isprintable() else "?" for one in words)
