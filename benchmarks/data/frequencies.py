"""Makes `svc_core/data/frequencies.tsv.z`: how often a text of a language has its commonest terms.

    pip install wordfreq==3.1.1
    python benchmarks/data/frequencies.py

From the word lists of *wordfreq* (CC BY-SA 4.0). A line is a language, a step and the terms whose
share of all words is `10 ** (-step / STEPS)`, nearly.
"""

import zlib
from collections import Counter, defaultdict
from math import log10
from pathlib import Path

import wordfreq

from svc_core.text.frequencies import STEPS
from svc_core.text.words import split_words, term_of

OUT = Path(__file__).parents[2] / "svc_core" / "data" / "frequencies.tsv.z"
UNSPACED_LANGUAGES = {"ja", "zh", "ko"}  # wordfreq has words of them, and their terms are pairs
COMMON_LANGUAGES = ("ar", "cs", "de", "es", "fr", "it", "nl", "pl", "pt", "ru", "sk", "sv", "ur")
TERMS_MAX = {"en": 12_000, **dict.fromkeys(COMMON_LANGUAGES, 5_000)}
TERMS_MAX_ELSEWHERE = 1_200  # terms of the other languages, so that the file stays under 400 KB


def shares(language: str) -> dict[str, float]:
    """The share of the commonest terms of a language among its words."""
    totals: Counter[str] = Counter()
    for word, frequency in wordfreq.get_frequency_dict(language, "best").items():
        for part in split_words(word):
            if part.isalpha():
                totals[term_of(part)] += frequency
    ranking = sorted(totals.items(), key=lambda pair: (-pair[1], pair[0]))
    return dict(ranking[: TERMS_MAX.get(language, TERMS_MAX_ELSEWHERE)])


def main() -> None:
    rows = []
    for language in sorted(set(wordfreq.available_languages("small")) - UNSPACED_LANGUAGES):
        steps: dict[int, list[str]] = defaultdict(list)
        for term, share in shares(language).items():
            steps[round(-STEPS * log10(share))].append(term)
        rows += [f"{language}\t{step}\t{' '.join(sorted(steps[step]))}" for step in sorted(steps)]
    OUT.write_bytes(zlib.compress("\n".join(rows).encode(), 9))


if __name__ == "__main__":
    main()
