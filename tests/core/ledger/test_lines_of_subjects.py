"""The lines of many subjects, no more of them at a time than one may have."""

import pytest

from svc_core.base import drive
from svc_core.base.seals import Keyring
from svc_core.ledger import repository
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.ports import Transaction
from svc_core.testing.clock import START, CountingIds
from svc_core.testing.sealed_lines import a_line, growth
from svc_http.stores import MemoryStorage

Lines = dict[str, tuple[bytes, ...]]


@pytest.mark.parametrize("limit", [3, 4, 5, 6, 7, 100])
@pytest.mark.parametrize("size", [None, 5])
def test_every_subject_comes_once_and_whole(
    monkeypatch: pytest.MonkeyPatch, limit: int, size: int | None
) -> None:
    monkeypatch.setattr(repository, "SUBJECT_LINES_MAX", limit)
    store, about = MemoryStorage(()), "sttsuut"
    lines = growth(0, [a_line(seq, f"r{seq}", subject) for seq, subject in enumerate(about)])
    drive.run(store.write("ann", lambda tx: tx.ledger.append(*lines[:3], expect=0)))

    async def unit(tx: Transaction) -> Lines:
        ctx = Context(START, CountingIds(), Actor("ann"), "", Keyring({1: bytes(32)}, 1), tx=tx)
        names = ("t", "none", "u", "s", "t")
        return {s: lines async for s, lines in repository.lines_of(ctx, names, size=size)}

    visible = about[:size]
    assert drive.run(store.read("ann", unit)) == {
        subject: tuple(line.line for line in lines.lines[: len(visible)] if line.subject == subject)
        for subject in "tus"
        if subject in visible
    }
