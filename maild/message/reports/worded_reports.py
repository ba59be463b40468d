"""Delivery reports that are texts for people: qmail's, Exim's with its header, and any other. Pure, tolerant, bounded.

A text is read as statements: paragraphs that name addresses, with what is said of them there or, where that is nothing,
in the paragraphs behind, up to a line of dashes. It ends where the message that came back begins, whose words are not
the reporter's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import islice, takewhile
from typing import Final, NamedTuple

from maild.message.fields.address import normalize
from maild.message.reports.bounce_words import WIDE_MARKS
from maild.message.reports.bounces import (
    is_address_fault,
    is_lasting_reason,
    is_refusal,
    own_status,
    says_something,
)
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

_STATEMENT_CHARS: Final = 4096
_PIECES_MAX: Final = 400
_REPORTER_CHARS: Final = 16 * 1024  # a reporter's own words; the event loop reads them
_NAMES_MAX: Final = 400
_FOOTERS_MAX: Final = 20
_OPENING_MAX: Final = 5  # paragraphs in which qmail says what it tells of
# Whom to write to for help, which is not who failed.
_ROLES: Final = (
    "postmaster",
    "mailer-daemon",
    "abuse",
    "support",
    "helpdesk",
    "hostmaster",
    "admin",
    "noc",
    "webmaster",
)

_PARAGRAPHS: Final = re.compile(r"\n[ \t]*+\n\s*+")
_QMAIL_START: Final = re.compile(r"\s*Hi\. This is ")
_QMAIL_ADDRESS: Final = re.compile(r"<([^<>\n]{1,998})>:[ \t]*\n?")
_QMAIL_COPY: Final = re.compile(
    r"---+ ?(?:Below|Original|Enclosed|Returned|Undelivered|Attached|Message|Header|Begin)"
)
_EXIM_COPY: Final = re.compile(r"^-{3,} This is a copy of (?:the|your) message[^\n]*+$", re.MULTILINE)
# Exim's, sendmail's and Postfix's words for an address that came of another one, by aliases or forwarding.
_CAME_OF: Final = re.compile(
    r"\((?:(?:ultimately )?generated|expanded) from:?[ \n]{1,40}<?([^\s()<>]{1,320})>?\)"
)
_NOT_TO_WHOM: Final = re.compile(
    r"^[ \t>*]*+(?:original[ -])?(?:from|sender(?:-mta)?|mail from|reply-to|return-path|subject|message-id|in-reply-to"
    r"|betreff|objet|asunto|oggetto|assunto|onderwerp|ämne|emne|temat|předmět|тема|件名|主题|主旨|제목"
    r"|发件人|寄件人|寄件者|差出人|보낸 ?사람)[ \t]*+[:：][^\n]*+$\n?",
    re.IGNORECASE | re.MULTILINE,
)
# Postfix's and Exim's words for a refusal before it was said for whom the mail is, or of the message to all of them.
_STEP: Final = re.compile(
    r"\b(?:in\s{1,10}reply\s{1,10}to|after(?:\s{1,10}pipelined)?)\s{1,10}"
    r"(?:(?P<sender>MAIL\s{1,10}FROM\b)|(?P<greeting>(?:EHLO|HELO|LHLO|initial\s{1,10}connection)\b)"
    r"|(?P<message>(?:end\s{1,10}of\s{1,10})?DATA\b))",
    re.IGNORECASE,
)
# sendmail's transcript: the command, and what the host replied. Behind DATA stand replies to RCPT too (RFC 2920).
_ANSWERED: Final = re.compile(
    r"^>>> (?:(?P<sender>MAIL FROM:)|(?P<greeting>(?:EHLO|HELO|LHLO) ))[^\n]*+\n<<< (?P<reply>5\d\d[ \-][^\n]*+)",
    re.IGNORECASE | re.MULTILINE,
)
_STEPS: Final = {
    "sender": "(in reply to MAIL FROM)",
    "greeting": "(in reply to EHLO)",
    "message": "(in reply to a message of several recipients)",
}
# Who sent it, in more words than a header has: the line says no more than the address.
_WHO_SENT: Final = re.compile(
    r"^[ \t>*]*+(?=[^\n:：@]{2,45}[:：])(?:original[ -])?(?:(?:envelope|message|mail|smtp)[ -])?"
    r"(?:(?:sender|from)(?:['’]s)?(?:[ -]e-?mail)?(?:[ -]?address)?|return[ -]path|von|de|da|van|från|fra|od|от"
    r"|absender(?:-?adresse)?|(?:adresse )?(?:de l['’])?exp[ée]diteur|(?:dirección )?(?:del? )?remitente"
    r"|(?:indirizzo )?(?:del )?mittente"
    r"|(?:endereço )?(?:do )?remetente|(?:adres )?(?:van )?(?:de )?afzender|avsändar(?:e|adress)"
    r"|a[fv]sender(?:adresse)?|(?:adres )?nadawc[ay]|(?:adresa )?odes[íi]latele?|(?:адрес )?отправител[ья]"
    r"|(?:送信者|発信者|差出人|发件人|寄件人|寄件者|보낸 ?사람)(?:の?(?:メール)?アドレス|地址| ?주소)?)"
    r"[ \t\xa0]*+[:：][^\n@]{0,200}+@[^\s@]{1,255}+(?:@[^\s@]{1,255}+)?[ \t]*+$\n?",
    re.IGNORECASE | re.MULTILINE,
)
# To whom the message went, as its header says it: all of them, of whom some failed.
_TO_WHOM: Final = re.compile(
    r"^[ \t>*]*+(?:(?:original[ -])?(?:to|cc)|an|kopie|à|para|aan|till?|do|komu|кому|宛先|收件人|받는 ?사람)"
    r"[ \t]*+[:：][^\n]*+$\n?",
    re.IGNORECASE | re.MULTILINE,
)
_COLON: Final = re.compile("[:：]")
# What sendmail says at last of whatever a delivery program, or a host, has refused (EX_UNAVAILABLE).
_SENDMAILS_END: Final = re.compile(
    r"^5\d\d (?:5\.\d\.\d )?(?:<[^<>\n]{1,320}>\.\.\. )?Service unavailable[ \t]*+$", re.MULTILINE
)
# sendmail's "----- The following addresses had permanent fatal errors -----": of all of them, and no reason.
_HEADING: Final = re.compile(r"^[ \t]*+-{3,}+ [^\n]{1,200} -{3,}[ \t]*+$\n?", re.MULTILINE)
_RULE: Final = re.compile(r"[ \t]*+[-=_*]{10,}+\s*+")
_RULED: Final = re.compile(r"[ \t]*+(?:[-=_*]{10,}+|_{5,}+|--)[ \t]*+(?:\n|\Z)")
# What lists and scanners put below: a paragraph behind such a line.
_FOOTER: Final = re.compile(
    r"^[ \t]*+(?:_{5,}+|--)[ \t]*+\n(?:[ \t]*+\n)*(?:[ \t]*+\S[^\n]*+(?:\n|\Z))+", re.MULTILINE
)
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
_ADDRESS: Final = re.compile(rf"[^\s<>()\[\]{{}}\"',;:=|{WIDE_MARKS}]{{1,200}}+")
_COPY: Final = re.compile(
    r"^(?:[ \t>*=_\-]*+(?:(?:begin(?:ning)? of |start of )?(?:the |your )?"
    r"(?:original|returned|unsent|undelivered|rejected|failed|bounced) (?:message|mail|e-mail)"
    r"(?: headers?| text)?(?: follows?| below| attached| is attached)?[ \t:.*=_\-]*+$"
    r"|(?:below (?:this line )?is a copy|this is a copy of|here is (?:a copy|the)"
    r"|(?:attached is |attachment is )?a copy of (?:the|your)"
    r"|message headers? follows?|message text follows?|the headers? (?:and|of)|header of the|text of (?:the|your)"
    r"|full headers|original headers|start of returned|included is a copy"
    r"|if your message was also sent to additional recipients"  # Courier's last words, whatever it tells of
    r"|the message you sent(?:[ \t:.*=_\-]*+$| (?:follows|is attached|was as follows))))"
    r"|(?:Received|Return-Path|DKIM-Signature|MIME-Version|Message-ID|X-[A-Za-z\-]{1,40}):"
    r"|>(?!>>|[ \t]?[^\s@]{1,64}@[^\s@]{1,255}$))",
    re.MULTILINE | re.IGNORECASE,
)


class _Statement(NamedTuple):
    """`names`: the comparison keys of the addresses that it is about; none where it names nobody."""

    names: tuple[str, ...]
    words: str


def read_qmail(text: str) -> DeliveryReport | None:
    """QSBMF: a paragraph for each recipient, up to the one that begins with a dash; then the message. Its first words
    are the operator's to change; in the same form come warnings that qmail goes on."""
    is_qmail = _QMAIL_START.match(text) is not None
    paragraphs = _PARAGRAPHS.split(text.lstrip(), MAX_FATES + 2)
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
    header = _PARAGRAPHS.split(copy.lstrip(), 1)[0]
    told = with_steps(with_origins(fates, words), words)
    return DeliveryReport(tuple(told), ids_in_text(header))


