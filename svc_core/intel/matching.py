"""Bulk screening: names and designators against all entities (`svc entities match`)."""

import json
import re
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Annotated, Any

from attrs import frozen

from svc_core import wire
from svc_core.constraints import Doc, Ge, Le, MaxLen, MinLen
from svc_core.intel.candidates import MOST, Candidate, candidate
from svc_core.linking.matching import Names, Party, party
from svc_core.linking.screening import Screening
from svc_core.operation import Context, Operation, Units, local
from svc_core.ports import SYSTEM, Position, Slice
from svc_core.resources.entity import ENTITIES, Entity
from svc_core.result import Page
from svc_core.sources.identifiers import isin, lei
from svc_core.sources.parties import well_formed
from svc_core.sources.values import country_named

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
class Line:
    """What a line tells of somebody, as it stands there."""

    name: Cell = None
    designator: Cell = None
    country: Cell = None
    type: Cell = None
    birth_date: Cell = None


@frozen
class MatchEntities:
    """Lines to be screened."""

    lines: Annotated[tuple[Line, ...], MinLen(1), MaxLen(LINES_MAX)]
    limit: Annotated[int, Ge(1), Le(MOST), Doc("Matches of a line at most, the best.")] = 3


@frozen
class Screened:
    """What one line came to; `error` says why it could not be used."""

    matches: tuple[Candidate, ...]
    error: str | None = None


def read(line: Line) -> Party:
    """Whom a line asks for.

    Raises:
        ValueError: it cannot be used; the message says why.
    """
    name, number = (line.name or "").strip(), (line.designator or "").strip()
    born, kind = (line.birth_date or "").strip(), _plain(line.type)
    if not name and not number:
        raise ValueError("it has neither a name nor a designator")
    if born and _DATE.fullmatch(born) is None:
        raise ValueError(f"birthDate {born!r} is no YYYY, YYYY-MM or YYYY-MM-DD")
    if kind and kind not in _TYPES:
        raise ValueError(f"type {line.type!r} is none of {', '.join(sorted(_TYPES))}")
    names = Names.of([name])
    if name and not names.words:
        raise ValueError(f"name {name!r} has no words")
    return Party(
        names,
        type=_TYPES[kind] if kind else None,
        designators=frozenset([_designator(number)] if number else []),
        countries=frozenset([_country(line.country)] if (line.country or "").strip() else []),
        born=frozenset([born] if born else []),
    )


def _plain(text: str | None) -> str:
    return re.sub(r"[\W_]", "", text or "").casefold()


def _designator(told: str) -> str:
    """`scheme:value` as rows write it; a bare LEI or ISIN says by its form what it is."""
    found = _DESIGNATOR.fullmatch(told)
    pairs = [found.groups()] if found else [("lei", lei(told)), ("isin", isin(told))]
    for scheme, value in pairs:
        if value is not None and (whole := well_formed(scheme, value)) is not None:
            return f"{scheme}:{whole}"
    raise ValueError(f"designator {told!r} is no scheme:value, or its check digits are wrong")


def _country(told: str | None) -> str:
    code = country_named(told)
    if code is None and re.fullmatch("[A-Za-z]{2}", (told or "").strip()):
        code = (told or "").strip().upper()
    if code is None:
        raise ValueError(f"country {told!r} is not known; give its ISO 3166-1 code")
    return code


async def match_entities(ctx: Context, request: MatchEntities) -> Page[Screened]:
    """The best matches of each line, in the order of the lines."""
    errors: dict[int, str] = {}
    asked: dict[int, Party] = {}
    for at, line in enumerate(request.lines):
        try:
            asked[at] = read(line)
        except ValueError as fault:
            errors[at] = str(fault)
    screening = Screening(list(asked.values()))
    async for rows in _walk(ctx.work):
        await ctx.work.aside(partial(_pass_by, screening, rows))
    found = {
        at: tuple(candidate(*one) for one in screening.candidates(place, request.limit))
        for place, at in enumerate(asked)
    }
    told = (Screened(found.get(at, ()), errors.get(at)) for at in range(len(request.lines)))
    return Page(tuple(map(wire.dumps, told)))


def _pass_by(screening: Screening, rows: Sequence[tuple[str, bytes]]) -> None:
    for id_, raw in rows:
        screening.pass_by(id_, party(json.loads(raw)))


async def _walk(work: Units) -> AsyncIterator[list[tuple[str, bytes]]]:
    """All entities, and then those that were written meanwhile: they moved to the front."""
    newest: int | None = None
    for _ in range(2):
        after, start = None, newest
        while True:
            page = await work.read(SYSTEM, partial(_page, after=after, start=start))
            if newest is None and page.rows:
                newest = page.rows[0].order + 1
            yield [(row.id, row.raw) for row in page.rows]
            after = page.end
            if after is None:
                break


async def _page(ctx: Context, after: Position | None, start: int | None) -> Slice[Entity]:
    return await ctx.tx.documents.scan(ENTITIES, after=after, start=start, limit=_ROWS)


LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    local(
        "matchEntities",
        "entities",
        "Compare names and designators with all entities",
        match_entities,
        unit="several",
        binding="system",
    ),
)
