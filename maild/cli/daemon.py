"""The daemon, and the configuration that it would run with."""

import gc
import signal
import sys
from pathlib import Path

import click

from maild.cli.common import (
    EXIT_DIED,
    EXIT_FAULT,
    config_option,
    fail,
    json_option,
    looked_at,
    say,
    show,
    whole_settings_of,
)


@click.command()
@config_option
def serve(config: Path) -> None:
    """Run the daemon in the foreground until SIGTERM."""
    for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):  # they would end it until it answers them
        signal.signal(number, signal.SIG_IGN)
    gc.disable()  # until it is ready: nothing that is imported is rubbish, and looking for it takes a fifth of a start
    from maild import logs
    from maild.daemon import StartError
    from maild.process import run
    from storage.engine.failures import in_words
    from storage.service import ServiceDied

    settings = whole_settings_of(config)
    lines = logs.configure(settings.log)
    try:
        run(settings, lines)
    except StartError as error:
        fail(str(error), exit_code=EXIT_DIED if error.may_pass else EXIT_FAULT)
    except ServiceDied as error:
        fail(f"{error}: {error.__cause__!r}", exit_code=EXIT_DIED)
    except OSError as error:  # before it has begun, or as it ends: no descriptor for its loop, say
        fail(in_words(error), exit_code=EXIT_DIED)


@click.command("check-config")
@config_option
@json_option
def check_config(config: Path, as_json: bool) -> None:
    """Name every fault of the configuration."""
    _, faults = looked_at(config)
    if as_json:
        show({"ok": not faults, "faults": faults}, as_json)
        sys.exit(EXIT_FAULT if faults else 0)
    if faults:
        fail(*faults)
    say(f"{config}: OK")
