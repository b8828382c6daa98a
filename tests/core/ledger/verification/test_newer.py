"""A record that a newer program sealed is told as such, and is not read as something else."""

import pytest

from svc_core.ledger.log.record_seals import seal_of
from svc_core.ledger.records import split_line
from svc_core.ledger.verify.log_verification import verify_log
from svc_core.testing.ledger_kit import history_strategies as histories


@pytest.mark.parametrize(
    ("version", "digits"),
    [
        (b"2", "The record is of version 2, and this program reads version 1; use a newer one."),
        (b"12", "The record is of version 12, and this program reads version 1; use a newer one."),
        (b"x", "The head does not follow its grammar."),
    ],
)
def test_a_record_of_a_newer_version_is_refused_with_its_version(
    version: bytes, digits: str
) -> None:
    *lines, last = histories.new_history(2).lines
    head = split_line(last).head
    newer = head.replace(b'"v":1', b'"v":' + version)
    mutant = last.replace(head, newer).replace(split_line(last).seal, seal_of(newer).encode())

    outcome = verify_log([*lines, mutant])

    assert not outcome.ok
    assert outcome.first_fault is not None
    assert (outcome.first_fault.code, outcome.first_fault.detail) == ("MALFORMED", digits)
