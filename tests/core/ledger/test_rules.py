"""Admission depends on the records of the subject and the cited evidence, and on nothing else."""

import re
from itertools import product
from typing import get_args

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.contract.problem import Problem
from svc_core.ledger.append.rules import ACTS_ON, LedgerFacts, admit, check_new, cited_ids
from svc_core.ledger.fold.verification_states import FOUR_EYES, TRANSITIONS, UNVERIFIED, Verdict
from svc_core.ledger.records import KIND_PREFIX, STATEMENTS, Draft, Op, SealedRecord

OPS = get_args(Op)
VERDICTS = get_args(Verdict)
SUBJECT, OTHER_SUBJECT = "sbj_" + "a" * 24, "sbj_" + "b" * 24
ANN, BOB, CY = "key_ann", "key_bob", "key_cy"
SINCE = "2026-01-01T00:00:00.000000Z"


def id_of(kind, seq):
    return f"{KIND_PREFIX[kind]}_{seq:024x}"


class Log:
    """A ledger in memory: what is admitted is kept. Slow and plain, and its own judge of force."""

    def __init__(self, *subjects):
        self.records = []
        for subject in subjects or (SUBJECT,):
            self.keep(Draft("subject", "assert", subject, None, None, None, ANN, {}), id_=subject)

    def keep(self, draft, id_=None):
        seq = len(self.records)
        place = (draft.subject, draft.target, SINCE, draft.valid_from, draft.valid_to)
        head = (seq, id_ or id_of(draft.kind, seq), draft.kind, draft.op, *place, draft.author)
        record = SealedRecord._make(
            (*head, draft.payload, "0" * 64, "0" * 64, f"led_{'0' * 24}", "0" * 64)
        )
        self.records.append(record)
        return record

    def append(self, draft, **options):
        admit(draft, self.facts(**options))
        record = self.keep(draft)
        if draft.op == "erase":
            self.records = [
                record._replace(payload=None) if record.id == draft.target else record
                for record in self.records
            ]
        return record

    def state_claim(self, kind="claim", author=ANN, subject=SUBJECT, **payload):
        return self.append(Draft(kind, "assert", subject, None, None, None, author, payload))

    def judge(self, target, state, author=BOB, evidence=()):
        return self.append(verdict(target, state, author, evidence))

    def withdrawn(self, target, author=BOB):
        return self.append(acting("retract", target, author))

    def is_in_force(self, record):
        """Whether nothing in force displaces a record; intervals do not occur in these logs."""
        return not any(
            each.target == record.id
            and each.op in {"amend", "supersede", "retract"}
            and self.is_in_force(each)
            for each in self.records
        )

    def verdicts(self, record):
        return [
            each
            for each in self.records
            if each.op == "verify" and each.target == record.id and self.is_in_force(each)
        ]

    def state(self, record):
        *_, newest = [None, *self.verdicts(record)]
        return ((newest and newest.payload) or {}).get("state", UNVERIFIED)

    def counting(self, record):
        """The ids of the verdicts on a record that stand and can be read."""
        return {item.id for item in self.verdicts(record) if item.payload is not None}

    def facts(self, subject=None, **options):
        records = [record for record in self.records if subject in (None, record.subject)]
        elsewhere = [row for row in self.records if row.kind in {"claim", "observation"}]
        return LedgerFacts.of([*records, *elsewhere], **options)


def acting(op, target, author=BOB, **payload):
    return Draft(target.kind, op, target.subject, target.id, None, None, author, payload)


def verdict(target, state, author=BOB, evidence=()):
    cites = [item.id for item in evidence]
    return acting("verify", target, author, state=state, method="m", evidence=cites)


WORDS = {
    "ERASURE_NOT_ALLOWED": "/op: erase is not allowed in this workspace",
    "UNKNOWN_SUBJECT": r"/subject: there is no sbj_\w{24}",
    "UNKNOWN_EVIDENCE": r"/evidence: there is no (\w{28}, )*\w{28}",
    "UNKNOWN_TARGET": r"/target: there is no such (claim|observation) of this subject",
    "TARGET_NOT_IN_FORCE": r"/target: (is displaced for all valid times|its content is erased)",
    "FOUR_EYES_REQUIRED": r"/state: the author of a record cannot call it [a-z_]+",
    "TRANSITION_NOT_ALLOWED": r"/state: ([a-z_]+, )*[a-z_]+ may follow [a-z_]+",
    "VALIDATION_FAILED": r"/target: [a-z]+ does not act on [a-z]+"
    r"|/evidence: must have one of another author or source"
    r"|/validFrom: a verdict has no valid time to withdraw it for",
}


