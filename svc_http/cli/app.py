"""The tree of commands: one for each operation, and those that stand by hand.

By hand stays what touches files of this machine or follows a stream. What a command needs is
imported when it is the one that was called.
"""

import os
import sys
from collections.abc import Sequence
from typing import Final

from cyclopts import App, CycloptsError, MissingArgumentError, UnusedCliTokensError

from svc_http.cli import failures
from svc_http.cli.files import STREAM

_BY_HAND: Final = {
    "serve": (
        "serve:serve",
        "Run the server; --demo needs no setup.\n\n"
        "It runs until Ctrl-C or SIGTERM. With --demo it makes a store in a temporary folder, "
        "fills it with feeds, profiles and reports, and prints a key and commands to try.",
    ),
    "db": ("database:app", "Check, migrate, back up and restore the database file."),
    "openapi": ("documents:openapi", "Print the OpenAPI 3.1 document."),
    "doctor": ("doctor:doctor", "Check that the server has everything it needs."),
    "version": ("documents:version", "Print the versions of svc, Python and SQLite."),
    "changes tail": (
        "tail:changes",
        "Print every change after a position.\n\n"
        "One JSON object per line, with or without --json. With --state the position is kept after "
        "each page was handed on, so that a run that was killed repeats at most one page and "
        "misses none. --exec is given a page as lines of JSON on its stdin, and has taken it when "
        "it ends with 0.\n\n"
        "Exit codes: 0, the end of the feed was reached; 1, --exec failed and its page will come "
        "again, or the position is of another epoch of the feed (`WATERMARK_GONE`); 2, the command "
        "line or the file of --state cannot be used; 3, the server that was named does not answer; "
        "130, Ctrl-C.",
    ),
    "webhooks listen": (
        "listen:listen",
        "Receive deliveries on this machine: verify, print and forward them.\n\n"
        "For development: it registers a webhook that exists while this runs, with a server that "
        "runs on this machine and not in production.",
    ),
    "ledger append": (
        "appends:append",
        "Append records from a file or stdin.\n\n"
        "A hundred are appended at a time, all of them or none. The same input may be given again, "
        "even if it has grown since: what was already appended is skipped. Each object has the "
        "members of POST /ledger/records.",
    ),
    "ledger export": (
        "transfer:export",
        "Write the sealed lines to a file.\n\n"
        "Byte for byte, so that anyone can verify them; the file is there whole or not at all. "
        "With --json the lines go to FILE and the counts to stdout.",
    ),
    "ledger import": (
        "transfer:import_",
        "Import an export as the ledger of a workspace.\n\n"
        "The workspace's ledger must be empty, or be the beginning of what is imported. Everything "
        "is verified strictly before anything is stored; all of it is stored, or nothing.",
    ),
    "ledger verify": (
        "verify:verify",
        "Verify an export; needs no server and no database.\n\n"
        "It exits with 0 when the file is sound, 1 when it is not and 2 when it could not be read, "
        "and names the first line that is wrong and what was done to it.",
    ),
}
"""Where each stands, and what it says of itself before it is loaded."""

_ALSO: Final = {"sources": "feeds", "status": "list"}
"""Second names."""


def _version() -> str:
    from svc_http.requests.pages import service_version  # noqa: PLC0415 - help is shown without it

    return f"svc {service_version()}"


def tree(first: str = "") -> App:
    """The commands; without those of operations where `first` is one that stands by hand."""
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
    groups: dict[str, App] = {"": app}
    for words, (target, text) in _BY_HAND.items():
        group, _, verb = words.rpartition(" ")
        _group(groups, group).command(f"svc_http.cli.{target}", name=verb, help=text)
    if first not in _BY_HAND:
        _derive(groups)
    return app


def _group(groups: dict[str, App], name: str) -> App:
    if name not in groups:
        groups[name] = App(name=_names(name))
        groups[""].command(groups[name])
    return groups[name]


def _names(name: str) -> list[str]:
    return [name, *([_ALSO[name]] if name in _ALSO else [])]


def _derive(groups: dict[str, App]) -> None:
    """Put in a command for each operation."""
    from svc_core.catalog import LOCAL_OPERATIONS, OPERATIONS  # noqa: PLC0415 - not for all
    from svc_http.cli.derived import Command  # noqa: PLC0415

    verbs: dict[str, list[str]] = {}
    for operation in (*OPERATIONS, *LOCAL_OPERATIONS):
        verbs.setdefault(operation.group, [])
        if operation.verb:
            made = Command.of(operation).function()
            _group(groups, operation.group).command(made, name=_names(operation.verb))
            verbs[operation.group].append(operation.verb)
    for name, own in verbs.items():
        by_hand = [words.partition(" ")[2] for words in _BY_HAND if words.startswith(f"{name} ")]
        groups[name].help = f"{name.capitalize()}: {', '.join([*own, *by_hand])}."


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
        app = tree(arguments[0] if arguments else "")
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
