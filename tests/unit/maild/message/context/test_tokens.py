"""The estimate of tokens is close to what a tokenizer counts, and errs on the safe side."""

import json
import warnings
from pathlib import Path

import pytest

from maild.message.context.tokens import beginning, cost, end, estimated_tokens

SAMPLES: dict[str, str] = json.loads(Path("tests/vectors/tokens.json").read_text("utf-8"))
CLOSELY_HELD = ("english", "german", "french", "spanish")

with warnings.catch_warnings(
    action="ignore", category=DeprecationWarning
):  # it opens its vocabularies the old way
    from bpe_openai import get_encoding

    O200K = get_encoding("o200k_base")


def counted(text: str) -> int:
    return len(O200K.encode(text))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_estimate_is_hardly_ever_too_low(name: str) -> None:
    assert estimated_tokens(SAMPLES[name]) >= 0.95 * counted(SAMPLES[name])


@pytest.mark.parametrize("name", [name for name in SAMPLES if name.startswith(CLOSELY_HELD)])
def test_the_estimate_wastes_little_of_a_budget(name: str) -> None:
    assert estimated_tokens(SAMPLES[name]) <= 1.25 * counted(SAMPLES[name])


@pytest.mark.parametrize("name", SAMPLES)
def test_a_text_costs_what_its_lines_cost(name: str) -> None:
    lines = SAMPLES[name].split("\n")
    assert cost(SAMPLES[name]) == sum(cost(line) for line in lines)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("budget", [0, 100, 700, 2500, 100_000])
def test_a_part_of_a_line_is_as_long_as_the_budget_holds(name: str, budget: int) -> None:
    line = SAMPLES[name].replace("\n", " ")
    for part, is_part in ((beginning(line, budget), line.startswith), (end(line, budget), line.endswith)):
        assert is_part(part) and (not part or cost(part) <= budget)
        assert part == line or budget < 1000 or cost(part) > budget * 0.5
