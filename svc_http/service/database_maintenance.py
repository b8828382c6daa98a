"""Migrates, copies, backs up and restores a database, be it a SQLite file or PostgreSQL.

Rule 1: `db` is a path or an address, as in the setting `db`; an address is shown without its
        password.
Rule 2: a copy is read from one snapshot, and appears whole or not at all.
"""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from svc_core import catalog
from svc_core.access.audit import SYSTEM_ACTS, AuditedAct
from svc_core.automations.model import RUNS
from svc_core.base.seals import Keyring, SealError
from svc_core.contract import cursor
from svc_core.intel.intake.row_retention import ENDING
from svc_core.ledger.signing_key import SIGNING_KEYS, seed_of
from svc_core.operation.host import Progress, ProgressListener
from svc_core.operation.members import micros
from svc_core.operation.ports import SYSTEM, Collection
from svc_core.outbox.model import DELIVERIES
from svc_core.reports.audio import PIECES
from svc_http import system
from svc_http.service import secret
from svc_http.service.signed_heads import heads_path
from svc_http.settings import MEMORY, POSTGRES, PREFIX, Settings, SettingsError
from svc_http.settings_text import DATABASE, without_secret
from svc_http.stores import copies, snapshots, sqlite
from svc_http.stores.contents import CopySource, CopyTarget, part_name, parts_of
from svc_http.stores.copies import CopyReport
from svc_http.stores.errors import CopyRefused, StoreUnusable
from svc_http.stores.factory import open as open_store
from svc_http.stores.factory import postgres_backend
from svc_http.stores.media.folder import MediaFiles
from svc_http.stores.media.pieces import rows_of
from svc_http.stores.migration_steps import AppliedStep, MigrationStatus
from svc_http.stores.sqlite import file_copy as files

NUMBER_BYTES: Final = 8
"""What a number takes in an estimate."""


def is_address(db: str) -> bool:
    """Whether `db` is the address of a PostgreSQL database rather than the path of a file."""
    return db.startswith(POSTGRES)


async def migration_status(db: str) -> MigrationStatus:
    """The migration steps applied and those pending; it may run beside servers.

    Raises:
        StoreUnusable: PostgreSQL cannot be asked.
    """
    if not is_address(db):
        return sqlite.sqlite_status(db, catalog.COLLECTIONS)
    with postgres_backend(without_secret(db)) as backend:
        steps: MigrationStatus = await backend.postgres_status(db, catalog.COLLECTIONS)
    return steps


async def room_of(settings: Settings, db: str) -> list[dict[str, Any]]:
    """What takes room in a migrated database: its parts with `rows`, the largest first.

    `bytes` are an estimate, without indexes and compression: what the first hundred rows take, for
    all of them. `expired` is how many rows are older than the settings keep them, None where these
    keep rows for ever.

    Raises:
        CopyRefused: migrations are pending.
        StoreUnusable: PostgreSQL cannot be asked.
    """
    numbers = {collection.name: (name, f"n_{n}") for name, (collection, n) in ENDING.items()}
    numbers |= {RUNS.name: ("run", "ord"), DELIVERIES.name: ("delivery", "ord")}
    parts: list[dict[str, Any]] = []
    async with _reading(db) as contents:
        for part in parts_of(catalog.COLLECTIONS):
            rows, name = await contents.count(part), part_name(part)
            if not rows:
                continue
            async with aclosing(contents.rows(part)) as batches:
                sample = await anext(batches)
            retention, number = numbers.get(name, ("", ""))
            age, expired = settings.retention.get(retention), None
            if age is not None:
                expired = await contents.count(part, number, micros(system.now() - age) - 1)
            size = sum(map(_size, sample)) * rows // len(sample)
            parts.append({"part": name, "rows": rows, "bytes": size, "expired": expired})
    return sorted(parts, key=lambda row: row["bytes"], reverse=True)


def _size(cell: Any) -> int:
    """The bytes of a cell, or of all cells of a row, about."""
    if isinstance(cell, tuple):
        return sum(map(_size, cell))
    return len(cell) if isinstance(cell, str | bytes) else NUMBER_BYTES


