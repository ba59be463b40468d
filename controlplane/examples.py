"""A realistic body for every request that has one: the document shows them, a test validates each."""

from collections.abc import Mapping
from typing import Any

from controlplane import schemas
from controlplane.schemas import Body

INBOX_ID = "inb_01m7yfag7w45tyj0v8xnjg5z6z"
MESSAGE_ID = "msg_01m7yfc2m9qk3s0r6t4v8wxyz1"
PDF = "JVBERi0xLjQKJSVFT0YK"  # "%PDF-1.4", "%%EOF"

EXAMPLES: Mapping[type[Body], Mapping[str, Any]] = {
    schemas.CreateKey: {"name": "billing bot", "scopes": ["messages:send", "messages:read", "threads:read"]},
    schemas.CreateAgent: {"name": "Billing agent"},
    schemas.CreateInbox: {"username": "billing-bot", "name": "Billing", "metadata": {"team": "finance"}},
    schemas.PatchInbox: {"name": "Billing and invoices"},
    schemas.SendMessage: {
        "inboxId": INBOX_ID,
        "to": ["ada@example.com"],
        "cc": ["accounts@example.com"],
        "subject": "Your invoice for November",
        "text": "Dear Ada,\n\nthe invoice is attached.\n",
        "attachments": [{"filename": "invoice.pdf", "contentType": "application/pdf", "content": PDF}],
    },
    schemas.PatchMessage: {"labels": ["invoice", "done"]},
    schemas.PatchThread: {"isArchived": True},
    schemas.CreateDraft: {
        "inboxId": INBOX_ID,
        "to": ["ada@example.com"],
        "subject": "Re: Your invoice",
        "text": "It is paid.",
        "inReplyTo": MESSAGE_ID,
    },
    schemas.PatchDraft: {"text": "It was paid yesterday."},
    schemas.RegisterDomain: {"domainName": "mail.example.org", "dailyCap": 500},
    schemas.PatchDomain: {"dailyCap": 1000},
    schemas.CreateSuppression: {"email": "no-more@example.com", "reason": "unsubscribe"},
    schemas.CreateWebhook: {
        "url": "https://hooks.example.com/mail",
        "subscribedEvents": ["email.received", "email.bounced"],
    },
    schemas.UpdateWebhook: {"isActive": False},
}
