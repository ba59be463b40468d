"""The link that a mail asks its reader to open to verify, confirm or sign in. It is read, never fetched.

Only an https link to a host that the caller trusts counts, and never one whose text shows another host. What leads
away (unsubscribe, settings, help) is none, however long its token is, nor is a page that is everybody's (`/login`).
A link that carries a token and does not say for what counts only where the mail points at it ("this link") and is about
signing in, or where it is soon over. Of a text with more than LINKS_MAX links nothing is said.

Pure, linear, bounded; offsets are code points.
"""

import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from maild.message.fields.address import is_within
from maild.message.sign_in.code_settings import speaks_of_haste, speaks_of_signing_in
from maild.message.sign_in.codes import CANDIDATES_TOLD, TEXT_CHARS, Confidence, FoundValue

LINKS_MAX: Final = 50
URL_CHARS_MAX: Final = 2000
_SHOWN_BEFORE: Final = 120
_TARGET_CHARS: Final = 256  # a path says what it is for at its start; what follows is token
_BRACKETS_MAX: Final = 8
_HTTPS_PORTS: Final = (None, 443)

_LINK = re.compile(  # of Markdown's "[https://a.example/1](https://a.example/1)" each
    r"""https://(?:(?!\]\()[^\s<>"'`|\\^{}])+(?P<cut>[\\^{}`|])?""", re.IGNORECASE
)
_WIDE_CLOSERS = re.compile("[，。、；：！？）】」』》〉”]")
_HOST = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*")
_HOST_SHOWN = re.compile(
    r"(?<![\w@.-])(?:[a-z0-9-]{1,63}\.){1,8}(?!(?:js|html?|pdf|txt)\b)[a-z]{2,24}(?![\w-])", re.IGNORECASE
)
_TOKEN = re.compile(r"[A-Za-z0-9_~+%-]{20,}")
_EVERYBODYS = re.compile(  # "/login", "/account/security#keys": words alone, of nobody's own
    r"(?:/?[A-Za-z_-]*|(?:/[A-Z]?[a-z_-]{0,24}){2,8})(?:\.[A-Za-z]+)?/?(?:#(?:[\w-]{0,19}|[a-z-]{0,60}))?"
)
_FILE = re.compile(r"\.(?:gif|png|jpe?g|webp|svg|ico|css|js|ics|pdf)(?:[?#]|$)", re.IGNORECASE)
_SEPARATOR = re.compile(r"[|•·]|[(<]https?://\S*")
_SENTENCE_END = re.compile(r"[.!?]\s+|[。！？]")
_ASKS: Final = re.compile(
    "verif|vérif|weryfik|confirm|bestätig|bestaetig|conferma|bevestig|potwierd|bekräfta|onayla|doğrula|подтвер|підтвер"
    "|認証|確認|验证|驗證|确认|確認"
    "|activat|activer|activar|activa |ativar|ative |attiva|aktivier|activeer|aktywuj|aktivera|etkinleştir"
    "|активир|активу"
    "|有効化|激活"
    "|sign[ _-]?in|log[ _-]?in|anmeld|einlogg|connexion|connecter|iniciar|entrar|accedi|inloggen|aanmelden|zaloguj"
    "|logga in|giriş|войти|вход|вхід|увійти|ログイン|登录|登錄|登入"
    r"|magic|passwordless|one-?time|(?<![a-z])otp(?![a-z])|(?<![a-z])o?auth(?![a-z])|authenticat|authori[sz]e"
    r"|invite|accept"
    "|ověř|potvr|přihl|vahvist|kirjaudu|bekræft|bekreft|log ind|logg inn|megerősít|erősíts|bejelentkez|aktivál|인증"
    "|로그인|xác minh|xác nhận|đăng nhập|kích hoạt|verifikasi|konfirmasi"
    "|تحقق|تأكيد|تسجيل الدخول|تفعيل|אימות|לאמת|התחבר|אישור|تأیید"
    r"|unlock_token|/unlock|unlock (?:your |my )?account|reset|(?:create|set|new|forgot)[ _-]?password"
    r"|set[ _-]?up (?:an? |your |my )?(?:\w{1,20} )?account"
    r"|join (?:the |your )(?:[\w-]{1,20} ){0,3}(?:team|organi[sz]ation|workspace)",
    re.IGNORECASE,
)
# In what the link says, or in where it goes.
_LEADS_AWAY = re.compile(
    "unsubscri|opt-?out|abmeld|abbestell|désabonn|desabonn|desinscri|désinscri|désinscription|cancelar (?:la "
    "|a )?(?:suscri|inscri)"
    r"|darse de baja|\bbaja\b|disiscri|cancellati|uitschrijv|afmeld|wypisz|rezygn|avregistr|avanmäl|abonelik"
    r"|отпис|відпис"
    "|odhlás|leiratkoz|수신 ?거부|hủy đăng ký|berhenti berlangganan|إلغاء الاشتراك|הסר|לא לקבל|لغو اشتراک|lopeta tila"
    "|objedn|tilau|rendelés|pesanan|đơn hàng|주문|سفارش|ordre\\b"
    "|配信停止|退订|退訂|preferenc|settings|einstellung|privacy|datenschutz|terms|impressum|help|support|faq"
    "|report|deny|reject"
    "|view (?:it |this [a-z]{1,10} |online )?in (?:your |a |the )?browser|im browser (?:ansehen|anzeigen|öffnen)"
    r"|appointment|attendance|rsvp|booking|reservation|webinar|survey|invoice|download|app store|play\.google"
    r"|/(?:blog|news|articles?|posts?|stories|events?|learn|docs|guides?)/"
    r"|(?<!in )\border(?! to\b)|bestellung|commande|pedido|\bordine|zamówieni|beställning|sipariş|заказ"
    r"|замовленн|注文|订单"
    "|訂單|track",
    re.IGNORECASE,
)
# What points at a link and says no more of it.
_POINTS = re.compile(
    "(?:this|following|the) link|click|\\btap\\b|button|klick|diesen link|folgenden link|cliqu|ce lien"
    "|lien suivant|enlace"
    "|link abaixo|clicca|questo link|klik|deze link|kliknij|länken|tıkla|bağlantı|ссылк|посилан|リンク|url|链接"
    "|連結|鏈接|linket|knappen|odkaz|tlačítk|linkki|painik|kattint|gomb|링크|버튼|클릭|liên kết|nút|nhấp|tautan|tombol"
    "|الرابط|الزر|انقر|קישור|לחצ|לחץ|לחיצה|لینک|پیوند|کلیک|nuorod",
    re.IGNORECASE,
)
# In what stands before it on its line: what follows is for whoever did not ask.
_DISOWNS = re.compile(
    "not you|wasn['\u2019]t you|didn['\u2019]t (?:ask|request|sign|try)|did not (?:ask|request|sign|try)"
    "|nicht (?:sie|du)\\b"
    "|n['\u2019]êtes pas|no (?:has|fuiste|fue|eres)|não foi você|non sei stato|niet jij|niet u\\b|nie ty\\b"
    "|inte du|siz değil"
    "|не вы\\b|не ви\\b|心当たり|非本人|不是您",
    re.IGNORECASE,
)
# "Ignore this if you did not ask for it": that sentence is whole, and says nothing of what follows it.
_IGNORES = re.compile(
    "ignor|disregard|no (?:further )?action|unbeachtet|negeer|negeren|zignor|игнор|ігнор|bortse|無視|忽略",
    re.IGNORECASE,
)
_CLOSERS: Final = ".,;:!?'\u2019\u201d\u00bb*_~\u3002\uff0c\uff09"


