"""`svc serve`: runs the server; its flags are derived from the declared settings."""

import asyncio
import inspect
import json
import os
import shlex
import shutil
import sys
import webbrowser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cyclopts import Parameter

from svc_core.operation.ports import BASE_V1, BASE_V2
from svc_http import mcp, settings
from svc_http.dashboard import security
from svc_http.exchange.http_exchange import DASHBOARD
from svc_http.outside.facilitators import ethereum, x402
from svc_http.run.cli.exit_codes import REFUSED, UsageError, tell
from svc_http.run.cli.options import load_settings, parameter
from svc_http.run.demo.seed import SeededDemo
from svc_http.run.server import launch, processes
from svc_http.run.server.launch import StartedServer
from svc_http.service.equipment import missing_providers
from svc_http.settings import MEMBERS, documentation
from svc_http.version import service_version

OTHER_NAMES = {"rate_limits": ("--no-rate-limits", "--no-rate-limit")}
"""How a switch is turned off, where that is not `--no-` and its name alone."""


def serve_command(**options: Any) -> int:
    """Run the server until Ctrl-C or SIGTERM; with --demo on a store of its own."""
    flags = {name: value for name, value in options.items() if name in MEMBERS}
    config, demo = options.get("config"), options.get("demo", False)
    if demo and "db" in flags:
        raise UsageError("the demo has a database of its own; leave --db out, or --demo")

    def ready(server: StartedServer) -> None:
        _announce(server, as_json=options.get("json", False))
        if options.get("open_", False):
            docs = server_addresses(server)["docs"]
            asyncio.get_running_loop().run_in_executor(None, webbrowser.open, docs)

    try:
        if demo:  # a settings file is for the real service: the demo takes one only by name
            launch.run_demo(settings.load(os.environ, config, flags), ready)
            return 0
        server_settings = load_settings(config, flags)
        if server_settings.processes is not None:
            return processes.run_processes(server_settings, config, flags, ready) or 0
        launch.run_server(server_settings, ready, lambda: load_settings(config, flags))
    except processes.ProcessFailed as failure:
        return tell(f"the server cannot start: {failure}", REFUSED)
    except OSError as error:
        return tell(f"the server cannot start: {error.strerror or error}", REFUSED)
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
    member = MEMBERS[name]
    text = f"{documentation()[name]} Also SVC_{name.upper()}."
    if not isinstance(member.default, bool):
        return _says(name, str, f"{text} Example: {member.metadata['example']}")
    off = OTHER_NAMES.get(name, (f"--no-{name.replace('_', '-')}",))
    return _says(name, bool, text, negative=off)


serve_command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [*_own(), *map(_flag, _OPEN)], return_annotation=int
)


# -- what is printed ---------------------------------------------------------------------------


def server_addresses(server: StartedServer) -> dict[str, Any]:
    """The addresses of a running server, for programs; `admin` is what SVC_SERVER takes.

    `signIn` lets a person in once, where nobody could sign in yet, and in the demo.
    """
    settings, origin = server.settings, server.settings.origin
    places: dict[str, Any] = {
        "api": origin + BASE_V1,
        "v2": origin + BASE_V2,
        "docs": f"{origin}/docs",
        "dashboard": f"{origin}{DASHBOARD}",
        "mcp": f"{origin}{mcp.PATH}",
        "admin": server.admin,
    }
    if server.sign_in is not None:
        places["signIn"] = server.sign_in
    if settings.x402_pay_to is not None:
        places["x402"] = {
            "network": settings.payment_network,
            "payTo": settings.x402_pay_to,
            "facilitator": x402.facilitator_address(settings),
        }
    return places if server.demo is None else places | {"key": server.demo.key}


def _announce(server: StartedServer, *, as_json: bool) -> None:
    lines = _demo_lines(server, server.demo) if server.demo else _lines(server)
    block = "\n".join(("", *(f"  {line}".rstrip() for line in lines)))
    sys.stdout.write(f"{json.dumps(server_addresses(server)) if as_json else block}\n")
    sys.stdout.flush()


