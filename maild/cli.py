"""`maild`: the operator's commands. Faults are one line each on stderr and exit code 2."""

import functools
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any, NoReturn, TextIO

import click

from conf.settings import DEFAULT_PLAN, Settings, SettingsError, load, parse
from maild import __version__

RECOMMENDATION = (
    "Recommended for programs that write mail: what looks like a secret, and mail to addresses that are known from\n"
    "received mail alone, waits until somebody approves it (`maild reviews list`). docs/agents/safety.md says more."
)
EXIT_FAULT = 2
DEFAULT_CONFIG = "/etc/maild/maild.toml"
_DOMAIN = re.compile(r"[a-z0-9_-][a-z0-9._-]*")

_config = click.option(
    "--config",
    type=click.Path(path_type=Path, dir_okay=False),
    default=DEFAULT_CONFIG,
    show_default=True,
    help="The configuration file.",
)
_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")

_key_file = click.option(
    "--key-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where the master key is, if not in data_dir: the file that systemd makes a credential of.",
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="maild")
def main() -> None:
    """Email for AI agents on one VM."""
    os.umask(0o077)  # whatever we write is our user's alone


def _fail(*lines: str) -> NoReturn:
    for line in lines:
        click.echo(f"maild: {line}", err=True)
    sys.exit(EXIT_FAULT)


def _settings(config: Path) -> Settings:
    try:
        return load(config)
    except SettingsError as error:
        _fail(*error.faults)


def _command(work: Callable[[Any], Any], config: Path) -> Any:
    """Run `work(store)`, turning what the operator can mend into one line."""
    from controlplane.contract.refusals import Refusal
    from maild.audit_verifying import Unverifiable
    from maild.member_commands import MemberFault
    from maild.operator_commands import OperatorCommands
    from storage.data_folder import DataFolderError
    from storage.migrate import StoreError
    from storage.sealing import SealError

    try:
        return work(OperatorCommands(_settings(config)))
    except (DataFolderError, StoreError, SealError, Unverifiable, MemberFault) as error:
        _fail(str(error))
    except KeyError as error:
        _fail(f"there is no {error.args[0]}")
    except Refusal as error:
        _fail(f"{error.code}: {error.message} {json.dumps(error.details or {})}")
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}")


def _print(answer: dict[str, Any], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(answer))
        return
    for name, value in answer.items():
        if name == "records":
            click.echo("\nPublish these DNS records:")
            for one in value:
                priority = f"{one['priority']} " if one["priority"] is not None else ""
                click.echo(f"  {one['name']}  {one['type']}  {priority}{one['value']}")
        elif isinstance(value, dict):
            _print({f"{name}.{inner}": found for inner, found in value.items()}, as_json=False)
        else:
            click.echo(f"{name}: {value}")


@main.command()
@_config
def serve(config: Path) -> None:
    """Run the daemon in the foreground until SIGTERM."""
    from maild import logs
    from maild.daemon import StartError, run
    from storage.service import ServiceDied

    settings = _settings(config)
    logs.configure(settings.log)
    try:
        run(settings)
    except StartError as error:
        _fail(str(error))
    except ServiceDied as error:
        click.echo(f"maild: {error}: {error.__cause__!r}", err=True)
        sys.exit(1)


