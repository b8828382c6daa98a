# ruff: noqa: D102, S101 - a promise is its name and its assertions
"""Promises about answers that are stored for a repeated request."""

from datetime import timedelta
from typing import Any

from svc_core.contract.answer import Answer
from svc_core.operation.ports import PURGED_BYTES, SYSTEM, Transaction
from svc_core.testing.clock import START
from svc_core.testing.promises.bench import ANN, BOB, Mishap, StoreTest, an_answer
from svc_core.testing.sync_store import raises


class AnswerPromises(StoreTest):
    """Promises about answers that are stored for a repeated request."""

    def test_an_answer_is_found_by_tenant_operation_and_key(self) -> None:
        answer = an_answer(b"body")
        self._keep(ANN, "key", answer)
        assert self._answer("key") == answer
        assert self._answer("key", BOB) is None
        assert self._answer("other") is None
        assert self._answer("key", operation="other") is None

    def test_a_newer_answer_replaces_the_older(self) -> None:
        for body in (b"old", b"new"):
            self._keep(ANN, "key", an_answer(body))
        assert self._answer("key") == an_answer(b"new")

    def test_old_answers_of_every_tenant_are_forgotten_oldest_first(self) -> None:
        for minutes, tenant in ((3, ANN), (1, BOB), (2, ANN), (4, BOB)):
            answer = an_answer(b"")._replace(at=START + timedelta(minutes=minutes))
            self._keep(tenant, str(minutes), answer)
        before = START + timedelta(minutes=4)
        assert self._purge(before, 1) == 1
        assert self._answer("1", BOB) is None
        assert self._answer("2") is not None
        assert self._purge(before, 9) == 2
        assert self._purge(before, 9) == 0
        assert self._answer("4", BOB) is not None

    def test_one_purge_forgets_no_more_once_it_was_much(self) -> None:
        large = bytes(PURGED_BYTES // 2)
        for number in range(5):
            answer = an_answer(large)._replace(at=START + timedelta(minutes=number))
            self._keep(ANN, str(number), answer)
        before = START + timedelta(days=1)
        assert [self._purge(before, 9) for _ in range(4)] == [2, 2, 1, 0]

    def test_a_failed_purge_forgets_nothing(self) -> None:
        self._keep(ANN, "key", an_answer(b""))

        async def unit(tx: Transaction) -> None:
            assert await tx.answers.purge(START + timedelta(days=1), limit=9) == 1
            raise Mishap

        with raises(Mishap):
            self.sync.write(SYSTEM, unit)
        assert self._answer("key") is not None

    def _purge(self, before: Any, limit: int) -> int:
        return self.sync.write(SYSTEM, lambda tx: tx.answers.purge(before, limit=limit))

    def test_a_tenant_forgets_nothing_of_others(self) -> None:
        with raises(AssertionError):
            self.sync.write(ANN, lambda tx: tx.answers.purge(START, limit=1))

    def _keep(self, tenant: str, key: str, answer: Answer) -> None:
        self.sync.write(tenant, lambda tx: tx.answers.put("op", key, answer))
