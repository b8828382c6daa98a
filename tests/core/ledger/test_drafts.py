"""Entries become drafts whole and normalised, or every fault comes back at once."""

import json
from typing import get_args

import attrs
import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core import wire
from svc_core.base import canonical
from svc_core.base.unset import Unset
from svc_core.contract.problem import Problem
from svc_core.ledger.append.entries import ENTRIES, Entry, NewSubject
from svc_core.ledger.append.input import Why
from svc_core.ledger.append.validation import drafts
from svc_core.ledger.records import KIND_PREFIX, PAYLOAD_BYTES_MAX, payload_bytes
from svc_core.wire import schema

SALT = bytes(range(16))
SALT_MEMBER = {"salt": "AAECAwQFBgcICQoLDA0ODw"}
SUBJECT = "sbj_a9b3c182b699604db136482f"
CLAIM = "clm_442bced89046c34c77149f59"
SIGHTING = "obs_30b8bebfd75d9bad322112f4"
SOURCE = {
    "url": "https://news.example/a/1?x=1&y=2",
    "retrievedAt": "2026-01-04T20:00:00+01:00",
    "contentSha256": "0f" * 32,
}
ABOUT = {"subject": SUBJECT}
ACTS = {"subject": SUBJECT, "target": CLAIM}
OPENS = {"kind": "subject", "type": "organization", "label": "Müller Shipping AG"}
NAMES = {"kind": "designator", **ABOUT, "scheme": "lei", "value": "5493001KJTIIGC8Y1R12"}
REPORTS = {
    "kind": "observation",
    **ABOUT,
    "observedAt": "2026-01-04T18:30:00Z",
    "text": "The registry lists Zug.",
    "source": SOURCE,
}
CLAIMS = {"kind": "claim", **ABOUT, "predicate": "headquarters", "value": {"city": "Zug"}}
FREE = {"kind": "claim", **ABOUT, "predicate": "shoeSize"}
JUDGES = {"kind": "claim", "op": "verify", **ACTS, "state": "disputed"}


def entry(**members):
    return wire.structure(Entry, members)


def draft(*, author="key_analyst1", **members):
    return drafts([entry(**members)], author=author, salts=[SALT], start=None)[0]


def outcome(**members):
    try:
        return draft(**members), None, []
    except Problem as problem:
        return None, problem.type.code, problem.detail.split("; ")
    except wire.WireError as unfit:
        return None, "VALIDATION_FAILED", [str(fault) for fault in unfit.faults]


def refusal(**members):
    draft_, code, faults = outcome(**members)
    assert draft_ is None
    return code, faults


def without(members, *names):
    return {name: value for name, value in members.items() if name not in names}


def tower(levels, leaf=0):
    return leaf if not levels else [tower(levels - 1, leaf)]


# -- what becomes of entries ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("members", "payload"),
    [
        (OPENS, {"type": "organization", "label": "Müller Shipping AG"}),
        (NAMES, {"scheme": "lei", "value": "5493001KJTIIGC8Y1R12"}),
        (
            {**NAMES, "scheme": "domain", "value": "Bücher.example", "confidence": 0},
            {
                "scheme": "domain",
                "value": "xn--bcher-kva.example",
                "raw": "Bücher.example",
                "confidence": 0,
            },
        ),
        (
            {**NAMES, "scheme": "domain", "value": "A.example", "raw": "a[.]example"},
            {"scheme": "domain", "value": "a.example", "raw": "a[.]example"},
        ),
        (
            REPORTS,
            {
                "observedAt": "2026-01-04T18:30:00.000000Z",
                "text": "The registry lists Zug.",
                "source": {**SOURCE, "retrievedAt": "2026-01-04T19:00:00.000000Z"},
                "visibility": "public",
            },
        ),
        (CLAIMS, {"predicate": "headquarters", "value": {"city": "Zug"}, "evidence": []}),
        (
            {**CLAIMS, "op": "amend", "target": CLAIM, "reason": "no-longer-true"},
            {
                "predicate": "headquarters",
                "value": {"city": "Zug"},
                "evidence": [],
                "reason": "no-longer-true",
            },
        ),
        (
            {**CLAIMS, "source": {"url": "https://a.example/"}, "evidence": [SIGHTING, CLAIM]},
            {
                "predicate": "headquarters",
                "value": {"city": "Zug"},
                "evidence": [SIGHTING, CLAIM],
                "source": {"url": "https://a.example/"},
            },
        ),
        (
            {"kind": "claim", "op": "retract", **ACTS, "reason": "source-withdrawn", "note": "x"},
            {"reason": "source-withdrawn", "note": "x"},
        ),
        (JUDGES, {"state": "disputed", "evidence": []}),
        (
            {**JUDGES, "state": "verified", "method": "source-comparison"},
            {"state": "verified", "method": "source-comparison", "evidence": []},
        ),
        (
            {**JUDGES, "state": "corroborated", "evidence": [SIGHTING]},
            {"state": "corroborated", "evidence": [SIGHTING]},
        ),
        (
            {"kind": "claim", "op": "erase", **ACTS, "reason": "At request", "legalBasis": "GDPR"},
            {"reason": "At request", "legalBasis": "GDPR"},
        ),
    ],
)
def test_a_payload_holds_what_was_sent_and_the_salt(members, payload):
    assert draft(**members).payload == {**payload, **SALT_MEMBER}


