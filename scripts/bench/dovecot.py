"""A private Dovecot that takes mail over LMTP into a maildir, for a Postfix to deliver to."""

import asyncio
import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType

from tests.support import tools
from tests.support.postfix import NOBODY

START_S = 20
POLL_S = 0.05

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


class Dovecot:
    """It runs as long as the `async with`. `socket`: where it speaks LMTP."""

    pid: int
    _folder: Path

    @property
    def socket(self) -> Path:
        return self._folder / "run/lmtp"

    @property
    def mailbox(self) -> Path:
        return self._folder / "mail/user/new"

    async def __aenter__(self) -> "Dovecot":
        self._folder = Path(tempfile.mkdtemp(prefix="maild-dovecot-"))
        self._folder.chmod(0o755)
        (self._folder / "mail").mkdir()
        os.chown(self._folder / "mail", NOBODY, NOBODY)
        conf = self._folder / "dovecot.conf"
        conf.write_text(CONF.format(folder=self._folder, nobody=NOBODY))
        self._process = await asyncio.create_subprocess_exec(tools.path_of("dovecot"), "-F", "-c", str(conf))
        self.pid = self._process.pid
        try:
            async with asyncio.timeout(START_S):
                while not self.socket.exists():
                    await asyncio.sleep(POLL_S)
        except BaseException:
            await self._end()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end()

    async def _end(self) -> None:
        if self._process.returncode is None:
            self._process.terminate()
            await self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
