"""The words by which mails name codes, in 25 languages, and those by which they name codes of something else.

English, German, French, Spanish, Portuguese, Italian, Dutch, Polish, Swedish, Turkish, Russian, Ukrainian, Japanese,
Chinese, Korean, Arabic, Hebrew, Persian, Vietnamese, Indonesian, Czech, Danish, Norwegian, Finnish, Hungarian. Each
word is judged by some characters around it, so each look is bounded.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from maild.message.sign_in.code_settings import speaks_of_signing_in

_OTHERS_CHARS: Final = 32
# "Bestätigungscode", "doğrulama kodunuz", "verifieringskoden": what a word for a code ends in.
_ENDINGS: Final = tuple(
    "code codes passcode código códigos codigo codice codici kod kodu kodun kodunu kodunuz kodunuzu kodunuzdur kodudur"
    " kodem koden koder kody код кода коду кодом коде коды коди"
    " kode kód kódu kódem kódot kódja kódod kódját koodi koodin koodia koodisi koodinne koodilla"
    " lösenordet passord passordet".split()
)
_WHOLE: Final = frozenset(
    (
        "otp totp pin tan mtan pincode token"
        " password passwort kennwort einmalpasswort einmalkennwort passe contraseña clave senha parola wachtwoord"
        " hasło hasła lösenord engångslösenord şifre şifreniz şifrenizdir şifresi пароль паролем пароля"
        " passord kodeord heslo heslem salasana jelszó jelszót jelszava jelszavad mã sandi"
        " קוד הקוד סיסמה הסיסמה סיסמתך رمز الرمز رمزك كود الكود كودك کد المرور"
        " verification verifizierung vérification verificación verificação verifica verificatie weryfikacja"
        " weryfikacyjny weryfikacyjnego verifiering doğrulama подтверждения підтвердження"
    ).split()
)
# Words that say of no kind of code that they mean it; with one of _DETERMINERS they mean the reader's.
_BARE: Final = frozenset(
    "code codes código códigos codigo codice codici kod kodu koden код кода коду кодом"
    " kode kód koodi mã קוד رمز كود کد".split()
)
_BARE_CHARS: Final = 24
_DETERMINERS = re.compile(
    r"(?<![^\W\d_])(?:your|this|the|enter|use|type|dein|ihr|diesen|diesem|der|den|dem|votre|ton|le|ce|tu|su|el"
    r"|este|seu|o"
    r"|tuo|suo|il|questo|je|uw|de|deze|twój|ten|din|ваш|этот|введите|введіть)[ :]$",
    re.IGNORECASE,
)
_INTRODUCERS_MAX: Final = 2  # "code is: 2026"
_CLAUSE_END = re.compile(r"[.:;,!?\n]")
_ALPHABETIC = re.compile(
    r"(?P<word>[A-Za-z\u00c0-\u024f\u0400-\u052f\u05d0-\u05ea\u0620-\u064a\u0671-\u06d3\u1e00-\u1eff]+)"
    r"(?:[0-9]{1,2}(?![0-9A-Za-z]))?"  # "PIN1" is a name too
)
_IDEOGRAPHIC = re.compile(
    "验证码|驗證碼|校验码|校驗碼|动态码|動態碼|动态密码|確認碼|确认码|安全码|安全碼|登录码|登入碼"
    "|一次性密码|一次性密碼|口令|(?:验证|安全|一次性)代码|(?:驗證|安全|一次性)代碼"
    "|激活码|啟用碼|授权码|授權碼|取件码|取件碼"
    "|(?:認証|確認|検証|ログイン|セキュリティ|アクセス|本人確認)?コード|(?:認証|確認|検証|暗証)番号"
    "|ワンタイムパスワード|パスコード"
    "|パスワード|密码|密碼"
    "|인증 ?번호|(?:(?:인증|확인|보안|로그인|일회용) ?)?코드|비밀번호"
)
# What makes a code another one's: in front of it, or behind it in languages that put it there.
_OTHERS: Final = (
    # cheaper with it
    "promo|rabat|discount|coupon|cupom|cupón|cupon|kupon|купон|voucher|gutschein|aktions|vorteil"
    "|kortings|actie|kampanj"
    "|sconto|descuento|desconto|réduction|reduction|remise|avantage|zniżk|indirim|kampanya|promosyon"
    "|скидк|знижк|cadeau"
    "|geschenk|empfehl|parrain"
    # places and clothes
    "|vorwahl|länder|landcode|landnummer|avviamento|почт|пошт|poczt|город|міст|vluchthaven|dress"
    "|vestiment|abbigliament"
    "|kleidung|kleding"
    "|réserv|prenotaz|pays|seguimiento|producto|referid|país|regalo|indicaç|tracciam|paese|volgc|tracec"
    "|rezerwac|polecaj|kraju|podarunk"
    "|bokning|spårning|värvning|presentk|ülke|hediye|karek|бронир|бронюв|реферал|страны|країни|подароч|подарунк"
    "|rezerva|rezervač|sledovac|doporuč|chybov|dárkov|čárov|země|chyby|banky|bookingk|varek|gavek|landek|landsk|landkod"
    "|fejl|feil|henvis|vervek|streg|strek|varaus|tuote|suosit|maakood|virhe|lahja|viiva|foglalás|termék|ajánló|ország"
    "|hibak|ajándék|vonalk|cikk"
    "|slev|alennus|tarjous|kedvezmény|diskon|giảm|khuyến|giới thiệu|bưu|البريدي|الخصم|خصم|تخفیف|پستی"
    "|ה?הנחה|ה?קופון|poštov"
    "|المنتج|القسيمة|الإحالة|الدولة|البلد|الخطأ|التتبع|الهدية|بطاقة|محصول|معرف|کشور|خطا|هدیه|رزرو"
    "|ה?(?:מוצר|מעקב|שגיאה|מדינה|מתנה)|produk|barang|sản phẩm|sinh viên|quà tặng|đặt chỗ"
    # faults, machines and wares
    "|erreur|fehler|błędu|hata|ошибк|помилк|quell|unicode|encode|decode|geocode|rastre|suivi|śledz|takip"
    "|отслеж|відстеж|seuranta|sporing|követési|nyomkövet|zásil|vận đơn|رهگیری|پیگیری"
    "|produkt|produit|artikel|artículo|товар|barr|strich|streep|streck|kresk|штрих|farb|couleur|colore|renk"
    # banks, customers and orders
    "|banque|banca|banka|guichet|agence|fiscal|kunden|klant|client|klient|müşteri|клиент|клієнт|reserv"
    "|buchung|boeking"
    "|bestell|bestel|command|pedido|encomend|zamówien|beställ|sipariş|заказ|замовл"
    "|bestilling|objedn|tilaus|rendelés|pesanan|đơn hàng|khách hàng|giao dịch|الطلب|سفارش|ملی|הזמנה"
    # words that names begin with too ("Salesforce code"), so whole ones alone
    "|(?:zip|post|postal|postale|posta|area|country|dial|error|erro|errore|fel|fout|status|exit|response"
    "|return|source|track"
    "|tracking|product|produto|prodotto|article|articolo|ürün|item|bar|barre|qr|gift|referral|refer"
    "|swift|bic|sort|bank"
    "|banku|branch|şube|alan|zone|tax|ape|naf|fiscale|colou?r|hex|airport|class|course|offer|sale"
    "|savings?|order|ordine"
    "|member|customer|airline|booking|category|merchant|conduct|civil|pénal|penal|coverage|review|base"
    "|freeze|style|pos|negara|thuế|vùng|gd)"
    "(?![^\\W\\d_])"
)
_QUALIFIERS: Final = (  # a code with one of these before it is one, whoever sends it: "your Bank verification code"
    "verif|vérif|valid|security|secur|sicher|login|sign|access|zugang|confirm|bestätig|auth|activat"
    "|aktiv|one|otp|pin"
)
_OTHERS_BEFORE = re.compile(
    rf"(?<![^\W\d_])(?:{_OTHERS})[^\W\d_]*[ '\u2019-]*(?:(?!{_QUALIFIERS})[^\W\d_]{{1,12}} )?$", re.IGNORECASE
)
_OTHERS_WITHIN = re.compile(
    rf"(?:{_OTHERS}|промо)|(?:zip|post|bar|qr|bank|error|fel|fout|fehler|source|track|product|item|area"
    rf"|gift|tax|colou?r)"
    "(?:nummer)?(?:codes?|kod|koden|kody|код)",
    re.IGNORECASE,
)
_OTHERS_BEHIND = re.compile(
    rf"^[ '\u2019-]*(?:(?:de|d|di|da|do|du|des|del|della|of|a|l|la|le)[ '\u2019]+)*(?:{_OTHERS})",
    re.IGNORECASE,
)
# In languages that say behind the word whose code it is, all but these say that it is another's.
_NAMED_BEHIND: Final = frozenset("mã kode קוד رمز كود کد".split())
_NAME_BEHIND = re.compile(r"[ \u00a0]{1,2}(?![A-Z]{4})(?=[^\W\d_]+(?![0-9]))")
_READERS_BEHIND = re.compile(
    # Vietnamese, Indonesian
    "xác|otp|pin|sau|này|bên|dưới|của|kích|đăng|bảo mật|truy|một lần|an toàn|gồm|là|để|được|trong|hết|có|và"
    "|đặt lại|khôi phục|verifik|konfirm|otentik|autentik|aktiva|masuk|log|keamanan|akses|berikut|ini|di |anda|untuk"
    "|sekali|rahasia|adalah|yang|akan|hanya|reset|pemulihan|tersebut|dan"
    # Danish, Norwegian
    "|til|for|er |som|neden|herunder|her |inden|innen|i |på|og|når|ved|fra|med|har|ud|ut|gælder|gjelder|under|din|ditt"
    # Hebrew
    "|ה?אימות|ה?כניסה|ה?גישה|ה?אבטחה|ה?זיהוי|ה?הפעלה|ה?התחברות|חד|סודי|זמני|שלך|זה|הזה|הוא|אישור|ל|בן|ה-"
    # Arabic, Persian
    "|(?:ال)?(?:تحقق|تفعيل|تأكيد|دخول|أمان|امان|مصادقة|توثيق|مرور|سر|وصول|مؤقت|سري)|لمرة|تسجيل|إعادة|استعادة|الخاص"
    "|صالح|هو|من |التالي|تایید|تأیید|ورود|فعال|یک|زیر|امنیتی|عبور|پویا|شما|این|احراز|اعتبار|را|دسترسی|بازیابی"
    r"|[^\W\d_]{1,20} (?:شما|الخاص|שלך|anda|của bạn)",  # of a brand
    re.IGNORECASE,
)
_READERS_BEFORE_HANGUL = re.compile(r"(?:의|이|다음|아래|해당|위|본|OTP|PIN|SMS|2FA|[A-Z][a-z]\w{1,20}) ?$")
_NAME_BEFORE_HANGUL = re.compile("[\uac00-\ud7a3A-Za-z] ?$")
_OTHERS_IDEOGRAPHIC = re.compile(
    "(?:支店|銀行|口座|契約|伝票|顧客|登録|管理|店舗|金融機関|地域|市外|分類|学校|クーポン|割引|優待"
    "|商品|製品|エラー|バー|QR"
    "|プロモーション|紹介|招待|国|郵便|注文|追跡|問い合わせ|問合せ|お客様|会員|電話|受付|予約"
    "|优惠|優惠|折扣|产品|產品|错误|錯誤|兑换|兌換|推广|邀请|二维|取件|条形?|條"
    "|ギフト|(?:쿠폰|할인|프로모션|추천|초대|상품|국가|지역|오류|에러|바) ?)$"
)
_SAYS_THAT_IT_IS = re.compile(
    r"(?:[:=>–—→-]|(?<![^\W\d_])(?:is|are|ist|lautet|est|es|è|é|são|to|jest|är|lyder|это|це"
    r"|er|adalah|là|הוא|היא|هو|هي)|[はが是为為])"
    r"[\s\"'«“‘„「『《(\[]*$",
    re.IGNORECASE,
)
_ASKS_TO_TYPE = re.compile(
    r"(?<![^\W\d_])(?:use|enter|type|type in|paste|punch in|mit|verwenden sie|nutze|nutzen sie|gib|geben sie|tippe"
    r"|saisissez|entrez|utilisez"
    r"|tapez|avec|usa|usa el|utiliza|introduce|introduzca|ingresa|ingrese|teclea|digite|introduza|insira"
    r"|inserisci|inserisca"
    r"|digita|gebruik|voer|typ|toets|wpisz|użyj|wprowadź|przepisz|ange|använd|knappa in|skriv in|введите"
    r"|используйте|наберите"
    r"|введіть|використайте|наберіть|brug|bruk|indtast|použijte|zadejte|käytä|syötä|használd|gunakan|masukkan"
    r"|nhập|dùng) $|(?:输入|輸入|填写|填寫) ?$",
    re.IGNORECASE,
)


class CodeWords:
    """The words for codes in a text; each is judged once, and only when somebody looks near it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._spans = sorted(_spans(text))
        self._anothers: dict[int, bool] = {}
        self._bare: dict[int, bool] = {}

    def between(self, first: int, last: int, *, bare: bool = True) -> Iterator[tuple[int, int]]:
        """Where those stand that begin from `first` on and before `last`, less those for a code of something else.

        `bare`: also those that are a mere "code", of nobody knows what.
        """
        for at in range(bisect_left(self._spans, (first,)), len(self._spans)):
            start, end = self._spans[at]
            if start >= last:
                return
            if at not in self._anothers:
                self._anothers[at] = _is_anothers(self._text, start, end)
            if not self._anothers[at] and (bare or not self._is_bare(at)):
                yield start, end

    def _is_bare(self, at: int) -> bool:
        if at not in self._bare:
            self._bare[at] = self._says_not_what_it_opens(*self._spans[at])
        return self._bare[at]

    def _says_not_what_it_opens(self, start: int, end: int) -> bool:
        first = max(0, start - _BARE_CHARS)
        if self._text[start:end].lower() not in _BARE or _DETERMINERS.search(self._text[first:start]):
            return False
        before = _CLAUSE_END.split(self._text[first:start])[-1]
        behind = _CLAUSE_END.split(self._text[end : end + _BARE_CHARS])[0]
        return not speaks_of_signing_in(before + self._text[start:end] + behind)


