"""Describes a document format: how it is recognised by content, how it is parsed, its bounds."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal

from attrs import field, frozen

from svc_core import data
from svc_core.formats.model import FAULTS, Contents, DocumentRefused, Origin
from svc_core.formats.reading.document_body import Body

Kind = Literal["snapshot", "window", "delta"]
"""What absence from a document means.

A `snapshot` holds everything: a row that is absent is gone. A `window` holds a part: absence means
nothing. A `delta` holds changes and says itself which rows are gone.
"""

MEBI = 2**20


def _total_recogniser(recognise: Callable[[Body], object]) -> Callable[[Body], bool]:
    """Turns the exceptions of `recognise` on foreign documents into False."""

    def is_of(body: Body) -> bool:
        try:
            return bool(recognise(body))
        except DocumentRefused:
            raise
        except FAULTS:
            return False

    return is_of


@frozen
class Format:
    """One upstream format: how it is recognised, how it is parsed, and what it brings.

    `provider` is who publishes it, None where each document or an option names the publisher.
    `resources` are the kinds of rows in it. `options` are what `svc sources add --option` takes,
    with their help texts; those in `required` must be given. `license` and `attribution` are those
    of the data, None where each publisher has its own. `bytes_max` and `records_max` bound a
    document.
    """

    id: str
    title: str
    kind: Kind
    provider: str | None
    resources: tuple[str, ...]
    recognise: Callable[[Body], bool] = field(converter=_total_recogniser)
    parse: Callable[[Body, Origin], Contents]
    options: Mapping[str, str] = field(factory=dict)
    required: frozenset[str] = frozenset()
    cadence_seconds: int = 3_600
    license: str | None = None
    attribution: str | None = None
    bytes_max: int = 64 * MEBI
    records_max: int = 500_000


def make_format(
    id_: str,
    recognise: Callable[[Body], bool],
    parse: Callable[[Body, Origin], Contents],
    **fields: Any,
) -> Format:
    """Makes the format that a row of `formats.tsv` describes; `fields` are its other members."""
    title, kind, provider, brings, seconds, license_, attribution = _rows_by_id()[id_]
    fields |= {"license": license_ or None, "attribution": attribution or None}
    fields |= {"kind": kind, "cadence_seconds": int(seconds), "provider": provider or None}
    resources = tuple(brings.split(","))
    return Format(
        id=id_, title=title, resources=resources, recognise=recognise, parse=parse, **fields
    )


@cache
def _rows_by_id() -> Mapping[str, list[str]]:
    return {id_: members for id_, *members in data.table_rows("formats.tsv")}
