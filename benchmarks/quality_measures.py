"""What the figures are: precision, recall and F1, pairs and B³ of groups, and what a mark holds."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from statistics import fmean

from attrs import frozen

from svc_core.text.evidence import EvidenceTexts

HELD_MIN = 0.75
_WORD = re.compile(r"\w+")


@frozen
class Rate:
    """Counts of what was right, wrong and missed."""

    right: int = 0
    wrong: int = 0
    misses: int = 0

    def __add__(self, rate: "Rate") -> "Rate":
        """Both together."""
        return Rate(self.right + rate.right, self.wrong + rate.wrong, self.misses + rate.misses)

    @property
    def precision(self) -> float:
        """How much of what was given is right; 1 where nothing was given."""
        total = self.right + self.wrong
        return self.right / total if total else 1.0

    @property
    def recall(self) -> float:
        """How much of what there is was given."""
        total = self.right + self.misses
        return self.right / total if total else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both; 0 where nothing is right."""
        total = 2 * self.right + self.wrong + self.misses
        return 2 * self.right / total if total else 1.0

    @classmethod
    def of(cls, answers: Iterable[str], targets: Iterable[str]) -> "Rate":
        """Compare what was given with what was wanted."""
        answers, targets = set(answers), set(targets)
        return cls(len(answers & targets), len(answers - targets), len(targets - answers))


def macro(rates: Iterable[Rate]) -> float:
    """The mean of the F1 of several."""
    return fmean(rate.f1 for rate in rates)


def micro(rates: Iterable[Rate]) -> Rate:
    """All counts together."""
    return sum(rates, Rate())


def pairs(
    groups: Sequence[Sequence[str]],
    label: Mapping[str, str],
    unsure: frozenset[frozenset[str]] = frozenset(),
) -> Rate:
    """Pairs that touch a labelled item: in one group, and of one label."""
    pairs_of_groups = {frozenset(pair) for group in groups for pair in combinations(group, 2)}
    pairs_of_groups = {
        pair for pair in pairs_of_groups if any(id_ in label for id_ in pair)
    } - unsure
    stories: dict[str, list[str]] = {}
    for id_, name in label.items():
        stories.setdefault(name, []).append(id_)
    pairs_of_labels = {frozenset(pair) for ids in stories.values() for pair in combinations(ids, 2)}
    return Rate(
        len(pairs_of_groups & pairs_of_labels),
        len(pairs_of_groups - pairs_of_labels),
        len(pairs_of_labels - pairs_of_groups),
    )


def b_cubed(
    groups: Sequence[Sequence[str]],
    label: Mapping[str, str],
    unsure: frozenset[frozenset[str]] = frozenset(),
) -> float:
    """F1 of the mean precision and recall over labelled items (Bagga, Baldwin 1998)."""
    group_of = {id_: group for group in groups for id_ in group}
    sizes = Counter(label.values())
    precisions, recalls = [], []
    for id_, name in label.items():
        group = [
            member for member in group_of.get(id_, [id_]) if frozenset((id_, member)) not in unsure
        ]
        same_count = sum(label.get(member) == name for member in group)
        precisions.append(same_count / len(group))
        recalls.append(same_count / sizes[name])
    precision, recall = fmean(precisions), fmean(recalls)
    return 2 * precision * recall / (precision + recall)


@frozen
class LargestEvent:
    """How the event with most items comes out: its largest part, and in how many groups."""

    recall: float
    precision: float
    groups: int


def largest_event(groups: Sequence[Sequence[str]], label: Mapping[str, str]) -> LargestEvent:
    """How the event with most items comes out; items of no label count as of others."""
    sizes = Counter(label.values())
    name = max(sizes, key=lambda name: (sizes[name], name))
    counts = [(sum(label.get(id_) == name for id_ in group), len(group)) for group in groups]
    share, size = max(counts, key=lambda pair: (pair[0], -pair[1]))
    return LargestEvent(share / sizes[name], share / size, sum(own > 0 for own, _ in counts))


def classes(answers: Sequence[str], targets: Sequence[str]) -> float:
    """The mean F1 over the labels that there are."""
    rates = []
    for name in sorted(set(targets)):
        is_given = [label == name for label in answers]
        is_right = [label == name for label in targets]
        sides = list(zip(is_given, is_right, strict=True))
        right = sum(is_answer and is_target for is_answer, is_target in sides)
        rates.append(Rate(right, sum(is_given) - right, sum(is_right) - right))
    return macro(rates)


def holds(item: EvidenceTexts, sentence: str) -> bool:
    """Whether an item holds a sentence: 75 % of its words of four letters, and every number."""
    return words_hold(f"{item.title} {item.text}", sentence)


def words_hold(source: str, sentence: str) -> bool:
    """The same of any text."""
    source_words = set(_WORD.findall(source.casefold()))
    words = set(_WORD.findall(sentence.casefold()))
    numbers = {word for word in words if word.isdigit()}
    long = {word for word in words - numbers if len(word) >= 4}
    return numbers <= source_words and len(long & source_words) >= HELD_MIN * len(long)


_CREDIT = re.compile(r"[(\[](?:[LRC]|left|right|cent(?:er|re)|links|rechts|AP|AFP|dpa|Reuters)\W")


def is_fragment(text: str) -> bool:
    """Whether a sentence is none by its shape: no beginning, no end, a position or a credit."""
    bare = text.strip("\"'“”‘’«»„")
    has_end = bare.endswith((".", "!", "?", "。", "।", "۔")) and not bare.endswith("...")
    return not has_end or bare[:1].islower() or _CREDIT.search(text) is not None
