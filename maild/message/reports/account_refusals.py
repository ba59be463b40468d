"""What a smarthost says of the account by which it takes mail: it is paused, blocked or not begun, or has sent what it
may. Nobody who is written to has a part in that, and no other mail would fare better.

Of a sender or a recipient that it does not know as verified nothing is said here: other mail goes on.
"""

import re
from typing import Final

from maild.message.reports.bounce_words import MAX_WORDS_CHARS, plain_words

# RFC 3463 §3.2, §3.3: whose address or mailbox is refused is one who is written to.
_OF_A_RECIPIENT: Final = re.compile(r"5\.[12]\.")
# An address, a mailbox, a size: no words speak of more.
_OF_THIS_MAIL: Final = re.compile(r"5\.(?:1\.(?:[1236]|10)|2\.[123]|3\.4)")
# What a filter says of a mail, whose words it may quote. Who sends chooses them, and the local part of an address: one
# sender's mail must not hold up that of all.
_OF_THE_MAIL: Final = re.compile(r" (?:subject|content|phishing|virus|malware|attachment|url|link)s? ")
_QUOTED: Final = re.compile(
    r"""(?<!\w)'[^']{1,200}'(?!\w)|"[^"\\]*+(?:\\.[^"\\]*+){0,200}"|(?<!\w)“[^”]{1,200}”(?!\w)"""
)
_ENDED: Final = (
    r"(?:paused|suspended|disabled|deactivated|blocked|locked|on probation|under review|pending approval)"
)
_STATE: Final = (
    rf"(?:(?:is|has been|had been|was|temporarily|currently|still) )*(?:{_ENDED}|not (?:yet )?activated) "
)
# Amazon SES, Postmark, Brevo, Mailgun, SMTP2GO; Microsoft 365 (5.1.8)
_OUR_ACCOUNT: Final = re.compile(
    rf" sending (?:paused|suspended|disabled|blocked) | your (?:\w+ )?account {_STATE}| bad outbound sender "
)
# Amazon SES, Google (5.4.5, 5.7.1), Microsoft 365 (5.1.90, 5.2.0, 5.7.232, 5.7.233, 5.7.705), SendGrid, Mailgun, Brevo
_SPENT: Final = re.compile(
    r" daily (?:\w+ ){0,3}(?:limit|quota) | sending (?:limit|quota|rate) | messaging limits | submission ?quota"
    r"| relay (?:\w+ )?(?:limit|quota) | out of credits | credits? (?:limit )?exceeded | enough credits | credit limit "
    r"| tenant (?:has )?exceeded | domains are limited to | message rate exceeded "
)
_ANY_ACCOUNT: Final = re.compile(rf"(?<! recipient)(?<! recipients)(?<! user)(?<! users) account {_STATE}")


def is_of_our_account(enhanced: str | None, text: str, *, to_recipient: bool) -> bool:
    """Does a smarthost's refusal speak of our account with it? `to_recipient`: it answers RCPT, where "the account is
    disabled" is the recipient's."""
    if enhanced is not None and _OF_THIS_MAIL.fullmatch(enhanced):
        return False
    words = plain_words(_QUOTED.sub(" ", text[:MAX_WORDS_CHARS]))
    if _OF_THE_MAIL.search(words):
        return False
    if _OUR_ACCOUNT.search(words) or _SPENT.search(words):
        return True
    is_of_recipient = to_recipient or (enhanced is not None and _OF_A_RECIPIENT.match(enhanced) is not None)
    return not is_of_recipient and _ANY_ACCOUNT.search(words) is not None
