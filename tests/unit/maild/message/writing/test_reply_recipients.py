"""Whom an answer goes to."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maild.message.fields.address import normalize
from maild.message.fields.thread_headers import forward_subject, reply_subject
from maild.message.parsing.parse import parse
from maild.message.writing.reply_recipients import (
    RECIPIENTS_MAX,
    Correspondence,
    ReplyRecipients,
    TooManyRecipients,
    is_own,
    resolve,
)
from tests.support.laws.work import steps
from tests.support.mails.reply_cases import CASES, OWN_ADDRESS, ReplyCase

REFUSED = ("no_reply_target", "recipient_not_allowed")


def said(case: ReplyCase) -> Correspondence:
    parsed = parse(case.raw)
    authors, reply_to, to, cc = (
        [one.address for one in each] for each in (parsed.authors, parsed.reply_to, parsed.to, parsed.cc)
    )
    return Correspondence(True, authors, reply_to, to, cc, case.verified, case.orgs)


@pytest.mark.parametrize("case", [one for one in CASES if one.sender], ids=lambda one: one.name)
def test_the_table(case: ReplyCase) -> None:
    try:
        found = resolve(said(case), OWN_ADDRESS, reply_all=case.all, honors_foreign=case.honors)
    except TooManyRecipients as error:
        assert (case.refused, case.fault) == ("validation_failed", error.field)
        return
    assert (list(found.to), list(found.cc)) == (list(case.to), list(case.cc))
    assert [f"{one.reason} {one.address}" for one in found.dropped] == list(case.dropped)
    assert case.refused in REFUSED if not found.to else found.source == case.source
    if found.to:
        assert reply_subject(parse(case.raw).subject) == case.subject


def test_following_up_on_ourselves_goes_to_whom_we_wrote() -> None:
    ours = Correspondence(False, [OWN_ADDRESS], ["desk@x.test"], ["ada@x.test", OWN_ADDRESS], ["bob@y.test"])
    alone, everybody = (resolve(ours, OWN_ADDRESS, reply_all=each) for each in (False, True))
    assert (alone.source, list(alone.to), list(alone.cc)) == ("recipients", ["ada@x.test"], [])
    assert (list(everybody.to), list(everybody.cc)) == (["ada@x.test"], ["bob@y.test"])


@pytest.mark.parametrize("author", ["eve@y.test", OWN_ADDRESS])
def test_who_cannot_be_answered_on_a_list_is_not_answered_before_everybody(author: str) -> None:
    munged = Correspondence(
        True, ["list@x.test"], [author], ["List@x.test"], [], "x.test", list_post="LIST@x.test"
    )
    alone, everybody = (
        resolve(munged, OWN_ADDRESS, reply_all=each, honors_foreign=False) for each in (False, True)
    )
    assert (list(alone.to), alone.dropped[-1]) == ([], ("list@x.test", "mailing_list"))
    assert (list(everybody.to), everybody.source) == (["list@x.test"], "from")
    without_reply_to = resolve(munged._replace(reply_to=[]), OWN_ADDRESS, reply_all=False)
    assert list(without_reply_to.to) == ["list@x.test"]


def test_who_may_not_be_answered_is_left_out() -> None:
    everybody = Correspondence(True, ["ada@x.test"], [], ["bob@y.test", OWN_ADDRESS], ["eve@z.test"])
    allowed = {"ada@x.test", "eve@z.test"}
    found = resolve(everybody, OWN_ADDRESS, reply_all=True, may_answer=allowed.__contains__)
    assert (list(found.to), list(found.cc)) == (["ada@x.test"], ["eve@z.test"])
    assert [(one.address, one.reason) for one in found.dropped] == [
        ("bob@y.test", "not_allowed"), (OWN_ADDRESS, "own_address"),
    ]  # fmt: skip


def test_dots_that_no_address_may_have_are_quoted() -> None:
    """Carriers in Japan gave such addresses away, and take them in quotes as well."""
    mail = Correspondence(True, ["a..b@x.test"], [], [], ['"A..b"@x.test', "c.@x.test"])
    found = resolve(mail, OWN_ADDRESS, reply_all=True)
    assert (list(found.to), list(found.cc)) == (['"a..b"@x.test'], ['"c."@x.test'])
    assert [(one.address, one.reason) for one in found.dropped] == [('"A..b"@x.test', "duplicate")]


LOCALS = st.sampled_from(
    [
        "ada",
        "ADA",
        '"ada"',
        "ada+x",
        "bot",
        "BOT",
        "bot+x",
        "bot+x+y",
        '"bot"',
        "bo\u0301t",
        "b\u00f3t",
        "a b",
    ]
)
DOMAINS = st.sampled_from(
    ["agents.test", "AGENTS.test", "agents.test.", "x.test", "b\u00fccher.test", "xn--bcher-kva.test", "[192.0.2.1]",
     "localhost", ""]
)  # fmt: skip
ADDRESSES = st.builds("{}@{}".format, LOCALS, DOMAINS) | st.text(max_size=12)
LISTS = st.lists(ADDRESSES, max_size=8)


@settings(max_examples=1500, deadline=None)
@given(
    st.builds(
        Correspondence,
        st.booleans(),
        LISTS,
        LISTS,
        LISTS,
        LISTS,
        st.sampled_from([None, "x.test", "agents.test"]),
    ),
    st.booleans(),
    st.booleans(),
    st.none() | st.frozensets(ADDRESSES.map(normalize)),
)
def test_nobody_twice_never_ourselves_and_nobody_else(
    people: Correspondence, reply_all: bool, honors: bool, allowed: frozenset[str] | None
) -> None:
    found: ReplyRecipients = resolve(
        people, OWN_ADDRESS, reply_all=reply_all, honors_foreign=honors,
        may_answer=None if allowed is None else allowed.__contains__,
    )  # fmt: skip
    keys = [normalize(one) for one in (*found.to, *found.cc)]
    named = {
        normalize(one) for each in (people.authors, people.reply_to, people.to, people.cc) for one in each
    }
    assert len(keys) == len(set(keys))
    assert not any(is_own(key, OWN_ADDRESS) for key in keys)
    assert set(keys) <= named
    if allowed is not None:
        assert set(keys) <= allowed


def test_thousands_of_addresses_are_one_look_each() -> None:
    def work(count: int) -> int:
        people = [f"p{n}@y.test" for n in range(count)]
        crowd = Correspondence(True, ["ada@x.test"], [], people, ["bob@y.test"] * count)

        def read() -> None:
            with pytest.raises(TooManyRecipients):
                resolve(crowd, OWN_ADDRESS, reply_all=True)

        return steps(read)

    assert work(2000) < 2.5 * work(1000)
    assert RECIPIENTS_MAX == 50


@pytest.mark.parametrize(
    ("subject", "forwarded"),
    [
        ("Hi", "Fwd: Hi"),
        ("Fwd: Hi", "Fwd: Hi"),
        ("WG: Hi", "WG: Hi"),
        ("Re: Hi", "Fwd: Re: Hi"),
        ("", "Fwd:"),
    ],
)
def test_the_subject_of_what_is_passed_on(subject: str, forwarded: str) -> None:
    assert forward_subject(subject) == forwarded
