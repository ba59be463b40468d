"""A class for each resource, a method for each operation. Generated from /openapi.json by scripts/clients."""

import builtins
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Literal, cast, overload

from maild_client import types as api
from maild_client._async.pages import AsyncPages
from maild_client._async.stream import AsyncEventStream
from maild_client._async.transport import AsyncTransport
from maild_client._given import UNSET, files, listed, repeated_under, segment
from maild_client._names import tell_names
from maild_client._wire import Call


class AsyncResource:
    def __init_subclass__(cls) -> None:
        tell_names(cls)

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport


class AsyncOrganization(AsyncResource):
    """`client.organization`."""

    async def get(
        self,
    ) -> api.Organization:
        """The key's organization.

        Scope: organization:read.
        Errors: not_found.

            await client.organization.get()
        """
        call = Call("GET", "/v1/organization")
        return cast("api.Organization", await self._transport.json(call))

    def members(
        self,
        *,
        limit: int = UNSET,
        cursor: str = UNSET,
    ) -> AsyncPages[api.Member]:
        """Its members.

        `limit`: How many at most.
        `cursor`: The `id` of the last item of a page, to get the next one.

        Scope: organization:read.

            async for one in client.organization.members():
                print(one['id'])
        """
        call = Call("GET", "/v1/organization/members", query={"limit": limit, "cursor": cursor})
        return AsyncPages(self._transport, call, "cursor", "id")

    async def policy(
        self,
    ) -> api.OrganizationPolicy:
        """The organization's own policy.

        Scope: policies:read.

            await client.organization.policy()
        """
        call = Call("GET", "/v1/organization/policy")
        return cast("api.OrganizationPolicy", await self._transport.json(call))

    async def replace_policy(
        self,
        *,
        version: int,
        outbound: api.GivenOutboundPolicy = UNSET,
        inbound: api.GivenInboundPolicy = UNSET,
        review: api.GivenReviewPolicy = UNSET,
    ) -> api.OrganizationPolicy:
        """Replace the organization's policy.

        `version`: How often it was changed. PUT takes the one that was read, 0 where there was no document.

        Scope: policies:write.
        Errors: member_required, version_conflict, payload_too_large, unsupported_media_type.

            await client.organization.replace_policy(
                version=0,
                outbound={"holdOn": ["secret", "recipient_from_content"]},
                review={"notify": ["ada@example.com"]},
            )
        """
        call = Call(
            "PUT",
            "/v1/organization/policy",
            body={"version": version, "outbound": outbound, "inbound": inbound, "review": review},
        )
        return cast("api.OrganizationPolicy", await self._transport.json(call))


class AsyncAudit(AsyncResource):
    """`client.audit`."""

    def list(
        self,
        *,
        after: int = UNSET,
        types: Sequence[
            Literal[
                "key.minted",
                "key.revoked",
                "agent.created",
                "agent.deleted",
                "inbox.created",
                "inbox.updated",
                "inbox.deactivated",
                "domain.registered",
                "domain.updated",
                "domain.key_rotated",
                "domain.verified",
                "domain.failed",
                "domain.deleted",
                "webhook.created",
                "webhook.updated",
                "webhook.secret_rotated",
                "webhook.deleted",
                "suppression.added",
                "suppression.removed",
                "policy.replaced",
                "rule.created",
                "rule.deleted",
                "review.approved",
                "review.rejected",
                "review.withdrawn",
                "review.expired",
                "organization.reviewers_changed",
                "message.held",
                "message.queued",
                "message.scheduled",
                "message.dispatched",
                "message.refused",
                "message.cancelled",
                "message.deleted",
                "member.added",
                "member.changed",
                "member.removed",
                "login.link_made",
                "login.accepted",
                "login.refused",
                "session.ended",
                "organization.created",
                "organization.plan_changed",
                "organization.approved",
                "organization.paused",
                "organization.closed",
                "organization.deleted",
                "organization.tripwire_tripped",
                "organization.tripwire_reset",
                "queue.paused",
                "queue.resumed",
                "queue.changed",
                "queue.dropped",
                "master_key.rotated",
                "audit.key_shown",
                "audit.key_lost",
                "audit.sealed",
            ]
        ] = UNSET,
        actor: str = UNSET,
        limit: int = UNSET,
    ) -> AsyncPages[api.AuditEntry]:
        """Who did what, oldest first.

        `after`: A `seq`: the rows behind it are told.
        `types`: Separated by commas; all by default.
        `actor`: The id of a key or member: what it did.
        `limit`: How many at most.

        Scope: audit:read.

            async for one in client.audit.list():
                print(one['seq'])
        """
        call = Call(
            "GET", "/v1/audit", query={"after": after, "types": types, "actor": actor, "limit": limit}
        )
        return AsyncPages(self._transport, call, "after", "seq")

    async def head(
        self,
    ) -> api.AuditHead:
        """The newest row of the audit log.

        Scope: audit:read.

            await client.audit.head()
        """
        call = Call("GET", "/v1/audit/head")
        return cast("api.AuditHead", await self._transport.json(call))


class AsyncKeys(AsyncResource):
    """`client.keys`."""

    async def create(
        self,
        *,
        name: str,
        scopes: Sequence[
            Literal[
                "*",
                "audit:*",
                "audit:read",
                "domains:*",
                "domains:read",
                "domains:write",
                "inboxes:*",
                "inboxes:read",
                "inboxes:write",
                "keys:*",
                "keys:read",
                "keys:write",
                "messages:*",
                "messages:label",
                "messages:read",
                "messages:reply",
                "messages:send",
                "organization:*",
                "organization:read",
                "policies:*",
                "policies:read",
                "policies:write",
                "reviews:*",
                "reviews:read",
                "reviews:write",
                "suppressions:*",
                "suppressions:read",
                "suppressions:write",
                "threads:*",
                "threads:read",
                "webhooks:*",
                "webhooks:read",
                "webhooks:write",
            ]
        ]
        | None = UNSET,
        inbox_id: str | None = UNSET,
        mode: Literal["live", "test"] | None = UNSET,
    ) -> api.MintedKey:
        """Mint an API key, shown once.

        `name`: What to call it (required): 1-64 characters.
        `scopes`: The scopes that it is to hold; the default is `*`.
        `inbox_id`: Binds it to this active inbox.
        `mode`: `live` or `test`; the default is that of the key that asks.

        Scope: keys:write.
        Errors: invalid_scopes, inbox_not_found, payload_too_large, unsupported_media_type.

            await client.keys.create(
                name="billing bot",
                scopes=["messages:send", "messages:read", "threads:read"],
            )
        """
        call = Call(
            "POST",
            "/v1/keys",
            body={"name": name, "scopes": listed("scopes", scopes), "inboxId": inbox_id, "mode": mode},
        )
        return cast("api.MintedKey", await self._transport.json(call))

    def list(
        self,
        *,
        limit: int = UNSET,
        cursor: str = UNSET,
    ) -> AsyncPages[api.Key]:
        """API keys, newest first.

        `limit`: How many at most.
        `cursor`: The `id` of the last item of a page, to get the next one.

        Scope: keys:read.

            async for one in client.keys.list():
                print(one['id'])
        """
        call = Call("GET", "/v1/keys", query={"limit": limit, "cursor": cursor})
        return AsyncPages(self._transport, call, "cursor", "id")

    async def revoke(
        self,
        key_id: str,
    ) -> api.Revoked:
        """Revoke a key at once.

        Scope: keys:write.
        Errors: key_not_found.

            await client.keys.revoke("key_…")
        """
        call = Call("DELETE", f"/v1/keys/{segment('key_id', key_id)}")
        return cast("api.Revoked", await self._transport.json(call))

    async def revoke_with_mail(
        self,
        key_id: str,
    ) -> api.RevokedWithMail:
        """Revoke a key with all it minted and sent.

        Scope: keys:write.
        Errors: key_not_found.

            await client.keys.revoke_with_mail("key_…")
        """
        call = Call("POST", f"/v1/keys/{segment('key_id', key_id)}/revoke-with-mail")
        return cast("api.RevokedWithMail", await self._transport.json(call))


class AsyncAgents(AsyncResource):
    """`client.agents`."""

    async def create(
        self,
        *,
        name: str,
    ) -> api.Agent:
        """Name an agent.

        `name`: What it is called: 1-100 characters.

        Scope: inboxes:write.
        Errors: payload_too_large, unsupported_media_type.

            await client.agents.create(name="Billing agent")
        """
        call = Call("POST", "/v1/agents", body={"name": name})
        return cast("api.Agent", await self._transport.json(call))

    def list(
        self,
        *,
        limit: int = UNSET,
        cursor: str = UNSET,
    ) -> AsyncPages[api.Agent]:
        """Agents, newest first.

        `limit`: How many at most.
        `cursor`: The `id` of the last item of a page, to get the next one.

        Scope: inboxes:read.

            async for one in client.agents.list():
                print(one['id'])
        """
        call = Call("GET", "/v1/agents", query={"limit": limit, "cursor": cursor})
        return AsyncPages(self._transport, call, "cursor", "id")

    async def get(
        self,
        agent_id: str,
    ) -> api.Agent:
        """One agent.

        Scope: inboxes:read.
        Errors: agent_not_found.

            await client.agents.get("agt_…")
        """
        call = Call("GET", f"/v1/agents/{segment('agent_id', agent_id)}")
        return cast("api.Agent", await self._transport.json(call))

    async def delete(
        self,
        agent_id: str,
    ) -> api.Deleted:
        """Forget an agent.

        Scope: inboxes:write.
        Errors: agent_not_found.

            await client.agents.delete("agt_…")
        """
        call = Call("DELETE", f"/v1/agents/{segment('agent_id', agent_id)}")
        return cast("api.Deleted", await self._transport.json(call))


