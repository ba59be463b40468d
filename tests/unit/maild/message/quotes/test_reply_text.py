"""What the new words of a reply are, in the languages and clients of the world.

Two laws: what a client wrote goes, and what the author wrote stays, also where it looks like the other."""

from __future__ import annotations

import pytest

from maild.message.digest import digest
from maild.message.parsing.text import QuotedWords, extract_reply, html_to_text, whose_quotes
from tests.support.laws.work import assert_proportional, bomb

REPLY = "Ja, gerne.\n\nBis bald"
OLD = "old words\nand older ones"
QUOTED = "> old words\n>\n> and older ones"

# What a client writes above the original, and says enough by itself: the original may stand below without marks.
ATTRIBUTIONS = {
    "en gmail": "On Mon, 4 May 2026 at 10:12, Ann Example <ann@example.org> wrote:",
    "en gmail, us": "On Mon, May 4, 2026 at 10:12 AM Ann Example <ann@example.org> wrote:",
    "en apple": "On 4 May 2026, at 10:12, Ann Example <ann@example.org> wrote:",
    "en date alone": "On May 4, 2026 you wrote:",
    "en numbers": "On 04/05/26 10:12, Ann Example wrote:",
    "en offset": "On Mon, 2026-05-04 at 10:12 +0200, Ann Example wrote:",
    "en eudora": "At 5/4/2026 10:12 AM, you wrote:",
    "en sent": "On 4-May-2026, at 10:12 AM, Ann Example <ann@example.org> sent:",
    "en mailto": "On Mon, 4 May 2026 10:12 Ann <ann@example.org<mailto:ann@example.org>> wrote:",
    "en zoho": "---- On Mon, 04 May 2026 10:12:07 +0200 Ann Example <ann@example.org> wrote ----",
    "en zoho, bare": "On Mon, 04 May 2026 10:12:07 +0200 Ann Example <ann@example.org> wrote",
    "en dashes": "------On 5/4/2026 10:12 AM, Ann Example wrote-----",
    "en samsung": "---- Ann Example wrote ----",
    "en name first": "Ann Example <ann@example.org> wrote on Mon, May 4, 2026 at 10:12 AM:",
    "de gmail, a note behind the name": "Ann (Example Inc.) <ann@example.org> schrieb am Mo., 4. Mai 2026 um 10:12:",
    "de thunderbird": "Am 04.05.2026 um 10:12 schrieb Ann Example:",
    "de gmail": "Ann Example <ann@example.org> schrieb am Mo., 4. Mai 2026 um 10:12 Uhr:",
    "de gmail, old": "Am Mo., 4. Mai 2026 um 10:12 Uhr schrieb Ann Example <ann@example.org>:",
    "de wrapped in the address": 'Am 4. Mai 2026 10:12 schrieb "Ann Example" <ann@example.org\n>:',
    "de wrapped before the time": "Ann Example <ann@example.org> schrieb am Mo., 4. Mai 2026 um\n10:12 Uhr:",
    "de wir": "Am 4. Mai 2026, 10:12, schrieben Sie:",
    "de wrapped behind the day": "Ann Example <ann@example.org> schrieb am Mo., 4.\nMai 2026, 10:12:",
    "nl gmail": "Op ma 4 mei 2026 om 10:12 schreef Ann Example <ann@example.org>:",
    "nl apple": "Op 4 mei 2026, om 10:12 heeft Ann Example <ann@example.org> het volgende geschreven:",
    "nl quoted name": 'Op 4 mei 2026 10:12 schreef "Ann Example" <ann@example.org> het\nvolgende geschreven:',
    "pl dnia": "Dnia 4 maja 2026 10:12 Ann Example <ann@example.org> napisał(a):",
    "pl gmail": "pon., 4 maj 2026 o 10:12 Ann Example <ann@example.org> napisał(a):",
    "pl day first": '4 maj 2026 10:12 "Ann Example" <ann@example.org> napisał(a):',
    "pl w dniu": "W dniu 4 maja 2026 10:12 użytkownik Ann Example <ann@example.org>\nnapisał:",
    "no gmail": "man. 4. mai 2026 kl. 10:12 skrev Ann Example <ann@example.org>:",
    "no apple": "Den 4. mai 2026 kl. 10.12 skrev Ann Example <ann@example.org<mailto:ann@example.org>>:",
    "no på": "På 4 mai 2026 på 10:12:18, Ann Example (ann@example.org) skrev:",
    "da": "Den man. 4. maj 2026 kl. 10.12 skrev Ann Example <ann@example.org>:",
    "sv": "Den mån 4 maj 2026 kl 10:12 skrev Ann Example <ann@example.org>:",
    "sv apple": "4 maj 2026 kl. 10:12 skrev Ann Example <ann@example.org>:",
    "ru gmail": "пн, 4 мая 2026 г. в 10:12, Анна <ann@example.org>:",
    "ru gmail, old": "понедельник, 4 мая 2026 г. пользователь Анна написал:",
    "ru yandex": '04.05.2026, 10:12, "Анна" <ann@example.org>:',
    "ru mail.ru": "Mon, 4 May 2026 10:12:00 +0300 от Анна <ann@example.org>:",
    "ru apple": "4 мая 2026 г., в 10:12, Анна <ann@example.org> написал(а):",
    "uk": "пн, 4 трав. 2026 р. о 10:12 Анна <ann@example.org> пише:",
    "uk, bare address": '4 трав. 2026 р. 10:12 "Анна" ann@example.org пише:',
    "vi gmail": "Vào Th 2, 4 thg 5, 2026 lúc 10:12 Ann <ann@example.org> đã viết:",
    "vi": "Vào 10:12 4 tháng 5, 2026, Ann Example <ann@example.org> đã viết:",
    "fr gmail": "Le lun. 4 mai 2026 à 10:12, Ann Example <ann@example.org> a écrit :",
    "fr wrapped": "Le lun. 4 mai 2026 à 10:12, Ann Example <ann@example.org> a\nécrit :",
    "es gmail": "El lun, 4 may 2026 a las 10:12, Ann Example (<ann@example.org>) escribió:",
    "es": "El lunes, 4 de mayo de 2026, Ann Example escribió:",
    "it gmail": "Il giorno lun 4 mag 2026 alle ore 10:12 Ann <ann@example.org> ha scritto:",
    "it": "Il 4 maggio 2026 alle 10.12 Ann Example <ann@example.org> ha scritto:",
    "pt gmail": "Em seg., 4 de mai. de 2026 às 10:12, Ann <ann@example.org> escreveu:",
    "fi gmail": "ma 4. toukok. 2026 klo 10.12 Ann Example (ann@example.org) kirjoitti:",
    "fi": "Ann Example <ann@example.org> kirjoitti 4.5.2026 kello 10.12:",
    "cs gmail": "po 4. 5. 2026 v 10:12 odesílatel Ann Example <ann@example.org> napsal:",
    "cs": "Dne 4.5.2026 v 10:12 Ann Example napsal(a):",
    "sk": "Dňa 4. 5. 2026 o 10:12 Ann Example napísal(a):",
    "tr gmail": "Ann Example <ann@example.org>, 4 May 2026 Pzt, 10:12 tarihinde şunu yazdı:",
    "tr apple": "Ann Example <ann@example.org> şunları yazdı (4 May 2026 10:12):",
    "hu gmail": "Ann Example <ann@example.org> ezt írta (időpont: 2026. máj. 4., H, 10:12):",
    "hu": "2026.05.04. 10:12 keltezéssel, Ann Example írta:",
    "ro": "În lun., 4 mai 2026 la 10:12, Ann Example <ann@example.org> a scris:",
    "el": "Στις Δευ 4 Μαΐ 2026 στις 10:12 π.μ., ο χρήστης Ann <ann@example.org> έγραψε:",
    "zh gmail": "Ann Example <ann@example.org> 于2026年5月4日周一 10:12写道：",
    "zh-tw gmail": "Ann Example <ann@example.org> 於 2026年5月4日 週一 上午10:12寫道：",
    "zh": "在 2026年5月4日，上午10:12，Ann Example <ann@example.org> 写道：",
    "ja gmail": "2026年5月4日(月) 10:12 Ann Example <ann@example.org>:",
    "ja apple": "2026/05/04 10:12、Ann Example <ann@example.org>のメール:",
    "ko gmail": "2026년 5월 4일 (월) 오전 10:12, Ann Example <ann@example.org>님이 작성:",
    "he gmail": "\u202bבתאריך יום ב׳, 4 במאי 2026 ב-10:12 "
    "מאת \u202aAnn\u202c\u200f <\u202aann@example.org\u202c\u200f>:\u202c",
    "ar apple": "في ٠٤/٠٥/٢٠٢٦ الساعة ١٠:١٢ ص، كتب/كتبت Ann Example <ann@example.org>:",
    "ar gmail": "في الاثنين، 4 مايو 2026 في 10:12 ص تمت كتابة ما يلي بواسطة Ann Example <ann@example.org>:",
    "pt gmail, name first": "Ann Example <ann@example.org> escreveu no dia segunda, 4/05/2026 à(s) 10:12:",
    "hr gmail": "pon, 4. svi 2026. u 10:12 Ann Example <ann@example.org> napisao je:",
    "sr gmail": "пон, 4. мај 2026. у 10:12 Ann Example <ann@example.org> је написао/ла:",
    "sl gmail": "V V pon., 4. maj 2026 ob 10:12 je oseba Ann Example <ann@example.org> napisala:",
    "en mail.ru": "Monday, 4 May 2026, 10:12 AM +0300 from Ann Example <ann@example.org>:",
    "ru mail.ru, day first": "Понедельник, 4 мая 2026, 10:12 +03:00 от Анна <ann@example.org>:",
    "en yandex, time first": '10:12 AM, May 4, 2026, "Ann Example" <ann@example.org>:',
    "no verb, iso": "2026-05-04 10:12 GMT+02:00 Ann Example <ann@example.org>:",
    "no verb, wrapped": "2026-05-04 10:12 GMT+02:00 Ann Example <\nann@example.org>:",
    "wrapped twice": "On May 4, 2026, at 10:12 AM, Ann Example <\nann.with.a.long.name@example.org>\nwrote:",
    "wrapped in the date": "On May 4, 2026,\nat 10:18,\nAnn Example <ann@example.org> wrote:",
    "wrapped in four": "On Mon, May 4, 2026 at 10:07 PM Ann Example\n\n<\nmailto:Ann <ann@example.org>\n> wrote:",
    "pt gmail, date behind": "Ann Example <ann@example.org> escreveu (terça, 5/05/2026 à(s) 10:12):",
    "et gmail": "Kontakt Ann Example (<ann@example.org>) kirjutas kuupäeval T, 5. mai 2026 kell 10:12:",
    "fa gmail": "در تاریخ سه\u200cشنبه ۵ مهٔ ۲۰۲۶،\u200f ۱۰:۱۲ Ann Example <ann@example.org> نوشت:",
    "zh outlook, mac": "在 2026/5/4 上午10:12，“Ann Example”<ann@example.org> 写入:",
    "kmail, it": "In data lunedì 4 maggio 2026 10:12:07 CEST, Ann Example ha scritto:",
    "thunderbird, ja, old": "(2026/05/04 10:12), Ann Example wrote:",
    "thunderbird, ca": "El 4/5/26 a les 10:12, Ann Example ha escrit:",
    "thunderbird, hr": "04. 05. 2026. u 10:12, Ann Example piše:",
    "thunderbird, nn": "Den 04.05.2026 10:12, skreiv Ann Example:",
    "thunderbird, eu": "2026-05-04 10:12(e)an, Ann Example igorleak idatzi zuen:",
    "thunderbird, ka": "თარიღი 04.05.2026 10:12, Ann Example წერს:",
    "thunderbird, kk": "04.05.2026 10:12 уақытында, Ann Example жазған:",
    "thunderbird, ms": "Pada 4/5/2026 10:12, Ann Example membalas:",
    "thunderbird, zh-tw": "王小明 於 2026/5/4 10:12 寫道:",
    "thunderbird, ar": "على 4\u200f/5\u200f/2026 \u202b10:12، كتب Ann Example:",
    "roundcube, az": "2026-05-04 10:12 tarixdə, Ann Example yazıb:",
    "roundcube, eu": "2026-05-04 10:12 egunean, Ann Example-(e)k idatzi du:",
    "hi gmail": "सोम, 4 मई 2026 को 10:12 am बजे को Ann <ann@example.org> ने लिखा:",
    "sogo, es": "El 04/05/2026 10:12, Ann Example <ann@example.org> Ha escrito:",
    "sogo, uk": "04/05/2026 10:12 Ann Example написав(ла):",
    "evolution, et": "Ühel kenal päeval, E, 04.05.2026 kell 10:12, kirjutas Ann Example:",
    "evolution, fa": "روز دوشنبه، 2026-05-04 ساعت 10:12 +0200، Ann Example نوشت:",
    "evolution, sq": "Ditën e Hën, 04/05/2026 më 10.12 +0200, Ann Example ka shkruar:",
    "mutt, cs": "V Mon, May 04, 2026 at 10:12:07AM +0200, Ann Example napsal(a):",
    "roundcube, fa": "در 2026-05-04 10:12، Ann Example نوشته است:",
    "roundcube, ko": "2026-05-04 10:12에 Ann Example이(가) 쓴 내용:",
    "roundcube, lb": "Den 2026-05-04 10:12, Ann Example schreift:",
    "groupwise": ">>> Ann Example <ann@example.org> 5/4/2026 10:12 AM >>>",
    "groupwise, de": '>>> "Example, Ann" <ann@example.org> 04.05.26 10.12 Uhr >>>',
    "claws, fi": "Mon, 04 May 2026 10:12:07 +0200\nAnn Example <ann@example.org> kirjoitti:",
    "claws, ru": "В Mon, 04 May 2026 10:12:07 +0200\nAnn Example <ann@example.org> пишет:",
    "claws, tr": "Mon, 04 May 2026 10:12:07 +0200 tarihinde\nAnn Example <ann@example.org> yazdı:",
    "spark, ru": "4 мая 2026 г., 10:12 +0300, Ann Example <ann@example.org>, писал:",
    "zoho, de": "---- Am Mo, 04 Mai 2026 10:12:07 +0200 schrieb Ann Example <ann@example.org> ----",
    "zoho, sv": "---- Den mån, 04 maj 2026 10:12:07 +0200 skrev Ann Example <ann@example.org> ----",
    "wrapped at its end": "man. 4. mai 2026 kl. 10:12 skrev Ann Example <ann@example.org\n>:",
}

