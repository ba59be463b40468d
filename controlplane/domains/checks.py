"""Which DNS records a domain needs, and whether answers from DNS show them. Pure.

Several resolvers are asked (`doh.py`), each answer is judged by itself, and a record counts when at least
`quorum` of them answered and all that did show it: one resolver that lies, or still has what was there
before, is enough to say no. Nothing is ever inferred from silence, neither a pass nor a failure.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

MX_PRIORITY = 10
CHALLENGE_NAME = "_svc-challenge"
CHALLENGE_PREFIX = "svc-verify="
OBSERVED_MAX = 10
OBSERVED_CHARACTERS_MAX = 600  # an RSA-2048 key is about 410
SPF_LOOKUPS_MAX = 10  # RFC 7208 §4.6.4

REQUIRED = ("ownership", "mx", "spf", "dkim")
PURPOSES = (*REQUIRED, "dmarc")

OK = "ok"
MISSING = "missing"  # no such record
MISMATCH = "mismatch"  # one, but not what is wanted
CONFLICTING = "conflicting"  # some resolvers show it, some don't
UNAVAILABLE = "unavailable"  # too few resolvers answered to tell
UNCHECKED = "unchecked"

# What one resolver answered: MX as "10 host", TXT as one string each; None when it did not answer.
Answer = Sequence[str] | None


class Record(NamedTuple):
    """One record that the domain's owner is asked to publish."""

    purpose: str
    type: str
    name: str
    value: str
    priority: int | None
    required: bool

    @property
    def key(self) -> str:
        """Names the record among those of its domain; findings are kept under it."""
        return f"{self.purpose}:{self.name}"

    def shown(self, status: str = UNCHECKED, observed: Sequence[str] = ()) -> dict[str, Any]:
        """As the API and `maild init` show it."""
        return {**self._asdict(), "status": status, "observed": list(observed)}


class Finding(NamedTuple):
    """What the resolvers' answers make of a record: one of the statuses above, and what they showed."""

    status: str
    observed: tuple[str, ...] = ()

    @property
    def passes(self) -> bool | None:
        """None: it is not known."""
        return None if self.status == UNAVAILABLE else self.status == OK


class Ours(NamedTuple):
    """Our names. `aliases`: domains whose SPF record covers our hosts, so that including one will do."""

    host: str
    aliases: frozenset[str]


class PublishedKey(NamedTuple):
    """A DKIM key of the domain. One that is not `is_signing` waits for DNS to show it. `algorithm`: the k= of its
    record."""

    selector: str
    public_key: str
    is_signing: bool
    algorithm: str = "rsa"


def records(
    domain: str,
    host: str,
    keys: Iterable[PublishedKey],
    *,
    challenge: str | None = None,
    reports_to: str | None = None,
) -> list[Record]:
    """`challenge`: what proves ownership; None where there is nothing to prove."""
    found = []
    if challenge is not None:
        name, value = f"{CHALLENGE_NAME}.{domain}", f"{CHALLENGE_PREFIX}{challenge}"
        found.append(Record("ownership", "TXT", name, value, None, True))
    found.append(Record("mx", "MX", domain, host, MX_PRIORITY, True))
    found.append(Record("spf", "TXT", domain, "v=spf1 mx -all", None, True))
    for key in keys:
        name = f"{key.selector}._domainkey.{domain}"
        value = f"v=DKIM1; k={key.algorithm}; p={key.public_key}"
        found.append(Record("dkim", "TXT", name, value, None, key.is_signing and key.algorithm == "rsa"))
    policy = "v=DMARC1; p=quarantine" + (f"; rua=mailto:{reports_to}" if reports_to else "")
    found.append(Record("dmarc", "TXT", f"_dmarc.{domain}", policy, None, False))
    return found


def judge(record: Record, answers: Sequence[Answer], quorum: int, ours: Ours) -> Finding:
    """The resolvers' answers for one record → what becomes of it."""
    heard = [answer for answer in answers if answer is not None]
    relevant = [[text for text in answer if _RELEVANT[record.purpose](text)] for answer in heard]
    observed = tuple(dict.fromkeys(text[:OBSERVED_CHARACTERS_MAX] for answer in relevant for text in answer))[
        :OBSERVED_MAX
    ]
    if len(heard) < quorum:
        return Finding(UNAVAILABLE, observed)
    verdicts = {_verdict(record, answer, ours) for answer in relevant}
    if OK in verdicts and len(verdicts) > 1:
        return Finding(CONFLICTING, observed)
    return Finding(verdicts.pop() if len(verdicts) == 1 else MISMATCH, observed)


def results(records: Iterable[Record], findings: Mapping[str, Finding]) -> dict[str, bool | None]:
    """By purpose: does it pass? None where it is not known. Of two RSA keys of DKIM one is enough; a key of another
    algorithm is an addition, which receivers may not know, and counts for nothing."""
    passed: dict[str, bool | None] = {}
    for record in records:
        if record.purpose == "dkim" and "k=rsa;" not in record.value:
            continue
        one, before = findings[record.key].passes, passed.get(record.purpose, False)
        passed[record.purpose] = True if one or before else None if None in (one, before) else False
    return passed


