"""Is there nothing in a refusal but that an address can't receive mail?

Hosts say so in few words, which a table can hold; what else they may refuse for has no end, and each new reason had
blamed an address where it spoke of one ("Mailbox unavailable. The sending MTA has not passed validation"). So a word
that no such refusal has takes the blame off. Names do not: those of hosts, files and persons that can be told as such
by how they are written. Pure, linear, bounded.
"""

from collections.abc import Iterable
from typing import Final

_VOCABULARY_CHARS: Final = 4096

# What stands between words, and at their ends; dots, colons and what else makes a name of them stay within.
_APART: Final = str.maketrans(dict.fromkeys('<>()[]{}"“”„«»`*|\\,;!?\r\n\t', " ") | dict.fromkeys("'’‘", ""))
_AT_ENDS: Final = ".:-"

# Each line is what its words are; those of the phrases that blame an address (`bounce_words.py`) come to them.
_SAID_OF_ADDRESSES: Final = (
    # who
    "address addresses mailbox mailboxes box account addressee alias user users userid recipient recipients person"
    " customer customers student rcpt tenant domain hostname name names local virtual final original owner",
    # where one looked
    "table map lookup database directory ldap book public domino notes relay route transport location server host"
    " machine gateway corporate company organization department university school",
    # what became of it
    "exists defined delivered deliver delivery undeliverable accepted refused failed failure aborted rejecting got"
    " removed removing inactivated moved replaced forwarded forwarding dropped missing permanent permanently fatal"
    " verified unverified verify verification misspelled spelled spelling syntax used old marked",
    # how it is told
    "sorry error errors message mail mails email reply said says response requested action taken command code data"
    " end because this that it is was has had have are an as but im he she its his her they we our will may could"
    " your there here now another any following re if why what when who whom which while and or not no none most"
    " than then these those some such very only same each every either else writing",
    # what is advised
    "please try trying check checking double again remove update typos unnecessary spaces learn see visit go for more"
    " information info details detail explanation guidelines notified contact directly correspondent postmaster"
    " administrator correct correctly help support page website http https",
    # what hosts sign with
    "gsmtp prod atlas smtp esmtp lmtp dsn mx qq chkuser vdeliver mailhost rusr id line callout rfc",
)  # fmt: skip


def vocabulary(phrases: Iterable[str]) -> frozenset[str]:
    """The words that may stand in a refusal of an address, with those of these phrases."""
    return frozenset(word for words in (*_SAID_OF_ADDRESSES, *phrases) for word in words.split())


def other_words(text: str, known: frozenset[str]) -> int:
    """How many words of a text are not known."""
    found = set(text[:_VOCABULARY_CHARS].translate(_APART).split())
    unknown = [word.strip(_AT_ENDS) for word in found if word.lower() not in known]
    return len({part for word in unknown for part in _parts(word)} - known)


def _parts(word: str) -> list[str]:
    """The words of one that may be compound; none of what is a name, an identifier or a number."""
    parts = word.lower().split("-")
    is_cased_as_words_are = word.islower() or word.istitle() or (word.isupper() and len(parts) == 1)
    is_plain = all(part.isalpha() and part.isascii() for part in parts)
    return parts if is_plain and is_cased_as_words_are else []
