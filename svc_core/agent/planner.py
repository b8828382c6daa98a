"""Plans the answer to a question: a few tool calls, and sentences from what they find.

Rule 1: a plan is a generator of calls that is sent each answer; it reads no clock and no chance, so
        the same question over the same rows has the same answer.
Rule 2: what is counted or compared was listed to its end, or the answer says that it was not.
Rule 3: where a name means several entities, the answer says so instead of guessing; what no row
        states is said to be unknown, and cites nothing.
"""

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import product
from typing import Any, TypeVar

from attrs import define, evolve, field, frozen

from svc_core.agent import (
    figures,
    question,
)
from svc_core.agent import (
    passages as telling,
)
from svc_core.agent import (
    row_facts as facts,
)
from svc_core.agent import (
    text_query as asking,
)
from svc_core.agent.agent_ports import ToolAnswer, ToolHit, Turn
from svc_core.agent.figures import figure_differences
from svc_core.agent.listing import ListQuery, distinct, extreme_rows, has_words, row_kinds
from svc_core.agent.question import ParsedQuestion
from svc_core.agent.row_facts import CitedSentence, english_list, quote_text
from svc_core.base import instants
from svc_core.intel.linking import aliases
from svc_core.intel.linking.name_forms import normal_name

T = TypeVar("T")

CALLS_MAX = 24
"""Tool calls of one answer; each page of a list is one."""
_PAGES_MAX, _PAGE = 16, 100
_SHOWN_MAX, _CITED_MAX = 5, 10
_PASSAGES, _ALIKE_MAX = 20, 3


_HELP = "Nothing to look up is named: ask about incidents, news, entities, vulnerabilities, figures"


@frozen
class _Call:
    """A tool call that the plan asks for."""

    name: str
    arguments: dict[str, object]


Plan = Generator[_Call, ToolAnswer, T]
NamedEntities = Sequence[tuple[str, tuple[ToolHit, ...]]]
"""Names of a question, each with the entities that it may mean."""


def plan_answer(turn: Turn, tools: Collection[str]) -> Plan[list[CitedSentence]]:
    """Plan the answer to the last question of a conversation with tools of these names."""
    parsed = question.question_of(turn)
    planner = _Planner(parsed, turn.now, frozenset(tools))
    if parsed.has("instruct") and not parsed.cves:
        return [
            CitedSentence("That is nothing that the service answers: ask about what it knows", ())
        ]
    sentences = yield from planner.answer()
    return sentences or [CitedSentence(planner.unknown(), ())]