class _Link(NamedTuple):
    url: str
    start: int
    asks: bool
    is_pointed_at: bool


def find_link(words: str, is_trusted: Callable[[str], bool]) -> FoundValue | None:
    """The link of a mail with these (new) words; None without one. `is_trusted`: asked for a host in lower case."""
    text = words[:TEXT_CHARS]
    matches = list(islice(_LINK.finditer(text), LINKS_MAX + 1))
    if len(matches) > LINKS_MAX:
        return None
    links = [link for match in matches if (link := _link(text, match, is_trusted)) is not None]
    asking = [one for one in links if one.asks]
    if asking:
        return _only(asking, "labelled")
    if not speaks_of_haste(text):
        links = [one for one in links if one.is_pointed_at] if speaks_of_signing_in(text) else []
    if links:
        return _only(links, "unlabelled")
    return None


def _only(links: Sequence[_Link], confidence: Confidence) -> FoundValue:
    urls = list(dict.fromkeys(one.url for one in links))
    if len(urls) > 1:
        return FoundValue("ambiguous", None, None, None, 0, 0, urls[:CANDIDATES_TOLD])
    url, start = urls[0], links[0].start
    return FoundValue(confidence, url, url, "text", start, start + len(url))


def _link(text: str, match: re.Match[str], is_trusted: Callable[[str], bool]) -> _Link | None:
    """The link that stands here, if it may be meant: to a trusted host, for one reader, and not leading away."""
    url = None if match["cut"] else _without_closers(match[0][: 2 * URL_CHARS_MAX])
    host = None if url is None else _host(url)
    if url is None or host is None or not is_trusted(host):
        return None
    target = url[len("https://") + len(host) :][:_TARGET_CHARS]
    if _EVERYBODYS.fullmatch(target) or _FILE.search(target.partition("?")[0]) or _LEADS_AWAY.search(target):
        return None
    shown = _shown(text, match.start())
    sentences = _SENTENCE_END.split(shown.rstrip(".!?。！？ "))
    says = sentences[-1]
    if (
        _disowns(sentences)
        or _DISOWNS.search(_announced(text, match.start()))
        or _LEADS_AWAY.search(says)
        or _shows_another(shown, host)
    ):
        return None
    asks = bool(_ASKS.search(says) or _ASKS.search(target))
    if not asks and not _TOKEN.search(target):
        return None
    return _Link(url, match.start(), asks, bool(_POINTS.search(says)))


