"""The search index of signals from public sources, which all tenants share."""

from collections.abc import Iterable, Sequence
from typing import Final

from svc_core.intel.signals.model import Signal
from svc_core.operation.context import Context
from svc_core.search.indexing import Index, text_row

SIGNAL_INDEX: Final = Index.of("global", "signal")
"""The index that all tenants share; a tenant's own signals stand in the index of its reports."""


async def index_signals(
    ctx: Context, signals: Iterable[Signal], gone_ids: Iterable[str] = ()
) -> None:
    """Index these signals; dismissed ones and those with `gone_ids` are removed from the index."""
    rows = {signal.id: signal for signal in signals}
    texts = [
        text_row(
            "signal",
            row.id,
            (row.title, text_with_tags(row.summary or "", row.tags)),
            row.detected_at,
        )
        for row in rows.values()
        if row.status != "dismissed"
    ]
    await SIGNAL_INDEX.write(ctx, texts, [*rows, *gone_ids])


def text_with_tags(summary: str, tags: Sequence[str]) -> str:
    """The text of a signal for search: its summary, then its tags."""
    return f"{summary}\n{', '.join(tags)}".strip()
