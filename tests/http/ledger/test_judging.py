"""What a batch is judged by is read before its unit of work, and what came since then in it."""

import attrs
import pytest

from svc_core import wire
from svc_core.contract.problem import Problem
from svc_core.ledger.append import draft_admission as judging
from svc_core.ledger.append.batches import append_drafts, prefetch
from svc_core.ledger.append.entries import Entry


@pytest.fixture
def claims(town):
    """A subject and three claims about it, which ann made."""
    subject = town.subject()
    return subject, [town.claim(subject, value) for value in ("Zug", "Bern", "Basel")]


def verdict(subject, target, state="disputed", **members):
    entry = {"kind": "claim", "op": "verify", "subject": subject, "target": target, "state": state}
    return {**entry, **members}


def append_rows(town, rows, meanwhile=lambda: None):
    """Append entries while somebody else appends between the look ahead and the unit of work."""
    entries = [wire.structure(Entry, row) for row in rows]
    service = town.house.service.runtime.service
    look = prefetch(entries)
    snapshot = look and town.house.run(service.read(town.tenant, look))
    meanwhile()

    async def unit(ctx):
        return await append_drafts(attrs.evolve(ctx, ahead=snapshot), entries)

    return town.house.run(service.write(town.tenant, unit))


def test_what_was_appended_since_the_look_ahead_is_judged_too(town, claims):
    subject, (first, second, _) = claims

    def dispute():
        town.verdict(subject, first, "disputed", town.bob)

    with pytest.raises(Problem, match="TRANSITION_NOT_ALLOWED"):
        append_rows(town, [verdict(subject, first)], dispute)
    retraction = {"kind": "claim", "op": "retract", "subject": subject, "target": second}
    with pytest.raises(Problem, match="TARGET_NOT_IN_FORCE"):
        append_rows(
            town,
            [verdict(subject, second)],
            lambda: town.append({**retraction, "reason": "clerical"}),
        )


def test_what_is_named_may_have_come_since_the_look_ahead(town, claims):
    subject, (first, _, third) = claims
    sighting = town.observation(subject, town.bob)
    answer = append_rows(
        town,
        [verdict(subject, first, evidence=[sighting]), verdict(subject, third)],
        lambda: town.claim(subject, "Chur"),
    )
    assert [record.target for record in answer.records] == [first, third]


def test_only_what_acts_or_rests_on_something_is_looked_up_ahead(town, claims):
    subject, (first, *_) = claims
    claim = {"kind": "claim", "subject": subject, "predicate": "motto", "value": "x"}
    assert prefetch([wire.structure(Entry, claim)]) is None
    assert prefetch([wire.structure(Entry, {**claim, "evidence": [first]})]) is not None


def test_what_is_wrong_with_a_batch_is_not_told_by_the_look_ahead(town, claims):
    with pytest.raises(Problem, match="VALIDATION_FAILED"):
        append_rows(town, [verdict(claims[0], claims[1][0], "corroborated")])


def test_a_batch_acts_on_so_many_records_and_no_more(town, claims, monkeypatch):
    subject, (first, *_) = claims
    with monkeypatch.context() as patch:
        patch.setattr(judging, "JUDGED_RECORDS_MAX", 3)
        assert town.refusal(verdict(subject, first), town.bob) == (
            409,
            "RESOURCE_CONFLICT",
            "Its entries act on subjects with more than 3 records together.",
        )
        patch.setattr(judging, "JUDGED_RECORDS_MAX", 4)
        town.append(verdict(subject, first), town.bob)


def test_a_batch_that_takes_long_to_judge_is_refused_and_one_entry_never(town, claims, monkeypatch):
    subject, claim_ids = claims
    monkeypatch.setattr(judging, "STEPS_MAX", 0)
    town.append([verdict(subject, claim_ids[0])], town.bob)
    rows = [verdict(subject, claim_ids[0], "refuted"), verdict(subject, claim_ids[0], "disputed")]
    assert town.refusal(rows, town.bob) == (
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
    assert town.refusal([erase, erase])[1:] == (
        "TARGET_NOT_IN_FORCE",
        "/1/target: its content is erased",
    )
    assert town.refusal([erase, verdict(subject, claim)], town.bob)[1] == "TARGET_NOT_IN_FORCE"
    town.append([erase])
    assert town.refusal(erase)[1] == "TARGET_NOT_IN_FORCE"
