"""Refusals in other languages than English: whose address is not there, the recipient's or the sender's?

A language is a row of a table: what an address, its mailbox and its owner are called, what a sender is called, and the
words that say that something is unknown, gone or not valid. Beside such a word, a sender is to blame where one stands
near, else an address where one does; words that say "does not exist" need neither, for addresses themselves are left
out of what is read. Words are compared without their accents, which mail systems often leave out, by how they begin.
Pure, linear, bounded by what it is given.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice
from typing import Final, Literal, NamedTuple

from maild.message.reports.phrases import PhraseIndex, as_found

Missing = Literal["recipient", "sender"]


class Language(NamedTuple):
    """`mailboxes`, `senders`: how words begin that name one, a dot behind whole ones; `lacks`: what is said of them;
    `gone`: of an address that was named. Each is words in lower case; accents make no difference."""

    name: str
    mailboxes: str
    senders: str
    lacks: tuple[str, ...]
    gone: tuple[str, ...]


_LANGUAGES: Final = (
    Language(
        "German",
        "adress empfänger empfaenger benutzer nutzer postfach mailbox konto account person mitarbeiter mailadress"
        " emailadress domain domäne teilnehmer",
        "absender versender sender",
        ("unbekannt", "nicht bekannt", "niemand unter", "ungültig", "ungueltig", "gibt es nicht", "gibt es hier nicht",
         "gibt es bei uns nicht", "nicht gefunden", "nicht vorhanden", "deaktiviert", "gelöscht", "geloescht",
         "stillgelegt", "abgeschaltet", "inaktiv", "nicht aktiv", "nicht registriert", "nicht gültig",
         "nicht gueltig", "nicht mehr gültig", "nicht mehr gueltig", "nicht mehr aktiv", "nicht mehr verwendet",
         "nicht mehr genutzt", "nicht mehr vorhanden", "nicht mehr bei uns", "nicht mehr beschäftigt",
         "nicht mehr beschaeftigt", "nicht mehr im unternehmen", "nicht mehr in gebrauch", "nicht eingerichtet",
         "keine gültige",
         "keine gueltige", "kein gültiger", "kein gueltiger"),
        ("existiert nicht", "existieren nicht", "existiert hier nicht", "existiert bei uns nicht",
         "existiert leider nicht", "konnte nicht gefunden", "wurde nicht gefunden",
         "gibt keine person", "gibt es keine person", "gibt keinen benutzer", "gibt es keinen benutzer",
         "gibt keinen empfänger", "gibt es keinen empfänger", "gibt kein postfach", "gibt es kein postfach",
         "gibt kein konto", "gibt es kein konto"),
    ),
    Language(
        "French",
        "adresse ladresse destinataire utilisateur lutilisateur boîte compte abonné labonné usager domaine",
        "expéditeur lexpéditeur dexpéditeur émetteur lémetteur démetteur",
        ("inconnu", "introuvable", "inexistant", "invalide", "non valide", "non trouvé", "pas trouvé",
         "pas été trouvé", "pas valide", "plus valide", "plus acti", "plus utilisé", "désactivé", "supprimé", "fermé",
         "clôturé", "résilié", "inacti", "archivé", "pas reconnu", "non reconnu", "plus partie", "a quitté"),
        ("nexiste pas", "nexistent pas", "nexiste plus", "inexistante"),
    ),
    Language(
        "Spanish",
        "dirección destinatario usuario buzón cuenta casilla correo persona. cliente dominio",
        "remitente emisor",
        ("desconocid", "inválid", "no válid", "no es válid", "no encontrad", "no se encuentra", "no se encontró",
         "inexistente", "deshabilitad", "desactivad", "inactiv", "eliminad", "cancelad", "suspendid", "expirad",
         "caducad", "ya no trabaja", "ya no está", "falta de uso", "no reconocid", "no registrad",
         "no está registrad", "ha expirado"),
        ("no existe", "ya no existe", "no hay nadie", "no se encontró", "dada de baja", "dado de baja"),
    ),
    Language(
        "Italian",
        "indirizz destinatari destin. utent casella account mailbox persona. dominio",
        "mittent",
        ("sconosciut", "inesistent", "non trovat", "non valid", "non è valid", "non attiv", "non è attiv",
         "non è più", "non più", "disattivat", "disabilitat", "cessat", "eliminat", "cancellat", "sospes",
         "inattiv", "scadut",
         "non riconosciut", "non registrat", "per inutilizzo", "errat"),
        ("non esiste", "non esistono", "nessun utente"),
    ),
    Language(
        "Portuguese",
        "endereço destinatário usuário utilizador caixa conta. contas. cliente domínio",
        "remetente emissor",
        ("desconhecid", "inválid", "inexistente", "não encontrad", "não foi encontrad", "não é válid",
         "não está ativ", "não localizad", "inativ", "desativad", "desabilitad", "excluíd", "cancelad", "suspens",
         "expirad", "encerrad", "não cadastrad", "não reconhecid", "removid"),
        ("não existe", "não existem"),
    ),
    Language(
        "Dutch",
        "adres emailadres mailadres ontvanger gebruiker postbus mailbox account geadresseerde domein",
        "afzender verzender",
        ("onbekend", "ongeldig", "niet gevonden", "niet bekend", "niet geldig", "niet actief", "niet meer",
         "opgeheven", "verwijderd", "gedeactiveerd", "uitgeschakeld", "inactief", "niet geregistreerd"),
        ("bestaat niet", "bestaan niet", "bestaat hier niet"),
    ),
    Language(
        "Polish",
        "adres odbiorc użytkownik skrzynk konto konta domen",
        "nadawc",
        ("nieznan", "nieprawidłow", "nie znalezion", "nie został znalezion", "nie odnalezion", "nieaktywn",
         "usunięt", "zablokowan", "zawieszon", "wyłączon", "nie jest aktywn", "niewłaściw", "nieistniejąc"),
        ("nie istniej", "nie ma takiego", "nie ma takiej", "brak takiego", "brak użytkownika"),
    ),
    Language(
        "Swedish",
        "adress epostadress mottagar användar brevlåd postlåd konto domän",
        "avsändar",
        ("okänd", "ogiltig", "hittades inte", "kunde inte hittas", "hittas inte", "inaktiver", "avslutad",
         "borttag", "inte längre"),
        ("finns inte", "existerar inte"),
    ),
    Language(
        "Danish and Norwegian",
        "adress mailadress epostadress modtager mottaker bruger bruker postkass postboks konto domæne domene",
        "afsender avsender",
        ("ukend", "ukjen", "ugyldig", "ikke fundet", "ikke funnet", "deaktiver", "lukket", "nedlagt", "slettet",
         "ikke længere", "ikke lenger", "inaktiv"),
        ("findes ikke", "finnes ikke", "eksisterer ikke"),
    ),
    Language(
        "Finnish",
        "osoit sähköpostiosoit vastaanottaj käyttäj postilaatik tili",
        "lähettäj",
        ("tuntemat", "virheel", "ei löydy", "ei löytynyt", "ei voimassa", "poistettu", "suljettu"),
        ("ei ole olemassa",),
    ),
    Language(
        "Czech and Slovak",
        "adres schránk uživatel užívateľ příjemc účet účtu",
        "odesílatel odosielateľ",
        ("neznám", "neplatn", "nenalezen", "nebyl nalezen", "nebyla nalezen", "nenájden", "zrušen", "neaktivn",
         "deaktivován", "smazán"),
        ("neexistuj",),
    ),
    Language(
        "Hungarian",
        "cím emailcím címzett felhasználó postafiók fiók",
        "feladó küldő",
        ("ismeretlen", "érvénytelen", "nem található", "megszűnt", "nem érvényes", "inaktív", "törölt"),
        ("nem létez",),
    ),
    Language(
        "Romanian",
        "adres destinatar utilizator căsuț contul",
        "expeditor",
        ("necunoscut", "invalid", "nu a fost găsit", "nu este valid", "dezactivat", "șters", "inexistent"),
        ("nu există",),
    ),
    Language(
        "Turkish",
        "adres alıcı kullanıcı hesap hesab kutu",
        "gönderen gönderici",
        ("geçersiz", "bilinmey", "bilinmiyor", "bulunamad", "bulunmamakta", "aktif değil", "kapatıl", "silin",
         "devre dışı", "tanımsız", "kayıtlı değil"),
        ("mevcut değil", "böyle bir kullanıcı", "kullanıcı yok ", "alıcı yok ", "adres yok ", "hesap yok "),
    ),
    Language(
        "Croatian, Serbian and Slovenian",
        "korisnik uporabnik primatelj primalac prejemnik adres naslov račun",
        "pošiljatelj pošiljalac",
        ("nepoznat", "neznan", "nije pronađen", "ni najden"),
        ("ne postoji", "ne obstaja"),
    ),
    Language(
        "Russian",
        "адрес получател пользовател ящик почтов аккаунт абонент учетн домен",
        "отправител",
        ("неизвест", "недействит", "не найден", "не обнаружен", "неверн", "удален", "заблокирован", "отключен",
         "неактив", "не зарегистрирован", "деактивирован", "закрыт"),
        ("не существу", "несуществующ", "нет такого", "такого пользователя нет", "такого адреса нет",
         "такого ящика нет", "недействительный"),
    ),
    Language(
        "Ukrainian",
        "адрес одержувач отримувач користувач скриньк",
        "відправник",
        ("невідом", "не знайден", "недійсн", "видален", "заблокован"),
        ("не існу",),
    ),
    Language(
        "Greek",
        "διεύθυνση παραλήπτη χρήστη λογαριασμ γραμματοκιβώτ",
        "αποστολέα",
        ("άγνωστ", "δεν βρέθηκε", "μη έγκυρ", "άκυρ", "ανενεργ"),
        ("δεν υπάρχει",),
    ),
    Language(
        "Indonesian and Malay",
        "alamat penerima pengguna akun",
        "pengirim",
        ("tidak dikenal", "tidak ditemukan", "tidak valid", "tidak aktif", "dinonaktifkan", "tidak terdaftar"),
        (),
    ),
    Language(
        "Vietnamese",
        "địa người tài hộp",
        "gửi",
        ("không hợp lệ", "không tìm thấy"),
        ("không tồn tại",),
    ),
    Language(
        "Chinese",
        "收件人 收件者 收信人 用户 用戶 使用者 邮箱 郵箱 信箱 帐号 帐户 账号 账户 帳號 帳戶 地址 域名",
        "发件人 發件人 寄件者 寄件人 发送者 发信人 發信人",
        ("无效", "無效", "未找到", "找不到", "未知", "停用", "禁用", "已注销", "已註銷", "已关闭",
         "已關閉", "已删除", "已刪除", "未开通", "未開通", "冻结", "凍結"),
        ("不存在", "无此用户", "無此用戶", "無此使用者", "無此收件", "无此收件", "查无此人", "查無此人"),
    ),
    Language(
        "Japanese",
        "アドレス 宛先 あて先 受信者 ユーザ メールボックス アカウント ディレクトリ",
        "差出人 送信者 送信元",
        ("不明", "無効", "見つかりません", "見つからない", "廃止", "削除", "使われておりません",
         "使用されておりません", "登録されていません", "有効ではありません"),
        ("存在しません", "存在いたしません", "存在しない", "見つかりませんでした", "リストにありません"),
    ),
    Language(
        "Korean",
        "수신자 수신인 사용자 메일함 편지함 계정 주소",
        "보낸 발신자 발신인 송신자",
        ("알 수 없는", "찾을 수 없", "유효하지", "비활성", "휴면", "탈퇴", "삭제된", "정지", "해지"),
        ("존재하지 않", "존재하지않"),
    ),
)  # fmt: skip

# Whatever the language: what is missing is nobody's address.
_SENDERS_TOO: Final = ("ip ", "spf ", "dkim ", "dmarc ", "dns ", "ptr ", "rdns ", "helo ", "ehlo ", "url ")
# What may not be found though the mailbox is there: a host, a route.
_HOSTS: Final = (
    "server serveur servidor serwer сервер sunucu kiszolgál palvelim διακομιστ サーバ 服务器 伺服器 서버"
    " trasa trasy маршрут"
)
# What may be unknown, where it is named behind: an error, a reason, a code. What is named before, only begins to tell.
_CAUSES: Final = (
    "erreur error. errore erro. fehler fout raison razón ragion razão grund gründe reden fel. fejl feil virhe błąd błęd"
    " chyb hiba hibá eroar greš σφάλμα hata ошибк помилк 오류 エラー 错误 錯誤 lỗi kesalahan code. código codice příčin"
    " príčin przyczyn причин orsak årsag årsak neden motiv λόγο 이유 원인"
)
# Who is talked to is who sends; but not whom that one writes to.
_YOURS: Final = (
    "ihr ihre ihrer ihres ihrem deine deiner votre vos su sus tu tus vuestra vuestro tua tuo vostra vostro seu sua teu"
    " uw jouw je twój twoj twoja twojego państwa ditt váš vaše vaša ваш ваша ваше вашего вашей вашу твой ваші"
)
_YOURS_UNSPACED: Final = "您的 你的 貴方の お客様の あなたの 貴社の 귀하의 당신의"
_YOUR_CHARS: Final = 5
_MAIL_WORDS: Final = ("e ", "mail ", "email ")
_RECEIVERS: Final = (
    "empfang empfaeng destinat ontvanger geadress odbiorc mottag mottak modtag příjem címzett получат одержувач"
    " отримувач 收 宛 あて 受信 수신"
)
# "Or", in Japanese: what is said before it is one of two possibilities.
_OR: Final = "か"
_BEFORE_WORDS: Final = 7
_BEHIND_WORDS: Final = 4
_BEFORE_CHARS: Final = 16
_BEHIND_CHARS: Final = 14
_SHORT_WORD: Final = 5  # with its blank
_LOOKS_MAX: Final = 20
# What Unicode does not take apart.
_PLAIN: Final = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "ß": "ss"})


class _Saying(NamedTuple):
    """What a language has of one kind. `is_enough`: no mailbox need stand near."""

    phrases: tuple[str, ...]
    is_enough: bool
    mailboxes: tuple[str, ...]
    senders: tuple[str, ...]


# "Not listed in the directory", as Domino says it.
_DIRECTORY: Final = (
    r"(?:(?:domino )?(?:verzeichnis|adre(?:ss|ß)buch|lannuaire|annuaire|carnet dadresses|rubrica|directory|directorio"
    r"|libreta|diretório|adresboek|adressbok|adressebo|katalog|biblioteke|adresář|adresár|каталог|адресн[^ ]* книг"
    r"|hakemisto|címtár|κατάλογο|agenda))"
)
_UNLISTED: Final = re.compile(
    rf" (?:nicht|pas|non|no|não|nao|niet|inte|ikke|nie|není|neni|не|nem|nu|δεν|ei|отсутствует)"
    rf"(?: (?!eindeutig|uni|úni|уник|jedno|jedin|auto|berech|permi|open|öffn|abr|apr|ouvr|lesbar|verfüg|dispo)"
    rf"[^ ]{{1,40}}){{1,4}} {_DIRECTORY}"
    rf"| {_DIRECTORY}[^ ]{{0,8}} nicht (?:(?:auf)?(?:ge)?(?:listet|führt)|gefunden|verzeichnet|enthalten|vorhanden)"
    r"| dizini[^ ]{0,6} (?:listelenm|bulunm|bulunamadı|yok|kayıtlı değil)"
    r"|(?:未|没有|沒有)(?:[^ ]{0,8} ){1,3}(?:目录|目錄|通讯录|通訊錄|名錄)(?:中|里|內|内)"
    r"|(?:디렉토리|디렉터리|주소록)에 (?:[^ ]{1,12} ){0,2}(?:없|않)"
)
_DIRECTORIES: Final = (
    "verzeichnis", "domino verzeichnis", "adressbuch", "annuaire", "lannuaire", "carnet", "rubrica", "directo",
    "libreta", "diretório", "adresboek", "adress", "katalog", "bibliotek", "adresář", "adresár", "каталог", "адресн",
    "hakemisto", "címtár", "κατάλογο", "agenda", "dizini", "目录", "目錄", "通讯录", "通訊錄", "名錄",
    "디렉토리", "디렉터리", "주소록",
)  # fmt: skip


def _is_unlisted(words: str) -> bool:
    """Do these words say that a directory doesn't have the recipient?"""
    found = _UNLISTED.search(words) if any(one in words for one in _DIRECTORIES) else None
    return found is not None and not _is_of_sender(
        words[max(0, found.start() - _BEFORE_CHARS) : found.start()]
    )