# These an author may write himself: they count above a quote only.
ABOVE_A_QUOTE = {
    "name and address": "Ann Example <ann@example.org> wrote:",
    "name and address, de": "Ann Example <ann@example.org> schrieb:",
    "name and address, ru": "Ann Example <ann@example.org> писал:",
    "a name, on a date": "Ann Example on Monday, 4 May 2026 at 10:12 AM wrote:",
    "a name and a date": "Ann Example, 04.05.2026 10:12:",
    "name and address in brackets": "Ann Example (ann@example.org) wrote:",
    "a list": "ann_example via A List wrote:",
    "usenet": "In message <4711@example.org> Ann Example <ann@example.org> writes:",
    "a name": "Ann B. Example wrote:",
    "date and address, no colon": "2026/5/4 Ann Example <ann@example.org>",
    "a day": "On Monday 4th, Ann wrote:",
    "a name before the date": "Ann Example wrote on 5/4/26 10:12 AM:",
    "a name before the date, de": "Ann Example schrieb am 04.05.2026 um 10:12:",
    "a name before the date, nl": "Ann Example schreef op 2026-05-04 10:12:",
    "mutt": "* Ann Example <ann@example.org> [2026-05-04 10:12]:",
    "mutt, old": "* Ann Example (ann@example.org) [040526 10:12]:",
    "sup": "Excerpts from Ann Example's message of Mon May 04 10:12:15 +0200 2026:",
    "horde": "Quoting Ann Example <ann@example.org>:",
    "horde, de": "Zitat von Ann Example <ann@example.org>:",
    "horde, es": "Citando Ann Example <ann@example.org>:",
    "address alone": "ann@example.org wrote:",
    "address and date, notes": "ann@example.org wrote on 05/04/2026 10:12:07 AM:",
    "horde, fr": "Selon Ann Example <ann@example.org>:",
    "horde, nl": "Citeren Ann Example <ann@example.org>:",
    "usenet, thus": "Thus spake Ann Example (ann@example.org):",
    "thunderbird, fr": "Ann Example a écrit\xa0:",
    "thunderbird, fr, date behind": "Ann Example a écrit le 04/05/2026 à 10:12\xa0:",
    "thunderbird, it": "Ann Example ha scritto:",
    "thunderbird, ro": "Ann Example a scris:",
    "thunderbird, vi": "Ann Example đã viết:",
    "thunderbird, vi, date behind": "Ann Example đã viết vào lúc 10:12 04/05/2026:",
    "thunderbird, ca, name": "Ann Example ha escrit:",
    "thunderbird, sl": "Ann Example je 4. 05. 2026 ob 10:12\xa0napisal:",
    "thunderbird, sl, name": "Ann Example je napisal(a):",
    "thunderbird, nb, name": "skrev Ann Example:",
    "thunderbird, uk": "04.05.2026 10:12, Ann Example:",
    "thunderbird, be": "Ann Example напісаў 04.05.2026 у 10:12:",
    "thunderbird, bg": "Ann Example написа на 4.05.2026 г. в 10:12:",
    "thunderbird, el": "Ο/Η Ann Example έγραψε στις 4/5/2026 10:12:",
    "thunderbird, hu": "Ann Example írta 2026. 05. 04. 10:12 dátummal:",
    "thunderbird, sq": "Ann Example shkroi më 4.5.2026, 10:12:",
    "thunderbird, th": "เมื่อ 4/5/2026 เวลา 10:12 Ann Example เขียนว่า:",
    "thunderbird, ko": "Ann Example 이(가) 2026. 5. 4. 10:12 에 쓴 글:",
    "thunderbird, ar, name": "كتب Ann Example:",
    "thunderbird, he": "נכתב על ידי Ann Example, ב־4.5.2026 בשעה 10:12:",
    "evolution, cs": "Ann Example píše v Po 04. 05. 2026 v 10:12 +0200:",
    "evolution, ko": "2026-05-04 (월), 10:12 +0200, Ann Example:",
    "evolution, th": "เมื่อ จ. 2026-05-04 เวลา 10:12 +0200, Ann Example เขียนว่า:",
    "roundcube, ar": "كتب Ann Example في 2026-05-04 10:12:",
    "roundcube, lv": "Ann Example @ 2026-05-04 10:12 rakstīja:",
}

