"""Strangers' connections do not use up the descriptors that the API needs."""

import resource
from collections.abc import Iterator
from unittest.mock import Mock

import pytest
from structlog.testing import capture_logs

from conf.loading import parse
from conf.settings import Settings
from conf.tuning import HttpTuning
from maild.descriptors import LEAST, OWN, TooFewDescriptors, make_room
from maild.resolver import QUERIES_IN_FLIGHT, queries_of

WANTED = 10 * 2 + 20 + 5 * 4 + 3 + HttpTuning().heard_out + QUERIES_IN_FLIGHT + OWN


@pytest.fixture(autouse=True)
def _limit_as_before() -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def settings(**smtp: object) -> Settings:
    return parse(
        {
            "smtp": {"max_sessions": 10, **smtp},
            "http": {"max_connections": 20},
            "outbound": {"max_connections": 5},
            "webhooks": {"max_concurrent": 3},
        }
    )


def limit() -> int:
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def lower(soft: int) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def test_a_shells_limit_is_raised_to_what_the_configuration_allows() -> None:
    lower(256)
    with capture_logs() as told:
        make_room(settings())
    assert (limit(), told) == (WANTED, [])


def test_what_is_enough_for_all_connections_is_enough_for_all_questions_to_dns() -> None:
    make_room(parse({}))
    assert queries_of(limit()) == QUERIES_IN_FLIGHT == queries_of(resource.RLIM_INFINITY)


def test_who_takes_submissions_wants_more() -> None:
    lower(256)
    make_room(settings(submission_listen=["127.0.0.1:0"], tls_cert=__file__, tls_key=__file__))
    assert limit() == WANTED + 10 * 2


def test_a_limit_that_is_enough_stays() -> None:
    lower(WANTED + 1)
    make_room(settings())
    assert limit() == WANTED + 1


@pytest.mark.parametrize(("hard", "refusal", "left"), [(300, None, 300), (4000, PermissionError(1), 256)])
def test_where_no_more_is_allowed_fewer_connections_are_and_it_is_told(
    monkeypatch: pytest.MonkeyPatch, hard: int, refusal: OSError | None, left: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (256, hard))
    monkeypatch.setattr(resource, "setrlimit", set_to := Mock(side_effect=refusal))
    with capture_logs() as told:
        fitted = make_room(settings(max_sessions=1000))
    monkeypatch.undo()
    assert set_to.call_args.args[1] == (min(hard, WANTED + 1980), hard)
    (line,) = told
    assert (line["event"], line["log_level"]) == ("few_descriptors", "warning")
    assert (line["limit"], line["wanted"]) == (left, WANTED + 1980)
    assert line["smtp_sessions"] == fitted.smtp.max_sessions
    assert (
        fitted.smtp.max_sessions * 2 + fitted.http.max_connections < left / 2 < fitted.smtp.max_sessions * 8
    )


def test_with_too_few_nobody_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (LEAST - 1, LEAST - 1))
    monkeypatch.setattr(resource, "setrlimit", Mock())
    with pytest.raises(TooFewDescriptors, match=f"may open {LEAST - 1} files.*raise LimitNOFILE"):
        make_room(settings())
    monkeypatch.undo()
