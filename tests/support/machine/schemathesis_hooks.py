"""What schemathesis must know about us; its command loads this module (SCHEMATHESIS_HOOKS).

SCHEMATHESIS_SEEDS is JSON: `own_key`, the id of the key that the requests carry, and `ids`, a real resource for
each path with `{id}`, so that not every request ends in a 404.
"""

import json
import os
import zlib
from typing import Any

import schemathesis
from schemathesis.openapi.checks import RejectedPositiveData

SEEDS: dict[str, Any] = json.loads(os.environ["SCHEMATHESIS_SEEDS"])
# Looked once, where it would be waited in vain.
WAIT = "/v1/messages/wait"
CLAIMS = ("/codes/claim", "/claims")
ID_CHARS = 64  # longer ones are meant to be refused, and stay as they are
# What no JSON Schema can say about a request. Everything else that fits its schema must be taken.
REFUSALS = {
    "username_reserved": "a list of names, and the operator's own",
    "invalid_scopes": "depends on whether inboxId is given",
    "domain_not_verified": "depends on the DNS",
    "recipient_suppressed": "depends on what happened before",
    "recipient_not_allowed": "depends on rules and policies",
    "self_approval": "depends on who submitted what is held",
    "content_changed": "depends on what is held",
    "limit_reached": "depends on what happened before",
    "draft_limit_reached": "depends on what happened before",
    "webhook_limit_reached": "depends on what happened before",
    "event_not_kept": "depends on what happened before",
    "delivery_in_flight": "depends on what happened before",
    "webhook_inactive": "depends on what happened before",
    "attachment_bytes_missing": "depends on what happened before",
    "draft_incomplete": "depends on what was written",
    "attachments_not_schedulable": "two fields that exclude each other",
    "invalid_or_expired_token": "a schema holds no signature",
    "missing_token": "may also stand in the form",
    "range_not_satisfiable": "depends on the size of the bytes",
}
FAULTS = {
    ("url", "refused_target"): "which hosts are called is a policy of the network",
    ("sendAt", "out_of_range"): "a distance from now",
    ("headers", "given_twice"): "names that differ in their case alone",
    (
        "headers",
        "invalid_format",
    ): "names that begin with List- and values beyond ASCII; words too long for a line",
    ("headers", "not_allowed"): "names that the server owns",
    ("addLabels", "not_allowed"): "beside labels",
    ("removeLabels", "not_allowed"): "beside labels, or one that is added too",
    ("addLabels", "too_many"): "with those that are there",
    ("ids", "required"): "where there are no threadIds",
    ("delete", "not_allowed"): "beside labels",
    ("", "nothing_to_change"): "neither labels nor delete",
    ("", "not_allowed"): "a List-Unsubscribe header beside unsubscribe",
    ("inboxId", "required"): "where no reply, forward or draft is checked",
    ("to", "required"): "where no reply, forward or draft is checked",
    ("reply", "not_allowed"): "as a draft, or two fields that exclude each other",
    ("forward", "not_allowed"): "two fields that exclude each other",
    ("ifLastMessageId", "not_allowed"): "it needs another field",
    ("ifLastMessageId", "invalid_id"): "a message of that very conversation",
    ("claimId", "not_allowed"): "it needs another field",
    ("completeClaim", "not_allowed"): "it needs another field",
    ("", "required"): "fromDomain or allowUnverified",
    ("focus", "invalid_id"): "a message of that very thread",
    ("since", "out_of_range"): "the distance of two parameters",
    ("period", "out_of_range"): "how often it fits between two parameters",
    ("cursor", "invalid_cursor"): "a thread that is gone, without the moment that would replace it",
    ("cursor", "invalid_date"): "no pattern knows the days of February",
    ("since", "invalid_date"): "no pattern knows the days of February",
    ("until", "invalid_date"): "no pattern knows the days of February",
    ("after", "invalid_cursor"): "no pattern knows the days of February",
    ("value", "invalid_email"): "an address that mail can be sent to",
    ("value", "invalid_domain"): "a host name with a dot, or `*.` before one",
    ("domainName", "invalid_domain"): "a host name with a dot, and without an address at its end",
}


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Every other made-up id becomes one that exists; our own key outlives the run; nobody waits."""
    if case.operation.path == WAIT and _is_short(case.query.get("timeoutSeconds", "25")):
        case.query["timeoutSeconds"] = "0"
    is_waiting = case.operation.path.endswith(CLAIMS) and isinstance(case.body, dict)
    if is_waiting and _is_short(case.body.get("waitSeconds", 25)):
        case.body["waitSeconds"] = 0
    given = case.path_parameters.get("id")
    if given == SEEDS["own_key"]:
        case.path_parameters["id"] = "key_spared"
    elif isinstance(given, str) and _is_open(case) and len(given) <= ID_CHARS:
        seed = SEEDS["ids"].get("/".join(case.operation.path.split("/")[:4]))
        if seed is not None and zlib.crc32(given.encode("utf-8", "replace")) % 2:
            case.path_parameters["id"] = seed


def _is_short(seconds: Any) -> bool:
    whole = str(seconds).removesuffix(".0")  # JSON has one kind of number
    return whole.isdecimal() and int(whole) <= 55


def _is_open(case: Any) -> bool:
    """Ids of stateful steps come from answers, and are followed; what is seeded is not deleted."""
    is_stateful = case.meta is not None and case.meta.phase.name.value == "stateful"
    return not is_stateful and case.operation.method.lower() != "delete"


@schemathesis.check
def documented_error_code(context: Any, response: Any, case: Any) -> None:
    """The code of a refusal is one of those that stand under its status."""
    told = case.operation.definition.raw["responses"].get(str(response.status_code), {})
    if "x-error-codes" in told and "json" in response.headers["content-type"][0]:
        code = response.json()["error"]["code"]
        if code not in told["x-error-codes"]:
            raise AssertionError(f"{code} is not documented for {response.status_code}")


@schemathesis.hook
def filter_failure(context: Any, failure: Any, case: Any, response: Any) -> bool:
    """Is this failure one? Not when a request that fits its schema met a rule that no schema can hold."""
    if not isinstance(failure, RejectedPositiveData):
        return True
    error = response.json()["error"]
    if error["code"] != "validation_failed":
        return error["code"] not in REFUSALS
    return any(
        (_field_of(fault["path"]), fault["code"]) not in FAULTS for fault in error["details"]["fields"]
    )


def _field_of(path: str) -> str:
    """The field, also of a request that is checked within another."""
    return path.removeprefix("reply.").removeprefix("forward.").split(".")[0]
