"""What people do with mail all day: read, answer, wait, listen. Made by hand, of the same operations."""

import time
from collections.abc import Mapping
from typing import Any

import click

from maild_client.cli import exits, given, showing
from maild_client.cli.calling import Caller
from maild_client.cli.common import CommandRun, MaildcCommand, run_of
from maild_client.cli.exits import CommandEnded
from maild_client.cli.rows import row_of

WAIT_AT_ONCE_S = 55  # the API holds a request no longer


@click.command("read", cls=MaildcCommand, short_help="Show a message or a thread as text")
@click.argument("id", metavar="MESSAGE_ID|THREAD_ID")
@click.option("--max-tokens", type=click.INT, help="Of a thread: about how long its text may be.")
@click.option("--text", "as_text", is_flag=True, help="As text, also where stdout is no terminal.")
@click.pass_context
def read(context: click.Context, id: str, max_tokens: int | None, as_text: bool) -> None:
    """Show a message, or a whole thread, as text."""
    run = run_of(context)
    operation = "getThreadContext" if id.startswith("thd_") else "getMessage"
    parts = given.parts(row_of(operation), {_id_option(operation): id, "max_tokens": max_tokens})
    with Caller(run) as caller:
        answer = caller.json(row_of(operation), parts)
    if run.shows_json and not as_text:
        run.show(answer)
    elif operation == "getThreadContext":
        click.echo(showing.safe(answer["text"], keeps_lines=True))
    else:
        click.echo(showing.message_text(answer))


@click.command("reply", cls=MaildcCommand, short_help="Answer a message, unless more came after it")
@click.argument("message_id", metavar="MESSAGE_ID")
@click.option("--text", required=True, help="What to say; @FILE, or '-' for stdin.")
@click.option("--html", help="The same in HTML; @FILE, or '-' for stdin.")
@click.option("--all", "reply_all", is_flag=True, help="To all who took part, not to the sender alone.")
@click.option("--attach", multiple=True, metavar="FILE", help="A file to attach, once for each.")
@click.option("--claim-id", help="Send only while this claim lives, and end it.")
@click.option("--draft", is_flag=True, help="Write a draft instead.")
@click.option("--anyway", is_flag=True, help="Also where the conversation went on after that message.")
@click.pass_context
def reply(context: click.Context, /, message_id: str, anyway: bool, draft: bool, **options: Any) -> None:
    """Answer a message, unless the conversation went on after it.

    What came later is told, and nothing is sent (exit 5): read it, and answer the newest.
    """
    row = row_of("replyToMessage")
    said = {name: value for name, value in options.items() if value not in (None, False, ())}
    said |= {_id_option(row.id): message_id}
    said |= {} if anyway else {"if_last_message_id": message_id}
    said |= {"as_draft": True} if draft else {}
    said |= {"complete_claim": True} if "claim_id" in said else {}
    parts = given.parts(row, said)
    with Caller(run_of(context)) as caller:
        run_of(context).show(caller.json(row, parts))


@click.command("wait", cls=MaildcCommand, short_help="Wait for the next message that comes in")
@click.option("--inbox-id", help="In this inbox; a bound key has one alone.")
@click.option("--thread-id", help="In this thread.")
@click.option("--from-domain", help="From a sender of this domain.")
@click.option("--subject", help="With this in its subject.")
@click.option(
    "--after", help="After this message, event or time; left out, what came in the last two minutes counts."
)
@click.option(
    "--timeout", "timeout_s", type=click.IntRange(0), default=300, show_default=True, help="In seconds."
)
@click.pass_context
def wait(context: click.Context, /, timeout_s: int, **options: Any) -> None:
    """Wait for the next message that comes in; exit 8 where none does."""
    run = run_of(context)
    with Caller(run) as caller:
        message = _awaited(run, caller, options, time.monotonic() + timeout_s)
    if message is None:
        raise CommandEnded(exits.TIMED_OUT, "timed_out", f"Nothing came within {timeout_s} s.")
    if run.shows_json:
        run.show(message)
    else:
        click.echo(showing.message_text(message))


def _awaited(
    run: CommandRun, caller: Caller, options: Mapping[str, Any], until: float
) -> dict[str, Any] | None:
    row = row_of("waitForMessage")
    asked = dict(options)
    try:
        while True:
            left_s = max(0, round(until - time.monotonic()))
            run.note(f"Waiting for mail, {left_s} s left")
            # No time and no position would ask where mail ends, and look at none of it.
            least_s = 0 if asked["after"] else 1
            asked["timeout_seconds"] = min(WAIT_AT_ONCE_S, max(least_s, left_s))
            answer = caller.json(row, given.parts(row, asked))
            if answer["message"] is not None:
                found: dict[str, Any] = answer["message"]
                return found
            asked["after"] = answer["cursor"] or asked["after"]  # nothing is missed between two waits
            if left_s <= WAIT_AT_ONCE_S:
                return None
    finally:
        run.noted()


@click.command("listen", cls=MaildcCommand, short_help="Tell events as they happen")
@click.option("--types", multiple=True, help="Of these types, once for each; '*' for all.")
@click.option("--inbox-id", help="Of this inbox.")
@click.option("--after", help="After this event: the log is told from there.")
@click.pass_context
def listen(context: click.Context, /, **options: Any) -> None:
    """Tell events as they happen, a line each, until it is stopped."""
    run = run_of(context)
    row = row_of("streamEvents")
    parts = given.parts(row, options)
    with Caller(run) as caller:
        for event in caller.events(row, parts):
            run.show_line(event, showing.event_line(event))


def _id_option(operation: str) -> str:
    return next(one.option for one in row_of(operation).takes if one.place == "path")
