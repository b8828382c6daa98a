"""Every operation is measured at its worst by `benchmarks/bench_units.py`, or says why not."""

import importlib
from pathlib import Path
from typing import Any

import pytest

from svc_core import catalog

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def _module(monkeypatch: pytest.MonkeyPatch, name: str) -> Any:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module(name)


def test_every_operation_that_writes_has_a_case(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _module(monkeypatch, "bench_units").missing_operations() == set()


def test_every_operation_that_reads_has_its_place_in_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads = _module(monkeypatch, "unit_reads")
    assert reads.missing_reads() == set()
    operations = {op.id: op for op in (*catalog.OPERATIONS, *catalog.LOCAL_OPERATIONS)}
    names = [name for names in reads.READS.values() for name in names.split()]
    assert {*names} | reads.ELSEWHERE <= operations.keys()
    assert len(names) == len({*names})


def test_a_list_is_asked_for_its_longest_page_with_all_that_it_may_include(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads = _module(monkeypatch, "unit_reads")
    (subjects,) = (op for op in catalog.OPERATIONS if op.id == "listSubjects")
    first, *others = reads.queries(subjects)
    assert first == {"limit": "100", "include": "history,segments"}
    assert first | {"designator": "lei:5493001KJTIIGC8Y1R12"} in others
