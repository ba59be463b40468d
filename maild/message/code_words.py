"""The words by which mails name codes, in fourteen languages, and those by which they name something else.

English, German, French, Spanish, Portuguese, Italian, Dutch, Polish, Swedish, Turkish, Russian, Ukrainian, Japanese,
Chinese. Callers hand in windows of some hundred characters, so each look is bounded.
"""

import re
from collections.abc import Iterator
from typing import Final

# "Bestätigungscode", "doğrulama kodunuz", "verifieringskoden": what a word for a code ends in.
_ENDINGS: Final = tuple(
    "code codes passcode código códigos codigo codice kod kodu kodun kodunuz kodunuzu kodem koden"
    " код кода коду кодом".split()
)
_WHOLE: Final = frozenset(
    (
        "otp totp pin tan mtan pincode"
        " password passwort kennwort einmalpasswort einmalkennwort passe contraseña clave senha parola wachtwoord"
        " hasło hasła lösenord engångslösenord şifre şifreniz şifresi пароль паролем пароля"
        " verification verifizierung vérification verificación verificação verifica verificatie weryfikacja"
        " weryfikacyjny weryfikacyjnego verifiering doğrulama подтверждения підтвердження"
    ).split()
)
_ALPHABETIC = re.compile(r"[A-Za-z\u00c0-\u024f\u0400-\u052f]+")
_IDEOGRAPHIC = re.compile(
    "验证码|驗證碼|校验码|校驗碼|动态码|動態碼|动态密码|确认码|確認碼|安全码|安全碼|登录码|登入碼|一次性密码|一次性密碼|口令"
    "|(?:認証|確認|検証|ログイン|セキュリティ|アクセス|本人確認)?(?:コード|番号)|ワンタイムパスワード|パスコード|パスワード|暗証番号"
)
# What makes a code another one's: in front of it, or behind it in languages that put it there.
_OTHERS: Final = (
    "promo|rabat|discount|coupon|voucher|gutschein|aktions|vorteil|kortings|actie|kampanj|sconto|descuento|desconto"
    "|réduction|reduction|remise|avantage|indirim|kampanya|promosyon|скидк|знижк|zip|post|area|vorwahl|country|länder"
    "|landcode|landnummer|dial|dress|error|erreur|fehler|erro\\b|errore|błędu|fel|fout|hata|ошибк|помилк|status|exit"
    "|source|quell|track|rastre|suivi|takip|product|produ|produkt|artikel|article|articolo|artículo|ürün|товар|item|bar"
    "|barr|streep|streck|kresk|qr|gift|cadeau|geschenk|referral|refer|empfehl|parrain|swift|sort|bank|banc|branch|tax"
    "|fiscal|fiscale|colou?r|farb|hex|airport|vluchthaven|class|course|offer|sale|saving|штрих|почт|пошт|город|міст"
    "|unicode|encode|decode|geocode|member|kunden|customer|airline|booking|reserv|buchung"
)
_OTHERS_BEFORE = re.compile(
    rf"(?<![^\W\d_])(?:{_OTHERS})[^\W\d_]*[ '\u2019-]*(?:[^\W\d_]{{1,12}} )?$", re.IGNORECASE
)
_OTHERS_WITHIN = re.compile(rf"(?:{_OTHERS}|промо|unicode|encode|decode|geocode)", re.IGNORECASE)
_OTHERS_BEHIND = re.compile(
    rf"^[ '\u2019-]*(?:(?:de|d|di|da|do|du|des|del|della|of)[ '\u2019]+)*(?:{_OTHERS})", re.IGNORECASE
)
_OTHERS_IDEOGRAPHIC = re.compile(
    "(?:クーポン|割引|優待|商品|製品|エラー|バー|QR|プロモーション|紹介|招待|国|郵便|注文|追跡|問い合わせ|問合せ|お客様|会員|電話|受付|予約"
    "|优惠|優惠|折扣|产品|產品|错误|錯誤|兑换|兌換|推广|邀请|二维|取件|条形?|條)$"
)
_PLAIN_IDEOGRAPHIC = frozenset(("コード", "番号"))
# Whatever follows these, with a word for "number" between, is a number of theirs.
_NUMBERED: Final = (
    "order|orders|invoice|ticket|case|booking|reservation|reference|ref|request|account|customer|member|tracking|flight"
    "|room|version|build|transaction|payment|receipt|serial|model|policy|claim|error|ext|extension|box|suite|"
    "bestellung|bestellnummer|bestell|auftrag|auftrags|rechnung|rechnungs|kunden|kundennummer|rechnungsnummer"
    "|auftragsnummer|ticketnummer|vorgang|vorgangsnummer|buchung|buchungsnummer|sendung|sendungsnummer|konto"
    "|kontonummer|vertrag|vertragsnummer|commande|facture|dossier|réservation|compte|colis|client|pedido|factura"
    "|reserva|cuenta|cliente|envío|encomenda|fatura|conta|ordine|fattura|prenotazione|conto|spedizione|pratica"
    "|bestelling|bestelnummer|factuur|factuurnummer|klantnummer|rekening|zamówienie|zamówienia|faktura|faktury|konta"
    "|klienta|beställning|ordernummer|fakturanummer|kundnummer|ärende|ärendenummer|sipariş|rezervasyon|hesap|müşteri"
    "|заказ|заказа|счёт|счет|счёта|счета|договор|клиента|замовлення|рахунок|рахунку|клієнта"
)
_NUMBER_OF = re.compile(
    rf"(?:#|№|(?<![^\W\d_])(?:{_NUMBERED})[ :.#-]{{0,3}}"
    r"(?:(?:number|numbers|num|no|nr|nº|n°|n|№|id|nummer|numéro|número|numero|numer|numarası|номер|code|is|ist|est|es|is)"
    r"[ :.#°º№-]{0,3}){0,2})$",
    re.IGNORECASE,
)
_NUMBER_OF_IDEOGRAPHIC = re.compile(
    "(?:注文|請求書?|予約|会員|お客様|受付|問い合わせ|伝票|订单|訂單|发票|發票|账号|帳號|客户|客戶|快递|运单|单号|單號|工单)"
    "(?:番号|号码|號碼|编号|編號|号|號)?(?:は|为|為|是)?[ :\uff1a]{0,2}$"
)
_ENDING_IN = re.compile(
    r"(?:ending(?: in| with)?|ends (?:in|with)|last (?:four|4)(?: digits)?|endet auf|endend auf|endende auf|Endziffern"
    r"|se terminant par|terminad[oa] en|terminad[oa] em|che termina con|eindigend op|kończąc\w+ się na|slutar på"
    r"|ile biten|заканчивающ\w+ на|закінчується на|末尾|下4桁|尾号|末四位)[ :\uff1a]{0,2}$",
    re.IGNORECASE,
)
_INTRODUCES = re.compile(r"[^.!?。！？\n0-9]{0,16}")
_HIDDEN_BEFORE = re.compile(r"[*\u2022xX\u00d7.\u2026]{2,}[ -]?$")
_SIGNING_IN = re.compile(
    "verif|verifiz|vérif|weryfik|doğrula|подтвер|підтвер|sign[ -]?in|sign[ -]?up|log[ -]?in|anmeld|connexion|connect"
    "|iniciar sesión|inicio de sesión|iniciar sessão|accedi|accesso|inloggen|aanmeld|zalog|logowan|logga in|inlogg"
    "|giriş|вход|войти|вхід|увійти|ログイン|サインイン|認証|本人確認|登录|登錄|登入|验证|驗證|code|kod|код|コード|passcode|otp"
    "|one-time|einmal|usage unique|un solo uso|uso único|monouso|eenmalig|jednoraz|engångs|tek kullanımlık|одноразов",
    re.IGNORECASE,
)