BLOCKS = {
    "en": "From: Ann <ann@example.org>\nSent: Monday, 4 May 2026 10:12\nTo: Bob\nSubject: Offer",
    "en, bold": "*From:* Ann [mailto:\nann@example.org]\n*Sent:* Monday, 4 May 2026\n*To:* Bob\n*Subject:* Offer",
    "en, date": "From: ann@example.org\nReply-To: x@example.org\nDate: Monday, May 4, 2026\nTo: bob@example.org",
    "en, short": "From: ann@example.org\nDate: Mon, 4 May 2026 10:12:00 +0200",
    "en, hotmail": "Date: Mon, 4 May 2026 10:12:00 +0200\nSubject: Offer\nFrom: ann@example.org\nTo: bob@example.org",
    "en, hotmail, short": "Date: Mon, 4 May 2026 10:12:00 +0200\nTo: bob@example.org",
    "en, to first": "To: bob@example.org\nFrom: ann@example.org\nDate: Mon, 4 May 2026\nSubject: Offer",
    "en, one line": "From: ann@example.org Sent: Monday, 4 May 2026 10:12 To: Bob",
    "en, bold, markdown": "**From:** Ann <ann@example.org>\n**Sent:** Monday\n**To:** Bob\n**Subject:** Offer",
    "en, blank lines": "From: Ann <ann@example.org>\n\nSent: Monday, 4 May 2026\n\nTo: Bob\n\nSubject: Offer",
    "de": "Von: Ann <ann@example.org>\nGesendet: Montag, 4. Mai 2026 10:12\nAn: Bob\nBetreff: Angebot",
    "de, gmx": "Gesendet: Montag, 4. Mai 2026 um 10:12\nVon: Ann <ann@example.org>\nAn: Bob\nBetreff: Angebot",
    "de, gmx, blank lines": "**Gesendet:** 4. Mai 2026 um 10:12\n\n**Von:** Ann <ann@example.org>\n\n**An:** Bob",
    "fr, in bold": "** De : Ann a@example.org **\n** Envoyé : 4 mai 2026 10:12 **\n** À : Bob **\n** Objet : Prix **",
    "ko, no-break spaces": "보낸\xa0사람: Ann <ann@example.org>\n보낸\xa0날짜: 2026년 5월 4일\n받는\xa0사람: Bob",
    "nl": "Van: Ann <ann@example.org>\nVerzonden: maandag 4 mei 2026 10:12\nAan: Bob\nOnderwerp: Bod",
    "fr": "De : Ann <ann@example.org>\nEnvoyé : lundi 4 mai 2026 10:12\nÀ : Bob\nObjet : Offre",
    "fr, yahoo": "De : Ann <ann@example.org>\nÀ : Bob\nEnvoyé le : Lundi 4 mai 2026 10h12\nObjet : Offre",
    "fr, orange": "Message du : 04/05/2026 10:12\nDe : Ann <ann@example.org>\nA : bob@example.org\nSujet : Offre",
    "es": "De: Ann <ann@example.org>\nEnviado el: lunes, 4 de mayo de 2026\nPara: Bob\nAsunto: Oferta",
    "it": "Da: Ann <ann@example.org>\nInviato: lunedì 4 maggio 2026 10:12\nA: Bob\nOggetto: Offerta",
    "pt": "De: Ann <ann@example.org>\nEnviada em: segunda-feira, 4 de maio de 2026\nPara: Bob\nAssunto: Oferta",
    "sv": "Från: Ann <ann@example.org>\nSkickat: den 4 maj 2026 10:12\nTill: Bob\nÄmne: Offert",
    "da": "Fra: Ann <ann@example.org>\nSendt: 4. maj 2026 10:12\nTil: Bob\nEmne: Tilbud",
    "fi": "Lähettäjä: Ann <ann@example.org>\nLähetetty: 4. toukokuuta 2026\nVastaanottaja: Bob\nAihe: Tarjous",
    "pl": "Od: Ann <ann@example.org>\nWysłano: 4 maja 2026 10:12\nDo: Bob\nTemat: Oferta",
    "cs": "Od: Ann <ann@example.org>\nOdesláno: 4. května 2026\nKomu: Bob\nPředmět: Nabídka",
    "ru": "От: Анна (ann@example.org)\nОтправлено: понедельник, 4 мая 2026 г.\nКому: Боб\nТема: Цена",
    "uk": "Від: Анна <ann@example.org>\nНадіслано: 4 травня 2026\nКому: Боб\nТема: Ціна",
    "tr": "Kimden: Ann <ann@example.org>\nGönderildi: 4 Mayıs 2026\nKime: Bob\nKonu: Teklif",
    "el": "Από: Ann <ann@example.org>\nΣτάλθηκε: 4 Μαΐου 2026\nΠρος: Bob\nΘέμα: Τιμή",
    "zh": "发件人: Ann <ann@example.org>\n发送时间: 2026年5月4日 10:12\n收件人: Bob\n主题: 报价",
    "zh, wide colons": "发件人：Ann <ann@example.org>\n发送时间：2026年5月4日 10:12\n收件人：Bob\n主题：报价",
    "ja": "差出人: Ann <ann@example.org>\n送信日時: 2026年5月4日 10:12\n宛先: Bob\n件名: 見積",
    "bg": "От: Ан <ann@example.org>\nИзпратено: понеделник, 4 май 2026\nДо: Боб\nОтносно: Оферта",
    "mk": "Од: Ен <ann@example.org>\nИспратено: 4 мај 2026\nДо: Боб\nПредмет: Понуда",
    "sr": "Од: Ен <ann@example.org>\nПослато: 4. мај 2026.\nЗа: Боб\nТема: Понуда",
    "hr": "Od: Ann <ann@example.org>\nPoslano: 4. svibnja 2026.\nZa: Bob\nPredmet: Ponuda",
    "hr, apple": "Šalje: Ann <ann@example.org>\nPredmet: Ponuda\nDatum: 4. svibnja 2026.\nPrima: Bob",
    "sl": "Od: Ann <ann@example.org>\nPoslano: ponedeljek, 4. maj 2026\nZa: Bob\nZadeva: Ponudba",
    "lt": "Nuo: Ann <ann@example.org>\nIšsiųsta: 2026 m. gegužės 4 d.\nKam: Bob\nTema: Pasiūlymas",
    "lv": "No: Ann <ann@example.org>\nNosūtīts: 2026. gada 4. maijs\nKam: Bob\nTēma: Cena",
    "et": "Saatja: Ann <ann@example.org>\nSaadetud: 4. mai 2026\nAdressaat: Bob\nTeema: Pakkumine",
    "ca": "De: Ann <ann@example.org>\nEnviat el: dilluns, 4 de maig de 2026\nPer a: Bob\nTema: Oferta",
    "eu": "Nork: Ann <ann@example.org>\nBidalia: 2026(e)ko maiatzak 4\nNori: Bob\nGaia: Eskaintza",
    "is": "Frá: Ann <ann@example.org>\nSent: mánudagur, 4. maí 2026\nTil: Bob\nEfni: Tilboð",
    "lt, sogo": "Tema: Pasiūlymas\nData: 2026-05-04 10:12\nNuo: Ann <ann@example.org>\nKam: Bob",
    "kk": "Тақырыбы: Баға\nКүні: 04.05.2026 10:12\nКімнен: Ann <ann@example.org>\nКімге: Bob",
    "sq": "Nga: Ann <ann@example.org>\nDërguar: 4 maj 2026\nPër: Bob\nSubjekti: Oferta",
    "ru, apple": "Отправитель: Анна <ann@example.org>\nДата: 4 мая 2026 г.\nТема: Цена\nПолучатель: Боб",
    "ro, apple": "Expeditorul: Ann <ann@example.org>\nDată: 4 mai 2026\nDestinatarul: Bob\nSubiectul: Preț",
    "fa": "از: Ann <ann@example.org>\nارسال شده: 4 مه 2026\nبه: Bob\nموضوع: قیمت",
    "ko": "보낸 사람: Ann <ann@example.org>\n보낸 날짜: 2026년 5월 4일\n받는 사람: Bob\n제목: 견적",
}

# What clients write above what they pass on.
FORWARD_MARKS = [
    "----------  Препратено съобщение  ----------",  # these four as KMail's catalogs have them
    "----------  Treść przekierowywanej wiadomości  ----------",
    "----------  Пересылаемое письмо  ----------",
    "----------  转发的信件  ----------",
    "------message retransmis de Ann------",  # Balsa
    "------przekazana wiadomość od Ann------",
    "-------- Messatge transferit --------",  # Evolution
    "Begin forwarded message:",
    "Začátek přeposílané zprávy:",
    "Start på videresendt besked:",
    "Anfang der weitergeleiteten Nachricht:",
    "Inicio del mensaje reenviado:",
    "Välitetty viesti alkaa:",
    "Début du message réexpédié :",
    "Début du message transféré :",
    "Započni proslijeđenu poruku:",
    "Továbbított levél kezdete:",
    "Inizio messaggio inoltrato:",
    "Begin doorgestuurd bericht:",
    "Videresendt melding:",
    "Początek przekazywanej wiadomości:",
    "Início da mensagem reencaminhada:",
    "Începe mesajul redirecționat:",
    "Начало переадресованного сообщения:",
    "Začiatok preposlanej správy:",
    "Vidarebefordrat mejl:",
    "İleti başlangıcı:",
    "Початок листа, що пересилається:",
    "---------- Forwarded message ---------",
    "----- Přeposlaná zpráva -----",
    "----- Videresendt meddelelse -----",
    "-------- Weitergeleitete Nachricht --------",
    "----- Mensaje reenviado -----",
    "----- Edelleenlähetetty viesti -----",
    "----- Message transmis -----",
    "----- Mensagem reencaminhada -----",
    "----- Preposlaná správa -----",
    "-------- Preposlaná správa --- Forwarded Message --------",
    "----- İletilmiş Mesaj -----",
    "-------- İletilmiş İleti --------",
    "-------- İletilen İleti --------",
    "----- Перенаправлене повідомлення -----",
    "-------- Перенаправленное сообщение --------",
    "-------- Proslijeđena poruka --------",
    "--- Treść przekazanej wiadomości ---",
    "---------- Wiadomość przesłana dalej ----------",
    "---------- メッセージを転送 ----------",
    "-------- Missatge reenviat --------",
    "-------- Edastatud kiri --------",
    "-------- Persiųstas laiškas --------",
    "-------- Posredovano sporočilo --------",
    "-------- 转发的消息 --------",
    "-------- رسالة ممرّرة --------",
    "-------- Перанакіраванае паведамленне --------",
    "-------- Videresendt brev --------",
    "-------- Wiadomość przekazywana ----------",
    "-------- Ďalej odoslaná správa --------",
    "---------- Mesaj înaintat ----------",
    "-------- Yönlendirilmiş İleti --------",
    "-------- הודעה מועברת --------",
    "-------- 転送するメッセージ --------",
    "-------- 转发的信息 --------",
    "---------- 轉寄的訊息 ----------",
    "---------- Пересланий лист ----------",
    "Beginn der weitergeleiteten Nachricht:",
    "Začátek předané zprávy:",
    "Αρχή προωθημένου μηνύματος:",
    "開始轉寄郵件：",
    "-------- Препратено писмо --------",
    "-------- Прослеђена порука --------",
    "-------- Pārsūtītā vēstule --------",
    "-------- Προωθημένο μήνυμα --------",
    "-------- Pesan Diteruskan --------",
    "-------- ข้อความที่ส่งต่อ --------",
    "-------- Tin nhắn đã được chuyển tiếp --------",
    "-------- הודעה שהועברה --------",
]

