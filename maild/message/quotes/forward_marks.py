"""The line that clients write above a message that they pass on, in their languages."""

from __future__ import annotations

import re

_WORDS = (
    *("forwarded message", "begin forwarded message"),
    *("weitergeleitete nachricht", "(?:anfang|beginn) der weitergeleiteten"),
    *("message (?:transféré|(?:re)?transmis)", "début du message (?:transféré|réexpédié)"),
    *("mensaje (?:reenviado|remitido)", "inicio del mensaje (?:reenviado|redirigido)"),
    *("messaggio inoltrato", "inizio messaggio inoltrato"),
    *("doorgestuurd bericht", "begin doorgestuurd bericht", "trochstjoerd berjocht"),
    *("mensagem (?:re)?encaminhada", "início da mensagem (?:re)?encaminhada"),
    *(
        "iniciando encaminhamento de mensagem",
        "inici del missatge reenviat",
        "messatge transferit",
        "mensaxe reencamiñada",
    ),
    *("missatge reenviat", "mensaxe (?:reenviada|reunviáu)", "birbidalitako mezua", "messadi renvià"),
    *(
        "videresendt (?:besked|meddelelse|melding|brev)",
        "start på videresendt besked",
        "vidaresendt? melding",
    ),
    *("begynd videresendt e-mail", "start videresendt melding", "start av vidarebefordrat meddelande"),
    *("vidarebefordrat (?:meddelande|brev|mejl)", "áframsendur póstur"),
    *("välitetty viesti", "edelleenlähetetty viesti", "edastatud (?:kiri|sõnum)", "edasisuunatud kiri"),
    *("wiadomość przekaz(?:yw)?ana", "przekaz(?:yw)?ana wiadomość", "wiadomość przesłana dalej"),
    *("przekierowywany list", "persiųstas laiškas", "aangestuurde boodskap"),
    *("treść przek(?:azanej|ierowywanej) wiadomości", "początek przekazywanej wiadomości"),
    *("přeposlaná zpráva", "začátek přeposílané zprávy", "preposlaná správa", "začiatok preposlanej správy"),
    *(
        "začátek předané zprávy",
        "zpráva přeposlaná od",
        "ďalej odoslaná správa",
        "začiatok správy poslanej ďalej",
    ),
    *("pros(?:lij|lj|l)eđena poruka", "započni proslijeđenu poruku", "posredovano sporočilo"),
    *("dalej pósrědnjona powěsć", "dale sposrědkowana powěsć", "mesazhi i përcjellë"),
    *("пересылаемое (?:сообщение|письмо)", "пересланное сообщение", "перенаправленное сообщение"),
    "начало (?:переадресованного|пересылаемого) сообщения",
    *("переслане повідомлення", "перенаправлене повідомлення", "початок листа, що пересилається"),
    *("пересланий лист", "препратена порака", "перасланае паведамленне", "перанакіроўны ліст"),
    *(
        "накіраваны ліст",
        "перанакіраванае паведамленне",
        "препратено (?:писмо|съобщение)",
        "прослеђена порука",
    ),
    *("iletil(?:en|miş) (?:ileti|mesaj)", "ileti başlangıcı"),
    *("yönlendirilmiş ileti", "yönlendirilen ileti", "mesaj înaintat", "începutul mesajului înaintat"),
    *("továbbított (?:üzenet|levél)", "mesaj redirec[țţ]ionat", "începe mesajul redirec[țţ]ionat"),
    *("thư được chuyển tiếp", "αρχή προωθημένου μηνύματος", "қайта бағдарланған хат", "अग्रेषित संदेश"),
    *("tin nhắn (?:đã được )?chuyển tiếp", "thư đã chuyển tiếp"),
    *("pārsūtīt[aā] vēstule", "προωθημένο μήνυμα", "გადაგზავნილი წერილი", "әрі қарай жіберілген хабарлама"),
    *("(?:awal )?pesan (?:yang )?diteruskan", "mesej (?:dikirim semula|dimajukan)", "ข้อความ(?:ที่)?ส่งต่อ"),
    *("הודעה (?:שהועברה|מועברת)", "پیام (?:ارجاع داده|ارسال مجدد) شده", "رسالة معاد توجيهها"),
    *(
        "转发的?(?:邮件|消息|信息|信件)",
        "(?:開始)?轉寄郵件",
        "轉遞的郵件",
        "轉寄的訊息",
        "已转发邮件",
        "已轉寄郵件",
    ),
    *("転送(?:された|する)?メッセージ", "メッセージを転送", "전달된 메(?:시지|일)", "رسالة ممرّرة"),
)
FORWARD_MARK = re.compile(rf"(?:-{{2,}}+|_{{2,}}+|)\s{{0,2}}(?:{'|'.join(_WORDS)})", re.IGNORECASE)
