"""A standing that grows by one record at a time says what a standing of all of them says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.ledger.fold.running_standing import RunningStanding
from svc_core.ledger.fold.standing import Standing
from svc_core.ledger.fold.verification_states import UNVERIFIED
from svc_core.ledger.records import SealedRecord
from svc_core.testing.ledger_kit.history_strategies import histories

SUBJECT = "sbj_" + "a" * 24


def line(seq, op, target, payload):
    """A record of the one subject."""
    place = (SUBJECT, target, "2026-01-01T00:00:00.000000Z", None, None)
    hashes = ("0" * 64, "0" * 64, f"led_{'0' * 24}", "0" * 64)
    return SealedRecord(seq, f"clm_{seq:024x}", "claim", op, *place, "key_ann", payload, *hashes)


def verdicts(count):
    """A claim, and so many verdicts on it."""
    claim = line(0, "assert", None, {})
    states = ("under_review", "disputed")
    return [claim] + [
        line(seq, "verify", claim.id, {"state": states[seq % 2]}) for seq in range(1, count)
    ]


def says(standing, ids):
    return {id_: (standing.in_force(id_), standing.state(id_)) for id_ in ids}


def rebuilt(records, ids):
    whole = Standing.of(records, records[0].subject)
    return {id_: (id_ in whole.in_force, whole.states.get(id_, UNVERIFIED)) for id_ in ids}


@given(histories(acts_max=30, subjects=1), st.data())
def test_the_standing_after_a_record_is_the_one_before_and_that_record(history, data):
    records = history.records
    ids = [record.id for record in records]
    running = RunningStanding()
    for size, record in enumerate(records, 1):
        running.add(record)
        queries = data.draw(st.lists(st.sampled_from(ids), max_size=3))
        assert says(running, queries) == rebuilt(records[:size], queries)
    assert says(running, ids) == rebuilt(records, ids)
    erases = {record.target for record in records if record.op == "erase"}
    assert running.erased_ids == erases | {
        record.id for record in records if record.payload is None
    }


@given(histories(acts_max=30, subjects=1), st.data())
def test_a_copy_goes_on_by_itself(history, data):
    records = history.records
    ids = [record.id for record in records]
    size = data.draw(st.integers(1, len(records)))
    base = RunningStanding.of(records[:size])
    says(base, data.draw(st.lists(st.sampled_from(ids), max_size=3)))
    gone_on = base.copy()
    for record in records[size:]:
        gone_on.add(record)
    assert says(gone_on, ids) == rebuilt(records, ids)
    assert says(base, ids) == rebuilt(records[:size], ids)
    assert list(base.records) == ids[:size]


@pytest.mark.parametrize("op", ["verify", "amend"])
def test_a_record_costs_what_it_changes_and_not_what_is_there(op):
    records = [record._replace(op=op) if record.seq else record for record in verdicts(2_100)]
    running = RunningStanding.of(records[:2_000])
    assert running.in_force(records[0].id) == (op == "verify")
    before = running.steps
    for record in records[2_000:]:
        running.add(record)
        running.state(records[0].id)
        running.in_force(records[0].id)
    assert running.steps - before <= 100


def test_an_assertion_acts_on_nothing_whatever_it_names():
    claim = line(0, "assert", None, {})
    running = RunningStanding.of([claim, line(1, "assert", claim.id, {})])
    assert says(running, [claim.id]) == {claim.id: (True, UNVERIFIED)}