@main.command()
@_config
@click.option("--domain", help="Write a configuration for this domain where there is none.")
@click.option(
    "--recommended-policy/--no-policy",
    "is_recommended",
    default=None,
    help="Hold what looks like a secret, and mail to addresses known from received mail alone, until somebody approves "
    "it. Without either, a terminal is asked.",
)
@_json
def init(config: Path, domain: str | None, is_recommended: bool | None, as_json: bool) -> None:
    """Make the store, the master key, the DKIM keys and the first organization."""
    from maild.operator_commands import write_configuration

    if not config.exists():
        if domain is None:
            _fail(f"{config} does not exist; name your mail domain with --domain to have it written")
        try:
            parse({"server": {"shared_domains": [domain]}})
        except SettingsError:
            _fail(f"--domain: {domain} is no domain name such as agents.example.org (IDN in its xn-- form)")
        template = (resources.files("conf") / "maild.toml").read_text("utf-8")
        try:
            write_configuration(config, domain.lower().rstrip("."), template)
        except OSError as error:
            _fail(f"{config}: {error.strerror}")
    settings = _settings(config)
    if domain is not None and domain.lower().rstrip(".") not in settings.server.shared_domains:
        _fail(f"--domain: {domain} is not one of server.shared_domains in {config}")
    made = _command(lambda store: store.init(is_recommended=bool(is_recommended)), config)
    _print(made, as_json)  # first of all: its keys are shown once
    is_asked = is_recommended is None and "apiKey" in made and not as_json and sys.stdin.isatty()
    if is_asked and click.confirm(f"\n{RECOMMENDATION}\nSet it?"):
        _print(_command(lambda store: store.recommend_policy(made["organizationId"]), config), as_json)


@main.command("check-config")
@_config
def check_config(config: Path) -> None:
    """Name every fault of the configuration."""
    _settings(config)
    click.echo(f"{config}: OK")


@main.command()
@_config
@_json
def check(config: Path, as_json: bool) -> None:
    """Look for damage: pages, references, counters, stored messages. Exit code 1 when there is some."""
    from maild.checking import check as look

    found: dict[str, Any] = _command(lambda store: store.look_at(look), config)
    if as_json:
        click.echo(json.dumps(found))
    else:
        for one in found["damage"]:
            click.echo(" ".join(filter(None, [f"{one['kind']}:", one["id"], one["fault"]])))
        for path in found["strayFiles"]:
            click.echo(f"note: {path} belongs to no message; the next start removes it")
        verdict = (
            "OK" if found["ok"] else f"{len(found['damage'])} faults; restore what is named from a backup"
        )
        click.echo(f"{found['blobs']} stored messages: {verdict}")
    if not found["ok"]:
        sys.exit(1)


@main.command("rotate-master-key")
@_config
@_key_file
@_json
def rotate_master_key(config: Path, key_file: Path | None, as_json: bool) -> None:
    """Seal all secrets under a new master key. Stop the daemon first."""
    _print(_command(lambda store: store.rotate_master_key(key_file), config), as_json)


@main.group()
def audit() -> None:
    """The audit log."""


@audit.command("verify")
@click.option("--org", "organization_id", help="Of this organization alone.")
@click.option("--head", help="A hash that was noted elsewhere: 64 hexadecimal digits.")
@_key_file
@_config
@_json
def audit_verify(
    organization_id: str | None, head: str | None, key_file: Path | None, config: Path, as_json: bool
) -> None:
    """Is the audit log as it was written? Exit code 1 when it is not, 2 when that could not be found out.

    That its newest rows were cut off shows only against a hash that was noted elsewhere (--head).
    """
    wanted = None if head is None else head.strip().lower()
    if wanted is not None and (len(wanted) != 64 or not set(wanted) <= set("0123456789abcdef")):
        _fail("--head: 64 hexadecimal digits, as GET /v1/audit/head and the line audit_head show it")
    found: dict[str, Any] = _command(
        lambda store: store.verify_audit(key_file, organization_id, wanted), config
    )
    _print_verdict(found, as_json)
    if not found["ok"]:
        sys.exit(1)


def _print_verdict(found: dict[str, Any], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(found))
        return
    for one in found["organizations"]:
        is_whole = one["brokenSeq"] is None
        verdict = "whole" if is_whole else f"BROKEN at {one['brokenSeq']}: {one['fault']}"
        rows = f"rows {one['first']} to {one['last']}, head {one['head']}" if one["rows"] else "no rows"
        click.echo(f"{one['organizationId']}: {verdict}; {rows}")
    if found["waiting"]:
        click.echo(f"note: {found['waiting']} rows of commands wait for the daemon to seal them")
    if found["headFound"] is False:
        click.echo(
            "--head: BROKEN: no row has that hash; rows were cut off, or it is older than what is kept"
        )


