"""All attacks, by name."""

from tests.support.hostile import Attack, keys, strangers

ATTACKS: dict[str, Attack] = {one.__name__: one for one in (*strangers.ATTACKS, *keys.ATTACKS)}
