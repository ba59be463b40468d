"""Mail that is held: shown and decided about."""

import json
from pathlib import Path
from typing import Any

import click

from maild.cli.common import (
    CommandGroup,
    config_option,
    json_option,
    run_command,
    say,
    say_octets,
    show,
    show_list,
)


@click.group(cls=CommandGroup)
def reviews() -> None:
    """Mail that is held until somebody has decided."""


@reviews.command("list")
@click.option("--org", "organization_id", help="Of this organization.")
@click.option(
    "--status",
    type=click.Choice(["pending", "approved", "rejected", "expired", "withdrawn", "any"]),
    default="pending",
    show_default=True,
)
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@config_option
@json_option
def reviews_list(organization_id: str | None, status: str, limit: int, config: Path, as_json: bool) -> None:
    """What is held, or was, newest first."""
    wanted = None if status == "any" else status
    rows = run_command(lambda store: store.reviews.list(organization_id, wanted, limit + 1), config)
    none = "there is no review" if wanted is None else f"no review is {wanted}"
    show_list(rows, limit, "reviews", _review_line, none=none, as_json=as_json)


def _review_line(one: dict[str, Any]) -> str:
    why = ", ".join(one["reasons"])
    return f"{one['id']}  {one['status']}  {one['direction']}  until {one['expiresAt']}  {why}"


@reviews.command("show")
@click.argument("review_id")
@click.option("--raw", is_flag=True, help="The message itself, byte for byte.")
@config_option
@json_option
def reviews_show(review_id: str, raw: bool, config: Path, as_json: bool) -> None:
    """What is decided about, why it is held, and the content hash that an approval quotes."""
    if raw:
        say_octets(run_command(lambda store: store.reviews.raw(review_id), config))
        return
    _print_review(run_command(lambda store: store.reviews.show(review_id), config), as_json)


@reviews.command("approve")
@click.argument("review_id")
@click.option("--content-hash", required=True, help="As `maild reviews show` shows it.")
@click.option("--note", help="For the record.")
@click.option("--force", is_flag=True, help="Although the conversation went on.")
@config_option
@json_option
def reviews_approve(
    review_id: str, content_hash: str, note: str | None, force: bool, config: Path, as_json: bool
) -> None:
    """Let it go, now or at its time; every guard is asked again."""
    from controlplane.sending.reviews.reviewing import Approval

    approval = Approval(content_hash, note, force)
    _print_review(run_command(lambda store: store.reviews.approve(review_id, approval), config), as_json)


@reviews.command("reject")
@click.argument("review_id")
@click.option("--note", help="For the record.")
@config_option
@json_option
def reviews_reject(review_id: str, note: str | None, config: Path, as_json: bool) -> None:
    """Let it go nowhere."""
    _print_review(run_command(lambda store: store.reviews.reject(review_id, note), config), as_json)


def _print_review(review: dict[str, Any], as_json: bool) -> None:
    """What others wrote is printed as JSON writes it: nothing of it acts on the terminal, or looks like ours."""
    if as_json:
        show(review, as_json)
        return
    for name, value in review.items():
        if name != "message" or value is None:
            is_theirs = name == "note" or isinstance(value, list)
            say(f"{name}: {json.dumps(value) if is_theirs else value}")
            continue
        shown = (
            "fromAddress",
            "toAddresses",
            "ccAddresses",
            "bccAddresses",
            "subject",
            "scheduledAt",
            "textBody",
        )
        for member in (*shown, "attachments"):
            say(f"message.{member}: {json.dumps(value[member])}")
