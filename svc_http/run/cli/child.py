"""The entry point of one child process of `svc serve --processes`, which its parent starts."""

import json
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Mapping
from typing import Any, Final

from svc_http.run.cli import exit_codes as failures
from svc_http.run.cli.options import load_settings
from svc_http.run.server import launch
from svc_http.run.server.launch import StartedServer

END_SECONDS: Final = 90.0
"""How long a process may take to end whose parent is gone; then it is killed."""


def child_main(*, config: str | None, flags: Mapping[str, Any], fd: int, number: int) -> int:
    """Serve on the socket `fd` until a signal, or until the parent is gone; the exit code."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # it is for the parent
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        settings = load_settings(config, dict(flags))
        with socket.socket(fileno=fd) as listening:
            listening.set_inheritable(False)  # it came as one that is handed on
            launch.run_one_of(settings, listening, number, _ready)
    except Exception as failure:
        code = failures.failure_code(failure, as_json=False)
        return failures.defect(failure) if code is None else code
    return 0


def _ready(server: StartedServer) -> None:
    line = {"admin": server.admin, "isEmpty": server.is_empty, "signIn": server.sign_in}
    sys.stdout.write(f"{json.dumps(line)}\n")
    sys.stdout.flush()


def _end_with_parent() -> None:
    """End once the parent is gone, which closes our stdin; in a thread, as the loop may hang."""
    select.select([sys.stdin], [], [])
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(END_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)
