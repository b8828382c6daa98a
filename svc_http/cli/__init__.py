"""The command `svc`.

Exit codes: 0 done, 1 refused or a check failed, 2 wrongly called, 3 the server is unreachable.
Errors are one line on stderr that ends in what to do; a traceback is never shown.
"""

import sys
from collections.abc import Sequence

MISSING = "{} is not installed; run: pip install 'svc[server]'"
USAGE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    try:
        from svc_http.cli import app  # noqa: PLC0415 - only here can its absence be told

        return app.run(sys.argv[1:] if arguments is None else arguments)
    except ModuleNotFoundError as missing:
        name = (missing.name or "").partition(".")[0]
        if name in {"", "svc_core", "svc_http"}:
            raise  # a defect of ours, not an extra that was left out
        sys.stderr.write(f"svc: {MISSING.format(name)}\n")
        return USAGE
