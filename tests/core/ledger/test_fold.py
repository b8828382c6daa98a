"""The fold: a table of what it says, its laws, and that nothing makes it raise."""

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_core import wire
from svc_core.base import canonical
from svc_core.ledger.fold.bitemporal import fold_records
from svc_core.ledger.fold.claims import value_text
from svc_core.ledger.fold.recordset import RecordSet
from svc_core.ledger.fold.standing import Standing
from svc_core.ledger.fold.view import Basis, CollisionView, SubjectView, encode
from svc_core.ledger.records import Draft, SealedRecord, decode
from svc_core.testing.ledger_kit import fold_questions as questions
from svc_core.testing.ledger_kit import folds
from svc_core.testing.ledger_kit import history_strategies as histories
from svc_core.wire.schema import Schemas
from tests.sampling import examples

VECTORS = json.loads(
    (Path(__file__).parents[2] / "data" / "ledger" / "vectors.json").read_text("utf-8")
)
LINES = [line.encode() for line in VECTORS["lines"]]
SUBJECT = VECTORS["fold"]["subject"]
Y20, Y21, Y22, Y23 = histories.VALID_TIMES
BASIS = Basis(8, "6267", "daeb")


class Book:
    """Records written by hand: each gets the next `seq`, a microsecond after the one before."""

    def __init__(self) -> None:
        self.records: list[SealedRecord] = []

    def add(
        self,
        op: str,
        target: str | None = None,
        start: str | None = None,
        end: str | None = None,
        *,
        kind: str = "claim",
        author: str = "key_ann",
        **payload: Any,
    ) -> str:
        seq = len(self.records)
        id_ = f"clm_{seq:024d}"
        head = (seq, id_, kind, op, SUBJECT, target, histories.instant(seq), start, end, author)
        sums = (f"{seq:064x}", f"{seq:064x}", histories.LEDGER, f"{seq:064x}")
        self.records.append(SealedRecord._make((*head, payload, *sums)))
        return id_

    def claim(
        self, value: Any, *bounds: str | None, author: str = "key_ann", **members: Any
    ) -> str:
        payload = {"predicate": "headquarters", "value": value, **members}
        return self.add("assert", None, *bounds, author=author, **payload)

    def verdict(self, target: str, state: Any, author: str = "key_bob") -> str:
        return self.add("verify", target, author=author, state=state)

    def erase(self, id_: str) -> None:
        self.records = [
            record._replace(payload=None) if record.id == id_ else record for record in self.records
        ]

    def view(self, valid_time: str = Y21, **how: Any) -> SubjectView:
        return fold_records(self.records, SUBJECT, valid_time=valid_time, **how)

    def values(self, valid_time: str = Y21) -> list[Any]:
        claim = self.view(valid_time).claims.get("headquarters")
        return [] if claim is None else [candidate.value for candidate in claim.candidates]


@pytest.fixture
def book() -> Book:
    return Book()


# -- the table ---------------------------------------------------------------------------------


@pytest.mark.parametrize("point", VECTORS["fold"]["points"], ids=lambda point: point["why"])
def test_the_fold_says_what_the_table_says(point: dict[str, Any]) -> None:
    view = fold_records(
        map(decode, LINES),
        SUBJECT,
        valid_time=point["validTime"],
        record_time=point["recordTime"],
    )

    assert view.open is point["open"]
    assert [row.id for row in view.designators] == point["designators"]
    assert [row.id for row in view.observations] == point["observations"]
    assert _brief(view) == point["headquarters"]


def _brief(view: SubjectView) -> Any:
    claim = view.claims.get("headquarters")
    if claim is None:
        return None
    return {
        "value": claim.value,
        "contested": claim.contested,
        "candidates": [
            {
                "value": candidate.value,
                "best": candidate.best,
                "rank": candidate.rank,
                "records": [row.id for row in candidate.support],
                "states": [row.verification.state for row in candidate.support],
            }
            for candidate in claim.candidates
        ],
    }


# -- the laws ----------------------------------------------------------------------------------


@pytest.mark.parametrize("check", folds.CHECKS, ids=lambda check: check.__name__)
def test_a_law_of_folding(check: folds.Check) -> None:
    @examples(30)
    @given(histories.histories())
    def law(history: histories.History) -> None:
        check(folds.core, history)

    law()


