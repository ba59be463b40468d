"""What stands below the author's words though nobody wrote it: a device's line, a list's footer, a rule.

"Sent from my iPhone" is a device's line, "Sent from my bank account" is an answer: a line goes only if it names a
device or a program and does not go on as a sentence does.
"""

from __future__ import annotations

import re
from typing import Final

from maild.message.quotes.copied_headers import is_rule

GROUPS_IO_MARK: Final = "_._,_._,_"  # around what groups.io adds to HTML

_LINE_CHARS: Final = 300
_DEVICE_LINE_CHARS: Final = 120
_FOOTER_LINES: Final = 10
_MARKED_LINES: Final = 20
_OUTLOOK_WORDS: Final = 7
_WRAPPED_WORDS: Final = 3
_MAX_DEVICE_LINES: Final = 50

_SENT = re.compile(
    r"[(<\[*_\s-]{0,4}(?:(?:this (?:e-?mail|message) was )?sent (?:from|via|with|using)\s|(?<=[<(\[])sent by\s"
    r"|from my\s|(?:diese nachricht wurde )?von (?:meinem?r?|unterwegs)\s.{0,60}gesendet"
    r"|gesendet (?:von|mit|via|aus)\s|mobil gesendet|von .{1,40} gesendet"
    r"|envoyé (?:de|depuis|à partir d[eu]|avec)\b|envoyé (?:à partir )?d['’]"
    r"|enviado (?:desde|do|da|de meu|a partir d[eoa]|via|con el correo)\b"
    r"|enviat des d|inviato (?:da|dal|con|tramite)\b|verstuurd (?:vanaf|met)\s"
    r"|verzonden (?:vanaf|vanuit|met|via|door)\s|sendt (?:fr[aå]|via|med)\s|skickat (?:från|via|med)\s"
    r"|skickades från\s|från min\s|lähetetty\s|saadetud\s|wysłan[eoy] (?:ze?|za pomocą|przy)\b|odesláno [zs]"
    r"|odoslané z|poslano i?[sz]|poslato s\b|poslato sa\s|išsiųsta iš\s|nosūtīts no\s|elküldve\s"
    r"|отправлен[ао]? (?:с|из|через)\s|надіслано (?:з|із|через)\s"
    r"|відправлено (?:з|із)\s|изпратено от\s|послато са\s|испратено од\s|trimis (?:de pe|din|cu)\s"
    r"|(?:στάλθηκε|(?:απ)?εστάλη) από|(?:đã |được )?gửi từ\s|ส่งจาก\s"
    r"|dikirim dari\s|dihantar dari(?:pada)?\s|أ?ُ?رسلت? من|مُ?رسل من|נשלח מ"
    r"|[从從由]我?的?.{1,20}(?:发送|發送|傳送|寄出|发出)|[发發來来]自(?:我的|网易)|proven(?:ance|ienza)\s?:\s"
    r"|.{2,20}['’]\w{1,6} gönderildi|.{2,20} cihazımdan gönderildi"
    r"|मेरे .{2,20} से भेजा गया|.{2,20}から送信|.{2,20}에서 (?:보냄|보낸)|.{2,20}r[óő]l küldve)",
    re.IGNORECASE,
)
_OUTLOOK = re.compile(
    r"(?:get|download|obtenez|obtenir|télécharge[rz]|obtener|obtén|obter|obtenha|scarica|ottieni|hent|få|skaffa"
    r"|hämta|hanki|pobierz|uzyskaj|získa[tj](?:te)?|stáhnout|holen sie sich|laden sie|скача(?:ть|йте)|загрузить"
    r"|получить|завантажити|baix(?:ar|e)|descargar?|preuzmite|prenesite|obțineți|dapatkan|tải|下[载載]"
    r"|取得|获取|獲取)\s(?:o |program |aplikację )?"
    r"(?:outlook|blue ?mail)\s\w{1,6}\s(?:systemu )?(?:ios|android|mac|windows|iphone|ipad)"
    r"|outlook \w{2,5} (?:ios|android|mac)\s{0,2}(?:beziehen|herunterladen|downloaden|edinin|を入手|다운로드)"
    r"|(?:ios|android) için outlook['’]?u? edinin|(?:ios|android)용 outlook 다운로드"
    r"|(?:下[载載]|取得|获取|獲取)\s?(?:适用于|適用於)?\s?(?:ios|android)\s?[版的]\s?outlook",
    re.IGNORECASE,
)
_YAHOO = re.compile(
    r"yahoo mail\s?[:–-]\s\w{3,20}[,.]\s\w{3,20}(?:,|\s\w{1,3})\s\w{3,20}\.?\Z", re.IGNORECASE
)
_ASCII_WORD = re.compile(r"[a-z]+")
_SENT_WORDS = frozenset(
    "sent from via gesendet enviado enviat inviato verstuurd verzonden sendt skickat skickades saadetud poslano poslato"
    " trimis dikirim dihantar outlook bluemail provenance provenienza yahoo".split()
)
_FROM_MOBILE = re.compile(r"\w{1,20} (?:from|via) (?:my )?mobile\Z|via mobile\Z", re.IGNORECASE)
_DEVICE = re.compile(
    r"(?<![^\W_])(?:i ?(?:phone|pho?n|pad|pod|mac|os)[\w'’‑-]{0,9}|mac ?book|apple|android|samsung|galaxy"
    r"|black ?berry|nokia|lumia|htc|huawei|xiaomi|redmi|oneplus|pixel|motorola|moto|sony|xperia|wiko|alcatel"
    r"|zte|oppo|vivo|honor|lg|nexus|kindle|surface|windows|outlook|hotmail|yahoo|gmail|aol|gmx|web\.de"
    r"|t-online|mail\.ru|yandex|яндекс|почты|proton(?:mail)?|tuta(?:nota)?|posteo|fastmail|zoho|mailbox"
    r"|airmail|spark|superhuman|newton|typeapp|bluemail|blue mail|edison|boxer|acompli|inbox|sparrow"
    r"|polymail|mailspring|thunderbird|k-9|k9|fairemail|nine|canary|missive|spike|touchdown|cloudmagic"
    r"|readdle|shortwave|mobile|mobil\w*|móvil|cell(?:phone)?|smart ?phone|phone|handy|telefon\w*|téléphone|teléfono"
    r"|telefono|celular|puhelim\w*|matkapuhelin\w*|tablet\w*|handheld|device|dispositivo|mobilgerät"
    r"|mobiltelefon\w*|appareil|portable|toestel|enhet|enhed|urządzeni\w*|komór\w*|мобильн\w*|мобільн\w*|mail orange"
    r"|телефон\w*|смартфон\w*|điện thoại|手机|手機|携帯)(?![^\W\d_])|iphone|ipad|android|휴대폰|스마트폰"
    r"|手机|手機|携帯|网易邮箱大师|傳送|发送|寄出|galaxy에서",
    re.IGNORECASE,
)
_BRAND = re.compile(  # "my TI-85", and no account's number
    r"\b(?:my|mon|meinem|mi|mio|mijn|min|meu)\s(?:[^\W\d_]{2,20}\s){0,3}(?=\S{0,12}\d)(?=\S{0,12}[A-Za-z])[A-Z0-9]\S{1,12}\Z"
)
_PROSE = re.compile(
    r"[?]|(?<!['’])\b(?:is|was|are|were|will|would|has|have|had|but|and|because|since|yesterday|today|tomorrow|at|to"
    r"|ist|war|aber|weil|und|gestern|heute|est|était|mais|hier|es|era|pero|ayer|è|ma|ieri|maar|omdat|men|och"
    r"|og)\b|[,;:]\s\S{1,30}\s",
    re.IGNORECASE,
)
_EXCUSE = re.compile(
    r"[.,;:–-]?\s{0,3}\(?(?:please (?:excuse|forgive|pardon)|excuse|pardon|sorry|apologi|forgive|bitte"
    r"|entschuldig|désolé|disculp|por favor"
    r"|perdon|desculpe|ursäkta|undskyld|unnskyld|scusa|typos? |brevity|an at&t|get the app)",
    re.IGNORECASE,
)
_EXCUSE_BELOW = re.compile(
    r"\(?(?:please |pls )?(?:excuse|forgive|pardon) (?:any |my |the )?(?:typos?|brevity|errors|mistakes|spelling)\b"
    r".{0,50}\Z",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{2,}")
_ASIDE = re.compile(
    r"\Aproven(?:ance|ienza)\s?:\s|\bverizon,|\son (?:O2|the \S{2,20}(?: \S{2,20}){0,3} network)\Z",
    re.IGNORECASE,
)
# Where the programs of Microsoft and Zoho link to in whatever language their line is.
_MAKERS_LINK = re.compile(
    r"https://(?:aka\.ms/(?:o0ukef|AAb9ysg|ghei36)|go\.microsoft\.com/fwlink/\?LinkId=550986|www\.zoho\.com/mail)\b"
)
_AFTER_DEVICE = frozenset(
    "app using gesendet verschickt gönderildi küldve của tôi μου saya meu ของฉัน de device secure email sichere"
    " beveiligde säker mail készülékről készülékemről cihazımdan laitteesta laitteestani enheten min".split()
)
_LINK = re.compile(
    r"[<(\[]{0,2}(?:https?://|www\.)[^\s<>]{0,250}[>)\]]{0,2}|<[^<>\n]{0,250}>|\([^()\n]{0,100}\)\Z"
)
_AROUND = " \t.!()<>[]*_\u200b\u2060\u2063"
_NAME_SIGNATURE = re.compile(r"[-–—][^\W\d_a-zß-ÿ][^\W\d_]{1,20}(?:\s[^\W\d_a-zß-ÿ][^\W\d_]{0,20}\.?){0,3}\Z")
_LIST_WORDS = (
    *(
        "mailing list",
        "mailing-list",
        "mailinglist",
        "mailman",
        "listinfo",
        "unsubscribe",
        "-leave@",  # Mailman's, whatever the language
        "googlegroups",
        "groups.io",
        "groups.google",
        ".topicbox.com/",
        "reply to this email to respond",  # Discourse's
    ),
    *(
        "listserv",
        "hyperkitty",
        "/lists/",
        "@lists.",
        "//lists.",
        "liste de diffusion",
        "lista de correo",
        "abmelden",
    ),
    *("lista di discussione", "lista de discuss", "se désabonner", "рассылк", "メーリングリスト"),
)


def without_closing(text: str) -> str:
    """Without blank lines, rules, lines of devices and a signature `-Name` at its end. May be empty."""
    end, device_lines = len(text.rstrip()), 0
    while end > 0:
        start = text.rfind("\n", 0, end) + 1
        line = text[max(start, end - _LINE_CHARS) : end].strip().replace("\xa0", " ")
        if end - start > _LINE_CHARS:
            break
        if line and not is_rule(line):
            if device_lines < _MAX_DEVICE_LINES and (
                _is_device_line(line, device_lines > 0) or _is_excuse(line, text[:start])
            ):
                device_lines += 1
            elif device_lines < _MAX_DEVICE_LINES and _ends_device_line(line, text[:start]):
                device_lines += 1
                start = text.rfind("\n", 0, start - 1) + 1
            elif not _is_name_signature(line, text[:start]):
                break
        end = max(start - 1, 0)
    return text[:end].strip()


def list_footer_end(lines: list[str], position: int) -> int:
    """Where the footer of a mailing list ends that begins at the rule lines[position]; `position` if there is none."""
    if lines[position].strip() == GROUPS_IO_MARK:
        return _marked_end(lines, position)
    if not is_rule(lines[position]):
        return position
    first = position + 1
    if first < len(lines) and not lines[first].strip():  # LISTSERV's
        first += 1
    limit = min(len(lines), first + _FOOTER_LINES)
    closed = next((n for n in range(first, limit) if is_rule(lines[n])), None)
    is_apart = closed is not None and not any(line.strip() for line in lines[closed + 1 : closed + 2])
    if closed is not None and is_apart and _is_footer(lines[first:closed]):
        return closed + 1
    end = first
    while end < limit and lines[end].strip():
        end += 1
    if end == limit < len(lines) and lines[end].strip():
        return position
    if not _is_footer(lines[first:end]):
        return position
    return len(lines) if _goes_on(lines[end : end + _FOOTER_LINES + 1]) else end


def _marked_end(lines: list[str], position: int) -> int:
    below = [line.strip() for line in lines[position + 1 : position + _MARKED_LINES]]
    if GROUPS_IO_MARK not in below:
        return position
    end = position + 1 + below.index(GROUPS_IO_MARK)
    return end + 1 if _is_footer(lines[position:end]) else position


def _is_footer(lines: list[str]) -> bool:
    footer = _folded(lines)
    return ("@" in footer or "://" in footer) and _speaks_of_a_list(footer)


def _goes_on(below: list[str]) -> bool:
    """Is all that stands below a footer more of it? A person who writes there writes of other things too."""
    paragraphs = filter(str.strip, _folded(below).split("\n\n"))
    return len(below) <= _FOOTER_LINES and _is_footer(below) and all(map(_speaks_of_a_list, paragraphs))


def _speaks_of_a_list(footer: str) -> bool:
    return any(word in footer for word in _LIST_WORDS)


def _folded(lines: list[str]) -> str:
    return "\n".join(line[:_LINE_CHARS].rstrip() for line in lines).lower()


def _is_device_line(line: str, is_below_one: bool) -> bool:
    if line.isascii() and _SENT_WORDS.isdisjoint(_ASCII_WORD.findall(line.lower())):
        return False
    if is_below_one and _FROM_MOBILE.match(line):
        return True
    if _MAKERS_LINK.search(line):
        return len(_LINK.sub("", line).split()) <= _OUTLOOK_WORDS
    said = _ASIDE.sub("", _LINK.sub("", line).strip(_AROUND)) or line
    if _OUTLOOK.match(said):
        return len(said.split()) <= _OUTLOOK_WORDS
    if _YAHOO.match(said):
        return True
    excuse = _EXCUSE.search(said)
    return _SENT.match(line) is not None and _names_a_device(
        said if excuse is None else said[: excuse.start()]
    )


def _ends_device_line(line: str, above: str) -> bool:
    """Of one that a client has wrapped."""
    beginning = above[-_LINE_CHARS:].removesuffix("\n").rpartition("\n")[2].strip()
    is_end = line[0].islower() and len(line.split()) <= _WRAPPED_WORDS and bool(beginning)
    return is_end and _is_device_line(f"{beginning} {line}", is_below_one=False)


def _is_excuse(line: str, above: str) -> bool:
    """Of a device's line that goes on: "Please excuse typos" below "Sent from my iPhone"."""
    if not _EXCUSE_BELOW.match(line):
        return False
    return _is_device_line(above[-_LINE_CHARS:].rstrip().rpartition("\n")[2].strip(), is_below_one=False)


def _names_a_device(said: str) -> bool:
    """At its end, and without going on as a sentence."""
    if len(said) > _DEVICE_LINE_CHARS or _PROSE.search(said):
        return False
    devices = [*_DEVICE.finditer(said)]
    if not devices:
        return _BRAND.search(said) is not None
    rest = _WORD.findall(said, devices[-1].end())  # "my phone bill" is no device
    return all(not word[0].islower() or word in _AFTER_DEVICE for word in rest)


def _is_name_signature(line: str, above: str) -> bool:
    """`-Name` below a blank line, in a text without a list of dashes."""
    if not _NAME_SIGNATURE.match(line):
        return False
    return (
        above.endswith("\n\n") and bool(above.strip()) and f"\n{line[0]}" not in above and above[0] != line[0]
    )
