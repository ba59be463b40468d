"""Rules of the organization: who may be written to, and who may write. Its policy stands beside them."""

from controlplane.console.page import Html, PageCall, SeeOther
from controlplane.console.pages.found import inboxes_to_choose, names_of
from controlplane.console.pages.policies import document_in, what_policies_can_say, what_recommended_adds
from controlplane.contract.work.rules import NOTE_CHARS

PAGE = 30
INBOXES = 100
DIRECTIONS = ("outbound", "inbound")


async def show_list(call: PageCall) -> Html:
    asked = call.query.get("direction", "")
    direction = asked if asked in DIRECTIONS else ""
    cursor = call.query.get("cursor")
    rules = await call.ask("listRules", direction=direction or None, limit=PAGE, cursor=cursor)
    policy = await call.ask("getOrganizationPolicy")
    chosen, inboxes = await inboxes_to_choose(call, INBOXES)
    return Html(
        "rules.html",
        {
            "rules": rules,
            "next_cursor": rules[-1]["id"] if len(rules) == PAGE else None,
            "direction": direction,
            "directions": DIRECTIONS,
            "note_max": NOTE_CHARS,
            "policy": policy,
            "typed": document_in(call.form) if "recipients" in call.form else None,
            "missing": what_recommended_adds(policy),
            "choices": what_policies_can_say(),
            "inboxes": inboxes,
            "inboxes_max": INBOXES,
            "chosen": chosen,
            "addresses": await names_of(call, tuple(one["inboxId"] for one in rules)),
        },
    )


async def create(call: PageCall) -> SeeOther:
    await call.ask(
        "createRule",
        direction=call.form.get("direction", ""),
        action=call.form.get("action", ""),
        value=call.form.get("value", "").strip(),
        inboxId=call.form.get("inbox") or None,
        note=call.form.get("note", "").strip() or None,
    )
    return SeeOther("/console/rules", "rule_made")


async def delete(call: PageCall) -> SeeOther:
    await call.ask("deleteRule", call.id)
    return SeeOther("/console/rules", "rule_deleted")