class AsyncInboxes(AsyncResource):
    """`client.inboxes`."""

    async def create(
        self,
        *,
        username: str,
        name: str | None = UNSET,
        agent_id: str | None = UNSET,
        domain: str | None = UNSET,
        metadata: Mapping[str, str] = UNSET,
    ) -> api.Inbox:
        """Provision an inbox.

        `username`: The address before its `@` (required): 2-48 characters, `^[a-z0-9._-]+$`, dots neither
          first, last nor doubled.
        `name`: What stands beside the address in what it sends: at most 100 characters; null takes it away.
        `agent_id`: The agent behind it (404 `agent_not_found`).
        `domain`: A shared domain or a verified one of the organization; the default is the first shared domain.
        `metadata`: Texts by key, your own: 50 keys of 1-40 characters, values of up to 256. PATCH replaces all
          of it.

        Scope: inboxes:write.
        Errors: domain_not_verified, limit_reached, inbox_access_denied, apex_domain_reserved, agent_not_found,
          domain_not_found, address_already_exists, address_in_cooldown, payload_too_large,
          unsupported_media_type, username_reserved.

            await client.inboxes.create(
                username="billing-bot",
                name="Billing",
                metadata={"team": "finance"},
            )
        """
        call = Call(
            "POST",
            "/v1/inboxes",
            body={
                "username": username,
                "name": name,
                "agentId": agent_id,
                "domain": domain,
                "metadata": metadata,
            },
        )
        return cast("api.Inbox", await self._transport.json(call))

    def list(
        self,
        *,
        limit: int = UNSET,
        cursor: str = UNSET,
        is_active: bool = UNSET,
        address: str = UNSET,
    ) -> AsyncPages[api.Inbox]:
        """Inboxes, newest first.

        `limit`: How many at most.
        `cursor`: The `id` of the last item of a page, to get the next one.
        `is_active`: Only those that have this.
        `address`: Only those that have this.

        Scope: inboxes:read.

            async for one in client.inboxes.list():
                print(one['id'])
        """
        call = Call(
            "GET",
            "/v1/inboxes",
            query={"limit": limit, "cursor": cursor, "isActive": is_active, "address": address},
        )
        return AsyncPages(self._transport, call, "cursor", "id")

    async def get(
        self,
        inbox_id: str,
    ) -> api.GovernedInbox:
        """One inbox.

        Scope: inboxes:read.
        Errors: inbox_access_denied, inbox_not_found.

            await client.inboxes.get("inb_…")
        """
        call = Call("GET", f"/v1/inboxes/{segment('inbox_id', inbox_id)}")
        return cast("api.GovernedInbox", await self._transport.json(call))

    async def update(
        self,
        inbox_id: str,
        *,
        name: str | None = UNSET,
        metadata: Mapping[str, str] = UNSET,
    ) -> api.Inbox:
        """Rename an inbox, set its metadata.

        `name`: What stands beside the address in what it sends: at most 100 characters; null takes it away.
        `metadata`: Texts by key, your own: 50 keys of 1-40 characters, values of up to 256. PATCH replaces all
          of it.

        Scope: inboxes:write.
        Errors: inbox_access_denied, inbox_not_found, payload_too_large, unsupported_media_type.

            await client.inboxes.update("inb_…", name="Billing and invoices")
        """
        call = Call(
            "PATCH", f"/v1/inboxes/{segment('inbox_id', inbox_id)}", body={"name": name, "metadata": metadata}
        )
        return cast("api.Inbox", await self._transport.json(call))

    async def delete(
        self,
        inbox_id: str,
    ) -> api.DeactivatedInbox:
        """Deactivate an inbox.

        Scope: inboxes:write.
        Errors: inbox_access_denied, inbox_not_found.

            await client.inboxes.delete("inb_…")
        """
        call = Call("DELETE", f"/v1/inboxes/{segment('inbox_id', inbox_id)}")
        return cast("api.DeactivatedInbox", await self._transport.json(call))

    async def policy(
        self,
        inbox_id: str,
    ) -> api.InboxPolicy:
        """An inbox's own policy.

        Scope: policies:read.
        Errors: inbox_access_denied, inbox_not_found.

            await client.inboxes.policy("inb_…")
        """
        call = Call("GET", f"/v1/inboxes/{segment('inbox_id', inbox_id)}/policy")
        return cast("api.InboxPolicy", await self._transport.json(call))

    async def replace_policy(
        self,
        inbox_id: str,
        *,
        version: int,
        outbound: api.GivenOutboundPolicy = UNSET,
        inbound: api.GivenInboundPolicy = UNSET,
        review: api.GivenReviewPolicy = UNSET,
        work: api.GivenWorkPolicy = UNSET,
    ) -> api.InboxPolicy:
        """Replace an inbox's policy.

        `version`: How often it was changed. PUT takes the one that was read, 0 where there was no document.

        Scope: policies:write.
        Errors: inbox_access_denied, member_required, inbox_not_found, version_conflict, payload_too_large,
          unsupported_media_type.

            await client.inboxes.replace_policy(
                "inb_…",
                version=0,
                outbound={"recipients": "participants"},
                work={"enabled": True, "requireClaim": True},
            )
        """
        call = Call(
            "PUT",
            f"/v1/inboxes/{segment('inbox_id', inbox_id)}/policy",
            body={
                "version": version,
                "outbound": outbound,
                "inbound": inbound,
                "review": review,
                "work": work,
            },
        )
        return cast("api.InboxPolicy", await self._transport.json(call))


class AsyncCodes(AsyncResource):
    """`client.codes`."""

    async def claim(
        self,
        inbox_id: str,
        *,
        from_domain: str | None = UNSET,
        after: str | None = UNSET,
        wait_seconds: int = UNSET,
        kinds: Sequence[Literal["code", "link"]] = UNSET,
        allow_unverified: bool = UNSET,
        link_hosts: Sequence[str] = UNSET,
        idempotency_key: str | None = None,
    ) -> api.ClaimedCode:
        """Take the code or the link of the next mail that has one.

        `from_domain`: Whose mail counts: the domain that `auth.verifiedDomain` must be or lie below; required,
          unless `allowUnverified`.
        `after`: Mail behind this message, event or time counts (one that is still to come is now); left out,
          two minutes ago.
        `wait_seconds`: How long to wait for one (25; 0-55).
        `kinds`: What to look for: `code`, `link` (both); a code goes before a link.
        `allow_unverified`: Whether mail counts whose sender nobody proved, by whatever domain `fromAddress`
          claims (false).
        `link_hosts`: Up to 10 hosts, with what lies below them, that a link may lead to besides the proven
          sender's own.

        Scope: messages:read.
        Errors: inbox_access_denied, inbox_not_found, idempotency_conflict, payload_too_large,
          unsupported_media_type, too_many_streams.

            await client.codes.claim("inb_…", from_domain="github.com", wait_seconds=25)
        """
        call = Call(
            "POST",
            f"/v1/inboxes/{segment('inbox_id', inbox_id)}/codes/claim",
            body={
                "fromDomain": from_domain,
                "after": after,
                "waitSeconds": wait_seconds,
                "kinds": listed("kinds", kinds),
                "allowUnverified": allow_unverified,
                "linkHosts": listed("link_hosts", link_hosts),
            },
            idempotency_key=repeated_under(idempotency_key),
            wait_s=wait_seconds,
        )
        return cast("api.ClaimedCode", await self._transport.json(call))


class AsyncClaims(AsyncResource):
    """`client.claims`."""

    async def take(
        self,
        inbox_id: str,
        *,
        max: int = UNSET,
        lease_seconds: int = UNSET,
        wait_seconds: int = UNSET,
        holder: str | None = UNSET,
        idempotency_key: str | None = None,
    ) -> builtins.list[api.ClaimedMessage]:
        """Take mail to work on it, the oldest first.

        `max`: How many messages to take at most (1; up to 20).
        `lease_seconds`: How long a claim lives from now on (300; 30-3,600).
        `wait_seconds`: How long to wait where nothing is offered (0; up to 50).
        `holder`: What the worker calls itself, up to 100 characters.

        Scope: messages:label, messages:read.
        Errors: limit_reached, inbox_access_denied, inbox_not_found, idempotency_conflict, work_not_enabled,
          payload_too_large, unsupported_media_type, too_many_streams.

            await client.claims.take(
                "inb_…",
                max=1,
                lease_seconds=300,
                wait_seconds=0,
                holder="worker-3",
            )
        """
        call = Call(
            "POST",
            f"/v1/inboxes/{segment('inbox_id', inbox_id)}/claims",
            body={"max": max, "leaseSeconds": lease_seconds, "waitSeconds": wait_seconds, "holder": holder},
            idempotency_key=repeated_under(idempotency_key),
            wait_s=wait_seconds,
        )
        return cast("builtins.list[api.ClaimedMessage]", await self._transport.json(call))

    def list(
        self,
        *,
        inbox_id: str = UNSET,
        status: Literal["live", "released", "expired", "done", "dead"] = UNSET,
        limit: int = UNSET,
        cursor: str = UNSET,
    ) -> AsyncPages[api.WorkClaim]:
        """Claims, newest first.

        `inbox_id`: Of this inbox alone; lists and figures of one that does not exist are empty.
        `status`: Only those that have this.
        `limit`: How many at most.
        `cursor`: The `id` of the last item of a page, to get the next one.

        Scope: messages:label.

            async for one in client.claims.list():
                print(one['id'])
        """
        call = Call(
            "GET",
            "/v1/claims",
            query={"inboxId": inbox_id, "status": status, "limit": limit, "cursor": cursor},
        )
        return AsyncPages(self._transport, call, "cursor", "id")

    async def extend(
        self,
        claim_id: str,
        *,
        lease_seconds: int = UNSET,
    ) -> api.WorkClaim:
        """Let a claim live longer.

        `lease_seconds`: How long a claim lives from now on (300; 30-3,600).

        Scope: messages:label.
        Errors: inbox_access_denied, claim_not_found, claim_lost, payload_too_large, unsupported_media_type.

            await client.claims.extend("clm_…", lease_seconds=300)
        """
        call = Call(
            "POST", f"/v1/claims/{segment('claim_id', claim_id)}/extend", body={"leaseSeconds": lease_seconds}
        )
        return cast("api.WorkClaim", await self._transport.json(call))

    async def release(
        self,
        claim_id: str,
        *,
        delay_seconds: int = UNSET,
    ) -> api.WorkClaim:
        """Give a message back, to be claimed again.

        `delay_seconds`: Not to be offered again before (0; up to 86,400).

        Scope: messages:label.
        Errors: inbox_access_denied, claim_not_found, claim_lost, payload_too_large, unsupported_media_type.

            await client.claims.release("clm_…", delay_seconds=60)
        """
        call = Call(
            "POST",
            f"/v1/claims/{segment('claim_id', claim_id)}/release",
            body={"delaySeconds": delay_seconds},
        )
        return cast("api.WorkClaim", await self._transport.json(call))

    async def finish(
        self,
        claim_id: str,
        *,
        labels: api.DoneLabels = UNSET,
    ) -> api.WorkClaim:
        """Say that a message is done.

        Scope: messages:label.
        Errors: inbox_access_denied, claim_not_found, claim_lost, payload_too_large, unsupported_media_type.

            await client.claims.finish("clm_…", labels={"add": ["answered"], "remove": []})
        """
        call = Call("POST", f"/v1/claims/{segment('claim_id', claim_id)}/done", body={"labels": labels})
        return cast("api.WorkClaim", await self._transport.json(call))


