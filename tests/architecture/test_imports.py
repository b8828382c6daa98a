"""The layers of the package hold: the contracts stand in pyproject.toml, import-linter judges."""

import subprocess
import sys
from pathlib import Path


def test_every_import_follows_the_layers(root: Path) -> None:
    linter = Path(sys.executable).with_name("lint-imports")

    process = subprocess.run(
        [linter, "--no-cache"], cwd=root, capture_output=True, text=True, check=False
    )

    assert process.returncode == 0, process.stdout[-4_000:] + process.stderr
    assert "0 broken" in process.stdout
