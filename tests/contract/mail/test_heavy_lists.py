"""Lists of messages that strangers made heavy: they go out in parts, and say the same."""

from typing import Any

import pytest

from conf.tuning import HttpTuning, Tuning
from storage.shown import message_json
from tests.conftest import Start
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
    sizes: list[int] = []
    read_slice = message_json._slice

    def noted(tx: Any, organization_id: str, states: Any, *others: Any) -> bytes:
        sizes.append(len(states))
        return read_slice(tx, organization_id, states, *others)

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


async def test_an_empty_list_and_a_page_that_ends_with_a_slice(maild: Running, bot: dict[str, Any]) -> None:
    assert (await maild.api.get("/v1/messages", limit="100")).data == []
    for number in range(2 * message_json.SLICE_MESSAGES):
        await maild.deliver(bot["address"], heavy(number))
    listed = (await maild.api.get("/v1/messages", limit="100")).data
    assert [int(one["subject"]) for one in listed] == list(range(2 * message_json.SLICE_MESSAGES))[::-1]


async def test_many_domains_are_one_list_however_it_is_written(
    start: Start,
) -> None:
    maild = await start(tuning=Tuning(http=HttpTuning(held_bytes=4_000)))
    path = "/v1/domains"
    lists = [await maild.api.get(path)]
    for number in range(6):
        await maild.api.call("POST", path, {"domainName": f"d{number}.example"})
        lists.append(await maild.api.get(path))
    are_whole = ["Content-Length" in one.headers for one in lists]
    assert are_whole[0] and not are_whole[-1] and are_whole == sorted(are_whole, reverse=True)
    whole = [one.data[0] for one in lists[1:]]
    assert lists[-1].data == whole[::-1] and len(whole) == 6
