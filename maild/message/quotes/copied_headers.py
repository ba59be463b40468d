"""Where a client's copy of the original begins without quote marks: a mark ("-----Original Message-----"), or a block
of the original's header fields, whose names are in the client's language."""

from __future__ import annotations

import re
from typing import Final, NamedTuple, Self

LINE_CHARS: Final = 300
_BLOCK_LINES = 10
_NAME_CHARS = 28

_MARK_WORDS = (
    r"(?:original message|original appointment|original mail|reply message"
    r"|reply to message|ursprüngliche (?:nachricht|mail|e-mail)|originalnachricht|original-?nachricht|urspr\. nachricht"
    r"|antwort nachricht|ursprünglicher termin|message d['’]origine|message original|courriel original"
    r"|mensaje original|messaggio originale|oorspronkelijk bericht|origineel bericht|mensagem original"
    r"|oprindelig (?:meddelelse|besked|mail)|opprinnelig melding|ursprungligt meddelande|originalmeddelande"
    r"|originalmelding|alkuperäinen viesti(?: / orig\.msg\.)?|treść oryginalnej wiadomości|opphavleg melding"
    r"|upprunalegur póstur|missatge original|mensaxe orixinal|jatorrizko mezua|algne kiri|originalus laiškas"
    r"|sākotnējā vēstule|izvorna poruka|originalna poruka|originalan e-mail|upprunalegur texti"
    r"|originalus pranešimas|izvirno sporočilo|изворна порука|оригинално писмо|зыходнае паведамленне"
    r"|початкове повідомлення|mesazhi origjinal|pesan asli|mesej asal|საწყისი წერილი|түпнұсқа хабарламасы"
    r"|ข้อความต้นฉบับ|原始消息|原始信息|message initial|オリジナルのメッセージ|oprindeligt brev|ข้อความเดิม"
    r"|algupärane sõnum|оригинална (?:порука|порака)|opprinneleg melding|mesazhi orgjinal|پیام اصلی"
    r"|арыгінальнае паведамленне|wiadomość oryginalna|oryginalna wiadomość|původní (?:zpráva|e-mail)"
    r"|pôvodná správa|eredeti üzenet|mesaj original|mesajul original|orijinal mesaj|orijinal ileti"
    r"|özgün ileti|αρχικό μήνυμα|исходное сообщение|оригинальное сообщение|пересылаемое сообщение"
    r"|вихідне повідомлення|оригінальне повідомлення"
    r"|replied message|回复的原邮件|回覆的原郵件"
    r"|tin nhắn gốc|thư gốc|邮件原件|郵件原件|原始邮件|原始郵件|原邮件|原始信件|元のメッセージ|원본 메시지|원본 메일"
    r"|הודעה מקורית|الرسالة الأصل\S{1,6})"
)
# What help desks have their customers answer above.
_ANSWER_WORD = (
    r"(?:reply|respond|answer|response|antwort|répon|respuesta|resposta|antwoord|rispo|svar|odpowied|ответ"
    r"|відповід)"
)
_ABOVE_THIS_LINE = (
    r"(?:above this line|(?<=reply )above\.|oberhalb dieser zeile|au-dessus de cette ligne"
    r"|(?:encima de|sobre) esta línea|acima desta linha|boven deze (?:lijn|regel)|sopra questa (?:riga|linea)"
    r"|over denne linje|ovanför (?:den här|denna) rad|powyżej tej linii|над этой строкой|над цим рядком)"
)
_BARE_MARK = re.compile(rf"\s{{0,4}}{_MARK_WORDS}\s*\Z", re.IGNORECASE)
_MARK = re.compile(
    rf"[*\s]{{0,3}}(?:-{{2,}}+|_{{5,}}+)\s{{0,4}}{_MARK_WORDS}\s{{0,4}}(?:-{{2,}}|_{{5,}})"
    r"|##-[^\n]{2,120}-##\Z"  # Zendesk's, in any language
    r"|[#=*_-]{2,60}+\s{0,2}(?:(?:please )?(?:reply|respond|answer|write|type|(?:type|write|enter) your reply)"
    r" above this line|(?:bitte )?oberhalb dieser zeile antworten)"
    rf"|[#=*_-]{{2,60}}+(?>[^\n]{{0,60}}?{_ANSWER_WORD})(?>[^\n]{{0,60}}?{_ABOVE_THIS_LINE})"
    r"[^\n]{0,100}+(?<=[#=*_-]{2})\Z",
    re.IGNORECASE,
)
_RULE_BEGINNINGS = frozenset(
    ["--", "__", "==", "**", "——", "*-", "-=", "=-", "—-", "##", "‐‐", "––", "――", "━━"]
)
_ALIKE = str.maketrans("‐‑‒–—―━\xa0", "------- ")
_RULE = re.compile(r"[-_=*#—]{2,200}\Z")
_TITLED_RULE = re.compile(r"[-_=*]{2,200}+[^-_=*\n]{1,60}+[-_=*]{2,200}\Z")

