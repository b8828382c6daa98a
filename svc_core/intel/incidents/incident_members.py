"""Members of an incident: events, news items and shared reports, converted into one form."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any, get_args

from attrs import field, frozen

from svc_core import wire
from svc_core.formats.hazards.event_fields import event_kind
from svc_core.formats.reading.severities import severity_level
from svc_core.intel.events.model import MACHINE, Cameo, OsintEvent, marks_of
from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.folding.rules import Rules, fold_contributions
from svc_core.intel.incidents.model import Participant, Role
from svc_core.intel.incidents.queue import mention_row
from svc_core.intel.linking.articles import incident_of_article, page_of
from svc_core.intel.linking.name_forms import normal_name
from svc_core.intel.linking.references import id_of, text_references
from svc_core.intel.news.model import NewsItem
from svc_core.operation.source_members import (
    Designator,
    Measurement,
    Place,
    Severity,
    SeverityBasis,
    SourceRef,
)

REPORT, PRESS = "report", "press"
RANKS = ("usgs", "gdacs", "reliefweb", "eonet", "ucdp", "acled", REPORT, PRESS, MACHINE)
"""Providers in order of precedence: those who measure come before those who repeat."""

EARLIEST, LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
NAME_CHARS = 200  # a longer one is no name
ROLES = frozenset(get_args(Role))


@frozen(kw_only=True)
class Member:
    """One event, news item or report that is about an incident.

    `home` is the id of the incident that it would make alone. Members with a mark in common belong
    to one incident; `weak` marks count only where no news story has the member. `signs` are the
    times that it gives, in their order, none where it is undated; it `is_open` where its provider,
    which closes what is over, has not closed it. `certainty` is the provider's own confidence from
    0 to 1. It `is_rated_anew` where its row has another severity than the table of today gives.
    """

    id: str
    home: str
    provider: str
    marks: tuple[str, ...]
    title: str
    signs: tuple[datetime, ...]
    sources: tuple[SourceRef, ...] = field(repr=False)
    weak: tuple[str, ...] = ()
    is_observed: bool = True
    summary: str | None = None
    categories: tuple[str, ...] = ()
    is_open: bool = False
    severity: Severity | None = None
    basis: SeverityBasis | None = None
    certainty: float | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    precision: Any = None
    place: Place | None = None
    type: str = ""
    measurements: tuple[Measurement, ...] = ()
    cameo: Cameo | None = None
    designators: tuple[Designator, ...] = ()
    people: tuple[Participant, ...] = ()
    text: str = field(default="", repr=False)
    language: str | None = None
    articles: frozenset[str] = frozenset()
    sites: frozenset[str] = frozenset()
    incident_id: str | None = None
    is_rated_anew: bool = False

    @property
    def mentions(self) -> tuple[Participant, ...]:
        """The participants that its text mentions."""
        day = max(self.signs).date() if self.signs else None
        return _mentions_of(self.text, day) if self.text else ()

    @property
    def rank(self) -> int:
        """The rank of its provider: 0 for the strongest."""
        return RANKS.index(self.provider) if self.provider in RANKS else RANKS.index(REPORT)

    @property
    def strength(self) -> tuple[int, datetime, str]:
        """A sort key, the strongest first: by provider, then by the first sign."""
        return self.rank, min(self.signs, default=LATEST), self.id


@lru_cache(maxsize=4_096)  # some milliseconds each, and stories are folded again and again
def _mentions_of(text: str, day: date | None) -> tuple[Participant, ...]:
    references = text_references(text, day).items()
    return tuple(Participant(None, "mentioned", name, reference) for reference, name in references)


_SECOND = frozenset(
    ["ac", "co", "com", "edu", "gob", "gouv", "gov", "mil", "ne", "net", "nic", "or", "org"]
)


def site(url: str | None) -> str | None:
    """The registrable domain of an address: the last two labels of its host, or three where the
    second level is shared by a whole country ("co.uk").
    """
    page = page_of(url)
    if page is None:
        return None
    host = str(page.hostname)
    labels = host.rstrip(".").split(".")
    is_shared = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SECOND
    return host if labels[-1].isdecimal() else ".".join(labels[-3 if is_shared else -2 :])


# -- events ------------------------------------------------------------------------------------


def mention_key(event: OsintEvent) -> str:
    """The row under which mentions of an event are stored."""
    keys = (item for item in event.designators if item.scheme == event.provider)
    return mention_row(next((f"{item.scheme}:{item.value}" for item in keys), event.id))


def event_member(event: OsintEvent, mentions: Sequence[Contribution] = ()) -> Member:
    """The member that an event makes, with the articles that its provider says mention it."""
    is_machine = event.provider == MACHINE
    marks = tuple(marks_of(event))
    measurements = event.measurements or ()
    times = [_time(item.as_of) for item in measurements if isinstance(item.as_of, str)]
    signs = [event.occurred_at, event.reported_at, event.ended_at, *times]
    if is_machine:
        signs = [event.reported_at or event.occurred_at]
    claims = [claim.said for claim in mentions if not claim.gone]
    certainties = [event.confidence, *(claim.get("confidence") for claim in claims)]
    urls = [event.url, *(claim.get("url") for claim in claims)]
    level, basis = _rating(event.severity_basis)
    return Member(
        **{name: getattr(event, name) for name in _COPIED_MEMBERS},
        home=marks[0],
        marks=marks[:1] if is_machine else marks,
        weak=marks[1:] if is_machine else (),
        signs=tuple(sorted(filter(None, signs))),
        categories=(event.category,) if event.category not in {None, "other"} else (),
        is_open=event.provider == "eonet" and event.ended_at is None,
        severity=level,
        basis=basis,
        is_rated_anew=(event.severity, event.severity_basis) != (level, basis),
        certainty=max((c for c in certainties if c is not None), default=None),
        started_at=event.occurred_at,
        precision=event.date_precision,
        measurements=measurements,
        people=tuple(
            Participant(None, _role(actor.role), actor.name, f"name:{normal_name(actor.name)}")
            for actor in event.actors or ()
            if actor.name and len(actor.name) <= NAME_CHARS
        ),
        articles=frozenset(filter(None, map(incident_of_article, urls if is_machine else ()))),
        sites=frozenset(filter(None, map(site, urls))) or frozenset({event.provider}),
    )


_COPIED_MEMBERS = ("id", "provider", "title", "summary", "ended_at", "place", "type", "cameo",
                 "designators", "sources", "incident_id")  # fmt: skip
"""Members that an event and its member of an incident have under one name."""


def _rating(basis: SeverityBasis | None) -> tuple[Any, SeverityBasis | None]:
    """The level of what a row says of harm by the table of today, whatever the row has."""
    level = None if basis is None else severity_level(basis.scale, basis.value)
    return level, basis if level else None


def _time(text: str) -> datetime | None:
    """The instant of a measurement; None where only a day is given."""
    return wire.from_json(datetime, text) if "T" in text else None


def _role(role: str | None) -> Any:
    return role if role in ROLES else "mentioned"


# -- news --------------------------------------------------------------------------------------


def item_member(item: NewsItem, story: str) -> Member:
    """The member that a news item of a story makes."""
    dated_at = item.dated_at
    article = incident_of_article(item.url)
    categories = (event_kind("topic", topic)["category"] for topic in item.topics)
    return Member(
        id=item.id,
        home=story,
        provider=PRESS,
        marks=(story, *filter(None, [article])),
        title=item.title,
        signs=() if dated_at is None else (dated_at,),
        sources=(item.ref,),
        summary=item.summary or None,
        categories=tuple(dict.fromkeys(category for category in categories if category != "other")),
        started_at=dated_at and dated_at.replace(hour=0, minute=0, second=0, microsecond=0),
        precision="day",
        place=item.place,
        text=f"{item.title}\n{item.summary}",
        language=item.language,
        articles=frozenset({article or item.id}),
        sites=frozenset({site(item.url) or item.source.domain or item.source.id}),
    )  # fmt: skip


# -- reports of others -------------------------------------------------------------------------


def report_member(row: str, claims: Sequence[Contribution]) -> Member | None:
    """The member that shared reports under one key make; None once they are withdrawn."""
    members = fold_contributions(
        Rules(item_keys={"designators": ("scheme", "value"), "entities": ("name",)}), claims
    )
    if members is None:
        return None
    live = [c for c in claims if not c.gone]
    started_at = members.get("startedAt") and wire.from_json(datetime, members["startedAt"])
    basis = members.get("severityBasis")
    level, basis = _rating(basis and wire.from_json(SeverityBasis, basis))
    signs = [started_at] if started_at else [claim.stamp for claim in live if claim.stamp]
    parties = [item for item in members.get("entities") or () if len(item["name"]) <= NAME_CHARS]
    return Member(
        id=row,
        home=row,
        provider=REPORT,
        marks=(row,),
        title=members["title"],
        signs=tuple(sorted(signs)),
        sources=tuple(wire.from_json(SourceRef, ref) for ref in members["sources"]),
        is_observed=False,
        summary=members.get("summary"),
        categories=(members["category"],) if members.get("category") else (),
        severity=level,
        basis=basis,
        started_at=started_at,
        precision=members.get("datePrecision"),
        designators=tuple(wire.from_json(Designator, d) for d in members.get("designators") or ()),
        people=tuple(map(_participant, parties)),
        sites=frozenset(site(claim.ref.get("url")) or members["provider"] for claim in live),
    )


def _participant(item: Mapping[str, Any]) -> Participant:
    key = item.get("key")
    reference = id_of(key) if key else f"name:{normal_name(item['name'])}"
    return Participant(None, _role(item.get("role")), item["name"], reference)