def with_origins(fates: Sequence[Fate], text: str) -> list[Fate]:
    """Who failed has also the name that we wrote to, where a text says that the one came of the other."""
    failed = [fate.addresses[0] for fate in fates if fate.action == "failed" and fate.addresses]
    origins = _origins(text, failed) if failed and _CAME_OF.search(text) else {}
    if len(failed) == len(origins) == 1 and not origins.keys() & set(failed):
        origins = dict(zip(failed, origins.values(), strict=True))  # an undisclosed address
    return [_with_origin(fate, origins) for fate in fates]


def with_steps(fates: Sequence[Fate], text: str) -> list[Fate]:
    """A diagnostic is what the host replied; to which command, a text may say alone."""
    failed = {fate.addresses[0]: fate for fate in fates if fate.action == "failed" and fate.addresses}
    steps: dict[str, str] = {}
    if failed and _STEP.search(text):
        for names, words in _statements(text, [*failed]):
            step = _STEP.search(words)
            steps.update(dict.fromkeys(names, step.lastgroup or "") if step else {})
    answers = islice(_ANSWERED.finditer(text[:_REPORTER_CHARS]), _NAMES_MAX)
    answered = {match["reply"].strip(): "sender" if match["sender"] else "greeting" for match in answers}
    steps.update(
        {name: answered[fate.diagnostic] for name, fate in failed.items() if fate.diagnostic in answered}
    )
    is_for_all = sum(steps.get(name) == "message" for name in failed) > 1
    return [_with_step(fate, steps, is_for_all=is_for_all) for fate in fates]


