"""What is read of headers that anybody fills, and how much that is (controlplane/transport/request_headers.py)."""

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from multidict import CIMultiDict

from controlplane.transport.request_headers import cookie, media_type
from tests.support.laws.work import steps

LINE = 8000


def asking(*headers: tuple[str, str]) -> web.Request:
    return make_mocked_request("POST", "/", CIMultiDict(headers))


@pytest.mark.parametrize(
    ("told", "read"),
    [
        ("application/json", "application/json"),
        ("Application/JSON ; charset=utf-8", "application/json"),
        ("multipart/form-data; boundary=\"application/json\"", "multipart/form-data"),
        ("", ""),
        (";application/json", ""),
    ],
)  # fmt: skip
def test_the_media_type_is_what_stands_before_parameters(told: str, read: str) -> None:
    assert media_type(asking(("Content-Type", told))) == read


def test_without_the_header_there_is_none() -> None:
    assert media_type(asking()) == ""


@pytest.mark.parametrize(
    ("told", "read"),
    [
        (["maild=a"], "a"),
        (["x=1; maild=a; y=2"], "a"),
        (["x=1", "maild = a "], "a"),
        (["maild=a; maild=b"], "b"),
        (["maild=a=="], "a=="),
        (["maild"], None),
        (["xmaild=a; maildx=b"], None),
        (["maild="], ""),
        ([], None),
    ],
)
def test_a_cookie_is_found_among_others(told: list[str], read: str | None) -> None:
    assert cookie(asking(*(("Cookie", one) for one in told)), "maild") == read


@pytest.mark.parametrize("unit", ["(", '"a",', ";a=b", 'a="\\"";', "a/b,", "=?utf-8?q?a?= "])
def test_a_line_of_anything_is_read_in_a_moment(unit: str) -> None:
    line = unit * (LINE // len(unit))
    asked = asking(("Content-Type", line), ("Cookie", line))
    assert steps(lambda: media_type(asked)) < 100
    assert steps(lambda: cookie(asked, "maild")) < 5 * LINE
