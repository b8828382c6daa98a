"""Finding and opening the store, what misuse is told, `svc db`, `openapi`, `version`, `doctor`."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svc_http import extras
from svc_http.run.cli import doctor_commands as doctor_module

Svc = Callable[..., Any]


def _names(keys: Any) -> list[str]:
    return [key["name"] for key in keys]


def test_a_store_is_made_by_what_founds_one_and_by_nothing_else(svc: Svc, cwd: Path) -> None:
    for line in (("keys", "list"), ("feeds", "status"), ("profiles", "list"), ("ledger", "head")):
        ran = svc(*line)
        assert (ran.code, "svc keys create" in ran.err) == (1, True)
        assert list(cwd.iterdir()) == []
    assert svc("keys", "create", "--name", "a", "--db", "other.db").code == 0
    assert not (cwd / "svc.db").exists()
    assert len(svc("keys", "list", "--db", "other.db", "--json").json) == 1


def test_the_store_is_found_by_flag_environment_and_file(
    svc: Svc, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("file", "environment", "flag"):
        svc("keys", "create", "--name", place, "--db", f"{place}.db")
    (cwd / "svc.toml").write_text('db = "file.db"\n')
    assert _names(svc("keys", "list", "--json").json) == ["file"]
    (cwd / "other.toml").write_text('db = "environment.db"\n')
    matches = svc("keys", "list", "--config", "other.toml", "--json").json
    assert _names(matches) == ["environment"]
    monkeypatch.setenv("SVC_DB", "environment.db")
    assert _names(svc("keys", "list", "--json").json) == ["environment"]
    assert _names(svc("keys", "list", "--db", "flag.db", "--json").json) == ["flag"]


UNUSABLE = [
    (("keys", "list", "--server", "unix:/nowhere/svc.sock"), 3, "no server answers"),
    (("keys", "list", "--server", "http://127.0.0.1:8000"), 2, "--server must be unix:PATH"),
    (("keys", "list", "--db", ":memory:"), 2, "--db"),
    (("keys", "create", "--name", "a", "--db", "no/such/folder.db"), 1, "no folder"),
    (("keys", "list", "--config", "missing.toml"), 2, "missing.toml"),
    (("keys", "list", "--db", "text.db"), 1, "cannot be used"),
    (("keys", "list", "--db", "folder.db"), 1, "cannot be used"),
    (("keys", "create", "--name", "a", "--db", "locked.db"), 1, "cannot be opened"),
    (("keys", "create", "--name", "a", "--expires", "999999w"), 2, "--expires: 999999w from now"),
    (
        ("keys", "create", "--name", "a", "--expires", "soon"),
        2,
        "svc: --expires: Not an RFC 3339 date-time such as 2026-01-31T08:30:00Z, with seconds and "
        "offset\n",
    ),
    (("keys", "creat"), 2, 'Did you mean "create"?'),
    (("db", "status", "--server", "unix:/nowhere/svc.sock"), 2, "--db"),
    (("db", "migrate", "--db", "no/such/folder.db"), 1, "no folder"),
    (("keys", "list", "--db", "postgresql://ann:s3cret@127.0.0.1:1/x"), 2, "SVC_SECRET="),
    (("worker", "--db", ":memory:"), 2, "in memory"),
    (("worker", "--db", "no/such/folder.db"), 1, "no folder"),
    (("worker", "--only", "everything"), 2, "must be all, none, or some of ingest"),
    (("keys", "create"), 2, "svc: --name is missing. See: svc keys create --help\n"),
    (("keys", "create", "--name"), 2, "svc: --name needs a value. See: svc keys create --help\n"),
    (
        ("keys", "create", "--nmae", "a"),
        2,
        "--name is missing. Did you mean --name instead of --nmae? See: svc keys create --help\n",
    ),
    (("keys", "revoke"), 2, "svc: KEY-ID is missing. See: svc keys revoke --help\n"),
    (("feeds", "add"), 2, "svc: LOCATION is missing. See: svc feeds add --help\n"),
    (("version", "twice"), 2, "svc: unexpected: twice. See: svc version --help\n"),
    (("openapi", "--yaml"), 2, "svc: Unknown option: --yaml. See: svc openapi --help\n"),
]


@pytest.mark.parametrize(("arguments", "code", "words"), UNUSABLE)
def test_what_cannot_be_done_is_told_in_one_line(
    svc: Svc, cwd: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    (cwd / "text.db").write_text("This is no database.\n" * 100)
    (cwd / "folder.db").mkdir()
    (cwd / "locked.db.lock").mkdir()
    ran = svc(*arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)
    assert words in ran.err
    assert "Traceback" not in ran.err
    assert list(cwd.glob("*.secret")) == []


@pytest.mark.parametrize(("db", "hint"), [("svc.db", ""), ("my new.db", " --db 'my new.db'")])
def test_where_nothing_is_the_line_that_makes_it_makes_it_there(
    svc: Svc, db: str, hint: str
) -> None:
    ran = svc("keys", "list", "--db", db)
    assert ran.err.endswith(f"svc keys create --name NAME{hint}\n")
    reply = shlex.split(ran.err.partition("make one: svc ")[2])
    assert svc(*reply).code == 0
    assert svc("keys", "list", "--db", db).code == 0


def test_production_commands_need_the_secret_too(svc: Svc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVC_ENV", "production")
    ran = svc("keys", "create", "--name", "a")
    assert (ran.code, "SVC_SECRET=" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("changes", "tail"), "Exit codes: 0, the end of the feed was reached"),
        (("ledger", "append"), "records that were appended before are skipped"),
        (("ledger", "verify"), "names the first line that is wrong"),
        (("ledger", "fold"), "ranked by their verification"),
        (("keys", "create"), "It is bound to its workspace for life."),
    ],
)
def test_the_help_of_a_command_is_told_in_full_and_in_one_line_among_others(
    svc: Svc, command: tuple[str, str], message: str
) -> None:
    assert message in " ".join(svc(*command, "--help").out.split())
    among = svc(command[0], "--help").out
    assert command[1] in among
    assert message not in " ".join(among.split())


# -- the file, the document, the doctor --------------------------------------------------------


def test_a_database_is_migrated_once(svc: Svc) -> None:
    missing = svc("db", "status", "--json").json
    assert (missing["exists"], missing["applied"]) == (False, [])
    assert missing["pending"]
    dry = svc("db", "migrate", "--dry-run", "--json")
    assert (dry.code, dry.json["steps"]) == (1, missing["pending"])
    assert svc("db", "migrate", "--json").json["steps"] == missing["pending"]
    assert svc("db", "migrate", "--json").json["steps"] == []
    assert svc("db", "migrate", "--dry-run").code == 0
    assert svc("db", "status", "--json").json["pending"] == []
    assert "applied" in svc("db", "status").out


@pytest.mark.parametrize("command", [("status",), ("migrate",), ("migrate", "--dry-run")])
@pytest.mark.parametrize("file", ["text.db", "folder.db"])
def test_a_file_that_is_no_database_is_no_defect_of_ours(
    svc: Svc, cwd: Path, command: tuple[str, ...], file: str
) -> None:
    (cwd / "text.db").write_text("This is no database.\n" * 100)
    (cwd / "folder.db").mkdir()
    ran = svc("db", *command, "--db", file)
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert "cannot be used as the database" in ran.err


def test_the_documents_are_printed(svc: Svc) -> None:
    spec = svc("openapi").json
    flat = svc("openapi", "--flat", "--json").json
    assert spec["openapi"] == flat["openapi"] == "3.1.0"
    assert "/reports" in spec["paths"]
    assert "/api/v1/reports" in flat["paths"]
    assert list(svc("version", "--json").json) == ["version", "python", "sqlite"]
    assert svc("version").out.startswith("version ")
    assert svc("--version").out.startswith("svc ")


def test_a_healthy_place_passes_the_doctor(svc: Svc, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVC_PORT", "0")  # any that is free
    first = svc("doctor", "--json")
    assert (first.code, first.json["ok"]) == (0, True)
    svc("db", "migrate")
    checks = {check["name"]: check["ok"] for check in svc("doctor", "--json").json["checks"]}
    assert checks["database"] is checks["migrations"] is True
    assert "note" in svc("doctor").out


def test_a_lacking_machine_is_named_with_its_cure(
    svc: Svc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(extras.EXTRAS, "server", ("no_such_module",))
    monkeypatch.setattr(doctor_module, "has_wal_reset_fault", lambda: False)
    checks = {check["name"]: check for check in svc("doctor", "--json").json["checks"]}
    assert checks["sqlite"]["ok"] is True
    assert checks["extra server"]["ok"] is False
    assert extras.install_line("server") in checks["extra server"]["detail"]
    monkeypatch.setenv("SVC_DB", ":memory:")
    checks = {check["name"]: check for check in svc("doctor", "--json").json["checks"]}
    assert checks["database"]["ok"] is None


SICK = [
    ({"SVC_PORT": "none"}, "settings"),
    ({"SVC_DB": "no/such/folder.db"}, "database"),
    ({"SVC_DB": "text.db"}, "database"),
    ({"SVC_HOST": "192.0.2.1"}, "port 8000 on 192.0.2.1"),
]


@pytest.mark.parametrize(("environ", "name"), SICK)
def test_the_doctor_finds_what_is_wrong(
    svc: Svc, cwd: Path, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], name: str
) -> None:
    (cwd / "text.db").write_text("This is no database.\n" * 100)
    for variable, value in environ.items():
        monkeypatch.setenv(variable, value)
    ran = svc("doctor", "--json")
    checks = {check["name"]: check["ok"] for check in ran.json["checks"]}
    assert (ran.code, ran.json["ok"], checks[name]) == (1, False, False)
    assert "BAD" in svc("doctor").out


def test_the_doctor_looks_at_the_server_that_was_named(svc: Svc) -> None:
    ran = svc("doctor", "--server", "unix:/nowhere/svc.sock", "--json")
    checks = {check["name"]: check for check in ran.json["checks"]}
    assert (ran.code, checks["server"]["ok"]) == (1, False)
    assert checks["server"]["detail"] == "no server answers at unix:/nowhere/svc.sock"
    assert "database" not in checks  # of the settings, which is another one
    ran = svc("doctor", "--server", "http://127.0.0.1:8000")
    assert (ran.code, "--server must be unix:PATH" in ran.err) == (2, True)
