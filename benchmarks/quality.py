"""How well reports find, group, tell and mark what they are given, on labelled text.

    python benchmarks/quality.py [FOLDER] [--only NAME] [--half dev|report] [--semantic [MODEL]]

FOLDER holds the documents (`quality_sets.py` says which); without it `SVC_REAL_DATA` names it.
Each line shows our figure, that of a plain method on the same text, and the floor that it is to
reach. Exit code 1 when one is below its floor. Constants are chosen on the half `dev` alone.

Beside retrieval stands BM25 with one threshold, beside grouping average link at one cut, beside
sentences the first ones of a text, beside tone the commonest label.
"""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from math import log2
from pathlib import Path
from statistics import fmean

from attrs import evolve, frozen
from quality_baselines import Bm25, average_link
from quality_measures import (
    Rate,
    b_cubed,
    classes,
    holds,
    is_fragment,
    largest_event,
    macro,
    micro,
    pairs,
)
from quality_product import (
    BY_MEANING,
    agreement,
    also_pairs,
    composed,
    frequencies_of,
    groups_of,
    line_pairs,
    marks,
    matched_ids,
    opening_of,
    ranking_of,
    sentences_of,
    stored_readings,
    tone,
    topics_of,
    words_of,
)
from quality_sets import GroupedItems, Row, Search, Sets, Subject, around, ending_of

from svc_core.reports.composition import ComposedReport
from svc_core.reports.model import ReportWords
from svc_core.text.evidence import EvidenceTexts, Reading, readings
from svc_core.text.frequencies import Frequencies
from svc_core.text.language import guess
from svc_core.text.ranking import Ranking
from svc_core.text.sentences import vagueness
from svc_core.text.templates import without_templates

FLOORS = {
    "subjects of a few days: F1, macro": 0.83,
    "paraphrases of a few days: recall": 0.80,
    "paraphrases of a few days: spread": -0.25,
    "subjects of a window: F1, macro": 0.80,
    "paraphrases of a window: recall": 0.76,
    "nothing left: told as nothing": 0.50,
    "something there: told as nothing": -0.03,
    "time: F1": 0.55,
    "stories: B³": 0.82,
    "stories of a few days: pairs F1": 0.80,
    "stories: same in two stores": 1.0,
    "large events: pairs F1": 0.65,
    "uci: precision": 0.90,
    "uci: recall": 0.65,
    "ecb+: precision": 0.85,
    "ecb+: recall": 0.85,
    "marks: hold": 1.0,
    "also reported by: same event": 0.95,
    "openings: captions, fragments": -1.0,
    "openings: quoted ones that are good": 0.80,
    "topics of ours: precision": 0.88,
    "topics of ours: found": 0.70,
    "topics of German feeds: precision": 0.90,
    "topics of German feeds: found": 0.65,
    "topics of 10kGNAD, one by one: precision": 0.80,
    "topics of 10kGNAD, one by one: found": 0.80,
    "topics of AG News: precision": 0.88,
    "topics of AG News: found": 0.80,
    "topics of 10kGNAD: precision": 0.85,
    "topics of 10kGNAD: found": 0.80,
    "tone of Affective: F1, macro": 0.60,
    "tone of PhraseBank: F1, macro": 0.72,
}
"""By figure; a negative one is a ceiling."""


@frozen
class Figure:
    """A measured number, and that of a plain method on the same text."""

    name: str
    ours: float
    plain: float | None = None
    note: str = ""

    @property
    def is_missed(self) -> bool:
        """Whether it is below its floor, or above its ceiling."""
        floor = FLOORS.get(self.name)
        if floor is None:
            return False
        return round(self.ours, 3) < floor if floor >= 0 else round(self.ours, 3) > -floor

    def line(self) -> str:
        """One line of the table."""
        floor = FLOORS.get(self.name)
        goal = "" if floor is None else f"{'>=' if floor >= 0 else '<='} {abs(floor):.2f}"
        plain = "" if self.plain is None else f"{self.plain:.2f}"
        miss = "MISSED" if self.is_missed else ""
        return (
            f"{self.name:<46}{self.ours:>7.3f}{plain:>8}  {goal:<8}{miss:<7} {self.note}".rstrip()
        )


# -- finding -----------------------------------------------------------------------------------


