"""Whether an author says that the answers stand within the quote: "see my comments in red below", "Antworten im Text".

Who answers between the lines of a copy that no mark tells from the answers (Outlook's, Notes', Yahoo's), or within a
blockquote, mostly says so above it. Then nothing of the quote can be taken off. What stands in a file that is attached
is not meant.
"""

from __future__ import annotations

import re
from typing import Final

_CHARS: Final = 4096  # of the author's words, the last above the quote

# What was said, and where or how it shows, in one sentence, for each language.
_SAID_AND_WHERE: Final = (
    (r"answer(?:s|ed)?|comment(?:s|ed)?|repl(?:y|ies|ied)|respon(?:se|ses|ded)|notes?|remarks?|feedback|thoughts|see"
     r"|updates?|edits|below",
     r"in-?line|in (?:red|blue|green|purple|orange|bold|capitals|caps|italics|colou?r)"
     r"|(?:within|between|throughout) (?:the|your) (?:text|e-?mail|mail|message|body|lines)|interspersed"
     r"|in (?:the|your) (?:text|e-?mail|mail|message|body) below"),
    (r"antwort\w*|anmerkung\w*|kommentar\w*|bemerkung\w*|ergänzung\w*|siehe|s\.|beantwortet|geantwortet|unten",
     r"inline|in (?:rot|blau|grün|fett|kursiv|farbe)|(?:rot|blau|grün|farbig) (?:markiert|geschrieben)"
     r"|im (?:mail)?text|(?:direkt|unten) in (?:deiner|ihrer|der|die) (?:e-?)?mail|zwischen den zeilen"),
    (r"réponses?|commentaires?|remarques?|répondu|voir|annotations?|ci-dessous",
     r"en (?:rouge|bleu|vert|gras|couleur)|dans le (?:texte|corps)|entre les lignes"
     r"|directement dans (?:ton|votre) (?:mail|message|courriel)"),
    (r"respuestas?|comentarios?|respond\w+|contest\w+|observaciones|abajo",
     r"en (?:rojo|azul|verde|negrita|color)|en el (?:texto|cuerpo)|entre líneas|intercalad\w+"),
    (r"rispost[aeo]|comment[io]|osservazioni|vedi|sotto",
     r"in (?:rosso|blu|verde|grassetto)|nel testo|nel corpo|tra le righe"),
    (r"respostas?|comentários?|respond\w+|observações|abaixo",
     r"em (?:vermelho|azul|verde|negrito)|no (?:corpo|texto)|entre as linhas"),
    (r"antwoord(?:en)?|opmerking(?:en)?|reacties?|commentaar|zie|hieronder",
     r"in (?:het )?(?:rood|blauw|groen|vet)|in de tekst|tussen de regels|inline"),
    (r"odpowied\w*|komentarz\w*|uwag\w*|odpisał\w*|poniżej",
     r"na (?:czerwono|niebiesko|zielono)|w treści|w tekście|między wierszami"),
    (r"svar\w*|kommentar\w*|se|nedan|nedenfor",
     r"i (?:rött|blått|grönt|texten|rødt|blåt|grønt|teksten)|med (?:rött|blått|rødt|blåt)"
     r"|mell[ae][mn] (?:raderna|linjerne)"),
    (r"odpově\w*|odpovídám|komentář\w*|poznámk\w*|viz|níže", r"červeně|modře|zeleně|v textu|mezi řádky"),
    (r"cevap\w*|yanıt\w*|yorum\w*|aşağıda", r"kırmızı\w*|mavi\w*|metin içinde|satır aralarında"),
    (r"ответ\w*|комментари\w*|замечани\w*|ниже", r"в тексте|по тексту|красным|синим|зел[её]ным|между строк"),
    (r"відпов\w*|комент\w*|зауваж\w*|нижче", r"[ву] тексті|по тексту|червоним|синім|зеленим"),
    (r"תשוב\w*|הער\w*|התייחסות\w*|עניתי", r"באדום|בכחול|בירוק|בגוף (?:המייל|ההודעה)"),
    (r"رد\w*|إجاب\w*|تعليق\w*|أدناه", r"باللون (?:الأحمر|الأزرق|الأخضر)|داخل النص"),
)  # fmt: skip
# Between their words are no blanks.
_UNSPACED: Final = (
    r"(?:赤字|青字|赤色|青色|インライン|文中)(?:で|に)(?:て)?[^。\n]{0,12}(?:回答|返信|返答|記入|記載|コメント|失礼|追記)"
    r"|(?:回复|回覆|答复|答覆|批注|意见|意見|见|見)[^。\n]{0,12}(?:红字|红色|蓝字|蓝色|紅字|紅色|藍字|藍色|文中)"
    r"|(?:红色|红字|蓝色|蓝字|紅色|紅字|藍色|藍字)[^。\n]{0,8}(?:回复|回覆|答复|答覆|标注|標註|部分)"
    r"|(?:빨간|파란|붉은|푸른)\s?(?:색|글씨)[^.\n]{0,12}(?:답변|회신|답장|표시|코멘트)|본문에 (?:답변|회신|코멘트)"
    r"|(?:답변|회신|답장|코멘트)[^.\n]{0,12}(?:빨간|파란|붉은|푸른)"
)
_ANNOUNCEMENT: Final = re.compile(
    "|".join(
        rf"\b(?:{said})\b[^.!?]{{0,60}}\b(?:{where})\b|\b(?:{where})\b[^.!?,;]{{0,30}}\b(?:{said})\b"
        for said, where in _SAID_AND_WHERE
    )
    + f"|{_UNSPACED}",
    re.IGNORECASE,
)
_OF_A_FILE: Final = re.compile(
    r"attach|document|anhang|anlage|angehängt|beigefügt|anbei|dokument|pièce|joint|adjunt|allegat|anex|bijlage|bijgevoeg"
    r"|załącz|bifoga|vedhæft|vedlagt|přílo|přilož|ekte|вложен|прикреп|приложен|додат|קובץ|מצורף|مرفق|添付|附件|첨부"
    r"|\.(?:docx?|pdf|xlsx?|pptx?)\b",
    re.IGNORECASE,
)
_NEAR: Final = 60


def announces_inline_answers(words: str) -> bool:
    """Do these words of the author's, above a quote, say that more stand within it?"""
    words = words[-_CHARS:]
    return any(
        not _OF_A_FILE.search(words, max(0, found.start() - _NEAR), found.end() + _NEAR)
        for found in _ANNOUNCEMENT.finditer(words)
    )
