"""An inbox whose mail is held, an agent that writes, and somebody who decides."""

from collections.abc import Mapping
from typing import Any

from tests.support.running import Answer, Api, Running

REVIEW_EVENTS = "review.requested,review.resolved"
SOMEBODY = "somebody@elsewhere.test"


class Held:
    """`agent` is bound to the inbox; `reviewer` is a key that the operator made."""

    def __init__(self, maild: Running, inbox: Mapping[str, Any], agent: Api, reviewer: Api) -> None:
        self.maild = maild
        self.inbox = inbox
        self.agent = agent
        self.reviewer = reviewer
        self._version = 0

    @classmethod
    async def make(cls, maild: Running, **outbound: Any) -> "Held":
        """`outbound`: of the inbox's policy; all its mail is held unless told."""
        inbox = await maild.inbox("bot")
        made = cls(maild, inbox, await maild.key(inbox=inbox), await maild.key())
        await made.policy(**(outbound or {"review": "all"}))
        return made

    async def policy(self, **outbound: Any) -> None:
        """Replace the inbox's."""
        body = {"version": self._version, "outbound": outbound}
        path = f"/v1/inboxes/{self.inbox['id']}/policy"
        answer = await self.reviewer.call("PUT", path, body)
        assert answer.status == 200, answer.body
        self._version += 1

    async def timing(self, **review: Any) -> None:
        """All mail is held, under this policy for reviews."""
        body = {"version": self._version, "outbound": {"review": "all"}, "review": review}
        answer = await self.reviewer.call("PUT", f"/v1/inboxes/{self.inbox['id']}/policy", body)
        assert answer.status == 200, answer.body
        self._version += 1

    async def send(self, api: Api | None = None, **fields: Any) -> dict[str, Any]:
        """A message of the agent's, as the answer shows it."""
        answer = await (api or self.agent).send(self.inbox, **{"text": "Hello", **fields})
        assert answer.status == 201, answer.body
        sent: dict[str, Any] = answer.data
        return sent

    async def held(self, api: Api | None = None, **fields: Any) -> dict[str, Any]:
        """One that is held."""
        sent = await self.send(api, **fields)
        assert sent["status"] == "held", sent
        return sent

    async def review(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """As whoever decides is shown it."""
        found: dict[str, Any] = (await self.reviewer.get(f"/v1/reviews/{sent['review']['id']}")).data
        return found

    async def approve(self, sent: Mapping[str, Any], api: Api | None = None, **fields: Any) -> Answer:
        """With the content hash of what is there, unless told."""
        body = {"contentHash": (await self.review(sent))["contentHash"], **fields}
        return await (api or self.reviewer).post(f"/v1/reviews/{sent['review']['id']}/approve", body)

    async def reject(self, sent: Mapping[str, Any], api: Api | None = None, **fields: Any) -> Answer:
        return await (api or self.reviewer).post(f"/v1/reviews/{sent['review']['id']}/reject", fields)

    async def withdraw(self, sent: Mapping[str, Any], api: Api | None = None) -> Answer:
        return await (api or self.agent).call("POST", f"/v1/messages/{sent['id']}/withdraw")

    async def message(self, sent: Mapping[str, Any], api: Api | None = None) -> dict[str, Any]:
        found: dict[str, Any] = (await (api or self.agent).get(f"/v1/messages/{sent['id']}")).data
        return found

    async def events(self, types: str = REVIEW_EVENTS) -> list[tuple[str, dict[str, Any]]]:
        found = (await self.reviewer.get("/v1/events", types=types)).data
        return [(one["type"], one["data"]) for one in found]

    def is_untouched(self) -> bool:
        """Was nothing queued, nothing counted, nobody noted?"""
        tables = ("recipients", "usage", "recent_recipients", "correspondents")
        return all(self.maild.sql(f"SELECT count(*) FROM {table}") == [(0,)] for table in tables)