def _without_closers(url: str) -> str:
    """The URL without what the sentence around it closes (RFC 3986, appendix C)."""
    authority_end = len("https://") + len(re.split("[/?#]", url[len("https://") :], maxsplit=1)[0])
    wide = _WIDE_CLOSERS.search(url, authority_end)  # in a host they are dots to some clients (RFC 3490 §3.1)
    url = (url[: wide.start()] if wide else url).rstrip(_CLOSERS)
    for _ in range(_BRACKETS_MAX):
        if not url.endswith((")", "]")) or url.count(url[-1]) <= url.count("(" if url[-1] == ")" else "["):
            break
        url = url[:-1].rstrip(_CLOSERS)
    return url


def _host(url: str) -> str | None:
    """The host that a client would ask; None of a URL that is not plainly one."""
    if len(url) > URL_CHARS_MAX or not url.isascii() or not url.isprintable():
        return None
    try:
        parts = urlsplit(url)
        if parts.username is not None or parts.password is not None or parts.port not in _HTTPS_PORTS:
            return None
    except ValueError:
        return None
    return parts.hostname if parts.hostname and _HOST.fullmatch(parts.hostname) else None


def _shown(text: str, start: int) -> str:
    """What stands before the link as its text, behind other links: on its line, or on the line above it."""
    before = text[max(0, start - _SHOWN_BEFORE) : start].rstrip(' \t\r\n(<["')
    return _SEPARATOR.split(before.rpartition("\n")[2])[-1].strip(" )>]")


def _announced(text: str, start: int) -> str:
    """The sentence on the line above a link's which says with a colon that the link comes now; or nothing."""
    lines = text[max(0, start - 2 * _SHOWN_BEFORE) : start].rstrip().split("\n")
    above = next((line.rstrip() for line in reversed(lines[:-1]) if line.strip()), "")
    return _SENTENCE_END.split(above)[-1] if above.endswith((":", "：")) else ""


def _disowns(sentences: Sequence[str]) -> bool:
    """Do the sentences before a link, the last of which leads to it, say that it is for whoever did not ask?"""
    before = (one for one in sentences[:-1] if not _IGNORES.search(one))
    return any(_DISOWNS.search(one) for one in (*before, sentences[-1]))


def _shows_another(shown: str, host: str) -> bool:
    """Does the link's text name a host that is neither its own nor a parent of it?"""
    return any(
        not is_within(host, named)
        for named in (found[0].lower().removeprefix("www.") for found in _HOST_SHOWN.finditer(shown))
    )