@audit.command("key")
@click.option("--org", "organization_id", required=True, help="The organization's id.")
@_key_file
@_config
@_json
def audit_key(organization_id: str, key_file: Path | None, config: Path, as_json: bool) -> None:
    """Print the key of an organization's chain, for who checks an export. Who has it can forge rows of this chain."""
    _print(_command(lambda store: store.show_chain_key(key_file, organization_id), config), as_json)


@main.group()
def org() -> None:
    """Organizations."""


@org.command("create")
@click.argument("name")
@click.option("--plan", default=DEFAULT_PLAN, show_default=True)
@_config
@_json
def org_create(name: str, plan: str, config: Path, as_json: bool) -> None:
    """Make an organization with a live and a test key."""
    _check_plan(config, "--plan", plan)
    if not 1 <= len(name) <= 100:
        _fail("NAME: 1 to 100 characters")
    _print(_command(lambda store: store.create_organization(name, plan), config), as_json)


@org.command("list")
@_config
@_json
def org_list(config: Path, as_json: bool) -> None:
    """Every organization: may it send, and how much did it."""
    found: list[dict[str, Any]] = _command(lambda store: store.list_organizations(), config)
    if as_json:
        click.echo(json.dumps({"organizations": found}))
        return
    for one in found:
        used, tripped = one["usage"], " tripwire" if one["tripwire"]["trippedAt"] else ""
        sent = f"{used['messagesDaily']} today, {used['messagesMonthly']} this month"
        click.echo(
            f"{one['id']}  {one['sendingApproval']['status']}{tripped}  {one['plan']}  {sent}  {one['name']}"
        )


@org.command("show")
@click.argument("organization_id")
@_config
@_json
def org_show(organization_id: str, config: Path, as_json: bool) -> None:
    """One organization: usage, limits, approval, reputation, tripwire."""
    _print(_command(lambda store: store.show_organization(organization_id), config), as_json)


@org.command("plan")
@click.argument("organization_id")
@click.argument("plan")
@_config
@_json
def org_plan(organization_id: str, plan: str, config: Path, as_json: bool) -> None:
    """Put an organization on another plan of the configuration."""
    _check_plan(config, "PLAN", plan)
    if not _command(lambda store: store.set_plan(organization_id, plan), config):
        _fail(f"there is no organization {organization_id}")
    _print({"organizationId": organization_id, "plan": plan}, as_json)


@org.command("reset-tripwire")
@click.argument("organization_id")
@_config
@_json
def org_reset_tripwire(organization_id: str, config: Path, as_json: bool) -> None:
    """Let an organization send again that wrote to too many at once."""
    if not _command(lambda store: store.reset_tripwire(organization_id), config):
        _fail(f"there is no organization {organization_id}")
    _print({"organizationId": organization_id, "tripwire": "reset"}, as_json)


@org.command("reviewers")
@click.argument("organization_id")
@click.argument("who", type=click.Choice(["keys", "members"]))
@_config
@_json
def org_reviewers(organization_id: str, who: str, config: Path, as_json: bool) -> None:
    """Say who decides what is held, and changes policies and rules: keys too, or members (and you) alone."""
    if not _command(lambda store: store.set_reviewers(organization_id, who), config):
        _fail(f"there is no organization {organization_id}")
    _print({"organizationId": organization_id, "reviewers": who}, as_json)


@org.command("approve")
@click.argument("organization_id")
@_config
@_json
def org_approve(organization_id: str, config: Path, as_json: bool) -> None:
    """Let an organization send; the circuit breaker counts anew from now."""
    _set_sending(organization_id, "approved", None, None, config, as_json)


