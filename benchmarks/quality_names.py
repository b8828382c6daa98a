# ruff: noqa: TID251 - a client of the server
"""Whether the row of a name is the first that a search for the name gives, on labelled queries.

`names.tsv` beside this file holds the labels, made by hand before the search was written: names,
other names, codes and parts of names of what FOLDER tells of, each with the designators of the rows
that are meant, any of which is right.

    python benchmarks/quality_names.py [FOLDER]

A server with a store of its own reads the documents of FOLDER (or of `SVC_REAL_DATA`), and every
name is asked of `/entities`, of a vulnerability of `/cyber/cves`. Shown are the mean reciprocal
rank within the first ten rows, the share of names whose row is the first, and each name whose row
is not. Exit code 1 when a figure is below its floor.
"""

import os
import sys
import tempfile
from pathlib import Path
from statistics import fmean
from urllib.parse import quote

from quality_served import Desk, Row, Server

FLOOR = 0.95
"""Of both figures."""

FOLDERS = (
    "attack_stix20", "attack_stix21", "cisa_kev", "misp_galaxy", "ofac", "ftm", "sec_edgar",
    "gleif_api", "gleif_xml", "cve5", "nvd2", "csaf", "epss_csv", "misp_event", "stix21_report",
)  # fmt: skip
"""Where FOLDER tells of entities and vulnerabilities."""


def labels() -> dict[str, set[str]]:
    """The designators that are right for each query."""
    lines = Path(__file__).with_name("names.tsv").read_text("utf-8").splitlines()[1:]
    rows = (line.split("\t") for line in lines)
    return {query: set(answers.split()) for query, answers in rows}


def designators(row: Row) -> set[str]:
    """What a row is known by, as the labels write it."""
    own = {f"{item['scheme']}:{item['value']}" for item in row["designators"]}
    return {*own, f"cve:{row.get('cveId')}"}


def reciprocal_rank(desk: Desk, query: str, answers: set[str]) -> float:
    """One over the place of the first right row, 0 where none is among the first ten."""
    place = "cyber/cves" if any(answer.startswith("cve:") for answer in answers) else "entities"
    rows = desk.get(f"/{place}?limit=10&q={quote(query)}")["data"]
    return next((1 / at for at, row in enumerate(rows, 1) if designators(row) & answers), 0.0)


def main() -> int:
    """Print the figures; 1 when one is below its floor."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["SVC_REAL_DATA"])
    with tempfile.TemporaryDirectory() as place:
        server = Server(Path(place))
        server.api = server.api.replace("/v1", "/v2")
        try:
            for name in FOLDERS:
                server.run("sources", "add", str(folder / name))
            ranks = {
                query: reciprocal_rank(next(server.desks), query, answers)
                for query, answers in labels().items()
            }
        finally:
            server.end()
    for query, rank in ranks.items():
        if rank < 1:
            print(f"{query}: {f'place {1 / rank:.0f}' if rank else 'not among the first ten'}")
    mean, first = fmean(ranks.values()), fmean(rank == 1 for rank in ranks.values())
    print(f"{len(ranks)} names: mean reciprocal rank {mean:.3f}, first {first:.3f}, floor {FLOOR}")
    return int(min(mean, first) < FLOOR)


if __name__ == "__main__":
    sys.exit(main())
