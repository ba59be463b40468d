"""Whatever hosts say, what is kept of it is JSON in UTF-8, bounded, and holds no control but line ends."""

from aiosmtplib.response import SMTPResponse
from hypothesis import given
from hypothesis import strategies as st

from maild.message.delivery_evidence import EVIDENCE_OCTETS_MAX, shown, unpack
from maild.outbound.routing.route import Hop
from maild.outbound.sessions.attempt_record import AttemptRecord, HostRecord

SECRET = "qqqqsecretqqqq"
COMMANDS: dict[str, bytes | str] = {
    "mail": b"MAIL FROM:<b+token.%b@ours.test>" % SECRET.encode(),
    "data": b"DATA",
    "content": "(the message, 899 octets)",
}
words = st.one_of(
    st.text(max_size=50),
    st.binary(max_size=50).map(lambda octets: octets.decode("utf-8", "surrogateescape")),
    st.integers(0, 400).map(lambda count: '"\\' * count),
    st.integers(0, 40).map(lambda count: "line\n" * count),
    st.just("x" * 20_000),
)
replies = st.builds(SMTPResponse, st.integers(200, 599), words)
steps = st.one_of(
    replies,
    st.sampled_from(["dial", "remark", "rcpt", *COMMANDS]),
)


def happen(record: HostRecord, step: object, text: str) -> None:
    match step:
        case SMTPResponse():
            record.hear(step)
        case "dial":
            record.dial()
        case "remark":
            record.remark(text)
        case "rcpt":
            record.say_recipient(b"RCPT TO:<you@there.test>")
        case _:
            record.say(COMMANDS[str(step)])


@given(
    st.lists(st.tuples(words, st.lists(steps, max_size=60), words), max_size=8), st.lists(words, max_size=12)
)
def test_what_is_kept_is_bounded_json(
    hosts: list[tuple[str, list[object], str]], passed_over: list[str]
) -> None:
    attempt = AttemptRecord(lambda: 0.0, (SECRET,))
    for host in passed_over:
        attempt.pass_over(host, host)
    for name, said, text in hosts:
        record = attempt.host(Hop(name, "192.0.2.1", 25))
        for step in said:
            happen(record, step, text)
        record.fault = text
        attempt.keep(record)
    packed = attempt.packed()
    assert len(packed.encode()) <= EVIDENCE_OCTETS_MAX
    assert SECRET not in packed
    evidence = unpack(packed)
    assert len(evidence.hosts) + evidence.hosts_left_out == len(hosts)
    for one in shown(evidence, "you@there.test")["hosts"]:
        for line in one["dialogue"]:
            assert line == "" or line.startswith(("C: ", "S: ", "* "))
            assert line.splitlines() in ([], [line])
