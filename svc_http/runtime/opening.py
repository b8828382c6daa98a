"""Opening the store that settings name, for the server and for commands without one."""

import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from svc_core import catalog, cursor
from svc_core.ports import Storage
from svc_http import system
from svc_http.fetch import PRIVATE, Fetcher
from svc_http.fetch.post import Poster
from svc_http.media.places import media_of
from svc_http.media.port import Media
from svc_http.providers import espeak
from svc_http.providers.command import CommandSpeech
from svc_http.providers.espeak import EspeakSpeech
from svc_http.providers.speech import Speech
from svc_http.runtime import secret
from svc_http.runtime.runtime import Runtime
from svc_http.runtime.service import Service
from svc_http.settings import EXAMPLE_DSN, MEMORY, Settings, SettingsError
from svc_http.shared import Shared, in_memory
from svc_http.storage import MemoryStorage, SqliteStorage, StorageUnavailable
from svc_http.workers.speak import Recorder


class Store(Storage, Protocol):
    """A store that was opened, to be closed by whoever opened it."""

    async def close(self) -> None:
        """Finish the units of work that were handed in, then give everything back."""
        ...


class Unusable(Exception):  # noqa: N818 - said as the state that it is
    """The database cannot be used; the message is one line with the way out."""

    exit_code = 1


def fetcher(given: Settings) -> Fetcher:
    """The way out that the settings allow, to be entered by whoever fetches."""
    allowed = given.allow_private_fetch
    if allowed is None:
        allowed = given.env == "development"
    return Fetcher(exceptions=PRIVATE if allowed else ())


def poster(given: Settings) -> Poster:
    """The way out to webhooks, to be closed by whoever has it."""
    return Poster(loopback=given.env == "development")


def speech(given: Settings) -> Speech | None:
    """What reads reports aloud; None where nothing does.

    Raises:
        SettingsError: it is not installed; the message has the line that cures it.
    """
    if given.speech == "none":
        return None
    if given.speech_command is not None and given.speech == "command":
        return CommandSpeech(tuple(shlex.split(given.speech_command)), given.speech_voice)
    if not espeak.is_installed():
        raise SettingsError(f"setting 'speech' is espeak, which is not installed: {espeak.CURE}")
    return EspeakSpeech(given.speech_voice)


def recorder(given: Settings, storage: Storage, kept: Media | None = None) -> Recorder:
    """What makes recordings, for the media of a server or for the place of the settings.

    Raises:
        SettingsError: the settings have no voice, or one that is not installed.
    """
    voice, media = speech(given), kept or media_of(given, storage)
    if voice is None or media is None:
        raise SettingsError(
            f"setting 'speech' is none, so nothing speaks: {espeak.CURE}, then SVC_SPEECH=espeak"
        )
    return Recorder(voice, media)


def checked(given: Settings) -> Settings:
    """The settings, once it is clear that there can be a database and a master secret.

    Nothing is made. Whoever has opened the store asks for its secret (`secret.secured`).

    Raises:
        SettingsError: the secret is weak, or missing where one must be set.
        Unusable: the folder of the file is missing.
    """
    folder = Path(given.db).absolute().parent
    if given.file is not None and not folder.is_dir():
        raise Unusable(f"there is no folder {folder} for the database; make it, or choose --db")
    return secret.checked(given)


async def open_store(given: Settings, shared: Shared | None = None) -> Store:
    """The store of the settings, made or migrated where that is due.

    Processes with one database tell each other of commits where they are `shared`.

    Raises:
        StoreBusy: another process has the file.
        Unusable: the file cannot be read or made, or there is no such PostgreSQL database.
        DriverMissing: PostgreSQL needs a package that is not installed.
    """
    epoch = system.SystemIds().random(cursor.EPOCH_BYTES)
    if given.dsn is not None:
        with postgres(given.shown_db) as backend:
            told = shared is not None and given.counting_place != "memory"
            opened: Store = await backend.PostgresStorage.open(
                given.dsn,
                catalog.COLLECTIONS,
                epoch=epoch,
                signals=shared.signals if shared is not None and told else None,
            )
        return opened
    if given.db == MEMORY:
        return MemoryStorage(catalog.COLLECTIONS, epoch=epoch)
    try:
        return SqliteStorage.open(Path(given.db), catalog.COLLECTIONS, epoch=epoch)
    except sqlite3.Error as broken:
        raise Unusable(f"{given.db} cannot be used as the database: {broken}") from broken
    except OSError as refused:
        raise Unusable(
            f"{given.db} cannot be opened: {refused.strerror}; choose another file with --db"
        ) from refused


@contextmanager
def postgres(shown: str) -> Iterator[Any]:
    """The backend; what keeps it from a database is told in a line that begins with `shown`.

    Raises:
        DriverMissing: a package is not installed.
        Unusable: there is no such database.
    """
    from svc_http.storage import postgres as backend  # noqa: PLC0415 - of an extra

    try:
        yield backend
    except StorageUnavailable as failure:
        raise Unusable(f"{shown} {_postgres_fault(failure.__cause__ or failure)}") from failure
    except ValueError as unread:
        # Its own words are not told: they quote the address, and the password in it.
        raise Unusable(f"{shown} is no address of a database, such as {EXAMPLE_DSN}") from unread


_REFUSALS = {
    "28000": "does not let this user in; name another in SVC_DB",
    "28P01": "refuses the password; give the right one in SVC_DB, PGPASSWORD or ~/.pgpass",
    "3D000": "does not exist; make it with createdb, or name another in SVC_DB",
}
"""What PostgreSQL says at the door, by its SQLSTATE."""


def _postgres_fault(failure: BaseException) -> str:
    """Why a database cannot be used, to stand after its name."""
    if isinstance(failure, OSError | TimeoutError):
        why = getattr(failure, "strerror", None) or "it does not answer in time"
        return f"cannot be reached: {why}; start PostgreSQL, or name another server in SVC_DB"
    code = getattr(failure, "sqlstate", None)
    return _REFUSALS.get(code or "", f"cannot be used as the database: {failure}")


def open_shared(given: Settings) -> Shared:
    """Where requests are counted by the settings; nothing is connected before it is needed.

    Raises:
        SettingsError: its client is not installed; the message has the line that cures it.
    """
    place = given.counting_place
    if place == "memory":
        return in_memory()
    extra = "redis" if place.startswith("redis") else "postgres"
    try:
        if extra == "redis":
            from svc_http.shared.redis import on_redis  # noqa: PLC0415 - of an extra

            return on_redis(place)
        from svc_http.shared.postgres import on_postgres  # noqa: PLC0415 - of an extra

        return on_postgres(place)
    except ModuleNotFoundError as missing:
        cure = f'pip install "svc-intelligence[{extra}]"'
        name = "db" if given.counters is None else "counters"
        driver = str(missing.name).partition(".")[0]
        raise SettingsError(f"setting {name!r} needs {driver}: {cure}") from missing


def service_of(runtime: Runtime) -> Service:
    """What workers and commands act through."""
    return runtime.service
