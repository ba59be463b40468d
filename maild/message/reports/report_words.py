"""The words in which mail systems report: that they gave up, or that they go on trying. A table by language. Pure.

A warning must never end a recipient: where words of both kinds stand, nothing is certain, and nothing is told.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from maild.message.reports.bounce_words import plain_words
from maild.message.reports.phrases import PhraseIndex, Phrases


class _Language(NamedTuple):
    """`gave_up`: it failed for good. `failed`: it did not arrive, which warnings say as well. `goes_on`: it is tried
    again. `may_go_on`: not yet, not for now, it is late."""

    gave_up: tuple[str, ...]
    failed: tuple[str, ...]
    goes_on: tuple[str, ...]
    may_go_on: tuple[str, ...]


_LANGUAGES: Final = {
    "en": _Language(
        ("permanent error", "permanent fatal", "permanently", "fatal error", "given up", "giving up",
         "recipients failed", "recipient failed", "addresses failed", "es failed", "did not reach",
         "could not be reached", "undeliverable", "unable to deliver", "could not be delivered",
         "couldnt be delivered", "cannot be delivered", "cant be delivered", "not delivered",
         "unable to be delivered", "delivery failed", "delivery has failed", "delivery failure", "was rejected",
         "was aborted", "has been returned", "did not receive", "delivery problem", "delivery error",
         "undelivered mail returned", "non delivery report", "error has occurred while attempting to deliver",
         "cannot send message for", "cannot send message within"),
        (),
        ("will retry", "be retried", "keep trying", "will try", "will be tried", "shall try", "not yet",
         "still trying", "try again until", "try again for", "continue trying", "continue to try",
         "another attempt is", "another attempt will", "been delayed", "is delayed", "non fatal", "will continue",
         "attempts will", "not need to send", "not need to resend", "not need to re send", "not have to resend",
         "no need to resend", "dont need to resend", "neednt resend", "still undelivered", "no action is required",
         "temporary failure report", "notified if", "informed if", "keeps on trying", "next attempt", "another go",
         "on the first try", "goes on trying"),
        ("delay", "no action", "remains in", "in the queue for", "so far", "for the moment", "stays in", "kept in",
         "temporary problem", "interim", "is waiting", "still waiting")),
    "de": _Language(
        ("konnte nicht zugestellt", "nicht zugestellt werden", "unzustellbar"),
        ("wurde nicht zugestellt", "nicht zustellbar", "zustellung fehlgeschlagen", "nicht ausgeliefert werden"),
        ("bisher nicht zugestellt", "bislang nicht zugestellt", "noch nicht zugestellt", "noch nicht ausgeliefert",
         "weitere zustellversuche", "weitere versuche", "weiterer zustellversuch", "weiterer versuch",
         "wird weiter versucht", "wird weiterhin versucht", "versuchen es weiter", "versuchen weiter",
         "wird erneut versuch", "werden erneut versuch", "erneute zustellversuche", "erneuter zustellversuch",
         "wird wiederholt", "werden wiederholt", "werden fortgesetzt", "wird fortgesetzt", "nicht erneut senden",
         "nicht erneut zu senden", "nicht noch einmal senden", "nicht noch einmal zu senden", "nicht nochmals",
         "nicht erneut verschicken", "nicht erneut abschicken", "verzögert sich", "wird verzögert",
         "benachrichtigt wenn", "benachrichtigt falls", "weiterhin versuchen", "nächster versuch",
         "nächsten versuch", "nächste zustellversuch", "erneuter versand", "versuchen wir es", "wir versuchen es",
         "wir werden es erneut", "erneut probiert", "wieder probiert"),
        ("bislang nicht", "bisher nicht", "noch nicht", "vorübergehend nicht zu", "momentan nicht", "derzeit nicht",
         "zurzeit nicht", "zunächst nicht", "im moment nicht", "verzöger", "verspät", "warteschlange",
         "vorübergehendes problem", "vorübergehender fehler", "zurückgestellt", "beim ersten versuch",
         "zwischenbericht", "wartet")),
    "fr": _Language(
        ("pas pu être délivré", "pas pu être remis", "pas pu etre delivre", "pas pu etre remis", "non remis"),
        ("pas pu être distribué", "pas pu être livré", "pas pu être acheminé", "pas pu etre distribue",
         "pas été remis", "pas été délivré", "pas été distribué", "non distribu", "non délivré",
         "échec de la remise", "échec de remise"),
        ("na pas encore pu", "pas encore pu être", "pas encore été", "toujours pas été", "toujours pas pu",
         "va réessayer", "réessaiera", "réessayera", "réessaierons", "réessayerons", "nouvelle tentative",
         "nouvelles tentatives", "nouvel essai", "nouveaux essais", "dautres tentatives", "continuera à essayer",
         "continuera dessayer", "continue dessayer", "tentatives se poursuiv", "tentatives vont se poursuivre",
         "tentatives continuer", "inutile de renvoyer", "inutile de le renvoyer", "nécessaire de renvoyer",
         "besoin de renvoyer", "est retardé", "a été retardé", "a été différé", "est différé", "averti si",
         "prévenu si", "informé si", "continuer à essayer", "prochaine tentative", "prochain essai", "nouvel envoi",
         "va retenter", "retenterons", "sera retenté", "nous réessa", "présenté de nouveau", "premier coup"),
        ("pour linstant", "pour le moment", "pas encore", "toujours pas", "temporairement pas",
         "temporairement impossible", "momentanément", "retard", "différé", "file dattente", "problème temporaire",
         "erreur temporaire", "en attente", "premier essai", "première tentative")),
    "es": _Language(
        ("no se pudo entregar", "no pudo ser entregado", "no se ha podido entregar"),
        ("no ha sido entregado", "no fue entregado", "no se ha entregado", "no ha podido ser entregado",
         "imposible entregar", "no entregado"),
        ("aún no se ha", "aun no se ha", "aún no ha", "todavía no ha", "todavía no se", "todavia no se",
         "seguirá intentando", "seguiremos intentando", "volverá a intentar", "continuará intentando", "reintentará",
         "reintentaremos", "nuevos intentos", "nuevo intento", "necesario que reenv", "necesario reenv",
         "necesita reenv", "hace falta que reenv", "hace falta reenv", "se ha retrasado", "ha sido retrasad",
         "está retrasad", "se retrasa", "avisaremos si", "notificaremos si", "notificado si",
         "se intentará de nuevo", "intentará de nuevo", "otro intento", "otros intentos", "próximo intento",
         "lo intentaremos", "intentaremos", "persiste en el envío", "entregado aún"),
        ("por ahora", "por el momento", "de momento", "todavía no", "aún no", "temporalmente no", "retras", "demora",
         "en cola", "en la cola", "problema temporal", "error temporal", "pendiente", "en espera", "primer intento")),
    "it": _Language(
        ("non recapitat", "impossibile recapitare"),
        ("impossibile consegnare", "non è stato consegnato", "non è stato recapitato", "non può essere consegnato",
         "non è stato possibile recapitare", "non è stato possibile consegnare", "mancato recapito",
         "mancata consegna", "recapito non è riuscito", "consegna non è riuscita"),
        ("non è ancora", "non è stato ancora", "non ancora consegnat", "non ancora recapitat", "ancora non è stat",
         "continuerà a provare", "continuerà a tentare", "continuerà i tentativi", "riproverà", "riproveremo",
         "ritenterà", "ritentat", "altri tentativi", "nuovi tentativi", "ulteriori tentativi", "nuovo tentativo",
         "necessario inviare di nuovo", "necessario inviarlo di nuovo", "necessario reinviare",
         "necessario rispedire", "occorre reinviare", "occorre inviare", "serve reinviare", "è in ritardo",
         "è stata ritardata", "è stato ritardato", "notifica se", "avvisato se", "avvisati se", "altro tentativo",
         "prossimo tentativo", "nuovo invio", "tenteremo", "ritenteremo", "proveremo"),
        ("per ora", "per il momento", "al momento non", "non ancora", "temporaneamente non", "momentaneamente non",
         "finora", "ritard", "in coda", "nella coda", "problema temporaneo", "errore temporaneo", "in attesa",
         "primo tentativo", "al momento")),
    "pt": _Language(
        ("não pôde ser entregue",),
        ("não pode ser entregue", "não foi entregue", "não foi possível entregar", "nao pode ser entregue",
         "nao foi possivel entregar", "falha na entrega", "falha ao entregar"),
        ("ainda não foi", "ainda nao foi", "ainda não pôde", "ainda não pode", "continuará tentando",
         "continuaremos tentando", "continuará a tentar", "tentará novamente", "novas tentativas", "nova tentativa",
         "necessário reenviar", "preciso reenviar", "precisa reenviar", "precisa de reenviar", "está atrasad",
         "foi atrasad", "sofreu atraso", "avisado se", "notificado se", "notificação se", "outra tentativa",
         "outras tentativas", "próxima tentativa", "novo envio", "vamos tentar", "tentaremos", "iremos tentar"),
        ("por enquanto", "por agora", "de momento", "ainda não", "temporariamente não", "atras", "demora", "na fila",
         "em fila", "problema temporário", "erro temporário", "em espera", "aguardando", "primeira tentativa")),
    "nl": _Language(
        ("niet worden bezorgd", "niet worden afgeleverd"),
        ("niet bezorgd", "niet afgeleverd", "onbestelbaar", "bezorging mislukt", "bezorging is mislukt"),
        ("nog niet worden", "nog niet bezorgd", "nog niet afgeleverd", "blijft proberen", "blijft het proberen",
         "blijven proberen", "blijven het proberen", "proberen het opnieuw", "probeert het opnieuw",
         "opnieuw geprobeerd", "nog steeds geprobeerd", "nieuwe poging", "verdere poging", "bericht niet opnieuw",
         "niet opnieuw te verzenden", "niet opnieuw te versturen", "is vertraagd", "vertraging opgelopen",
         "bericht als het", "bericht als de", "melding als", "volgende poging", "proberen wij", "wij proberen",
         "we proberen"),
        ("voorlopig", "nog niet", "tijdelijk niet", "op dit moment niet", "vertraag", "vertraging", "wachtrij",
         "tijdelijk probleem", "tijdelijke fout", "tijdelijke storing", "in afwachting", "eerste poging")),
    "sv": _Language(
        ("kunde inte levereras",),
        ("kan inte levereras", "har inte levererats", "inte kunnat levereras", "ej levererat",
         "gick inte att leverera", "leveransen misslyckades", "leverans misslyckades", "levererades inte"),
        ("ännu inte levere", "inte levererats ännu", "levereras ännu", "fortsätter att försöka",
         "fortsätter försöka", "kommer att försöka", "försöker igen", "nya försök", "nytt försök",
         "ytterligare försök", "behöver inte skicka", "är fördröjd", "har fördröjts", "har försenats", "är försenad",
         "besked om", "meddelas om", "nästa försök", "vi provar", "vi försöker", "provar igen"),
        ("ännu", "tills vidare", "tillfälligt inte", "just nu inte", "fördröj", "försen", "i kön",
         "tillfälligt problem", "tillfälligt fel", "väntar", "första försöket")),
    "da, nb": _Language(
        ("kunne ikke leveres",),
        ("kan ikke leveres", "er ikke leveret", "blev ikke leveret", "er ikke levert", "ble ikke levert",
         "leveringen mislykkedes", "leveringen mislyktes", "levering mislykkedes", "grupper mislykkedes",
         "grupper mislyktes"),
        ("endnu ikke leve", "ennå ikke leve", "enda ikke leve", "leveres endnu", "leveres ennå", "fortsat forsøge",
         "med at forsøge", "fortsætter med at prøve", "fortsette å prøve", "fortsetter å prøve", "forsøger igen",
         "prøver igen", "prøver på nytt", "vil prøve igen", "vil prøve på nytt", "vil forsøge igen", "nye forsøg",
         "nye forsøk", "nyt forsøg", "nytt forsøk", "yderligere forsøg", "ytterligere forsøk",
         "behøver ikke at sende", "behøver ikke sende", "trenger ikke å sende", "trenger ikke sende", "er forsinket",
         "er blevet forsinket", "er blitt forsinket", "næste forsøg", "neste forsøk", "vi prøver", "vi forsøger"),
        ("endnu ikke", "ennå ikke", "foreløbig", "foreløpig", "midlertidig ikke", "midlertidigt ikke",
         "indtil videre", "forsink", "i køen", "i kø ", "midlertidigt problem", "midlertidig problem",
         "midlertidig fejl", "midlertidig feil", "venter", "første forsøg", "første forsøk")),
    "fi": _Language(
        (),
        ("ei voitu toimittaa", "ei voida toimittaa", "ei toimitettu", "ei ole toimitettu", "toimitus epäonnistui",
         "toimittaminen epäonnistui"),
        ("ei ole vielä", "vielä voitu toimittaa", "yrittää uudelleen", "yritetään uudelleen", "jatkaa yrittämistä",
         "yrityksiä jatketaan", "ei tarvitse lähettää", "viivästyy", "on viivästynyt", "yrittää sitä",
         "seuraava yritys", "yritämme"),
        ("vielä", "toistaiseksi", "tilapäisesti ei", "viiväst", "jonossa", "tilapäinen", "väliaikainen", "odottaa")),
    "pl": _Language(
        ("nie mogła zostać dostarczona", "nie została dostarczona"),
        ("nie może zostać dostarczona", "nie udało się dostarczyć", "nie można dostarczyć",
         "nie można było dostarczyć", "nie dostarczono", "niedostarczon", "adresatów lub grup nie powiodło",
         "dostarczenie nie powiodło"),
        ("nie została jeszcze", "jeszcze nie", "kolejne próby", "kolejna próba", "następne próby", "następna próba",
         "dalsze próby", "ponowi próbę", "ponowiona", "nadal próbował", "spróbuje ponownie", "trzeba wysyłać",
         "musisz wysyłać", "należy wysyłać", "opóźnia się", "została opóźniona", "zostało opóźnione",
         "jest opóźnion", "poinformujemy cię jeśli", "powiadomimy cię jeśli", "ponawia", "spróbuje jeszcze",
         "spróbujemy", "ponowimy"),
        ("jak dotąd", "na razie", "tymczasowo nie", "chwilowo", "opóźni", "w kolejce", "tymczasowy problem",
         "tymczasowy błąd", "oczekuje", "czeka", "za pierwszym razem")),
    "cs, sk": _Language(
        (),
        ("nepodařilo doručit", "nepodarilo dorucit", "nemohla být doručena", "nelze doručit", "nebylo možné doručit",
         "nebyla doručena", "nedoručiteln", "nedoručen", "doručení selhalo", "doručení se nezdařilo",
         "nepodarilo doručiť", "nebolo možné doručiť", "nemohla byť doručená", "nebola doručená", "nedoručiteľn",
         "nemožno doručiť", "doručenie zlyhalo"),
        ("zatím nebyl", "zatím nepodařilo", "zatím se nepodařilo", "dosud nebyl", "dosud nepodařilo",
         "dosud se nepodařilo", "ještě nebyl", "ještě nepodařilo", "bude pokoušet", "budeme pokoušet",
         "pokusí znovu", "pokusí se znovu", "zkusí znovu", "zkusí to znovu", "další pokus", "bude opakovat",
         "bude opakován", "pokusy budou pokračovat", "třeba posílat", "nutné posílat", "nemusíte posílat",
         "se zpozdilo", "je zpožděn", "bylo zpožděn", "zatiaľ nepodarilo", "zatiaľ nebol", "doteraz nebol",
         "ešte nebol", "pokúsi znova", "pokúsi sa znova", "bude pokúšať", "ďalší pokus", "ďalšie pokusy",
         "potrebné posielať", "zopakuj", "příští pokus", "nasledujúci pokus", "zkusíme", "pokusíme", "skúsime"),
        ("zatím", "dosud", "prozatím", "dočasně ne", "zpozd", "zpožd", "opožd", "zatiaľ", "doteraz", "dočasne ne",
         "oneskor", "mešká", "ve frontě", "vo fronte", "napoprvé", "na poprvé", "dočasný problém", "dočasná chyba",
         "dočasný problem", "čeká", "čaká")),
    "hu": _Language(
        (),
        ("nem sikerült kézbesíteni", "nem lehetett kézbesíteni", "nem kézbesíthető", "nem volt kézbesíthető",
         "kézbesíthetetlen", "kézbesítése sikertelen", "kézbesítése nem sikerült", "sikertelen kézbesítés",
         "kézbesítési hiba"),
        ("még nem sikerült", "még nem került", "még nem lett", "újra próbál", "újra megpróbál", "újrapróbál",
         "ismét megpróbál", "továbbra is próbál", "további kísérlet", "újabb kísérlet", "szükséges újra",
         "kell újra", "kézbesítése késik", "késleltet", "következő kísérlet", "megpróbáljuk", "próbáljuk"),
        ("még nem", "egyelőre", "átmenetileg nem", "késik", "késés", "késedel", "várakozási sor", "várólist",
         "átmeneti probléma", "átmeneti hiba", "ideiglenes probléma", "ideiglenes hiba", "várakozik", "elsőre")),
    "ro": _Language(
        (),
        ("nu a putut fi livrat", "nu poate fi livrat", "nu a fost livrat", "nu a putut fi trimis", "nelivrat",
         "livrarea a eșuat", "livrarea a eşuat", "livrare eșuată", "livrare eşuată", "livrarea nu a reușit"),
        ("livrat încă", "încă nu a", "nu a fost încă", "va încerca din nou", "reîncerca", "va continua să încerce",
         "încercările vor continua", "noi încercări", "alte încercări", "necesar să retrim", "nevoie să retrim",
         "trebuie să retrim", "este întârziat", "a fost întârziat", "se va încerca din nou", "următoarea încercare",
         "nouă încercare", "vom încerca", "vom reîncerca"),
        ("încă", "deocamdată", "momentan nu", "temporar nu", "întârzi", "în coadă", "problemă temporară",
         "eroare temporară", "în așteptare", "în aşteptare")),
    "hr, sl": _Language(
        (),
        ("nije mogla biti isporučena", "nije isporučena", "nije dostavljena", "nije moguće isporučiti",
         "isporuka nije uspjela", "ni bilo mogoče dostaviti", "ni bilo mogoče posredovati"),
        ("još nije isporučen", "još uvijek nije", "pokušati ponovno", "pokušat će ponovno", "ponovno će pokušati",
         "nastavit će", "potrebno ponovno", "še ni bil", "poskusil znova", "znova poskusil", "pokušat ćemo",
         "poskusili bomo"),
        ("još nije", "zasad", "privremeno nije", "kasni", "še ni", "zaenkrat", "u redu čekanja", "v čakalni vrsti")),
    "el": _Language(
        (),
        ("δεν παραδόθηκε", "δεν ήταν δυνατή η παράδοση", "δεν μπόρεσε να παραδοθεί", "αδυναμία παράδοσης",
         "αποτυχία παράδοσης", "η παράδοση απέτυχε"),
        ("έχει παραδοθεί ακόμα", "έχει παραδοθεί ακόμη", "ακόμα δεν", "ακόμη δεν", "θα προσπαθήσει ξανά",
         "θα ξαναπροσπαθήσει", "θα συνεχίσει", "θα συνεχιστούν", "νέα προσπάθεια", "νέες προσπάθειες",
         "θα επαναληφθεί", "χρειάζεται να στείλετε", "χρειάζεται να ξαναστείλετε", "καθυστερεί", "έχει καθυστερήσει",
         "επόμενη προσπάθεια", "θα δοκιμάσουμε", "θα προσπαθήσουμε"),
        ("ακόμα", "ακόμη", "προς το παρόν", "προσωρινά δεν", "καθυστ", "στην ουρά", "προσωρινό πρόβλημα",
         "προσωρινό σφάλμα", "σε αναμονή")),
    "tr": _Language(
        (),
        ("teslim edilemedi", "teslim edilemiyor", "teslim edilemeyen", "iletilemedi", "gönderilemedi",
         "ulaştırılamadı"),
        ("henüz teslim", "henüz ilet", "henüz ulaş", "henüz gönder", "yeniden deneyecek", "tekrar deneyecek",
         "yeniden denenecek", "tekrar denenecek", "denemeye devam", "göndermenize gerek", "göndermeniz gerekmez",
         "gecikti", "tekrar gönderilecek", "yeniden gönderilecek", "sonraki deneme", "deneyeceğiz"),
        ("henüz", "şimdilik", "şu an için", "geçici olarak", "gecik", "kuyrukta", "kuyruğunda", "geçici bir",
         "bekliyor", "beklemede")),
    "ru": _Language(
        ("не доставлено", "не удалось доставить", "не может быть доставлено"),
        ("не было доставлено", "не могло быть доставлено", "невозможно доставить", "доставка не удалась",
         "недоставлен"),
        ("ещё не доставлен", "еще не доставлен", "пока не доставлен", "до сих пор не доставлен", "ещё не удалось",
         "еще не удалось", "пока не удалось", "пока не может", "продолжит", "продолжает попытк", "продолжим",
         "попытки доставки будут", "попытки будут продолж", "попытки будут повтор", "будут продолжены",
         "повторит попыт", "повторные попытки", "повторная попытка", "будет повторена", "будут повторены",
         "попробует ещё", "попробует еще", "попробует снова", "попытается снова", "попытается ещё", "попытается еще",
         "отправка не требуется", "повторно не нужно", "повторно не требуется", "не нужно отправлять",
         "не требуется отправлять", "задерживается", "доставка отложена", "остаётся в очереди", "остается в очереди",
         "находится в очереди", "сообщим если", "уведомим если", "уведомление если", "попытки продолжаются",
         "продолжаются попытки", "новая попытка", "новые попытки", "будет пытаться", "будем пытаться",
         "следующая попытка", "следующую попытку", "пробуем ещё", "пробуем еще", "пробуем снова", "попробует позже",
         "повторим", "попробуем", "попытаемся", "мы пробуем"),
        ("пока не", "ещё не", "еще не", "до сих пор", "временно не", "задерж", "отложен", "в очереди",
         "с первого раза", "временная ошибка", "временная проблема", "временные проблемы", "ожидает", "ждёт", "ждет",
         "сразу")),
    "uk": _Language(
        (),
        ("не вдалося доставити", "не може бути доставлен", "неможливо доставити", "доставка не вдалася"),
        ("ще не доставлен", "поки не доставлен", "поки що не", "досі не доставлен", "продовжить", "продовжуватим",
         "повторить спроб", "спроби будуть продовж", "буде повторена", "спробує ще", "спробує знову",
         "повторно не потрібно", "не потрібно надсилати", "затримується", "залишається в черзі", "спроби тривають",
         "нова спроба", "нові спроби", "намагатиметься", "наступна спроба", "спробуємо", "повторимо"),
        ("ще не", "поки не", "досі не", "тимчасово не", "затрим", "відкладен", "в черзі", "у черзі",
         "тимчасова помилка", "тимчасова проблема", "очікує", "чекає")),
    "vi": _Language(
        (),
        ("không thể gửi", "không gửi được", "gửi không thành công", "không thể chuyển"),
        ("chưa được gửi", "vẫn chưa", "sẽ thử lại", "sẽ tiếp tục", "không cần gửi lại", "bị trì hoãn"),
        ("chưa được", "chưa thể", "tạm thời không", "hàng đợi", "sự cố tạm thời")),
    "id": _Language(
        (),
        ("tidak dapat dikirim", "tidak dapat terkirim", "tidak terkirim", "gagal dikirim", "gagal terkirim"),
        ("belum terkirim", "belum dikirim", "akan mencoba lagi", "akan terus mencoba", "akan dicoba lagi",
         "tidak perlu mengirim ulang", "tertunda", "ditunda", "kami akan mencoba"),
        ("belum", "sementara tidak", "untuk sementara", "antrean", "antrian", "masalah sementara")),
    "ja": _Language(
        ("配信できません", "配信されません"),
        ("配信できなかった", "配信に失敗", "送信できません", "配達できません", "お届けできません", "届けられません",
         "配信不能"),
        ("まだ配信", "まだ送信", "まだお届け", "まだ届", "引き続き配信", "引き続き送信", "引き続き再", "再送します",
         "再送を行い", "再送を続け", "再送を試み", "再送信します", "再送信を行い", "再送信を試み", "再試行します",
         "再試行を行い", "再試行を続け", "再試行されます", "自動的に再", "再送の必要はありません",
         "再送信の必要はありません", "再送していただく必要", "再送信していただく必要", "再送は不要", "再送信は不要",
         "遅れています", "遅延しています", "場合は通知", "でしたら通知", "再度配信", "再度送信", "再配信を",
         "再配送を", "再度お送り", "再度お届け", "次回の配信", "配信を試みます", "送信を試みます", "再度試みます"),
        ("まだ", "一時的に配信", "一時的に送信", "一時的にお届け", "遅延", "遅れ", "後ほど再", "キュー",
         "一時的な問題", "一時的なエラー", "一時的な障害", "待機中")),
    "zh": _Language(
        ("无法送达", "无法投递", "被退回", "無法送達"),
        ("投递失败", "发送失败", "未能送达", "無法投遞", "無法傳遞", "投遞失敗", "傳送失敗", "未能送達", "未能传递",
         "无法传递", "未能傳遞"),
        ("将继续尝试", "会继续尝试", "继续重试", "将重试", "会重试", "会再次尝试", "将再次尝试", "尚未送达",
         "尚未投递", "仍未送达", "还未送达", "无需重新发送", "无需重发", "不必重新发送", "投递延迟", "延迟投递",
         "將繼續嘗試", "會繼續嘗試", "繼續重試", "將重試", "將會重試", "會重試", "會再次嘗試", "將再次嘗試",
         "尚未送達", "尚未投遞", "無需重新傳送", "無需重寄", "不需要重新", "投遞延遲", "延遲投遞", "会收到通知",
         "會收到通知", "将收到通知", "將收到通知", "将继续投递", "将继续发送", "继续投递", "將繼續投遞", "繼續投遞",
         "自动重发", "自动重新发送", "下次尝试", "自動重發", "自動重新傳送", "下次嘗試", "将再次投递", "会再次投递"),
        ("暂时无法", "暂未", "尚未", "延迟", "暫時無法", "暫未", "延遲", "队列", "佇列", "隊列", "临时问题",
         "暂时性", "臨時問題", "暫時性", "正在等待")),
    "ko": _Language(
        (),
        ("전송하지 못했", "전송되지 못했", "전송되지 않았", "전송할 수 없", "전송에 실패", "전송 실패",
         "보내지 못했", "배달하지 못했", "배달되지 못했", "배달되지 않았", "배달할 수 없", "배달 실패",
         "전달되지 않았", "전달할 수 없", "발송 실패", "발송에 실패", "반송되었"),
        ("아직 전송", "아직 배달", "아직 전달", "계속 재시도", "재시도합니다", "재시도할", "재시도하겠",
         "다시 시도합니다", "다시 시도할", "다시 시도하겠", "다시 보내실 필요", "다시 보낼 필요", "재전송할 필요",
         "지연되고", "지연되었", "다시 전송을 시도", "다시 전송합니다", "재전송합니다", "재전송을 시도", "다음 시도",
         "자동으로 다시", "다시 보내겠", "다시 전송하겠"),
        ("아직", "일시적으로", "지연", "당분간", "대기열", "일시적인", "대기 중")),
}  # fmt: skip

# Words of trying again, denied.
_NO_MORE: Final = re.compile(
    r" (?:no (?:further|more)(?: delivery)? attempts"
    r"|(?:will not|wont|not|never|no longer) (?:try|retry|be (?:re)?tried|keep trying|continue)"
    r"|keine? (?:weitere|erneute|neue)[nr]? [^ ]+|nicht (?:wiederholt|fortgesetzt|erneut versucht|weiter versucht)"
    r"|(?:aucune?|pas de|pas|plus de|plus|sans|avant une|avant toute) (?:nouve|dautres|autre)[^ ]* [^ ]+"
    r"|ne réessa[^ ]+ (?:pas|plus)"
    r"|(?:no (?:se|habrá|habrán)(?: [^ ]+)?|sin|ningún|antes de(?: un)?) (?:más |otros )?(?:nuevos? )?intentos?"
    r"|no (?:se |lo )?(?:volverá a intentar|reintentará|seguirá intentando)"
    r"|non (?:verranno|saranno|ci saranno)(?: [^ ]+)? (?:altri|ulteriori|nuovi) tentativi"
    r"|(?:senza|nessun) (?:altr[io]|ulteriori?|nuov[io]) tentativ[io]|non (?:riproverà|ritenterà)"
    r"|(?:não (?:serão|haverá)(?: [^ ]+)?|nenhuma|sem|antes de(?: uma)?) novas? tentativas?|não tentará novamente"
    r"|geen (?:nieuwe|verdere) poging(?:en)?|niet opnieuw (?:geprobeerd|proberen)"
    r"|(?:inga|inget|ingen) (?:nya|nytt|ytterligare) försök|inte att försöka"
    r"|(?:ingen|ikke) (?:nye|nytt?|yderligere|ytterligere) forsø[gk]|ikke (?:prøve|forsøge) igen"
    r"|(?:dalsze|kolejne|następne) próby nie|(?:další|žádné další) pokusy?(?: již)? nebud[^ ]+|žádné další pokusy"
    r"|ďalšie pokusy (?:sa ne|ne)[^ ]+|žiadne ďalšie pokusy|další pokus(?: již)? nebude"
    r"|(?:további|újabb) kísérlet[^ ]* (?:már )?nem|nem lesz(?:nek)? (?:további|újabb) kísérlet[^ ]*"
    r"|nu se vor(?: mai)?(?: face| efectua)? (?:alte|noi) încercări|nu se va reîncerca|fără alte încercări"
    r"|δεν θα (?:γίν[^ ]+ (?:άλλη|άλλες|νέα|νέες) προσπάθει[^ ]+|συνεχίσει|συνεχιστούν|προσπαθήσει ξανά)"
    r"|повторн[^ ]+ попыт[^ ]+(?: доставки)? не|попытки(?: доставки)? будут прекращены|не продолжит|не повторит попыт"
    r"|спроби будуть припинені|не продовжить|не повторить)"
    r"|再(?:試行|送|送信)(?:は|を)?(?:行|おこな)(?:い|われ)ません|不(?:会|會)?再?(?:继续|繼續)?(?:重试|重試|再次尝试|再次嘗試|尝试|嘗試)"
)

_GAVE_UP: Final = PhraseIndex([Phrases(one.gave_up) for one in _LANGUAGES.values()])
_FAILED: Final = PhraseIndex([Phrases(one.failed) for one in _LANGUAGES.values()])
_GOES_ON: Final = PhraseIndex([Phrases(one.goes_on) for one in _LANGUAGES.values()])
_MAY_GO_ON: Final = PhraseIndex([Phrases(one.may_go_on) for one in _LANGUAGES.values()])
_BEGINNINGS: Final = tuple(phrase for one in _LANGUAGES.values() for phrase in (*one.gave_up, *one.failed))
# Behind them may stand the message that came back, which speaks of delays and hours too.
_OWN_CHARS: Final = 1500
_WARNING: Final = " warning"  # in a text also a word of footers
# Warnings tell of minutes and hours, failures of days; or else they say that it is the end.
_HOURS: Final = re.compile(
    r" \d{1,3} (?:minut[^ ]{0,4}|min|perc[^ ]{0,3}|λεπτ[^ ]{0,2}|dakika[^ ]{0,3}|минут[^ ]?|хвилин[^ ]?"
    r"|h|hours?|hrs|stunden?|std|heures?|horas?|ore|ora|uur|uren|timm(?:ar|arna|e)|timer?|timene|tun(?:tia|nin|tin)"
    r"|godz(?:in[^ ]{0,3})?|hod[ií]n[^ ]{0,3}|órá[^ ]{0,4}|óra|sat[ai]?|ur|ώρες|ώρα|ωρών|saat[^ ]{0,4}"
    r"|час(?:а|ов)?|годин[^ ]{0,2}|giờ|jam) "
    r"|\d{1,3} ?(?:分钟|分鐘|分(?:ごと|後|間|以内)|분|個?時間|(?:个|個)?(?:小时|小時)|시간)"
)
_AT_AN_END: Final = (" aborted", " given up", " giving up", " gave up", " stopped trying", " period of")


def says_it_goes_on(text: str) -> bool:
    """Does a text say that the message is tried again?"""
    words = plain_words(text)
    return _GOES_ON.first(words) is not None and _GOES_ON.first(_NO_MORE.sub(" ", words)) is not None


def says_it_may_go_on(text: str, subject: str = "") -> bool:
    """Does a text say that the message is late, or not delivered for now?"""
    return _is_open(plain_words(text)) or _WARNING in plain_words(subject)


def says_it_gave_up(text: str) -> bool:
    """Does a mail system's text say that it failed for good, and nothing of trying again?"""
    words = plain_words(text)
    if _GAVE_UP.first(words) is None and (_FAILED.first(words) is None or not _NO_MORE.search(words)):
        return False
    return _is_closed(words)


def says_it_failed(text: str) -> bool:
    """Does a mail system's text say that it failed, for good where it gives a reason, and nothing of trying again?"""
    words = plain_words(text)
    return _FAILED.first(words) is not None and _is_closed(words)


def _is_closed(words: str) -> bool:
    if _WARNING in words or _is_open(words):
        return False
    return _HOURS.search(words[:_OWN_CHARS]) is None or any(phrase in words for phrase in _AT_AN_END)


def _is_open(words: str) -> bool:
    return _MAY_GO_ON.first(words[:_OWN_CHARS]) is not None


def begins_by_giving_up(subject: str) -> bool:
    """Does a subject begin as that of a report does? `subject`: without `Re:` and its like."""
    return plain_words(subject).removeprefix(" mail").startswith(_BEGINNINGS, 1)
