"""Chooses the figures of companies, countries and currencies that a question means."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from functools import cache
from itertools import chain, pairwise
from typing import Any

import attrs

from svc_core import data
from svc_core.agent import row_facts as facts
from svc_core.agent.agent_ports import ToolHit
from svc_core.agent.listing import extreme_rows
from svc_core.agent.named_rows import run_of
from svc_core.agent.question import ParsedQuestion, has_meaning
from svc_core.agent.row_facts import CitedSentence, figure, quote_text
from svc_core.text.words import split_words, term_of

_SHOWN_MAX, _VALUES_MAX = 5, 12
_YEAR = timedelta(days=366)
_FREQUENCIES = "DWMQA"  # the finest first
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
            return extreme_rows(annual, ["value"], is_least=question.has("least"))[1]
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


def of_concept(
    rows: Sequence[ToolHit], words: Mapping[str, frozenset[str]], least: int
) -> list[ToolHit]:
    """The rows of the concept whose words, most of them, are more than `least` of these words.

    Of several that hold as many, that of the fewest words.
    """
    best: dict[tuple[int, int], list[ToolHit]] = {}
    for row in rows:
        for name in filter(None, (row.row["concept"]["name"], row.row["metric"])):
            own = {*facts.phrase(facts.in_words(name))}
            overlap = sum(not own.isdisjoint(meanings) for meanings in words.values())
            if overlap > least and 2 * overlap > len(own):
                best.setdefault((overlap, -len(own)), []).append(row)
    return best[max(best)] if best else []


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
    name = facts.in_words(row.row["metric"] or row.row["concept"]["name"])
    title = f"{company.title}: {name} {row.row['periodEnd']}"
    return attrs.evolve(row, row={**row.row, "entity": company.title}, title=title)


def _fiscal(row: ToolHit) -> tuple[int | None, str | None, int | None]:
    return row.row["fiscalYear"], row.row["fiscalPeriod"], row.row["periodMonths"]


def period_bounds(question: ParsedQuestion) -> dict[str, str]:
    """The days between which values of a series lie; for changes a year more before them."""
    span = question.span
    if span is None:
        return {}
    is_step = question.is_extreme and question.has("change")
    start = span.start - is_step * _YEAR if span.start else None
    first, last = attrs.evolve(span, start=start).interval.split("/")
    days = {"periodFrom": first[:10], "periodTo": last[:10]}
    return {name: day for name, day in days.items() if day != ".."}


def series_values(rows: Sequence[ToolHit], question: ParsedQuestion) -> tuple[list[ToolHit], str]:
    """The values of each series that a question asks for, the earliest first.

    All where it asks of a time or a change and they are few, of many the first and the last, with
    words that say so; else the latest.
    """
    span = question.span
    series = _by_series([row for row in rows if _is_within(row, question)])
    if not (question.has("step", "change") or (span and (span.start or span.parts))):
        return [values[-1] for values in series], ""
    if (count := sum(map(len, series))) <= _VALUES_MAX:
        return [row for values in series for row in values], ""
    ends = {row.id: row for values in series for row in (values[0], values[-1])}
    return [*ends.values()][:_VALUES_MAX], f"Of {count:,} values one at an end: "


def _by_series(rows: Sequence[ToolHit]) -> list[list[ToolHit]]:
    """The values of each series by their time; of a time that was revised the newest."""
    series: dict[object, dict[str, ToolHit]] = {}
    for hit in sorted(rows, key=lambda hit: _time(hit.row)):
        row = hit.row
        key = row["name"], str(row["area"]), row["provider"]
        series.setdefault(key, {})[row["period"]] = hit
    return [[*values.values()] for values in series.values()]


def _time(row: Mapping[str, Any]) -> tuple[str, str]:
    vintage = row.get("vintage") or {}
    return str(row.get("periodStart") or row["period"]), str(vintage.get("start"))


def of_frequency(rows: Sequence[ToolHit], question: ParsedQuestion) -> Sequence[ToolHit]:
    """The rows of each month or quarter, where these are asked for; for an extreme, finer ones."""
    steps = [meaning[0] for meaning in question.values("step")][:1]
    if not steps:
        return rows
    equal = [row for row in rows if row.row.get("frequency") in steps]
    finer = _FREQUENCIES.partition(steps[0])[0] if question.is_extreme else ""
    return equal or [row for row in rows if str(row.row.get("frequency")) in finer]


def _is_within(row: ToolHit, question: ParsedQuestion) -> bool:
    return question.span is None or question.span.contains(row.row["periodStart"])


def extreme_values(
    rows: Sequence[ToolHit], question: ParsedQuestion, least: str = ""
) -> list[CitedSentence]:
    """The highest or lowest value of a series, or the step in which it rose or fell the most.

    Nothing of values of several series, which have no order. `least` says that there are others.
    """
    values, *others = _by_series(rows) or [[]]
    ways, is_least = question.values("change"), question.has("least")
    way = next((meaning[0] for meaning in ways if meaning), "")
    is_step = bool(ways and values and not is_rate(values[0].row["name"]))
    steps = [(b.row["value"] - a.row["value"], a, b) for a, b in pairwise(values)]
    steps = [step for step in steps if _is_within(step[2], question)]
    values = [row for row in values if _is_within(row, question)]
    if others or len(steps if is_step else values) < 2:
        return []
    if is_step:
        sizes = {"up": lambda size: size, "down": lambda size: -size}
        size, first, last = max(steps, key=lambda step: sizes.get(way, abs)(step[0]))
        if is_least or sizes.get(way, abs)(size) <= 0:
            return []
        head = f"The largest of {least}{len(steps)} changes: "
        return [attrs.evolve(line, text=head + line.text) for line in series_changes([first, last])]
    word, best = extreme_rows(values, ["value"], is_least=is_least or way == "down")
    head = f"The {word} of {least}{len(values)} values: "
    lines = [line for row in best for line in facts.row_sentences(facts.facts_of("indicator"), row)]
    return [attrs.evolve(line, text=head + line.text) for line in lines]


def is_rate(name: str) -> bool:
    """Whether a series tells of changes itself, such as growth."""
    words = facts.phrase(name)
    return term_of("growth") in words or any(has_meaning(term, "change") for term in words)


def series_changes(rows: Sequence[ToolHit]) -> list[CitedSentence]:
    """By how much each series rose or fell from the first to the last of some rows."""
    pairs = ((values[0], values[-1]) for values in _by_series(rows) if len(values) > 1)
    return [CitedSentence(_change(*(hit.row for hit in pair)), pair) for pair in pairs]


def _change(first: Mapping[str, Any], last: Mapping[str, Any]) -> str:
    """The change between two values, in their unit, and in per cent of what is no share itself."""
    low, high = first["value"], last["value"]
    area, is_share = last["area"].get("label"), last.get("unit") == "%"
    name = quote_text(", ".join(filter(None, (last["name"], area))))
    times = f"from {first['period']} to {last['period']}"
    if low == high:
        return f"{name} was the same at both ends {times}"
    by = f"{figure(round(abs(high - low), 10))} {_unit_of_difference(last)}"
    is_ratio = low > 0 and high > 0 and not is_share and not is_rate(last["name"])
    share = f", by {figure(round(abs(high / low - 1) * 100, 2))}%" if is_ratio else ""
    return f"{name} {'rose' if high > low else 'fell'} by {by.strip()} {times}{share}"


def _unit_of_difference(row: Mapping[str, Any]) -> str:
    """The unit of what lies between two values: shares differ by points, not by a share."""
    unit = str(row.get("currency") or row.get("unit") or "").strip("{}")
    return "percentage points" if unit == "%" else "" if row.get("unitMultiplier") else unit


def series_codes(hits: Iterable[ToolHit], question: ParsedQuestion) -> dict[str, frozenset[int]]:
    """The codes of series that the question writes as their source does, with their words.

    A word of the table alone, such as "GDP", is none.
    """
    rows = (hit.row["row"] for hit in hits if hit.row["kind"] == "indicator")
    codes = {row["indicatorCode"] for row in rows}
    runs = {code: run_of(question.words, split_words(code), str.__eq__) for code in sorted(codes)}
    return {code: run for code, run in runs.items() if run & {*question.unread}}


def meant_series(
    rows: Sequence[ToolHit], question: ParsedQuestion, coded: frozenset[int] = frozenset()
) -> tuple[list[ToolHit], float]:
    """The rows of the series that share most words with the question, but for those of its code.

    The second item is the share of the question's weight that these do not hold.
    """
    money = len(question.values("currency")) > bool(question.countries or question.has("series"))
    parts = question.with_role("currency" if money else "series")
    parts = [part for part in parts if part.start not in coded]
    groups = [{facts.phrase(part.value), question.phrase[part.start : part.end]} for part in parts]
    is_pair = len(question.values("currency")) > 1
    words = set() if is_pair else set(question.free("indicator")) - question.place_words - coded
    rest = {term_of(question.words[index]) for index in words}
    is_named = bool(money or groups or coded) or question.has("currency")
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
            others = {term for term in main if has_meaning(term, "series")} - {*chain(*runs)}
            scores.append(((len(rest & set(phrase)) + ends, not others), row))
    best = max((score for score, _ in scores), default=None)
    rows = [row for score, row in scores if score == best]
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
    """Compares rows by a number or a day that all state: which is greatest, and by how much."""
    for fact in measures:
        pairs = [(facts.member_or_none(row.row, fact.number), row) for row in rows if fact.number]
        has_days = any(isinstance(member, str) for member, _ in pairs)
        pairs = [(_day_number(stamp), row) for stamp, row in pairs] if has_days else pairs
        numbers = [(value, row) for value, row in pairs if isinstance(value, int | float)]
        units = {(row.row.get("unit"), row.row.get("currency")) for row in rows}
        is_unclear = len({subject_name(row) for row in rows}) < len(rows)
        if is_unclear or len(numbers) < max(2, len(rows)) or len(units) > 1:
            continue
        (high, first), *_, (low, last) = sorted(numbers, key=lambda pair: -pair[0])
        if high == low:
            return [CitedSentence(f"By the {fact.name} they are equal", tuple(rows))]
        by = f"{figure(round(high - low, 10))} {_unit_of_difference(first.row)}".strip()
        most, least = quote_text(subject_name(first)), quote_text(subject_name(last))
        text = f"{most} has the most and {least} the least, {by} less"
        days = facts.count_noun(int(high - low), "day")
        text = f"{least} is the first and {most} the last, {days} later" if has_days else text
        return [CitedSentence(f"By the {fact.name}, {text}", (first, last))]
    return []


def _day_number(stamp: object) -> int | None:
    try:
        return date.fromisoformat(str(stamp)[:10]).toordinal()
    except ValueError:  # of a year or a month alone
        return None


def extreme_facts(
    measures: Sequence[facts.Fact], row: ToolHit, *, is_least: bool
) -> list[facts.Fact]:
    """The facts of which a row states the highest number, or the lowest: providers differ."""
    numbers = {fact: facts.member_or_none(row.row, fact.number) for fact in measures}
    values = [number for number in numbers.values() if isinstance(number, int | float)]
    first = (min if is_least else max)(values, default=None)
    return [fact for fact in measures if not values or numbers[fact] == first]


def other_numbers(
    measures: Sequence[facts.Fact], firsts: Sequence[facts.Fact], row: ToolHit,
    reports: Iterable[ToolHit],
) -> list[CitedSentence]:  # fmt: skip
    """What reports state of the same that is another number than that of a row."""
    number = next((facts.member_or_none(row.row, first.number) for first in firsts), None)
    pairs = ((fact, report) for report in reports for fact in measures)
    others = [pair for pair in pairs if facts.member_or_none(pair[1].row, pair[0].number) != number]
    return [line for fact, report in others for line in facts.row_sentences([fact], report)]


def edge_sentences(
    edges: Sequence[tuple[facts.Row, CitedSentence]], question: ParsedQuestion, least: str
) -> list[CitedSentence]:
    """The edges of a graph that a question asks for: the most, the latest, those beyond a bound.

    Of many a few, behind how many there are. `least` says that there are others.
    """
    numbers = facts.edge_numbers([edge for edge, _ in edges])
    days = [edge["validFrom"] or None for edge, _ in edges]
    keys = numbers if question.is_extreme or question.thresholds else days
    rows = zip(keys, (line for _, line in edges), strict=False)
    pairs = [(key, line) for key, line in rows if key is not None]
    if question.is_extreme or question.has("latest", "earliest"):
        is_least = question.has("least", "earliest")
        first = (min if is_least else max)((key for key, _ in pairs), default=None)
        words = ("highest", "lowest") if keys is numbers else ("latest", "first")
        head = f"The {words[is_least]} of {least}{len(pairs)}: " if len(pairs) > 1 else ""
        heads = [line for key, line in pairs if key == first][:_SHOWN_MAX]
        return [attrs.evolve(line, text=head + line.text) for line in heads]
    limits, lines = question.thresholds, [line for _, line in edges]
    if limits:
        lines = [line for key, line in pairs if all(limit.admits(float(key)) for limit in limits)]
    is_counted = len(lines) > _SHOWN_MAX or (lines and ["many"] in question.values("count"))
    count = f"The service knows {least}{facts.count_noun(len(lines), 'such relation')}"
    return [*([CitedSentence(count, lines[0].hits)] if is_counted else ()), *lines[:_SHOWN_MAX]]


def subject_name(hit: ToolHit) -> str:
    """What a row is about: a company, a vulnerability, an area; else its title."""
    row, area = hit.row, hit.row.get("area") or {}
    names = (row.get("entity"), row.get("cveId"), area.get("label"), area.get("code"))
    label = str(next(filter(None, names), hit.title))
    period = row.get("period") or row.get("fiscalYear") or row.get("periodEnd")
    return f"{label} ({period})" if period else label
