"""Small disks of a test's own, where this machine lets it mount them."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mount(size: str) -> Iterator[Path]:
    """The folder of a disk of this size."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can mount a disk")
    folder = Path(tempfile.mkdtemp(prefix="svc-disk-"))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "svc-test", folder]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        folder.rmdir()
        pytest.skip("this root cannot mount a disk")
    yield folder
    subprocess.run(["umount", folder], check=True)
    folder.rmdir()
