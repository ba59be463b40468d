"""Codes of mail in the store: which words one is looked for in, and that each is handed out once."""

from collections.abc import Iterator

import pytest

from storage.agents import code_claims
from storage.engine.tx import Tx
from storage.mail import messages
from tests.support.worlds import memory_store
from tests.support.worlds.memory_store import message_row


@pytest.fixture
def tx() -> Iterator[Tx]:
    conn = memory_store.empty()
    yield Tx(conn)
    conn.close()


@pytest.mark.parametrize(
    ("text", "extracted", "words", "view"),
    [
        ("new\n> old", "new", "new", "extractedText"),
        ("> all of it is quoted", "", "> all of it is quoted", "textBody"),
        ("new alone", None, "new alone", "extractedText"),
        ("", "", "", "extractedText"),
        (None, "new", "new", "extractedText"),  # too large for its row
        (None, None, "", "extractedText"),
    ],
)
def test_it_is_looked_for_in_what_is_new_unless_nothing_is(
    tx: Tx, text: str | None, extracted: str | None, words: str, view: str
) -> None:
    row = message_row(
        text_body=text, extracted_text=extracted, subject="Your code", mode="test",
        auth='{"verifiedDomain":"mail.x.test"}', org_domains='{"mail.x.test":"x.test"}',
    )  # fmt: skip
    messages.insert(tx, row)
    (found,) = code_claims.mails(tx, "org_1", [row.id])
    assert (found.message_id, found.mode, found.subject) == (row.id, "test", "Your code")
    assert (found.words, found.view) == (words, view)
    assert (found.verified_domain, found.org_domains) == ("mail.x.test", {"mail.x.test": "x.test"})


def test_mail_is_of_its_organization_and_not_held(tx: Tx) -> None:
    messages.insert(tx, message_row(1))
    messages.insert(tx, message_row(2, held_at=1))
    messages.insert(tx, message_row(3))
    first, last = code_claims.mails(tx, "org_1", ["msg_003", "msg_002", "msg_001", "msg_000"])
    assert (first.message_id, last.message_id) == ("msg_003", "msg_001")
    assert (last.verified_domain, last.org_domains) == (None, {})
    assert code_claims.mails(tx, "org_2", ["msg_001"]) == []
    messages.insert(tx, message_row(4, text_body="four", extracted_text="apart"))
    asked = ["msg_004", "msg_002", "msg_001"]
    assert code_claims.sizes(tx, "org_1", asked) == [("msg_004", 9), ("msg_001", 0)]
    assert code_claims.sizes(tx, "org_2", asked) == []


def test_a_code_is_handed_out_once(tx: Tx) -> None:
    def claim(number: int, message_id: str) -> bool:
        return code_claims.claim(tx, f"cod_{number}", "org_1", f"key_{number}", message_id, "code", 1)

    assert [claim(1, "msg_001"), claim(2, "msg_001"), claim(3, "msg_002")] == [True, False, True]
    assert code_claims.unclaimed(tx, ["msg_003", "msg_001", "msg_002", "msg_000"]) == ["msg_003", "msg_000"]
