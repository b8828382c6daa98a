"""Checks whether the settings and the machine are fit for production, for `svc doctor`.

Rule 1: each risk says what may happen and what cures it.
Rule 2: in production a grave one fails the check; in development all of them are notes.
"""

import os
import resource
import shutil
import stat
from collections.abc import Callable, Iterator
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


@frozen
class Risk:
    """A setting that is risky where `is_present` is true; `why` has the reason and the cure."""

    name: str
    is_present: Callable[[Settings], bool]
    why: str
    is_grave: bool = True


def _is_folder(settings: Settings) -> bool:
    return settings.media not in {None, DATABASE} and not str(settings.media).startswith(S3)


RISKS: Final = (
    Risk(
        "env",
        lambda settings: settings.env != "production",
        "development makes its own secret and fetches from private networks; set production",
        is_grave=False,
    ),
    Risk(
        "trusted_proxies",
        lambda settings: "*" in settings.trusted_proxies,
        "is *, so anybody can name the address that limits, lockouts and address lists see; list "
        "the addresses of your proxies",
    ),
    Risk(
        "base_url",
        lambda settings: not settings.origin.startswith("https:"),
        "is not https, so links and problem types send clients, and their keys, over clear text; "
        "set the public https origin",
    ),
    Risk(
        "data_url",
        lambda settings: (
            settings.data_url is not None and not settings.data_url.startswith("https:")
        ),
        "is not https; set the public https origin of the data host",
    ),
    Risk(
        "host",
        lambda settings: (
            settings.is_open and settings.trusted_proxies == MEMBERS["trusted_proxies"].default
        ),
        "is open to other machines in clear text, and every private address is believed to be a "
        "proxy; listen on 127.0.0.1 behind a proxy, or name the proxy in trusted_proxies",
    ),
    Risk(
        "counters",
        lambda settings: settings.counting_place == "memory" and settings.dsn is not None,
        "is memory with PostgreSQL, so each process lets a key have its whole limit; set database, "
        "or a redis:// address",
    ),
    Risk(
        "counters_down",
        lambda settings: settings.counters_down == "admit",
        "is admit: while counts cannot be reached, limits do not hold; refuse is safer",
        is_grave=False,
    ),
    Risk(
        "rate_limits",
        lambda settings: not settings.rate_limits,
        "is off: one key may take all there is, and unknown keys are never locked out; turn it on",
    ),
    Risk(
        "media",
        lambda settings: settings.dsn is not None and _is_folder(settings),
        "is a folder, which servers on other machines do not have; set database, or s3://...",
    ),
    Risk(
        "allow_private_fetch",
        lambda settings: bool(settings.allow_private_fetch),
        "lets whoever adds a feed read from this machine and its network; leave it out",
    ),
    Risk(
        "allow_erasure",
        lambda settings: "*" in settings.allow_erasure,
        "is *: every workspace may erase ledger content for good; list those that must",
        is_grave=False,
    ),
    Risk(
        "request_log",
        lambda settings: settings.request_log == "off",
        "is off, so failures leave no line; errors keeps those alone",
        is_grave=False,
    ),
    Risk(
        "x402_facilitator",
        lambda settings: str(settings.x402_facilitator).startswith("http:"),
        "is not https, so whoever is in between can say that payments are settled; set https",
    ),
    Risk(
        "x402_rpc",
        lambda settings: settings.x402_pay_to is not None and settings.x402_rpc is None,
        "is not set: a payment whose settlement is not known waits for svc payments; name a node",
        is_grave=False,
    ),
    Risk(
        "x402_dry_run",
        lambda settings: settings.x402_dry_run,
        "is on: payments are checked, and no payer gets an answer; turn it off to be paid",
        is_grave=False,
    ),
    Risk(
        "metrics_port",
        lambda settings: settings.metrics_port is None and settings.is_open,
        "is not set, so whoever reaches the service reads /metrics; give them a port of their own",
        is_grave=False,
    ),
    Risk(
        "workers",
        lambda settings: not settings.workers,
        "is none: nothing reads feeds, tells webhooks or makes reports unless svc worker runs",
        is_grave=False,
    ),
)


def settings_checks(settings: Settings) -> Iterator[Check]:
    """The checks of the settings: one for each risk, or a single good one where there is none."""
    is_production = settings.env == "production"
    checks = [
        Check(risk.name, False if is_production and risk.is_grave else None, risk.why)
        for risk in RISKS
        if risk.is_present(settings)
    ]
    yield from checks
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
    is_enough = soft >= FILES_MIN
    few = f"{soft}; each connection takes one: let it be {FILES_MIN} or more (LimitNOFILE=65536)"
    yield Check("open files", True if is_enough else grave, str(soft) if is_enough else few)
    if os.geteuid() == 0:
        yield Check("user", None, "this is root, who may do anything; run it as a user of its own")
    yield from _secrets(grave)
    if settings.file is not None:
        yield from _files(Path(settings.file).absolute(), grave)


def _secrets(grave: bool | None) -> Iterator[Check]:
    """Whether everybody may read a secret; a group may, as it does for systemd's credentials."""
    paths = [path for path in secret_files(os.environ) if Path(path).exists()]
    loose = " ".join(path for path in paths if Path(path).stat().st_mode & stat.S_IROTH)
    if loose:
        yield Check("secret files", grave, f"everybody may read {loose}; run: chmod o= {loose}")


def _files(db: Path, grave: bool | None) -> Iterator[Check]:
    names = ("", "-wal", "-shm", ".secret", ".lock")
    paths = [path for name in names if (path := Path(f"{db}{name}")).exists()]
    if not paths:
        return
    loose = [path.name for path in paths if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)]
    cure = f"others may read {', '.join(loose)}; run: chmod go= {db}*"
    yield Check("file modes", grave if loose else True, cure if loose else "the owner's alone")
    free = shutil.disk_usage(db.parent).free
    detail = f"{free // 1024**2} MiB free"
    is_enough = free >= FREE_BYTES_MIN
    cure = f"{detail}; writes are refused when it is full: make room, or watch it"
    yield Check("disk", True if is_enough else grave, detail if is_enough else cure)
    yield _clock(paths)
    yield _backup(db)


def _clock(files: list[Path]) -> Check:
    ahead = max(path.stat().st_mtime for path in files) - system.now().timestamp()
    cure = f"it is {ahead:.0f} s behind its own files; set it, and keep it by NTP"
    return Check("clock", ahead <= CLOCK_SECONDS, cure if ahead > CLOCK_SECONDS else "not behind")


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
