"""Checks whether the settings and the machine are fit for production, for `svc doctor`.

Rule 1: each risk says what may happen and what cures it.
Rule 2: in production a grave one fails the check; in development all of them are notes.
"""

import os
import resource
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from attrs import frozen

from svc_http import system
from svc_http.service import secret
from svc_http.settings import MEMBERS, PREFIX, Settings, SettingsError, secret_files
from svc_http.settings_text import DATABASE, S3

FILES_MIN: Final = 4_096
"""Open files: each connection is one, a webhook's attempt another."""
FREE_BYTES_MIN: Final = 1024**3
"""Free on the disk of the database: a day's room to act in."""
BACKUP_AGE: Final = timedelta(days=7)
CLOCK_SECONDS: Final = 5.0
"""How far a file may lie in the future: file systems keep time a little differently."""
_SQLITE = b"SQLite format 3\x00"


@frozen
class Check:
    """The outcome of one check; `ok` is None where it is only worth knowing."""

    name: str
    ok: bool | None
    detail: str


def graded_check(name: str, detail: str, cure: str, grade: bool | None = False) -> Check:
    """A check that has failed where there is a `cure`; `grade` is then its outcome."""
    return Check(name, grade, cure) if cure else Check(name, True, detail)


@frozen
class Risk:
    """A setting that is risky where `is_present` is true; `why` has the reason and the cure."""

    name: str
    is_present: Callable[[Settings], bool]
    why: str
    is_grave: bool


_PROXIES: Final = MEMBERS["trusted_proxies"].default


def _is_folder(settings: Settings) -> bool:
    return settings.media not in {None, DATABASE} and not str(settings.media).startswith(S3)


_IS_RISKY: Final[Mapping[str, Callable[[Settings], bool]]] = {
    "env": lambda settings: settings.env != "production",
    "forwarded_hops": lambda settings: (
        bool(settings.trusted_proxies) and settings.forwarded_hops is None
    ),
    "trusted_proxies": lambda settings: "*" in settings.trusted_proxies,
    "base_url": lambda settings: not settings.origin.startswith("https:"),
    "data_url": lambda settings: not (settings.data_url or "https:").startswith("https:"),
    "host": lambda settings: settings.is_open and settings.trusted_proxies == _PROXIES,
    "counters": lambda settings: bool(settings.counting_place == "memory" and settings.dsn),
    "counters_down": lambda settings: settings.counters_down == "admit",
    "rate_limits": lambda settings: not settings.rate_limits,
    "media": lambda settings: settings.dsn is not None and _is_folder(settings),
    "history_file": lambda settings: settings.history_place is None and settings.dsn is not None,
    "allow_private_fetch": lambda settings: bool(settings.allow_private_fetch),
    "allow_erasure": lambda settings: "*" in settings.allow_erasure,
    "request_log": lambda settings: settings.request_log == "off",
    "x402_facilitator": lambda settings: str(settings.x402_facilitator).startswith("http:"),
    "x402_rpc": lambda settings: settings.x402_pay_to is not None and settings.x402_rpc is None,
    "metrics_port": lambda settings: settings.metrics_port is None and settings.is_open,
    "workers": lambda settings: not settings.workers,
}


def _read_risks() -> tuple[Risk, ...]:
    lines = Path(__file__).with_name("risks.tsv").read_text("utf-8").splitlines()
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return tuple(Risk(name, _IS_RISKY[name], why, grade == "grave") for name, grade, why in rows)


RISKS: Final = _read_risks()


def settings_checks(settings: Settings) -> Iterator[Check]:
    """The checks of the settings: one for each risk, or a single good one where there is none."""
    is_production = settings.env == "production"
    checks = [
        Check(risk.name, False if is_production and risk.is_grave else None, risk.why)
        for risk in RISKS
        if risk.is_present(settings)
    ]
    yield from checks
    if settings.forwarded_hops is not None:
        detail = f"the client's address is value {settings.forwarded_hops} from the right"
        yield Check("forwarded_hops", True, f"{detail} of X-Forwarded-For")
    yield _secret(settings)
    if is_production and not any(check.ok is False for check in checks):
        yield Check("settings for production", True, f"{len(RISKS)} looked at, none is grave")


