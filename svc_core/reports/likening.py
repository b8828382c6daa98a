"""What a model of meaning adds to the material of a report: likeness, and items that no word finds.

Where the host has no model, or it fails, a report is made of words alone, and says so.
"""

import attrs

from svc_core.intel.news.vectors import likeness
from svc_core.operation.host import Host
from svc_core.operation.units import Units
from svc_core.reports.making import Material, evidence_of, span
from svc_core.search.embeddings import Embedder, NotEmbedded


async def likened(work: Units, host: Host, material: Material) -> Material:
    """The material with how near its items come to the subject, and with those that come near."""
    embedder = host.lends.get(Embedder)
    if embedder is None:
        return material
    named = [item.id for item in material.evidence]
    window = material.window
    try:
        found = await likeness(work, embedder, material.profile.topic, named, span(window))
    except NotEmbedded:  # whoever asked the model has told of it
        return material
    more = await work.read(material.tenant, lambda ctx: evidence_of(ctx, found.near, window))
    return attrs.evolve(
        material,
        evidence=(*material.evidence, *more),
        likeness=found.values,
        embedding=found.model,
    )
