"""What a page of the console can't do, told to a person."""

from collections.abc import Mapping, Sequence

from controlplane.contract.refusals import Refusal

_TITLES = {400: "Please look again", 402: "The plan allows no more", 403: "Not allowed", 404: "Nothing here"}
# What a refusal tells programs, in words for a person.
_NO_SUCH_PAGE = "There is no such page. The menu leads to those there are."
_GONE = "{} is not here: it was deleted, or it is of an organization that this browser is not signed in to."
_TEXTS: Mapping[str, str] = {
    "insufficient_scope": "Your role reads, and does not act. An owner or admin can do this.",
    "not_found": _NO_SUCH_PAGE,
    "message_not_found": _GONE.format("This message"),
    "thread_not_found": _GONE.format("This conversation"),
    "draft_not_found": _GONE.format("This draft"),
    "review_not_found": _GONE.format("This review"),
    "attachment_not_found": _GONE.format("This file"),
    "validation_failed": "Something in the form is not as it must be.",
    "thread_advanced": "Nothing was sent: the conversation went on after this page was loaded. Read what came;"
    " what you wrote is still here.",
    "content_changed": "Nothing was approved: the message changed after this page was loaded. Read it again below.",
    "version_conflict": "Nothing was saved, sent or thrown away: somebody changed this draft after this page was"
    " loaded. What you entered is below, and takes the place of theirs when you save it now.",
    "recipient_suppressed": "Nothing was sent: {email} is on the suppression list ({reason}).",
    "recipient_not_allowed": "Nothing was sent: a rule or a policy keeps mail from {address}.",
    "invalid_scopes": "A key that is bound to an inbox holds scopes of mail alone. Untick the others.",
}

# Where a fault lies, as the operation calls it → as forms do, where that differs.
_FIELDS: Mapping[str, str] = {
    "text": "words",
    "subscribedEvents": "events",
    "domainName": "domain",
    "email": "address",
    "value": "who",
    "addLabels": "add a label",
    "outbound.firstTimeDaily": "first contacts a day",
    "review.expiresAfterSeconds": "seconds that held mail waits",
    "review.notify": "who hears of held mail",
    "work.maxAttempts": "how often a message is claimed at most",
}


class PageFault(Exception):
    """`status`: of HTTP; `code`: of what was refused; `title` and `text`: what the page says, and what to do;
    `details`: one thing each."""

    status = 500
    code = ""
    title = "This did not work"

    def __init__(self, text: str, details: Sequence[str] = ()) -> None:
        super().__init__(text)
        self.text = text
        self.details = details


class Forbidden(PageFault):
    """The caller may not."""

    status = 403
    title = "Not allowed"


class NoSuchPage(PageFault):
    """There is nothing here, or not for this member."""

    status = 404
    title = "Nothing here"

    def __init__(self, text: str = _NO_SUCH_PAGE) -> None:
        super().__init__(text)


class Unreadable(PageFault):
    """What was sent is no form of ours."""

    status = 400
    title = "That could not be read"


class SignedOut(PageFault):
    """Nobody is signed in who could do it."""

    status = 403
    title = "You are signed out"

    def __init__(self) -> None:
        super().__init__("Nothing was done.")


class AnotherOrganization(PageFault):
    """The form's page was loaded before the browser signed in to another organization."""

    status = 409
    title = "Another organization"

    def __init__(self) -> None:
        super().__init__(
            "Nothing was done: since this page was loaded, this browser signed in to another organization, which the"
            " menu names."
        )


class TooMany(PageFault):
    """The caller tries too often."""

    status = 429
    title = "Too many tries"


def told_of(refusal: Refusal, status: int) -> PageFault:
    """What an operation refuses."""
    told = refusal.details or {}
    details = [
        f"{_field_at(one['path'])}: {one['message']}" if one["path"] else one["message"]
        for one in told.get("fields", ())
    ]
    text = _TEXTS[refusal.code].format_map(told) if refusal.code in _TEXTS else refusal.message
    fault = PageFault(text, details)
    fault.code, fault.status, fault.title = refusal.code, status, _TITLES.get(status, PageFault.title)
    return fault


def _field_at(path: str) -> str:
    """`who hears of held mail, no. 2`, for `review.notify[1]`."""
    name, _, index = path.rstrip("]").partition("[")
    if not index:
        return _FIELDS.get(path, path)
    return f"{_FIELDS.get(name, name)}, no. {int(index) + 1}" if index.isdecimal() else path