@define
class _Planner:
    """The plan of one question: what was called so far, and what was missed."""

    question: ParsedQuestion
    now: datetime
    tools: frozenset[str]
    calls: list[tuple[_Call, ToolAnswer]] = field(factory=list)
    subjects: list[ToolHit] = field(factory=list)
    """The rows that the question names: their descriptions may answer it."""
    is_sure: bool = True
    is_plain: bool = False
    missing: list[str] = field(factory=list)
    """The facts and names that were looked for and not found."""

    # -- calling -------------------------------------------------------------------------------

    def call(self, name: str, **arguments: Any) -> Plan[ToolAnswer]:
        """Call a tool once; an empty answer where it does not exist or all calls are spent."""
        inputs = {key: value for key, value in arguments.items() if value not in (None, "")}
        request = _Call(name, inputs)
        earlier = next((answer for past, answer in self.calls if past == request), None)
        if earlier is not None:
            return earlier
        if name not in self.tools or len(self.calls) == CALLS_MAX:
            return ToolAnswer((), has_more=True)
        answer = yield request
        self.calls.append((request, answer))
        return answer

    def list_all(self, name: str, **arguments: Any) -> Plan[ToolAnswer]:
        """The rows of all pages up to a bound; `has_more` where there are others."""
        hits: list[ToolHit] = []
        first = answer = yield from self.call(name, **arguments, limit=_PAGE)
        for _ in range(_PAGES_MAX - 1):
            hits += answer.hits
            cursor = answer.body.get("meta", {}).get("page", {}).get("nextCursor")
            if cursor is None:
                return evolve(first, hits=tuple(hits), has_more=answer.has_more)
            answer = yield from self.call(name, **arguments, limit=_PAGE, cursor=cursor)
        return evolve(first, hits=(*hits, *answer.hits), has_more=answer.has_more)

    # -- the ways to an answer -----------------------------------------------------------------

    def answer(self) -> Plan[list[CitedSentence]]:
        """The sentences of the first strategy that finds some; texts precede a partial match."""
        if self.question.is_empty:
            return [CitedSentence(_HELP, ())]
        if self.question.cves:
            return (yield from self.answer_cves()) or (yield from self.answer_texts())
        entities = yield from self.find_entities()
        unsure: list[CitedSentence] = []
        ways = (
            self.answer_news,
            self.answer_metrics,
            self.answer_series,
            self.answer_ledger,
            self.answer_reports,
            self.answer_lists,
            self.answer_markets,
            self.answer_entities,
        )
        for way in ways:
            self.is_sure = True
            sentences = yield from way(entities)
            if sentences and self.is_sure:
                return sentences
            unsure = unsure or sentences
        sentences = yield from self.answer_events()
        return sentences or (yield from self.answer_texts()) or unsure

    def unknown(self) -> str:
        """The sentence that nothing is known, and of what."""
        if self.missing:
            missing = english_list([*dict.fromkeys(self.missing)])
            return f"The service does not know {missing}"
        names = [f"“{quote_text(name)}”" for name in self.question.names]
        return f"The service has no answer {f'about {english_list(names)}' if names else 'to this'}"

    def sentences_of(self, kind: str, hits: Sequence[ToolHit]) -> list[CitedSentence]:
        """What rows of a kind state of the facts that are asked for, and how they differ."""
        query = self.fact_query(kind)
        sentences = [sentence for row in hits for sentence in facts.row_sentences(query.facts, row)]
        if sentences and len(hits) > 1:
            sentences += figure_differences(query.facts, hits)
        if not sentences and not query.is_plain:
            title = quote_text(figures.subject_name(hits[0]))
            self.missing += [f"the {fact.name} of {title}" for fact in query.facts[:2]]
        return sentences

    def fact_query(self, kind: str) -> facts.FactQuery:
        """The facts of a kind that are asked for; none where general words mean something else."""
        place = ("countr",) if self.question.countries and kind in ("actor", "entity") else ()
        query = facts.query_facts(kind, self.question.phrase + place, question.generic_words())
        self.is_plain = query.is_plain
        if self.question.has("compare") and not query.facts:
            return facts.query_facts(kind, ("overvi",), question.generic_words())
        numbers = [value for value in self.question.values("number") if value[0] != kind]
        is_other = self.question.has("metric", "series") or self.question.unknown_words(query.cues)
        if query.is_plain and (is_other or numbers):
            return evolve(query, facts=())
        if ["many"] in self.question.values("count"):
            return evolve(query, facts=tuple(fact for fact in query.facts if fact.number))
        return query

    # -- vulnerabilities -----------------------------------------------------------------------

    def answer_cves(self) -> Plan[list[CitedSentence]]:
        answer = yield from self.call("get_cve", cveId=",".join(self.question.cves[:10]))
        rows_by_id = {row.row["cveId"]: row for row in answer.hits}
        rows = [rows_by_id[cve] for cve in self.question.cves if cve in rows_by_id]
        self.subjects += rows
        self.missing += [cve for cve in self.question.cves if cve not in rows_by_id]
        return self.sentences_of("cve", rows) if rows else []

    # -- entities ------------------------------------------------------------------------------

    def find_entities(self) -> Plan[NamedEntities]:
        """The entities that each name of the question may mean."""
        entities = []
        for name in self.question.names:
            matches = yield from self.entities_named(name)
            if matches:
                self.subjects += matches
                entities.append((name, matches))
        return entities

    def entities_named(self, name: str) -> Plan[tuple[ToolHit, ...]]:
        key = aliases.owner(normal_name(name), self.now.date())
        if key is not None and not key.startswith("cpe-vendor:"):
            answer = yield from self.call("list_entities", designator=key, limit=5)
            if answer.hits:
                return answer.hits
        answer = yield from self.call("list_entities", q=name, limit=20)
        hits = _hits_named(name, answer.hits)
        shorter, _, last = name.rpartition(" ")
        if hits or last not in self.question.country_words or not shorter:
            return hits
        return (yield from self.entities_named(shorter))

    def answer_entities(self, entities: NamedEntities) -> Plan[list[CitedSentence]]:
        sentences: list[CitedSentence] = []
        for name, matches in entities:
            if len(matches) > 1:
                kinds = english_list(
                    [
                        f"{quote_text(hit.title)} ({facts.in_words(hit.row['type'])})"
                        for hit in matches
                    ]
                )
                text = f"“{quote_text(name)}” names {len(matches)} that are kept apart: {kinds}"
                sentences.append(CitedSentence(text, matches))
        rows = [hit for _, matches in entities for hit in matches[:3]]
        facts_ = [] if self.question.has("relation") else (yield from self.answer_rows(rows))
        ways = self.question.values("relation") or self.question.values("uses")
        if entities and ways and (not facts_ or self.is_plain):
            facts_ = []
            for row in entities[0][1][:3]:
                facts_ += yield from self.relations(row, ways[0][0])
        return [*sentences, *facts_] if facts_ else []

    def answer_rows(self, rows: Sequence[ToolHit]) -> Plan[list[CitedSentence]]:
        by_kind: dict[str, list[ToolHit]] = {}
        for row in rows:
            kind = {"threatActor": "actor", "vulnerability": "cve"}.get(row.row["type"], "entity")
            whole = yield from self.full_row(kind, row)
            by_kind.setdefault(kind, []).append(whole)
        lines = [line for kind, hits in by_kind.items() for line in self.sentences_of(kind, hits)]
        if not lines and "actor" in by_kind:
            lines = self.sentences_of("entity", by_kind["actor"])
        phrase, generic = self.question.phrase, question.generic_words()
        queries = (facts.query_facts(kind, phrase, generic) for kind in by_kind)
        cues: frozenset[str] = frozenset().union(*(query.cues for query in queries))
        self.is_sure = not self.question.unknown_words(cues)
        return lines

    def full_row(self, kind: str, row: ToolHit) -> Plan[ToolHit]:
        """A row with the members that only the operation for its kind answers."""
        if kind == "actor":
            answer = yield from self.call("get_actor", q=row.title)
            return next((hit for hit in answer.hits if hit.id == row.id), row)
        return evolve(row, row={**row.row, **row.row.get("cve", {})})

    def relations(self, entity: ToolHit, way: str) -> Plan[list[CitedSentence]]:
        """Edges of an entity: those that leave it (`down`), those that reach it (`up`), or both."""
        answer = yield from self.call("entity_graph", entityId=entity.id, depth=1)
        graph = answer.body.get("data", {})
        labels = {node["id"]: quote_text(node["label"]) for node in graph.get("nodes", ())}
        citation = evolve(entity, path=answer.path)
        subjects = {hit.id for hit in self.subjects} - {entity.id}
        sentences = [
            CitedSentence(
                " – ".join((labels[source], facts.in_words(edge["type"]), labels[target])),
                (citation,),
            )
            for edge in graph.get("edges", ())
            if (source := edge["sourceId"]) in labels and (target := edge["targetId"]) in labels
            if (way == "any" or (source if way == "down" else target) == entity.id)
            and (not subjects or {source, target} & subjects)
        ]
        return sentences[:_SHOWN_MAX]

    # -- numbers of companies and countries ----------------------------------------------------

    def answer_metrics(self, names: NamedEntities) -> Plan[list[CitedSentence]]:
        metrics = [value[0] for value in self.question.values("metric")]
        companies = [hit for _, hits in names for hit in hits if hit.row["type"] == "company"]
        picks: list[ToolHit] = []
        tool = "list_financial_observations"
        for metric, company in product(metrics[:2], companies[:3]):
            rows = yield from self.list_all(tool, entityId=company.id, metric=metric)
            values = figures.company_figures(company, rows.hits, self.question)
            picks += values
            if not values:
                self.missing.append(f"the {facts.in_words(metric)} of {quote_text(company.title)}")
        measures = facts.facts_of("observation")
        return [*_sentences(measures, picks), *figure_differences(measures, picks)]

    def answer_series(self, _things: NamedEntities) -> Plan[list[CitedSentence]]:
        question, span = self.question, self.question.span
        is_named = question.has("series", "currency")
        is_other = not question.countries or question.kinds or not question.subject_words()
        if is_other and not is_named:
            return []
        hits: list[ToolHit] = []
        areas = [{"area": value[0]} for value in question.values("region")]
        areas += [{"country": ",".join(question.countries)}] if question.countries else []
        ends = {"periodFrom": span.start, "periodTo": span.end} if span else {}
        bounds: dict[str, Any] = {name: at.date().isoformat() for name, at in ends.items() if at}
        is_change = question.has("change")
        for area in areas or [{}]:
            newest = {} if span or is_change else {"latest": True}
            answer = yield from self.list_all("list_finint", **area, **bounds, **newest)
            if newest and any(row.row["value"] is None for row in answer.hits):
                answer = yield from self.list_all("list_finint", **area)
            hits += figures.series_ends(answer.hits, is_first=is_change, is_full=bool(span))
        rows, beyond = figures.meant_series(hits, question)
        if beyond > is_named:
            return []
        self.is_sure = not beyond
        measures = facts.facts_of("finint")
        is_compared = len(question.countries) + len(question.values("region")) > 1 or is_change
        if question.has("most", "least") and not is_compared:
            word, _, best = extreme_rows(rows, "value", is_least=question.has("least"))
            return [
                evolve(sentence, text=f"The {word} of {len(rows)} values: {sentence.text}")
                for sentence in _sentences(measures, best)
            ]
        top = rows[: max(_SHOWN_MAX, len(question.countries))]
        return [
            *_sentences(measures, top),
            *(figure_differences(measures, top) if is_compared else ()),
        ]

    # -- the ledger ----------------------------------------------------------------------------

    def answer_ledger(self, entities: NamedEntities) -> Plan[list[CitedSentence]]:
        if "ledger" not in self.question.kinds and (entities or not self.question.names):
            return []
        answer = yield from self.call("search_ledger_subjects", limit=_PAGE)
        if not (self.question.names or self.question.unknown_words(frozenset())):
            lines = _sentences(facts.facts_of("subject"), answer.hits[:_SHOWN_MAX])
            noun = facts.count_noun(len(answer.hits), "subject of the ledger")
            return [self.count_sentence(noun, answer), *lines]
        words = facts.phrase(self.question.text)
        names = [normal_name(name).split() for name in self.question.names]
        for subject in answer.hits:
            label = normal_name(subject.title).split()
            if facts.is_run_of(facts.phrase(subject.title), words) or any(
                facts.is_run_of(tuple(name), tuple(label)) for name in names
            ):
                return (yield from self.ledger_view(subject))
        return []

    def ledger_view(self, subject: ToolHit) -> Plan[list[CitedSentence]]:
        """What the ledger believes of a subject, as of the time that is asked for."""
        time = self.question.span.last if self.question.span else None
        axis = "recordTime" if self.question.has("recorded") else "validTime"
        answer = yield from self.call("fold_ledger_subject", subjectId=subject.id, **{axis: time})
        views = [evolve(hit, title=subject.title) for hit in answer.hits]
        terms = {word for text in self.question.subject_words() for word in facts.phrase(text)}
        unknown = self.question.unknown_words(frozenset(facts.phrase(subject.title)))
        return [
            sentence
            for view in views
            for sentence in facts.ledger_sentences(view, terms, is_full=not unknown)
        ]

    # -- lists ---------------------------------------------------------------------------------

    def answer_lists(self, named: NamedEntities) -> Plan[list[CitedSentence]]:
        question = self.question
        names = [question.counted_kind] if question.counted_kind else question.kinds
        kind = next((kind for kind in names if kind in row_kinds()), None)
        is_list = question.counted_kind or question.has(
            "list", "latest", "earliest", "most", "least"
        )
        if kind is None or question.has("negation") or not (is_list or question.thresholds):
            return []
        if kind == "entity" and named:
            return []
        users = [hit for _, matches in named for hit in matches if hit.row["type"] != "threatActor"]
        if kind == "actor" and users:
            way = "any" if users[0].row["type"] == "campaign" else "up"
            return (yield from self.relations(users[0], way))
        listing = ListQuery(question, kind)
        scope = [hit for _, matches in named for hit in matches if kind != "entity"]
        answer = ToolAnswer(())
        for arguments in listing.attempts(scope):
            page = yield from self.list_all(listing.row_kind.tool, **arguments)
            hits = listing.matches(page.hits, scope if "entityId" in arguments else ())
            answer = evolve(page, hits=tuple(hits))
            if hits:
                return self.list_sentences(listing, answer)
        if listing.terms or answer.has_more:
            return []
        return [CitedSentence(f"The service knows {listing.summary(())}", ())]

    def list_sentences(self, listing: ListQuery, answer: ToolAnswer) -> list[CitedSentence]:
        """How many rows there are, which is the extreme, or some of them."""
        rows = distinct(listing.by_date(answer.hits))
        lines = listing.lines(rows[:_SHOWN_MAX])
        summary = listing.summary(answer.hits)
        if self.question.counted_kind:
            return [self.count_sentence(summary, answer), *lines]
        is_news = listing.kind == "news" and self.question.has("latest")
        if not is_news and (foremost := listing.foremost(answer.hits)):
            word, path, best = foremost
            best = distinct(best)
            measures = [fact for fact in facts.facts_of(listing.kind) if fact.number == path][:1]
            among = f"The {word} of {_at_least(answer)}{summary}"
            sentences = _sentences(measures, best[:_SHOWN_MAX]) or listing.lines(best[:_SHOWN_MAX])
            return [evolve(sentence, text=f"{among}: {sentence.text}") for sentence in sentences]
        is_long = len(rows) > _SHOWN_MAX and not is_news
        return [self.count_sentence(summary, answer), *lines] if is_long else lines

    def count_sentence(self, noun: str, answer: ToolAnswer) -> CitedSentence:
        """How many rows there are; it cites them, or where there are many, their list."""
        rows, least = answer.hits, _at_least(answer)
        place = ToolHit(str(answer.path), f"List: {noun}", answer.path, {})
        total = len(distinct(rows))
        count = f"{facts.count_noun(total, 'incident')} in {least}" if total < len(rows) else least
        citations = rows if 0 < len(rows) <= _CITED_MAX else (place,)
        return CitedSentence(f"The service knows {count}{noun}", citations)

    def answer_news(self, _things: NamedEntities) -> Plan[list[CitedSentence]]:
        """What happened at a place, in a time or to a subject: from texts, then incidents."""
        question = self.question
        if not question.has("happened") or question.has("kind"):
            return []
        lines = []
        if question.names or question.subject_words():
            lines = yield from self.answer_texts()
        lines = [line for line in lines if line.text not in {row.title for row in line.hits}]
        listing = ListQuery(question, "incident")
        for arguments in listing.attempts(()):
            answer = yield from self.list_all("list_incidents", **arguments)
            rows = listing.matches(answer.hits, ())
            cited_ids = {hit.id for line in lines for hit in line.hits}
            lines += listing.lines([hit for hit in rows if hit.id not in cited_ids][:_SHOWN_MAX])
        return lines

    # -- texts ---------------------------------------------------------------------------------

    def answer_reports(self, _things: NamedEntities) -> Plan[list[CitedSentence]]:
        """What a report on the subject says; the latest, where several match."""
        if "report" not in self.question.kinds or not self.question.has("tells"):
            return []
        terms = ListQuery(self.question, "report").terms
        answer = yield from self.call("search_reports", limit=_PAGE)
        scores = [
            sum(has_words(row.row, facts.phrase(word)) for word in terms) for row in answer.hits
        ]
        if not scores or (terms and not max(scores)):
            return []
        best = answer.hits[scores.index(max(scores))]
        detail = yield from self.call("get_report", reportId=best.id)
        points = [point["text"] for row in detail.hits for point in row.row["keyPoints"]]
        passage = telling.Passage(0, best.title, "\n".join(points))
        picks = [pick.text for pick in telling.select(self.question.text, [passage], self.now)]
        return [CitedSentence(quote_text(text), (best,)) for text in (picks or points)[:_SHOWN_MAX]]

    def answer_markets(self, _things: NamedEntities) -> Plan[list[CitedSentence]]:
        return (yield from self.facts_about("market")) if "market" in self.question.kinds else []

    def answer_events(self) -> Plan[list[CitedSentence]]:
        """What the incident or event that the question describes states."""
        return (yield from self.facts_about("incident")) or (yield from self.facts_about("event"))

    def facts_about(self, kind: str) -> Plan[list[CitedSentence]]:
        query = self.fact_query(kind)
        if not query.facts or not (self.question.subject_words(kind) or self.question.countries):
            return []
        listing = ListQuery(self.question, kind)
        inputs = listing.query_input(query.cues) or listing.filters
        answer = yield from self.call(listing.row_kind.tool, **inputs, limit=_PAGE)
        rows = listing.subject_rows(answer.hits, query.cues)
        candidates = [row for row in rows if facts.row_sentences(query.facts, row)]
        return _sentences(query.facts, candidates) if len(candidates) <= _ALIKE_MAX else []

    def answer_texts(self) -> Plan[list[CitedSentence]]:
        """Sentences of texts that share most words with the question, or hold its names."""
        terms = " ".join([*self.question.names, *self.question.subject_words()]).split()
        words = " ".join(dict.fromkeys(terms))[:300] or self.question.text[:300]
        full_text = self.question.full_text
        names = " ".join(name.word for name in asking.query_of(full_text).names)[:300]
        hits = [hit for hit in self.subjects if hit.row.get("description")]
        subject_titles = {hit.title for hit in hits}
        calls: list[tuple[str, dict[str, Any]]] = [
            ("retrieve_knowledge", {"query": words, "kinds": ["report", "signal"]}),
            ("list_news", {"q": words}),
            ("list_incidents", {"q": words}),
            ("search_reports", {}),
        ]
        if names not in ("", words):
            calls.insert(2, ("list_news", {"q": names}))
        for name, arguments in calls:
            answer = yield from self.call(name, **arguments, limit=_PASSAGES)
            hits += answer.hits
        texts = [_passage(number, row) for number, row in enumerate(hits)]
        if (span := self.question.span) and self.question.has("happened"):
            texts = [item for item in texts if item.at and span.contains(instants.render(item.at))]
        picks = telling.select(full_text, texts, self.now)
        quotes = (pick for pick in picks if pick.text not in subject_titles)
        return [CitedSentence(pick.text, tuple(hits[n] for n in pick.numbers)) for pick in quotes]


