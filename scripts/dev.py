"""Starts the development daemon and prints its key and a tour (run it through scripts/dev)."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VAR = ROOT / "var"
CONFIG = VAR / "maild.toml"
KEYS = VAR / "keys.json"
SMTP, HTTP = "127.0.0.1:2525", "127.0.0.1:8025"

CONFIGURATION = f"""\
# Written by scripts/dev; conf/maild.toml explains every key.
data_dir = "{VAR / "data"}"

[server]
hostname = "mail.agents.test"
public_url = "http://{HTTP}"
shared_domains = ["agents.test"]

[smtp]
listen = ["{SMTP}"]

[http]
listen = "{HTTP}"

[outbound]
allow_private_networks = true

[webhooks]
allow_private_networks = true
"""

TOUR = """
maild is running: SMTP on {smtp}, API on {http}
API key: {key}

Make an inbox, send it a mail, read it:
  curl -s {http}/v1/inboxes -H 'Authorization: Bearer {key}' -H 'Content-Type: application/json' -d '{{"username":"agent"}}'
  printf 'From: you@example.org\\r\\nSubject: Hello\\r\\n\\r\\nHi, agent!\\r\\n' | curl -s smtp://{smtp} --mail-from you@example.org --mail-rcpt agent@agents.test -T -
  curl -s {http}/v1/messages -H 'Authorization: Bearer {key}'

Ctrl-C stops it. Its log follows.
"""


def main() -> int:
    VAR.mkdir(exist_ok=True)
    if not CONFIG.exists():
        CONFIG.write_text(CONFIGURATION)
    if not KEYS.exists():
        made = subprocess.run([*maild("init"), "--json"], stdout=subprocess.PIPE, check=False)
        if made.returncode:
            return made.returncode
        keep_keys(json.loads(made.stdout))
    key = json.loads(KEYS.read_text())["apiKey"]
    daemon = subprocess.Popen(maild("serve"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    held, log = hold_log(daemon)
    assert daemon.stdout is not None
    line = daemon.stdout.readline()
    if line:
        ready = json.loads(line)
        print(TOUR.format(smtp=ready["smtp"][0], http=ready["http"], key=key), flush=True)
    held.set()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: daemon.terminate())
    code = daemon.wait()
    log.join()
    return code


def maild(command: str) -> list[str]:
    return [sys.executable, "-m", "maild", command, "--config", str(CONFIG)]


def keep_keys(made: dict[str, object]) -> None:
    """A development key may lie on the disk; its owner's alone even so."""
    if "apiKey" not in made:
        sys.exit(f"{VAR / 'data'} has a store, but {KEYS} is gone: remove {VAR} to begin anew")
    with os.fdopen(os.open(KEYS, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump({name: made[name] for name in ("organizationId", "apiKey", "testKey")}, file)


def hold_log(daemon: "subprocess.Popen[str]") -> tuple[threading.Event, threading.Thread]:
    """Show the daemon's log, but only after the tour."""
    held = threading.Event()

    def copy() -> None:
        assert daemon.stderr is not None
        held.wait()
        for line in daemon.stderr:
            sys.stderr.write(line)

    thread = threading.Thread(target=copy, daemon=True)
    thread.start()
    return held, thread


if __name__ == "__main__":
    sys.exit(main())
