"""Finds the other names of a country, and of its people, in many languages.

"Syrian" and "Syria" have no term in common, and neither have "Germany" and "Allemagne", so a
search for one would miss the other.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from svc_core import data
from svc_core.text.words import terms

Run = tuple[str, ...]

_RUN_MAX = 3


def country_synonyms(subject: Sequence[str]) -> Iterator[tuple[Run, tuple[Run, ...]]]:
    """Each run of `subject` that names a country, the longest first, with its other names."""
    names, start = _names(), 0
    while start < len(subject):
        candidates = (tuple(subject[start : start + size]) for size in range(_RUN_MAX, 0, -1))
        run = next((run for run in candidates if run in names), None)
        if run is not None:
            yield run, tuple(name for name in names[run] if name != run)
        start += len(run or "1")


@cache
def names_by_code() -> Mapping[str, tuple[str, ...]]:
    """The names of each country and of its people by its code (ISO 3166-1 alpha-2)."""
    rows = (line.split("\t") for line in data.table_lines("country_names.tsv"))
    return {code: tuple(names.split("|")) for code, names in rows}


@cache
def _names() -> Mapping[Run, tuple[Run, ...]]:
    """All names of a country by each of them; a name that two countries share is left out."""
    rows = names_by_code().values()
    countries = [dict.fromkeys(tuple(terms(name)) for name in row) for row in rows]
    owners = Counter(run for runs in countries for run in runs)
    short = (tuple(run for run in runs if 0 < len(run) <= _RUN_MAX) for runs in countries)
    unique = [tuple(run for run in runs if owners[run] == 1) for runs in short]
    return {run: runs for runs in unique for run in runs}