def _is_of_sender(words: str) -> bool:
    return any(f"{one} ".startswith(_SENDERS) for one in _fold(words).split())


def missing(words: str) -> Missing | None:
    """Whose address these words say is not there. `words`: as `bounce_words.plain_words` makes them."""
    if _is_unlisted(words):
        return "recipient"
    folded = _fold(words)
    found: Missing | None = None
    for saying, phrase, at in islice(_said(folded), _LOOKS_MAX):
        if len(folded) == len(words) and words.startswith(_OR, at + len(phrase)):
            continue
        whose = _whose(folded, at, phrase, saying)
        if whose == "sender":
            return whose
        found = found or whose
    return found


def _said(words: str) -> Iterator[tuple[_Saying, str, int]]:
    """What is said, with its phrase and where that stands."""
    for saying in _SAYINGS.every(words):
        for phrase in map(as_found, saying.phrases):
            at = words.find(phrase)
            while at >= 0:
                yield saying, phrase, at
                at = words.find(phrase, at + 1)


def _whose(words: str, at: int, phrase: str, saying: _Saying) -> Missing | None:
    before, behind = _around(words, at, phrase)
    if _distance(before, behind, saying.senders) is not None:
        return "sender"
    if _is_yours(before, saying.mailboxes):
        return "sender"
    mailbox = _distance(before, behind, saying.mailboxes)
    if mailbox is None and not saying.is_enough:
        return None
    if _distance(before, behind, _SENDERS_TOO) is not None:
        return "sender"
    others = _distance(before, behind, _HOST_WORDS), _distance([], behind, _CAUSE_WORDS)
    other = min((far for far in others if far is not None), default=None)
    if other is not None and (mailbox is None or other < mailbox or _is_of(before, saying.mailboxes)):
        return None
    return "recipient"


