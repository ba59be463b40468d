"""A conversation as one text for a language model, within a budget of tokens.

Oldest first in the text, chosen newest first: the message that asks for an answer gets up to half of the budget, the
others follow from the newest back, and what is left over is its again. What a message says stands between fences
(`maild.message.context.fences`), with all else that its sender wrote; the lines between are the server's. The same
messages and budget give the same text. The work is bounded by the budget and the words that are handed in.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from maild.message.context import fences
from maild.message.context.tokens import CHARACTERS, UNIT, beginning, cost, end, tokens_of

BUDGET_MIN: Final = 200
BUDGET_MAX: Final = 100_000

_FIELD_SHARE: Final = 16  # one header line's share of the budget is one of so many, within these bounds
_FIELD_TOKENS: Final = range(12, 41)
_ADDRESSES_SHOWN: Final = 5
_ATTACHMENTS_SHOWN: Final = 10
_WORTH_CUTTING: Final = 40 * UNIT
_HEAD_PERCENT: Final = 70
_HEAD_ALONE: Final = " · only its head is shown"
_DEAREST_NONCE: Final = "0a" * 8
_FENCES_COST: Final = cost(fences.opening(_DEAREST_NONCE)) + cost(fences.closing(_DEAREST_NONCE))


class ContextAttachment(NamedTuple):
    """An attachment's facts; nothing of its bytes is read."""

    id: str
    filename: str
    content_type: str
    size_bytes: int


class ContextMessage(NamedTuple):
    """What a context may show of a message. `state`: what a reader must know of it ("held", "failed"), or empty.

    `is_brief`: a report or an automatic answer, told in one line. `has_more`: the message goes on behind `words`.
    `facts`: what else the server says of it, in words of its own. `reply_to`: who is answered, where that is not
    `sender`.
    """

    id: str
    is_inbound: bool
    state: str
    is_brief: bool
    verified_domain: str | None
    sender: str
    recipients: Sequence[str]
    moment: str
    subject: str
    words: str
    has_more: bool
    attachments: Sequence[ContextAttachment]
    facts: Sequence[str] = ()
    reply_to: Sequence[str] = ()


class ContextRange(NamedTuple):
    """Where a message stands in the text, in code points, without its fences."""

    id: str
    start: int
    end: int
    is_cut: bool


class ToldThread(NamedTuple):
    """The text, and what of the conversation is in it."""

    text: str
    estimated_tokens: int
    is_truncated: bool
    omitted: int
    ranges: list[ContextRange]


class ReadThread(NamedTuple):
    """A thread of so many messages, and those of them that may be shown, newest first: the newest, the one that is
    asked about, and the one that began it."""

    id: str
    message_count: int
    messages: Sequence[ContextMessage]


class _Piece(NamedTuple):
    """A message as it is shown. `cost`: of all its lines, between the dearest fences; `own_cost`: without fences."""

    title: str
    inside: str
    is_cut: bool
    cost: int
    own_cost: int


def context(of: ReadThread, max_tokens: int, focus: str | None, key: bytes) -> ToldThread:
    """The text of at most `max_tokens` (BUDGET_MIN to BUDGET_MAX), by `estimated_tokens`.

    `focus`: the id of the message that gets its share before the others; None, or one that is not there: the newest
    inbound one that is not told in a line, if there is one. `key`: makes the nonces.
    """
    budget = max_tokens * UNIT - cost(_head(of, of.message_count))
    return _rendered(of, _chosen(of, budget, focus, _Teller(max_tokens)), key)


