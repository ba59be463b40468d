"""Attribution lines as the catalogs of mail programs have them, in all their languages, go above a quote, and an
author's own lines stay that only look like one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from maild.message.parsing.text import extract_reply

REPLY = "Ja, gerne.\n\nBis bald"
QUOTED = "> old words\n>\n> and older ones"
VECTORS = Path(__file__).parents[4] / "vectors" / "attributions.json"
CATALOGS: dict[str, dict[str, list[str]]] = json.loads(VECTORS.read_text("utf-8"))


@pytest.mark.parametrize("program", CATALOGS)
def test_what_a_program_writes_above_a_quote_goes_in_every_language(program: str) -> None:
    left = {
        attribution: reply
        for attributions in CATALOGS[program].values()
        for attribution in attributions
        for text in (
            f"{REPLY}\n\n{attribution}\n{QUOTED}",
            f"{REPLY}\n{attribution}\n\n{QUOTED}",
            f"{attribution}\n{QUOTED}\n\n{REPLY}",
        )
        if (reply := extract_reply(text)) != REPLY
    }
    assert left == {}


@pytest.mark.parametrize(
    "line",
    [
        "Ich habe ihm am 4. Mai 2026 um 10:12 geschrieben:",
        "2026-05-04 10:12 report sent",
        "2026-05-04 10:12 we tried what Bob wrote",
        "The log of 2026-05-04 10:12 says, where it stops:",
        "他已經提到:",
        "Backup of 4 May 2026, 10:12:",
        "we wrote:",
    ],
)
def test_an_authors_own_line_above_a_quote_stays(line: str) -> None:
    said = f"{REPLY}\n\n{line}"
    assert extract_reply(f"{said}\n{QUOTED}") == said


@pytest.mark.parametrize(
    "line",
    [
        "在 2026年5月4日 10:12 的邮件中，您 提到：",
        "4 мая 2026 в 10:12 вы написали:",
        "Dnia 4 maja 2026 o 10:12 piszesz:",
        "На встрече 4 мая 2026 в 10:12 он написал:",
        "Am 4. Mai 2026 um 10:12 schrieb er:",
    ],
)
def test_what_may_be_a_sentence_takes_nothing_with_it_where_no_quote_follows(line: str) -> None:
    said = f"{REPLY}\n\n{line}\n\nmehr Worte"
    assert extract_reply(said) == said


@pytest.mark.parametrize(
    "line",
    [
        "The server wrote at 14:05 on 30 November 2026:",
        "Wie Anna am 3.11.2026 um 14:05 Uhr schrieb:",
        "В журнале от 30.11.2026 14:05 написано:",
        "2026-11-30 14:05 Backup geschrieben",
    ],
)
def test_what_may_be_a_sentence_with_a_time_stays_where_nothing_is_answered(line: str) -> None:
    said = f"{REPLY}\n\n{line}\n{QUOTED}"
    assert extract_reply(said) == REPLY
    assert extract_reply(said, is_answer=False) == said
