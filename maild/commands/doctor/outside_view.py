"""Who is asked what others hear of this host.

systemd-resolved answers by itself for the name of the host that it runs on, and for the PTR records of its addresses
("Synthetic Records" of its manual): they are there, whatever DNS says. Those that it asks know better.
"""

from collections.abc import Sequence
from dataclasses import replace

from conf.setting_kinds import address_port
from conf.settings import Dns
from maild.dns_client import Nameserver, SystemNameservers

STUBS = frozenset({"127.0.0.53", "127.0.0.54"})
UPLINKS = "/run/systemd/resolve/resolv.conf"


def seen_from_outside(dns: Dns, asked: Sequence[Nameserver], uplinks: str = UPLINKS) -> Dns | None:
    """`dns` with those of `asked` that are not systemd-resolved; where that is all, with those that it asks. None where
    it does not say, as of those that listen on another port than 53."""
    others = [one for one in asked if one[0] not in STUBS]
    named = others or SystemNameservers(uplinks)()
    return replace(dns, nameservers=tuple(address_port(*one) for one in named)) if named else None
