"""Whom an answer goes to: recipients out of what a message says, and why somebody who stands there is left out.

    inbound     To: the author. That is everybody in Reply-To, where it names anybody but us, else From
                (RFC 5322 §3.6.2); a reply to all goes to the original To as well, and to the original Cc. Of a list
                that writes From itself the author is in Reply-To alone: its own address is everybody's
    outbound    To: the original To, for we follow up on ourselves; a reply to all goes to the original Cc as well

Nothing else is looked at: Sender, Return-Path, Mail-Followup-To, Mail-Reply-To and Mail-Copies-To belong to whoever
wants to steer the answer. List-Post takes somebody out, and puts nobody in. Our own address is never answered, with
whatever tag, and nobody twice: the first place wins. All of it is what strangers wrote: there may be thousands, and any
may be no address at all.

Pure: values in, values out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from maild.message.fields.address import (
    AddressSyntaxError,
    is_within,
    normalize,
    split,
    strip_plus,
    validate,
    with_legal_dots,
)

RECIPIENTS_MAX: Final = 50  # in one list (docs/contract.md, section 8)

Source = Literal["reply_to", "from", "recipients", "given"]
Reason = Literal["own_address", "duplicate", "not_allowed", "invalid", "mailing_list"]


class Correspondence(NamedTuple):
    """What a message says of its people: addresses as they stand there. `authors`: From, all of it. `verified_domain`:
    that of From, where it was proven. `org_domains`: domain → that of its organization, as far as that is known.
    `list_post`: by which address one writes to all of the list that sent it."""

    is_inbound: bool
    authors: Sequence[str]
    reply_to: Sequence[str]
    to: Sequence[str]
    cc: Sequence[str]
    verified_domain: str | None = None
    org_domains: Mapping[str, str] = {}
    list_post: str | None = None


class Dropped(NamedTuple):
    """Somebody who stands there and is not answered."""

    address: str
    reason: Reason


class ReplyRecipients(NamedTuple):
    """`to` and `cc` can be sent to. `source`: where the first of them come from."""

    to: Sequence[str]
    cc: Sequence[str]
    source: Source
    dropped: Sequence[Dropped]


class TooManyRecipients(Exception):
    """A list would have more than RECIPIENTS_MAX; `field` is `to` or `cc`."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


def resolve(
    said: Correspondence,
    own_address: str,
    *,
    reply_all: bool,
    honors_foreign: bool = True,
    may_answer: Callable[[str], bool] | None = None,
) -> ReplyRecipients:
    """The recipients of an answer by the inbox of `own_address` (a comparison key). TooManyRecipients.

    `honors_foreign` False: what of Reply-To belongs to another organization than the proven author is not followed.
    `may_answer`: whether a comparison key may be written to; others are left out (`not_allowed`).
    """
    selection = _Selection(own_address, may_answer)
    source: Source = "recipients"
    to: Iterable[str] = said.to
    if said.is_inbound:
        source, to = _authors(said, own_address, honors_foreign, selection)
        if source == "from" and said.reply_to and not reply_all:
            to = selection.without_list(to, said.list_post)
        if reply_all:
            to = [*to, *said.to]
    return ReplyRecipients(
        selection.choose("to", to),
        selection.choose("cc", said.cc if reply_all else ()),
        source,
        selection.dropped,
    )


def is_foreign(address: str, said: Correspondence) -> bool:
    """Does the address belong to another organization than the author, as far as that is proven? Where the walk of
    RFC 9989 §4.10 told nothing, the author's domain and those below it are the author's."""
    verified = said.verified_domain
    if verified is None:
        return True
    domain = split(normalize(address))[1]
    known = said.org_domains
    if domain in known and verified in known:
        return known[domain] != known[verified]
    return not is_within(domain, verified)


def is_own(key: str, own_address: str) -> bool:
    """Does this comparison key reach the inbox, under whatever tag?"""
    local, domain = split(key)
    return f"{strip_plus(local)}@{domain}" == own_address


def _authors(
    said: Correspondence, own_address: str, honors_foreign: bool, selection: _Selection
) -> tuple[Source, Sequence[str]]:
    wanted = said.reply_to
    if not honors_foreign:
        wanted = [one for one in said.reply_to if not is_foreign(one, said)]
        selection.drop((one for one in said.reply_to if is_foreign(one, said)), "not_allowed")
    if any(not is_own(normalize(one), own_address) for one in wanted):
        return "reply_to", wanted
    selection.drop(wanted, "own_address")  # an answer to ourselves would begin a loop
    return "from", said.authors


class _Selection:
    """Who is chosen so far, and who is not."""

    def __init__(self, own_address: str, may_answer: Callable[[str], bool] | None) -> None:
        self._own_address = own_address
        self._may_answer = may_answer
        self._seen: set[str] = set()
        self._dropped: dict[tuple[str, Reason], Dropped] = {}

    @property
    def dropped(self) -> Sequence[Dropped]:
        """Each address once for each reason, as it was met first."""
        return list(self._dropped.values())

    def drop(self, addresses: Iterable[str], reason: Reason) -> None:
        for address in addresses:
            self._dropped.setdefault((normalize(address), reason), Dropped(address, reason))

    def without_list(self, addresses: Iterable[str], list_post: str | None) -> Sequence[str]:
        """Those by which one does not write to all members of the list."""
        post = None if list_post is None else normalize(list_post)
        everybody = [one for one in addresses if normalize(one) == post]
        self.drop(everybody, "mailing_list")
        return [one for one in addresses if one not in everybody]

    def choose(self, field: str, addresses: Iterable[str]) -> Sequence[str]:
        candidates = [one for one in addresses if self._is_new(one)]
        if len(candidates) > RECIPIENTS_MAX:  # before each is checked, which costs some 50 µs
            raise TooManyRecipients(field)
        return [found for one in candidates if (found := self._sendable(one)) is not None]

    def _is_new(self, address: str) -> bool:
        key = normalize(address)
        if is_own(key, self._own_address):
            self.drop((address,), "own_address")
        elif key in self._seen:
            self.drop((address,), "duplicate")
        elif self._may_answer is not None and not self._may_answer(key):
            self.drop((address,), "not_allowed")
        else:
            self._seen.add(key)
            return True
        return False

    def _sendable(self, address: str) -> str | None:
        try:
            checked = validate(with_legal_dots(address))
        except AddressSyntaxError:
            self.drop((address,), "invalid")
            return None
        # What it is sent to may be written in another form than what stood there.
        is_new = normalize(checked) == normalize(address) or self._is_new(checked)
        return checked if is_new else None
