"""Does mail that this host signs verify for others? A message is signed as all mail is, and verified against the record
that DNS shows by dkimpy, which has no code in common with what signs here."""

from collections.abc import Sequence

import dkim as dkimpy

from maild.outbound.signing.dkim import SigningKey, sign

_HEADER = "From: postmaster@{0}\r\nTo: postmaster@{0}\r\nSubject: does this  verify,\r\n\tfolded?\r\n"
_BODY = "A line with blanks at its end. \t\r\n\r\n--\r\nmaild\r\n\r\n"


def fault_of(key: SigningKey, records: Sequence[bytes], at_s: int) -> str | None:
    """Why what the key signs at that time (Unix seconds) does not verify by these TXT records; None where it does."""
    message = f"{_HEADER.format(key.domain)}\r\n{_BODY}".encode()
    signature, _ = sign(message, key._replace(second=None), at_s)
    try:
        verifies = dkimpy.DKIM(signature + message).verify(dnsfunc=lambda name, timeout=0: b"".join(records))
    except dkimpy.DKIMException as error:
        return str(error)
    return None if verifies else "the signature is not of this public key"