def _rates(
    corpus: Sequence[Reading], frequencies: Frequencies, subjects_: Iterable[Subject]
) -> list[list[Rate]]:
    """For each subject the rate of each wording."""
    return [
        [
            Rate.of(matched_ids(corpus, frequencies, wording, subject.language), subject.relevant)
            for wording in subject.wordings
        ]
        for subject in subjects_
    ]


def _asked_plainly(index: Bm25, subjects_: Iterable[Subject]) -> list[list[Rate]]:
    return [
        [
            Rate.of(index.find(wording, subject.language), subject.relevant)
            for wording in subject.wordings
        ]
        for subject in subjects_
    ]


def subjects(sets: Sets) -> Iterator[Figure]:
    """Our subjects in one line each, and in two other wordings."""
    news, days = stored_readings(sets.news()), stored_readings(sets.days())
    all_subjects = sets.subjects()
    real = [subject for subject in all_subjects if subject.relevant]
    within = sets.subjects_of_days()
    index, index_of_days = Bm25(sets.news()), Bm25(sets.days())
    plain = _asked_plainly(index, real)
    frequencies = frequencies_of(news)
    yield from rates_figures(
        " of a few days",
        _rates(days, frequencies_of(days), within),
        _asked_plainly(index_of_days, within),
    )
    rates = _rates(news, frequencies, real)
    yield from rates_figures("", rates, plain)
    yield from _by_language(real, rates, plain)
    mixed_rates = _rates(news, frequencies_of(sets.all_readings()), real)
    yield from rates_figures(" in a mixed store", mixed_rates, plain)
    irrelevant = {"": [subject for subject in all_subjects if not subject.relevant]}
    for name in ("cranfield", "time"):
        irrelevant[f" ({name})"] = [
            evolve(subject, relevant=frozenset()) for subject in sets.public_set(name)[1]
        ]
    for suffix, subjects_ in irrelevant.items():
        yield _silence_figure(
            _rates(news, frequencies, subjects_), _asked_plainly(index, subjects_), suffix
        )


def windows(sets: Sets) -> Iterator[Figure]:
    """Our subjects, each in a window of its own, and in a store of little else."""
    searches = {
        " of a window": sets.searches_of_windows(),
        " of a small store": sets.searches_of_small_stores(),
    }
    for suffix, rows in searches.items():
        rates, plain = [], []
        for row in rows:
            rates += _rates(stored_readings(row.items), _frequencies(row.store), [row.subject])
            plain += _asked_plainly(Bm25(row.items), [row.subject])
        yield from rates_figures(suffix, rates, plain)


@cache
def _frequencies(store: tuple[EvidenceTexts, ...]) -> Frequencies:
    return frequencies_of(readings(store))


def answers(sets: Sets) -> Iterator[Figure]:
    """Subjects whose items were all taken away, and whether it is said that there is nothing."""
    searches = [*sets.searches_of_days(), *sets.searches_of_windows()]
    rankings = [ranking for search in searches for ranking in _rankings(search)]
    emptied = [ranking for search in searches for ranking in _rankings(sets.left_out(search))]
    yield Figure(
        "nothing left: told as nothing",
        fmean(not ranking.hits for ranking in emptied),
        note=f"of {len(emptied)}; another {fmean(row.is_scant for row in emptied):.2f} as little",
    )
    yield Figure(
        "something there: told as nothing",
        fmean(not ranking.hits for ranking in rankings),
        note=f"of {len(rankings)}; another {fmean(row.is_scant for row in rankings):.2f} as little",
    )


def _rankings(search: Search) -> list[Ranking]:
    items, frequencies = stored_readings(search.items), _frequencies(search.store)
    subject = search.subject
    return [
        ranking_of(items, frequencies, wording, subject.language) for wording in subject.wordings
    ]


