"""The table of errors against the contract's section 7, and the code against the table."""

import re

import pytest

from controlplane.contract.refusals import MESSAGES, Fault, Refusal, invalid
from controlplane.operations.table import OPERATIONS
from controlplane.transport.responses import envelope
from controlplane.transport.statuses import STATUSES
from tests.support.laws.words import ROOT

SOURCE = ROOT / "controlplane"

# What is full by open drafts or webhooks is mended by sending or deleting one, and not by waiting.
CAN_BE_CLEARED = {"draft_limit_reached", "webhook_limit_reached"}

# Contract, section 7, as it stands there: code and HTTP status.
CONTRACT = """
unauthorized 401
invalid_api_key_format 401
invalid_api_key 401
insufficient_scope 403
inbox_access_denied 403
rate_limit_exceeded 429
apex_domain_reserved 403
domain_not_verified 400
username_reserved 422
address_already_exists 409
address_in_cooldown 409
inbox_not_found 404
agent_not_found 404
payload_too_large 413
attachment_too_large 413
sending_not_approved 403
limit_reached 402
spend_cap_reached 402
recipient_suppressed 422
sandbox_bulk_not_allowed 403
sending_paused_bulk_review 403
email_delivery_failed 502
provider_unavailable 503
attachments_unsupported 400
domain_daily_cap_reached 429
draft_limit_reached 402
draft_not_found 404
draft_not_editable 409
draft_already_sent 409
draft_discarded 409
draft_incomplete 400
attachments_not_schedulable 400
not_scheduled 409
message_not_found 404
webhook_not_found 404
webhook_limit_reached 402
key_not_found 404
invalid_scopes 400
domain_not_found 404
domain_already_registered 409
thread_not_found 404
attachment_not_found 404
attachment_bytes_missing 410
suppression_not_found 404
missing_token 400
invalid_or_expired_token 400
validation_failed 400
"""
# decisions.md, "Errors, limits", "Idempotency".
DECISIONS = """
not_found 404
method_not_allowed 405
unsupported_media_type 415
internal_error 500
idempotency_conflict 409
"""
# docs/contract.md: answers that only those can get who ask for what the contract does not have (byte ranges).
ADDITIONS = """
range_not_satisfiable 416
"""


def rows(table: str) -> list[tuple[str, int]]:
    return [(line.split()[0], int(line.split()[1])) for line in table.split("\n") if line]


@pytest.mark.parametrize(("code", "status"), rows(CONTRACT) + rows(DECISIONS) + rows(ADDITIONS))
def test_every_code_has_its_status(code: str, status: int) -> None:
    assert STATUSES[code] == status
    assert MESSAGES[code].endswith(".")


def test_a_code_of_our_own_making_is_documented() -> None:
    """Clients branch on codes: each stands in the table of docs/contract.md with its status, and no other does."""
    document = (SOURCE.parent / "docs" / "contract.md").read_text("utf-8")
    told = re.findall(r"^\| `(\w+)` \| (\d{3}) \|", document, re.MULTILINE)
    assert sorted(told) == sorted((code, str(status)) for code, status in STATUSES.items())


def test_a_text_refers_to_details_that_there_are_and_where_they_say_what_to_do_it_does() -> None:
    document = (SOURCE.parent / "docs" / "contract.md").read_text("utf-8")
    table = re.findall(r"^\| `(\w+)` \| \d{3} \|.*\| (.*) \|$", document, re.MULTILINE)
    told = {code: set(re.findall(r"`(\w+)`", details)) for code, details in table}
    named = {code: set(re.findall(r"'details\.(\w+)'", text)) for code, text in MESSAGES.items()}
    for code, names in named.items():
        assert names <= told.get(code, set()), code
    for code in ("limit_reached", "recipient_suppressed", "sending_not_approved", "address_in_cooldown"):
        assert named[code], code
    ends_by_itself = {code for code, names in told.items() if "resetsAt" in names} - CAN_BE_CLEARED
    assert ends_by_itself and all("resetsAt" in named[code] for code in ends_by_itself)


def test_every_code_raised_is_in_the_table() -> None:
    raised = {
        code
        for file in SOURCE.rglob("*.py")
        for code in re.findall(r'Refusal\(\s*"(\w+)"', file.read_text("utf-8"))
    }
    assert raised and raised <= set(MESSAGES)


def test_every_code_has_a_text_and_a_status() -> None:
    assert set(STATUSES) == set(MESSAGES)


def test_every_code_an_operation_names_is_in_the_table() -> None:
    for route in OPERATIONS:
        assert set(route.refusals) <= set(MESSAGES), route.path


def test_an_envelope_has_details_only_where_there_are_some() -> None:
    assert envelope(Refusal("not_found")) == {
        "error": {"code": "not_found", "message": MESSAGES["not_found"]}
    }
    assert envelope(invalid([Fault("to[0]", "invalid_email", "why")]))["error"]["details"] == {
        "fields": [{"path": "to[0]", "code": "invalid_email", "message": "why"}]
    }
