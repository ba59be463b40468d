"""What a session with a mail host must be like: a value that goes with the hop, so that a session that was opened for
less is never used for more."""

from typing import Literal, NamedTuple

# none: not even asked for. opportunistic: where it works, unverified. testing: verified where that works, else
# opportunistic. encrypt: required, unverified. verify: required, with a certificate for the host's name.
Level = Literal["none", "opportunistic", "testing", "encrypt", "verify"]


class TlsDemand(NamedTuple):
    """`policy`: whose demand it is, for the log and for `tls` of a recipient; "" where nobody demands anything."""

    level: Level = "opportunistic"
    policy: str = ""


NO_DEMAND = TlsDemand()


class PolicyForbids(Exception):
    """A policy keeps mail from a host; the text says which policy, and why. For now: policies and hosts change."""
