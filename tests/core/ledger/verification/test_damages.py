"""A matrix of damages: what is done to a log, and the faults that are named, by code and line."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from svc_core.ledger.log.record_seals import TreeHead, seal_of
from svc_core.ledger.records import LINE_BYTES_MAX, encode_line, split_line
from svc_core.ledger.verify.log_verification import verify_log

OTHER_LEDGER = "led_ffffffffffffffffffffffff"
WITH_EVIDENCE = pytest.mark.parametrize("is_held", [False, True], ids=["alone", "held"])


def reseal(line: bytes, old: bytes, new: bytes) -> bytes:
    parts = split_line(line)
    head = parts.head.replace(old, new, 1)
    return encode_line(head, parts.payload, seal_of(head))


def rechain(line: bytes) -> bytes:
    prev = split_line(line).head.partition(b'"prev":"')[2][:64]
    return reseal(line, prev, b"0" * 64)


def forge(line: bytes) -> bytes:
    return reseal(line, b'"author":"', b'"author":"x')


def check(lines: list[bytes], expected: str, **evidence: Any) -> None:
    """Each fault is `CODE:line`; what `integrity` does not look for is left out there."""
    for level in ("strict", "integrity"):
        outcome = verify_log(lines, level=level, **evidence)
        faults = [f"{fault.code}:{fault.line}" for fault in outcome.faults]
        only_strict = ("DUPLICATE_ID",) if level == "integrity" else ()
        assert faults == [item for item in expected.split() if not item.startswith(only_strict)]
        assert outcome.assurance == (
            "failed" if faults else "anchored" if evidence.get("anchors") else "self_consistent"
        )


# -- a log and what another ledger has -------------------------------------------------------------


@pytest.mark.parametrize("start", [0, 1, 4, 5, 6])
@pytest.mark.parametrize("count", [0, 3])
def test_what_follows_of_another_ledger_accuses_no_line_of_this_one(
    make_log: Any, start: int, count: int
) -> None:
    own, theirs = make_log(5 + count), make_log(9, OTHER_LEDGER, offset=500)
    foreign = theirs.lines[start:]
    lines = [*own.lines[:5], *foreign, *own.lines[5:]]
    for ledger in (None, own.heads[0].ledger):
        faults = verify_log(lines, ledger=ledger).faults
        assert {fault.line for fault in faults} == set(range(6, 6 + len(foreign)))
        assert faults[0].code == "WRONG_LEDGER"


# -- one line of nine ------------------------------------------------------------------------------

EDITS: Mapping[str, tuple[Callable[[bytes], list[bytes]], str]] = {
    # what stands in the place of the line, and the faults: +1 is that of the next line
    "head": (lambda line: [line.replace(b'"author":"', b'"author":"x')], "HEAD_ALTERED"),
    "head beyond the grammar": (
        lambda line: [line.replace(b'"author":"', b'"author":" ')],
        "HEAD_ALTERED",
    ),
    "seal": (
        lambda line: [line.replace(split_line(line).seal, split_line(line).seal[::-1])],
        "SEAL_ALTERED",
    ),
    "seal without digits": (
        lambda line: [line.replace(split_line(line).seal, b"\xff" * 64)],
        "SEAL_ALTERED",
    ),
    "payload": (lambda line: [line.replace(b'"salt":"0', b'"salt":"1')], "PAYLOAD_ALTERED"),
    "payload gone": (
        lambda line: [encode_line(split_line(line).head, None, split_line(line).seal.decode())],
        "PAYLOAD_MISSING",
    ),
    "head sealed again": (lambda line: [forge(line)], "RESEALED"),
    "time sealed again": (
        lambda line: [reseal(line, b'"recordedAt":"2026', b'"recordedAt":"2025')],
        "RESEALED TIME_REGRESSION",
    ),
    "ledger sealed again": (
        lambda line: [reseal(line, b"led_0123456789abcdef01234567", OTHER_LEDGER.encode())],
        "RESEALED WRONG_LEDGER",
    ),
    "chain sealed again": (lambda line: [rechain(line)], "RESEALED"),
    "number sealed again": (lambda line: [reseal(line, b'"seq":', b'"seq":7')], "RESEALED"),
    "white space": (lambda line: [line.replace(b'"v":1', b'"v": 1')], "NOT_CANONICAL"),
    "form and content": (
        lambda line: [line.replace(b'"author":"', b'"author":"x') + b"\r"],
        "NOT_CANONICAL HEAD_ALTERED",
    ),
    "gone": (lambda line: [], "MISSING_LINES"),
    "twice": (lambda line: [line, line], "DUPLICATE_LINE+1"),
    "fork": (lambda line: [line, forge(line)], "FORKED+1 DUPLICATE_ID+1"),
    "empty": (lambda line: [b""], "NOT_CANONICAL"),
    "no line": (lambda line: [b"rubbish"], "MALFORMED"),
    "too long": (lambda line: [b" " * LINE_BYTES_MAX + line], "MALFORMED"),
}
REST = " ".join(f"WRONG_LEDGER:{line}" for line in range(2, 10))
ELSEWHERE = {
    # (edit, line): what is found alone, and by who holds the root of the whole
    ("time sealed again", 1): ("RESEALED:1", "RESEALED:1"),
    ("ledger sealed again", 1): (f"RESEALED:1 GENESIS_MISMATCH:1 {REST}",) * 2,
    ("chain sealed again", 1): ("RESEALED:1 GENESIS_MISMATCH:1",) * 2,
    ("gone", 1): ("MISSING_LINES:1", "MISSING_LINES:1 TRUNCATED:9"),
    ("gone", 5): ("MISSING_LINES:5", "MISSING_LINES:5 TRUNCATED:9"),
    ("gone", 9): ("", "TRUNCATED:9"),
    # Nothing follows the last line, so that nothing but an anchor tells what was sealed.
    ("seal", 9): ("HEAD_ALTERED:9", "SEAL_ALTERED:9"),
    ("head sealed again", 9): ("", "HISTORY_REWRITTEN:9"),
    ("time sealed again", 9): ("TIME_REGRESSION:9", "TIME_REGRESSION:9 HISTORY_REWRITTEN:9"),
    ("ledger sealed again", 9): ("WRONG_LEDGER:9", "WRONG_LEDGER:9 HISTORY_REWRITTEN:9"),
    ("chain sealed again", 9): ("RESEALED:8", "RESEALED:9"),
    ("number sealed again", 9): ("RESEALED:9", "RESEALED:9 HISTORY_REWRITTEN:9"),
}


@WITH_EVIDENCE
@pytest.mark.parametrize("line", [1, 5, 9])
@pytest.mark.parametrize("name", EDITS)
def test_what_is_done_to_a_line_is_named(
    make_log: Any, name: str, line: int, *, is_held: bool
) -> None:
    log = make_log(9)
    edit, codes = EDITS[name]
    mutant = [*log.lines[: line - 1], *edit(log.lines[line - 1]), *log.lines[line:]]
    usual = [f"{code.removesuffix('+1')}:{line + code.endswith('+1')}" for code in codes.split()]
    expected = ELSEWHERE.get((name, line), (" ".join(usual),) * 2)[is_held]
    check(mutant, expected, anchors=[log.anchor] if is_held else [])


# -- the log as a whole ----------------------------------------------------------------------------


@WITH_EVIDENCE
@pytest.mark.parametrize(
    ("old", "new", "follow", "alone", "with_evidence"),
    [
        (b'"seq":4,', b'"seq":9,', bytes.replace, "RESEALED:5 HEAD_ALTERED:6", True),
        (b'"seq":4,', b'"seq":9,', reseal, "REORDERED:5 MISSING_LINES:5 RESEALED:6", False),
        (b'"author":"', b'"author":"x', bytes.replace, "HEAD_ALTERED:6", True),
        (b'"author":"', b'"author":"x', reseal, "RESEALED:6", True),
    ],
)
def test_a_line_that_was_changed_to_follow_one_that_was_sealed_again_is_named(
    make_log: Any,
    old: bytes,
    new: bytes,
    follow: Any,
    alone: str,
    *,
    with_evidence: bool,
    is_held: bool,
) -> None:
    log = make_log(9)
    lines = list(log.lines)
    lines[4] = reseal(lines[4], old, new)
    seal_before, seal = split_line(log.lines[4]).seal, split_line(lines[4]).seal
    lines[5] = follow(lines[5], b'"prev":"' + seal_before, b'"prev":"' + seal)
    rewritten = " HISTORY_REWRITTEN:9" if with_evidence and is_held else ""
    check(lines, alone + rewritten, anchors=[log.anchor] if is_held else [])


WHOLE: Mapping[str, tuple[Callable[[list[bytes]], list[bytes]], str, str]] = {
    "intact": (lambda lines: lines, "", ""),
    "nothing": (lambda lines: [], "", "TRUNCATED:1"),
    "the end cut off": (lambda lines: lines[:6], "", "TRUNCATED:7"),
    "swapped": (
        lambda lines: [*lines[:3], *lines[5:2:-1], *lines[6:]],
        "REORDERED:4",
        "REORDERED:4",
    ),
    "some later, some never": (
        lambda lines: [*lines[:2], *lines[5:], lines[3]],
        "REORDERED:3 MISSING_LINES:3",
        "REORDERED:3 MISSING_LINES:3 TRUNCATED:8",
    ),
    "twice, long after": (lambda lines: [*lines, lines[2]], *["DUPLICATE_LINE:10"] * 2),
    "its place taken by rubbish": (
        lambda lines: [*lines[:2], b"?", *lines[3:], lines[2]],
        *["MALFORMED:3 REORDERED:10"] * 2,
    ),
    "two faults": (
        lambda lines: [lines[0], b"", *lines[2:7], lines[8]],
        "NOT_CANONICAL:2 MISSING_LINES:8",
        "NOT_CANONICAL:2 MISSING_LINES:8 TRUNCATED:9",
    ),
    "all altered": (
        lambda lines: [line.replace(b'"author":"', b'"author":"x') for line in lines],
        *[" ".join(f"HEAD_ALTERED:{line}" for line in range(1, 10))] * 2,
    ),
}


@WITH_EVIDENCE
@pytest.mark.parametrize("name", WHOLE)
def test_what_is_done_to_a_log_is_named(make_log: Any, name: str, *, is_held: bool) -> None:
    log = make_log(9)
    damage, *expected = WHOLE[name]
    check(damage(list(log.lines)), expected[is_held], anchors=[log.anchor] if is_held else [])


def test_a_part_is_held_to_the_head_that_it_begins_with(make_log: Any) -> None:
    log, stranger = make_log(9), make_log(9, offset=50)
    head = log.heads[5]
    check(list(log.lines[5:]), "", start=head)
    check([], "", start=head)
    check(list(log.lines[6:]), "MISSING_LINES:6", start=head)
    check(list(log.lines[5:]), "TIME_REGRESSION:6 HISTORY_REWRITTEN:6", start=stranger.heads[5])
    foreign = "WRONG_LEDGER:1 MISSING_LINES:1 WRONG_LEDGER:2 WRONG_LEDGER:3 WRONG_LEDGER:4"
    check(list(log.lines[5:]), foreign, start=TreeHead.empty(OTHER_LEDGER))
    unproven = [(5, bytes(32)), log.anchor]
    check(list(log.lines[5:]), "HISTORY_REWRITTEN:5", start=head, anchors=unproven)


def test_a_log_is_held_to_every_root_and_to_its_ledger(make_log: Any) -> None:
    log = make_log(9)
    lines = list(log.lines)
    check(lines, f"WRONG_LEDGER:1 GENESIS_MISMATCH:1 {REST}", ledger=OTHER_LEDGER)
    check(lines, "HISTORY_REWRITTEN:9", anchors=[(9, bytes(32)), log.anchor])
    check(lines, "HISTORY_REWRITTEN:7", anchors=[(7, bytes(32)), log.root(5)])
