"""Files that may be stdin or stdout, which people name by a hyphen."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STREAM = "(stdin)"
"""What `app.run` puts in the place of the hyphen."""


@contextmanager
def named(file: str) -> Iterator[Path]:
    """The path of what is read more than once: stdin is put in a file."""
    if file != STREAM:
        yield Path(file)
        return
    import shutil  # noqa: PLC0415 - every command line imports this module
    import sys  # noqa: PLC0415
    import tempfile  # noqa: PLC0415

    with tempfile.NamedTemporaryFile(prefix="svc-") as spool:
        shutil.copyfileobj(sys.stdin.buffer, spool)
        spool.flush()
        yield Path(spool.name)
