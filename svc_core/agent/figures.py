"""Chooses the figures of companies, countries and currencies that a question means."""

import re
from collections.abc import Mapping, Sequence
from functools import cache

import attrs

from svc_core import data
from svc_core.agent import row_facts as facts
from svc_core.agent.agent_ports import ToolHit
from svc_core.agent.listing import extreme_rows
from svc_core.agent.question import ParsedQuestion
from svc_core.agent.row_facts import CitedSentence, figure, quote_text
from svc_core.text.words import term_of

_SHOWN_MAX = 5
_UNIT = re.compile(r"\([^()]*\)")
_HEAD = re.compile(r"[,(:]")  # what follows it in the name of a series tells of its measure


def company_figures(
    company: ToolHit, rows: Sequence[ToolHit], question: ParsedQuestion
) -> list[ToolHit]:
    """The figures of the period that is asked for: a year, a quarter, else the latest year."""
    observations = [_with_title(company, row) for row in rows]
    annual = [row for row in observations if row.row["periodMonths"] in (12, None)]
    span = question.span
    if span is not None and span.parts:
        questions = (attrs.evolve(question, span=part) for part in span.parts)
        return [row for each in questions for row in company_figures(company, rows, each)]
    if span is None:
        if question.is_extreme:
            return extreme_rows(annual, "value", is_least=question.has("least"))[2]
        return (annual or observations)[:1]
    if span.period is None:
        matches = [row for row in annual if span.contains(row.row["periodEnd"])]
        return sorted(matches, key=lambda row: str(row.row["periodEnd"]))[-_SHOWN_MAX:]
    year, _, part = span.period.partition("-")
    spans = observations if part else annual
    ends = [row for row in spans if span.contains(row.row["periodEnd"])]
    target = int(year), part or "FY", 3 if part else 12
    fiscal = [row for row in observations if _fiscal(row) in (target, (*target[:2], None))]
    return (fiscal or ends)[:1]


def of_filings(
    company: ToolHit, rows: Sequence[ToolHit], question: ParsedQuestion
) -> list[ToolHit]:
    """One figure of each filing whose own period is asked for, the latest filing where none is."""
    newest: dict[str, ToolHit] = {}
    spans = [row for row in rows if row.row["periodMonths"] in (3, 12)]
    for row in sorted(spans or rows, key=lambda row: str(row.row["periodEnd"])):
        newest[str(row.row["filing"].get("accession") or row.row["filing"]["filedDate"])] = row
    hits = [_with_title(company, row) for row in newest.values()]
    span = question.span
    if span is None:
        return hits[-1:]
    fiscal = [row for row in hits if str(row.row["fiscalYear"]) == (span.period or "")[:4]]
    ends = [row for row in hits if span.contains(row.row["periodEnd"])]
    return ((fiscal if span.is_fiscal else ends) or ends or fiscal)[-_SHOWN_MAX:]


def _with_title(company: ToolHit, row: ToolHit) -> ToolHit:
    title = f"{company.title}: {facts.in_words(str(row.row['metric']))} {row.row['periodEnd']}"
    return attrs.evolve(row, row={**row.row, "entity": company.title}, title=title)


def _fiscal(row: ToolHit) -> tuple[int | None, str | None, int | None]:
    return row.row["fiscalYear"], row.row["fiscalPeriod"], row.row["periodMonths"]


def series_ends(rows: Sequence[ToolHit], *, is_first: bool, is_full: bool) -> list[ToolHit]:
    """The last value of each series, with the first where `is_first`; all where `is_full`."""
    present = [row for row in rows if row.row["value"] is not None]
    ends: dict[object, list[ToolHit]] = {}
    for row in present:
        ends.setdefault((row.row["name"], str(row.row["area"])), []).append(row)
    if is_full:
        return present
    return [row for series in ends.values() for row in (series[:1] + series[1:][-1:] * is_first)]


