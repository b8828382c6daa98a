"""Who reads the catalogue loads neither the writers of documents nor the makers of reports."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
WRITERS = (
    "svc_core.catalog.openapi",
    "svc_core.wire.schema",
    "svc_core.catalog.reference",
    "svc_core.operation.inputs",
)
MAKERS = ("svc_core.reports.composition", "svc_core.text.stories")


def test_the_catalogue_loads_only_what_answers_need() -> None:
    code = "import sys, json, svc_core.catalog; print(json.dumps(sorted(sys.modules)))"
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not {*WRITERS, *MAKERS} & set(json.loads(process.stdout))
