"""Delivery reports that are texts for people: qmail's, Exim's with its header, and any other. Pure, tolerant, bounded.

A text is read as statements (`statements.py`); of each is asked how much it says, and of whom.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from itertools import islice, takewhile
from typing import Final, NamedTuple

from maild.message.reports.bounces import is_address_fault, is_lasting_reason, is_refusal, says_something
from maild.message.reports.explanations import reasons_in, with_origins, with_steps
from maild.message.reports.fates import (
    MAX_FATES,
    MAX_TEXT_CHARS,
    DeliveryReport,
    Fate,
    addresses_in_values,
    failed_fate,
    ids_in_text,
)
from maild.message.reports.report_words import (
    begins_by_giving_up,
    says_it_failed,
    says_it_gave_up,
    says_it_goes_on,
    says_it_may_go_on,
)
from maild.message.reports.statements import (
    NAMES_MAX,
    PARAGRAPHS,
    REPORTER_CHARS,
    names_in,
    own_words,
    statements,
)

_OPENING_MAX: Final = 5  # paragraphs in which qmail says what it tells of
_QMAIL_START: Final = re.compile(r"\s*Hi\. This is ")
_QMAIL_ADDRESS: Final = re.compile(r"<([^<>\n]{1,998})>:[ \t]*\n?")
_QMAIL_COPY: Final = re.compile(
    r"---+ ?(?:Below|Original|Enclosed|Returned|Undelivered|Attached|Message|Header|Begin)"
)
_EXIM_COPY: Final = re.compile(r"^-{3,} This is a copy of (?:the|your) message[^\n]*+$", re.MULTILINE)
# To whom the message went, as its header says it: all of them, of whom some failed.
_TO_WHOM: Final = re.compile(
    r"^[ \t>*]*+(?:(?:original[ -])?(?:to|cc)|an|kopie|à|para|aan|till?|do|komu|кому|宛先|收件人|받는 ?사람)"
    r"[ \t]*+[:：][^\n]*+$\n?",
    re.IGNORECASE | re.MULTILINE,
)
_COLON: Final = re.compile("[:：]")
_ARRIVED: Final = re.compile(
    r"\b(?:was|were|has been|have been)(?: successfully)? delivered to"
    r"[\s:<]{1,5}([^\s<>@]{1,64}@[^\s<>;,]{1,255})",
    re.IGNORECASE,
)
# Whom to write to, or who has it, now that an address is out of use.
_INSTEAD: Final = re.compile(
    r"(?:\b(?:was|were|has been|have been)(?: successfully)? (?:forwarded|redirected) to"
    r"|\bplease (?:use|try|contact|reach|write|mail|e-?mail|send|resend|forward|direct)"
    r"(?: (?:him|her|them|us|me|it|all|your|the|my|our|new|this|future|mails?|e-?mails?|messages?|requests?|address"
    r"|out|at|to|on|via|directly|instead)){0,6}"
    r"|\bnew (?:e-?mail )?address(?: is| for \w{1,20} is)?"
    r"|\b(?:verwenden|nutzen|benutzen|kontaktieren) sie(?: bitte| stattdessen| künftig| die adresse){0,3}"
    r"|\b(?:schreiben|wenden|senden|richten) sie (?:sich |diese |ihre (?:mails?|e-mails?|nachrichten?|anfragen?) )?"
    r"(?:bitte )?(?:direkt )?an|\bneue (?:e-?mail-?)?adresse(?: ist| lautet)?"
    r"|\b(?:merci d['’e] ?|veuillez |prière d['’e] ?)(?:écrire à|utiliser|contacter)|\bécrivez à|\butilisez|\bcontactez"
    r"|\bnouvelle adresse(?: est)?|\bescriba a|\butilice|\bcontacte(?: con)?|\bnueva dirección(?: es)?"
    r"|\bprega di (?:scrivere a|utilizzare|contattare)|\bscrivete a|\bnuovo indirizzo(?: è)?"
    r"|\bgebruik|\bschrijf naar|\bnieuwe? (?:e-?mail)?adres(?: is)?"
    r"|\bescreva para|\butilize|\bnovo endereço(?: é)?)"
    r"[\s:<\"'(]{1,5}[^\s<>@]{1,64}+@[^\s<>;,@\"')]{1,255}+"
    r"|(?<![^\s<\"'(])[^\s<>@]{1,64}+@[^\s<>;,@\"')]{1,255}+[>\"')]?"
    r" (?:instead|stattdessen|à la place|en su lugar|invece)\b",
    re.IGNORECASE,
)
_GAVE_UP: Final = 1
_TOLD_WHY: Final = 2
_REFUSED: Final = 3
_ADDRESS_FAULT: Final = 4


def read_qmail(text: str) -> DeliveryReport | None:
    """QSBMF: a paragraph for each recipient, up to the one that begins with a dash; then the message. Its first words
    are the operator's to change; in the same form come warnings that qmail goes on."""
    is_qmail = _QMAIL_START.match(text) is not None
    paragraphs = PARAGRAPHS.split(text.lstrip(), MAX_FATES + 2)
    opening = takewhile(lambda paragraph: not _QMAIL_ADDRESS.match(paragraph), paragraphs)
    if says_it_goes_on("\n".join(islice(opening, _OPENING_MAX))):
        return None
    fates: list[Fate] = []
    for number, paragraph in enumerate(paragraphs):
        if paragraph.startswith("-") and (is_qmail or _QMAIL_COPY.match(paragraph)):
            ids = ids_in_text("\n".join(paragraphs[number + 1 : number + 2]))
            return DeliveryReport(tuple(fates), ids) if is_qmail or fates else None
        named = _QMAIL_ADDRESS.match(paragraph)
        if named is not None and len(fates) < MAX_FATES:
            fates.append(failed_fate(addresses_in_values([named[1]]), paragraph[named.end() :]))
    return DeliveryReport(tuple(fates), ()) if is_qmail else None


