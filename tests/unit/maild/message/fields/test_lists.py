"""What mail says of its mailing list (RFC 2369, RFC 2919, RFC 8058)."""

import pytest

from maild.message.fields.headers import read_headers
from maild.message.fields.lists import MAX_LINKS, MailingList, read_list
from tests.support.laws.work import assert_proportional, bomb


def of(*fields: str) -> MailingList | None:
    return read_list(read_headers("".join(f"{field}\r\n" for field in fields).encode()))


@pytest.mark.parametrize(
    "field",
    [
        "Subject: x",
        "List-Id: Friends",
        "List-Post: NO (nobody writes)",
        "List-Unsubscribe: <ftp://x.test/>, yes",
        "List-Unsubscribe: <>, https://x.test/",
        "List-Unsubscribe: see ftp:https://x.test/",
    ],
)
def test_mail_that_names_no_list(field: str) -> None:
    assert of(field) is None


@pytest.mark.parametrize(
    ("field", "shown"),
    [
        ('List-Id: "<a> and" <friends.x.test>', MailingList("friends.x.test", None, (), False)),
        ("List-Id: <friends.x.test>", MailingList("friends.x.test", None, (), False)),
        ("List-Post: <https://x.test/>, <mailto:l@x.test?a=b>", MailingList(None, "l@x.test", (), False)),
        ("List-Post: <MAILTO:l%2Bq@x.test>", MailingList(None, "l+q@x.test", (), False)),
        (
            "List-Unsubscribe: <https://x.test/\r\n u?1>,\r\n <mailto:u@x.test?subject=off>",
            MailingList(None, None, ("https://x.test/u?1", "mailto:u@x.test?subject=off"), False),
        ),
        (  # Python's email library, of a link that fits no line
            "List-Unsubscribe: =?utf-8?q?=3Chttps=3A//x=2Etest/unsubscribe/aaaaaaaaaaa?=\r\n"
            " =?utf-8?q?aaaaaaaaaaaaaaaaaaaaaa=3E?=\r\n =?utf-8?q?=2C?= <mailto:u@x.test>",
            MailingList(None, None, (f"https://x.test/unsubscribe/{'a' * 33}", "mailto:u@x.test"), False),
        ),
        (
            "List-Unsubscribe: mailto: u@x.test?subject=off, https://x.test/u?a,b",
            MailingList(None, None, ("mailto:u@x.test?subject=off", "https://x.test/u?a,b"), False),
        ),
        (
            "List-Unsubscribe: mailto:u@x.test,https://x.test/u?a,b,",
            MailingList(None, None, ("mailto:u@x.test", "https://x.test/u?a,b"), False),
        ),
        ("List-Unsubscribe: <https://x.test/u?a,>", MailingList(None, None, ("https://x.test/u?a,",), False)),
        ("List-Unsubscribe: HTTP://x.test/u", MailingList(None, None, ("HTTP://x.test/u",), False)),
        (
            "List-Id: A list =?utf-8?q?=3Cfriends=2Ex=2Etest=3E?=",
            MailingList("friends.x.test", None, (), False),
        ),
    ],
)
def test_a_list_is_read(field: str, shown: MailingList) -> None:
    assert of(field) == shown


@pytest.mark.parametrize(("link", "is_so"), [("https://x.test/", True), ("mailto:u@x.test", False)])
def test_one_click_needs_https(link: str, is_so: bool) -> None:
    found = of(f"List-Unsubscribe: <{link}>", "List-Unsubscribe-Post: List-Unsubscribe=One-Click")
    assert found is not None and found.oneClick is is_so


def test_what_is_read_is_bounded() -> None:
    many = of("List-Unsubscribe: " + ",".join(f"<mailto:{n}@x.test>" for n in range(100)))
    assert many is not None and len(many.unsubscribe) == MAX_LINKS
    assert of("List-Unsubscribe: <mailto:" + "a" * 100_000 + ">", "List-Id: <" + "a" * 1000 + ">") is None
    assert of("List-Id: " + "<" * 200_000, "List-Post: " + "<mailto:" * 30_000) is None
    for unit in ("mailto: ", "http:", " ", ",http: ", ","):
        assert_proportional(lambda value: of(f"List-Post: {value}"), bomb(unit))
