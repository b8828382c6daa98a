"""Getting a command carried out: by the running server, else by opening the store here.

One process has a SQLite file at a time, so a command that meets another one waits for it a while.
"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from svc_core.wire import Json
from svc_http import control
from svc_http.cli.failures import Refusal, Usage
from svc_http.cli.options import Common
from svc_http.cli.show import Bar
from svc_http.control import BrokeOff, Unreachable

if TYPE_CHECKING:
    from svc_http.settings import Settings

PATIENCE_SECONDS = 10.0
"""How long a command waits for another one to give the file back."""

LOOK_SECONDS = 0.05
"""How often it looks."""


def call(common: Common, command: str, arguments: Mapping[str, Json]) -> Json:
    """What the command answers; arguments that are None are left out.

    Raises:
        Refusal: the command was refused.
        Unreachable: a server was named and does not answer.
        SettingsError, StoreBusy, Unusable, Unsafe: the store cannot be found or opened.
    """
    given: dict[str, Json] = {name: value for name, value in arguments.items() if value is not None}
    named = common.named_server()
    try:
        with Bar(command) as bar:
            if named is not None:
                return control.ask(_address(named), command, given, bar.tell)
            return _find(common.settings(), command, given, bar)
    except control.Refused as refused:
        raise Refusal(refused.problem, as_json=common.json) from refused


def _address(text: str) -> Path:
    try:
        return control.parse(text)
    except ValueError as wrong:
        raise Usage(f"--server {wrong}") from wrong


def _find(settings: "Settings", command: str, given: dict[str, Json], bar: Bar) -> Json:
    from svc_http.storage.errors import StoreBusy  # noqa: PLC0415 - a server saves us the import

    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return control.ask(control.address(settings.file), command, given, bar.tell)
        except BrokeOff:
            raise  # what was asked may have been done: it is not done again here
        except Unreachable:
            pass
        try:
            return _here(settings, command, given, bar)
        except StoreBusy:
            # A server that is starting, or another command.
            if time.monotonic() > deadline:
                raise
        time.sleep(LOOK_SECONDS)


def _here(settings: "Settings", command: str, given: dict[str, Json], bar: Bar) -> Json:
    from svc_http.cli import local  # noqa: PLC0415 - a server saves us the import

    return local.run(settings, command, given, bar.tell)