def anothers_code_words(window: str) -> Iterator[int]:
    """Where words for a code of something else end."""
    return (end for start, end in _spans(window) if _is_anothers(window, start, end))


def _spans(text: str) -> Iterator[tuple[int, int]]:
    for word in _ALPHABETIC.finditer(text):
        if _names_a_code(word["word"]):
            yield word.span()
    for word in _IDEOGRAPHIC.finditer(text):
        yield word.span()


def _names_a_code(word: str) -> bool:
    lowered = word.lower()
    return lowered in _WHOLE or lowered.endswith(_ENDINGS)


def is_numbered_word(shown: str) -> bool:
    """Is it a word for a code and which of them is meant: "PIN1", "OTP2"?"""
    word = _ALPHABETIC.fullmatch(shown)
    return word is not None and _names_a_code(word["word"])


def introduces(before: str) -> bool:
    """Do the words right before a number say that it comes now: a colon, an arrow, "is"?"""
    return _SAYS_THAT_IT_IS.search(before) is not None


def introduces_alone(between: str) -> bool:
    """Does what stands between a word and a number say that the number comes now, and nothing else?"""
    for _ in range(_INTRODUCERS_MAX):
        said = _SAYS_THAT_IT_IS.search(between)
        if said is None:
            return False
        between = between[: said.start()].rstrip()
        if not between:
            return True
    return False


