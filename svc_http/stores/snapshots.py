"""Backs up the SQLite database file while a server writes, and restores it while none runs.

Rule 1: a copy is complete and consistent, or it does not exist.
Rule 2: a restore renames the file that it replaces and never deletes it. Whenever a restore is
        killed, a complete database is in place, either the old one or the new one.
Rule 3: a restored file gets a new epoch of its change feed. A consumer that has seen changes which
        the copy lacks is told so (`WATERMARK_GONE`), reads everything again and misses nothing.
"""

import os
import shutil
import sqlite3
from contextlib import closing
from glob import escape
from pathlib import Path

from svc_core import catalog
from svc_core.contract import cursor
from svc_http import system
from svc_http.stores.errors import CopyRefused
from svc_http.stores.media.folder import MediaFiles
from svc_http.stores.sqlite import renew_sqlite_epoch
from svc_http.stores.sqlite.file_connection import LOGS, connect_reader
from svc_http.stores.sqlite.file_copy import check_database_file
from svc_http.stores.sqlite.file_lock import FileLock

READERS_SECONDS = 5.0
"""How long a restore waits for readers of the file that it replaces."""


def back_up_file(source: Path, target: Path) -> None:
    """Copy the database as of this moment, with the secret and the media files beside it.

    Media are copied after the database, so every file that the copy refers to exists by then. Media
    in a folder that the operator has chosen are not copied.

    Raises:
        CopyRefused: there is no database at `source`, or `target` exists.
    """
    check_database_file(source, catalog.COLLECTIONS)
    _copy(source, target)
    copy_beside(source, target)


def copy_beside(source: Path, target: Path) -> None:
    """Copy the secret and the media that are stored beside a database file."""
    _copy_secret(source, target)
    _copy_media(source, target)


def restore_file(source: Path, target: Path) -> Path | None:
    """Replace the database by a copy of `source`; return the new path of the replaced file, if any.

    Raises:
        CopyRefused: `source` is no database of this service, or a process still reads `target`.
        StoreBusy: a server uses the file that is to be replaced.
    """
    check_database_file(source, catalog.COLLECTIONS)
    with FileLock(target):
        fresh = Path(f"{target}.new")
        for part in ("", *LOGS, ".lock"):  # of a restore that was killed
            Path(f"{fresh}{part}").unlink(missing_ok=True)
        _copy(source, fresh)
        renew_sqlite_epoch(fresh, system.SystemIds().random(cursor.EPOCH_BYTES))
        Path(f"{fresh}.lock").unlink()
        _checkpoint(target)
        old_path = _set_aside(target)
        if old_path is not None:
            _copy_secret(target, old_path)
        _copy_media(source, target)
        fresh.replace(target)
        _copy_secret(source, target)
        return old_path


def _copy(source: Path, target: Path) -> None:
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError as failure:
        raise CopyRefused(f"{target} exists; move it away, or choose another name") from failure
    except OSError as error:
        raise CopyRefused(f"{target} cannot be made: {error.strerror}") from error
    try:
        with closing(connect_reader(source)) as connection:
            # Into an empty file, which keeps the permissions that it was created with.
            connection.execute("VACUUM INTO ?", (str(target),))
    except sqlite3.Error as fault:
        target.unlink()
        raise CopyRefused(f"{source} cannot be copied: {fault}") from fault
    _sync(target)


def _copy_secret(source: Path, target: Path) -> None:
    """Copy the secret that is stored beside a file; the copy is never readable by other users."""
    secret = Path(f"{source}.secret")
    if not secret.exists():
        return
    fresh = Path(f"{target}.secret.new")
    fresh.unlink(missing_ok=True)  # of a copy that was killed
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secret.read_bytes())
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(f"{target}.secret")


def _copy_media(source: Path, target: Path) -> None:
    """Add the media of one database to those of another; files of one name are the same."""
    MediaFiles(Path(f"{source}.media")).copy_to(Path(f"{target}.media"))


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _checkpoint(path: Path) -> None:
    """Move the whole write-ahead log into the database file, so that one rename can replace it.

    A damaged database is left untouched together with its log: damage may be the reason for the
    restore, and SQLite discards a log whose database it cannot read.

    Raises:
        CopyRefused: a process still reads the database.
    """
    if not path.exists() or not _has_log(path):
        return
    try:
        with closing(sqlite3.connect(path, timeout=READERS_SECONDS)) as connection:
            (is_busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error:
        return
    if is_busy:
        raise CopyRefused(f"{path} is being read; end the commands that look at it")


def _has_log(path: Path) -> bool:
    """Whether a file is a database in WAL mode (SQLite: Database File Format, 1.3)."""
    with path.open("rb") as file:
        header = file.read(20)
    return header[:16] == b"SQLite format 3\0" and header[18:] == b"\2\2"


def _set_aside(path: Path) -> Path | None:
    """Give the present file a second name, under which it remains when it is replaced.

    A remaining log is renamed as well, because SQLite would replay it into whatever file comes
    next. Such a log belongs to a damaged database, or to none.
    """
    old_path = Path(f"{path}.before-{system.now():%Y%m%dT%H%M%S%fZ}")
    for part in LOGS:
        present = Path(f"{path}{part}")
        if present.exists():
            present.rename(f"{old_path}{part}")
    if not path.exists():
        return None
    for old in path.parent.glob(f"{escape(path.name)}.before-*Z"):
        if old.samefile(path):  # a leftover of a killed restore: the same file under two names
            old.unlink()
            Path(f"{old}.secret").unlink(missing_ok=True)
    _name_twice(path, old_path)
    return old_path


def _name_twice(path: Path, copy: Path) -> None:
    try:
        os.link(path, copy)
    except OSError:  # a file system without links
        fresh = Path(f"{copy}.new")
        shutil.copy2(path, fresh)
        _sync(fresh)
        fresh.replace(copy)
