"""Values as pages say them."""

import pytest

from controlplane.console.rendering import lasting


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(172_800, "2 days"), (86_400, "1 day"), (5400, "90 minutes"), (3600, "1 hour"), (61, "61 seconds")],
)
def test_a_length_is_said_in_the_longest_unit_that_is_exact(seconds: int, said: str) -> None:
    assert lasting(seconds) == said
