"""An organization that has something of everything, beside another one that it exchanged mail with."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from typing import Any

from storage.searching import search_tail
from tests.support.running import Organization, Running, until

MARK = "xylographer"  # stands in everything that the organization wrote or got, and nowhere else
DOMAIN = "leaving.example"
USERNAME = "leaver"
HELD = {"version": 0, "outbound": {"review": "all"}, "inbound": {"unlisted": "hold"}}


@dataclass(frozen=True)
class Tenant:
    """`inbox` receives, `holding` holds what comes and goes. `theirs`: the other organization's inbox, `kept` what it
    has of the exchange."""

    organization: Organization
    inbox: dict[str, Any]
    holding: dict[str, Any]
    theirs: dict[str, Any]
    kept: list[dict[str, Any]]

    @property
    def id(self) -> str:
        return self.organization.id


async def make_tenant(running: Running) -> Tenant:
    """Wants webhooks.allow_private_networks."""
    organization = await running.organization()
    api = organization.api
    theirs = await running.inbox("stays")
    agent = (await api.post("/v1/agents", {"name": MARK})).data
    inbox = await running.inbox(USERNAME, api, agentId=agent["id"], metadata={"mark": MARK})
    holding = await running.inbox("holding", api)
    await _configure(running, organization, inbox, holding)
    await _mail(running, organization, inbox, holding, theirs)
    kept = await running.api.messages(inboxId=theirs["id"])
    return Tenant(organization, inbox, holding, theirs, kept)


async def _configure(
    running: Running, organization: Organization, inbox: dict[str, Any], holding: dict[str, Any]
) -> None:
    api = organization.api
    work = {"version": 0, "work": {"enabled": True}}
    for path, document in (
        (f"/v1/inboxes/{inbox['id']}/policy", work),
        (f"/v1/inboxes/{holding['id']}/policy", HELD),
        ("/v1/organization/policy", {"version": 0}),
    ):
        assert (await api.call("PUT", path, document)).status == 200
    hook = {"url": "https://127.0.0.1:9/", "subscribedEvents": ["email.received"]}
    for path, body in (
        ("/v1/webhooks", hook),
        ("/v1/suppressions", {"email": f"{MARK}@elsewhere.test"}),
        ("/v1/rules", {"direction": "inbound", "action": "block", "value": f"{MARK}.test"}),
        ("/v1/drafts", {"inboxId": inbox["id"], "to": [f"{MARK}@elsewhere.test"], "text": MARK}),
        ("/v1/domains", {"domainName": DOMAIN}),
        ("/v1/keys", {"name": MARK, "inboxId": inbox["id"], "scopes": ["messages:read"]}),
    ):
        answer = await api.post(path, body)
        assert answer.status < 300, (path, answer.body)
    await running.operate(running.store.members.add, organization.id, f"{MARK}@people.test", "owner", None)
    await running.operate(running.store.members.link, organization.id, f"{MARK}@people.test")
    running.sql(
        """INSERT INTO console_sessions SELECT 'ses_1', organization_id, id, x'00', 0, 0, 9e15, '::1', ?
           FROM members WHERE organization_id = ?""",
        MARK,
        organization.id,
    )
    running.sql(
        "INSERT INTO deleted_mail VALUES ('token', 'msg_1', ?, ?, ?, '', 0, '[]', 9e15)",
        organization.id,
        inbox["id"],
        f"{MARK}@agents.test",
    )
    ((domain_id,),) = running.sql("SELECT id FROM domains WHERE domain_name = ?", DOMAIN)
    running.sql(
        """INSERT INTO domain_reports SELECT 'rep_1', ?, NULL, 'dmarc', 'r', 'r', NULL, 0, 0, 0, 0, 0, ?, 'm', 9e15""",
        domain_id,
        MARK,
    )


async def _mail(
    running: Running,
    organization: Organization,
    inbox: dict[str, Any],
    holding: dict[str, Any],
    theirs: dict[str, Any],
) -> None:
    api = organization.api
    large = EmailMessage()
    large["From"], large["To"], large["Subject"] = "ada@elsewhere.test", inbox["address"], MARK
    large.set_content(f"{MARK} 123456 is your verification code")
    large.add_attachment(
        b"x" * 300_000, maintype="application", subtype="octet-stream", filename=f"{MARK}.bin"
    )
    message = await running.received(inbox, bytes(large), api)
    labels = {"labels": ["unread", MARK]}
    assert (await api.call("PATCH", f"/v1/messages/{message['id']}", labels)).status == 200
    assert (await api.get(f"/v1/messages/{message['id']}/evidence")).status == 200
    claim = await api.post(f"/v1/inboxes/{inbox['id']}/claims", {"leaseSeconds": 3600})
    assert claim.status < 300, claim.body
    reply = await running.deliver(holding["address"], f"From: a@elsewhere.test\nSubject: {MARK}\n\n{MARK}\n")
    assert reply.startswith("250 "), reply
    keyed = {"Idempotency-Key": MARK}
    body = {"inboxId": inbox["id"], "to": ["one@elsewhere.test"], "subject": MARK, "text": MARK}
    for path, sent, headers in (
        ("/v1/messages/send", body, keyed),
        ("/v1/messages/send", {**body, "sendAt": (datetime.now(UTC) + timedelta(hours=1)).isoformat()}, None),
        ("/v1/messages/send", {**body, "inboxId": holding["id"]}, None),
        (
            "/v1/messages/send",
            {**body, "to": [theirs["address"]], "subject": "Both", "text": "y" * 200_000},
            None,
        ),
    ):
        answer = await api.call("POST", path, sent, headers=headers)
        assert answer.status < 300, answer.body
    await running.arrival(theirs)
    answer = await running.api.send(theirs, to=[inbox["address"]], subject="Back", text="of theirs")
    assert answer.status < 300, answer.body
    await running.arrival(inbox, api, 2)
    both = f"From: c@elsewhere.test\nSubject: To both\n\n{'z' * 200_000}\n"
    talk = await running.smtp()
    for command in ("EHLO x.test", "MAIL FROM:<c@elsewhere.test>", f"RCPT TO:<{inbox['address']}>"):
        assert (await talk.say(command)).startswith("250")
    assert (await talk.say(f"RCPT TO:<{theirs['address']}>")).startswith("250")
    assert (await talk.say("DATA")).startswith("354")
    await talk.write(both.replace("\n", "\r\n").encode())
    assert (await talk.say(".")).startswith("250")

    async def is_indexed() -> bool | None:
        assert running.daemon._db is not None
        return (await running.daemon._db.read(search_tail.length)) == 0 or None

    await until(is_indexed)
