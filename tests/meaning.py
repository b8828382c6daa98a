"""A model of meaning whose vectors anybody can foresee, in process and behind an address.

Words of one meaning share a dimension, in whatever language; of any other word nothing is known.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MEANINGS = (
    ("strike", "strikes", "walkout", "streik", "grève"),
    ("port", "ports", "harbour", "hafen"),
    ("bank", "banks", "lender"),
    ("storm", "storms", "hurricane"),
)
_DIMENSIONS = {word: place for place, words in enumerate(MEANINGS) for word in words}


def vector(text: str) -> list[float]:
    """How often a text has each meaning; the last dimension is that of having none."""
    numbers = [0.0] * (len(MEANINGS) + 1)
    for word in re.findall(r"\w+", text.lower()):
        numbers[_DIMENSIONS.get(word, len(MEANINGS))] += 1.0 if word in _DIMENSIONS else 0.1
    return numbers


class Meaning:
    """A `VectorModel` in this process that counts its questions."""

    name = "meaning"
    usual: tuple[float, float] | None = (0.087, 0.112)
    passage_prefix = query_prefix = ""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.refuses: Callable[[str], Exception | None] = lambda _: None

    async def vectors(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        for text in texts:
            if (refusal := self.refuses(text)) is not None:
                raise refusal
        self.texts += texts
        return [vector(text) for text in texts]

    async def aclose(self) -> None:
        pass


class Server:
    """The model behind an address; `answers` are given before its own, and `request` is kept."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/v1"
        self.requests: list[tuple[dict[str, str], Any]] = []
        self.answers: list[tuple[int, dict[str, str], bytes]] = []
        self.closing = threading.Event()
        self.is_silent = False

    def says(self, status: int, body: Any = None, **fields: str) -> None:
        """Give this answer to the next request that has none."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        self.answers.append((status, headers, raw))

    def answer(self, request: Any) -> tuple[int, dict[str, str], bytes]:
        if self.answers:
            return self.answers.pop(0)
        rows = [
            {"object": "embedding", "index": place, "embedding": vector(text)}
            for place, text in enumerate(request["input"])
        ]
        body = {"object": "list", "model": request["model"], "data": rows[::-1]}
        return 200, {}, json.dumps(body).encode()


@contextmanager
def serve() -> Iterator[Server]:
    """The model on a port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            request = json.loads(self.rfile.read(length))
            fields = {name.lower(): value for name, value in self.headers.items()}
            place.requests.append(({**fields, ":path": self.path}, request))
            if place.is_silent:
                place.closing.wait(10)
                return
            status, own, body = place.answer(request)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **own}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    place = Server(server.server_port)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield place
    finally:
        place.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
