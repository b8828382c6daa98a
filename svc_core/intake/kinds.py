"""The table of kinds of rows: their ids, how they are folded, and where the rows stand.

A kind without a collection is kept as contributions alone.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from attrs import field, frozen

from svc_core import ids
from svc_core.intake import items
from svc_core.intake.fold import Rules
from svc_core.ports import Collection
from svc_core.resources.countries import COUNTRIES
from svc_core.resources.finint import FININT
from svc_core.resources.news import NEWS, Source
from svc_core.resources.osint import OSINT_EVENTS
from svc_core.sources.model import Record
from svc_core.sources.parties import STRENGTH


@frozen(eq=False)
class Kind:
    """One kind of row. Its ids begin with `prefix`; `kept` are members that no source says.

    A row that is `joined` may have several keys; its id is made of one of the first scheme of
    `schemes` that it has.
    """

    resource: str
    prefix: str
    rules: Rules = field(factory=Rules)
    collection: Collection[Any] | None = None
    kept: tuple[str, ...] = ()
    joined: bool = False
    schemes: tuple[str, ...] = ()

    def derived(self, key: str) -> str:
        """The id of the row with this key; of a country its code."""
        return key if not self.prefix else ids.derived_id(self.prefix, self.resource, "", key)

    def row_id(self, source: Source, record: Record) -> str:
        """The id of the row that a record of a source tells of."""
        if self.resource == "newsItem":
            return items.row_id(source, record)
        return self.derived(record.key)

    def names(self, record: Record) -> tuple[str, ...]:
        """The ids that the row of a record has by each of its keys, where it may have several.

        That of the strongest is the first.
        """
        if not self.joined:
            return ()
        keys = dict.fromkeys((record.key, *record.also))
        return tuple(map(self.derived, sorted(keys, key=self.strength)))

    def strength(self, key: str) -> int:
        """How far behind the strongest a key is."""
        scheme = key.partition(":")[0]
        return self.schemes.index(scheme) if scheme in self.schemes else len(self.schemes)

    def context(self, source: Source) -> list[Any]:
        """What its rows carry of their source itself."""
        return items.context(source) if self.resource == "newsItem" else []


_TABLE = (
    Kind(
        "newsItem",
        "obs",
        Rules(whole=True),
        NEWS,
        kept=("retrievedAt", "storyId"),
    ),
    Kind(
        "osintEvent",
        "obs",
        Rules(
            precedence=("gdacs", "gdacs-rss"),
            joined={"designators": ("scheme", "value"), "actors": ("name", "role")},
        ),
        OSINT_EVENTS,
        kept=("incidentId",),
        joined=True,
    ),
    Kind("country", "", Rules(("countries", "country-codes", "geonames")), COUNTRIES),
    Kind("place", "plc"),
    Kind("indicator", "fin", Rules(whole=True), FININT),
    # A row has the id of its strongest designator, whoever brings it.
    Kind("entity", "ent", joined=True, schemes=STRENGTH),
    Kind("cve", "ent", Rules(silent=frozenset({"epss"})), joined=True),
    Kind("relation", "rel"),
    Kind("incident", "inc"),
    Kind("market", "mkt"),
    Kind("financialObservation", "obs"),
    Kind("filing", "obs"),
    Kind("mention", "obs"),
)

KINDS: Mapping[str, Kind] = MappingProxyType({kind.resource: kind for kind in _TABLE})