def _with_step(fate: Fate, steps: Mapping[str, str], *, is_for_all: bool) -> Fate:
    name = fate.addresses[0] if fate.action == "failed" and fate.addresses else ""
    step = steps.get(name, "")
    if step == "message":
        is_told = not is_for_all or name in fate.diagnostic.lower()
    else:
        is_told = not step or _STEP.search(fate.diagnostic) is not None
    return fate if is_told else replace(fate, diagnostic=f"{fate.diagnostic} {_STEPS[step]}".strip())


def _origins(text: str, failed: Sequence[str]) -> dict[str, str]:
    """By the first name of the statement that tells them."""
    found: dict[str, str] = {}
    for names, words in _statements(text, failed):
        origin = addresses_in_values(_CAME_OF.findall(words)[:1])
        if names and origin:
            found.setdefault(names[0], origin[0])
    return found


def _with_origin(fate: Fate, origins: Mapping[str, str]) -> Fate:
    origin = origins.get(fate.addresses[0]) if fate.action == "failed" and fate.addresses else None
    return replace(fate, addresses=tuple(dict.fromkeys([*fate.addresses, origin]))) if origin else fate


def reasons_in(
    text: str, addresses: Sequence[str], *, by_name: bool = False, are_told: bool = False
) -> dict[str, str]:
    """What a text says of each of these comparison keys: the first statement that says something, less the name at its
    beginning; "" where there is none. Of the only one it may speak by another address, which it is forwarded to, unless
    it must be `by_name`. `are_told`: a status says it already, and what stands below the names behind a line of dashes
    is of nobody."""
    wanted = dict.fromkeys(addresses, "")
    telling: set[str] = set()
    spoken = ""
    for statement in _statements(text, addresses, are_told=are_told):
        words = _HEADING.sub("", statement.words)
        is_telling = says_something(words)
        if not spoken and is_telling:
            spoken = words
        names = [name for name in statement.names if name in wanted and name not in telling]
        if names and is_telling:
            telling.update(names)
            wanted.update(dict.fromkeys(names, _without_name(words)))
        else:
            wanted.update({name: wanted[name] or _without_name(words) for name in names})
    if spoken and len(wanted) == 1 and not telling and not by_name:
        return dict.fromkeys(addresses, spoken)
    return wanted


def _without_name(words: str) -> str:
    first, _, rest = words.strip().partition("\n")
    return rest if len(first.split()) == 1 and "@" in first else words


def read_any_words(
    text: str, subject: str = "", *, is_by_system: bool, is_answer: bool = False
) -> DeliveryReport | None:
    """A report in any words: the recipients of whom a statement says that the address can't receive mail, or that the
    message did not reach it. A mail system is believed as well when it quotes a host that refused for good, or says
    anywhere that it gave up. Where those that name somebody give no reason, the only other one that does gives it.
    Where none names anybody, what a mail system says means the only recipient; a program that answers (`is_answer`)
    must also say that it gave up. None where nothing is said, or that it is tried again; where it is late, or not for
    now, only a host that refused for good is believed."""
    told = _own_words(text)
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
    elsewhere = _names(_TO_WHOM.sub("", told), most=_REPORTER_CHARS)
    return {name: blame for name, blame in named.items() if blame.weight > _GAVE_UP or name in elsewhere}


def _kind(subject: str) -> str:
    """Of a subject what the reporter says: before the colon, where it begins by giving up, and ours follows."""
    return _COLON.split(subject, 1)[0] if begins_by_giving_up(subject) else subject