@org.command("pause")
@click.argument("organization_id")
@click.option("--reason", default="manual_review", show_default=True)
@_config
@_json
def org_pause(organization_id: str, reason: str, config: Path, as_json: bool) -> None:
    """Keep an organization from sending; it goes on receiving."""
    _set_sending(organization_id, "paused", reason, "contact_operator", config, as_json)


def _check_plan(config: Path, argument: str, plan: str) -> None:
    plans = _settings(config).plans
    if plan not in plans:
        _fail(f"{argument}: there is no plan {plan}; the configuration has {', '.join(sorted(plans))}")


def _set_sending(
    organization_id: str, status: str, reason: str | None, action: str | None, config: Path, as_json: bool
) -> None:
    if not _command(lambda store: store.set_sending(organization_id, status, reason, action), config):
        _fail(f"there is no organization {organization_id}")
    _print({"organizationId": organization_id, "status": status}, as_json)


@main.group()
def queue() -> None:
    """The outbound queue."""


@queue.command("pause")
@_config
@_json
def queue_pause(config: Path, as_json: bool) -> None:
    """Let nothing into the queue and nothing out of it: sends answer 503, mail comes in as before."""
    _print_queue(_command(lambda store: store.pause_queue(), config), as_json)


@queue.command("resume")
@_config
@_json
def queue_resume(config: Path, as_json: bool) -> None:
    """Go on; what waited leaves within seconds."""
    _print_queue(_command(lambda store: store.resume_queue(), config), as_json)


@queue.command("show")
@_config
@_json
def queue_show(config: Path, as_json: bool) -> None:
    """How many recipients wait, for which destinations most, and whether the queue is paused."""
    _print_queue(_command(lambda store: store.show_queue(), config), as_json)


def _print_queue(state: dict[str, Any], as_json: bool) -> None:
    if as_json:
        _print(state, as_json)
        return
    destinations = state.pop("destinations")
    _print(state, as_json)
    for one in destinations:
        held = f", {one['held']} held" if one["held"] else ""
        click.echo(f"  {one['waiting']:>7}  {one['destination']}{held}, next {one['firstDueAt'] or 'never'}")


def _selecting(command: Callable[..., None]) -> Callable[..., None]:
    """Which recipients: `selection` for the command."""

    @click.option("--message", "message_id", help="Of this message.")
    @click.option("--org", "organization_id", help="Of this organization.")
    @click.option("--destination", help="At this domain.")
    @click.option("--all", "is_all", is_flag=True, help="Of everybody.")
    @_config
    @_json
    @functools.wraps(command)
    def selecting(
        message_id: str | None,
        organization_id: str | None,
        destination: str | None,
        is_all: bool,
        **rest: Any,
    ) -> None:
        from maild.message.idn import ascii_domain
        from storage.queue_selection import QueueSelection

        if is_all is any((message_id, organization_id, destination)):
            _fail("say which: --message, --org, --destination (together they narrow), or --all")
        try:
            domain = None if destination is None else ascii_domain(destination)
        except ValueError:
            domain = ""
        if domain is not None and not _DOMAIN.fullmatch(domain):  # an address is none, nor are two of them
            _fail(f"--destination: {destination} is no domain name")
        command(selection=QueueSelection(message_id, organization_id, domain), **rest)

    return selecting


@queue.command("list")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@_selecting
def queue_list(selection: Any, limit: int, config: Path, as_json: bool) -> None:
    """What waits: held recipients first, then by the time of the next attempt."""
    rows = _command(lambda store: store.list_queue(selection, limit + 1), config)
    more = len(rows) > limit
    if as_json:
        _print({"recipients": rows[:limit], "more": more}, as_json)
        return
    for one in rows[:limit]:
        said = " ".join(str(one[name]) for name in ("smtpCode", "enhancedCode", "response") if one[name])
        when = one["nextAttemptAt"] or "held"
        click.echo(
            f"{one['messageId']}  {one['address']}  {when}  {one['attempts']} attempts  {said}".rstrip()
        )
    if more:
        click.echo(f"and more, which --limit beyond {limit} shows; `maild queue show` counts them", err=True)


