"""The operator decides about what is held, beside a running daemon."""

from pathlib import Path
from typing import Any

import pytest

from conf.tuning import QueueTuning, Tuning
from controlplane.sending.reviews.reviewing import Approval
from maild.commands.operator_commands import OperatorCommands
from storage.clock import iso
from tests.conftest import Start
from tests.support.clients.hands import Hands
from tests.support.running import Running, until
from tests.support.worlds.reviewing import Held
from tests.support.worlds.store import ManualClock


@pytest.fixture
async def held(maild: Running) -> Held:
    return await Held.make(maild)


@pytest.fixture
def hands(maild: Running, tmp_path: Path) -> Hands:
    return Hands(maild, tmp_path)


async def test_the_operator_sees_and_approves(held: Held, hands: Hands) -> None:
    sent = await held.held(text="Hello\x1b[2J", subject="Fwd: \N{SNOWMAN}")
    review_id = sent["review"]["id"]
    (listed,) = (await hands("reviews", "list"))["reviews"]
    assert (listed["id"], listed["organizationId"]) == (review_id, held.maild.organization_id)
    assert (await hands("reviews", "list", "--org", held.maild.organization_id))["reviews"] == [listed]
    assert (await hands("reviews", "list", "--status", "approved"))["reviews"] == []
    shown = await hands("reviews", "show", review_id)
    assert shown["contentHash"] == (await held.review(sent))["contentHash"]
    assert shown["message"]["textBody"] == "Hello\x1b[2J"
    text = await hands.text("reviews", "show", review_id)
    assert r'message.textBody: "Hello\u001b[2J"' in text and "\x1b" not in text
    assert "Subject: Fwd: =?utf-8?" in await hands.text("reviews", "show", review_id, "--raw")
    assert review_id in await hands.text("reviews", "list")
    stale = await hands.refused("reviews", "approve", review_id, "--content-hash", f"sha256:{'0' * 64}")
    assert "content_changed" in stale
    decided = await hands(
        "reviews", "approve", review_id, "--content-hash", shown["contentHash"], "--note", "by hand"
    )
    assert (decided["status"], decided["resolvedBy"], decided["note"]) == ("approved", "operator", "by hand")
    assert (await held.message(sent))["status"] == "queued"
    assert "review_resolved" in await hands.refused("reviews", "reject", review_id)


async def test_the_operator_rejects(held: Held, hands: Hands) -> None:
    sent = await held.held()
    decided = await hands("reviews", "reject", sent["review"]["id"], "--note", "no")
    assert (decided["status"], decided["resolvedBy"]) == ("rejected", "operator")
    assert (await held.message(sent))["failureReason"] == "review_rejected"
    assert "there is no review rev_x" in await hands.refused("reviews", "show", "rev_x")
    assert "there is no organization org_x" in await hands.refused("reviews", "list", "--org", "org_x")


async def test_reviews_beyond_the_limit_are_told_of(held: Held, hands: Hands) -> None:
    older, newer = [(await held.held())["review"]["id"] for _ in range(2)]
    whole = await hands("reviews", "list", "--limit", "2")
    assert ([one["id"] for one in whole["reviews"]], whole["more"]) == ([newer, older], False)
    cut = await hands("reviews", "list", "--limit", "1")
    assert ([one["id"] for one in cut["reviews"]], cut["more"]) == ([newer], True)
    ended = await hands.run("reviews", "list", "--limit", "1")
    assert ended.text.startswith(newer) and "and more, which --limit beyond 1 shows\n" in ended.error


async def test_guards_hold_for_the_operator_too(held: Held, hands: Hands) -> None:
    sent = await held.held()
    await held.reviewer.post("/v1/suppressions", {"email": "somebody@elsewhere.test"})
    hash_shown = (await held.review(sent))["contentHash"]
    refused = await hands.refused("reviews", "approve", sent["review"]["id"], "--content-hash", hash_shown)
    assert "recipient_suppressed" in refused
    assert (await held.message(sent))["status"] == "held"


async def test_where_members_decide_the_operator_does_too(held: Held, hands: Hands) -> None:
    sent = await held.held()
    organization_id = held.maild.organization_id
    assert (await hands("org", "reviewers", organization_id, "members"))["reviewers"] == "members"
    assert (await held.reviewer.get("/v1/organization")).data["reviewers"] == "members"
    assert (await held.approve(sent)).code == "member_required"
    hash_shown = (await held.review(sent))["contentHash"]
    await hands("reviews", "approve", sent["review"]["id"], "--content-hash", hash_shown)
    assert (await held.message(sent))["status"] == "queued"
    await hands("org", "reviewers", organization_id, "keys")
    assert (await held.approve(await held.held())).status == 200
    assert "there is no organization org_x" in await hands.refused("org", "reviewers", "org_x", "keys")


async def test_what_the_operator_approves_leaves_by_itself(start: Start) -> None:
    """The command can't wake the daemon, which looks by itself now and then."""
    clock = ManualClock()
    maild = await start(clock=clock, tuning=Tuning(queue=QueueTuning(look_again_s=0.02)))
    held = await Held.make(maild)
    colleague = await maild.inbox("colleague")
    later = iso(clock.at_ms + 3_600_000)
    to = [colleague["address"]]
    sent = [await held.held(to=to), await held.held(to=to, sendAt=later)]
    for one in sent:
        hash_shown = (await held.review(one))["contentHash"]
        store = OperatorCommands(maild.settings, clock)
        await maild.operate(store.reviews.approve, one["review"]["id"], Approval(hash_shown))

    async def look(one: dict[str, Any]) -> bool | None:
        return ((await held.message(one))["status"] == "delivered") or None

    await until(lambda: look(sent[0]))
    assert (await held.message(sent[1]))["status"] == "scheduled"
    clock.forward(3600)
    await until(lambda: look(sent[1]))
