"""What leaves the daemon, read by programs that we did not write: it says exactly what the API was given.

Each mail goes to a real Postfix (by MX, DKIM-signed) and to a sink that keeps the octets as they came. dkimpy, opendkim
and mailauth verify the signatures; Python's `email`, postal-mime and mailparser read the mail back; SpamAssassin and
rspamd, which know what broken mailers write, have nothing against its form.
"""

import asyncio
import base64
import hashlib
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import dkim
import pytest

from tests.support.daemon import Daemon
from tests.support.machine import node, tools
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.mx import Mx
from tests.support.peers.postfix import Postfix
from tests.support.peers.rspamd import RULES, rspamd, symbols
from tests.support.waiting import GIVES_UP_S

pytestmark = pytest.mark.interop

STRANGERS = Path(__file__).parent / "strangers"
THERE, SINK, SINK_ADDRESS = "there.test", "sink.test", "127.0.0.2"
LINE_OCTETS_MAX = 998  # RFC 5322 §2.1.1
RANDOM = random.Random(5322)
PNG = b"\x89PNG\r\n\x1a\n" + RANDOM.randbytes(3_000)
ARABIC = "مرحبا بالعالم، هذه رسالة قصيرة"
HEBREW = "שלום עולם, זו הודעה קצרה"
CHINESE = "您好，世界：这是一封测试邮件"
JAPANESE = "こんにちは世界。これはテストです"
KOREAN = "안녕하세요, 시험 메일입니다"
EMOJI = "👋🏽 👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 ✅"


@dataclass(frozen=True)
class File:
    filename: str
    content_type: str
    content: bytes

    @property
    def seen(self) -> dict[str, str]:
        """As it must be read back."""
        digest = hashlib.sha256(self.content).hexdigest()
        return {"filename": self.filename, "contentType": self.content_type, "sha256": digest}

    @property
    def given(self) -> dict[str, str]:
        content = base64.b64encode(self.content).decode()
        return {"filename": self.filename, "contentType": self.content_type, "content": content}


@dataclass(frozen=True)
class Mail:
    subject: str
    text: str | None = None
    html: str | None = None
    name: str = "Bot"
    files: tuple[File, ...] = ()
    to: tuple[str, ...] = ()
    is_seven_bit: bool = True
    headers: Mapping[str, str] = field(default_factory=dict)
    unsubscribe: bool = False


def in_script(words: str) -> Mail:
    """The same words in every place that takes words."""
    return Mail(
        words,
        "\n".join([words, "", words * 40]),
        f'<p dir="auto">{words}</p>\n<div>{words * 40}</div>',
        name=words,
        files=(File(f"{words[:30]}.pdf".replace("،", ""), "application/pdf", PNG),),
    )


