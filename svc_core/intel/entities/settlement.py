"""The operator's decisions that two entities are one, or are distinct.

Rule 1: a decision is stored as a contribution that names both, so it holds in whatever order
        sources are read again; of a pair the last decision counts.
Rule 2: a merge joins nothing that exclusive designators hold apart, and a split parts nothing that
        designators of sources join (`svc_core.intel.folding.row_union`).
"""

from collections.abc import Iterable
from functools import partial
from typing import Annotated, Any, Literal

from attrs import frozen

from svc_core import wire
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Single
from svc_core.formats.reading.entity_keys import EXCLUSIVE
from svc_core.intel.entities import directory, rules
from svc_core.intel.entities.model import ENTITIES, Entity, keys_of
from svc_core.intel.folding import writing
from svc_core.intel.folding.contributions import (
    CONTRIBUTIONS,
    Contribution,
    contribution_id,
    words_digest,
)
from svc_core.intel.folding.identity import contributions_of
from svc_core.intel.folding.model import source_id
from svc_core.operation.context import Context
from svc_core.operation.declaration import Operation, local
from svc_core.operation.members import EntityId
from svc_core.wire.constraints import Arg

PAIRS_MAX = 1_000  # of one entity: what a person may settle of it
OPERATOR = source_id("operator")
"""The source under which the operator's decisions are stored; nothing is read from it."""

Id = Annotated[EntityId, Arg(positional=True)]
Status = Literal["merged", "parted", "distinct"]

# -- requests and answers ----------------------------------------------------------------------


@frozen
class MergeEntities:
    """Two entities that are one."""

    entity_id: Id
    """The entity that is taken up."""
    into_id: Id
    """The entity that takes it up, whose id stays."""


@frozen
class PartEntity:
    """An entity that was merged and is another one."""

    merged_id: Id
    """The id that it had before it was merged."""


@frozen
class DistinguishEntities:
    """Two entities that are not one."""

    entity_id: Id
    """One of them."""
    other_id: Id
    """The entity that it is not."""


@frozen
class Settlement:
    """Two entities and the decision on them; `changed` says whether it is new."""

    id: str
    name: str
    other_id: str | None
    other_name: str | None
    status: Status
    changed: bool


# -- use cases ---------------------------------------------------------------------------------


async def merge_entities(ctx: Context, request: MergeEntities) -> Single[Settlement]:
    """Make two entities one; those that are one already stay as they are.

    Raises:
        Problem: NOT_FOUND; VALIDATION_FAILED for one id twice; RESOURCE_CONFLICT where designators,
            or what was said before, hold them apart.
    """
    row, into = await _pair(ctx, request.entity_id, request.into_id, "/intoId")
    if row.id == into.id:
        return _settled(into, request.entity_id, into.name, "merged", is_new=False)
    distinct = await distinct_from(ctx, keys_of(row))
    if distinct & set(keys_of(into)) and (row.id, into.id) != (request.entity_id, request.into_id):
        detail = (
            f"{row.id} and {into.id} were said to be distinct; if they are not, merge these two"
        )
        raise Problem(problem.RESOURCE_CONFLICT, detail)
    await _save_word(ctx, _word_of(ctx, "merge", into.id, row.id))
    if (await directory.rows_by_id(ctx, [row.id])).get(row.id, into).id != into.id:
        detail = f"{row.id} and {into.id} are told apart: {_difference(row, into)}."
        raise Problem(problem.RESOURCE_CONFLICT, detail)
    return _settled(into, row.id, row.name, "merged", is_new=True)


async def part_entity(ctx: Context, request: PartEntity) -> Single[Settlement]:
    """Undo the merge of an entity; one that stands alone stays as it is.

    Raises:
        Problem: NOT_FOUND; RESOURCE_CONFLICT where others were merged into it, or where sources
            themselves make it one with another.
    """
    row = await _entity(ctx, request.merged_id)
    merges = [c for c in await _words(ctx, [request.merged_id]) if c.pair == "merge"]
    own_merges = [c for c in merges if c.names[1] == request.merged_id]
    if not own_merges and row.id == request.merged_id:
        if merges:
            commands = ", ".join(f"svc entities part {merge.names[1]}" for merge in merges)
            detail = f"Others were merged into {row.id}; to part them: {commands}"
            raise Problem(problem.RESOURCE_CONFLICT, detail)
        return _settled(row, None, None, "parted", is_new=False)
    await writing.write(ctx, rules.KIND, {claim.id: claim for claim in own_merges}, {})
    if not own_merges and row.id != request.merged_id:
        # Rows that only a legal name joins come apart once they are declared distinct.
        await _save_word(ctx, _word_of(ctx, "distinct", *sorted((row.id, request.merged_id))))
    alone = await _entity(ctx, request.merged_id)
    if alone.id == row.id:
        raise Problem(problem.RESOURCE_CONFLICT, await _advice(ctx, row.id, request.merged_id))
    return _settled(alone, row.id, row.name, "parted", is_new=True)


