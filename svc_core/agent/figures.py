"""Which figures of companies, and of countries and currencies, a question means."""

import re
from collections.abc import Sequence

import attrs

from svc_core.agent import facts
from svc_core.agent.facts import Said, figure, quoted
from svc_core.agent.listing import most
from svc_core.agent.ports import Found
from svc_core.agent.question import Asked
from svc_core.text.words import cut, fold

_SHOWN_MAX = 5
_HEAD = re.compile(r"[,(:]")  # what follows it in the name of a series tells of its measure


def of_company(company: Found, rows: Sequence[Found], asked: Asked) -> list[Found]:
    """The values of the time that is asked for: of a year, a quarter, else the latest year."""
    named = [_named(company, row) for row in rows]
    whole = [row for row in named if row.row["periodMonths"] in (12, None)]
    span = asked.span
    if span is None:
        if asked.has("most", "least"):
            return most(whole, "value", is_least=asked.has("least"))[2]
        return (whole or named)[:1]
    if span.period is None:
        held = [row for row in whole if span.holds(row.row["periodEnd"])]
        return sorted(held, key=lambda row: str(row.row["periodEnd"]))[-_SHOWN_MAX:]
    year, _, part = span.period.partition("-")
    ends = [row for row in (named if part else whole) if span.holds(row.row["periodEnd"])]
    wanted = int(year), part or "FY", 3 if part else 12
    fiscal = [row for row in named if _fiscal(row) in (wanted, (*wanted[:2], None))]
    return (fiscal or ends)[:1]


def _named(company: Found, row: Found) -> Found:
    title = f"{company.title}: {facts.spaced(str(row.row['metric']))} {row.row['periodEnd']}"
    return attrs.evolve(row, row={**row.row, "entity": company.title}, title=title)


def _fiscal(row: Found) -> tuple[int | None, str | None, int | None]:
    return row.row["fiscalYear"], row.row["fiscalPeriod"], row.row["periodMonths"]


def known(rows: Sequence[Found], *, is_first: bool, all_: bool) -> list[Found]:
    """The last value that is known of each series, with its first where that `is_first`, or all."""
    held = [row for row in rows if row.row["value"] is not None]
    ends: dict[object, list[Found]] = {}
    for row in held:
        ends.setdefault((row.row["name"], str(row.row["area"])), []).append(row)
    return (
        held
        if all_
        else [one for each in ends.values() for one in (each[:1] + each[1:][-1:] * is_first)]
    )


def of_series(rows: Sequence[Found], asked: Asked) -> tuple[list[Found], int]:
    """The values of the series that are meant: those that hold most of what is asked.

    Beside them, how many words of the question they do not hold.
    """
    money = len(asked.values("currency")) > 1
    groups = [
        {facts.phrase(part.value), asked.phrase[part.start : part.end]}
        for part in asked.parts
        if part.role == ("currency" if money else "series")
    ]
    rest = set() if money else {cut(fold(word)) for word in asked.rest("finint")}
    rest -= {cut(fold(word)) for word in asked.placed}
    is_named = bool(money or groups) or asked.has("currency")
    is_country = cut("country") in asked.phrase
    scored = []
    for row in rows:
        told = facts.phrase(f"{row.row['name']} {row.row['indicatorCode']}")
        hits = all(any(facts.within(run, told) for run in group) for group in groups)
        is_meant = row.row["area"]["countryCode"] or not is_country
        head = set(facts.phrase(_HEAD.split(row.row["name"])[0]))
        is_meant = is_meant and (is_named or 2 * len(head & rest) > len(head))
        if hits and is_meant:
            scored.append((len(rest & set(told)), row))
    best = max((beside for beside, _ in scored), default=0)
    return [row for beside, row in scored if beside == best], len(rest) - best


def differences(wanted: Sequence[facts.Fact], found: Sequence[Found]) -> list[Said]:
    """Of rows that tell the same number, which has the greatest and by how much."""
    for fact in wanted:
        held = [(facts.number(row.row, fact.number), row) for row in found if fact.number]
        numbers = [(value, row) for value, row in held if isinstance(value, int | float)]
        units = {(row.row.get("unit"), row.row.get("currency")) for row in found}
        if len(numbers) < max(2, len(found)) or len(units) > 1:
            continue
        (high, first), *_, (low, last) = sorted(numbers, key=lambda pair: -pair[0])
        if high == low:
            return [Said(f"By the {fact.name} they are equal", tuple(found))]
        unit = first.row.get("currency") or str(first.row.get("unit") or "").strip("{}")
        by = f"{figure(round(high - low, 10))} {unit}".strip()
        ends = f"{quoted(name(first))} has the most and {quoted(name(last))} the least"
        return [Said(f"By the {fact.name}, {ends}, {by} less", (first, last))]
    return []


def name(found: Found) -> str:
    """What a row is of: a company, a vulnerability, an area; else its title."""
    row, area = found.row, found.row.get("area") or {}
    told = (row.get("entity"), row.get("cveId"), area.get("label"), area.get("code"))
    of = str(next(filter(None, told), found.title))
    return f"{of} ({row['period']})" if "period" in row else of
