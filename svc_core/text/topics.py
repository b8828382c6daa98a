"""The forty topics and how an item comes by them.

Rule 1: a topic given by the source, or named by a category of the feed, is kept.
Rule 2: the words of headline and lead, or of the headline alone where the text tells something
        else, add a topic where the model of their language scores above its threshold, the surest
        first, never more than `TOPICS_PER_ITEM_MAX`.
Rule 3: words that stand for a topic add the one that they tell most plainly, in any language.
"""

from collections.abc import Iterable, Mapping
from functools import cache

from attrs import frozen

from svc_core import data
from svc_core.text import linear
from svc_core.text.language import guess
from svc_core.text.words import terms, words

TOPICS_PER_ITEM_MAX = 5  # an item about everything is about nothing
LANGUAGES = frozenset({"de", "en", "es", "fr", "it", "nl", "pt"})  # with a model of their own

_LEAD = 1_000  # characters: the rest of a long text strays from its topic
# How much surer a headline must be than headline and lead together: 0.5 costs 10kGNAD 0.03 of its
# precision, without headlines AG News loses 0.03 of what is found.
_ALONE = 1.0
_SETTLED, _IN_TITLE, _IN_TEXT = 3, 2, 1
_LEAST = 2  # of these points: with 3, a tenth less of our own items has its topic
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


TOPICS: tuple[Topic, ...] = tuple(map(_topic, data.lines("topics.tsv")))
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
    given = {name for name in defaults if name in TOPIC_IDS} | named(categories)
    lead = text[:_LEAD]
    chosen = given | {*_told(title, lead, language), *_worded(title, lead)}
    return tuple(topic.id for topic in TOPICS if topic.id in chosen)


def named(categories: Iterable[str]) -> set[str]:
    """The topics whose id or name these labels are, however they are written."""
    known = _labels()
    return {id_ for label in categories for id_ in known.get(" ".join(terms(label)), ())}


@cache
def _labels() -> Mapping[str, frozenset[str]]:
    """Which topics the feeds' own labels name: by their names and by their ids."""
    found: dict[str, set[str]] = {}
    for topic in TOPICS:
        for name in (topic.name, topic.id):
            found.setdefault(" ".join(terms(name)), set()).add(topic.id)
    return {label: frozenset(ids) for label, ids in found.items()}


def _told(title: str, text: str, stated: str | None) -> list[str]:
    """The topics that the words tell, the surest first."""
    language = guess(f"{title}\n{text}", stated)
    if language not in LANGUAGES:
        return []
    model = _model(language)
    whole, alone = (
        model.scores(set(terms(part, language))) for part in (f"{title}\n{text}", title)
    )
    scored = zip(model.columns, whole, alone, strict=True)
    scores = ((max(score, headline - _ALONE), id_) for id_, score, headline in scored)
    sure = sorted((-score, id_) for score, id_ in scores if score > 0)
    return [id_ for _, id_ in sure[:TOPICS_PER_ITEM_MAX]]


def _worded(title: str, text: str) -> list[str]:
    """The topic that the words which stand for topics tell most plainly, if any."""
    known = _phrases()
    told: dict[str, int] = {}
    seen: set[tuple[str, ...]] = set()
    for part, worth in ((title, _IN_TITLE), (text, _IN_TEXT)):
        held = _singular(part)
        for at, word in enumerate(held):
            for phrase, settled in known.get(word, ()):
                if phrase not in seen and tuple(held[at : at + len(phrase)]) == phrase:
                    seen.add(phrase)
                    for id_, settles in settled.items():
                        told[id_] = told.get(id_, 0) + (_SETTLED if settles else worth)
    plainest = min(told, key=lambda id_: (-told[id_], id_), default="")
    return [plainest] if told.get(plainest, 0) >= _LEAST else []


@cache
def _phrases() -> Mapping[str, list[tuple[tuple[str, ...], dict[str, bool]]]]:
    """By its first word each phrase that stands for topics, and whether it settles them."""
    found: dict[tuple[str, ...], dict[str, bool]] = {}
    for line in data.lines("topic_seeds.tsv"):
        id_, _, written = line.partition("\t")
        for seed in written.split():
            phrase = tuple(_singular(seed.lstrip("+").replace("_", " ")))
            found.setdefault(phrase, {}).setdefault(id_, seed.startswith("+"))
    by_word: dict[str, list[tuple[tuple[str, ...], dict[str, bool]]]] = {}
    for phrase, settled in found.items():
        by_word.setdefault(phrase[0], []).append((phrase, settled))
    return by_word


def _singular(text: str) -> list[str]:
    return [
        word[:-1] if len(word) >= _SINGULAR_MIN and word[-1] == "s" and word[-2] != "s" else word
        for word in words(text)
    ]


@cache
def _model(language: str) -> linear.Linear:
    return linear.read(f"topics.{language}.z")
