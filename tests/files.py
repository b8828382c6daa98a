"""SQLite files that are copied instead of made: a hundred tables cost more than most tests do."""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from svc_core.operation.ports import Collection
from svc_http.stores import SqliteStorage
from svc_http.stores.sqlite import _migrations as migrations
from svc_http.stores.sqlite._history import renew_file
from svc_http.stores.sqlite.file_connection import connect_writer


@contextmanager
def copies(folder: Path) -> Iterator[None]:
    """While this lasts, a new file is a copy of the one that was made first for its collections."""
    open_in_earnest: Callable[..., SqliteStorage] = SqliteStorage.open
    templates: dict[tuple[Collection[Any], ...], bytes] = {}

    def template(collections: tuple[Collection[Any], ...]) -> bytes:
        if collections not in templates:
            path = folder / f"{len(templates)}.db"
            with closing(connect_writer(path)) as connection:
                migrations.apply(connection, collections, bytes(8))
            templates[collections] = path.read_bytes()
        return templates[collections]

    @wraps(open_in_earnest.__func__)  # type: ignore[attr-defined]
    def open_copy(
        path: Path | str, collections: Iterable[Collection[Any]], *, epoch: bytes, **limits: Any
    ) -> SqliteStorage:
        declarations = tuple(collections)
        if not Path(path).exists() and Path(path).parent.is_dir():
            _write(Path(path), template(declarations), epoch)
        return open_in_earnest(path, declarations, epoch=epoch, **limits)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SqliteStorage, "open", open_copy)
        yield


def _write(path: Path, content: bytes, epoch: bytes) -> None:
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            renew_file(path, connection, epoch)
    except OSError:  # as where the disk is full: what it is to be, the service says itself
        path.unlink(missing_ok=True)
