"""Takes out boilerplate: sentences that a source puts under its items whatever they report.

Rule 1: a sentence belongs to a template when two fifths of its runs of three terms, numbers aside,
        stand under three items of its source with differing headlines. The beginning and the end
        of a text count as terms, so that a short line under each text is a run, too; what repeats
        the headline does not count.
Rule 2: what stands word for word under three such items says nothing of any of them. An item of
        whose other words two others each hold two fifths is made by its source's template: the
        filled-in form of a rating, a listing or a bulletin, and no report of an event. So is every
        item of a source two thirds of whose items are, if it has ten. (Containment of runs:
        Broder, 1997.)
Rule 3: a form is filled in with something else each time. Items whose headlines have the same
        words with a capital, or some of them, tell of one event: they are its updates, and count
        as one.
Rule 4: the order of the items does not matter: where a source has many, those with the first ids
        are what all are compared with.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from functools import cached_property
from itertools import chain, groupby, islice
from operator import attrgetter

from attrs import define, evolve

from svc_core.text.evidence import LEAD_TERMS, Reading
from svc_core.text.sentences import line_parts
from svc_core.text.words import raw_words, stop_words, terms

SHARE_MIN = 0.4
ITEMS_MIN = 3
SAMPLE_MIN = 10  # items of a source by which all of it is judged
MOST = 2 / 3  # of a source's items: then the others are filled-in forms that occur once or twice
COMPARED_MAX = 100  # items of one source; a template shows in a handful
_LEAD_SENTENCES = 6  # of a text, by which an item is judged
_NAMED_MAX = 12  # items by whose names a sentence is judged
_FORM_RUNS_MIN = 4  # of a form: what is shorter is a line that stands under headlines
_RUN = 3
_EDGE = ("", "")

_Run = tuple[str, ...]


def without_templates(items: Sequence[Reading], pool: Iterable[Reading] = ()) -> list[Reading]:
    """The readings in their order, without the sentences that are of templates of their sources.

    They are compared with each other and with a pool, which may hold them, too. Text, terms and
    sentences of a reading are then what is left; `is_form` says that the item as a whole is made by
    a template. A reading to which none of this applies is returned as it is.
    """
    own_ids = {item.evidence.id for item in items}
    by_id = {item.evidence.id: _Text(item) for item in (*pool, *items)}
    sources: dict[str, list[_Text]] = {item.evidence.source_id: [] for item in items}
    for _, text in sorted(by_id.items()):
        if (group := sources.get(text.item.evidence.source_id)) is not None:
            group.append(text)
    groups = (_changes(group, own_ids) for group in sources.values() if len(group) >= ITEMS_MIN)
    changes = {item.evidence.id: item for item in chain.from_iterable(groups)}
    return [changes.get(item.evidence.id, item) for item in items]


@define(eq=False, slots=False)
class _Sentence:
    """A sentence or a fragment, and the number of its line."""

    line: int
    text: str
    terms: list[str]

    @cached_property
    def runs(self) -> Set[_Run]:
        return _runs(self.terms)


_line = attrgetter("line")


@define(eq=False, slots=False)
class _Text:
    """An item, and what of it is compared with others of its source."""

    item: Reading

    @cached_property
    def runs(self) -> Set[_Run]:
        """The runs of the whole text; none where it is empty."""
        words = [*self.item.lead, *self.item.rest]
        return _runs([*_EDGE, *words, *_EDGE]) if words else frozenset()

    @cached_property
    def names(self) -> frozenset[str]:
        """The words with a capital in the headline; the item's id where there are none."""
        stops = stop_words(self.item.language)
        capitals = (word for word in raw_words(self.item.headline) if word[0].isupper())
        names = frozenset(word for word in map(str.casefold, capitals) if word not in stops)
        return names or frozenset([self.item.evidence.id])

    @cached_property
    def sentences(self) -> Sequence[_Sentence]:
        """The sentences and fragments of the text."""
        language, lines = self.item.language, enumerate(self.item.text.splitlines())
        parts = [
            _Sentence(number, part, terms(part, language))
            for number, line in lines
            for part in line_parts(line)
        ]
        if full := [part for part in parts if part.terms]:
            full[0].terms[:0] = _EDGE
            full[-1].terms += _EDGE
        return parts

    def own_runs(self, repeated: Set[_Run]) -> Set[_Run]:
        """The runs of the first sentences that do not stand word for word under others."""
        lead = (part.runs for part in self.sentences[:_LEAD_SENTENCES])
        return {run for runs in lead if not runs <= repeated for run in runs if all(run)}

    def without(self, frequent: Set[_Run]) -> Reading:
        """The item without the sentences that consist of frequent runs."""
        headline = _runs(self.item.title)  # "The post ... appeared first on ..."
        rest = [part for part in self.sentences if not _consists(part.runs - headline, frequent)]
        if len(rest) == len(self.sentences):
            return self.item
        lines = (" ".join(part.text for part in line) for _, line in groupby(rest, _line))
        body = tuple(term for part in rest for term in part.terms if term)
        return evolve(
            self.item, text="\n".join(lines), lead=body[:LEAD_TERMS], rest=body[LEAD_TERMS:]
        )


def _runs(words: Iterable[str]) -> Set[_Run]:
    """The runs of three terms; all numbers count as the same one."""
    own = ["0" if not w.isalpha() and any(map(str.isdigit, w)) else w for w in words]
    return {tuple(own[start : start + _RUN]) for start in range(max(len(own) - _RUN, 0) + 1)}


def _consists(runs: Set[_Run], frequent: Set[_Run]) -> bool:
    return bool(runs) and len(runs & frequent) >= SHARE_MIN * len(runs)


def _changes(texts: Sequence[_Text], ids: Set[str]) -> Iterator[Reading]:
    """Those of one source's items with some ids that do not stay as they are."""
    by_title = {text.item.evidence.title: text for text in reversed(texts)}
    sample = [text for text in texts if by_title[text.item.evidence.title] is text][:COMPARED_MAX]
    counts = Counter(chain.from_iterable(text.runs for text in sample))
    repeated = {run for run, count in counts.items() if count >= ITEMS_MIN}
    sample = [text for text in sample if not repeated.isdisjoint(text.runs)]
    if not sample:
        return
    own = [text for text in texts if text.item.evidence.id in ids]
    alike = [text for text in own if not repeated.isdisjoint(text.runs)]
    frequent = {run for run in repeated if _are_several(t for t in sample if run in t.runs)}
    forms = _forms(alike, sample, repeated)
    is_all = len(own) >= SAMPLE_MIN and len(forms) >= MOST * len(own)
    for text in own if is_all else alike:
        rest, is_form = text.without(frequent), is_all or text in forms
        if is_form or rest is not text.item:
            yield evolve(rest, is_form=is_form)


def _are_several(texts: Iterable[_Text]) -> bool:
    """Whether these report several events; names within those of another are of the same."""
    names: list[frozenset[str]] = []
    for text in islice(texts, _NAMED_MAX):
        names = [*(some for some in names if not some <= text.names), text.names]
        if any(text.names < some for some in names):
            names.pop()
        if len(names) >= ITEMS_MIN:
            return True
    return False


def _forms(
    texts: Iterable[_Text], sample: Sequence[_Text], repeated: Set[_Run]
) -> Collection[_Text]:
    """The texts that are made by a template, each compared with all of a sample."""
    return {
        text
        for text in texts
        if len(runs := text.own_runs(repeated)) >= _FORM_RUNS_MIN
        and _consists(runs, repeated)
        and _are_several(t for t in sample if _consists(runs, t.runs))
    }
