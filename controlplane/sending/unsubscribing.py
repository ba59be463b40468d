"""What an unsubscribe link does: the address goes on the suppression list of the organization that wrote to it, once.

Links are opened by people, and fetched by scanners: reading one changes nothing. Acting on one twice
is acting once.
"""

from typing import Literal, NamedTuple

from controlplane.contract.refusals import Refusal
from maild.message import unsubscribe
from maild.message.fields.address import normalize
from maild.message.unsubscribe import Grant, TokenError
from storage.audit.acts import RECIPIENT, Act
from storage.audit.trail import Records, address_hash
from storage.clock import Clock
from storage.engine.database import Database
from storage.engine.tx import Tx
from storage.ids import Ids
from storage.mail import inboxes
from storage.publishing import events
from storage.sending import suppressions
from storage.tenants import organizations

Source = Literal["one_click", "link"]


class Offer(NamedTuple):
    """What the page shows. `sender`: the inbox's address, None when it is no longer known."""

    email: str
    sender: str | None


class Unsubscriber:
    """Reads and honours the tokens of unsubscribe links. `key`: the secret that signed them."""

    def __init__(self, db: Database, clock: Clock, ids: Ids, audit: Records, key: bytes) -> None:
        self._db = db
        self._clock = clock
        self._ids = ids
        self._audit = audit
        self._key = key

    async def offer(self, token: str | None) -> Offer:
        """What the link of this token would do; `missing_token`, `invalid_or_expired_token`."""
        grant = self._read(token)
        sender = await self._db.lookup(inboxes.address_of, grant.organization_id, grant.inbox_id)
        return Offer(grant.address, sender)

    async def act(self, token: str | None, source: Source) -> str:
        """Suppress the address of the token, which is returned."""
        grant = self._read(token)
        await self._db.impatient().write(self._suppress, grant, source)
        return grant.address

    def _read(self, token: str | None) -> Grant:
        if not token:
            raise Refusal("missing_token")
        try:
            grant = unsubscribe.read(self._key, token)
        except TokenError as error:
            raise Refusal("invalid_or_expired_token") from error
        if grant.expires_at_s * 1000 <= self._clock.now_ms():
            raise Refusal("invalid_or_expired_token")
        return grant

    def _suppress(self, tx: Tx, grant: Grant, source: Source) -> None:
        if organizations.get(tx, grant.organization_id) is None:  # nobody writes to the address any more
            return
        now_ms = self._clock.now_ms()
        email = normalize(grant.address)
        suppression_id = suppressions.withdraw_consent(
            tx, self._ids.new("sup"), now_ms, organization_id=grant.organization_id, email=email
        )
        if suppression_id is None:
            return
        told = {
            "addressHash": address_hash(grant.organization_id, email),
            "reason": "unsubscribe",
            "source": "list_unsubscribe",
        }
        self._audit.record(tx, grant.organization_id, Act.SUPPRESSION_ADDED, RECIPIENT, suppression_id, told)
        data = {
            "email": grant.address,
            "messageId": grant.message_id,
            "inboxId": grant.inbox_id,
            "source": source,
            "suppressionId": suppression_id,
        }
        events.publish(
            tx,
            self._ids.new("evt"),
            now_ms,
            organization_id=grant.organization_id,
            type="email.unsubscribed",
            data=data,
            inbox_id=grant.inbox_id,
            message_id=grant.message_id,
        )
