"""What `svc serve` prints once the server answers: the addresses, and what to do first.

Rule 1: what a person does next comes first; each secret stands once.
Rule 2: what is off says why, and how to switch it on.
"""

import json
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from svc_core.access.limits import AGENT_KEY_RATE
from svc_core.operation.ports import BASE_V1, BASE_V2
from svc_http import mcp
from svc_http.dashboard import security
from svc_http.exchange.http_exchange import DASHBOARD
from svc_http.outside.facilitators import x402
from svc_http.run.demo.seed import SeededDemo
from svc_http.run.server.launch import StartedServer
from svc_http.service.equipment import missing_providers
from svc_http.version import service_version


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


def print_banner(server: StartedServer, *, as_json: bool) -> None:
    """Print where a server that is ready is found: for people, or one line of JSON."""
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
    if settings.x402_pay_to is not None:
        play = "play money, " if server.demo else ""
        yield f"Payments    {play}{settings.payment_network} to {settings.x402_pay_to}"
        yield f"            facilitator {x402.facilitator_address(settings)}"
    for name, why in missing_providers(settings).items():
        yield f"{name.capitalize().ljust(11)} off: {why}"


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
    program, settings = _program(), server.settings
    reports = f"{settings.origin}{BASE_V1}/reports"
    yield f"Sign in     {demo.sign_in}"
    yield f"Read        {demo.report_url}"
    yield ""
    yield "Try, in a second terminal in this folder:"
    yield f"  export SVC_SERVER={shlex.quote(server.admin)}"
    yield f"  export SVC_KEY={demo.key}"
    yield f'  {program} ask "Which vulnerabilities are exploited?"'
    yield f"  {program} ledger fold {demo.subject.subject_id}"
    yield f"  curl -s -H \"Authorization: Bearer $SVC_KEY\" '{reports}?limit=3'"
    yield ""
    yield f"svc {service_version()}  demo: its data ends with it; nothing leaves this machine"
    yield ""
    yield from _places(server)
    yield f'Key         of workspace "demo": plan {demo.plan}, all scopes, expires in 24 h'
    yield f"            {AGENT_KEY_RATE.per_minute} questions a minute at the chat endpoint"
    yield ""
    yield f"The link signs in once; for a link that sets a password: {program} users link demo"
    yield "Ctrl-C to stop. For real use: svc serve"
