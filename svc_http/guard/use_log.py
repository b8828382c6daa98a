"""Records in memory when each API key was last used, until a worker writes it to the store."""

from collections.abc import Mapping
from datetime import datetime

KEYS_MAX = 10_000
"""Keys that are recorded between two writes."""


class Uses:
    """The last use of each key since the last write, by key id. Not thread-safe: one event loop."""

    def __init__(self, keys_max: int = KEYS_MAX) -> None:
        self._keys_max = keys_max
        self._uses: dict[str, datetime] = {}

    def note(self, key_id: str, at: datetime) -> None:
        """Record a use; when there are `keys_max` keys, new ones are ignored."""
        if key_id in self._uses or len(self._uses) < self._keys_max:
            self._uses[key_id] = at

    def take(self) -> Mapping[str, datetime]:
        """Return the recorded uses, and start with none."""
        uses, self._uses = self._uses, {}
        return uses

    def give_back(self, uses: Mapping[str, datetime]) -> None:
        """Record again the uses that could not be written, unless there are later ones."""
        self._uses = {**uses, **self._uses}
