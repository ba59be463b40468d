"""The same mails before opendkim, rspamd and us: who says something else, why, and who is right."""

import email
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import Start
from tests.support.machine import tools
from tests.support.mails.verdict_cases import CaseWriter, VerdictCase
from tests.support.peers.dns_server import DnsServer
from tests.support.peers.other_verifiers import VERIFIERS, Judgement, signatures_of
from tests.support.worlds.sender_world import SenderWorld

pytestmark = pytest.mark.interop

HELO = "client.elsewhere.test"
Differences = Mapping[str, tuple[str, str]]  # "case verifier method" → what we say, what it says

EXPLAINED: Mapping[str, Differences] = {
    "RFC 6376 §3.4.2: blanks around a field's colon don't count. rspamd does not find the field. We are right.": {
        "subject-folded rspamd dkim": ("pass", "fail"),
        "subject-folded rspamd dmarc": ("pass", "fail reject"),
    },
    "RFC 6376 §5.4.2: of two fields the lower one is signed, and opendkim leaves it at that. A reader may show the"
    " other one (§8.15): we and rspamd break signatures over a name that should stand once and stands twice.": {
        "subject-added opendkim dkim": ("fail", "pass"),
        "from-added-above opendkim dkim": ("fail", "pass"),
    },
    "Two authors are none: we say it in DMARC's result, rspamd says nothing.": {
        "from-added-above rspamd dmarc": ("permerror", "none"),
    },
    "RFC 6376 §8.2: with l= anybody can add to the body. A receiver may pass over such signatures (`policy` in RFC 8601"
    " §2.7.1), and we do.": {
        "length-whole opendkim dkim": ("policy", "pass"),
        "length-whole rspamd dkim": ("policy", "pass"),
        "length-whole rspamd dmarc": ("fail reject", "pass"),
        "length-part opendkim dkim": ("policy", "pass"),
        "length-part rspamd dkim": ("policy", "pass"),
        "length-part rspamd dmarc": ("fail reject", "pass"),
    },
    "RFC 6376 §6.1.1 lets an expired signature be a failure; which word of RFC 8601 it gets is open.": {
        "expired opendkim dkim": ("fail", "permerror"),
    },
    "A signature that can't be used, and that the other names in no result: RFC 8601 §2.7.1 has permerror for it.": {
        "expired rspamd dkim": ("fail", "none"),
        "version-2 rspamd dkim": ("permerror", "none"),
        "no-version opendkim dkim": ("permerror", "none"),
        "no-version rspamd dkim": ("permerror", "none"),
        "sha1 rspamd dkim": ("permerror", "none"),
        "from-not-signed rspamd dkim": ("permerror", "none"),
    },
    "RFC 8301 §3.1: rsa-sha1 is not to be verified. opendkim verifies it, and it is not right. We are right.": {
        "sha1 opendkim dkim": ("permerror", "fail"),
    },
    "RFC 6376 §3.2: a list with a tag twice is no tag list. Both take the one they like. We are right.": {
        "tag-twice opendkim dkim": ("none", "pass"),
        "tag-twice rspamd dkim": ("none", "pass"),
        "tag-twice rspamd dmarc": ("fail reject", "pass"),
    },
    "RFC 6376 §3.5, q=: there is one way to have the key, and the signer names another. We are right, with opendkim.": {
        "query-method rspamd dkim": ("permerror", "pass"),
        "query-method rspamd dmarc": ("fail reject", "pass"),
    },
    "RFC 6376 §6.1.1: i= outside of d= is looked at before the key is. We are right, with opendkim.": {
        "identity-beside rspamd dkim": ("permerror", "fail"),
    },
    "RFC 8301 §3.2: RSA keys of less than 1,024 bits prove nothing. rspamd takes one of 512; opendkim has another"
    " word for its refusal. We are right.": {
        "bits-512 opendkim dkim": ("permerror", "policy"),
        "bits-512 rspamd dkim": ("permerror", "pass"),
        "bits-512 rspamd dmarc": ("fail reject", "pass"),
    },
    "RFC 6376 §6.1.2: a key that is not there, was revoked or is not for this is PERMFAIL, not a failed signature."
    " opendkim says fail. We are right; nothing else follows from it.": {
        "key-missing opendkim dkim": ("permerror", "fail"),
        "key-revoked opendkim dkim": ("permerror", "fail"),
        "key-version-2 opendkim dkim": ("permerror", "fail"),
        "key-for-sha1 opendkim dkim": ("permerror", "fail"),
        "key-for-others opendkim dkim": ("permerror", "fail"),
        "key-strict opendkim dkim": ("permerror", "fail"),
    },
    "RFC 6376 §3.6.1: v=, h=, s= and t=s of a key restrict it. rspamd reads none of them. We are right.": {
        f"{case} rspamd {method}": pair
        for case in ("key-version-2", "key-for-sha1", "key-for-others", "key-strict")
        for method, pair in {"dkim": ("permerror", "pass"), "dmarc": ("fail reject", "pass")}.items()
    },
    "RFC 6376 §3.6.1 asks for a bare RSAPublicKey, its erratum 3017 and everybody's practice for what is around it."
    " We take both.": {
        "key-bare opendkim dkim": ("pass", "permerror"),
        "key-bare rspamd dkim": ("pass", "permerror"),
        "key-bare rspamd dmarc": ("pass", "fail reject"),
    },
    "RFC 6376 §6.1.2: of several keys each may be tried, and their order is nobody's. opendkim gives up.": {
        "key-beside-others opendkim dkim": ("pass", "temperror"),
    },
    "RFC 6376 §3.5 has the names of the forms as literals of ABNF, whose case does not count (RFC 5234 §2.3). We are"
    " right, with opendkim.": {
        "forms-in-capitals rspamd dkim": ("pass", "none"),
        "forms-in-capitals rspamd dmarc": ("pass", "fail reject"),
    },
    "RFC 9989 §4.8: blanks may stand around an equals sign, as in RFC 6376 §3.2. We are right.": {
        "policy-with-blanks rspamd dmarc": ("fail reject", "fail none"),
    },
    "RFC 9989 §4.7: with rua=, a policy that can't be read is `none`. We are right.": {
        "policy-bad-policy rspamd dmarc": ("fail none", "permerror"),
    },
    "RFC 9989 §4.7 has t=y, and no pct= any more; rspamd reads RFC 7489.": {
        "policy-testing rspamd dmarc": ("fail quarantine", "fail reject"),
        "policy-percent rspamd dmarc": ("fail reject", "fail quarantine"),
    },
    "RFC 9989 §4.10: of several records none counts; DMARC is not used. rspamd says that it is an error.": {
        "policy-twice rspamd dmarc": ("none", "permerror"),
    },
    "RFC 7208 §4.5, §4.6, §4.6.4, §5.2: two records, unknown mechanisms, a loop, more than two names without an answer"
    " and an include of nothing are permerror. rspamd goes on where it can. We are right.": {
        "spf-include-of-none rspamd spf": ("permerror", "fail"),
        "spf-unknown-mechanism rspamd spf": ("permerror", "fail"),
        "spf-void rspamd spf": ("permerror", "pass"),
        "spf-void rspamd dmarc": ("fail reject", "pass"),
        "spf-twice rspamd spf": ("permerror", "pass"),
        "spf-twice rspamd dmarc": ("fail reject", "pass"),
    },
    "RFC 9989 §5.3.1: DMARC can't be applied to mail without one author. rspamd says nothing; opendkim takes mail whose"
    " From has no address as it is. We say permerror, and mark it as spam.": {
        **{
            f"{case} rspamd dmarc": ("permerror", "none")
            for case in ("from-two", "from-empty", "from-bare-name", "from-none")
        },
        "from-empty opendkim dkim": ("pass", "none"),
        "from-bare-name opendkim dkim": ("pass", "none"),
    },
}
# What not every version of the others says, or not each time.
EXPLAINED_OF_SOME: Mapping[str, Differences] = {
    "RFC 6376 §6.1.2: of several keys rspamd tries one, now this and now that. We are right.": {
        "key-beside-others rspamd dkim": ("pass", "fail"),
        "key-beside-others rspamd dmarc": ("pass", "fail reject"),
    },
    "RFC 7208 §4.6.4: more than ten look-ups are permerror, whatever the record ends with. We are right.": {
        "spf-many rspamd spf": ("permerror", "pass"),
    },
    "RFC 7208 §4.6.4: so is a loop. rspamd 3 goes on where it can.": {
        "spf-loop rspamd spf": ("permerror", "fail"),
    },
    "RFC 9989 §5.3.1: DMARC can't be applied to a From that is a group. rspamd 3 says nothing.": {
        "from-group rspamd dmarc": ("permerror", "none"),
    },
    "rspamd 4 takes who is in the group for the author. Who reads the mail is not shown that one alone.": {
        "from-group rspamd dmarc": ("permerror", "pass"),
    },
    "RFC 6376 §3.4.4: lines of blanks at the end of a body are empty lines, and go. rspamd 3 lets them stay. We are"
    " right, with opendkim and the signer (dkimpy).": {
        "body-of-blanks-relaxed rspamd dkim": ("pass", "fail"),
        "body-of-blanks-relaxed rspamd dmarc": ("pass", "fail reject"),
    },
}


