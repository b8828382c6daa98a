"""The operation that retrieves knowledge (Spec: Global knowledge)."""

from typing import Annotated, Any

from attrs import frozen

from svc_core import wire
from svc_core.base.unset import or_default
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Page
from svc_core.knowledge.retrieval import retrieval_bounds, retrieve
from svc_core.knowledge.rows import KnowledgeQuery, KnowledgeRow, RetrievalPeriod
from svc_core.operation.declaration import BODY, Operation, declare
from svc_core.operation.units import WorkContext


@frozen
class RetrieveKnowledge:
    """A question to the knowledge."""

    body: Annotated[KnowledgeQuery, BODY]


async def retrieve_knowledge(ctx: WorkContext, request: RetrieveKnowledge) -> Page[KnowledgeRow]:
    """The reports and signals that answer a question best, by words and, where a model of meaning
    is configured, by meaning: the reports of the workspace and public ones of others, their
    signals, and those of all sources, which are also found by their tags. Scores depend on nothing
    private to others. `meta` says how the rows were found, and how much was searched.
    """
    period = or_default(request.body.period, RetrievalPeriod())
    start, end = or_default(period.start, None), or_default(period.end, None)
    if start is not None and end is not None and start >= end:
        detail = "/period/end: must be after the start"
        raise Problem(problem.VALIDATION_FAILED, detail)
    retrieval = await retrieve(ctx, request.body)
    meta = {"mode": retrieval.mode, "bounds": wire.to_json(retrieval_bounds(request.body))}
    return Page(tuple(map(wire.to_bytes, retrieval.rows)), meta=meta)


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    declare(
        "knowledge retrieve",
        "POST /intel/knowledge/retrieve",
        "Retrieve knowledge",
        retrieve_knowledge,
        version="2.0",
        scopes=frozenset({"intel:knowledge"}),
        columns=("kind", "id", "title", "occurredAt", "scores.fused"),
        examples={"body": {"query": "port strikes", "kinds": ["report", "signal"], "limit": 10}},
    ),
)
