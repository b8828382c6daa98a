"""The parts of a question: units and groups of them."""

from functools import cache

from attrs import frozen

from svc_core.analysis.tokens import tokens

NAME_WEIGHT = 2.0
CONCEPT_WEIGHT = 1.2
WORD_WEIGHT = 1.0
GENERIC_WEIGHT = 0.35


@frozen
class Unit:
    """One subject word: the term runs and concepts that stand for it, how it weighs and reads."""

    label: str
    runs: tuple[tuple[str, ...], ...]
    concepts: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    weight: float = WORD_WEIGHT
    is_name: bool = False

    @property
    def is_generic(self) -> bool:
        """Whether the unit only narrows: a word of any news."""
        return self.weight <= GENERIC_WEIGHT

    @property
    def is_place(self) -> bool:
        """Whether the unit means a country or a region and nothing else."""
        return bool(self.concepts) and all(
            name.startswith(("qqc", "qqr")) for name in self.concepts
        )


@frozen
class Group:
    """Alternatives: an item answers the group when it answers any of its chunks."""

    chunks: tuple[tuple[Unit, ...], ...]


@cache
def generic_terms() -> frozenset[str]:
    """Terms that stand in any news."""
    from svc_core.analysis._query_words import GENERIC  # noqa: PLC0415 - read on first use

    return frozenset(term for word in GENERIC for term in tokens(word))
