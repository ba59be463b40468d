"""Policies of the organization and of inboxes: the whole document as a form.

A form quotes the version that it shows. What somebody else wrote meanwhile is not replaced: the page says so, and shows
theirs.
"""

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from controlplane.console.forms import Form, addresses_in
from controlplane.console.page import Html, PageCall, SeeOther
from controlplane.contract.refusals import Refusal
from controlplane.contract.sending.checks import WarningCode
from controlplane.contract.work import policies
from storage.agents.policies import RECOMMENDED, document_of

_RECOMMENDED = document_of(RECOMMENDED)["outbound"]["holdOn"]


def what_policies_can_say() -> Mapping[str, Sequence[str]]:
    """The words that a form offers, by the member that takes them."""
    return {
        "recipients": get_args(policies.Recipients),
        "review": get_args(policies.Review),
        "replyTo": get_args(policies.ReplyTo),
        "unlisted": get_args(policies.Unlisted),
        "hold": get_args(policies.Held),
        "holdOn": get_args(WarningCode),
    }


def what_recommended_adds(policy: Mapping[str, Any]) -> list[str]:
    """What the recommended policy holds, and this one does not."""
    return [one for one in _RECOMMENDED if one not in policy["outbound"]["holdOn"]]


async def replace(call: PageCall) -> SeeOther:
    """The organization's."""
    return await _replaced(call, "replaceOrganizationPolicy", "", "/console/rules", document_in(call.form))


async def adopt(call: PageCall) -> SeeOther:
    """The recommended one, on top of what the organization's says already."""
    policy = await call.ask("getOrganizationPolicy")
    policy["outbound"]["holdOn"] += what_recommended_adds(policy)
    policy["version"] = _number(call.form, "version")
    return await _replaced(call, "replaceOrganizationPolicy", "", "/console/rules", policy)


async def show_of_inbox(call: PageCall) -> Html:
    inbox = await call.ask("getInbox", call.id)
    return Html(
        "inbox_policy.html",
        {
            "inbox": inbox,
            "policy": await call.ask("getInboxPolicy", call.id),
            "typed": {**document_in(call.form), "work": _work(call.form)} if call.form else None,
            "choices": what_policies_can_say(),
        },
    )


async def replace_of_inbox(call: PageCall) -> SeeOther:
    here = f"/console/inboxes/{call.id}/policy"
    document = {**document_in(call.form), "work": _work(call.form)}
    return await _replaced(call, "replaceInboxPolicy", call.id, here, document)


async def _replaced(
    call: PageCall, operation: str, id: str, here: str, document: Mapping[str, Any]
) -> SeeOther:
    try:
        await call.ask(operation, id, **document)
    except Refusal as refusal:
        if refusal.code != "version_conflict":
            raise
        return SeeOther(here, "policy_conflict")
    return SeeOther(here, "policy_saved")


def document_in(form: Form) -> dict[str, Any]:
    """The document that the form says. What is no number stays as it was typed, for the operation to refuse."""
    return {
        "version": _number(form, "version"),
        "outbound": {
            "recipients": form.get("recipients", ""),
            "review": form.get("review", ""),
            "holdOn": form.several.get("holdOn", []),
            "firstTimeDaily": _number(form, "firstTimeDaily"),
            "replyTo": form.get("replyTo", ""),
        },
        "inbound": {"hold": form.several.get("hold", []), "unlisted": form.get("unlisted", "")},
        "review": {
            "expiresAfterSeconds": _number(form, "expiresAfterSeconds"),
            "notify": addresses_in(form.get("notify", "")),
        },
    }


def _work(form: Form) -> dict[str, Any]:
    return {
        "enabled": "workEnabled" in form,
        "maxAttempts": _number(form, "maxAttempts"),
        "requireClaim": "requireClaim" in form,
    }


def _number(form: Form, name: str) -> int | str | None:
    typed = form.get(name, "").strip()
    is_number = typed.isascii() and typed.isdigit() and len(typed) <= 16
    return int(typed) if is_number else typed or None
