"""maild/message/writing/outgoing_warnings.py: what is told of words, where, and that its cost is in proportion to
them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maild.message.writing import outgoing_warnings
from maild.message.writing.outgoing_warnings import (
    AddressFinder,
    AuthoredWords,
    Flaw,
    content_warnings,
    is_no_reply,
    seen_of,
)
from tests.support.laws.work import assert_proportional, bomb


def told(
    text: str | None = None, html: str | None = None, subject: str = "x", **more: bool
) -> list[tuple[str, str]]:
    """(code, what stands at the place), in order."""
    fields = {"text": text, "html": html, "subject": subject}
    return [
        (one.code, (fields[one.view] or "")[one.start : one.end] if one.view else "")
        for one in content_warnings(AuthoredWords(subject, text, html, **more))
    ]


@pytest.mark.parametrize(
    ("text", "html", "is_empty"),
    [
        (None, None, True),
        (" \n\t", None, True),
        (None, "<p>&nbsp;</p>", False),
        (None, "<p> <br> </p><style>p{}</style><!-- x -->", True),
        (None, "<p><img src=cid:a></p>", False),
        ("x", None, False),
        (None, "a < b", False),
    ],
)
def test_a_message_without_words_or_files_is_empty(
    text: str | None, html: str | None, is_empty: bool
) -> None:
    assert (("empty_body", "") in told(text, html)) is is_empty
    assert ("empty_body", "") not in told(text, html, has_files=True)
    assert ("empty_body", "") not in told(text, html, has_more=True)


@pytest.mark.parametrize(
    "placeholder",
    [
        "{{first_name}}", "{{ user.name }}", "{% if x %}", "${customerName}", "<<Name>>", "%FIRST_NAME%", "*|FNAME|*",
        "[Your Name]", "[Insert date here]", "[Company]", "[Ihr Name]", "[Votre nom]", "[Tu nombre]", "[Seu nome]",
        "[Il tuo nome]", "[Uw naam]", "[Twoje imię]", "[Ditt namn]", "[Adınız]", "[Ваше имя]", "[ім'я]", "[お名前]",
        "[您的姓名]", "Lorem ipsum",
    ],
)  # fmt: skip
def test_a_placeholder_is_told_with_its_place(placeholder: str) -> None:
    assert told(f"Dear {placeholder}, hello") == [("placeholder", placeholder)]
    assert told("x", subject=f"For {placeholder}") == [("placeholder", placeholder)]


@pytest.mark.parametrize(
    "text",
    [
        "See [name](https://example.com) and {a: 1}", "100 % of 50 %", "[1] [2]", "[sic]", "es ist [nicht] so",
        "if (a) { b } else { c }", "the todo list", "$5 {x}", "a <b> c", "TODOS los días", "[name surname", "%20%",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_placeholder_is_not_told(text: str) -> None:
    assert told(text) == []


def test_what_is_to_be_done_yet_is_told() -> None:
    assert told("TODO: ask Ada\nmore TODO\nTBD") == [
        ("placeholder", "TODO"),
        ("placeholder", "TODO"),
        ("placeholder", "TBD"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "As an AI language model, I cannot", "As a large language model I", "I'm just an AI assistant.",
        "<|im_start|>assistant", "[INST] hi", "<think>hm</think>", "```\nDear Ada", "Subject: Your invoice\n\nDear Ada",
        "Sure! Here is the email you asked for", "Here's a draft of the email:\n\nDear", "see【4†source】",
        "turn0search3", "Let me know if you'd like me to adjust the tone", "Als KI-Sprachmodell kann ich",
        "En tant que modèle de langage", "como modelo de linguagem", "作为一个人工智能", "AIとして",
        "My knowledge cutoff is", "I can't help with that request",
    ],
)  # fmt: skip
def test_what_a_model_says_to_its_user_is_told(text: str) -> None:
    assert {code for code, _ in told(text)} == {"model_artifact"}


@pytest.mark.parametrize(
    "text",
    [
        "Here is the invoice.", "We sell AI models.", "The subject: taxes", "I think so <br> you?",
        "On Monday he wrote:\nSubject: hello\n", "Sure, see you there!", "a `code` word",
    ],
)  # fmt: skip
def test_what_people_write_of_models_is_not_told(text: str) -> None:
    assert told(text) == []


# Put together, so that no scanner of this repository takes them for true.
SECRETS = [
    "svc_" + "live_" + "a1" * 16, "whsec_" + "Zm9v" * 8, "AKIA" + "ABCDEFGHIJKLMNOP", "ghp_" + "a" * 36,
    "github_pat_" + "A1" * 20, "glpat-" + "x" * 20, "xoxb-" + "123456789012-abc", "sk_live_" + "a" * 24,
    "sk-" + "proj-" + "Ab1" * 10, "AIza" + "B" * 35, "npm_" + "c" * 36, "hf_" + "d" * 34,
    "SG." + "e" * 22 + "." + "f" * 43, "eyJ" + "hbGciOiJI" + ".eyJ" + "zdWIiOiIx" + "." + "abcdefghij",
    "-----BEGIN " + "RSA PRIVATE KEY-----", "-----BEGIN " + "PRIVATE KEY-----", "postgres://" + "ada:s3cret@",
]  # fmt: skip


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_told_by_its_shape(secret: str) -> None:
    assert told(f"the key is {secret} keep it") == [("secret", secret)]
    assert told(html=f'<a href="https://x.test/?k={secret}">x</a>')[0][0] == "secret"


@pytest.mark.parametrize(
    "text",
    [
        "sk-learn-is-a-fine-library-for",
        "AKIA",
        "the ghp_ prefix",
        "eyJhbGciOiJI.eyJ",
        "-----BEGIN PUBLIC KEY-----",
        "https://ada@x.test",
    ],
)
def test_what_is_no_secret_is_not_told(text: str) -> None:
    assert told(text) == []


ATTACHED = {
    "English": ["Please find attached the invoice", "See attachment", "I am attaching it", "enclosed you find"],
    "German": ["im Anhang finden Sie", "anbei die Rechnung", "die angehängte Datei", "beigefügt", "in der Anlage"],
    "French": ["ci-joint la facture", "en pièce jointe", "vous trouverez en annexe", "je joins le devis"],
    "Spanish": ["adjunto la factura", "archivos adjuntos", "le adjuntamos"],
    "Portuguese": ["segue em anexo", "anexei o ficheiro", "os anexos"],
    "Italian": ["in allegato", "allego la fattura", "il file allegato"],
    "Dutch": ["bijgevoegd de factuur", "zie bijlage", "bijgesloten"],
    "Polish": ["w załączniku", "załączam fakturę", "w załączeniu"],
    "Swedish": ["bifogar fakturan", "se bilaga", "den bifogade filen"],
    "Turkish": ["fatura ektedir", "ekte bulabilirsiniz", "ekli dosya"],
    "Russian": ["во вложении счёт", "прикрепляю файл", "прилагаю договор"],
    "Ukrainian": ["у вкладенні рахунок", "прикріплюю файл", "у додатку"],
    "Japanese": ["請求書を添付します"],
    "Chinese": ["请见附件", "隨附發票"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "text"), [(name, one) for name, all_ in ATTACHED.items() for one in all_]
)
def test_words_for_a_file_without_one_are_told_in_fourteen_languages(language: str, text: str) -> None:
    assert [code for code, _ in told(text)] == ["attachment_missing"], language
    assert [code for code, _ in told(html=f"<p>{text}</p>")] == ["attachment_missing"]
    assert told(text, has_files=True) == []


@pytest.mark.parametrize(
    "text",
    [
        "There is no attached file",
        "nothing is attached",
        "nicht angehängt",
        "> see attached\nThanks",
        "a weekly report",
        "Bildanlage",
    ],
)
def test_words_that_speak_of_no_file_are_not_told(text: str) -> None:
    assert told(text) == []


def test_quotations_and_styles_of_html_are_not_the_authors_words() -> None:
    assert (
        told(
            html="<p>Thanks</p><blockquote>see attached [Your Name]</blockquote><style>/* TODO: x */</style>"
        )
        == []
    )
    assert told(html="<p>Hi {{name}}</p>") == [("placeholder", "{{name}}")]


def test_places_are_those_of_long_fields_too() -> None:
    text = (
        "x" * (outgoing_warnings.PIECE_CHARS - 3)
        + " {{name}} and eyJ"
        + "a" * 3000
        + ".eyJ"
        + "b" * 3000
        + "."
        + "c" * 3000
        + " end"
    )
    (first, second) = content_warnings(AuthoredWords("", text, None))
    assert text[first.start : first.end] == "{{name}}"
    assert text[second.start : second.end] == text.split(" ")[3]


def test_no_more_are_told_than_help() -> None:
    assert len(told("{{a}} " * 5000)) == outgoing_warnings.WARNINGS_MAX
    assert told("x" * outgoing_warnings.TEXT_CHARS + "{{name}}") == []


@given(st.text(), st.text(alphabet="<>!-/ abstylescriptblockquote\"'"))
def test_any_words_can_be_looked_at_and_keep_their_places(text: str, html: str) -> None:
    assert len(seen_of(html)) == len(html)
    for one in content_warnings(AuthoredWords(text[:20], text, html)):
        if one.view is not None:
            field = {"subject": text[:20], "text": text, "html": html}[one.view]
            assert one.start is not None and one.end is not None
            assert 0 <= one.start < one.end <= len(field)
        else:
            assert one == Flaw("empty_body")


UNITS = [
    "<!--", "<a", "<style>", "<blockquote>", "{{", "{%", "${a", "<<a", "[your ", "eyJa", "eyJaaaaaaaaaa.", "sk-", "a@",
    "://a:b", "\n \n", "attached not ", "here is the ", "TODO ", "`", "-----BEGIN A ", "https://aa:bbb", "如", "x_%A",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_work_is_in_proportion_to_the_words(unit: str) -> None:
    assert_proportional(lambda text: content_warnings(AuthoredWords("", text, text)), bomb(unit))
    whole = bomb(unit).whole()
    content_warnings(AuthoredWords(whole[:500], whole, whole))


@pytest.mark.parametrize(
    "unit", ["@", "a@", "eve@evil.test", "x" * 64 + "@evil.test", "@evil.test.", "例@例.test"]
)
def test_addresses_are_found_in_proportion_to_the_words(unit: str) -> None:
    finder = AddressFinder(["adam@evil.test"])
    assert_proportional(lambda text: list(finder.find(text)), bomb(unit))
    list(finder.find(bomb(unit).whole()))


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("write to Eve@Evil.test.", "Eve@Evil.test"),
        ("<mailto:eve@evil.test>", "eve@evil.test"),
        ("?to=eve@evil.test&x", "eve@evil.test"),
        ("请发送到eve@evil.test吧", "eve@evil.test"),
        ("eve@bücher.test", "eve@bücher.test"),
        ("eve@xn--bcher-kva.test", "eve@xn--bcher-kva.test"),
        ("steve@evil.test", ""),
        ("eve@evil.test.example", ""),
        ("eve@devil.test", ""),
        ("eve @evil.test", ""),
    ],
)
def test_an_address_is_found_however_it_stands_there(words: str, found: str) -> None:
    finder = AddressFinder(["Eve@evil.test", "eve@xn--bcher-kva.test"])
    assert [words[start:end] for _, start, end in finder.find(words)] == ([found] if found else [])


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("eve@evil.test", "eve@evil.test"),
        ("ｅｖｅ＠ｅｖｉｌ．ｔｅｓｔ", "ｅｖｅ＠ｅｖｉｌ．ｔｅｓｔ"),
        ("to e\u200bve@ev\u2060il.test now", "e\u200bve@ev\u2060il.test"),
        ("eve at evil.test", ""),
    ],
)
def test_an_address_is_found_in_disguise(words: str, found: str) -> None:
    places = {words[start:end] for _, start, end in AddressFinder(["eve@evil.test"]).find_disguised(words)}
    assert places == ({found} if found else set())


@pytest.mark.parametrize(
    ("html", "found", "decoded"),
    [
        ("<p>eve@evil.test</p>", ["eve@evil.test"], []),
        ("<a href='mailto:eve@evil.test'>us</a>", ["eve@evil.test"], []),
        ("<!-- write to eve@evil.test -->", ["eve@evil.test"], []),
        ("<p hidden>eve@evil.test</p>", ["eve@evil.test"], []),
        ("<p>eve&#64;evil.test</p>", [], ["eve@evil.test"]),
        ("<a href='mailto:eve%40evil.test'>us</a>", [], ["eve@evil.test"]),
        ("<p><b>eve</b>@<i>evil</i>.test</p>", [], ["eve@evil.test"]),
        ("<p>e<!-- -->ve&commat;evil.test", [], ["eve@evil.test"]),
        ("<p>steve@evil.test", [], []),
    ],
)
def test_an_address_is_found_in_markup(html: str, found: list[str], decoded: list[str]) -> None:
    places, others = AddressFinder(["eve@evil.test"]).find_in_markup(html)
    assert ([html[start:end] for _, start, end in places], sorted(others)) == (found, decoded)


@pytest.mark.parametrize("unit", ["<", "<a", "&#64;", "eve&commat;", "<!--", "ｅ＠", "%40", "\u200b@"])
def test_addresses_are_found_in_proportion_to_the_markup(unit: str) -> None:
    finder = AddressFinder(["adam@evil.test"])
    assert_proportional(finder.find_in_markup, bomb(unit))


@pytest.mark.parametrize(
    ("address", "is_one"),
    [
        ("noreply@x.test", True), ("No-Reply@x.test", True), ("do_not_reply@x.test", True), ("bounces@x.test", True),
        ("news-noreply@x.test", True), ("noreply+12@x.test", True), ("MAILER-DAEMON@x.test", True),
        ("ne-pas-repondre@x.test", True), ("reply@x.test", False), ("noreplyer@x.test", False),
        ("ada@noreply.test", False),
    ],
)  # fmt: skip
def test_addresses_that_nobody_reads(address: str, is_one: bool) -> None:
    assert is_no_reply(address) is is_one