def test_a_head_has_its_interval_in_canonical_text():
    draft_ = draft(**CLAIMS, validFrom="2019-01-01T00:00:00+01:00", validTo=None, target=None)
    assert draft_.valid_from == "2018-12-31T23:00:00.000000Z"
    assert (draft_.valid_to, draft_.target, draft_.subject) == (None, None, SUBJECT)
    assert (draft_.kind, draft_.op, draft_.author) == ("claim", "assert", "key_analyst1")


def test_an_observation_keeps_the_interval_it_was_given():
    draft_ = draft(**REPORTS)
    assert (draft_.valid_from, draft_.valid_to) == (None, None)


def test_opening_a_subject_is_its_own_short_entry():
    request = wire.structure(
        NewSubject, {**without(OPENS, "kind"), "validTo": "2026-01-01T00:00:00Z"}
    )
    (draft_,) = drafts([request.entry()], author="a", salts=[SALT])
    assert draft_ == draft(**OPENS, validTo="2026-01-01T00:00:00Z", author="a")
    assert draft_.subject is None


def test_null_stands_for_no_subject_target_and_interval():
    nulls = dict.fromkeys(("subject", "target", "validFrom", "validTo"))
    assert draft(**{**nulls, **OPENS}) == draft(**OPENS)
    assert draft(**{**JUDGES, "validFrom": None, "validTo": None}) == draft(**JUDGES)


# -- which members belong ------------------------------------------------------------------------

WHOLE = {
    "type": "person",
    "label": "Jo",
    "scheme": "lei",
    "value": "5493001KJTIIGC8Y1R12",
    "observedAt": "2026-01-04T18:30:00Z",
    "text": "x",
    "source": SOURCE,
    "predicate": "shoeSize",
    "reason": "other",
    "state": "disputed",
    "subject": SUBJECT,
    "target": CLAIM,
    "validFrom": "2026-01-04T18:30:00Z",
}


@pytest.mark.parametrize("pair", ENTRIES, ids=" ".join)
def test_every_record_needs_its_members_and_takes_no_other(pair):
    kind, op = pair
    members = [item for item in attrs.fields(ENTRIES[pair]) if item.name not in {"kind", "op"}]
    required_names = {wire.camel(item.name) for item in members if item.default is attrs.NOTHING}
    names = {wire.camel(item.name) for item in members if not may_only_be_null(item)}
    draft(kind=kind, op=op, **{name: WHOLE[name] for name in required_names})
    _, missing = refusal(kind=kind, op=op)
    assert {fault.split(":")[0] for fault in missing} == {f"/{name}" for name in required_names}
    code, foreign = refusal(kind=kind, op=op, **WHOLE)
    assert code == "VALIDATION_FAILED"
    assert {fault.split(":")[0] for fault in foreign} == {
        f"/{name}" for name in WHOLE if name not in names
    }


def may_only_be_null(item):
    return item.type == Unset | None


def test_a_statement_rests_on_a_hundred_records_at_most():
    claim = {"kind": "claim", "subject": SUBJECT, "predicate": "motto", "value": "x"}
    evidence = [f"obs_{number:024d}" for number in range(101)]
    assert len(draft(**claim, evidence=evidence[:100]).payload["evidence"]) == 100
    with pytest.raises(wire.WireError, match="at most 100 items"):
        draft(**claim, evidence=evidence)


def test_all_but_a_verdict_on_a_subject_exists():
    ops = {"assert", "amend", "supersede", "retract", "verify", "erase"}
    pairs = {(kind, op) for kind in KIND_PREFIX for op in ops}
    assert set(ENTRIES) == pairs - {("subject", "verify")}
    assert refusal(**{**JUDGES, "kind": "subject"}) == (
        "VALIDATION_FAILED",
        ["/op: must be one of: assert, amend, supersede, retract, erase"],
    )


SCHEMA = schema.json_schema(Entry, "input")
READER = jsonschema_rs.Draft202012Validator(SCHEMA)


def test_the_schema_takes_each_record_by_its_kind_and_what_it_does():
    told_apart = SCHEMA["$defs"]["EntryInput"]["discriminator"]
    assert told_apart["propertyName"] == "kind"
    assert set(told_apart["mapping"]) == set(KIND_PREFIX)
    for kind, op in ENTRIES:
        pattern = entry_of(kind, op)
        READER.validate(pattern)
        assert not READER.is_valid({**pattern, "foo": 1})


