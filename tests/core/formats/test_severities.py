"""How grave something is follows from what a source says of harm, by one table, or is unknown."""

import json
from typing import Any

import pytest

from svc_core import data
from svc_core.formats.reading.severities import severity_level, severity_members
from svc_core.operation.source_members import SEVERITIES
from tests.core.formats import golden

TABLE = data.table_rows("severities.tsv")
FORMAT_IDS = sorted(path.stem for path in golden.FILES.glob("*.json"))


def test_every_bound_has_its_measure_its_unit_a_level_and_who_published_it() -> None:
    for measure, unit, bound, level, origin in TABLE:
        assert level in {*SEVERITIES, "-"}, measure
        assert unit in {"1", "word", "code"}, measure
        assert bound == bound.casefold(), measure
        assert ", " in origin or ":" in origin, measure
    assert len({(measure, bound) for measure, _, bound, *_ in TABLE}) == len(TABLE)


def test_what_measures_no_harm_is_no_measure() -> None:
    assert not {measure for measure, *_ in TABLE} & {"status", "goldstein", "analysis", "sanction"}


@pytest.mark.parametrize(
    ("scale", "value", "level"),
    [
        ("alertLevel", "Orange", "high"),
        ("alertLevel", "purple", None),
        ("alertLevel", None, None),
        ("pager", "yellow", "medium"),
        ("deathsBest", 0, None),
        ("deathsBest", 1, "medium"),
        ("deathsBest", 99, "medium"),
        ("deathsBest", 100, "high"),
        ("deathsBest", 1_000, "critical"),
        ("mmi", 4.49, "info"),
        ("mmi", 8.5, "critical"),
        ("magnitude", -0.3, "info"),
        ("magnitude", 3.9, "info"),
        ("magnitude", 4, None),
        ("magnitude", 9.1, None),
        ("cvss", 0, "info"),
        ("cvss", 9.8, "critical"),
        ("threat_level_id", "4", None),
        ("kev", "known", "critical"),
        ("kev", "unknown", None),
        ("goldstein", -10.0, None),
        ("status", "ongoing", None),
    ],
)
def test_a_bound_begins_with_its_number(scale: str, value: Any, level: str | None) -> None:
    assert severity_level(scale, value) == level
    assert severity_members("p", scale, value).get("severity") == level


@pytest.mark.parametrize("format_id", FORMAT_IDS)
def test_a_format_rates_by_the_table_alone_and_says_by_what(format_id: str) -> None:
    cases = [case for cases in golden.stored_cases(format_id).values() for case in cases]
    for case in cases:
        for record in case.get("contents", {}).get("records", ()):
            if record["resource"] not in {"osintEvent", "incident"} or "members" not in record:
                continue
            members = record["members"]
            basis = members.get("severityBasis")
            level = basis and severity_level(basis["scale"], basis["value"])
            assert members.get("severity") == level, json.dumps(record)[:300]