class AsyncMessages(AsyncResource):
    """`client.messages`."""

    async def send(
        self,
        *,
        inbox_id: str,
        to: Sequence[str],
        cc: Sequence[str] = UNSET,
        bcc: Sequence[str] = UNSET,
        subject: str | None = UNSET,
        text: str | None = UNSET,
        html: str | None = UNSET,
        in_reply_to: str | None = UNSET,
        send_at: datetime | str | None = UNSET,
        attachments: Sequence[api.AttachmentInput | Path] = UNSET,
        unsubscribe: bool = UNSET,
        headers: Mapping[str, str] = UNSET,
        if_last_message_id: str | None = UNSET,
        claim_id: str | None = UNSET,
        complete_claim: bool = UNSET,
        idempotency_key: str | None = None,
    ) -> api.ListedMessage:
        """Send a message, now or at a time.

        `inbox_id`: The sending inbox.
        `to`: Whom it goes to: 1-50 addresses; display names and comments are 400; quoted local parts are legal.
        `cc`: Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in.
        `bcc`: Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in.
        `subject`: Up to 500 characters; the default, also of a blank one, is `(no subject)`.
        `text`: The words; where they are left out, those of `html`, else none.
        `html`: The words as HTML, which is sanitized; a text part is derived from it where `text` is left out.
          More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`).
        `in_reply_to`: What it answers: a message, or a thread (its newest message that came in or went), of the
          same inbox, else 404 `message_not_found`; sets In-Reply-To and References.
        `send_at`: When to send it: a time with an offset, 1 minute to 30 days ahead.
        `attachments`: Up to 20 files.
        `unsubscribe`: One-click unsubscribing (RFC 8058): every recipient gets a copy with a link of its own.
        `headers`: Up to 50 custom headers, names to values.
        `if_last_message_id`: With `inReplyTo`: send only unless the conversation went on after this message.
        `claim_id`: Of an answer: send only while this claim lives.
        `complete_claim`: With `claimId`: end the claim as done, if the message is sent.

        Scope: messages:send.
        Errors: domain_not_verified, attachments_unsupported, attachments_not_schedulable, spend_cap_reached,
          limit_reached, inbox_access_denied, sending_not_approved, sandbox_bulk_not_allowed,
          sending_paused_bulk_review, recipient_not_allowed, inbox_not_found, message_not_found,
          claim_not_found, idempotency_conflict, loop_suspected, thread_advanced, claim_lost, claim_required,
          payload_too_large, attachment_too_large, unsupported_media_type, recipient_suppressed,
          domain_daily_cap_reached, email_delivery_failed.

            await client.messages.send(
                inbox_id="inb_…",
                to=["ada@example.com"],
                cc=["accounts@example.com"],
                subject="Your invoice for November",
                text="Dear Ada, the invoice is attached.",
                attachments=[
                    {"filename": "invoice.pdf", "contentType": "application/pdf", "content": "JVBERi0xLjQKJSVFT0YK"}
                ],
            )
        """
        call = Call(
            "POST",
            "/v1/messages/send",
            body={
                "inboxId": inbox_id,
                "to": listed("to", to),
                "cc": listed("cc", cc),
                "bcc": listed("bcc", bcc),
                "subject": subject,
                "text": text,
                "html": html,
                "inReplyTo": in_reply_to,
                "sendAt": send_at,
                "attachments": files("attachments", attachments),
                "unsubscribe": unsubscribe,
                "headers": headers,
                "ifLastMessageId": if_last_message_id,
                "claimId": claim_id,
                "completeClaim": complete_claim,
            },
            idempotency_key=repeated_under(idempotency_key),
        )
        return cast("api.ListedMessage", await self._transport.json(call))

    async def check(
        self,
        *,
        inbox_id: str = UNSET,
        to: Sequence[str] = UNSET,
        cc: Sequence[str] = UNSET,
        bcc: Sequence[str] = UNSET,
        subject: str | None = UNSET,
        text: str | None = UNSET,
        html: str | None = UNSET,
        in_reply_to: str | None = UNSET,
        send_at: datetime | str | None = UNSET,
        attachments: Sequence[api.AttachmentInput | Path] = UNSET,
        unsubscribe: bool = UNSET,
        headers: Mapping[str, str] = UNSET,
        if_last_message_id: str | None = UNSET,
        claim_id: str | None = UNSET,
        complete_claim: bool = UNSET,
        reply: api.CheckReply = UNSET,
        forward: api.CheckForward = UNSET,
        draft_id: str = UNSET,
    ) -> api.CheckedMessage:
        """What would become of a message, without sending it.

        `inbox_id`: The sending inbox.
        `to`: Whom it goes to: 1-50 addresses; display names and comments are 400; quoted local parts are legal.
        `cc`: Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in.
        `bcc`: Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in.
        `subject`: Up to 500 characters; the default, also of a blank one, is `(no subject)`.
        `text`: The words; where they are left out, those of `html`, else none.
        `html`: The words as HTML, which is sanitized; a text part is derived from it where `text` is left out.
          More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`).
        `in_reply_to`: What it answers: a message, or a thread (its newest message that came in or went), of the
          same inbox, else 404 `message_not_found`; sets In-Reply-To and References.
        `send_at`: When to send it: a time with an offset, 1 minute to 30 days ahead.
        `attachments`: Up to 20 files.
        `unsubscribe`: One-click unsubscribing (RFC 8058): every recipient gets a copy with a link of its own.
        `headers`: Up to 50 custom headers, names to values.
        `if_last_message_id`: With `inReplyTo`: send only unless the conversation went on after this message.
        `claim_id`: Of an answer: send only while this claim lives.
        `complete_claim`: With `claimId`: end the claim as done, if the message is sent.
        `draft_id`: This draft; needs messages:send, as reading one does.

        Scope: messages:reply.
        Errors: inbox_access_denied, inbox_not_found, message_not_found, attachment_not_found, draft_not_found,
          payload_too_large, unsupported_media_type.

            await client.messages.check(
                inbox_id="inb_…",
                to=["ada@example.com"],
                subject="Your invoice for November",
                text="Dear {{name}}, the invoice is attached.",
                in_reply_to="msg_…",
            )
        """
        call = Call(
            "POST",
            "/v1/messages/check",
            body={
                "inboxId": inbox_id,
                "to": listed("to", to),
                "cc": listed("cc", cc),
                "bcc": listed("bcc", bcc),
                "subject": subject,
                "text": text,
                "html": html,
                "inReplyTo": in_reply_to,
                "sendAt": send_at,
                "attachments": files("attachments", attachments),
                "unsubscribe": unsubscribe,
                "headers": headers,
                "ifLastMessageId": if_last_message_id,
                "claimId": claim_id,
                "completeClaim": complete_claim,
                "reply": reply,
                "forward": forward,
                "draftId": draft_id,
            },
        )
        return cast("api.CheckedMessage", await self._transport.json(call))

    @overload
    async def reply(
        self,
        message_id: str,
        *,
        text: str | None = UNSET,
        html: str | None = UNSET,
        reply_all: bool = UNSET,
        quote: Literal["none", "text"] = UNSET,
        attachments: Sequence[api.AttachmentInput | Path] = UNSET,
        send_at: datetime | str | None = UNSET,
        headers: Mapping[str, str] = UNSET,
        if_last_message_id: str | None = UNSET,
        claim_id: str | None = UNSET,
        complete_claim: bool = UNSET,
        as_draft: Literal[False] = UNSET,
        to: Sequence[str] | None = UNSET,
        cc: Sequence[str] = UNSET,
        bcc: Sequence[str] = UNSET,
        subject: str | None = UNSET,
        idempotency_key: str | None = None,
    ) -> api.SentReply: ...
    @overload
    async def reply(
        self,
        message_id: str,
        *,
        text: str | None = UNSET,
        html: str | None = UNSET,
        reply_all: bool = UNSET,
        quote: Literal["none", "text"] = UNSET,
        attachments: Sequence[api.AttachmentInput | Path] = UNSET,
        send_at: datetime | str | None = UNSET,
        headers: Mapping[str, str] = UNSET,
        if_last_message_id: str | None = UNSET,
        claim_id: str | None = UNSET,
        complete_claim: bool = UNSET,
        as_draft: Literal[True],
        to: Sequence[str] | None = UNSET,
        cc: Sequence[str] = UNSET,
        bcc: Sequence[str] = UNSET,
        subject: str | None = UNSET,
        idempotency_key: str | None = None,
    ) -> api.DraftedReply: ...
    @overload
    async def reply(
        self,
        message_id: str,
        *,
        text: str | None = UNSET,
        html: str | None = UNSET,
        reply_all: bool = UNSET,
        quote: Literal["none", "text"] = UNSET,
        attachments: Sequence[api.AttachmentInput | Path] = UNSET,
        send_at: datetime | str | None = UNSET,
        headers: Mapping[str, str] = UNSET,
        if_last_message_id: str | None = UNSET,
        claim_id: str | None = UNSET,
        complete_claim: bool = UNSET,
        as_draft: bool,
        to: Sequence[str] | None = UNSET,
        cc: Sequence[str] = UNSET,
        bcc: Sequence[str] = UNSET,
        subject: str | None = UNSET,
        idempotency_key: str | None = None,
    ) -> api.SentReply | api.DraftedReply: ...
    async def reply(
        self,
        message_id: str,
        *,
        text: str | None = UNSET,
        html: str | None = UNSET,
        reply_all: bool = UNSET,
        quote: Literal["none", "text"] = UNSET,
        attachments: Sequence[api.AttachmentInput | Path] = UNSET,
        send_at: datetime | str | None = UNSET,
        headers: Mapping[str, str] = UNSET,
        if_last_message_id: str | None = UNSET,
        claim_id: str | None = UNSET,
        complete_claim: bool = UNSET,
        as_draft: bool = UNSET,
        to: Sequence[str] | None = UNSET,
        cc: Sequence[str] = UNSET,
        bcc: Sequence[str] = UNSET,
        subject: str | None = UNSET,
        idempotency_key: str | None = None,
    ) -> api.SentReply | api.DraftedReply:
        """Answer a message, or write a draft that does.

        `text`: The words; where they are left out, those of `html`, else none.
        `html`: The words as HTML, which is sanitized; a text part is derived from it where `text` is left out.
          More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`).
        `reply_all`: Answer everybody who stands in the message; the default is its author alone.
        `quote`: `none` (the default), or `text`: the message that is answered stands below, behind an
          attribution and `> `, in `html` as a blockquote; at most 64 KiB of it.
        `attachments`: Up to 20 files.
        `send_at`: When to send it: a time with an offset, 1 minute to 30 days ahead.
        `headers`: Up to 50 custom headers, names to values.
        `if_last_message_id`: Send only unless the conversation went on after this message, the newest that you
          know of; required in answers to threads.
        `claim_id`: Of an answer: send only while this claim lives.
        `complete_claim`: With `claimId`: end the claim as done, if the message is sent.
        `as_draft`: Write a draft with these recipients, subject and words instead; not with `attachments`,
          `headers`, `sendAt`.
        `to`: Whom to write to instead of those who would be answered; not with `replyAll`.
        `cc`: Up to 50 more recipients, besides those who are answered.
        `bcc`: Up to 50 more recipients, besides those who are answered.
        `subject`: What to put instead of `Re: …`; up to 500 characters.

        Scope: messages:reply.
        Errors: domain_not_verified, attachments_unsupported, attachments_not_schedulable, spend_cap_reached,
          limit_reached, draft_limit_reached, inbox_access_denied, sending_not_approved,
          sandbox_bulk_not_allowed, sending_paused_bulk_review, recipient_not_allowed, inbox_not_found,
          message_not_found, claim_not_found, idempotency_conflict, loop_suspected, thread_advanced, claim_lost,
          claim_required, no_reply_target, payload_too_large, attachment_too_large, unsupported_media_type,
          recipient_suppressed, domain_daily_cap_reached, email_delivery_failed.

            await client.messages.reply(
                "msg_…",
                text="Thank you, it is paid.",
                reply_all=True,
                if_last_message_id="msg_…",
            )
        """
        call = Call(
            "POST",
            f"/v1/messages/{segment('message_id', message_id)}/reply",
            body={
                "text": text,
                "html": html,
                "replyAll": reply_all,
                "quote": quote,
                "attachments": files("attachments", attachments),
                "sendAt": send_at,
                "headers": headers,
                "ifLastMessageId": if_last_message_id,
                "claimId": claim_id,
                "completeClaim": complete_claim,
                "asDraft": as_draft,
                "to": listed("to", to),
                "cc": listed("cc", cc),
                "bcc": listed("bcc", bcc),
                "subject": subject,
            },
            idempotency_key=repeated_under(idempotency_key),
        )
        return cast("api.SentReply | api.DraftedReply", await self._transport.json(call))

    async def forward(
        self,
        message_id: str,
        *,
        to: Sequence[str],
        cc: Sequence[str] = UNSET,
        bcc: Sequence[str] = UNSET,
        text: str | None = UNSET,
        html: str | None = UNSET,
        attachment_ids: Sequence[str] | None = UNSET,
        as_: Literal["inline", "eml"] = UNSET,
        idempotency_key: str | None = None,
    ) -> api.ListedMessage:
        """Pass a message on, in a new thread.

        `to`: Whom it goes to: 1-50 addresses; `cc`, `bcc` are as on sends.
        `cc`: Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in.
        `bcc`: Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in.
        `text`: Your words, above those that are passed on.
        `html`: The same as HTML, sanitized.
        `attachment_ids`: Which attachments go along, each once (404 `attachment_not_found`); null: all of them.
          Not with `eml`.
        `as_`: `inline` (the default): its words, HTML sanitized, stand below those of `text` and `html`; `eml`:
          it goes whole, as a file.

        Scope: messages:send.
        Errors: domain_not_verified, attachments_unsupported, spend_cap_reached, limit_reached,
          inbox_access_denied, sending_not_approved, sandbox_bulk_not_allowed, sending_paused_bulk_review,
          recipient_not_allowed, inbox_not_found, message_not_found, attachment_not_found, idempotency_conflict,
          loop_suspected, attachment_bytes_missing, payload_too_large, attachment_too_large,
          unsupported_media_type, recipient_suppressed, domain_daily_cap_reached, email_delivery_failed.

            await client.messages.forward(
                "msg_…",
                to=["accounts@example.com"],
                text="Please pay this.",
            )
        """
        call = Call(
            "POST",
            f"/v1/messages/{segment('message_id', message_id)}/forward",
            body={
                "to": listed("to", to),
                "cc": listed("cc", cc),
                "bcc": listed("bcc", bcc),
                "text": text,
                "html": html,
                "attachmentIds": listed("attachment_ids", attachment_ids),
                "as": as_,
            },
            idempotency_key=repeated_under(idempotency_key),
        )
        return cast("api.ListedMessage", await self._transport.json(call))

    def list(
        self,
        *,
        inbox_id: str = UNSET,
        thread_id: str = UNSET,
        limit: int = UNSET,
        q: str = UNSET,
        direction: Literal["inbound", "outbound"] = UNSET,
        from_: str = UNSET,
        from_domain: str = UNSET,
        verified: bool = UNSET,
        labels: Sequence[str] = UNSET,
        unread: bool = UNSET,
        status: Literal[
            "received", "held", "scheduled", "queued", "sent", "delivered", "failed", "cancelled"
        ] = UNSET,
        is_auto_reply: bool = UNSET,
        is_spam: bool = UNSET,
        has_attachments: bool = UNSET,
        held: bool = UNSET,
        since: date | str = UNSET,
        until: date | str = UNSET,
        before: str = UNSET,
        cursor: str = UNSET,
    ) -> AsyncPages[api.ListedMessage]:
        """Messages, newest first; search.

        `inbox_id`: Of this inbox alone; lists and figures of one that does not exist are empty.
        `thread_id`: Of this conversation alone; of one that does not exist there is nothing.
        `limit`: How many at most.
        `q`: A part of the subject, the body, the sender or a recipient, up to 200 characters.
        `direction`: `inbound` or `outbound`.
        `from_`: A part of the sender's address; behind an @ U-labels are as good as A-labels.
        `from_domain`: The whole domain of the sender's address, as A-label or U-label.
        `verified`: Whether `auth.verifiedDomain` is not null.
        `labels`: Separated by commas: has all of them.
        `unread`: Whether it has the label `unread`.
        `status`: Only those in this state.
        `is_auto_reply`: Whether a program wrote it by itself.
        `is_spam`: Whether it counts as spam.
        `has_attachments`: Whether it has any.
        `held`: `true`: mail that is held and nothing else, for keys with reviews:read.
        `since`: From this time on: a date (midnight UTC) or a timestamp.
        `until`: Before this time.
        `before`: The same as `cursor`.
        `cursor`: The `id` of the last item of a page, to get the next one.

        Scope: messages:read.

            async for one in client.messages.list():
                print(one['id'])
        """
        call = Call(
            "GET",
            "/v1/messages",
            query={
                "inboxId": inbox_id,
                "threadId": thread_id,
                "limit": limit,
                "q": q,
                "direction": direction,
                "from": from_,
                "fromDomain": from_domain,
                "verified": verified,
                "labels": labels,
                "unread": unread,
                "status": status,
                "isAutoReply": is_auto_reply,
                "isSpam": is_spam,
                "hasAttachments": has_attachments,
                "held": held,
                "since": since,
                "until": until,
                "before": before,
                "cursor": cursor,
            },
        )
        return AsyncPages(self._transport, call, "cursor", "id")

    async def wait(
        self,
        *,
        inbox_id: str = UNSET,
        thread_id: str = UNSET,
        from_: str = UNSET,
        from_domain: str = UNSET,
        verified: bool = UNSET,
        subject: str = UNSET,
        q: str = UNSET,
        has_code: bool = UNSET,
        after: str = UNSET,
        timeout_seconds: int = UNSET,
    ) -> api.AwaitedMessage:
        """The next message that comes in and is as asked for.

        `inbox_id`: In this inbox alone.
        `thread_id`: In this conversation alone.
        `from_`: A part of the sender's address, as on lists.
        `from_domain`: The domain of the sender or one above it: of `auth.verifiedDomain`, or, with
          `verified=false`, of whatever `fromAddress` claims.
        `verified`: Whether `auth.verifiedDomain` must not be null; `true` by default where `fromDomain` is
          given, else `false`.
        `subject`: A part of the subject, in any case.
        `q`: A part of the subject, the body, the sender or a recipient, as on lists.
        `has_code`: It has, or has not, a code.
        `after`: The position: a message, an event or a time (one that is still to come is now); left out, two
          minutes ago.
        `timeout_seconds`: How long to wait (25; 0-55).

        Scope: messages:read.
        Errors: inbox_access_denied, inbox_not_found, thread_not_found, too_many_streams.

            await client.messages.wait()
        """
        call = Call(
            "GET",
            "/v1/messages/wait",
            query={
                "inboxId": inbox_id,
                "threadId": thread_id,
                "from": from_,
                "fromDomain": from_domain,
                "verified": verified,
                "subject": subject,
                "q": q,
                "hasCode": has_code,
                "after": after,
                "timeoutSeconds": timeout_seconds,
            },
            wait_s=timeout_seconds,
        )
        return cast("api.AwaitedMessage", await self._transport.json(call))

    async def get(
        self,
        message_id: str,
        *,
        html: Literal["original", "sanitized"] = UNSET,
    ) -> api.Message:
        """One message with its bodies.

        `html`: Of one message: `sanitized`, to get `htmlBody` as sends are sanitized.

        Scope: messages:read.
        Errors: inbox_access_denied, message_not_found.

            await client.messages.get("msg_…")
        """
        call = Call("GET", f"/v1/messages/{segment('message_id', message_id)}", query={"html": html})
        return cast("api.Message", await self._transport.json(call))

    async def label(
        self,
        message_id: str,
        *,
        add_labels: Sequence[str] = UNSET,
        remove_labels: Sequence[str] = UNSET,
        labels: Sequence[str] = UNSET,
    ) -> api.Message:
        """Set or change a message's labels.

        `add_labels`: Labels that come behind those that are there.
        `remove_labels`: Labels to take away.
        `labels`: Replaces all labels: up to 50 of 1-64 characters without a comma, kept in their order, each
          once.

        Scope: messages:label.
        Errors: inbox_access_denied, message_not_found, payload_too_large, unsupported_media_type.

            await client.messages.label("msg_…", add_labels=["invoice"], remove_labels=["unread"])
        """
        call = Call(
            "PATCH",
            f"/v1/messages/{segment('message_id', message_id)}",
            body={
                "addLabels": listed("add_labels", add_labels),
                "removeLabels": listed("remove_labels", remove_labels),
                "labels": listed("labels", labels),
            },
        )
        return cast("api.Message", await self._transport.json(call))

    async def delete(
        self,
        message_id: str,
    ) -> api.DeletedMessage:
        """Delete a message for good.

        Scope: messages:send.
        Errors: inbox_access_denied, message_not_found.

            await client.messages.delete("msg_…")
        """
        call = Call("DELETE", f"/v1/messages/{segment('message_id', message_id)}")
        return cast("api.DeletedMessage", await self._transport.json(call))

    async def change_many(
        self,
        *,
        add_labels: Sequence[str] = UNSET,
        remove_labels: Sequence[str] = UNSET,
        ids: Sequence[str] = UNSET,
        thread_ids: Sequence[str] = UNSET,
        delete: bool = UNSET,
    ) -> builtins.list[api.ChangedMessage]:
        """Change the labels of many messages, or delete them.

        `add_labels`: Labels that come behind those that are there.
        `remove_labels`: Labels to take away.
        `ids`: Up to 100 messages.
        `thread_ids`: Up to 20 threads: all messages of each.
        `delete`: True: delete the messages, for good.

        Scope: messages:label.
        Errors: payload_too_large, unsupported_media_type.

            await client.messages.change_many(ids=["msg_…"], remove_labels=["unread"])
        """
        call = Call(
            "POST",
            "/v1/messages/batch",
            body={
                "addLabels": listed("add_labels", add_labels),
                "removeLabels": listed("remove_labels", remove_labels),
                "ids": listed("ids", ids),
                "threadIds": listed("thread_ids", thread_ids),
                "delete": delete,
            },
        )
        return cast("builtins.list[api.ChangedMessage]", await self._transport.json(call))

    async def requeue(
        self,
        message_id: str,
    ) -> api.Message:
        """Offer a message to claims again.

        Scope: messages:label.
        Errors: inbox_access_denied, inbox_not_found, message_not_found, work_not_enabled.

            await client.messages.requeue("msg_…")
        """
        call = Call("POST", f"/v1/messages/{segment('message_id', message_id)}/requeue")
        return cast("api.Message", await self._transport.json(call))

    async def cancel(
        self,
        message_id: str,
    ) -> api.CancelledMessage:
        """Cancel a scheduled message.

        Scope: messages:send.
        Errors: inbox_access_denied, message_not_found, not_scheduled.

            await client.messages.cancel("msg_…")
        """
        call = Call("DELETE", f"/v1/messages/{segment('message_id', message_id)}/schedule")
        return cast("api.CancelledMessage", await self._transport.json(call))

    async def withdraw(
        self,
        message_id: str,
    ) -> api.CancelledMessage:
        """Take a held message back.

        Scope: messages:reply.
        Errors: inbox_access_denied, message_not_found, not_held.

            await client.messages.withdraw("msg_…")
        """
        call = Call("POST", f"/v1/messages/{segment('message_id', message_id)}/withdraw")
        return cast("api.CancelledMessage", await self._transport.json(call))

    async def raw(
        self,
        message_id: str,
        *,
        range: str = UNSET,
        if_range: str = UNSET,
        if_none_match: str = UNSET,
    ) -> bytes:
        """A message's RFC 5322 bytes.

        `range`: RFC 9110 §14.2, one range of bytes: `bytes=0-1023`; anything else is ignored.
        `if_range`: The `ETag` that the range is of; the whole is sent when it is another.
        `if_none_match`: The `ETag` of an answer that the client has; 304 where it would come again.

        Scope: messages:read.
        Errors: inbox_access_denied, message_not_found, attachment_bytes_missing, range_not_satisfiable.

            await client.messages.raw("msg_…")
        """
        call = Call(
            "GET",
            f"/v1/messages/{segment('message_id', message_id)}/raw",
            headers={"Range": range, "If-Range": if_range, "If-None-Match": if_none_match},
        )
        return await self._transport.octets(call)

    async def evidence(
        self,
        message_id: str,
    ) -> api.MessageEvidence:
        """What in a message may be an attack on its reader.

        Scope: messages:read.
        Errors: inbox_access_denied, message_not_found.

            await client.messages.evidence("msg_…")
        """
        call = Call("GET", f"/v1/messages/{segment('message_id', message_id)}/evidence")
        return cast("api.MessageEvidence", await self._transport.json(call))

    async def attempts(
        self,
        message_id: str,
    ) -> builtins.list[api.DeliveryAttempt]:
        """Attempts to deliver an outbound message.

        Scope: messages:read.
        Errors: inbox_access_denied, message_not_found.

            await client.messages.attempts("msg_…")
        """
        call = Call("GET", f"/v1/messages/{segment('message_id', message_id)}/attempts")
        return cast("builtins.list[api.DeliveryAttempt]", await self._transport.json(call))


