"""The kit as its users meet it: its examples pass as they stand, and what fails says which rule."""

import pkgutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

import svc_core.testing
from svc_core.base import drive
from svc_core.testing.ledger_kit import folds, logs
from svc_core.testing.ledger_kit import history_strategies as histories
from svc_core.testing.ledger_kit.folds import core
from svc_core.testing.ledger_kit.machine import LedgerMachine
from svc_core.testing.rules import rule_text
from svc_core.testing.sample import NOTES, SAMPLES, Note
from svc_core.testing.storage_agreement import agreement_machine
from svc_core.testing.storage_contract import StorageContract
from svc_http.stores import MemoryStorage

STRICT = """
from datetime import timedelta
from hypothesis import settings

settings.register_profile("strict", max_examples=3, deadline=timedelta(milliseconds=1))
settings.load_profile("strict")
"""
"""A machine on which everything takes too long: what has no deadline of its own passes."""


def _examples() -> dict[str, str]:
    matches = {}
    for module in pkgutil.walk_packages(svc_core.testing.__path__, "svc_core.testing."):
        doc = import_module(module.name).__doc__ or ""
        lines = [line for line in doc.splitlines() if not line or line.startswith("    ")]
        code = textwrap.dedent("\n".join(lines)).strip()
        if code:
            matches[module.name] = code
    return matches


def test_every_example_of_the_kit_passes_as_it_stands(tmp_path: Path) -> None:
    examples = _examples()
    for name, code in examples.items():
        (tmp_path / f"test_{name.rpartition('.')[2]}.py").write_text(f"{code}\n", "utf-8")
    (tmp_path / "conftest.py").write_text(STRICT, "utf-8")

    process = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert len(examples) == 5
    assert process.returncode == 0, process.stdout[-3_000:]


# -- planted faults ----------------------------------------------------------------------------


class _Part:
    """A room of a transaction whose answers are changed."""

    def __init__(self, room: Any, change: Callable[[Any], Any], *, is_calm: bool) -> None:
        self._room, self._change, self._is_calm = room, change, is_calm

    def __getattr__(self, name: str) -> Any:
        async def call(*args: Any, **how: Any) -> Any:
            try:
                return self._change(await getattr(self._room, name)(*args, **how))
            except Exception:
                if self._is_calm:
                    return self._change(None)
                raise

        return call


class _ChangedStore:
    """A transaction whose rooms have changed answers."""

    def __init__(self, tx: Any, change: Callable[[Any], Any], *, is_calm: bool = False) -> None:
        self._tx, self._change, self._is_calm = tx, change, is_calm
        self.tenant = tx.tenant

    def __getattr__(self, name: str) -> Any:
        return _Part(getattr(self._tx, name), self._change, is_calm=self._is_calm)


class Forgetful(MemoryStorage):
    """Keeps nothing from one unit to the next."""

    async def write(self, tenant: str, unit: Any) -> Any:
        return await MemoryStorage(SAMPLES).write(tenant, unit)


class Careless(MemoryStorage):
    """Keeps what a unit did that failed, and lets units that read write."""

    async def write(self, tenant: str, unit: Any) -> Any:
        failures: list[Exception] = []

        async def rows(tx: Any) -> Any:
            try:
                return await unit(tx)
            except Exception as failure:
                failures.append(failure)

        result = await super().write(tenant, rows)
        if failures:
            raise failures[0]
        return result

    async def read(self, tenant: str, unit: Any) -> Any:
        return await super().write(tenant, unit)


class Blind(MemoryStorage):
    """Takes every tenant for the same one."""

    async def write(self, tenant: str, unit: Any) -> Any:
        return await super().write("ann", unit)

    async def read(self, tenant: str, unit: Any) -> Any:
        return await super().read("ann", unit)


class Pager(MemoryStorage):
    """Loses the last of several rows, and says nothing of it."""

    async def read(self, tenant: str, unit: Any) -> Any:
        return await super().read(tenant, lambda tx: unit(_ChangedStore(tx, _shorter)))


def _shorter(answer: Any) -> Any:
    for name in ("rows", "changes"):
        if hasattr(answer, name):
            return evolve(answer, **{name: getattr(answer, name)[:-1]})
    return answer[:-1] if type(answer) in {tuple, list} else answer


