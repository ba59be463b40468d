"""What real systems say, told right: who is gone, who is not, and why, as rates over a set; misses are shown."""

import re
from collections.abc import Sequence

import pytest

from maild.message.parsing.parse import parse
from maild.message.reports import bounces
from maild.message.reports.bounces import Bounce
from maild.message.reports.fates import DeliveryReport
from maild.message.reports.report import read_report
from maild.outbound.sessions.replies import SmtpReply
from tests.support.mails.refusals import Refusal, ReportShape, refusals, report_shapes

REFUSALS = refusals()
SHAPES = report_shapes()
TO = "ann@there.test"
GONE_MIN = 0.97
CLASS_MIN = 0.97


def told_by_reply(refusal: Refusal) -> Bounce:
    found = re.match(r"([245]\d\d)[ -](.*)", refusal.reply)
    if found is None:
        return bounces.of_reply(None, None, refusal.reply, is_ours=False)
    said = SmtpReply.of(int(found[1]), re.sub(rf" {found[1]}[ -]", " ", found[2]))
    return bounces.of_reply(said.code, said.enhanced, said.text, is_ours=False)


def told_by_report(shape: ReportShape, refusal: Refusal) -> Bounce | None:
    """What the report says of the recipient; None where it does not say that it failed."""
    raw = shape.of(TO, refusal)
    report = read_report(raw, parse(raw))
    if not isinstance(report, DeliveryReport):
        return None
    fates = [one for one in report.fates if one.action == "failed" and TO in one.addresses]
    return bounces.of_report(fates[0].code, fates[0].enhanced, fates[0].diagnostic) if fates else None


def assert_rate(right: Sequence[object], wrong: Sequence[object], least: float) -> None:
    assert len(right) >= least * (len(right) + len(wrong)), "\n".join(map(str, wrong))


def test_the_set_is_large_enough_to_have_rates() -> None:
    assert len(REFUSALS) + len(SHAPES) >= 245
    assert len({one.reply for one in REFUSALS}) == len(REFUSALS)
    assert 60 <= sum(one.is_gone for one in REFUSALS) <= 130


def test_replies_have_their_class() -> None:
    told = [(one, told_by_reply(one)) for one in REFUSALS]
    right = [one for one, bounce in told if bounce.bounce_class == one.bounce_class]
    assert_rate(right, [pair for pair in told if pair[0] not in right], CLASS_MIN)


def test_replies_suppress_who_is_gone() -> None:
    gone = [(one, told_by_reply(one)) for one in REFUSALS if one.is_gone]
    right = [one for one, bounce in gone if bounce.blames_address]
    assert_rate(right, [pair for pair in gone if pair[0] not in right], GONE_MIN)


def test_replies_suppress_nobody_else() -> None:
    assert [one for one in REFUSALS if not one.is_gone and told_by_reply(one).blames_address] == []


@pytest.mark.parametrize("shape", SHAPES, ids=[shape.name for shape in SHAPES])
def test_reports_suppress_who_is_gone(shape: ReportShape) -> None:
    gone = [(one, told_by_report(shape, one)) for one in REFUSALS if one.is_gone]
    right = [one for one, bounce in gone if bounce is not None and bounce.blames_address]
    assert_rate(right, [pair for pair in gone if pair[0] not in right], 0.9)


@pytest.mark.parametrize("shape", SHAPES, ids=[shape.name for shape in SHAPES])
def test_reports_suppress_nobody_else(shape: ReportShape) -> None:
    told = [(one, told_by_report(shape, one)) for one in REFUSALS if not one.is_gone]
    assert [one for one, bounce in told if bounce is not None and bounce.blames_address] == []
    if shape.has_form:
        assert [one for one, bounce in told if bounce is None] == []


@pytest.mark.parametrize("shape", SHAPES, ids=[shape.name for shape in SHAPES])
def test_reports_name_nobody_who_did_not_fail(shape: ReportShape) -> None:
    raw = shape.of(TO, Refusal("address", True, "550 5.1.1 User unknown"))
    report = read_report(raw, parse(raw))
    assert isinstance(report, DeliveryReport)
    named = {address for fate in report.fates for address in fate.addresses}
    assert named <= {TO, "first@there.test", "far@elsewhere.test"}
