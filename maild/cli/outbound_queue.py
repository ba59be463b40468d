"""The outbound queue: what waits there, and what is done to it."""

import functools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from maild.cli.common import (
    CommandGroup,
    config_option,
    fail,
    json_option,
    run_command,
    say,
    say_progress,
    show,
    show_list,
)

_DOMAIN = re.compile(r"[a-z0-9_-][a-z0-9._-]*")


@click.group(cls=CommandGroup)
def queue() -> None:
    """The outbound queue."""


@queue.command("pause")
@config_option
@json_option
def queue_pause(config: Path, as_json: bool) -> None:
    """Let nothing into the queue and nothing out of it: sends answer 503, mail comes in as before."""
    _print_queue(run_command(lambda store: store.queue.pause(), config), as_json)


@queue.command("resume")
@config_option
@json_option
def queue_resume(config: Path, as_json: bool) -> None:
    """Go on; what waited leaves within seconds."""
    _print_queue(run_command(lambda store: store.queue.resume(), config), as_json)


@queue.command("show")
@config_option
@json_option
def queue_show(config: Path, as_json: bool) -> None:
    """How many recipients wait, for which destinations most, and whether the queue is paused."""
    _print_queue(run_command(lambda store: store.queue.show(), config), as_json)


def _print_queue(state: dict[str, Any], as_json: bool) -> None:
    if as_json:
        show(state, as_json)
        return
    destinations = state.pop("destinations")
    show(state, as_json)
    for one in destinations:
        held = f", {one['held']} held" if one["held"] else ""
        say(f"  {one['waiting']:>7}  {one['destination']}{held}, next {one['firstDueAt'] or 'never'}")


def _selecting(command: Callable[..., None]) -> Callable[..., None]:
    """Which recipients: `selection` for the command."""

    @click.option("--message", "message_id", help="Of this message.")
    @click.option("--org", "organization_id", help="Of this organization.")
    @click.option("--destination", help="At this domain.")
    @click.option("--all", "is_all", is_flag=True, help="Of everybody.")
    @config_option
    @json_option
    @functools.wraps(command)
    def selecting(
        message_id: str | None,
        organization_id: str | None,
        destination: str | None,
        is_all: bool,
        **rest: Any,
    ) -> None:
        from maild.message.fields.idn import ascii_domain
        from storage.sending.queue_selection import QueueSelection

        if is_all is any((message_id, organization_id, destination)):
            fail("say which: --message, --org, --destination (together they narrow), or --all")
        try:
            domain = None if destination is None else ascii_domain(destination)
        except ValueError:
            domain = ""
        if domain is not None and not _DOMAIN.fullmatch(domain):  # an address is none, nor are two of them
            fail(f"--destination: {destination} is no domain name")
        command(selection=QueueSelection(message_id, organization_id, domain), **rest)

    return selecting


@queue.command("list")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@_selecting
def queue_list(selection: Any, limit: int, config: Path, as_json: bool) -> None:
    """What waits: held recipients first, then by the time of the next attempt."""
    rows = run_command(lambda store: store.queue.waiting(selection, limit + 1), config)
    advice = "; `maild queue show` counts them"
    show_list(
        rows, limit, "recipients", _waiting_line, none="no recipient waits", as_json=as_json, advice=advice
    )


def _waiting_line(one: dict[str, Any]) -> str:
    when = one["nextAttemptAt"] or "held"
    return f"{one['messageId']}  {one['address']}  {when}  {one['attempts']} attempts  {_said(one)}".rstrip()


def _said(one: dict[str, Any]) -> str:
    return " ".join(str(one[name]) for name in ("smtpCode", "enhancedCode", "response") if one[name])


@queue.command("attempts")
@click.argument("message_id")
@config_option
@json_option
def queue_attempts(message_id: str, config: Path, as_json: bool) -> None:
    """Every attempt to deliver a message, and what was said."""
    found = run_command(lambda store: store.queue.attempts(message_id), config)
    if as_json:
        show(found, as_json)
        return
    if not found["attempts"]:
        review = f"; look at review {found['reviewId']}" if found["reviewId"] else ""
        say(f"no attempt: the message is {found['status']}{review}", err=True)
    for one in found["attempts"]:
        say(
            f"{one['createdAt']}  {one['address']}  {one['attempt']}: {one['outcome']}  {_said(one)}".rstrip()
        )
        for line in _evidence_lines(one["evidence"]):
            say(f"  {line}")


def _evidence_lines(evidence: dict[str, Any] | None) -> Iterator[str]:
    if evidence is None:
        return
    for host in evidence["passedOver"]:
        yield f"{host['host']} was not tried: {host['reason']}"
    for host in evidence["hosts"]:
        tls = f"{host['tlsVersion']} {host['cipher']}" if host["tlsVersion"] else "no TLS"
        policy = f"policy {host['tlsPolicy']} ({host['tlsLevel']})"
        yield f"{host['host']} [{host['address']}]:{host['port']}, {tls}, {policy}, ended at {host['stage']}"
        yield from (f"  {line}" for line in host["dialogue"])
        if host["fault"]:
            yield f"  {host['fault']}"
    if not evidence["hosts"]:
        yield f"ended at {evidence['endedAt']}"


@queue.command("scheduled")
@click.option("--org", "organization_id", help="Of this organization.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@config_option
@json_option
def queue_scheduled(organization_id: str | None, limit: int, config: Path, as_json: bool) -> None:
    """What enters the queue at the time for which it was scheduled: the next first."""
    rows = run_command(lambda store: store.scheduled_mail.list(organization_id, limit + 1), config)
    show_list(rows, limit, "messages", _scheduled_line, none="nothing is scheduled", as_json=as_json)


def _scheduled_line(one: dict[str, Any]) -> str:
    addresses = " ".join(one["recipients"])
    return f"{one['messageId']}  {one['organizationId']}  {one['scheduledAt']}  {addresses}"


@queue.command("cancel")
@click.argument("message_id")
@config_option
@json_option
def queue_cancel(message_id: str, config: Path, as_json: bool) -> None:
    """Cancel a scheduled message for good: it does not leave, and nobody is told."""
    show(run_command(lambda store: store.scheduled_mail.cancel(message_id), config), as_json)


def _progress(step: str, recipients: int) -> None:
    say_progress(f"{step}: {recipients} recipients")


def _queue_verb(verb: str, says: str) -> None:
    @queue.command(verb, help=says)
    @_selecting
    def change(selection: Any, config: Path, as_json: bool) -> None:
        count = run_command(lambda store: store.queue.change(verb, selection, _progress), config)
        say_progress()
        show({"recipients": count}, as_json)
        if verb in ("hold", "drop"):
            leased = run_command(lambda store: store.queue.count_leased(selection), config)
            if leased:
                say(f"being delivered at this moment, and left alone: {leased}", err=True)


_queue_verb("retry", "Try what waits now, instead of when its time comes. What is held stays held.")
_queue_verb("hold", "Let what waits wait until it is released; its time does not run out.")
_queue_verb("release", "Let what is held go on, now.")
_queue_verb("drop", "Take what waits out of the queue for good: it fails, and its sender is told.")
