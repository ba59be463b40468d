"""What reports say in words: that they gave up, or that they go on, in each language that they are known in."""

import pytest

from maild.message.reports import report_words
from maild.message.reports.bounce_words import plain_words
from maild.message.reports.report_words import (
    begins_by_giving_up,
    says_it_failed,
    says_it_gave_up,
    says_it_goes_on,
    says_it_may_go_on,
)
from tests.support.laws.work import assert_proportional, bomb

LANGUAGES = report_words._LANGUAGES

NOT_AN_END = [
    "Your message to a@b.test could not be delivered so far. You do not need to send it again.",
    "Mail for a@b.test could not be delivered in the first 4 hours; it stays in our queue until Thursday.",
    "There was a temporary problem delivering to a@b.test. You'll be notified if the delivery fails permanently.",
    "Ihre Nachricht an a@b.test konnte bislang nicht zugestellt werden. Wir versuchen es weiter.",
    "Ihre Mail an a@b.test konnte seit 4 Stunden nicht zugestellt werden.",
    "Votre message à a@b.test n'a pas pu être remis pour l'instant. Le serveur réessaiera pendant 4 jours.",
    "Su mensaje a a@b.test no se pudo entregar por ahora. El servidor lo volverá a intentar.",
    "Non è stato possibile recapitare a a@b.test nelle ultime 4 ore. Il messaggio resta in coda.",
    "A mensagem para a@b.test ainda não pôde ser entregue. O servidor continuará tentando.",
    "Uw bericht aan a@b.test kon nog niet worden bezorgd. De server blijft het proberen.",
    "Ditt meddelande till a@b.test kunde inte levereras ännu. Servern fortsätter att försöka.",
    "Meldingen til a@b.test kunne foreløpig ikke leveres.",
    "Viestiä ei voitu toimittaa vastaanottajalle a@b.test viimeisten 4 tunnin aikana.",
    "Wiadomość do a@b.test tymczasowo nie mogła zostać dostarczona; serwer ponowi próbę.",
    "Vaši zprávu pro a@b.test se zatím nepodařilo doručit.",
    "Üzenetét még nem sikerült kézbesíteni a@b.test részére. A kiszolgáló újra próbálkozik.",
    "Mesajul către a@b.test nu a putut fi livrat încă.",
    "Το μήνυμα προς a@b.test δεν παραδόθηκε τις τελευταίες 4 ώρες. Παραμένει στην ουρά.",
    "İletiniz a@b.test adresine henüz teslim edilemedi.",
    "Ваше письмо для a@b.test пока не доставлено. Сервер продолжит попытки доставки.",
    "Лист для a@b.test не вдалося доставити за останні 4 години. Він чекає в черзі.",
    "a@b.test 宛のメールはまだ配信されていません。引き続き再送します。現在は配信できません。",
    "您发给 a@b.test 的邮件在过去 4 小时内无法送达，仍在队列中。",
    "The message to a@b.test could not be delivered, and is waiting for the other host.",
    "Die Nachricht an a@b.test konnte nicht zugestellt werden und wartet auf den nächsten Versuch.",
    "Le message pour a@b.test n'a pas pu être remis et reste en attente.",
    "Письмо для a@b.test не удалось доставить. Мы пробуем снова каждые 15 минут.",
    "지난 4시간 동안 a@b.test 로 메일을 전송하지 못했습니다. 메일은 대기열에 남아 있습니다.",
]

AN_END = [
    "Your message to a@b.test could not be delivered. The server will not try again.",
    "Delivery to a@b.test was aborted after 5.0 hours, and could not be delivered.",
    "Ihre Nachricht konnte nicht zugestellt werden. Es werden keine weiteren Zustellversuche unternommen.",
    "Ihre Nachricht konnte nicht zugestellt werden. Bitte versuchen Sie es später erneut.",
    "Votre message n'a pas pu être remis. Aucune nouvelle tentative ne sera effectuée.",
    "No se pudo entregar su mensaje. No se realizarán más intentos.",
    "Impossibile recapitare il messaggio. Non verranno effettuati ulteriori tentativi.",
    "Sua mensagem não pôde ser entregue. Não serão feitas novas tentativas.",
    "Meddelandet kunde inte levereras. Inga fler försök kommer att göras.",
    "Wiadomość nie mogła zostać dostarczona. Dalsze próby nie będą podejmowane.",
    "Vaši zprávu se nepodařilo doručit. Další pokusy již nebudou provedeny.",
    "Az üzenetet nem sikerült kézbesíteni. További kísérletek nem lesznek.",
    "Το μήνυμα δεν παραδόθηκε. Δεν θα γίνουν άλλες προσπάθειες.",
    "Не удалось доставить письмо. Дальнейшие попытки предприниматься не будут.",
    "メールは配信できませんでした。これ以上の再試行は行われません。",
    "您的邮件无法送达，系统不会再重试，请稍后重新发送。",
]


@pytest.mark.parametrize("text", NOT_AN_END)
def test_who_goes_on_has_not_given_up(text: str) -> None:
    assert says_it_goes_on(text) or not (says_it_gave_up(text) or says_it_failed(text))


@pytest.mark.parametrize("text", AN_END)
def test_who_goes_on_no_more_has_given_up(text: str) -> None:
    assert says_it_gave_up(text) and not says_it_goes_on(text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_phrases_are_found_as_words_are(language: str) -> None:
    gave_up, failed, goes_on, may_go_on = LANGUAGES[language]
    for phrase in (*gave_up, *failed, *goes_on, *may_go_on):
        assert phrase == plain_words(phrase)[1:].rstrip() + " " * phrase.endswith(" "), "is not as words are"
    assert all(begins_by_giving_up(phrase) for phrase in (*gave_up, *failed))
    assert all(says_it_goes_on(phrase) for phrase in goes_on)
    assert all(says_it_may_go_on(phrase) for phrase in may_go_on)


def test_a_language_that_can_give_up_can_go_on() -> None:
    """Else its warnings would end recipients."""
    assert all(one.goes_on and one.may_go_on for one in LANGUAGES.values())


def test_a_warning_is_one_in_a_subject_alone() -> None:
    assert says_it_may_go_on("could not be delivered", "Warning: 4 hours")
    assert not says_it_may_go_on("could not be delivered\n\nWARNING: this mail is confidential")


@pytest.mark.parametrize(
    "unit", ["no more attempts ", "nicht ", "4 hours ", "再 ", "не ", "keine weitere ", " ", "a"]
)
def test_reading_takes_work_in_proportion(unit: str) -> None:
    assert_proportional(says_it_goes_on, bomb(unit))
    assert_proportional(says_it_gave_up, bomb(unit, before="could not be delivered "))
    says_it_goes_on(bomb(unit).whole())
