"""The line that clients write above a message that they pass on, in their languages."""

from __future__ import annotations

import re

_WORDS = (
    *("forwarded message", "begin forwarded message"),
    *("weitergeleitete nachricht", "anfang der weitergeleiteten"),
    *("message (?:transféré|transmis)", "début du message (?:transféré|réexpédié)"),
    *("mensaje (?:reenviado|remitido)", "inicio del mensaje reenviado"),
    *("messaggio inoltrato", "inizio messaggio inoltrato"),
    *("doorgestuurd bericht", "begin doorgestuurd bericht", "trochstjoerd berjocht"),
    *("mensagem (?:re)?encaminhada", "início da mensagem (?:re)?encaminhada"),
    *("missatge reenviat", "mensaxe (?:reenviada|reunviáu)", "birbidalitako mezua", "messadi renvià"),
    *("videresendt (?:besked|meddelelse|melding)", "start på videresendt besked", "vidaresend melding"),
    *("vidarebefordrat (?:meddelande|brev|mejl)", "áframsendur póstur"),
    *("välitetty viesti", "edelleenlähetetty viesti", "edastatud kiri", "persiųstas laiškas"),
    *("wiadomość przekazana", "przekazana wiadomość", "wiadomość przesłana dalej"),
    *("treść przekazanej wiadomości", "początek przekazywanej wiadomości"),
    *("přeposlaná zpráva", "začátek přeposílané zprávy", "preposlaná správa", "začiatok preposlanej správy"),
    *("proslijeđena poruka", "započni proslijeđenu poruku", "posredovano sporočilo"),
    *("dalej pósrědnjona powěsć", "dale sposrědkowana powěsć", "mesazhi i përcjellë"),
    *("пересылаемое сообщение", "пересланное сообщение", "перенаправленное сообщение"),
    "начало (?:переадресованного|пересылаемого) сообщения",
    *("переслане повідомлення", "перенаправлене повідомлення", "початок листа, що пересилається"),
    *("накіраваны ліст", "перанакіраванае паведамленне", "препратено писмо", "прослеђена порука"),
    *("iletil(?:en|miş) (?:ileti|mesaj)", "ileti başlangıcı"),
    *("továbbított (?:üzenet|levél)", "mesaj redirec[țţ]ionat", "începe mesajul redirec[țţ]ionat"),
    *("tin nhắn (?:đã được )?chuyển tiếp", "thư đã chuyển tiếp"),
    *("pārsūtītā vēstule", "προωθημένο μήνυμα", "გადაგზავნილი წერილი", "әрі қарай жіберілген хабарлама"),
    *("pesan (?:yang )?diteruskan", "mesej dikirim semula", "ข้อความที่ส่งต่อ", "הודעה שהועברה"),
    *("转发的?(?:邮件|消息)", "轉寄郵件", "已转发邮件", "已轉寄郵件"),
    *("転送(?:された)?メッセージ", "メッセージを転送", "전달된 메(?:시지|일)", "رسالة ممرّرة"),
)
FORWARD_MARK = re.compile(rf"(?:-{{2,}}+|_{{2,}}+|)\s{{0,2}}(?:{'|'.join(_WORDS)})", re.IGNORECASE)
