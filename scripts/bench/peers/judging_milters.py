"""What judges a Postfix's mail in scripts/bench/inbound --judged: opendkim and opendmarc, or rspamd, on Unix sockets.

opendkim verifies, opendmarc checks SPF by itself and refuses. Of rspamd four checks are active, and what writes their
results into the mail: a milter's proxy that scans by itself, with as many workers as there are cores.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from scripts.bench.measure import Helper
from scripts.bench.peers.judging_world import CLIENT
from tests.support.machine import tools
from tests.support.peers import rspamd as private_rspamd

SERVER = "mx.in.test"

# Without a ResolverConfiguration: its threads read that at one time, each for itself, and stumble.
OPENDKIM_CONF = f"""\
Mode v
AuthservID {SERVER}
Nameservers {CLIENT}
Socket local:{{folder}}/socket
UMask 0000
Syslog no
Background no
"""
OPENDMARC_CONF = f"""\
AuthservID {SERVER}
TrustedAuthservIDs {SERVER}
SPFIgnoreResults true
SPFSelfValidate true
RejectFailures true
Socket local:{{folder}}/socket
UMask 0000
Syslog false
Background false
"""
RSPAMD_CONF = """\
options {{
  pidfile = "{folder}/pid"; filters = "dkim"; url_tld = "{folder}/tlds";
  dns {{ nameserver = ["127.0.0.1:53:1"]; timeout = 2s; retransmits = 2; }}
}}
logging {{ type = "file"; filename = "{folder}/log"; level = "error"; }}
worker "rspamd_proxy" {{
  bind_socket = "{folder}/socket mode=0666"; milter = yes; timeout = 60s; count = {workers};
  upstream "local" {{ default = yes; self_scan = yes; }}
}}
actions {{ reject = 15; add_header = 6; greylist = 4; }}
dkim {{ }} spf {{ }} arc {{ }}
dmarc {{ actions = {{ reject = "reject"; }} }}
milter_headers {{ use = ["authentication-results"]; }}
modules {{
  path = "/usr/share/rspamd/plugins/spf.lua";
  path = "/usr/share/rspamd/plugins/dmarc.lua";
  path = "/usr/share/rspamd/plugins/arc.lua";
  path = "/usr/share/rspamd/plugins/milter_headers.lua";
}}
"""


def opendkim(folder: Path) -> Helper:
    """`folder`: an empty one, that Postfix may enter."""
    (folder / "conf").write_text(OPENDKIM_CONF.format(folder=folder))
    return Helper(tools.path_of("opendkim"), "-f", "-x", str(folder / "conf"), path=folder / "socket")


def opendmarc(folder: Path) -> Helper:
    """It has its nameserver from /etc/resolv.conf."""
    (folder / "conf").write_text(OPENDMARC_CONF.format(folder=folder))
    return Helper(tools.path_of("opendmarc"), "-f", "-c", str(folder / "conf"), path=folder / "socket")


def rspamd(folder: Path) -> Helper:
    """`folder`: an empty one, that Postfix and rspamd's user may enter."""
    conf = RSPAMD_CONF.format(folder=folder, workers=os.cpu_count())
    return private_rspamd.helper(folder, conf, path=folder / "socket")


def postfix_lines(milters: Sequence[Helper]) -> list[str]:
    """For main.cf: mail passes these, in their order."""
    sockets = " ".join(f"unix:{one.path}" for one in milters)
    return [f"smtpd_milters = {sockets}", "milter_default_action = tempfail"]


MILTERS = {
    "Postfix": (),
    "Postfix + opendkim + opendmarc": (opendkim, opendmarc),
    "Postfix + rspamd": (rspamd,),
}
