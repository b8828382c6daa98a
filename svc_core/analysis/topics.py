"""The forty topics and how an item comes by them.

Rule 1: a topic given by the source, or named by a category of the feed, is kept.
Rule 2: the words of headline and lead, or of the headline alone where the text tells something
        else, add a topic where the model of their language scores above its threshold, the surest
        first, never more than `TOPICS_PER_ITEM_MAX`.
Rule 3: in a language without a model the words add none.
"""

from collections.abc import Iterable, Mapping
from functools import cache

from attrs import frozen

from svc_core import data
from svc_core.analysis import linear
from svc_core.text.language import guess
from svc_core.text.words import terms

TOPICS_PER_ITEM_MAX = 5  # an item about everything is about nothing
LANGUAGES = frozenset({"de", "en", "es", "fr", "it", "nl", "pt"})  # with a model of their own

_LEAD = 1_000  # characters: the rest of a long text strays from its topic
# How much surer a headline must be than headline and lead together: 0.5 costs 10kGNAD 0.03 of its
# precision, without headlines AG News loses 0.03 of what is found.
_ALONE = 1.0


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
    given = {name for name in defaults if name in TOPIC_IDS} | _named(categories)
    chosen = given | set(_told(title, text[:_LEAD], language))
    return tuple(topic.id for topic in TOPICS if topic.id in chosen)


def _named(categories: Iterable[str]) -> set[str]:
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


@cache
def _model(language: str) -> linear.Linear:
    return linear.read(f"topics.{language}.z")
