"""The commands for the change feed of a workspace (Spec: Change feed)."""

from attrs import frozen

from svc_core import cursor
from svc_core.changes import operations
from svc_core.changes.render import ResourceType
from svc_core.operation import Context
from svc_core.unset import UNSET
from svc_core.wire import Json
from svc_http.commands import accounts
from svc_http.commands.command import Rows, row, short, table
from svc_http.service import Service


@frozen
class ChangesHead:
    """Whose feed."""

    workspace: str | None = None


@frozen
class ListChanges:
    """The changes after a watermark, or from the beginning."""

    workspace: str | None = None
    after: str | None = None
    types: tuple[ResourceType, ...] = ()
    limit: Rows = 100


async def head(service: Service, args: ChangesHead) -> Json:
    """The watermark after the newest change: where a consumer that wants no past begins."""
    tenant = await accounts.tenant(service, args.workspace)

    async def unit(ctx: Context) -> Json:
        position = await ctx.tx.changes.head()
        mark = cursor.Watermark(await ctx.tx.changes.epoch(), position.everybody, position.own)
        return {"workspaceId": tenant, "watermark": cursor.seal_watermark(mark, tenant)}

    return await service.read(tenant, unit)


async def list_(service: Service, args: ListChanges) -> Json:
    """One page of the feed and the watermark after it."""
    tenant = await accounts.tenant(service, args.workspace)
    asked = operations.ListChanges(
        after=UNSET if args.after is None else args.after,
        types=args.types or UNSET,
        limit=args.limit,
    )
    page = await service.read(tenant, lambda ctx: operations.page(ctx, asked))
    return {
        "data": [row(raw) for raw in page.rows],
        "watermark": page.meta["watermark"],
        "more": page.next_cursor is not None,
    }


COMMANDS = table(
    short("changes head", ChangesHead, head),
    short("changes list", ListChanges, list_),
)
