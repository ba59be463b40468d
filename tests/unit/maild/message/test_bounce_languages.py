"""Refusals that are not in English blame an address where they say that it is not there, and no other."""

import pytest

from maild.message import bounces
from maild.message.bounce_languages import missing
from maild.message.bounce_words import plain_words
from tests.support.work import assert_proportional, bomb


def blames(text: str) -> bool:
    return bounces.of_reply(550, None, text, is_ours=False).blames_address


@pytest.mark.parametrize(
    "text",
    [
        "Dieses Postfach wurde gelöscht",
        "Empfaengeradresse ungueltig",
        "Kein gültiger Empfänger",
        "Die E-Mail-Adresse ist nicht mehr gültig",
        "Der Benutzer ist in diesem System nicht bekannt",
        "Mailbox existiert nicht mehr",
        "Ce compte n'est plus actif",
        "L'adresse du destinataire est invalide",
        "Utilisateur introuvable dans l'annuaire",
        "La boîte aux lettres n'existe pas",
        "Cette personne a quitté la société, adresse supprimée",
        "Cuenta de correo inexistente",
        "El destinatario no se encuentra en el directorio",
        "Usuario no válido",
        "La dirección de correo no es válida",
        "Este buzón ya no existe",
        "La casella di posta non è più attiva",
        "Indirizzo di posta non valido",
        "Utente non trovato",
        "Casella disattivata",
        "Endereço de e-mail inválido",
        "Conta de e-mail desativada",
        "O usuário não foi encontrado",
        "Caixa postal inexistente",
        "Deze mailbox bestaat niet meer",
        "Onbekend e-mailadres",
        "Gebruiker niet gevonden",
        "Adres jest nieprawidłowy",
        "Konto zostało usunięte",
        "Brak takiego użytkownika",
        "Mottagaren är okänd",
        "Adressen hittades inte",
        "Brugeren findes ikke",
        "Ukjent mottaker",
        "Vastaanottajaa ei löydy",
        "Tuntematon käyttäjä",
        "Neznámý uživatel",
        "Schránka neexistuje",
        "Ismeretlen címzett",
        "A postafiók nem létezik",
        "Utilizator necunoscut",
        "Geçersiz alıcı adresi",
        "Kullanıcı bulunamadı",
        "Alıcı adresi mevcut değil",
        "Пользователь с таким адресом не найден",
        "Почтовый ящик недоступен или не существует",
        "Такого адреса нет",
        "Неверный адрес получателя",
        "Учетная запись заблокирована",
        "Користувача не існує",
        "Άγνωστος παραλήπτης",
        "Ο χρήστης δεν υπάρχει",
        "Pengguna tidak ditemukan",
        "Địa chỉ không tồn tại",
        "用户未找到",
        "收件人地址无效",
        "邮箱不存在",
        "無此收件者",
        "您要找的信箱已被停用",
        "宛先のメールアドレスが見つかりません",
        "ユーザーが存在しません",
        "このアドレスは現在使われておりません",
        "사용자를 찾을 수 없습니다",
        "존재하지 않는 메일 주소입니다",
        "휴면 계정입니다",
        "Adressat unbekannt",
        "Die angegebene E-Mail-Adresse gibt es hier nicht",
        "Dieser Mitarbeiter ist nicht mehr bei uns beschaeftigt. Bitte wenden Sie sich an info@there.test",
        "Lo sentimos, ya no hay nadie con ese email",
        "El usuario esta en estado: inactivo",
        "Questo indirizzo e' bloccato per inutilizzo",
        "Podane konto jest zablokowane administracyjnie lub nieaktywne",
    ],
)
def test_an_address_that_is_not_there_is_to_blame(text: str) -> None:
    assert blames(text)
    assert blames(f"<ann@there.test>: {text} (host mx.there.test)")


@pytest.mark.parametrize(
    "text",
    [
        "Die Absenderadresse ist ungültig",
        "Ihre Absender-Domain existiert nicht",
        "Der Empfänger akzeptiert keine Mails von unbekannten Absendern",
        "Unbekannte IP-Adresse",
        "Der Empfänger hat Sie blockiert",
        "Nachricht enthält ungültige Anhänge",
        "Zu viele ungültige Empfänger in kurzer Zeit",
        "Adresse IP inconnue",
        "L'adresse de l'expéditeur n'existe pas",
        "Le domaine de l'expéditeur est introuvable",
        "Destinataire: expéditeur non autorisé",
        "Dirección IP desconocida",
        "El dominio del remitente no existe",
        "Remitente no válido",
        "El destinatario no acepta correo de remitentes desconocidos",
        "Mittente non valido",
        "L'indirizzo del mittente non esiste",
        "La casella accetta messaggi solo da mittenti registrati",
        "Remetente inválido",
        "O domínio do remetente não existe",
        "Endereço IP não registrado no DNS reverso",
        "Afzenderadres ongeldig",
        "Onbekende afzender",
        "Adres nadawcy nie istnieje",
        "Nieznany nadawca",
        "Okänd avsändare",
        "Ukendt afsender",
        "Lähettäjän osoite on tuntematon",
        "Neznámý odesílatel",
        "A feladó címe ismeretlen",
        "Expeditorul nu există",
        "Gönderen adresi geçersiz",
        "Неизвестный отправитель",
        "Домен отправителя не существует",
        "Адрес отправителя недействителен",
        "发件人地址不存在",
        "发件人域名无效",
        "寄件者地址不存在",
        "差出人のドメインが存在しません",
        "送信者アドレスが無効です",
        "보낸 사람 주소를 찾을 수 없습니다",
        "SPF-Eintrag existiert nicht",
        "Kein gültiger PTR-Eintrag",
        "Nieprawidłowy adres IP",
        "Message refusé: en-tête From invalide",
        "Fichier joint invalide",
        "Mensaje rechazado: contenido no válido",
        "Certificado inválido",
        "Invalid contact in message content",
        "Invalid content type",
        "Das Konto des Absenders ist gesperrt",
        "Konto gesperrt wegen Spam",
        "Postfach voll",
        "5.7.1 Le destinataire n'accepte pas les messages d'expéditeurs inconnus",
        "Der Empfaenger hat Ihre Adresse gesperrt",
    ],
)
def test_nothing_else_blames_the_address(text: str) -> None:
    assert not blames(text)
    assert not blames(f"<ann@there.test>: {text} (host mx.there.test)")


def test_a_sender_that_is_not_there_takes_the_blame_off_a_code() -> None:
    assert not bounces.of_reply(550, "5.1.1", "Absender existiert nicht", is_ours=False).blames_address


def test_accents_make_no_difference() -> None:
    assert missing(plain_words("Utilizator șters")) == missing(plain_words("utilizator sters")) == "recipient"


@pytest.mark.parametrize("words", ["invalid ", "nie istniej ", "不存在", "unbekannt absender "])
def test_long_texts_take_no_long_time(words: str) -> None:
    assert_proportional(missing, bomb(words, " "))
