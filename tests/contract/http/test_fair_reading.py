"""What an organization asks is read in its turn: nobody's questions stand before everybody else's."""

from typing import Any

import pytest
from structlog.contextvars import get_contextvars

from storage.turns.fair_threads import FairThreads
from tests.support.running import Running

MAIL = "From: ada@elsewhere.test\nSubject: hello\nMessage-ID: <1@elsewhere.test>\n\nwords\n"


@pytest.mark.parametrize(
    "path",
    [
        "/v1/messages", "/v1/messages?q=wo", "/v1/messages?q=words", "/v1/messages?from=ada", "/v1/threads",
        "/v1/threads/{thread}", "/v1/messages/{message}/attempts", "/v1/events", "/v1/analytics/summary",
        "/v1/analytics/destinations", "/v1/inboxes", "/v1/drafts", "/v1/domains", "/v1/webhooks", "/v1/keys",
        "/v1/webhooks/deliveries", "/v1/suppressions", "/v1/agents", "/v1/organization", "/v1/organization/members",
    ],
)  # fmt: skip
async def test_each_question_stands_in_the_line_of_its_organization(
    maild: Running, bot: dict[str, Any], path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = await maild.received(bot, MAIL)
    asked: list[str] = []
    submit = FairThreads.submit

    def noted(self: Any, owner: str, work: Any) -> Any:
        if "request_id" in get_contextvars():  # the daemon's own parts look at the store meanwhile
            asked.append(owner)
        return submit(self, owner, work)

    monkeypatch.setattr(FairThreads, "submit", noted)
    answer = await maild.api.get(path.format(thread=message["threadId"], message=message["id"]))
    assert answer.status == 200
    assert maild.organization_id in asked and set(asked) <= {maild.organization_id, ""}
    assert asked.count("") <= asked.count(maild.organization_id)
