"""A report for the ear: which of its words are told, and in which order (Spec: audio-text facet).

Headings are told as sentences; sources are counted, never listed; citations are left out.
"""

from svc_core.analysis import speech
from svc_core.reports import render
from svc_core.reports.rules import AudioTextFacet
from svc_core.resources.report import ReportFacets, ReportRow, Statement


def audio_text(row: ReportRow, facets: ReportFacets) -> AudioTextFacet:
    """The report's words prepared for speech synthesis, with their number and duration."""
    text = speech.narrate(_script(row, facets))
    words = render.word_count(text)
    return AudioTextFacet(
        report_id=row.id,
        text=text,
        word_count=words,
        estimated_duration_seconds=speech.seconds(words),
    )


def _script(row: ReportRow, facets: ReportFacets) -> speech.Script:
    sections = tuple(
        words
        for section in facets.sections
        for words in (section.heading, *_texts(section.statements))
    )
    return speech.Script(
        title=row.title,
        start=row.period.start,
        end=row.period.end,
        sources=row.counts.sources,
        language=row.language,
        opening=_texts(facets.opening),
        key_points=_texts(facets.key_points),
        sections=sections,
        briefs=_texts(facets.briefs),
    )


def _texts(statements: tuple[Statement, ...]) -> tuple[str, ...]:
    return tuple(statement.text for statement in statements)
