"""Measures which sentences of a model are kept and which are caught, by class and language.

    python -m benchmarks.quality_claims [claims.tsv [rows.json]] [--list]

The labelled sentences are ours, `answers/claims.tsv` over `answers/rows.json`: they were looked at
while the rules were made. A file of others stands in for them, with its rows.
"""

import csv
import json
import sys
from collections import Counter
from pathlib import Path

from svc_core.text.facts import TextFacts

HERE = Path(__file__).parent / "answers"


GOALS = {"faithful": 0.9, "unfaithful": 0.95}
"""The shares that are to be kept and caught."""


def main() -> int:
    """Measure, print, judge."""
    arguments = sys.argv[1:]
    paths = [Path(name) for name in arguments if not name.startswith("--")]
    claims, rows = (paths + [HERE / "claims.tsv", HERE / "rows.json"][len(paths) :])[:2]
    facts = {id_: TextFacts.of(row) for id_, row in json.loads(rows.read_text()).items()}
    right: Counter[tuple[str, str]] = Counter()
    total: Counter[tuple[str, str]] = Counter()
    with claims.open() as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            fault = TextFacts.union(facts[id_] for id_ in row["rows"].split()).fault(
                row["sentence"]
            )
            is_right = (fault is None) == (row["label"] == "faithful")
            for group in ("all", row["class"], row["language"]):
                total[row["label"], group] += 1
                right[row["label"], group] += is_right
            if "--list" in arguments and not is_right:
                print(row["id"], row["label"], row["class"], fault, "|", row["sentence"])
    for key in sorted(total, key=lambda key: (key[0], key[1] != "all", key[1])):
        print(f"{key[0]:<11} {key[1]:<14} {right[key]:>3} of {total[key]:>3}")
    shares = {label: right[label, "all"] / total[label, "all"] for label in GOALS}
    missed = [label for label, share in shares.items() if share < GOALS[label]]
    print(f"goals: {GOALS}{' MISSED' if missed else ''}")
    return len(missed)


if __name__ == "__main__":
    sys.exit(main())
