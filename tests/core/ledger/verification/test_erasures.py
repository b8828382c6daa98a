"""Which records of a part of a log were erased after it: told by sealed lines alone."""

from typing import Any

from svc_core.ledger.append.erasure import LogPart, ids_erased_by
from svc_core.ledger.log.record_seals import seal_of
from svc_core.ledger.records import HEAD, encode_line, split_line


def _member(line: bytes, name: str) -> str:
    match = HEAD.fullmatch(split_line(line).head)
    assert match is not None
    return match[name].decode()


def test_the_subjects_of_lines_that_were_emptied_by_later_ones_are_told(
    make_log: Any, make_erased: Any
) -> None:
    log = make_erased(make_log(9), 4)
    mutant = log.lines[4].replace(b'"subject":"sbj_', b'"subject":"xyz_')
    rubbish = [b"", b"?", b',"payload":null,"seal":"' + b"0" * 66]
    for lines, expected in (
        (log.lines[:9], {_member(log.lines[4], "subject")}),
        (log.lines, set()),
        (log.lines[:4], set()),
        ([mutant, *rubbish], set()),
    ):
        part = LogPart()
        part.take(lines)
        assert part.subjects == expected


def test_only_a_sealed_erasure_from_the_start_on_counts(make_log: Any, make_erased: Any) -> None:
    log = make_erased(make_log(9), 4)
    subject, id_ = _member(log.lines[4], "subject"), _member(log.lines[4], "id")
    *_, erasure = log.lines

    assert ids_erased_by(log.lines, subject, start=9) == {id_}
    assert ids_erased_by(log.lines, subject, start=10) == set()
    assert ids_erased_by(log.lines[:9], subject, start=0) == set()
    assert ids_erased_by([erasure], "sbj_" + "0" * 24, start=9) == set()
    seal = split_line(erasure).seal
    forgery = erasure.replace(seal, seal[::-1])
    assert ids_erased_by([forgery, b"", b"?"], subject, start=0) == set()


def test_a_part_tells_what_was_erased_after_it(make_log: Any, make_erased: Any) -> None:
    log = make_erased(make_log(9), 4)
    id_ = _member(log.lines[4], "id")
    for size, expected in ((4, set()), (5, {id_}), (9, {id_}), (10, set())):
        part = LogPart()
        for line in log.lines[:size]:
            part.take([line])
        assert part.erased == expected, size
    # What is said of it without erasing it tells nothing.
    for op, expected in ((b"erase", set()), (b"amend", {id_})):
        part = LogPart()
        part.take(log.lines[:9])
        head = split_line(log.lines[9]).head.replace(b'"op":"erase"', b'"op":"%b"' % op)
        part.take([encode_line(head, None, seal_of(head))])
        assert part.erased - {_member(log.lines[9], "id")} == expected, op
    rubbish = LogPart()
    rubbish.take([b"", b"?", b',"payload":null' + b"0" * 75, b'"op":"erase"'])
    assert rubbish.erased == set()
