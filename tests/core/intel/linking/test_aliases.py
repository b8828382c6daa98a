"""The alias table says who a vendor was on a day, and never two at once."""

import json
import os
from collections import defaultdict
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest

from svc_core import data
from svc_core.formats.reading.entity_keys import normal_form
from svc_core.intel.linking import aliases
from svc_core.intel.linking.name_forms import normal_name
from svc_core.intel.linking.references import id_of, vendor_references

ROWS = [line.split("\t") for line in data.table_lines("aliases.tsv")]


def test_a_maker_that_files_nothing_is_known_by_its_vendor_name() -> None:
    day = date(2024, 1, 10)
    assert vendor_references("Pulse Secure", day)[0] == vendor_references("ivanti", day)[0]
    assert vendor_references("ivanti", day) == (id_of("cpe-vendor:ivanti"), "vendor:ivanti")


def test_no_name_means_nobody() -> None:
    assert vendor_references("", None) == vendor_references("---", None) == ()


def test_the_table_has_names_keys_and_days() -> None:
    assert len({row[1] for row in ROWS}) > 150
    for names, key, start, end, kind in ROWS:
        scheme, _, value = key.partition(":")
        assert normal_form(scheme, value) == value
        assert scheme in {"cik", "lei", "cpe-vendor"}
        assert kind in {"", "word", "vendor", "text"}
        assert not (start and end) or date.fromisoformat(start) < date.fromisoformat(end)
        for name in names.split("|"):
            assert 0 < len(normal_name(name).split()) <= aliases.WORDS_MAX


def test_nobody_has_a_name_twice_at_once() -> None:
    for name, spans in aliases.alias_table().items():
        for earlier, later in pairwise(spans):
            assert earlier.valid_to <= later.valid_from, name


def test_a_name_is_of_one_kind() -> None:
    kinds = defaultdict(set)
    for names, *_, kind in ROWS:
        for name in names.split("|"):
            kinds[normal_name(name)].add(kind)
    assert [name for name, kinds_of_name in kinds.items() if len(kinds_of_name) > 1] == []


@pytest.mark.needs("SVC_REAL_DATA")
def test_every_listed_cik_is_that_of_the_name() -> None:
    root = Path(os.environ["SVC_REAL_DATA"])  # noqa: TID251 - what the tests are given
    listing = json.loads((root / "sec_edgar/company_tickers.json").read_bytes()).values()
    titles = {
        f"cik:{row['cik_str']:010d}": set(normal_name(row["title"]).split()) for row in listing
    }
    by_name: dict[str, set[str]] = defaultdict(set)
    for names, key, *_ in ROWS:
        by_name[key].update(word for name in names.split("|") for word in normal_name(name).split())
        by_name[key].update(normal_name(name).replace(" ", "") for name in names.split("|"))
    wrong = {
        key: titles[key]
        for key, words in by_name.items()
        if key in titles and not any(word.startswith(tuple(titles[key])) for word in words)
    }
    assert wrong == {}
