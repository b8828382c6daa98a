"""What a batch is judged by is read before its unit of work, and what came since then in it."""

import attrs
import pytest

from svc_core import wire
from svc_core.contract.problem import Problem
from svc_core.ledger.append import judging
from svc_core.ledger.append.append import append, prefetch
from svc_core.ledger.append.entries import Entry


@pytest.fixture
def claims(town):
    """A subject and three claims about it, which ann made."""
    subject = town.subject()
    return subject, [town.claim(subject, value) for value in ("Zug", "Bern", "Basel")]


def verdict(subject, target, state="disputed", **members):
    said = {"kind": "claim", "op": "verify", "subject": subject, "target": target, "state": state}
    return {**said, **members}


def appended(town, rows, meanwhile=lambda: None):
    """Append entries while somebody else appends between the look ahead and the unit of work."""
    entries = [wire.structure(Entry, row) for row in rows]
    service = town.house.service.runtime.service
    look = prefetch(entries)
    seen = look and town.house.run(service.read(town.tenant, look))
    meanwhile()

    async def unit(ctx):
        return await append(attrs.evolve(ctx, ahead=seen), entries)

    return town.house.run(service.write(town.tenant, unit))


def test_what_was_appended_since_the_look_ahead_is_judged_too(town, claims):
    subject, (first, second, _) = claims

    def disputed():
        town.verdict(subject, first, "disputed", town.bob)

    with pytest.raises(Problem, match="TRANSITION_NOT_ALLOWED"):
        appended(town, [verdict(subject, first)], disputed)
    gone = {"kind": "claim", "op": "retract", "subject": subject, "target": second}
    with pytest.raises(Problem, match="TARGET_NOT_IN_FORCE"):
        appended(
            town, [verdict(subject, second)], lambda: town.append({**gone, "reason": "clerical"})
        )


def test_what_is_named_may_have_come_since_the_look_ahead(town, claims):
    subject, (first, _, third) = claims
    seen = town.observation(subject, town.bob)
    made = appended(
        town,
        [verdict(subject, first, evidence=[seen]), verdict(subject, third)],
        lambda: town.claim(subject, "Chur"),
    )
    assert [record.target for record in made.records] == [first, third]


def test_only_what_acts_or_rests_on_something_is_looked_up_ahead(town, claims):
    subject, (first, *_) = claims
    stated = {"kind": "claim", "subject": subject, "predicate": "motto", "value": "x"}
    assert prefetch([wire.structure(Entry, stated)]) is None
    assert prefetch([wire.structure(Entry, {**stated, "evidence": [first]})]) is not None


def test_what_is_wrong_with_a_batch_is_not_told_by_the_look_ahead(town, claims):
    with pytest.raises(Problem, match="VALIDATION_FAILED"):
        appended(town, [verdict(claims[0], claims[1][0], "corroborated")])


def test_a_batch_acts_on_so_many_records_and_no_more(town, claims, monkeypatch):
    subject, (first, *_) = claims
    with monkeypatch.context() as bounded:
        bounded.setattr(judging, "JUDGED_RECORDS_MAX", 3)
        assert town.refused(verdict(subject, first), town.bob) == (
            409,
            "RESOURCE_CONFLICT",
            "Its entries act on subjects with more than 3 records together.",
        )
        bounded.setattr(judging, "JUDGED_RECORDS_MAX", 4)
        town.append(verdict(subject, first), town.bob)


def test_a_batch_that_takes_long_to_judge_is_refused_and_one_entry_never(town, claims, monkeypatch):
    subject, made = claims
    monkeypatch.setattr(judging, "STEPS_MAX", 0)
    town.append([verdict(subject, made[0])], town.bob)
    rows = [verdict(subject, made[0], "refuted"), verdict(subject, made[0], "disputed")]
    assert town.refused(rows, town.bob) == (
        409,
        "RESOURCE_CONFLICT",
        "/1/target: too many records act on each other to judge it in one batch",
    )


def test_an_erasure_in_a_batch_is_known_to_those_after_it(make_town):
    town = make_town(allow_erasure=("*",))
    subject = town.subject()
    claim = town.claim(subject, "Zug")
    erase = {"kind": "claim", "op": "erase", "subject": subject, "target": claim}
    erase["reason"] = "asked for"
    assert town.refused([erase, erase])[1:] == (
        "TARGET_NOT_IN_FORCE",
        "/1/target: its content is erased",
    )
    assert town.refused([erase, verdict(subject, claim)], town.bob)[1] == "TARGET_NOT_IN_FORCE"
    town.append([erase])
    assert town.refused(erase)[1] == "TARGET_NOT_IN_FORCE"