_FIELDS = {
    "from": "from, von, de, de la, da, daripada, van, od, från, fra, lähettäjä, от, от кого, від, dari, feladó, kimden,"
    " gönderen, από, người gửi, từ, 发件人, 寄件者, 寄件人, 差出人, 送信元, 보낸사람, 보낸 사람, מאת, من, expéditeur,"
    " message de, จาก, mittente, remitente, remetente, afzender, avsender, odosielateľ, odesílatel, nadawca, expeditor,"
    " expeditorul, šalje, од, ад, отправитель, nuo, no, кімнен, saatja, nork, nga, frá, frå, از, प्रेषक, 送信者",
    "sent": "sent, gesendet, envoyé, envoyé le, enviado, enviado el, enviado em, enviada, enviada em, inviato,"
    " inviato il, verzonden, skickat, sendt, lähetetty, wysłano, wysłane, odesláno, odoslané,"
    " отправлено, надіслано, відправлено,"
    " elküldve, küldve, đã gửi, נשלח, تم الإرسال,"
    " gönderildi, gönderilme, gönderme tarihi, trimis, dikirim, dihantar, στάλθηκε, 发送时间, 寄件日期,"
    " poslano, poslato, послато, изпратено, испратено, адпраўлена, išsiųsta, nosūtīts, saadetud,"
    " enviat, enviat el, bidalia, dërguar, gönderilen, terkirim, ارسال شده, भेजा गया,"
    " ส่ง, วันที่ส่ง, 傳送時間, 送信日時, 送信日, 보낸 날짜, message du",
    "date": "date, datum, data, fecha, dato, päivämäärä, päiväys, dátum, tarih, dată, дата, ημερομηνία, ngày, 日期,"
    " датум, datums, kuupäev, dagsetning, dags, күні, tanggal, tarikh, تاریخ, दिनांक,"
    " วันที่, 日時, 日付, 날짜, תאריך, التاريخ, received",
    "to": "to, an, kepada, à, a, para, aan, till, til, vastaanottaja, do, komu, кому, címzett, kime, către, προς, đến,"
    " ถึง, 收件人, 收件者, 宛先, 받는사람, 받는 사람, אל, إلى, destinataire, destinatario, destinatário, alıcı,"
    " destinatarul, pour, adresat, pre, za, за, prima, до, получатель, каму, кімге, kam, adressaat, saaja, per a, nori,"
    " për, به, प्रति, 送信先",
    "subject": "subject, subjek, betreff, objet, sujet, asunto, oggetto, assunto, onderwerp, ämne, emne, aihe, temat,"
    " předmět, predmet, тема, tárgy, konu, subiect, θέμα, chủ đề, tiêu đề, เรื่อง,"
    " subiectul, zadeva, naslov, tema, предмет, относно, тақырыбы, тэма, tēma, temats, teema, assumpte, gaia, subjekti,"
    " efni, موضوع, विषय,"
    " 主题, 主旨, 主題, 件名, 제목, נושא, الموضوع",
    "other": "cc, bcc, cco, cci, kopie, kopia, kopi, копия, копія, másolat, bilgi, copie à, สำเนา,"
    " สำเนาถึง, 抄送, 副本, 참조,"
    " importance, priority, wichtigkeit, organization, reply-to, reply to, antwort an, répondre à, responder a,"
    " in-reply-to, kopio, kópia, koopia, kopija, копие, dw, másolatot kap, odgovori na, odpověď na, odpovedať-pre,"
    " svar til, svara till, antwoord aan, vastaus, válaszcím, rispondi a, odpowiedź-do, răspuns către, ответ-кому,"
    " кому відповісти, yanıt adresi,"
    " attachments, anlagen",
}
_KINDS = {name: kind for kind, names in _FIELDS.items() for name in names.split(", ")}
_DATE_FIELDS = "|".join(
    sorted(
        (re.escape(name) for kind in ("sent", "date") for name in _FIELDS[kind].split(", ")),
        key=len,
        reverse=True,
    )
)
_DATE_FIELD = re.compile(rf"\s\*?(?:{_DATE_FIELDS})\s?:[^\n]{{0,40}}?\d", re.IGNORECASE)
_DATES = ("date", "sent")
_NUMBER_FIELD = "no"  # from, in Latvian; forms call a number so
_ATTRIBUTING = ("from", "date", "subject")
_BESIDE_AN_ATTRIBUTION = ("to", "subject", "other")  # Yandex
_DIGIT = re.compile(r"\d")
_FULL_DATE = re.compile(r"\d[^\n]{0,20}?\d:\d\d(?::\d\d)?[^\n]{0,10}[+-]\d{4}")
_WIDE_BLANK = "\u3000"
_TRACE = re.compile(
    r"(?:return-path|received(?:-spf)?|delivered-to|dkim-signature|authentication-results|arc-[a-z-]{1,40}|message-id"
    r"|mime-version|content-[a-z-]{1,40}|list-[a-z-]{1,40}|x-[a-z-]{1,40}):",
    re.IGNORECASE,
)
_DAVID_MARK = re.compile(r"\[?original message processed by david\b", re.IGNORECASE)  # Tobit's groupware
_NOTES_MARK = re.compile(r"[^\n]{2,80}?---\d{1,4}[./-]\d{1,2}[./-]\d{1,4} [^\n-]{4,16}---")
_STRIPPED = " \t\xa0*_>\u200e\u200f\u202a\u202c\ufeff"


