"""What a session with a mail host must be like: a value that goes with the hop, so that a session that was opened for
less is never used for more."""

from typing import Literal, NamedTuple

from maild.outbound.tls.dane import Tlsa

# none: not even asked for. opportunistic: where it works, unverified. testing: verified where that works, else
# opportunistic. encrypt: required, unverified. verify: required, with a certificate for the host's name. dane:
# required, with a chain that `tlsa` vouches for.
Level = Literal["none", "opportunistic", "testing", "encrypt", "verify", "dane"]


class TlsDemand(NamedTuple):
    """`policy`: whose demand it is, for the log and for `tls` of a recipient; "" where nobody demands anything.
    `names`: one of which a chain that `tlsa` vouches for must be of; the first is the one that has the records."""

    level: Level = "opportunistic"
    policy: str = ""
    tlsa: tuple[Tlsa, ...] = ()
    names: tuple[str, ...] = ()


NO_DEMAND = TlsDemand()


class PolicyForbids(Exception):
    """A policy keeps mail from a host; the text says which policy, and why. For now: policies and hosts change."""
