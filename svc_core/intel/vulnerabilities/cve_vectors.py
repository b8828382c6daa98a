"""Embedding vectors of vulnerabilities, so that a question finds them in other words than theirs.

Rule 1: vectors are computed in the background, as those of news are. A process that is killed loses
        at most the batch in hand; rows without a vector are found again.
Rule 2: a vector belongs to one model and to one text, of which its `version` is a checksum: scores
        change a row every day, and its text hardly ever.
Rule 3: a vector is removed with its row. One that is left, as the version before knows of none, is
        no harm: what is found by it is shown only where its row is there.
"""

import zlib
from collections.abc import Sequence

from svc_core.intel.entities.vulnerability import CVES, Cve
from svc_core.intel.folding.kind import RowChange
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.ports import Collection, Position
from svc_core.search.vector_likeness import GAPS_PAGE, Vector, VectorGap, passage

CVE_VECTORS: Collection[Vector] = Collection(
    "cve_vectors", Vector, "ent", lambda vector: micros(vector.taken_at), scope="global"
)


async def cve_vector_gaps(
    ctx: Context, model: str, *, start: int | None = None, after: Position | None = None
) -> tuple[list[VectorGap], Position | None]:
    """What the vulnerabilities of one page lack for this model: vectors without data, each with the
    text that it is made from, and the position after the page.

    Those that a source changed last come first; `start` bounds that time, in microseconds since
    1970.
    """
    page = await ctx.tx.documents.scan(CVES, start=start, after=after, limit=GAPS_PAGE)
    vectors = await ctx.find_many(CVE_VECTORS, [row.id for row in page.rows])
    current = {(vector.id, vector.model, vector.version) for vector in vectors.values()}
    gaps = (_gap(CVES.decode(row.raw), model) for row in page.rows)
    return [gap for gap in gaps if (gap[0].id, model, gap[0].version) not in current], page.end


def _gap(cve: Cve, model: str) -> VectorGap:
    text = passage(cve.title or "", cve.description or "")
    changed_at = cve.modified_at or cve.published_at or cve.updated_at
    return Vector(cve.id, changed_at, model, zlib.crc32(text.encode()), ""), text


async def save_cve_vectors(ctx: Context, rows: Sequence[Vector]) -> None:
    """Store the vectors of those vulnerabilities that were not removed meanwhile."""
    cves = await ctx.find_many(CVES, [vector.id for vector in rows])
    for vector in (vector for vector in rows if vector.id in cves):
        await ctx.save(CVE_VECTORS, vector.id, vector)


async def remove_cve_vectors(ctx: Context, rows: Sequence[RowChange]) -> None:
    """Remove the vectors of vulnerabilities that are removed."""
    for row in rows:
        if row.after is None:
            await ctx.tx.documents.delete(CVE_VECTORS, row.before.id)
