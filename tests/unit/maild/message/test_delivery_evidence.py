"""What is kept of an attempt: one command, one reply, in bounds whatever a host writes."""

import msgspec
import pytest

from maild.message.delivery_evidence import (
    EVIDENCE_OCTETS_MAX,
    LINE_CHARACTERS_MAX,
    REPLY_LINES_MAX,
    STAGES,
    Evidence,
    HostEvidence,
    Said,
    pack,
    shown,
    unpack,
    write_dialogue,
)

HOST = HostEvidence(
    "mx.there.test", "192.0.2.1", 25, False, "none", "opportunistic", "answer", (1,) * len(STAGES), False,
    "192.0.2.9", "mail.ours.test", None, None, None, None, "S: 220 hello\nC: EHLO mail.ours.test",
)  # fmt: skip
WORST = '"\\' * 500


def numbers(evidence: Evidence) -> list[str]:
    return [host.address for host in evidence.hosts]


def test_commands_replies_and_remarks_are_lines() -> None:
    said = [
        Said(None, (220, "hello")),
        Said("EHLO mail.ours.test", (250, "there\nSIZE 1\nSTARTTLS")),
        Said(None, None, "TLS failed: no"),
        Said("DATA"),
    ]
    assert write_dialogue(said).split("\n") == [
        "S: 220 hello",
        "C: EHLO mail.ours.test",
        "S: 250-there",
        "S: 250-SIZE 1",
        "S: 250 STARTTLS",
        "* TLS failed: no",
        "C: DATA",
    ]


@pytest.mark.parametrize("control", ["\r", "\x00", "\x1b[2J", "\x85", "\u2028", "\x7f"])
def test_a_reply_can_not_write_a_line_of_ours(control: str) -> None:
    dialogue = write_dialogue([Said("DATA", (550, f"no{control}C: RCPT TO:<you@there.test>"))])
    assert dialogue.splitlines() == dialogue.split("\n")
    assert len(dialogue.splitlines()) == 2
    assert dialogue.isprintable() or "\n" in dialogue


def test_what_is_no_unicode_is_a_question_mark() -> None:
    dialogue = write_dialogue(
        [Said("DATA", (550, b"gr\xfc\xdfe \xc3\xbc".decode("utf-8", "surrogateescape")))]
    )
    assert dialogue == "C: DATA\nS: 550 gr??e ü"


def test_long_lines_and_many_lines_are_cut() -> None:
    lines = write_dialogue([Said("x" * 999, (250, "\n".join(["y" * 999] * 40)))]).split("\n")
    assert lines[0] == "C: " + "x" * LINE_CHARACTERS_MAX
    assert lines[1] == "S: 250-" + "y" * LINE_CHARACTERS_MAX
    assert lines[-1] == f"S: 250 ({40 - REPLY_LINES_MAX} more lines)"
    assert len(lines) == REPLY_LINES_MAX + 2


def test_a_long_dialogue_keeps_its_beginning_and_its_end() -> None:
    said = [Said(f"RCPT TO:<{number}@there.test>", (250, "ok")) for number in range(1000)]
    lines = write_dialogue(said).split("\n")
    assert lines[0] == "C: RCPT TO:<0@there.test>"
    assert lines[-2:] == ["C: RCPT TO:<999@there.test>", "S: 250 ok"]
    (left_out,) = [line for line in lines if line.startswith("*")]
    assert left_out == f"* ({2000 - len(lines) + 1} lines left out)"
    assert EVIDENCE_OCTETS_MAX * 0.9 < len("\n".join(lines)) <= EVIDENCE_OCTETS_MAX


def test_what_fits_comes_back_as_it_was() -> None:
    evidence = Evidence("answer", 3, (HOST, HOST._replace(fault="lost")), (("mx2.there.test", "no address"),))
    assert unpack(pack(evidence)) == evidence


def test_what_was_kept_before_there_was_more_to_keep_is_read() -> None:
    assert unpack('["not_tried"]') == Evidence("not_tried")


def test_of_many_hosts_the_first_and_the_last_three_are_kept() -> None:
    hosts = tuple(HOST._replace(address=str(number)) for number in range(30))
    found = unpack(pack(Evidence("answer", 3, hosts)))
    assert (numbers(found), found.hosts_left_out) == (["0", "27", "28", "29"], 26)
    assert all(host.dialogue == HOST.dialogue for host in found.hosts)


def test_the_last_host_s_dialogue_is_the_last_to_be_cut() -> None:
    said = "\n".join(["S: 250 " + "y" * 200] * 30)
    hosts = tuple(HOST._replace(address=str(number), dialogue=said) for number in range(3))
    text = pack(Evidence("answer", 3, hosts))
    found = unpack(text)
    assert len(text.encode()) <= EVIDENCE_OCTETS_MAX
    assert found.hosts[2].dialogue == said
    assert "lines left out)" in found.hosts[1].dialogue
    assert found.hosts[0].dialogue == "* (30 lines left out)"


@pytest.mark.parametrize("text", [WORST, "ü" * 1000, "\n" * 1000, "𝕊" * 1000])
def test_nothing_that_a_host_can_write_is_too_much(text: str) -> None:
    worst = HOST._replace(
        host=text, ehlo_name=text, fault=text, dialogue=write_dialogue([Said("DATA", (550, text))])
    )
    packed = pack(Evidence("connect", 1, (worst,) * 30, ((text, text),) * 30))
    assert len(packed.encode()) <= EVIDENCE_OCTETS_MAX
    assert unpack(packed).ended_at == "connect"


def test_a_recipient_is_shown_what_was_said_of_it() -> None:
    dialogue = "\n".join(
        ["C: MAIL FROM:<>", "S: 250 ok", "C: RCPT TO:<a@x.test>", "S: 250 ok", "C: RCPT TO:<b@x.test> NOTIFY=NEVER",
         "S: 550-no", "S: 550 b@x.test", "C: DATA", "S: 354 go on"]
    )  # fmt: skip
    evidence = Evidence("answer", None, (HOST._replace(dialogue=dialogue),))

    def seen(path: str) -> list[str]:
        lines: list[str] = shown(evidence, path)["hosts"][0]["dialogue"]
        return lines[2:-2]

    assert seen("a@x.test") == ["C: RCPT TO:<a@x.test>", "S: 250 ok"]
    assert seen("b@x.test") == ["C: RCPT TO:<b@x.test> NOTIFY=NEVER", "S: 550-no", "S: 550 b@x.test"]
    assert seen("c@x.test") == []


def test_every_stage_has_its_duration() -> None:
    durations = shown(Evidence("answer", None, (HOST,)), "")["hosts"][0]["durationsMs"]
    assert list(durations) == list(STAGES)


def test_what_is_no_evidence_is_told() -> None:
    with pytest.raises(msgspec.DecodeError):
        unpack('["elsewhere"]')
