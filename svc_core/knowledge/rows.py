"""The query of a knowledge retrieval, and the rows of its answer."""

from datetime import datetime
from typing import Annotated, Final, Literal

from attrs import frozen

from svc_core.base.unset import UNSET, Maybe
from svc_core.operation.members import NOT_BLANK, ProfileId
from svc_core.wire.constraints import Arg, Example, Ge, IdOf, Le, MaxLen, MinLen

Kind = Literal["report", "signal"]
KINDS: Final[tuple[Kind, ...]] = ("report", "signal")
Mode = Literal["hybrid", "lexical", "semantic"]
_PATH = "/api/v1/reports/rpt_65f1c0de8badf00d12345678"


# -- the request -------------------------------------------------------------------------------


@frozen
class RetrievalPeriod:
    """A time; an end that is left out is open."""

    start: Annotated[Maybe[datetime], Example("2026-01-30T00:00:00Z")] = UNSET
    """The first instant of it."""
    end: Annotated[Maybe[datetime], Example("2026-01-31T00:00:00Z")] = UNSET
    """The first instant after it."""


@frozen
class KnowledgeQuery:
    """What is looked for, and among what."""

    query: Annotated[
        str,
        Arg(positional=True),
        MinLen(1),
        MaxLen(1_000),
        NOT_BLANK,
        Example("port strikes in Belgium"),
    ]
    """A question, or words. What `-word` names is left out."""
    kinds: Annotated[tuple[Kind, ...], MinLen(1), MaxLen(2), Example(["report"])] = KINDS
    """Kinds of rows."""
    profile_ids: Maybe[Annotated[tuple[ProfileId, ...], MinLen(1), MaxLen(50)]] = UNSET
    """Only reports of these profiles, and their signals."""
    period: Maybe[RetrievalPeriod] = UNSET
    """Only what `occurredAt` lies in it."""
    limit: Annotated[int, Ge(1), Le(50), Example(10)] = 10
    """Rows at most."""
    mode: Mode = "hybrid"
    """`hybrid` finds by words and by meaning, by words alone where no model is configured."""


# -- the answer --------------------------------------------------------------------------------


@frozen
class Highlight:
    """A run of the excerpt that the question asks for, counted in code points."""

    start: Annotated[int, Ge(0), Example(0)]
    """Its first code point."""
    end: Annotated[int, Ge(0), Example(4)]
    """The first code point after it."""


@frozen
class Excerpt:
    """The part of the text that holds most of what was asked."""

    text: Annotated[str, Example("Port strikes spread to Antwerp.")]
    """A run of the text."""
    highlights: tuple[Highlight, ...]
    """What matched, in order, none within another."""


@frozen
class RetrievalScores:
    """How well a row answers the question."""

    lexical: Annotated[Annotated[float, Ge(0), Le(1)] | None, Example(0.612)]
    """BM25 as a share of all that was asked; null where no word was found."""
    semantic: Annotated[Annotated[float, Ge(-1), Le(1)] | None, Example(None)]
    """The cosine of both meanings; null where it was not looked at or is not near."""
    fused: Annotated[float, Ge(0), Example(0.016393)]
    """The sum of `1 / (60 + rank)` over both ranks."""


@frozen
class RetrievalLinks:
    """Where the row is."""

    self_: Annotated[str, Example(_PATH)]
    """Path of the report or signal."""
    report: Annotated[str | None, Example(_PATH)]
    """Path of the report; null for a signal of sources."""


@frozen
class KnowledgeRow:
    """A report or a signal that was found, and why."""

    kind: Annotated[Kind, Example("report")]
    """What it is."""
    id: Annotated[str, IdOf("rpt", "sig", noun="report or signal")]
    title: Annotated[str, Example("Port strikes: walkouts spread")]
    """Its headline."""
    excerpt: Excerpt
    occurred_at: Annotated[datetime, Example("2026-01-31T07:30:00Z")]
    """The end of a report's period; when a signal was last reported or detected."""
    scores: RetrievalScores
    matched_terms: Annotated[tuple[str, ...], Example(["strikes", "port"])]
    """The words of the question that it holds, the most telling first."""
    links: RetrievalLinks


@frozen
class RetrievalBounds:
    """What one answer looks at, at most."""

    limit: Annotated[int, Ge(1), Example(10)]
    """Rows of the answer."""
    candidates_max: Annotated[int, Ge(1), Example(200)]
    """Rows that are ranked by words."""
    bytes_max: Annotated[int, Ge(1), Example(4_194_304)]
    """Bytes of these rows."""
    milliseconds_max: Annotated[int, Ge(1), Example(10_000)]
    """Time, in milliseconds."""