def meant_series(rows: Sequence[ToolHit], question: ParsedQuestion) -> tuple[list[ToolHit], float]:
    """The rows of the series that share most words with the question.

    The second item is the share of the question's weight that these do not hold.
    """
    money = len(question.values("currency")) > bool(question.countries or question.has("series"))
    parts = question.with_role("currency" if money else "series")
    groups = [{facts.phrase(part.value), question.phrase[part.start : part.end]} for part in parts]
    is_pair = len(question.values("currency")) > 1
    words = set() if is_pair else set(question.free("indicator")) - question.place_words
    rest = {term_of(question.words[index]) for index in words}
    is_named = bool(money or groups) or question.has("currency")
    is_country = term_of("country") in question.phrase
    lands = [(code, facts.phrase(facts.country_name(code))) for code in question.countries]
    runs, scores = [run for group in groups for run in group], []
    for row in rows:
        own = row.row["area"]["countryCode"]
        phrase = _series_words(f"{row.row['name']} {row.row['indicatorCode']}")
        hits = all(any(facts.is_run_of(run, phrase) for run in group) for group in groups)
        main = _series_words(_UNIT.sub(" ", row.row["name"]))
        hits &= money or not runs or any(facts.is_run_of(run, main) for run in runs)
        head = set(facts.phrase(_HEAD.split(row.row["name"])[0]))
        is_meant = (own or not is_country) and (is_named or 2 * len(head & rest) > len(head))
        if hits and is_meant:
            ends = sum(code != own and facts.is_run_of(run, phrase) for code, run in lands)
            scores.append((len(rest & set(phrase)) + ends, row))
    best = max((overlap for overlap, _ in scores), default=0)
    rows = [row for overlap, row in scores if overlap == best]
    held = set(_series_words(rows[0].row["name"])) if rows else set()
    unheld = [index for index in words if term_of(question.words[index]) not in held]
    return rows, question.weight(unheld) / (question.weight(question.content) or 1.0)


def _series_words(name: str) -> facts.Phrase:
    """The words of the name of a series, and what its abbreviations mean."""
    words = facts.phrase(name)
    return (*words, *(word for key in words for word in _abbreviations().get(key, ())))


@cache
def _abbreviations() -> Mapping[str, facts.Phrase]:
    rows = (facts.phrase(row[1]) for row in data.table_rows("questions.tsv") if row[0] == "short")
    return {words[0]: words for words in rows}


def figure_differences(
    measures: Sequence[facts.Fact], rows: Sequence[ToolHit]
) -> list[CitedSentence]:
    """Compares rows by a number that all state: which is greatest, which least, and by how much."""
    for fact in measures:
        pairs = [(facts.member_or_none(row.row, fact.number), row) for row in rows if fact.number]
        numbers = [(value, row) for value, row in pairs if isinstance(value, int | float)]
        units = {(row.row.get("unit"), row.row.get("currency")) for row in rows}
        is_unclear = len({subject_name(row) for row in rows}) < len(rows)
        if is_unclear or len(numbers) < max(2, len(rows)) or len(units) > 1:
            continue
        (high, first), *_, (low, last) = sorted(numbers, key=lambda pair: -pair[0])
        if high == low:
            return [CitedSentence(f"By the {fact.name} they are equal", tuple(rows))]
        unit = first.row.get("currency") or str(first.row.get("unit") or "").strip("{}")
        by = f"{figure(round(high - low, 10))} {unit}".strip()
        most, least = quote_text(subject_name(first)), quote_text(subject_name(last))
        ends = f"{most} has the most and {least} the least"
        return [CitedSentence(f"By the {fact.name}, {ends}, {by} less", (first, last))]
    return []


def subject_name(hit: ToolHit) -> str:
    """What a row is about: a company, a vulnerability, an area; else its title."""
    row, area = hit.row, hit.row.get("area") or {}
    names = (row.get("entity"), row.get("cveId"), area.get("label"), area.get("code"))
    label = str(next(filter(None, names), hit.title))
    period = row.get("period") or row.get("fiscalYear") or row.get("periodEnd")
    return f"{label} ({period})" if period else label
