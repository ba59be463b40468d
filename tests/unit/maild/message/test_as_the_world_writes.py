"""Reports, refusals, answers, vacation notices and odd MIME as the systems and clients of the world write them, read
as rates over sets in `tests/vectors`; what was read otherwise is shown.

`{TOKEN}`, `{MSGID}`, `{TRACE}`, `{ABOUT}`, `{PLAIN}` and `{WORDS}` stand for what our mail says of itself where a
report sends it back."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from email.header import Header
from pathlib import Path
from typing import Any

from maild.message.characters.decode import decoded_size
from maild.message.digest import digest
from maild.message.fields.address import normalize
from maild.message.parsing.parse import parse, read_text
from maild.message.reports import bounces
from maild.message.reports.fates import DeliveryReport, Fate
from maild.message.reports.report import read_report
from maild.outbound.sessions.replies import SmtpReply

Row = Mapping[str, Any]

OURS = {
    "{TRACE}": "Return-Path: <{TOKEN}>\nReceived: from ours.test by there.test\nFrom: Bot <bot@agents.test>",
    "{ABOUT}": "Subject: Your summary\nDate: Tue, 14 Jan 2025 09:12:41 +0000\nMessage-ID: {MSGID}",
    "{PLAIN}": "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8",
    "{WORDS}": "Hello,\n\nhere is your summary.\n",
    "{TOKEN}": "b+0123456789abcdefghij.0123456789@agents.test",
    "{MSGID}": "<x.0123456789abcdefghij@agents.test>",
}


def rows(name: str) -> list[Row]:
    lines = Path(f"tests/vectors/{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def octets(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


def fates(row: Row) -> tuple[set[str], set[str]]:
    """Who of its recipients failed for good, by the report, and who is not to be written to again."""
    text = row["raw"]
    for name, words in OURS.items():
        text = text.replace(name, words)
    raw = octets(text)
    report = read_report(raw, parse(raw))
    places = {normalize(address): address for address in row["recipients"]}
    found: dict[str, Fate] = {}
    for fate in report.fates if isinstance(report, DeliveryReport) else ():
        # A report that names nobody means the only recipient.
        for key in fate.addresses or (places if len(places) == 1 else ()):
            if key in places:
                found.setdefault(places[key], fate)
    failed = {
        address: bounces.of_report(fate.code, fate.enhanced, fate.diagnostic)
        for address, fate in found.items()
        if fate.action == "failed"
    }
    return set(failed), {address for address, bounce in failed.items() if bounce.blames_address}


def test_reports_tell_who_failed_and_who_is_gone() -> None:
    told = [(row, *fates(row)) for row in rows("bounces")]
    missed = [row["name"] for row, failed, _ in told if not set(row["bounced"]) <= failed]
    missed += [row["name"] for row, _, gone in told if not set(row["suppressed"]) <= gone]
    assert len(missed) <= len(told) // 100, missed
    assert [row["name"] for row, failed, _ in told if failed - set(row["bounced"])] == []
    assert [row["name"] for row, _, gone in told if gone - set(row["suppressed"])] == []


def read_reply(reply: str) -> bounces.Bounce:
    lines = reply.split("\n")
    said = SmtpReply.of(int(lines[0][:3]), " ".join(line[4:] for line in lines))
    return bounces.of_reply(said.code, said.enhanced, said.text, is_ours=False)


def test_refusals_tell_who_is_gone_and_why_another_is_refused() -> None:
    told = [(row, read_reply(row["reply"])) for row in rows("refusals")]
    otherwise = [row["reply"] for row, bounce in told if bounce.bounce_class != row["class"]]
    assert len(otherwise) <= len(told) // 50, otherwise
    assert [row["reply"] for row, bounce in told if bounce.blames_address != row["suppress"]] == []


def mail(body: str, media_type: str, *, answers: bool, forwards: bool) -> bytes:
    subject = "Fwd: plan" if forwards else "Re: plan" if answers else "plan"
    return octets(
        f"From: ann@example.org\nSubject: {subject}\nContent-Type: {media_type}; charset=utf-8\n"
        f"Content-Transfer-Encoding: 8bit\n\n{body}"
    )


def new_words(raw: bytes) -> str:
    found = digest(raw)
    return found.text_body or "" if found.extracted_text is None else found.extracted_text


def lost(expected: str, said: str) -> list[str]:
    return sorted((Counter(re.findall(r"\w+", expected)) - Counter(re.findall(r"\w+", said))).elements())


def test_the_new_words_of_an_answer_are_its_authors() -> None:
    told = [
        (row, new_words(mail(row["text"], "text/plain", answers=True, forwards=row["forwards"])))
        for row in rows("replies")
    ]
    assert [
        (row["name"], lost(row["expected"], said)) for row, said in told if lost(row["expected"], said)
    ] == []
    otherwise = [row["name"] for row, said in told if said.split() != row["expected"].split()]
    assert len(otherwise) <= len(told) // 100, otherwise


def test_the_new_words_of_html_are_its_authors() -> None:
    told = []
    for row in rows("html_replies"):
        answers, forwards = row["kind"] == "reply", row["kind"] == "forward"
        told.append((row, new_words(mail(row["html"], "text/html", answers=answers, forwards=forwards))))
    assert [
        (row["name"], lost(row["expected"], said)) for row, said in told if lost(row["expected"], said)
    ] == []
    otherwise = [row["name"] for row, said in told if lost(said, row["expected"])]
    assert len(otherwise) <= len(told) // 50, otherwise


# Lines of the author that look like a quote or a signature, with nothing to tell them by.
LOOK_ALIKES = {"code_shell_prompt", "list_with_gt_arrows", "thunderbird_author_pre", "author_code_block"}


def answer(row: Row) -> bytes:
    subject = Header(row.get("subject", "Re: plan"), "utf-8").encode()
    return octets(
        f"From: ann@example.org\nSubject: {subject}\nIn-Reply-To: <x@agents.test>\n"
        f"Content-Type: {row['type']}; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n{row['body']}"
    )


def test_an_answer_keeps_its_words_and_nothing_else() -> None:
    told = [(row, " ".join(new_words(answer(row)).split())) for row in rows("answers")]
    missing = {
        row["name"] for row, said in told if any(" ".join(one.split()) not in said for one in row["must"])
    }
    left = [row["name"] for row, said in told if any(" ".join(one.split()) in said for one in row["mustNot"])]
    assert missing == LOOK_ALIKES
    assert len(left) <= len(told) // 100, left


def test_programs_that_answer_are_told_from_those_that_write() -> None:
    told = [(row, digest(octets(row["raw"])).parsed.is_auto_reply) for row in rows("auto_replies")]
    assert [row["name"] for row, is_auto_reply in told if is_auto_reply != row["auto"]] == []


def shown(raw: bytes) -> dict[str, Any]:
    """What a program sees of a mail."""
    parsed = digest(raw).parsed
    author = parsed.from_
    files = [
        [
            one.filename,
            decoded_size(memoryview(raw)[one.slice.offset :][: one.slice.length], one.slice.encoding),
        ]
        for one in parsed.attachments
    ]
    return {
        "subject": parsed.subject,
        "from_name": (author and author.name) or "",
        "from_address": author and author.address,
        "text": read_text(raw, parsed.text)[0],
        "html": read_text(raw, parsed.html)[0],
        "attachments": files,
        "attachment_names": {name for name, _ in files},
    }


def faults(row: Row) -> list[str]:
    found = shown(re.sub(rb"\r\n|\r|\n", b"\r\n", row["raw"].encode("latin-1")))
    wanted = row["expect"]
    wrong = [
        name
        for name in ("subject", "from_name", "from_address")
        if wanted.get(name, found[name]) != found[name]
    ]
    wrong += [words for words in wanted.get("text_contains", ()) if words not in found["text"]]
    wrong += [words for words in wanted.get("html_contains", ()) if words not in found["html"]]
    wrong += [words for words in wanted.get("text_lacks", ()) if words in found["text"]]
    wrong += set(wanted.get("attachment_names", ())) - found["attachment_names"]
    if "attachments" in wanted:
        same = len(wanted["attachments"]) == len(found["attachments"]) and all(
            want is None or want == has
            for wants, file in zip(wanted["attachments"], found["attachments"], strict=True)
            for want, has in zip(wants, file, strict=True)
        )
        wrong += [] if same else [str(found["attachments"])]
    return wrong


def test_odd_mime_hides_nothing() -> None:
    assert [(row["name"], wrong) for row in rows("odd_mime") if (wrong := faults(row))] == []