def _secret(settings: Settings) -> Check:
    try:
        secret.validate_secret(settings)
    except SettingsError as weak:
        return Check("secret", False, str(weak))
    if settings.secret is not None:
        return Check("secret", True, "is set")
    return Check("secret", None, f"is made at the first start; set {PREFIX}SECRET_FILE to keep it")


# -- the machine -------------------------------------------------------------------------------


def machine_checks(settings: Settings) -> Iterator[Check]:
    """The checks of the machine: user, open files, disk, secrets, clock and backups."""
    grave = False if settings.env == "production" else None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    cure = f"{soft}; each connection takes one: let it be {FILES_MIN} or more (LimitNOFILE=65536)"
    yield graded_check("open files", str(soft), cure if soft < FILES_MIN else "", grave)
    if os.geteuid() == 0:
        yield Check("user", None, "this is root, who may do anything; run it as a user of its own")
    yield from _secrets(grave)
    yield from _open_files("log file", filter(None, [settings.log_file]), grave)
    if settings.file is not None:
        yield from _files(Path(settings.file).absolute(), grave)


def _secrets(grave: bool | None) -> Iterator[Check]:
    """Whether everybody may read a secret; a group may, as it does for systemd's credentials."""
    yield from _open_files("secret files", secret_files(os.environ), grave)


def _open_files(name: str, files: Iterable[str], grave: bool | None) -> Iterator[Check]:
    """The check that fails where everybody may read some of the files."""
    paths = [path for path in files if Path(path).exists()]
    loose = " ".join(path for path in paths if Path(path).stat().st_mode & stat.S_IROTH)
    if loose:
        yield Check(name, grave, f"everybody may read {loose}; run: chmod o= {loose}")


def _files(db: Path, grave: bool | None) -> Iterator[Check]:
    names = ("", "-wal", "-shm", ".secret", ".lock", ".history")
    paths = [path for name in names if (path := Path(f"{db}{name}")).exists()]
    if not paths:
        return
    loose = [path.name for path in paths if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)]
    cure = f"others may read {', '.join(loose)}; run: chmod go= {db}*"
    yield graded_check("file modes", "the owner's alone", cure if loose else "", grave)
    free = shutil.disk_usage(db.parent).free
    detail = f"{free // 1024**2} MiB free"
    cure = f"{detail}; writes are refused when it is full: make room, or watch it"
    yield graded_check("disk", detail, cure if free < FREE_BYTES_MIN else "", grave)
    ahead = max(path.stat().st_mtime for path in paths) - system.now().timestamp()
    cure = f"it is {ahead:.0f} s behind its own files; set it, and keep it by NTP"
    yield graded_check("clock", "not behind", cure if ahead > CLOCK_SECONDS else "")
    yield _backup(db)


def _backup(db: Path) -> Check:
    """The newest copy in the folder of the database or in one below it."""
    now = system.now()
    times = [path.stat().st_mtime for path in _near(db) if _is_copy(path, db)]
    if not times:
        step = "none is near the file; run daily: svc db backup FILE, and keep it on another disk"
        return Check("backup", None, step)
    newest = datetime.fromtimestamp(max(times), UTC)
    detail = f"the newest near the file is of {newest:%Y-%m-%d}"
    return Check("backup", True if now - newest < BACKUP_AGE else None, detail)


def _near(db: Path) -> Iterator[Path]:
    for pattern in ("*.db*", "*/*.db*"):
        yield from db.parent.glob(pattern)


def _is_copy(path: Path, db: Path) -> bool:
    if path == db or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False