async def migrate_database(db: str) -> tuple[AppliedStep, ...]:
    """Apply the pending migration steps; return those applied now.

    Raises:
        StoreBusy: a process uses the file.
        StoreUnusable: PostgreSQL cannot be asked.
    """
    epoch = _epoch()
    if not is_address(db):
        return sqlite.migrate_sqlite(db, catalog.COLLECTIONS, epoch=epoch)
    with postgres_backend(without_secret(db)) as backend:
        steps: tuple[AppliedStep, ...] = await backend.migrate_postgres(
            db, catalog.COLLECTIONS, epoch=epoch
        )
    return steps


async def check_database(db: str, tell: ProgressListener) -> dict[str, str]:
    """Read everything that is stored; the first fault of each part that has one, by its name.

    It reads in short steps and writes nothing, so that servers may go on.

    Raises:
        CopyRefused: there is nothing to read, or it is of another version.
        StoreUnusable: PostgreSQL cannot be asked.
    """
    faults = {} if is_address(db) else sqlite.file_faults(Path(db))
    for part in parts_of(catalog.COLLECTIONS):
        count = 0
        try:
            async with _reading(db) as contents:  # a fault ends a snapshot
                async for rows in contents.rows(part):
                    if isinstance(part, Collection):
                        for *_, raw in rows:
                            part.decode(raw)
                    count += len(rows)
                    tell(Progress(count, 0, part_name(part)))
        except (CopyRefused, StoreUnusable):
            raise
        except Exception as fault:  # whatever stands in the way of reading it is what is asked for
            faults[part_name(part)] = f"behind row {count}: {' '.join(str(fault).split())}"
    return faults


async def renew_epoch(settings: Settings) -> None:
    """Begin a new epoch of the change feed by hand, and leave a row in the audit of the operator.

    Ledgers may be signed again behind what was signed before.

    Raises:
        StoreBusy: a server uses the file.
        StoreUnusable: PostgreSQL cannot be asked.
    """
    db = settings.dsn or str(settings.file)
    if is_address(db):
        with postgres_backend(without_secret(db)) as backend:
            await backend.renew_postgres_epoch(db, _epoch())
    else:
        files.check_database_file(Path(db), catalog.COLLECTIONS)
        sqlite.renew_sqlite_epoch(db, _epoch())
    if settings.history_place is not None:
        heads_path(settings.history_place).unlink(missing_ok=True)
    id_ = system.SystemIds().new("act")
    act = AuditedAct(id=id_, at=system.now(), operation="renewEpoch", who="operator")
    async with open_store(db) as store:
        await store.write(SYSTEM, lambda tx: tx.documents.put(SYSTEM_ACTS, id_, act, expect=0))


async def copy_database(
    settings: Settings, source: str, target: str, tell: ProgressListener
) -> CopyReport:
    """Copy a whole database to another backend or place, and verify the copy.

    Everything stays as it is, the epoch of the change feed too. No server may use a source file
    meanwhile: what it wrote would be lost.

    Raises:
        SettingsError: the secret is not known.
        StoreBusy: a process uses one of the files.
        CopyRefused: one cannot be copied from or to, has another secret, or is damaged.
        StoreUnusable: PostgreSQL cannot be asked.
    """
    origin, destination = _secret_settings(settings, source), _secret_settings(settings, target)
    ring = _common_keyring(origin, destination)
    async with _reading(source, is_moved=True) as contents:
        await _check_keyring(ring, contents, origin.shown_db)
        async with _filling(target, await contents.epoch()) as store:
            report = await copies.copy_store(
                contents, store, catalog.COLLECTIONS, with_seals=True, tell=tell
            )
            if origin.file is not None and destination.file is not None:
                snapshots.copy_beside(Path(origin.file), Path(destination.file))
            if origin.file is not None and destination.dsn is not None and settings.media is None:
                await _add_recordings(origin.file, contents, store)
    return report


def media_setting_of_copy(settings: Settings, source: str, target: str) -> str | None:
    """The setting `media` that a copied file needs, if its audio is inside it and not beside it."""
    is_inside = settings.media is None and is_address(source) and not is_address(target)
    return DATABASE if is_inside else None


async def backup_database(db: str, target: Path, tell: ProgressListener) -> None:
    """Copy a database into a file, as it is now; servers may use it meanwhile.

    Raises:
        CopyRefused: there is nothing to copy, or something where the copy is to be.
        StoreUnusable: PostgreSQL cannot be asked.
    """
    if not is_address(db):
        snapshots.back_up_file(Path(db), target)
        return
    async with _reading(db) as contents, _filling(str(target), await contents.epoch()) as store:
        await copies.copy_store(contents, store, catalog.COLLECTIONS, with_seals=False, tell=tell)


