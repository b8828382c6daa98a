"""The service held against its own description by Schemathesis, in single and linked requests."""

import re
import subprocess
import sys
from importlib.util import find_spec

import pytest

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(find_spec("schemathesis") is None, reason="schemathesis is not installed"),
]

EXAMPLES = 100
"""Cases for each operation and phase."""

CASES_MIN = 2_000

CONFIG = """
# Who has a key pays nothing, so that no payment beside one is read.
[parameters]
"header.PAYMENT-SIGNATURE" = "e30="

[checks.positive_data_acceptance]
# A sound request may still meet a row that is not there, another version of it, or a used key;
# and an address may send it on.
expected-statuses = ["2xx", 302, 304, 400, 404, 409, 412]

[checks.negative_data_rejection]
# Preconditions are judged before the body (RFC 9110 13.2.1), so 412 is a refusal as well; and a
# parameter that is far too long makes the address too long.
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 412, 414, 415, 422, 428, 429]
"""


def test_the_service_does_what_its_description_says(served_world, tmp_path):
    config, report = tmp_path / "schemathesis.toml", tmp_path / "report.ndjson"
    config.write_text(CONFIG)
    ran = subprocess.run(
        [
            sys.executable, "-m", "schemathesis.cli",
            "--config-file", str(config),
            "run", f"{served_world.origin}/openapi.flat.json",
            "--url", served_world.origin,
            "--header", f"Authorization: Bearer {served_world.world.keys['a']}",
            "--checks", "all",
            "--exclude-checks", "ignored_auth",
            "--max-examples", str(EXAMPLES),
            "--continue-on-failure",
            "--suppress-health-check", "all",
            "--seed", "20260304",
            "--report", "ndjson",
            "--report-ndjson-path", str(report),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr[-2_000:]
    count = re.search(r"([0-9]+) generated", ran.stdout)
    assert count is not None
    assert int(count[1]) >= CASES_MIN
