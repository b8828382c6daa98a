"""The fold and its slow oracle say the same of every history, at every time (P16)."""

from typing import Any

from hypothesis import given

from svc_core.testing.ledger_kit import folds
from svc_core.testing.ledger_kit import history_strategies as histories
from tests.sampling import examples


@examples(100)
@given(history=histories.histories())
def test_the_fold_equals_a_sweep_from_the_newest_record(oracle: Any, history: Any) -> None:
    folds.check_agreement(folds.core, oracle, history)
