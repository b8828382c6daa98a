"""Groups scored items into stories: one event each, split into its developments."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, repeat

from attrs import Factory, frozen

from svc_core.text.evidence import Reading, ScoredItem
from svc_core.text.frequencies import Frequencies
from svc_core.text.grouping import group_readings, heading_parts


@frozen
class Story:
    """The items that report one event: `members` by time, then id; the first gives the key.

    `developments` are the same items by development, each by time then id, in the order of their
    first member.
    """

    key: str
    members: tuple[ScoredItem, ...]
    developments: tuple[tuple[ScoredItem, ...], ...] = Factory(
        lambda self: (self.members,), takes_self=True
    )

    @property
    def score(self) -> float:
        """The highest relevance among the members."""
        return max(member.score for member in self.members)

    @property
    def best_reading(self) -> Reading:
        """The most relevant of the items, as it was read."""
        return max(self.members, key=lambda member: (member.score, member.evidence.id)).reading

    @property
    def subjects(self) -> set[str]:
        """The subjects of the query that every item was found for."""
        return set.intersection(*({*member.subjects} for member in self.members))

    @property
    def is_dated(self) -> bool:
        """Whether any item says when it was published."""
        return any(member.evidence.published_at for member in self.members)

    @property
    def first_at(self) -> datetime:
        """The earliest date of its items; where none has one, when the first was retrieved."""
        return min(self._times)

    @property
    def last_at(self) -> datetime:
        """The latest date of its items; where none has one, when the last was retrieved."""
        return max(self._times)

    @property
    def _times(self) -> list[datetime]:
        items = [member.evidence for member in self.members]
        return [item.at for item in items if item.published_at or not self.is_dated]

    @property
    def publishers(self) -> tuple[str, ...]:
        """The publishers of its items, sorted."""
        return tuple(sorted({member.evidence.publisher for member in self.members}))


def group_stories(
    items: Iterable[ScoredItem], frequencies: Frequencies | None = None
) -> list[Story]:
    """The stories of some items, best first (score, then newest, then key).

    Items that were assigned to a story when they were stored are one, or as many as their own words
    ask for (`heading_parts`); the others are grouped now. Weights are by the term frequencies of
    the store, or of these items where none are handed in.
    """
    by_id = {item.evidence.id: item for item in items}
    pools: dict[str | None, list[Reading]] = {}
    for item in by_id.values():
        pools.setdefault(item.evidence.story, []).append(item.reading)
    table = frequencies or Frequencies.of(item.reading.counts for item in by_id.values())
    stories: list[Story] = []
    for key, pool in pools.items():
        events = group_readings(pool, table) if key is None else heading_parts(pool, table)
        names = chain((key,), repeat(None))  # the name of an event is that of its largest part
        rows = (part for event in events for part in _by_subject(event, by_id))
        stories += [_story(name, part, by_id) for name, part in zip(names, rows, strict=False)]
    return sorted(stories, key=lambda story: (-story.score, -story.last_at.timestamp(), story.key))


def _by_subject(
    event: Sequence[Sequence[Reading]], by_id: Mapping[str, ScoredItem]
) -> Iterator[list[list[Reading]]]:
    """An event in parts whose items were all found for one subject, as its developments."""
    rest = [list(part) for part in event]
    while any(rest):
        rows = [by_id[reading.evidence.id].subjects for part in rest for reading in part]
        counts = Counter(chain.from_iterable(rows))
        subject = max(counts, key=lambda name: (counts[name], name))
        has = {o for part in rest for o in part if subject in by_id[o.evidence.id].subjects}
        yield list(filter(None, ([o for o in part if o in has] for part in rest)))
        rest = [[o for o in part if o not in has] for part in rest]


def _story(
    key: str | None, parts: Iterable[Iterable[Reading]], by_id: Mapping[str, ScoredItem]
) -> Story:
    developments = sorted(
        (_by_time(by_id[reading.evidence.id] for reading in part) for part in parts), key=_start
    )
    members = _by_time(member for part in developments for member in part)
    return Story(key or members[0].evidence.id, members, tuple(developments))


def _by_time(items: Iterable[ScoredItem]) -> tuple[ScoredItem, ...]:
    return tuple(sorted(items, key=lambda item: (item.evidence.at, item.evidence.id)))


def _start(part: tuple[ScoredItem, ...]) -> tuple[datetime, str]:
    return part[0].evidence.at, part[0].evidence.id
