"""The words right before a number which tell that it is no code: an order's, a card's, a telephone's, a count."""

import re
from typing import Final

from maild.message.sign_in.code_words import anothers_code_words, asks_to_type

# Whatever follows these, with a word for "number" between, is a number of theirs.
_NUMBERED: Final = (
    "order|orders|invoice|ticket|case|booking|reservation|reference|ref|request|account|customer|member"
    "|tracking|flight"
    "|room|version|build|transaction|payment|receipt|serial|model|policy|claim|error|ext|extension|box|suite|"
    "bestellung|bestellnummer|bestell|auftrag|auftrags|rechnung|rechnungs|kunden|kundennummer|rechnungsnummer"
    "|auftragsnummer|ticketnummer|vorgang|vorgangsnummer|buchung|buchungsnummer|sendung|sendungsnummer|konto"
    "|kontonummer|vertrag|vertragsnummer|commande|facture|dossier|réservation|compte|colis|client|pedido"
    "|factura"
    "|reserva|cuenta|cliente|envío|encomenda|fatura|conta|ordine|fattura|prenotazione|conto|spedizione"
    "|pratica"
    "|bestelling|bestelnummer|factuur|factuurnummer|klantnummer|rekening|zamówienie|zamówienia|faktura"
    "|faktury|konta"
    "|klienta|beställning|ordernummer|fakturanummer|kundnummer|ärende|ärendenummer|sipariş|rezervasyon"
    "|hesap|müşteri"
    "|заказ|заказа|счёт|счет|счёта|счета|договор|клиента|замовлення|рахунок|рахунку|клієнта"
    "|incident|contract|référence|contrat|incidencia|referencia|contrato|protocolo|chamado|referência"
    "|riferimento"
    "|contratto|referentie|umowa|zgłoszenie|zgłoszenia|sprawa|rachunek|rachunku|avtal|referens|talep"
    "|kayıt|sözleşme"
    "|обращение|обращения|заявка|заявки|звернення"
    "|ordre|ordrenummer|ordrenr|kundenummer|fakturanr|postnummer|sagsnummer|saksnummer|sporingsnummer|referanse"
    "|objednávka|objednávky|zásilky|zákazníka|účtu|smlouvy|psč|tilausnumero|asiakasnumero|viitenumero|postinumero"
    "|laskunumero|rendelésszám|rendelés|ügyfélszám|számlaszám|irányítószám|pesanan|pelanggan|tagihan|resi|rekening"
    "|đơn hàng|hóa đơn|khách hàng|tài khoản|giao dịch|vận đơn|hotline"
    "|הזמנה|ההזמנה|חשבונית|לקוח|פנייה|מיקוד"
    "|التتبع|الهاتف|التذكرة|المرجعي|العملية|المعاملة|الشحنة|מעקב|חשבון|אסמכתא|symbol|zákaznické"
    "|tilinumero|varausnumero|laskun|lähetystunnus|bestillingsnummer|foglalási|tlf|telepon|tham chiếu|điện thoại"
    "|coupon|voucher|kupon|kupón|cupón|cupom|plz|postleitzahl|referenznummer|suivi|seguimiento|cep|cap|przesyłki"
    "|bokningsnummer|takip|трек|артикул|индекс|індекс"
    "|الطلب|طلب|الفاتورة|الحجز|الحساب|العميل|البريدي|سفارش|فاکتور|مشتری|حساب|پستی|رهگیری|پیگیری|تراکنش"
)
_NUMBER_OF = re.compile(
    rf"(?:#|№|(?<![^\W\d_])(?:{_NUMBERED})[ :.#-]{{0,3}}"
    r"(?:(?:number|numbers|num|no|nr|nº|n°|n|№|id|nummer|numéro|número|numero|numer|numarası|номер|číslo|code"
    r"|is|ist|est|es|is)"
    r"[ :.#°º№-]{0,3}){0,2})$",
    re.IGNORECASE,
)
_NUMBER_OF_IDEOGRAPHIC = re.compile(
    "(?:注文|請求書?|予約|会員|お客様|受付|問い合わせ|伝票|订单|訂單|发票|發票|账号|帳號|客户|客戶|快递"
    "|运单|单号|單號|工单)"
    "(?:番号|号码|號碼|编号|編號|号|號)?(?:は|为|為|是)?[ :\uff1a]{0,2}$"
    r"|(?:(?<!認証)(?<!確認)(?<!検証)(?<!暗証)番号|号码|號碼|编号|編號)(?:は|为|為|是)?[ :\uff1a]{0,2}$"
)
_CODE_OF_CHINESE = re.compile(
    "(?:(?<!验证)(?<!安全)(?<!一次性)(?<!驗證)[编編代][码碼]|(?:优惠|優惠|折扣|邀请|邀請|推荐|推薦|错误|錯誤|礼品|禮品|二维|二維|条形|條形|兑换|兌換)[码碼]"
    "|邮编|郵編|电话|電話)[ :\uff1a]{0,2}$"
)
_NUMBER_OF_HANGUL = re.compile(
    "(?:(?:쿠폰|결제|승인|신청|주문|예약|운송장|송장|고객|회원|접수|문의|계좌|카드|전화|우편|거래|등록) ?번호|학번)"
    "(?:는|은)?[ :\uff1a]{0,2}$"
)
_ENDING_IN = re.compile(
    r"(?:ending(?: in| with)?|ends (?:in|with)|last (?:four|4)(?: digits)?|endet auf|endend auf"
    r"|endende auf|Endziffern"
    r"|se terminant par|terminad[oa] en|terminad[oa] em|che termina con|eindigend op|kończąc\w+ się na"
    r"|slutar på"
    r"|ile biten|заканчивающ\w+ на|закінчується на|末尾|下4桁|尾号|末四位)[ :\uff1a]{0,2}$",
    re.IGNORECASE,
)
_IDENTIFIED = re.compile(r"(?<![^\W\d_])id[ :.#]{1,3}$", re.IGNORECASE)  # of a user, a session, a request
_CARD = re.compile(
    r"(?:(?<![^\W\d_])(?:card|karte|carte|tarjeta|cartão|carta|pas|betaalpas|karta|kartą|karty|kort"
    r"|kortet|kart"
    r"|карта|карты|картой|картка|картки|карткою) |カード ?|卡 ?)$",
    re.IGNORECASE,
)
_DIALLED = re.compile(
    r"(?<![^\W\d_])(?:call|text|dial|ring|phone|tel|telephone|telefon|fax|hotline|helpline|sms an"
    r"|wählen sie|rufen sie"
    r"|appelez|appelez le|téléphone|llame al|llama al|teléfono|ligue|ligue para|telefone|chiama"
    r"|chiama il|telefono|bel"
    r"|bel naar|telefoon|zadzwoń|infolinia|arayın|звоните|позвоните|телефон|дзвоніть|puhelin|telefonszám|hubungi"
    r"|gọi|טלפון|هاتف|تلفن|전화|고객센터)[.: ]{1,3}$",
    re.IGNORECASE,
)
_COUNTED = re.compile(  # "the code in 1100 lines", "code orange at 1800"
    r"(?<![^\W\d_])(?:in|of|from|at|since|over|until|till|page|section|form|von|bis|ab|um|seit|über"
    r"|seite|à|dès|desde|hasta|até"
    r"|dal|fino|van|tot|sinds|od|około|från) $",
    re.IGNORECASE,
)
_INTRODUCES = re.compile(r"[^.!?。！？\n0-9]{0,16}")
_HIDDEN_BEFORE = re.compile(r"[*\u2022xX\u00d7.\u2026]{2,}[ -]?$")
_NAMING_SOMETHING_ELSE: Final = (
    _NUMBER_OF,
    _NUMBER_OF_IDEOGRAPHIC,
    _NUMBER_OF_HANGUL,
    _CODE_OF_CHINESE,
    _ENDING_IN,
    _HIDDEN_BEFORE,
    _IDENTIFIED,
    _CARD,
    _DIALLED,
)
_CURRENCY: Final = (
    r"[$€£¥₹₺₽₴₩₫₪]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|RUB|UAH|TRY|TL|PLN|SEK|BRL|kr|zł|Rs|NOK|DKK|Kč|CZK|Ft|HUF|Rp|IDR"
    r"|VND|KRW|IRR|SAR|ILS)\b"
)
_MONEY_BEFORE = re.compile(rf"(?:{_CURRENCY})\s?$")
_MEASURE_BEHIND = re.compile(
    rf"[ \u00a0]?(?:{_CURRENCY}|[%‰°]|zł|руб|грн|ريال|ریال|تومان|[円元年月日点人分秒원년월일분초]"
    r"|(?:[Mm]in(?:ut\w{1,3})?|[Ss]e[ck]|[Ss]econd[ei]?s?|[Ss]ekund\w{0,3}|[Ss]egundos?|сек\w{0,4}|мин\w{0,3}|хв|хвилин|dakika"
    r"|perc|menit|phút|דקות|دقائق|دقيقة|دقیقه"
    r"|GB|MB|kB|TB|km|kg|px|kWh|mAh|m²)\b)"
)
_TELEPHONE_BEFORE = re.compile(r"(?:\+\s?[0-9 ()/.-]{1,14}|[0-9]\)?[ /-]|[0-9]\)?[.])$")
_TELEPHONE_BEHIND = re.compile(r"(?:[ /-]{1,2}\(?|\.|\)[ /-]?)[0-9]")
_ZIP_DIGITS: Final = 5
_STATE_BEFORE = re.compile(r",\s?[A-Z]{2} $")
_RIGHTS_BEFORE = re.compile(r"(?:©|\([cC]\)|[cC]opyright)\s?(?:[0-9]{4}\s?[-–]\s?)?$")


def means_something_else(before: str, number: str, behind: str) -> bool:
    """Do the words right before and behind a number tell that it is no code?

    Then it is an amount, a year beside a right, a telephone number, a postal code; an order's, an account's, a card's.
    """
    if any(one.search(before) for one in (_MONEY_BEFORE, _RIGHTS_BEFORE, _TELEPHONE_BEFORE)):
        return True
    if _MEASURE_BEHIND.match(behind) or _TELEPHONE_BEHIND.match(behind):
        return True
    if len(number) == _ZIP_DIGITS and _STATE_BEFORE.search(before):
        return True
    return names_something_else(before)


def names_something_else(before: str) -> bool:
    """Do the words right before a number, or on the line above it, name what is no code to type?"""
    if any(one.search(before) for one in _NAMING_SOMETHING_ELSE):
        return True
    if _COUNTED.search(before) and not asks_to_type(before):  # "type in 1234"
        return True
    return any(_INTRODUCES.fullmatch(before, end) for end in anothers_code_words(before))
