"""What is offered can be read: formats, presets, lists of feeds."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import svc_core
from svc_core import catalog
from svc_core.base import drive
from svc_core.formats.table import FORMATS, TABLE, check_options
from svc_core.intel.intake import catalogue, health
from svc_core.intel.intake.kinds import KINDS
from svc_core.operation.members import NoMembers
from svc_core.text.topics import TOPIC_IDS

_NAMES = """
    rss atom rdf jsonfeed gdelt-events gdelt-mentions usgs gdacs-rss gdacs eonet reliefweb ucdp
    acled kev nvd cve epss csaf attack stix misp-galaxy misp-event sec-tickers sec-companyfacts
    sec-submissions gleif lei-cdf fred worldbank sdmx frankfurter polymarket kalshi manifold ofac
    un-sanctions ftm ftm-delta countries country-codes geonames"""
CLOSED_LIST = frozenset(_NAMES.split())
"""Decisions: D13."""

PRESETS = catalogue.presets()


def test_formats_are_those_of_the_closed_list() -> None:
    assert set(FORMATS) <= CLOSED_LIST
    assert len(FORMATS) == len(TABLE)


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_can_be_added(name: str) -> None:
    preset = PRESETS[name]
    assert preset.format in CLOSED_LIST
    assert preset.location.startswith("https://")
    assert set(preset.topics) <= TOPIC_IDS
    assert preset.license
    if preset.format in FORMATS:
        check_options(FORMATS[preset.format], preset.options)


def test_no_preset_reads_what_its_publisher_forbids() -> None:
    forbidden = ("acled", "news.google", "opensanctions", "kalshi")
    assert not [
        preset for preset in PRESETS.values() for word in forbidden if word in preset.location
    ]
    addresses = [preset.location for preset in PRESETS.values()]
    assert len(set(addresses)) == len(addresses)


def test_what_is_said_to_show_a_kind_of_row_is_a_list_of_the_service() -> None:
    paths = {path for paths in catalogue.SURFACES.values() for path in paths}
    routes = {operation.path for operation in catalog.OPERATIONS}
    assert paths <= routes
    assert catalogue.SURFACES.keys() <= KINDS.keys() | FORMATS.keys()


def test_every_format_says_what_it_brings_and_where_that_is_shown() -> None:
    context: Any = None
    page = drive.run(catalogue.list_formats(context, NoMembers()))
    for row in map(json.loads, page.rows):
        assert row["brings"] == list(FORMATS[row["id"]].resources), row["id"]
        assert row["surfaces"], row["id"]
        assert len(set(row["surfaces"])) == len(row["surfaces"])


# -- what to do --------------------------------------------------------------------------------


def _codes() -> Iterator[str]:
    """The codes with which documents are refused, from the code itself."""
    root = Path(svc_core.__file__).parent.parent
    for folder in ("svc_core/formats", "svc_core/intel", "svc_http/outside/fetch"):
        for path in (root / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                    continue
                first = node.args[0] if node.args else None
                if node.func.id in {"DocumentRefused", "FetchRefusal"} and isinstance(
                    first, ast.Constant
                ):
                    yield str(first.value)


def test_every_reason_says_what_to_do() -> None:
    codes = set(_codes())
    assert {"unrecognised", "truncated", "httpStatus", "shrunk"} <= codes
    # It is refused before there is a source.
    assert codes - {"tooMany"} <= set(health.BY_ERROR)