def read_exim(failed: str, text: str) -> DeliveryReport:
    """The header `failed` names who failed; the text says why."""
    words, copy = text, ""
    marker = _EXIM_COPY.search(text)
    if marker is not None:
        words, copy = text[: marker.start()], text[marker.end() :]
    addresses = addresses_in_values(failed[:MAX_TEXT_CHARS].split(",")[:MAX_FATES])
    reasons = reasons_in(words, addresses)
    fates = [failed_fate([address], reasons[address]) for address in addresses]
    header = PARAGRAPHS.split(copy.lstrip(), 1)[0]
    told = with_steps(with_origins(fates, words), words)
    return DeliveryReport(tuple(told), ids_in_text(header))


def read_any_words(
    text: str, subject: str = "", *, is_by_system: bool, is_answer: bool = False
) -> DeliveryReport | None:
    """A report in any words: the recipients of whom a statement says that the address can't receive mail, or that the
    message did not reach it. A mail system is believed as well when it quotes a host that refused for good, or says
    anywhere that it gave up. Where those that name somebody give no reason, the only other one that does gives it.
    Where none names anybody, what a mail system says means the only recipient; a program that answers (`is_answer`)
    must also say that it gave up. None where nothing is said, or that it is tried again; where it is late, or not for
    now, only a host that refused for good is believed."""
    told = own_words(text)
    if says_it_goes_on(f"{subject}\n{told}"):
        return None
    whole = _WholeText.of(_kind(subject), told, is_by_system=is_by_system)
    arrived = _arrived(told)
    spared = {*arrived, *_to_write_to(told)}
    named: dict[str, _Blame] = {}
    unnamed: list[_Blame] = []
    for names, blame in _blames(text, whole):
        for name in names:
            if name not in spared:
                named[name] = max(named.get(name, blame), blame, key=_weight)
        if not names and not arrived and is_by_system and (blame.gave_up or not is_answer):
            unnamed.append(blame)
    fates = _blamed(_less_recipients(named, told), unnamed)[:MAX_FATES]
    return DeliveryReport(tuple(fates), (), is_worded=True) if fates else None


def _less_recipients(named: dict[str, _Blame], told: str) -> dict[str, _Blame]:
    """Less those of whom nothing is said but that the message went to them, where it is said why another failed."""
    if not any(blame.weight > _GAVE_UP for blame in named.values()):
        return named
    elsewhere = names_in(_TO_WHOM.sub("", told), most=REPORTER_CHARS)
    return {name: blame for name, blame in named.items() if blame.weight > _GAVE_UP or name in elsewhere}


