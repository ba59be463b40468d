"""Leased recipients, as the queue's tables take them, without a store."""

from storage.sending.leases import Due


async def nobody_asks(destination: str, since_ms: int) -> bool:
    """The operator has asked for no retry."""
    return False


def due(organization_id: str = "org_1", message_id: str = "msg_1") -> Due:
    return Due(
        message_id=message_id,
        position=0,
        organization_id=organization_id,
        address="you@there.test",
        domain="there.test",
        kind="to",
        status="queued",
        attempts=1,
        expires_at=0,
        inbox_id="inb_1",
        mode="live",
        blob_id=None,
        header_length=0,
        size_bytes=0,
        from_address="bot@ours.test",
        envelope_from="",
        bounce_token=None,
        message_id_header=None,
        created_at=0,
        unsubscribe=0,
        submitted_by=None,
        data=None,
        sha256=None,
        is_tls_report=0,
    )
