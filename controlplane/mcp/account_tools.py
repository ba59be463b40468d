"""Tools about the caller, its inboxes, its labels and its work. They answer in facts."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from controlplane.contract.mail.messages import READ_TOKENS_MAX
from controlplane.contract.refusals import Fault, invalid
from controlplane.mcp.arguments import WAIT_S_MAX
from controlplane.mcp.safe_facts import domain, known, plain
from controlplane.mcp.tool import NOTE, Facts, ToolCall
from controlplane.operations.table import TAKEN_CODE, WHO_AM_I
from maild.message.fields.address import is_within

CALLER_FACTS = {
    "address": "string", "inboxId": "string", "mode": "string", "scopes": "array", "unread": "integer",
    "held": "integer", "policy": "object", "limits": "object", NOTE: "string",
}  # fmt: skip
CODE_FACTS = {
    "value": "string", "kind": "string", "messageId": "string", "verifiedDomain": "string", "confidence": "string",
    "candidates": "array", "timedOut": "boolean", "takenMessageId": "string", "after": "string", NOTE: "string",
}  # fmt: skip
LABELLED_FACTS = {"results": "array"}
FINISHED_FACTS = {"claimId": "string", "status": "string", "leaseExpiresAt": "string"}
INBOXES_FACTS = {"inboxes": "array", "cursor": "string"}
INBOX_FACTS = {"inboxId": "string", "address": "string"}

_DEACTIVATED = "This key's inbox was deactivated: nothing comes in or leaves. Tell whom you work for."
_NO_CODE = "No code came in time; call again with 'after' to go on waiting."
_TAKEN = "An earlier call of yours took the code of takenMessageId: if you never heard of it, read_message shows it."
_CODE = re.compile(r"[A-Za-z0-9]{3,16}")
LINK_CHARS_MAX = 2000
_LINK = re.compile(r"https://[!-;=?-~]+")  # RFC 3986: what else there is, is percent-encoded
_NOT_IN_LINKS = re.compile(r"[\"'<>\\^`{|}\[\]]")


async def whoami(call: ToolCall) -> Facts:
    told = (await call.ask(WHO_AM_I)).data
    inbox = told["inbox"] or {}
    limits: dict[str, Any] = {
        "recipients": told["recipientsMax"],
        "answerTokens": READ_TOKENS_MAX,
        "waitSeconds": WAIT_S_MAX,
    }
    if call.principal.holds("organization:read"):
        organization = (await call.ask("getOrganization")).data
        limits |= {
            name: {"limit": organization["limits"][name], "used": organization["usage"][name]}
            for name in ("messagesDaily", "messagesMonthly")
        }
    facts = {
        "address": inbox.get("address"),
        "inboxId": call.principal.inbox_id,
        "mode": told["mode"],
        "scopes": told["scopes"],
        "unread": inbox.get("unreadCount"),
        "held": told.get("heldCount"),
        "policy": told["policy"],
        "limits": limits,
    }
    is_gone = call.principal.inbox_id is not None and not inbox
    return Facts(known(facts), _DEACTIVATED if is_gone else "")


async def get_verification_code(call: ToolCall) -> Facts:
    asked = call.arguments
    given = asked.given("fromDomain", "after")
    waited = {**given, "waitSeconds": asked.timeoutSeconds}
    found = (await call.ask("claimCode", call.inbox_id(), waited)).data
    if found["timedOut"]:
        taken = (await call.ask(TAKEN_CODE, call.inbox_id(), given)).data["messageId"]
        return _no_code(taken, found["cursor"])
    verified = domain(found["verifiedDomain"])
    domains = [one for one in (verified, domain(asked.fromDomain.lower())) if one is not None]
    value = shown_value(found["kind"], found["value"], domains if verified is not None else [])
    facts = {
        "timedOut": False,
        "after": found["cursor"],
        "value": value,
        "kind": found["kind"],
        "messageId": found["messageId"],
        "verifiedDomain": verified,
        "confidence": found["confidence"],
        "candidates": [one for one in found["candidates"] if _CODE.fullmatch(one)],
    }
    return Facts(known(facts), _said_of_code(found, value))


def _no_code(taken: str | None, cursor: str) -> Facts:
    facts = {"timedOut": True, "takenMessageId": taken, "after": cursor}
    return Facts(known(facts), _NO_CODE if taken is None else f"{_NO_CODE} {_TAKEN}")


async def label_messages(call: ToolCall) -> Facts:
    asked = call.arguments
    if not asked.add and not asked.remove:
        raise invalid([Fault("", "nothing_to_change", "Give 'add' or 'remove'")])
    changed = (await call.ask("changeMessages", given=asked.given("messageIds", "add", "remove"))).data
    return Facts({"results": [{"id": plain(one["id"]), "result": one["result"]} for one in changed]})


async def finish_work(call: ToolCall) -> Facts:
    operation = _OUTCOMES[call.arguments.outcome]
    claim = (await call.ask(operation, call.arguments.claimId, {})).data
    facts = {"claimId": claim["id"], "status": claim["status"], "leaseExpiresAt": claim["leaseExpiresAt"]}
    return Facts(facts)


async def list_inboxes(call: ToolCall) -> Facts:
    asked = call.arguments
    listed = (await call.ask("listInboxes", given={**asked.given("cursor"), "limit": asked.limit})).data
    facts: dict[str, Any] = {
        "inboxes": [
            {
                "inboxId": one["id"],
                "address": one["address"],
                "name": one["name"],
                "unread": one["unreadCount"],
            }
            for one in listed
        ]
    }
    if len(listed) == asked.limit:
        facts["cursor"] = listed[-1]["id"]
    return Facts(facts)


async def create_inbox(call: ToolCall) -> Facts:
    made = (await call.ask("createInbox", given=call.arguments.given("username", "domain", "name"))).data
    return Facts({"inboxId": made["id"], "address": made["address"]})


_OUTCOMES: Mapping[str, str] = {"done": "finishClaim", "release": "releaseClaim", "extend": "extendClaim"}


def shown_value(kind: str | None, value: str | None, domains: Sequence[str]) -> str | None:
    """The one value of a stranger's in a structured answer: of its shape, or not at all."""
    shapes: Mapping[str | None, Callable[[str], bool]] = {
        "code": lambda one: _CODE.fullmatch(one) is not None,
        "link": lambda one: _is_link_of(one, domains),
    }
    return value if value is not None and kind in shapes and shapes[kind](value) else None


def _is_link_of(link: str, domains: Sequence[str]) -> bool:
    """An https link in ASCII, percent-encoded, on one of the domains: the verified one, and that which was asked for,
    of which it is a part."""
    if len(link) > LINK_CHARS_MAX or not _LINK.fullmatch(link) or _NOT_IN_LINKS.search(link):
        return False
    try:
        parts = urlsplit(link)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return False
    is_on_domain = any(is_within(host, one) for one in domains)
    return is_on_domain and port in (None, 443) and parts.username is None


def _said_of_code(found: Mapping[str, Any], value: str | None) -> str:
    if found["confidence"] == "ambiguous":
        return "Several values could be the code; none was taken. Read the message to tell them apart."
    if value is None:
        return "What the mail asks to open is not on the verified domain; read the message."
    return "It is yours alone; nobody else was given it."