def asks_to_type(before: str) -> bool:
    """Does what stands right before a number ask to use, enter or type it?"""
    return _ASKS_TO_TYPE.search(before) is not None


def _is_anothers(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - _OTHERS_CHARS) : start]
    if _IDEOGRAPHIC.match(text, start):
        return _OTHERS_IDEOGRAPHIC.search(before) is not None or _is_hangul_s(text[start:end], before)
    return (
        _is_named_behind(text, start, end)
        or _OTHERS_WITHIN.match(text, start, end) is not None
        or _OTHERS_BEFORE.search(before) is not None
        or _OTHERS_BEHIND.match(text[end : end + _OTHERS_CHARS]) is not None
    )


def _is_named_behind(text: str, start: int, end: int) -> bool:
    """Does a name stand behind a word in whose language it says whose code it is, and not the reader's?"""
    named = _NAME_BEHIND.match(text, end) if text[start:end].lower() in _NAMED_BEHIND else None
    return named is not None and _READERS_BEHIND.match(text, named.end()) is None


def _is_hangul_s(word: str, before: str) -> bool:
    """Does a Korean name stand before a word that says of no kind of code that it means it?"""
    is_named = word == "코드" and _NAME_BEFORE_HANGUL.search(before) is not None
    return is_named and _READERS_BEFORE_HANGUL.search(before) is None