async def restore_database(
    source: Path, db: str, tell: ProgressListener, *, media: str | None
) -> Path | None:
    """Replace a database file by a backup, or load the backup into an empty PostgreSQL database.

    `media` is the setting; without it the recordings go into PostgreSQL. The change feed gets a
    new epoch. Returns the path to which a replaced file was moved, if there was one.

    Raises:
        StoreBusy: a server uses the file that is to be replaced.
        CopyRefused: the copy is no database of this service, or PostgreSQL's is not empty.
        StoreUnusable: PostgreSQL cannot be asked.
    """
    if not is_address(db):
        return snapshots.restore_file(source, Path(db))
    async with _reading(str(source)) as contents, _filling(db, _epoch()) as store:
        await copies.copy_store(contents, store, catalog.COLLECTIONS, with_seals=False, tell=tell)
        if media is None:
            await _add_recordings(str(source), contents, store)
    return None


async def _add_recordings(file: str, contents: CopySource, store: CopyTarget) -> None:
    """Add the recordings that lie beside a database file, unless the file itself contains them."""
    if await contents.count(PIECES):
        return
    for recording in MediaFiles(Path(f"{file}.media")).files():
        for id_, piece in rows_of(recording):
            await store.add(PIECES, [(SYSTEM, id_, 1, PIECES.record(piece).raw)])


# -- both sides --------------------------------------------------------------------------------


@asynccontextmanager
async def _reading(db: str, *, is_moved: bool = False) -> AsyncIterator[CopySource]:
    is_file = not is_address(db)
    status_ = (
        files.check_database_file(Path(db), catalog.COLLECTIONS)
        if is_file
        else await migration_status(db)
    )
    if not status_.applied or status_.pending:
        place = without_secret(db)
        raise CopyRefused(f"{place} is of another version; run: svc db migrate --db {place}")
    if is_file:
        async with files.file_source(Path(db), catalog.COLLECTIONS, is_alone=is_moved) as contents:
            yield contents
        return
    from svc_http.stores.postgres import database_copy as tables  # noqa: PLC0415 - of an extra

    async with tables.database_source(db) as contents:
        yield contents


@asynccontextmanager
async def _filling(db: str, epoch: bytes) -> AsyncIterator[CopyTarget]:
    if not is_address(db):
        async with files.file_target(Path(db), catalog.COLLECTIONS, epoch) as store:
            yield store
        return
    await migrate_database(db)
    from svc_http.stores.postgres import database_copy as tables  # noqa: PLC0415 - of an extra

    async with tables.database_target(db, catalog.COLLECTIONS, epoch) as store:
        yield store


def _epoch() -> bytes:
    return system.SystemIds().random(cursor.EPOCH_BYTES)


# -- the secret --------------------------------------------------------------------------------


def _secret_settings(settings: Settings, db: str) -> Settings:
    """The settings with which the master secret of one database is found."""
    if db == MEMORY:
        raise CopyRefused("a store in memory is its server's alone; name a file or an address")
    return Settings(
        env=settings.env, db=db, secret=settings.secret, secret_previous=settings.secret_previous
    )


def _common_keyring(source: Settings, target: Settings) -> Keyring | None:
    """The keyring that both databases share; None if the secret of a file does not exist yet."""
    if source.secret is None and (source.dsn or target.dsn):
        file = source.file or target.file or "svc.db"
        raise SettingsError(
            "setting 'secret' is missing, and both sides need the same one; give that of the "
            f"source, for example {PREFIX}SECRET_FILE={file}.secret"
        )
    keyring, other = secret.keyring_of(source), secret.keyring_of(target)
    if other is not None and (keyring is None or keyring.keys != other.keys):
        raise CopyRefused(f"{target.db}.secret is not the secret of {source.db}; move it away")
    return keyring


async def _check_keyring(ring: Keyring | None, contents: CopySource, name: str) -> None:
    """Check that the keyring opens the ledger signing keys that are sealed in the store."""
    async for rows in contents.rows(SIGNING_KEYS):
        for *_, raw in rows:
            try:
                if ring is None:
                    raise SealError
                seed_of(SIGNING_KEYS.decode(raw), ring)
            except SealError as error:
                raise CopyRefused(
                    f"{PREFIX}SECRET is not the secret of {name}: it does not open what is sealed "
                    "there; set the one that its server has"
                ) from error
