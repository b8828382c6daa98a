"""Finds in the title of a feed what its publisher is called: "The Quay", not "Top news | The Quay".

Rule: a title is parted at its separators. The part that has the most of the site's name in it is
the publisher's: words that make up the name or the first label of the host, or their initials, or
some words of it; of two alike the shorter. Where no part has any of it, the title stays as it is,
unless it stands in the path of the feed's address or of its home page, on that site: then it is the
name of a section ("Sport").
"""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from svc_core.text.words import fold_case

_SEPARATOR = re.compile(r" ?[|»›•] ?| [-–—·>:/]+ |(?<=\w): ")
_LETTERS = re.compile(r"[^\W_]+")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_WORD_LETTERS = 3  # that a word has at least to be taken for a part of a name
_SUFFIX_LETTERS = 3  # at most, of a domain under that of a country: "co.uk", "com.br"
_NAME_WORDS_MAX = 6
_TRAILING_WORDS = 2  # behind a name in one part: "The Quay latest articles", but "Quay News"
_LIST = re.compile(r" (?:Blog|Feed|Headlines|RSS|Topics)$")  # a last word that is of no name
# "The latest on The Quay", but not "Stories by Ann Lund on Quay".
_INTRODUCTION = re.compile(r"^(?!.* (?:by|de|par|von) ).+ (?:auf|from|on|sur) ")


def publisher_name(title: str, host: str, *addresses: str) -> str:
    """The name of the publisher in the title of a feed of the site at `host`, else the host.

    `addresses` are those of the feed and of its home page.
    """
    name = _site_name(host)
    parts = [part for part in _SEPARATOR.split(" ".join(title.split())) if part]
    scores = {part: _score(part, name, host) for part in parts}
    best = min(parts, key=lambda part: (-scores[part], len(part)), default="")
    if not scores.get(best):
        label = _letters(title)
        urls = [url for url in map(urlsplit, addresses) if _site_name(url.hostname or "") == name]
        is_section = host and label and any(label in _letters(url.path) for url in urls)
        return host if is_section else title
    words = best.split()
    ends = range(1, min(len(words) - _TRAILING_WORDS, _NAME_WORDS_MAX) + 1)
    runs = [words[:end] for end in ends]
    runs += [shape.sub("", best).split() for shape in (_LIST, _INTRODUCTION)]
    return " ".join(next((run for run in runs if _is_name(run, name, host)), words))


def _site_name(host: str) -> str:
    """The label of a host that its owner chose: "quay" of "news.quay.co.uk"."""
    labels = host.casefold().split(".")
    owned = labels[:-1]
    is_below_country = len(owned) > 1 and len(labels[-1]) == 2 and len(owned[-1]) <= _SUFFIX_LETTERS
    return _letters(owned[-2] if is_below_country else owned[-1]) if owned else ""


def _score(part: str, name: str, host: str) -> int:
    """How many letters of the name of a site a part of a title has."""
    words = part.split()
    sizes = range(1, _NAME_WORDS_MAX + 1)
    runs = (words[start : start + size] for start in range(len(words)) for size in sizes)
    initials = "".join(word[0] for word in words if word[0].isupper())
    if any(_is_name(run, name, host) for run in runs) or _letters(initials) == name:
        return len(name)
    spellings = (_LETTERS.findall(fold_case(text)) for text in _spellings(part))
    return max(
        sum(len(word) for word in folded if len(word) >= _WORD_LETTERS and word in name)
        for folded in spellings
    )


def _is_name(words: Sequence[str], name: str, host: str) -> bool:
    names = {name, _letters(host), _letters(host.partition(".")[0] if len(words) > 1 else name)}
    return any(_letters(text) in names for text in _spellings("".join(words)))


def _spellings(text: str) -> tuple[str, str]:
    return text, text.casefold().translate(_UMLAUTS)


def _letters(text: str) -> str:
    return "".join(_LETTERS.findall(fold_case(text)))
