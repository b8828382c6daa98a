"""Keeps in a file which heads of ledgers were signed, so that a restart does not forget them."""

import json
from contextlib import suppress
from pathlib import Path

from svc_core.ledger.repository import SignedHeads


class SignedHeadsFile:
    """The signed heads of a service, and the file that has them where there is one."""

    def __init__(self, place: str | None, signed: SignedHeads) -> None:
        """Read the file; one that cannot be read is as if it were not there."""
        self._path = heads_path(place) if place else None
        self._signed = signed
        self._version = signed.version
        if self._path is not None:
            with suppress(OSError, ValueError, TypeError, AttributeError):
                heads = json.loads(self._path.read_text("utf-8"))
                signed.heads |= {
                    ledger: (int(size), str(seal)) for ledger, (size, seal) in heads.items()
                }

    def write(self) -> None:
        """Write the file anew where heads were signed since."""
        if self._path is None or self._version == self._signed.version:
            return
        self._version = self._signed.version
        fresh = self._path.with_name(f"{self._path.name}.new")
        with suppress(OSError):
            fresh.write_text(json.dumps(self._signed.heads), "utf-8")
            fresh.replace(self._path)


def heads_path(place: str) -> Path:
    """The file beside the one that remembers the history of a database."""
    return Path(f"{place}.ledgers")
