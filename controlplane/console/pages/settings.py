"""The organization's people, and the browsers they are signed in with."""

from controlplane.console.page import Html, PageCall, SeeOther

MEMBERS = 100


async def show(call: PageCall) -> Html:
    members = await call.ask("listMembers")
    sessions = await call.ask("listSessions")
    return Html(
        "settings.html",
        {
            "organization": await call.ask("getOrganization"),
            "members": members[:MEMBERS],
            "more_members": max(0, len(members) - MEMBERS),
            "sessions": sessions,
            "here": call.signed_in.session.id,
        },
    )


async def end_session(call: PageCall) -> SeeOther:
    await call.ask("endSession", call.id)
    return SeeOther("/console/settings", "session_ended")