def rates_figures(
    suffix: str, rates: list[list[Rate]], plain: list[list[Rate]]
) -> Iterator[Figure]:
    """Precision, recall and spread of subjects, each with its wordings."""
    first, first_plain = [row[0] for row in rates], [row[0] for row in plain]
    total, both_plain = micro(first), micro(first_plain)
    note = f"P {total.precision:.2f} R {total.recall:.2f}; plain P {both_plain.precision:.2f}"
    yield Figure(f"subjects{suffix}: F1, macro", macro(first), macro(first_plain))
    yield Figure(
        f"subjects{suffix}: F1, micro",
        total.f1,
        both_plain.f1,
        f"{note} R {both_plain.recall:.2f}",
    )
    paraphrase_rates = [rate for row in rates for rate in row[1:]]
    others_plain = [rate for row in plain for rate in row[1:]]
    yield Figure(f"paraphrases{suffix}: F1, macro", macro(paraphrase_rates), macro(others_plain))
    yield Figure(f"paraphrases{suffix}: recall", _recall(paraphrase_rates), _recall(others_plain))
    yield Figure(f"paraphrases{suffix}: spread", _spread(rates), _spread(plain))
    silent = [_finds_nothing(row) for row in rates]
    yield Figure(
        f"subjects{suffix}: a wording finds nothing",
        float(sum(silent)),
        float(sum(map(_finds_nothing, plain))),
        f"of {len(rates)}",
    )


def _finds_nothing(rates: list[Rate]) -> bool:
    return any(rate.right == 0 for rate in rates)


def _recall(rates: Sequence[Rate]) -> float:
    return fmean(rate.recall for rate in rates)


def _spread(rates: Sequence[Sequence[Rate]]) -> float:
    """The mean of how far the recall of a subject's wordings lies apart."""
    recalls = [[rate.recall for rate in row] for row in rates]
    return fmean(max(row) - min(row) for row in recalls)


def _by_language(
    subjects_: Sequence[Subject], rates: list[list[Rate]], plain: list[list[Rate]]
) -> Iterator[Figure]:
    for language, count in Counter(subject.language for subject in subjects_).most_common():
        at = [n for n, subject in enumerate(subjects_) if subject.language == language]
        yield Figure(
            f"subjects, {language}: F1 of all wordings, macro",
            macro(rate for n in at for rate in rates[n]),
            macro(rate for n in at for rate in plain[n]),
            f"{count} subjects",
        )


def _silence_figure(rates: list[list[Rate]], plain: list[list[Rate]], suffix: str) -> Figure:
    """Wordings of what is not there that find something all the same."""
    flat, flat_plain = ([rate for row in wordings for rate in row] for wordings in (rates, plain))
    return Figure(
        f"nothing to find{suffix}: share that cites",
        fmean(rate.wrong > 0 for rate in flat),
        fmean(rate.wrong > 0 for rate in flat_plain),
        f"of {len(flat)}; items cited {sum(rate.wrong for rate in flat)}",
    )


def _public(name: str, sets: Sets) -> Iterator[Figure]:
    documents, queries = sets.public_set(name)
    corpus = readings(documents)
    plain = [row[0] for row in _asked_plainly(Bm25(documents), queries)]
    for suffix, store in (("", corpus), (" in a mixed store", sets.all_readings())):
        rates = [row[0] for row in _rates(corpus, frequencies_of(store), queries)]
        micro_rate = micro(rates)
        yield Figure(
            f"{name}{suffix}: F1",
            micro_rate.f1,
            micro(plain).f1,
            f"P {micro_rate.precision:.2f} R {micro_rate.recall:.2f}; macro {macro(rates):.2f}",
        )


def time_magazine(sets: Sets) -> Iterator[Figure]:
    """Questions of 1963 to a magazine."""
    return _public("time", sets)


def cranfield(sets: Sets) -> Iterator[Figure]:
    """Questions of engineers to abstracts."""
    return _public("cranfield", sets)


# -- grouping ----------------------------------------------------------------------------------


def stories(sets: Sets) -> Iterator[Figure]:
    """Which items tell one event, and whether two stores say the same."""
    yield from _groups("stories of a few days", sets.stories_of_days())
    yield from _groups("stories", sets.stories())
    for label, name in (("uci", "uci_stories"), ("ecb+", "ecbplus")):
        yield from _groups(label, sets.clusters(name))
        yield from _groups(f"{label} among others", sets.clusters(name, foreign=True))
    yield from _groups("large events", sets.giants())
    same, every = agreement(sets.folder)
    yield Figure("stories: same in two stores", same / every, note=f"of {every}")