def entry_of(kind, op):
    members = attrs.fields(ENTRIES[kind, op])
    required_names = [wire.camel(item.name) for item in members if item.default is attrs.NOTHING]
    return {
        **{name: WHOLE[name] for name in required_names if name in WHOLE},
        "kind": kind,
        "op": op,
    }


@given(
    pair=st.sampled_from(list(ENTRIES)),
    left_out=st.sets(st.sampled_from([*WHOLE, "kind", "op"]), max_size=2),
    extra=st.sets(st.sampled_from(list(WHOLE)), max_size=2),
)
def test_what_the_schema_of_an_entry_admits_is_read_and_nothing_else(pair, left_out, extra):
    members = {**{name: WHOLE[name] for name in extra}, **entry_of(*pair)}
    members = {name: value for name, value in members.items() if name not in left_out}
    try:
        wire.structure(Entry, members)
        is_read = True
    except wire.WireError:
        is_read = False
    assert READER.is_valid(members) is is_read


def test_missing_foreign_and_unfit_members_come_together():
    members = {
        "kind": "claim",
        "target": CLAIM,
        "predicate": "sameAs",
        "value": {"subject": 1},
        "evidence": [SIGHTING, SIGHTING],
    }
    code, faults = refusal(**members)
    assert code == "VALIDATION_FAILED"
    assert faults == [
        "/subject: is required",
        "/target: must be null",
    ]
    del members["target"]
    assert refusal(**members, subject=SUBJECT)[1] == [
        "/value/subject: must be a string",
        "/evidence/1: is cited before",
    ]


UNFIT = [
    ({**NAMES, "value": 7}, "/value: must be a string"),
    ({**CLAIMS, "value": None}, "/value: must not be"),
    ({**FREE, "value": None}, "/value: must not be null"),
    ({**REPORTS, "source": without(SOURCE, "retrievedAt")}, "/source/retrievedAt: is required"),
    (
        {**REPORTS, "source": without(SOURCE, "contentSha256")},
        "/source/contentSha256: is required",
    ),
    (
        {"kind": "claim", "op": "retract", **ACTS, "reason": "whim"},
        "/reason: must be one of: incorrect, clerical",
    ),
    (
        {**CLAIMS, "op": "supersede", "target": CLAIM, "reason": "whim"},
        "/reason: must be one of",
    ),
    ({**JUDGES, "state": "verified"}, "/method: is required when it is verified"),
    ({**JUDGES, "state": "corroborated"}, "/evidence: must have at least 1 item"),
    ({**JUDGES, "validFrom": "2026-01-04T18:30:00Z"}, "/validFrom: must be null"),
    ({**CLAIMS, "value": {"a/b": ["\ud800"]}}, "/value/a~1b/0: must not hold half"),
]


@pytest.mark.parametrize(("members", "fault"), UNFIT)
def test_what_a_member_means_is_checked(members, fault):
    code, faults = refusal(**members)
    assert code == "VALIDATION_FAILED"
    assert len(faults) == 1
    assert faults[0].startswith(fault)


def test_reasons_are_spelled_as_the_format_spells_them():
    for reason in get_args(Why):
        assert draft(kind="claim", op="retract", **ACTS, reason=reason).payload["reason"] == reason


# -- codes of their own --------------------------------------------------------------------------


FAULTS_BY_CODE = [
    ({**CLAIMS, "validFrom": "2026-01-04"}, "TIMESTAMP_INVALID", ["/validFrom"]),
    ({**CLAIMS, "validTo": "2016-12-31T23:59:60Z"}, "TIMESTAMP_LEAP_SECOND", ["/validTo"]),
    (
        {**REPORTS, "observedAt": "2026-01-04T18:30:00.1234567Z"},
        "TIMESTAMP_PRECISION",
        ["/observedAt"],
    ),
    (
        {**REPORTS, "source": {**SOURCE, "retrievedAt": "x"}, "validFrom": "y"},
        "TIMESTAMP_INVALID",
        ["/source/retrievedAt", "/validFrom"],
    ),
    (
        {**CLAIMS, "validFrom": "2026-01-04T18:30:00Z", "validTo": "2026-01-04T19:30:00+01:00"},
        "INTERVAL_EMPTY",
        ["/validTo"],
    ),
    ({**NAMES, "value": "HWUPKR0MPOU8FGXBT395"}, "DESIGNATOR_INVALID", ["/value"]),
    ({**FREE, "value": {"a": [2.0**53]}}, "NUMBER_PRECISION", ["/value/a/0"]),
    ({**REPORTS, "extracted": {"n": 2**53}}, "NUMBER_PRECISION", ["/extracted/n"]),
    ({**FREE, "value": tower(16)}, "RECORD_TOO_LARGE", ["/value" + "/0" * 15]),
    ({**FREE, "value": "x" * PAYLOAD_BYTES_MAX}, "RECORD_TOO_LARGE", ["(body)"]),
    (
        {**NAMES, "value": "HWUPKR0MPOU8FGXBT395", "validTo": "x"},
        "VALIDATION_FAILED",
        ["/value", "/validTo"],
    ),
]


