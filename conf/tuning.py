"""Paces and bounds that have one right value in production, and so are not in the configuration.

A test hands in others, so that it sees in a moment, or with few messages, what else takes minutes or thousands.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class HttpTuning:
    """`look_s`: between two looks at all connections. `rate_window_s`: over which a body's pace is judged.

    `stalled_s`: how long a client may take nothing of its answer, and `stream_stalled_s` nothing of an event stream.
    `shutdown_s`: what requests have that are being answered when the server stops. `held_bytes`: how much of a list
    each reader that takes its time, of whom there may be a thousand, keeps in memory.
    """

    look_s: float = 1.0
    rate_window_s: float = 10.0
    stalled_s: float = 30.0
    stream_stalled_s: float = 20.0
    shutdown_s: float = 5.0
    held_bytes: int = 256 * 1024


@dataclass(frozen=True, slots=True)
class FeedTuning:
    """How often the look-out of event feeds looks by itself; `rest_s`: a burst of commits is one look."""

    look_s: float = 0.25
    look_again_s: float = 2.0
    rest_s: float = 0.05


@dataclass(frozen=True, slots=True)
class WebhookTuning:
    """`look_again_s`: what another process commits does not wake it; nor does a wall clock that was set back.

    `kept_bytes`: rendered bodies of events, for their other subscribers.
    """

    look_again_s: float = 2.0
    kept_bytes: int = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ApiTuning:
    """`domains`: that an organization may have: each costs a key, and look-ups every hour.

    `sanitized_chars`: of one HTML body; a sanitiser needs some twenty times that, for one message at a time.
    """

    domains: int = 1000
    sanitized_chars: int = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SmtpTuning:
    """`rate_check_s`: over which the least rate of DATA is judged, and over `average_checks` of them its average.

    `hang_up_s`: for a client to read our last reply.
    """

    rate_check_s: float = 10.0
    average_checks: int = 12
    hang_up_s: float = 10.0


@dataclass(frozen=True, slots=True)
class QueueTuning:
    """`window_rows`: recipients that the outbound queue holds in memory, `doubtful_rows` of them for destinations that
    have not answered lately, all together.

    `paused_look_s`: the operator's command is another process, which can't wake the queue. `store_retry_s`: until
    what the store refused is tried again.
    """

    window_rows: int = 3000
    doubtful_rows: int = 1500
    paused_look_s: float = 2.0
    store_retry_s: float = 1.0


@dataclass(frozen=True, slots=True)
class Tuning:
    http: HttpTuning = field(default_factory=HttpTuning)
    feeds: FeedTuning = field(default_factory=FeedTuning)
    webhooks: WebhookTuning = field(default_factory=WebhookTuning)
    api: ApiTuning = field(default_factory=ApiTuning)
    smtp: SmtpTuning = field(default_factory=SmtpTuning)
    queue: QueueTuning = field(default_factory=QueueTuning)
