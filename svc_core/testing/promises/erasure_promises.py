# ruff: noqa: D102, S101 - a promise is its name and its assertions
"""Promises about the erasure of what a tenant has beside its rows, a bounded part at a time."""

from itertools import pairwise
from typing import Any

from svc_core.operation.ports import FeedPosition, Transaction
from svc_core.testing.promises.bench import ANN, BOB, Mishap, StoreTest, an_answer
from svc_core.testing.sealed_lines import a_line, growth
from svc_core.testing.sync_store import a_change, raises

_LINES = 257
"""So many complete a node of the tree."""


class ErasurePromises(StoreTest):
    """Promises about the erasure of what a tenant has beside its rows."""

    def test_all_of_one_tenant_goes_in_steps_and_nothing_of_others(self) -> None:
        for tenant in (ANN, BOB):
            self._sow(tenant)
        bob, sizes = self._remains(BOB), [self._sizes()]
        while self._erase(100):
            sizes.append(self._sizes())
        assert self._remains(BOB) == bob
        assert sizes[-1] == (0, 0, 0, 0, 0)
        for before, after in pairwise(sizes):
            assert all(0 <= old - new <= 100 for old, new in zip(before, after, strict=True))
        assert len(sizes) > _LINES // 100

    def test_a_failed_erasure_erases_nothing(self) -> None:
        self._sow(ANN)
        before = self._remains(ANN)

        async def unit(tx: Transaction) -> None:
            while await tx.erase(100):
                continue
            raise Mishap

        with raises(Mishap):
            self.sync.write(ANN, unit)
        assert self._remains(ANN) == before

    def test_a_tenant_may_begin_anew_after_its_erasure(self) -> None:
        self._sow(ANN)
        before = self._remains(ANN)

        async def unit(tx: Transaction) -> None:
            while await tx.erase(100):
                continue

        self.sync.write(ANN, unit)
        self._sow(ANN)
        assert self._remains(ANN) == before

    def test_a_reading_unit_erases_nothing(self) -> None:
        with raises(AssertionError):
            self.sync.read(ANN, lambda tx: tx.erase(1))

    def _erase(self, limit: int) -> bool:
        return self.sync.write(ANN, lambda tx: tx.erase(limit))

    def _sow(self, tenant: str) -> None:
        lines = [a_line(seq, f"{seq:028}", keys=(f"k:{seq}",)) for seq in range(_LINES)]
        self.sync.seal(tenant, growth(0, lines))

        async def unit(tx: Transaction) -> None:
            for number in range(3):
                await tx.changes.append(a_change(f"c{number}"))
                await tx.answers.put("op", str(number), an_answer(b"body"))
                await tx.ledger.keep_checkpoint(f"2026-01-0{number + 1}", number, b"text")

        self.sync.write(tenant, unit)

    def _remains(self, tenant: str) -> list[Any]:
        async def look(tx: Transaction) -> list[Any]:
            return [
                await tx.changes.read(FeedPosition(), limit=999),
                [await tx.answers.get("op", str(number)) for number in range(3)],
                await tx.ledger.lines(0, 999),
                await tx.ledger.index(None, 999),
                (await tx.ledger.head(), await tx.ledger.end()),
                (await tx.ledger.checkpoints(), await tx.ledger.hashes(8, 0, 9)),
            ]

        return self.sync.read(tenant, look)

    def _sizes(self) -> tuple[int, ...]:
        feed, answers, lines, keys, _, (checkpoints, nodes) = self._remains(ANN)
        answers = [answer for answer in answers if answer is not None]
        return (*map(len, (feed.changes, answers, lines, keys)), len(checkpoints) + len(nodes))
