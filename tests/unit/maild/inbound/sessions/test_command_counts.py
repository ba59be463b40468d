"""What a client may say in one session before it is cut."""

import pytest

from conf.settings import Smtp
from maild.errors import SmtpError
from maild.inbound.sessions.command_counts import MOST_OF_KNOWN, RECIPIENTS_BEYOND, CommandCounts


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


def test_a_client_that_logged_in_is_refused_much_and_not_for_ever() -> None:
    counts = CommandCounts(Smtp(max_errors=1, max_junk_commands=1))
    counts.known()
    for _ in range(MOST_OF_KNOWN):
        counts.error()
        counts.idle()
    assert not counts.has_too_many_errors
    counts.error()
    assert counts.has_too_many_errors
    with pytest.raises(SmtpError, match="too many commands"):
        counts.idle()
