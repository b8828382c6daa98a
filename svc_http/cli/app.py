"""The tree of commands. What a command needs is imported when it is the one that was called."""

import os
import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError, MissingArgumentError, UnusedCliTokensError

from svc_http.cli import failures
from svc_http.cli.streams import STREAM


def _version() -> str:
    from svc_http.requests.pages import service_version  # noqa: PLC0415 - help is shown without it

    return f"svc {service_version()}"


app = App(
    name="svc",
    help="Intelligence Platform API: run it and look after it.",
    version=_version,
    help_epilogue="Begin with: svc serve --demo",
    result_action="return_value",
    exit_on_error=False,
    print_error=False,
    suppress_keyboard_interrupt=False,
)

_HERE = "svc_http.cli"

for _name, _target, _help in (
    (
        "serve",
        "serve:serve",
        "Run the server; --demo needs no setup.\n\n"
        "It runs until Ctrl-C or SIGTERM. With --demo it makes a store in a temporary folder, "
        "fills it with feeds, profiles and reports, and prints a key and commands to try.",
    ),
    (
        "keys",
        "keys:app",
        "Create, list, show, revoke, regenerate, grandfather and delete API keys.",
    ),
    ("workspaces", "workspaces:workspaces", "Create and list workspaces."),
    ("users", "workspaces:users", "Create and list users."),
    ("plans", "workspaces:plans", "Show the plan table; move a workspace to another plan."),
    ("feeds", "feeds:app", "Add, pull and remove news sources; check their health."),
    ("profiles", "profiles:app", "Create, list, show and delete the profiles of a workspace."),
    ("reports", "reports:app", "Make, list and read reports."),
    ("changes", "changes:app", "Read the change feed."),
    ("webhooks", "webhooks:app", "Register webhooks, inspect deliveries, receive them locally."),
    ("ledger", "ledger:app", "Append to the ledger, fold it, export it, verify exports."),
    (
        "db",
        "database:app",
        "Check, migrate, back up and restore the database file.",
    ),
    ("openapi", "documents:openapi", "Print the OpenAPI 3.1 document."),
    ("doctor", "doctor:doctor", "Check that the server has everything it needs."),
    ("version", "documents:version", "Print the versions of svc, Python and SQLite."),
):
    app.command(f"{_HERE}.{_target}", name=_name, help=_help)


def _misuse(wrong: CycloptsError) -> str:
    """What is wrong with the command line, and where it is told how it should be."""
    said = " ".join(str(wrong).split())
    if isinstance(wrong, MissingArgumentError):
        said = _missing(wrong, said)
    elif isinstance(wrong, UnusedCliTokensError):
        said = f"unexpected: {' '.join(wrong.unused_tokens or ())}."
    if "Available commands" in said:
        return said
    return f"{said} See: {' '.join(('svc', *(wrong.command_chain or ()), '--help'))}"


def _missing(wrong: MissingArgumentError, said: str) -> str:
    argument = wrong.argument
    if argument is None:
        return said
    name = argument.name
    if argument.field_info.is_positional:
        name = name.lstrip("-").upper()
    given = wrong.keyword is not None or bool(argument.tokens)
    _, meant, near = said.partition(" Did you mean ")
    return f"{name} {'needs a value' if given else 'is missing'}.{meant}{near}"


def _with_streams(arguments: Sequence[str]) -> list[str]:
    """The arguments with a word for each hyphen that stands for a file of `svc ledger`.

    The parser takes a hyphen for an option, and would take options that are mistyped for files if
    it were told not to.
    """
    if list(arguments[:1]) != ["ledger"]:
        return list(arguments)
    takes_value = ["", *(name.startswith("--") and name not in _SWITCHES for name in arguments)]
    return [
        STREAM if given == "-" and not is_value else given
        for given, is_value in zip(arguments, takes_value, strict=False)
    ]


_SWITCHES = {"--json", "--again"}
"""Options of `svc ledger` that take no value."""


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        code = int(app(_with_streams(arguments)) or 0)
        sys.stdout.flush()
        return code
    except CycloptsError as wrong:
        return failures.tell(_misuse(wrong), failures.USAGE)
    except KeyboardInterrupt:
        return failures.INTERRUPTED
    except BrokenPipeError:
        # Whoever read the output has gone, which is their right; what is left goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return failures.REFUSED
    except Exception as failure:
        # The boundary: what people cannot mend is a defect of ours, told without a traceback.
        told = failures.known(failure)
        return failures.defect(failure) if told is None else told
