"""Any octets as a submitted header: it is refused, or becomes one that every reader reads alike."""

import re

from hypothesis import given
from hypothesis import strategies as st

from maild.message.parsing.parse import parse
from maild.message.writing.submitted_header import ServerFields, SubmittedHeaderError, edit_header

SERVER = ServerFields("Sun, 22 Nov 2026 12:00:00 +0000", "<token@agents.test>")
NAMES = st.sampled_from(
    [
        "From",
        "to",
        "BCC",
        "Bcc ",
        "Received",
        "Message-ID",
        "X-Any",
        "Date",
        "dkim-signature",
        "Sender",
        "",
        "é",
    ]
)
VALUES = st.text(st.sampled_from('a@b.<>,;:()"\\ \t=?\x00\x0b\u00e9'), max_size=20)
LINE = st.builds(
    lambda name, mark, value: f"{name}{mark}{value}", NAMES, st.sampled_from([":", "", " :"]), VALUES
)
FOLDED = st.builds(lambda blank, value: f"{blank}{value}", st.sampled_from([" ", "\t", ""]), VALUES)
HEADER = st.lists(st.one_of(LINE, FOLDED), max_size=8).map(
    lambda lines: "".join(f"{line}\r\n" for line in lines).encode()
)


@given(
    HEADER | st.binary(max_size=200).map(lambda octets: octets.replace(b"\r", b"").replace(b"\n", b"\r\n"))
)
def test_it_is_refused_or_reads_one_way(section: bytes) -> None:
    if section and not section.endswith(b"\r\n"):
        section += b"\r\n"
    try:
        found = edit_header(section, SERVER)
    except SubmittedHeaderError:
        return
    message = found.octets + b"Bcc: this is the body\r\n"
    parsed = parse(message)
    assert parsed.header_length == len(found.octets) and message.find(b"\r\n\r\n") + 4 == len(found.octets)
    names = [name.lower() for name, _ in parsed.headers.items()]
    assert not {"bcc", "received", "sender", "dkim-signature", "return-path"} & set(names)
    for name in ("from", "to", "date", "message-id"):
        assert names.count(name) <= 1
    assert {"date", "message-id", "auto-submitted"} <= set(names)
    # As many fields as lines that begin one: a reader by lines sees what we see.
    assert len(names) == len(re.findall(rb"(?m)^[^ \t\r\n]", found.octets))