MARKS = [
    "-----Original Message-----",
    "----- Original Message -----",
    "*-------- Original Message --------*",
    "-----Reply Message-----",
    "-----Original\xa0Message-----",
    "Original Message processed by david® <https://david.tobit.software>",
    "[Original Message processed by david®](https://david.tobit.software)",
    "-----Ursprüngliche Nachricht-----",
    "-----Antwort Nachricht-----",
    "-----Oprindelig meddelelse-----",
    "-----Opprinnelig melding-----",
    "-------- Oprindelig besked --------",
    "‐‐‐‐‐‐‐ Original Message ‐‐‐‐‐‐‐",
    "–––– Original Message ––––",
    "##- Please type your reply above this line -##",
    "--- Reply above this line ---",
    "##- Bitte geben Sie Ihre Antwort oberhalb dieser Zeile ein -##",
    "##- Bitte oberhalb dieser Zeile antworten / Please reply above this line -##",
    "##- Введите свой ответ над этой строкой -##",
    "##- Kirjoita vastauksesi tämän rivin yläpuolelle -##",
    "******************* Reply Above This Line *******************",
    "== Add your reply above this line ==",
    "-=-=-=- Please reply above this line -=-=-=-",
    "—-—-—-— Reply above this line —-—-—-—",
    "--- Reply above. Please keep this line. ---",
    "----- Escriba su respuesta por encima de esta línea -----",
    "===== Por favor, responda acima desta linha =====",
    "===== Antwoord boven deze lijn alstublieft =====",
    "***** Scrivi la tua risposta sopra questa riga *****",
    "======== Ved svar: Svar over denne linjen. ========",
    "----- Skriv ditt svar ovanför den här raden -----",
    "----- Wpisz odpowiedź powyżej tej linii -----",
    "_____ Veuillez répondre au-dessus de cette ligne _____",
    "------------ Bitte oberhalb dieser Zeile antworten ------------",
    "-----Ursprungligt meddelande-----",
    "-----邮件原件-----",
    "-------- Message initial --------",
    "-------- オリジナルのメッセージ --------",
    "-----Oprindeligt brev-----",
    "-------- Alkuperäinen viesti / Orig.Msg. --------",
    "-------- Pôvodná správa --- Original Message --------",
    "--- Treść oryginalnej wiadomości ---",
    "-------- Missatge original --------",
    "-------- Izvorna poruka --------",
    "-------- Izvirno sporočilo --------",
    "-------- Originalus laiškas --------",
    "-------- Початкове повідомлення --------",
    "-------- الرسالة الأصليَّة --------",
    "-------- 原始消息 --------",
    "--------    원본 메시지    --------",
    "-----Alkuperäinen viesti-----",
    "-----Message d'origine-----",
    "-----Message d’origine-----",
    "-----Mensaje original-----",
    "-----Messaggio originale-----",
    "-----Mensagem original-----",
    "-----Oorspronkelijk bericht-----",
    "-----Wiadomość oryginalna-----",
    "-----Původní zpráva-----",
    "---------- Původní e-mail ----------",
    "-----Исходное сообщение-----",
    "-----Orijinal Mesaj-----",
    "------------------ 原始邮件 ------------------",
    "-----元のメッセージ-----",
    "-----원본 메시지-----",
]

DEVICE_LINES = [
    "Envoyé à partir de Courrier pour Windows",
    "Envoyé à partir de Yahoo Mail sur Android",
    "Envoyé depuis l'application Mail Orange",
    "Provenance : Courrier pour Windows",
    "Provenienza: Posta per Windows 10",
    "Sent from my Verizon, Samsung Galaxy smartphone",
    "Sent from Samsung Mobile on O2",
    "Wysłane ze smartfonu Samsung Galaxy.",
    "Išsiųsta iš mano iPhone",
    "Nosūtīts no mana iPhone",
    "Saadetud minu iPhone'ist",
    "Poslato sa mog iPhone-a",
    "Poslano iz iPhone",
    "Elküldve az iPhone-omról",
    "Đã gửi từ iPhone của tôi",
    "Dihantar daripada iPhone saya",
    "مُرسل من الـ iPhone الخاص بي",
    "发自网易邮箱大师",
    "Pobierz program Outlook dla systemu iOS",
    "Загрузить Outlook для iOS",
    "Android için Outlook’u edinin",
    "获取适用于 Android 的 Outlook",
    "取得 iOS 版 Outlook",
    "iOS용 Outlook 다운로드",
    "Λήψη του Outlook για iOS<https://aka.ms/o0ukef>",
    "Preuzeto s <https://go.microsoft.com/fwlink/?LinkId=550986> Pošta za Windows",
    "Sent from my iPhone",
    "Sent from my iPhone.",
    "Sent from my\xa0iPhone",
    "Trimis de pe iPhone‑ul meu",
    "Sent using the mobile mail app",
    "Sent from my Example 10 smartphone on the Example Wireless 4G LTE\nnetwork.",
    "*Sent from my iPhone*",
    "(Sent from mobile device)",
    "<<sent by galaxy>>",
    "Sent from my Example One 4G",
    "Sent from my TI-85",
    "Sent from my cell, please excuse any typos.",
    "Sent from my Samsung phone.  Please excuse typos",
    "Sent from my Windows 8 PC <https://example.org/preview>",
    "Sent from Yahoo Mail on Android",
    "Sent from Mailbox for iPad",
    "Sent with Proton Mail secure email.",
    "[Sent from Yahoo Mail for iPhone](https://example.org/?.src=iOS)",
    "Get Outlook for iOS<https://example.org/o0>",
    "Get Outlook for Androidhttps://example.org/o0",
    "Von meinem iPhone gesendet",
    "Von meinem Mobilgerät gesendet",
    "Diese Nachricht wurde von meinem Android-Mobiltelefon mit K-9 Mail gesendet.",
    "Gesendet mit der GMX Mail App",
    "Outlook für iOS beziehen",
    "Envoyé depuis mon iPhone",
    "Envoyé de mon iPhone",
    "Obtenir Outlook pour Android",
    "Télécharger Outlook pour Android<https://example.org/o0>",
    "Enviado desde mi iPhone",
    "Enviado do meu iPhone",
    "Inviato da iPhone",
    "Verstuurd vanaf mijn iPad",
    "Verzonden met Outlook",
    "Sendt fra min iPad",
    "Skickat från min iPhone",
    "Lähetetty iPhonesta",
    "Wysłane z iPhone'a",
    "Odesláno z iPhonu",
    "Отправлено с iPhone",
    "Отправлено из мобильной Почты Mail",
    "Надіслано з iPhone",
    "iPhone'umdan gönderildi",
    "Στάλθηκε από το iPhone μου",
    "Gửi từ iPhone của tôi",
    "Trimis de pe iPhone",
    "Sent using Zoho Mail",
    "Sent with Shortwave (https://example.org/?utm_medium=email)",
    "Yahoo Mail: Search, Organize, Conquer",
    "Yahoo Mail: Search, Organize, Conquer <https://example.org/107>",
    "Yahoo Mail : recherchez, organisez, maîtrisez",
    "从我的 iPhone 发送",
    "從我的 iPhone 傳送",
    "iPhoneから送信",
    "나의 iPhone에서 보냄",
    "由我的 iPhone 傳送",
    "मेरे iPhone से भेजा गया",
    "Εστάλη από το iPhone μου",
    "Galaxy cihazımdan gönderildi",
    "Samsung készülékről küldve",
    "Lähetetty Galaxy-laitteesta",
    "Sendt fra Galaxy-enheten min",
    "Gesendet mit [Proton Mail](https://proton.me/mail/home) sichere E-Mail.",
    "Verzonden met [Proton Mail](https://proton.me/mail/home) beveiligde e-mail.",
    "Enviado con el correo electrónico seguro de [Proton Mail](https://proton.me/).",
    "Sent using https://www.zoho.com/mail/",
    "Enviado desde mi dispositivo Android con K-9 Mail. Por favor, disculpa mi brevedad.",
    "Inviato dal mio dispositivo Android con K-9 Mail. Perdonate la brevità.",
    "Skickat från min Android-enhet med K-9 Mail. Ursäkta min fåordighet.",
    "Sent from my iPhone\nPlease excuse any typos",
]

# The last line of an answer, and no device's.
ANSWERS = [
    "Sent from my desk, is much easier than my phone.",
    "Sent from my bank account",
    "Please excuse any typos",
    "Sent from my bank account\nPlease excuse any typos",
    "Enviado con el correo de ayer",
    "Sent from my account 12345",
    "Sent via courier",
    "Sent using the form on your page",
    "Yahoo Mail: it works again, thank you",
    "Yahoo Mail: no, sorry",
    "Sent from the Outlook team meeting",
    "From my phone bill",
    "Get Outlook for the whole team",
    "iPhone 12 Pro",
    "Von meinem Konto gesendet",
    "Gesendet von meinem Kollegen",
    "Envoyé par la poste",
    "Envoyé à partir de la maison orange",
    "Provenance : Berlin, demain",
    "Got it from <https://aka.ms/o0ukef>, and it works on my old phone as well.",
    "Inviato da Mario",
    "Is it sent from your iPhone?",
    "- Bread",
    "-5 degrees",
]

