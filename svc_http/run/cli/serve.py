"""`svc serve`: every setting is a flag, read from the one place that declares it."""

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
from svc_core.wire.constraints import Doc
from svc_http import mcp, settings
from svc_http.outside.facilitators import ethereum, x402
from svc_http.run.cli.failures import REFUSED, Usage, tell
from svc_http.run.cli.options import load, parameter
from svc_http.run.demo.seed import Seeded
from svc_http.run.server import launch, processes
from svc_http.run.server.launch import Opened
from svc_http.service.equipment import gaps
from svc_http.settings import MEMBERS
from svc_http.version import service_version

OTHER_NAMES = {"rate_limits": ("--no-rate-limits", "--no-rate-limit")}
"""How a switch is turned off, where that is not `--no-` and its name alone."""


def serve(**options: Any) -> int:
    """Run the server until Ctrl-C or SIGTERM; with --demo on a store of its own."""
    flags = {name: value for name, value in options.items() if name in MEMBERS}
    config, demo = options.get("config"), options.get("demo", False)
    if demo and "db" in flags:
        raise Usage("the demo has a database of its own; leave --db out, or --demo")

    def ready(opened: Opened) -> None:
        _announce(opened, as_json=options.get("json", False))
        if options.get("open_", False):
            docs = addresses(opened)["docs"]
            asyncio.get_running_loop().run_in_executor(None, webbrowser.open, docs)

    try:
        if demo:  # a settings file is for the real service: the demo takes one only by name
            launch.run_demo(settings.load(os.environ, config, flags), ready)
            return 0
        chosen = load(config, flags)
        if chosen.processes is not None:
            return processes.run(chosen, config, flags, ready) or 0
        launch.run(chosen, ready, lambda: load(config, flags))
    except processes.Failed as failed:
        return tell(f"the server cannot start: {failed}", REFUSED)
    except OSError as refused:
        return tell(f"the server cannot start: {refused.strerror or refused}", REFUSED)
    return 0


# -- the flags ---------------------------------------------------------------------------------


_OPEN = [name for name, member in MEMBERS.items() if not member.metadata["secret"]]
"""The settings that may stand on a command line, which other users can read: no secrets."""


def _own() -> Iterator[inspect.Parameter]:
    yield _says("demo", bool, "Run a demo on this machine, with a store of its own.")
    yield _says("open_", bool, "Open the documentation in a browser.", name="--open")
    yield _says("json", bool, "Print one line of JSON with the addresses and nothing else.")
    yield _says("config", str, "The settings file. Also SVC_CONFIG; default svc.toml.")


def _says(key: str, kind: type, text: str, **more: Any) -> inspect.Parameter:
    return parameter(
        key, kind, Parameter(help=text, show_default=False, **{"negative": (), **more})
    )


def _flag(name: str) -> inspect.Parameter:
    member = MEMBERS[name]
    doc: Doc = member.metadata["doc"]
    text = f"{doc.text} Also SVC_{name.upper()}."
    if not isinstance(member.default, bool):
        return _says(name, str, f"{text} Example: {member.metadata['example']}")
    off = OTHER_NAMES.get(name, (f"--no-{name.replace('_', '-')}",))
    return _says(name, bool, text, negative=off)


serve.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [*_own(), *map(_flag, _OPEN)], return_annotation=int
)


# -- what is printed ---------------------------------------------------------------------------


def addresses(opened: Opened) -> dict[str, Any]:
    """Where everything is, for programs; `admin` is what SVC_SERVER takes."""
    settings, origin = opened.settings, opened.settings.origin
    places: dict[str, Any] = {
        "api": origin + BASE_V1,
        "v2": origin + BASE_V2,
        "docs": f"{origin}/docs",
        "dashboard": f"{origin}/",
        "mcp": f"{origin}{mcp.PATH}",
        "admin": opened.admin,
    }
    if settings.x402_pay_to is not None:
        places["x402"] = {
            "network": settings.payment_network,
            "payTo": settings.x402_pay_to,
            "facilitator": x402.address(settings),
        }
    return places if opened.seeded is None else places | {"key": opened.seeded.key}


