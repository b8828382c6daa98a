"""Streams the changes of a workspace to the open pages of a person: one stream a browser."""

from datetime import datetime
from typing import Any, Final

import attrs

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.context import Context
from svc_core.operation.declaration import SSE, Operation
from svc_core.operation.ports import Transaction
from svc_http.dashboard import security
from svc_http.dashboard.desk import Desk, Request
from svc_http.dashboard.visitors import visitor_of
from svc_http.exchange.flow import Flow
from svc_http.exchange.sending import encode_fields

POOL: Final = "person"


async def stream_changes(
    desk: Desk, feed: Operation[Any, Any], head: Operation[Any, Any], after: str
) -> None:
    """Answer with the feed as an event stream, until the session or the role ends.

    It begins after the watermark `after`, or, without one, at the present `head` of the feed.

    Raises:
        Problem: OVERLOADED, or whatever refuses the operation.
    """
    office, exchange, person = desk.office, desk.exchange, desk.person
    position = exchange.header("last-event-id") or after
    if not position:
        position = (await desk.read(head))["watermark"]
    request = Request(query={"tail": "true", "after": position})
    execution = desk.execution(feed, request, accept=SSE.media_type)
    reply = await execution.reply()
    if reply.stream is None:
        raise AssertionError("the feed comes as a stream where that is asked for")

    def context(tx: Transaction, now: datetime) -> Context:
        return attrs.evolve(execution, now=now).context(tx)

    async def still() -> None:
        visitor = await visitor_of(office, exchange, renews=False)
        if visitor is None or person.home not in visitor.person.homes:
            raise Problem(problem.FORBIDDEN, "The session or the role has ended.")

    fields = [
        *security.page_fields(None, is_secret=True),
        (b"content-type", SSE.media_type.encode()),
        *encode_fields(reply.headers),
        exchange.id_header,
    ]
    holders = {"session": person.session_id, "workspace": execution.actor.tenant}
    await Flow(
        exchange=exchange,
        stream=reply.stream,
        watch=office.watch(execution.actor.tenant, context),
        begin=lambda: exchange.begin(reply.status, fields),
        room=office.streams[POOL].room(**holders),
        check_access=still,
        drain=office.drain,
        origin=office.settings.origin,
    ).run()
