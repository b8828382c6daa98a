"""Measures which sentences of a model are kept and which are caught, by class and language.

    python -m benchmarks.quality_claims [claims.tsv rows.json] [--list]

The labelled sentences of `answers` are ours: two halves of 200, over the rows of both 60 of other
shapes, 41 of what members say and 62 in freer words, and 169 of another hand. All were looked at
while the rules were made. A file of others stands in for them, with its rows.
"""

import csv
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from svc_core.text.facts import Fault, TextFacts

HERE = Path(__file__).parent / "answers"
SETS = tuple(
    f"claims{name}" for name in ("", "_second", "_shapes", "_members", "_third", "_fourth")
)
ROWS = tuple(HERE / f"{name}.json" for name in ("rows", "rows_second", "rows_third"))
GOALS = {"faithful": 0.85, "unfaithful": 0.9}
"""The shares that are to be kept and caught."""


def judged(claims: Path, *rows: Path) -> Iterator[tuple[dict[str, str], Fault | None]]:
    """The labelled sentences of a file, each with the fault that is found against its rows."""
    facts = {
        id_: TextFacts.of(row) for path in rows for id_, row in json.loads(path.read_text()).items()
    }
    lines = claims.read_text().splitlines()
    for claim in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
        held = TextFacts.union(facts[id_] for id_ in claim["rows"].split())
        yield claim, held.fault(claim["sentence"])


def main() -> int:
    """Measure, print, judge."""
    paths = [Path(name) for name in sys.argv[1:] if not name.startswith("--")]
    sets = [tuple(paths)] if paths else [(HERE / f"{name}.tsv", *ROWS) for name in SETS]
    return sum(map(_measure, sets))


def _measure(paths: tuple[Path, ...]) -> int:
    right: Counter[tuple[str, str]] = Counter()
    total: Counter[tuple[str, str]] = Counter()
    for row, fault in judged(*paths):
        is_right = (fault is None) == (row["label"] == "faithful")
        for group in ("all", row["class"], row["language"]):
            total[row["label"], group] += 1
            right[row["label"], group] += is_right
        if "--list" in sys.argv and not is_right:
            print(row["id"], row["label"], row["class"], fault, "|", row["sentence"])
    print(paths[0].name)
    for key in sorted(total, key=lambda key: (key[0], key[1] != "all", key[1])):
        print(f"{key[0]:<11} {key[1]:<14} {right[key]:>3} of {total[key]:>3}")
    shares = {label: right[label, "all"] / total[label, "all"] for label in GOALS}
    missed = [label for label, share in shares.items() if share < GOALS[label]]
    print(f"goals: {GOALS}{' MISSED' if missed else ''}")
    return len(missed)


if __name__ == "__main__":
    sys.exit(main())
