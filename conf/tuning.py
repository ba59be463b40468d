"""Paces and bounds that have one right value in production, and so are not in the configuration.

A test hands in other values, so that it sees in a moment, or with few messages, what would take minutes or thousands.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class HttpTuning:
    """`look_s`: between two looks at all connections. `rate_window_s`: over which a body's pace is judged.
    `patient_s`: the same, and `stalled_s`, while room is plenty: TCP on a line that lost all packets for half a minute
    is silent for a whole one.

    `stalled_s`: how long a client may take nothing of its answer, and `stream_stalled_s` nothing of an event stream.
    `shutdown_s`: the time that requests have to end when the server stops. `held_bytes`: how much of a list is kept in
    memory for each slow reader, of which there may be a thousand. `heard_out`: how many connections too many may send
    what they have to say once they were refused, for `heard_out_s` each; never more than may be connected.
    """

    look_s: float = 1.0
    rate_window_s: float = 10.0
    patient_s: float = 60.0
    stalled_s: float = 30.0
    stream_stalled_s: float = 20.0
    shutdown_s: float = 5.0
    held_bytes: int = 256 * 1024
    heard_out: int = 64
    heard_out_s: float = 2.0


@dataclass(frozen=True, slots=True)
class FeedTuning:
    """How often the look-out of event feeds looks without being woken: `look_s` where this process has written,
    `look_again_s` for what another one may have. `rest_s`: after a look, so that a burst of commits is one look.
    """

    look_s: float = 0.25
    look_again_s: float = 2.0
    rest_s: float = 0.05


@dataclass(frozen=True, slots=True)
class WebhookTuning:
    """`look_again_s`: how often the dispatcher looks by itself, as neither a commit of another process nor a wall clock
    that was set back wakes it. `drain_s`: the time that requests in flight have to end when it stops. `store_retry_s`:
    how long it waits for a store that refused, `network_retry_s` for a network that is away.

    `kept_bytes`: of rendered bodies of events, kept for their other subscribers.
    """

    look_again_s: float = 2.0
    drain_s: float = 3.0
    store_retry_s: float = 1.0
    network_retry_s: float = 5.0
    kept_bytes: int = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ApiTuning:
    """`domains`: how many an organization may have; each costs a key, and look-ups every hour.

    `sanitized_chars`: how much of one HTML body is sanitised; that takes some twenty times the memory, for one message
    at a time. `check_deadline_s`: of all look-ups for a message that is checked before it is sent.
    `patience_s`: how long a request waits for its place in the rounds of the event loop until it is refused.
    """

    domains: int = 1000
    sanitized_chars: int = 2 * 1024 * 1024
    check_deadline_s: float = 3.0
    patience_s: float = 1.0


@dataclass(frozen=True, slots=True)
class SmtpTuning:
    """`rate_check_s`: over which the least rate of DATA is judged; its average is judged over `average_checks` of them.

    `hang_up_s`: the time that a client has to read our last reply. `certificate_look_s`: between two looks whether the
    files of the certificate have changed. `ticket_keys_s`: how long TLS sessions can be resumed under the same keys.
    `auth_deadline_s`: of all DNS look-ups for one message together (RFC 7208 §4.6.4). `failed_logins`: how often an
    address may fail to log in within `failed_logins_s`, to submit mail.
    """

    rate_check_s: float = 10.0
    average_checks: int = 12
    hang_up_s: float = 10.0
    certificate_look_s: float = 30.0
    ticket_keys_s: float = 24 * 3600.0
    auth_deadline_s: float = 20.0
    failed_logins: int = 20
    failed_logins_s: float = 600.0


@dataclass(frozen=True, slots=True)
class QueueTuning:
    """`window_rows`: recipients that the outbound queue holds in memory, `doubtful_rows` of them for destinations that
    have not answered lately, all together.

    `paused_look_s`: between two looks whether the operator has resumed the queue, `look_again_s` whether a command made
    something due; commands are other processes, which can't wake it.
    """

    window_rows: int = 3000
    doubtful_rows: int = 1500
    paused_look_s: float = 2.0
    look_again_s: float = 5.0


@dataclass(frozen=True, slots=True)
class LoopTuning:
    """`held_s`: for how long the event loop may serve nobody before it is told. `computed_s`: between two looks at a
    loop that computes; `again_s`: at one that waits where it should not. `beat_s`: how often the loop says that it
    does not.
    """

    held_s: float = 0.02
    computed_s: float = 0.01
    again_s: float = 0.01
    beat_s: float = 0.2


@dataclass(frozen=True, slots=True)
class EvidenceTuning:
    """How the look at new mail yields to everything else. It rests `rest` times as long as `batch` messages took, and
    on, up to `busy_rest` times, for as long as the store serves more than `busy_units` writing units a second, which it
    looks at every `look_s`; `look_s` where nothing waits, `retry_s` after a failure.
    """

    batch: int = 20
    look_s: float = 0.5
    retry_s: float = 5.0
    rest: float = 1
    busy_rest: float = 200
    busy_units: float = 40


@dataclass(frozen=True, slots=True)
class AuditTuning:
    """`look_s`: between two looks for rows that commands left unsealed. `first_heads_s`: from the start until heads are
    told, which is done once an hour. `window_s`: over which refusals and logins of one kind are counted as one."""

    look_s: float = 5.0
    first_heads_s: float = 300.0
    window_s: float = 3600.0


@dataclass(frozen=True, slots=True)
class Tuning:
    """The tuning of the whole daemon; each part is handed its own."""

    http: HttpTuning = field(default_factory=HttpTuning)
    feeds: FeedTuning = field(default_factory=FeedTuning)
    webhooks: WebhookTuning = field(default_factory=WebhookTuning)
    api: ApiTuning = field(default_factory=ApiTuning)
    smtp: SmtpTuning = field(default_factory=SmtpTuning)
    queue: QueueTuning = field(default_factory=QueueTuning)
    loop: LoopTuning = field(default_factory=LoopTuning)
    evidence: EvidenceTuning = field(default_factory=EvidenceTuning)
    audit: AuditTuning = field(default_factory=AuditTuning)