# All of it is the author's.
KEPT = [
    "Please paste this:\n\n### Write your code above this line ###\n\nprint(42)",
    "Please paste this:\n\n### Bitte den Text oberhalb dieser Zeile einfügen ###\n\nTeil zwei",
    "Points:\n\n--- All above this line was agreed, the answer to the rest is below ---\n\nNo.",
    "First guess.\n\n-- the answer above this line is wrong\n\nSecond guess.",
    "=== Reply to all above ===\n\nNo.",
    "##- first point\n\n##- second point",
    "Here is one:\n\nMessage-ID: <1@b.org>\nDate: Mon, 4 May 2026 10:12:00 +0200\nFrom: Bob <bob@b.org>\nTo: a@c.org\n"
    "Subject: Pills\n\nCan you stop it?",
    "Received: from a.b.org\n\tby c.org; Mon, 4 May 2026\nFrom: Bob <bob@b.org>\nTo: a@c.org\nSubject: Pills\n\nSee?",
    "On 4 May 2026 at 10:12 I wrote:\nthat we wait",
    "Am 4. Mai 2026 um 10:12 schrieb ich:\nwir warten",
    "On 4 May 2026 at 10:12 the judge said:\nwe wait",
    "On 4 May 2026 at 10:00 meet ann@example.org:\nshe knows the way",
    "2026-05-04 10:12 Meeting with Ann <ann@example.org>:\nthe offer",
    "Please send it to Ann <ann@example.org> by 10:00 on 4 May 2026:\nthe offer",
    "On the surface it resembles one.\n\nOn average, it is none.\nOn a separate note: thanks",
    "Formats:\n\n2026-05-04 14:30:25\n04.05.2026 14:30\nMay 4, 2026 at 14:30",
    "They come from: ann@example.org and from: bob@example.org\n\nFrom: our database, not From: others",
    "## Points\n----\n\n1. one\n\n----\n\nmore\n\n====\n\nand more",
    "On reflection, I wrote:\na poem",
    "Back in 2015 Bob wrote:\na poem that goes on",
    "What do you think of this:\n- one\n- two",
    "As Bob <bob@example.org> wrote:\nwe should wait",
    "Am 4. Mai schrieb Bob, dass wir warten sollen:\nalso warten wir",
    "The text says what Bob wrote:\nwe should wait",
    "From: Berlin\nTo: Rome\nDate: Monday, 4 May\n\nplease book it",
    "From: foo\nBar baz.\n\nAnd so on",
    "From: the whole team\nthank you",
    "Subject: holidays\nTo: all of you",
    "Date: 4 May 2026\nTo: be agreed",
    "Visit us now\n>>> >>> https://example.org <<<\nby the link above",
    "In Python:\n>>> print(1)\n1",
    "A | B\n| 1 | 2 |",
    "One line differs:\n\n12c12\n< wait 30\n---\n> wait 300\n\nTake it?",
    "MEMO\n\nTO: All staff\nFROM: Facilities\nDATE: 4 May 2026\nSUBJECT: Parking\n\nIt is closed.",
    "## One\n\n## Please reply to the line above",
    "Ann wrote on the wall:\nwe wait",
    "Quoting the law:\nwe wait",
    "SQL> select 1;\nPS> dir",
    "-- FOUR certificates\n-- EIGHT certificates",
    "One\n\n_____\nTwo",
    "First:\n\n____\nNobody is on https://example.org/",
    "******\nTo do:\n\nunsubscribe me at https://example.org/\n******\nThat is all",
    "-\nFirst.\n*\nSecond.",
    "-- I skrev det den 4 maj 2026 10:12 till ann@example.org --\nthe rest",
    "Meet me at 10:12 on 4 May 2026:\nBob <bob@example.org> comes too",
]


def ids(value: object) -> str:
    return str(value)[:60].encode("ascii", "replace").decode()


@pytest.mark.parametrize("attribution", ATTRIBUTIONS.values(), ids=ATTRIBUTIONS)
def test_what_clients_write_above_an_original_goes_with_it(attribution: str) -> None:
    assert extract_reply(f"{REPLY}\n\n{attribution}\n\n{OLD}") == REPLY
    assert extract_reply(f"{REPLY}\n\n{attribution}\n{QUOTED}") == REPLY
    assert extract_reply(f"{attribution}\n{QUOTED}\n\n{REPLY}") == REPLY


@pytest.mark.parametrize(
    "attribution",
    [one.replace(" <", "\n<", 1) for one in ATTRIBUTIONS.values() if " <" in one and one[-1] in ":："],
)
def test_attributions_that_a_client_wrapped_in_front_of_the_address_go_whole(attribution: str) -> None:
    assert extract_reply(f"{REPLY}\n\n{attribution}\n\n{OLD}") == REPLY
    assert extract_reply(f"{REPLY}\n\n{attribution}\n{QUOTED}") == REPLY


@pytest.mark.parametrize(
    "attribution",
    [
        "3 Haz 2024 Pzt 10:15 tarihinde\nAli <a@x.org> şunu yazdı:",
        "2024-06-03, pr, 10:15\nJonas <j@x.org> rašė:",
        "John Example <j@x.org>\n于2024年6月3日周一 10:15写道：",
        "Ann Example\n<ann@example.org> wrote:",
    ],
)
def test_attributions_go_from_where_they_begin(attribution: str) -> None:
    assert extract_reply(f"{REPLY}\n\n{attribution}\n{QUOTED}") == REPLY


@pytest.mark.parametrize("above", ["Hello Bob", "See what he said at the meeting about it:"])
def test_lines_above_an_attribution_stay(above: str) -> None:
    said = f"{REPLY}\n\n{above}"
    assert (
        extract_reply(f"{said}\nAnn Example <ann@example.org> schrieb am 4. Mai 2026 um 10:12:\n{QUOTED}")
        == said
    )
    assert extract_reply(f"{said}\n\nOn 4 May 2026, Ann <ann@example.org> wrote:\n{QUOTED}") == said


LAST_LINES = (
    *("Bob", "田中", "2026", "Tel. 030 1234567", "See you at 10:30", "Bis morgen, 10:12 Uhr"),
    *("Am Montag passt es", "Am 5. Mai passt es", "Ask Carl <carl@example.net>", "- Bob"),
)


@pytest.mark.parametrize("attribution", [*ATTRIBUTIONS.values(), *ABOVE_A_QUOTE.values()], ids=ids)
def test_the_last_line_of_an_author_stays_right_above_an_attribution(attribution: str) -> None:
    for line in LAST_LINES:
        said = f"{REPLY}\n\n{line}"
        assert extract_reply(f"{said}\n{attribution}\n{QUOTED}") == said
        assert extract_reply(f"{said}\n{attribution}\n\n{OLD}").startswith(said)


def test_an_attribution_that_a_client_wrapped_goes_whole_right_below_the_authors_words() -> None:
    wrapped = '04.05.2026 10:12 пользователь "ann@example.org" <\nann@example.org> написал:'
    assert extract_reply(f"{REPLY}\n{wrapped}\n\n{QUOTED}") == REPLY
    assert extract_reply(f"Hello\n{wrapped}\n\n{QUOTED}") == "Hello"


@pytest.mark.parametrize("attribution", ABOVE_A_QUOTE.values(), ids=ABOVE_A_QUOTE)
def test_what_an_author_may_write_goes_above_a_quote_alone(attribution: str) -> None:
    assert extract_reply(f"{REPLY}\n\n{attribution}\n\n{QUOTED}") == REPLY
    assert extract_reply(f"{REPLY}\n\n{attribution}\n\n{OLD}") == f"{REPLY}\n\n{attribution}\n\n{OLD}"


@pytest.mark.parametrize("attribution", ["Bot writes:", "Bot wrote:", "Bot schrieb:", "*Bot writes:*"])
@pytest.mark.parametrize("blank", ["", "\n"])
def test_one_name_attributes_in_an_answer_alone(attribution: str, blank: str) -> None:
    """nmh and maildrop write so, of an author whose display name is one word, as those of programs are."""
    quote = f"{attribution}\n{blank}> What is six times seven?\n>\n> Bot\n"
    assert extract_reply(f"Forty-two.\n\n{quote}") == "Forty-two."
    assert extract_reply(f"{quote}\nForty-two.\n") == "Forty-two."
    mine = f"Please see what I found.\n\n{quote}\nDo you agree?"
    assert extract_reply(mine, is_answer=False) == mine


@pytest.mark.parametrize("line", ["I wrote:", "He writes:", "Ann said:", "he wrote:"])
def test_an_authors_own_line_above_a_quote_is_no_one_s_name(line: str) -> None:
    assert extract_reply(f"Remember.\n\n{line}\n> We meet on Friday.\n") == f"Remember.\n\n{line}"


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS)
@pytest.mark.parametrize("rule", ["", "_" * 32 + "\n", "---\n\n", " ------------------------------\n\n"])
def test_copied_header_fields_begin_the_original(block: str, rule: str) -> None:
    assert extract_reply(f"{REPLY}\n\n{rule}{block}\n\n{OLD}") == REPLY


@pytest.mark.parametrize(
    "block",
    [
        "From: Ann <ann@example.org>\nDate: Mon, 4 May 2026 10:12:00 +0200",
        "From: Ann <ann@example.org>\nSubject: Re: a long\n\toffer\nDate: Mon, 4 May 2026 10:12:00 +0200",
    ],
)
def test_answers_below_a_quote_stay_where_fields_attribute_it(block: str) -> None:
    assert extract_reply(f"{block}\n\n{QUOTED}\n\n{REPLY}") == REPLY
    assert (
        extract_reply(f"Hello,\n\n{block}\n\n{QUOTED}\n\n{REPLY}\n\n> more\n\nBye")
        == f"Hello,\n\n\n{REPLY}\n\n\nBye"
    )
    assert extract_reply(f"{REPLY}\n\n-----Original Message-----\n{block}\n\n{QUOTED}\n\nolder") == REPLY
    assert extract_reply(f"{REPLY}\n\n{block}\nTo: Bob\n\n{QUOTED}\n\nolder") == REPLY


