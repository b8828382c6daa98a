"""The forty topics and how an item comes by them.

Rule 1: a topic given by the source, or named by a category of the feed, is kept.
Rule 2: words add a topic when one settles it, when one stands in the title, or when two different
ones stand in the text; never more than `TOPICS_PER_ITEM_MAX` by words alone.
"""

from collections.abc import Iterable, Mapping
from functools import cache

from attrs import frozen

from svc_core.analysis._topic_words import TOPIC_ROWS
from svc_core.analysis.tokens import runs, tokens
from svc_core.text.tables import rows

TOPICS_PER_ITEM_MAX = 5  # an item about everything is about nothing


@frozen
class Topic:
    """A topic of the catalogue; `media_topic` is an IPTC code (`medtop:16000000`) or `None`."""

    id: str
    name: str
    group: str
    description: str
    media_topic: str | None
    keywords: tuple[str, ...]


def _topic(row: list[str]) -> Topic:
    id_, name, group, medtop, description, words = row
    return Topic(
        id=id_,
        name=name,
        group=group,
        description=description,
        media_topic=f"medtop:{medtop}000000" if medtop else None,
        keywords=tuple(word.replace("_", " ") for word in words.split()),
    )


TOPICS: tuple[Topic, ...] = tuple(_topic(row) for row in rows(TOPIC_ROWS))
TOPIC_IDS: frozenset[str] = frozenset(topic.id for topic in TOPICS)


def assign(
    title: str, text: str, categories: Iterable[str] = (), defaults: Iterable[str] = ()
) -> tuple[str, ...]:
    """The topics of an item, in the catalogue's order.

    `categories` are the feed's own labels, `defaults` the topics of its source; those unknown to
    the catalogue are ignored.
    """
    given = {name for name in defaults if name in TOPIC_IDS} | _named(categories)
    scores = _scores(tokens(title), tokens(text))
    ranked = sorted((topic for topic in scores if scores[topic] >= 2), key=lambda t: -scores[t])
    chosen = given | set(ranked[:TOPICS_PER_ITEM_MAX])
    return tuple(topic.id for topic in TOPICS if topic.id in chosen)


def _named(categories: Iterable[str]) -> set[str]:
    known = _labels()
    return {id_ for label in categories for id_ in known.get(" ".join(tokens(label)), ())}


@cache
def _labels() -> Mapping[str, frozenset[str]]:
    """Which topics the feeds' own labels name: by their names and by their ids."""
    found: dict[str, set[str]] = {}
    for topic in TOPICS:
        for name in (topic.name, topic.id):
            found.setdefault(" ".join(tokens(name)), set()).add(topic.id)
    return {label: frozenset(ids) for label, ids in found.items()}


def _scores(title: list[str], text: list[str]) -> Mapping[str, float]:
    """Points by topic: 2 for a word of the title or a settling word, 1 for one of the text."""
    found: dict[str, float] = {}
    rules = _rules()
    in_title = runs(title)
    for phrase in sorted(in_title | runs(text)):
        for topic, settles in rules.get(phrase, ()):
            points = 3.0 if settles else 2.0 if phrase in in_title else 1.0
            found[topic] = found.get(topic, 0.0) + points
    return found


@cache
def _rules() -> Mapping[tuple[str, ...], tuple[tuple[str, bool], ...]]:
    rules: dict[tuple[str, ...], list[tuple[str, bool]]] = {}
    for topic in TOPICS:
        for keyword in topic.keywords:
            phrase = tuple(tokens(keyword.removeprefix("+")))
            known = rules.setdefault(phrase, [])
            if topic.id not in {name for name, _ in known}:
                known.append((topic.id, keyword.startswith("+")))
    return {phrase: tuple(found) for phrase, found in rules.items()}