class AsyncReviews(AsyncResource):
    """`client.reviews`."""

    def list(
        self,
        *,
        status: Literal["pending", "approved", "rejected", "expired", "withdrawn"] = UNSET,
        direction: Literal["inbound", "outbound"] = UNSET,
        inbox_id: str = UNSET,
        limit: int = UNSET,
        cursor: str = UNSET,
    ) -> AsyncPages[api.Review]:
        """What is held, and what was decided, newest first.

        `status`: Only those that have this.
        `direction`: Only those that have this.
        `inbox_id`: Of this inbox alone; lists and figures of one that does not exist are empty.
        `limit`: How many at most.
        `cursor`: The `id` of the last item of a page, to get the next one.

        Scope: reviews:read.

            async for one in client.reviews.list():
                print(one['id'])
        """
        call = Call(
            "GET",
            "/v1/reviews",
            query={
                "status": status,
                "direction": direction,
                "inboxId": inbox_id,
                "limit": limit,
                "cursor": cursor,
            },
        )
        return AsyncPages(self._transport, call, "cursor", "id")

    async def get(
        self,
        review_id: str,
    ) -> api.WholeReview:
        """One review, with what is decided about.

        Scope: reviews:read.
        Errors: review_not_found.

            await client.reviews.get("rev_…")
        """
        call = Call("GET", f"/v1/reviews/{segment('review_id', review_id)}")
        return cast("api.WholeReview", await self._transport.json(call))

    async def approve(
        self,
        review_id: str,
        *,
        content_hash: str,
        note: str | None = UNSET,
        force: bool = UNSET,
    ) -> api.Review:
        """Let what is held go, now or at its time.

        `content_hash`: That of the review, as it was shown (required to approve).
        `note`: Why, for people: up to 2,000 characters.
        `force`: Approve although the conversation went on.

        Scope: reviews:write.
        Errors: domain_not_verified, attachments_unsupported, spend_cap_reached, limit_reached,
          inbox_access_denied, sending_not_approved, sandbox_bulk_not_allowed, sending_paused_bulk_review,
          recipient_not_allowed, self_approval, member_required, inbox_not_found, review_not_found,
          message_not_found, loop_suspected, thread_advanced, review_resolved, content_changed,
          payload_too_large, attachment_too_large, unsupported_media_type, recipient_suppressed,
          domain_daily_cap_reached, email_delivery_failed.

            await client.reviews.approve("rev_…", content_hash="sha256:…", note="checked with Ada")
        """
        call = Call(
            "POST",
            f"/v1/reviews/{segment('review_id', review_id)}/approve",
            body={"contentHash": content_hash, "note": note, "force": force},
        )
        return cast("api.Review", await self._transport.json(call))

    async def reject(
        self,
        review_id: str,
        *,
        note: str | None = UNSET,
    ) -> api.Review:
        """Turn down what is held.

        `note`: Why, for people: up to 2,000 characters.

        Scope: reviews:write.
        Errors: self_approval, member_required, review_not_found, review_resolved, payload_too_large,
          unsupported_media_type.

            await client.reviews.reject("rev_…", note="wrong account number")
        """
        call = Call("POST", f"/v1/reviews/{segment('review_id', review_id)}/reject", body={"note": note})
        return cast("api.Review", await self._transport.json(call))


