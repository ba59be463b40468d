"""The Message-ID that a smarthost gives to a message, as its 250 tells it, where it writes that field anew.

Outlook.com and Brevo say all of it: "250 2.0.0 OK <…@….prod.outlook.com> [Hostname=…]", "OK: queued as <…>". Amazon
SES says what stands before the `@`; behind it is the region, but for the first one.
"""

import re
from typing import Final

from maild.outbound.routing.relays import RelayHost

# What an answer can name: no header field of ours has other characters.
_WHOLE: Final = re.compile(r"<[!-;=?A-~]{1,250}@[!-;=?A-~]{1,250}>")
_SES_HOST: Final = re.compile(r"(?:.+\.)?email-smtp(?:-fips)?\.([a-z0-9-]+)\..+")
_SES_ID: Final = re.compile(r"(?<!\S)[0-9a-f]{16}-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}-[0-9]{6}(?!\S)")
_SES_FIRST_REGION: Final = "us-east-1"


def given_message_id(relay: RelayHost | None, said: str) -> str | None:
    """`said`: the text of the reply by which it took the message. None where it does not write that field anew, or does
    not tell."""
    if relay is None or "message-id" not in relay.rewrites:
        return None
    if (ses := _SES_HOST.fullmatch(relay.host.lower())) and (found := _SES_ID.search(said)):
        domain = "email" if ses[1] == _SES_FIRST_REGION else ses[1]
        return f"<{found[0]}@{domain}.amazonses.com>"
    whole = _WHOLE.search(said)
    return whole[0] if whole else None
