"""`svc ask` and `svc mcp`: answers at the terminal, and tools for a client that starts us."""

import asyncio
import json
import os
import pty
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

from svc_core.catalog.tools import TOOLS
from svc_http.extras import install_line
from svc_http.run.cli import ask_commands as command
from tests import nursery
from tests.nursery import DEVNULL, PIPE, Child

KEY = f"svc_{'a' * 64}"
NAMES = [tool.name for tool in TOOLS]


def frame(**chunk: Any) -> bytes:
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


HEAD = b": stream-open\n\n" + frame(
    type="start", messageId="msg_1", messageMetadata={"threadId": "thr_1"}
)
SOURCE = frame(
    type="source-url",
    sourceId="src_1",
    title="Gates reopen\x1b[2J",
    url="https://here.example/inc_1",
    providerMetadata={"svc": {"id": "inc_1"}},
)
RECORD = frame(
    type="source-document", sourceId="src_2", title="The ledger", mediaType="application/json"
)
WORDS = [
    frame(type="text-delta", id="txt_1", delta=part)
    for part in ("Gates \x1b]0;x ", "reopened [", "1]", "; so [2] and [9].")
]
END = frame(type="finish", finishReason="stop", messageMetadata={"usage": {"totalTokens": 4}})
WHOLE = [HEAD, SOURCE, RECORD, *WORDS, END, b"data: [DONE]\n\n"]
TEXT = "Gates \x1b]0;x reopened [1]; so [2] and [9]."
PAGE = "Gates \N{REPLACEMENT CHARACTER}]0;x reopened [1]; so [2] and [9]."


