"""The organization's people, and the browsers they are signed in with."""

from controlplane.console.page import Html, PageCall, SeeOther


async def show(call: PageCall) -> Html:
    members = await call.ask("listMembers")
    sessions = await call.ask("listSessions")
    return Html(
        "settings.html",
        {
            "organization": await call.ask("getOrganization"),
            "members": members,
            "sessions": sessions,
            "places": {name: call.place(name) for name in ("members", "sessions")},
            "here": call.signed_in.session.id,
        },
    )


async def end_session(call: PageCall) -> SeeOther:
    await call.ask("endSession", call.id)
    return SeeOther("/console/settings", "session_ended")