def _announce(opened: Opened, *, as_json: bool) -> None:
    lines = _demo_lines(opened, opened.seeded) if opened.seeded else _lines(opened)
    block = "\n".join(("", *(f"  {line}".rstrip() for line in lines)))
    sys.stdout.write(f"{json.dumps(addresses(opened)) if as_json else block}\n")
    sys.stdout.flush()


def _program() -> str:
    """How a shell calls this program again: an environment that is not active has no `svc`."""
    if shutil.which("svc"):
        return "svc"
    program = Path(sys.argv[0])
    return str(program) if program.name == "svc" else shlex.join([sys.executable, "-m", "svc_http"])


def _places(opened: Opened) -> Iterator[str]:
    origin = opened.settings.origin
    yield f"API         {origin}{BASE_V1}   (v2: {origin}{BASE_V2})"
    yield f"Docs        {origin}/docs   (OpenAPI: /openapi.json, for SDK tools: /openapi.flat.json)"
    yield f"MCP         {origin}{mcp.PATH}   (over stdio: svc mcp)"
    settings = opened.settings
    for name, why in gaps(settings).items():
        yield f"Off         {name}: {why}"
    if settings.x402_pay_to is not None:
        yield f"Payments    {settings.payment_network} to {settings.x402_pay_to}"
        yield f"            facilitator {x402.address(settings)}"


def _lines(opened: Opened) -> Iterator[str]:
    settings = opened.settings
    yield f"svc {service_version()}  {settings.env}, database {settings.shown_db}"
    yield ""
    yield from _places(opened)
    yield f"Admin       {opened.admin}"
    if opened.is_empty:
        server_flag = "" if settings.db == "svc.db" else f" --server {opened.admin}"
        yield ""
        yield "There is no workspace yet. Make one, and a key for it:"
        yield f"  svc workspaces create --name NAME --plan elite{server_flag}"
        yield f"  svc keys create --name NAME{server_flag}"
    yield ""
    yield "Ctrl-C to stop."


def _demo_lines(opened: Opened, seeded: Seeded) -> Iterator[str]:
    origin = opened.settings.origin
    yield f"svc {service_version()}  demo: its data ends with it; nothing leaves this machine"
    yield ""
    yield from _places(opened)
    yield f"Demo key    {seeded.key}"
    yield f'            workspace "demo", plan {seeded.plan}, all scopes, expires in 24 h'
    yield ""
    yield "Try:"
    yield f"  export SVC_KEY={seeded.key} SVC_SERVER={shlex.quote(opened.admin)}"
    for target in (
        f"{BASE_V1}/reports?limit=3",
        f"{BASE_V1}/reports/{seeded.report_id}?format=markdown",
        f"{BASE_V1}/news?topics=cybersecurity&limit=3",
        f"{BASE_V2}/changes?limit=3",
        f"{BASE_V2}/ledger/subjects/{seeded.subject.subject_id}",
    ):
        yield f"  curl -s -H 'Authorization: Bearer {seeded.key}' '{origin}{target}'"
    if "speech" not in gaps(opened.settings):
        audio = f"{origin}{BASE_V1}/reports/{seeded.report_id}/audio?redirect=true"
        # It is being spoken while this is read, so the first answer may be that there is none.
        patient = "curl -sfL --retry 5 --retry-all-errors"
        yield f"  {patient} -H 'Authorization: Bearer {seeded.key}' '{audio}' -o report.mp3"
    program = _program()
    yield f'  {program} ask "Which vulnerabilities are exploited?" --server {opened.admin}'
    yield f"  {program} reports list --server {opened.admin}"
    yield f"  {program} ledger fold {seeded.subject.subject_id} --server {opened.admin}"
    yield ""
    yield (
        f"Seeded {seeded.profiles} profiles, {seeded.reports} reports, {seeded.items} news items "
        f"from {seeded.sources} sources and a ledger of {seeded.subject.records} records."
    )
    if opened.settings.x402_pay_to is None:
        yield f"Requests can be paid for as well, without a key: {ethereum.CURE}"
    else:
        yield "Requests without a key can be paid for, in play money: docs/payments.md"
    yield "Ctrl-C to stop. For real use: svc serve"
