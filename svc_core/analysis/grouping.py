"""Stories: items that tell one event, whoever publishes them.

Rule 1: an item joins the story whose middle it is nearest to (cosine of TF-IDF vectors, at least
three shared content terms, 72 hours); copies of one headline join whatever their wording.
Rule 2: stories that share two names merge at a lower likeness, once; stories in two languages are
compared by what stands in both alike: names, numbers and concepts.
Rule 3: an item that tells many stories at once (a briefing) stands alone.
Rule 4: a story's key is the id of its first item, and the order of the input never matters.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime, timedelta
from math import log, sqrt

from attrs import frozen

from svc_core.analysis.evidence import Reading, is_digest
from svc_core.analysis.relevance import Scored
from svc_core.analysis.units import generic_terms

WINDOW = timedelta(hours=72)
COPY_WINDOW = timedelta(days=7)  # syndicated copies and reposts trail by days
LIKENESS_MIN = 0.25
LIKENESS_MIN_OTHER_NOTE = 0.6  # notes of one desk share their form, not their story
MERGE_MIN = 0.2
ADOPT_MIN = 0.3
ADOPTED_SCORE = 0.3  # below every chosen item: it corroborates, it never leads
SHARED_MIN = 3
NAMES_SHARED_MIN = 2
ACROSS_MIN = 0.42  # likeness of what two languages can share
HEADLINE_SHARED_MIN = 3
ACROSS_SHARED_MIN = 2
ACROSS_MIN_OF_TWO = 0.55

_BODY_TERMS = 70  # about 400 characters
_COMMON_SHARE = 0.34  # a term of every third item is the subject, not the story
_COMMON_FROM = 10  # a story of ten items may stand alone
_COMMON_NAMES_FROM = 4
_POSTINGS_MAX = 48  # keeps the pass linear however many items there are
_NEIGHBOURS_MAX = 16  # stories by one word of their headlines, compared as wholes
_CONCEPT_FACTOR = 1.2  # what two languages share of a story
_SMOOTH = 20.0
_POOL_MIN = 600  # items found for one subject are few; what is rare is told as if there were more
_GENERIC_FACTOR = 0.35  # words of any news tell no story
_COPY_TERMS_MIN = 3


@frozen
class Story:
    """One event: `members` by time then id; the first gives the key. `score` is the best one's."""

    key: str
    members: tuple[Scored, ...]

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


class _Cluster:
    """A story in the making: the sum of its vectors and what it has seen."""

    __slots__ = ("headlines", "last_at", "members", "names", "square", "sum", "tongues")

    def __init__(self) -> None:
        self.members: list[Scored] = []
        self.sum: dict[str, float] = defaultdict(float)
        self.square = 0.0
        self.names: Counter[str] = Counter()
        self.headlines: set[str] = set()
        self.tongues: set[str | None] = set()
        self.last_at: datetime | None = None

    def add(self, scored: Scored, vector: Mapping[str, float]) -> None:
        for term, weight in vector.items():
            before = self.sum[term]
            self.sum[term] = before + weight
            self.square += weight * (2 * before + weight)
        self.members.append(scored)
        self.last_at = scored.evidence.at
        if is_digest(scored.evidence):
            return
        self.names.update(_names(scored))
        self.headlines.update(scored.reading.title_terms, scored.reading.title_concepts)
        self.tongues.add(scored.evidence.tongue)


def stories(
    scored: Iterable[Scored], background: Sequence[Reading] = (), *, adopting: bool = False
) -> list[Story]:
    """The stories of some items, best first (score, then newest, then key).

    `background` are items that tell which terms are common, at best all that the items were chosen
    from; without it the items themselves tell. `adopting`: those of the background that plainly
    tell one of the stories in other words join it, with `ADOPTED_SCORE`.
    """
    items = sorted(scored, key=_by_time)
    weighed = background if len(background) > len(items) else [item.reading for item in items]
    held = Counter(term for reading in weighed for term in _counts(reading))
    vectors = [_vector(item.reading, held, len(weighed)) for item in items]
    clusters, postings = _single_pass(items, vectors)
    if adopting and clusters:
        _adopt(items, weighed, held, clusters, postings)
    found = [Story(group[0].evidence.id, tuple(group)) for group in _merge(clusters)]
    return sorted(found, key=lambda story: (-story.score, -story.last_at.timestamp(), story.key))


def _by_time(one: Scored) -> tuple[datetime, str]:
    return (one.evidence.at, one.evidence.id)


def _adopt(
    items: Sequence[Scored],
    weighed: Sequence[Reading],
    held: Counter[str],
    clusters: Sequence[_Cluster],
    postings: Mapping[str, Mapping[int, None]],
) -> None:
    """Add items that were not chosen to the stories they tell; the stories' middles stay."""
    chosen = {item.evidence.id for item in items}
    found: list[tuple[int, Scored]] = []
    for reading in weighed:
        if reading.evidence.id not in chosen and not is_digest(reading.evidence):
            vector = _vector(reading, held, len(weighed))
            at = _teller(reading, vector, clusters, postings)
            if at is not None:
                found.append((at, Scored(reading, ADOPTED_SCORE)))
    for at, scored in found:
        clusters[at].members.append(scored)