class CannedServer(ThreadingHTTPServer):
    """A server that answers every POST with these frames, then ends or hangs."""

    daemon_threads = True

    def __init__(self, frames: list[bytes], status: int = 200, *, hangs: bool = False) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.frames, self.status, self.hangs = frames, status, hangs
        self.requests: list[tuple[str, str | None, Any]] = []
        self.left = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: CannedServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, self.headers["Authorization"], body))
        self.send_response(self.server.status)
        self.end_headers()
        for part in self.server.frames:
            self.wfile.write(part)
            self.wfile.flush()
        if self.server.hangs:
            self.rfile.read(1)  # until the client has left
            self.server.left.set()

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@contextmanager
def canned_server(frames: list[bytes], status: int = 200, **how: Any) -> Iterator[CannedServer]:
    with CannedServer(frames, status, **how) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def key_svc(svc: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Command lines with a key in their environment."""
    monkeypatch.setenv("SVC_KEY", KEY)
    return svc


# -- what is printed ---------------------------------------------------------------------------


def test_an_answer_is_printed_with_its_sources_by_number(key_svc: Any) -> None:
    with canned_server(WHOLE) as server:
        ran = key_svc("ask", "What reopened?", "--url", server.url, "--thread", "thr_1")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        f"{PAGE}\n\nSources\n[1] Gates reopen\N{REPLACEMENT CHARACTER}[2J\n"
        "    https://here.example/inc_1\n[2] The ledger\n"
    )
    message = {
        "id": "msg_1",
        "role": "user",
        "parts": [{"type": "text", "text": "What reopened?"}],
    }
    requests = {"messages": [message], "threadId": "thr_1"}
    assert server.requests == [("/api/v1/agent-svc/chat/stream", f"Bearer {KEY}", requests)]


@pytest.mark.parametrize("message", ["/", "/api/v1", "/api/v2/", "/mcp"])
def test_an_answer_is_one_json_value(key_svc: Any, message: str) -> None:
    """Whichever of its addresses a server is called by."""
    with canned_server(WHOLE) as server:
        ran = key_svc("ask", "What reopened?", "--url", f"{server.url}{message}", "--json")
    assert (ran.code, ran.err, server.requests[0][0]) == (0, "", command.PATH)
    assert ran.json == {
        "question": "What reopened?",
        "answer": TEXT,
        "sources": [
            {
                "number": 1,
                "id": "inc_1",
                "title": "Gates reopen\x1b[2J",
                "url": "https://here.example/inc_1",
            },
            {"number": 2, "id": None, "title": "The ledger", "url": None},
        ],
        "threadId": "thr_1",
        "usage": {"totalTokens": 4},
    }


def test_frames_may_be_cut_anywhere(key_svc: Any) -> None:
    whole = b"".join(WHOLE)
    for size in (1, 7, 64):
        answer = command.AgentAnswer(lambda *_: None)
        text = whole.decode()
        for at in range(0, len(text), size):
            answer.take(text[at : at + size])
        assert (answer.text, answer.is_whole, len(answer.sources)) == (TEXT, True, 2)


def at_terminal(*arguments: str, **env: str) -> tuple[int, str]:
    """The exit code, and what a terminal was sent."""
    own, child_end = pty.openpty()
    child = {"cwd": Path("/"), "env": nursery.environment(TERM="xterm-256color", **env)}
    done = Child(*arguments, **child, stdout=child_end, stderr=DEVNULL)
    os.close(child_end)
    seen = b""
    while True:
        try:
            read = os.read(own, 65_536)
        except OSError:  # the last who could write has gone
            break
        if not read:
            break
        seen += read
    os.close(own)
    return done.wait(60), seen.decode()


def test_at_a_terminal_marks_are_links() -> None:
    with canned_server(WHOLE) as server:
        code, seen = at_terminal("ask", "What?", "--url", server.url, SVC_KEY=KEY)
    assert code == 0
    link = r"\x1b\]8;id=\d+;https://here\.example/inc_1\x1b\\\x1b\[1m\[1\]\x1b\[0m\x1b\]8;;\x1b\\"
    assert re.search(f"reopened {link}; so ", seen), seen
    assert seen.count("\x1b]8;id=") == 1
    assert "\x1b]0;" not in seen
    assert "\x1b[2J" not in seen


# -- what goes wrong ---------------------------------------------------------------------------


PROBLEM = {
    "type": "https://x.example/problems/chat-credits-exhausted",
    "title": "Chat credits exhausted",
    "status": 402,
    "detail": "All 3 of 2026-01 are used or under way; they are renewed on 2026-02-01 (UTC).",
    "instance": "urn:request:req_1",
    "code": "CHAT_CREDITS_EXHAUSTED",
    "requestId": "req_1",
    "resolution": "Add credits or wait for renewal.",
}


@pytest.mark.parametrize("as_json", [False, True])
def test_a_refusal_is_told_with_its_way_out(key_svc: Any, as_json: bool) -> None:
    with canned_server([json.dumps(PROBLEM).encode()], 402) as server:
        ran = key_svc("ask", "What?", "--url", server.url, *(["--json"] if as_json else []))
    assert ran.code == 1
    assert "renewed on 2026-02-01" in ran.err
    if as_json:
        assert ran.json == PROBLEM


@pytest.mark.parametrize(
    ("frames", "message"),
    [
        ([HEAD, *WORDS], "the answer ended short; ask again"),
        ([HEAD, frame(type="error", errorText="It broke\x1b. (UPSTREAM_ERROR)")],
         "It broke\N{REPLACEMENT CHARACTER}. (UPSTREAM_ERROR)"),
    ],
)  # fmt: skip
def test_an_answer_that_ended_short_is_no_success(
    key_svc: Any, frames: list[bytes], message: str
) -> None:
    with canned_server(frames) as server:
        ran = key_svc("ask", "What?", "--url", server.url)
        told_json = key_svc("ask", "What?", "--url", server.url, "--json")
    assert (ran.code, ran.err) == (1, f"svc: {message}\n")
    assert told_json.code == 1
    assert "error" in told_json.json


@pytest.mark.parametrize(
    ("body", "status"), [(b"<html>", 502), (b"[]", 500), (b"{}", 404), (b'{"detail":"x"}', 404)]
)
def test_who_does_not_answer_as_a_server_of_ours_is_none(
    key_svc: Any, body: bytes, status: int
) -> None:
    with canned_server([body], status) as server:
        ran = key_svc("ask", "What?", "--url", server.url)
    assert ran.code == 3
    assert f"answers {status}" in ran.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("ask",), 2, "QUESTION"),
        (("ask", "  "), 2, "there is no question"),
        (("ask", "What?", "--url", "http://127.0.0.1:1"), 3, "no server answers at"),
        (("ask", "What?", "--url", "nonsense"), 2, "--url nonsense"),
        (("ask", "What?", "--server", "unix:/nowhere"), 3, "no server answers at"),
        (("ask", "What?", "--db", "missing.db"), 1, "there is no database"),
    ],
)
def test_what_cannot_be_asked_has_its_exit_code(
    key_svc: Any, arguments: tuple[str, ...], code: int, message: str
) -> None:
    ran = key_svc(*arguments)
    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("name", ["ask", "mcp"])
def test_an_address_needs_a_key(svc: Any, name: str) -> None:
    words = ["What?"] if name == "ask" else []
    ran = svc(name, *words, "--url", "http://127.0.0.1:1")
    assert (ran.code, ran.err) == (2, "svc: --url needs a key; set SVC_KEY\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_answer(
    number: int, environment: Callable[..., Any], tmp_path: Path
) -> None:
    with canned_server([HEAD, *WORDS[:1]], hangs=True) as server:
        line = ("ask", "What?", "--url", server.url)
        asking = Child(*line, cwd=tmp_path, env=environment(SVC_KEY=KEY), stderr=DEVNULL)
        assert asking.stdout.read(5) == "Gates"
        asking.send_signal(number)
        assert asking.wait(30) == 130
        assert server.left.wait(30)
        asking.stdout.close()


# -- a whole service ---------------------------------------------------------------------------

QUESTION = "Which vulnerabilities are exploited?"


def test_the_operator_of_this_machine_asks_for_a_workspace(
    demo: Any, svc_in: Callable[..., Any], tmp_path: Path
) -> None:
    admin = demo.addresses["admin"]
    ran = svc_in("ask", QUESTION, "--json", "--workspace", "demo", cwd=tmp_path, SVC_SERVER=admin)
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["answer"]
    assert ran.json["threadId"].startswith("thr_")
    [home] = svc_in("workspaces", "list", "--json", cwd=tmp_path, SVC_SERVER=admin).json
    credits = svc_in("credits", "show", home["id"], "--json", cwd=tmp_path, SVC_SERVER=admin).json
    assert credits["used"] >= 1
    assert credits["used"] + credits["left"] == credits["granted"] == 5_000


@pytest.mark.parametrize("way", ["socket", "http"])
def test_whoever_reads_an_answer_may_leave(
    demo: Any, environment: Callable[..., Any], tmp_path: Path, way: str
) -> None:
    at = demo.addresses
    url = at["api"].removesuffix("/api/v1")
    line = ["--server", at["admin"], "--workspace", "demo"] if way == "socket" else ["--url", url]
    env = environment(SVC_KEY=at["key"])
    with Child("ask", QUESTION, *line, cwd=tmp_path, env=env) as asking:
        asking.stdout.close()
        assert (asking.stderr.read(), asking.wait(60)) == ("", 1)


def test_a_key_asks_a_server_elsewhere(demo: Any, svc_in: Any, tmp_path: Path) -> None:
    url = demo.addresses["api"].removesuffix("/api/v1")
    ran = svc_in("ask", QUESTION, "--url", url, cwd=tmp_path, SVC_KEY=demo.addresses["key"])
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.strip()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program that does what `svc` does."""
    path = tmp_path_factory.mktemp("program") / "svc"
    nursery.NURSERY.write_command(path)
    return str(path)


def tools_of(
    program: str, calls: list[tuple[str, dict[str, Any]]], *arguments: str, **env: str
) -> tuple[list[str], list[Any]]:
    """What the official client is told by `svc mcp`."""
    server = StdioServerParameters(command=program, args=["mcp", *arguments], env=env)

    async def go() -> tuple[list[str], list[Any]]:
        async with Client(stdio_client(server)) as session:
            names = [tool.name for tool in (await session.list_tools()).tools]
            requests = (session.call_tool(name, options) for name, options in calls)
            return names, list(await asyncio.gather(*requests, return_exceptions=True))

    return asyncio.run(go())


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("list_cves", {"limit": 1}),
    ("get_report", {"reportId": f"rpt_{'0' * 24}"}),
    ("get_report", {}),
    ("retrieve_knowledge", {"query": "vulnerability", "limit": 1}),
]


