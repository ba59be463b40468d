"""Lists of messages that strangers made heavy: they go out in parts, and say the same."""

from typing import Any

import pytest

from storage import message_json
from tests.support.running import Running

MESSAGES = 60


def heavy(number: int) -> str:
    to = ",\n ".join(f"{one}-{'x' * 50}@elsewhere.test" for one in range(200))
    head = f"From: a@elsewhere.test\nTo: {to}\nSubject: {number}\nMessage-ID: <{number}@elsewhere.test>\n"
    return f"{head}\nwords {number}\n"


@pytest.mark.parametrize("query", [{}, {"q": "words"}, {"q": "wo"}])
async def test_a_list_of_heavy_messages_is_read_and_written_in_parts(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch, query: dict[str, str]
) -> None:
    for number in range(MESSAGES):
        await maild.deliver(bot["address"], heavy(number))
    monkeypatch.setattr(message_json, "PART_BYTES", 0)
    monkeypatch.setattr("controlplane.transport.streaming.HELD_BYTES", 1000)
    sizes: list[int] = []
    read_slice = message_json._slice

    def noted(*args: Any) -> tuple[bytes, str | None, int]:
        found = read_slice(*args)
        sizes.append(found[2])
        return found

    monkeypatch.setattr(message_json, "_slice", noted)
    answer = await maild.api.get("/v1/messages", limit="100", **query)
    assert "Content-Length" not in answer.headers
    assert [one["subject"] for one in answer.data] == [str(number) for number in range(MESSAGES - 1, -1, -1)]
    assert all(len(one["toAddresses"]) == 200 for one in answer.data)
    assert sizes == [25, 25, 10]
    one = answer.data[7]
    assert (await maild.api.get(f"/v1/messages/{one['id']}")).data == {
        **one, "textBody": f"words {one['subject']}\n", "htmlBody": None,
    }  # fmt: skip


async def test_an_empty_list_and_a_page_that_ends_with_a_slice(
    maild: Running, bot: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await maild.api.get("/v1/messages")).data == []
    monkeypatch.setattr(message_json, "SLICE_MESSAGES", 2)
    for number in range(4):
        await maild.deliver(bot["address"], heavy(number))
    assert [one["subject"] for one in (await maild.api.get("/v1/messages")).data] == list("3210")


async def test_many_domains_are_one_list_however_it_is_written(
    maild: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        await maild.api.call("POST", "/v1/domains", {"domainName": f"d{number}.example"})
    at_once = await maild.api.get("/v1/domains")
    monkeypatch.setattr("controlplane.transport.streaming.HELD_BYTES", 2000)
    in_parts = await maild.api.get("/v1/domains")
    assert "Content-Length" in at_once.headers and "Content-Length" not in in_parts.headers
    assert in_parts.data == at_once.data and len(at_once.data) == 5