def _teller(
    reading: Reading,
    vector: Mapping[str, float],
    clusters: Sequence[_Cluster],
    postings: Mapping[str, Mapping[int, None]],
) -> int | None:
    """The story that an item outside the choice plainly tells."""
    near = [
        (likeness, -at)
        for at, likeness, shared in _likenesses(vector, clusters, postings)
        if likeness >= ADOPT_MIN
        and shared > SHARED_MIN
        and any(
            abs(reading.evidence.at - one.evidence.at) <= WINDOW for one in clusters[at].members
        )
    ]
    return -max(near)[1] if near else None


def _counts(reading: Reading) -> Counter[str]:
    counts: Counter[str] = Counter()
    for term in (*reading.title_terms, *reading.title_concepts):
        counts[term] += 2
    counts.update(reading.body_terms[:_BODY_TERMS])
    counts.update(reading.lead_concepts)
    return counts


def _vector(reading: Reading, held: Counter[str], total: int) -> dict[str, float]:
    """The unit TF-IDF vector of an item; terms of every third item are left out."""
    most = max(total * _COMMON_SHARE, _COMMON_FROM)
    pool = max(total, _POOL_MIN) + _SMOOTH
    raw = {
        term: _factor(term) * (1 + log(count)) * log(pool / max(held[term], 1))
        for term, count in _counts(reading).items()
        if held[term] <= most
    }
    length = sqrt(sum(weight * weight for weight in raw.values())) or 1.0
    return {term: weight / length for term, weight in raw.items()}


def _factor(term: str) -> float:
    if term.startswith("qq"):
        return _CONCEPT_FACTOR
    return _GENERIC_FACTOR if term in generic_terms() else 1.0


def _names(scored: Scored) -> set[str]:
    """The terms of capitalised words in the headline, and its countries."""
    from svc_core.analysis.entities import name_terms  # noqa: PLC0415 - word lists read late

    return name_terms(scored.reading)


def _single_pass(
    items: Sequence[Scored], vectors: Sequence[Mapping[str, float]]
) -> tuple[list[_Cluster], Mapping[str, Mapping[int, None]]]:
    clusters: list[_Cluster] = []
    postings: dict[str, dict[int, None]] = defaultdict(dict)
    copies: dict[tuple[str, ...], int] = {}
    for item, vector in zip(items, vectors, strict=True):
        title = tuple(sorted(set(item.reading.title_terms)))
        at = _copy_of(item, title, copies, clusters)
        if at is None and not is_digest(item.evidence):
            at = _nearest(item, vector, clusters, postings)
        if at is None:
            at = len(clusters)
            clusters.append(_Cluster())
        clusters[at].add(item, vector)
        copies[title] = at
        for term in () if is_digest(item.evidence) else vector:
            _post(postings[term], at)
    return clusters, postings


def _post(posting: dict[int, None], at: int) -> None:
    posting.pop(at, None)
    posting[at] = None
    if len(posting) > _POSTINGS_MAX:
        del posting[next(iter(posting))]


def _copy_of(
    item: Scored,
    title: tuple[str, ...],
    copies: Mapping[tuple[str, ...], int],
    clusters: Sequence[_Cluster],
) -> int | None:
    at = copies.get(title) if len(title) >= _COPY_TERMS_MIN else None
    return at if at is not None and _within(item, clusters[at], COPY_WINDOW) else None


def _within(item: Scored, cluster: _Cluster, window: timedelta) -> bool:
    return cluster.last_at is not None and item.evidence.at - cluster.last_at <= window


def _nearest(
    item: Scored,
    vector: Mapping[str, float],
    clusters: Sequence[_Cluster],
    postings: Mapping[str, Mapping[int, None]],
) -> int | None:
    ranked = [
        (likeness, -at)
        for at, likeness, shared in _likenesses(vector, clusters, postings)
        if shared >= SHARED_MIN
        and _within(item, clusters[at], WINDOW)
        and likeness >= _least(item, clusters[at])
    ]
    return -max(ranked)[1] if ranked else None


def _likenesses(
    vector: Mapping[str, float],
    clusters: Sequence[_Cluster],
    postings: Mapping[str, Mapping[int, None]],
) -> list[tuple[int, float, int]]:
    """The stories that share a term with an item: index, cosine, how many terms."""
    shared: Counter[int] = Counter()
    product: dict[int, float] = defaultdict(float)
    for term, weight in vector.items():
        for at in postings.get(term, ()):
            shared[at] += 1
            product[at] += weight * clusters[at].sum[term]
    return [(at, product[at] / sqrt(clusters[at].square), count) for at, count in shared.items()]


