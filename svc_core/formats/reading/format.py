"""A format of documents: how it is recognised by its content, how it is read, and its bounds."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal

from attrs import field, frozen

from svc_core import data
from svc_core.formats.model import FAULTS, Contents, DocumentRefused, Given
from svc_core.formats.reading.body import Body

Kind = Literal["snapshot", "window", "delta"]
"""Whether what is absent from a document is gone, whether absence says nothing, or whether the
document says itself what is gone."""

MEBI = 2**20


def _total_recogniser(recognise: Callable[[Body], object]) -> Callable[[Body], bool]:
    """A document of another form than is looked for is of another format."""

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
    """One upstream format: how it is recognised by its content, and read.

    `provider` is who publishes it, None where each document or an option says so. `brings` are the
    kinds of rows. `options` are those that `svc sources add --option` takes, with their text; what
    is in `required` has to be given. `license` and `attribution` are those of its data, None where
    each publisher has its own. `bytes_max` and `records_max` bound one document.
    """

    id: str
    title: str
    kind: Kind
    provider: str | None
    brings: tuple[str, ...]
    recognise: Callable[[Body], bool] = field(converter=_total_recogniser)
    parse: Callable[[Body, Given], Contents]
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
    parse: Callable[[Body, Given], Contents],
    **fields: Any,
) -> Format:
    """The format that a line of `formats.tsv` describes; `fields` are members that it does not."""
    title, kind, provider, brings, seconds, license_, attribution = _rows_by_id()[id_]
    fields |= {"license": license_ or None, "attribution": attribution or None}
    fields |= {"kind": kind, "brings": tuple(brings.split(",")), "cadence_seconds": int(seconds)}
    return Format(
        id=id_, title=title, provider=provider or None, recognise=recognise, parse=parse, **fields
    )


@cache
def _rows_by_id() -> Mapping[str, list[str]]:
    return {id_: members for id_, *members in data.rows("formats.tsv")}