@queue.command("attempts")
@click.argument("message_id")
@_config
@_json
def queue_attempts(message_id: str, config: Path, as_json: bool) -> None:
    """Every attempt to deliver a message, and what was said."""
    found = _command(lambda store: store.list_attempts(message_id), config)
    if as_json:
        _print({"attempts": found}, as_json)
        return
    for one in found:
        said = " ".join(str(one[name]) for name in ("smtpCode", "enhancedCode", "response") if one[name])
        click.echo(
            f"{one['createdAt']}  {one['address']}  {one['attempt']}: {one['outcome']}  {said}".rstrip()
        )
        for line in _evidence_lines(one["evidence"]):
            click.echo(f"  {line}")


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


def _queue_verb(verb: str, says: str) -> None:
    @queue.command(verb, help=says)
    @_selecting
    def change(selection: Any, config: Path, as_json: bool) -> None:
        count = _command(lambda store: store.change_queue(verb, selection), config)
        _print({"recipients": count}, as_json)
        if verb in ("hold", "drop"):
            leased = _command(lambda store: store.count_leased(selection), config)
            if leased:
                click.echo(f"being delivered at this moment, and left alone: {leased}", err=True)


_queue_verb("retry", "Try what waits now, instead of when its time comes. What is held stays held.")
_queue_verb("hold", "Let what waits wait until it is released; its time does not run out.")
_queue_verb("release", "Let what is held go on, now.")
_queue_verb("drop", "Take what waits out of the queue for good: it fails, and its sender is told.")


@main.group()
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
@_config
@_json
def reviews_list(organization_id: str | None, status: str, limit: int, config: Path, as_json: bool) -> None:
    """What is held, or was, newest first."""
    wanted = None if status == "any" else status
    rows = _command(lambda store: store.reviews.list(organization_id, wanted, limit), config)
    if as_json:
        _print({"reviews": rows}, as_json)
        return
    for one in rows:
        why = ", ".join(one["reasons"])
        click.echo(f"{one['id']}  {one['status']}  {one['direction']}  until {one['expiresAt']}  {why}")


@reviews.command("show")
@click.argument("review_id")
@click.option("--raw", is_flag=True, help="The message itself, byte for byte.")
@_config
@_json
def reviews_show(review_id: str, raw: bool, config: Path, as_json: bool) -> None:
    """What is decided about, why it is held, and the content hash that an approval quotes."""
    if raw:
        sys.stdout.buffer.write(_command(lambda store: store.reviews.raw(review_id), config))
        return
    _print_review(_command(lambda store: store.reviews.show(review_id), config), as_json)


@reviews.command("approve")
@click.argument("review_id")
@click.option("--content-hash", required=True, help="As `maild reviews show` shows it.")
@click.option("--note", help="For the record.")
@click.option("--force", is_flag=True, help="Although the conversation went on.")
@_config
@_json
def reviews_approve(
    review_id: str, content_hash: str, note: str | None, force: bool, config: Path, as_json: bool
) -> None:
    """Let it go, now or at its time; every guard is asked again."""
    from controlplane.sending.reviewing import Approval

    approval = Approval(content_hash, note, force)
    _print_review(_command(lambda store: store.reviews.approve(review_id, approval), config), as_json)


@reviews.command("reject")
@click.argument("review_id")
@click.option("--note", help="For the record.")
@_config
@_json
def reviews_reject(review_id: str, note: str | None, config: Path, as_json: bool) -> None:
    """Let it go nowhere."""
    _print_review(_command(lambda store: store.reviews.reject(review_id, note), config), as_json)


