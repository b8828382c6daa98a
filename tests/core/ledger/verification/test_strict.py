"""What `strict` finds besides: lines that are intact and should not have been sealed."""

import json
from hashlib import sha256
from typing import Any

import pytest

from svc_core.base import canonical
from svc_core.ledger.log.record_seals import genesis, seal_of
from svc_core.ledger.records import PAYLOAD_BYTES_MAX, encode_line
from svc_core.ledger.verify import reference_index as references
from svc_core.ledger.verify.lines import Head
from svc_core.ledger.verify.log_verification import verify_log
from svc_core.ledger.verify.reference_index import References

LEDGER = "led_0123456789abcdef01234567"
PREFIX = {"subject": "sbj", "designator": "dsg", "observation": "obs", "claim": "clm"}


class Writer:
    """Seals whatever it is told: a log whose every hash is right."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.ids: list[str] = []
        self._prev = genesis(LEDGER)

    def add(self, payload: Any = None, **members: Any) -> str:
        number = len(self.lines)
        content = payload
        if not isinstance(content, bytes):
            content = canonical.dumps(content if content is not None else {"salt": str(number)})
        digest = sha256(content).hexdigest()
        kind = members.get("kind", "claim")
        head: dict[str, Any] = {
            "author": "key_a",
            "id": f"{PREFIX[kind]}_{digest[:24]}",
            "kind": kind,
            "ledger": LEDGER,
            "op": "assert",
            "payloadHash": digest,
            "prev": self._prev,
            "recordedAt": "2026-01-05T09:00:00.000000Z",
            "seq": number,
            "subject": self.ids[0] if self.ids else f"sbj_{digest[:24]}",
            "target": None,
            "v": 1,
            "validFrom": None,
            "validTo": None,
        } | members
        raw = canonical.dumps(head)
        self._prev = seal_of(raw)
        self.lines.append(encode_line(raw, content, self._prev))
        self.ids.append(head["id"])
        return str(head["id"])


@pytest.fixture
def writer() -> Writer:
    writer_ = Writer()
    writer_.add(kind="subject")
    return writer_


def _day(number: int) -> str:
    return f"2026-01-{number:02d}T00:00:00.000000Z"


def _check(writer: Writer, faults_of: Any, *faults: tuple[str, int]) -> None:
    assert faults_of(verify_log(writer.lines, allow_content=True)) == list(faults)
    assert verify_log(writer.lines, level="integrity").ok


def test_all_that_may_be_sealed_passes(writer: Writer, faults_of: Any) -> None:
    claim = writer.add(validFrom=_day(1), validTo=_day(2))
    writer.add(op="amend", target=claim, validFrom=_day(1))
    writer.add(op="verify", target=claim)
    writer.add(op="erase", target=writer.add(kind="observation"), kind="observation")

    _check(writer, faults_of)


BREACHES: list[tuple[str, dict[str, Any]]] = [
    ("ID_MISMATCH", {"id": "clm_" + "0" * 24}),
    ("ID_MISMATCH", {"kind": "observation", "id": "clm_" + "0" * 24}),
    ("ID_MISMATCH", {"kind": "subject"}),
    ("BAD_TARGET", {"target": "clm_" + "0" * 24}),
    ("BAD_TARGET", {"op": "verify"}),
    ("BAD_TARGET", {"op": "retract", "target": "clm_" + "0" * 24}),
    ("BAD_TARGET", {"op": "retract", "target": "obs_" + "0" * 24}),
    ("EMPTY_INTERVAL", {"validFrom": _day(2), "validTo": _day(2)}),
    ("EMPTY_INTERVAL", {"validFrom": _day(3), "validTo": _day(2)}),
]


@pytest.mark.parametrize(("code", "members"), BREACHES)
def test_a_head_that_breaks_a_rule_is_named(
    writer: Writer, faults_of: Any, code: str, members: dict[str, Any]
) -> None:
    writer.add(**members)
    writer.add()

    faults = faults_of(verify_log(writer.lines))

    assert faults[0] == (code, 2)
    assert {line for _, line in faults} == {2}
    assert verify_log(writer.lines, level="integrity").ok


def test_a_fault_of_a_head_says_what_was_expected_and_what_is_there(writer: Writer) -> None:
    claim = writer.add(kind="observation")
    writer.add(op="retract", target=claim)
    payload = canonical.dumps({"salt": "3"})
    writer.add(payload, id="clm_" + "0" * 24)
    writer.add({"salt": "s"}, kind="subject", subject="sbj_" + "1" * 24)

    faults = [
        (fault.code, fault.expected, fault.actual) for fault in verify_log(writer.lines).faults
    ]

    assert faults == [
        ("BAD_TARGET", "clm", "obs"),
        ("ID_MISMATCH", f"clm_{sha256(payload).hexdigest()[:24]}", "clm_" + "0" * 24),
        ("ID_MISMATCH", writer.ids[-1], "sbj_" + "1" * 24),
    ]


def test_integrity_asks_nothing_of_targets_even_where_it_finds_a_fault(
    writer: Writer, faults_of: Any
) -> None:
    claim = writer.add()
    writer.add(op="retract", target=claim, subject="sbj_" + "1" * 24)
    writer.lines[1] = writer.lines[1].replace(b'"salt":"1"', b'"salt":"2"')

    assert faults_of(verify_log(writer.lines, level="integrity")) == [("PAYLOAD_ALTERED", 2)]
    assert faults_of(verify_log(writer.lines)) == [("PAYLOAD_ALTERED", 2), ("BAD_TARGET", 3)]

    writer.add(op="erase")
    assert faults_of(verify_log(writer.lines, level="integrity")) == [("PAYLOAD_ALTERED", 2)]


def test_a_target_is_earlier_of_the_same_subject_and_kind(writer: Writer, faults_of: Any) -> None:
    claim = writer.add()
    sighting = writer.add(kind="observation")
    writer.add(op="retract", target=claim)
    writer.add(op="retract", target=claim, subject="sbj_" + "1" * 24)
    writer.add(op="retract", target=sighting)
    later = sha256(canonical.dumps({"salt": "7"})).hexdigest()[:24]
    writer.add(op="retract", target=f"clm_{later}")
    writer.add()
    own = sha256(canonical.dumps({"salt": "8"})).hexdigest()[:24]
    writer.add(op="retract", target=f"clm_{own}")

    faults = faults_of(verify_log(writer.lines))

    assert [fault for fault in faults if fault[0] == "BAD_TARGET"] == faults
    assert {line for _, line in faults} == {5, 6, 7, 9}


def test_a_verdict_and_an_erasure_have_no_valid_time(writer: Writer, faults_of: Any) -> None:
    claim = writer.add()
    writer.add(op="verify", target=claim, validFrom=_day(1))
    writer.add(op="erase", target=claim, validTo=_day(1))

    _check(writer, faults_of, ("MALFORMED", 3), ("MALFORMED", 4))


def test_an_identifier_is_recorded_once(writer: Writer, faults_of: Any) -> None:
    for _ in range(3):
        writer.add({"salt": "same"})
    writer.add({"salt": "same"}, kind="observation")

    _check(writer, faults_of, ("DUPLICATE_ID", 3), ("DUPLICATE_ID", 4))


def _deep(levels: int) -> bytes:
    return b'{"a":' + b"[" * (levels - 1) + b"]" * (levels - 1) + b"}"


PAYLOADS = [
    (b'{"b":1,"a":2}', "NOT_CANONICAL"),
    (b'{"a": 1}', "NOT_CANONICAL"),
    (b'{"a":1,"a":1}', "NOT_CANONICAL"),
    (b'{"a":1.0}', "NOT_CANONICAL"),
    (b'{"a":-0}', "NOT_CANONICAL"),
    (b'{"a":"\\u00e9"}', "NOT_CANONICAL"),
    (b'{"a":9007199254740992}', "MALFORMED"),
    (b'{"a":1e400}', "MALFORMED"),
    (b'{"a":NaN}', "MALFORMED"),
    (b'{"a":"\\ud800"}', "MALFORMED"),
    (b'{"a":"\xff"}', "MALFORMED"),
    (b'{"a":' + b"1" * 5_000 + b"}", "MALFORMED"),
    (b"[]", "MALFORMED"),
    (b'"text"', "MALFORMED"),
    (b"{", "MALFORMED"),
    (_deep(17), "MALFORMED"),
    (_deep(20_000), "MALFORMED"),
    (b'{"a":"' + b"x" * PAYLOAD_BYTES_MAX + b'"}', "MALFORMED"),
]


@pytest.mark.parametrize(("payload", "code"), PAYLOADS)
def test_a_payload_is_a_canonical_object_within_its_limits(
    writer: Writer, faults_of: Any, payload: bytes, code: str
) -> None:
    writer.add(payload)

    _check(writer, faults_of, (code, 2))


def test_the_largest_payloads_pass(writer: Writer, faults_of: Any) -> None:
    writer.add(_deep(16))
    writer.add(b'{"a":"' + b"x" * (PAYLOAD_BYTES_MAX - 8) + b'"}')

    _check(writer, faults_of)


def test_a_head_outside_the_grammar_is_no_record(writer: Writer, faults_of: Any) -> None:
    writer.add(author="a b")

    assert faults_of(verify_log(writer.lines)) == [("MALFORMED", 2)]


def test_more_faults_than_a_verdict_lists_are_counted(writer: Writer) -> None:
    for _ in range(300):
        writer.add({"salt": "same"})

    outcome = verify_log(writer.lines)

    assert [fault.line for fault in outcome.faults] == list(range(3, 103))
    assert json.loads(writer.lines[2])["head"]["id"] == outcome.faults[0].actual


# -- the register ----------------------------------------------------------------------------------


def _head(number: int, target: int | None = None, op: str = "amend", subject: int = 1) -> Head:
    id_ = b"clm_%024x" % (number << 80 | number)
    goal = None if target is None else b"clm_%024x" % (target << 80 | target)
    return Head(
        b"a",
        id_,
        b"claim",
        b"",
        op.encode(),
        b"",
        b"",
        b"",
        b"",
        b"sbj_%024x" % subject,
        goal,
        None,
        None,
    )


def test_references_are_judged_before_they_outnumber_what_they_refer_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(references, "_REFERENCES_MIN", 4)
    index = References(is_partial=False)
    index.record(1, _head(1), is_empty=True)
    index.record(2, _head(2), is_empty=True)
    for line in range(3, 60):
        index.record(line, _head(line, line - 1 if line != 30 else 999), is_empty=False)
    index.record(60, _head(60, 1, "erase"), is_empty=False)
    index.record(61, _head(61, 5, subject=2), is_empty=False)
    index.record(62, _head(7), is_empty=False)

    assert [(fault.line, fault.code) for fault in index.findings().first] == [
        (2, "PAYLOAD_MISSING"),
        (30, "BAD_TARGET"),
        (61, "BAD_TARGET"),
        (62, "DUPLICATE_ID"),
    ]
    assert index.erased_count == 1


def test_what_was_erased_can_still_be_referred_to() -> None:
    references = References(is_partial=False)
    references.record(1, _head(1), is_empty=True)
    references.record(2, _head(2, 1, "erase"), is_empty=False)
    references.record(3, _head(3, 1), is_empty=False)
    references.record(4, _head(4, 1, "erase"), is_empty=False)
    references.record(5, _head(5, 1, subject=2), is_empty=False)

    assert [(fault.line, fault.code) for fault in references.findings().first] == [
        (5, "BAD_TARGET")
    ]
    assert references.erased_count == 1


def test_content_that_a_record_erases_is_told_once(writer: Writer, faults_of: Any) -> None:
    claim = writer.add()
    writer.add(op="erase", target=claim)
    writer.add(b'{"salt":"again"}', op="erase", target=claim)

    outcome = verify_log(writer.lines)

    assert faults_of(outcome) == [("PAYLOAD_NOT_ERASED", 2)]
    assert outcome.faults[0].detail == "Line 3 erases this record, and its payload is here."
    assert outcome.checks.references is False
    assert verify_log(writer.lines, allow_content=True).ok
    # At the other level it is not looked for, and not said to be so.
    assert verify_log(writer.lines, level="integrity").checks.references is None


def test_everything_that_was_erased_is_counted() -> None:
    ids = [f"clm_{number << 80 | number:024x}" for number in range(3, 6)]
    references = References(is_partial=False)
    for number in range(1, 6):
        references.record(number, _head(number), is_empty=True)
    for number in (1, 2):
        references.record(5 + number, _head(9 + number, number, "erase"), is_empty=False)

    assert references.findings(ids).first == []
    assert references.erased_count == 5


def test_of_many_irregular_identifiers_the_first_are_told() -> None:
    references = References(is_partial=False)
    for line in range(1, 2_000):
        references.record(line, _head(line % 1_000, 5_000), is_empty=False)

    faults = references.findings().first

    assert len(faults) == 100
    assert [fault.line for fault in faults] == list(range(1, 101))
    assert references.findings().count > 1_999
