"""The operation that reads the fusion of one company in one time window."""

from datetime import UTC, date, datetime, time
from hashlib import sha256
from typing import Annotated, Any

from attrs import frozen

from svc_core.base import compact
from svc_core.base.instants import Interval
from svc_core.base.unset import UNSET, Maybe, Unset, or_default
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import PagedResource, Single
from svc_core.intel.entities import directory
from svc_core.intel.entities.model import ENTITIES
from svc_core.intel.folding.read_declarations import EXPLORER, workspace_reading
from svc_core.intel.fusion.model import Fusion
from svc_core.intel.fusion.parts import FirmWindow, fusion_of
from svc_core.intel.fusion.rules import LAG_MAX, ROWS_MAX, fusion_page
from svc_core.operation.context import Context
from svc_core.operation.declaration import PATH, QUERY, In, Operation
from svc_core.operation.members import Cursor, EntityId, PageLimit
from svc_core.operation.period import TimeFilter
from svc_core.operation.ports import Position
from svc_core.wire.constraints import Example, Ge, Le

LAG_LIMIT = 36_500  # days that a caller may have linked: a century, which is all there is
_text = compact.compact_encoder()


@frozen
class GetFusion:
    """What is known of one company together."""

    entity_id: Annotated[EntityId, PATH]
    datetime: TimeFilter = UNSET
    from_: Annotated[Maybe[date], In("query", "from"), Example("2025-01-01")] = UNSET
    """From this day on; default: from the beginning."""
    to: Annotated[Maybe[date], QUERY, Example("2025-12-31")] = UNSET
    """Up to this day; default: today."""
    max_lag: Annotated[Maybe[int], QUERY, Ge(0), Le(LAG_LIMIT), Example(30)] = UNSET
    """The most days between the two dates of a `temporal` link. Default: 120."""
    limit: PageLimit = UNSET
    """Rows of `timeline` and `links` in one page. Default: all."""
    cursor: Cursor = UNSET


async def get_fusion(ctx: Context, request: GetFusion) -> Single[Fusion] | PagedResource[Fusion]:
    """What vulnerabilities, the catalogue of exploited ones, filings, figures, markets and news
    tell of one company in a window, on one timeline, with what joins the rows. `coverage` tells
    which parts were read. Links of type `temporal` tell the days between two dates and claim no
    cause. `exposure` is a weighted mean whose components are shown; it is null where no
    vulnerabilities or no catalogue were read. With `limit` or `cursor` the timeline, then the links
    come in pages, each row once.

    Raises:
        Problem: NOT_FOUND; CONFLICTING_PARAMETERS for `datetime` with days; INVALID_PARAMETER
            where the window ends before it starts; INVALID_CURSOR.
    """
    window = window_of(request, ctx.now)
    entity = await ctx.load(ENTITIES, (await directory.answering_row(ctx, request.entity_id)).id)
    period = f"{request.datetime} {request.from_} {request.to} {request.max_lag}"
    binding = ctx.list_binding({"entity": (entity.id,), "window": (period,)})
    after = ctx.open_cursor(request.cursor, binding)
    firm = await FirmWindow.of(ctx, window, entity)
    fusion = await fusion_of(firm, or_default(request.max_lag, LAG_MAX))
    if isinstance(request.limit, Unset) and after is None:
        raw = _text(fusion).encode()
        return Single(raw, (entity.id, sha256(raw).hexdigest()))
    page, keys, last = fusion_page(
        fusion, after.id if after else "", or_default(request.limit, ROWS_MAX)
    )
    end = None if last is None else Position(0, last)
    rows = tuple(key.encode() for key in keys)
    return PagedResource(rows, ctx.seal_cursor(end, binding), raw=_text(page).encode())


def window_of(request: GetFusion, now: datetime) -> Interval:
    """The time window of a request: whole days by default, so that an answer is the same all day.

    Raises:
        Problem: see `get_fusion`.
    """
    if not isinstance(request.datetime, Unset):
        if not (isinstance(request.from_, Unset) and isinstance(request.to, Unset)):
            raise Problem(
                problem.CONFLICTING_PARAMETERS,
                "datetime: cannot be combined with from or to",
                resolution="Use datetime or from/to, not both.",
            )
        return request.datetime
    last = or_default(request.to, now.date())
    first = or_default(request.from_, None)
    if first is not None and first > last:
        raise Problem(problem.INVALID_PARAMETER, "from: must not be later than to")
    start = None if first is None else datetime.combine(first, time(), UTC)
    return Interval(start, datetime.combine(last, time(23, 59, 59), UTC))


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    workspace_reading(
        "entities fusion",
        "/entities/{entityId}/fusion",
        get_fusion,
        scopes=EXPLORER,
        summary="Read the fusion of a company",
        fails=(problem.CONFLICTING_PARAMETERS,),
        timeless=False,
    ),
)