class AsyncThreads(AsyncResource):
    """`client.threads`."""

    def list(
        self,
        *,
        inbox_id: str = UNSET,
        limit: int = UNSET,
        cursor: str = UNSET,
        is_archived: bool = UNSET,
        labels: Sequence[str] = UNSET,
        unread: bool = UNSET,
    ) -> AsyncPages[api.Thread]:
        """Threads, latest first.

        `inbox_id`: Of this inbox alone; lists and figures of one that does not exist are empty.
        `limit`: How many at most.
        `cursor`: The `id` of the last thread of a page, or `<id>@<lastMessageAt>`, to get the next one.
        `is_archived`: Whether they are put away; both kinds without it.
        `labels`: Separated by commas: has all of them, as the thread shows them.
        `unread`: Whether `unreadCount` is above 0.

        Scope: threads:read.

            async for one in client.threads.list():
                print(one['id'])
        """
        call = Call(
            "GET",
            "/v1/threads",
            query={
                "inboxId": inbox_id,
                "limit": limit,
                "cursor": cursor,
                "isArchived": is_archived,
                "labels": labels,
                "unread": unread,
            },
        )
        return AsyncPages(self._transport, call, "cursor", "id@lastMessageAt")

    async def get(
        self,
        thread_id: str,
        *,
        limit: int = UNSET,
        before: str = UNSET,
    ) -> api.WholeThread:
        """One thread with its messages.

        `limit`: How many at most.
        `before`: The `id` of the first message that was shown, to get older ones.

        Scope: threads:read.
        Errors: inbox_access_denied, thread_not_found.

            await client.threads.get("thd_…")
        """
        call = Call(
            "GET", f"/v1/threads/{segment('thread_id', thread_id)}", query={"limit": limit, "before": before}
        )
        return cast("api.WholeThread", await self._transport.json(call))

    async def update(
        self,
        thread_id: str,
        *,
        is_archived: bool,
    ) -> api.Thread:
        """Archive or unarchive a thread.

        `is_archived`: Whether it is put away; mail that comes in takes it out.

        Scope: messages:label.
        Errors: inbox_access_denied, thread_not_found, payload_too_large, unsupported_media_type.

            await client.threads.update("thd_…", is_archived=True)
        """
        call = Call(
            "PATCH", f"/v1/threads/{segment('thread_id', thread_id)}", body={"isArchived": is_archived}
        )
        return cast("api.Thread", await self._transport.json(call))

    async def context(
        self,
        thread_id: str,
        *,
        max_tokens: int = UNSET,
        focus: str = UNSET,
        if_none_match: str = UNSET,
    ) -> api.ThreadContext:
        """A thread as text for a model, within a budget.

        `max_tokens`: How many tokens the text may have (4000; 200-100,000).
        `focus`: The message that gets most room; by default the newest inbound one that no program wrote by
          itself.
        `if_none_match`: The `ETag` of an answer that the client has; 304 where it would come again.

        Scope: threads:read, messages:read.
        Errors: inbox_access_denied, thread_not_found.

            await client.threads.context("thd_…")
        """
        call = Call(
            "GET",
            f"/v1/threads/{segment('thread_id', thread_id)}/context",
            query={"maxTokens": max_tokens, "focus": focus},
            headers={"If-None-Match": if_none_match},
        )
        return cast("api.ThreadContext", await self._transport.json(call))

    @overload
    async def reply(
        self,
        thread_id: str,
        *,
        if_last_message_id: str,
        text: str | None = UNSET,
        html: str | None = UNSET,
        reply_all: bool = UNSET,
        quote: Literal["none", "text"] = UNSET,
        attachments: Sequence[api.AttachmentInput | Path] = UNSET,
        send_at: datetime | str | None = UNSET,
        headers: Mapping[str, str] = UNSET,
        claim_id: str | None = UNSET,
        complete_claim: bool = UNSET,
        as_draft: Literal[False] = UNSET,
        to: Sequence[str] | None = UNSET,
        cc: Sequence[str] = UNSET,
        bcc: Sequence[str] = UNSET,
        subject: str | None = UNSET,
        idempotency_key: str | None = None,
    ) -> api.SentReply: ...
    @overload
    async def reply(
        self,
        thread_id: str,
        *,
        if_last_message_id: str,
        text: str | None = UNSET,
        html: str | None = UNSET,
        reply_all: bool = UNSET,
        quote: Literal["none", "text"] = UNSET,
        attachments: Sequence[api.AttachmentInput | Path] = UNSET,
        send_at: datetime | str | None = UNSET,
        headers: Mapping[str, str] = UNSET,
        claim_id: str | None = UNSET,
        complete_claim: bool = UNSET,
        as_draft: Literal[True],
        to: Sequence[str] | None = UNSET,
        cc: Sequence[str] = UNSET,
        bcc: Sequence[str] = UNSET,
        subject: str | None = UNSET,
        idempotency_key: str | None = None,
    ) -> api.DraftedReply: ...
    @overload
    async def reply(
        self,
        thread_id: str,
        *,
        if_last_message_id: str,
        text: str | None = UNSET,
        html: str | None = UNSET,
        reply_all: bool = UNSET,
        quote: Literal["none", "text"] = UNSET,
        attachments: Sequence[api.AttachmentInput | Path] = UNSET,
        send_at: datetime | str | None = UNSET,
        headers: Mapping[str, str] = UNSET,
        claim_id: str | None = UNSET,
        complete_claim: bool = UNSET,
        as_draft: bool,
        to: Sequence[str] | None = UNSET,
        cc: Sequence[str] = UNSET,
        bcc: Sequence[str] = UNSET,
        subject: str | None = UNSET,
        idempotency_key: str | None = None,
    ) -> api.SentReply | api.DraftedReply: ...
    async def reply(
        self,
        thread_id: str,
        *,
        if_last_message_id: str,
        text: str | None = UNSET,
        html: str | None = UNSET,
        reply_all: bool = UNSET,
        quote: Literal["none", "text"] = UNSET,
        attachments: Sequence[api.AttachmentInput | Path] = UNSET,
        send_at: datetime | str | None = UNSET,
        headers: Mapping[str, str] = UNSET,
        claim_id: str | None = UNSET,
        complete_claim: bool = UNSET,
        as_draft: bool = UNSET,
        to: Sequence[str] | None = UNSET,
        cc: Sequence[str] = UNSET,
        bcc: Sequence[str] = UNSET,
        subject: str | None = UNSET,
        idempotency_key: str | None = None,
    ) -> api.SentReply | api.DraftedReply:
        """Answer the newest message that came in.

        `text`: The words; where they are left out, those of `html`, else none.
        `html`: The words as HTML, which is sanitized; a text part is derived from it where `text` is left out.
          More than 100,000 tags, or a depth of more than 500, is 400 (`too_complex`).
        `reply_all`: Answer everybody who stands in the message; the default is its author alone.
        `quote`: `none` (the default), or `text`: the message that is answered stands below, behind an
          attribution and `> `, in `html` as a blockquote; at most 64 KiB of it.
        `attachments`: Up to 20 files.
        `send_at`: When to send it: a time with an offset, 1 minute to 30 days ahead.
        `headers`: Up to 50 custom headers, names to values.
        `if_last_message_id`: Send only unless the conversation went on after this message, the newest that you
          know of; required in answers to threads.
        `claim_id`: Of an answer: send only while this claim lives.
        `complete_claim`: With `claimId`: end the claim as done, if the message is sent.
        `as_draft`: Write a draft with these recipients, subject and words instead; not with `attachments`,
          `headers`, `sendAt`.
        `to`: Whom to write to instead of those who would be answered; not with `replyAll`.
        `cc`: Up to 50 more recipients, besides those who are answered.
        `bcc`: Up to 50 more recipients, besides those who are answered.
        `subject`: What to put instead of `Re: …`; up to 500 characters.

        Scope: messages:reply.
        Errors: domain_not_verified, attachments_unsupported, attachments_not_schedulable, spend_cap_reached,
          limit_reached, draft_limit_reached, inbox_access_denied, sending_not_approved,
          sandbox_bulk_not_allowed, sending_paused_bulk_review, recipient_not_allowed, inbox_not_found,
          message_not_found, thread_not_found, claim_not_found, idempotency_conflict, loop_suspected,
          thread_advanced, claim_lost, claim_required, no_reply_target, payload_too_large, attachment_too_large,
          unsupported_media_type, recipient_suppressed, domain_daily_cap_reached, email_delivery_failed.

            await client.threads.reply(
                "thd_…",
                text="Thank you, it is paid.",
                if_last_message_id="msg_…",
            )
        """
        call = Call(
            "POST",
            f"/v1/threads/{segment('thread_id', thread_id)}/reply",
            body={
                "text": text,
                "html": html,
                "replyAll": reply_all,
                "quote": quote,
                "attachments": files("attachments", attachments),
                "sendAt": send_at,
                "headers": headers,
                "ifLastMessageId": if_last_message_id,
                "claimId": claim_id,
                "completeClaim": complete_claim,
                "asDraft": as_draft,
                "to": listed("to", to),
                "cc": listed("cc", cc),
                "bcc": listed("bcc", bcc),
                "subject": subject,
            },
            idempotency_key=repeated_under(idempotency_key),
        )
        return cast("api.SentReply | api.DraftedReply", await self._transport.json(call))


