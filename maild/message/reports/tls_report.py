"""An SMTP TLS report (RFC 8460 §4): JSON about sessions of others with our hosts, MTA-STS and DANE included. Pure.

It is decoded into the members that are summed up, so whatever else it holds is passed over and never built. A
member that may be None here is one that some hosts write as null where others leave it out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import msgspec

from maild.message.reports.domain_report import (
    MAX_ROWS,
    TOP,
    DomainReport,
    NoReport,
    domain_of,
    name_of,
    period,
)

JSON_MAX: Final = 1024 * 1024

_Text = Annotated[str, msgspec.Meta(max_length=1000)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=10**9)]


class _DateRange(msgspec.Struct, rename="kebab"):
    start_datetime: _Text
    end_datetime: _Text


class _Policy(msgspec.Struct, rename="kebab"):
    policy_domain: _Text | None = None
    policy_type: _Text = ""


class _Summary(msgspec.Struct, rename="kebab"):
    total_successful_session_count: _Count = 0
    total_failure_session_count: _Count = 0


class _FailedSessions(msgspec.Struct, rename="kebab"):
    result_type: _Text | None = None
    failed_session_count: _Count = 0


class _PolicyResult(msgspec.Struct, rename="kebab"):
    policy: _Policy
    summary: _Summary
    failure_details: list[_FailedSessions] | None = None


class _Document(msgspec.Struct, rename="kebab"):
    organization_name: _Text
    date_range: _DateRange
    report_id: _Text
    policies: list[_PolicyResult]


_DECODER = msgspec.json.Decoder(_Document)


def read_tls_report(octets: bytes, named: str = "") -> DomainReport:
    """Of the domain that its policies are about, or its file's name (`named`); NoReport when it is none."""
    if len(octets) > JSON_MAX:
        raise NoReport
    try:
        document = _DECODER.decode(octets)
        begin, end = (
            _seconds(text) for text in (document.date_range.start_datetime, document.date_range.end_datetime)
        )
    except (msgspec.MsgspecError, ValueError, RecursionError, OverflowError) as error:
        raise NoReport from error
    if not document.policies:
        raise NoReport
    domain = _domain(document.policies, named)
    begin_s, end_s = period(begin, end)
    results = [one for one in document.policies[:MAX_ROWS] if _recipients(one) in ("", domain)]
    failed = sum(one.summary.total_failure_session_count for one in results)
    passed = sum(one.summary.total_successful_session_count for one in results)
    failures = [failure for one in results for failure in one.failure_details or ()]
    return DomainReport(
        kind="tls",
        domain=domain,
        reporter=name_of(document.organization_name),
        report_id=name_of(document.report_id),
        begin_s=begin_s,
        end_s=end_s,
        total=passed + failed,
        passed=passed,
        detail=_detail(results, failures[:MAX_ROWS]),
        is_truncated=len(document.policies) > MAX_ROWS or len(failures) > MAX_ROWS,
    )


def _domain(policies: Sequence[_PolicyResult], named: str) -> str:
    said = (_recipients(one) for one in policies)
    domain = next(filter(None, said), named) or _policy_domain(policies[0])
    if not domain:
        raise NoReport
    return domain


def _recipients(one: _PolicyResult) -> str:
    """The recipients' domain, "" where the policy does not say it: of DANE it has the name of a mail host (§1.1), and
    who found no policy may have left it out."""
    return "" if one.policy.policy_type == "tlsa" else _policy_domain(one)


def _policy_domain(one: _PolicyResult) -> str:
    return domain_of(one.policy.policy_domain or "")


def _seconds(text: str) -> int:
    """RFC 3339, whose letters are in any case; of UTC where there is no offset, as Microsoft wrote it."""
    at = datetime.fromisoformat(text.upper())
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp())


def _detail(results: list[_PolicyResult], failures: list[_FailedSessions]) -> dict[str, Any]:
    kinds: Counter[str] = Counter()
    for failure in failures:
        if failure.result_type:
            kinds[name_of(failure.result_type)] += failure.failed_session_count
    policies = dict.fromkeys(name_of(one.policy.policy_type) for one in results)
    return {
        "policyTypes": list(policies)[:TOP],
        "failures": [{"type": kind, "sessions": count} for kind, count in kinds.most_common(TOP)],
    }
