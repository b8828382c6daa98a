"""Answers kept until the next commit: what makes a repeated read cost little more than its bytes.

Rule 1: an answer is given again only while the store's version is the one it was made under.
Rule 2: only the answer is kept; who may have it and how often is judged at every request.
Rule 3: bounded in number and in bytes, the least recently used dropped first.
"""

from collections import OrderedDict
from collections.abc import Hashable

from svc_http.exchange.answers import Ready

ENTRIES_MAX = 1_000
BYTES_MAX = 64 * 1024 * 1024


class PageCache:
    """Ready answers by what they depend on; for one event loop."""

    def __init__(self, entries_max: int = ENTRIES_MAX, bytes_max: int = BYTES_MAX) -> None:
        self._entries_max = entries_max
        self._bytes_max = bytes_max
        self._answers: OrderedDict[Hashable, tuple[int, Ready, int]] = OrderedDict()
        self.size = 0

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: Hashable, version: int) -> Ready | None:
        """The answer made under this version of the store."""
        entry = self._answers.get(key)
        if entry is None or entry[0] != version:
            return None
        self._answers.move_to_end(key)
        return entry[1]

    def put(self, key: Hashable, version: int, answer: Ready) -> None:
        """Keep an answer; `version` was read before the answer was made."""
        old = self._answers.pop(key, None)
        if old is not None:
            self.size -= old[2]
        size = answer.size
        self._answers[key] = (version, answer, size)
        self.size += size
        while len(self._answers) > self._entries_max or self.size > self._bytes_max:
            _, (_, _, length) = self._answers.popitem(last=False)
            self.size -= length

    def clear(self) -> None:
        """Forget everything."""
        self._answers.clear()
        self.size = 0
