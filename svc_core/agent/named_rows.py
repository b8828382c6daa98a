"""Which rows a question names: names are those of rows, in any case, and people's in any order.

Rule 1: the longest run of words that names a row counts; rows of one name are kept apart.
Rule 2: where nothing is named, a name of five letters and more may miss or add a letter, have
        another, or have two in another order.
Rule 3: a row whose name only begins as the question says is a subject where no other does.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from svc_core.agent.agent_ports import ToolHit
from svc_core.agent.question import ParsedQuestion, word_indexes
from svc_core.agent.row_facts import cue_words
from svc_core.agent.text_query import TYPO_MIN, is_close, is_role, is_strange
from svc_core.intel.linking.name_forms import normal_name
from svc_core.text.words import split_words

_NAMELESS = ("newsItem", "incident", "event", "market", "signal", "report", "indicator")
"""Kinds of rows whose titles are sentences."""
_SHARE = 1 / 3
"""Of the weight of the heaviest name, what a word has to weigh to be a part of another one: "post"
beside "Kim Yo Jong" is a word, and not the company Post Holdings."""


@frozen
class Subject:
    """Words of a question that name rows: their indexes, and the rows, best first."""

    words: frozenset[int]
    hits: tuple[ToolHit, ...]


def named_subjects(question: ParsedQuestion, hits: Sequence[ToolHit]) -> list[Subject]:
    """The rows that a question names, of the words that name no longer name the longest first."""
    matches = [*_matches(question, hits, str.__eq__)] or [*_matches(question, hits, is_close)]
    groups: dict[frozenset[int], dict[str, tuple[bool, ToolHit]]] = {}
    for words, is_verbatim, hit in matches or _beginnings(question, hits):
        groups.setdefault(words, {})[hit.id] = is_verbatim, hit
    subjects: list[Subject] = []
    for words in sorted(groups, key=lambda words: (-len(words), min(words))):
        rows = [*groups[words].values()]
        best = [hit for is_verbatim, hit in rows if is_verbatim] or [hit for _, hit in rows]
        is_clear = bool(matches) or len({hit.title for hit in best}) == 1
        is_full = len(words) > 1 or words <= question.place_words or any(flag for flag, _ in rows)
        least = max((question.weight(subject.words) for subject in subjects), default=0) * _SHARE
        is_clear &= is_full or question.weight(words) >= least
        if is_clear and not any(words & subject.words for subject in subjects):
            subjects.append(Subject(words, tuple(best)))
    return sorted(subjects, key=lambda subject: min(subject.words))


Match = tuple[frozenset[int], bool, ToolHit]
"""The words that name a row, and whether they are its name with its legal form."""


def _matches(
    question: ParsedQuestion, hits: Sequence[ToolHit], same: Callable[[str, str], bool]
) -> Iterator[Match]:
    meant = question.content - question.place_words
    roles = word_indexes(part for part in question.parts if part.role != "link")
    for hit in hits:
        is_title = hit.row["kind"] in _NAMELESS
        names = [
            (len(run), form is verbatim and verbatim != plain, run)
            for label in names_of_hit(hit.row)
            for verbatim, plain in [(split_words(label), _plain_name(label, hit))]
            for form in (verbatim, plain)
            if len(form) > is_title and (run := run_of(question.words, form, same)) & meant
            if run & meant == meant or not run & meant <= roles
        ]
        if names:
            _, is_verbatim, words = max(names, key=lambda name: name[:2])
            yield words, is_verbatim, hit
        elif hit.row["kind"] == "country":
            for start, end, code in question.places:
                if code == hit.row["row"]["countryCode"]:
                    yield frozenset(range(start, end)), False, hit


def _plain_name(label: str, hit: ToolHit) -> list[str]:
    """The words of a name without legal forms, and without the title of a person."""
    words = normal_name(label).split()
    is_titled = hit.row["row"].get("type") == "person" and len(words) > 2 and is_role(words[0])
    return words[is_titled:]


def run_of(
    words: Sequence[str], form: Sequence[str], same: Callable[[str, str], bool]
) -> frozenset[int]:
    """The indexes of adjacent words that are these, in any order."""
    size, target = len(form), sorted(form)
    for start in range(len(words) - size + 1 if form else 0):
        window = words[start : start + size]
        if _is_same(window, form, same) or _is_same(sorted(window), target, same):
            return frozenset(range(start, start + size))
    return frozenset()


def _is_same(words: Sequence[str], form: Sequence[str], same: Callable[[str, str], bool]) -> bool:
    """Whether words are those of a form, also with the s of a genitive."""
    pairs = zip(words, form, strict=True)
    return all(
        same(word, name) or (len(name) >= TYPO_MIN and word == f"{name}s") for word, name in pairs
    )


def _beginnings(question: ParsedQuestion, hits: Sequence[ToolHit]) -> Iterator[Match]:
    """The rows whose names begin with two words of the question, or with a rare one."""
    unread = frozenset(question.unread)
    beside = {at for at in unread if question.phrase[at] not in cue_words()}
    for hit in hits:
        if hit.row["kind"] in (*_NAMELESS, "country"):
            continue
        for form in (normal_name(label).split() for label in names_of_hit(hit.row)):
            heads = [form[:size] for size in (3, 2)]
            heads += [[form[0], form[-1]]] if hit.row["row"].get("type") == "person" else []
            runs = (run_of(question.words, head, str.__eq__) for head in (*heads, form[:1]))
            run = next((run for run in runs if run and run <= unread), None)
            if run and {min(run) - 1, max(run) + 1} & beside:  # a longer name, of another
                continue
            if run and (len(run) > 1 or is_strange(form[0])):
                yield run, False, hit
                break


def names_of_hit(hit_row: Mapping[str, Any]) -> list[str]:
    """The names of a row and its codes."""
    row = hit_row["row"]
    keys = ("name", "label", "cveId", "title", "question")
    name = next((row[key] for key in keys if row.get(key)), "")
    others = [*(row.get("aliases") or ()), *(row.get("weakAliases") or ())]
    names = [alias["name"] if isinstance(alias, Mapping) else alias for alias in others]
    return [name, *names, *(key["value"] for key in row.get("designators") or ())]


def public_hit(hit: ToolHit) -> ToolHit:
    """A hit of the ranked search as one of its kind's own list."""
    return evolve(hit, row=hit.row["row"])
