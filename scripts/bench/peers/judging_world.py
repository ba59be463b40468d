"""A network of its own for scripts/bench/inbound --judged: clients come from an address that no software takes for its own
host (SPF libraries let loopback pass), and one unbound answers for all domains.

A network namespace has its own loopback device and its own port 53, a mount namespace its own /etc/resolv.conf, which
opendmarc alone reads. They end with the process. libunbound, in opendkim, asks no loopback address and for no name below
.test, so the resolver has the clients' address as well, and the domains end in .example.
"""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from scripts.bench.measure import Helper
from tests.support.machine import tools

CLIENT = "192.0.2.1"
INSIDE = "BENCH_INSIDE"
DNS_PORT = 53
STRING_CHARS = 255

UNBOUND_CONF = """\
server:
  interface: 127.0.0.1
  interface: {client}
  access-control: 0.0.0.0/0 allow
  do-daemonize: no
  username: ""
  chroot: ""
  pidfile: ""
  directory: "{folder}"
  use-syslog: no
  logfile: "{folder}/log"
  module-config: iterator
  local-zone: example. static
  local-data: "example. 60 IN SOA ns.example. hostmaster.example. 1 1 1 1 60"
  include: {folder}/records
remote-control:
  control-enable: no
"""


def enter() -> None:
    """Run the program again in such namespaces, unless it does."""
    if INSIDE in os.environ:
        return
    command = [tools.path_of("unshare"), "--net", "--mount", sys.executable, *sys.orig_argv[1:]]
    os.execve(command[0], command, {**os.environ, INSIDE: "1"})


def prepare(folder: Path) -> None:
    """The addresses, and who is asked for names."""
    (folder / "resolv.conf").write_text(f"nameserver {CLIENT}\n")
    for command in (
        "ip link set lo up",
        f"ip address add {CLIENT}/32 dev lo",
        f"ip route replace local 127.0.0.1 dev lo table local src {CLIENT}",
        f"mount --bind {folder}/resolv.conf /etc/resolv.conf",
    ):
        subprocess.run(command.split(), check=True)


def resolver(folder: Path, records: Iterable[tuple[str, str]], ttl_s: int) -> Helper:
    """An unbound that has these TXT records (name, text), and denies all else below .example."""
    lines = (_local_data(name, text, ttl_s) for name, text in records)
    (folder / "records").write_text("\n".join(["server:", *lines, ""]))
    (folder / "conf").write_text(UNBOUND_CONF.format(folder=folder, client=CLIENT))
    return Helper(tools.path_of("unbound"), "-d", "-c", str(folder / "conf"), port=DNS_PORT)


def _local_data(name: str, text: str, ttl_s: int) -> str:
    quoted = " ".join(f'"{text[at : at + STRING_CHARS]}"' for at in range(0, len(text), STRING_CHARS))
    return f"  local-data: '{name}. {ttl_s} IN TXT {quoted}'"
