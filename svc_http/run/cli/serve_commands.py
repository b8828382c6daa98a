"""`svc serve`: runs the server; its flags are derived from the declared settings."""

import asyncio
import gc
import inspect
import os
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from cyclopts import Parameter

from svc_http import settings
from svc_http.run.cli import show
from svc_http.run.cli.exit_codes import REFUSED, UsageError, tell
from svc_http.run.cli.options import load_settings, parameter
from svc_http.settings import MEMBERS, documentation

if TYPE_CHECKING:
    from svc_http.run.server.launch import StartedServer

OTHER_NAMES = {"rate_limits": ("--no-rate-limits", "--no-rate-limit")}
"""How a switch is turned off, where that is not `--no-` and its name alone."""


def serve_command(**options: Any) -> int:
    """Run the server; --demo needs no setup.

    It ends at Ctrl-C or SIGTERM. The demo has a store of its own, which ends with it.
    """
    flags = {name: value for name, value in options.items() if name in MEMBERS}
    config, demo = options.get("config"), options.get("demo", False)
    if demo and "db" in flags:
        raise UsageError("the demo has a database of its own; leave --db out, or --demo")
    if demo and "processes" in flags:
        raise UsageError("the demo has one process; leave --processes out, or --demo")

    as_json = options.get("json", False)
    if demo and not as_json:
        # Before the imports that take seconds.
        sys.stderr.write("preparing the demo ...\n")
        sys.stderr.flush()
    gc.disable()  # until the server is ready: what is imported stays, and costs 0.4 s to look at
    from svc_http.run.cli.banner import print_banner, server_addresses  # noqa: PLC0415 - see above
    from svc_http.run.server import launch, processes  # noqa: PLC0415

    progress = ExitStack()

    def ready(server: "StartedServer") -> None:
        gc.enable()
        progress.close()
        print_banner(server, as_json=as_json)
        if options.get("open_", False):
            docs = server_addresses(server)["docs"]
            asyncio.get_running_loop().run_in_executor(None, webbrowser.open, docs)

    try:
        if demo:  # a settings file is for the real service: the demo takes one only by name
            demo_settings = settings.load(os.environ, config, flags)
            with progress:
                launch.run_demo(demo_settings, ready, progress.enter_context(show.bar("documents")))
            return 0
        server_settings = load_settings(config, flags)
        if server_settings.processes is not None:
            return processes.run_processes(server_settings, config, flags, ready) or 0
        launch.run_server(server_settings, ready, lambda: load_settings(config, flags))
    except processes.ProcessFailed as failure:
        return tell(f"the server cannot start: {failure}", REFUSED)
    except OSError as error:
        return tell(f"the server cannot start: {error.strerror or error}", REFUSED)
    finally:
        gc.enable()
    return 0


# -- the flags ---------------------------------------------------------------------------------


_OPEN = [name for name, member in MEMBERS.items() if not member.metadata["secret"]]
"""The settings that may stand on a command line, which other users can read: no secrets."""


def _own() -> Iterator[inspect.Parameter]:
    yield _says("demo", bool, "Run a demo on this machine, with a store of its own.")
    yield _says("open_", bool, "Open the documentation in a browser.", name="--open")
    yield _says("json", bool, "Print one line of JSON with the addresses and nothing else.")
    yield _says("config", str, "The settings file. Also SVC_CONFIG; default svc.toml.")


def _says(key: str, kind: type, text: str, **extras: Any) -> inspect.Parameter:
    return parameter(
        key, kind, Parameter(help=text, show_default=False, **{"negative": (), **extras})
    )


def _flag(name: str) -> inspect.Parameter:
    member, texts = MEMBERS[name], [documentation()[name], f"Also SVC_{name.upper()}."]
    if isinstance(member.default, bool):
        off = OTHER_NAMES.get(name, (f"--no-{name.replace('_', '-')}",))
        return _says(name, bool, " ".join(texts), negative=off)
    if isinstance(member.default, str | int) and member.default != "":
        texts.insert(1, f"Default: {member.default}.")
    return _says(name, str, " ".join([*texts, f"Example: {member.metadata['example']}"]))


serve_command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [*_own(), *map(_flag, _OPEN)], return_annotation=int
)