class AsyncAttachments(AsyncResource):
    """`client.attachments`."""

    async def download(
        self,
        attachment_id: str,
        *,
        inline: bool = UNSET,
        range: str = UNSET,
        if_range: str = UNSET,
        if_none_match: str = UNSET,
    ) -> bytes:
        """An attachment's bytes.

        `inline`: `1` or `true`: let a browser show it, where that is safe.
        `range`: RFC 9110 §14.2, one range of bytes: `bytes=0-1023`; anything else is ignored.
        `if_range`: The `ETag` that the range is of; the whole is sent when it is another.
        `if_none_match`: The `ETag` of an answer that the client has; 304 where it would come again.

        Scope: messages:read.
        Errors: inbox_access_denied, attachment_not_found, attachment_bytes_missing, range_not_satisfiable.

            await client.attachments.download("att_…")
        """
        call = Call(
            "GET",
            f"/v1/attachments/{segment('attachment_id', attachment_id)}",
            query={"inline": inline},
            headers={"Range": range, "If-Range": if_range, "If-None-Match": if_none_match},
        )
        return await self._transport.octets(call)


class AsyncDrafts(AsyncResource):
    """`client.drafts`."""

    async def create(
        self,
        *,
        inbox_id: str,
        to: Sequence[str] = UNSET,
        cc: Sequence[str] = UNSET,
        bcc: Sequence[str] = UNSET,
        subject: str | None = UNSET,
        text: str | None = UNSET,
        html: str | None = UNSET,
        in_reply_to: str | None = UNSET,
        if_last_message_id: str | None = UNSET,
        claim_id: str | None = UNSET,
        complete_claim: bool = UNSET,
        idempotency_key: str | None = None,
    ) -> api.Draft:
        """Write a draft.

        `inbox_id`: The sending inbox.
        `to`: Up to 50 addresses; a recipient in any of the three lists is enough to send.
        `cc`: Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in.
        `bcc`: Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in.
        `subject`: Up to 500 characters; a blank one is sent as `(no subject)`.
        `text`: The words; where they are left out, those of `html`, else none.
        `html`: The words as HTML, which is sanitized when the draft is sent.
        `in_reply_to`: What it answers: a message, or a thread (its newest message that came in or went), of the
          same inbox, else 404 `message_not_found`.
        `if_last_message_id`: With `inReplyTo`: send only unless the conversation went on after this message.
        `claim_id`: Of an answer: send only while this claim lives.
        `complete_claim`: With `claimId`: end the claim as done, if the message is sent.

        Scope: messages:send.
        Errors: draft_limit_reached, inbox_access_denied, inbox_not_found, message_not_found,
          idempotency_conflict, payload_too_large, unsupported_media_type.

            await client.drafts.create(
                inbox_id="inb_…",
                to=["ada@example.com"],
                subject="Re: Your invoice",
                text="It is paid.",
                in_reply_to="msg_…",
            )
        """
        call = Call(
            "POST",
            "/v1/drafts",
            body={
                "inboxId": inbox_id,
                "to": listed("to", to),
                "cc": listed("cc", cc),
                "bcc": listed("bcc", bcc),
                "subject": subject,
                "text": text,
                "html": html,
                "inReplyTo": in_reply_to,
                "ifLastMessageId": if_last_message_id,
                "claimId": claim_id,
                "completeClaim": complete_claim,
            },
            idempotency_key=repeated_under(idempotency_key),
        )
        return cast("api.Draft", await self._transport.json(call))

    def list(
        self,
        *,
        status: Literal["draft", "sent", "discarded"] = UNSET,
        inbox_id: str = UNSET,
        limit: int = UNSET,
        cursor: str = UNSET,
    ) -> AsyncPages[api.Draft]:
        """Drafts, newest first.

        `status`: Only those that have this.
        `inbox_id`: Of this inbox alone; lists and figures of one that does not exist are empty.
        `limit`: How many at most.
        `cursor`: The `id` of the last item of a page, to get the next one.

        Scope: messages:send.

            async for one in client.drafts.list():
                print(one['id'])
        """
        call = Call(
            "GET",
            "/v1/drafts",
            query={"status": status, "inboxId": inbox_id, "limit": limit, "cursor": cursor},
        )
        return AsyncPages(self._transport, call, "cursor", "id")

    async def get(
        self,
        draft_id: str,
    ) -> api.Draft:
        """One draft.

        Scope: messages:send.
        Errors: inbox_access_denied, draft_not_found.

            await client.drafts.get("drf_…")
        """
        call = Call("GET", f"/v1/drafts/{segment('draft_id', draft_id)}")
        return cast("api.Draft", await self._transport.json(call))

    async def update(
        self,
        draft_id: str,
        *,
        to: Sequence[str] = UNSET,
        cc: Sequence[str] = UNSET,
        bcc: Sequence[str] = UNSET,
        subject: str | None = UNSET,
        text: str | None = UNSET,
        html: str | None = UNSET,
        in_reply_to: str | None = UNSET,
        if_last_message_id: str | None = UNSET,
        claim_id: str | None = UNSET,
        complete_claim: bool = UNSET,
    ) -> api.Draft:
        """Change what is given.

        `to`: Up to 50 addresses; a recipient in any of the three lists is enough to send.
        `cc`: Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in.
        `bcc`: Up to 50 addresses; one that is named twice gets one copy, as in the first list it stands in.
        `subject`: Up to 500 characters; a blank one is sent as `(no subject)`.
        `text`: The words; where they are left out, those of `html`, else none.
        `html`: The words as HTML, which is sanitized when the draft is sent.
        `in_reply_to`: What it answers: a message, or a thread (its newest message that came in or went), of the
          same inbox, else 404 `message_not_found`.
        `if_last_message_id`: With `inReplyTo`: send only unless the conversation went on after this message.
        `claim_id`: Of an answer: send only while this claim lives.
        `complete_claim`: With `claimId`: end the claim as done, if the message is sent.

        Scope: messages:send.
        Errors: inbox_access_denied, message_not_found, draft_not_found, draft_not_editable, payload_too_large,
          unsupported_media_type.

            await client.drafts.update("drf_…", text="It was paid yesterday.")
        """
        call = Call(
            "PATCH",
            f"/v1/drafts/{segment('draft_id', draft_id)}",
            body={
                "to": listed("to", to),
                "cc": listed("cc", cc),
                "bcc": listed("bcc", bcc),
                "subject": subject,
                "text": text,
                "html": html,
                "inReplyTo": in_reply_to,
                "ifLastMessageId": if_last_message_id,
                "claimId": claim_id,
                "completeClaim": complete_claim,
            },
        )
        return cast("api.Draft", await self._transport.json(call))

    async def discard(
        self,
        draft_id: str,
    ) -> api.Draft:
        """Discard a draft.

        Scope: messages:send.
        Errors: inbox_access_denied, draft_not_found, draft_already_sent.

            await client.drafts.discard("drf_…")
        """
        call = Call("DELETE", f"/v1/drafts/{segment('draft_id', draft_id)}")
        return cast("api.Draft", await self._transport.json(call))

    async def send(
        self,
        draft_id: str,
    ) -> api.ListedMessage:
        """Send a draft; a sent one answers its message.

        Scope: messages:send.
        Errors: domain_not_verified, attachments_unsupported, draft_incomplete, spend_cap_reached,
          limit_reached, inbox_access_denied, sending_not_approved, sandbox_bulk_not_allowed,
          sending_paused_bulk_review, recipient_not_allowed, inbox_not_found, message_not_found,
          claim_not_found, draft_not_found, loop_suspected, thread_advanced, claim_lost, claim_required,
          draft_discarded, payload_too_large, attachment_too_large, recipient_suppressed,
          domain_daily_cap_reached, email_delivery_failed.

            await client.drafts.send("drf_…")
        """
        call = Call("POST", f"/v1/drafts/{segment('draft_id', draft_id)}/send")
        return cast("api.ListedMessage", await self._transport.json(call))


class AsyncDomains(AsyncResource):
    """`client.domains`."""

    async def register(
        self,
        *,
        domain_name: str,
        daily_cap: int | None = UNSET,
    ) -> api.Domain:
        """Register a custom domain.

        `domain_name`: A lower-case A-label without a last dot: two labels or more, at most 238 characters.
        `daily_cap`: How many messages may leave from it in a day (UTC), 1-1,000,000; null: no ceiling.

        Scope: domains:write.
        Errors: limit_reached, apex_domain_reserved, domain_already_registered, payload_too_large,
          unsupported_media_type.

            await client.domains.register(domain_name="mail.example.org", daily_cap=500)
        """
        call = Call("POST", "/v1/domains", body={"domainName": domain_name, "dailyCap": daily_cap})
        return cast("api.Domain", await self._transport.json(call))

    async def list(
        self,
    ) -> builtins.list[api.Domain]:
        """Domains, newest first.

        Scope: domains:read.

            await client.domains.list()
        """
        call = Call("GET", "/v1/domains")
        return cast("builtins.list[api.Domain]", await self._transport.json(call))

    async def get(
        self,
        domain_id: str,
    ) -> api.Domain:
        """One domain with its records.

        Scope: domains:read.
        Errors: domain_not_found.

            await client.domains.get("dom_…")
        """
        call = Call("GET", f"/v1/domains/{segment('domain_id', domain_id)}")
        return cast("api.Domain", await self._transport.json(call))

    async def update(
        self,
        domain_id: str,
        *,
        daily_cap: int | None,
    ) -> api.DomainCeiling:
        """Set the daily ceiling.

        `daily_cap`: How many messages may leave from it in a day (UTC), 1-1,000,000; null: no ceiling.

        Scope: domains:write.
        Errors: domain_not_found, payload_too_large, unsupported_media_type.

            await client.domains.update("dom_…", daily_cap=1000)
        """
        call = Call("PATCH", f"/v1/domains/{segment('domain_id', domain_id)}", body={"dailyCap": daily_cap})
        return cast("api.DomainCeiling", await self._transport.json(call))

    async def delete(
        self,
        domain_id: str,
    ) -> api.Deleted:
        """Delete a domain.

        Scope: domains:write.
        Errors: domain_not_found.

            await client.domains.delete("dom_…")
        """
        call = Call("DELETE", f"/v1/domains/{segment('domain_id', domain_id)}")
        return cast("api.Deleted", await self._transport.json(call))

    def reports(
        self,
        domain_id: str,
        *,
        type: Literal["dmarc", "tls"] = UNSET,
        limit: int = UNSET,
        cursor: str = UNSET,
    ) -> AsyncPages[api.AggregateReport]:
        """What other hosts report about it, newest first.

        `type`: Only those that have this.
        `limit`: How many at most.
        `cursor`: The `id` of the last item of a page, to get the next one.

        Scope: domains:read.
        Errors: domain_not_found.

            async for one in client.domains.reports("dom_…"):
                print(one['id'])
        """
        call = Call(
            "GET",
            f"/v1/domains/{segment('domain_id', domain_id)}/reports",
            query={"type": type, "limit": limit, "cursor": cursor},
        )
        return AsyncPages(self._transport, call, "cursor", "id")

    async def verify(
        self,
        domain_id: str,
    ) -> api.DomainVerification:
        """Check the DNS now.

        Scope: domains:write.
        Errors: domain_not_found, domain_already_registered.

            await client.domains.verify("dom_…")
        """
        call = Call("POST", f"/v1/domains/{segment('domain_id', domain_id)}/verify")
        return cast("api.DomainVerification", await self._transport.json(call))

    async def rotate_dkim(
        self,
        domain_id: str,
    ) -> api.Domain:
        """Prepare a new DKIM key.

        Scope: domains:write.
        Errors: domain_not_verified, domain_not_found.

            await client.domains.rotate_dkim("dom_…")
        """
        call = Call("POST", f"/v1/domains/{segment('domain_id', domain_id)}/rotate-dkim")
        return cast("api.Domain", await self._transport.json(call))


