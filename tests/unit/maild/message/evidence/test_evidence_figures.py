"""How often evidence is right, over mail of our own making (tests/data/evidence): attacks, and newsletters."""

from collections import Counter

from maild.message.evidence.examine import examine
from tests.support.mails.attacks import attacks, message, pieces
from tests.support.mails.newsletters import newsletters


def test_attacks_are_a_risk_and_concealed_ones_a_high_one() -> None:
    made = attacks()
    assert len(made) >= 250 and sum(one.is_held for one in made) >= 100
    risks = {one.name: examine(one.message).risk for one in made}
    concealed = [one.name for one in made if one.is_concealed]
    assert len(concealed) >= 150
    assert [name for name in concealed if risks[name] != "high"] == []
    missed = [name for name, risk in risks.items() if risk in ("none", "low")]
    assert len(missed) <= 0.05 * len(made), missed
    held = {one.name for one in made if one.is_held}
    assert len(held & set(missed)) <= 0.05 * len(held), missed


def test_newsletters_are_no_risk() -> None:
    made = newsletters()
    assert len(made) == 300 and len({(one.message.html, one.message.text) for one in made}) == 300
    risks = {one.name: examine(one.message) for one in made}
    counts = Counter(one.risk for one in risks.values())
    alarms = {
        name: [item for item in one.items if item.severity != "low"]
        for name, one in risks.items()
        if one.risk in ("medium", "high")
    }
    assert counts["high"] == 0, alarms
    assert counts["medium"] <= 0.02 * len(made), alarms


def test_orders_in_words_of_their_own_are_beyond_phrases() -> None:
    beyond = pieces("attacks.toml")["beyond"]
    found = [one for one in beyond if examine(message(one)).risk != "none"]
    # What docs/contract.md tells a reader to reckon with; a phrase that finds more moves its sentence to `paraphrases`.
    assert (len(beyond), len(found)) == (16, 1)


def test_harmless_sentences_that_come_near_are_no_risk() -> None:
    harmless = pieces("attacks.toml")["harmless"]
    assert [one for one in harmless if examine(message(one)).risk != "none"] == []
