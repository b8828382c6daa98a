"""An entry is judged by the acts on what it acts on, those of its own batch included."""

import pytest

from svc_core.ledger.append import draft_admission as judging


@pytest.fixture
def claims(town):
    """A subject and three claims about it, which ann made."""
    subject = town.subject()
    return subject, [town.claim(subject, value) for value in ("Zug", "Bern", "Basel")]


def verdict(subject, target, state="disputed", **members):
    entry = {"kind": "claim", "op": "verify", "subject": subject, "target": target, "state": state}
    return {**entry, **members}


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
    monkeypatch.setattr(judging, "ACTS_MAX", 0)
    town.append([verdict(subject, claim_ids[0])], town.bob)
    rows = [verdict(subject, claim_ids[0], "refuted"), verdict(subject, claim_ids[0], "disputed")]
    assert town.refusal(rows, town.bob) == (
        409,
        "RESOURCE_CONFLICT",
        "/1/target: too many records act on each other to judge it in one batch",
    )


def test_withdrawals_that_act_on_each_other_are_judged_to_a_bound(town, claims, monkeypatch):
    subject, (claim, *_) = claims
    withdrawal = {"kind": "claim", "op": "retract", "subject": subject, "reason": "clerical"}
    target = town.verdict(subject, claim, "disputed", town.bob)
    for _ in range(2):
        target = town.append({**withdrawal, "target": target}, town.bob)["id"]
    monkeypatch.setattr(judging, "CHAIN_MAX", 1)
    assert town.refusal({**withdrawal, "target": target}, town.bob)[1:] == (
        "RESOURCE_CONFLICT",
        "/target: too many records act on each other to judge it in one batch",
    )
    monkeypatch.undo()
    town.append({**withdrawal, "target": target}, town.bob)


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