def may_begin_copy(head: str) -> bool:
    """Cheap: whether a line, stripped, looks like a field or a rule."""
    return head[:2] in _RULE_BEGINNINGS or _field(head)[0] is not None or _DAVID_MARK.match(head) is not None


def begins_copy(lines: list[str], position: int, *, of_answer: bool = True) -> bool:
    """Whether the original begins at lines[position]: with a mark, a rule above its header fields, or those. What
    answers nothing may show some fields for other reasons, hardly all of them."""
    head, has_rule = _head(lines[position]), False
    if _DAVID_MARK.match(head):
        return True
    if head[:2] in _RULE_BEGINNINGS:
        if _MARK.match(head):
            return True
        has_rule = _is_title(head) or _RULE.match(head) is not None
        if has_rule:
            position = _next_words(lines, position + 1)
    if position == len(lines) or not _is_block(lines, position, has_rule):
        return False
    return of_answer or _is_whole_block(lines, position)


def has_unknown_title(line: str) -> bool:
    """Whether a copy that begins there is titled, and not with a mark that answers have."""
    head = _head(line)
    return _is_title(head) and _MARK.match(head) is None


def _is_title(head: str) -> bool:
    """A title between dashes or their like; a field may be in bold."""
    return _TITLED_RULE.match(head) is not None and _field(head)[0] is None


def mark_above(lines: list[str], position: int, first: int) -> int:
    """Where a copy begins whose fields begin at `position`: a mark without dashes may stand right above them, that of
    Notes above a blank line too; not before `first`."""
    near = range(position - 1, max(first, position - 2) - 1, -1)
    above = next((n for n in near if lines[n][:LINE_CHARS].strip()), position)
    if above == position - 1 and _BARE_MARK.match(lines[above][:LINE_CHARS]):
        return above
    return above if above < position and _NOTES_MARK.match(lines[above][:LINE_CHARS]) else position


def attributing_end(lines: list[str], position: int) -> int:
    """Where the fields end that some clients write above a quote instead of an attribution line: who, when and about
    what, but not to whom; or the mark, which some write above fields that are quoted as well. `position` where they are
    neither, or no quote follows."""
    quoted = _next_words(lines, position + 1)
    if quoted < len(lines) and lines[quoted][:1] == ">" and _field(lines[quoted])[0] is not None:
        return quoted
    end, limit = position, min(len(lines), position + _BLOCK_LINES)
    while end < limit and lines[end][:LINE_CHARS].strip():
        is_further = end > position and lines[end][0] in " \t"
        if not is_further and _field(lines[end])[0] not in _ATTRIBUTING:
            return position
        end += 1
    while end < limit and not lines[end][:LINE_CHARS].strip():
        end += 1
    return end if end < limit and lines[end][:1] == ">" else position


def fields_above(lines: list[str], position: int, first: int) -> int:
    """Where a rule stands with fields below it that say to whom and about what, right above an attribution at
    `position`; not before `first`. `position` where there are none."""
    top, lowest = position, max(first, position - _BLOCK_LINES)
    while top > lowest and _field(lines[top - 1])[0] in _BESIDE_AN_ATTRIBUTION:
        top -= 1
    return top - 1 if lowest < top < position and is_rule(lines[top - 1]) else position


def is_rule(line: str) -> bool:
    """A line of nothing but dashes or their like."""
    return _RULE.match(line.strip()[:LINE_CHARS]) is not None


