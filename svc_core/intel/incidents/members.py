"""What tells of an incident, each kind read into the same form."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import Any, get_args

from attrs import field, frozen

from svc_core import wire
from svc_core.formats.hazards.events import kind
from svc_core.intel.events.model import MACHINE, Cameo, OsintEvent, marks_of
from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.folding.rules import Rules, fold_contributions
from svc_core.intel.incidents.model import Participant, Role
from svc_core.intel.incidents.queue import mentioned
from svc_core.intel.linking.articles import incident_of_article, page_of
from svc_core.intel.linking.names import normal
from svc_core.intel.linking.references import id_of, of_text
from svc_core.intel.news.model import NewsItem
from svc_core.operation.facts import (
    Designator,
    Measurement,
    Place,
    Severity,
    SeverityBasis,
    SourceRef,
)

REPORT, PRESS = "report", "press"
RANKS = ("usgs", "gdacs", "reliefweb", "eonet", "ucdp", "acled", REPORT, PRESS, MACHINE)
"""Whose word counts first, as those who measure come before those who repeat."""

NAME_CHARS = 200  # a longer one is no name
ROLES = frozenset(get_args(Role))

_WORDS = {"alert": "emerging", "ongoing": "active", "current": "active", "past": "closed",
          "alert-archive": "closed"}  # fmt: skip
"""What ReliefWeb calls the status of a disaster."""


@frozen(kw_only=True)
class Member:
    """One event, item or report. `home` is the id of the incident that it makes by itself.

    `marks` are what it has in common with others of its incident, `weak` those that count where no
    story has it. `began_at` and `told_at` are the first and last sign of it in the world, `word`
    the status that its provider gives it (`open` for one that it has not closed). `certainty` is
    its provider's own word.
    """

    id: str
    home: str
    provider: str
    marks: tuple[str, ...]
    title: str
    began_at: datetime
    told_at: datetime
    sources: tuple[SourceRef, ...] = field(repr=False)
    weak: tuple[str, ...] = ()
    observed: bool = True
    summary: str | None = None
    categories: tuple[str, ...] = ()
    word: str | None = None
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
    articles: frozenset[str] = frozenset()
    sites: frozenset[str] = frozenset()
    incident_id: str | None = None

    @property
    def mentioned(self) -> tuple[Participant, ...]:
        """Whom its text mentions."""
        return _mentioned(self.text, self.told_at.date()) if self.text else ()

    @property
    def rank(self) -> int:
        """How far behind the strongest its word is."""
        return RANKS.index(self.provider) if self.provider in RANKS else RANKS.index(REPORT)

    @property
    def strength(self) -> tuple[int, datetime, str]:
        """The strongest is the least: by provider, then by who told first."""
        return self.rank, self.began_at, self.id


@lru_cache(maxsize=4_096)  # some milliseconds each, and stories are folded again and again
def _mentioned(text: str, day: date) -> tuple[Participant, ...]:
    told = of_text(text, day).items()
    return tuple(Participant(None, "mentioned", name, reference) for reference, name in told)


_SECOND = frozenset(
    ["ac", "co", "com", "edu", "gob", "gouv", "gov", "mil", "ne", "net", "nic", "or", "org"]
)


def site(url: str | None) -> str | None:
    """The registrable domain of an address: the last two labels of its host, three below a second
    level that a country keeps for everybody.
    """
    page = page_of(url)
    if page is None:
        return None
    host = str(page.hostname)
    labels = host.rstrip(".").split(".")
    is_shared = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SECOND
    return host if labels[-1].isdecimal() else ".".join(labels[-3 if is_shared else -2 :])


# -- events ------------------------------------------------------------------------------------


def mentioned_as(event: OsintEvent) -> str:
    """What the mentions of an event stand under."""
    keys = (one for one in event.designators if one.scheme == event.provider)
    return mentioned(next((f"{one.scheme}:{one.value}" for one in keys), event.id))


def of_event(event: OsintEvent, mentions: Sequence[Contribution] = ()) -> Member:
    """An event of a provider, and what it says of the articles that mention it."""
    machine = event.provider == MACHINE
    marks = tuple(marks_of(event))
    measured = event.measurements or ()
    read = [_time(one.as_of) for one in measured if isinstance(one.as_of, str)]
    signs = [event.occurred_at, event.reported_at, event.ended_at, *read]
    told = sorted(filter(None, [event.reported_at] if machine else signs)) or [event.created_at]
    said = [one.said for one in mentions if not one.gone]
    sure = [event.confidence, *(one.get("confidence") for one in said)]
    urls = [event.url, *(one.get("url") for one in said)]
    return Member(
        **{name: getattr(event, name) for name in _AS_TOLD},
        home=marks[0],
        marks=marks[:1] if machine else marks,
        weak=marks[1:] if machine else (),
        began_at=told[0],
        told_at=told[-1],
        categories=(event.category,) if event.category not in {None, "other"} else (),
        word=_word(event),
        basis=event.severity_basis,
        certainty=max((one for one in sure if one is not None), default=None),
        started_at=event.occurred_at,
        precision=event.date_precision,
        measurements=measured,
        people=tuple(
            Participant(None, _role(one.role), one.name, f"name:{normal(one.name)}")
            for one in event.actors or ()
            if one.name and len(one.name) <= NAME_CHARS
        ),
        articles=frozenset(filter(None, map(incident_of_article, urls if machine else ()))),
        sites=frozenset(filter(None, map(site, urls))) or frozenset({event.provider}),
    )


_AS_TOLD = ("id", "provider", "title", "summary", "severity", "ended_at", "place", "type", "cameo",
            "designators", "sources", "incident_id")  # fmt: skip
"""Members of an event that are those of its incident."""


def _time(told: str) -> datetime | None:
    """An instant that a measurement is of; None for a day."""
    return wire.from_json(datetime, told) if "T" in told else None


def _word(event: OsintEvent) -> str | None:
    basis = event.severity_basis
    if basis is not None and (basis.provider, basis.scale) == ("reliefweb", "status"):
        return _WORDS.get(str(basis.value).casefold())
    return "open" if event.provider == "eonet" and event.ended_at is None else None


def _role(told: str | None) -> Any:
    return told if told in ROLES else "mentioned"


# -- news --------------------------------------------------------------------------------------


def of_item(item: NewsItem, story: str) -> Member:
    """A news item of a story."""
    dated = item.seen_at
    article = incident_of_article(item.url)
    categories = (kind("topic", topic)["category"] for topic in item.topics)
    return Member(
        id=item.id,
        home=story,
        provider=PRESS,
        marks=(story, *filter(None, [article])),
        title=item.title,
        began_at=dated,
        told_at=dated,
        sources=(item.ref,),
        summary=item.summary or None,
        categories=tuple(dict.fromkeys(one for one in categories if one != "other")),
        started_at=dated.replace(hour=0, minute=0, second=0, microsecond=0),
        precision="day",
        place=item.place,
        text=f"{item.title}\n{item.summary}",
        articles=frozenset({article or item.id}),
        sites=frozenset({site(item.url) or item.source.domain or item.source.id}),
    )  # fmt: skip


# -- reports of others -------------------------------------------------------------------------


def of_report(row: str, told: Sequence[Contribution]) -> Member | None:
    """What others report under one key; None once they took it back."""
    said = fold_contributions(
        Rules(joined={"designators": ("scheme", "value"), "entities": ("name",)}), told
    )
    if said is None:
        return None
    live = [one for one in told if not one.gone]
    started = said.get("startedAt") and wire.from_json(datetime, said["startedAt"])
    basis = said.get("severityBasis") and wire.from_json(SeverityBasis, said["severityBasis"])
    dated = [one.stamp for one in live if one.stamp] or [one.read_at for one in live]
    named = [one for one in said.get("entities") or () if len(one["name"]) <= NAME_CHARS]
    return Member(
        id=row,
        home=row,
        provider=REPORT,
        marks=(row,),
        title=said["title"],
        began_at=started or min(dated),
        told_at=max(dated),
        sources=tuple(wire.from_json(SourceRef, one) for one in said["sources"]),
        observed=False,
        summary=said.get("summary"),
        categories=(said["category"],) if said.get("category") else (),
        word=said.get("status"),
        severity=said.get("severity"),
        basis=basis,
        started_at=started,
        precision=said.get("datePrecision"),
        designators=tuple(wire.from_json(Designator, one) for one in said.get("designators") or ()),
        people=tuple(map(_named, named)),
        sites=frozenset(site(one.ref.get("url")) or said["provider"] for one in live),
    )


def _named(told: Mapping[str, Any]) -> Participant:
    key = told.get("key")
    reference = id_of(key) if key else f"name:{normal(told['name'])}"
    return Participant(None, _role(told.get("role")), told["name"], reference)