class AsyncSuppressions(AsyncResource):
    """`client.suppressions`."""

    async def create(
        self,
        *,
        email: str,
        reason: Literal["hard_bounce", "complaint", "unsubscribe", "manual"] = UNSET,
    ) -> api.Suppression:
        """Suppress an address.

        `email`: The address; shown in lower case, its domain as `xn--`.
        `reason`: `hard_bounce`, `complaint`, `unsubscribe` or `manual`.

        Scope: suppressions:write.
        Errors: payload_too_large, unsupported_media_type.

            await client.suppressions.create(email="no-more@example.com", reason="unsubscribe")
        """
        call = Call("POST", "/v1/suppressions", body={"email": email, "reason": reason})
        return cast("api.Suppression", await self._transport.json(call))

    def list(
        self,
        *,
        reason: Literal["hard_bounce", "complaint", "unsubscribe", "manual"] = UNSET,
        email: str = UNSET,
        limit: int = UNSET,
        cursor: str = UNSET,
    ) -> AsyncPages[api.Suppression]:
        """Suppressed addresses.

        `reason`: Only those that have this.
        `email`: Only those that have this.
        `limit`: How many at most.
        `cursor`: The `id` of the last item of a page, to get the next one.

        Scope: suppressions:read.

            async for one in client.suppressions.list():
                print(one['id'])
        """
        call = Call(
            "GET",
            "/v1/suppressions",
            query={"reason": reason, "email": email, "limit": limit, "cursor": cursor},
        )
        return AsyncPages(self._transport, call, "cursor", "id")

    async def delete(
        self,
        suppression_id: str,
    ) -> api.Deleted:
        """Lift a suppression.

        Scope: suppressions:write.
        Errors: suppression_not_found.

            await client.suppressions.delete("sup_…")
        """
        call = Call("DELETE", f"/v1/suppressions/{segment('suppression_id', suppression_id)}")
        return cast("api.Deleted", await self._transport.json(call))


class AsyncRules(AsyncResource):
    """`client.rules`."""

    async def create(
        self,
        *,
        direction: Literal["inbound", "outbound"],
        action: Literal["allow", "block", "hold"],
        value: str,
        inbox_id: str | None = UNSET,
        note: str | None = UNSET,
        idempotency_key: str | None = None,
    ) -> api.MailRule:
        """Say who may be written to, or may write.

        `direction`: `inbound`: mail that comes in; `outbound`: mail that is sent.
        `action`: What becomes of it: `allow`, `block` or `hold`.
        `value`: An address without its tag (`ada@x.org`, which names `ada+news@x.org` as well), a domain
          (`x.org`, that alone), or `*.x.org`, all domains below it; shown as it is compared (lower case, domain
          as `xn--`).
        `inbox_id`: The inbox whose mail it is about; null: every inbox of the organization.
        `note`: Up to 200 characters, for people.

        Scope: policies:write.
        Errors: limit_reached, member_required, inbox_not_found, idempotency_conflict, payload_too_large,
          unsupported_media_type.

            await client.rules.create(
                direction="outbound",
                action="block",
                value="*.example.net",
                note="asked us to stop",
            )
        """
        call = Call(
            "POST",
            "/v1/rules",
            body={
                "direction": direction,
                "action": action,
                "value": value,
                "inboxId": inbox_id,
                "note": note,
            },
            idempotency_key=repeated_under(idempotency_key),
        )
        return cast("api.MailRule", await self._transport.json(call))

    def list(
        self,
        *,
        direction: Literal["inbound", "outbound"] = UNSET,
        action: Literal["allow", "block", "hold"] = UNSET,
        value: str = UNSET,
        inbox_id: str = UNSET,
        limit: int = UNSET,
        cursor: str = UNSET,
    ) -> AsyncPages[api.MailRule]:
        """Rules, newest first.

        `direction`: Only those that have this.
        `action`: Only those that have this.
        `value`: Only those that have this.
        `inbox_id`: Of this inbox alone; lists and figures of one that does not exist are empty.
        `limit`: How many at most.
        `cursor`: The `id` of the last item of a page, to get the next one.

        Scope: policies:read.

            async for one in client.rules.list():
                print(one['id'])
        """
        call = Call(
            "GET",
            "/v1/rules",
            query={
                "direction": direction,
                "action": action,
                "value": value,
                "inboxId": inbox_id,
                "limit": limit,
                "cursor": cursor,
            },
        )
        return AsyncPages(self._transport, call, "cursor", "id")

    async def delete(
        self,
        rule_id: str,
    ) -> api.DeletedRule:
        """Delete a rule.

        Scope: policies:write.
        Errors: member_required, rule_not_found.

            await client.rules.delete("rul_…")
        """
        call = Call("DELETE", f"/v1/rules/{segment('rule_id', rule_id)}")
        return cast("api.DeletedRule", await self._transport.json(call))


class AsyncUnsubscribe(AsyncResource):
    """`client.unsubscribe`."""

    async def page(
        self,
        *,
        token: str = UNSET,
    ) -> bytes:
        """The page behind an unsubscribe link; changes nothing.

        `token`: That of the link.

        Errors: missing_token, invalid_or_expired_token.

            await client.unsubscribe.page()
        """
        call = Call("GET", "/v1/unsubscribe", query={"token": token}, is_public=True)
        return await self._transport.octets(call)

    async def confirm(
        self,
        *,
        token: str = UNSET,
    ) -> api.Unsubscribed:
        """Take the link's address off the list (RFC 8058).

        `token`: That of the link.

        Errors: missing_token, invalid_or_expired_token, payload_too_large.

            await client.unsubscribe.confirm()
        """
        call = Call(
            "POST",
            "/v1/unsubscribe",
            query={"token": token},
            form={"List-Unsubscribe": "One-Click"},
            headers={"Accept": "application/json"},
            is_public=True,
        )
        return cast("api.Unsubscribed", await self._transport.json(call))


class AsyncAnalytics(AsyncResource):
    """`client.analytics`."""

    async def summary(
        self,
        *,
        inbox_id: str = UNSET,
        since: date | str = UNSET,
        until: date | str = UNSET,
    ) -> api.AnalyticsSummary:
        """Figures of a window.

        `inbox_id`: Of this inbox alone; lists and figures of one that does not exist are empty.
        `since`: From this time on: a date (midnight UTC) or a timestamp.
        `until`: Before this time.

        Scope: messages:read.

            await client.analytics.summary()
        """
        call = Call(
            "GET", "/v1/analytics/summary", query={"inboxId": inbox_id, "since": since, "until": until}
        )
        return cast("api.AnalyticsSummary", await self._transport.json(call))

    async def events(
        self,
        *,
        inbox_id: str = UNSET,
        since: date | str = UNSET,
        until: date | str = UNSET,
        types: Sequence[
            Literal[
                "email.received",
                "email.sent",
                "email.bounced",
                "email.complained",
                "email.unsubscribed",
                "email.delayed",
                "email.failed",
                "domain.verified",
                "domain.failed",
                "sending.paused",
                "message.updated",
                "message.deleted",
                "thread.updated",
                "draft.created",
                "draft.updated",
                "draft.discarded",
                "claim.expired",
                "claim.dead",
                "review.requested",
                "review.resolved",
                "audit.head",
            ]
        ] = UNSET,
        period: int = UNSET,
    ) -> api.AnalyticsSeries:
        """Events by period.

        `inbox_id`: Of this inbox alone; lists and figures of one that does not exist are empty.
        `since`: From this time on: a date (midnight UTC) or a timestamp.
        `until`: Before this time.
        `types`: Types of events, separated by commas.
        `period`: How long each is, in seconds: 60 to 31 days (3,600).

        Scope: messages:read.

            await client.analytics.events()
        """
        call = Call(
            "GET",
            "/v1/analytics/events",
            query={"inboxId": inbox_id, "since": since, "until": until, "types": types, "period": period},
        )
        return cast("api.AnalyticsSeries", await self._transport.json(call))

    async def destinations(
        self,
        *,
        inbox_id: str = UNSET,
        since: date | str = UNSET,
        until: date | str = UNSET,
        limit: int = UNSET,
    ) -> builtins.list[api.AnalyticsDestination]:
        """Figures by recipient domain.

        `inbox_id`: Of this inbox alone; lists and figures of one that does not exist are empty.
        `since`: From this time on: a date (midnight UTC) or a timestamp.
        `until`: Before this time.
        `limit`: How many at most.

        Scope: messages:read.

            await client.analytics.destinations()
        """
        call = Call(
            "GET",
            "/v1/analytics/destinations",
            query={"inboxId": inbox_id, "since": since, "until": until, "limit": limit},
        )
        return cast("builtins.list[api.AnalyticsDestination]", await self._transport.json(call))


class AsyncEvents(AsyncResource):
    """`client.events`."""

    def list(
        self,
        *,
        after: str = UNSET,
        types: Sequence[
            Literal[
                "email.received",
                "email.sent",
                "email.bounced",
                "email.complained",
                "email.unsubscribed",
                "email.delayed",
                "email.failed",
                "domain.verified",
                "domain.failed",
                "sending.paused",
                "message.updated",
                "message.deleted",
                "thread.updated",
                "draft.created",
                "draft.updated",
                "draft.discarded",
                "claim.expired",
                "claim.dead",
                "review.requested",
                "review.resolved",
                "audit.head",
                "*",
            ]
        ] = UNSET,
        inbox_id: str = UNSET,
        limit: int = UNSET,
    ) -> AsyncPages[api.Event]:
        """The event log, oldest first.

        `after`: The id of the last event that is known: those behind it are told.
        `types`: Types of events, separated by commas; `*`: all; by default `email.…`, `domain.…` and
          `sending.…`.
        `inbox_id`: Of this inbox alone; lists and figures of one that does not exist are empty.
        `limit`: How many at most.

        Scope: messages:read.

            async for one in client.events.list():
                print(one['id'])
        """
        call = Call(
            "GET", "/v1/events", query={"after": after, "types": types, "inboxId": inbox_id, "limit": limit}
        )
        return AsyncPages(self._transport, call, "after", "id")

    def stream(
        self,
        *,
        after: str = UNSET,
        types: Sequence[
            Literal[
                "email.received",
                "email.sent",
                "email.bounced",
                "email.complained",
                "email.unsubscribed",
                "email.delayed",
                "email.failed",
                "domain.verified",
                "domain.failed",
                "sending.paused",
                "message.updated",
                "message.deleted",
                "thread.updated",
                "draft.created",
                "draft.updated",
                "draft.discarded",
                "claim.expired",
                "claim.dead",
                "review.requested",
                "review.resolved",
                "audit.head",
                "*",
            ]
        ] = UNSET,
        inbox_id: str = UNSET,
    ) -> AsyncEventStream:
        """Events as they happen (server-sent events).

        `after`: The id of the last event that is known: those behind it are told.
        `types`: Types of events, separated by commas; `*`: all; by default `email.…`, `domain.…` and
          `sending.…`.
        `inbox_id`: Of this inbox alone; lists and figures of one that does not exist are empty.

        Scope: messages:read.
        Errors: inbox_access_denied, inbox_not_found, too_many_streams.

            async for event in client.events.stream():
                print(event['type'])
        """
        call = Call("GET", "/v1/events/stream", query={"after": after, "types": types, "inboxId": inbox_id})
        return AsyncEventStream(self._transport, call)


