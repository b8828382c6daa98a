"""`svc webhooks listen`: receives, checks and forwards webhook deliveries on this machine.

Rule 1: every delivery is checked as a receiver has to check it, before anything is believed.
Rule 2: what is passed on is passed on byte for byte, with its fields; the answer that comes back
        is the one that the sender gets.
Rule 3: the webhook is there only while this runs.
"""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Annotated, Any

from cyclopts import Parameter

from svc_core.webhooks.signing import (
    SECRET_BYTES,
    SignatureError,
    secret_key,
    secret_text,
    verify_delivery,
)
from svc_http import system
from svc_http.run.cli import show
from svc_http.run.cli.exit_codes import UsageError
from svc_http.run.cli.operation_calls import call, perform_operation, server_address
from svc_http.run.cli.options import COMMON, Common, Workspace
from svc_http.run.control import channel
from svc_http.system import sigterm_interrupts

BODY_BYTES_MAX = 1024 * 1024
"""Of one delivery; an event has a few kilobytes."""
FORWARD_SECONDS = 9.0
"""How long whoever it is passed on to may take: a little less than the sender waits."""

_OWN = frozenset({"host", "connection", "content-length", "transfer-encoding"})
"""Fields about the connection, which is another one from here on."""


def listen_command(
    *,
    forward_to: Annotated[
        str | None,
        Parameter(name="--forward-to", help="Where to forward each delivery, unchanged."),
    ] = None,
    secret: Annotated[
        str | None, Parameter(help="The signing secret, whsec_... Default: a new one.")
    ] = None,
    port: Annotated[int, Parameter(help="The port to listen on; 0 picks a free one.")] = 0,
    count: Annotated[
        int | None, Parameter(help="Stop after this many deliveries. Default: never.")
    ] = None,
    workspace: Workspace = None,
    common: Common = COMMON,
) -> None:
    """Receive deliveries on this machine: verify, print and forward them.

    For development: while it runs, a webhook is registered with a server on this machine that is
    not in production.
    """
    if forward_to is not None and not forward_to.startswith(("http://", "https://")):
        raise UsageError("--forward-to must begin with http:// or https://")
    server = common.named_server()
    path = (
        channel.parse_socket_address(server)
        if server
        else channel.socket_path(common.settings().file)
    )
    if server_address(path) is None:
        raise channel.Unreachable("no server runs that could deliver; start it: svc serve")
    try:
        receiver = _Receiver(port, forward_to, as_json=common.json)
    except OSError as error:
        raise UsageError(f"--port {port} cannot be listened on: {error.strerror}") from error
    except OverflowError as beyond:
        raise UsageError(f"--port {port}: must be 0 to 65535") from beyond
    with receiver, sigterm_interrupts():
        url = f"http://127.0.0.1:{receiver.server_port}/"
        key_text = secret or secret_text(system.SystemIds().random(SECRET_BYTES))
        body = {"url": url, "description": "svc webhooks listen", "secret": key_text}
        webhook = call(common, "createWebhook", option="secret", body=body, account=workspace)
        try:
            receiver.key = secret_key(key_text)
            if common.json:
                show.as_json({"id": webhook["id"], "url": url, "secret": key_text})
            else:
                own = "" if secret else f"\nDeliveries are signed by {key_text}."
                show.print_lines(f"Listening as {webhook['id']}; Ctrl-C ends it.{own}")
            sys.stdout.flush()
            while count is None or receiver.received < count:
                receiver.handle_request()
        finally:
            perform_operation(
                common, "deleteWebhook", path={"webhookId": webhook["id"]}, account=workspace
            )


class _Receiver(HTTPServer):
    """Takes one delivery after the other; `key` is what they are signed by."""

    def __init__(self, port: int, forward_to: str | None, *, as_json: bool) -> None:
        import httpx2  # noqa: PLC0415 - help is shown without it

        self.received = 0
        self.key = b""
        self._forward_to = forward_to
        self._as_json = as_json
        self._client = httpx2.Client(trust_env=False, timeout=FORWARD_SECONDS)
        self._failed = httpx2.HTTPError, httpx2.InvalidURL
        super().__init__(("127.0.0.1", port), _Handler)  # which closes what could not be bound

    def server_close(self) -> None:
        """Close the socket, and the connections of whatever it is passed on to."""
        self._client.close()
        super().server_close()

    def receive(self, fields: dict[str, str], body: bytes) -> int:
        """Check one delivery, pass it on and print it; the status to answer with."""
        self.received += 1
        try:
            verify_delivery(
                {name.lower(): text for name, text in fields.items()}, body, self.key, system.now()
            )
        except SignatureError as error:
            self._tell(fields, 401, str(error))
            return 401
        status = self._forward(fields, body)
        self._tell(fields, status, None)
        return status

    def _forward(self, fields: dict[str, str], body: bytes) -> int:
        if self._forward_to is None:
            return 204
        headers = {name: text for name, text in fields.items() if name.lower() not in _OWN}
        try:
            answer = self._client.post(self._forward_to, content=body, headers=headers)
        except self._failed:
            return 502
        return answer.status_code

    def _tell(self, fields: dict[str, str], status: int, reason: str | None) -> None:
        line = {
            "at": fields.get("X-Svc-Timestamp"),
            "eventId": fields.get("X-Svc-Event-Id"),
            "attempt": fields.get("X-Svc-Attempt"),
            "signature": reason or "ok",
            "status": status,
        }
        if self._as_json:
            show.as_json(line)
        else:
            show.print_lines("  ".join(str(text) for text in line.values() if text is not None))
        sys.stdout.flush()


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    server: _Receiver
    timeout = 10.0

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > BODY_BYTES_MAX:
            self._answer(413)
            return
        self._answer(self.server.receive(dict(self.headers.items()), self.rfile.read(int(length))))

    def _answer(self, status: int) -> None:
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: each delivery has its line."""
