"""What a mail is about, as far as it decides whether a number in it is a code to type."""

import re
from typing import Final

# What a mail with a code to type is about. A mere "code" is not enough: clinics, zones and storms have codes.
_SIGNING_IN: Final = tuple(
    (
        # to show that it is you
        "verif|vérif|authenti|autenti|autoris|autoriz|autoryz|authoris|authoriz|confirm|bestätig|bevestig|potwierdz"
        "|bekräft|conferm|onay|doğrula|weryfik|uwierzyteln|автентиф|аутентиф|подтвер|підтвер|провер|перевір|kontrollkod"
        "|controlecode|contrôle|認証|確認|検証|本人|验证|驗證|校验|校驗|确认|確認"
        "|two-factor|two factor|two-step|multi-factor|zwei-faktor"
        "|bekræft|bekreft|godkend|ověř|potvr|vahvist|todenn|megerősít|ellenőrz|azonosít|verifikasi|autentikasi"
        "|otentikasi|konfirmasi|xác thực|xác minh|xác nhận|인증|확인|לאמת|אימות|אישור|تحقق|تأكيد|مصادقة|تایید|تأیید"
        # to sign in
        "|sign in|sign-in|signing in|signin|sign up|sign-up|signing up|signup|log in|log-in|login|logging in|logged in"
        "|access code|anmeld|einlogg|zugang|connexion|connect|accéder|accès|sesión|acceso|sessão|acesso|accedi|accesso"
        "|inlog|in te loggen|aanmeld|toegang|zalog|logowan|dostęp|logga in|åtkomst|giriş|erişim|вход|войти|доступ|вхід"
        "|увійти|ログイン|サインイン|登录|登錄|登入"
        "|log ind|logg inn|innlogging|adgang|přihl|prihl|kirjaud|kirjautu|bejelentkez|đăng nhập|đăng ký|로그인|가입"
        "|כניסה|התחבר|تسجيل الدخول|ورود"
        "|registr|register|rejestr|inscription|inscripción|inscrição|iscrizion|kayıt|регистр|реєстр|注册|註冊"
        # with a password, or a code that works once
        "|password|passcode|pincode|passwort|kennwort|mot de passe|contraseña|senha|wachtwoord|hasł|lösenord"
        "|şifre|парол"
        "|パスワード|暗証|密码|密碼|one time|one-time|einmal|usage unique|un solo uso|uso único|monouso"
        "|kodeord|passord|hesl|salasan|jelsz|kata sandi|mật khẩu|비밀번호|סיסמ|كلمة المرور|رمز عبور|گذرواژه|رمز پویا"
        "|jednoráz|kertakäyttö|egyszer használ|egyszerhasznál|sekali pakai|일회용|חד פעמי"
        "|لمرة واحدة|یکبارمصرف|احراز هویت"
        "|usa e getta|eenmalig"
        "|jednoraz|engångs|tek kullanımlık|одноразов|ワンタイム|一次性|动态|動態|tempora|temporär|tijdelijk|tymczasow"
        "|tillfällig|geçici|временн|тимчасов"
        # to make an account usable, or safe, or whole again
        "|activat|activer|activac|aktivier|freischalt|attiv|ativaç|aktywac|aktiver|etkinleş|активац|有効化|激活|pairing"
        "|secur|sicher|sécurité|segur|sicurezza|beveilig|bezpiecz|säkerhet|güvenlik|безопас|безпек"
        "|セキュリティ|安全|new device|aktivál|kích hoạt|aktivasi|pendaftaran|보안|تفعيل|فعالسازی"
        "|recover|wiederherst|herstel|récup|recuper|odzysk|återst|kurtar|восстанов|віднов"
        # to open a locker or a door
        "|collect|pick up|pick-up|pickup|entry code|door code|abhol|retrait|recogida|levantamento|ritiro|ophaal|odbior"
        "|odbiór|hämt|teslim|получени|отриман|受け取|取件"
        # or it is called the reader's own
        "|digit code|stelliger code|stelligen code|6 chiffres|6 dígitos|6 cifre|haneli kod|значный код"
        "|hier ist dein|kodunuz|informe o código|à saisir|введите|введіть|入力|输入|輸入|填写|填寫"
    ).split("|")
)
_SIGNING_IN_WHOLE = re.compile(
    r"(?<![^\W\d_])(?:(?:otp|totp|mfa|2fa|m?tan|pin|пін|пин|id code|clave|masuk)(?![a-zß-ÿа-яіїєґ])"
    r"|(?:is your|ist dein|ist ihr|is je|is uw|är din|er din) (?:[\w.]{1,20}[ -]){1,2}(?:code|kode|kod)\b"
    r"|رمز ?:? ?[0-9]{5}|(?:הקוד|קוד) שלך|(?:الرمز|رمزك|رمز)(?= الخاص بك)"
    r"|(?:your|dein|ihr|votre|ton|tu|su|seu|tuo|je|uw|twój|din|ваш|твой|твій) (?:code|código|codice|kod"
    r"|код)\b(?! review)"
    r"|(?:enter|type|use|give|donnez|communiquez|geef) (?:in )?(?:this |the |the following |le |de )code"
    r"|(?:personal|persönlicher?|personnel|persoonlijke|osobisty|personliga?) (?:code|kod))"
)
_HASTE = re.compile(
    r"[0-9] ?(?:min|hour|stunde|heure|hora|ora\b|ore\b|uur|godzin|timm|saat|dakika|мин|час|хв|годин|分|小时|小時|時間)"
    "|expire|läuft ab|caduca|scade|verloopt|wygasa|истекает|有効期限",
    re.IGNORECASE,
)
_SHOPPING = re.compile(
    r"check ?out|[0-9] ?[%％]|%[0-9]|shipping|livraison|envío grat|frete|spedizione|verzend|frakt"
    r"|доставк|送料|包邮|discount|rabatt|gutschein|korting|sconto|descuento"
    r"|desconto|réduction|zniżk|rabat|indirim|скидк|знижк|割引|クーポン|折扣|优惠|優惠|warenkorb|panier"
    r"|carrito|carrinho|carrello"
    r"|winkelwagen|koszyk|varukorg|sepet|корзин|кошик|カート|购物车|購物車|结账|結帳|kasse\b|coupon"
    r"|voucher|promo|spar",
    re.IGNORECASE,
)
_MEETING = re.compile(
    r"(?:meeting|webinar|conference|besprechungs|konferenz|réunion|reunión|reunião|riunione"
    r"|vergaderings?|spotkania|mötes"
    r"|toplantı|конференции|конференції|ミーティング|会议|會議)[ -]?(?:id|号|號)(?![^\W\d_])|id (?:de|da"
    r"|della) "
    r"(?:la )?(?:reunión|réunion|reunião|riunione)",
    re.IGNORECASE,
)
_RECEIPT = re.compile(r"(?:authori[sz]ation|approval) code\W{0,3}$", re.IGNORECASE)
_RECEIPT_WORDS = re.compile(r"transaction id|received your payment|receipt|approved|terminal", re.IGNORECASE)
_TRAVEL = re.compile(
    "reservation|itinerary|check-?in|departure|guests?|buchung|anreise|réservation|séjour|prenotazione"
    "|soggiorno|reserva"
    "|estancia|estadia|boeking|rezerwacj|bokning|rezervasyon|бронир|бронюв",
    re.IGNORECASE,
)
_CONFIRMATION = re.compile(
    "(?:confirmation code|bestätigungscode|code de confirmation|código de confirmaci[óo]n"
    "|código de confirmação"
    "|codice di conferma|bevestigingscode|bekräftelsekod|onay kodu|код подтверждения|код підтвердження)"
    r"\W{0,3}$",
    re.IGNORECASE,
)


def speaks_of_signing_in(text: str) -> bool:
    """Is the text about signing in, verifying, opening: what mails with a code to type are about?"""
    lowered = text.lower()
    return any(word in lowered for word in _SIGNING_IN) or _SIGNING_IN_WHOLE.search(lowered) is not None


def speaks_of_haste(text: str) -> bool:
    """Does the text say that something in it is good for minutes or hours only?"""
    return _HASTE.search(text) is not None


def speaks_of_shopping(sentence: str) -> bool:
    """Is the sentence about what is cheaper with a code?"""
    return _SHOPPING.search(sentence) is not None


def speaks_of_meeting(before: str) -> bool:
    """Does what stands before name a meeting? Its passcode opens nothing else."""
    return _MEETING.search(before) is not None


def speaks_of_receipt(before: str) -> bool:
    """Is the number a bank's approval on a receipt, or a booking's confirmation? Nobody is asked to type them."""
    return any(
        label.search(before[-40:]) is not None and setting.search(before) is not None
        for label, setting in ((_RECEIPT, _RECEIPT_WORDS), (_CONFIRMATION, _TRAVEL))
    )