@pytest.mark.parametrize("check", folds.CHECKS, ids=lambda check: check.__name__)
def test_a_law_holds_where_everything_claimed_was_refuted(check: folds.Check) -> None:
    history = histories.new_history(1)
    payload = {"predicate": "headquarters", "value": "Zug", "evidence": [], "salt": "s" * 22}
    draft = Draft("claim", "assert", history.subjects[0], None, None, None, "key_ann", payload)
    history = history.append([draft], histories.instant(1))
    refutation = {"state": "refuted", "method": "reading"}

    check(folds.core, folds.act(history, "verify", history.records[1], payload=refutation))


@examples(50)
@given(histories.histories())
def test_equal_questions_have_equal_bytes(history: histories.History) -> None:
    for subject in history.subjects:
        how: dict[str, Any] = {"valid_time": Y21, "with_history": True, "with_segments": True}
        view = fold_records(history.records, subject, basis=BASIS, **how)

        assert encode(view) == encode(
            fold_records(history.records[::-1], subject, basis=BASIS, **how)
        )
        assert encode(view) == canonical.dumps(wire.to_json(view))


# -- what is displaced -------------------------------------------------------------------------


def test_history_and_segments_are_left_out_unless_asked_for(book: Book) -> None:
    book.claim("a", Y20, Y21)
    plain = json.loads(encode(book.view()))
    full = json.loads(encode(book.view(with_history=True, with_segments=True)))

    assert not {"history", "segments", "collisions"} & set(plain)
    assert full["history"] == []
    assert full["segments"] == [
        {"validFrom": None, "validTo": Y20},
        {"validFrom": Y20, "validTo": Y21},
        {"validFrom": Y21, "validTo": None},
    ]


def test_a_subject_without_records_has_one_segment_and_is_not_open() -> None:
    view = fold_records((), SUBJECT, valid_time=Y21, with_segments=True)

    assert (view.open, view.identity, view.record_time) == (False, None, None)
    assert len(view.segments) == 1  # type: ignore[arg-type]


# -- verdicts ----------------------------------------------------------------------------------


def test_an_erased_verdict_leaves_a_record_unverified_and_revives_none(book: Book) -> None:
    claim = book.claim("a")
    book.verdict(claim, "refuted")
    newest = book.verdict(claim, "verified")
    book.erase(newest)
    (support,) = book.view().claims["headquarters"].candidates[0].support

    assert support.verification.state == "unverified"
    assert [(row.erased, row.state) for row in support.verification.verdicts] == [
        (False, "refuted"),
        (True, None),
    ]


# -- candidates --------------------------------------------------------------------------------


def test_values_are_equal_where_their_canonical_bytes_are(book: Book) -> None:
    for value in (1, True, 1.0, "1", {"a": 1, "b": 2}, {"b": 2, "a": 1.0}, "ü", "ü"):
        book.claim(value)

    assert sorted(map(len, [c.support for c in book.view().claims["headquarters"].candidates])) == [
        1, 1, 2, 2, 2,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param({"state": "disputed"}, {"state": "unverified"}, id="rank"),
        pytest.param({"confidence": 90}, {"authors": 2}, id="authors"),
        pytest.param({"confidence": 1}, {"confidence": 2}, id="confidence"),
        pytest.param({}, {"confidence": 0}, id="any confidence"),
        pytest.param({}, {}, id="newest"),
        pytest.param({"authors": 2, "state": "refuted"}, {}, id="refuted"),
    ],
)
def test_the_second_value_comes_first(
    book: Book, first: dict[str, Any], second: dict[str, Any]
) -> None:
    for value, how in (("a", first), ("b", second)):
        members = {"confidence": how["confidence"]} if "confidence" in how else {}
        for number in range(how.get("authors", 1)):
            id_ = book.claim(value, author=f"key_{number}", **members)
            if "state" in how:
                book.verdict(id_, how["state"])
    book.claim("other predicate")
    book.records[-1].payload["predicate"] = "owner"  # type: ignore[index]

    assert book.values() == ["b", "a"]


