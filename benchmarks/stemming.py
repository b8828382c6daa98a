"""How well words are found whole, by our stems (Snowball), or cut to six letters.

Mean average precision of BM25 (k1 1.2, b 0.75) over judged queries. The folder holds sets in JSON
lines: `docs.jsonl` with `id`, `title`, `text`, and `queries.jsonl` with `text`, `relevant`.

    python benchmarks/stemming.py FOLDER

This compares; it has no goal.
"""

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from svc_core.analysis.tokens import STOP_WORDS, fold, stem

K1, B = 1.2, 0.75
WORDS = re.compile(r"[^\W_]+")
SETS = ("time", "cranfield")

Cut = Callable[[str], str]
Rows = list[dict[str, Any]]


def terms(text: str, cut: Cut) -> Counter[str]:
    """The words of a text without filler words, each cut."""
    return Counter(cut(word) for word in WORDS.findall(fold(text)) if word not in STOP_WORDS)


def precision(ranked: Iterable[str], wanted: set[str]) -> float:
    """Average precision of one ranking."""
    found, total = 0, 0.0
    for place, name in enumerate(ranked, 1):
        if name in wanted:
            found += 1
            total += found / place
    return total / len(wanted)


def mean_precision(documents: Rows, queries: Rows, cut: Cut) -> float:
    """Mean average precision of BM25 with these stems."""
    held = {row["id"]: terms(f"{row.get('title', '')} {row['text']}", cut) for row in documents}
    seen = Counter(term for counts in held.values() for term in counts)
    length = {name: counts.total() for name, counts in held.items()}
    usual = sum(length.values()) / len(length)

    def score(name: str, asked: Iterable[str]) -> float:
        counts, room = held[name], K1 * (1 - B + B * length[name] / usual)
        return sum(
            math.log(1 + (len(held) - seen[term] + 0.5) / (seen[term] + 0.5))
            * (counts[term] * (K1 + 1) / (counts[term] + room))
            for term in asked
            if term in counts
        )

    found = []
    for query in queries:
        asked = terms(query["text"], cut)
        scores = {name: score(name, asked) for name in held}
        ranked = sorted((name for name in held if scores[name]), key=lambda n: (-scores[n], n))
        found.append(precision(ranked, set(query["relevant"])))
    return sum(found) / len(found)


def rows(path: Path) -> Rows:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def main() -> None:
    """Print a line for each way to cut and a column for each set."""
    folder = Path(sys.argv[1])
    ways: dict[str, Cut] = {
        "whole words": str,
        "ours": stem,
        "six letters": lambda word: word[:6] if word.isalpha() else word,
    }
    read = {
        name: (rows(folder / name / "docs.jsonl"), rows(folder / name / "queries.jsonl"))
        for name in SETS
    }
    print(f"{'':12}", *(f"{name:>10}" for name in SETS))
    for way, cut in ways.items():
        print(f"{way:12}", *(f"{mean_precision(*read[name], cut):10.3f}" for name in SETS))


if __name__ == "__main__":
    main()