def code(draft, facts):
    """The code of the refusal, which says in its own words why."""
    try:
        return admit(draft, facts)
    except Problem as problem:
        failure = problem
    assert re.fullmatch(WORDS[failure.type.code], failure.detail), failure.detail
    return failure.type.code


@pytest.fixture
def log():
    return Log()


# -- what is referred to -------------------------------------------------------------------------


def test_a_statement_about_an_open_subject_is_admitted(log):
    assert [log.state_claim(kind).kind for kind in ("designator", "observation", "claim")]


def test_a_subject_is_opened_without_being_known():
    admit(Draft("subject", "assert", None, None, None, None, ANN, {}), LedgerFacts())


def test_a_subject_that_was_never_opened_is_unknown(log):
    draft = Draft("claim", "assert", OTHER_SUBJECT, None, None, None, ANN, {})
    assert code(draft, log.facts()) == "UNKNOWN_SUBJECT"
    assert code(draft, LedgerFacts()) == "UNKNOWN_SUBJECT"


def test_a_record_that_opens_nothing_is_no_subject(log):
    amendment = log.keep(Draft("subject", "amend", SUBJECT, SUBJECT, None, None, ANN, {}))
    draft = Draft("claim", "assert", amendment.id, None, None, None, ANN, {})
    assert code(draft, log.facts()) == "UNKNOWN_SUBJECT"


def test_evidence_must_be_in_the_ledger_of_whatever_subject():
    log = Log(SUBJECT, OTHER_SUBJECT)
    elsewhere = log.state_claim("observation", subject=OTHER_SUBJECT)
    claim = {"evidence": [elsewhere.id]}
    draft = Draft("claim", "assert", SUBJECT, None, None, None, ANN, claim)
    assert cited_ids(draft) == {elsewhere.id}
    assert code(draft, log.facts(SUBJECT)) is None
    with pytest.raises(Problem) as failure:
        admit(attrs.evolve(draft, payload={"evidence": ["obs_x", "obs_y"]}), log.facts())
    assert failure.value.type.code == "UNKNOWN_EVIDENCE"
    assert failure.value.detail == "/evidence: there is no obs_x, obs_y"


@pytest.mark.parametrize("op", ["amend", "supersede", "retract", "verify", "erase"])
def test_a_target_is_of_the_same_subject_and_kind(op):
    log = Log(SUBJECT, OTHER_SUBJECT)
    claim, sighting = log.state_claim(author=CY), log.state_claim("observation", author=CY)
    foreign = log.state_claim(subject=OTHER_SUBJECT, author=CY)
    draft = acting(op, claim, state="disputed")
    assert code(draft, log.facts(allow_erasure=True)) is None
    for wrong in (sighting.id, foreign.id, "clm_" + "f" * 24, None):
        assert code(attrs.evolve(draft, target=wrong), log.facts(allow_erasure=True)) == (
            "UNKNOWN_TARGET"
        )


PAIRS = {
    "amend": "assert amend supersede",
    "supersede": "assert amend supersede",
    "retract": "assert amend supersede retract verify",
    "verify": "assert amend supersede",
    "erase": "assert amend supersede retract verify",
    "assert": "",
}


@pytest.mark.parametrize(("op", "acted_on"), list(product(OPS, OPS)))
def test_every_operation_acts_on_its_targets_and_no_other(log, op, acted_on):
    claim = log.state_claim()
    target = claim if acted_on == "assert" else log.keep(acting(acted_on, claim, state="disputed"))
    draft = acting(op, target, state="disputed")
    if op == "assert":
        assert acted_on not in ACTS_ON[op]
    elif acted_on in PAIRS[op].split():
        assert code(draft, log.facts(allow_erasure=True)) is None
    else:
        assert code(draft, log.facts(allow_erasure=True)) == "VALIDATION_FAILED"


