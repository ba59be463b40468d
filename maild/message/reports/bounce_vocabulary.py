"""Is there nothing in a refusal but that an address can't receive mail?

Hosts say so in few words, which a table can hold; what else they may refuse for has no end, and each new reason had
blamed an address where it spoke of one ("Mailbox unavailable. The sending MTA has not passed validation"). So a word
that no such refusal has takes the blame off. Names do not: those of hosts and files, which can be told by how they are
written, and a bare one where names stand. Pure, linear, bounded.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

_VOCABULARY_CHARS: Final = 4096

# What stands between words, and at their ends; dots, colons and what else makes a name of them stay within.
_APART: Final = str.maketrans(dict.fromkeys('<>()[]{}"“”„«»`*|\\,;!?\r\n\t', " ") | dict.fromkeys("'’‘", ""))
_AT_ENDS: Final = ".:-"

# Each line is what its words are; those of the phrases that blame an address (`bounce_words.py`) come to them.
_SAID_OF_ADDRESSES: Final = (
    # who
    "address addresses mailbox mailboxes mailaddress mbox box account addressee alias user users username userid"
    " recipient recipients person customer customers student member subscriber rcpt tenant domain hostname name names"
    " local virtual final original owner",
    # where one looked
    "table map lookup database directory ldap book public domino notes relay route redirect transport location server"
    " host machine mailer gateway corporate company organization department university school list here there",
    # who looked, or is told
    "find locate looking hard found unable able cannot werent records record remote sender send sent ip success",
    # what became of it
    "exists defined delivered deliver delivery undeliverable accepted receive receiving refused failed failure"
    " aborted rejecting got live removed removing inactivated moved replaced forwarded forwarding dropped missing"
    " permanent permanently fatal verified unverified verify verification misspelled spelled spelling syntax used old"
    " new marked blank unallocated administratively activity mapped validation contain after over due period time long"
    " days weeks months years since yet own least syntactically",
    # how it is told
    "sorry error errors message mail mails email reply said says response requested action taken command code data"
    " end because this that it is was has had have hasnt do are an as but i im he she its his her they we our will may"
    " could your now another any following re if why what when who whom which while and or not no none most than then"
    " these those some such very only same each every either else writing right associated",
    # what is advised
    "please try trying check checking double again remove update typos unnecessary spaces learn see visit go for more"
    " information info details detail explanation guidelines notified contact directly correspondent postmaster"
    " administrator correct correctly help support page pages site web website http https",
    # what hosts sign with
    "gsmtp prod atlas smtp esmtp lmtp mta dsn mx qq chkuser vdeliver vdelivermail bounced mailhost"
    " rusr id line callout rfc mode normal bye",
)  # fmt: skip


def vocabulary(phrases: Iterable[str]) -> frozenset[str]:
    """The words that may stand in a refusal of an address, with those of these phrases."""
    return frozenset(word for words in (*_SAID_OF_ADDRESSES, *phrases) for word in words.split())


def other_words(text: str, known: frozenset[str], named: frozenset[str]) -> int:
    """How many words of a text are not known, and no names: one that stands first, or behind these, is."""
    words = text[:_VOCABULARY_CHARS].translate(_APART).split()
    if known.issuperset(map(str.lower, words)):
        return 0
    first = words[: 0 if named else 1]
    behind = [word for before, word in pairwise(words) if before.lower() not in named]
    return len({part for word in first + behind for part in _parts(word.strip(_AT_ENDS))} - known)


def _parts(word: str) -> list[str]:
    """The words of one that may be compound; none of what is a name, an identifier or a number."""
    parts = word.lower().split("-")
    is_cased_as_words_are = word.islower() or word.istitle() or (word.isupper() and len(parts) == 1)
    is_plain = all(part.isalpha() and part.isascii() for part in parts)
    return parts if is_plain and is_cased_as_words_are else []
