"""What a model of meaning adds to the material of a report: likeness, and items that no word finds.

Where the host has no model, or it fails, a report is made of words alone, and says so.
"""

import attrs

from svc_core.intel.news.vectors import likeness
from svc_core.operation.host import Host
from svc_core.operation.units import Units
from svc_core.reports.making import Material, evidence_of, intake_span
from svc_core.search.embeddings import Embedder, NotEmbedded


async def likened(work: Units, host: Host, material: Material) -> Material:
    """The material with how near its items come to the subject, and with those that come near."""
    embedder = host.lends.get(Embedder)
    if embedder is None:
        return material
    ids = [item.id for item in material.evidence]
    window = material.window
    try:
        scores = await likeness(work, embedder, material.profile.topic, ids, intake_span(window))
    except NotEmbedded:  # whoever asked the model has told of it
        return material
    extra = await work.read(material.tenant, lambda ctx: evidence_of(ctx, scores.near, window))
    return attrs.evolve(
        material,
        evidence=(*material.evidence, *extra),
        likeness=scores.values,
        embedding=scores.model,
    )
