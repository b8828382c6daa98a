"""From a question to a few calls of tools, and from what they find to sentences.

Rule 1: a plan is a run of calls that is given each answer; it reads no clock and no chance, so the
        same question over the same rows has the same answer.
Rule 2: what is counted or compared was listed to its end, or the answer says that it was not.
Rule 3: what a question does not surely name is told, not guessed; what no row tells is said to be
        unknown, and cites nothing.
"""

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import product
from typing import Any, TypeVar

from attrs import define, evolve, field, frozen

from svc_core.agent import asking, facts, figures, question, telling
from svc_core.agent.facts import Said, listed, quoted
from svc_core.agent.figures import differences
from svc_core.agent.listing import Listed, distinct, holds, kinds, most
from svc_core.agent.ports import Answered, Found, Turn
from svc_core.agent.question import Asked
from svc_core.base import instants
from svc_core.intel.linking import aliases
from svc_core.intel.linking.names import normal

T = TypeVar("T")

CALLS_MAX = 24
"""Of tools in one answer; a list of many pages is several."""
_PAGES_MAX, _PAGE = 16, 100
_SHOWN_MAX, _CITED_MAX = 5, 10
_PASSAGES, _ALIKE_MAX = 20, 3


_HELP = "Nothing to look up is named: ask about incidents, news, entities, vulnerabilities, figures"


@frozen
class Call:
    """A tool that is to be called."""

    name: str
    arguments: dict[str, object]


Plan = Generator[Call, Answered, T]
Things = Sequence[tuple[str, tuple[Found, ...]]]
"""Names, and whom each means."""


def plan(turn: Turn, tools: Collection[str]) -> Plan[list[Said]]:
    """Answer the last question of a conversation with tools of these names."""
    asked = question.asked(turn)
    planner = _Planner(asked, turn.now, frozenset(tools))
    if asked.has("instruct") and not asked.cves:
        return [Said("That is nothing that the service answers: ask about what it knows", ())]
    said = yield from planner.answer()
    return said or [Said(planner.unknown(), ())]