def _arrived(told: str) -> tuple[str, ...]:
    """Who has the message, whatever became of a copy."""
    return addresses_in_values(
        [match[1].rstrip(".") for match in islice(_ARRIVED.finditer(told), _NAMES_MAX)]
    )


def _to_write_to(told: str) -> Set[str]:
    """Who is named for that alone."""
    if _INSTEAD.search(told) is None:
        return frozenset()
    return {*_names(told, most=_REPORTER_CHARS)}.difference(
        _names(_INSTEAD.sub("", told), most=_REPORTER_CHARS)
    )


def _blames(text: str, whole: _WholeText) -> Iterator[tuple[tuple[str, ...], _Blame]]:
    """Each statement's names, and what it says of them."""
    above = ""
    for names, words in _statements(text):
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


_GAVE_UP: Final = 1
_TOLD_WHY: Final = 2
_REFUSED: Final = 3
_ADDRESS_FAULT: Final = 4


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


def _statements(text: str, wanted: Sequence[str] = (), *, are_told: bool = False) -> Iterator[_Statement]:
    """`wanted`: addresses that are no helper's here, whatever their names. `are_told`: as `reasons_in` has it."""
    names: tuple[str, ...] = ()
    words = ""
    for piece in islice(_pieces(text), _PIECES_MAX):
        found = _names(piece, wanted)
        if found and names and not says_something(words) and _is_reply_of_others(piece, found, names):
            found = ()
        if are_told and names and _RULED.match(piece):
            break
        is_rule = _RULE.fullmatch(piece) is not None
        ends = is_rule and len(words.split()) > len(names)
        if not found and names and not ends and not says_something(words):
            words = words if is_rule else f"{words}\n{piece}"[:_STATEMENT_CHARS]
            continue
        if words:
            yield _Statement(names, _without_end(words))
        names, words = found, "" if ends else piece[:_STATEMENT_CHARS]
    if words:
        yield _Statement(names, _without_end(words))


def _is_reply_of_others(piece: str, found: tuple[str, ...], names: tuple[str, ...]) -> bool:
    """Is it a host's refusal, which names somebody to write to, and blames no address?"""
    return (
        set(found).isdisjoint(names) and is_refusal(piece[: piece.index("@")]) and not is_address_fault(piece)
    )


def _without_end(words: str) -> str:
    """Less what sendmail says at last, where it is not all that is said."""
    rest = _SENDMAILS_END.sub("", words)
    return rest if rest != words and says_something(rest) else words


def _pieces(text: str) -> Iterator[str]:
    """The paragraphs before the message that came back; a line that begins with an address begins another, unless
    nothing but addresses came before."""
    for paragraph in _PARAGRAPHS.split(_own_words(text), _PIECES_MAX):
        piece: list[str] = []
        has_words = False
        for line in paragraph.split("\n"):
            if has_words and _begins_with_address(line):
                yield "\n".join(piece)
                piece, has_words = [], False
            piece.append(line)
            has_words = has_words or not _is_address(line)
        yield "\n".join(piece)


def _own_words(text: str) -> str:
    """What stands before the message that came back, less lines of who sent it, and about what, and what lists and
    scanners say."""
    told = _NOT_TO_WHOM.sub("", _WHO_SENT.sub("", _without_copy(text)))
    return _FOOTER.sub(_with_reason, told, _FOOTERS_MAX)


def _with_reason(footer: re.Match[str]) -> str:
    """Some put a host's reply behind such a line, or what is wrong with an address; below one that stands alone, it
    may follow."""
    is_named = any(map(_is_address, footer[0].split("\n")))
    words = footer.string[footer.start() :] if is_named else footer[0]
    return footer[0] if own_status(words) or is_refusal(words) or is_address_fault(words) else ""


def _without_copy(text: str) -> str:
    """What stands before the message that came back."""
    told = text[:_REPORTER_CHARS]
    copy = _COPY.search(told)
    return told[: copy.start()] if copy else told


def _begins_with_address(line: str) -> bool:
    return _is_address(line.split(maxsplit=1)[0]) if line[:400].strip() else False


def _is_address(words: str) -> bool:
    words = words.strip()
    return "@" in words and " " not in words


def _names(piece: str, wanted: Sequence[str] = (), *, most: int = _STATEMENT_CHARS) -> tuple[str, ...]:
    """The comparison keys of the addresses in a piece, but those of people who help, and of who sent it."""
    found: dict[str, None] = {}
    for match in islice(_ADDRESS.finditer(piece[:most]), _NAMES_MAX):
        word = match[0].rstrip(".")
        if "@" in word[1:-1] and word.count("@") == 1:
            key = normalize(word)
            if key in wanted or not word.lower().startswith(_ROLES):
                found[key] = None
    return tuple(found)