def _around(words: str, at: int, phrase: str) -> tuple[list[str], list[str]]:
    """The words before, the nearest first, and those behind; where no blanks part them, what begins at each place."""
    end = at + len(phrase)
    if phrase[0] == " ":
        end = words.find(" ", end)  # the phrase may be the beginning of a word
        before, behind = words[:at].split()[-_BEFORE_WORDS:], words[end:].split()[:_BEHIND_WORDS]
        return [f"{one} " for one in reversed(before)], [f"{one} " for one in behind]
    places = range(at - 1, max(-1, at - 1 - _BEFORE_CHARS), -1)
    until = min(len(words), end + _BEHIND_CHARS)
    return [words[place:until] for place in places], [words[place:until] for place in range(at, until)]


def _distance(before: list[str], behind: list[str], beginnings: tuple[str, ...]) -> int | None:
    """How far away the nearest word is that begins so."""
    found = [
        next((far for far, one in enumerate(side) if one.startswith(beginnings)), None)
        for side in (before, behind)
    ]
    return min((far for far in found if far is not None), default=None)


def _is_yours(before: list[str], mailboxes: tuple[str, ...]) -> bool:
    """Is it the address of whom the host talks to? ("Ihre E-Mail-Adresse"; "votre destinataire" is another's)"""
    at = next((far for far, one in enumerate(before) if one.startswith(mailboxes)), None)
    if at is None or before[at].startswith(_RECEIVER_WORDS):
        return False
    if any(one.startswith(_YOUR_UNSPACED) for one in before[at + 1 : at + 1 + _YOUR_CHARS]):
        return True
    owner = next((one for one in before[at + 1 :] if one not in _MAIL_WORDS), "")
    return owner in _YOUR_WORDS


