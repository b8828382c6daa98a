"""The series that indicators belong to, noted as their values come in."""

from collections.abc import Iterable

from svc_core.operation import Context
from svc_core.resources.finint import FININT_SERIES, Indicator, series_of


async def follow(ctx: Context, rows: Iterable[Indicator]) -> None:
    """Note the series of these rows that are not known yet."""
    told = {one.id: one for one in map(series_of, rows)}
    known = await ctx.tx.documents.get_many(FININT_SERIES, list(told))
    for id_ in told.keys() - known.keys():
        await ctx.tx.documents.put(FININT_SERIES, id_, told[id_])
