"""What signs a Postfix's mail in scripts/bench/outbound: opendkim or rspamd, each with a key of its own (RSA-2048).

Both listen on a Unix socket, which takes opendkim 1.5 times as many mails a second as a port. Of rspamd one thing is
active, `dkim_signing`: a milter's proxy that scans by itself, with as many workers as there are cores.
"""

import os
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from scripts.bench.measure import Helper
from tests.support.machine import tools
from tests.support.peers import rspamd as private_rspamd

DOMAIN = "x.test"
SELECTOR = "s1"

OPENDKIM_CONF = f"""\
Mode s
Domain {DOMAIN}
Selector {SELECTOR}
KeyFile {{folder}}/{SELECTOR}.private
Canonicalization relaxed/relaxed
Socket local:{{folder}}/socket
UMask 0000
InternalHosts 127.0.0.1
SignatureAlgorithm rsa-sha256
RequireSafeKeys no
Syslog no
Background no
"""

RSPAMD_CONF = f"""\
options {{{{
  pidfile = "{{folder}}/pid"; filters = "dkim"; url_tld = "{{folder}}/tlds";
  dns {{{{ nameserver = ["127.0.0.1:53:1"]; timeout = 0.1s; retransmits = 1; }}}}
}}}}
logging {{{{ type = "file"; filename = "{{folder}}/log"; level = "error"; }}}}
worker "rspamd_proxy" {{{{
  bind_socket = "{{folder}}/socket mode=0666"; milter = yes; timeout = 60s; count = {{workers}};
  upstream "local" {{{{ default = yes; self_scan = yes; }}}}
}}}}
dkim_signing {{{{
  sign_local = true; allow_username_mismatch = true; use_domain = "envelope";
  domain {{{{ {DOMAIN} {{{{ path = "{{folder}}/{SELECTOR}.private"; selector = "{SELECTOR}"; }}}} }}}}
}}}}
modules {{{{ path = "/usr/share/rspamd/plugins/dkim_signing.lua"; }}}}
"""


def opendkim(folder: Path) -> Helper:
    """`folder`: an empty one, that Postfix may enter."""
    _make_key(folder)
    (folder / "conf").write_text(OPENDKIM_CONF.format(folder=folder))
    return Helper(tools.path_of("opendkim"), "-f", "-x", str(folder / "conf"), path=folder / "socket")


def rspamd(folder: Path) -> Helper:
    """`folder`: an empty one, that Postfix and rspamd's user may enter."""
    _make_key(folder)
    conf = RSPAMD_CONF.format(folder=folder, workers=os.cpu_count())
    return private_rspamd.helper(folder, conf, path=folder / "socket")


MILTERS = {"opendkim": opendkim, "rspamd": rspamd}


def _make_key(folder: Path) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    (folder / f"{SELECTOR}.private").touch(0o600)
    (folder / f"{SELECTOR}.private").write_bytes(key)
