"""Proposes entities that may be duplicates of one entity, with score and reasons; merges nothing.

Pairs that the operator declared distinct (`svc entities distinct`) are never proposed.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Any

from attrs import frozen

from svc_core.intel.entities.model import ENTITIES, EntityType
from svc_core.intel.entities.settlement import distinct_from
from svc_core.intel.linking.matching import NameMatch, Party, party
from svc_core.intel.linking.screening import Screening, index_tokens
from svc_core.operation.context import Context
from svc_core.operation.members import EntityId, Share
from svc_core.wire.constraints import Example

MATCHES_MAX = 10
_NEAR = 100  # rows that share the most telling words with an entity
_TERMS_MAX = 60  # words of its names that these are sought by
_WEIGHT = 1_000  # weights of words are handed to the store in thousandths


@frozen
class Candidate:
    """An entity that may be meant, and what speaks for it."""

    entity_id: EntityId
    name: Annotated[str, Example("Microsoft Corporation")]
    """As its row names it."""
    type: Annotated[EntityType, Example("company")]
    """What it is."""
    score: Annotated[Share, Example(0.94)]
    """How alike both are."""
    features: Mapping[str, float]
    """What it is the sum of, within 0 and 1."""
    reasons: tuple[str, ...]
    """The same in words."""


def candidate(id_: str, party: Party, match: NameMatch) -> Candidate:
    """The candidate that a match describes."""
    type_: Any = party.type  # that of a row
    name = next(iter(party.names.spellings), id_)
    return Candidate(id_, name, type_, match.score, match.features, match.reasons)


async def candidates_of(ctx: Context, row: bytes) -> tuple[Candidate, ...]:
    """The entities that may be the same as a stored one, the likest first."""
    facts: dict[str, Any] = json.loads(row)
    if not facts.keys().isdisjoint(("cveId", "cve")):
        return ()  # its id says who it is
    own_ids = {facts["id"], *facts["mergedIds"]}
    query = party(facts)
    terms = sorted(index_tokens(query).items(), key=lambda term: (-term[1], term[0]))[:_TERMS_MAX]
    weights = {term: round(weight * _WEIGHT) or 1 for term, weight in terms}
    if not weights:
        return ()
    neighbours = await ctx.tx.documents.search(ENTITIES, weights, limit=_NEAR)
    excluded_ids = own_ids | await distinct_from(ctx, own_ids)
    screening = Screening([query])
    for document in neighbours.rows:
        if document.id not in excluded_ids:
            screening.offer(document.id, party(json.loads(document.raw)))
    return tuple(candidate(*match) for match in screening.candidates(0, MATCHES_MAX))