@pytest.mark.parametrize(("members", "code", "pointers"), FAULTS_BY_CODE)
def test_faults_of_one_kind_keep_their_code(members, code, pointers):
    problem_code, faults = refusal(**members)
    assert problem_code == code
    assert [fault.split(": ")[0] for fault in faults] == pointers


def test_a_payload_may_fill_its_bytes_and_no_more():
    room = PAYLOAD_BYTES_MAX - len(canonical.dumps(draft(**FREE, value="").payload))
    assert len(draft(**FREE, value="x" * room).payload["value"]) == room
    assert refusal(**FREE, value="x" * (room + 1))[0] == "RECORD_TOO_LARGE"


def test_a_payload_may_nest_sixteen_levels_itself_counted():
    assert draft(**FREE, value=tower(15)).payload["value"] == tower(15)


def test_what_cannot_be_sealed_is_told_once():
    assert refusal(**{**CLAIMS, "predicate": "legalName", "value": 2**53}) == (
        "NUMBER_PRECISION",
        ["/value: lies beyond ±(2^53-1), so send it as a string"],
    )


@pytest.mark.parametrize("number", [2.0**53, -(2.0**53), 1e20, 1e16, float("nan"), float("inf")])
def test_floats_that_read_back_as_unsafe_integers_are_refused(number):
    assert refusal(**{**FREE, "value": [number]})[0] == "NUMBER_PRECISION"


@pytest.mark.parametrize("number", [0.5, 1e21, 2.0**53 - 1, -1e300, 5e-324, 2**53 - 1, -0.0])
def test_numbers_that_read_back_are_taken(number):
    assert draft(**{**FREE, "value": [number]}).payload["value"] == [number]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(JSON)
def test_every_payload_reads_back_as_its_own_bytes(value):
    draft_, code, _ = outcome(**FREE, value=value)
    assert code in {None, "VALIDATION_FAILED", "NUMBER_PRECISION"}
    if draft_ is not None:
        content = payload_bytes(draft_.payload)
        assert canonical.dumps(json.loads(content)) == content


# -- batches -------------------------------------------------------------------------------------


def test_a_batch_has_a_salt_for_each_and_all_faults_together():
    salts = [SALT, bytes(16)]
    batch = drafts([entry(**OPENS), entry(**CLAIMS)], author="a", salts=salts)
    assert [item.payload["salt"] for item in batch] == [SALT_MEMBER["salt"], "A" * 22]
    unfit = entry(**{**JUDGES, "state": "verified"})
    with pytest.raises(Problem) as failure:
        drafts([entry(**CLAIMS), unfit, unfit], author="a", salts=[SALT] * 3)
    words = "method: is required when it is verified"
    assert failure.value.detail == f"/1/{words}; /2/{words}"


def test_a_batch_names_its_first_faults_and_counts_the_others():
    wrong = [entry(**{**JUDGES, "state": "verified"})] * 13
    with pytest.raises(Problem) as failure:
        drafts(wrong, author="a", salts=[SALT] * 13)
    assert failure.value.detail.startswith("/0/method: is required when it is verified; ")
    assert failure.value.detail.endswith("/9/method: is required when it is verified; and 3 more")


def test_salts_have_128_bits():
    with pytest.raises(ValueError, match=r"^A salt has 16 bytes\.$"):
        drafts([entry(**OPENS)], author="a", salts=[b"short"])


# -- what strangers are told ---------------------------------------------------------------------


def test_shape_faults_come_together_before_anything_else():
    with pytest.raises(wire.WireError) as failure:
        entry(**{**CLAIMS, "confidence": 101, "evidence": ["x"], "predicate": "", "foo": 1})
    assert [fault.place for fault in failure.value.faults] == [
        "/predicate",
        "/confidence",
        "/evidence/0",
        "/foo",
    ]
    assert refusal(kind="fact", foo=1) == (
        "VALIDATION_FAILED",
        ["/kind: must be one of: subject, designator, observation, claim"],
    )
    assert refusal(op="verify")[1] == ["/kind: is required"]


def test_the_schema_describes_every_member():
    opening = schema.json_schema(NewSubject, "input")["$defs"]
    for name, definition in {**SCHEMA["$defs"], **opening}.items():
        properties = definition.get("properties", {})
        assert [member for member, item in properties.items() if "description" not in item] == []
        assert definition.get("additionalProperties", "oneOf" not in definition) is False, name
