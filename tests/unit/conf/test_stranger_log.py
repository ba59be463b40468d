"""A stranger can't fill the log: so many lines of a kind in a minute, and how many there were besides."""

import structlog

from conf.strangers import LINES_PER_MINUTE, MINUTE_S, StrangerLog


def test_a_minute_has_so_many_lines_of_a_kind() -> None:
    at = [0.0]
    told = StrangerLog(lambda: at[0])
    with structlog.testing.capture_logs() as lines:
        for _ in range(1000):
            told.note("http_malformed", peer="192.0.2.1")
        told.note("http_client_left")
    assert [one["event"] for one in lines] == ["http_malformed"] * LINES_PER_MINUTE + ["http_client_left"]


def test_the_next_minute_says_how_many_were_left_out() -> None:
    at = [0.0]
    told = StrangerLog(lambda: at[0])
    for _ in range(LINES_PER_MINUTE + 7):
        told.note("http_malformed")
    at[0] = MINUTE_S
    with structlog.testing.capture_logs() as lines:
        told.note("http_malformed")
        told.note("http_malformed")
    assert [one.get("suppressed") for one in lines] == [7, None]
