"""Tag lists (RFC 6376 §3.2): `v=DKIM1; k=rsa; p=…`, in signatures, in key records, in DMARC policies. Pure, linear."""

MAX_TAGS = 100

_BLANKS = " \t\r\n"


def read_tags(text: str) -> dict[str, str] | None:
    """Name → value without outer blanks, in order; None where a tag is no tag or stands twice. Names have a case."""
    found, faults = _read(text)
    return None if faults else found


def read_loosely(text: str) -> dict[str, str]:
    """The tags that can be read, the first of a name (RFC 9989 §4.7: what can't is passed over)."""
    return _read(text)[0]


def _read(text: str) -> tuple[dict[str, str], int]:
    """(name → value, how many pieces are no tag of their own). Empty pieces are common, and harmless."""
    found: dict[str, str] = {}
    pieces = text.split(";", MAX_TAGS)
    faults = len(pieces) - len(pieces[:MAX_TAGS])
    for piece in pieces[:MAX_TAGS]:
        name, equals, value = piece.partition("=")
        name = name.strip(_BLANKS)
        # §3.2: a letter, then letters, digits and underscores; as in Python, but for ASCII alone.
        if equals and name.isidentifier() and name.isascii() and name[0] != "_" and name not in found:
            found[name] = value.strip(_BLANKS)
        elif piece.strip(_BLANKS):
            faults += 1
    return found, faults
