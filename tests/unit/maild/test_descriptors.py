"""Strangers' connections do not use up the descriptors that the API needs."""

import resource
from collections.abc import Iterator
from unittest.mock import Mock

import pytest
from structlog.testing import capture_logs

from conf.settings import Settings, parse
from conf.tuning import HttpTuning
from maild.descriptors import OWN, make_room

WANTED = 10 * 2 + 20 + HttpTuning().heard_out + 5 * 4 + 3 + OWN


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


def test_who_takes_submissions_wants_more() -> None:
    lower(256)
    make_room(settings(submission_listen=["127.0.0.1:0"], tls_cert=__file__, tls_key=__file__))
    assert limit() == WANTED + 10 * 2


def test_a_limit_that_is_enough_stays() -> None:
    lower(WANTED + 1)
    make_room(settings())
    assert limit() == WANTED + 1


@pytest.mark.parametrize(("hard", "refusal", "left"), [(300, None, 300), (4000, PermissionError(1), 256)])
def test_where_no_more_is_allowed_it_is_told(
    monkeypatch: pytest.MonkeyPatch, hard: int, refusal: OSError | None, left: int
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (256, hard))
    monkeypatch.setattr(resource, "setrlimit", set_to := Mock(side_effect=refusal))
    with capture_logs() as told:
        make_room(settings())
    monkeypatch.undo()
    assert set_to.call_args.args[1] == (min(hard, WANTED), hard)
    assert told == [{"event": "few_descriptors", "log_level": "warning", "limit": left, "wanted": WANTED}]
