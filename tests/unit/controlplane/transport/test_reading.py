"""Requests are read at a cost in proportion to their octets, and the answer to a bad one is bounded."""

import gc
import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from controlplane.contract import validation
from controlplane.contract.accounts.inboxes import CreateInbox
from controlplane.contract.mail.messages import ListMessages, SendMessage
from controlplane.contract.model import RequestQuery
from controlplane.contract.refusals import FAULTS_MAX, Refusal
from controlplane.contract.sending.drafts import CreateDraft
from controlplane.contract.telling.events import ListEvents
from controlplane.transport import reading
from controlplane.transport.reading import DEPTH_MAX, VALUES_MAX, read_body, read_json, read_query


def refused(model: Any, raw: bytes | str) -> Refusal:
    octets = bytearray(raw.encode() if isinstance(raw, str) else raw)
    with pytest.raises(Refusal) as caught:
        read_body(model, octets)
    return caught.value


def faults(error: Refusal) -> dict[str, str]:
    assert error.details is not None
    return {one["path"]: one["code"] for one in error.details["fields"]}


def calls_of(work: Callable[[], Any]) -> int:
    """How many calls of Python and C functions the work makes."""
    count = 0

    def note(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    gc.disable()  # what others left behind has finalizers, which are calls too
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


def test_many_members_are_refused_before_anything_is_made_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("parsed")

    monkeypatch.setattr(json, "loads", never)
    for raw in (
        "{" + ",".join(f'"f{n}":1' for n in range(100_000)) + "}",
        '{"to":[' + ",".join("1" for _ in range(100_000)) + "]}",
        '{"metadata":{' + ",".join('"a":""' for _ in range(100_000)) + "}}",
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"dailyCap": ' + "9" * 100_000 + "}",
    ):
        assert faults(refused(SendMessage, raw)) == {"": "too_many"}


@pytest.mark.parametrize("hold", ['"', "\\", "\\\\", '\\"', '\\\\"', "\\\\\\"])
@pytest.mark.parametrize("shift", range(4))
def test_punctuation_inside_of_strings_counts_for_nothing(hold: str, shift: int) -> None:
    """Escapes and quotes fall on every place of the cut between two pieces."""
    text = "x" * (reading.PIECE_BYTES - 20 - shift) + hold * 20 + ",[{" * 2000 + hold
    raw = json.dumps({"inboxId": "inb_1", "to": ["a@b.test"], "text": text}).encode()
    body = read_body(SendMessage, bytearray(raw))
    assert isinstance(body, SendMessage)
    assert body.text == text


LONG = "x" * (reading.LONG_BYTES + 1)


def test_a_long_string_is_not_given_to_the_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would keep the interpreter to itself for as long as the string is."""
    given: list[int] = []
    loads = json.loads

    def noting(text: str, **words: Any) -> Any:
        given.append(len(text))
        return loads(text, **words)

    monkeypatch.setattr(json, "loads", noting)
    files = [{"filename": "\n", "content": LONG}, {"filename": "b", "content": LONG + "y"}]
    raw = bytearray(json.dumps({"text": 'a "word"\n', "attachments": files}).encode())
    assert reading.read_json(raw) == {"text": 'a "word"\n', "attachments": files}
    assert not raw, "held twice"
    assert len(given) == 1 and given[0] < 1000


@pytest.mark.parametrize("indent", [None, 3])
@pytest.mark.parametrize(
    "document",
    [
        LONG,
        [LONG, LONG, 1, None, {"a": LONG}],
        {LONG: 1, "a": LONG},
        {"a": "é" * reading.LONG_BYTES, "b": LONG},
        {"a": '\\"' * reading.LONG_BYTES, "b": LONG},
        {"a": "\n" + LONG, "b": LONG},
        {"a": "\n" * 9, "b": LONG + "\\", "c": LONG},
        {"a": LONG + "\u2028\x7f"},
    ],
)
def test_long_strings_are_what_they_are(document: Any, indent: int | None) -> None:
    for ascii_only in (True, False):
        raw = json.dumps(document, indent=indent, ensure_ascii=ascii_only).encode()
        assert reading.read_json(bytearray(raw)) == document


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (f'{{"a":"{LONG}\x00"}}', "invalid_json"),
        (f'{{"a":"{LONG}\n"}}', "invalid_json"),
        (f'{{"a":"{LONG}', "invalid_json"),
        (f'{{"a":"{LONG}"', "invalid_json"),
        (f'{{"a":"{LONG}"}} {{}}', "invalid_json"),
        (f'{{"a":"{LONG}" "b"}}', "invalid_json"),
        (f'{{"{LONG}":1,"{LONG}":2}}', "given_twice"),
        (f'{{"a":"{LONG}","a":"{LONG}"}}', "given_twice"),
        (b'{"a":"' + LONG.encode() + b'\xff"}', "invalid_json"),
    ],
)
def test_faults_around_long_strings_are_told_as_around_short_ones(raw: str | bytes, told: str) -> None:
    error = refused(CreateInbox, raw)
    assert error.details is not None
    (fault,) = error.details["fields"]
    assert fault["code"] == told
    if told == "invalid_json" and isinstance(raw, str):
        try:
            json.loads(raw)
        except json.JSONDecodeError as known:
            assert f"line {known.lineno}, column {known.colno}" in fault["message"]


@pytest.mark.parametrize("control", range(32))
def test_no_control_character_hides_in_long_base64(control: int) -> None:
    """Base64 is told by a reader of its own."""
    text = "A" * (2 * reading.PIECE_BYTES) + "QUE="
    ends = [0, 1, reading.PIECE_BYTES - 1, reading.PIECE_BYTES, len(text) - 1, len(text)]
    for at in ends:
        for replaced in (0, 1):
            raw = b'{"a":"%b%c%b"}' % (text[:at].encode(), control, text[at + replaced :].encode())
            assert faults(refused(CreateInbox, raw)) == {"": "invalid_json"}


def test_a_long_string_behind_more_strings_than_a_body_may_have_is_not_looked_for() -> None:
    """Else a body of a million names would be walked through, one by one, before it is refused."""
    raw = bytearray(b'{"a":["b"%b],"c":"%b"}' % (b',"b"' * 2 * VALUES_MAX, LONG.encode()))
    assert list(reading._long_strings(raw)) == []
    assert faults(refused(CreateInbox, bytes(raw))) == {"": "too_many"}


def test_the_largest_honest_request_passes() -> None:
    whole = {
        "inboxId": "inb_1",
        **{kind: [f"{kind}{n}@elsewhere.test" for n in range(50)] for kind in ("to", "cc", "bcc")},
        "text": ",[{" * 10_000,
        "attachments": [
            {"filename": f"{n}", "contentType": "text/plain", "content": "QUFB"} for n in range(20)
        ],
        "headers": {f"X-Number-{n}": "1" for n in range(50)},
    }
    for indent in (None, 8):
        assert read_body(SendMessage, bytearray(json.dumps(whole, indent=indent).encode()))


class Name(str):
    """A text that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return super().__eq__(other)

    __hash__ = str.__hash__


def test_names_given_twice_are_found_in_linear_work() -> None:
    def work(count: int) -> int:
        Name.compared = 0
        assert [fault.path for fault in reading._repeats([Name("a") for _ in range(count)], "field")] == ["a"]
        return Name.compared

    assert 0 < work(2000) <= 2 * work(1000) + 10
    with pytest.raises(Refusal) as caught:
        read_query(RequestQuery, [("a", "1")] * 2000)
    assert faults(caught.value) == {"a": "given_twice"}
    body = '{"username":"bot","metadata":{' + ",".join(['"a":""'] * 900) + "}}"
    assert faults(refused(CreateInbox, body)) == {"a": "given_twice"}


def test_counting_members_is_linear_work() -> None:
    def work(size: int) -> int:
        raw = bytearray(b'{"text":"' + b'\\"' * size + b'"}')
        return calls_of(lambda: reading._refuse_many(raw))

    once = work(200_000)
    assert work(400_000) <= 2 * once + 50
    assert once < 200  # a handful for each piece, not for each octet


def test_a_hundred_faults_are_told_and_that_there_were_more() -> None:
    few = refused(CreateInbox, json.dumps({f"f{n}": 1 for n in range(FAULTS_MAX - 1)}))
    assert few.details is not None
    assert len(few.details["fields"]) == FAULTS_MAX and "truncated" not in few.details
    many = refused(CreateInbox, json.dumps({f"f{n}": 1 for n in range(VALUES_MAX - 1)}))
    assert many.details is not None
    assert len(many.details["fields"]) == FAULTS_MAX and many.details["truncated"] is True


def test_a_list_may_be_given_in_parts() -> None:
    """Clients by orval and swagger-typescript-api do, whatever the document says of it, and `requests` with a list."""
    parts = read_query(ListMessages, [("labels", "a"), ("limit", "5"), ("labels", "b,c")])
    assert parts == read_query(ListMessages, [("labels", "a,b,c"), ("limit", "5")])
    parts = read_query(ListEvents, [("types", "email.sent"), ("types", "email.received")])
    assert parts == read_query(ListEvents, [("types", "email.sent,email.received")])
    with pytest.raises(Refusal) as caught:
        read_query(ListMessages, [("labels", "a"), ("labels", "b"), ("limit", "5"), ("limit", "6")])
    assert faults(caught.value) == {"limit": "given_twice"}


def test_a_long_name_is_not_given_back_whole() -> None:
    told = faults(refused(CreateInbox, json.dumps({"n" * 60_000: 1, "username": "bot"})))
    (path,) = told
    assert len(path) <= validation.NAME_CHARS_SHOWN + 1


@pytest.mark.parametrize(
    "raw",
    [
        "", "{", "nothing", '{"username": NaN}', '{"username": Infinity}', '{"username": -Infinity}',
        '{"username": ' + "9" * 5000 + "}", '{"username": "a\x00"}', "{} {}",
    ],
)  # fmt: skip
def test_what_is_no_json(raw: str) -> None:
    assert faults(refused(CreateInbox, raw)) == {"": "invalid_json"}


def test_what_is_no_utf8() -> None:
    assert faults(refused(CreateInbox, b'{"username": "\xff"}')) == {"": "invalid_json"}
    assert faults(refused(CreateInbox, '{"username": "bot"}'.encode("utf-16"))) == {"": "invalid_json"}


@pytest.mark.parametrize("text", ["", LONG], ids=["short", "long"])
@pytest.mark.parametrize(
    ("value", "told"),
    [
        (b"NaN", "NaN is no number of JSON"),
        (b"-Infinity", "-Infinity is no number of JSON"),
        (b"[" * DEPTH_MAX + b"]" * DEPTH_MAX, f"At most {DEPTH_MAX} arrays and objects"),
        (b"[" * 990 + b"]" * 990, f"At most {DEPTH_MAX} arrays and objects"),
        (b"[" * 990 + rb'"\u0000"' + b"]" * 990, f"At most {DEPTH_MAX} arrays and objects"),
        (b"9" * 5000, "A number has too many digits"),
        (b'"\xff"', "octet {at} is no UTF-8"),
        (b"\xff", "octet {at} is no UTF-8"),
        (b"nothing", "Expecting value: line 2, column 2"),
        (b"{'a': 1}", "Expecting property name enclosed in double quotes: line 2, column 3"),
        (b'"a\nb"', "Invalid control character at: line 2, column 4"),
        (b'"a', "Unterminated string starting at: line 2, column 2"),
        (rb'"\x"', "Invalid \\escape: line 2, column 3"),
    ],
)
def test_a_fault_of_the_document_says_what_it_is(text: str, value: bytes, told: str) -> None:
    raw = b'["%b",\n %b]' % (text.encode(), value)
    error = refused(CreateInbox, raw)
    assert error.details is not None
    (fault,) = error.details["fields"]
    assert (fault["path"], fault["code"]) == ("", "invalid_json")
    assert told.format(at=raw.find(b"\xff") + 1) in fault["message"]


def nested(depth: int, inner: Any) -> Any:
    for number in range(depth):
        inner = [inner] if number % 2 else {"x": inner}
    return inner


@pytest.mark.parametrize(
    "inner", [1, "", LONG, [], {}], ids=["number", "text", "long text", "list", "object"]
)
def test_depth_is_counted(inner: Any) -> None:
    deepest = DEPTH_MAX - isinstance(inner, list | dict)
    whole = [0, nested(deepest - 1, inner), 0]
    assert read_json(bytearray(json.dumps(whole).encode())) == whole
    with pytest.raises(Refusal) as caught:
        read_json(bytearray(json.dumps([whole]).encode()))
    assert faults(caught.value) == {"": "invalid_json"}


def test_nul_and_half_surrogates_are_faults_wherever_they_stand() -> None:
    body = {
        "inboxId": "inb_1",
        "to": ["a@b.test\x00"],
        "subject": "a\x00",
        "text": "a\x00",
        "html": "\ud800",
        "attachments": [{"filename": "a\x00", "content": "\x00"}],
        "headers": {"X-A": "\x00"},
        "odd\x00": 1,
    }
    told = faults(refused(SendMessage, json.dumps(body)))
    assert told == {
        "to[0]": "invalid_email",
        "subject": "control_character",
        "text": "control_character",
        "html": "invalid_text",
        "attachments[0].filename": "control_character",
        "attachments[0].content": "control_character",
        "headers.X-A": "invalid_format",
        "odd\x00": "unknown_field",
    }
    assert faults(refused(CreateDraft, json.dumps({"inboxId": "inb_1", "text": "\x00"}))) == {
        "text": "control_character"
    }


def test_pairs_of_surrogates_are_characters() -> None:
    raw = json.dumps({"inboxId": "inb_1", "to": ["a@b.test"], "text": "\U0001f600"})
    assert "\\ud83d" in raw
    body: Any = read_body(SendMessage, bytearray(raw.encode()))
    assert body.text == "\U0001f600"