def _chosen(of: ReadThread, budget: int, focus: str | None, teller: "_Teller") -> dict[str, _Piece]:
    """The messages that are shown, by id."""
    if not of.messages:
        return {}
    asking, pieces = _asking(of, budget, focus, teller)
    left = budget - sum(one.cost for one in pieces.values())
    pieces[asking.id] = teller.within(asking, left // 2) or teller.brief(asking)
    left -= pieces[asking.id].cost
    began = teller.brief(of.messages[-1])
    reserved = began.cost if began.cost <= left and of.messages[-1].id not in pieces else 0
    for message in of.messages:
        if message.id in pieces:
            continue
        is_last = message is of.messages[-1]
        piece = teller.within(message, left if is_last else left - reserved)
        if piece is None:
            break
        pieces[message.id] = piece
        left -= piece.cost
    else:
        reserved = 0
    if reserved:
        pieces[of.messages[-1].id] = began
        left -= reserved
    if pieces[asking.id].is_cut:
        again = teller.within(asking, left + pieces[asking.id].cost)
        pieces[asking.id] = again or pieces[asking.id]
    return pieces


def _asking(
    of: ReadThread, budget: int, focus: str | None, teller: "_Teller"
) -> tuple[ContextMessage, dict[str, _Piece]]:
    """The message that gets its share before the others, and the line of an automatic answer that came after it."""
    named = [one for one in of.messages if one.id == focus]
    inbound = [one for one in of.messages if one.is_inbound]
    if named or not inbound:
        return (named or of.messages)[0], {}
    newest = inbound[0]
    asks = next((one for one in inbound if not one.is_brief), newest)
    line = teller.brief(newest)
    if asks is newest or line.cost + teller.brief(asks).cost > budget:
        return newest, {}
    return asks, {newest.id: line}


def _rendered(of: ReadThread, pieces: dict[str, _Piece], key: bytes) -> ToldThread:
    shown = [one for one in of.messages if one.id in pieces]
    omitted = of.message_count - len(shown)
    parts = [_head(of, omitted)]
    length, spent = len(parts[0]), cost(parts[0])
    ranges: list[ContextRange] = []
    for message in reversed(shown):
        piece = pieces[message.id]
        nonce = fences.nonce(key, message.id, piece.inside)
        before = f"\n{piece.title}\n{fences.opening(nonce)}\n"
        start = length + len(before)
        ranges.append(ContextRange(message.id, start, start + len(piece.inside), piece.is_cut))
        parts += (before, piece.inside, f"\n{fences.closing(nonce)}")
        spent += piece.own_cost + cost(fences.opening(nonce)) + cost(fences.closing(nonce))
        length = start + len(piece.inside) + len(parts[-1])
    is_truncated = omitted > 0 or any(one.is_cut for one in ranges)
    return ToldThread("".join(parts), tokens_of(spent), is_truncated, omitted, ranges)


class _Teller:
    """Writes messages within what is left of a budget."""

    def __init__(self, max_tokens: int) -> None:
        share = max_tokens // _FIELD_SHARE
        self._field_cost = UNIT * min(max(share, _FIELD_TOKENS[0]), _FIELD_TOKENS[-1])

    def within(self, message: ContextMessage, budget: int) -> _Piece | None:
        """The whole message, or the beginning and the end of it; None where hardly anything would fit."""
        if message.is_brief:
            piece = self.brief(message)
            return piece if piece.cost <= budget else None
        fields = self._fields(message)
        words = _tidy(message.words)
        bare = self._piece(message, fields, is_cut=False)
        room = budget - bare.cost
        if not words and not message.has_more:
            return bare if room >= 0 else None
        if not message.has_more and len(words) <= room // UNIT * CHARACTERS:
            words_cost = cost(words)
            if words_cost <= room:
                return _with_words(bare, words, words_cost, is_cut=False)
        room -= max(cost(_mark(message, len(words))), cost(_mark(message, None)))
        if room < _WORTH_CUTTING:
            return None
        words = _cut(message, words, room)
        return _with_words(bare, words, cost(words), is_cut=True)

    def brief(self, message: ContextMessage) -> _Piece:
        """One line, for what says no more and where there is no room for more."""
        sender, subject = self._field(message.sender), self._field(message.subject)
        inside = f"From: {sender} · Date: {message.moment} · Subject: {subject}"
        return self._piece(message, inside, is_cut=not message.is_brief)

    def _piece(self, message: ContextMessage, inside: str, *, is_cut: bool) -> _Piece:
        title = self._title(message) + (_HEAD_ALONE if is_cut else "")
        own_cost = cost(title) + cost(inside)
        return _Piece(title, inside, is_cut, own_cost + _FENCES_COST, own_cost)

    def _title(self, message: ContextMessage) -> str:
        """The server's line: an id, words of our own, and a domain that was verified."""
        facts = [f"Message {message.id}", "inbound" if message.is_inbound else "outbound"]
        if message.is_inbound:
            facts.append(self._verified(message.verified_domain))
        facts += ([message.state] if message.state else []) + (["automatic"] if message.is_brief else [])
        facts += message.facts
        return " · ".join(facts)

    def _verified(self, domain: str | None) -> str:
        if domain is None:
            return "sender not verified"
        # Of a domain that is cut off nobody knows whose it is.
        return "sender domain verified" + (f": {domain}" if cost(domain) <= self._field_cost else "")

    def _fields(self, message: ContextMessage) -> str:
        """The header lines, as their sender wrote them."""
        lines = [
            f"From: {self._field(message.sender)}",
            f"To: {self._addresses(message.recipients)}",
            *([f"Reply-To: {self._addresses(message.reply_to)}"] if message.reply_to else []),
            f"Date: {message.moment}",
            f"Subject: {self._field(message.subject)}",
        ]
        for one in message.attachments[:_ATTACHMENTS_SHOWN]:
            name, kind = self._field(one.filename), self._field(one.content_type)
            lines.append(f"Attachment: {one.id} · {name} · {kind} · {one.size_bytes} bytes")
        if len(message.attachments) > _ATTACHMENTS_SHOWN:
            lines.append(f"and {len(message.attachments) - _ATTACHMENTS_SHOWN} more attachments")
        return "\n".join(lines)

    def _addresses(self, addresses: Sequence[str]) -> str:
        others = len(addresses) - _ADDRESSES_SHOWN
        more = f" and {others} more" if others > 0 else ""
        return f"{self._field(', '.join(addresses[:_ADDRESSES_SHOWN]))}{more}"

    def _field(self, value: str) -> str:
        return one_line(value, self._field_cost)


def one_line(value: str, cost: int) -> str:
    """A sender's words on one line between fences, as many as the cost (maild.message.context.tokens) holds."""
    held = fences.inert_line(value[: cost // UNIT * CHARACTERS])
    shown = beginning(held, cost)
    return shown if shown == held and len(held) >= len(value.strip()) else f"{shown}…"


def _with_words(bare: _Piece, words: str, words_cost: int, *, is_cut: bool) -> _Piece:
    return bare._replace(
        inside=f"{bare.inside}\n{words}",
        is_cut=is_cut,
        cost=bare.cost + words_cost,
        own_cost=bare.own_cost + words_cost,
    )


def _head(of: ReadThread, omitted: int) -> str:
    told = f"Thread {of.id} · {of.message_count} message{'' if of.message_count == 1 else 's'}"
    return f"{told} · {omitted} not shown" if omitted else told


def _mark(message: ContextMessage, characters: int | None) -> str:
    """What stands for what is missing; None: nobody counted."""
    return f"[… {'more' if characters is None else f'{characters} characters'} of {message.id} not shown …]"


def _tidy(words: str) -> str:
    """No blanks before a line's end, and no more than one empty line."""
    kept: list[str] = []
    for line in map(str.rstrip, fences.inert(words).split("\n")):
        if line or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept).rstrip("\n")


def _cut(message: ContextMessage, words: str, room: int) -> str:
    """The beginning of the words and their end, at line ends, and between them what is missing."""
    lines = words.split("\n")
    if message.has_more:
        return "\n".join((*_first(lines, room)[0], _mark(message, None)))
    head, left = _first(lines, room * _HEAD_PERCENT // 100)
    rest = words[len("\n".join(head)) :].lstrip("\n")
    tail, _ = _first(rest.split("\n")[::-1], left + room - room * _HEAD_PERCENT // 100, end)
    missing = len(words) - sum(map(len, (*head, *tail))) - len(head) - len(tail) + 1
    return "\n".join((*head, _mark(message, max(missing, 0)), *tail[::-1]))


def _first(
    lines: Sequence[str], room: int, part: Callable[[str, int], str] = beginning
) -> tuple[list[str], int]:
    """As many lines as the room holds, and the room that is left; of a first line that is too long a part."""
    taken: list[str] = []
    for line in lines:
        is_long = len(line) > room // UNIT * CHARACTERS
        spent = room + 1 if is_long else cost(line)
        if spent > room:
            break
        taken.append(line)
        room -= spent
    if not taken and lines:
        taken.append(part(lines[0], room))
        room -= cost(taken[0])
    return taken, room