@define
class _Planner:
    """The plan of one question."""

    asked: Asked
    now: datetime
    tools: frozenset[str]
    calls: list[tuple[Call, Answered]] = field(factory=list)
    held: list[Found] = field(factory=list)
    """Whom the question names: what is told of them may answer it."""
    is_sure: bool = True
    is_plain: bool = False
    missing: list[str] = field(factory=list)
    """What is known of nobody: the facts and the names that were looked for."""

    # -- calling -------------------------------------------------------------------------------

    def ask(self, name: str, **arguments: Any) -> Plan[Answered]:
        """One call; nothing where there is no such tool, or where there were enough of them."""
        given = {key: value for key, value in arguments.items() if value not in (None, "")}
        call = Call(name, given)
        known = next((answered for one, answered in self.calls if one == call), None)
        if known is not None:
            return known
        if name not in self.tools or len(self.calls) == CALLS_MAX:
            return Answered((), has_more=True)
        answered = yield call
        self.calls.append((call, answered))
        return answered

    def every(self, name: str, **arguments: Any) -> Plan[Answered]:
        """The rows of some pages; it `has_more` where there are others."""
        found: list[Found] = []
        first = answered = yield from self.ask(name, **arguments, limit=_PAGE)
        for _ in range(_PAGES_MAX - 1):
            found += answered.found
            cursor = answered.body.get("meta", {}).get("page", {}).get("nextCursor")
            if cursor is None:
                return evolve(first, found=tuple(found), has_more=answered.has_more)
            answered = yield from self.ask(name, **arguments, limit=_PAGE, cursor=cursor)
        return evolve(first, found=(*found, *answered.found), has_more=answered.has_more)

    # -- the ways to an answer -----------------------------------------------------------------

    def answer(self) -> Plan[list[Said]]:
        """The first way that finds something; texts go before what leaves words unexplained."""
        if self.asked.is_empty:
            return [Said(_HELP, ())]
        if self.asked.cves:
            return (yield from self.of_cves()) or (yield from self.of_texts())
        things = yield from self.things()
        unsure: list[Said] = []
        ways = (
            self.of_happened,
            self.of_metrics,
            self.of_series,
            self.of_ledger,
            self.of_reports,
            self.of_lists,
            self.of_markets,
            self.of_things,
        )
        for way in ways:
            self.is_sure = True
            said = yield from way(things)
            if said and self.is_sure:
                return said
            unsure = unsure or said
        said = yield from self.of_happenings()
        return said or (yield from self.of_texts()) or unsure

    def unknown(self) -> str:
        """That nothing is known, and of what."""
        if self.missing:
            return f"Nothing that the service knows tells {listed([*dict.fromkeys(self.missing)])}"
        names = [f"“{quoted(name)}”" for name in self.asked.names]
        of = f" of {listed(names)}" if names else ""
        return f"Nothing that the service knows tells this{of}"

    def told(self, kind: str, found: Sequence[Found]) -> list[Said]:
        """What rows of a kind tell of what is asked, and how they differ."""
        wanted = self.wanted(kind)
        said = [one for row in found for one in facts.sentences(wanted.facts, row)]
        if said and len(found) > 1:
            said += differences(wanted.facts, found)
        if not said and not wanted.is_plain:
            title = quoted(figures.name(found[0]))
            self.missing += [f"the {fact.name} of {title}" for fact in wanted.facts[:2]]
        return said

    def wanted(self, kind: str) -> facts.Wanted:
        """The facts of a kind that are asked for; none where plain words ask for something else."""
        place = ("countr",) if self.asked.countries and kind in ("actor", "entity") else ()
        wanted = facts.asked_for(kind, self.asked.phrase + place, question.generic())
        self.is_plain = wanted.is_plain
        if self.asked.has("compare") and not wanted.facts:
            return facts.asked_for(kind, ("overvi",), question.generic())
        others = [value for value in self.asked.values("number") if value[0] != kind]
        is_other = self.asked.has("metric", "series") or self.asked.beyond(wanted.cues)
        if wanted.is_plain and (is_other or others):
            return evolve(wanted, facts=())
        if ["many"] in self.asked.values("count"):
            return evolve(wanted, facts=tuple(one for one in wanted.facts if one.number))
        return wanted

    # -- vulnerabilities -----------------------------------------------------------------------

    def of_cves(self) -> Plan[list[Said]]:
        answered = yield from self.ask("get_cve", cveId=",".join(self.asked.cves[:10]))
        known = {row.row["cveId"]: row for row in answered.found}
        rows = [known[cve] for cve in self.asked.cves if cve in known]
        self.held += rows
        self.missing += [cve for cve in self.asked.cves if cve not in known]
        return self.told("cve", rows) if rows else []

    # -- entities ------------------------------------------------------------------------------

    def things(self) -> Plan[Things]:
        """Whom each name means: every entity of that very name."""
        found = []
        for name in self.asked.names:
            meant = yield from self.meant(name)
            if meant:
                self.held += meant
                found.append((name, meant))
        return found

    def meant(self, name: str) -> Plan[tuple[Found, ...]]:
        key = aliases.owner(normal(name), self.now.date())
        if key is not None and not key.startswith("cpe-vendor:"):
            answered = yield from self.ask("list_entities", designator=key, limit=5)
            if answered.found:
                return answered.found
        answered = yield from self.ask("list_entities", q=name, limit=20)
        found = _of_name(name, answered.found)
        shorter, _, last = name.rpartition(" ")
        if found or last not in self.asked.placed or not shorter:
            return found
        return (yield from self.meant(shorter))

    def of_things(self, things: Things) -> Plan[list[Said]]:
        said: list[Said] = []
        for name, meant in things:
            if len(meant) > 1:
                kinds = listed(
                    [f"{quoted(one.title)} ({facts.spaced(one.row['type'])})" for one in meant]
                )
                text = f"“{quoted(name)}” names {len(meant)} that are kept apart: {kinds}"
                said.append(Said(text, meant))
        rows = [one for _, meant in things for one in meant[:3]]
        told = [] if self.asked.has("relation") else (yield from self.of_rows(rows))
        ways = self.asked.values("relation") or self.asked.values("uses")
        if things and ways and (not told or self.is_plain):
            told = []
            for row in things[0][1][:3]:
                told += yield from self.related(row, ways[0][0])
        return [*said, *told] if told else []

    def of_rows(self, rows: Sequence[Found]) -> Plan[list[Said]]:
        by_kind: dict[str, list[Found]] = {}
        for row in rows:
            kind = {"threatActor": "actor", "vulnerability": "cve"}.get(row.row["type"], "entity")
            whole = yield from self.whole(kind, row)
            by_kind.setdefault(kind, []).append(whole)
        said = [one for kind, some in by_kind.items() for one in self.told(kind, some)]
        if not said and "actor" in by_kind:
            said = self.told("entity", by_kind["actor"])
        asked_for = (
            facts.asked_for(kind, self.asked.phrase, question.generic()) for kind in by_kind
        )
        self.is_sure = not self.asked.beyond(frozenset().union(*(one.cues for one in asked_for)))
        return said

    def whole(self, kind: str, row: Found) -> Plan[Found]:
        """A row with what its kind has besides."""
        if kind == "actor":
            answered = yield from self.ask("get_actor", q=row.title)
            return next((one for one in answered.found if one.id == row.id), row)
        return evolve(row, row={**row.row, **row.row.get("cve", {})})

    def related(self, thing: Found, way: str) -> Plan[list[Said]]:
        """What the graph has beside it: what it leads to (`down`), what leads to it, or both."""
        answered = yield from self.ask("entity_graph", entityId=thing.id, depth=1)
        graph = answered.body.get("data", {})
        labels = {node["id"]: quoted(node["label"]) for node in graph.get("nodes", ())}
        cited = evolve(thing, path=answered.path)
        others = {one.id for one in self.held} - {thing.id}
        said = [
            Said(" – ".join((labels[one], facts.spaced(edge["type"]), labels[other])), (cited,))
            for edge in graph.get("edges", ())
            if (one := edge["sourceId"]) in labels and (other := edge["targetId"]) in labels
            if (way == "any" or (one if way == "down" else other) == thing.id)
            and (not others or {one, other} & others)
        ]
        return said[:_SHOWN_MAX]

    # -- numbers of companies and countries ----------------------------------------------------

    def of_metrics(self, things: Things) -> Plan[list[Said]]:
        metrics = [value[0] for value in self.asked.values("metric")]
        companies = [one for _, meant in things for one in meant if one.row["type"] == "company"]
        chosen: list[Found] = []
        for metric, company in product(metrics[:2], companies[:3]):
            rows = yield from self.every(
                "list_financial_observations", entityId=company.id, metric=metric
            )
            picked = figures.of_company(company, rows.found, self.asked)
            chosen += picked
            if not picked:
                self.missing.append(f"the {facts.spaced(metric)} of {quoted(company.title)}")
        wanted = facts.facts("observation")
        return [*_all(wanted, chosen), *differences(wanted, chosen)]

    def of_series(self, _things: Things) -> Plan[list[Said]]:
        asked, span = self.asked, self.asked.span
        is_named = asked.has("series", "currency")
        if not is_named and (not asked.countries or asked.kinds or not asked.rest()):
            return []
        found: list[Found] = []
        areas = [{"area": value[0]} for value in asked.values("region")]
        areas += [{"country": ",".join(asked.countries)}] if asked.countries else []
        ends = {"periodFrom": span.start, "periodTo": span.end} if span else {}
        given: dict[str, Any] = {name: at.date().isoformat() for name, at in ends.items() if at}
        is_change = asked.has("change")
        for area in areas or [{}]:
            newest = {} if span or is_change else {"latest": True}
            answered = yield from self.every("list_finint", **area, **given, **newest)
            if newest and any(row.row["value"] is None for row in answered.found):
                answered = yield from self.every("list_finint", **area)
            found += figures.known(answered.found, is_first=is_change, all_=bool(span))
        rows, beyond = figures.of_series(found, asked)
        if beyond > is_named:
            return []
        self.is_sure = not beyond
        wanted = facts.facts("finint")
        is_compared = len(asked.countries) + len(asked.values("region")) > 1 or is_change
        if asked.has("most", "least") and not is_compared:
            word, _, best = most(rows, "value", is_least=asked.has("least"))
            return [
                evolve(one, text=f"The {word} of {len(rows)} values: {one.text}")
                for one in _all(wanted, best)
            ]
        shown = rows[: max(_SHOWN_MAX, len(asked.countries))]
        return [*_all(wanted, shown), *(differences(wanted, shown) if is_compared else ())]

    # -- the ledger ----------------------------------------------------------------------------

    def of_ledger(self, things: Things) -> Plan[list[Said]]:
        if "ledger" not in self.asked.kinds and (things or not self.asked.names):
            return []
        answered = yield from self.ask("search_ledger_subjects", limit=_PAGE)
        if not (self.asked.names or self.asked.beyond(frozenset())):
            lines = _all(facts.facts("subject"), answered.found[:_SHOWN_MAX])
            what = facts.several(len(answered.found), "subject of the ledger")
            return [self.count(what, answered), *lines]
        words = facts.phrase(self.asked.text)
        names = [normal(name).split() for name in self.asked.names]
        for subject in answered.found:
            label = normal(subject.title).split()
            if facts.within(facts.phrase(subject.title), words) or any(
                facts.within(tuple(name), tuple(label)) for name in names
            ):
                return (yield from self.folded(subject))
        return []

    def folded(self, subject: Found) -> Plan[list[Said]]:
        """What the ledger believes of a subject, as of the time that is asked for."""
        then = self.asked.span.last if self.asked.span else None
        time = "recordTime" if self.asked.has("recorded") else "validTime"
        answered = yield from self.ask("fold_ledger_subject", subjectId=subject.id, **{time: then})
        views = [evolve(one, title=subject.title) for one in answered.found]
        wanted = {word for text in self.asked.rest() for word in facts.phrase(text)}
        others = self.asked.beyond(frozenset(facts.phrase(subject.title)))
        return [one for view in views for one in facts.claims(view, wanted, all_=not others)]

    # -- lists ---------------------------------------------------------------------------------

    def of_lists(self, things: Things) -> Plan[list[Said]]:
        asked = self.asked
        named = [asked.counted] if asked.counted else asked.kinds
        kind = next((kind for kind in named if kind in kinds()), None)
        is_list = asked.counted or asked.has("list", "latest", "earliest", "most", "least")
        if kind is None or asked.has("negation") or not (is_list or asked.bounds):
            return []
        if kind == "entity" and things:
            return []
        users = [one for _, meant in things for one in meant if one.row["type"] != "threatActor"]
        if kind == "actor" and users:
            way = "any" if users[0].row["type"] == "campaign" else "up"
            return (yield from self.related(users[0], way))
        listing = Listed(asked, kind)
        entities = [one for _, meant in things for one in meant if kind != "entity"]
        answered = Answered(())
        for arguments in listing.ways(entities):
            given = yield from self.every(listing.rows.tool, **arguments)
            kept = listing.kept(given.found, entities if "entityId" in arguments else ())
            answered = evolve(given, found=tuple(kept))
            if kept:
                return self.listed(listing, answered)
        if listing.about or answered.has_more:
            return []
        return [Said(f"The service knows {listing.named(())}", ())]

    def listed(self, listing: Listed, answered: Answered) -> list[Said]:
        """How many there are, which is foremost, or some of them."""
        rows = distinct(listing.dated(answered.found))
        lines = listing.lines(rows[:_SHOWN_MAX])
        named = listing.named(answered.found)
        if self.asked.counted:
            return [self.count(named, answered), *lines]
        is_news = listing.kind == "news" and self.asked.has("latest")
        if not is_news and (foremost := listing.foremost(answered.found)):
            word, path, best = foremost
            best = distinct(best)
            wanted = [fact for fact in facts.facts(listing.kind) if fact.number == path][:1]
            among = f"The {word} of {_least(answered)}{named}"
            told = _all(wanted, best[:_SHOWN_MAX]) or listing.lines(best[:_SHOWN_MAX])
            return [evolve(one, text=f"{among}: {one.text}") for one in told]
        is_long = len(rows) > _SHOWN_MAX and not is_news
        return [self.count(named, answered), *lines] if is_long else lines

    def count(self, what: str, answered: Answered) -> Said:
        """How many rows there are; they are cited, or where there are many, their list."""
        rows, least = answered.found, _least(answered)
        place = Found(str(answered.path), f"List: {what}", answered.path, {})
        apart = len(distinct(rows))
        told = f"{facts.several(apart, 'incident')} in {least}" if apart < len(rows) else least
        cited = rows if 0 < len(rows) <= _CITED_MAX else (place,)
        return Said(f"The service knows {told}{what}", cited)

    def of_happened(self, _things: Things) -> Plan[list[Said]]:
        """What is told of a place, a time or a subject: sentences of texts, then incidents."""
        asked = self.asked
        if not asked.has("happened") or asked.has("kind"):
            return []
        said = []
        if asked.names or asked.rest():
            said = yield from self.of_texts()
        said = [one for one in said if one.text not in {row.title for row in one.found}]
        listing = Listed(asked, "incident")
        for arguments in listing.ways(()):
            answered = yield from self.every("list_incidents", **arguments)
            rows = listing.dated(listing.kept(answered.found, ()))
            told = {one.id for each in said for one in each.found}
            said += listing.lines([one for one in rows if one.id not in told][:_SHOWN_MAX])
        return said

    # -- texts ---------------------------------------------------------------------------------

    def of_reports(self, _things: Things) -> Plan[list[Said]]:
        """What the report says that is most about what is asked, the latest of several."""
        if "report" not in self.asked.kinds or not self.asked.has("tells"):
            return []
        about = Listed(self.asked, "report").about
        answered = yield from self.ask("search_reports", limit=_PAGE)
        held = [sum(holds(row.row, facts.phrase(word)) for word in about) for row in answered.found]
        if not held or (about and not max(held)):
            return []
        best = answered.found[held.index(max(held))]
        whole = yield from self.ask("get_report", reportId=best.id)
        points = [one["text"] for row in whole.found for one in row.row["keyPoints"]]
        passage = telling.Passage(0, best.title, "\n".join(points))
        chosen = [one.text for one in telling.select(self.asked.text, [passage], self.now)]
        return [Said(quoted(text), (best,)) for text in (chosen or points)[:_SHOWN_MAX]]

    def of_markets(self, _things: Things) -> Plan[list[Said]]:
        return (yield from self.described("market")) if "market" in self.asked.kinds else []

    def of_happenings(self) -> Plan[list[Said]]:
        """What the incident or event that is described tells."""
        return (yield from self.described("incident")) or (yield from self.described("event"))

    def described(self, kind: str) -> Plan[list[Said]]:
        wanted = self.wanted(kind)
        if not wanted.facts or not (self.asked.rest(kind) or self.asked.countries):
            return []
        listing = Listed(self.asked, kind)
        answered = yield from self.ask(
            listing.rows.tool, **(listing.sought(wanted.cues) or listing.filters), limit=_PAGE
        )
        rows = listing.described(answered.found, wanted.cues)
        telling = [row for row in rows if facts.sentences(wanted.facts, row)]
        return _all(wanted.facts, telling) if len(telling) <= _ALIKE_MAX else []

    def of_texts(self) -> Plan[list[Said]]:
        """What texts say: those that hold most of its words, and those that hold its names."""
        about = " ".join([*self.asked.names, *self.asked.rest()]).split()
        words = " ".join(dict.fromkeys(about))[:300] or self.asked.text[:300]
        whole = self.asked.whole
        named = " ".join(one.word for one in asking.asked(whole).names)[:300]
        found = [one for one in self.held if one.row.get("description")]
        own = {one.title for one in found}
        looked: list[tuple[str, dict[str, Any]]] = [
            ("retrieve_knowledge", {"query": words, "kinds": ["report", "signal"]}),
            ("list_news", {"q": words}),
            ("list_incidents", {"q": words}),
            ("search_reports", {}),
        ]
        if named not in ("", words):
            looked.insert(2, ("list_news", {"q": named}))
        for name, arguments in looked:
            answered = yield from self.ask(name, **arguments, limit=_PASSAGES)
            found += answered.found
        passages = [_passage(number, row) for number, row in enumerate(found)]
        if (span := self.asked.span) and self.asked.has("happened"):
            passages = [one for one in passages if one.at and span.holds(instants.render(one.at))]
        chosen = telling.select(whole, passages, self.now)
        told = (one for one in chosen if one.text not in own)
        return [Said(one.text, tuple(found[n] for n in one.numbers)) for one in told]


