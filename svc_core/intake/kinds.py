"""The table of kinds of rows: their ids, how they are folded, and where the rows stand.

A kind without a collection is kept as contributions alone.
"""

from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from attrs import field, frozen

from svc_core import directory, ids
from svc_core.intake import (
    due,
    incidents,
    items,
    parties,
    relations,
    series,
    signals,
    statements,
    vulnerabilities,
)
from svc_core.intake.contributions import Contribution, Members
from svc_core.intake.fold import Rules, fold, standing
from svc_core.intake.written import Written
from svc_core.operation import Context
from svc_core.ports import Collection
from svc_core.resources.countries import COUNTRIES
from svc_core.resources.cve import CVES
from svc_core.resources.entity import ENTITIES
from svc_core.resources.finance import FILINGS, OBSERVATIONS
from svc_core.resources.finint import FININT
from svc_core.resources.market import MARKETS
from svc_core.resources.news import NEWS, Source
from svc_core.resources.osint import OSINT_EVENTS
from svc_core.resources.relation import RELATIONS
from svc_core.sources.model import Record
from svc_core.sources.parties import EXCLUSIVE, STRENGTH

Finish = Callable[[Members, Sequence[Contribution]], Members | None]
Follow = Callable[[Context, Sequence[Written]], Awaitable[None]]
Heard = Callable[[Context, Sequence[Contribution]], Awaitable[None]]
Settle = Callable[[Context, Mapping[str, statements.Pair]], Awaitable[Mapping[str, Any]]]
Quiet = Callable[[Sequence[str], Mapping[str, Any], Mapping[str, Any]], bool]


def _never(*_: Any) -> bool:
    return False


@frozen(eq=False)
class Kind:
    """One kind of row. Its ids begin with `prefix`; `kept` are members that no source says.

    A row that is `joined` may have several keys; its id is made of one of the first scheme of
    `schemes` that it has, and it has one key alone of each that is `exclusive`. `finish` makes what
    is folded a row, or None where it makes none. `settle` is given rows as they are stored and as
    they are to be, before they are written, and gives those that stand otherwise to others; each of
    `follows` writes in the same unit what follows from rows that were written, `heard` what follows
    from contributions to a kind without rows. A row that is `quiet`, by the members that differ and
    as it was and is, is written and told nobody. `earlier` is a member of which the reading before
    the newest is kept.
    """

    resource: str
    prefix: str
    rules: Rules = field(factory=Rules)
    collection: Collection[Any] | None = None
    kept: tuple[str, ...] = ()
    joined: bool = False
    schemes: tuple[str, ...] = ()
    exclusive: Container[str] = ()
    finish: Finish | None = None
    settle: Settle | None = None
    quiet: Quiet = _never
    earlier: str = ""
    follows: tuple[Follow, ...] = ()
    heard: Heard | None = None

    def derived(self, key: str) -> str:
        """The id of the row with this key; of a country its code."""
        if self.prefix == "ent":
            return directory.id_of(key)
        return key if not self.prefix else ids.derived_id(self.prefix, self.resource, "", key)

    def row_id(self, source: Source, record: Record) -> str:
        """The id of the row that a record of a source tells of."""
        if self.resource == "newsItem":
            return items.row_id(source, record)
        if self.resource == "mention":
            return incidents.mentioned(record.key)
        return self.derived(record.key)

    def folded(self, row: str, contributions: Sequence[Contribution]) -> dict[str, Any] | None:
        """The members of the row that these make; None where they make none.

        `mergedIds` of one that is joined are the ids that it has by its other keys.
        """
        members = fold(self.rules, contributions)
        if members is None:
            return None
        if self.joined:
            told = standing(contributions)
            names = {name for one in told for name in one.names if name not in one.apart}
            members["mergedIds"] = sorted(names - {row})
        return members if self.finish is None else self.finish(members, contributions)

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


def _asked(members: dict[str, Any], _: Sequence[Contribution]) -> dict[str, Any] | None:
    """A market without its question is none."""
    return members if members.get("question") else None


_OF_EVENTS = {"designators": ("scheme", "value"), "actors": ("name", "role")}
_TABLE = (
    Kind("newsItem", "obs", Rules(whole=True), NEWS, kept=("retrievedAt", "storyId"),
         follows=(items.follow, incidents.follow_items, due.follow_items)),
    Kind("osintEvent", "obs", Rules(("gdacs", "gdacs-rss"), joined=_OF_EVENTS), OSINT_EVENTS,
         kept=("incidentId",), joined=True, finish=incidents.finished,
         follows=(incidents.follow_events, due.follow_events)),
    Kind("country", "", Rules(("countries", "country-codes", "geonames")), COUNTRIES),
    Kind("place", "plc"),
    Kind("indicator", "fin", Rules(whole=True), FININT, follows=(series.follow, due.follow_values)),
    # A row has the id of its strongest designator, whoever brings it.
    Kind("entity", "ent", parties.RULES, ENTITIES, joined=True, schemes=STRENGTH,
         exclusive=EXCLUSIVE, finish=parties.finished),
    Kind("cve", "ent", vulnerabilities.RULES, CVES, joined=True, exclusive=EXCLUSIVE,
         finish=vulnerabilities.finished, quiet=vulnerabilities.is_quiet, earlier="epss",
         follows=(signals.follow_scores,)),
    # A delta names what it changes by an id, a collection by its ends.
    Kind("relation", "rel", relations.RULES, RELATIONS, joined=True, finish=relations.finished),
    Kind("incident", "inc", heard=incidents.follow_reports),
    Kind("market", "mkt", collection=MARKETS, joined=True, finish=_asked),
    Kind("financialObservation", "obs", collection=OBSERVATIONS, kept=statements.KEPT,
         finish=statements.observed, settle=statements.settled),
    Kind("filing", "obs", collection=FILINGS, finish=statements.filed),
    Kind("mention", "obs", heard=incidents.follow_mentions),
)  # fmt: skip

KINDS: Mapping[str, Kind] = MappingProxyType({kind.resource: kind for kind in _TABLE})
