"""Adds semantic similarity to the material of a report: scores, and items that share no word.

Where the host has no embedding model, or it fails, or the items have no vectors yet, a report rests
on words alone and says so (`ReportRow.method`).
"""

import attrs

from svc_core.intel.news.vectors import item_likeness
from svc_core.operation.host import Host
from svc_core.operation.units import Units
from svc_core.reports.composition import Material, evidence_of, intake_span
from svc_core.search.vector_likeness import NEAR_MAX, Embedder, NotEmbedded
from svc_core.text.query import Query


async def with_likeness(work: Units, host: Host, material: Material) -> Material:
    """The material with further similar items, and how similar all are to the subject or its parts.

    Of a subject of parts as many further items are read as of another: the nearest of each.
    """
    embedder = host.providers.get(Embedder)
    if embedder is None:
        return material
    ids = [item.id for item in material.evidence]
    window, profile = material.window, material.profile
    parts = Query.of(profile.topic, profile.keywords, profile.language).part_texts
    texts = (profile.topic, *parts)
    try:
        scores = await item_likeness(work, embedder, texts, ids, intake_span(window))
    except NotEmbedded:  # the embedder has logged the failure
        return material
    if scores is None:
        return material
    near = dict.fromkeys(id_ for row in scores for id_ in row.near[: NEAR_MAX // len(texts)])
    extra = await work.read(material.tenant, lambda ctx: evidence_of(ctx, [*near], window))
    return attrs.evolve(
        material,
        evidence=(*material.evidence, *extra),
        nearness=scores[0].values,
        by_part={text: row.values for text, row in zip(parts, scores[1:], strict=True)},
        embedding=scores[0].model if scores[0].values else None,
    )
