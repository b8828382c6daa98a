"""What a repeated append is answered: the kept answer, without what was erased since."""

from typing import Any

from svc_core import compact, wire
from svc_core.ledger.records import decode
from svc_core.operation import Context

_text = compact.encoder()


async def without_erased(ctx: Context, body: bytes) -> bytes:
    """The kept answer to an append, byte for byte unless content of its records was erased.

    A record without content shows `payload` null here too, as it does in every other view.
    """
    answer: Any = wire.read_json(body)
    rows = answer["data"] if isinstance(answer["data"], list) else [answer["data"]]
    start = rows[0]["seq"]
    records = map(decode, await ctx.tx.ledger.lines(start, start + len(rows)))
    whole = {record.id for record in records if record.payload is not None}
    erased = [row for row in rows if row["id"] not in whole]
    for row in erased:
        row["payload"] = None
    return _text(answer).encode() if erased else body