@pytest.mark.parametrize("mark", ["----- Original Message -----", "-----Ursprüngliche Nachricht-----\n"])
def test_answers_below_a_quote_stay_where_a_mark_stands_above_its_fields(mark: str) -> None:
    """Zimbra, and Outlook with a mark before each line."""
    quote = f'{mark}\n> Von: "Ann" <ann@example.org>\n> An: Bob\n> Betreff: plan\n>\n{QUOTED}'
    assert extract_reply(f"{quote}\n\n{REPLY}") == REPLY
    assert extract_reply(f"{REPLY}\n\n{quote}") == REPLY
    assert extract_reply(f"Hello,\n\n{quote}\n\n{REPLY}\n\n> more\n\nBye") == f"Hello,\n\n\n{REPLY}\n\n\nBye"
    assert extract_reply(f"{REPLY}\n\n{quote}", is_forward=True) == f"{REPLY}\n\n{quote}"
    assert extract_reply(f"{REPLY}\n\n{mark}\n{QUOTED}\n\nolder") == REPLY


@pytest.mark.parametrize("mark", MARKS, ids=ids)
def test_marks_begin_the_original(mark: str) -> None:
    assert extract_reply(f"{REPLY}\n\n{mark}\n\n{OLD}") == REPLY


@pytest.mark.parametrize("line", DEVICE_LINES, ids=ids)
def test_lines_of_devices_go(line: str) -> None:
    assert extract_reply(f"{REPLY}\n\n{line}") == REPLY
    assert extract_reply(f"{REPLY}\n\n{line}\n\nOn 4 May 2026 10:12, Ann wrote:\n> old") == REPLY
    assert extract_reply(line) == line


def test_lines_of_several_devices_go() -> None:
    lines = "\n".join(DEVICE_LINES[:40])
    assert extract_reply(f"{REPLY}\n\n{lines}\nNik from mobile\nSent via mobile") == REPLY


@pytest.mark.parametrize("line", ANSWERS, ids=ids)
def test_last_lines_that_only_resemble_a_devices_stay(line: str) -> None:
    assert extract_reply(f"{REPLY}\n\n{line}") == f"{REPLY}\n\n{line}"


@pytest.mark.parametrize("text", KEPT, ids=ids)
def test_authors_words_stay(text: str) -> None:
    assert extract_reply(text) == text
    assert extract_reply(f"{text}\n\nOn 4 May 2026 at 10:12, Ann <ann@example.org> wrote:\n\nold") == text


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("reply On Mon, May 4, 2026 at 3:59 PM, ann@example.org wrote:\n> old", "reply"),
        ("reply--- On Mon, May 4, 2026 at 3:59 PM, ann@example.org wrote:\n> old", "reply"),
        ("one\ntwo - three--- On Mon, May 4, 2026 at 3:59 PM, a@x.org wrote:\n> old", "one\ntwo - three"),
        ("see On May 4, 2026, at 10:12 PM, Ann <\nann@example.org>\nwrote:\n> old", "see"),
    ],
)
def test_words_in_front_of_an_attribution_stay(text: str, reply: str) -> None:
    assert extract_reply(text) == reply


COPY = (
    "From: Bot <bot@agents.test>\nSent: Tuesday, January 14, 2025 10:12 AM\nTo: Ann <ann@example.org>\n"
    "Subject: plan\n\nIs Tuesday fine?\nYes, it is.\n\nAnd where?\nAt mine."
)
ABOVE_ANSWERS = (
    "My answers are in red below.", "Please see my comments inline.", "See my responses\nin green below.",
    "Meine Antworten in Rot.", "Siehe meine Anmerkungen unten in blau.", "Antworten im Text.",
    "Mes réponses en rouge ci-dessous.", "Respondo abajo en rojo.", "Le mie risposte in rosso qui sotto.",
    "Segue minhas respostas em vermelho abaixo.", "Mijn antwoorden staan hieronder in het rood.",
    "Odpowiedzi na czerwono poniżej.", "Svar i rött nedan.", "Svar med rødt nedenfor.", "Odpovědi níže červeně.",
    "Cevaplarımı aşağıda kırmızı ile yazdım.", "Мои комментарии красным ниже.", "Відповіді червоним.",
    "下記に赤字で回答いたします。", "インラインにて失礼いたします。", "请见下面红字回复。", "빨간색으로 답변드립니다.",
    "תשובות באדום למטה", "ردودي باللون الأحمر أدناه",
)  # fmt: skip


@pytest.mark.parametrize("said", ABOVE_ANSWERS)
@pytest.mark.parametrize(
    "above",
    [
        COPY,
        "On Tue, 14 Jan 2025 at 10:12 Bot <bot@agents.test> wrote:\n\nFine?\nYes.",
        "On Tue, 14 Jan 2025 at 10:12 Bot <bot@agents.test> wrote:\n\n> Fine?\n> Yes.",
    ],
)
def test_answers_within_a_quote_stay_where_the_author_says_so(said: str, above: str) -> None:
    assert extract_reply(f"Hi,\n\n{said}\n\n{above}") == f"Hi,\n\n{said}\n\n{above}"


@pytest.mark.parametrize(
    "said",
    [
        "See below.", "My comments are in red in the attached document.", "Anmerkungen in rot im Dokument anbei.",
        "I like the red one better.", "This is in line with our plan.", "Thanks for your answer in your mail.",
        "The headline is in bold now, see you.",
    ],
)  # fmt: skip
def test_a_copy_goes_where_the_author_speaks_of_something_else(said: str) -> None:
    assert extract_reply(f"Hi,\n\n{said}\n\n{COPY}") == f"Hi,\n\n{said}"


def test_where_answers_stand_between_quotes_these_go() -> None:
    quote = (
        "On Tue, 14 Jan 2025 at 10:12 Bot <bot@agents.test> wrote:\n\n> Fine?\n\nYes.\n\n> Where?\n\nAt mine."
    )
    reply = extract_reply(f"See my comments inline.\n\n{quote}")
    assert reply.split() == ["See", "my", "comments", "inline.", "Yes.", "At", "mine."]


@pytest.mark.parametrize(
    "unit", ["see ", "in red ", "赤字で", "answers in the text below. ", "siehe unten, "]
)
def test_looking_for_announced_answers_takes_work_in_proportion(unit: str) -> None:
    assert_proportional(lambda part: extract_reply(f"{part}\n\n{COPY}"), bomb(unit))


@pytest.mark.parametrize(
    "said",
    [
        "On Mon, May 4, 2026 at 10:12 AM, Ann Example<ann@example.org> wrote:",
        "Am Mo., Mai 4, 2026 at 10:12 schrieb Ann Example<ann@example.org>:",
        "Le lun., mai 4, 2026 à 10:12, Ann Example<ann@example.org> a écrit :",
        "Il lun, 4 mag 2026 alle 10:12, Ann Example<ann@example.org> ha scritto:",
    ],
)
def test_an_original_may_begin_on_the_line_of_its_attribution(said: str) -> None:
    """As Yahoo writes it on Android."""
    assert extract_reply(f"{REPLY}\n\n  {said}   old\n\nolder") == REPLY
    once = f"{REPLY}\n\n{said} we wait"
    assert extract_reply(once) == once


@pytest.mark.parametrize("behind", ["> old", ">old", "> old\nolder"])
def test_a_quote_may_begin_right_behind_its_attribution(behind: str) -> None:
    for said in ("On Mon, May 4, 2026 10:12 AM, ann@example.org wrote:", "Am 4. Mai 2026 schrieb <a@x.org>:"):
        assert extract_reply(f"{REPLY}\n\n{said}{behind}") == REPLY


def test_an_attribution_that_is_quoted_may_have_been_wrapped() -> None:
    """As by a gateway, of Apple Mail's."""
    quote = "> On 4 May 2026, at 10:12, Ann with a name of many words <ann@example.org>\nwrote:\n> \n> old\n>"
    assert extract_reply(f"{REPLY}\n\nSent from my iPhone\n\n{quote}") == REPLY
    assert extract_reply(f"> Am 4. Mai\nund wer schrieb:\n> old\n\n{REPLY}").startswith("und wer schrieb:")


def test_words_below_a_wrapped_line_of_a_device_stay() -> None:
    for words in ("Bob", "see you", "wish you well"):
        assert extract_reply(f"{REPLY}\n\nSent from my iPhone\n{words}").endswith(words)


def test_a_line_above_copied_headers_is_none_of_them_across_a_blank_line() -> None:
    said = f"{REPLY}\n\nDate: 5 May 2026"
    assert extract_reply(f"{said}\n\n{BLOCKS['en']}\n\n{OLD}") == said
    block = "From: Ann <ann@example.org>\nTo: Bob\nSubject: Offer"
    assert extract_reply(f"{said}\n\n{block}\n\n{OLD}") == said


def test_an_answer_below_copied_headers_at_the_top_stays() -> None:
    text = f"{BLOCKS['de, gmx, blank lines']}\n\n\n{REPLY}"
    assert extract_reply(text) == text


def test_a_mark_without_dashes_goes_with_the_header_fields_below_it() -> None:
    """As BlackBerry writes it."""
    block = f"  Original Message  \n{BLOCKS['en']}"
    assert extract_reply(f"{REPLY}\n\nSent from my BlackBerry.\n{block}\n\n{OLD}") == REPLY
    assert extract_reply(f"{REPLY}\n\nOriginal Message\n\n{OLD}") == f"{REPLY}\n\nOriginal Message\n\n{OLD}"


def test_a_forward_may_be_marked_as_a_quote() -> None:
    """As Apple Mail writes it."""
    forward = (
        "> Begin forwarded message:\n> \n> From: Ann <ann@example.org>\n> Subject: Offer\n> \n> old words"
    )
    assert extract_reply(f"{REPLY}\n\n{forward}") == f"{REPLY}\n\n{forward}"
    answered = f"{REPLY}\n\nOn 4 May 2026 at 10:12, Bob wrote:\n\n> look:\n{forward}"
    assert extract_reply(answered) == REPLY
    inner = forward.replace("> ", "<br>").replace("<ann@example.org>", "")
    html = f"<div>Look.<blockquote type='cite'>{inner}</blockquote></div>"
    assert "old words" in from_html(html)
    assert from_html(f"<div>Yes.{ON}<blockquote type='cite'>look:<br>{inner}</blockquote></div>") == "Yes."


