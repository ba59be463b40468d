"""The listener for mail that comes in: its sessions, and what they ask of acceptance."""

import asyncio

from conf.settings import Smtp
from maild.authentication.patience import Patience
from maild.inbound.accept import Acceptor, Receipt
from maild.inbound.envelope import InboundEnvelope
from maild.inbound.sessions.block_lists import BlockLists
from maild.inbound.sessions.conversation import SessionSetup
from maild.inbound.sessions.header_section import HeaderSection
from maild.inbound.sessions.intake import Intake
from maild.inbound.sessions.session import Session
from maild.inbound.sessions.session_listener import ListenerGround, SessionListener
from maild.inbound.unheard_replies import UnheardReplies
from storage.mail.blobs import Stored
from storage.mail.inboxes import RecipientInbox
from storage.turns.rounds import Rounds


class Listener(SessionListener):
    """Accepts sessions on the addresses of `smtp.listen` and `smtp.listen_tls`, and gives them what they share."""

    name = "smtp"

    def __init__(
        self,
        ground: ListenerGround,
        limits: Smtp,
        acceptor: Acceptor,
        rounds: Rounds,
        patience: Patience,
        block_lists: BlockLists,
        unheard: UnheardReplies,
    ) -> None:
        super().__init__(ground, limits)
        self._acceptor = acceptor
        self._rounds = rounds
        self._patience = patience
        self._block_lists = block_lists
        self._unheard = unheard

    def _session(self, setup: SessionSetup) -> Session:
        return Session(self, setup)

    def _be_impatient(self) -> None:
        self._patience.end()

    # What sessions ask (session.SessionServices) ----------------------------------------------------------

    def look_for(self, peer: str) -> "asyncio.Task[str | None] | None":
        """Begin to ask the block lists for the peer (`BlockLists.begin`)."""
        return self._block_lists.begin(peer)

    async def find_mailbox(self, address: str) -> RecipientInbox:
        return await self._acceptor.find_mailbox(address)

    async def accept(self, envelope: InboundEnvelope, stored: Stored) -> Receipt:
        done = await self._acceptor.accept(envelope, stored)
        if done.took_s is not None:
            self._rounds.accepted(done.took_s)
        return done

    def reply_heard(self, transaction_digest: bytes) -> None:
        self._unheard.note_heard(transaction_digest)

    def reply_unheard(self, transaction_digest: bytes, message_id: str) -> None:
        self._unheard.note_unheard(transaction_digest, message_id)

    def intake(self, peer: str, declared_bytes: int) -> Intake:
        return self._new_intake(HeaderSection(self._hostname), peer, declared_bytes)
