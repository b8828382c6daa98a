"""The content of a report's HTML page, in reading order; the host renders the markup.

Rule 1: every source is marked in the text or stands under "also reported by".
Rule 2: only http(s) addresses are links; any other is left out.
Rule 3: words of strangers stand on one line, without characters that would turn the direction of
        the words around them: controls, embeddings, overrides and isolates (UAX #9).
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol
from urllib.parse import quote

import attrs
from attrs import frozen

from svc_core.base.unset import Unset
from svc_core.base.views import reshape
from svc_core.contract.result import Content
from svc_core.reports.audio import AudioFacet
from svc_core.reports.model import (
    Period,
    ReportFacets,
    ReportRow,
    ReportSignal,
    ReportSource,
    Statement,
    numbers_of,
)
from svc_core.reports.render import is_web_link, reading_seconds, whole_passage

_TURNING = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@frozen
class PageStatement:
    """A sentence with its citations, who also reported it, and who else is on its event."""

    text: str
    citations: tuple[int, ...]
    also: tuple[ReportSource, ...] = ()
    same_event: tuple[ReportSource, ...] = ()


@frozen
class PageSection:
    """One story; its last sentence names its sources that none of them cites."""

    heading: str
    statements: tuple[PageStatement, ...]


@frozen
class PageSignal:
    """What happened, where, and the sentence that says about whom and how sure that is."""

    title: str
    summary: str
    type: str
    direction: str
    statement: str
    occurred_date: str | None
    places: tuple[str, ...]
    citations: tuple[int, ...]


@frozen
class ReportPage:
    """The content of a report's page, in the order of its members.

    `publishers` is None for a report from before they were counted, `signals` for one from before
    they were extracted; `also` are the sources that stand nowhere else.
    """

    id: str
    language: str
    title: str
    period: Period
    generated_at: datetime
    publishers: int | None
    reading_minutes: int
    audio: AudioFacet | None
    opening: tuple[PageStatement, ...]
    notes: tuple[str, ...]
    key_points: tuple[PageStatement, ...]
    sections: tuple[PageSection, ...]
    briefs: tuple[PageStatement, ...]
    signals: tuple[PageSignal, ...] | None
    sources: tuple[ReportSource, ...]
    also: tuple[ReportSource, ...]


class Typesetter(Protocol):
    """Renders a page's content as HTML; the host provides it."""

    def report(self, page: ReportPage) -> Content:
        """The page of a report, with the header fields that belong to it."""


def page_view(row: ReportRow, facets: ReportFacets, audio: AudioFacet | None) -> ReportPage:
    """The content of a report's page."""
    sources = tuple(map(_source, facets.sources))
    parts = [whole_passage(section) for section in facets.sections]
    passages = facets.opening, facets.key_points, facets.briefs
    opening, key_points, briefs = (_page_statements(passage, sources) for passage in passages)
    numbers = {n for passage in (*passages, *parts) for line in passage for n in numbers_of(line)}
    return reshape(
        ReportPage,
        row,
        title=_clean(row.title),
        publishers=None if isinstance(row.counts.publishers, Unset) else row.counts.publishers,
        reading_minutes=-(-reading_seconds(facets.text) // 60),
        audio=audio,
        opening=opening,
        notes=tuple(map(_clean, facets.notes)),
        key_points=key_points,
        sections=tuple(
            PageSection(_clean(section.heading), _page_statements(part, sources))
            for section, part in zip(facets.sections, parts, strict=True)
        ),
        briefs=briefs,
        signals=None if facets.signals is None else tuple(map(_signal, facets.signals)),
        sources=sources,
        also=tuple(source for source in sources if source.number not in numbers),
    )


def _signal(signal: ReportSignal) -> PageSignal:
    return reshape(
        PageSignal,
        signal,
        title=_clean(signal.title),
        summary=_clean(signal.summary),
        type=_clean(signal.type),
        statement=_clean(signal.statement),
        places=tuple(_clean(place.name) for place in signal.places),
    )


def _source(source: ReportSource) -> ReportSource:
    url = source.url if is_web_link(source.url) else None
    return attrs.evolve(
        source,
        title=_clean(source.title),
        name=_clean(source.name),
        url=None if url is None else _TURNING.sub(lambda match: quote(match[0]), url),
    )


def _page_statements(
    statements: Iterable[Statement], sources: Sequence[ReportSource]
) -> tuple[PageStatement, ...]:
    return tuple(
        PageStatement(
            _clean(line.text),
            line.citations,
            _sources_of(line.also_reported_by, sources),
            _sources_of(line.same_event, sources),
        )
        for line in statements
    )


def _sources_of(
    numbers: Sequence[int], sources: Sequence[ReportSource]
) -> tuple[ReportSource, ...]:
    return tuple(source for source in sources if source.number in numbers)


def _clean(words: str) -> str:
    return _TURNING.sub("", " ".join(words.split()))