def test_confidence_is_a_whole_number_from_0_to_100(book: Book) -> None:
    for number, confidence in enumerate((0, 100, -1, 101, True, 1.0, "1", None)):
        book.claim(f"v{number}", confidence=confidence)

    confidences = {
        candidate.value: candidate.confidence
        for candidate in book.view().claims["headquarters"].candidates
    }
    assert [confidences[f"v{number}"] for number in range(8)] == [0, 100, *[None] * 6]


# -- identity and erasure ----------------------------------------------------------------------


def test_an_erased_record_stays_and_says_so(book: Book) -> None:
    ids = [
        book.add("assert", kind="subject", type="vessel", label="First"),
        book.add("assert", kind="designator", scheme="name", value="Ann"),
        book.add("assert", kind="observation", text="Seen."),
        book.claim("a"),
    ]
    for id_ in ids:
        book.erase(id_)
    view = book.view()

    assert view.identity is not None
    assert (view.open, view.identity.erased, view.identity.label) == (True, True, None)
    assert [(row.id, row.erased, row.value) for row in view.designators] == [(ids[1], True, None)]
    assert [(row.id, row.erased, row.text) for row in view.observations] == [(ids[2], True, None)]
    assert [(row.id, row.erased) for row in view.unreadable] == [(ids[3], True)]
    assert view.claims == {}


def test_content_that_an_erasure_names_is_gone_even_from_records_that_still_hold_it(
    book: Book,
) -> None:
    claim = book.claim("secret")
    full = RecordSet.of(book.records)
    book.add("retract", claim, Y20, Y20)
    erasure = book.records[-1]._replace(op="erase", valid_from=None, valid_to=None)
    state = full | RecordSet.of([erasure])

    assert "secret" not in repr(state)
    assert state == RecordSet.of([erasure]) | full
    assert "secret" not in repr(RecordSet.of([erasure]).restrict(size=0) | full)
    assert full | full.restrict(size=0) == full
    assert (
        RecordSet.of([full.records[0], full.records[0]._replace(payload=None)]).records[0].payload
        is None
    )


# -- bounds and basis --------------------------------------------------------------------------


def test_both_bounds_and_the_basis_are_echoed(book: Book) -> None:
    book.claim("a")
    last = book.claim("b")
    view = book.view(basis=BASIS)

    assert (view.valid_time, view.record_time) == (Y21, histories.instant(1))
    assert json.loads(encode(view))["basis"] == {
        "size": 8,
        "rootHash": "6267",
        "headSeal": "daeb",
    }
    early = book.view(record_time=histories.instant(0))
    assert (early.record_time, book.view(size=1).record_time) == (histories.instant(0),) * 2
    assert [row.value for row in early.claims["headquarters"].candidates] == ["a"]
    assert book.view(size=1, record_time=histories.instant(9)).claims == early.claims
    assert book.view(size=9, record_time=histories.instant(0)).claims == early.claims
    assert last in questions.live_ids(wire.to_json(book.view(size=2)))  # type: ignore[arg-type]


def test_collisions_are_shown_where_they_are_given(book: Book) -> None:
    view = evolve(book.view(), collisions=(CollisionView("lei", "5493", ("sbj_b",)),))

    assert json.loads(encode(view))["collisions"] == [
        {"scheme": "lei", "subjects": ["sbj_b"], "value": "5493"}
    ]


def test_guards_learn_what_is_in_force_and_in_which_state(book: Book) -> None:
    claim, second = book.claim("a"), book.claim("b")
    verdict = book.verdict(claim, "disputed")
    retraction = book.add("retract", second)
    standing = Standing.of(RecordSet.of(book.records), SUBJECT)

    assert standing.in_force == {claim, verdict, retraction}
    assert standing.states == {claim: "disputed"}
    assert [item.id for item in standing.live(Y21)] == [claim]
    assert Standing.of(book.records, SUBJECT, size=3).in_force == {claim, second, verdict}


def test_the_view_has_a_schema_that_its_bytes_fit(book: Book) -> None:
    schemas = Schemas()
    schemas.of(SubjectView, "output")

    assert set(json.loads(encode(book.view()))) <= set(
        schemas.components["SubjectView"]["properties"]
    )


