"""One holder can't use up the account of bytes in flight, nor can several."""

from hypothesis import given
from hypothesis import strategies as st

from storage.byte_account import ByteAccount


def fill(account: ByteAccount, holder: str, step: int = 1) -> int:
    """Take as much as the holder gets, in steps; how many bytes that is."""
    taken = 0
    while account.take(step, holder):
        taken += step
    return taken


def test_one_greedy_holder_gets_half() -> None:
    assert fill(ByteAccount(1000), "greedy") == 500


def test_several_greedy_holders_leave_a_newcomer_its_part() -> None:
    account = ByteAccount(1000)
    for _ in range(100):
        for holder in "abc":
            account.take(5, holder)
    assert fill(account, "newcomer") >= 100


def test_bytes_given_back_can_be_taken_again() -> None:
    account = ByteAccount(1000)
    taken = fill(account, "one")
    account.give(taken, "one")
    assert account.held_bytes == 0
    assert fill(account, "one") == taken


def test_more_than_the_account_is_refused_whoever_asks() -> None:
    assert not ByteAccount(10).take(11)


def test_a_refusal_for_one_holder_counts_nothing_for_the_other() -> None:
    account = ByteAccount(100)
    assert account.take(50, "organization", "first address")
    assert not account.take(10, "organization", "second address")
    assert account.take(25, "second address")


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 400)), max_size=60))
def test_the_limit_holds_and_everything_comes_back(asked: list[tuple[str, int]]) -> None:
    account = ByteAccount(1000)
    granted = [(holder, count) for holder, count in asked if account.take(count, holder)]
    assert account.held_bytes == sum(count for _, count in granted) <= 1000
    for holder, count in granted:
        account.give(count, holder)
    assert account.held_bytes == 0