_SHOPPING = re.compile(
    r"check ?out|% ?(?:off|rabatt|korting|de |di |zni|indirim)|discount|rabatt|gutschein|korting|sconto|descuento"
    r"|desconto|réduction|zniżk|rabat|indirim|скидк|знижк|割引|クーポン|折扣|优惠|優惠|warenkorb|panier|carrito|carrinho|carrello"
    r"|winkelwagen|koszyk|varukorg|sepet|корзин|кошик|カート|购物车|購物車|结账|結帳|kasse\b|coupon|voucher|promo|spar",
    re.IGNORECASE,
)


def code_words(window: str) -> Iterator[tuple[int, int]]:
    """Where words for a code stand, less those for a code of something else."""
    return ((start, end) for start, end, is_anothers in _words(window) if not is_anothers)


def _words(window: str) -> Iterator[tuple[int, int, bool]]:
    for word in _ALPHABETIC.finditer(window):
        lowered = word[0].lower()
        if lowered in _WHOLE or lowered.endswith(_ENDINGS):
            yield *word.span(), _is_anothers(window, *word.span(), lowered)
    for word in _IDEOGRAPHIC.finditer(window):
        before = window[max(0, word.start() - 12) : word.start()]
        yield *word.span(), _OTHERS_IDEOGRAPHIC.search(before) is not None


def _is_anothers(window: str, start: int, end: int, word: str) -> bool:
    if _OTHERS_WITHIN.match(word):
        return True
    if _OTHERS_BEFORE.search(window[max(0, start - 32) : start]):
        return True
    return _OTHERS_BEHIND.match(window[end : end + 40]) is not None


def names_something_else(before: str) -> bool:
    """Does what stands right before a number name it: an order's, an account's, the end of a card's, a postal code?"""
    if any(one.search(before) for one in (_NUMBER_OF, _NUMBER_OF_IDEOGRAPHIC, _ENDING_IN, _HIDDEN_BEFORE)):
        return True
    return any(
        is_anothers and _INTRODUCES.fullmatch(before, end) is not None
        for _, end, is_anothers in _words(before)
    )


def speaks_of_shopping(sentence: str) -> bool:
    """Is the sentence about what is cheaper with a code?"""
    return _SHOPPING.search(sentence) is not None


def speaks_of_signing_in(text: str) -> bool:
    """Is the text about verifying, signing in, or a code at all?"""
    return _SIGNING_IN.search(text) is not None
