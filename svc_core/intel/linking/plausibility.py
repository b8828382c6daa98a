"""Judges whether a name in a row may mean an entity that bears it.

Rule 1: only entities of a suitable type count, and the name must be that of one of them alone.
Rule 2: a name of one word needs something else that speaks for it: of a vendor, that the entity
        makes software or hardware, and that it is no ordinary word; in text, that it is written as
        no ordinary word is.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from svc_core.intel.linking.name_forms import NAMED_TYPES, is_ordinary, is_uncommon, labels

Facts = Mapping[str, Any]

_MAKERS = frozenset({"company", "organization"})
_SIC_TECHNICAL = (range(3570, 3580), range(3661, 3680), range(7370, 7380))
"""Computers; communications, components, semiconductors; software and services for computers."""
_ISIC_TECHNICAL = ("26", "582", "62", "63")
"""The same divisions in ISIC and NACE, without their dots."""


def lookups(references: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """The facets of the entity collection to search for these references, with their values."""
    facets: dict[str, list[str]] = {"designator": [], "label": []}
    for reference in references:
        scheme, _, name = reference.partition(":")
        is_symbol = scheme == "ticker"
        facet, value = ("designator", reference.split(" ")[0]) if is_symbol else ("label", name)
        facets[facet].append(value)
    return {facet: tuple(values) for facet, values in facets.items()}


def bears_name(reference: str, facts: Facts) -> bool:
    """Whether an entity bears the name of a reference and is of a type that it may mean."""
    scheme, _, name = reference.partition(":")
    if scheme == "ticker":
        return reference in name_references(facts)
    suitable = NAMED_TYPES if scheme == "name" else _MAKERS
    return facts["type"] in suitable and name in _labels(facts)


def is_sufficient(reference: str, facts: Facts) -> bool:
    """Whether a name is telling enough to mean the only entity that bears it (Rule 2)."""
    scheme, _, name = reference.partition(":")
    if scheme in ("ticker", "firm") or " " in name:
        return True
    if scheme == "vendor":
        return is_technical(facts) and not is_ordinary(name)
    spellings = (spelling for spelling in _names(facts) if name in labels(spelling, facts["type"]))
    return any(map(is_uncommon, spellings))


def is_technical(facts: Facts) -> bool:
    """Whether an entity makes software or hardware, as its industry says."""
    industry = facts.get("industry") or {}
    code = str(industry.get("code") or "").replace(".", "")
    if industry.get("scheme") == "SIC":
        return code.isdecimal() and any(int(code) in group for group in _SIC_TECHNICAL)
    return code.startswith(_ISIC_TECHNICAL)


def name_references(facts: Facts) -> Iterator[str]:
    """All references by name or ticker that may mean an entity; its ids are not among them."""
    for name in dict.fromkeys(_labels(facts)):
        yield from (f"{scheme}:{name}" for scheme in ("vendor", "name", "firm"))
    for item in facts["designators"]:
        if item["scheme"] == "ticker":
            yield f"ticker:{item['value']}"
            words = chain.from_iterable(name.split() for name in _labels(facts))
            yield from (f"ticker:{item['value']} {word}" for word in dict.fromkeys(words))


def _names(facts: Facts) -> list[str]:
    return [facts["name"], *facts["aliases"]]


def _labels(facts: Facts) -> Iterator[str]:
    return chain.from_iterable(labels(name, facts["type"]) for name in _names(facts))
