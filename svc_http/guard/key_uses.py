"""When keys were last used: noted in memory at every request, for whoever writes it down."""

from collections.abc import Mapping
from datetime import datetime

KEYS_MAX = 10_000
"""Keys noted between two writes."""


class Uses:
    """The latest use of every key since the last write, by the key's id; for one event loop."""

    def __init__(self, keys_max: int = KEYS_MAX) -> None:
        self._keys_max = keys_max
        self._uses: dict[str, datetime] = {}

    def note(self, key_id: str, at: datetime) -> None:
        """Note one use; beyond the most keys, only those that are known go on."""
        if key_id in self._uses or len(self._uses) < self._keys_max:
            self._uses[key_id] = at

    def take(self) -> Mapping[str, datetime]:
        """What was noted, which is then forgotten here."""
        uses, self._uses = self._uses, {}
        return uses

    def give_back(self, uses: Mapping[str, datetime]) -> None:
        """Note again what could not be written, unless it was used since."""
        self._uses = {**uses, **self._uses}