# -- totality ----------------------------------------------------------------------------------

_DEEP: Any = "end"
for _ in range(70):
    _DEEP = [_DEEP]
_TOWER: Any = "end"
for _ in range(60):
    _TOWER = {"a": _TOWER}
_ODD = (
    None,
    True,
    2**60,
    1.5,
    float("nan"),
    "\ud800",
    "",
    [],
    ["x", 1],
    {},
    {"a": 1},
    _DEEP,
    _TOWER,
)
_odd = st.sampled_from(_ODD)
_ids = st.sampled_from(("a", "b", "c", ""))
_members = st.sampled_from(
    ("predicate", "value", "state", "confidence", "evidence", "source", "method", "text", "label")
)
_payloads = (
    st.none()
    | st.dictionaries(_members, _odd)
    | st.fixed_dictionaries(
        {
            "predicate": st.just("owner"),
            "value": _odd,
            "state": st.sampled_from(("refuted", *_ODD)),
        },
        optional={"confidence": _odd, "evidence": _odd},
    )
)
_hostile = st.lists(
    st.builds(
        SealedRecord,
        seq=st.integers(-1, 4),
        id=_ids,
        kind=st.sampled_from(("subject", "designator", "observation", "claim", "claim")),
        op=st.sampled_from(("assert", "amend", "supersede", "retract", "verify", "erase")),
        subject=st.just("s"),
        target=st.none() | _ids,
        recorded_at=st.sampled_from(("", Y20, Y21, "x")),
        valid_from=st.none() | st.sampled_from((Y21, Y20, "")),
        valid_to=st.none() | st.sampled_from((Y20, Y22)),
        author=st.sampled_from(("a", "b")),
        payload=_payloads,
        payload_hash=st.just(""),
        prev=st.sampled_from(("", "b")),
        ledger=st.just(""),
        seal=st.sampled_from(("", "b")),
    ),
    max_size=9,
)


@examples(200)
@given(_hostile, st.sampled_from((None, Y20)), st.sampled_from((None, 0, 2)))
def test_no_set_of_records_makes_a_fold_raise_or_depend_on_order(
    records: list[SealedRecord], record_time: str | None, size: int | None
) -> None:
    how: dict[str, Any] = {"record_time": record_time, "size": size, "with_history": True}
    view = encode(fold_records(records, "s", valid_time=Y21, with_segments=True, **how))
    again = fold_records([*records[::-1], *records], "s", valid_time=Y21, with_segments=True, **how)

    assert encode(again) == view


@examples(100)
@given(_hostile, _hostile, _hostile)
def test_any_sets_of_records_are_a_monoid(
    first: list[SealedRecord], second: list[SealedRecord], third: list[SealedRecord]
) -> None:
    a, b, c = RecordSet.of(first), RecordSet.of(second), RecordSet.of(third)

    assert _state_key((a | b) | c) == _state_key(a | (b | c))
    assert _state_key(a | b) == _state_key(b | a) == _state_key(RecordSet.of([*second, *first]))
    assert (
        _state_key(a | a)
        == _state_key(a | RecordSet())
        == _state_key(RecordSet() | a)
        == _state_key(a)
    )
    for how in ({"size": 2}, {"record_time": Y20}):
        cut = (a | b).restrict(**how)  # type: ignore[arg-type]
        assert _state_key(cut) == _state_key(a.restrict(**how) | b.restrict(**how))  # type: ignore[arg-type]


def test_values_that_weigh_the_same_come_in_the_order_of_their_bytes(book: Book) -> None:
    book.claim("b")
    book.claim("a")
    book.records[1] = book.records[1]._replace(seq=0)

    assert book.values() == ["a", "b"]


def test_only_a_later_record_displaces_or_judges(book: Book) -> None:
    claim = book.claim("a")
    book.add("retract", claim)
    book.add("retract", f"clm_{2:024d}")
    book.verdict(claim, "refuted")
    book.records[1] = book.records[1]._replace(seq=0)
    book.records[3] = book.records[3]._replace(seq=0)

    standing = Standing.of(book.records, SUBJECT)

    assert book.values() == ["a"]
    assert standing.in_force == {record.id for record in book.records}
    assert dict(standing.displacements) == {}
    assert standing.verdicts(book.records[0]).state == "unverified"


