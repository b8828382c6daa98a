"""A verification finds every edit, names the line, and says what was proven."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from svc_core.ledger.log.record_seals import TreeHead, genesis, seal_of
from svc_core.ledger.records import HEAD, LINE_BYTES_MAX, encode_line, split_line
from svc_core.ledger.verify.anchors import gather
from svc_core.ledger.verify.diagnosis import Diagnosis
from svc_core.ledger.verify.lines import read_line
from svc_core.ledger.verify.log_verification import verify_export, verify_log
from svc_core.ledger.verify.outcome import CODES, FAULTS_MAX, VerificationOutcome
from svc_core.ledger.verify.sweep import Sweep

OTHER_LEDGER = "led_ffffffffffffffffffffffff"


def _verify_both(lines: list[bytes], **evidence: Any) -> VerificationOutcome:
    """The diagnosis, after it agreed with the fast pass."""
    anchors = gather(**evidence)
    sweep, diagnosis = Sweep(anchors), Diagnosis(anchors)
    for at in range(0, len(lines), 3):
        if not sweep.feed(lines[at : at + 3]):
            break
    diagnosis.feed(lines)
    fast, slow = sweep.finish(), diagnosis.finish()
    assert fast == slow if fast is not None else not slow.ok
    return slow


def _reseal(line: bytes, old: bytes, new: bytes) -> bytes:
    parts = split_line(line)
    assert old in parts.head
    head = parts.head.replace(old, new, 1)
    return encode_line(head, parts.payload, seal_of(head))


def _rewritten(lines: list[bytes], start: int, old: bytes, new: bytes) -> list[bytes]:
    """The log with line `start` edited, and everything from there on sealed again."""
    lines_ = [*lines[:start], _reseal(lines[start], old, new)]
    for before, line in zip(lines[start:], lines[start + 1 :], strict=False):
        prev, seal_before = split_line(before).seal, split_line(lines_[-1]).seal
        lines_.append(_reseal(line, b'"prev":"' + prev, b'"prev":"' + seal_before))
    return lines_


# -- the cases of the vectors ----------------------------------------------------------------------


def test_the_21_tamper_cases_are_judged_as_expected(vectors: Any, faults_of: Any) -> None:
    assert len(vectors["tamper"]) == 21
    for name, case in vectors["tamper"].items():
        lines = [
            (vectors["lines"][line] if isinstance(line, int) else line).encode()
            for line in case["lines"]
        ]
        evidence: dict[str, Any] = {
            "checkpoints": [vectors["checkpoints"][str(size)] for size in case["checkpoints"]],
            "vkey": vectors["logKey"]["vkey"],
        }
        if name == "wrong_ledger":
            evidence["ledger"] = OTHER_LEDGER

        outcome = verify_log(lines, **evidence)

        assert faults_of(outcome) == [tuple(fault) for fault in case["faults"]], name
        assert outcome == _verify_both(lines, **evidence), name
        expected = tuple(case["expect"]) if case["expect"] else None
        first = outcome.first_fault
        assert (first and (first.code, first.line)) == expected, name
        assert outcome.ok == (expected is None), name


def test_an_intact_log_is_told_whole(vectors: Any) -> None:
    lines = [line.encode() for line in vectors["lines"]]

    outcome = verify_log(lines)

    assert outcome.ok
    assert outcome.assurance == "self_consistent"
    assert (outcome.ledger, outcome.start, outcome.size) == (vectors["ledger"], 0, 8)
    assert outcome.head_seal == vectors["seals"][-1]
    assert outcome.root == bytes.fromhex(vectors["roots"][8])
    assert outcome.faults == ()
    assert outcome.first_fault is None
    assert outcome.head is not None
    assert outcome.head.recorded_at == "2026-02-03T10:00:00.000000Z"


# -- every edit ------------------------------------------------------------------------------------


def _undetected(log: Any, places: range, bits: tuple[int, ...], **evidence: Any) -> Iterator[Any]:
    """Edits of single bytes of the export that are not found, or not in their line."""
    export = b"".join(line + b"\n" for line in log.lines)
    for place in places:
        line = export.count(b"\n", 0, place) + 1
        for bit in bits:
            mutant = bytearray(export)
            mutant[place] ^= 1 << bit
            outcome = verify_export(lambda mutant=mutant: [bytes(mutant)], **evidence)
            if outcome.ok or outcome.first_fault is None or outcome.first_fault.line != line:
                yield place, bit, outcome.first_fault


def _export_size(log: Any) -> int:
    return sum(len(line) + 1 for line in log.lines)


@pytest.mark.parametrize("level", ["integrity", "strict"])
def test_any_single_byte_edit_is_found_in_its_line(
    make_log: Any, make_erased: Any, level: str
) -> None:
    log = make_erased(make_log(5), 3)

    places = range(0, _export_size(log), 13)
    assert list(_undetected(log, places, (0,), level=level, anchors=[log.anchor])) == []
    assert list(_undetected(log, range(3, _export_size(log), 13), (3,), level=level)) == []


@pytest.mark.parametrize("level", ["integrity", "strict"])
def test_a_lost_line_feed_is_found_in_its_line(make_log: Any, make_erased: Any, level: str) -> None:
    log = make_erased(make_log(7), 3)  # the last line is the erasure
    ends = [len(line) for line in log.lines]
    for count in range(1, len(ends) + 1):
        place = sum(ends[:count]) + count - 1
        misses = _undetected(log, range(place, place + 1), tuple(range(8)), level=level)
        assert list(misses) == []


@pytest.mark.soak
@pytest.mark.parametrize("is_anchored", [True, False])
@pytest.mark.parametrize("level", ["integrity", "strict"])
def test_every_single_byte_edit_of_a_hundred_lines_is_found_in_its_line(
    make_log: Any, make_erased: Any, level: str, is_anchored: bool
) -> None:
    log = make_erased(make_log(99), 40)
    anchors = [log.anchor] if is_anchored else []

    places = range(_export_size(log))
    assert list(_undetected(log, places, (0, 2, 5), level=level, anchors=anchors)) == []


@given(data=st.data())
def test_an_edit_of_several_bytes_never_passes(data: Any, make_log: Any) -> None:
    log = make_log(12)
    export = b"".join(line + b"\n" for line in log.lines)
    mutant = bytearray(export)
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(export) - 1))
        stop = min(len(mutant), start + data.draw(st.integers(0, 90)))
        mutant[start:stop] = data.draw(st.binary(max_size=90))
    anchors = [log.anchor]

    outcome = verify_export(lambda: [bytes(mutant)], anchors=anchors)

    intact = mutant in (export, export[:-1])
    assert outcome.ok == intact
    lines = bytes(mutant).removesuffix(b"\n").split(b"\n") if mutant else []
    assert _verify_both(lines, anchors=anchors).ok == intact


# -- order -----------------------------------------------------------------------------------------


def _deviation(numbers: tuple[int, ...]) -> int:
    return next((at for at, n in enumerate(numbers) if at != n), len(numbers))


@pytest.mark.parametrize("is_anchored", [True, False])
@pytest.mark.parametrize("count", [4, pytest.param(6, marks=pytest.mark.soak)])
def test_any_choice_of_lines_is_found_at_the_first_that_is_out_of_place(
    make_log: Any, count: int, is_anchored: bool
) -> None:
    log = make_log(count)
    anchors = [log.anchor] if is_anchored else []
    for length in range(count + 1):
        for numbers in product(range(count), repeat=length):
            outcome = _verify_both([log.lines[n] for n in numbers], anchors=anchors)
            at = _deviation(numbers)
            is_cut = is_anchored and length < count
            assert outcome.ok == (at == length and not is_cut), numbers
            if outcome.first_fault is not None:
                assert outcome.first_fault.line == at + 1, numbers


@pytest.mark.parametrize("count", [2, 9])
def test_swaps_deletions_and_repetitions_have_their_codes(
    make_log: Any, faults_of: Any, count: int
) -> None:
    log = make_log(count)
    lines = list(log.lines)
    for at in range(count):
        cut = lines[:at] + lines[at + 1 :]
        is_last = at == count - 1
        assert faults_of(_verify_both(cut)) == ([] if is_last else [("MISSING_LINES", at + 1)])
        assert faults_of(_verify_both(cut, anchors=[log.anchor]))[-1] == ("TRUNCATED", count)
        for to in range(at + 1, count + 1):
            twice = [*lines[:to], lines[at], *lines[to:]]
            assert faults_of(_verify_both(twice)) == [("DUPLICATE_LINE", to + 1)]
        for to in range(at + 1, count):
            order = list(lines)
            order[at], order[to] = order[to], order[at]
            assert faults_of(_verify_both(order)) == [("REORDERED", at + 1)]


def test_missing_lines_are_counted(make_log: Any) -> None:
    lines = list(make_log(9).lines)

    first = verify_log(lines[:2] + lines[5:]).first_fault

    assert first is not None
    assert first.detail.startswith("3 line(s)")
    assert (first.seq, first.expected, first.actual) == (2, "2", "5")


def test_a_line_of_a_gap_beyond_those_that_are_kept_is_counted(make_log: Any) -> None:
    lines = list(make_log(2 * FAULTS_MAX + 20).lines)

    assert verify_log(lines[1::2]).fault_count == FAULTS_MAX
    assert verify_log([*lines[1::2], lines[-2]]).fault_count == FAULTS_MAX + 1


# -- what was sealed again -------------------------------------------------------------------------


def test_a_head_that_was_sealed_again_is_convicted_by_the_next(make_log: Any) -> None:
    log = make_log(6)
    for at in range(5):
        edits = [(b'"recordedAt":"2026', b'"recordedAt":"2027')]
        edits += [(b'"seq":%d,' % at, b'"seq":%d,' % n) for n in {0, 3, 9, 10**15} - {at}]
        for old, new in edits:
            line = _reseal(log.lines[at], old, new)
            lines = [*log.lines[:at], line, *log.lines[at + 1 :]]
            first = _verify_both(lines, anchors=[log.anchor]).first_fault
            assert first is not None
            assert (first.code, first.line, first.pinned_by) == ("RESEALED", at + 1, at + 2)
            assert first.expected == split_line(log.lines[at]).seal.decode()
            assert first.actual == split_line(line).seal.decode()


def test_a_chain_that_was_broken_at_its_end_is_told_by_an_anchor(
    make_log: Any, faults_of: Any
) -> None:
    log = make_log(6)
    *before, last = log.lines
    mutant = _reseal(last, b'"prev":"' + split_line(before[-1]).seal, b'"prev":"' + b"0" * 64)

    # Nothing holds the last seal: either of the two may have been sealed again.
    assert faults_of(_verify_both([*before, mutant])) == [("RESEALED", 5)]
    assert faults_of(_verify_both([*before, mutant], anchors=[log.anchor])) == [("RESEALED", 6)]
    assert faults_of(_verify_both([*before, mutant], anchors=[log.root(5)])) == [("RESEALED", 6)]
    edited = _reseal(before[-1], b'"author":"', b'"author":"x')
    chain = [*before[:-1], edited, last]
    assert faults_of(_verify_both(chain, anchors=[log.anchor])) == [("RESEALED", 5)]


def test_a_rewritten_suffix_is_seen_by_whoever_holds_an_older_root(
    make_log: Any, faults_of: Any
) -> None:
    log = make_log(9)
    for start in range(9):
        lines = _rewritten(list(log.lines), start, b'"author":"', b'"author":"x')
        assert _verify_both(lines).assurance == "self_consistent"
        for size in range(1, 10):
            outcome = _verify_both(lines, anchors=[log.root(size)])
            assert faults_of(outcome) == ([("HISTORY_REWRITTEN", size)] if size > start else [])
        outcome = _verify_both(lines, anchors=[log.root(size) for size in range(1, 10)])
        first = outcome.first_fault
        assert first is not None
        assert (
            first.detail
            == f"Lines {start + 1} to {start + 1} do not lead to the root that is given for them."
        )


def test_two_histories_of_one_log_are_a_fork(make_log: Any, faults_of: Any) -> None:
    log = make_log(8)
    lines = list(log.lines)
    for at in range(1, 8):
        forgery = _reseal(lines[at], b'"author":"', b'"author":"x')
        for to in range(at + 1, 9):
            outcome = _verify_both([*lines[:to], forgery, *lines[to:]], level="integrity")
            assert faults_of(outcome) == [("FORKED", to + 1)]
        # The forged one first: the second one is named, and the next line, or an anchor, holds it.
        outcome = _verify_both(
            [*lines[:at], forgery, *lines[at:]], anchors=[log.anchor], level="integrity"
        )
        rewritten = [("HISTORY_REWRITTEN", 8)] if at == 7 else []
        assert faults_of(outcome) == [*rewritten, ("FORKED", at + 2)]


# -- single lines ----------------------------------------------------------------------------------


def test_a_payload_whose_seal_was_altered_is_looked_at_as_well(
    make_log: Any, faults_of: Any
) -> None:
    lines = list(make_log(4).lines)
    seal = split_line(lines[1]).seal
    lines[1] = lines[1].replace(seal, bytes(reversed(seal))).replace(b'"salt":"0', b'"salt":"1')

    assert faults_of(_verify_both(lines)) == [("SEAL_ALTERED", 2), ("PAYLOAD_ALTERED", 2)]


def test_lines_whose_seals_were_altered_keep_their_numbers(make_log: Any) -> None:
    lines = list(make_log(8).lines)
    for number in (2, 3, 4):
        seal = split_line(lines[number]).seal
        mutant = lines[number].replace(seal, bytes(reversed(seal)))
        lines[number] = mutant.replace(b'"salt":"0', b'"salt":"1')

    faults = [(fault.code, fault.line, fault.seq) for fault in _verify_both(lines).faults]

    assert [fault for fault in faults if fault[0] == "PAYLOAD_ALTERED"] == [
        ("PAYLOAD_ALTERED", 3, 2),
        ("PAYLOAD_ALTERED", 4, 3),
        ("PAYLOAD_ALTERED", 5, 4),
    ]


def test_another_order_of_members_or_white_space_is_form_alone(
    make_log: Any, faults_of: Any
) -> None:
    log = make_log(4)
    line = log.lines[2]
    parts = split_line(line)
    seal, payload, head = parts.seal.decode(), parts.payload, parts.head
    forms = [
        b'{"payload":%b,"head":%b,"seal":"%b"}' % (payload, head, seal.encode()),
        line.replace(b'"salt"', b' "salt"'),
        line.replace(b'"v":1', b'"v": 1'),
        line + b"\r",
        b"\xef\xbb\xbf" + line,
        b"\t" + line,
        line.replace(b'"v":1', b'"v":1.0'),
    ]
    for form in forms:
        lines = [*log.lines[:2], form, log.lines[3]]
        outcome = _verify_both(lines, anchors=[log.anchor])
        assert faults_of(outcome) == [("NOT_CANONICAL", 3)], form
        assert outcome.checks.canonical is False
        assert outcome.first_fault is not None
        assert "All other lines" in outcome.first_fault.detail


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [(b'"v":1', b'"v": 1', "HEAD_ALTERED"), (b'"salt"', b' "salt"', "PAYLOAD_ALTERED")],
)
def test_white_space_within_a_part_excuses_no_other_content(
    make_log: Any, faults_of: Any, old: bytes, new: bytes, code: str
) -> None:
    lines = list(make_log(4).lines)
    lines[2] = lines[2].replace(old, new).replace(b"rich", b"ruch")

    assert faults_of(_verify_both(lines)) == [(code, 3)]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"", "NOT_CANONICAL"),
        (b" \t", "NOT_CANONICAL"),
        (b"{}", "MALFORMED"),
        (b"[]", "MALFORMED"),
        (b"\x00\xff" * 40, "MALFORMED"),
        (b"[" * 60_000, "MALFORMED"),
        (b"1" * 60_000, "MALFORMED"),
        (b'{"head":1,"payload":2,"seal":3}', "MALFORMED"),
        (b'{"head":NaN,"payload":2,"seal":3}', "MALFORMED"),
        (b"x" * (LINE_BYTES_MAX + 1), "MALFORMED"),
    ],
)
def test_what_is_no_record_is_named_and_does_not_hide_the_rest(
    make_log: Any, faults_of: Any, line: bytes, code: str
) -> None:
    log = make_log(4)
    lines = list(log.lines)
    for at in range(5):
        with_line = [*lines[:at], line, *lines[at:]]
        assert faults_of(_verify_both(with_line, anchors=[log.anchor])) == [(code, at + 1)]
    for at in range(4):
        in_place = [*lines[:at], line, *lines[at + 1 :]]
        assert faults_of(_verify_both(in_place, anchors=[log.anchor])) == [(code, at + 1)]


def test_lines_that_ran_together_and_a_line_that_was_cut_are_placed(
    make_log: Any, faults_of: Any
) -> None:
    lines = list(make_log(5).lines)

    outcome = _verify_both([lines[0], lines[1] + lines[2], *lines[3:]])
    cut = _verify_both([lines[0], lines[1][:99], lines[1][99:], *lines[2:]])

    assert (
        faults_of(outcome) == [("HEAD_ALTERED", 2), ("MISSING_LINES", 3)]
        or faults_of(outcome)[0][1] == 2
    )
    assert faults_of(cut) == [("MALFORMED", 2), ("MALFORMED", 3)]


def test_many_lines_that_cannot_be_read_are_passed_over(make_log: Any) -> None:
    log = make_log(5)
    rubbish = [b"rubbish"] * 700

    outcome = _verify_both([*log.lines[:2], *rubbish, *log.lines[2:]], anchors=[log.anchor])

    assert outcome.fault_count == 700
    assert len(outcome.faults) == FAULTS_MAX
    assert outcome.first_fault is not None
    assert outcome.first_fault.line == 3
    assert outcome.root == log.heads[-1].root


def test_several_damaged_lines_in_a_row_still_show_the_tree(make_log: Any) -> None:
    log = make_log(7)
    lines = list(log.lines)
    for at in (2, 3, 4):
        lines[at] = lines[at].replace(b'"author":"key', b'"author":"kez')

    assert _verify_both(lines).root == log.heads[-1].root
    lines[3] = b"?"
    outcome = _verify_both(lines, anchors=[log.anchor])
    assert outcome.root is None
    assert outcome.checks.tree is None
    assert outcome.checks.seals is False


def test_a_sealed_head_outside_the_grammar_is_malformed(make_log: Any, faults_of: Any) -> None:
    log = make_log(3)
    first = _reseal(log.lines[0], b'"v":1', b'"v":2')

    assert faults_of(_verify_both([first])) == [("MALFORMED", 1)]
    assert faults_of(_verify_both([first], level="integrity")) == [("MALFORMED", 1)]
    later = _rewritten(list(log.lines), 1, b'"v":1', b'"v":2')
    assert ("MALFORMED", 2) in faults_of(_verify_both(later))


# -- payloads and erasures -------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["integrity", "strict"])
def test_a_lawful_erasure_keeps_seals_root_and_older_anchors(
    make_log: Any, make_erased: Any, level: str
) -> None:
    log = make_log(9)
    log_ = make_erased(make_erased(log, 4), 6)

    outcome = _verify_both(list(log_.lines), level=level, anchors=[log.anchor, log_.anchor])

    assert outcome.ok
    assert outcome.erased == 2
    assert outcome.assurance == "anchored"


@pytest.mark.parametrize("level", ["integrity", "strict"])
def test_a_payload_that_no_record_erases_is_missing(
    make_log: Any, make_erased: Any, without_payload: Any, faults_of: Any, level: str
) -> None:
    log = make_erased(make_log(9), 4)
    for at in range(9):
        lines = list(log.lines)
        lines[at] = without_payload(lines[at])
        expected = [] if at == 4 else [("PAYLOAD_MISSING", at + 1)]
        assert faults_of(_verify_both(lines, level=level)) == expected
        # The act of erasure itself is gone: both are missing.
        assert ("PAYLOAD_MISSING", 5) in faults_of(_verify_both(lines[:9], level=level))


@pytest.mark.parametrize("level", ["integrity", "strict"])
def test_what_a_record_beyond_the_lines_erases_is_erased_and_not_missing(
    make_log: Any, make_erased: Any, without_payload: Any, faults_of: Any, level: str
) -> None:
    lines = list(make_erased(make_log(9), 4).lines[:9])
    fifth, sixth = (HEAD.fullmatch(split_line(lines[at]).head) for at in (4, 5))
    assert fifth is not None
    assert sixth is not None
    beyond = [fifth["id"].decode()]

    sound = _verify_both(lines, level=level, erased_ids=beyond)
    assert (sound.ok, sound.erased) == (True, 1)
    # Only what is named is excused, and only if it is empty.
    wrong = _verify_both(lines, level=level, erased_ids=[sixth["id"].decode()])
    assert faults_of(wrong) == [("PAYLOAD_MISSING", 5)]
    lines[5] = without_payload(lines[5])
    assert faults_of(_verify_both(lines, level=level, erased_ids=beyond)) == [
        ("PAYLOAD_MISSING", 6)
    ]


def test_a_payload_is_not_called_missing_when_the_erasure_may_be_the_damaged_line(
    make_log: Any, make_erased: Any, faults_of: Any
) -> None:
    *lines, erasure = make_erased(make_log(9), 4).lines

    for mutant in (b"?", erasure.replace(b'"target":"clm_', b'"target":"clm_0')[:-1] + b"}"):
        assert [line for _, line in faults_of(_verify_both([*lines, mutant]))] == [10]


def test_a_payload_is_not_called_missing_when_the_erasure_may_be_among_missing_lines(
    make_log: Any, make_erased: Any, faults_of: Any
) -> None:
    log = make_erased(make_erased(make_log(9), 4), 2)

    # The ninth line and the erasure of the fifth are gone, that of the third is there.
    faults = faults_of(_verify_both([*log.lines[:8], *log.lines[10:]]))
    assert faults == [("MISSING_LINES", 9)]
    # Lines that come later are there: nothing that erases is missing.
    late = [*log.lines[:7], log.lines[8], log.lines[7], log.lines[10]]
    assert ("PAYLOAD_MISSING", 5) not in faults_of(_verify_both(late))


def test_a_line_that_comes_late_and_twice_is_told_as_both(make_log: Any, faults_of: Any) -> None:
    first, second, third, last = make_log(4).lines

    faults = faults_of(_verify_both([first, last, second, second, third]))

    assert ("DUPLICATE_LINE", 4) in faults
    assert ("MISSING_LINES", 2) not in faults


def test_the_hash_of_nothing_is_no_payload(make_log: Any, faults_of: Any) -> None:
    lines = list(make_log(2).lines)
    digest = b"74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"
    parts = split_line(lines[1])
    match = HEAD.fullmatch(parts.head)
    assert match is not None
    head = parts.head.replace(match["payload_hash"], digest)
    line = encode_line(head, None, seal_of(head))

    assert faults_of(_verify_both([lines[0], line], level="integrity")) == [("PAYLOAD_MISSING", 2)]


def test_erased_records_that_cannot_be_read_are_irregular(make_log: Any, faults_of: Any) -> None:
    log = make_log(3)
    parts = split_line(log.lines[2])
    head = parts.head.replace(b'"v":1', b'"v":2')
    line = encode_line(head, None, seal_of(head))

    assert faults_of(_verify_both([*log.lines[:2], line], level="integrity")) == [("MALFORMED", 3)]


# -- the ledger ------------------------------------------------------------------------------------


def test_a_first_record_without_the_genesis_is_named(make_log: Any, faults_of: Any) -> None:
    log = make_log(4)
    start = genesis(log.heads[0].ledger).encode()
    lines = _rewritten(list(log.lines), 0, start, b"0" * 64)

    assert faults_of(_verify_both(lines)) == [("GENESIS_MISMATCH", 1)]
    assert faults_of(_verify_both([log.lines[0].replace(start, b"0" * 64), *log.lines[1:]])) == [
        ("HEAD_ALTERED", 1),
        ("GENESIS_MISMATCH", 1),
    ]


@pytest.mark.parametrize("evidence", [{}, {"ledger": OTHER_LEDGER}])
def test_nothing_is_a_log_without_records(evidence: dict[str, Any]) -> None:
    outcome = verify_log([], **evidence)

    assert outcome.ok
    assert outcome == _verify_both([], **evidence)
    assert outcome.size == 0
    assert outcome.ledger == evidence.get("ledger")
    expected = TreeHead.empty(OTHER_LEDGER) if evidence else None
    assert outcome.head == expected
    assert outcome.head_seal == (expected.seal if expected else None)


# -- anchors and a trusted beginning ---------------------------------------------------------------


def test_a_cut_tail_is_seen_by_whoever_holds_more(make_log: Any, faults_of: Any) -> None:
    log = make_log(9)
    for size in range(9):
        lines = list(log.lines[:size])
        assert _verify_both(lines).assurance == "self_consistent"
        for anchor_size in range(10):
            outcome = _verify_both(lines, anchors=[log.root(anchor_size)])
            assert faults_of(outcome) == ([("TRUNCATED", size + 1)] if anchor_size > size else [])
            is_anchored = 0 < anchor_size <= size
            assert outcome.ok is False or outcome.assurance == (
                "anchored" if is_anchored else "self_consistent"
            )


def test_verifying_a_part_from_a_trusted_head_is_verifying_the_whole(
    make_log: Any, make_erased: Any
) -> None:
    log = make_erased(make_log(20), 15)
    for size in range(22):
        for evidence in ({}, {"anchors": [log.root(17)]}, {"level": "integrity"}):
            whole = _verify_both(list(log.lines), **evidence)
            part = _verify_both(list(log.lines[size:]), start=log.heads[size], **evidence)
            assert part.start == size
            if size <= 15:
                assert evolve(part, start=0, assurance=whole.assurance) == whole
            assert (part.ok, part.size, part.root, part.head) == (
                True,
                whole.size,
                whole.root,
                whole.head,
            )


def test_faults_after_a_trusted_head_are_named_by_their_place_in_the_log(
    make_log: Any, faults_of: Any
) -> None:
    log = make_log(12)
    start = log.heads[5]
    rest = list(log.lines[5:])
    stranger = make_log(12, offset=3).lines

    mutant = [*rest[:2], rest[2].replace(b'"salt":"0', b'"salt":"1'), *rest[3:]]
    assert faults_of(_verify_both(mutant, start=start)) == [("PAYLOAD_ALTERED", 8)]
    assert faults_of(_verify_both([log.lines[4], *rest], start=start)) == [("DUPLICATE_LINE", 6)]
    assert faults_of(_verify_both(list(stranger[5:]), start=start)) == [("HISTORY_REWRITTEN", 6)]
    assert faults_of(_verify_both([], start=start, anchors=[log.anchor])) == [("TRUNCATED", 6)]


def test_an_anchor_before_the_beginning_counts_with_its_proof(
    make_log: Any, vectors: Any, faults_of: Any
) -> None:
    lines = [line.encode() for line in vectors["lines"]]
    start = verify_log(lines).head
    old, size = vectors["consistency"]["from"], vectors["consistency"]["to"]
    proof = tuple(bytes.fromhex(hash_) for hash_ in vectors["consistency"]["proof"])
    roots = [bytes.fromhex(root) for root in vectors["roots"]]

    def outcome(*anchor: Any) -> tuple[Any, Any]:
        outcome = _verify_both([], start=start, anchors=[anchor])
        return outcome.assurance, faults_of(outcome)

    assert outcome(old, roots[old], proof) == ("anchored", [])
    assert outcome(size, roots[size]) == ("anchored", [])
    assert outcome(old, roots[old]) == ("self_consistent", [])
    rewritten = ("failed", [("HISTORY_REWRITTEN", size)])
    assert outcome(old, roots[4], proof) == rewritten
    assert outcome(size, roots[old]) == rewritten
    assert outcome(old, b"short", proof) == rewritten


def test_the_root_of_nothing_anchors_nothing(make_log: Any, faults_of: Any) -> None:
    log = make_log(3)

    assert _verify_both(list(log.lines), anchors=[log.root(0)]).assurance == "self_consistent"
    outcome = _verify_both(list(log.lines), anchors=[(0, b"0" * 32)])
    assert faults_of(outcome) == [("HISTORY_REWRITTEN", None)]


# -- what the outcome says -------------------------------------------------------------------------


def test_the_checks_say_what_was_done(make_log: Any, vectors: Any) -> None:
    lines = list(make_log(3).lines)

    strict, integrity = verify_log(lines).checks, verify_log(lines, level="integrity").checks

    assert strict.references is strict.canonical is strict.seals is True
    assert integrity.references is integrity.canonical is None
    assert integrity.seals is integrity.payloads is True
    assert integrity.tree is integrity.checkpoints is integrity.store is None
    assert set(CODES.values()) == {name for name in strict.__slots__ if name != "__weakref__"}


def test_what_could_not_be_read_is_said_to_hold_for_nothing(make_log: Any) -> None:
    lines = list(make_log(9).lines)
    lines[4] = b"rubbish"

    checks = verify_log(lines).checks

    assert checks.format is False
    assert {checks.seals, checks.payloads, checks.chain, checks.record_time} == {None}
    assert {checks.references, checks.canonical} == {None}


def test_a_check_that_fails_beyond_what_is_listed_is_not_said_to_hold(make_log: Any) -> None:
    lines = list(make_log(300).lines)
    mutants = [line.replace(b'"salt":"', b'"salt":"x') for line in lines[:250]]
    outcome = verify_log([*mutants, *lines[250:280], lines[280], *lines[280:]])

    assert {fault.code for fault in outcome.faults} == {"PAYLOAD_ALTERED"}
    assert (outcome.checks.payloads, outcome.checks.sequence) == (False, False)
    assert (len(outcome.faults), outcome.fault_count) == (100, 251)


def test_lines_may_be_opened_by_a_function(make_log: Any) -> None:
    lines = make_log(700).lines
    reads: list[int] = []

    def opener() -> Iterator[bytes]:
        reads.append(1)
        return iter(lines)

    assert verify_log(opener).size == 700
    assert len(reads) == 1
    assert verify_log(lambda: iter([*lines[:600], *lines[601:]])).first_fault is not None


def test_a_sound_log_is_read_once_whatever_anchors_it(make_log: Any) -> None:
    log = make_log(20)
    reads: list[int] = []

    def opener() -> Iterator[bytes]:
        reads.append(1)
        return iter(log.lines)

    anchors = [log.root(size) for size in (3, 7, 12, 20)]
    assert verify_log(opener, anchors=anchors).assurance == "anchored"
    assert len(reads) == 1


def test_what_follows_a_fault_is_left_to_the_diagnosis(make_log: Any) -> None:
    lines = make_log(20).lines * 100
    lines_read: list[bytes] = []

    def opener() -> Iterator[bytes]:
        for line in lines:
            lines_read.append(line)
            yield line

    assert not verify_log(opener).ok
    assert len(lines) < len(lines_read) <= len(lines) + 512


def test_nothing_is_said_of_a_root_that_nobody_knows(make_log: Any) -> None:
    log = make_log(3)
    first = log.lines[0].replace(b'"salt":"0', b'"salt":"1')

    (alone,) = _verify_both([first, *log.lines[1:]]).faults
    (fault,) = _verify_both([first, *log.lines[1:]], anchors=[log.anchor]).faults

    assert "reproduce" not in alone.detail
    assert fault.detail.endswith("All other lines reproduce the root of 3 lines.")


def test_what_is_no_head_has_no_number_and_a_line_may_be_as_long_as_a_record() -> None:
    longest = read_line(1, b"x" * LINE_BYTES_MAX)
    longer = read_line(1, b"x" * (LINE_BYTES_MAX + 1))

    assert (longest.seq, longest.prev, longer.seq) == (-1, "", -1)
    assert longest.breach is not None
    assert longer.breach is not None
    assert longest.breach.detail == "This is no line of a record."
    assert longer.breach.detail == f"The line is longer than {LINE_BYTES_MAX} bytes."


def test_a_verdict_shows_its_root_as_digits(make_log: Any) -> None:
    log = make_log(3)

    assert f"root={log.heads[-1].root.hex()}," in repr(verify_log(log.lines))
    assert "root=None," in repr(verify_log([b"?"]))


def test_runs_end_where_numbers_grow_and_anchors_stand(make_log: Any) -> None:
    log = make_log(1_030)
    sizes = (1, 9, 10, 11, 99, 101, 511, 512, 513, 999, 1_001, 1_024, 1_030)

    outcome = verify_log(log.lines, anchors=[log.root(size) for size in sizes])

    assert outcome.ok
    for size in sizes[:-1]:
        for lines, anchors in (
            (log.lines, [(size, b"0" * 32)]),
            ([*log.lines[: size - 1], *log.lines[size:]], []),
        ):
            sweep = Sweep(gather(level="integrity", anchors=anchors))
            assert not sweep.feed(lines)
            assert sweep.finish() is None


# -- what is bounded -------------------------------------------------------------------------------


def test_a_log_of_many_gaps_tells_the_first_ones(make_log: Any, faults_of: Any) -> None:
    lines = make_log(300).lines[::2]

    assert faults_of(_verify_both(list(lines))) == [("MISSING_LINES", n) for n in range(2, 102)]


def test_the_end_of_a_log_with_a_hole_is_judged_without_its_tree(
    make_log: Any, faults_of: Any
) -> None:
    log = make_log(7)
    last = log.lines[-1].replace(b'"author":"key', b'"author":"kez')

    outcome = _verify_both([*log.lines[:2], *log.lines[4:6], last], anchors=[log.anchor])

    assert faults_of(outcome) == [("MISSING_LINES", 3), ("HEAD_ALTERED", 5), ("TRUNCATED", 6)]
    assert outcome.root is None
