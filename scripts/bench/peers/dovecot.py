"""A private Dovecot that takes mail over LMTP into a maildir, for a Postfix to deliver to."""

import os
from pathlib import Path

from scripts.bench.measure import Helper
from tests.support.machine import tools
from tests.support.peers.postfix import NOBODY

CONF = """\
base_dir = {folder}/run
log_path = {folder}/log
protocols = lmtp
listen = 127.0.0.1
ssl = no
mail_location = maildir:{folder}/mail/%n
first_valid_uid = 100
passdb {{
  driver = static
  args = nopassword=y
}}
userdb {{
  driver = static
  args = uid={nobody} gid={nobody} home={folder}/mail/%n allow_all_users=yes
}}
service lmtp {{
  unix_listener lmtp {{
    mode = 0666
  }}
}}
"""


def dovecot(folder: Path) -> Helper:
    """It speaks LMTP at its `path`. `folder`: an empty one, that anybody may enter."""
    (folder / "mail").mkdir()
    os.chown(folder / "mail", NOBODY, NOBODY)
    conf = folder / "dovecot.conf"
    conf.write_text(CONF.format(folder=folder, nobody=NOBODY))
    return Helper(tools.path_of("dovecot"), "-F", "-c", str(conf), path=folder / "run/lmtp")


def mailbox(folder: Path) -> Path:
    """Where the mail of `user` lies, in that folder."""
    return folder / "mail/user/new"