# One answer of one resolver -----------------------------------------------------------------------


def _verdict(record: Record, answer: Sequence[str], ours: Ours) -> str:
    if not answer:
        return MISSING
    return OK if _PASSES[record.purpose](record, answer, ours) else MISMATCH


def owns(record: Record, answer: Sequence[str], ours: Ours) -> bool:
    """The challenge may stand among those of others."""
    return any(text.strip() == record.value for text in answer)


def mx_leads_here(record: Record, answer: Sequence[str], ours: Ours) -> bool:
    """RFC 5321 §5.1: mail goes to the most preferred hosts, so ours must be among those."""
    hosts = []
    for text in answer:
        preference, _, host = text.partition(" ")
        hosts.append((int(preference) if preference.isdigit() else 65536, host.lower().rstrip(".")))
    best = min(preference for preference, _ in hosts)
    return (best, record.value.lower()) in hosts


def spf_covers_us(record: Record, answer: Sequence[str], ours: Ours) -> bool:
    """Does the domain's SPF record let our hosts send? `mx` does: the domain's MX is ours (checked beside).

    Addresses are not looked up: a record that names ours one by one does not pass.
    """
    if len(answer) != 1:
        return False  # RFC 7208 §4.5: several are a permerror
    redirect = ""
    lookups = 0
    for term in answer[0].lower().split(" ")[1:]:
        if not term:
            continue
        modifier = re.fullmatch(r"([a-z][a-z0-9._-]*)=(.*)", term)
        if modifier is not None:
            if modifier[1] == "redirect":
                redirect = modifier[2]
            continue
        qualifier, mechanism = (term[0], term[1:]) if term[0] in "+-~?" else ("+", term)
        name, _, argument = re.sub(r"/.*", "", mechanism).partition(":")
        if name not in _SPF_MECHANISMS:
            return False  # RFC 7208 §4.6: an error in one term is a permerror
        lookups += name in _SPF_LOOKUPS
        if lookups > SPF_LOOKUPS_MAX:
            return False
        if _is_us(name, argument.rstrip("."), record.name, ours):
            return qualifier == "+"  # §4.6.2: the first that matches decides
        if name == "all":
            return qualifier == "+"
    return redirect.rstrip(".") in ours.aliases  # §6.1: when nothing matched


_SPF_LOOKUPS = frozenset({"include", "a", "mx", "ptr", "exists"})
_SPF_MECHANISMS = _SPF_LOOKUPS | {"all", "ip4", "ip6"}


def _is_us(name: str, argument: str, domain: str, ours: Ours) -> bool:
    if name == "mx":
        return argument in ("", domain) or argument in ours.aliases
    if name == "a":
        return argument == ours.host
    return name == "include" and argument in ours.aliases


def dkim_shows_the_key(record: Record, answer: Sequence[str], ours: Ours) -> bool:
    """RFC 6376 §3.6.1. Several records at one selector are undefined (§3.6.2.2), so they don't pass."""
    if len(answer) != 1:
        return False
    found, wanted = _tags(answer[0]), _tags(record.value)
    if found is None or wanted is None:
        return False
    hashes = found.get("h", "sha256").replace(" ", "").split(":")
    services = found.get("s", "*").replace(" ", "").split(":")
    return (
        found.get("v", "DKIM1") == "DKIM1"
        and found.get("k", "rsa") == wanted["k"]
        and re.sub(r"\s", "", found.get("p", "")) == wanted["p"]
        and "sha256" in hashes
        and not {"*", "email"}.isdisjoint(services)
    )


def dmarc_has_a_policy(record: Record, answer: Sequence[str], ours: Ours) -> bool:
    """Any valid policy will do: which one is the owner's choice. Without `p` it is `none` (RFC 9989)."""
    tags = _tags(answer[0]) if len(answer) == 1 else None
    return tags is not None and tags.get("p", "none").lower() in ("none", "quarantine", "reject")


def _tags(text: str) -> dict[str, str] | None:
    """RFC 6376 §3.2 `tag=value; …`; None for what is not such a list, or has a tag twice."""
    tags: dict[str, str] = {}
    for part in text.strip().removesuffix(";").split(";"):
        name, equals, value = part.partition("=")
        if not equals or name.strip() in tags:
            return None
        tags[name.strip()] = value.strip()
    return tags


_PASSES: Mapping[str, Callable[[Record, Sequence[str], Ours], bool]] = {
    "ownership": owns,
    "mx": mx_leads_here,
    "spf": spf_covers_us,
    "dkim": dkim_shows_the_key,
    "dmarc": dmarc_has_a_policy,
}
# What else a domain publishes at the same name does not matter here.
_RELEVANT: Mapping[str, Callable[[str], bool]] = {
    "ownership": lambda text: True,
    "mx": lambda text: True,
    "spf": lambda text: text.lower() == "v=spf1" or text.lower().startswith("v=spf1 "),  # RFC 7208 §4.5
    "dkim": lambda text: True,
    "dmarc": lambda text: text.lower().replace(" ", "").startswith("v=dmarc1"),
}
