"""Verdicts follow states by a table, and every state has its rank and its credibility."""

from typing import get_args

import pytest

from svc_core.ledger.fold.verification_states import (
    CREDIBILITY,
    FOUR_EYES,
    RANK,
    TRANSITIONS,
    UNVERIFIED,
    State,
    Verdict,
)

STATES = get_args(State)
VERDICTS = get_args(Verdict)


@pytest.mark.parametrize(
    ("state", "verdicts"),
    [
        ("unverified", "yyyyy"),
        ("under_review", "-yyyy"),
        ("corroborated", "y-yyy"),
        ("verified", "yn-yy"),
        ("disputed", "yyy-y"),
        ("refuted", "ynny-"),
    ],
)
def test_the_table_of_transitions(state, verdicts):
    assert set(TRANSITIONS[state]) == {
        verdict for verdict, mark in zip(VERDICTS, verdicts, strict=True) if mark == "y"
    }


def test_every_state_has_a_row_a_rank_and_a_credibility():
    for table in (TRANSITIONS, RANK, CREDIBILITY):
        assert set(table) == set(STATES)


def test_nothing_returns_to_unverified_by_a_verdict():
    assert UNVERIFIED not in VERDICTS
    assert set(STATES) == {UNVERIFIED, *VERDICTS}


def test_every_state_can_be_left_and_every_verdict_be_reached_from_every_other():
    for state in STATES:
        states = {state}
        for _ in STATES:
            states |= {verdict for state_ in states for verdict in TRANSITIONS[state_]}
        assert states - {UNVERIFIED} == set(VERDICTS)


def test_ranks_put_the_better_confirmed_first():
    order = ["verified", "corroborated", "under_review", "disputed", "refuted"]
    assert sorted(order, key=RANK.__getitem__, reverse=True) == order
    assert RANK["unverified"] == RANK["under_review"]
    assert RANK["refuted"] < 0 <= RANK["disputed"]


def test_the_admiralty_scale():
    assert CREDIBILITY == {
        "verified": 1,
        "corroborated": 2,
        "disputed": 4,
        "refuted": 5,
        "unverified": 6,
        "under_review": 6,
    }


def test_only_verdicts_that_decide_need_four_eyes():
    assert {"corroborated", "verified", "refuted"} == FOUR_EYES
