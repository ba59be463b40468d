"""All attacks, by name."""

from tests.support.hostile import Attack, keys, strangers

ATTACKS: dict[str, Attack] = {one.__name__: one for one in (*strangers.ATTACKS, *keys.ATTACKS)}
# They leave the daemon no idle moment, in which nothing else is seen: they are measured by themselves.
CROWDS: dict[str, Attack] = {one.__name__: one for one in strangers.CROWDS}