def _print_review(review: dict[str, Any], as_json: bool) -> None:
    """What others wrote is printed as JSON writes it: nothing of it acts on the terminal, or looks like ours."""
    if as_json:
        _print(review, as_json)
        return
    for name, value in review.items():
        if name != "message" or value is None:
            is_theirs = name == "note" or isinstance(value, list)
            click.echo(f"{name}: {json.dumps(value) if is_theirs else value}")
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
            click.echo(f"message.{member}: {json.dumps(value[member])}")


@main.group()
def keys() -> None:
    """API keys."""


@keys.command("create")
@click.option("--org", "organization_id", required=True, help="The organization's id.")
@click.option("--name", required=True, help="What the key is for.")
@click.option("--scope", "scopes", multiple=True, help="A scope; give it once for each. Default: all.")
@click.option("--inbox", "inbox_id", help="Bind the key to this inbox.")
@click.option("--test", "is_test", is_flag=True, help="A test key: its mail reaches nobody.")
@_config
@_json
def keys_create(
    organization_id: str,
    name: str,
    scopes: tuple[str, ...],
    inbox_id: str | None,
    is_test: bool,
    config: Path,
    as_json: bool,
) -> None:
    """Make an API key. It is shown once."""
    from controlplane.contract.scopes import (
        BOUND_BY_NAME,
        GRANTABLE,
        MAIL_SCOPES,
        OPERATOR_SCOPES,
        mail_scopes_of,
    )

    unknown = [scope for scope in scopes if scope not in GRANTABLE | set(OPERATOR_SCOPES)]
    if unknown:
        _fail(*(f"--scope: there is no scope {scope}" for scope in unknown))
    if not 1 <= len(name) <= 64:
        _fail("--name: 1 to 64 characters")
    if is_test and not set(scopes).isdisjoint(OPERATOR_SCOPES):
        _fail(f"--scope: a test key can't hold {', '.join(OPERATOR_SCOPES)}")
    held: tuple[str, ...] = scopes or ("*",)
    if inbox_id is not None:
        held = mail_scopes_of(held)
        if not held:
            _fail(f"--scope: a key bound to an inbox can hold only {', '.join(MAIL_SCOPES + BOUND_BY_NAME)}")
    mode = "test" if is_test else "live"
    answer = _command(lambda store: store.create_key(organization_id, name, held, inbox_id, mode), config)
    _print(answer, as_json)


@keys.command("revoke")
@click.argument("key_id")
@_config
@_json
def keys_revoke(key_id: str, config: Path, as_json: bool) -> None:
    """Make a key useless at once, also in a running daemon."""
    if not _command(lambda store: store.revoke_key(key_id), config):
        _fail(f"there is no key {key_id}")
    _print({"id": key_id, "status": "revoked"}, as_json)


_organization = click.option("--org", "organization_id", required=True, help="The organization's id.")


@main.group()
def policy() -> None:
    """What the mail of an organization, or of an inbox, may and may not do."""


_inbox = click.option("--inbox", "inbox_id", help="Of this inbox, and not of the whole organization.")


@policy.command("show")
@_organization
@_inbox
@_config
def policy_show(organization_id: str, inbox_id: str | None, config: Path) -> None:
    """The own document, as JSON: what `set` takes."""
    shown = _command(lambda store: store.policies.show(organization_id, inbox_id), config)
    click.echo(json.dumps(shown, indent=2))


@policy.command("set")
@_organization
@_inbox
@click.argument("file", type=click.File("r", encoding="utf-8"))
@_config
def policy_set(organization_id: str, inbox_id: str | None, file: TextIO, config: Path) -> None:
    """Replace the document by that of FILE ('-': standard input), which names the version that it replaces."""
    try:
        given = json.load(file)
    except ValueError as error:
        _fail(f"FILE: no JSON: {error}")
    if not isinstance(given, dict):
        _fail("FILE: expected an object, as `maild policy show` prints it")
    done = _command(lambda store: store.policies.replace(organization_id, inbox_id, given), config)
    click.echo(json.dumps(done, indent=2))


@main.group()
def rules() -> None:
    """Who may be written to, and who may write."""


