"""What is found of the signals of sources, in an index of everybody's."""

from collections.abc import Iterable, Sequence
from typing import Final

from svc_core.intel.signals.model import Signal
from svc_core.operation.context import Context
from svc_core.search.indexing import Index, indexed

SIGNAL_INDEX: Final = Index.of("global", "signal")
"""Everybody's: the signals of sources."""


async def index_signals(ctx: Context, signals: Iterable[Signal]) -> None:
    """Index signals of sources; a dismissed one is removed."""
    rows = {signal.id: signal for signal in signals}
    texts = [
        indexed("signal", row.id, (row.title, tagged(row.summary or "", row.tags)), row.detected_at)
        for row in rows.values()
        if row.status != "dismissed"
    ]
    await SIGNAL_INDEX.write(ctx, texts, rows)


def tagged(summary: str, tags: Sequence[str]) -> str:
    """What a signal says, and what it is about in the words of its tags."""
    return f"{summary}\n{', '.join(tags)}".strip()