@tools.needs("opendkim", "rspamd", root=True)
async def test_each_difference_has_a_reason(start: Start, tmp_path: Path) -> None:
    for folder in (tmp_path.parent, tmp_path):
        folder.chmod(0o755)  # rspamd has a user of its own
    async with DnsServer() as dns:
        maild = await start(dns={"nameservers": [f"127.0.0.1:{dns.port}"]}, inbound={"dmarc": "report"})
        world = SenderWorld(maild, dns, await maild.inbox("bot"))
        cases = CaseWriter(world).all()
        ours = {case.name: await judged(world, case) for case in cases}
        found: dict[str, tuple[str, str]] = {}
        for name, verifier in VERIFIERS.items():
            async with verifier(tmp_path / name, dns.port) as other:
                for case in cases:
                    theirs = await other.ask(case, HELO)
                    for method, pair in differences(ours[case.name], theirs).items():
                        found[f"{case.name} {name} {method}"] = pair
    of_some = [pair for one in EXPLAINED_OF_SOME.values() for pair in one.items()]
    always = {key: pair for one in EXPLAINED.values() for key, pair in one.items()}
    assert {key: pair for key, pair in found.items() if (key, pair) not in of_some} == always


async def judged(world: SenderWorld, case: VerdictCase) -> Judgement:
    """What the field says that we add to the mail."""
    message = await world.judged(case.raw, case.sender)
    stored = (await world.maild.api.call("GET", f"/v1/messages/{message['id']}/raw")).body
    results = str(email.message_from_bytes(stored)["Authentication-Results"])
    said = dict(re.findall(r"(?<![.\w])(spf|dmarc|arc)=(\w+)", results))
    policy = re.search(r"\bpolicy\.dmarc=(\w+)", results)
    dmarc = f"{said['dmarc']} {policy[1]}" if policy else said["dmarc"]
    return Judgement(signatures_of(results), said["spf"], dmarc, said["arc"])


def differences(ours: Judgement, theirs: Judgement) -> dict[str, tuple[str, str]]:
    """Method → (what we say, what they say); of signatures, one after the other, `none` is what one does not name."""
    names = sorted({*ours.dkim, *theirs.dkim})
    both = (" ".join(one.dkim.get(name, "none") for name in names) for one in (ours, theirs))
    pairs = {
        "dkim": tuple(both),
        **{
            method: (getattr(ours, method), getattr(theirs, method))
            for method in ("spf", "dmarc", "arc")
            if getattr(theirs, method) is not None
        },
    }
    return {method: (pair[0], pair[1]) for method, pair in pairs.items() if pair[0] != pair[1]}
