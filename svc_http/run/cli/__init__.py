"""The command `svc`.

Exit codes: 0 done, 1 refused or a check failed, 2 wrongly called, 3 the server is unreachable.
Errors are one line on stderr that ends in what to do; a traceback is never shown.
"""

import sys
from collections.abc import Sequence

from svc_http.run.cli import failures


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    try:
        from svc_http.run.cli import app  # noqa: PLC0415 - only here can its absence be told
    except ModuleNotFoundError as absent:
        if (code := failures.missing(absent)) is None:
            raise
        return code
    return app.run(sys.argv[1:] if arguments is None else arguments)
