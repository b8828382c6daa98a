"""The care of a database of either backend: its migrations, and copies of all that is in it.

Rule 1: `db` is a path or an address, as the setting has it; no word of an address is told but what
        `shown` leaves of it.
Rule 2: a copy is read from one snapshot, and is there once all of it is, or not at all.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from svc_core import catalog
from svc_core.base.seals import Keyring, SealError
from svc_core.contract import cursor
from svc_core.ledger.signing_key import SIGNING_KEYS, seed_of
from svc_core.operation.host import Tell
from svc_core.operation.ports import SYSTEM
from svc_core.reports.audio import PIECES
from svc_http import system
from svc_http.service import secret
from svc_http.settings import MEMORY, POSTGRES, PREFIX, Settings, SettingsError
from svc_http.settings_text import DATABASE, without_secret
from svc_http.stores import copies, snapshots, sqlite
from svc_http.stores.contents import Filled, Held
from svc_http.stores.copies import Copied
from svc_http.stores.errors import Unfit
from svc_http.stores.media.files import MediaFiles
from svc_http.stores.media.rows import rows_of
from svc_http.stores.opening import postgres
from svc_http.stores.sqlite import copies as files
from svc_http.stores.steps import Applied, Status


def is_address(db: str) -> bool:
    """Whether a database is PostgreSQL's, and no file."""
    return db.startswith(POSTGRES)


async def status(db: str) -> Status:
    """The steps taken and those pending, also while servers run.

    Raises:
        Unusable: PostgreSQL cannot be asked.
    """
    if not is_address(db):
        return sqlite.status(db, catalog.COLLECTIONS)
    with postgres(without_secret(db)) as backend:
        steps: Status = await backend.status(db, catalog.COLLECTIONS)
    return steps


async def migrate(db: str) -> tuple[Applied, ...]:
    """Take the pending steps; the steps taken now.

    Raises:
        StoreBusy: a process uses the file.
        Unusable: PostgreSQL cannot be asked.
    """
    epoch = _epoch()
    if not is_address(db):
        return sqlite.migrate(db, catalog.COLLECTIONS, epoch=epoch)
    with postgres(without_secret(db)) as backend:
        steps: tuple[Applied, ...] = await backend.migrate(db, catalog.COLLECTIONS, epoch=epoch)
    return steps


async def copy(settings: Settings, source: str, target: str, tell: Tell) -> Copied:
    """Move a store: everything stays as it is, the life of its feed too, and is verified.

    A file that is left must be at rest: what a server wrote to it meanwhile would be lost.

    Raises:
        SettingsError: the secret is not known.
        StoreBusy: a process uses one of the files.
        Unfit: one cannot be copied from or to, has another secret, or is damaged.
        Unusable: PostgreSQL cannot be asked.
    """
    origin, destination = _secret_settings(settings, source), _secret_settings(settings, target)
    ring = _common_keyring(origin, destination)
    async with _reading(source, is_moved=True) as contents:
        await _check_keyring(ring, contents, origin.shown_db)
        async with _filling(target, await contents.epoch()) as store:
            report = await copies.copy(
                contents, store, catalog.COLLECTIONS, with_seals=True, tell=tell
            )
            if origin.file is not None and destination.file is not None:
                snapshots.copy_beside(Path(origin.file), Path(destination.file))
            if origin.file is not None and destination.dsn is not None and settings.media is None:
                await _add_recordings(origin.file, contents, store)
    return report


def media_left(settings: Settings, source: str, target: str) -> str | None:
    """What `media` is to be for a file, if its audio files are in it and not beside it."""
    is_inside = settings.media is None and is_address(source) and not is_address(target)
    return DATABASE if is_inside else None


async def backup(db: str, target: Path, tell: Tell) -> None:
    """Copy a database as it is now into a file, while servers use it.

    Raises:
        Unfit: there is nothing to copy, or something where the copy is to be.
        Unusable: PostgreSQL cannot be asked.
    """
    if not is_address(db):
        snapshots.backup(Path(db), target)
        return
    async with _reading(db) as contents, _filling(str(target), await contents.epoch()) as store:
        await copies.copy(contents, store, catalog.COLLECTIONS, with_seals=False, tell=tell)