async def distinguish_entities(ctx: Context, request: DistinguishEntities) -> Single[Settlement]:
    """Say that two entities are not one: neither is merged into the other, nor proposed to be.

    Raises:
        Problem: NOT_FOUND; VALIDATION_FAILED for one id twice; RESOURCE_CONFLICT for what is one.
    """
    entity, other_entity = await _pair(ctx, request.entity_id, request.other_id, "/otherId")
    if entity.id == other_entity.id:
        merged_id = next(id_ for id_ in (request.entity_id, request.other_id) if id_ != entity.id)
        detail = f"They are one entity, {entity.id}; first: svc entities part {merged_id}"
        raise Problem(problem.RESOURCE_CONFLICT, detail)
    is_new = await _save_word(ctx, _word_of(ctx, "distinct", *sorted((entity.id, other_entity.id))))
    return _settled(entity, other_entity.id, other_entity.name, "distinct", is_new=is_new)


async def distinct_from(ctx: Context, ids: Iterable[str]) -> frozenset[str]:
    """The ids of entities that the operator declared distinct from the one with these ids."""
    own_ids = frozenset(ids)
    claims = [claim for claim in await _words(ctx, own_ids) if claim.pair == "distinct"]
    return frozenset(name for claim in claims for name in claim.names) - own_ids


# -- the operator's word -----------------------------------------------------------------------


_REF = {"id": OPERATOR, "provider": "operator", "name": "Operator", "url": None, "recordId": None}


def _word_of(ctx: Context, pair: str, first: str, second: str) -> Contribution:
    """The contribution that states a decision; of two merged entities the first keeps its id."""
    key = "+".join(sorted((first, second)))
    return Contribution(
        id=contribution_id(OPERATOR, "entity", key, first),
        row=first,
        source=OPERATOR,
        resource="entity",
        format=pair,
        key=f"operator:{key}",
        digest=words_digest(wire.to_bytes([pair, first, second]), ()),
        said={},
        ref=_REF,
        read_at=ctx.now,
        names=(first, second),
        gone=pair == "distinct",
    )


async def _save_word(ctx: Context, word: Contribution) -> bool:
    """Store a decision; whether it is new."""
    before = await ctx.find(CONTRIBUTIONS, word.id)
    if before is not None and before.digest == word.digest:
        return False
    await writing.write(ctx, rules.KIND, {before.id: before} if before else {}, {word.id: word})
    return True


async def _words(ctx: Context, ids: Iterable[str]) -> list[Contribution]:
    """The operator's decisions on entities with these ids."""
    clause = {"name": tuple(sorted(ids)), "source": (OPERATOR,)}
    page = await ctx.tx.documents.scan(CONTRIBUTIONS, where=clause, limit=PAIRS_MAX)
    return [CONTRIBUTIONS.decode(row.raw) for row in page.rows]


# -- entities ----------------------------------------------------------------------------------


async def _pair(ctx: Context, id_: str, other_id: str, pointer: str) -> tuple[Entity, Entity]:
    if id_ == other_id:
        raise Problem(problem.VALIDATION_FAILED, f"{pointer}: is the same id")
    return await _entity(ctx, id_), await _entity(ctx, other_id)


async def _entity(ctx: Context, id_: str) -> Entity:
    document = (await directory.rows_by_id(ctx, [id_])).get(id_)
    if document is None:
        detail = f"There is no entity {id_}; see: svc entities list"
        raise Problem(problem.NOT_FOUND, detail)
    entity = await ctx.find(ENTITIES, document.id)
    if entity is None:
        raise Problem(problem.RESOURCE_CONFLICT, f"{id_} is a CVE, which goes by its id alone.")
    return entity


def _difference(left: Entity, right: Entity) -> str:
    """The reason why two entities cannot be merged, in words."""
    for scheme, reason in EXCLUSIVE.items():
        left_values, right_values = (
            sorted(item.value for item in entity.designators if item.scheme == scheme)
            for entity in (left, right)
        )
        if left_values and right_values and left_values != right_values:
            return f"{scheme} {', '.join(left_values)} is not {', '.join(right_values)} ({reason})"
    return "one that was merged with them was said to be distinct"


async def _advice(ctx: Context, row: str, id_: str) -> str:
    claims = (await contributions_of(ctx, [row])).values()
    joining = [c for c in claims if id_ in c.names and len(c.names) > 1 and not c.pair]
    sources = sorted({c.source for c in joining})
    return (
        f"Sources give {id_} and {row} one designator, so no operator merged them. To part them, "
        f"correct what they say, or: svc sources remove {' '.join(sources)} --withdraw"
    )


def _settled(
    entity: Entity, other_id: str | None, name: str | None, status: Status, *, is_new: bool
) -> Single[Settlement]:
    return Single(wire.to_bytes(Settlement(entity.id, entity.name, other_id, name, status, is_new)))


# -- declarations ------------------------------------------------------------------------------

_settling = partial(
    local, binding="system", columns=("id", "name", "otherId", "otherName", "status", "changed")
)

LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _settling(
        "entities merge",
        "Make two entities one",
        merge_entities,
        description=(
            "The first becomes part of the second, and both ids answer with that one. It holds "
            "when sources are read again, and is refused where designators show that they are two."
        ),
    ),
    _settling(
        "entities part",
        "Undo the merge of an entity",
        part_entity,
        description="Entities that share designators of their sources stay one.",
    ),
    _settling(
        "entities distinct",
        "Say that two entities are not one",
        distinguish_entities,
        description="They are no longer proposed as one; a later merge of the two undoes this.",
    ),
)
