"""What rspamd thinks of a message: one HTTP call to the operator's own instance, at an address that is configured.

It is no stranger, so none of the rules for foreign targets holds (`client.py`): it may be near, and speak plain HTTP.
The fields of the request and the answer are those of rspamd's /checkv2.
"""

from collections.abc import Sequence
from typing import NamedTuple

import aiohttp
import msgspec

from storage.service import Service

TIMEOUT_S = 10.0  # rspamd gives itself eight seconds
ANSWER_BYTES_MAX = 1024 * 1024


class RspamdOpinion(NamedTuple):
    """`action`: rspamd's word, None where there is no opinion; then `reason` says why."""

    action: str | None
    score: float = 0.0
    reason: str = ""


class _Answer(msgspec.Struct):
    action: str
    score: float = 0.0


class Rspamd(Service):
    """`url`: of a normal or proxy worker, such as `http://127.0.0.1:11333`."""

    name = "rspamd"

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/") + "/checkv2"
        self._session: aiohttp.ClientSession | None = None

    async def start(self) -> None:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_S))

    async def stop(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def ask(
        self,
        raw: bytes,
        peer: str,
        peer_name: str | None,
        helo: str,
        mail_from: str,
        recipients: Sequence[str],
        queue_id: str,
    ) -> RspamdOpinion:
        """The opinion on a message and the envelope that it came in; never raises for what rspamd does."""
        fields = {
            "IP": peer,
            "Helo": _ascii(helo),
            "From": _ascii(mail_from),
            "Rcpt": ", ".join(_ascii(one) for one in recipients),
            "Queue-Id": queue_id,
            "Content-Type": "message/rfc822",
        }
        if peer_name is not None:
            fields["Hostname"] = _ascii(peer_name)
        try:
            return await self._ask(raw, fields)
        except (aiohttp.ClientError, TimeoutError, msgspec.MsgspecError, RecursionError) as error:
            return RspamdOpinion(None, reason=str(error) or type(error).__name__)

    async def _ask(self, raw: bytes, fields: dict[str, str]) -> RspamdOpinion:
        if self._session is None:
            return RspamdOpinion(None, reason="the daemon stops")
        async with self._session.post(self._url, data=raw, headers=fields, allow_redirects=False) as response:
            if response.status != 200:
                return RspamdOpinion(None, reason=f"rspamd answered {response.status}")
            body = await response.content.read(ANSWER_BYTES_MAX)
            while not response.content.at_eof() and len(body) < ANSWER_BYTES_MAX:
                body += await response.content.read(ANSWER_BYTES_MAX - len(body))
        found = msgspec.json.decode(body, type=_Answer)
        return RspamdOpinion(found.action, found.score)


def _ascii(text: str) -> str:
    """A header's value: an address of other than ASCII is shown, and means nothing to rspamd's look-ups."""
    return "".join(one if " " <= one <= "~" else "?" for one in text)
