"""The table of whom an answer goes to (tests/data/reply_recipients.toml), for every door that answers."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).parents[2] / "data" / "reply_recipients.toml"
OWN_ADDRESS = "bot@agents.test"


class ReplyCase(NamedTuple):
    """`mail`: header fields of what is answered; `all`: everybody is; `dropped`: each "reason address".

    `refused`: the code, where nobody is answered; `fault`: the list that would be too long. `sender`: the envelope
    sender. `verified`, `orgs`: what is known of the author's domain; `honors` False: by a key that may only answer.
    """

    name: str
    mail: str
    to: Sequence[str] = ()
    cc: Sequence[str] = ()
    source: str = "from"
    subject: str = "Re: Hi"
    dropped: Sequence[str] = ()
    all: bool = False
    refused: str = ""
    fault: str = ""
    sender: str = "friend@elsewhere.test"
    verified: str | None = None
    orgs: Mapping[str, str] = {}
    honors: bool = True

    @property
    def raw(self) -> bytes:
        return self.mail.strip("\n").replace("\n", "\r\n").encode() + b"\r\n\r\nhello\r\n"


CASES = [ReplyCase(**row) for row in tomllib.loads(TABLE.read_text())["row"]]