def test_records_with_one_number_stand_by_their_members_null_before_texts(book: Book) -> None:
    book.claim("a")
    [without] = book.records
    later = without._replace(valid_from=Y21)
    twin = without._replace(id=f"clm_{9:024d}")

    assert RecordSet.of([twin, later, without]).records == (without, later, twin)


@pytest.mark.parametrize("evidence", ["obs", {"obs": 1}, 7, "", None, []])
def test_evidence_that_is_no_array_cites_nothing(book: Book, evidence: Any) -> None:
    book.claim("a", evidence=evidence)

    [support] = book.view().claims["headquarters"].candidates[0].support

    assert support.evidence == ()


def test_of_two_contents_without_a_canonical_form_one_counts_in_any_order(book: Book) -> None:
    book.claim(2**60)
    [first] = book.records
    second = first._replace(payload={"value": float("nan")})

    assert _state_key(RecordSet.of([first, second])) == _state_key(RecordSet.of([second, first]))


def _state_key(state: RecordSet) -> object:
    # Not the records themselves: NaN does not equal itself.
    return repr(state.records), sorted(state.erased_ids)


@settings(deadline=None)
@given(_hostile)
def test_displacement_at_a_time_is_displacement_over_the_times(records: list[SealedRecord]) -> None:
    # No text comes before the empty one, so it cannot be an end that something lies before.
    records = [record._replace(valid_from=record.valid_from or None) for record in records]
    standing = Standing.of(records, "s")
    times = questions.valid_times([])[:1] + sorted(
        {at for record in standing.records for at in (record.valid_from, record.valid_to) if at}
    )
    for record in standing.records:
        at_times = [standing.displaced_at(at).get(record.id, -9) > record.seq for at in times]
        displacement = standing.displacements.get((record.seq, record.id))

        assert any(at_times) is (displacement is not None)
        assert all(at_times) is standing.is_withdrawn(record)


@examples(100)
@given(histories.histories(acts_max=30), st.data())
def test_a_record_stands_as_the_acts_on_it_say_whatever_else_there_is(
    history: histories.History, data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, len(history.records)))
    whole = Standing(history.records[:size])
    for record in whole.records:
        ids = {record.id}
        for act in whole.records:
            ids |= {act.id} if act.target in ids else set()
        alone = Standing(tuple(item for item in whole.records if item.id in ids))

        assert alone.validity(record) == whole.validity(record)
        assert alone.verdicts(record) == whole.verdicts(record)
        assert (record.id in alone.in_force) is (record.id in whole.in_force)


def test_a_chain_of_acts_may_be_long(book: Book) -> None:
    last = book.claim("a")
    for number in range(3_000):
        last = book.add("retract", last, None if number % 2 else Y20, None)

    assert book.values() == ["a"]
    assert len(book.view(with_history=True).history) == 1_500  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value", ["plain", 'quo"te\\\n\x00\x1f\x7f', "ü", "😀", 1, {"b": 1, "a": []}]
)
def test_the_text_of_a_value_is_its_canonical_one(value: Any) -> None:
    text = value_text(value)

    assert text is not None
    assert text.encode() == canonical.dumps(value)


def test_what_has_no_canonical_form_is_shown_as_null(book: Book) -> None:
    book.claim("a", source={"deep": _TOWER}, statement="\ud800", evidence=["ok", 1])
    book.claim("b", source={"fine": 1.0})
    book.claim("\ud800")
    book.claim(_DEEP)
    book.add("assert", predicate="\ud800", value="c")
    book.add("assert", predicate="ä", value="d")
    view = json.loads(encode(book.view()))
    rows = {
        candidate["value"]: candidate["support"][0]
        for candidate in view["claims"]["headquarters"]["candidates"]
    }

    assert [rows["a"][name] for name in ("source", "statement", "evidence")] == [None, None, ["ok"]]
    assert rows["b"]["source"] == {"fine": 1}
    assert len(view["unreadable"]) == 3
    assert set(view["claims"]) == {"headquarters", "ä"}
