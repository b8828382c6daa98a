"""The tree of commands: one derived from each operation, and a few that are written by hand.

Written by hand are commands that touch files of this machine or follow a stream. The modules that
a command needs are imported only when that command is called.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from cyclopts import App, CycloptsError, Group, MissingArgumentError, UnusedCliTokensError

from svc_http.run.cli import command_table, version_line
from svc_http.run.cli import exit_codes as failures
from svc_http.run.cli.command_table import ALIASES, PURPOSES
from svc_http.run.cli.files import STREAM


def command_tree(arguments: Sequence[str] | None = None) -> App:
    """Build the tree of commands, for a command line with only as many as that needs."""
    app = App(
        name="svc",
        help="Intelligence Platform API: run it and look after it.",
        version=version_line,
        result_action="return_value",
        exit_on_error=False,
        print_error=False,
        suppress_keyboard_interrupt=False,
    )
    groups: dict[str, App] = {"": app}
    by_hand = {words: text for _, words, text in _lines() if ":" in text}
    places = _places() if arguments is None else {}
    for words, target in by_hand.items():
        group, _, verb = words.rpartition(" ")
        command = f"svc_http.run.cli.{target}"
        _group(groups, group).command(command, name=verb, **places.get(words, {}))
    if arguments is None:
        _derive(groups, places)
        app["--help"].group = app["--version"].group = "Options"
    elif {"--version", *by_hand}.isdisjoint([*arguments[:1], " ".join(arguments[:2])]):
        first, *rest = command_table.primary_words(tuple(arguments[:2])) or ("",)
        _read(groups, first, "".join(rest))
    return app


def _group(groups: dict[str, App], name: str) -> App:
    if name not in groups:
        groups[name] = App(name=_names(name))
        groups[""].command(groups[name])
    return groups[name]


def _names(name: str) -> list[str]:
    return [name, *([ALIASES[name]] if name in ALIASES else [])]


def _lines() -> Iterator[list[str]]:
    """The purpose, words, and sentence or target (`module:function`) of each command."""
    return (line.split("\t") for line in PURPOSES.read_text("utf-8").splitlines()[1:])


def _places() -> dict[str, dict[str, Any]]:
    """What the page of `svc` says of each of its commands, and the purpose that it stands under."""
    places: dict[str, dict[str, Any]] = {}
    purpose = Group("Commands")
    for at, (title, name, text) in enumerate(_lines()):
        if title and name:
            places[name] = {"group": purpose, **({} if ":" in text else {"help": text})}
        elif title:
            purpose = Group(title, help=text, sort_key=at)
    return places


def _derive(groups: dict[str, App], places: Mapping[str, Mapping[str, Any]]) -> None:
    """Put in a command for each operation, with all its help."""
    from svc_core.catalog import LOCAL_OPERATIONS, OPERATIONS  # noqa: PLC0415 - not for all
    from svc_http.run.cli.command_derivation import command_of, commanded  # noqa: PLC0415

    for operation in commanded((*OPERATIONS, *LOCAL_OPERATIONS)):
        group = _group(groups, operation.group)
        group.command(command_of(operation).function(), name=_names(operation.verb))
    for name in groups.keys() - {""}:
        groups[name].help, groups[name].group = places[name]["help"], places[name]["group"]


def _read(groups: dict[str, App], group_name: str, verb: str) -> None:
    """Put in the command that is called, from the table; of the others the names are enough."""
    names: set[str] = {*groups}
    for group, name, cell in command_table.verbs():
        if group == group_name:
            command = _function(cell) if name == verb else _PLACEHOLDER
            _group(groups, group).command(command, name=_names(name))
        elif group not in names:
            names.add(group)
            groups[""].command(_PLACEHOLDER, name=_names(group))


_PLACEHOLDER: Final = f"{__name__}:_placeholder"


def _placeholder() -> int:
    """Stand in the list of commands for one that is not called."""
    raise AssertionError("the parser calls the command that was read")


def _function(cell: str) -> Callable[..., int]:
    from svc_http.run.cli.operation_commands import Command  # noqa: PLC0415 - by hand stand some without

    return Command.parse(cell).function()


def _misuse(wrong: CycloptsError) -> str:
    """The error line for a command line that cannot be parsed, with the help page to look at."""
    text = " ".join(str(wrong).split())
    if isinstance(wrong, MissingArgumentError):
        text = _missing(wrong, text)
    elif isinstance(wrong, UnusedCliTokensError):
        text = f"unexpected: {' '.join(wrong.unused_tokens or ())}."
    if "Available commands" in text:
        return text
    return f"{text} See: {' '.join(('svc', *(wrong.command_chain or ()), '--help'))}"


def _missing(wrong: MissingArgumentError, text: str) -> str:
    argument = wrong.argument
    if argument is None:
        return text
    name = argument.name
    if argument.field_info.is_positional:
        name = name.lstrip("-").upper()
    is_given = wrong.keyword is not None or bool(argument.tokens)
    _, hint, near = text.partition(" Did you mean ")
    return f"{name} {'needs a value' if is_given else 'is missing'}.{hint}{near}"


def _with_streams(arguments: Sequence[str]) -> list[str]:
    """The arguments with a word for each hyphen that stands for a file of `svc ledger`.

    The parser takes a hyphen for an option, and would take options that are mistyped for files if
    it were told not to.
    """
    if list(arguments[:1]) != ["ledger"] and list(arguments[:2]) != ["entities", "match"]:
        return list(arguments)
    takes_value = ["", *(name.startswith("--") and name not in _SWITCHES for name in arguments)]
    return [
        STREAM if argument == "-" and not is_value else argument
        for argument, is_value in zip(arguments, takes_value, strict=False)
    ]


_SWITCHES = {"--json", "--again"}
"""Options of `svc ledger` that take no value."""


def run_command_line(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        return int(command_tree(arguments)(_with_streams(arguments)) or 0)
    except CycloptsError as wrong:
        return failures.tell(_misuse(wrong), failures.USAGE)
