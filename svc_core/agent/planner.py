"""Plans the answer to a question: a few tool calls, and sentences from what they find.

Rule 1: a plan is a generator of calls that is sent each answer; it reads no clock and no chance, so
        the same question over the same rows has the same answer.
Rule 2: one search ranks rows of every kind first: the rows that the question names are its
        subjects, and the table of facts says what is read from them.
Rule 3: what is counted or compared was listed to its end, or the answer says that it was not.
Rule 4: the words of a question that neither the table nor a row accounts for decide, by how rare
        they are, whether a row answers it. What no row states is said to be unknown, with the rows
        that are closest, as such; what a list does not hold is said of that list alone.
"""

from collections.abc import Collection, Generator, Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from attrs import define, evolve, field, frozen

from svc_core.agent import figures, question, small_talk, times
from svc_core.agent import passages as telling
from svc_core.agent import row_facts as facts
from svc_core.agent.agent_ports import ToolAnswer, ToolHit, Turn
from svc_core.agent.figures import figure_differences
from svc_core.agent.listing import (
    UNHELD_MAX,
    Extreme,
    ListQuery,
    distinct,
    extreme_rows,
    is_in_country,
    missing_words,
    row_kinds,
    same_incidents,
)
from svc_core.agent.named_rows import Subject, named_subjects, public_hit
from svc_core.agent.question import ORDERED, PLACED, ParsedQuestion, word_indexes
from svc_core.agent.row_facts import CitedSentence, english_list, quote_text
from svc_core.agent.sentence_meaning import Comparison, nearest_sentences
from svc_core.agent.text_query import TYPO_MIN, asks_for, expressions
from svc_core.base import instants
from svc_core.text.synonyms import compound_parts
from svc_core.text.words import split_words, term_of, terms

T = TypeVar("T")

CALLS_MAX = 24
"""Tool calls of one answer; each page of a list is one."""
_PAGES_MAX, _NEWEST_MAX, _PAGE = 16, 4, 100
_SHOWN_MAX, _CITED_MAX, _CLOSE_MAX = 5, 10, 3
_RANKED, _ALIKE_MAX = 50, 3
CLOSE_MIN = 0.3
"""Share of a question's weight from which a row that holds it is close."""
NEAREST_MIN, SAME_MIN = 0.6, 0.8
"""Share of a market's words that a question on its outcome must have: one that asks how likely
something is, and one that asks whether it happened."""
QUERY_MAX = 200  # characters that the search takes
_TEXTS = ("newsItem", "report", "incident", "signal", "event", "cve", "entity")
_FACT_KINDS = {"threatActor": "actor", "vulnerability": "cve"}
_ACTORS = {None, "threatActor", "company"}
_TIMELESS = ("country", "entity", "actor")
"""Kinds of facts that rows state as they are now."""
_DESCRIBED = ("incident", "event", "market", "signal")


@frozen
class _Call:
    """A tool call that the plan asks for."""

    name: str
    arguments: dict[str, object]


Plan = Generator[_Call | Comparison, Any, T]
"""It is sent the answer of a tool call (`ToolAnswer`), and the numbers of a comparison."""


def plan_answer(turn: Turn, tools: Collection[str]) -> Plan[list[CitedSentence]]:
    """Plan the answer to the last question of a conversation with tools of these names.

    Questions that it joins are answered each by itself, or said to have no answer.
    """
    parsed = question.question_of(turn)
    if day := times.impossible_date(turn.question[: question.TEXT_MAX], turn.now):
        return [CitedSentence(_frame("undated", parsed.language, day), ())]
    if talk := small_talk.talk_of(question.parse_question(turn.question, turn.now), parsed):
        return [CitedSentence(small_talk.talk_reply(talk, parsed), ())]
    calls: list[tuple[_Call, ToolAnswer]] = []
    sentences: dict[str, CitedSentence] = {}
    others: list[CitedSentence] = []
    for alone, part in question.questions_of(turn):
        planner = _Planner(alone, turn.now, frozenset(tools), calls)
        if alone is not part and not (yield from planner.is_own()):
            planner = _Planner(part, turn.now, frozenset(tools), calls)
        lines = yield from planner.answer()
        sentences |= {line.text: line for line in lines}
        others += [] if lines else planner.closest()[:1]
    if any(line.hits for line in sentences.values()):
        return [*sentences.values(), *others]
    planner = _Planner(parsed, turn.now, frozenset(tools), calls)
    return (yield from planner.answer()) or planner.closest()


