"""The organization's people, and the browsers they are signed in with."""

from controlplane.console.page import Html, PageCall, SeeOther

MEMBERS = 100


async def show(call: PageCall) -> Html:
    members = await call.ask("listMembers", limit=MEMBERS, cursor=call.query.get("members"))
    sessions = await call.ask("listSessions")
    return Html(
        "settings.html",
        {
            "organization": await call.ask("getOrganization"),
            "members": members,
            "sessions": sessions,
            "next_member": members[-1]["id"] if len(members) == MEMBERS else None,
            "place": call.place("sessions"),
            "here": call.signed_in.session.id,
        },
    )


async def end_session(call: PageCall) -> SeeOther:
    await call.ask("endSession", call.id)
    return SeeOther("/console/settings", "session_ended")
