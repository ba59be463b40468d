"""What a client may say in one session before it is cut."""

from conf.settings import Smtp
from maild.inbound.sessions.command_counts import RECIPIENTS_BEYOND, CommandCounts


def test_the_rest_of_a_large_list_is_no_error_and_not_endless() -> None:
    counts = CommandCounts(Smtp(max_errors=1))
    for _ in range(RECIPIENTS_BEYOND):
        counts.error()
        assert counts.recipient_beyond().code == 452
    assert not counts.has_too_many_errors
    last = counts.recipient_beyond()
    assert (last.code, last.closes) == (421, True)
    counts.mail_came()
    assert counts.recipient_beyond().code == 452
