"""The catalogue of forty topics, and the rules that assign them to an item.

Rule 1: a topic given by the source, or named by a category of the feed, is kept.
Rule 2: a linear model of the language adds the topics that it scores above their thresholds, by
        headline and lead, or by the headline alone where the text is about something else; by a
        margin where no phrase indicates the topic; the surest `TOPICS_PER_ITEM_MAX` at most.
Rule 3: phrases that indicate topics add the one that they indicate most clearly, unless the model
        is sure of the contrary: those of the language where it has a table of its own, since a
        word of one is another word in the next.
"""

from collections.abc import Iterable, Mapping
from functools import cache

from attrs import frozen

from svc_core import data
from svc_core.text import linear_models as linear
from svc_core.text.language import guess
from svc_core.text.words import split_words, terms

TOPICS_PER_ITEM_MAX = 5  # an item about everything is about nothing
LANGUAGES = frozenset({"de", "en", "es", "fr", "it", "nl", "pt"})  # with a model of their own

_LEAD = 1_000  # characters: the rest of a long text strays from its topic
# How much surer a headline must be than headline and lead together: 0.5 costs 10kGNAD 0.03 of its
# precision, without headlines AG News loses 0.03 of what is found.
_HEADLINE_MARGIN = 1.0
_DECISIVE, _IN_TITLE, _IN_TEXT = 3, 2, 1
_POINTS_MIN = 2  # of these points: with 3, a tenth less of our own items has its topic
# Phrase and model are evidence for one thing: a point is worth so much of a score, and the sum must
# exceed the last number. With 0 as the limit, a tenth less of AG News has its topic.
_POINT_WORTH, _EVIDENCE_MIN = 0.8, -1.0
_SCORE_ALONE_MIN = 0.4  # without a point: with 0, German text loses 0.02 of its precision
_PHRASE_TABLES = {"de": "topic_seeds.de.tsv"}  # of languages with one of their own
_SINGULAR_MIN = 4  # letters of a word that may be a plural


@frozen
class Topic:
    """A topic of the catalogue; `media_topic` is an IPTC code (`medtop:16000000`) or `None`."""

    id: str
    name: str
    group: str
    description: str
    media_topic: str | None


def _topic(line: str) -> Topic:
    id_, name, group, code, description = line.split("\t")
    return Topic(id_, name, group, description, f"medtop:{code}000000" if code else None)


TOPICS: tuple[Topic, ...] = tuple(map(_topic, data.table_lines("topics.tsv")))
TOPIC_IDS: frozenset[str] = frozenset(topic.id for topic in TOPICS)


def assign(
    title: str,
    text: str,
    categories: Iterable[str] = (),
    defaults: Iterable[str] = (),
    *,
    language: str | None = None,
) -> tuple[str, ...]:
    """The topics of an item, in the catalogue's order.

    `categories` are the feed's own labels, `defaults` the topics of its source; those unknown to
    the catalogue are ignored. `language` is a BCP 47 tag; where none is given it is guessed.
    """
    labels = {name for name in defaults if name in TOPIC_IDS} | topics_of_labels(categories)
    lead = text[:_LEAD]
    tongue = guess(f"{title}\n{lead}", language)
    scores, points = _scores(title, lead, tongue), _points(title, lead, tongue)
    margins = {id_: 0 if id_ in points else _SCORE_ALONE_MIN for id_ in scores}
    surest = sorted((-score, id_) for id_, score in scores.items() if score > margins[id_])
    ids = labels | {id_ for _, id_ in surest[:TOPICS_PER_ITEM_MAX]}
    count, plainest = max(((points[id_], id_) for id_ in points), default=(0, ""))
    if count >= _POINTS_MIN and scores.get(plainest, 0.0) + _POINT_WORTH * count > _EVIDENCE_MIN:
        ids.add(plainest)
    return tuple(topic.id for topic in TOPICS if topic.id in ids)


def topics_of_labels(categories: Iterable[str]) -> set[str]:
    """The topics that these labels name by id or by name, however they are spelled."""
    by_label = _labels()
    return {id_ for label in categories for id_ in by_label.get(" ".join(terms(label)), ())}


@cache
def _labels() -> Mapping[str, frozenset[str]]:
    """The topics by the labels that name them: their names and their ids."""
    ids_by_label: dict[str, set[str]] = {}
    for topic in TOPICS:
        for name in (topic.name, topic.id):
            ids_by_label.setdefault(" ".join(terms(name)), set()).add(topic.id)
    return {label: frozenset(ids) for label, ids in ids_by_label.items()}


def _scores(title: str, text: str, language: str | None) -> dict[str, float]:
    """How sure the model of the language is of each topic; nothing where there is no model."""
    if language not in LANGUAGES:
        return {}
    model = linear.load_model(f"topics.{language}.z")
    full, title_only = (
        model.scores(set(terms(part, language))) for part in (f"{title}\n{text}", title)
    )
    columns = zip(model.columns, full, title_only, strict=True)
    return {id_: max(score, headline - _HEADLINE_MARGIN) for id_, score, headline in columns}


def _points(title: str, text: str, language: str | None) -> dict[str, int]:
    """How clearly known phrases indicate each topic: the topics of those that the text has."""
    phrases = _phrases(_PHRASE_TABLES.get(language or "", "topic_seeds.tsv"))
    points: dict[str, int] = {}
    seen: set[tuple[str, ...]] = set()
    for part, weight in ((title, _IN_TITLE), (text, _IN_TEXT)):
        words = _singular(part)
        for index, word in enumerate(words):
            for phrase, topics in phrases.get(word, {}).items():
                if phrase not in seen and tuple(words[index : index + len(phrase)]) == phrase:
                    seen.add(phrase)
                    for id_, is_decisive in topics.items():
                        points[id_] = points.get(id_, 0) + (_DECISIVE if is_decisive else weight)
    return points


@cache
def _phrases(table: str) -> Mapping[str, Mapping[tuple[str, ...], dict[str, bool]]]:
    """Phrases that indicate topics, by their first word; the flag says that one is enough."""
    by_word: dict[str, dict[tuple[str, ...], dict[str, bool]]] = {}
    for line in data.table_lines(table):
        id_, _, seeds = line.partition("\t")
        for seed in seeds.split():
            phrase = tuple(_singular(seed.lstrip("+").replace("_", " ")))
            topics = by_word.setdefault(phrase[0], {}).setdefault(phrase, {})
            topics.setdefault(id_, seed.startswith("+"))
    return by_word


def _singular(text: str) -> list[str]:
    return [
        word[:-1] if len(word) >= _SINGULAR_MIN and word[-1] == "s" and word[-2] != "s" else word
        for word in split_words(text)
    ]
