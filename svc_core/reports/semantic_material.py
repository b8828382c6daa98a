"""Adds semantic similarity to the material of a report: scores, and items that share no word.

Where the host has no embedding model, or it fails, or the items have no vectors yet, a report rests
on words alone and says so (`ReportRow.method`).
"""

import attrs

from svc_core.intel.news.vectors import item_likeness
from svc_core.operation.host import Host
from svc_core.operation.units import Units
from svc_core.reports.composition import Material, evidence_of, intake_span
from svc_core.search.vector_likeness import Embedder, NotEmbedded


async def with_likeness(work: Units, host: Host, material: Material) -> Material:
    """The material with its items' similarity to the subject, and with further similar items."""
    embedder = host.providers.get(Embedder)
    if embedder is None:
        return material
    ids = [item.id for item in material.evidence]
    window = material.window
    try:
        scores = await item_likeness(
            work, embedder, material.profile.topic, ids, intake_span(window)
        )
    except NotEmbedded:  # the embedder has logged the failure
        return material
    if scores is None:
        return material
    extra = await work.read(material.tenant, lambda ctx: evidence_of(ctx, scores.near, window))
    return attrs.evolve(
        material,
        evidence=(*material.evidence, *extra),
        nearness=scores.values,
        embedding=scores.model if scores.values else None,
    )