async def restore(source: Path, db: str, tell: Tell, *, media: str | None) -> Path | None:
    """Put a copy in the place of a file, or into an empty PostgreSQL database.

    `media` is the setting: where there is none, PostgreSQL has the recordings. The feed begins a
    new life. The answer is where the file that stood there is now, if one did.

    Raises:
        StoreBusy: a server uses the file that is to be replaced.
        Unfit: the copy is no database of this service, or PostgreSQL's is not empty.
        Unusable: PostgreSQL cannot be asked.
    """
    if not is_address(db):
        return snapshots.restore(source, Path(db))
    async with _reading(str(source)) as contents, _filling(db, _epoch()) as store:
        await copies.copy(contents, store, catalog.COLLECTIONS, with_seals=False, tell=tell)
        if media is None:
            await _add_recordings(str(source), contents, store)
    return None


async def _add_recordings(file: str, contents: Held, store: Filled) -> None:
    """Take in the recordings beside a file, unless it has them in itself, as PostgreSQL does."""
    if await contents.count(PIECES):
        return
    for recording in MediaFiles(Path(f"{file}.media")).files():
        for id_, piece in rows_of(recording):
            await store.add(PIECES, [(SYSTEM, id_, 1, PIECES.record(piece).raw)])


# -- both sides --------------------------------------------------------------------------------


@asynccontextmanager
async def _reading(db: str, *, is_moved: bool = False) -> AsyncIterator[Held]:
    is_file = not is_address(db)
    status_ = files.check(Path(db), catalog.COLLECTIONS) if is_file else await status(db)
    if not status_.applied or status_.pending:
        place = without_secret(db)
        raise Unfit(f"{place} is of another version; run: svc db migrate --db {place}")
    if is_file:
        async with files.reading(Path(db), catalog.COLLECTIONS, is_alone=is_moved) as contents:
            yield contents
        return
    from svc_http.stores.postgres import copies as tables  # noqa: PLC0415 - of an extra

    async with tables.reading(db) as contents:
        yield contents


@asynccontextmanager
async def _filling(db: str, epoch: bytes) -> AsyncIterator[Filled]:
    if not is_address(db):
        async with files.filling(Path(db), catalog.COLLECTIONS, epoch) as store:
            yield store
        return
    await migrate(db)
    from svc_http.stores.postgres import copies as tables  # noqa: PLC0415 - of an extra

    async with tables.filling(db, catalog.COLLECTIONS, epoch) as store:
        yield store


def _epoch() -> bytes:
    return system.SystemIds().random(cursor.EPOCH_BYTES)


# -- the secret --------------------------------------------------------------------------------


def _secret_settings(settings: Settings, db: str) -> Settings:
    """What the settings say of the secret of a database."""
    if db == MEMORY:
        raise Unfit("a store in memory is its server's alone; name a file or an address")
    return Settings(
        env=settings.env, db=db, secret=settings.secret, secret_previous=settings.secret_previous
    )


def _common_keyring(source: Settings, target: Settings) -> Keyring | None:
    """The keys of both sides; None where the secret of a file is still to be made."""
    if source.secret is None and (source.dsn or target.dsn):
        file = source.file or target.file or "svc.db"
        raise SettingsError(
            "setting 'secret' is missing, and both sides need the same one; give that of the "
            f"source, for example {PREFIX}SECRET_FILE={file}.secret"
        )
    keyring, other = secret.keyring_of(source), secret.keyring_of(target)
    if other is not None and (keyring is None or keyring.keys != other.keys):
        raise Unfit(f"{target.db}.secret is not the secret of {source.db}; move it away")
    return keyring


async def _check_keyring(ring: Keyring | None, contents: Held, name: str) -> None:
    """Check that the secret is the one with which the store sealed the key of its ledgers."""
    async for rows in contents.rows(SIGNING_KEYS):
        for *_, raw in rows:
            try:
                if ring is None:
                    raise SealError
                seed_of(SIGNING_KEYS.decode(raw), ring)
            except SealError as error:
                raise Unfit(
                    f"{PREFIX}SECRET is not the secret of {name}: it does not open what is sealed "
                    "there; set the one that its server has"
                ) from error