def _least(item: Scored, cluster: _Cluster) -> float:
    """The likeness that an item needs to join a story."""
    desks = {one.evidence.publisher for one in cluster.members} | {item.evidence.publisher}
    mine = {*item.reading.title_terms, *item.reading.title_concepts}
    noted = _is_other_note(mine, cluster.headlines, desks)
    return LIKENESS_MIN_OTHER_NOTE if noted else LIKENESS_MIN


def _is_other_note(left: Set[str], right: Set[str], desks: Set[str]) -> bool:
    """Whether one desk's headlines give other figures or other countries."""
    figures, others = _figures(left), _figures(right)
    apart = bool(figures) and bool(others) and not figures & others
    return len(desks) == 1 and (apart or _elsewhere(left, right))


def _figures(terms: Iterable[str]) -> set[str]:
    return {term for term in terms if any(letter.isdigit() for letter in term)}


def _merge(clusters: Sequence[_Cluster]) -> list[list[Scored]]:
    """The members of the clusters, those of near ones joined, each by time then id."""
    parent = list(range(len(clusters)))

    def root(at: int) -> int:
        while parent[at] != at:
            at = parent[at]
        return at

    for left, right in _near(clusters):
        first, second = sorted((root(left), root(right)))
        parent[second] = first
    groups: dict[int, list[Scored]] = defaultdict(list)
    for at, cluster in enumerate(clusters):
        groups[root(at)].extend(cluster.members)
    return [sorted(g, key=_by_time) for g in groups.values()]


def _near(clusters: Sequence[_Cluster]) -> list[tuple[int, int]]:
    """Pairs of clusters that tell one story, in order: by their names or across languages."""
    return sorted(
        (left, right)
        for left, right in _sharing([cluster.headlines for cluster in clusters])
        if _is_one(clusters[left], clusters[right])
    )


def _is_one(left: _Cluster, right: _Cluster) -> bool:
    shared = left.headlines & right.headlines
    if len(shared) < ACROSS_SHARED_MIN or not _at_one_time(left, right):
        return False
    if _elsewhere(left.headlines, right.headlines):
        return False
    if not left.tongues & right.tongues:
        least = ACROSS_MIN if len(shared) >= HEADLINE_SHARED_MIN else ACROSS_MIN_OF_TWO
        return _across(left, right) >= least
    named = len(left.names.keys() & right.names.keys()) >= NAMES_SHARED_MIN
    worded = sum(not term.startswith("qq") for term in shared) > HEADLINE_SHARED_MIN
    return (named or worded) and _alike(left, right)


def _elsewhere(left: Set[str], right: Set[str]) -> bool:
    """Whether two headlines name countries, and not one country in common."""
    mine, yours = (
        {term for term in headline if term.startswith("qqc")} for headline in (left, right)
    )
    return bool(mine) and bool(yours) and not mine & yours


def _sharing(terms: Sequence[set[str]]) -> set[tuple[int, int]]:
    """Pairs of places whose sets share a term that is not in most of them; the latest few only."""
    common = max(len(terms) * _COMMON_SHARE, _COMMON_NAMES_FROM)
    held = Counter(term for own in terms for term in own)
    by_term: dict[str, list[int]] = defaultdict(list)
    pairs: set[tuple[int, int]] = set()
    for at, own in enumerate(terms):
        for term in own:
            if held[term] <= common:
                pairs.update((other, at) for other in by_term[term][-_NEIGHBOURS_MAX:])
                by_term[term].append(at)
    return pairs


def _across(left: _Cluster, right: _Cluster) -> float:
    """How alike clusters of two languages are in the terms that languages share."""
    shared = left.sum.keys() & right.sum.keys()
    product = sum(left.sum[term] * right.sum[term] for term in sorted(shared))
    length = sqrt(_neutral(left, shared) * _neutral(right, shared)) or 1.0
    return product / length


def _neutral(cluster: _Cluster, shared: Set[str]) -> float:
    """The squared length of a story's terms that another language could have."""
    figures = _figures(cluster.sum)
    return sum(
        weight * weight
        for term, weight in cluster.sum.items()
        if term.startswith("qq") or term in shared or term in cluster.names or term in figures
    )


def _at_one_time(left: _Cluster, right: _Cluster) -> bool:
    times = [member.evidence.at for one in (left, right) for member in one.members]
    return max(times) - min(times) <= WINDOW


def _alike(left: _Cluster, right: _Cluster) -> bool:
    small, large = sorted((left, right), key=lambda cluster: len(cluster.sum))
    shared = [term for term in small.sum if term in large.sum]
    product = sum(small.sum[term] * large.sum[term] for term in shared)
    length = sqrt(left.square * right.square) or 1.0
    desks = {member.evidence.publisher for one in (left, right) for member in one.members}
    least = MERGE_MIN if len(desks) > 1 else LIKENESS_MIN
    if _is_other_note(left.headlines, right.headlines, desks):
        least = LIKENESS_MIN_OTHER_NOTE
    return len(shared) >= SHARED_MIN and product / length >= least
