"""Reads the tables that stand beside the modules of the dashboard."""

import csv
from pathlib import Path


def tsv_rows(name: str) -> list[dict[str, str]]:
    """The lines of a table by the names of its columns; what a line leaves out is empty."""
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    return list(csv.DictReader(lines, restval="", delimiter="\t", quoting=csv.QUOTE_NONE))
