"""Who comes when, of those that have mail for one destination."""

from maild.outbound.lines.message_line import READY, MessageLine
from tests.support.worlds.due_rows import due


def line(*senders: str) -> MessageLine:
    made = MessageLine()
    for number, sender in enumerate(senders):
        made.put([due(sender, str(number))])
    return made


def senders(some: MessageLine) -> list[str]:
    return [group[0].organization_id for group in some.empty()]


def test_behind_the_first_ones_organizations_take_turns() -> None:
    some = line(*["org_a"] * (READY + 5), "org_b", "org_b", "org_c")
    behind = senders(some)[READY:]
    assert behind == ["org_a", "org_b", "org_c", "org_a", "org_b", "org_a", "org_a", "org_a"]


def test_the_mail_of_one_organization_goes_in_its_order() -> None:
    some = line(*["org_a"] * (2 * READY))
    assert [group[0].message_id for group in some.empty()] == [str(number) for number in range(2 * READY)]


def test_what_goes_on_at_once_goes_before_all_others() -> None:
    some = line("org_a", "org_b")
    some.put_first([[due("org_c", "1")], [due("org_c", "2")]])
    assert [group[0].message_id for group in some.empty()] == ["1", "2", "0", "1"]
    assert not some