# -- force ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["amend", "supersede", "retract", "verify"])
def test_a_displaced_target_takes_nothing_more(log, op):
    claim = log.state_claim()
    retraction = log.withdrawn(claim)
    draft = acting(op, claim, state="disputed")
    assert code(draft, log.facts()) == "TARGET_NOT_IN_FORCE"
    log.withdrawn(retraction)
    assert code(draft, log.facts()) is None


def test_a_retraction_is_retracted_once(log):
    retraction = log.withdrawn(log.state_claim())
    log.withdrawn(retraction)
    assert code(acting("retract", retraction), log.facts()) == "TARGET_NOT_IN_FORCE"


def test_a_statement_may_end_at_a_time(log):
    draft = attrs.evolve(acting("retract", log.state_claim()), valid_from=SINCE)
    assert code(draft, log.facts()) is None


# -- erasure -------------------------------------------------------------------------------------


def test_nothing_is_erased_unless_the_operator_allows_it(log):
    draft = acting("erase", log.state_claim())
    assert code(draft, log.facts()) == "ERASURE_NOT_ALLOWED"
    assert code(draft, log.facts(allow_erasure=True)) is None


def test_content_is_erased_in_force_or_not_and_once(log):
    claim = log.state_claim()
    log.withdrawn(claim)
    draft = acting("erase", claim)
    log.append(draft, allow_erasure=True)
    assert code(draft, log.facts(allow_erasure=True)) == "TARGET_NOT_IN_FORCE"


def test_content_whose_erasure_is_known_is_erased_before_it_is_gone(log):
    claim = log.state_claim()
    log.keep(acting("erase", claim))
    for draft in (acting("erase", claim), verdict(claim, "disputed")):
        assert code(draft, log.facts(allow_erasure=True)) == "TARGET_NOT_IN_FORCE"


def test_what_was_erased_can_be_replaced_but_not_judged(log):
    claim = log.state_claim()
    log.append(acting("erase", claim), allow_erasure=True)
    assert code(verdict(claim, "disputed"), log.facts()) == "TARGET_NOT_IN_FORCE"
    for op in ("amend", "supersede", "retract"):
        assert code(acting(op, claim), log.facts()) is None


# -- verdicts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("state", "state_after"), list(product(TRANSITIONS, VERDICTS)))
def test_a_verdict_follows_the_state_by_the_table(log, state, state_after):
    claim, sighting = log.state_claim(), log.state_claim("observation", author=CY)
    if state != UNVERIFIED:
        log.keep(verdict(claim, state))
    code_ = code(verdict(claim, state_after, evidence=[sighting]), log.facts())
    assert code_ == (None if state_after in TRANSITIONS[state] else "TRANSITION_NOT_ALLOWED")


def test_a_refused_verdict_names_those_that_may_follow(log):
    claim = log.state_claim()
    log.judge(claim, "refuted")
    with pytest.raises(Problem) as failure:
        log.judge(claim, "verified")
    assert failure.value.detail == "/state: under_review, disputed may follow refuted"


@pytest.mark.parametrize("state", VERDICTS)
def test_an_author_decides_nothing_about_their_own_statement(log, state):
    claim, sighting = log.state_claim(author=ANN), log.state_claim("observation", author=CY)
    code_ = code(verdict(claim, state, ANN, [sighting]), log.facts())
    assert code_ == ("FOUR_EYES_REQUIRED" if state in FOUR_EYES else None)


PIER = {"source": {"url": "https://pier.example/1", "publisher": "Pier Gazette"}}
PIER_AGAIN = {"source": {"url": "https://other.example/2", "publisher": "PIER GAZETTE"}}
DOCK = {"source": {"url": "https://dock.example/1"}}
DOCK_AGAIN = {"source": {"url": "https://DOCK.example?2"}}


