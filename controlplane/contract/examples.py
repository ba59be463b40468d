"""A realistic body for every request that has one: the document shows them, a test validates each."""

from collections.abc import Mapping
from typing import Any

from controlplane.contract import requests
from controlplane.contract.requests import RequestBody

INBOX_ID = "inb_01m7yfag7w45tyj0v8xnjg5z6z"
MESSAGE_ID = "msg_01m7yfc2m9qk3s0r6t4v8wxyz1"
PDF = "JVBERi0xLjQKJSVFT0YK"  # "%PDF-1.4", "%%EOF"

EXAMPLES: Mapping[type[RequestBody], Mapping[str, Any]] = {
    requests.CreateKey: {"name": "billing bot", "scopes": ["messages:send", "messages:read", "threads:read"]},
    requests.CreateAgent: {"name": "Billing agent"},
    requests.CreateInbox: {"username": "billing-bot", "name": "Billing", "metadata": {"team": "finance"}},
    requests.PatchInbox: {"name": "Billing and invoices"},
    requests.SendMessage: {
        "inboxId": INBOX_ID,
        "to": ["ada@example.com"],
        "cc": ["accounts@example.com"],
        "subject": "Your invoice for November",
        "text": "Dear Ada,\n\nthe invoice is attached.\n",
        "attachments": [{"filename": "invoice.pdf", "contentType": "application/pdf", "content": PDF}],
    },
    requests.PatchMessage: {"labels": ["invoice", "done"]},
    requests.PatchThread: {"isArchived": True},
    requests.CreateDraft: {
        "inboxId": INBOX_ID,
        "to": ["ada@example.com"],
        "subject": "Re: Your invoice",
        "text": "It is paid.",
        "inReplyTo": MESSAGE_ID,
    },
    requests.PatchDraft: {"text": "It was paid yesterday."},
    requests.RegisterDomain: {"domainName": "mail.example.org", "dailyCap": 500},
    requests.PatchDomain: {"dailyCap": 1000},
    requests.CreateSuppression: {"email": "no-more@example.com", "reason": "unsubscribe"},
    requests.CreateWebhook: {
        "url": "https://hooks.example.com/mail",
        "subscribedEvents": ["email.received", "email.bounced"],
    },
    requests.UpdateWebhook: {"isActive": False},
}
