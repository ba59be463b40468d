"""Mails that verifiers judge, each with what DNS says of its domains: what is common, what is broken, what is odd.

Each case has domains of its own, named after it, so that no answer of one is another's.
"""

import base64
from collections.abc import Iterator
from typing import NamedTuple

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.support.mails.signers import FIELDS, Signer, rsa_key, rsa_record
from tests.support.worlds.sender_world import PublishedRecords, SenderWorld, mail_from

HERE, ELSEWHERE = "ip4:127.0.0.1 -all", "ip4:192.0.2.1 -all"
RELAXED, SIMPLE = b"relaxed", b"simple"


class VerdictCase(NamedTuple):
    """`sender`: of the envelope; its domain has no SPF record unless the case is about that."""

    name: str
    raw: bytes
    sender: str = "bounces@nothing.test"


class CaseWriter:
    """Writes the cases, and publishes what they need."""

    def __init__(self, world: SenderWorld) -> None:
        self._world = world
        self._records = PublishedRecords(world.dns)

    def all(self) -> list[VerdictCase]:
        """Each is one mail."""
        parts = (self.forms, self.changed, self.claims, self.keys, self.alignment, self.policies, self.spf)
        return [case for part in (*parts, self.authors, self.shapes, self.chains) for case in part()]

    def _bank(self, name: str, dmarc: str | None = "p=reject", spf: str | None = None) -> Signer:
        return self._world.domain(f"{name}.test", dmarc, spf)

    def forms(self) -> Iterator[VerdictCase]:
        for header_form in (RELAXED, SIMPLE):
            for body_form in (RELAXED, SIMPLE):
                for selector in ("rsa", "ed"):
                    name = f"{selector}-{header_form.decode()}-{body_form.decode()}"
                    signed = self._bank(name).sign(_mail(name), selector, (header_form, body_form))
                    yield VerdictCase(name, signed)
        both = self._bank("both")
        yield VerdictCase("both", both.sign(both.sign(_mail("both")), "ed"))

    def changed(self) -> Iterator[VerdictCase]:
        for name, old, new in (
            ("body-changed", b"Hello, bot\r\n", b"Hello, bat\r\n"),
            ("body-longer", b"Hello, bot\r\n", b"Hello, bot\r\nmore\r\n"),
            ("empty-lines-added", b"Hello, bot\r\n", b"Hello, bot\r\n\r\n\r\n"),
            ("blanks-added", b"Hello, bot\r\n", b"Hello, \t bot \t\r\n"),
            ("subject-changed", b"Subject: Hello", b"Subject: Hullo"),
            ("subject-folded", b"Subject: Hello", b"SUBJECT :\r\n\t Hello  \t"),
            ("subject-added", b"Subject: Hello", b"Subject: Hullo\r\nSubject: Hello"),
            ("subject-added-below", b"Subject: Hello", b"Subject: Hello\r\nSubject: Hullo"),
            ("date-twice", b"Subject: Hello", b"Date:  Sun, 22 Nov 2026 10:00:00 +0000\r\nSubject: Hello"),
            ("from-added-above", b"From: info@", b"From: evil@evil.test\r\nFrom: info@"),
        ):
            yield VerdictCase(name, self._bank(name).sign(_mail(name)).replace(old, new))
        simple = self._bank("simple-folded").sign(_mail("simple-folded"), forms=(SIMPLE, SIMPLE))
        yield VerdictCase("simple-folded", simple.replace(b"Subject: Hello", b"Subject:\r\n Hello"))

    def claims(self) -> Iterator[VerdictCase]:
        whole = self._bank("length-whole").sign(_mail("length-whole"), length=True)
        yield VerdictCase("length-whole", whole)
        part = self._bank("length-part").sign(_mail("length-part"), length=True)
        yield VerdictCase("length-part", part + b"buy now\r\n")
        for name, old, new in (
            ("expired", rb"t=\d+;", b"t=1500000000; x=1500000600;"),
            ("version-2", b"v=1;", b"v=2;"),
            ("no-version", b"v=1;", b""),
            ("sha1", b"a=rsa-sha256", b"a=rsa-sha1"),
            ("unknown-tag", b"v=1;", b"v=1; zz=what;"),
            ("tag-twice", b"v=1;", b"v=1; v=1;"),
            ("from-not-signed", b"h=from : ", b"h="),
            ("names-with-a-gap", b"h=from : ", b"h=from : : "),
            ("forms-in-capitals", b"c=relaxed/relaxed", b"c=Relaxed/Relaxed"),
            ("far-expiry", rb"t=\d+;", b"t=1500000000; x=99999999999999;"),
            ("query-method", b"q=dns/txt", b"q=http/get"),
        ):
            signer = self._bank(name)
            yield VerdictCase(name, signer.resign(signer.sign(_mail(name)), old, new))
        over = self._bank("oversigned").sign(_mail("oversigned"), fields=[*FIELDS, b"From", b"Reply-To"])
        yield VerdictCase("oversigned", over)
        below = self._bank("identity-below").sign(_mail("identity-below"), identity=b"@a.identity-below.test")
        yield VerdictCase("identity-below", below)
        beside = self._bank("identity-beside").sign(
            _mail("identity-beside"), identity=b"@identity-beside.test"
        )
        yield VerdictCase("identity-beside", beside.replace(b"i=@identity-beside.test", b"i=@evil.test"))

    def keys(self) -> Iterator[VerdictCase]:
        for bits in (512, 1024):
            name = f"bits-{bits}"
            yield self._with_key(name, rsa_record(rsa_key(bits)), bits)
        good = rsa_record(rsa_key(2048))
        yield self._with_key("key-missing", None)
        yield self._with_key("key-revoked", "v=DKIM1; k=rsa; p=")
        yield self._with_key("key-garbled", "v=DKIM1; k=rsa; p=AAAA")
        yield self._with_key("key-of-another", rsa_record(_other_key()))
        yield self._with_key("key-testing", good.replace("k=rsa", "k=rsa; t=y"))
        yield self._with_key("key-no-version", good.removeprefix("v=DKIM1; "))
        yield self._with_key("key-version-last", good.removeprefix("v=DKIM1; ") + "; v=DKIM1")
        yield self._with_key("key-version-2", good.replace("DKIM1", "DKIM2"))
        yield self._with_key("key-for-sha1", good.replace("k=rsa", "k=rsa; h=sha1"))
        yield self._with_key("key-for-others", good.replace("k=rsa", "k=rsa; s=tlsrpt"))
        yield self._with_key("key-bare", "v=DKIM1; p=" + _bare(rsa_key(2048)))
        yield self._with_key("key-with-notes", good + "; n=what a key")
        yield self._with_key("key-without-filling", rsa_record(rsa_key(4096)).rstrip("="), 4096)
        self._records.add("s1._domainkey.key-beside-others.test", rsa_record(_other_key()))
        yield self._with_key("key-beside-others", good)
        strict = self._bank("key-strict")
        self._records.add("s1._domainkey.key-strict.test", good.replace("k=rsa", "k=rsa; t=s"))
        signed = strict.sign(_mail("key-strict"), identity=b"@a.key-strict.test")
        yield VerdictCase("key-strict", strict.resign(signed, b"s=rsa;", b"s=s1;"))

    def _with_key(self, name: str, record: str | None, bits: int = 2048) -> VerdictCase:
        self._records.add(f"_dmarc.{name}.test", "v=DMARC1; p=reject")
        if record is not None:
            self._records.add(f"s1._domainkey.{name}.test", record)
        signer = Signer(_Nowhere(), f"{name}.test", bits)
        return VerdictCase(name, signer.resign(signer.sign(_mail(name)), b"s=rsa;", b"s=s1;"))

    def alignment(self) -> Iterator[VerdictCase]:
        for name, policy, author, signer in (
            ("unaligned", "p=reject", "unaligned.test", "evil-unaligned.test"),
            ("sibling-name", "p=reject", "sibling-name.test", "evilsibling-name.test"),
            ("signed-below", "p=reject", "signed-below.test", "mail.signed-below.test"),
            ("signed-above", "p=reject", "mail.signed-above.test", "signed-above.test"),
            ("signed-beside", "p=reject", "a.signed-beside.test", "b.signed-beside.test"),
            ("strict-below", "p=reject; adkim=s", "strict-below.test", "mail.strict-below.test"),
            ("strict-same", "p=reject; adkim=s; aspf=s", "strict-same.test", "strict-same.test"),
        ):
            self._records.add(f"_dmarc.{name}.test", f"v=DMARC1; {policy}")
            yield VerdictCase(name, self._world.domain(signer).sign(mail_from(f"info@{author}")))
        self._bank("spf-below")
        self._records.add("mail.spf-below.test", f"v=spf1 {HERE}")
        yield VerdictCase("spf-below", _mail("spf-below"), "x@mail.spf-below.test")
        self._bank("spf-strict", "p=reject; aspf=s")
        self._records.add("mail.spf-strict.test", f"v=spf1 {HERE}")
        yield VerdictCase("spf-strict", _mail("spf-strict"), "x@mail.spf-strict.test")

    def policies(self) -> Iterator[VerdictCase]:
        for name, record in (
            ("none", "v=DMARC1; p=none"),
            ("quarantine", "v=DMARC1; p=quarantine"),
            ("reject", "v=DMARC1; p=reject"),
            ("odd-case", "v=DMARC1;P=Reject"),
            ("with-blanks", "v = DMARC1 ; p = reject ;"),
            ("no-policy", "v=DMARC1; rua=mailto:a@x.test"),
            ("bad-policy", "v=DMARC1; p=what; rua=mailto:a@x.test"),
            ("lower-version", "v=dmarc1; p=reject"),
            ("version-late", "p=reject; v=DMARC1"),
            ("testing", "v=DMARC1; p=reject; t=y"),
            ("percent", "v=DMARC1; p=reject; pct=0"),
        ):
            self._records.add(f"_dmarc.policy-{name}.test", record)
            yield VerdictCase(f"policy-{name}", _mail(f"policy-{name}"))
        self._records.add("_dmarc.policy-twice.test", "v=DMARC1; p=reject", "v=DMARC1; p=none")
        yield VerdictCase("policy-twice", _mail("policy-twice"))
        yield VerdictCase("policy-missing", _mail("policy-missing"))
        self._bank("below", "p=reject; sp=quarantine")
        yield VerdictCase("policy-below", mail_from("info@mail.below.test"))

    def spf(self) -> Iterator[VerdictCase]:
        for name, terms in (
            ("pass", HERE),
            ("fail", ELSEWHERE),
            ("softfail", "ip4:192.0.2.1 ~all"),
            ("neutral", "?all"),
            ("no-all", "ip4:192.0.2.1"),
            ("include", "include:spf-pass.test -all"),
            ("redirect", "redirect=spf-pass.test"),
            ("include-of-none", "include:nothing.test -all"),
            ("unknown-mechanism", "what:x -all"),
            ("loop", "include:spf-loop.test -all"),
            ("void", "a:v1.test a:v2.test a:v3.test ip4:127.0.0.1 -all"),
            ("many", " ".join(f"exists:e{n}.test" for n in range(11)) + " +all"),
        ):
            self._bank(f"spf-{name}", spf=terms)
            yield VerdictCase(f"spf-{name}", _mail(f"spf-{name}"), f"x@spf-{name}.test")
        self._bank("spf-twice", spf=HERE)
        self._records.add("spf-twice.test", f"v=spf1 a {HERE}")
        yield VerdictCase("spf-twice", _mail("spf-twice"), "x@spf-twice.test")

    def authors(self) -> Iterator[VerdictCase]:
        for name, written in (
            ("from-two", "info@from-two.test, x@evil.test"),
            ("from-group", "friends: info@from-group.test;"),
            ("from-empty", ""),
            ("from-bare-name", "info"),
            ("from-comment", "info@from-comment.test (x@evil.test)"),
            ("from-shown-address", '"x@evil.test" <info@from-shown-address.test>'),
            ("from-folded", "Info\r\n <info@from-folded.test>"),
            ("from-upper", "INFO@FROM-UPPER.TEST"),
            ("from-dot", "info@from-dot.test."),
        ):
            yield VerdictCase(name, self._bank(name).sign(mail_from(written)))
        yield VerdictCase("from-none", _mail("from-none").partition(b"\r\n")[2])

    def shapes(self) -> Iterator[VerdictCase]:
        text = b"To: bot@agents.test\r\nSubject:  a \t b \r\n"
        for name, head, body in (
            ("field-of-blanks", text.replace(b"a \t b", b"\r\n\t\r\n x"), b"Hi\r\n"),
            ("eight-bit", text.replace(b"a \t b", "Grüße".encode()), "Grüße\r\n".encode()),
            ("latin", text.replace(b"a \t b", b"Gr\xfc\xdfe"), b"Gr\xfc\xdfe\r\n"),
            ("body-of-blanks", text, b" \t \r\n\t\r\n"),
            ("body-trailing-blanks", text, b"a \t\r\n\t b  c\t\r\n \r\n\r\n"),
            ("body-empty", text, b""),
            ("body-long-line", text, b"x" * 990 + b" y\r\n"),
        ):
            for form in (RELAXED, SIMPLE):
                case = f"{name}-{form.decode()}"
                raw = f"From: info@{case}.test\r\n".encode() + head + b"\r\n" + body
                fields = [b"From", b"To", b"Subject"]
                yield VerdictCase(case, self._bank(case).sign(raw, forms=(form, form), fields=fields))

    def chains(self) -> Iterator[VerdictCase]:
        bank, first, second = (self._bank(f"arc-{name}") for name in ("bank", "first", "second"))
        sent = bank.sign(_mail("arc-bank")).replace(b"Subject: ", b"Subject: [list] ")
        one = first.seal(sent, "dmarc=pass header.from=arc-bank.test")
        two = second.seal(one, "arc=pass")
        yield VerdictCase("arc-one", one)
        yield VerdictCase("arc-two", two)
        yield VerdictCase("arc-body-changed", two + b"more\r\n")
        yield VerdictCase("arc-set-missing", second.seal(one, "arc=pass").replace(b"i=1", b"i=3"))
        yield VerdictCase("arc-subject-changed", one.replace(b"[list] ", b"[lost] "))


class _Nowhere:
    def add(self, name: str, *texts: str) -> None:
        """Not published."""


def _mail(name: str) -> bytes:
    return mail_from(f"info@{name}.test")


def _other_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _bare(key: rsa.RSAPrivateKey) -> str:
    """The key itself (RFC 8017 A.1.1), as RFC 6376 §3.6.1 asks for, without an algorithm's name around it."""
    public = key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.PKCS1)
    return base64.b64encode(public).decode()
