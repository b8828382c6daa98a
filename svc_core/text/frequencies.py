"""How common a term is: of how many items, how many hold it.

Rule 1: counts are those of every stored item of any age (the store's, or the tenant's for what is
        the tenant's own), so that a word of the subject is not common because all that was found
        holds it.
Rule 2: while a store is young, the counts of a background table are added to its own.
"""

from collections.abc import Iterable, Mapping
from math import log

from attrs import field, frozen


@frozen
class Frequencies:
    """`counts[term]` of `total` items hold a term. `version` names the state of the table."""

    total: int = 0
    counts: Mapping[str, int] = field(factory=dict, repr=False)
    version: str = "0"

    def idf(self, term: str) -> float:
        """How telling a term is: `ln(1 + (N - df + 0.5) / (df + 0.5))`, above 0."""
        held = self.counts.get(term, 0)
        return log(1 + (max(self.total, held) - held + 0.5) / (held + 0.5))

    @classmethod
    def of(cls, items: Iterable[Iterable[str]], version: str = "0") -> "Frequencies":
        """The table of some items' terms, each term once an item."""
        counts: dict[str, int] = {}
        total = 0
        for total, terms in enumerate(items, 1):  # noqa: B007 - the last number is the count
            for term in set(terms):
                counts[term] = counts.get(term, 0) + 1
        return cls(total, counts, version)

    def __add__(self, other: "Frequencies") -> "Frequencies":
        """Both tables as one."""
        counts = dict(self.counts)
        for term, count in other.counts.items():
            counts[term] = counts.get(term, 0) + count
        return Frequencies(self.total + other.total, counts, self.version)