# -- rows --------------------------------------------------------------------------------------


def _hits_named(name: str, hits: Sequence[ToolHit]) -> tuple[ToolHit, ...]:
    """The hits of exactly this name; else the only one whose name begins with it or holds it."""
    words = normal_name(name).split()
    pairs = [(hit, [normal_name(label).split() for label in _labels(hit.row)]) for hit in hits]
    exact = tuple(hit for hit, labels in pairs if words in labels)
    verbatim = tuple(hit for hit in exact if facts.phrase(hit.title) == facts.phrase(name))
    if exact:
        return verbatim if verbatim and len(words) < len(facts.phrase(name)) else exact
    inside = [
        (max(map(len, parts)), hit)
        for hit, labels in pairs
        if (parts := [label for label in labels if facts.is_run_of(tuple(label), tuple(words))])
    ]
    if inside:
        longest = max(size for size, _ in inside)
        return tuple(hit for size, hit in inside if size == longest)
    prefixes = [
        hit for hit, labels in pairs if any(label[: len(words)] == words for label in labels)
    ]
    return tuple(prefixes) if len(prefixes) == 1 else ()


def _labels(row: Mapping[str, Any]) -> list[str]:
    aliases_ = (*row.get("aliases", ()), *row.get("weakAliases", ()))
    names = [alias["name"] if isinstance(alias, Mapping) else alias for alias in aliases_]
    return [row["name"], *names, *(key["value"] for key in row.get("designators", ()))]


def _sentences(measures: Sequence[facts.Fact], rows: Iterable[ToolHit]) -> list[CitedSentence]:
    return [sentence for row in rows for sentence in facts.row_sentences(measures, row)]


def _at_least(answer: ToolAnswer) -> str:
    return "at least " if answer.has_more else ""


def _passage(number: int, hit: ToolHit) -> telling.Passage:
    row = hit.row
    excerpt = row.get("excerpt") or {}
    text = excerpt.get("text") or row.get("summary") or row.get("description") or ""
    dates = ("publishedAt", "occurredAt", "startedAt", "generatedAt", "recordedAt")
    stamp = next((row[name] for name in dates if row.get(name)), None)
    time = None if stamp is None else instants.parse(stamp)
    return telling.Passage(number, hit.title, text, time)
