"""How well names are linked, on labelled pairs: vendors, names of lists, mentions in text.

`links.json` beside this file holds the labels, made by hand: vendors as catalogues write them with
the company that owned them on a day (its CIK, or none among those listed), pairs of names with
whether they are of one, headlines with the companies that they mean. The entities are those of the
SEC's list of tickers in FOLDER, every maker of software or hardware among the labels marked as one.
A hash parts the labels into a half to choose constants on (`dev`) and one to report (`report`).

    python benchmarks/quality_links.py FOLDER [--half dev]

Exit code 1 when a figure is below its floor.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

from rapidfuzz import fuzz

from svc_core.intel.linking import plausibility as guard
from svc_core.intel.linking.matching import SCORE_MIN, Names, Party, compare
from svc_core.intel.linking.name_forms import labels, normal_name
from svc_core.intel.linking.references import id_of, text_references, vendor_references

FLOORS = {
    "vendors": (0.95, 0.85),
    "names": (0.85, 0.85),
    "texts": (0.9, 0.9),
}
"""Precision and recall at the least."""

Row = dict[str, Any]
Pairs = set[tuple[str, str]]


def entities(folder: Path, technical: set[str]) -> dict[str, Row]:
    """The listed companies by their ids, as rows tell of them."""
    companies = json.loads((folder / "sec_edgar/company_tickers.json").read_bytes()).values()
    rows = {}
    for company in companies:
        cik = f"{company['cik_str']:010d}"
        rows[id_of(f"cik:{cik}")] = {
            "cik": cik, "type": "company", "name": company["title"],
            "aliases": [], "designators": [],
            "industry": {"scheme": "SIC", "code": "7372"} if cik in technical else None,
        }  # fmt: skip
    return rows


class Register:
    """What `svc_core.intel.entities.directory` looks up in a store, in memory."""

    def __init__(self, rows: dict[str, Row]) -> None:
        self._rows = rows
        self._rows_by_name: dict[str, list[Row]] = defaultdict(list)
        for row in rows.values():
            for label in labels(row["name"], row["type"]):
                self._rows_by_name[label].append(row)

    def ids_of(self, references: Iterable[str]) -> set[str]:
        """The CIKs of those that references mean; of an id that nobody lists, itself."""
        rows = set()
        for reference in references:
            if reference.startswith("ent_"):
                rows.add(self._rows[reference]["cik"] if reference in self._rows else reference)
                continue
            matches = [
                row
                for row in self._rows_by_name[reference.partition(":")[2]]
                if guard.bears_name(reference, row)
            ]
            if len(matches) == 1 and guard.is_sufficient(reference, matches[0]):
                rows.add(matches[0]["cik"])
        return rows


def vendors(rows: list[Row], register: Register, listed_ciks: set[str]) -> tuple[Pairs, Pairs]:
    """What is said and what is right; a company that is not listed any more is known by its id."""
    pairs, right = set(), set()
    for row in rows:
        cik = row["cik"]
        if cik is not None:
            right.add((row["key"], cik if cik in listed_ciks else id_of(f"cik:{cik}")))
        for id_ in register.ids_of(
            vendor_references(row["vendor"], date.fromisoformat(row["day"]))
        ):
            if not _is_private(id_, row, listed_ciks):
                pairs.add((row["key"], id_))
    return pairs, right


def _is_private(cik: str, row: Row, listed_ciks: set[str]) -> bool:
    """Whether what was said is a maker that is on no list, as the label says too."""
    return cik not in listed_ciks and row["cik"] is None


def texts(rows: list[Row], register: Register, listed_ciks: set[str]) -> tuple[Pairs, Pairs]:
    """What is said and what is right of the companies that are listed."""
    pairs = {
        (row["key"], cik)
        for row in rows
        for cik in register.ids_of(text_references(row["key"], date.fromisoformat(row["day"])))
        if cik in listed_ciks
    }
    return pairs, {(row["key"], cik) for row in rows for cik in row["ciks"]}


def names(rows: list[Row]) -> tuple[Pairs, Pairs]:
    """Pairs that are candidates, and those that are one."""
    pairs = set()
    for row in rows:
        query, candidate = (
            Party(Names.of([row[side]]), type=row["type"]) for side in ("asked", "known")
        )
        match = compare(query, candidate)
        if match is not None and match.score >= SCORE_MIN:
            pairs.add((row["key"], ""))
    return pairs, {(row["key"], "") for row in rows if row["same"]}


def plain_names(rows: list[Row]) -> tuple[Pairs, Pairs]:
    """The same by rapidfuzz alone."""
    pairs = {
        (row["key"], "")
        for row in rows
        if fuzz.token_sort_ratio(normal_name(row["asked"]), normal_name(row["known"])) >= 80
    }
    return pairs, {(row["key"], "") for row in rows if row["same"]}


def plain_vendors(rows: list[Row], companies: dict[str, Row]) -> tuple[Pairs, Pairs]:
    """Vendors by an equal or a beginning name alone."""
    by_name = defaultdict(set)
    for row in companies.values():
        by_name[normal_name(row["name"])].add(row["cik"])
        by_name[normal_name(row["name"]).split(" ")[0]].add(row["cik"])
    pairs = {
        (row["key"], cik)
        for row in rows
        for cik in by_name[normal_name(row["vendor"])]
        if len(by_name[normal_name(row["vendor"])]) == 1
    }
    return pairs, {(row["key"], row["cik"]) for row in rows if row["cik"]}


def figures(name: str, pairs: Pairs, right: Pairs) -> tuple[float, float]:
    """Precision and recall, printed, with what is wrong."""
    right_count = len(pairs & right)
    precision, recall = right_count / max(1, len(pairs)), right_count / max(1, len(right))
    print(f"{name:14}precision {precision:.3f}  recall {recall:.3f}  of {len(right)}")
    if "--wrong" in sys.argv:
        print("  said:", sorted(pairs - right), "\n  missed:", sorted(right - pairs))
    return precision, recall


def main() -> int:
    half = "dev" if "dev" in sys.argv else "report"
    labels = json.loads(Path(__file__).with_name("links.json").read_text("utf-8"))
    technical = {row["cik"] for row in labels["vendors"] if row["cik"]}
    companies = entities(Path(sys.argv[1]), technical)
    register, listed_ciks = Register(companies), {row["cik"] for row in companies.values()}
    rows_of_half = {
        name: [row for row in rows if row["half"] == half] for name, rows in labels.items()
    }
    print(f"half {half!r}")
    figures_ = {
        "vendors": figures("vendors", *vendors(rows_of_half["vendors"], register, listed_ciks)),
        "names": figures("names", *names(rows_of_half["names"])),
        "texts": figures("texts", *texts(rows_of_half["texts"], register, listed_ciks)),
    }
    figures("(first word)", *plain_vendors(rows_of_half["vendors"], companies))
    figures("(token sort)", *plain_names(rows_of_half["names"]))
    low = [
        name
        for name, floors in FLOORS.items()
        if figures_[name] < floors or figures_[name][1] < floors[1]
    ]
    print("below its floor: " + ", ".join(low) if low else "all floors are reached")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
