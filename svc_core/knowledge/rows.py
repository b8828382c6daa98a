"""The query of a knowledge retrieval, and the rows of its answer."""

from datetime import datetime
from typing import Annotated, Final, Literal

from attrs import frozen

from svc_core.base.unset import UNSET, Maybe
from svc_core.operation.members import NOT_BLANK, ProfileId
from svc_core.wire.constraints import Arg, Doc, Example, Ge, IdOf, Le, MaxLen, MinLen

Kind = Literal["report", "signal"]
KINDS: Final[tuple[Kind, ...]] = ("report", "signal")
Mode = Literal["hybrid", "lexical", "semantic"]
_PATH = "/api/v1/reports/rpt_65f1c0de8badf00d12345678"


# -- the request -------------------------------------------------------------------------------


@frozen
class RetrievalPeriod:
    """A time; an end that is left out is open."""

    start: Annotated[
        Maybe[datetime], Doc("The first instant of it."), Example("2026-01-30T00:00:00Z")
    ] = UNSET
    end: Annotated[
        Maybe[datetime], Doc("The first instant after it."), Example("2026-01-31T00:00:00Z")
    ] = UNSET


@frozen
class KnowledgeQuery:
    """What is looked for, and among what."""

    query: Annotated[
        str,
        Arg(positional=True),
        MinLen(1),
        MaxLen(1_000),
        NOT_BLANK,
        Doc("A question, or words. What `-word` names is left out."),
        Example("port strikes in Belgium"),
    ]
    kinds: Annotated[
        tuple[Kind, ...], MinLen(1), MaxLen(2), Doc("Kinds of rows."), Example(["report"])
    ] = KINDS
    profile_ids: Annotated[
        Maybe[Annotated[tuple[ProfileId, ...], MinLen(1), MaxLen(50)]],
        Doc("Only reports of these profiles, and their signals."),
    ] = UNSET
    period: Annotated[Maybe[RetrievalPeriod], Doc("Only what `occurredAt` lies in it.")] = UNSET
    limit: Annotated[int, Ge(1), Le(50), Doc("Rows at most."), Example(10)] = 10
    mode: Annotated[
        Mode,
        Doc("`hybrid` finds by words and by meaning, by words alone where no model is configured."),
    ] = "hybrid"


# -- the answer --------------------------------------------------------------------------------


@frozen
class Highlight:
    """A run of the excerpt that the question asks for, counted in code points."""

    start: Annotated[int, Ge(0), Doc("Its first code point."), Example(0)]
    end: Annotated[int, Ge(0), Doc("The first code point after it."), Example(4)]


@frozen
class Excerpt:
    """The part of the text that holds most of what was asked."""

    text: Annotated[str, Doc("A run of the text."), Example("Port strikes spread to Antwerp.")]
    highlights: Annotated[
        tuple[Highlight, ...], Doc("What matched, in order, none within another.")
    ]


@frozen
class RetrievalScores:
    """How well a row answers the question."""

    lexical: Annotated[
        Annotated[float, Ge(0), Le(1)] | None,
        Doc("BM25 as a share of all that was asked; null where no word was found."),
        Example(0.612),
    ]
    semantic: Annotated[
        Annotated[float, Ge(-1), Le(1)] | None,
        Doc("The cosine of both meanings; null where it was not looked at or is not near."),
        Example(None),
    ]
    fused: Annotated[
        float, Ge(0), Doc("The sum of `1 / (60 + rank)` over both ranks."), Example(0.016393)
    ]


@frozen
class RetrievalLinks:
    """Where the row is."""

    self_: Annotated[str, Doc("Path of the report or signal."), Example(_PATH)]
    report: Annotated[
        str | None, Doc("Path of the report; null for a signal of sources."), Example(_PATH)
    ]


@frozen
class KnowledgeRow:
    """A report or a signal that was found, and why."""

    kind: Annotated[Kind, Doc("What it is."), Example("report")]
    id: Annotated[str, IdOf("rpt", "sig", noun="report or signal")]
    title: Annotated[str, Doc("Its headline."), Example("Port strikes: walkouts spread")]
    excerpt: Excerpt
    occurred_at: Annotated[
        datetime,
        Doc("The end of a report's period; when a signal was last reported or detected."),
        Example("2026-01-31T07:30:00Z"),
    ]
    scores: RetrievalScores
    matched_terms: Annotated[
        tuple[str, ...],
        Doc("The words of the question that it holds, the most telling first."),
        Example(["strikes", "port"]),
    ]
    links: RetrievalLinks


@frozen
class RetrievalBounds:
    """What one answer looks at, at most."""

    limit: Annotated[int, Ge(1), Doc("Rows of the answer."), Example(10)]
    candidates_max: Annotated[int, Ge(1), Doc("Rows that are ranked by words."), Example(200)]
    bytes_max: Annotated[int, Ge(1), Doc("Bytes of these rows."), Example(4_194_304)]
    milliseconds_max: Annotated[int, Ge(1), Doc("Time, in milliseconds."), Example(10_000)]