@define
class _Planner:
    """The plan of one question: what was called so far, and what was missed."""

    question: ParsedQuestion
    now: datetime
    tools: frozenset[str]
    calls: list[tuple[_Call, ToolAnswer]]
    hits: Sequence[ToolHit] = ()
    """The ranked rows, as the search gives them."""
    subjects: Sequence[Subject] = ()
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
        answer: ToolAnswer = yield request
        self.calls.append((request, answer))
        return answer

    def list_all(self, name: str, **arguments: Any) -> Plan[ToolAnswer]:
        """The rows of all `pages` up to a bound; `has_more` where there are others."""
        pages = arguments.pop("pages", _PAGES_MAX)
        first = answer = yield from self.call(name, **arguments, limit=_PAGE)
        hits = [*first.hits]
        for _ in range(pages - 1):
            cursor = answer.body.get("meta", {}).get("page", {}).get("nextCursor")
            if cursor is None:
                break
            answer = yield from self.call(name, **arguments, limit=_PAGE, cursor=cursor)
            hits += answer.hits
        return evolve(first, hits=tuple(hits), has_more=answer.has_more)

    def miss(self, measures: Sequence[facts.Fact], title: str) -> None:
        """Note that rows of a title do not state the first of these facts."""
        self.missing += [self.frame("fact", fact.name, quote_text(title)) for fact in measures[:2]]

    # -- the ways to an answer -----------------------------------------------------------------

    def answer(self) -> Plan[list[CitedSentence]]:
        """The sentences of the first way that answers the question, else as the tables spell it."""
        sentences = yield from self.first_answer()
        spelled = None if sentences else question.respelled(self.question, self.now)
        if spelled is None:
            return sentences
        return (yield from evolve(self, question=spelled, missing=[]).first_answer())

    def first_answer(self) -> Plan[list[CitedSentence]]:
        """The sentences of the first way that the table opens and whose rows account for it."""
        if self.question.cves:
            sentences = yield from self.cve_facts()
            if sentences or self.missing or not self.subjects:
                return sentences
        self.hits = yield from self.ranked()
        self.subjects = named_subjects(self.question, self.hits)
        ways = [self.news, self.concepts, self.metrics, self.filings, self.series]
        ways += [self.ledger, self.report]
        kind = self.listed_kind() if self.question.is_negated else None
        if kind is None or self.question.free(kind):  # no row alone tells what it is not
            ways += [self.lists, self.subject_facts, self.deadliest, self.described]
            ways += [self.looser_lists, self.texts]
        for way in ways:
            sentences = yield from way()
            if sentences:
                return sentences
        return []

    def is_own(self) -> Plan[bool]:
        """Whether a question behind others names rows itself, and leaves nothing out."""
        parsed = self.question
        if not (parsed.is_asking and parsed.unread) or parsed.has("pronoun"):
            return False
        return bool(named_subjects(parsed, (yield from self.ranked())))

    def ranked(self, **arguments: Any) -> Plan[Sequence[ToolHit]]:
        """The rows that the search ranks first for the question."""
        parsed = self.question
        unread = [parsed.words[at] for at in parsed.unread]
        bare = [word[:-1] for word in unread if len(word) > TYPO_MIN and word[-1] == "s"]
        lands = [facts.country_name(code) for code in parsed.countries]
        text = " ".join([parsed.text[:QUERY_MAX], *lands, *bare])[:QUERY_MAX]
        return (yield from self.call("search_rows", q=text, limit=_RANKED, **arguments)).hits

    def named(self, *types: str) -> list[ToolHit]:
        """The rows of these types that the question names."""
        rows = (public_hit(hit) for subject in self.subjects for hit in subject.hits)
        return [row for row in rows if not types or row.row.get("type") in types]

    @property
    def named_words(self) -> frozenset[int]:
        """The indexes of the words that name rows."""
        return frozenset().union(*(subject.words for subject in self.subjects))

    @property
    def relation_words(self) -> frozenset[int]:
        """The words that ask for relations of the rows that are named; of a country, none has any.

        "The Triton malware" is what a row is, and no relation to another one.
        """
        natures = {f"entity type={type_}" for row in self.named() if (type_ := row.row.get("type"))}
        beside = {at + step for at in self.named_words for step in (-1, 1)}
        filters = (part for part in self.question.with_role("filter") if part.value in natures)
        nouns = word_indexes(part for part in filters if part.start in beside)
        words = self.question.words_of("relation") - self.named_words - nouns
        return words if natures else frozenset()

    def unheld(self, kind: str, cues: Collection[str], row: ToolHit | None) -> float:
        """The share of the question's weight that neither the table, names nor a row hold."""
        parsed = self.question
        is_own = row is None or any(row.id == hit.id for s in self.subjects for hit in s.hits)
        free = set(parsed.free(kind)) - (self.named_words if is_own else frozenset())
        words, own = parsed.words, {*cues}
        senses = {at: question.senses_of(words[at], parsed.language) for at in free}
        open_ = {at for at in free if own.isdisjoint((term_of(words[at]), *senses[at]))}
        if row is not None:
            lacks = set(missing_words(row.row, parsed.terms_of(open_)))
            open_ = {at for at in open_ if term_of(parsed.words[at]) in lacks}
            if parsed.countries and not is_in_country(row.row, parsed.countries):
                open_ |= parsed.place_words - self.named_words
        return parsed.weight(open_) / (parsed.weight(parsed.content) or 1.0)

    def is_met(self, kind: str, subject: ToolHit, text: str) -> bool:
        """Whether a sentence about a row that is named leaves little of the question open."""
        return self.unheld(kind, (), evolve(subject, row={"": text})) <= UNHELD_MAX

    # -- facts of rows -------------------------------------------------------------------------

    def fact_query(self, kind: str) -> facts.FactQuery:
        """The facts of a kind that are asked for; its overview where nothing else is."""
        parsed, named = self.question, self.named_words
        words = ["" if at in named else word for at, word in enumerate(parsed.phrase)]
        place = ["countr"] if parsed.countries and kind in ("actor", "entity") else []
        for at in {*parsed.unread} - named:
            place += question.senses_of(parsed.words[at], parsed.language)
        words += [word for sense in place for word in ("", sense)]
        query = facts.query_facts(kind, (*words,), parsed.generic)
        others = [meaning for meaning in parsed.values("number") if meaning[0] != kind]
        for way in ("when", "where"):
            fits = facts.fitting(query.facts, way) if asks_for(way, parsed.words) else []
            fits = facts.best_asked(fits, (*words,), parsed.generic)
            query = evolve(query, facts=tuple(fits) or query.facts)
        if kind in _TIMELESS and parsed.span and not parsed.span.contains(self.now.isoformat()):
            self.miss(() if query.is_plain else query.facts, parsed.span.text)
            return evolve(query, facts=tuple(facts.fitting(query.facts, "when")))
        is_other = parsed.has("metric", "series", "form") or others
        if query.is_plain and (is_other or self.unheld(kind, query.cues, None)):
            return evolve(query, facts=())
        if ["many"] in parsed.values("count"):
            return evolve(query, facts=tuple(fact for fact in query.facts if fact.number))
        if not query.facts and not self.unheld(kind, (), None):
            return facts.query_facts(kind, ("overvi",), parsed.generic)
        return query

    def sentences_of(self, query: facts.FactQuery, rows: Sequence[ToolHit]) -> list[CitedSentence]:
        """What rows state of the facts that are asked for, and how they differ."""
        is_count = ["many"] in self.question.values("count")
        sentences = _sentences(query.facts, rows, is_counted=is_count)
        is_compared = sentences and len(self.subjects) > 1  # rows of one name are kept apart
        sentences += figure_differences(query.facts, rows) if is_compared else []
        if not sentences and not query.is_plain and rows:
            self.miss(query.facts, figures.subject_name(rows[0]))
        return sentences

    def cve_facts(self) -> Plan[list[CitedSentence]]:
        answer = yield from self.call("get_cve", cveId=",".join(self.question.cves[:10]))
        rows_by_id = {row.row["cveId"]: row for row in answer.hits}
        rows = [rows_by_id[cve] for cve in self.question.cves if cve in rows_by_id]
        self.missing += [cve for cve in self.question.cves if cve not in rows_by_id]
        self.subjects = [Subject(frozenset(), (row,)) for row in rows]
        return self.sentences_of(self.fact_query("cve"), rows) if rows else []

    def subject_facts(self) -> Plan[list[CitedSentence]]:
        """What the rows that the question names state; rows of one name are kept apart."""
        sentences = []
        by_kind: dict[str, list[ToolHit]] = {}
        for subject in self.subjects:
            rows = [public_hit(hit) for hit in subject.hits if "name" in hit.row["row"]]
            if len({row.row.get("type") and row.id for row in rows}) > 1:
                pairs = ((quote_text(row.title), str(row.row.get("type"))) for row in rows)
                kinds = [f"{title} ({facts.in_words(type_)})" for title, type_ in pairs]
                name = quote_text(self.question.text_of(subject.words))
                text = f"“{name}” names {len(rows)} rows, kept apart: {english_list(kinds)}"
                sentences.append(CitedSentence(text, tuple(rows)))
            for row in rows[:_ALIKE_MAX]:
                types = _FACT_KINDS.get(str(row.row.get("type")), "entity")
                kind = "country" if "alpha3" in row.row else types
                by_kind.setdefault(kind, []).append((yield from self.full_row(kind, row)))
        relation = self.relation_words
        edges = (yield from self.relations(relation)) if relation else []
        words = facts.phrase(self.question.text_of(relation))
        lines: list[CitedSentence] = []
        for kind, rows in by_kind.items():
            query = self.fact_query(kind)
            if kind == "actor" and not query.facts:  # of no fact of its own
                query = self.fact_query("entity")
            if words and kind != "country" and not query.cues & set(words):
                continue
            if query.facts and self.unheld(kind, query.cues, rows[0]) <= UNHELD_MAX:
                lines += self.sentences_of(query, rows)
        return [*sentences, *(lines or edges)] if lines or edges else []

    def full_row(self, kind: str, row: ToolHit) -> Plan[ToolHit]:
        """A row with the members that only the operation for its kind answers."""
        if kind == "actor":
            answer = yield from self.call("get_actor", q=row.title)
            return next((hit for hit in answer.hits if hit.id == row.id), row)
        return evolve(row, row={**row.row, **(row.row.get("cve") or {})})

    def relations(self, words: frozenset[int]) -> Plan[list[CitedSentence]]:
        """The edges of the types that words ask for, from or to the first row that is named.

        All, the most, the latest or those beyond a bound; of many how many there are, and a few.
        """
        lines: list[tuple[facts.Row, CitedSentence]] = []
        parts, least = self.question.with_role("relation"), ""
        ways = ",".join(part.value for part in parts if part.start in words).split(",")
        others = {hit.id for subject in self.subjects[1:] for hit in subject.hits}
        entities = [row for row in self.named() if row.row.get("type") and row.id not in others]
        for entity in entities[:_ALIKE_MAX]:
            answer = yield from self.call("entity_graph", entityId=entity.id, depth=1)
            graph, place = answer.body.get("data", {}), (evolve(entity, path=answer.path),)
            least = "at least " if graph.get("truncated") else least
            labels = {node["id"]: quote_text(node["label"]) for node in graph.get("nodes", ())}
            for edge in facts.edges_within(graph.get("edges", ()), self.question.span):
                ends, type_ = (edge["sourceId"], edge["targetId"]), edge["type"]
                sides = (">" if ends[0] == entity.id else "<", "<>", "")
                names = [way.rstrip("<>") for way in ways if way[len(way.rstrip("<>")) :] in sides]
                is_meant = "*" in names or type_.startswith(tuple(names))
                if is_meant and labels.keys() >= {*ends} and (not others or {*ends} & others):
                    text = facts.edge_text(edge, labels)
                    if self.is_met("relation", entity, text):
                        lines.append((edge, CitedSentence(text, place)))
        sentences = figures.edge_sentences(lines, self.question, least)
        if not sentences and entities:
            title = quote_text(entities[0].title)
            self.missing.append(self.frame("relation", self.question.text_of(words), title))
        return sentences

    def described(self) -> Plan[list[CitedSentence]]:
        """What an incident, event, market or signal states that holds the words of the question."""
        yield from ()
        for kind in sorted(_DESCRIBED, key=lambda kind: kind not in self.question.kinds):
            query = self.fact_query(kind)
            listing = ListQuery(self.question, kind)
            if kind not in self.question.kinds and {*self.question.kinds} & {*_DESCRIBED}:
                continue
            if self.question.is_extreme:  # it is one of a list, not of the ranked rows
                query = evolve(query, facts=tuple(fact for fact in query.facts if not fact.number))
            if kind == "market" and query.is_plain:
                query = evolve(query, facts=facts.facts_of(kind)[:2])
            is_open = query.is_plain and kind not in self.question.kinds
            if not query.facts or (is_open and kind != "market"):
                continue
            rows = [public_hit(hit) for hit in self.hits if hit.row["kind"] == kind]
            rows = [row for row in rows if listing.is_met(row.row) and listing.is_within(row)]
            most = UNHELD_MAX if kind in (self.question.kinds or _DESCRIBED) else 0.0
            shares = [self.unheld(kind, query.cues, row) for row in rows]
            most = min([most, *(share for share in shares if share <= most)])
            rows = [row for row, share in zip(rows, shares, strict=True) if share <= most]
            if is_open or any(fact.name == "probability" for fact in query.facts):
                rows = self.nearest(rows, SAME_MIN if is_open else NEAREST_MIN)
            lines = _sentences(query.facts, rows)
            if lines and len({line.hits[0].id for line in lines}) <= _ALIKE_MAX:
                return lines
            if rows and not lines and not query.is_plain:
                self.miss(query.facts[:1], rows[0].title)
        return []

    def nearest(self, markets: Sequence[ToolHit], share_min: float) -> list[ToolHit]:
        """The markets of whose words the question has most, and enough to mean their outcome."""
        words = set(map(term_of, self.question.words))
        titles = [{*map(term_of, terms(market.title, whole=True))} for market in markets]
        shares = [len(title & words) / (len(title) or 1) for title in titles]
        least = max([*shares, share_min])
        return [row for row, share in zip(markets, shares, strict=True) if share >= least]

    # -- numbers of companies and countries ----------------------------------------------------

    def observations(self, **arguments: Any) -> Plan[list[tuple[ToolHit, tuple[ToolHit, ...]]]]:
        """The figures of each company that is named."""
        pairs = []
        for company in self.named("company", "organization")[:_ALIKE_MAX]:
            tool = "list_financial_observations"
            rows = yield from self.list_all(tool, entityId=company.id, **arguments)
            pairs.append((company, rows.hits))
        return pairs

    def metrics(self) -> Plan[list[CitedSentence]]:
        picks: list[ToolHit] = []
        metrics = dict.fromkeys(meaning[0] for meaning in self.question.values("metric")[:2])
        for metric in metrics if self.unheld("observation", (), None) <= UNHELD_MAX else ():
            for company, rows in (yield from self.observations(metric=metric)):
                values = figures.company_figures(company, rows, self.question)
                picks += values
                name = facts.in_words(metric), quote_text(company.title)
                self.missing += [] if values else [self.frame("fact", *name)]
        measures = facts.facts_of("observation")
        return [*_sentences(measures, picks), *figure_differences(measures, picks)]

    def concepts(self) -> Plan[list[CitedSentence]]:
        """What a company reports in the words of a taxonomy, of the time that is asked for.

        Of a metric that the table names too, where a concept has more words of the question.
        """
        parsed, lines, metric = self.question, [], self.question.words_of("metric")
        free = {*parsed.free("observation")} - self.named_words
        spoken = {*range(len(parsed.words))} - parsed.stops - self.named_words
        words = parsed.terms_of(at for at in spoken if not compound_parts(parsed.words[at], "de"))
        first, last = parsed.span.interval.split("/") if parsed.span else ("..", "..")
        bounds = {"from": first[:10].strip("."), "to": last[:10].strip(".")}
        is_open = any(parsed.phrase[at] not in facts.cue_words("entity") for at in free)
        pairs = (yield from self.observations(pages=_NEWEST_MAX, **bounds)) if is_open else ()
        for company, rows in pairs:
            matches = figures.of_concept(rows, words, len(metric))
            picks = figures.company_figures(company, matches, parsed)
            sentences = _sentences(facts.facts_of("observation"), picks)
            lines += [line for line in sentences if self.is_met("observation", company, line.text)]
        return lines

    def filings(self) -> Plan[list[CitedSentence]]:
        """When a company filed a form, as the figures of that filing say."""
        forms = {meaning[0] for meaning in self.question.values("form")}
        lines = []
        for company, rows in (yield from self.observations()) if forms else ():
            hits = [hit for hit in rows if (hit.row.get("filing") or {}).get("form") in forms]
            hits = figures.of_filings(company, hits, self.question)
            lines += _sentences(facts.facts_of("filing"), hits)
        return lines

    def series(self) -> Plan[list[CitedSentence]]:
        parsed, span = self.question, self.question.span
        codes = figures.series_codes(self.hits, parsed)
        coded = frozenset[int]().union(*codes.values())
        is_named = parsed.has("series", "currency") or bool(codes)
        is_other = not parsed.countries or parsed.kinds or not parsed.free("indicator")
        is_land = self.listed_kind() == "country" and not parsed.has("series")
        if (is_other and not is_named) or is_land:
            return []
        hits: list[ToolHit] = []
        least = ""
        areas = [{"area": meaning[0]} for meaning in parsed.values("region")]
        areas += [{"country": ",".join(parsed.countries)}] if parsed.countries else []
        areas_count = len(parsed.countries) + len(parsed.values("region"))
        is_one = parsed.is_extreme and areas_count <= 1
        is_past = span or is_one or parsed.has("change", "step")
        bounds = {**figures.period_bounds(parsed), "indicator": ",".join(codes)}
        for area in areas or [{}]:
            newest = {} if is_past else {"latest": True}
            answer = yield from self.list_all("list_finint", **area, **bounds, **newest)
            if newest and any(row.row["value"] is None for row in answer.hits):
                answer = yield from self.list_all("list_finint", **area, **bounds)
            hits += [row for row in answer.hits if row.row["value"] is not None]
            least = "at least " if answer.has_more else least
        rows, unheld = figures.meant_series(hits, parsed, coded)
        if unheld > UNHELD_MAX:
            return []
        limits, measures = parsed.thresholds, facts.facts_of("indicator")
        rows = [row for row in rows if all(limit.admits(row.row["value"]) for limit in limits)]
        values = figures.of_frequency(rows, parsed)
        if rows and not values:
            self.missing += [self.frame("values", parsed.text_of(parsed.words_of("step")))]
        if is_one and (lines := figures.extreme_values(values, parsed, least)):
            return lines
        rows, head = figures.series_values(values, parsed)
        lines = [evolve(line, text=head + line.text) for line in _sentences(measures, rows)]
        if parsed.has("change"):
            return [*figures.series_changes(rows), *lines]
        is_compared = areas_count > 1 or bool(span and span.parts)
        return [*lines, *(figure_differences(measures, rows) if is_compared else ())]

    # -- the ledger and reports ----------------------------------------------------------------

    def ledger(self) -> Plan[list[CitedSentence]]:
        """What the ledger believes of a subject, as of the time that is asked for."""
        parsed, hits = self.question, (hit for subject in self.subjects for hit in subject.hits)
        if not (subject := next((hit for hit in hits if hit.row["kind"] == "subject"), None)):
            return []
        time = parsed.span.last if parsed.span else None
        axis = "recordTime" if parsed.has("recorded") else "validTime"
        answer = yield from self.call("fold_ledger_subject", subjectId=subject.id, **{axis: time})
        if not answer.hits:  # all calls are spent
            return []
        view = evolve(answer.hits[0], title=subject.title)
        beliefs, identity = facts.beliefs_of(view), view.row["identity"] or {}
        words = parsed.terms_of({*parsed.free("ledger")} - self.named_words)
        topics = {word: words[word] for word in missing_words({"": "confidence"}, words)}
        lacks = [len(missing_words({"": head}, topics)) for head, _ in beliefs]
        least = min([*lacks, len(topics) - 1]) if topics else 0
        lines = [line for lack, (_, line) in zip(lacks, beliefs, strict=True) if lack == least]
        text = "" if words else quote_text(identity.get("description") or "")
        lines[:0] = [CitedSentence(f"{quote_text(view.title)}: “{text}”", (view,))] if text else []
        return [line for line in lines if self.is_met("ledger", view, line.text)]

    def report(self) -> Plan[list[CitedSentence]]:
        """What the report on the subject says, where a report is asked about."""
        if "report" not in self.question.kinds or not self.question.has("tells", "overview"):
            return []
        rows = [public_hit(hit) for hit in (yield from self.ranked(kinds=["report"]))]
        terms_ = self.question.terms_of(self.question.free("report"))
        rows = [row for row in rows if not terms_ or missing_words(row.row, terms_) != [*terms_]]
        if not rows:
            return []
        best = min(rows, key=lambda row: self.unheld("report", (), row))
        detail = yield from self.call("get_report", reportId=best.id)
        points = [point["text"] for row in detail.hits for point in row.row["keyPoints"]]
        return [CitedSentence(quote_text(text), (best,)) for text in points[:_SHOWN_MAX]]

    # -- lists ---------------------------------------------------------------------------------

    def listed_kind(self) -> str | None:
        names = [kind for kind in self.question.kinds if kind in row_kinds()]
        roles = ("filter",) if names == ["country"] else () if names else ("group", "filter")
        words = [value[0] for role in roles for value in self.question.values(role)]
        names += [kind for kind in words if kind in row_kinds() and not self.subjects]
        if self.question.has("currency", "language") and asks_for("where", self.question.words):
            names = names or ["country"]
        names = [kind for kind in names if kind != "country"] or names
        role = "count" if self.question.counted_kind else "list"
        if self.question.has(role) and names:
            return self.question.kind_behind(role, names, self.named_words)
        return next(iter(names), None)

    def lists(self) -> Plan[list[CitedSentence]]:
        """Rows of a kind that are counted, compared, or asked for as a list."""
        parsed, kind = self.question, self.listed_kind()
        is_scoped = bool(parsed.counted_kind) or parsed.has(*ORDERED)
        is_bare = not parsed.unread and not self.subjects and parsed.has("filter")
        is_list = is_scoped or is_bare or parsed.has("list")
        if kind is None or parsed.has("negation") or not (is_list or parsed.thresholds):
            return []
        named = {hit.row["kind"] for subject in self.subjects for hit in subject.hits}
        is_own = named & {kind, *(("entity",) if kind == "country" else ())}
        is_other = kind == "actor" and bool({row.row.get("type") for row in self.named()} - _ACTORS)
        if is_other or (is_own and (not is_scoped or len(self.subjects) > 1)):
            return []
        query = self.fact_query(kind)
        narrows = parsed.has("list") and (parsed.span or ListQuery(parsed, kind).filters)
        is_open = is_scoped or bool(parsed.thresholds or (narrows and not is_odds(query)))
        if not is_open and kind in _DESCRIBED and query.facts and not query.is_plain:
            return (yield from self.described())
        return (yield from self.list_rows(kind))

    def looser_lists(self) -> Plan[list[CitedSentence]]:
        """Rows of a kind that only a filter, a time or words narrow ("droughts in July")."""
        kind = self.listed_kind()
        named = {hit.row["kind"] for subject in self.subjects for hit in subject.hits}
        if kind is None or kind in named or self.missing or self.question.has("negation"):
            return []
        listing = ListQuery(self.question, kind)
        is_narrow = listing.filters or self.question.span or not self.question.free(kind)
        is_own = bool(self.subjects) and "entityId" in listing.row_kind.inputs
        is_open = (is_narrow or is_own) and not is_odds(self.fact_query(kind))
        return (yield from self.list_rows(kind)) if is_open else []

    def deadliest(self) -> Plan[list[CitedSentence]]:
        """The extreme of events whose class the question names in a word of its own ("attack").

        Rows may put the class otherwise, so none of them has to hold the word.
        """
        parsed = self.question
        nouns = [at for at in parsed.class_nouns if at in parsed.free("event")]
        kinds = [kind for kind, _ in parsed.values("number") if kind in PLACED]
        is_other = parsed.kinds or parsed.is_negated or not parsed.is_extreme
        if is_other or not kinds or (events := parsed.as_events(nouns)) is None:
            return []
        return (yield from evolve(self, question=events).list_rows(kinds[0]))

    def list_rows(self, kind: str) -> Plan[list[CitedSentence]]:
        parsed = self.question
        listing = ListQuery(parsed, kind, () if kind == "entity" else self.subjects)
        query = self.fact_query(kind)
        asking = parsed.content - parsed.words_of("kind", "filter", "list", "overview")
        is_fact = query.facts and any(parsed.phrase[at] in query.cues for at in asking)
        is_beside = any(fact.number == "borders" for fact in query.facts)
        is_blind = kind == "country" and parsed.countries and not is_beside
        for arguments, used, unheld_max in () if is_blind else listing.attempts():
            page = yield from self.list_all(listing.row_kind.tool, **arguments)
            paths = listing.paths(page.hits)
            if parsed.thresholds and page.hits and not extreme_rows(page.hits, paths)[1]:
                return []
            hits = listing.matches(page.hits, used, unheld_max)
            free = parsed.terms_of(parsed.free(kind))
            lines = _sentences(() if query.is_plain else query.facts, hits)
            if hits and is_fact and not (lines or query.is_plain or parsed.has(*ORDERED)):
                name = figures.subject_name(hits[0]) if len(hits) == 1 else listing.summary(hits)
                self.miss(query.facts, name)
                return []
            owners = {line.hits[0].id for line in lines if not missing_words({"": line.text}, free)}
            hits = [hit for hit in hits if hit.id in owners] or hits
            answer = evolve(page, hits=tuple(hits))
            if hits:
                return self.list_sentences(listing, answer)
            is_whole = page.hits and used >= {*parsed.free(kind)}
            if (is_whole or all(map(str.isdigit, listing.terms))) and not answer.has_more:
                return self.none_listed(listing, page)
        return []

    def none_listed(self, listing: ListQuery, page: ToolAnswer) -> list[CitedSentence]:
        """That no row of a list meets its filters, of how many that were looked at."""
        noun, notes = listing.row_kind.noun, "; ".join(listing.notes())
        others = distinct(listing.by_date(page.hits))[:_CLOSE_MAX]
        text = self.frame("none_listed", facts.count_noun(len(page.hits), noun), notes)
        lines = [line.text for line in listing.lines(others)]
        return [CitedSentence(text, ()), *_closest(lines, others, self.question.language)]

    def list_sentences(self, listing: ListQuery, answer: ToolAnswer) -> list[CitedSentence]:
        """How many rows there are, which is the extreme, or some of them."""
        rows = distinct(listing.by_date(answer.hits))
        most = self.question.limit or (_SHOWN_MAX if len(rows) > _CITED_MAX else _CITED_MAX)
        shown = rows[:most]
        lines = listing.lines(shown)
        if self.question.thresholds:
            lines = _sentences(listing.measures(listing.paths(rows)), shown) or lines
        summary = listing.summary(answer.hits)
        if groups := listing.groups(answer.hits)[: self.question.limit or _SHOWN_MAX]:
            of_all = f"of {'at least ' * answer.has_more}{summary}"
            texts = [f"{quote_text(name)}: {len(hits)} {of_all}" for name, hits in groups]
            ends = [tuple(hits[:1]) for _, hits in groups]
            return [*map(CitedSentence, texts, ends)]
        if self.question.counted_kind:
            return [self.count_sentence(summary, answer), *lines]
        is_news = listing.kind == "news" and self.question.has("latest")
        foremost = None if is_news else listing.foremost(answer.hits)
        if foremost and not foremost[2]:
            self.miss(listing.measures(foremost[1])[:1], summary)
            return []
        if foremost:
            return self.extreme_sentences(listing, answer, foremost)
        is_long = len(rows) > _SHOWN_MAX and not is_news
        return [self.count_sentence(summary, answer), *lines] if is_long else lines

    def extreme_sentences(
        self, listing: ListQuery, answer: ToolAnswer, extreme: Extreme
    ) -> list[CitedSentence]:
        """The rows that are the extreme, and what else is reported of the same incidents."""
        word, paths, rows = extreme
        query, is_dated = self.fact_query(listing.kind), paths == [listing.date]
        is_asked = is_dated and not query.is_plain
        measures = query.facts if is_asked else listing.measures(paths)
        best, is_least = distinct(rows)[:_SHOWN_MAX], self.question.has("least")
        firsts = figures.extreme_facts(measures, best[0], is_least=is_least)
        is_many = len(distinct(answer.hits)) > 1
        summary = f"{'at least ' * answer.has_more}{listing.summary(answer.hits)}"
        among = f"The {word} of {summary}: " * is_many
        heads = _sentences(firsts, best) or listing.lines(best)
        heads = [evolve(line, text=among + line.text) for line in heads]
        reports = () if is_dated else same_incidents(answer.hits, best)
        others = figures.other_numbers(measures, firsts, best[0], reports)
        return [*heads, *(evolve(line, text=f"But also: {line.text}") for line in others)]

    def count_sentence(self, noun: str, answer: ToolAnswer) -> CitedSentence:
        """How many rows there are; it cites them, or where there are many, their list."""
        rows, least = answer.hits, "at least " * answer.has_more
        place = ToolHit(str(answer.path), f"List: {noun}", answer.path, {})
        total = len(distinct(rows))
        count = f"{facts.count_noun(total, 'incident')} in {least}" if total < len(rows) else least
        text = f"The service knows {count}{noun}"
        return CitedSentence(text, rows if 0 < len(rows) <= _CITED_MAX else (place,))

    # -- texts ---------------------------------------------------------------------------------

    def news(self) -> Plan[list[CitedSentence]]:
        """What happened at a place, in a time or to a subject: from texts, then incidents."""
        parsed = self.question
        is_open = parsed.has("occurred") and asks_for("what", parsed.words[:1])
        if not (parsed.has("happened") or is_open) or parsed.kinds:
            return []
        lines = (yield from self.texts()) if parsed.free() or parsed.places else []
        listing = ListQuery(parsed, "incident")
        lines = [line for line in lines if not line.text.startswith(line.hits[0].title)]
        for arguments, used, unheld_max in listing.attempts():
            answer = yield from self.list_all("list_incidents", **arguments)
            rows = listing.matches(answer.hits, used, unheld_max)
            rows = sorted(rows, key=lambda hit: not listing.begins_within(hit))
            cited = {hit.id for line in lines for hit in line.hits}
            lines += listing.lines([hit for hit in rows if hit.id not in cited][:_SHOWN_MAX])
        return lines

    def texts(self) -> Plan[list[CitedSentence]]:
        """Sentences of the ranked rows' texts that share most weight with the question.

        Where none shares enough, those of a text that is nearest in meaning. What the table knows
        and rows lack (`missing`) no text is asked for.
        """
        parsed = self.question
        owners = [row for row in self.named() if "alpha3" not in row.row]
        if self.missing and owners and not set(parsed.unread) - self.named_words:
            return []  # what the row of a name lacks no text about the name tells
        hits = [public_hit(hit) for hit in self.hits if hit.row["kind"] in _TEXTS]
        texts = [_passage(number, row) for number, row in enumerate(hits)]
        if (span := parsed.span) and parsed.has("happened"):
            texts = [item for item in texts if item.at and span.contains(instants.render(item.at))]
        picks = [*telling.select(parsed.text, texts, self.now)]
        if not (picks or self.missing or parsed.has("happened")):
            dated = [item for item in texts if item.at]  # what has no time is an entity
            picks += yield from nearest_sentences(parsed.text, dated)
        # What a text asks it does not state, and what repeats the question alone tells nothing.
        picks = [pick for pick in picks if not {*split_words(pick.text)} <= {*parsed.words}]
        numbers = {pick.text: pick.numbers for pick in picks if not pick.text.endswith("?")}
        quotes = ((text, tuple(hits[n] for n in ns)) for text, ns in numbers.items())
        return [CitedSentence(_quotation(text, rows), rows) for text, rows in quotes]

    # -- what is unknown -----------------------------------------------------------------------

    def closest(self) -> list[CitedSentence]:
        """That there is no answer, and the rows that hold most of the question, as such."""
        parsed = self.question
        if parsed.has("product"):
            return [CitedSentence(small_talk.talk_reply("product", parsed), ())]
        rows = [
            hit for hit in self.hits if hit.row["share"] >= CLOSE_MIN or hit.row["named"] != "none"
        ]
        is_spent = len(self.calls) == CALLS_MAX
        if not (rows or self.missing or parsed.kinds or parsed.places or parsed.cves or is_spent):
            return [CitedSentence(small_talk.talk_reply("unread", parsed), ())]
        missing = ", ".join(dict.fromkeys(self.missing))
        words = quote_text(parsed.text_of([*parsed.free(), *parsed.place_words]))
        # A named period reads alike in every language; other times have English words alone.
        words += f" ({parsed.span.period})" if words and parsed.span and parsed.span.period else ""
        text = self.frame("unanswered" if words else "unanswerable", words)
        text = self.frame("spent", text, str(CALLS_MAX)) if is_spent else text
        text = self.frame("unknown", missing) if missing else text
        near = [public_hit(hit) for hit in rows[:_CLOSE_MAX]]
        titles = dict.fromkeys(f"“{quote_text(figures.subject_name(row))}”" for row in near)
        rows = [hit for hit in rows[:1] if hit.row["kind"] in _TEXTS and not missing]
        lines = [*_closest(titles, near, parsed.language), *map(self.nearest_quote, rows)]
        return [CitedSentence(text, ()), *filter(None, lines)]

    def nearest_quote(self, hit: ToolHit) -> CitedSentence | None:
        """What a dated text says that holds most of the question, as no answer."""
        row = public_hit(hit)
        passage = _passage(0, row)
        line = telling.nearest_line(self.question.text, passage) if passage.at else None
        frame = self.frame("says", _quotation(line or "", (row,)))
        return CitedSentence(frame, (row,)) if line else None

    def frame(self, kind: str, *texts: str) -> str:
        """A sentence about an answer, or a part of one, in the language of the question."""
        return _frame(kind, self.question.language, *texts)