def test_a_number_is_no_sender() -> None:
    form = "No: 4711\nDate: 4 May 2026\nSubject: Chairs\nTo: Bob"
    assert extract_reply(f"{REPLY}\n\n{form}") == f"{REPLY}\n\n{form}"


@pytest.mark.parametrize("mark", FORWARD_MARKS)
@pytest.mark.parametrize("quote", ["", "> "])
def test_what_a_client_marks_as_passed_on_stays(mark: str, quote: str) -> None:
    """Also where the subject does not say so: a forward in an answer."""
    original = "\n".join(quote + line for line in f"{BLOCKS['en']}\n\n{OLD}".split("\n"))
    assert extract_reply(f"{REPLY}\n\n{mark}\n\n{original}") == f"{REPLY}\n\n{mark}\n\n{original}"


@pytest.mark.parametrize(
    ("subject", "block", "is_kept"),
    [
        ("VS: Tilbud", "da", True),
        ("VS: Tarjous", "fi", False),
        ("SV: Tilbud", "da", False),
        ("[EXTERNAL] FW: Offer", "en", True),
        ("***SPAM*** FW: Offer", "en", True),
        ("{Spam?} FW: Offer", "en", True),
        ("[EXT] [sales] Fwd: Offer", "en", True),
        ("Re: [EXTERNAL] FW: Offer", "en", False),
        ("[EXTERNAL] Offer", "en", False),
        ("Videresend: Tilbud", "da", True),
        ("Redir.: Oferta", "en", True),
    ],
)
def test_what_a_subject_says_is_passed_on_stays(subject: str, block: str, is_kept: bool) -> None:
    text = f"{REPLY}\n\n{BLOCKS[block]}\n\n{OLD}"
    raw = f"Subject: {subject}\r\nReferences: <1@example.org>\r\n\r\n{text}".encode()
    told = digest(raw)
    assert (told.extracted_text or told.text_body) == (text if is_kept else REPLY)


@pytest.mark.parametrize(
    "mark",
    [
        "---- Ann Example <ann@example.org> kişisinden iletilen ileti ----",  # mutt
        "-------- plusendita mesaĝo --------",  # Evolution
        "------轉寄自 Ann Example 的郵件------",  # Balsa
        "━━━Thư đã chuyển tiếp━━━",  # Evolution
    ],
)
def test_what_stands_below_an_unknown_title_stays_where_nothing_is_answered(mark: str) -> None:
    text = f"{REPLY}\n\n{mark}\nFrom: a@x.org\nTo: b@x.org\nSubject: Offer\nDate: 4 May 2026\n\n{OLD}"
    assert extract_reply(text, is_answer=False) == text
    assert extract_reply(text).startswith(REPLY)
    assert OLD not in extract_reply(text)


def test_what_is_quoted_twice_alone_goes_and_prompts_stay() -> None:
    quoted = ">> > --- Reply above ---\n>> >\n>> > Issue 6779 has been updated.\n>> > > Subject changed"
    assert extract_reply(f"{REPLY}\n\n{quoted}") == REPLY
    assert extract_reply(f"{REPLY}\n\n> > old words\n> > and older ones") == REPLY
    for session in (">>> a = 1\n>>> a > 0\nTrue", ">> ls > x\n>> cat x", ">>> >>> here <<<"):
        assert extract_reply(f"{REPLY}\n\n{session}") == f"{REPLY}\n\n{session}"


SIGNATURES = ["-- \nAnn Example\n> tea <\n+1 555 0100", "--\nSent from K-9 Mail."]
INLINE = "> Fine?\n\nYes.\n\n> Where?\n\nAt mine."


@pytest.mark.parametrize("signature", SIGNATURES)
@pytest.mark.parametrize(
    "quote",
    [
        f"On Mon, 4 May 2026 at 10:12, Bot <bot@agents.test> wrote:\n\n{INLINE}",
        f"On Mon, 4 May 2026 at 10:12, Bot <\nbot@agents.test> wrote:\n{INLINE}",
        f"> On 4 May 2026, at 10:12, Bot <bot@agents.test> wrote:\n>\n{INLINE}",
        f"> Anything else?\n\nOn Mon, 4 May 2026 at 10:12, Bot <bot@agents.test> wrote:\n\n{INLINE}",
        f"Ann Ltd. On Mon, 4 May 2026 at 10:12, Bot <bot@agents.test> wrote:\n{INLINE}",
    ],
)
def test_answers_stay_in_a_quote_below_the_signature(signature: str, quote: str) -> None:
    """Where phones put it, among others."""
    assert extract_reply(f"Hi.\n\n{signature}\n\n{quote}").split() == ["Hi.", "Yes.", "At", "mine."]


@pytest.mark.parametrize("signature", SIGNATURES)
def test_a_signature_goes_to_the_end_or_to_what_is_passed_on(signature: str) -> None:
    for below in ("", f"\n\n{QUOTED}\nmore", f"\n\n{COPY}"):
        assert extract_reply(f"Hi.\n\n{signature}{below}") == "Hi."
    for passed_on in (
        f"---------- Forwarded message ----------\n{COPY}",
        "> Begin forwarded message:\n>\n> old",
    ):
        assert extract_reply(f"Hi.\n\n{signature}\n\n{passed_on}") == f"Hi.\n\n{passed_on}"
    assert extract_reply(f"Hi.\n\n{signature}\n\n{COPY}", is_forward=True) == f"Hi.\n\n{COPY}"


def test_answers_stay_below_a_signature_where_the_author_says_so() -> None:
    text = f"My answers are in red below.\n\n-- \nAnn\n\n{COPY}"
    assert extract_reply(text) == text


OUTPUT = "> $ ls -l\n> total 0\n>\n> -rw-r--r-- 1 ann ann 0 plan.txt"


@pytest.mark.parametrize(
    "original",
    [
        f"On Mon, 4 May 2026 at 10:12, Bot <bot@agents.test> wrote:\n\n{QUOTED}",
        f"-----Original Message-----\nFrom: Bot <bot@agents.test>\nSubject: plan\n\n{OLD}",
        f"From: Bot <bot@agents.test>\nSent: Monday, 4 May 2026\nTo: Ann\nSubject: plan\n\n{OLD}",
    ],
)
def test_what_the_original_does_not_say_is_shown_by_the_author(original: str) -> None:
    """Output of a program, lines of a page."""
    for between in ("\n\nAnn\n\n", "\n\n"):
        said = f"It says:\n\n{OUTPUT}{between}".strip()
        assert extract_reply(f"{said}\n\n{original}") == said


def test_what_the_original_says_goes_where_it_is_quoted_once_more() -> None:
    below = (
        "On Mon, 4 May 2026, Bot <bot@agents.test> wrote:\n> Shall we meet\n> on Tuesday at ten, or is\n>\n"
        "> Wednesday better for you?\n>> At yours?\n\nSurely.\n\n"
        "On Tue, 5 May 2026, Ann <ann@example.org> wrote:\n> Me too."
    )
    for quote in (
        "> Shall we meet on Tuesday\n> at ten,",
        "> Shall we meet [...] or is Wednesday better",
        ">> At yours?",
        ">",
    ):
        reply = extract_reply(f"{quote}\n\nYes.\n\n> Wednesday\n\nNo.\n\n{below}")
        assert reply.split() == ["Yes.", "No.", "Surely."]


def test_a_quote_whose_attribution_is_unknown_goes_with_what_is_attributed_in_it() -> None:
    quote = "Ann skribas:\n> one\n{answer}> On Mon, 4 May 2026 at 10:12, Bot <bot@agents.test> wrote:\n>> two"
    assert extract_reply(f"{REPLY}\n\n{quote.format(answer='')}") == f"{REPLY}\n\nAnn skribas:"
    assert "one" not in extract_reply(f"{REPLY}\n\n{quote.format(answer='Yes.' + chr(10))}")


@pytest.mark.parametrize("mark", ["AE>", "C>", "|", "Ann>"])
def test_quotes_with_initials_or_bars_go_below_an_attribution(mark: str) -> None:
    text = f"On 4 May 2026 10:12, Ann wrote:\n\n{mark} one\n{mark} two\nmy answer\n{mark} three"
    assert extract_reply(text) == "my answer"


SUPERCITE = '>>>>> "Ann" == Ann Example <ann@example.org> writes:'


@pytest.mark.parametrize(
    "quote",
    [
        f"{SUPERCITE}\n\n    Ann> old words\n\n    Ann> and older ones",
        "Ann Example <ann@example.org> wrote:\n\n\told words\n\t\n\tand older ones\n\t",  # s-nail
        "Ann Example <ann@example.org> wrote:\n\n\told words\n\t\n\t- and an older list:\n\t\tone",
        "At Mon, 4 May 2026 10:12:07 +0200,\nAnn Example wrote:\n> \n> old words\n> \n> and older ones",  # Wanderlust
    ],
)
def test_quotes_of_programs_for_terminals_go(quote: str) -> None:
    assert extract_reply(f"{REPLY}\n\n{quote}\n") == REPLY
    assert extract_reply(f"{quote}\n\n{REPLY}\n") == REPLY


def test_what_an_author_indents_with_tabs_stays() -> None:
    said = f"{REPLY}\n\nThe list:\n\n\tone\n\ttwo"
    assert extract_reply(f"{said}\n\nAnn Example wrote:\n> old") == said
    assert extract_reply(f"Ann Example wrote:\n> old\n{said}") == said