MAILS = {
    "plain": Mail("Invoice 4711", "Please pay.\n\nThe bot\n"),
    "html": Mail("Invoice 4711", "Please pay.", "<p>Please <b>pay</b>.</p>"),
    "file": Mail("Invoice 4711", "It is attached.", files=(File("invoice.png", "image/png", PNG),)),
    "no body": Mail("Nothing to say", ""),
    "no subject": Mail(""),
    "arabic": in_script(ARABIC),
    "hebrew": in_script(HEBREW),
    "chinese": in_script(CHINESE),
    "japanese": in_script(JAPANESE),
    "korean": in_script(KOREAN),
    "emoji": in_script(EMOJI),
    "mixed": in_script(f"Grüße, {HEBREW} und {JAPANESE} {EMOJI} (100 %)"),
    "subject of words": Mail(("lorem ipsum " * 42)[:499] + "!", "x"),
    "subject of one word": Mail("x" * 500, "x"),
    "subject of 500 letters": Mail((CHINESE * 40)[:500], "x"),
    "subject that looks encoded": Mail("=?utf-8?q?no=20word?= =?us-ascii?b?bm8=?=  two  blanks ?=", "x"),
    "name with specials": Mail("x", "x", name='Bot, "the" (real) <bot@bank.test>; \\ @ :'),
    "name with an apostrophe": Mail("x", "x", name="O’Brien-D'Arcy, Jr."),
    "lines": Mail(
        "Lines",
        ".\n..\n.leading\n...\nFrom me\n>From you\n From\nFrom\n"
        + "x" * 5_000
        + "\n"
        + CHINESE * 300
        + "\ntrailing blanks  \n\ttab\t\n=3D= =\n-- \nsignature\n\n.\nQUIT\n--=_boundary\n.",
        "<p>\n.\n..\nFrom me\n" + "y" * 5_000 + "\n</p>\n.\n",
    ),
    "line ends": Mail("Line ends", "one\r\ntwo\rthree\nfour\r\n.\r\nMAIL FROM:<x@x.test>\r\n"),
    "twenty files": Mail(
        "Twenty",
        "Count them.",
        files=tuple(
            File(f"page {number}.bin", "application/octet-stream", RANDOM.randbytes(number * 100))
            for number in range(20)
        ),
    ),
    "names of files": Mail(
        "Names",
        "x",
        files=(
            File("Überweisung März.pdf", "application/pdf", b"%PDF-1"),
            File("请求书 2026年.xlsx", "application/vnd.ms-excel", PNG),
            File("فاتورة.txt", "text/plain", "سلام\n".encode()),
            File("😀.gif", "image/gif", b"GIF89a"),
            File('it\'s 100% "sure"; x=y, (z).csv', "text/csv", b"a,b\r\n1,2\n3\r"),
            File("a" * 180 + ".txt", "text/plain", b".\r\n.\r\nFrom x\r\n"),
            File("ü" * 118 + ".txt", "text/plain", b""),
            File("noextension", "application/octet-stream", bytes(range(256))),
            File("same.txt", "text/plain", b"1"),
            File("same.txt", "text/plain", b"2"),
        ),
    ),
    "fifteen megabytes": Mail(
        "Large",
        "Both are large.",
        files=tuple(
            File(f"{part}.zip", "application/zip", RANDOM.randbytes(149 * (1 << 20) // 20)) for part in "ab"
        ),
    ),
    "headers of one's own": Mail(
        "News",
        "News.",
        headers={
            "X-Campaign": "autumn 2026",
            "X-Words": f"Grüße, {CHINESE} {EMOJI}",
            "X-Long": "word " * 300 + "end",
            "X-Blanks": "two  blanks,   three",
            "Precedence": "bulk",
            "List-Id": "News <news.bot.test>",
        },
        unsubscribe=True,
    ),
    "names of ascii": Mail("two  blanks and " + "x" * 150, "x", name="Ada (Sales), " * 7 + "Ada"),
    "answers elsewhere": Mail(
        "x", "x", headers={"Reply-To": 'Jürgen <j@ours.test>, "数, Ltd" <k@bücher.test>'}
    ),
    "text files": Mail(
        "Texts",
        "x",
        files=(
            File('größe; "neu".csv', "text/csv", "größe;1\n".encode()),
            File("a.txt", "text/plain", "سلام\r\n".encode()),
        ),
    ),
    "smtputf8": Mail("Grüße", "Grüße", to=(f"grüße@{SINK}", f"grüße@{THERE}"), is_seven_bit=False),
}
ORDINARY = ("plain", "html", "file", "twenty files")
FORM_RULES = re.compile(
    r"EXCESS|EMPTY|BROKEN|MISSING|UNPARS|INVALID|ENCODING|DATE|MULTIPLE|_ILLEGAL|MID_(?!RHS_MATCH)|NO_SPACE"
)
# rspamd 3.12 (Debian 13) says it of whatever no mail program wrote, and gives it the weight 0.
WEIGHTLESS = {"MISSING_XM_UA"}
EXCUSED = {
    "subject of one word": {"SUBJ_EXCESS_QP"},  # longer than a line should be by far
    "subject that looks encoded": {"SUBJ_EXCESS_QP", "SUBJ_EXCESS_BASE64"},  # it has to be
    "smtputf8": {"INVALID_RCPT_8BIT", "TO_NEEDS_ENCODING", "RCVD_ILLEGAL_CHARS"},  # RFC 6532
}
BODY_RULES = re.compile(
    r"MIME|BASE64|MISSING|INVALID|HEADER|MSGID|DATE|ENCODED|CHARSET|EMPTY|MALFORMED|UNPARSE"
)


@dataclass
class Wire:
    """Every mail as the sink and as Postfix got it, and the record that verifies it."""

    folder: Path
    mails: dict[str, Mail] = field(default_factory=lambda: dict(MAILS))
    at_sink: dict[str, bytes] = field(default_factory=dict)
    at_postfix: dict[str, bytes] = field(default_factory=dict)
    shown: dict[str, Any] = field(default_factory=dict)
    record: tuple[str, str] = ("", "")


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Wire:
    if lacking := tools.lacking("postfix", root=True):
        pytest.skip("; ".join(lacking))
    return asyncio.run(sent(Wire(tmp_path_factory.mktemp("wire"))))


async def sent(wire: Wire) -> Wire:
    async with (
        asyncio.timeout(GIVES_UP_S),
        DnsServer() as dns,
        Postfix(THERE) as postfix,
        Mx(extensions=["PIPELINING", "8BITMIME", "SMTPUTF8", "SIZE 41943040"]) as sink,
        Daemon(wire.folder, dns_port=dns.port, outbound_port=postfix.port) as daemon,
    ):
        await sink.start(SINK_ADDRESS, postfix.port)
        dns.add_mx(THERE, "127.0.0.1")
        dns.add_mx(SINK, SINK_ADDRESS)
        wire.record = daemon.dkim_record()
        for number, mail in enumerate(wire.mails.values()):
            await post(daemon, number, mail)
        await postfix.until_stored(len(wire.mails), 60)
        await sink.until("dot", len(wire.mails))
        for listed in await daemon.api.get("/v1/messages", direction="outbound", limit="100"):
            shown = await daemon.api.until(
                f"/v1/messages/{listed['id']}", lambda one: one["status"] == "delivered"
            )
            wire.shown[case_of(shown["fromAddress"])] = shown
        wire.at_sink = {case_of(raw_from(one.raw)): one.raw for one in sink.received}
        wire.at_postfix = {case_of(raw_from(raw)): raw for raw in await postfix.mail(len(wire.mails))}
    return wire


async def post(daemon: Daemon, number: int, mail: Mail) -> None:
    """From an inbox of its own, whose address tells the mail when it arrives."""
    inbox = await daemon.api.post("/v1/inboxes", username=f"bot-{number}", name=mail.name)
    body = {"subject": mail.subject, "text": mail.text, "html": mail.html}
    await daemon.api.post(
        "/v1/messages/send",
        inboxId=inbox["id"],
        to=mail.to or [f"a@{SINK}", f"a@{THERE}"],
        attachments=[one.given for one in mail.files],
        headers=dict(mail.headers),
        unsubscribe=mail.unsubscribe,
        **{name: value for name, value in body.items() if value},
    )


def raw_from(raw: bytes) -> str:
    found = re.search(rb"bot-\d+@", re.search(rb"(?m)^From:.*(\r?\n[ \t].*)*", raw)[0])  # type: ignore[index]
    assert found is not None
    return found[0].decode()


def case_of(address: str) -> str:
    return list(MAILS)[int(address.partition("@")[0].removeprefix("bot-"))]


def expected(mail: Mail) -> dict[str, Any]:
    return {
        "subject": mail.subject or "(no subject)",
        "name": mail.name,
        "text": lines_of(mail.text),
        "html": lines_of(mail.html),
        "attachments": [one.seen for one in mail.files],
    }


def lines_of(text: str | None) -> list[str]:
    """Line ends, and how many there are at the end, are the transport's business."""
    return (text or "").replace("\r\n", "\n").replace("\r", "\n").rstrip("\n").split("\n")


@pytest.mark.parametrize("case", MAILS)
def test_the_octets_keep_to_the_rules(wire: Wire, case: str) -> None:
    raw = wire.at_sink[case]
    assert raw.count(b"\n") == raw.count(b"\r\n") == raw.count(b"\r")
    assert max(map(len, raw.split(b"\r\n"))) <= LINE_OCTETS_MAX
    assert b"\0" not in raw
    head, _, body = raw.partition(b"\r\n\r\n")
    assert body.isascii()
    assert head.isascii() or not MAILS[case].is_seven_bit
    names = [line.partition(b":")[0].lower() for line in head.split(b"\r\n") if line[:1] not in b" \t"]
    for once in (b"from", b"to", b"subject", b"date", b"message-id", b"mime-version", b"dkim-signature"):
        assert names.count(once) == 1
    assert b"bcc" not in names


def test_headers_of_ones_own_arrive_as_they_were_given(wire: Wire) -> None:
    case = "headers of one's own"
    links = set()
    for raw in (wire.at_sink[case], wire.at_postfix[case]):
        found = message_from_bytes(raw, EmailMessage, policy=policy.default)
        assert {name: str(found[name]) for name in MAILS[case].headers} == MAILS[case].headers
        assert found["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        links.add(str(found["List-Unsubscribe"]))
    assert len(links) == 2  # each recipient has one of its own


@pytest.mark.parametrize("case", MAILS)
def test_python_reads_what_was_given_and_finds_no_defect(wire: Wire, case: str) -> None:
    for raw in (wire.at_sink[case], wire.at_postfix[case]):
        mail = message_from_bytes(raw, EmailMessage, policy=policy.default.clone(raise_on_defect=True))
        found: dict[str, Any] = {}
        attachments = []
        for part in mail.walk():
            if MAILS[case].is_seven_bit:  # it has no reading of RFC 6532
                assert not found_wrong(part)
            if part.is_attachment():
                content = part.get_payload(decode=True)
                assert isinstance(content, bytes)
                digest = hashlib.sha256(content).hexdigest()
                attachments.append(
                    {
                        "filename": part.get_filename(),
                        "contentType": part.get_content_type(),
                        "sha256": digest,
                    }
                )
            elif part.get_content_maintype() == "text":
                found[part.get_content_subtype()] = part.get_content()
        given, mail_name = MAILS[case], mail["From"].addresses[0].display_name
        assert {
            "subject": mail["Subject"],
            # It may put a blank between two encoded words of a name (python/cpython#128110).
            "name": mail_name if "".join(mail_name.split()) != "".join(given.name.split()) else given.name,
            "text": lines_of(found.get("plain")),
            "html": lines_of(found.get("html")),
            "attachments": attachments,
        } == expected(MAILS[case])


def found_wrong(part: EmailMessage) -> list[str]:
    return [repr(one) for one in (*part.defects, *(one for value in part.values() for one in value.defects))]


def test_answers_go_where_reply_to_says(wire: Wire) -> None:
    for raw in (wire.at_sink["answers elsewhere"], wire.at_postfix["answers elsewhere"]):
        mailboxes = message_from_bytes(raw, EmailMessage, policy=policy.default)["Reply-To"].addresses
        assert [(one.display_name, one.addr_spec) for one in mailboxes] == [
            ("Jürgen", "j@ours.test"),
            ("数, Ltd", "k@xn--bcher-kva.test"),
        ]


def test_text_files_are_read_in_their_charset(wire: Wire) -> None:
    mail = message_from_bytes(wire.at_postfix["text files"], EmailMessage, policy=policy.default)
    read = [part.get_content() for part in mail.iter_attachments()]
    assert [one.encode() for one in read] == [one.content for one in MAILS["text files"].files]


@pytest.mark.parametrize("case", MAILS)
def test_the_api_shows_what_it_was_given(wire: Wire, case: str) -> None:
    shown = wire.shown[case]
    assert shown["subject"] == expected(MAILS[case])["subject"]
    assert lines_of(shown["textBody"]) == lines_of(MAILS[case].text)
    assert lines_of(shown["htmlBody"]) == lines_of(MAILS[case].html)
    assert [one["filename"] for one in shown["attachments"]] == [one.filename for one in MAILS[case].files]


@tools.needs("node", "npm")
async def test_node_s_parsers_read_what_was_given_and_mailauth_verifies(wire: Wire, tmp_path: Path) -> None:
    files = written(wire.at_postfix, tmp_path)
    name, value = wire.record
    question = {"files": files, "record": {"name": name, "value": value}}
    seen = await node.run_json(STRANGERS, "read_mail.js", question, tmp_path)
    for case, mail in MAILS.items():
        assert seen[case]["dkim"] == "pass", case
        for program in ("postal-mime", "mailparser"):
            read = seen[case][program]
            sender, address = read["from"]
            assert case_of(address) == case
            assert read["to"] == list(mail.to) or read["to"] == [f"a@{SINK}", f"a@{THERE}"]
            assert {
                "subject": read["subject"],
                "name": sender,
                "text": lines_of(read["text"]),
                "html": lines_of(read["html"]),
                "attachments": read["attachments"],
            } == expected(mail), f"{program}: {case}"


@pytest.mark.parametrize("case", MAILS)
def test_dkimpy_verifies_each_copy(wire: Wire, case: str) -> None:
    name, value = wire.record
    for raw in (wire.at_sink[case], wire.at_postfix[case]):
        assert dkim.verify(
            raw, dnsfunc=lambda asked, timeout=5: value.encode() if asked.decode() == f"{name}." else None
        )


@tools.needs("opendkim")
async def test_opendkim_verifies_each_copy(wire: Wire, tmp_path: Path) -> None:
    name, value = wire.record
    (tmp_path / "keys").write_text(f"{name} {value}\n")
    (tmp_path / "opendkim.conf").write_text(f"Mode v\nSyslog no\nTestDNSData file:{tmp_path}/keys\n")
    for copies in (wire.at_sink, wire.at_postfix):
        files = written(copies, tmp_path)
        said = await tools.run(
            tools.path_of("opendkim"),
            "-vv",
            "-x",
            "opendkim.conf",
            "-t",
            ",".join(files.values()),
            folder=tmp_path,
        )
        assert said.count("dkim=pass") == len(MAILS), said
        assert "dkim=fail" not in said


@tools.needs("spamassassin")
async def test_spamassassin_has_nothing_against_ordinary_mail(wire: Wire, tmp_path: Path) -> None:
    """Local tests alone (`-L`); what its rules hold against form counts, not who the sender is."""
    files = written({case: wire.at_postfix[case] for case in ORDINARY}, tmp_path)
    said = await asyncio.gather(
        *(
            tools.run("env", f"HOME={tmp_path}", "spamassassin", "-L", "-t", "-x", file, folder=tmp_path)
            for file in files.values()
        )
    )
    for case, report in zip(files, said, strict=True):
        status = re.search(r"X-Spam-Status: (\w+), score=(-?[\d.]+).*?tests=((?:.|\n\s)*?) autolearn", report)
        assert status is not None, report
        assert float(status[2]) < 1, f"{case}: {status[3]}"
        assert not BODY_RULES.search(status[3]), f"{case}: {status[3]}"


@tools.needs("rspamd", root=True)
async def test_rspamd_has_nothing_against_the_form_of_mail(wire: Wire) -> None:
    async with asyncio.timeout(GIVES_UP_S), rspamd(RULES) as port:
        found = {case: await symbols(port, raw) for case, raw in wire.at_postfix.items()}
    held = {
        case: against - EXCUSED.get(case, set())
        for case, names in found.items()
        if (against := {one for one in names - WEIGHTLESS if FORM_RULES.search(one)})
    }
    assert {case: against for case, against in held.items() if against} == {}
    assert all("MIME_TRACE" in names for names in found.values())  # its rules did run


def written(mails: dict[str, bytes], folder: Path) -> dict[str, str]:
    """As files whose names have no comma and no blank."""
    files = {case: folder / f"{case.replace(' ', '-')}.eml" for case in mails}
    for case, path in files.items():
        path.write_bytes(mails[case])
    return {case: str(path) for case, path in files.items()}
