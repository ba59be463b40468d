"""What other hosts report about the shared domains."""

from pathlib import Path
from typing import Any

import click

from maild.cli.common import config_option, json_option, run_command, show_list


@click.command()
@click.argument("domain", required=False)
@click.option("--type", "kind", type=click.Choice(["dmarc", "tls"]), help="Of this kind alone.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@config_option
@json_option
def reports(domain: str | None, kind: str | None, limit: int, config: Path, as_json: bool) -> None:
    """What other hosts report about the shared domains (DMARC, TLS), newest first.

    They come to the operator's inbox, as the records of `maild init` say. Anybody may send one: the name in brackets is
    the domain that verifiably did. --json has all of it: addresses, policies, what failed.
    """
    found: list[dict[str, Any]] = run_command(
        lambda store: store.reports.list(domain, kind, limit + 1), config
    )
    show_list(found, limit, "reports", _report_line, none="there is no report", as_json=as_json)


def _report_line(one: dict[str, Any]) -> str:
    sender = one["verifiedDomain"] or "nobody proven"
    counted = "messages" if one["type"] == "dmarc" else "sessions"
    more = " (there are more)" if one["isTruncated"] else ""
    return (
        f"{one['id']}  {one['domainName']}  {one['type']}  from {one['periodBegin']} to {one['periodEnd']}"
        f"  {one['passed']} of {one['total']} {counted} passed{more}  {one['reporter']} [{sender}]"
    )