class _Fields(NamedTuple):
    """What may be the header of an original, as it stands below a first field."""

    first: str
    value: str
    next: str | None  # the kind of the line right below, a blank one left out that stands between any two
    others: list[tuple[str, str]]
    kinds: set[str]  # of the others

    @classmethod
    def at(cls, lines: list[str], position: int, first: str, value: str) -> Self:
        others = _further_fields(lines, position + 1, first)
        kinds = {kind for kind, _ in others}
        below = position + 1
        if first in _DATES and kinds.isdisjoint(_DATES) and _is_spaced(lines, below):
            below += 1
        return cls(first, value, _field(lines[below])[0] if below < len(lines) else None, others, kinds)

    def have_address(self) -> bool:
        return "@" in self.value or any("@" in value for _, value in self.others)

    def are_of_author(self, *, is_sure: bool) -> bool:
        """Whether they are a header that begins with "From:". `is_sure`: a rule or an address says so."""
        if _is_whole_header(self.value) or (self.next in _DATES and "@" in self.value):
            return True
        is_dated_subject = "subject" in self.kinds and not self.kinds.isdisjoint(_DATES)
        return len(self.others) >= 2 and (is_sure or "sent" in self.kinds or is_dated_subject)

    def are_of_date(self) -> bool:
        """Whether they are a header that begins with "Date:" or "Sent:"."""
        if "from" in self.kinds and len(self.kinds) >= 2 and _DIGIT.search(self.value):
            return True
        return self.next in ("from", "to") and _FULL_DATE.search(self.value) is not None


def _is_block(lines: list[str], position: int, has_rule: bool) -> bool:
    first, value = _field(lines[position])
    if first is None or first == "other" or _is_shown(lines, position):
        return False
    fields = _Fields.at(lines, position, first, value)
    is_sure = has_rule or fields.have_address()
    if first == "from":
        # "From: Berlin / To: Rome / Date: Monday" is what an author writes; no client writes fields above that one.
        if not is_sure and position and _field(lines[position - 1])[0] is not None:
            return False
        return fields.are_of_author(is_sure=is_sure)
    if fields.next is None or not fields.have_address():
        return False
    return fields.are_of_date() if first in _DATES else _is_whole(fields.kinds | {first})


def _is_spaced(lines: list[str], position: int) -> bool:
    """Whether blank lines stand between the fields, as a program leaves them that took the markup off."""
    pair = lines[position : position + 3 : 2]
    return len(pair) == 2 and not any(line[:LINE_CHARS].strip() for line in pair)


def _is_shown(lines: list[str], position: int) -> bool:
    """Whether it is the author who shows a header: right above stands what no client copies."""
    for number in range(position - 1, max(position - _BLOCK_LINES, 0) - 1, -1):
        if not lines[number][:LINE_CHARS].strip():
            return False
        if _TRACE.match(lines[number]):
            return True
    return False


def _is_whole_block(lines: list[str], position: int) -> bool:
    first = _field(lines[position])[0] or ""
    return _is_whole({first, *(kind for kind, _ in _further_fields(lines, position + 1, first))})


def _is_whole(kinds: set[str]) -> bool:
    """All that a client copies: from whom, to whom, about what and when."""
    return kinds >= {"from", "to", "subject"} and not kinds.isdisjoint(_DATES)


def _is_whole_header(value: str) -> bool:
    """Of HTML without line breaks: "From: a@b.org Sent: Monday, 4 May"."""
    at = value.find("@")
    return at >= 0 and ":" in value and _DATE_FIELD.search(value, at) is not None


def _further_fields(lines: list[str], position: int, first: str) -> list[tuple[str, str]]:
    """(kind, value) of the fields below the first one: wrapped ones go on for two lines, and a blank line
    may stand between two, but words below a blank line end it, and so does a second field of the first kind."""
    found: list[tuple[str, str]] = []
    further, is_below_blank = 0, False
    for line in lines[position : position + _BLOCK_LINES]:
        kind, value = _field(line)
        if kind == first:
            break
        if kind is not None:
            found.append((kind, value))
            further, is_below_blank = 0, False
        elif not line[:LINE_CHARS].strip():
            is_below_blank = True
        elif is_below_blank or further == 2:
            break
        else:
            further += 1
    return found


def _field(line: str) -> tuple[str | None, str]:
    """(kind, value) of a header field; (None, "") when it is none."""
    line = line[:LINE_CHARS]
    wide = line.find("：", 0, _NAME_CHARS + 1)
    if wide >= 0:  # a time behind it has colons too
        line = f"{line[:wide].replace(_WIDE_BLANK, '')}:{line[wide + 1 :]}"
    name, colon, value = line.partition(":")
    if not colon or len(name) > _NAME_CHARS:
        return None, ""
    name, value = name.replace("\xa0", " ").strip(_STRIPPED).lower(), value.strip(_STRIPPED)
    return None if name == _NUMBER_FIELD and "@" not in value else _KINDS.get(name), value


def _next_words(lines: list[str], position: int) -> int:
    end = min(len(lines), position + _BLOCK_LINES)
    while position < end and not _head(lines[position]):
        position += 1
    return position


def _head(line: str) -> str:
    head = line[:LINE_CHARS].strip()
    return head if head.isascii() else head.translate(_ALIKE)
