"""`svc ask`: a question, its answer as it is written, and the sources that it cites."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final

from attrs import define, field
from cyclopts import Parameter

from svc_core.operation.ports import BASE_V1
from svc_http.run.cli import remote, show
from svc_http.run.cli.exit_codes import REFUSED, UsageError, tell
from svc_http.run.cli.operation_calls import perform_operation as ask_operator
from svc_http.run.cli.options import COMMON, Common, Workspace
from svc_http.system import sigterm_interrupts

OPERATION: Final = "streamChat"
EVENT_STREAM: Final = "text/event-stream"
PATH: Final = f"{BASE_V1}/agent-svc/chat/stream"
_MARK: Final = re.compile(r"\[(\d{1,3})\]")
_OPEN: Final = re.compile(r"\[\d{0,3}$")


def ask_command(
    question: Annotated[str, Parameter(help="What you want to know.")],
    /,
    *,
    thread: Annotated[
        str | None, Parameter(help="A thread to continue, thr_...: `threadId` of --json.")
    ] = None,
    url: remote.Url = None,
    workspace: Workspace = None,
    common: Common = COMMON,
) -> int:
    """Ask a question; the answer names its sources.

    The answer appears while it is written; a number in brackets refers to the source of a sentence.
    Each question costs the workspace one chat credit.

    Exit codes: 0, answered; 1, refused or cut short; 2, wrong usage; 3, no server answers; 130,
    ended by Ctrl-C.
    """
    if not question.strip():
        raise UsageError('there is no question; for example: svc ask "What happened today?"')
    message = {"id": "msg_1", "role": "user", "parts": [{"type": "text", "text": question}]}
    body = {"messages": [message]} | ({} if thread is None else {"threadId": thread})
    answer = AgentAnswer(_quiet if common.json else _printer())
    with sigterm_interrupts():
        if url is None:
            ask_operator(common, OPERATION, answer.take, body=body, account=workspace)
        else:
            _over_http(url, body, answer)
    if common.json:
        show.as_json({"question": question, **answer.members()})
    elif answer.text:
        show.print_lines(*_source_lines(answer))
    if answer.is_whole:
        return 0
    return tell(answer.error or "the answer ended short; ask again", REFUSED)


def _over_http(url: str, body: dict[str, Any], answer: "AgentAnswer") -> None:
    with (
        remote.client(url) as client,
        client.stream("POST", PATH, json=body, headers={"Accept": EVENT_STREAM}) as response,
    ):
        remote.check_response(response)
        for text in response.iter_text():
            answer.take(text)


# -- the answer --------------------------------------------------------------------------------


@define(eq=False)
class AgentAnswer:
    """An answer as its frames come (UI message stream, version 1); `write` is given its words."""

    write: Callable[[str, "AgentAnswer"], None]
    text: str = ""
    sources: list[dict[str, Any]] = field(factory=list)
    thread_id: str | None = None
    usage: dict[str, int] | None = None
    error: str | None = None
    is_whole: bool = False
    _rest: str = ""

    def take(self, text: str) -> None:
        """Read what has come; the end of a frame may be in what comes next."""
        *frames, self._rest = (self._rest + text).split("\n\n")
        for frame in frames:
            if frame.startswith("data: {"):
                self._read(json.loads(frame[len("data: ") :]))

    def _read(self, chunk: dict[str, Any]) -> None:
        metadata = chunk.get("messageMetadata", {})
        self.thread_id = metadata.get("threadId", self.thread_id)
        match chunk["type"]:
            case "text-delta":
                self.text += chunk["delta"]
                self.write(chunk["delta"], self)
            case "source-url" | "source-document":
                self.sources.append(_source(chunk))
            case "finish":
                self.is_whole, self.usage = True, metadata.get("usage")
                self.write("", self)
            case "error":
                self.error = show.clean(chunk["errorText"])

    def members(self) -> dict[str, Any]:
        """All of it, as JSON."""
        members = {"answer": self.text, "sources": self.sources, "threadId": self.thread_id}
        return members | ({"usage": self.usage} if self.is_whole else {"error": self.error})

    def url(self, number: str) -> str | None:
        """Where the source of a mark is."""
        return next((row["url"] for row in self.sources if str(row["number"]) == number), None)


def _source(chunk: dict[str, Any]) -> dict[str, Any]:
    return {
        "number": int(chunk["sourceId"].removeprefix("src_")),
        "id": chunk.get("providerMetadata", {}).get("svc", {}).get("id"),
        "title": chunk.get("title", ""),
        "url": chunk.get("url"),
    }


# -- how it looks ------------------------------------------------------------------------------


def _quiet(_: str, __: AgentAnswer) -> None:
    """Print nothing yet."""


def _printer() -> Callable[[str, AgentAnswer], None]:
    """What prints words as they come: at a terminal with links in place of marks."""
    if not sys.stdout.isatty():
        return _plain
    from rich.console import Console  # noqa: PLC0415 - programs read it plain
    from rich.text import Text  # noqa: PLC0415

    console, line = Console(highlight=False), ""

    def write(delta: str, answer: AgentAnswer) -> None:
        nonlocal line
        text = line + delta
        match = _OPEN.search(text) if delta else None  # a mark may end in what comes next
        line = "" if match is None else match[0]
        for piece, url in _pieces(text.removesuffix(line), answer):
            style = f"bold link {url}" if url else ""
            console.print(Text(show.clean(piece), style), end="", soft_wrap=True)

    return write


def _plain(delta: str, _: AgentAnswer) -> None:
    sys.stdout.write(show.clean(delta))
    sys.stdout.flush()


def _pieces(text: str, answer: AgentAnswer) -> Iterator[tuple[str, str | None]]:
    """The marks with the addresses of their sources, and what is between them."""
    for at, piece in enumerate(_MARK.split(text)):
        yield (f"[{piece}]", answer.url(piece)) if at % 2 else (piece, None)


def _source_lines(answer: AgentAnswer) -> Iterator[str]:
    """The sources by their numbers."""
    if not answer.text.endswith("\n"):
        yield ""
    if answer.sources:
        yield ""
        yield "Sources"
    for source in answer.sources:
        yield show.clean(f"[{source['number']}] {source['title'] or source['id']}")
        if source["url"]:
            yield show.clean(f"    {source['url']}")
