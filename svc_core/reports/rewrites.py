"""Lets a language model rewrite a report's opening and sections, and checks every sentence.

Rule 1: a sentence is kept as far as the items that it cites support it, else the composed one that
        cites them comes in its place (`svc_core.text.citations`). A passage of which nothing is
        kept stays as it was composed.
Rule 2: all else stays: title, key points, numbers of sources, signals, graph, and the digest, by
        which the same evidence is recognised before anything is rewritten.
"""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import attrs

from svc_core.operation.host import Host
from svc_core.operation.writer import INSTRUCTIONS, Writer, prompt_of
from svc_core.reports import render
from svc_core.reports.composition import ComposedReport, Material
from svc_core.reports.model import ReportContent, ReportWords, Statement, numbers_of
from svc_core.text.citations import supported_sentences
from svc_core.text.facts import TextFacts
from svc_core.text.wording import frame

SECTIONS_MAX: Final = 40
"""Sections that are rewritten; of more the last ones stay."""
SENTENCES_MAX: Final = 12
"""Of one passage; the composed ones have at most eight."""

Passage: TypeAlias = tuple[Statement, ...]


async def rewrite_report(host: Host, material: Material, report: ComposedReport) -> ComposedReport:
    """The report with its opening and sections as the host's model rewrites them, if it has one."""
    writer = host.providers.get(Writer)
    passages = _passages(report.facets)
    if writer is None or report.repeats is not None or not passages:
        return report
    texts = await writer.write(
        [
            (INSTRUCTIONS, prompt_of((line.text, line.citations) for line in passage))
            for passage in passages
        ]
    )
    facts = _facts(material, report)
    rewrites = [
        passage if text is None else _supported_passage(passage, text, facts)
        for passage, text in zip(passages, texts, strict=True)
    ]
    return report if rewrites == passages else _with_passages(report, rewrites)


def _passages(words: ReportWords) -> list[Passage]:
    """The passages to rewrite, the opening first; none where no source matched."""
    if not words.sources:
        return []
    sections = words.sections[:SECTIONS_MAX]
    return [words.opening, *(section.statements for section in sections)]


def _facts(material: Material, report: ComposedReport) -> Mapping[int, TextFacts]:
    items = {item.id: item for item in material.evidence}
    return {
        source.number: TextFacts.of(f"{items[source.id].title}\n{items[source.id].text}")
        for source in report.facets.sources
    }


def _supported_passage(passage: Passage, text: str, facts: Mapping[int, TextFacts]) -> Passage:
    """The sentences of a text that the sources of a passage support, each once.

    Sources that are no longer cited stay as those on the same event.
    """
    numbers = [n for line in passage for n in (*line.citations, *line.also_reported_by)]
    quotes = {
        n: TextFacts.of("\n".join(line.text for line in passage if n in line.citations))
        for n in numbers
    }
    sentences = supported_sentences(text, {number: facts[number] for number in numbers}, quotes)
    if all(sentence.is_quoted for sentence in sentences):
        return passage
    lines = {sentence.text: sentence.citations for sentence in sentences}
    statements = [Statement(sentence, citations) for sentence, citations in lines.items()][
        :SENTENCES_MAX
    ]
    marks = {number for line in statements for number in line.citations}
    also = tuple(n for line in passage for n in line.also_reported_by if n not in marks)
    every = dict.fromkeys(n for line in passage for n in numbers_of(line))
    rest = tuple(n for n in every if n not in marks.union(also))
    return (*statements[:-1], attrs.evolve(statements[-1], also_reported_by=also, same_event=rest))


def _with_passages(report: ComposedReport, rewrites: Sequence[Passage]) -> ComposedReport:
    facets, title = report.facets, report.row.title
    opening, *passages = rewrites
    sections = [
        attrs.evolve(section, statements=passage)
        for section, passage in zip(facets.sections, passages, strict=False)
    ]
    words = attrs.evolve(
        facets,
        opening=opening,
        sections=(*sections, *facets.sections[len(sections) :]),
        notes=(*facets.notes, frame(facets.language)["rewritten"]),
    )
    content = ReportContent(render.html_fragment(title, words), render.markdown(title, words))
    text = render.report_text(title, words)
    return attrs.evolve(
        report,
        row=attrs.evolve(report.row, summary=" ".join(statement.text for statement in opening)),
        facets=attrs.evolve(words, content=content, text=text),
    )