@rules.command("add")
@_organization
@click.option("--direction", type=click.Choice(["inbound", "outbound"]), required=True)
@click.option("--action", type=click.Choice(["allow", "block", "hold"]), required=True)
@click.option("--inbox", "inbox_id", help="For this inbox alone.")
@click.option("--note", help="Why.")
@click.argument("value")
@_config
@_json
def rules_add(
    organization_id: str,
    direction: str,
    action: str,
    inbox_id: str | None,
    note: str | None,
    value: str,
    config: Path,
    as_json: bool,
) -> None:
    """Make a rule about VALUE: an address, a domain, or '*.' and a domain."""
    given = {"direction": direction, "action": action, "value": value, "inboxId": inbox_id, "note": note}
    _print(_command(lambda store: store.rules.add(organization_id, given), config), as_json)


@rules.command("list")
@_organization
@_config
@_json
def rules_list(organization_id: str, config: Path, as_json: bool) -> None:
    """Every rule of an organization, newest first."""
    found: list[dict[str, Any]] = _command(lambda store: store.rules.list(organization_id), config)
    if as_json:
        click.echo(json.dumps({"rules": found}))
        return
    for one in found:
        of_inbox = f"  {one['inboxId']}" if one["inboxId"] else ""
        note = f"  {json.dumps(one['note'])}" if one["note"] else ""
        click.echo(f"{one['id']}  {one['direction']}  {one['action']}  {one['value']}{of_inbox}{note}")


@rules.command("remove")
@_organization
@click.argument("rule_id")
@_config
@_json
def rules_remove(organization_id: str, rule_id: str, config: Path, as_json: bool) -> None:
    """Delete a rule; the next message meets it no more."""
    _command(lambda store: store.rules.remove(organization_id, rule_id), config)
    _print({"id": rule_id, "deleted": True}, as_json)


@main.group()
def member() -> None:
    """The people of an organization, who may sign in to the console."""


@member.command("add")
@_organization
@click.option("--email", required=True, help="The member's address; a link can be mailed there.")
@click.option(
    "--role",
    type=click.Choice(["owner", "admin", "member"]),
    required=True,
    help="Owners and admins act, members read.",
)
@click.option("--name", help="How the console calls the member.")
@_config
@_json
def member_add(
    organization_id: str, email: str, role: str, name: str | None, config: Path, as_json: bool
) -> None:
    """Make a member, or give one another role or name."""
    _print(_command(lambda store: store.members.add(organization_id, email, role, name), config), as_json)


@member.command("list")
@_organization
@_config
@_json
def member_list(organization_id: str, config: Path, as_json: bool) -> None:
    """Every member of an organization, in the order in which they joined."""
    found: list[dict[str, Any]] = _command(lambda store: store.members.list(organization_id), config)
    if as_json:
        click.echo(json.dumps({"members": found}))
        return
    for one in found:
        click.echo(f"{one['id']}  {one['role']}  {one['email']}  {one['name'] or ''}".rstrip())


@member.command("remove")
@_organization
@click.argument("who")
@_config
@_json
def member_remove(organization_id: str, who: str, config: Path, as_json: bool) -> None:
    """Delete the member WHO, an address or an id, and sign it out everywhere."""
    _print(_command(lambda store: store.members.remove(organization_id, who), config), as_json)


@main.group()
def console() -> None:
    """The pages for people, at /console."""


@console.command("link")
@_organization
@click.option("--member", "who", required=True, help="An address or an id.")
@_config
@_json
def console_link(organization_id: str, who: str, config: Path, as_json: bool) -> None:
    """Print a link that signs a member in: once, and within fifteen minutes."""
    made = _command(lambda store: store.members.link(organization_id, who), config)
    if as_json:
        _print(made, as_json)
        return
    click.echo(made["link"])
    click.echo(f"signs {made['member']} in once, until {made['expiresAt']}", err=True)
