"""`svc webhooks`: registered, tried, received here; and a server that is killed loses no event."""

import contextlib
import json
import signal
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx2
import pytest
import standardwebhooks

from svc_core.webhooks.signing import secret_key
from tests import plain_http
from tests.nursery import DEVNULL, Child

SECRET = "whsec_" + "QUFB" * 8


class Sink:
    """A receiver on this machine that takes whatever comes and notes it."""

    def __init__(self) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.status = 200
        sink = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                body = self.rfile.read(length)
                if len(body) < length:
                    return  # the sender was killed in the middle: nothing was received
                sink.got.append((dict(self.headers.items()), body))
                self.send_response(sink.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

            def handle(self) -> None:
                with contextlib.suppress(OSError):  # the sender was killed
                    super().handle()

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True
            request_queue_size = 128

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()

    @property
    def ids(self) -> set[str]:
        return {fields["webhook-id"] for fields, _ in tuple(self.got)}

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def sink() -> Iterator[Sink]:
    server = Sink()
    yield server
    server.close()


def until(is_so: Callable[[], object], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it did not come to be"
        time.sleep(0.02)


# -- commands ----------------------------------------------------------------------------------


def test_a_secret_is_shown_where_it_was_made_here_and_no_other(svc: Callable[..., Any]) -> None:
    assert svc("keys", "create", "--name", "a").code == 0
    webhook = svc("webhooks", "create", "http://127.0.0.1:9/", "--description", "Desk")
    assert (webhook.out.count("whsec_"), "not shown again" in webhook.out) == (1, True)
    (id_,) = (row["id"] for row in svc("webhooks", "list", "--json").json)
    rotation = svc("webhooks", "rotate-secret", id_, "--json").json["secret"]
    assert (len(secret_key(rotation)), rotation in webhook.out) == (32, False)
    own = svc("webhooks", "rotate-secret", id_, "--secret", SECRET)
    assert (own.code, "whsec_" in own.out, "shown again" in own.out) == (0, False, False)
    early = svc(
        "webhooks", "redeliver", id_, svc("webhooks", "test", id_, "--json").json["eventId"]
    )
    assert (early.code, "has not ended" in early.err) == (1, True)


REFUSALS = [
    (("create", "http://169.254.169.254/"), 1, "URL: must begin with https://"),
    (("create", "http://127.0.0.1:9/", "--secret", "abc"), 1, "--secret:"),
    (("create", "http://127.0.0.1:9/", "--profile-id", "x"), 1, "--profile-id:"),
    (("trigger",), 1, "svc reports generate"),
    (("listen",), 3, "svc serve"),
    (("listen", "--forward-to", "127.0.0.1:3000"), 2, "must begin with http:// or https://"),
]


def test_what_cannot_be_done_is_said_in_a_line(svc: Callable[..., Any]) -> None:
    svc("keys", "create", "--name", "a")
    for line, code, words in REFUSALS:
        refusal = svc("webhooks", *line)
        assert (refusal.code, words in refusal.err, refusal.err.count("\n")) == (code, True, 1)


def test_a_report_is_told_of_when_somebody_asks(svc: Callable[..., Any]) -> None:
    svc("keys", "create", "--name", "a")
    wish = ("--name", "P", "--topic", "Ports", "--frequency", "manual", "--json")
    profile = svc("profiles", "create", *wish).json
    report = svc("reports", "generate", profile["id"], "--json").json
    assert svc("webhooks", "trigger", "--json").json["deliveries"] == []
    webhook = svc("webhooks", "create", "http://127.0.0.1:9/", "--json").json
    for line in ((), (report["id"],)):
        output = svc("webhooks", "trigger", *line, "--json").json
        assert output["reportId"] == report["id"]
        assert [row["webhookId"] for row in output["deliveries"]] == [webhook["id"]]
    kinds = {
        row["eventType"] for row in svc("webhooks", "deliveries", webhook["id"], "--json").json
    }
    assert kinds == {"dev.svc.report.generated.v1"}


# -- listening ---------------------------------------------------------------------------------


def test_deliveries_are_received_checked_and_passed_on(
    tmp_path: Path,
    serving: Callable[..., Any],
    svc_in: Callable[..., Any],
    environment: Callable[..., dict[str, str]],
    sink: Sink,
) -> None:
    with serving("--db", "svc.db", "--port", 0, cwd=tmp_path) as running:
        svc_in("keys", "create", "--name", "a", cwd=tmp_path)
        admin = running.addresses["admin"]
        for options, words in (("--secret", "--secret: must be"), ("--port", "must be 0 to 65535")):
            ran = svc_in("webhooks", "listen", options, "99999", "--server", admin, cwd=tmp_path)
            assert (ran.code in {1, 2}, words in ran.err, ran.err.count("\n")) == (True, True, 1)
        listening = Child(
            *("webhooks", "listen", "--json", "--server", admin),
            *("--forward-to", sink.url, "--secret", SECRET),
            cwd=tmp_path,
            env=environment(),
            stderr=DEVNULL,
        )
        start = json.loads(listening.stdout.readline())
        assert start["secret"] == SECRET
        requests = svc_in("webhooks", "test", start["id"], "--json", cwd=tmp_path).json
        line = json.loads(listening.stdout.readline())
        assert (line["eventId"], line["signature"], line["status"]) == (
            requests["eventId"],
            "ok",
            200,
        )
        [(fields, body)] = sink.got
        standardwebhooks.Webhook(SECRET).verify(body, {n.lower(): v for n, v in fields.items()})

        forgery = httpx2.post(
            start["url"], content=b"{}", headers={"webhook-id": "x"}, trust_env=False, timeout=60
        )
        assert forgery.status_code == 401
        assert json.loads(listening.stdout.readline())["signature"] != "ok"
        assert (
            httpx2.post(start["url"], content=_endless(), trust_env=False, timeout=60).status_code
            == 413
        )

        sink.status = 500
        svc_in("webhooks", "test", start["id"], cwd=tmp_path)
        assert json.loads(listening.stdout.readline())["status"] == 500
        assert len(sink.got) == 2

        listening.send_signal(signal.SIGTERM)
        assert listening.wait(60) == 130
        listening.stdout.close()
        assert svc_in("webhooks", "list", "--json", cwd=tmp_path).json == []


def _endless() -> Iterator[bytes]:
    """A body without a length, more of which is on its way than anybody reads."""
    for _ in range(40):
        yield b"a" * 16_384


# -- a server that is killed -------------------------------------------------------------------


class Asking(threading.Thread):
    """Asks for test events until the server is gone; notes those that were acknowledged."""

    def __init__(self, url: str, key: str) -> None:
        super().__init__()
        self.url, self.key = url, key
        self.acknowledged: list[str] = []
        self.begun = threading.Event()

    def run(self) -> None:
        with plain_http.client() as client:
            while True:
                try:
                    answer = client.post(self.url, headers={"authorization": f"Bearer {self.key}"})
                except httpx2.HTTPError:
                    return
                if answer.status_code == 201:
                    self.acknowledged.append(answer.json()["data"]["eventId"])
                    self.begun.set()


HOLDS = """
from datetime import timedelta
from svc_core.webhooks import rules
rules.HOLD = timedelta(days=1)  # so that only the next server can give back what one held
"""


@pytest.fixture
def spawn_server(cwd: Path, environment: Callable[..., dict[str, str]]) -> Callable[..., Any]:
    """Makes servers that are killed at the end; the address of each."""

    @contextlib.contextmanager
    def server() -> Iterator[str]:
        env = environment(SVC_RATE_LIMITS="false", SVC_REQUEST_LOG="errors")
        line = ("serve", "--json", "--db", "svc.db", "--port", "0")
        with Child(*line, cwd=cwd, env=env, stderr=DEVNULL, first=HOLDS) as child:
            try:
                yield str(json.loads(child.stdout.readline())["api"])
            finally:
                child.kill()

    return server


@pytest.mark.parametrize("times", [4, pytest.param(300, marks=pytest.mark.soak)])
def test_an_event_that_was_acknowledged_outlives_every_server_that_is_killed(
    spawn_server: Callable[..., Any], svc: Callable[..., Any], sink: Sink, times: int
) -> None:
    acks: set[str] = set()

    def is_complete() -> bool:
        return acks <= sink.ids

    key = svc("keys", "create", "--name", "a", "--json").json["key"]
    webhook = svc("webhooks", "create", sink.url, "--json").json["id"]
    for number in range(times):
        with spawn_server() as address:
            url = f"{address}/webhooks/{webhook}/test"
            asking = [Asking(url, key) for _ in range(3)]
            for row in asking:
                row.start()
            until(asking[0].begun.is_set)
            # Another moment each time: between the first event and a few hundred of them.
            time.sleep(0.04 * (number % 7))
        for row in asking:
            row.join(60)
            assert not row.is_alive()
            acks.update(row.acknowledged)
    with spawn_server():
        # What was under way when its server was killed is sent again by the one after it, and
        # what was queued behind it follows: as long as events come, there are more.
        while not is_complete():
            count = len(sink.ids)
            until(lambda count=count: is_complete() or len(sink.ids) > count)
    assert acks
    assert is_complete()
    for fields, body in sink.got:
        report = json.loads(body)
        assert report["id"] == fields["webhook-id"]
    bodies = {(fields["webhook-id"], body) for fields, body in sink.got}
    assert len(bodies) == len(sink.ids)  # one event, one body, however often it was sent
