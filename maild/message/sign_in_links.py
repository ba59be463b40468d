"""The link that a mail asks its reader to open to verify, confirm or sign in. It is read, never fetched.

Only an https link to a host that the caller trusts counts, and never one whose text shows another host. What leads
away (unsubscribe, settings, help) is none, however long its token is. Pure, linear, bounded; offsets are code points.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from maild.message.codes import CANDIDATES_TOLD, TEXT_CHARS, FoundValue

LINKS_MAX: Final = 100
URL_CHARS_MAX: Final = 2000
_SHOWN_BEFORE: Final = 120
_BRACKETS_MAX: Final = 8
_HTTPS_PORTS: Final = (None, 443)

_LINK = re.compile(r"""https://[^\s<>"'`|\\^{}]+""", re.IGNORECASE)
_HOST_SHOWN = re.compile(r"(?<![\w@.-])(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?![\w-])", re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z0-9_~+%-]{20,}")
_ASKS: Final = re.compile(
    "verif|verifiz|vérif|weryfik|confirm|bestätig|bestaetig|confirmar|conferma|bevestig|potwierd|bekräfta|onayla"
    "|activat|activer|activar|ativar|attiva|aktivier|activeer|aktywuj|aktivera|etkinleştir|doğrula|sign[ _-]?in|signin"
    "|log[ _-]?in|anmeld|einlogg|connexion|connecter|iniciar|entrar|accedi|inloggen|aanmelden|zaloguj|logga in|giriş"
    "|magic|passwordless|one-?time|otp|подтвер|активир|войти|вход|підтвер|активу|увійти|認証|確認|ログイン|有効化|验证|驗證|确认|確認|激活|登录|登錄"
    "|auth|invite|accept|reset",
    re.IGNORECASE,
)
_LEADS_AWAY = re.compile(
    "unsubscri|opt-?out|abmeld|abbestell|désabonn|desabonn|desinscri|désinscri|cancelar (?:la )?suscri|baja|disiscri"
    "|cancellati|uitschrijv|afmeld|wypisz|rezygn|avregistr|avanmäl|abonelik|отпис|відпис|配信停止|退订|退訂|preferenc"
    "|settings|einstellung|privacy|datenschutz|terms|impressum|help|support|faq|report|not you|wasn't you|deny|reject"
    "|browser|download|app store|play\\.google",
    re.IGNORECASE,
)
_CLOSERS: Final = ".,;:!?'\u2019\u201d\u00bb*_~\u3002\uff0c\uff09"


class _Link(NamedTuple):
    url: str
    start: int
    asks: bool


def find_link(words: str, is_trusted: Callable[[str], bool]) -> FoundValue | None:
    """The link of a mail with these (new) words; None without one. `is_trusted`: asked for a host in lower case."""
    links = list(_links(words[:TEXT_CHARS], is_trusted))
    meant = [one for one in links if one.asks] or links
    urls = list(dict.fromkeys(one.url for one in meant))
    if not urls:
        return None
    if len(urls) > 1:
        return FoundValue("ambiguous", None, None, None, 0, 0, urls[:CANDIDATES_TOLD])
    start = meant[0].start
    return FoundValue(
        "labelled" if meant[0].asks else "unlabelled", urls[0], urls[0], "text", start, start + len(urls[0])
    )


def _links(words: str, is_trusted: Callable[[str], bool]) -> Iterator[_Link]:
    for match in islice(_LINK.finditer(words), LINKS_MAX):
        url = _without_closers(match[0][: 2 * URL_CHARS_MAX])
        host = _host(url)
        if host is None or not is_trusted(host):
            continue
        shown = _shown(words, match.start())
        target = url[len("https://") + len(host) :]
        if _LEADS_AWAY.search(shown) or _LEADS_AWAY.search(target) or _shows_another(shown, host):
            continue
        asks = bool(_ASKS.search(shown) or _ASKS.search(target))
        if asks or _TOKEN.search(target):
            yield _Link(url, match.start(), asks)


def _without_closers(url: str) -> str:
    """The URL without what the sentence around it closes (RFC 3986, appendix C)."""
    url = url.rstrip(_CLOSERS)
    for _ in range(_BRACKETS_MAX):
        if not url.endswith((")", "]")) or url.count(url[-1]) <= url.count("(" if url[-1] == ")" else "["):
            break
        url = url[:-1].rstrip(_CLOSERS)
    return url


def _host(url: str) -> str | None:
    """The host that a client would ask; None of a URL that is not plainly one."""
    if len(url) > URL_CHARS_MAX or not url.isascii():
        return None
    try:
        parts = urlsplit(url)
        if parts.username is not None or parts.password is not None or parts.port not in _HTTPS_PORTS:
            return None
    except ValueError:
        return None
    return parts.hostname or None


def _shown(words: str, start: int) -> str:
    """What stands before the link as its text: on its line, or on the line above where it stands alone."""
    before = words[max(0, start - _SHOWN_BEFORE) : start].rstrip(" \t(<[")
    line = before.rpartition("\n")[2].strip()
    return line or before.rstrip().rpartition("\n")[2].strip()


def _shows_another(shown: str, host: str) -> bool:
    """Does the link's text name a host that is neither its own nor a parent of it?"""
    return any(
        host != named and not host.endswith("." + named)
        for named in (found[0].lower().removeprefix("www.") for found in _HOST_SHOWN.finditer(shown))
    )