def _groups(name: str, set_: GroupedItems) -> Iterator[Figure]:
    groups_, plain = groups_of(set_.items), average_link(set_.items)
    own_rate, plain_rate = (pairs(groups, set_.label, set_.unsure) for groups in (groups_, plain))
    largest = max(groups_, key=len)
    yield Figure(f"{name}: precision", own_rate.precision, plain_rate.precision)
    yield Figure(f"{name}: recall", own_rate.recall, plain_rate.recall)
    yield Figure(f"{name}: pairs F1", own_rate.f1, plain_rate.f1)
    yield Figure(
        f"{name}: B³",
        b_cubed(groups_, set_.label, set_.unsure),
        b_cubed(plain, set_.label, set_.unsure),
        f"{len(groups_)} groups, largest {len(largest)}",
    )
    own, other = largest_event(groups_, set_.label), largest_event(plain, set_.label)
    note = f"in {own.groups} groups instead of {other.groups}"
    yield Figure(f"{name}: largest event: recall", own.recall, other.recall, note)
    yield Figure(f"{name}: largest event: precision", own.precision, other.precision)


# -- telling -----------------------------------------------------------------------------------


def telling(sets: Sets) -> Iterator[Figure]:
    """Marks of composed reports, what stands twice in them, and whether events stay apart."""
    by_id = {item.id: item for item in sets.news()}
    frequencies = frequencies_of(readings(sets.news()))
    reports = [
        composed(subject, sets.news(), frequencies)
        for subject in sets.subjects()
        if subject.relevant
    ]
    holdings = [
        (place, holds(by_id[id_], text))
        for report in reports
        for text, ids in marks(report)
        for place, id_ in enumerate(ids)
    ]
    further = [good for place, good in holdings if place]
    yield Figure("marks: hold", fmean(good for _, good in holdings), note=f"of {len(holdings)}")
    if further:
        yield Figure("marks: further ones hold", fmean(further), note=f"of {len(further)}")
    twice = sum(_twice(report) for report in reports)
    yield Figure("statements that stand twice", float(twice), note=f"in {len(reports)} reports")
    words = [report.facets for report in reports]
    yield from _events(words, sets.stories())
    for name in ("ecbplus", "uci_stories"):
        set_ = sets.clusters(name, foreign=True)
        yield from _events([words_of(set_.items, frequencies)], set_, f" ({name})")
    openings = [
        line.text for report in reports if report.facets.sources for line in report.facets.opening
    ]
    count = sum(map(is_fragment, openings))
    yield Figure("openings: captions, fragments", float(count), note=f"of {len(openings)}")


def key_points(sets: Sets) -> Iterator[Figure]:
    """Whether key points are about the subject, and tell first what most publishers report of it.

    The gain of one is how many publishers report its story, 0 where it is about something else or
    the story was told before.
    """
    frequencies = frequencies_of(readings(sets.news()))
    label = sets.stories().label
    about: list[bool] = []
    ranks: list[float] = []
    for search in sets.searches_of_windows():
        words = composed(search.subject, search.items, frequencies).facets
        ids = {source.number: source.id for source in words.sources}
        lines = words.key_points or words.opening
        points = [ids[line.citations[0]] for line in lines if line.citations]
        publishers: dict[str, set[str]] = {}
        for item in search.items:
            if item.id in search.subject.relevant:
                publishers.setdefault(label.get(item.id, item.id), set()).add(item.publisher)
        stories_ = [label.get(id_, id_) for id_ in points]
        gains = [len(publishers.get(name, ())) for name in dict.fromkeys(stories_)]
        best = sorted(map(len, publishers.values()), reverse=True)
        about += [id_ in search.subject.relevant for id_ in points]
        ranks += [_discounted(gains) / _discounted(best)] if points else []
    yield Figure("key points: about the subject", fmean(about), note=f"of {len(about)}")
    yield Figure("key points: nDCG@3", fmean(ranks), note=f"by publishers, {len(ranks)} reports")


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / log2(place + 2) for place, gain in enumerate(gains[:3]))


def _events(
    reports: Sequence[ReportWords], set_: GroupedItems, label: str = ""
) -> Iterator[Figure]:
    """How many of the items that are named together are labelled as one event."""
    for name, pairs_ in (("also reported by", also_pairs), ("sentences of a section", line_pairs)):
        ids = [pair for words in reports for pair in pairs_(words)]
        same = [
            set_.label.get(a, a) == set_.label.get(b, b)
            for a, b in ids
            if (a in set_.label or b in set_.label) and frozenset((a, b)) not in set_.unsure
        ]
        note = f"of {len(same)}, {len(ids)} in all"
        yield Figure(f"{name}{label}: same event", fmean(same or [0]), note=note)


