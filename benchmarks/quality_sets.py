"""The labelled text that quality is measured on, read from a folder and made into evidence.

The folder holds feeds (`news_feed`, `json_feed`, `gdacs_rss`) and, under `text`, public sets in
JSON lines. Subjects and stories over the feeds' items, labelled by reading them, are in
`subjects.json` beside this file: it names items by their addresses and holds no text of theirs.
A hash parts every set into a half to choose constants on (`dev`) and one to report (`report`).
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from heapq import nlargest
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from svc_core.formats.feeds.feed_document import parse_feed
from svc_core.formats.model import DocumentRefused
from svc_core.text.evidence import EvidenceTexts, Reading, reading_of, readings
from svc_core.text.frequencies import Frequencies
from svc_core.text.sentences import split_sentences

FEEDS = ("gdacs_rss", "json_feed", "news_feed")
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
DAYS = (
    "AtomTheVerge",
    "Rss10Minutos20",
    "Rss20FazNet",
    "Rss20JapanTimes",
    "Rss20JapanToday",
    "Rss20LeFigaro",
    "Rss20LeMonde",
    "Rss20NYTimes",
    "Rss20Reuters",
)
"""Feeds of the same few days: what a server that begins to read has."""
WINDOW, FEW, LARGE = 150, 25, 3  # items of a window, of others in a small store, of a subject
FOREIGN = 600  # headlines of other events among those that are to be grouped
GIANTS = (55, 45, 34, 24)  # items of a few large events
SMALL_EVENTS = 12  # of three items each, beside the large ones
_LABELS = Path(__file__).with_name("subjects.json")
_OPENINGS = Path(__file__).with_name("openings.json")

Row = dict[str, Any]


@frozen
class Subject:
    """A question in one or more wordings and the ids of all that is about it."""

    key: str
    wordings: tuple[str, ...]
    relevant: frozenset[str] = field(repr=False)
    language: str = "en"


@frozen
class Search:
    """A subject that is looked for among some items; `store` is all that was taken in."""

    subject: Subject
    items: tuple[EvidenceTexts, ...] = field(repr=False)
    store: tuple[EvidenceTexts, ...] = field(repr=False)


@frozen
class GroupedItems:
    """Items of which some are known to tell one event: `label` by id.

    A pair in `unsure` counts neither way, and neither do items that are in no story of ours.
    """

    items: tuple[EvidenceTexts, ...] = field(repr=False)
    label: dict[str, str] = field(repr=False)
    unsure: frozenset[frozenset[str]] = frozenset()


def _within(subject: Subject, items: Iterable[EvidenceTexts]) -> Subject:
    return evolve(subject, relevant=subject.relevant & {item.id for item in items})


def half(key: str) -> str:
    """Which half a subject, query, event or item belongs to."""
    return "dev" if hashlib.sha256(key.encode()).digest()[0] % 2 == 0 else "report"


@frozen
class Sets:
    """The sets under `folder`; of each, the half that is asked for, or all."""

    folder: Path
    half: str | None = None

    def rows(self, name: str) -> list[Row]:
        """The lines of one file under `text`."""
        return _lines(self.folder / "text" / name)

    def openings(self) -> dict[str, str]:
        """How a first sentence of an item of the feeds was judged, by `ending_of` it."""
        halves: Row = json.loads(_OPENINGS.read_text("utf-8"))
        classes = [halves[name] for name in halves if self.half in (None, name)]
        return {key: name for rows in classes for name, keys in rows.items() for key in keys}

    def of_half(self, rows: Iterable[Row], key: Callable[[Row], str]) -> list[Row]:
        """Those of the half that is asked for."""
        return [row for row in rows if self.half in (None, half(key(row)))]

    def news(self) -> tuple[EvidenceTexts, ...]:
        """Every item of the feeds, once, by its address."""
        return _news(self.folder)

    def days(self) -> tuple[EvidenceTexts, ...]:
        """The items of a few days."""
        return tuple(item for item in self.news() if item.source_name in DAYS)

    def subjects(self) -> list[Subject]:
        """Our subjects; those about which there is nothing have no relevant items."""
        return [
            Subject(
                key=row["key"],
                wordings=(row["topic"], *row["paraphrases"]),
                relevant=frozenset(row["relevant"]),
                language=row["language"],
            )
            for row in self.of_half(_labels()["subjects"], lambda row: row["key"])
        ]

    def subjects_of_days(self) -> list[Subject]:
        """Our subjects that have two items or more in these days, and those items."""
        within = [_within(subject, self.days()) for subject in self.subjects()]
        return [subject for subject in within if len(subject.relevant) > 1]

    def searches_of_days(self) -> list[Search]:
        """Our subjects of a few days among the items of these days."""
        return [Search(subject, self.days(), self.days()) for subject in self.subjects_of_days()]

    def searches_of_windows(self) -> list[Search]:
        """Our subjects, each among the `WINDOW` items that are nearest to its own in time."""
        searches = (self._nearest(subject, WINDOW) for subject in self.subjects())
        return [evolve(search, store=self.news()) for search in searches if search.subject.relevant]

    def searches_of_small_stores(self) -> list[Search]:
        """Our subjects with three items or more of other days, each with few other items."""
        within = {subject.key for subject in self.subjects_of_days()}
        searches = (
            self._nearest(subject, len(subject.relevant) + FEW)
            for subject in self.subjects()
            if len(subject.relevant) >= LARGE and subject.key not in within
        )
        return [search for search in searches if search.subject.relevant]

    def _nearest(self, subject: Subject, count: int) -> Search:
        """A subject among dated items that are next to its own; none where it has none."""
        dated = [item for item in self.news() if item.published_at]
        own = _within(subject, dated)
        items = around(own, dated, count) if own.relevant else ()
        return Search(own, items, items)

    def left_out(self, search: Search) -> Search:
        """The same without the subject's items and the others of their stories: nothing is left."""
        gone = set(search.subject.relevant)
        for row in _labels()["stories"]:
            members = {*row["members"], *row["perhaps"]}
            gone |= members if members & search.subject.relevant else set()
        items = tuple(item for item in search.items if item.id not in gone)
        return evolve(search, subject=_within(search.subject, items), items=items)

    def stories_of_days(self) -> GroupedItems:
        """Our stories among the items of a few days."""
        every, items = self.stories(), self.days()
        ids = {item.id for item in items}
        label = {id_: name for id_, name in every.label.items() if id_ in ids}
        return evolve(every, items=items, label=label)

    def stories(self) -> GroupedItems:
        """Our stories among all items of the feeds."""
        label: dict[str, str] = {}
        unsure = {frozenset(pair) for ids in _labels()["unsure"] for pair in _pairs(ids)}
        for row in _labels()["stories"]:
            unsure |= {
                frozenset((pair, other_id))
                for pair in row["perhaps"]
                for other_id in row["members"] + row["perhaps"]
            }
            if self.half in (None, half(row["key"])):
                label |= dict.fromkeys(row["members"], row["key"])
        return GroupedItems(self.news(), label, frozenset(unsure))

    def topics(self) -> list[tuple[EvidenceTexts, Row]]:
        """Items with the topics that fit them and those that are accepted besides."""
        news = {item.id: item for item in self.news()}
        rows = self.of_half(_labels()["topics"], lambda row: row["id"])
        return [(news[row["id"]], row) for row in rows]

    def topics_of_articles(self) -> list[tuple[Row, Row]]:
        """Articles of 10kGNAD, with the same."""
        labels = {row["id"]: row for row in _labels()["topics_of_gnad10k"]}
        rows = self.of_half(self.rows("gnad10k/items.jsonl"), lambda row: row["title"].lower())
        return [(row, labels[row["id"]]) for row in rows if row["id"] in labels]

    def public_set(self, name: str) -> tuple[tuple[EvidenceTexts, ...], list[Subject]]:
        """A public set of documents and queries."""
        documents = tuple(
            evidence(row["id"], row.get("title", ""), row["text"])
            for row in self.rows(f"{name}/docs.jsonl")
        )
        queries = self.of_half(self.rows(f"{name}/queries.jsonl"), lambda row: row["text"])
        return documents, [
            Subject(row["id"], (row["text"],), frozenset(row["relevant"])) for row in queries
        ]

    def clusters(self, name: str, *, foreign: bool = False) -> GroupedItems:
        """A public set of events, alone or among `FOREIGN` headlines of others."""
        rows = self.of_half(self.rows(f"{name}/items.jsonl"), lambda row: row["cluster"])
        bare = not rows[0].get("text")
        items = [evidence(row["id"], row["title"], row.get("text", "")) for row in rows]
        if foreign:
            items_ = sorted(self.rows("ag_news/items.jsonl"), key=lambda row: _digest(row["id"]))
            items += [
                evidence(f"ag{row['id']}", row["title"], "" if bare else row["text"])
                for row in items_[:FOREIGN]
            ]
        return GroupedItems(tuple(items), {row["id"]: row["cluster"] for row in rows})

    def giants(self) -> GroupedItems:
        """Four events of 24 to 55 items each, cut from articles of ECB+, among the items of a few
        days, other headlines and twelve small events.
        """
        rows = self.of_half(self.rows("ecbplus/items.jsonl"), lambda row: row["cluster"])
        events: dict[str, list[Row]] = {}
        for row in rows:
            events.setdefault(row["cluster"], []).append(row)
        names = sorted(events, key=lambda name: (-len(events[name]), _digest(name)))
        days = self.stories_of_days()
        items, label = [*days.items], dict(days.label)
        for name, size in zip(names, GIANTS, strict=False):
            for item in _cut(events[name])[:size]:
                items.append(item)
                label[item.id] = name
        for name in names[len(GIANTS) :][:SMALL_EVENTS]:
            for row in events[name][:3]:
                text = " ".join(split_sentences(row["text"])[:3])
                items.append(evidence(row["id"], row["title"], text))
                label[row["id"]] = name
        others = sorted(self.rows("ag_news/items.jsonl"), key=lambda row: _digest(row["id"]))
        items += [
            evidence(f"ag{row['id']}", row["title"], row["text"]) for row in others[: FOREIGN // 2]
        ]
        return GroupedItems(tuple(items), label, days.unsure)

    def all_readings(self) -> list[Reading]:
        """All texts that there are, as a server that took in all of them has them."""
        return _all_readings(self.folder)


def ending_of(text: str) -> str:
    """A digest of how a sentence ends, by which it is known without its dateline."""
    return hashlib.sha256(text[-40:].encode()).hexdigest()[:12]


def around(
    subject: Subject, items: Sequence[EvidenceTexts], count: int = WINDOW
) -> tuple[EvidenceTexts, ...]:
    """What is about a subject and the items that are next to it in time."""
    times = sorted(item.at for item in items if item.id in subject.relevant)
    middle = times[len(times) // 2]
    near = sorted(items, key=lambda item: (abs(item.at - middle), item.id))[:count]
    own = [item for item in items if item.id in subject.relevant and item not in near]
    return (*near, *own)


def evidence(
    id_: str,
    title: str,
    text: str,
    at: datetime | None = NOW,
    language: str | None = None,
    source: str = "",
) -> EvidenceTexts:
    """An item of a set; undated ones are of the day on which all were taken in."""
    return EvidenceTexts(
        id=id_,
        title=title,
        text=text,
        url=id_ if "://" in id_ else f"https://news.example/{id_}",
        source_id=source or f"src_{id_}",
        source_name=source or "A publisher",
        source_domain=f"{source or id_}.example".casefold(),
        published_at=at,
        retrieved_at=NOW,
        language=language,
    )


def _cut(rows: Sequence[Row]) -> list[EvidenceTexts]:
    """Pieces of the articles of one event: a headline and three sentences each, of which each names
    two of the six terms that are most of the event. First those of every article's beginning.
    """
    pieces = []
    for row in rows:
        lines = split_sentences(row["text"])
        for number, start in enumerate(range(0, len(lines), 2)):
            title, *body = [row["title"], *lines[:3]] if number == 0 else lines[start : start + 4]
            pieces.append((number, evidence(f"{row['id']}/{number}", title, " ".join(body))))
    ordered = [reading_of(piece) for _, piece in sorted(pieces, key=lambda pair: pair[0])]
    table = Frequencies()
    holders = Counter(term for item in ordered for term in item.counts)
    heaviest = nlargest(6, holders, key=lambda term: (holders[term] * table.idf(term), term))
    return [item.evidence for item in ordered if sum(t in item.counts for t in heaviest) > 1]


@cache
def _news(folder: Path) -> tuple[EvidenceTexts, ...]:
    items: dict[str, EvidenceTexts] = {}
    for path in sorted(path for name in FEEDS for path in (folder / name).iterdir()):
        try:
            feed_ = parse_feed(path.read_bytes())
        except DocumentRefused:
            continue
        for item in feed_.items:
            id_ = item.url or item.natural_key
            if id_ in items and items[id_].title != item.title:
                id_ = item.natural_key
            tongue, at = item.language or feed_.language, item.published_at
            item_ = evidence(id_, item.title, item.text, at, tongue, path.stem)
            items.setdefault(id_, evolve(item_, url=item.url or item_.url))
    return tuple(items.values())


@cache
def _all_readings(folder: Path) -> list[Reading]:
    sets = Sets(folder)
    items = list(sets.news())
    for name in ("time/docs", "cranfield/docs", "ecbplus/items", "uci_stories/items"):
        items += [
            evidence(f"{name}/{row['id']}", row.get("title", ""), row.get("text", ""))
            for row in sets.rows(f"{name}.jsonl")
        ]
    return readings(items)


@cache
def _labels() -> Row:
    read: Row = json.loads(_LABELS.read_text("utf-8"))
    return read


@cache
def _lines(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _pairs(ids: Sequence[str]) -> list[tuple[str, str]]:
    return [(id_, other_id) for at, id_ in enumerate(ids) for other_id in ids[at + 1 :]]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
