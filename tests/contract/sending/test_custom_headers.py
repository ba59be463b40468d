"""`headers` of a send: contract, section 4; decisions.md, "Message"; threats A1, A2."""

import email
import email.policy
from typing import Any

import pytest

from tests.conftest import on_shared
from tests.support.running import Running

OWNED = (
    "From To Cc Bcc Sender Date Message-ID Subject In-Reply-To References Resent-From Resent-Whatever"
    " MIME-Version MIME-X Content-Type Content-Transfer-Encoding Content-Foo Received Return-Path"
    " DKIM-Signature DKIM-X ARC-Seal ARC-X Authentication-Results Auto-Submitted"
).split()


async def headers_of(maild: Running, sent: dict[str, Any]) -> Any:
    return email.message_from_bytes(await maild.raw(sent["id"]), policy=email.policy.default)


@on_shared
async def test_they_are_in_the_message(shared: Running, shared_bot: dict[str, Any]) -> None:
    given = {
        "X-Campaign": "autumn", "Precedence": "bulk", "List-Unsubscribe": "<https://a.test/u?x=1>, <mailto:u@a.test>",
        "X-Empty": "", "X-Words": "na\u00efve caf\u00e9 \u4f60\u597d", "X-Long": "word " * 100 + "end",
    }  # fmt: skip
    sent = (await shared.api.send(shared_bot, headers=given)).data
    found = await headers_of(shared, sent)
    assert {name: str(found[name]) for name in given} == given
    raw = await shared.raw(sent["id"])
    assert max(map(len, raw.split(b"\r\n"))) <= 998
    assert raw.isascii()


@pytest.mark.parametrize("name", OWNED)
@on_shared
async def test_what_the_server_owns_is_refused(
    shared: Running, shared_bot: dict[str, Any], name: str
) -> None:
    for form in (name, name.upper(), name.lower()):
        answer = await shared.api.send(shared_bot, headers={form: "x"})
        assert (answer.status, answer.faults) == (400, {f"headers.{form}": "not_allowed"})


@pytest.mark.parametrize(
    "name", ["", "X Y", "X:Y", "X\r\nBcc", "X\u00e9", "X\tY", "X" * 77, "\u0000", "X\n", " X", "X\u2028"]
)
@on_shared
async def test_names_that_are_no_tokens(shared: Running, shared_bot: dict[str, Any], name: str) -> None:
    answer = await shared.api.send(shared_bot, headers={name: "x"})
    assert (answer.status, list(answer.faults.values())) == (400, ["invalid_format"])


@pytest.mark.parametrize(
    "value",
    ["a\r\nBcc: x@y.test", "a\nb", "a\rb", "\r\n", "a\u0000", "a\u2028b", "a\u0085b", "a\u007f", "a\u000bb"],
)
@on_shared
async def test_values_with_control_characters(
    shared: Running, shared_bot: dict[str, Any], value: str
) -> None:
    answer = await shared.api.send(shared_bot, headers={"X-A": "fine", "X-B": value})
    assert (answer.status, answer.faults) == (400, {"headers.X-B": "invalid_format"})


@pytest.mark.parametrize("value", ["%0d%0aBcc: x@y.test", "=?utf-8?q?=0D=0ABcc:_x@y.test?="])
@on_shared
async def test_escapes_stay_what_they_are(shared: Running, shared_bot: dict[str, Any], value: str) -> None:
    sent = (await shared.api.send(shared_bot, headers={"X-A": value})).data
    raw = await shared.raw(sent["id"])
    assert b"\r\nBcc" not in raw and f"\r\nX-A: {value}\r\n".encode() in raw


@on_shared
async def test_what_fits_no_line_is_refused(shared: Running, shared_bot: dict[str, Any]) -> None:
    answer = await shared.api.send(shared_bot, headers={"X-A": "x" * 999})
    assert (answer.status, answer.faults) == (400, {"headers.X-A": "invalid_format"})
    assert answer.error["details"]["fields"][0]["message"] == "header value has a word too long for a line"
    answer = await shared.api.send(shared_bot, headers={"X-A": "x " * 1001})
    assert answer.faults == {"headers.X-A": "too_long"}
    many = {f"X-{number}": "x" for number in range(51)}
    assert (await shared.api.send(shared_bot, headers=many)).faults == {"headers": "too_many"}


