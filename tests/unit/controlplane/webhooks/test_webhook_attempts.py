import pytest

from controlplane.webhooks import attempts
from storage.states import WEBHOOK_DELIVERY

DELAYS = (30, 120, 600, 3600)


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_2xx_succeeds(status: int) -> None:
    verdict = attempts.answered(status, 1, DELAYS)
    assert verdict.is_successful
    assert verdict == ("succeeded", None, None)


@pytest.mark.parametrize("status", [400, 401, 404, 408, 410, 429, 499])
def test_4xx_is_final(status: int) -> None:
    verdict = attempts.answered(status, 1, DELAYS)
    assert verdict.state == "failed"
    assert verdict.retry_after_s is None
    assert str(status) in (verdict.error or "")


@pytest.mark.parametrize("status", [101, 199, 300, 301, 302, 307, 308, 399, 500, 502, 503, 599, 600, 999])
@pytest.mark.parametrize(("attempt", "delay_s"), [(1, 30), (2, 120), (3, 600), (4, 3600)])
def test_everything_else_is_tried_again_on_schedule(status: int, attempt: int, delay_s: int) -> None:
    verdict = attempts.answered(status, attempt, DELAYS)
    assert verdict.state == "pending"
    assert verdict.retry_after_s == delay_s
    assert str(status) in (verdict.error or "")
    assert ("redirects are not followed" in (verdict.error or "")) is (300 <= status <= 399)


def test_after_the_last_attempt_it_failed() -> None:
    for verdict in (attempts.answered(503, 5, DELAYS), attempts.unanswered("timeout", 5, DELAYS)):
        assert verdict.state == "failed"
        assert verdict.retry_after_s is None
        assert "gave up after 5 attempts" in (verdict.error or "")


def test_without_delays_there_is_one_attempt() -> None:
    assert attempts.unanswered("timeout", 1, ()) == ("failed", "timeout", None)


def test_no_answer_is_tried_again() -> None:
    assert attempts.unanswered("the connection was refused", 2, DELAYS) == (
        "pending",
        "the connection was refused",
        120,
    )


def test_error_texts_are_bounded() -> None:
    assert len(attempts.unanswered("x" * 10_000, 1, DELAYS).error or "") == attempts.ERROR_CHARACTERS_MAX


def test_halted_says_why() -> None:
    assert "deleted" in (attempts.halted(deleted=True).error or "")
    assert "deactivated" in (attempts.halted(deleted=False).error or "")
    assert all("retries halted" in (attempts.halted(deleted=gone).error or "") for gone in (True, False))


def test_every_state_is_one_of_the_machine() -> None:
    verdicts = [
        attempts.answered(status, attempt, DELAYS) for status in range(100, 700) for attempt in range(1, 6)
    ]
    verdicts.append(attempts.halted(deleted=True))
    assert {verdict.state for verdict in verdicts} <= WEBHOOK_DELIVERY["pending"]
