"""What strangers do over SMTP."""

import asyncio
import gzip
import random
import ssl
from contextlib import suppress

from tests.support.hostile import Target, signed
from tests.support.hostile.wire import begin, connection, drip, mail, reply, say, session
from tests.support.peers import domain_reports

LONG_SPF_DOMAINS = tuple(f"spf{number}.test" for number in range(10))  # each with records of many kilobytes

KIB, MIB = 1024, 1024 * 1024
LINE = b"y" * 70 + b"\r\n"
CROWD_MAILS = 50
SLOW_SESSIONS, SLOW_ADDRESSES, SLOW_S = 1000, 25, 40
_UNKNOWN_CHARSETS = b",\r\n ".join(b"=?x?b?gA?= =?y?b?gA?= <a%d@x.test>" % n for n in range(2800))
_SIGNED = signed.message(*signed.signatures(8))
_SIGNED_OFTEN = signed.message(
    *signed.signatures(20, b":".join([b"from"] * 1000)), (b"X: " + b"y" * 900 + b"\r\n") * 150
)
_NAMES = b",\r\n ".join(b"=?z?b?gA?= =?w?b?gQ?= <n%d@x.test>" % n for n in range(900))
_RESULTS = {
    b"Authentication-Results: x.test; none\r\n": 3000,
    b"Authentication-Results: " + b"(" * 900 + b"\r\n": 120,
}
_MARKUP = (b"&" * 100_000, b"<a " + b"x=y " * 25_000 + b">")
_HEAD, _TAIL = domain_reports.dmarc_xml(rows=()).split(b"</feedback>")
_REPORTS = [
    gzip.compress(_HEAD + piece * (10_000_000 // len(piece)) + b"</feedback>" + _TAIL)
    for piece in (b"<a/>", b"&amp;", b"<a><b></b></a>", b"<!-- -->")
] + [gzip.compress(bytes(100 * MIB))]


def lines(size_bytes: int) -> bytes:
    return LINE * (size_bytes // len(LINE))


async def mail_that_went_in_circles(target: Target) -> None:
    raw = b"Received: from a by b; Sat, 21 Nov 2026 10:00:00 +0000\r\n" * 51 + b"\r\n" + lines(MIB)
    assert (await mail(target, 1, [f"postmaster@{target.addresses[0].partition('@')[2]}"], raw))[:1] in b"45"


async def mail_of_unknown_charsets(target: Target) -> None:
    await mail(target, 2, target.addresses[:1], b"Cc: " + _UNKNOWN_CHARSETS + b"\r\n\r\nx")


async def mail_of_many_names(target: Target) -> None:
    """Into one conversation, each time with others in it."""
    others = _NAMES.replace(b"<n", b"<r%d-" % random.randrange(1 << 30))
    fields = b"".join(name + b": " + others + b"\r\n" for name in (b"To", b"Cc", b"Reply-To"))
    await mail(target, 3, target.addresses[:1], b"References: <long@thread>\r\n" + fields + b"\r\nx")


async def mail_of_undeclared_parts(target: Target) -> None:
    part = b"--b\r\nContent-Type: text/plain\r\n\r\n" + bytes(range(128, 228)) + b"\r\n"
    await mail(
        target, 4, target.addresses[:1], b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + part * 900
    )


async def mail_of_many_parts_to_many(target: Target) -> None:
    part = b"--b\r\nContent-Type: application/x-y; name=f\r\n\r\nx\r\n"
    await mail(target, 5, target.addresses, b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + part * 990)


async def mail_of_nested_parts(target: Target) -> None:
    outer = b"".join(
        b'Content-Type: multipart/mixed; boundary="%s"\r\n\r\n--%s\r\n' % (b"n" * n, b"n" * n)
        for n in range(1, 100)
    )
    await mail(target, 6, target.addresses[:1], outer + b"\r\n--n not a delimiter\r\n" * 40_000)


async def reports_that_expand(target: Target) -> None:
    """About a domain: small in the mail, 10 MB of XML and more."""
    name = domain_reports.name_for(b"<")
    for number, packed in enumerate(_REPORTS):
        await mail(target, 13 + number, target.addresses[:1], domain_reports.mail(packed, name))


async def subjects_and_answers_to_them(target: Target) -> None:
    """Many conversations of one subject, and answers that could belong to any."""
    async with session(target, 7) as streams:
        for prefix in (b"", b"", b"Re: "):
            sender = f"m{random.randrange(1 << 30)}@there.test"
            await begin(streams, target.addresses[1:2], sender)
            streams[1].write(b"From: %s\r\nSubject: %sx\r\n\r\nx" % (sender.encode(), prefix))
            await say(*streams, b"\r\n.")


async def mail_of_large_keys(target: Target) -> None:
    sent = (mail(target, 13, target.addresses[:1], _SIGNED) for _ in range(20))
    await asyncio.gather(*sent, return_exceptions=True)


async def mail_of_many_signatures(target: Target) -> None:
    sent = (mail(target, 14, target.addresses[:1], _SIGNED_OFTEN) for _ in range(10))
    await asyncio.gather(*sent, return_exceptions=True)


async def mail_whose_dns_hangs(target: Target) -> None:
    """Each from a domain of its own."""

    async def one() -> None:
        domain = f"d{random.randrange(1 << 30)}.hangs.test"
        async with session(target, 15) as streams:
            await begin(streams, target.addresses[:1], f"m@{domain}")
            streams[1].write(b"From: m@%s\r\n\r\nx" % domain.encode())
            await say(*streams, b"\r\n.")

    await asyncio.gather(*(one() for _ in range(30)), return_exceptions=True)


async def crowd_from_four_addresses(target: Target) -> None:
    await _crowd(target, addresses=4, sessions=20)


async def crowd_from_sixteen_addresses(target: Target) -> None:
    await _crowd(target, addresses=16, sessions=5)


async def _crowd(target: Target, addresses: int, sessions: int) -> None:
    """Ordinary mail, each on a connection of its own, from so many sessions of each address at once."""

    async def one(stranger: int) -> None:
        for _ in range(CROWD_MAILS):
            await mail(target, stranger, target.addresses[:1], b"Subject: hi\r\n\r\nhello")

    await asyncio.gather(*(one(100 + number % addresses) for number in range(addresses * sessions)))


async def thousand_slow_sessions(target: Target) -> None:
    """An octet a second, of a command or of a message, from as many sessions as the daemon has places for."""

    async def one(number: int) -> None:
        source = f"127.0.4.{number % SLOW_ADDRESSES + 1}"
        async with connection(target.smtp_port, source) as streams:
            await reply(streams[0])
            await say(*streams, b"EHLO there.test")
            if number % 2:
                await begin(streams, target.addresses[:1])
            await drip(streams[1], b"M", SLOW_S)

    await asyncio.gather(*(one(number) for number in range(SLOW_SESSIONS)), return_exceptions=True)


async def mail_of_many_results(target: Target) -> None:
    """Of others, as a host that checks mail writes them."""
    sent = (
        mail(target, 16, target.addresses[:1], field * count + b"\r\nx") for field, count in _RESULTS.items()
    )
    await asyncio.gather(*sent, *(mail(target, 17, target.addresses[:1], _html(one)) for one in _MARKUP))


async def mail_with_long_spf(target: Target) -> None:
    """Records that include ten others, all of them long."""

    async def one(domain: str) -> None:
        async with session(target, 18) as streams:
            await begin(streams, target.addresses[:1], f"m@{domain}")
            streams[1].write(b"From: m@%s\r\n\r\nx" % domain.encode())
            await say(*streams, b"\r\n.")

    await asyncio.gather(*(one(domain) for domain in LONG_SPF_DOMAINS), return_exceptions=True)


async def handshakes_at_once(target: Target) -> None:
    ready = asyncio.Barrier(40)

    async def one() -> None:
        async with session(target, 19) as (reader, writer):
            await say(reader, writer, b"STARTTLS")
            hello = _client_hello()
            await ready.wait()
            writer.write(hello)
            await reader.read(1)

    await asyncio.gather(*(one() for _ in range(40)), return_exceptions=True)


async def records_of_one_octet(target: Target) -> None:
    async def one() -> None:
        async with session(target, 20) as (reader, writer):
            await say(reader, writer, b"STARTTLS")
            await writer.start_tls(_trusting())
            writer.writelines([*[b"x"] * 20_000, b"\r\n"])
            await writer.drain()
            await reader.read(1)

    await asyncio.gather(*(one() for _ in range(10)), return_exceptions=True)


def _html(body: bytes) -> bytes:
    return b"Content-Type: text/html\r\n\r\n" + body


def _trusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _client_hello() -> bytes:
    said = ssl.MemoryBIO()
    with suppress(ssl.SSLWantReadError):
        _trusting().wrap_bio(ssl.MemoryBIO(), said).do_handshake()
    return said.read()


async def large_mails_at_once(target: Target) -> None:
    raw = lines(12 * MIB)
    await asyncio.gather(*(mail(target, 8, target.addresses[:1], raw) for _ in range(5)))
    await asyncio.sleep(2)


async def slow_uploads(target: Target) -> None:
    async def one() -> None:
        async with session(target, 9) as streams:
            await begin(streams, target.addresses[:1])
            streams[1].write(lines(3 * MIB))
            await drip(streams[1], LINE * 9, 12)

    await asyncio.gather(*(one() for _ in range(12)), return_exceptions=True)


async def silent_sessions(target: Target) -> None:
    async def one(number: int) -> None:
        async with connection(target.smtp_port, f"127.0.3.{number % 4 + 1}"):
            await asyncio.sleep(8)

    await asyncio.gather(*(one(number) for number in range(60)), return_exceptions=True)


async def half_a_tls_handshake(target: Target) -> None:
    async with session(target, 10) as (reader, writer):
        await say(reader, writer, b"STARTTLS")
        writer.write(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + random.randbytes(100))
        await asyncio.sleep(2)


async def session_that_reads_nothing(target: Target) -> None:
    async with connection(target.smtp_port, "127.0.2.11") as (_, writer):
        writer.write(b"EHLO x\r\nMAIL FROM:<a@b.test>\r\n" + b"RCPT TO:<nobody@nowhere.test>\r\n" * 5000)
        await asyncio.sleep(5)


async def words_that_make_no_sense(target: Target) -> None:
    odd = (
        "MAIL FROM:<a@b.test> SIZE=²".encode(),
        b"MAIL FROM:<" + b"a" * 3000 + b"@b.test>",
        b"\x00\xff\x80",
        b"RCPT TO:<@@@>",
        b"DATA DATA",
        b"HELP " + b"x" * 9000,
        random.randbytes(60).replace(b"\n", b""),
    )
    async with connection(target.smtp_port, "127.0.2.12") as (reader, writer):
        await reply(reader)
        for line in odd:
            await say(reader, writer, line)


ATTACKS = (
    mail_that_went_in_circles,
    mail_of_unknown_charsets,
    mail_of_many_names,
    mail_of_undeclared_parts,
    mail_of_many_parts_to_many,
    mail_of_nested_parts,
    reports_that_expand,
    subjects_and_answers_to_them,
    mail_of_large_keys,
    mail_of_many_signatures,
    mail_whose_dns_hangs,
    mail_of_many_results,
    mail_with_long_spf,
    handshakes_at_once,
    records_of_one_octet,
    large_mails_at_once,
    slow_uploads,
    silent_sessions,
    half_a_tls_handshake,
    session_that_reads_nothing,
    words_that_make_no_sense,
)

CROWDS = (crowd_from_four_addresses, crowd_from_sixteen_addresses, thousand_slow_sessions)