@on_shared
async def test_a_header_has_at_most_64_kib_in_all(shared: Running, shared_bot: dict[str, Any]) -> None:
    """As one that is submitted by SMTP."""
    given = {f"X-{number}": "word " * 399 for number in range(31)}
    assert (await shared.api.send(shared_bot, headers=given)).status == 201
    answer = await shared.api.send(shared_bot, headers={**given, "X-More": "word " * 399})
    assert answer.faults == {"headers": "too_long"}
    assert "65,536" in answer.error["details"]["fields"][0]["message"]


@on_shared
async def test_one_name_twice_and_list_headers_beyond_ascii(
    shared: Running, shared_bot: dict[str, Any]
) -> None:
    answer = await shared.api.send(shared_bot, headers={"X-A": "1", "x-a": "2"})
    assert answer.faults == {"headers": "given_twice"}
    answer = await shared.api.send(shared_bot, headers={"List-Unsubscribe": "<https://b\u00fccher.test/>"})
    assert answer.faults == {"headers.List-Unsubscribe": "invalid_format"}


@pytest.mark.parametrize("name", ["List-Unsubscribe", "list-unsubscribe-post", "LIST-UNSUBSCRIBE"])
@on_shared
async def test_a_link_of_ones_own_beside_ours_is_refused(
    shared: Running, shared_bot: dict[str, Any], name: str
) -> None:
    answer = await shared.api.send(shared_bot, unsubscribe=True, headers={name: "<https://a.test>"})
    assert (answer.status, list(answer.faults.values())) == (400, ["not_allowed"])
    assert (
        await shared.api.send(shared_bot, unsubscribe=False, headers={name: "<https://a.test>"})
    ).status == 201


@pytest.mark.parametrize("headers", [[], "X-A: b", {"X-A": 1}, {"X-A": None}, {"X-A": ["a"]}])
@on_shared
async def test_what_is_no_map_of_texts(shared: Running, shared_bot: dict[str, Any], headers: Any) -> None:
    answer = await shared.api.send(shared_bot, headers=headers)
    assert (answer.status, list(answer.faults.values())) == (400, ["wrong_type"])


@on_shared
async def test_reply_to_is_shown_as_such(shared: Running, shared_bot: dict[str, Any]) -> None:
    sent = (await shared.api.send(shared_bot, headers={"Reply-To": "desk@elsewhere.test"})).data
    assert sent["replyTo"] == "desk@elsewhere.test"


@on_shared
async def test_reply_to_names_people_in_any_script(shared: Running, shared_bot: dict[str, Any]) -> None:
    reply_to = "Jürgen <desk@elsewhere.test>, desk@bücher.test"
    sent = (await shared.api.send(shared_bot, headers={"Reply-To": reply_to})).data
    assert sent["replyToAddresses"] == ["desk@elsewhere.test", "desk@xn--bcher-kva.test"]


@pytest.mark.parametrize("value", ["nobody", "", "Müller, J <j@elsewhere.test>"])
@on_shared
async def test_a_reply_to_that_is_no_address_is_refused(
    shared: Running, shared_bot: dict[str, Any], value: str
) -> None:
    answer = await shared.api.send(shared_bot, headers={"reply-to": value})
    assert (answer.status, answer.faults) == (400, {"headers.reply-to": "invalid_format"})
    assert "Ada <ada@example.org>" in answer.error["details"]["fields"][0]["message"]


@on_shared
async def test_each_header_at_fault_is_told_at_once_by_its_name(
    shared: Running, shared_bot: dict[str, Any]
) -> None:
    given = {"List-Id": "bücher", "X-A": "fine", "Reply-To": "nobody", "Disposition-Notification-To": "x"}
    answer = await shared.api.send(shared_bot, headers=given)
    at_fault = ("List-Id", "Reply-To", "Disposition-Notification-To")
    assert (answer.status, answer.faults) == (400, {f"headers.{name}": "invalid_format" for name in at_fault})


@on_shared
async def test_a_suppression_of_auto_replies_may_be_replaced(
    shared: Running, shared_bot: dict[str, Any]
) -> None:
    sent = (await shared.api.send(shared_bot, headers={"X-Auto-Response-Suppress": "OOF"})).data
    found = await headers_of(shared, sent)
    assert found.get_all("X-Auto-Response-Suppress") == ["OOF"]
    assert found["Auto-Submitted"] == "auto-generated"