@pytest.mark.parametrize("way", ["socket", "http"])
def test_a_client_that_starts_us_has_the_tools(
    program: str, demo: Any, environment: Callable[..., Any], way: str
) -> None:
    at = demo.addresses
    url = at["api"].removesuffix("/api/v1")
    line = ["--server", at["admin"], "--workspace", "demo"] if way == "socket" else ["--url", url]
    names, (matches, absent, wrong, retrieval) = tools_of(
        program, CALLS, *line, **environment(SVC_KEY=at["key"])
    )
    assert names == NAMES
    direct = demo.get("/api/v2/cyber/cves?limit=1").json()
    assert matches.structured_content["data"] == direct["data"]
    assert matches.structured_content.keys() == direct.keys()
    assert len(retrieval.structured_content["data"]) == 1
    codes = [(row.is_error, row.structured_content["code"]) for row in (absent, wrong)]
    assert codes == [(True, "NOT_FOUND"), (True, "VALIDATION_FAILED")]


@pytest.mark.parametrize("line", [["--server", "unix:/nowhere"], ["--url", "http://127.0.0.1:1"]])
def test_a_server_that_is_away_is_told_to_the_client(
    program: str, environment: Callable[..., Any], line: list[str]
) -> None:
    env = environment(SVC_KEY=KEY)
    server = StdioServerParameters(command=program, args=["mcp", *line], env=env)

    async def go() -> Any:
        async with Client(stdio_client(server)) as session:
            return await session.call_tool("list_cves", {})

    with pytest.raises(BaseExceptionGroup) as failure:
        asyncio.run(go())
    assert failure.group_contains(Exception, match="no server answers at")


def test_without_its_library_svc_mcp_says_how_to_install_it(
    svc: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "svc_http.run.cli.tool_callers", raising=False)
    monkeypatch.delattr(
        "svc_http.run.cli.tool_callers", raising=False
    )  # `from ... import` looks there first
    monkeypatch.setitem(sys.modules, "mcp.server.stdio", None)
    ran = svc("mcp")
    cure = install_line("mcp")
    assert (ran.code, ran.err) == (2, f"svc: mcp is not installed; run: {cure}\n")


def test_svc_mcp_ends_with_its_stdin(spawn: Any, tmp_path: Path) -> None:
    ran = spawn("mcp", "--server", "unix:/nowhere", cwd=tmp_path)
    assert (ran.code, ran.out, ran.err) == (0, "", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_svc_mcp_ends_when_it_is_told_to(
    number: int, environment: Callable[..., Any], tmp_path: Path
) -> None:
    line = ("mcp", "--server", "unix:/nowhere")
    with Child(*line, cwd=tmp_path, env=environment(), stdin=PIPE, stderr=DEVNULL) as serving:
        serving.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        serving.stdin.flush()
        assert serving.stdout.readline()
        serving.send_signal(number)
        try:
            assert serving.wait(30) == -number
        finally:
            serving.kill()
