"""Caches finished answers until the next commit, so that a repeated read costs only its bytes.

Rule 1: an answer is sent again only while the store has the version that it was made under.
Rule 2: access and rate limits are judged at every request; the cache holds answers alone.
Rule 3: the cache is bounded in number and in bytes, and drops the least recently used first.
"""

from collections import OrderedDict
from collections.abc import Hashable

from svc_http.exchange.sending import Ready

ENTRIES_MAX = 1_000
BYTES_MAX = 64 * 1024 * 1024


class PageCache:
    """Finished answers by everything that they depend on. Not thread-safe: one event loop."""

    def __init__(self, entries_max: int = ENTRIES_MAX, bytes_max: int = BYTES_MAX) -> None:
        self._entries_max = entries_max
        self._bytes_max = bytes_max
        self._answers: OrderedDict[Hashable, tuple[int, Ready, int]] = OrderedDict()
        self.size = 0

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: Hashable, version: int) -> Ready | None:
        """The cached answer that was made under this version of the store, or None."""
        entry = self._answers.get(key)
        if entry is None or entry[0] != version:
            return None
        self._answers.move_to_end(key)
        return entry[1]

    def put(self, key: Hashable, version: int, answer: Ready) -> None:
        """Cache an answer; `version` must have been read before the answer was made."""
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
        """Empty the cache."""
        self._answers.clear()
        self.size = 0
