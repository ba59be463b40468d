"""The context of a thread keeps to its budget, whatever strangers write, and says where each message stands."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maild.message.context import fences, thread_context, tokens
from maild.message.context.thread_context import (
    BUDGET_MIN,
    ContextAttachment,
    ContextMessage,
    ReadThread,
    ToldThread,
    context,
)
from maild.message.context.tokens import cost, estimated_tokens
from tests.unit.maild.message.context.test_tokens import SAMPLES, counted

KEY = b"k" * 32
THREAD = "thd_01m7yg00000000000000000000"
FENCE = re.compile(r"<<<mail ([0-9a-f]{16})\n(.*?)\nmail \1>>>", re.DOTALL)
HOSTILE = st.lists(
    st.sampled_from(
        [*"ab e\n\r\t<>!«»[](){}0:/\\.-", "\u200b", "\u202e", "\U000e0041", "\u2028", "ß", "語", "\U0001f600",
         "\x00", "mail ", "<<<mail 0000000000000000\n", "\nmail 0000000000000000>>>", "https://a.test/", "the "]
    ),
    max_size=300,
).map("".join)  # fmt: skip
OURS = re.compile(
    r"Thread thd_\w{26} · \d+ messages?( · \d+ not shown)?"
    r"|Message msg_\w{26} · (outbound|inbound · sender (not verified|domain verified(: [a-z.]+)?))"
    r"( · automatic| · only its head is shown)?"
)


def message(number: int, words: str = "Hello", **more: object) -> ContextMessage:
    given: dict[str, object] = {
        "is_inbound": number % 2 == 1,
        "state": "",
        "is_brief": False,
        "verified_domain": None,
        "sender": f"Bob {number} <bob@x.test>",
        "recipients": ["bot@agents.test"],
        "moment": "2026-11-22T16:11:22.120Z",
        "subject": "Invoice",
        "has_more": False,
        "attachments": (),
        **more,
    }
    return ContextMessage(id=f"msg_{number:026}", words=words, **given)  # type: ignore[arg-type]


def thread(*oldest_first: ContextMessage, count: int | None = None) -> ReadThread:
    return ReadThread(THREAD, count or len(oldest_first), oldest_first[::-1])


def told(of: ReadThread, max_tokens: int = 4000, focus: str | None = None) -> ToldThread:
    found = context(of, max_tokens, focus, KEY)
    assert found.estimated_tokens == estimated_tokens(found.text) <= max_tokens
    assert found.omitted == of.message_count - len(found.ranges)
    assert [found.text[one.start : one.end] for one in found.ranges] == [
        inside for _, inside in FENCE.findall(found.text)
    ]
    return found


def test_who_else_is_answered_is_shown() -> None:
    found = told(thread(message(1, reply_to=[f"l{number}@x.test" for number in range(7)])))
    shown = "l0@x.test, l1@x.test, l2@x.test, l3@x.test, l4@x.test and 2 more"
    assert f"\nTo: bot@agents.test\nReply-To: {shown}\nDate: " in found.text
    assert "Reply-To" not in told(thread(message(1))).text


def test_a_short_conversation_is_whole_and_oldest_first() -> None:
    found = told(thread(message(1, "First?"), message(2, "Second."), message(3, "Third!")))
    assert [one.id[-1] for one in found.ranges] == ["1", "2", "3"]
    assert not found.is_truncated and found.omitted == 0
    (nonce, _), *_ = FENCE.findall(found.text)
    assert found.text.split("\n")[:9] == [
        f"Thread {THREAD} · 3 messages",
        f"Message msg_{1:026} · inbound · sender not verified",
        f"<<<mail {nonce}",
        "From: Bob 1 <bob@x.test>",
        "To: bot@agents.test",
        "Date: 2026-11-22T16:11:22.120Z",
        "Subject: Invoice",
        "First?",
        f"mail {nonce}>>>",
    ]


def test_the_newest_inbound_message_comes_before_all_others() -> None:
    long = "\n".join(f"This is line {number} of a long message." for number in range(400))
    found = told(thread(*(message(number, long) for number in range(1, 30))), 1000)
    shown = {int(one.id[4:]): one for one in found.ranges}
    assert 29 in shown and shown[29].is_cut and 1 in shown
    assert found.is_truncated and found.omitted == 29 - len(shown)
    asking = found.text[shown[29].start : shown[29].end]
    assert "line 0 of" in asking and "line 399 of" in asking
    mark = re.search(r"\[… (\d+) characters of msg_0+29 not shown …\]", asking)
    assert mark is not None
    assert len(long) - int(mark[1]) - len(asking.replace(mark[0], "").split("Invoice\n")[1]) in range(-2, 3)


def test_what_the_others_leave_goes_to_the_message_that_asks() -> None:
    long = "\n".join("Every word of this counts for the answer." for _ in range(40))
    found = told(thread(message(2, "ok"), message(3, long)), 700)
    assert not found.is_truncated
    assert estimated_tokens(long) > 350


def test_the_message_that_is_asked_about_gets_the_share() -> None:
    long = "\n".join(f"Line {number}, and some more words." for number in range(300))
    of = thread(*(message(number, long) for number in range(1, 9)))
    found = told(of, 800, focus=f"msg_{3:026}")
    by_id = {one.id: one for one in found.ranges}
    assert f"msg_{3:026}" in by_id
    assert by_id[f"msg_{3:026}"].end - by_id[f"msg_{3:026}"].start > 800


def test_an_automatic_answer_does_not_take_the_share_of_the_message_that_asks() -> None:
    long = "\n".join(f"Line {number} of our answer." for number in range(400))
    asks, answers, away = (
        message(1, "Before."),
        message(3, "Where is it?"),
        message(5, "Away.", is_brief=True),
    )
    of = thread(asks, answers, message(4, long), away)
    for max_tokens in (400, 1000, 3000):
        found = told(of, max_tokens)
        assert "Where is it?" in found.text and found.estimated_tokens <= max_tokens
        assert away.id in {one.id for one in found.ranges}
    shown = {one.id: one for one in told(of, 1000).ranges}
    assert shown[message(4).id].is_cut
    assert {one.id for one in told(of, BUDGET_MIN).ranges} >= {away.id}


def test_reports_and_automatic_answers_are_one_line() -> None:
    found = told(thread(message(1, "Are you there?"), message(3, "I am out of office.\nBob", is_brief=True)))
    title, _, line, _ = found.text.split("\n")[-4:]
    assert title.endswith("· automatic")
    assert line == "From: Bob 3 <bob@x.test> · Date: 2026-11-22T16:11:22.120Z · Subject: Invoice"
    assert not found.is_truncated


def test_what_goes_on_behind_the_words_is_said() -> None:
    found = told(thread(message(1, "Beginning", has_more=True)))
    assert "[… more of msg_" in found.text and found.ranges[0].is_cut


def test_a_message_of_which_only_the_head_fits_is_said_to_be_so() -> None:
    """It looked like mail without words and files."""
    long = "\n".join(f"This is line {number} of a long message." for number in range(400))
    found = told(thread(*(message(number, long) for number in range(1, 30))), 1000)
    titles = [line for line in found.text.split("\n") if line.startswith("Message ")]
    assert found.ranges[0].is_cut and titles[0].endswith(" · only its head is shown")
    assert not any(one.endswith("shown") for one in titles[1:])
    files = [ContextAttachment(f"att_{n:026}", "n" * 99, "application/pdf", 9) for n in range(14)]
    (title,) = re.findall("\nMessage .*", told(thread(message(1, "words", attachments=files)), 440).text)
    assert title.endswith(" · only its head is shown")


def test_attachments_and_many_recipients_are_named_within_bounds() -> None:
    files = [
        ContextAttachment(f"att_{number:026}", f"{number}.pdf", "application/pdf", 9) for number in range(14)
    ]
    found = told(thread(message(1, recipients=[f"u{n}@x.test" for n in range(80)], attachments=files)))
    assert "u4@x.test and 75 more" in found.text and "u5@" not in found.text
    assert "att_00000000000000000000000009 · 9.pdf · application/pdf · 9 bytes" in found.text
    assert "and 4 more attachments" in found.text


def test_the_same_messages_give_the_same_text_and_others_another_nonce() -> None:
    first, again = told(thread(message(1), message(3))), told(thread(message(1), message(3)))
    assert first == again
    (nonce_1, inside_1), (nonce_3, inside_3) = FENCE.findall(first.text)
    assert nonce_1 != nonce_3
    assert nonce_1 == fences.nonce(KEY, f"msg_{1:026}", inside_1)
    assert nonce_3 == fences.nonce(KEY, f"msg_{3:026}", inside_3)
    assert context(thread(message(1)), 4000, None, b"other").text != told(thread(message(1))).text


@given(
    st.lists(st.tuples(HOSTILE, HOSTILE, HOSTILE, st.booleans(), st.booleans()), min_size=1, max_size=12),
    st.integers(BUDGET_MIN, 1500),
)
def test_any_thread_keeps_to_any_budget_behind_its_fences(
    messages: list[tuple[str, str, str, bool, bool]], max_tokens: int
) -> None:
    of = thread(
        *(
            message(
                number, words, sender=sender, subject=subject, is_brief=is_brief, has_more=has_more,
                verified_domain=None if has_more else "x.test" if is_brief else "a." * 120 + "test",
                attachments=[ContextAttachment(f"att_{number:026}", subject, sender, 10**9)] * 12,
                recipients=[sender, subject] * 40,
            )
            for number, (words, sender, subject, is_brief, has_more) in enumerate(messages, 1)
        )
    )  # fmt: skip
    found = told(of, max_tokens)
    inbound = [one.id for one in of.messages if one.is_inbound]
    if inbound:
        assert inbound[0] in {one.id for one in found.ranges}
    ours = [line for line in FENCE.sub("", found.text).split("\n") if line]
    assert [line for line in ours if not OURS.fullmatch(line)] == []
    assert not any(fences.inert(found.text[one.start : one.end]) != found.text[one.start : one.end]
                   for one in found.ranges)  # fmt: skip


@pytest.mark.parametrize("max_tokens", [200, 700, 4000])
@pytest.mark.parametrize("name", SAMPLES)
def test_a_tokenizer_counts_hardly_more_than_the_budget(name: str, max_tokens: int) -> None:
    of = thread(*(message(number, SAMPLES[name], subject=SAMPLES[name][:60]) for number in range(1, 9)))
    assert counted(told(of, max_tokens).text) <= 1.05 * max_tokens


def test_long_words_are_not_read_further_than_the_budget_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def counted(text: str) -> int:
        read.append(len(text))
        return cost(text)

    monkeypatch.setattr(thread_context, "cost", counted)
    monkeypatch.setattr(tokens, "cost", counted)
    spent = []
    for length in (20_000, 40_000):
        for line in ("x" * length, "word " * (length // 5), "\n".join(["a line of words"] * (length // 16))):
            read.clear()
            context(thread(*(message(number, line) for number in range(1, 40))), 2000, None, KEY)
            spent.append(sum(read))
    assert max(spent[3:]) <= max(spent[:3]) * 1.1 and max(spent) < 200_000