class AsyncWebhooks(AsyncResource):
    """`client.webhooks`."""

    async def create(
        self,
        *,
        url: str,
        subscribed_events: Sequence[
            Literal[
                "email.received",
                "email.sent",
                "email.bounced",
                "email.complained",
                "email.unsubscribed",
                "email.delayed",
                "email.failed",
                "domain.verified",
                "domain.failed",
                "sending.paused",
                "message.updated",
                "message.deleted",
                "thread.updated",
                "draft.created",
                "draft.updated",
                "draft.discarded",
                "claim.expired",
                "claim.dead",
                "review.requested",
                "review.resolved",
                "audit.head",
            ]
        ] = UNSET,
    ) -> api.WebhookWithSecret:
        """Register a webhook; its secret is shown once.

        `url`: Where events are to be sent: `https://`, public, up to 2,048 characters.
        `subscribed_events`: The types that are to be sent, one at least; the default is `email.received`,
          `email.sent`, `email.bounced`.

        Scope: webhooks:write.
        Errors: webhook_limit_reached, payload_too_large, unsupported_media_type.

            await client.webhooks.create(
                url="https://hooks.example.com/mail",
                subscribed_events=["email.received", "email.bounced"],
            )
        """
        call = Call(
            "POST",
            "/v1/webhooks",
            body={"url": url, "subscribedEvents": listed("subscribed_events", subscribed_events)},
        )
        return cast("api.WebhookWithSecret", await self._transport.json(call))

    async def list(
        self,
    ) -> builtins.list[api.Webhook]:
        """Webhooks, newest first.

        Scope: webhooks:read.

            await client.webhooks.list()
        """
        call = Call("GET", "/v1/webhooks")
        return cast("builtins.list[api.Webhook]", await self._transport.json(call))

    def deliveries(
        self,
        *,
        limit: int = UNSET,
        cursor: str = UNSET,
    ) -> AsyncPages[api.WebhookDelivery]:
        """Attempts to deliver events, newest first.

        `limit`: How many at most.
        `cursor`: The `id` of the last item of a page, to get the next one.

        Scope: webhooks:read.

            async for one in client.webhooks.deliveries():
                print(one['id'])
        """
        call = Call("GET", "/v1/webhooks/deliveries", query={"limit": limit, "cursor": cursor})
        return AsyncPages(self._transport, call, "cursor", "id")

    async def redeliver(
        self,
        delivery_id: str,
    ) -> api.WebhookDelivery:
        """Make the next attempt of a delivery now.

        Scope: webhooks:write.
        Errors: webhook_not_found, delivery_not_found, webhook_inactive, delivery_in_flight, event_not_kept.

            await client.webhooks.redeliver("del_…")
        """
        call = Call("POST", f"/v1/webhooks/deliveries/{segment('delivery_id', delivery_id)}/redeliver")
        return cast("api.WebhookDelivery", await self._transport.json(call))

    async def get(
        self,
        webhook_id: str,
    ) -> api.Webhook:
        """One webhook.

        Scope: webhooks:read.
        Errors: webhook_not_found.

            await client.webhooks.get("whk_…")
        """
        call = Call("GET", f"/v1/webhooks/{segment('webhook_id', webhook_id)}")
        return cast("api.Webhook", await self._transport.json(call))

    async def update(
        self,
        webhook_id: str,
        *,
        url: str = UNSET,
        subscribed_events: Sequence[
            Literal[
                "email.received",
                "email.sent",
                "email.bounced",
                "email.complained",
                "email.unsubscribed",
                "email.delayed",
                "email.failed",
                "domain.verified",
                "domain.failed",
                "sending.paused",
                "message.updated",
                "message.deleted",
                "thread.updated",
                "draft.created",
                "draft.updated",
                "draft.discarded",
                "claim.expired",
                "claim.dead",
                "review.requested",
                "review.resolved",
                "audit.head",
            ]
        ] = UNSET,
        is_active: bool = UNSET,
    ) -> api.Webhook:
        """Change a webhook.

        `url`: Where events are to be sent: `https://`, public, up to 2,048 characters.
        `subscribed_events`: The types that are to be sent, one at least; the default is `email.received`,
          `email.sent`, `email.bounced`.
        `is_active`: False: send nothing.

        Scope: webhooks:write.
        Errors: webhook_not_found, payload_too_large, unsupported_media_type.

            await client.webhooks.update("whk_…", is_active=False)
        """
        call = Call(
            "PATCH",
            f"/v1/webhooks/{segment('webhook_id', webhook_id)}",
            body={
                "url": url,
                "subscribedEvents": listed("subscribed_events", subscribed_events),
                "isActive": is_active,
            },
        )
        return cast("api.Webhook", await self._transport.json(call))

    async def delete(
        self,
        webhook_id: str,
    ) -> api.Deleted:
        """Delete a webhook.

        Scope: webhooks:write.
        Errors: webhook_not_found.

            await client.webhooks.delete("whk_…")
        """
        call = Call("DELETE", f"/v1/webhooks/{segment('webhook_id', webhook_id)}")
        return cast("api.Deleted", await self._transport.json(call))

    async def rotate_secret(
        self,
        webhook_id: str,
    ) -> api.WebhookWithSecret:
        """A new signing secret, shown once.

        Scope: webhooks:write.
        Errors: webhook_not_found.

            await client.webhooks.rotate_secret("whk_…")
        """
        call = Call("POST", f"/v1/webhooks/{segment('webhook_id', webhook_id)}/rotate-secret")
        return cast("api.WebhookWithSecret", await self._transport.json(call))

    async def test(
        self,
        webhook_id: str,
    ) -> api.WebhookDelivery:
        """Send a test ping now.

        Scope: webhooks:write.
        Errors: webhook_not_found.

            await client.webhooks.test("whk_…")
        """
        call = Call("POST", f"/v1/webhooks/{segment('webhook_id', webhook_id)}/test")
        return cast("api.WebhookDelivery", await self._transport.json(call))


class AsyncQueue(AsyncResource):
    """`client.queue`."""

    async def show(
        self,
    ) -> api.QueueState:
        """What waits on this host, and where most.

        Scope: operator:queue.

            await client.queue.show()
        """
        call = Call("GET", "/v1/operator/queue")
        return cast("api.QueueState", await self._transport.json(call))

    async def list(
        self,
        *,
        message_id: str = UNSET,
        organization_id: str = UNSET,
        destination: str = UNSET,
        is_held: bool = UNSET,
        limit: int = UNSET,
    ) -> builtins.list[api.QueuedRecipient]:
        """Who waits: held ones first, then by their time.

        `message_id`: Whose recipients.
        `organization_id`: Whose recipients.
        `destination`: Whom it goes to: a domain, or a group of mail hosts.
        `is_held`: Whether an operator holds it.
        `limit`: How many at most.

        Scope: operator:queue.

            await client.queue.list()
        """
        call = Call(
            "GET",
            "/v1/operator/queue/recipients",
            query={
                "messageId": message_id,
                "organizationId": organization_id,
                "destination": destination,
                "isHeld": is_held,
                "limit": limit,
            },
        )
        return cast("builtins.list[api.QueuedRecipient]", await self._transport.json(call))

    async def pause(
        self,
    ) -> api.QueueState:
        """Let nothing in and nothing out.

        Scope: operator:queue.

            await client.queue.pause()
        """
        call = Call("POST", "/v1/operator/queue/pause")
        return cast("api.QueueState", await self._transport.json(call))

    async def resume(
        self,
    ) -> api.QueueState:
        """Let the queue go on.

        Scope: operator:queue.

            await client.queue.resume()
        """
        call = Call("POST", "/v1/operator/queue/resume")
        return cast("api.QueueState", await self._transport.json(call))

    async def retry(
        self,
        *,
        message_id: str | None = UNSET,
        organization_id: str | None = UNSET,
        destination: str | None = UNSET,
        all: Literal[True] | None = UNSET,
    ) -> api.QueueChanged:
        """Try what waits now.

        `message_id`: The recipients of this message.
        `organization_id`: The recipients of this organization's messages.
        `destination`: What goes to this domain, or group of mail hosts.
        `all`: `true`: all that waits.

        Scope: operator:queue.
        Errors: payload_too_large, unsupported_media_type.

            await client.queue.retry(destination="example.com")
        """
        call = Call(
            "POST",
            "/v1/operator/queue/retry",
            body={
                "messageId": message_id,
                "organizationId": organization_id,
                "destination": destination,
                "all": all,
            },
        )
        return cast("api.QueueChanged", await self._transport.json(call))

    async def hold(
        self,
        *,
        message_id: str | None = UNSET,
        organization_id: str | None = UNSET,
        destination: str | None = UNSET,
        all: Literal[True] | None = UNSET,
    ) -> api.QueueChanged:
        """Hold what waits until it is released.

        `message_id`: The recipients of this message.
        `organization_id`: The recipients of this organization's messages.
        `destination`: What goes to this domain, or group of mail hosts.
        `all`: `true`: all that waits.

        Scope: operator:queue.
        Errors: payload_too_large, unsupported_media_type.

            await client.queue.hold(destination="example.com")
        """
        call = Call(
            "POST",
            "/v1/operator/queue/hold",
            body={
                "messageId": message_id,
                "organizationId": organization_id,
                "destination": destination,
                "all": all,
            },
        )
        return cast("api.QueueChanged", await self._transport.json(call))

    async def release(
        self,
        *,
        message_id: str | None = UNSET,
        organization_id: str | None = UNSET,
        destination: str | None = UNSET,
        all: Literal[True] | None = UNSET,
    ) -> api.QueueChanged:
        """Let what is held go on, now.

        `message_id`: The recipients of this message.
        `organization_id`: The recipients of this organization's messages.
        `destination`: What goes to this domain, or group of mail hosts.
        `all`: `true`: all that waits.

        Scope: operator:queue.
        Errors: payload_too_large, unsupported_media_type.

            await client.queue.release(destination="example.com")
        """
        call = Call(
            "POST",
            "/v1/operator/queue/release",
            body={
                "messageId": message_id,
                "organizationId": organization_id,
                "destination": destination,
                "all": all,
            },
        )
        return cast("api.QueueChanged", await self._transport.json(call))

    async def drop(
        self,
        *,
        message_id: str | None = UNSET,
        organization_id: str | None = UNSET,
        destination: str | None = UNSET,
        all: Literal[True] | None = UNSET,
    ) -> api.QueueChanged:
        """Fail what waits, for good.

        `message_id`: The recipients of this message.
        `organization_id`: The recipients of this organization's messages.
        `destination`: What goes to this domain, or group of mail hosts.
        `all`: `true`: all that waits.

        Scope: operator:queue.
        Errors: payload_too_large, unsupported_media_type.

            await client.queue.drop(destination="example.com")
        """
        call = Call(
            "POST",
            "/v1/operator/queue/drop",
            body={
                "messageId": message_id,
                "organizationId": organization_id,
                "destination": destination,
                "all": all,
            },
        )
        return cast("api.QueueChanged", await self._transport.json(call))


class AsyncHealth(AsyncResource):
    """`client.health`."""

    async def get(
        self,
    ) -> api.Health:
        """Is the service up?

        await client.health.get()
        """
        call = Call("GET", "/health", is_public=True)
        return cast("api.Health", await self._transport.json(call))


class AsyncResources:
    """All resources.

    Any call with a key may also raise expectation_failed, insufficient_scope, internal_error,
    invalid_api_key, invalid_api_key_format, provider_unavailable, rate_limit_exceeded, unauthorized,
    validation_failed.
    """

    def __init__(self, transport: AsyncTransport) -> None:
        self.organization = AsyncOrganization(transport)
        self.audit = AsyncAudit(transport)
        self.keys = AsyncKeys(transport)
        self.agents = AsyncAgents(transport)
        self.inboxes = AsyncInboxes(transport)
        self.codes = AsyncCodes(transport)
        self.claims = AsyncClaims(transport)
        self.messages = AsyncMessages(transport)
        self.reviews = AsyncReviews(transport)
        self.threads = AsyncThreads(transport)
        self.attachments = AsyncAttachments(transport)
        self.drafts = AsyncDrafts(transport)
        self.domains = AsyncDomains(transport)
        self.suppressions = AsyncSuppressions(transport)
        self.rules = AsyncRules(transport)
        self.unsubscribe = AsyncUnsubscribe(transport)
        self.analytics = AsyncAnalytics(transport)
        self.events = AsyncEvents(transport)
        self.webhooks = AsyncWebhooks(transport)
        self.queue = AsyncQueue(transport)
        self.health = AsyncHealth(transport)