def _program() -> str:
    """The words by which a shell calls this program; without an active venv there is no `svc`."""
    if shutil.which("svc"):
        return "svc"
    program = Path(sys.argv[0])
    return str(program) if program.name == "svc" else shlex.join([sys.executable, "-m", "svc_http"])


def _places(server: StartedServer) -> Iterator[str]:
    origin = server.settings.origin
    why_not = "" if security.cookie_name(server.settings) else "   (off: it needs https)"
    yield f"Dashboard   {origin}{DASHBOARD}{why_not}"
    yield f"API         {origin}{BASE_V1}   (v2: {origin}{BASE_V2})"
    yield f"Docs        {origin}/docs   (OpenAPI: /openapi.json, for SDK tools: /openapi.flat.json)"
    yield f"MCP         {origin}{mcp.PATH}   (over stdio: svc mcp)"
    settings = server.settings
    for name, why in missing_providers(settings).items():
        yield f"Off         {name}: {why}"
    if settings.x402_pay_to is not None:
        yield f"Payments    {settings.payment_network} to {settings.x402_pay_to}"
        yield f"            facilitator {x402.facilitator_address(settings)}"


def _lines(server: StartedServer) -> Iterator[str]:
    settings = server.settings
    server_flag = "" if settings.db == "svc.db" else f" --server {server.admin}"
    if server.sign_in is not None:
        yield f"Sign in     {server.sign_in}"
        yield f"            once, within 30 minutes; for another link: svc users link{server_flag}"
        yield ""
    yield f"svc {service_version()}  {settings.env}, database {settings.shown_db}"
    yield ""
    yield from _places(server)
    yield f"Admin       {server.admin}"
    if server.is_empty:
        yield ""
        yield "There is no workspace yet. Sign in, which makes one; or make one, and a key:"
        yield f"  svc workspaces create --name NAME --plan elite{server_flag}"
        yield f"  svc keys create --name NAME{server_flag}"
    yield ""
    yield "Ctrl-C to stop."


def _demo_lines(server: StartedServer, demo: SeededDemo) -> Iterator[str]:
    origin = server.settings.origin
    yield f"Sign in     {demo.sign_in}   (once; for another link: svc users link demo)"
    yield f"Read        {demo.report_url}   (a report, for 24 h)"
    yield ""
    yield f"svc {service_version()}  demo: its data ends with it; nothing leaves this machine"
    yield ""
    yield from _places(server)
    yield f"Demo key    {demo.key}"
    yield f'            workspace "demo", plan {demo.plan}, all scopes, expires in 24 h'
    yield ""
    yield "Try:"
    yield f"  export SVC_KEY={demo.key} SVC_SERVER={shlex.quote(server.admin)}"
    for target in (
        f"{BASE_V1}/reports?limit=3",
        f"{BASE_V1}/reports/{demo.report_id}?format=markdown",
        f"{BASE_V1}/news?topics=cybersecurity&limit=3",
        f"{BASE_V2}/changes?limit=3",
        f"{BASE_V2}/ledger/subjects/{demo.subject.subject_id}",
    ):
        yield f"  curl -s -H 'Authorization: Bearer {demo.key}' '{origin}{target}'"
    if "speech" not in missing_providers(server.settings):
        audio = f"{origin}{BASE_V1}/reports/{demo.report_id}/audio?redirect=true"
        # It is being spoken while this is read, so the first answer may be that there is none.
        patient = "curl -sfL --retry 5 --retry-all-errors"
        yield f"  {patient} -H 'Authorization: Bearer {demo.key}' '{audio}' -o report.mp3"
    program = _program()
    yield f'  {program} ask "Which vulnerabilities are exploited?" --server {server.admin}'
    yield f"  {program} reports list --server {server.admin}"
    yield f"  {program} ledger fold {demo.subject.subject_id} --server {server.admin}"
    yield ""
    yield (
        f"Seeded {demo.profiles} profiles, {demo.reports} reports, {demo.items} news items "
        f"from {demo.sources} sources and a ledger of {demo.subject.records} records."
    )
    if server.settings.x402_pay_to is None:
        yield f"Requests can be paid for as well, without a key: {ethereum.CURE}"
    else:
        yield "Requests without a key can be paid for, in play money: docs/payments.md"
    yield "Ctrl-C to stop. For real use: svc serve"
