"""Bulk screening: names and designators against all entities (`svc entities match`)."""

import json
import re
from collections.abc import AsyncIterator, Sequence
from functools import partial
from itertools import count
from typing import Annotated, Any

from attrs import frozen

from svc_core import wire
from svc_core.contract.result import Page
from svc_core.formats.reading.entity_keys import normal_form
from svc_core.formats.reading.values import country_named
from svc_core.intel.entities.candidates import MATCHES_MAX, Candidate, candidate
from svc_core.intel.entities.model import ENTITIES, Entity
from svc_core.intel.linking.matching import Names, Party, party
from svc_core.intel.linking.screening import Screening
from svc_core.operation.context import Context
from svc_core.operation.declaration import Operation, local
from svc_core.operation.members import micros
from svc_core.operation.ports import SYSTEM, Position, Slice, StoredRow
from svc_core.operation.units import Units, WorkContext
from svc_core.wire.constraints import Ge, Le, MaxLen, MinLen

LINES_MAX = 5_000
"""Lines of one request, so that an answer stays below 8 MiB."""

_ROWS = 1_000  # entities that are read in one unit
CELL_CHARS = 1_000
_DATE = re.compile(r"\d{4}(?:-\d\d){0,2}")
_DESIGNATOR = re.compile(r"([a-z][a-z0-9-]{1,19}):(.{1,200})")
_TYPES = {
    "company": "company", "legalentity": "company", "organization": "organization",
    "organisation": "organization", "publicbody": "government", "government": "government",
    "person": "person", "individual": "person", "vessel": "vessel", "ship": "vessel",
    "aircraft": "aircraft", "airplane": "aircraft", "threatactor": "threatActor",
    "actor": "threatActor", "malware": "malware", "tool": "tool", "entity": "company",
}  # fmt: skip

Cell = Annotated[str | None, MaxLen(CELL_CHARS)]


@frozen
class ScreeningLine:
    """One line of a screening list: a party as the list describes it."""

    name: Cell = None
    designator: Cell = None
    country: Cell = None
    type: Cell = None
    birth_date: Cell = None


@frozen
class MatchEntities:
    """Lines to be screened."""

    lines: Annotated[tuple[ScreeningLine, ...], MinLen(1), MaxLen(LINES_MAX)]
    """The lines of a list of names, each to be matched."""
    limit: Annotated[int, Ge(1), Le(MATCHES_MAX)] = 3
    """Matches of a line at most, the best."""


@frozen
class LineMatches:
    """The matches of one line; `error` says why a line could not be used."""

    matches: tuple[Candidate, ...]
    error: str | None = None


def party_of_line(line: ScreeningLine) -> Party:
    """The party that a line describes.

    Raises:
        ValueError: it cannot be used; the message says why.
    """
    cells = (line.name, line.designator, line.birth_date, line.country)
    name, number, birth_date, country = ((cell or "").strip() for cell in cells)
    kind = re.sub(r"[\W_]", "", line.type or "").casefold()
    if not name and not number:
        raise ValueError("it has neither a name nor a designator")
    if birth_date and _DATE.fullmatch(birth_date) is None:
        raise ValueError(f"birthDate {birth_date!r} is no YYYY, YYYY-MM or YYYY-MM-DD")
    if kind and kind not in _TYPES:
        raise ValueError(f"type {line.type!r} is none of {', '.join(sorted(_TYPES))}")
    names = Names.of([name])
    if name and not names.words:
        raise ValueError(f"name {name!r} has no words")
    return Party(
        names,
        type=_TYPES[kind] if kind else None,
        designators=frozenset([_designator(number)] if number else []),
        countries=frozenset([_country(country)] if country else []),
        birth_dates=frozenset([birth_date] if birth_date else []),
    )


def _designator(text: str) -> str:
    """A designator as rows hold it; a bare LEI or ISIN is recognised by its form."""
    match = _DESIGNATOR.fullmatch(text)
    pairs = [match.groups()] if match else [("lei", text), ("isin", text)]
    for scheme, value in pairs:
        if (whole := normal_form(scheme, value)) is not None:
            return f"{scheme}:{whole}"
    raise ValueError(f"designator {text!r} is no scheme:value, or its check digits are wrong")


def _country(text: str) -> str:
    code = country_named(text) or (text.upper() if re.fullmatch("[A-Za-z]{2}", text) else None)
    if code is None:
        raise ValueError(f"country {text!r} is not known; give its ISO 3166-1 code")
    return code


def _party_or_fault(line: ScreeningLine) -> Party | str:
    try:
        return party_of_line(line)
    except ValueError as fault:
        return str(fault)


async def match_entities(ctx: WorkContext, request: MatchEntities) -> Page[LineMatches]:
    """The best matches of each line, in the order of the lines."""
    parties = [_party_or_fault(line) for line in request.lines]
    screening = Screening([party for party in parties if isinstance(party, Party)])
    async for rows in _walk(ctx.work):
        await ctx.work.aside(partial(_pass_by, screening, rows))
    matches = (screening.candidates(index, request.limit) for index in count())
    results = (
        LineMatches((), party_or_fault)
        if isinstance(party_or_fault, str)
        else LineMatches(tuple(candidate(*match) for match in next(matches)))
        for party_or_fault in parties
    )
    return Page(tuple(map(wire.to_bytes, results)))


def _pass_by(screening: Screening, rows: Sequence[StoredRow[Entity]]) -> None:
    for row in rows:
        screening.offer(row.id, party(json.loads(row.raw)))


async def _walk(work: Units) -> AsyncIterator[Sequence[StoredRow[Entity]]]:
    """All entities, then those written during the first walk, which moved to the front."""
    newest: int | None = None
    for _ in range(2):
        after, start = None, newest
        while True:
            page = await work.read(SYSTEM, partial(_page, after=after, start=start))
            if newest is None and page.rows:
                newest = micros(ENTITIES.decode(page.rows[0].raw).updated_at) + 1
            yield page.rows
            after = page.end
            if after is None:
                break


async def _page(ctx: Context, after: Position | None, start: int | None) -> Slice[Entity]:
    span = {"updated": (start, None)}
    return await ctx.tx.documents.scan(
        ENTITIES, order="updated", after=after, ranges=span, limit=_ROWS
    )


LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    local(
        "entities",
        "Compare names and designators with all entities",
        match_entities,
        audited=False,
        binding="system",
    ),
)
