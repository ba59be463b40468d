"""Answers of nameservers as octets: what is read, what is refused, and how much work it is."""

import struct
from functools import partial

import dns.message
import dns.name
import pytest

from conf.dns_wire import LABELS_MAX, RECORDS_MAX, TYPES, DnsGarbage, DnsQuestion, read_answer
from tests.support.laws.work import steps

SHORT = b"\x01x\x04test\x00"
DEEP = b"\x01a" * 126 + b"\x00"  # as many labels as a name can have


def answer_of(question: DnsQuestion, *rdata: bytes, owner: bytes = b"\xc0\x0c") -> bytes:
    header = struct.pack("!6H", question.id, 0x8180, 1, len(rdata), 0, 0)
    record = owner + struct.pack("!2HI", question.rdtype, 1, 300)
    section = question.name + struct.pack("!2H", question.rdtype, 1)
    return header + section + b"".join(record + struct.pack("!H", len(data)) + data for data in rdata)


def mx(count: int, host: bytes = b"\xc0\x0c") -> list[bytes]:
    return [struct.pack("!H", number) + host for number in range(count)]


@pytest.mark.parametrize(
    "name", ['a"b\\.c;d.x.test.', "\\000\\255\\032.x.test.", "UPPER.x.test.", "a\\@b\\$(c).test.", "."]
)
def test_names_are_written_as_dnspython_writes_them(name: str) -> None:
    question = DnsQuestion(7, SHORT, TYPES["MX"])
    host = dns.name.from_text(name)
    (record,) = read_answer(
        answer_of(question, struct.pack("!H", 5) + (host.to_wire() or b"")), question
    ).records
    assert record == (5, host.canonicalize().to_text(omit_final_dot=True).removesuffix("."))


def test_a_question_is_one_that_others_read() -> None:
    question = DnsQuestion(0xBEEF, SHORT, TYPES["TXT"])
    message = dns.message.from_wire(question.to_wire())
    assert message.id == 0xBEEF
    assert message.question == dns.message.make_query("x.test", "TXT").question
    assert message.payload == 1232


def test_work_is_linear_in_octets_however_deep_the_names_that_pointers_lead_to() -> None:
    question = DnsQuestion(7, DEEP, TYPES["MX"])
    few, many = (
        steps(partial(read_answer, answer_of(question, *mx(count)), question)) for count in (400, 800)
    )
    assert many < 2.2 * few
    shallow = DnsQuestion(7, SHORT, TYPES["MX"])
    assert many < 1.5 * steps(lambda: read_answer(answer_of(shallow, *mx(800)), shallow))


def test_a_ladder_of_pointers_is_climbed_once() -> None:
    question = DnsQuestion(7, SHORT, TYPES["PTR"])
    base = 12 + len(SHORT) + 4 + 12
    rungs = [
        b"\x01a" + struct.pack("!H", 0xC000 | (base + 16 * (number - 1) if number else 12))
        for number in range(120)
    ]
    records = read_answer(answer_of(question, *rungs), question).records
    assert records[0] == "a.x.test"
    assert records[-1] == "a." * 120 + "x.test"
    few, many = (steps(partial(read_answer, answer_of(question, *rungs[:n]), question)) for n in (60, 120))
    assert many < 2.2 * few


def test_names_beyond_any_use_are_refused_and_records_beyond_it_dropped() -> None:
    question = DnsQuestion(7, SHORT, TYPES["MX"])
    with pytest.raises(DnsGarbage):
        read_answer(answer_of(question, *mx(LABELS_MAX // 126 + 1, DEEP)), question)
    assert len(read_answer(answer_of(question, *mx(RECORDS_MAX + 50)), question).records) == RECORDS_MAX


@pytest.mark.parametrize(
    ("rdtype", "rdata"),
    [
        ("A", b"\x01\x02\x03"),
        ("AAAA", b"\x01" * 15),
        ("MX", b"\x00"),
        ("TXT", b"\x05abc"),
        ("PTR", b"\xc0\xff"),
        ("PTR", b"\x80" + b"a" * 128),
        (
            "PTR",
            b"\x3f" + b"a" * 63 + b"\x3f" + b"b" * 63 + b"\x3f" + b"c" * 63 + b"\x3f" + b"d" * 63 + b"\x00",
        ),
        ("PTR", b"\x02ab"),
        ("PTR", b"\xc0\x24"),  # leads to itself
        ("PTR", b"\x01a\xc0\x24"),  # and in a circle
    ],
)
def test_records_that_break_their_format_are_garbage(rdtype: str, rdata: bytes) -> None:
    question = DnsQuestion(7, SHORT, TYPES[rdtype])
    with pytest.raises(DnsGarbage):
        read_answer(answer_of(question, rdata), question)


def test_a_name_that_does_not_exist_but_has_records_is_garbage() -> None:
    question = DnsQuestion(7, SHORT, TYPES["A"])
    wire = bytearray(answer_of(question, b"\x7f\0\0\1"))
    wire[3] |= 3
    with pytest.raises(DnsGarbage):
        read_answer(bytes(wire), question)


def test_another_owner_and_another_class_are_no_answer() -> None:
    question = DnsQuestion(7, SHORT, TYPES["A"])
    stranger = read_answer(answer_of(question, b"\x7f\0\0\1", owner=b"\x05other\x00"), question)
    chaos = answer_of(question, b"\x7f\0\0\1").replace(
        struct.pack("!2HI", 1, 1, 300), struct.pack("!2HI", 1, 3, 300)
    )
    assert stranger.records == read_answer(chaos, question).records == ()


def test_a_ttl_with_its_highest_bit_set_is_none() -> None:
    question = DnsQuestion(7, SHORT, TYPES["A"])
    wire = answer_of(question, b"\x7f\0\0\1").replace(struct.pack("!I", 300), b"\xff\xff\xff\xff")
    assert read_answer(wire, question).ttl_s == 0  # RFC 2181 §8
