"""The state machines (storage/states.py) against decisions.md, "Message"."""

from itertools import combinations

import pytest

from storage import states
from storage.states import RECIPIENT, RECIPIENT_ACCEPTED, RECIPIENT_FAILED, RECIPIENT_PENDING, message_status


@pytest.mark.parametrize(("column", "machine"), states.COLUMNS.items())
def test_every_transition_leads_to_a_state(column: tuple[str, str], machine: states.Machine) -> None:
    for state, after in machine.items():
        assert after <= set(machine), (column, state)


def test_the_kinds_of_recipient_are_all_of_them_and_apart() -> None:
    kinds = (RECIPIENT_PENDING, RECIPIENT_ACCEPTED, RECIPIENT_FAILED)
    assert frozenset().union(*kinds) == set(RECIPIENT)
    assert sum(map(len, kinds)) == len(RECIPIENT)


@pytest.mark.parametrize(
    ("recipients", "status"),
    [
        ("queued", "queued"),
        ("deferred", "queued"),
        ("queued deferred failed", "queued"),
        ("sent", "sent"),
        ("sent queued", "sent"),
        ("delivered", "delivered"),
        ("delivered queued", "sent"),
        ("delivered deferred failed", "sent"),
        ("delivered sent", "sent"),
        ("delivered failed", "delivered"),
        ("delivered bounced suppressed", "delivered"),
        ("sent failed", "sent"),
        ("failed", "failed"),
        ("bounced", "failed"),
        ("suppressed", "failed"),
        ("bounced failed suppressed", "failed"),
    ],
)
def test_a_message_is_the_sum_of_its_recipients(recipients: str, status: str) -> None:
    assert message_status(frozenset(recipients.split())) == status


def test_one_recipient_that_changes_leads_the_message_along_its_table() -> None:
    """With one exception: a message that was sent stays so when its only success bounces while others wait."""
    mixtures = [
        frozenset(one) for size in range(1, len(RECIPIENT) + 1) for one in combinations(RECIPIENT, size)
    ]
    for mixture in mixtures:
        before = message_status(mixture)
        for state in mixture:
            for after_state in RECIPIENT[state]:
                for after in (mixture | {after_state}, (mixture - {state}) | {after_state}):
                    status = message_status(after)
                    allowed = states.MESSAGE[before] | {before}
                    if before == "sent" and after_state == "bounced":
                        allowed |= {"queued"}
                    assert status in allowed, (sorted(mixture), state, after_state)