# -- rows --------------------------------------------------------------------------------------


def _of_name(name: str, found: Sequence[Found]) -> tuple[Found, ...]:
    """The rows of exactly this name; else the only one whose name begins or stands in it so."""
    wanted = normal(name).split()
    labelled = [(one, [normal(label).split() for label in _labels(one.row)]) for one in found]
    exact = tuple(one for one, labels in labelled if wanted in labels)
    same = tuple(one for one in exact if facts.phrase(one.title) == facts.phrase(name))
    if exact:
        return same if same and len(wanted) < len(facts.phrase(name)) else exact
    inside = [
        (max(map(len, held)), one)
        for one, labels in labelled
        if (held := [some for some in labels if facts.within(tuple(some), tuple(wanted))])
    ]
    if inside:
        most = max(size for size, _ in inside)
        return tuple(one for size, one in inside if size == most)
    begun = [
        one for one, labels in labelled if any(label[: len(wanted)] == wanted for label in labels)
    ]
    return tuple(begun) if len(begun) == 1 else ()


def _labels(row: Mapping[str, Any]) -> list[str]:
    told = (*row.get("aliases", ()), *row.get("weakAliases", ()))
    names = [one["name"] if isinstance(one, Mapping) else one for one in told]
    return [row["name"], *names, *(one["value"] for one in row.get("designators", ()))]


def _all(wanted: Sequence[facts.Fact], rows: Iterable[Found]) -> list[Said]:
    return [one for row in rows for one in facts.sentences(wanted, row)]


def _least(answered: Answered) -> str:
    return "at least " if answered.has_more else ""


def _passage(number: int, found: Found) -> telling.Passage:
    row = found.row
    excerpt = row.get("excerpt") or {}
    text = excerpt.get("text") or row.get("summary") or row.get("description") or ""
    named = ("publishedAt", "occurredAt", "startedAt", "generatedAt", "recordedAt")
    at = next((row[name] for name in named if row.get(name)), None)
    return telling.Passage(number, found.title, text, None if at is None else instants.parse(at))
