"""Threading fields of a reply, and the subject that threads compare.

RFC 5322 §3.6.4 for References; RFC 5256 §2.1 inspires the base subject.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

LOOK_FOR = 20
SUBJECT_CHARS = 500  # docs/contract.md, section 8
MAX_REFERENCES = 30  # about 2 KiB folded: some servers drop fields over 4 KiB

_MSG_ID = re.compile(r"<[^<>\s]{1,995}>")

# Reply and forward words that clients write before a colon, in the languages that do.
_REPLY_WORDS = (
    "re|r|aw|antw|antwort|sv|vs|vá|odp|odg|ynt|res|ref|rép|rif|bls|atb|tl|απ|σχετ|отв|ответ|השב|رد"
    "|回复|回覆|答复|返信|답장|odp\\.|risposta|одг|ats|پاسخ|jawab"
)
_FORWARD_WORDS = (
    "fwd|fw|wg|tr|trs|rv|enc|doorst|vl|vb|i|pd|fs|ilt|továbbítás|πρθ|пересл|הועבר|إعادة توجيه"
    "|转发|轉寄|転送|전달|videresend|redir\\.|přep\\.|välitä|προώθ|yön|reenc\\."
)
# Danes and Norwegians forward with the word that Finns answer with; the fields that are copied below tell them apart.
_FORWARD_OR_REPLY = re.compile(r"\s*+vs\s*+:", re.IGNORECASE)
_DANISH_FIELD = re.compile(r"^\*?Fra:", re.MULTILINE)
_COUNTED = r"\s*+(?:\[\d{1,4}\]|\(\d{1,4}\)|\^\d{1,4}|\*\d{1,4})?\s*+[:\uff1a]\s*+"
_PREFIX = re.compile(
    rf"\s*+(?:(?P<reply>{_REPLY_WORDS})|{_FORWARD_WORDS}){_COUNTED}",
    re.IGNORECASE,
)
# What gateways write before the subjects of mail from outside, and of what may be spam.
_OUTSIDE = r"ext(?:ern(?:al|e|o)?)?(?:[ -](?:e-?mail|sender|message))?"
_FILTERED = r"(?:(?:possibl[ey]|probabl[ey]|suspected|likely|definitely) )?spam\??|disarmed"
_STARRED = rf"\*{{1,5}}\s?(?:{_OUTSIDE}|{_FILTERED})\s?\*{{1,5}}"
_WORD = rf"\s?(?:{_OUTSIDE}|{_FILTERED}|{_STARRED})\s?"
_GATEWAY_TAG = re.compile(rf"\s*+(?:\[{_WORD}\]|\({_WORD}\)|\{{{_WORD}\}}|{_STARRED})", re.IGNORECASE)
# Gateways and lists put their own words in brackets before the client's (RFC 5256 §2.1, subj-blob).
_TAG = re.compile(rf"\s*+\[[^\[\]]{{1,80}}+\]|{_GATEWAY_TAG.pattern}", re.IGNORECASE)
_LEADING = re.compile(
    rf"\s*+(?:(?P<reply>{_REPLY_WORDS})|{_FORWARD_WORDS}|{_OUTSIDE}){_COUNTED}",
    re.IGNORECASE,
)


def reply_references(
    parent_message_id: str | None,
    parent_references: Sequence[str],
    cap: int = MAX_REFERENCES,
) -> tuple[str, ...]:
    """The References of a reply: those of the parent, then the parent itself.

    Over `cap` ids the first and the newest stay. A parent without References but with one In-Reply-To id: pass that as
    `parent_references` (RFC 5322 §3.6.4). Ids that are not `<…>` are left out, repeated ones keep their last place.
    """
    chain = list(parent_references)
    if parent_message_id is not None:
        chain.append(parent_message_id)
    newest_first = dict.fromkeys(ref for ref in reversed(chain) if _MSG_ID.fullmatch(ref))
    return root_and_newest(tuple(reversed(newest_first)), cap)


def root_and_newest(ids: Sequence[str], cap: int) -> tuple[str, ...]:
    """The ids of References; over `cap` of them the first, which names the thread, and the newest."""
    if len(ids) <= cap:
        return tuple(ids)
    if cap < 2:
        return tuple(ids[-cap:]) if cap > 0 else ()
    return (ids[0], *ids[1 - cap :])


def named_messages(answered: Sequence[str], references: Sequence[str]) -> list[str]:
    """The Message-IDs by which a message may name its conversation, the likeliest first, LOOK_FOR at most. The first of
    References, which clients keep where they shorten it, is among them. `answered`: the ids of In-Reply-To."""
    ids = list(dict.fromkeys([*answered, *reversed(references)]))
    return list(dict.fromkeys([*ids[: LOOK_FOR - 1], *references[:1], *ids]))[:LOOK_FOR]


def base_subject(subject: str) -> tuple[str, bool]:
    """(comparison key, whether a reply prefix was taken off).

    The key has no reply or forward prefixes, single blanks, and folded case. The names of lists and numbers of tickets
    in brackets before a prefix belong to it; that a gateway says `[EXTERNAL]` or `{Spam?}` does not.
    """
    is_reply = False
    position = 0
    key: dict[str, None] = {}  # a name that is said anew behind a prefix is the same
    while True:
        behind = _behind_tags(subject, position)
        found = _LEADING.match(subject, behind)
        end = found.end() if found else behind
        if end == position:
            break
        key[" ".join(_GATEWAY_TAG.sub("", subject[position:behind]).split()).casefold()] = None
        is_reply = is_reply or (found is not None and found["reply"] is not None)
        position = end
    return " ".join(" ".join([*key, subject[position:]]).split()).casefold(), is_reply


def _behind_tags(subject: str, position: int) -> int:
    while (tag := _TAG.match(subject, position)) is not None:
        position = tag.end()
    return position


def reply_subject(subject: str) -> str:
    """The subject of an answer: `Re: ` before it, unless it begins with a reply prefix of any language."""
    found = _PREFIX.match(subject)
    if found is not None and found["reply"] is not None:
        return subject[:SUBJECT_CHARS]
    return f"Re: {subject}".strip()[:SUBJECT_CHARS]


def forward_subject(subject: str) -> str:
    """The same of what is passed on: `Fwd: `."""
    return (subject if is_forward(subject) else f"Fwd: {subject}".strip())[:SUBJECT_CHARS]


def is_forward(subject: str, text: str = "") -> bool:
    """Does the subject begin with a forward prefix (`Fwd:`, `WG:` …)? `text`: what the message says."""
    start = _behind_tags(subject, 0)
    found = _PREFIX.match(subject, start)
    if found is None or found["reply"] is None:
        return found is not None
    return bool(_FORWARD_OR_REPLY.match(subject, start) and _DANISH_FIELD.search(text))