# -- rows --------------------------------------------------------------------------------------


def _sentences(
    measures: Sequence[facts.Fact], rows: Iterable[ToolHit], *, is_counted: bool = False
) -> list[CitedSentence]:
    return [s for row in rows for s in facts.row_sentences(measures, row, is_counted=is_counted)]


def _closest(texts: Iterable[str], rows: Sequence[ToolHit], language: str) -> list[CitedSentence]:
    """That rows are near what was asked, and answer nothing."""
    return [CitedSentence(_frame("closest", language, "; ".join(texts)), (*rows,))] if rows else []


def _frame(kind: str, language: str, *texts: str) -> str:
    """A sentence about an answer in a language, in English for want of it, that holds texts."""
    return (expressions(f"{kind}_{language}") or expressions(f"{kind}_en"))[0].format(*texts)


def is_odds(query: facts.FactQuery) -> bool:
    """Whether it asks how likely something is, which no other market than its own tells."""
    return not query.is_plain and any(fact.name == "probability" for fact in query.facts)


def _quotation(text: str, rows: Sequence[ToolHit]) -> str:
    """A sentence of a row's text behind the code of the row, or before who published it when."""
    row = next((row.row for row in rows if row.row.get("source")), rows[0].row)
    if "cveId" in row:
        return f"{row['cveId']}: {text}"
    source, day = row.get("source"), str(row.get("publishedAt") or "")[:10]
    if not (isinstance(source, dict) and source.get("name")):
        return text
    parts = [quote_text(str(source["name"])), *filter(None, (day, source.get("domain")))]
    return f"{text.rstrip('.')} ({', '.join(parts)})"


def _passage(number: int, hit: ToolHit) -> telling.Passage:
    row = hit.row
    excerpt = row.get("excerpt") or {}
    text = excerpt.get("text") or row.get("summary") or row.get("description") or ""
    dates = ("publishedAt", "occurredAt", "startedAt", "generatedAt", "recordedAt")
    stamp = next((row[name] for name in dates if row.get(name)), None)
    title = "" if hit.title == row.get("cveId") else hit.title
    return telling.Passage(number, title, text, instants.parse(stamp) if stamp else None)
