"""Every operation that reads is measured at its worst by `benchmarks/bench_units.py`."""

import importlib.util
from pathlib import Path
from typing import Any

from svc_core import catalog

PATH = Path(__file__).parents[2] / "benchmarks" / "unit_reads.py"


def _module() -> Any:
    spec = importlib.util.spec_from_file_location("unit_reads", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_operation_that_reads_has_its_place_in_the_table() -> None:
    reads = _module()
    assert reads.missing_reads() == set()
    operations = {op.id: op for op in (*catalog.OPERATIONS, *catalog.LOCAL_OPERATIONS)}
    names = [name for names in reads.READS.values() for name in names.split()]
    assert {*names} | reads.ELSEWHERE <= operations.keys()
    assert len(names) == len({*names})


def test_a_list_is_asked_for_its_longest_page_with_all_that_it_may_include() -> None:
    reads = _module()
    (subjects,) = (op for op in catalog.OPERATIONS if op.id == "listSubjects")
    first, *others = reads.queries(subjects)
    assert first == {"limit": "100", "include": "history,segments"}
    assert first | {"designator": "lei:5493001KJTIIGC8Y1R12"} in others
