"""Finds boilerplate: sentences that a source puts under its items whatever they report.

Rule 1: a sentence belongs to a template when two fifths of its runs of three words, numbers aside,
        stand under three items of its source with differing headlines. Of 869 items of 33 feeds
        this removes alerts, notices of a fire brigade and the offers of a show, and no news.
Rule 2: a sentence that stands word for word under three such items says nothing of any of them. An
        item of whose other words two others each hold two fifths is made by its source's template:
        the filled-in form of a rating, a listing or a bulletin, and no report of an event. So is
        every item of a source two thirds of whose items are, if it has ten. (Containment of runs:
        Broder, 1997.)
Rule 3: a form is filled in with something else each time. Items with the same names, or some of
        them, tell of one event: they are its updates, and count as one.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from attrs import evolve

from svc_core.text.evidence import EvidenceTexts, Reading
from svc_core.text.name_mentions import Case, mentions_in
from svc_core.text.sentences import split_sentences

SHARE_MIN = 0.4
ITEMS_MIN = 3
SAMPLE_MIN = 10  # items of a source by which all of it is judged
MOST = 2 / 3  # of a source's items: then the others are filled-in forms that occur once or twice
LEAD_CHARS = 600  # of a text, by which an item is judged
COMPARED_MAX = 100  # items of one source; a template shows in a handful
_RUN = 3
_WORD = re.compile(r"(?<![\W\d_])[\W\d_]*(\d)[\d\W_]*|[^\W\d_]+")

_Run = tuple[str, ...]


class Templates:
    """The templates of the sources of some items."""

    def __init__(self, items: Iterable[EvidenceTexts]) -> None:
        """Take items in a fixed order, because only the first ones of a source are compared."""
        self._texts: dict[str, dict[str, str]] = {}
        for item in items:
            texts = self._texts.setdefault(item.source_id, {})
            if len(texts) < COMPARED_MAX:
                texts.setdefault(item.title, item.text)
        self._counts: dict[str, Counter[_Run]] = {}

    def match(self, text: str, source_id: str) -> bool:
        """Whether a sentence belongs to a template of its source."""
        if source_id not in self._counts:
            texts = self._texts.get(source_id, {})
            runs_of_texts = (run for body in texts.values() for run in _runs(body))
            self._counts[source_id] = Counter(runs_of_texts)
        counts, runs = self._counts[source_id], _runs(text)
        return sum(counts[run] >= ITEMS_MIN for run in runs) >= SHARE_MIN * len(runs)


def _runs(text: str) -> set[_Run]:
    """The runs of three words in a text; all numbers count as the same word."""
    words = ["#" if match[1] else match[0] for match in _WORD.finditer(text.casefold())]
    return {tuple(words[start : start + _RUN]) for start in range(max(len(words) - _RUN, 0) + 1)}


def template_made(items: Iterable[EvidenceTexts]) -> frozenset[str]:
    """The ids of the items that are made by a template of their source (Rule 2)."""
    sources: dict[str, list[EvidenceTexts]] = {}
    for item in sorted(items, key=lambda item: item.id):
        sources.setdefault(item.source_id, []).append(item)
    groups = [group[:COMPARED_MAX] for group in sources.values() if len(group) >= ITEMS_MIN]
    return frozenset(id_ for group in groups for id_ in _made_by_template(group))


def _made_by_template(items: Sequence[EvidenceTexts]) -> list[str]:
    """Those of one source's items that are made by its template; all where most are."""
    leads = [item.text[:LEAD_CHARS] for item in items]
    if len(_alike([_runs(lead) for lead in leads])) < ITEMS_MIN:
        return []
    lines = [{*split_sentences(lead, 1, fragments=True)} for lead in leads]
    counts = Counter(line for sentences in lines for line in sentences)
    own = [[line for line in sentences if counts[line] < ITEMS_MIN] for sentences in lines]
    runs: list[set[_Run]] = [set().union(*map(_runs, sentences)) for sentences in own]
    alike = _alike(runs)
    if not alike:
        return []
    names = _names(items, own)
    made = []
    for index in alike:
        least = SHARE_MIN * len(runs[index])
        others = [n for n, other in enumerate(runs) if len(runs[index] & other) >= least]
        if _events({names[n] for n in others}) >= ITEMS_MIN:
            made.append(index)
    if len(items) >= SAMPLE_MIN and len(made) >= MOST * len(items):
        return [item.id for item in items]
    return [items[index].id for index in made]


def _names(items: Sequence[EvidenceTexts], own: Sequence[Sequence[str]]) -> list[frozenset[str]]:
    """The names in the headline and own sentences of each item; its id where there are none."""
    bodies = map("\n".join, own)
    texts = [
        Reading(evolve(item, text=body), (), (), ())
        for item, body in zip(items, bodies, strict=True)
    ]
    case = Case.of(texts)
    names = [{mention.key for mention in mentions_in([text], case)} for text in texts]
    return [frozenset(keys or {item.id}) for item, keys in zip(items, names, strict=True)]


def _events(names: Collection[frozenset[str]]) -> int:
    """How many events these are the names of; one set within another is of the same."""
    return sum(not any(some < more for more in names) for some in names)


def _alike(texts: Sequence[set[_Run]]) -> list[int]:
    """The texts of whose runs two fifths stand in three texts, of one or of several others."""
    counts = Counter(run for runs in texts for run in runs)
    return [
        index
        for index, runs in enumerate(texts)
        if runs and sum(counts[run] >= ITEMS_MIN for run in runs) >= SHARE_MIN * len(runs)
    ]
