"""Marks of chat templates are looked for where they may begin alone, and all of them are found."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maild.message.evidence import chat_marks
from maild.message.evidence.chat_marks import marked, role_markup

PIECES = st.sampled_from(
    [
        *(
            "system",
            "developer",
            "assistant",
            "instruction",
            "instructions",
            "human:",
            "user:",
            "hidden",
            "admin",
        ),
        *(
            "begin",
            "end",
            "start of",
            "end of",
            "prompt",
            "message",
            "override",
            "##",
            "###",
            " ",
            "\t",
            ">",
            "*",
            "[",
        ),
        *(
            "]",
            "(",
            ")",
            ":",
            "\n",
            "\n\n",
            '"role"',
            '"tool_calls"',
            '"system"',
            "<|",
            "|>",
            "im_start",
            "<",
            "</",
        ),
        *(
            "tool_call",
            "<<",
            "sys",
            "/",
            "inst",
            "[inst]",
            "start_of_turn",
            "antml:x",
            "you are",
            "ignore",
            "x",
            "_",
        ),
    ]
)
TEXTS = st.lists(PIECES, max_size=18).map("".join)


@settings(max_examples=500, deadline=None)
@given(text=TEXTS)
def test_no_mark_is_passed_over(text: str) -> None:
    assert list(role_markup(text)) == [one.span() for one in chat_marks._ROLE_MARKUP.finditer(text)]


@settings(max_examples=300, deadline=None)
@given(texts=st.lists(TEXTS, max_size=6))
def test_many_texts_are_looked_at_as_each_by_itself(texts: list[str]) -> None:
    assert marked(texts) == {number for number, text in enumerate(texts) if any(role_markup(text))}


@pytest.mark.parametrize(
    "text", ["<<instructions>>", "beginsystem prompt", "\n\nhuman: x\nassistant:", "system: new "]
)
def test_marks_at_the_edges(text: str) -> None:
    assert list(role_markup(text)) == [one.span() for one in chat_marks._ROLE_MARKUP.finditer(text)]