@pytest.mark.parametrize(
    "words",
    [
        "John Smith wrote:\n\n\tthe list\n\tof it",
        "The server wrote at 14:05 on 30 November 2026:\n\tTraceback\n\t  line 1",
        "Das Finanzamt schrieb:\n\tBescheid\n\tvom Mai",
        "Сервер Почты написал:\n\tошибка",
        "Le Monde a écrit :\n\tun article",
        "El Gobierno escribió:\n\tun decreto",
        "引用 マニュアル foo@example.org：\n\t一行",
    ],
)
@pytest.mark.parametrize("is_answer", [True, False])
def test_what_an_author_shows_indented_below_an_announcement_stays(words: str, is_answer: bool) -> None:
    assert extract_reply(f"{REPLY}\n\n{words}\n\nBye.", is_answer=is_answer) == f"{REPLY}\n\n{words}\n\nBye."


def test_a_table_below_an_announcement_stays_where_nothing_is_answered() -> None:
    said = f"{REPLY}\n\nBot writes:\n| a | b |\n| c | d |"
    assert extract_reply(said, is_answer=False) == said


@pytest.mark.parametrize(
    "footer",
    [
        "_______________________________________________\nUsers mailing list\nusers@lists.example.org",
        "__\nusers mailing list\nusers@example.org\nhttps://example.org/mailman/listinfo/users",
        "---\nTo unsubscribe, write to users-leave@example.org",
        "*********\nTo leave this mailing list, write to:\n\tusers@example.org\n\nsay:\n\tunsubscribe\n*********",
        "==========\nUsers mailing list\nhttps://example.org/\n==========",
        "_____\nListe de diffusion\nhttps://example.org/",
        "____\nWandern maillijst -- wandern@verein.example\nStuur een e-mail naar wandern-leave@verein.example",
        "-----\nTopicbox: pumps\nPermalink: https://pumps.topicbox.com/groups/all/T1-M2",
        "---\n[Visit Topic](https://forum.example.org/t/3) or reply to this email to respond.",
        "_._,_._,_\n\n---\n\nGroups.io Links:\n\nYou receive all.\n\nUnsubscribe (https://x.test/)\n_._,_._,_",
    ],
)
def test_footers_of_mailing_lists_go(footer: str) -> None:
    assert extract_reply(f"{REPLY}\n\n{footer}\n") == REPLY
    assert extract_reply(f"{REPLY}\n\n{footer}\n\nMore of the author") == f"{REPLY}\n\n\nMore of the author"


FORUM = "---\n[Visit Topic](https://forum.example.org/t/3) or reply to this email to respond."
LEAVE = "To unsubscribe from these emails, [click here](https://forum.example.org/u/1)."


def test_a_footer_goes_on_to_the_end_where_each_paragraph_speaks_of_the_list() -> None:
    """Discourse's, and LISTSERV's where its host adds terms."""
    whole = f"{FORUM}\n\nYou are receiving this because you enabled mailing list mode.\n\n{LEAVE}"
    assert extract_reply(f"{REPLY}\n\n{whole}\n") == REPLY
    for below in (f"I agree.\n\n{LEAVE}", "Shall I leave this mailing list?", f"{LEAVE}\n\nP.S. See you"):
        assert extract_reply(f"{REPLY}\n\n{FORUM}\n\n{below}") == f"{REPLY}\n\n\n{below}"


def test_a_name_behind_a_dash_is_a_signature_unless_there_is_a_list() -> None:
    assert extract_reply(f"{REPLY}\n\n-Ann Example") == REPLY
    assert extract_reply(f"{REPLY}\n-Ann Example") == f"{REPLY}\n-Ann Example"
    assert extract_reply("Buy:\n-Milk\n\n-Bread") == "Buy:\n-Milk\n\n-Bread"
    assert extract_reply("-Ann") == "-Ann"


def from_html(html: str, *, answers: bool = True) -> str:
    return extract_reply(html_to_text(html), quoted=whose_quotes(html, answers=answers))


FIELDS = "From: ann@example.org<br>Date: Mon, 4 May 2026 10:12:00 +0200<br>To: bob@example.org<br>Subject: Offer<br>"
BY_DATE = "Date: Mon, 4 May 2026 10:12:00 +0200<br>To: bob@example.org<br>From: ann@example.org<br>Subject: Offer<br>"
ON = "<div>On 4 May 2026, at 10:12, Ann &lt;ann@example.org&gt; wrote:</div>"


@pytest.mark.parametrize(
    "original",
    [
        f"<hr>{FIELDS}<br>old",
        f"<div><hr>{BY_DATE}<br>old</div>",
        f"<div><hr>{FIELDS.replace('<br>', ' ')}</div><div>old</div>",
        f"{ON}<blockquote>old</blockquote>",
        f"{ON}<div>old</div>",
        f"<blockquote>{ON}<div>old</div></blockquote>",
        "<blockquote type='cite'>old</blockquote>",
        "<blockquote>old</blockquote>",
    ],
)
def test_originals_in_html_go(original: str) -> None:
    assert from_html(f"<div>Yes.<br>{original}</div>") == "Yes."


def test_what_authors_set_off_in_html_stays() -> None:
    said = "<p>He said:</p><blockquote>never</blockquote>"
    assert (
        from_html(f"{said}{ON}<blockquote>old<blockquote>older</blockquote></blockquote>")
        == "He said:\n\n> never"
    )
    assert from_html(said, answers=False) == "He said:\n\n> never"
    gmail = "<p>He said:</p><blockquote class='gmail_quote'>never</blockquote>"
    assert from_html(gmail) == "He said:\n\n> never"
    page = '<p>He said:</p><blockquote cite="https://b.org/four.html"><p>never</p></blockquote>'
    assert from_html(page) == "He said:\n\n> never"
    assert from_html(f"{page}{ON}<blockquote>old</blockquote>") == "He said:\n\n> never"
    assert from_html(page.replace("https://b.org/four.html", "mid:4711@b.org")) == "He said:"


@pytest.mark.parametrize("field", ["In-Reply-To: <1@x.org>", "References: <1@x.org>", "Subject: Re: Offer"])
def test_only_an_answer_quotes_without_saying_whom(field: str) -> None:
    mail = "Content-Type: text/html\r\n\r\n<p>He said:</p><blockquote>never</blockquote>"
    assert digest(mail.encode()).extracted_text == "He said:\n\n> never"
    assert digest(f"{field}\r\n{mail}".encode()).extracted_text == "He said:"


def test_what_an_author_sets_off_in_html_does_not_hide_the_original() -> None:
    quotes = "<blockquote class='gmail_quote'>old</blockquote><p>And no.</p><blockquote>older</blockquote>"
    said = f"<p>Yes.</p>{ON}{quotes}"
    assert from_html(said, answers=False).split() == ["Yes.", "And", "no."]
    assert extract_reply("> set off\nhere", quoted=QuotedWords.OF_OTHERS) == "here"


@pytest.mark.parametrize(
    "unit",
    [
        "On 5 May 2026 10:12 x\n",
        "x On 5 " * 20 + "wrote:\n",
        "a b c d <a@b 10:00 :\n",
        "> a:\n",
        ">> a\n",
        ">:\n",
        "From: a@b.c\nDate: 5\n",
        "From: a@ date: date: date: x\n",
        "Date: Fri, 5 May 2026 10:00:00 +0000\n",
        "-" * 200 + "\n",
        "-----Original Message" + "-" * 200 + "x\n",
        "_____\na@b mailman\n\n",
        "-Name\n\n",
        "Sent from my iPhone\n",
        "On 5 May 2026 10:00 a@b.c wrote:\nC> x\n",
        "在 2026年5月4日 写道：\n",
        "1" * 250 + ":\n",
        "@" * 250 + ":\n",
        "<" * 250 + ">:\n",
        "> a b\nc\n",
        "-- \na@b 10:00:\n> x\ny\n",
    ],
)
@pytest.mark.parametrize("quoted", QuotedWords)
def test_replies_take_work_in_proportion(unit: str, quoted: QuotedWords) -> None:
    text = bomb(unit)
    assert_proportional(lambda part: extract_reply(part, quoted=quoted), text)
    assert extract_reply(text.whole(), quoted=quoted)


def test_a_line_that_a_mailbox_escaped_stays_also_as_the_first() -> None:
    assert extract_reply(">From June on it is complete.\nThanks\n") == ">From June on it is complete.\nThanks"
    assert extract_reply("Hi\n\n>From here on\n>it goes wrong\n") == "Hi"


def test_a_line_like_notes_own_far_above_copied_headers_takes_nothing_with_it() -> None:
    words = "Ann ---03/04/2024 09:15:23 AM---that is how Notes begins a quote\n\nAnd this is my answer.\n"
    copied = (
        "From: Ann/FIN/ACME\nTo: Bob/FIN/ACME@ACME\nDate: 03/04/2024 09:15 AM\nSubject: Booking\n\nWhich?\n"
    )
    assert extract_reply(f"{words}\n\n\n{copied}") == words.strip()


DIGEST = """Today's Topics:

   1. Tea (Ann)

{above}

Message: 1
Date: Sat, 28 Nov 2026 20:48:20 -0000
From: Ann <ann@x.test>
Subject: Tea
To: list@x.test

Is there any?

{between}

Message: 2
Date: Sat, 28 Nov 2026 20:49:20 -0000
From: Bob <bob@x.test>
Subject: Re: Tea

> Is there any?

No.

{between}

End of List Digest, Vol 1, Issue 2
**********************************"""


def test_a_digest_keeps_who_said_what() -> None:
    """RFC 1153: the fields above each message are no copy of an original."""
    whole = DIGEST.format(above="-" * 70, between="-" * 30)
    assert extract_reply(whole, is_answer=False) == whole
    answer = f"I have some.\n\nOn 28 Nov 2026, Bob wrote:\n{whole}"
    assert extract_reply(answer) == "I have some."


def test_an_excerpt_goes_also_where_no_blanks_stand_between_words() -> None:
    japanese = """> 手数料はいくらですか

500円です。

2024年3月12日(火) 9:41 山田 <yamada@hashi.example>:

> 鈴木様
> お世話になります。手数料はいくら
> ですか、教えてください。
"""
    assert extract_reply(japanese) == "500円です。"
    shown = japanese.replace("> 手数料はいくらですか", "> 接続できませんでした")
    assert extract_reply(shown) == "> 接続できませんでした\n\n500円です。"
