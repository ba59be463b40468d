"""Which mail hosts are one destination: names of groups, by the hosts that a domain's MX records name.

A thousand domains whose mail one provider takes are one destination to it, so they share sessions, back-off and rate.
A host belongs, by the first that fits, to

    the section of the settings that names the recipient's domain
    the section that names the host (`mx`)
    the provider of whose own names it is one (PROVIDERS)
    the domain's best hosts, where it is one of them: domains with the same best hosts are one group
    itself alone

So nobody gets into the group of others with a host of his own: a section's and a provider's names lie in zones that
they alone write, and of the same best hosts none is his. Who points his MX at another's hosts shares their pace; what
his other hosts do is told of these alone. Pure.
"""

from collections.abc import Collection, Mapping

from conf.settings import PaceRule

# Zones in which a provider alone names hosts, and decides alone what its hosts answer. (Filters that ask their
# customers what to answer are none of these: a customer could slow down the mail of all others.)
PROVIDERS: Mapping[str, str] = {
    "google.com": "google.com",
    "googlemail.com": "google.com",
    "mail.protection.outlook.com": "mail.protection.outlook.com",
    "olc.protection.outlook.com": "olc.protection.outlook.com",
    "mx.microsoft": "mx.microsoft",
    "yahoodns.net": "yahoodns.net",
    "mail.icloud.com": "mail.icloud.com",
}
SHOWN_HOSTS = 10


class HostGroups:
    """Names groups: a host's name, several with a blank between them, `[NAME]` of a section, `relay:NAME`."""

    def __init__(self, rules: Mapping[str, PaceRule]) -> None:
        self._domains = {domain: name for name, rule in rules.items() for domain in rule.domains}
        self._hosts = {mx: name for name, rule in rules.items() for mx in rule.mx}
        self.rules = {group_of_section(name): rule for name, rule in rules.items()}

    def of_host(self, domain: str, host: str, best: Collection[str]) -> str:
        """The group of a host of the domain; `best`: those of its hosts that are preferred to all others."""
        section = self._domains.get(domain) or self._section_of(host)
        if section is not None:
            return group_of_section(section)
        provider = _provider(host)
        if provider is not None:
            return provider
        # A set that is too long to be written down is none: two of them could look alike.
        if host in best and 1 < len(best) <= SHOWN_HOSTS:
            return " ".join(sorted(best))
        return host

    def of_relay(self, name: str) -> str:
        """The group of a smarthost, by its name in the settings, or its host's where it has no section."""
        return f"relay:{name}"

    def _section_of(self, host: str) -> str | None:
        names = (host, *(f"*.{zone}" for zone in _zones(host)[1:]))
        return next((self._hosts[name] for name in names if name in self._hosts), None)


def group_of_section(name: str) -> str:
    """The group of `[outbound.pace.NAME]`."""
    return f"[{name}]"


def _provider(host: str) -> str | None:
    return next((PROVIDERS[zone] for zone in _zones(host) if zone in PROVIDERS), None)


def _zones(host: str) -> list[str]:
    """The host, and the zones that it may lie in, the longest first."""
    labels = host.split(".")
    return [".".join(labels[at:]) for at in range(len(labels))]