@pytest.mark.parametrize(
    ("target", "author", "evidence", "is_enough"),
    [
        ({}, ANN, {}, False),
        ({}, CY, {}, True),
        ({}, ANN, PIER, True),
        (PIER, ANN, {}, False),
        (PIER, ANN, PIER, False),
        (PIER, ANN, PIER_AGAIN, False),
        (PIER, ANN, DOCK, True),
        (PIER, CY, PIER, True),
        (DOCK, ANN, DOCK_AGAIN, False),
        (DOCK, ANN, PIER, True),
        (DOCK, ANN, {"source": {"url": "none"}}, False),
    ],
)
def test_corroboration_needs_another_author_or_source(log, target, author, evidence, is_enough):
    claim = log.state_claim(**target)
    same, sighting = (
        log.state_claim(**target),
        log.state_claim("observation", author=author, **evidence),
    )
    draft = verdict(claim, "corroborated", evidence=[same, sighting])
    assert code(draft, log.facts()) == (None if is_enough else "VALIDATION_FAILED")


def test_a_statement_does_not_corroborate_itself(log):
    claim = log.state_claim(**PIER)
    assert code(verdict(claim, "corroborated", evidence=[claim]), log.facts()) == (
        "VALIDATION_FAILED"
    )


def test_erased_evidence_of_the_same_author_corroborates_nothing(log):
    claim, sighting = log.state_claim(**PIER), log.state_claim("observation", **DOCK)
    log.append(acting("erase", sighting), allow_erasure=True)
    assert code(verdict(claim, "corroborated", evidence=[sighting]), log.facts()) == (
        "VALIDATION_FAILED"
    )


# -- withdrawing verdicts ------------------------------------------------------------------------


def test_retracting_its_verdicts_takes_a_statement_back_to_unverified(log):
    claim = log.state_claim()
    first, second = log.judge(claim, "disputed"), log.judge(claim, "refuted")
    log.withdrawn(second)
    assert log.state(claim) == "disputed"
    log.withdrawn(first)
    assert log.state(claim) == UNVERIFIED
    assert code(verdict(claim, "verified"), log.facts()) is None


@pytest.mark.parametrize("side", ["valid_from", "valid_to"])
def test_a_verdict_is_withdrawn_for_all_times(log, side):
    verdict_ = log.judge(log.state_claim(), "disputed")
    for _ in range(3):
        draft = acting("retract", verdict_)
        assert code(attrs.evolve(draft, **{side: SINCE}), log.facts()) == "VALIDATION_FAILED"
        verdict_ = log.withdrawn(verdict_)


@pytest.mark.parametrize("state", VERDICTS)
def test_who_restores_a_verdict_gives_it(log, state):
    claim, sighting = log.state_claim(author=ANN), log.state_claim("observation", author=CY)
    retraction = log.withdrawn(log.judge(claim, state, BOB, [sighting]))
    code_ = code(acting("retract", retraction, ANN), log.facts())
    assert code_ == ("FOUR_EYES_REQUIRED" if state in FOUR_EYES else None)
    assert code(acting("retract", retraction, BOB), log.facts()) is None


def test_an_author_may_take_a_restoration_away(log):
    claim = log.state_claim(author=ANN)
    restoration = log.withdrawn(log.withdrawn(log.judge(claim, "refuted", BOB)))
    assert code(acting("retract", restoration, ANN), log.facts()) is None


def test_a_restored_verdict_follows_the_state_like_a_given_one(log):
    claim = log.state_claim()
    log.judge(claim, "refuted")
    between, last = log.judge(claim, "disputed"), log.judge(claim, "verified")
    retraction = log.withdrawn(last)
    assert code(acting("retract", retraction), log.facts()) is None
    log.withdrawn(between)
    assert code(acting("retract", retraction), log.facts()) == "TRANSITION_NOT_ALLOWED"


def test_withdrawn_verdicts_do_not_stand_before_a_restored_one(log):
    claim = log.state_claim()
    log.judge(claim, "refuted")
    verdicts = [log.judge(claim, state) for state in ("disputed", "verified", "under_review")]
    _, retraction, _ = [log.withdrawn(item) for item in verdicts]
    assert log.state(claim) == "refuted"
    assert code(acting("retract", retraction), log.facts()) == "TRANSITION_NOT_ALLOWED"


def test_an_older_verdict_is_restored_behind_the_one_that_counts(log):
    claim = log.state_claim()
    retraction = log.withdrawn(log.judge(claim, "verified"))
    log.judge(claim, "refuted")
    log.withdrawn(retraction)
    assert log.state(claim) == "refuted"