class Mute(MemoryStorage):
    """Answers nothing."""

    async def read(self, tenant: str, unit: Any) -> Any:
        return await super().read(tenant, lambda tx: unit(_ChangedStore(tx, lambda _: None)))

    async def write(self, tenant: str, unit: Any) -> Any:
        return await super().write(tenant, lambda tx: unit(_ChangedStore(tx, lambda _: None)))


class Obliging(MemoryStorage):
    """Refuses nothing, and always has an answer."""

    async def read(self, tenant: str, unit: Any) -> Any:
        return await super().read(tenant, lambda tx: unit(_ChangedStore(tx, str, is_calm=True)))

    async def write(self, tenant: str, unit: Any) -> Any:
        return await super().write(tenant, lambda tx: unit(_ChangedStore(tx, str, is_calm=True)))


FAULTY = (Mute, Obliging, Forgetful, Careless, Blind, Pager)


class _Bench(StorageContract):
    make: Callable[..., Any] = MemoryStorage

    def make_store(self) -> Any:
        return type(self).make(SAMPLES)

    def run(self, coroutine: Any) -> Any:
        return drive.run(coroutine)

    def at_once(self, coroutines: Any) -> list[Any]:
        return [_outcome(row) for row in coroutines]


def _outcome(coroutine: Any) -> Any:
    try:
        return drive.run(coroutine)
    except Exception as failure:
        return failure


def _failure_lines(faulty: type[MemoryStorage], name: str) -> list[str]:
    """What a promise says of a store that breaks it; nothing, where it does not."""
    bench = type("Bench", (_Bench,), {"make": faulty})()
    bench.setup_method()
    try:
        getattr(bench, name)()
    except Exception as failure:
        return [*str(failure).splitlines(), *getattr(failure, "__notes__", ())]
    return []


PROMISES = sorted(name for name in dir(StorageContract) if name.startswith("test_"))


@pytest.mark.parametrize("name", PROMISES)
def test_a_broken_promise_is_named(name: str) -> None:
    fields = [payload for faulty in FAULTY if (payload := _failure_lines(faulty, name))]

    rule = f"broken rule: {rule_text(getattr(StorageContract, name))}"
    assert fields
    for payload in fields:
        assert rule in payload
        assert len(payload) > 1, "and by what it was broken"


def test_a_broken_law_is_named() -> None:
    history = histories.new_history(2)

    def shaky(records: Any, question: Any) -> Any:
        return {**core(records, question), "claims": len(records)}

    with pytest.raises(AssertionError, match=r"^broken rule: P2: a record given twice counts"):
        folds.check_idempotence(shaky, history)
    with pytest.raises(AssertionError, match=r"^broken rule: P29: "):
        logs.check_round_trip(lambda _: history.records[0], lambda _: b"", history)


def test_every_law_is_a_test_of_its_own_that_fails_by_its_name() -> None:
    def wrong(*_: Any) -> Any:
        raise LookupError

    laws = folds.laws(wrong)
    assert len([name for name in dir(laws) if name.startswith("test_")]) == len(folds.CHECKS)
    with pytest.raises(LookupError) as payload:
        laws().test_idempotence()  # type: ignore[attr-defined]
    assert "broken rule: P2: a record given twice counts once." in payload.value.__notes__


def test_stores_that_differ_are_told_with_what_was_asked_of_them() -> None:
    makers = {"memory": lambda: MemoryStorage(SAMPLES), "pager": lambda: Pager(SAMPLES)}
    machine = agreement_machine(makers, drive.run)()
    for sync in machine.stores.values():  # type: ignore[attr-defined]
        sync.put("ann", NOTES, "a", Note("a", ""))

    with pytest.raises(AssertionError, match=r"^broken rule: scan\n(.*\n)?.*pager says"):
        machine.scan("ann", NOTES, narrowing={}, order=None, after=None, limit=6)  # type: ignore[attr-defined]


def test_a_ledger_that_is_not_kept_is_told() -> None:
    class Lost(LedgerMachine):
        make_store = staticmethod(lambda: Pager(()))
        run = staticmethod(drive.run)

    with pytest.raises(AssertionError, match=r"^broken rule: The store holds the lines, byte for"):
        Lost().lines_are_as_sealed()
