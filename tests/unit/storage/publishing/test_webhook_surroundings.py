"""What an attempt of a webhook is made with: its own message, as long as that is there and of its organization."""

from collections.abc import Iterator

import pytest

from storage.engine.tx import Tx
from storage.mail import messages
from storage.publishing import events, webhooks
from storage.publishing.webhooks import LeasedDelivery
from storage.records import WebhookAttempt, WebhookRow
from storage.tenants import organizations
from tests.support.worlds import memory_store
from tests.support.worlds.memory_store import message_row

OURS, ANOTHER, THEIRS, HELD, NEVER = "msg_001", "msg_002", "msg_003", "msg_004", "msg_005"


@pytest.fixture
def tx() -> Iterator[Tx]:
    conn = memory_store.empty()
    tx = Tx(conn)
    for row in (
        message_row(1, text_body="ours"),
        message_row(2, text_body="another"),
        message_row(3, text_body="theirs", organization_id="org_2"),
        message_row(4, text_body="held", held_at=1),
    ):
        messages.insert(tx, row)
    yield tx
    conn.close()


def webhook(tx: Tx, webhook_id: str = "whk_1") -> WebhookRow:
    return webhooks.create(
        tx, webhook_id, 1, organization_id="org_1", url="https://a.test/", subscribed_events=[], secret=b""
    )


@pytest.mark.parametrize(
    ("message_id", "words"),
    [(OURS, "ours"), (ANOTHER, "another"), (THEIRS, None), (HELD, None), (NEVER, None), (None, None)],
)
def test_words_are_of_the_events_own_message(tx: Tx, message_id: str | None, words: str | None) -> None:
    webhook(tx, "whk_0")
    ours = webhook(tx)
    for number, about in enumerate((OURS, message_id), start=1):
        events.publish(
            tx, f"evt_{number}", 1, organization_id="org_1", type="email.received", data={}, message_id=about
        )
    around = webhooks.surroundings(tx, LeasedDelivery(ours.id, 2, 1))
    assert around is not None
    assert (around.webhook, around.event.message_id) == (ours, message_id)
    assert (around.words and around.words.text) == words
    assert webhooks.standing(tx, ours.id, message_id) == (ours, words is not None)


def test_of_a_webhook_that_was_deleted_nothing_is_known(tx: Tx) -> None:
    gone = webhook(tx)
    events.publish(tx, "evt_1", 1, organization_id="org_1", type="email.received", data={}, message_id=OURS)
    assert webhooks.delete(tx, "org_1", gone.id, 2)
    around = webhooks.surroundings(tx, LeasedDelivery(gone.id, 1, 1))
    assert around is not None and around.webhook is None
    assert webhooks.standing(tx, gone.id, OURS) == (None, False)
    assert webhooks.surroundings(tx, LeasedDelivery(gone.id, 2, 1)) is None  # retention took the event


def test_a_call_is_logged_for_its_organization_unless_that_was_deleted_meanwhile(tx: Tx) -> None:
    call = WebhookAttempt(
        "del_1", "whk_1", "org_1", "evt_1", "email.received", 1, "{}", 200, "", 1, None, 1, None, 1
    )
    webhooks.log_attempt(tx, call)
    assert webhooks.logged(tx, "org_1", "del_1") is None
    organizations.create(tx, "org_1", "Ours", "selfhost", 0)
    webhooks.log_attempt(tx, call)
    assert webhooks.logged(tx, "org_1", "del_1") == ("whk_1", "evt_1")
    assert webhooks.logged(tx, "org_2", "del_1") is None
