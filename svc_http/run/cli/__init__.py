"""The command `svc`: parses a command line, runs it, and turns failures into exit codes.

Exit codes: 0 done, 1 refused or a check failed, 2 wrongly called, 3 the server is unreachable.
Errors are one line on stderr that ends in what to do; a traceback is never shown.

Help and version are printed without the parser of command lines, and a command is read from a table
(`command_table`): what a command needs is imported when it is the one that was called. Nothing is
imported outside of `main`, so that Ctrl-C is quiet from the first moment.
"""

import atexit
import gc
import os
import sys
from collections.abc import Sequence

atexit.register(gc.freeze)  # Python would look at all objects again before it ends: 0.4 s
INTERRUPTED = 130  # as a shell reports a process that SIGINT ended


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(words)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as failure:
        from svc_http.run.cli import exit_codes as failures  # noqa: PLC0415 - mostly nothing breaks

        # Output that cannot be written; whoever read it may have gone, which is their right.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(failure, BrokenPipeError):
            return failures.REFUSED
        return failures.tell(f"it cannot be written or read: {failure.strerror}", failures.REFUSED)
    except Exception as failure:
        from svc_http.run.cli import exit_codes as failures  # noqa: PLC0415

        # The boundary: what people cannot mend is a defect of ours, told without a traceback.
        status = failures.failure_code(failure, as_json="--json" in words)
        return failures.defect(failure) if status is None else status
    return code


def _run(words: list[str]) -> int:
    text = _known_text(words)
    if text is None:
        from svc_http.run.cli import app  # noqa: PLC0415 - much of what is asked needs no parser

        return app.run_command_line(words)
    sys.stdout.write(text)
    return 0


def _known_text(words: list[str]) -> str | None:
    """What is printed without parsing the command line; None where it has to be parsed."""
    from svc_http.run.cli import command_table  # noqa: PLC0415

    if len(words) > 1 and {*command_table.HELP}.isdisjoint(words):
        return None
    from importlib.util import find_spec  # noqa: PLC0415

    if find_spec("cyclopts") is None:
        return None  # no command can run: that is told instead
    if words == ["--version"]:
        return f"{version_line()}\n"
    from svc_http.run.cli import help_pages  # noqa: PLC0415

    return help_pages.page_text(words)


def version_line() -> str:
    """The line that `svc --version` prints."""
    from svc_http.version import service_version  # noqa: PLC0415

    return f"svc {service_version()}"
