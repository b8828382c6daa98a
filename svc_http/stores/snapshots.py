"""Copies of the database file: taken while a server writes, put back while none does.

Rule 1: a copy is whole and consistent, or it is not there.
Rule 2: what a restored file replaces is set aside, never lost; whenever a restore is killed, a
        whole database stands in its place, the old one or the new one.
Rule 3: a restored file begins a new life of the change feed, so that a consumer who saw changes
        which the copy does not have reads anew (`WATERMARK_GONE`) and misses nothing.
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
from svc_http.stores.errors import Unfit
from svc_http.stores.media.files import MediaFiles
from svc_http.stores.sqlite import renew_epoch
from svc_http.stores.sqlite.connection import LOGS, connect_reader
from svc_http.stores.sqlite.copies import check
from svc_http.stores.sqlite.lock import FileLock

READERS_SECONDS = 5.0
"""How long whoever still reads the file that is to be replaced may take to end."""


def backup(source: Path, target: Path) -> None:
    """Copy the database as it is at this moment, with the secret and the media beside it.

    Media come after it: what it names was there before. Those in a folder of the operator's own
    choice are not copied.

    Raises:
        Unfit: there is nothing to copy, or something where the copy is to be.
    """
    check(source, catalog.COLLECTIONS)
    _copy(source, target)
    copy_beside(source, target)


def copy_beside(source: Path, target: Path) -> None:
    """Copy the secret and the media that are kept beside a file."""
    _copy_secret(source, target)
    _copy_media(source, target)


def restore(source: Path, target: Path) -> Path | None:
    """Put a copy in the place of the database; where the file that stood there is now.

    Raises:
        Unfit: the copy is no database of this service, or somebody reads the other one.
        StoreBusy: a server uses the file that is to be replaced.
    """
    check(source, catalog.COLLECTIONS)
    lock = FileLock(target)
    try:
        fresh = Path(f"{target}.new")
        for part in ("", *LOGS, ".lock"):  # of a restore that was killed
            Path(f"{fresh}{part}").unlink(missing_ok=True)
        _copy(source, fresh)
        renew_epoch(fresh, system.SystemIds().random(cursor.EPOCH_BYTES))
        Path(f"{fresh}.lock").unlink()
        _checkpoint(target)
        old_path = _set_aside(target)
        if old_path is not None:
            _copy_secret(target, old_path)
        _copy_media(source, target)
        fresh.replace(target)
        _copy_secret(source, target)
        return old_path
    finally:
        lock.release()


def _copy(source: Path, target: Path) -> None:
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError as failure:
        raise Unfit(f"{target} exists; move it away, or choose another name") from failure
    except OSError as error:
        raise Unfit(f"{target} cannot be made: {error.strerror}") from error
    try:
        with closing(connect_reader(source)) as connection:
            # Into an empty file, which keeps the mode it was made with.
            connection.execute("VACUUM INTO ?", (str(target),))
    except sqlite3.Error as fault:
        target.unlink()
        raise Unfit(f"{source} cannot be copied: {fault}") from fault
    _sync(target)


def _copy_secret(source: Path, target: Path) -> None:
    """Copy the secret that is kept beside a file; nobody else can read the copy at any moment."""
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
    """Bring all of a database into its one file, which can then be replaced in one step.

    One that is damaged stays as it is, log and all: that may be why it is replaced, and SQLite
    throws away a log whose file it cannot make out.

    Raises:
        Unfit: somebody reads it.
    """
    if not path.exists() or not _has_log(path):
        return
    try:
        with closing(sqlite3.connect(path, timeout=READERS_SECONDS)) as connection:
            (is_busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.Error:
        return
    if is_busy:
        raise Unfit(f"{path} is being read; end the commands that look at it")


def _has_log(path: Path) -> bool:
    """Whether a file is a database in WAL mode (SQLite: Database File Format, 1.3)."""
    with path.open("rb") as file:
        header = file.read(20)
    return header[:16] == b"SQLite format 3\0" and header[18:] == b"\2\2"


def _set_aside(path: Path) -> Path | None:
    """Give the present file a second name, under which it stays when the first is taken over.

    A log that is still there goes as well, because SQLite would play it into whatever file stands
    there next: it is that of a damaged file, or has none.
    """
    old_path = Path(f"{path}.before-{system.now():%Y%m%dT%H%M%S%fZ}")
    for part in LOGS:
        present = Path(f"{path}{part}")
        if present.exists():
            present.rename(f"{old_path}{part}")
    if not path.exists():
        return None
    for old in path.parent.glob(f"{escape(path.name)}.before-*Z"):
        if old.samefile(path):  # of a restore that was killed: it is no copy of anything
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
