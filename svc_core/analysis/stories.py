"""Stories: which items tell one event, and which of those one development of it."""

from collections.abc import Iterable
from datetime import datetime

from attrs import frozen

from svc_core.text.evidence import Reading, Scored


@frozen
class Story:
    """One event: `members` by time then id; the first gives the key. `score` is the best one's.

    `developments` part the members by what they tell of it, each by time then id, in the order of
    their first member.
    """

    key: str
    members: tuple[Scored, ...]
    developments: tuple[tuple[Scored, ...], ...] = ()

    @property
    def score(self) -> float:
        """The highest relevance among the members."""
        return max(member.score for member in self.members)

    @property
    def best(self) -> Reading:
        """The most relevant of the items, as it was read."""
        return max(self.members, key=lambda one: (one.score, one.evidence.id)).reading

    @property
    def first_at(self) -> datetime:
        """The time of the first item."""
        return min(member.evidence.at for member in self.members)

    @property
    def last_at(self) -> datetime:
        """The time of the last item."""
        return max(member.evidence.at for member in self.members)

    @property
    def publishers(self) -> tuple[str, ...]:
        """The publishers that tell it, sorted."""
        return tuple(sorted({member.evidence.publisher for member in self.members}))


def stories(chosen: Iterable[Scored]) -> list[Story]:
    """The stories of some items, best first (score, then newest, then key)."""
    groups: dict[str, list[Scored]] = {}
    for one in sorted(chosen, key=lambda one: (one.evidence.at, one.evidence.id)):
        groups.setdefault(one.evidence.story or one.evidence.id, []).append(one)
    found = [
        Story(key, tuple(members), tuple((one,) for one in members))
        for key, members in groups.items()
    ]
    return sorted(found, key=lambda story: (-story.score, -story.last_at.timestamp(), story.key))