def read(sets: Sets, count: int) -> None:
    """Print some reports in full, each over the items of the days around its subject."""
    frequencies = frequencies_of(readings(sets.news()))
    for subject in [subject for subject in sets.subjects() if subject.relevant][:count]:
        items = around(subject, sets.news())
        print(composed(subject, items, frequencies).facets.content.markdown, flush=True)


def _twice(report: ComposedReport) -> int:
    """Statements that stand twice; the opening may quote a section."""
    statements = [text for text, _ in marks(report)]
    opening = {statement.text for statement in report.facets.opening}
    return (
        len(statements) - len(set(statements)) - sum(statements.count(text) > 1 for text in opening)
    )


def sentences(sets: Sets) -> Iterator[Figure]:
    """How many of as many chosen sentences are in the gold extract of an article; what opens."""
    frequencies = frequencies_of(sets.all_readings())
    rows = sets.of_half(sets.rows("cnn_corpus/docs.jsonl"), lambda row: row["id"])
    own_rates, plain = [], []
    for row in rows:
        gold = set(row["extract"])
        places = sentences_of(row["title"], row["sentences"], frequencies, len(gold))
        own_rates.append(len(gold & places) / len(gold))
        plain.append(len(gold & set(range(len(gold)))) / len(gold))
    yield Figure("sentences of CNN: hit", fmean(own_rates), fmean(plain), f"{len(rows)} articles")
    labels, news = sets.openings(), readings(sets.news())
    openings = {opening_of(reading, frequencies) for reading in without_templates(news)}
    keys = {ending_of(text) for text in openings if text} & labels.keys()
    fit = [labels[key] == "good" for key in keys]
    yield Figure(
        "openings: quoted ones that are good", fmean(fit), note=f"of {len(fit)}, looked at"
    )
    endings = {ending_of(text) for reading in news for text in reading.sentences}
    good = [key in keys for key in endings if labels.get(key) == "good"]
    yield Figure("openings: good ones quoted", fmean(good), note=f"of {len(good)}, else headlines")
    heads = {ending_of(o.headline): vagueness(o.evidence.title, o.language) for o in news}
    for about, kinds in HEADLINES.items():
        vague = [heads[key] > 0 for key in heads if labels.get(key) in kinds]
        yield Figure(f"headlines: vague, of {about}", fmean(vague), note=f"of {len(vague)}")


HEADLINES = {
    "news": ("headline of news",),
    "no news": ("label", "opinion", "asking headline", "quoting headline", "teasing headline"),
}

# -- judging -----------------------------------------------------------------------------------

_POWER = (
    "world politics diplomacy elections conflict terrorism unrest sanctions defense intelligence"
)
_HARM = "disinformation migration crime law-regulation disasters outbreaks health energy climate"
_MONEY = (
    "economy markets central-banks inflation trade companies earnings banking crypto commodities"
)
_TRADE = "energy supply-chain shipping telecom technology semiconductors law-regulation"
_TECH = (
    "technology ai semiconductors space telecom science cybersecurity vulnerabilities ransomware"
)
_NATURE = "climate health outbreaks disasters energy"
FITTING = {
    "World": f"{_POWER} {_HARM}",
    "Business": f"{_MONEY} {_TRADE}",
    "Sci/Tech": f"{_TECH} {_NATURE} companies",
    "International": f"{_POWER} {_HARM}",
    "Inland": f"{_POWER} {_HARM} economy",
    "Panorama": f"{_POWER} {_HARM}",
    "Wirtschaft": f"{_MONEY} {_TRADE}",
    "Web": f"{_TECH} companies crime disinformation law-regulation",
    "Wissenschaft": f"{_TECH} {_NATURE}",
}
"""Which of our topics fit a public label. No topic is about sport, culture or the media trade, and
items of those labels are not judged."""


