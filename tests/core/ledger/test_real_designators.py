"""What registers really hand out is taken as it is. Run where SVC_REAL_DATA names documents."""

import json
import os
import re
from pathlib import Path

import pytest

from svc_core.contract.problem import Problem
from svc_core.ledger.designator_input import normalise

pytestmark = pytest.mark.needs("SVC_REAL_DATA")


@pytest.fixture(scope="module")
def documents():
    return Path(os.environ["SVC_REAL_DATA"])  # noqa: TID251 - what the tests are given


def is_taken(scheme, value):
    try:
        return normalise(scheme, value).lower() == value.lower()
    except Problem:
        return False


@pytest.mark.parametrize(
    ("scheme", "files", "pattern", "least"),
    [
        ("lei", "gleif_*/*", r"\b[0-9A-Z]{18}[0-9]{2}\b", 40),
        ("isin", "gleif_api/isins*", r'"isin"\s*:\s*"([^"]+)"', 10),
        ("cve", "[cn]*/*.json", r"CVE-\d{4}-\d+", 100),
        ("cwe", "[cn]*/*.json", r"CWE-[1-9]\d*", 50),
        ("cpe", "[cn]*/*.json", r'"cpe:2\.3:(?:[^"\\]|\\.)*"', 100),
        ("attack", "attack_stix21/*", r'"external_id": "([GSTC]\d[^"]*)"', 100),
    ],
)
def test_identifiers_of_registers_are_taken_as_they_are(documents, scheme, files, pattern, least):
    failures = {
        json.loads(value) if value.startswith('"') else value
        for file in documents.glob(files)
        for value in re.findall(pattern, file.read_text(errors="replace"))
    }
    assert len(failures) >= least
    assert sorted(value for value in failures if not is_taken(scheme, value)) == []