def _kind(subject: str) -> str:
    """Of a subject what the reporter says: before the colon, where it begins by giving up, and ours follows."""
    return _COLON.split(subject, 1)[0] if begins_by_giving_up(subject) else subject


def _arrived(told: str) -> tuple[str, ...]:
    """Who has the message, whatever became of a copy."""
    return addresses_in_values([match[1].rstrip(".") for match in islice(_ARRIVED.finditer(told), NAMES_MAX)])


def _to_write_to(told: str) -> Set[str]:
    """Who is named for that alone."""
    if _INSTEAD.search(told) is None:
        return frozenset()
    return {*names_in(told, most=REPORTER_CHARS)}.difference(
        names_in(_INSTEAD.sub("", told), most=REPORTER_CHARS)
    )


def _blames(text: str, whole: _WholeText) -> Iterator[tuple[tuple[str, ...], _Blame]]:
    """Each statement's names, and what it says of them."""
    above = ""
    for names, words in statements(text):
        gave_up = whole.gives_up(words, above)
        above = "" if names else words
        if not whole.is_late or is_refusal(words):
            yield names, _Blame.of(words, is_by_system=whole.is_by_system, gave_up=gave_up)


def _blamed(found: dict[str, _Blame], told: Sequence[_Blame]) -> list[Fate]:
    """`told`: of nobody by name."""
    named = {name: blame for name, blame in found.items() if blame.weight}
    unnamed = [blame for blame in told if blame.weight]
    if not named:
        return [failed_fate([], max(unnamed, key=_weight).words)] if unnamed else []
    if all(blame.weight == _GAVE_UP for blame in named.values()):
        reason = _only_reason(unnamed)
        return [failed_fate([name], reason or blame.words) for name, blame in named.items()]
    return [failed_fate([name], blame.words) for name, blame in named.items()]


def _only_reason(unnamed: Sequence[_Blame]) -> str:
    """What says why; one that blames nobody (a full mailbox, a message too large) counts where no other does."""
    for least in (_REFUSED, _TOLD_WHY):
        reasons = [blame.words for blame in unnamed if blame.weight >= least]
        if reasons:
            return reasons[0] if len(reasons) == 1 else ""
    return ""


class _Blame(NamedTuple):
    """How much a statement says: nothing (0), that it failed, why, that a host refused, that the address is bad."""

    weight: int
    words: str
    gave_up: bool

    @classmethod
    def of(cls, words: str, *, is_by_system: bool, gave_up: bool) -> _Blame:
        if is_address_fault(words):
            weight = _ADDRESS_FAULT
        elif is_by_system and is_refusal(words):
            weight = _REFUSED
        elif gave_up:
            weight = _TOLD_WHY if says_something(words) else _GAVE_UP
        else:
            weight = 0
        return cls(weight, words, gave_up)


class _WholeText(NamedTuple):
    """What a text says as a whole. `is_late`: that it is tried again, or not for now. What else a mail system alone is
    believed: that it gave up, or that something failed, which counts where a statement gives a reason that lasts."""

    is_by_system: bool
    is_late: bool
    gave_up: bool
    has_failed: bool

    @classmethod
    def of(cls, kind: str, told: str, *, is_by_system: bool) -> _WholeText:
        text = f"{kind}\n{told}"
        # MDaemon warns that a user is unknown.
        is_late = says_it_may_go_on(text, "" if is_address_fault(kind) else kind)
        is_final = is_by_system and not is_late
        return cls(
            is_by_system,
            is_late,
            gave_up=is_final and says_it_gave_up(text),
            has_failed=is_final and says_it_failed(text),
        )

    def gives_up(self, words: str, above: str) -> bool:
        """`above`: the statement before these words, where it names nobody."""
        if self.gave_up or (self.has_failed and is_lasting_reason(words)):
            return True
        return not self.is_late and says_it_gave_up(f"{above} {words}")


def _weight(blame: _Blame) -> int:
    return blame.weight