def _is_of(before: list[str], mailboxes: tuple[str, ...]) -> bool:
    """Is it the server of the mailbox that was spoken of, in the words right before? ("De server van de ontvanger")"""
    at = next((far for far, one in enumerate(before) if one.startswith(mailboxes)), None)
    if at is None:
        return False
    for one in before[at + 1 :]:
        if one.startswith(_HOST_WORDS):
            return True
        if len(one) > _SHORT_WORD:
            return False
    return False


def _fold(words: str) -> str:
    """Without accents."""
    if words.isascii():
        return words
    apart = unicodedata.normalize("NFD", words.casefold().translate(_PLAIN))
    return unicodedata.normalize("NFC", "".join(one for one in apart if not unicodedata.combining(one)))


def _beginnings(names: str) -> tuple[str, ...]:
    return tuple(one.replace(".", " ") for one in _fold(names).split())


def _sayings() -> Iterator[_Saying]:
    for language in _LANGUAGES:
        mailboxes, senders = _beginnings(language.mailboxes), _beginnings(language.senders)
        for is_enough, phrases in ((False, language.lacks), (True, language.gone)):
            yield _Saying(tuple(map(_fold, phrases)), is_enough, mailboxes, senders)


_SAYINGS: Final = PhraseIndex(list(_sayings()))
_SENDERS: Final = tuple({one for language in _LANGUAGES for one in _beginnings(language.senders)})
_YOUR_WORDS: Final = tuple(f"{one} " for one in _beginnings(_YOURS))
_YOUR_UNSPACED: Final = _beginnings(_YOURS_UNSPACED)
_RECEIVER_WORDS: Final = _beginnings(_RECEIVERS)
_HOST_WORDS: Final = _beginnings(_HOSTS)
_CAUSE_WORDS: Final = _beginnings(_CAUSES)