def topics(sets: Sets) -> Iterator[Figure]:
    """Which topics fit; `found` is the share of items with one that is their main topic."""
    ours: dict[str, list[tuple[Sequence[str], set[str], set[str]]]] = {
        "ours": [],
        "German feeds": [],
    }
    for item, row in sets.topics():
        judged = (topics_of(item.title, item.text, item.primary_language), *_fitting(row))
        ours["ours"].append(judged)
        if guess(f"{item.title}\n{item.text}", item.primary_language) == "de":
            ours["German feeds"].append(judged)
    ours["10kGNAD, one by one"] = [
        (topics_of(article["title"], article["text"], "de"), *_fitting(row))
        for article, row in sets.topics_of_articles()
    ]
    for label, labelled in ours.items():
        yield from _topic_figures(label, labelled)
    for label, name, tongue in (("AG News", "ag_news", "en"), ("10kGNAD", "gnad10k", "de")):
        rows = sets.of_half(sets.rows(f"{name}/items.jsonl"), lambda row: row["title"].lower())
        labelled = []
        for row in rows:
            if row["label"] in FITTING:
                fitting = set(FITTING[row["label"]].split())
                labelled.append((topics_of(row["title"], row["text"], tongue), fitting, fitting))
        yield from _topic_figures(label, labelled)


def _fitting(row: Row) -> tuple[set[str], set[str]]:
    """The main topics of an item, and those with what is accepted besides."""
    return {*row["fitting"]}, {*row["fitting"], *row["accepted"]}


def _topic_figures(
    label: str, labelled: Sequence[tuple[Sequence[str], set[str], set[str]]]
) -> Iterator[Figure]:
    count = sum(len(topics) for topics, _, _ in labelled)
    right = sum(topic in fitting for topics, _, fitting in labelled for topic in topics)
    is_hit = [bool(fitting & set(topics)) for topics, fitting, _ in labelled if fitting]
    note = f"{count / len(labelled):.2f} topics an item"
    yield Figure(f"topics of {label}: precision", right / max(count, 1), note=note)
    yield Figure(f"topics of {label}: found", fmean(is_hit), note=f"of {len(is_hit)}")


def sentiment(sets: Sets) -> Iterator[Figure]:
    """The tone of a headline or sentence."""
    sets_by_label = {
        "Affective": "affective_text",
        "PhraseBank": "phrasebank",
        "SemEval17": "semeval17_headlines",
    }
    for label, name in sets_by_label.items():
        rows = sets.of_half(sets.rows(f"{name}/items.jsonl"), lambda row: row["title"].lower())
        labels_ = [row["label"] for row in rows]
        common = Counter(labels_).most_common(1)[0][0]
        labels = [tone(row["title"]) for row in rows]
        yield Figure(
            f"tone of {label}: F1, macro",
            classes(labels, labels_),
            classes([common] * len(labels_), labels_),
            f"accuracy {fmean(a == b for a, b in zip(labels, labels_, strict=True)):.2f}",
        )


PARTS: dict[str, Callable[[Sets], Iterator[Figure]]] = {
    "subjects": subjects,
    "windows": windows,
    "answers": answers,
    "time": time_magazine,
    "cranfield": cranfield,
    "stories": stories,
    "telling": telling,
    "key points": key_points,
    "sentences": sentences,
    "topics": topics,
    "sentiment": sentiment,
}


def asked_for(about: str, *more: str) -> argparse.Namespace:
    """What the command line asks for: the folder, a half, and files that `more` names."""
    reader = argparse.ArgumentParser(description=about.splitlines()[0])
    default = os.environ.get("SVC_REAL_DATA")  # noqa: TID251 - what it is given
    reader.add_argument("folder", nargs="?", default=default)
    reader.add_argument("--only", choices=tuple(PARTS), action="append")
    reader.add_argument("--half", choices=("dev", "report"))
    reader.add_argument(
        *("--semantic",), nargs="?", const="e5", choices=("e5", "minilm"), help="by meaning, too"
    )
    reader.add_argument("--read", type=int, metavar="N", help="print N reports instead")
    for name in more:
        reader.add_argument(name, type=Path)
    options = reader.parse_args()
    if options.folder is None:
        reader.error("name the folder of documents, or set SVC_REAL_DATA")
    return options


def main() -> int:
    """Print the figures; the exit code."""
    options = asked_for(__doc__ or "")
    BY_MEANING.extend([options.semantic] if options.semantic else [])
    sets = Sets(Path(options.folder), options.half)
    if options.read:
        read(sets, options.read)
        return 0
    print(f"{'':<46}{'ours':>7}{'plain':>8}  goal")
    misses = 0
    for name in options.only or PARTS:
        began = time.process_time()
        for figure in PARTS[name](sets):
            print(figure.line(), flush=True)
            misses += figure.is_missed
        print(f"  ({name}: {time.process_time() - began:.1f} s)", flush=True)
    print(f"{misses} below their goal" if misses else "every goal reached")
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