def test_an_erased_verdict_can_be_restored(log):
    verdict_ = log.judge(log.state_claim(author=ANN), "refuted")
    retraction = log.withdrawn(verdict_)
    log.append(acting("erase", verdict_), allow_erasure=True)
    assert code(acting("retract", retraction, ANN), log.facts()) is None


@pytest.mark.parametrize("target", ["clm_" + "e" * 24, None, id_of("claim", 2)])
def test_a_retraction_that_came_from_elsewhere_may_lead_nowhere(log, target):
    log.state_claim()
    stray = log.keep(Draft("claim", "retract", SUBJECT, target, None, None, ANN, {}))
    assert code(acting("retract", stray), log.facts()) is None


def test_a_verdict_that_came_from_elsewhere_may_judge_nothing(log):
    stray = log.keep(
        Draft("claim", "verify", SUBJECT, "clm_" + "e" * 24, None, None, ANN, {"state": "refuted"})
    )
    retraction = log.withdrawn(stray)
    assert code(acting("retract", retraction, ANN), log.facts()) is None


# -- duplicates ----------------------------------------------------------------------------------


def test_new_ids_pass():
    check_new(["clm_1", "clm_2"])


def test_an_id_is_sealed_once():
    with pytest.raises(Problem) as failure:
        check_new(["a", "b", "a"])
    assert failure.value.type.code == "DUPLICATE_RECORD"
    assert failure.value.detail == "a is already in the ledger."


# -- laws ----------------------------------------------------------------------------------------


@st.composite
def attempts(draw):
    """Steps against a log: an operation, on which of the records so far, by whom, saying what."""
    steps = st.tuples(
        st.sampled_from(OPS + ("verify", "retract") * 3),
        st.integers(0, 30),
        st.sampled_from([ANN, BOB, CY]),
        st.sampled_from(VERDICTS),
    )
    return draw(st.lists(steps, max_size=25))


def random_draft(log, step, subject=SUBJECT):
    op, place, author, state = step
    own = [record for record in log.records if record.subject == subject]
    if op == "assert":
        return Draft("claim", "assert", subject, None, None, None, author, {})
    target = own[place % len(own)]
    evidence = [record.id for record in log.records if record.kind == "claim"][:3]
    payload = {"state": state, "evidence": evidence} if op == "verify" else {}
    return Draft(target.kind, op, subject, target.id, None, None, author, payload)


@given(attempts())
def test_states_move_by_the_table_or_back_and_never_by_the_author_alone(steps):
    log = Log()
    log.state_claim()
    for step in steps:
        draft = random_draft(log, step)
        before = {record.id: log.state(record) for record in log.records}
        if code(draft, log.facts(allow_erasure=True)) is not None:
            continue
        past = {record.id: log.counting(record) for record in log.records}
        record = log.append(draft, allow_erasure=True)
        for each in log.records[:-1]:
            after, earlier = log.state(each), before[each.id]
            if after == earlier:
                continue
            taken_back = draft.op in {"retract", "erase"} and log.counting(each) < past[each.id]
            assert taken_back or after in TRANSITIONS[earlier]
            assert taken_back or after not in FOUR_EYES or record.author != each.author


@given(attempts(), st.lists(st.booleans(), min_size=25, max_size=25))
def test_records_of_other_subjects_decide_nothing(steps, sides):
    log = Log(SUBJECT, OTHER_SUBJECT)
    for step, side in zip(steps, sides, strict=False):
        subject = SUBJECT if side else OTHER_SUBJECT
        draft = random_draft(log, step, subject)
        whole, own = log.facts(allow_erasure=True), log.facts(subject, allow_erasure=True)
        code_ = code(draft, own)
        assert code_ == code(draft, whole)
        if code_ is None:
            log.append(draft, allow_erasure=True)


@given(attempts())
def test_what_is_admitted_has_its_target_in_force_or_erases(steps):
    log = Log()
    for step in steps:
        draft = random_draft(log, step)
        facts = log.facts(allow_erasure=True)
        if code(draft, facts) is None:
            if draft.target is not None:
                target = facts.records[draft.target]
                assert target.kind == draft.kind
                assert target.op in ACTS_ON[draft.op]
                assert draft.op == "erase" or log.is_in_force(target)
                assert draft.op != "verify" or target.op in STATEMENTS
            log.append(draft, allow_erasure=True)
