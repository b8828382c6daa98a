"""Settings: where they come from, what is refused, and the master secret."""

import stat
import sys
from datetime import UTC, datetime

import attrs
import pytest

from svc_core.access.plans import DEFAULT_PLANS
from svc_http import settings
from svc_http.extras import install_line
from svc_http.service import secret
from svc_http.service.equipment import open_shared
from svc_http.service.secret import validate_secret, with_secret
from svc_http.settings import (
    EXAMPLE_DSN,
    MEMBERS,
    WORKERS,
    Settings,
    SettingsError,
    documentation,
    load,
)

STRONG = "0123456789abcdef" * 4


def test_every_setting_is_documented_with_an_example_that_is_accepted():
    for name, attribute in MEMBERS.items():
        assert documentation()[name].endswith(".")
        example = attribute.metadata["example"]
        variables = {**BESIDE.get(name, {}), f"SVC_{name.upper()}": example}
        assert getattr(load(variables), name) is not None


def test_what_is_said_of_a_setting_names_what_there_is():
    assert EXAMPLE_DSN in documentation()["db"]
    assert ", ".join(f"`{name}`" for name in WORKERS) in documentation()["workers"]


MODEL = {"SVC_AGENT_URL": "http://127.0.0.1:11434/v1", "SVC_AGENT_MODEL": "small"}
BESIDE = {
    "agent_url": MODEL,
    "rewrite_reports": MODEL,
}


def test_nothing_given_is_the_defaults():
    assert load({}) == Settings()


def test_a_flag_beats_the_environment_beats_the_file_beats_the_default(tmp_path):
    file = tmp_path / "svc.toml"
    file.write_text('port = 1\nhost = "::1"\nenv = "production"\n')
    config = load({"SVC_PORT": "2", "SVC_HOST": "::2"}, file, {"port": 3, "db": None})
    assert (config.port, config.host, config.env, config.db) == (3, "::2", "production", "svc.db")


def test_values_of_a_file_keep_their_types(tmp_path):
    file = tmp_path / "svc.toml"
    file.write_text(
        'trusted_proxies = ["loopback", "10.0.0.0/8"]\nrate_limits = false\nport = 80\n'
        "sunset_at = 2027-06-30T00:00:00Z\n"
    )
    config = load({}, file)
    assert config.trusted_proxies == ("loopback", "10.0.0.0/8")
    assert (config.rate_limits, config.port) == (False, 80)
    assert config.sunset_at == datetime(2027, 6, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("env", "staging", "must be one of development, production"),
        ("port", "65536", "from 0 to 65535"),
        ("port", "+80", "whole number"),
        ("port", "٨٠", "whole number"),
        ("db", "", "is empty"),
        ("base_url", "ftp://x", "http or https"),
        ("base_url", "https://", "http or https"),
        ("base_url", "https://a/?b", "without query"),
        ("embeddings_url", "https://me:word@a/v1", "or user"),
        ("plans", "none", "must be one of"),
        ("rate_limits", "maybe", "true or false"),
        ("trusted_proxies", "10.0.0.1/8", "10.0.0.1/8"),
        ("security_contact", "ops@example.org", "https://, mailto: or tel:"),
        ("security_contact", "http://example.org/security", "https://, mailto: or tel:"),
        ("security_contact", "mailto:a\nExpires: never", "https://, mailto: or tel:"),
        ("unknown_query", "warn", "reject, ignore"),
        ("legacy_ids_until", "2027-06-30", ""),
        ("sunset_at", "2020-01-01T00:00:00Z", "before deprecated_at"),
        ("counters", "redis", "must be memory, database, or an address such as redis://"),
        ("counters", "http://127.0.0.1:6379", "must be memory"),
        ("counters", "redis://127.0.0.1:6379/main", "must be memory"),
        ("counters", "redis://127.0.0.1:0", "must be memory"),
        ("counters", "redis:///0", "must be memory"),
        ("counters", "database", "db is no PostgreSQL database"),
        ("counters_down", "ignore", "must be one of refuse, admit"),
        ("body_bytes_max", "12", "from 1024"),
        ("plan", "pro", "must be NAME.MEMBER=NUMBER"),
        ("plan", "pro=5", "pro: must be an object"),
        ("plan", "pro.perDay=many", "must be NAME.MEMBER=NUMBER"),
        ("plan", "pro.perDay=-1", "pro.perDay: must be at least 0"),
        ("plan", "pro.perDay=1,pro.perDay=2", "must be NAME.MEMBER=NUMBER"),
        ("plan", "gold.perDay=500", "gold.newKeys: is required"),
        ("plan", "[" * 10_000, "must be NAME.MEMBER=NUMBER"),
        ("workers", "true", "must be all, none, or some of ingest, schedule"),
        ("workers", "all,none", "must be all, none"),
        ("workers", ",", "must be all, none"),
        ("processes", "0", "from 1 to 64"),
    ],
)
def test_a_wrong_value_is_one_line_with_the_name_the_fault_and_an_example(name, value, why):
    with pytest.raises(SettingsError) as error:
        load({f"SVC_{name.upper()}": value})
    line = str(error.value)
    assert "\n" not in line
    assert repr(name) in line
    assert why in line
    assert f"SVC_{name.upper()}={MEMBERS[name].metadata['example']}" in line


# -- plans -------------------------------------------------------------------------------------

TEAM = "newKeys = true\nkeysMax = 50\nperMinute = 90\nperDay = 20_000\n"


def _write_file(tmp_path, text):
    file = tmp_path / "svc.toml"
    file.write_text(text)
    return file


def test_a_table_of_the_file_changes_a_plan_of_either_preset_and_adds_others(tmp_path):
    text = f"[plan.elite]\nperDay = 60_000\n\n[plan.team]\n{TEAM}"
    for preset, keys_max in (("default", 25), ("key-guide", 100)):
        table = load({}, _write_file(tmp_path, f'plans = "{preset}"\n{text}')).plan_table
        assert (table.plan("elite").per_day, table.plan("elite").keys_max) == (60_000, keys_max)
        assert table.plan("team").per_minute == 90
        assert list(table.plans) == ["free", "lite", "pro", "elite", "team"]
    assert load({}).plan_table == DEFAULT_PLANS


def test_one_line_says_what_a_table_says(tmp_path):
    file = load({}, _write_file(tmp_path, "[plan.pro]\nperDay = 9000\nnewKeys = false\n"))
    assert load({"SVC_PLAN": "pro.perDay=9000,pro.newKeys=false"}).plan == file.plan
    assert load({}, None, {"plan": "pro.perDay=9000,pro.newKeys=false"}).plan == file.plan


def test_whether_a_number_fits_is_judged_with_the_preset(tmp_path):
    file = _write_file(tmp_path, "[plan.elite]\nperDay = 200\n")
    assert load({}, file).plan_table.plan("elite").per_day == 200
    with pytest.raises(SettingsError, match=r"elite\.perMinute: must be 1 to perDay"):
        load({"SVC_PLANS": "key-guide"}, file)


WRONG_FILES = [
    ("[plan.pro]\nperDay = nan\n", "'plan' does not fit: pro.perDay: must be an integer"),
    ("[plan.pro]\nperDay = '9'\n", "pro.perDay: must be an integer"),
    ("[plan.pro]\nperDay = 2027-01-01\n", "pro.perDay: must be an integer"),
    ("[plan.pro.perDay]\nx = 1\n", "pro.perDay: must be an integer"),
    ("[[plan.pro]]\nperDay = 1\n", "pro: must be an object"),
    ("[[plan]]\nperDay = 1\n", "'plan' must be NAME.MEMBER=NUMBER"),
    ("[plan]\nperDay = 1\n", "perDay: must be an object"),
    ("plan = 5\n", "'plan' must be NAME.MEMBER=NUMBER"),
    (f'[plan."Big One"]\n{TEAM}', "Big One.name: must be a name in small letters"),
    (f'[plan."a\\nb"]\n{TEAM}', "a b.name: must be a name in small letters"),
    ("[plans.pro]\nperDay = 1\n", "'plans' is no table; for example SVC_PLANS=key-guide"),
    ("[db]\nx = 1\n", "'db' is no table"),
    ("[plam.pro]\nperDay = 1\n", "there is no setting 'plam'; did you mean 'plan'"),
    ("port = " + "9" * 5_000, "is not TOML"),
    ("port = " + "[" * 100_000, "is not TOML"),
]


@pytest.mark.parametrize(("text", "words"), WRONG_FILES)
def test_what_a_file_says_wrong_of_plans_is_one_line(tmp_path, text, words):
    with pytest.raises(SettingsError) as error:
        load({}, _write_file(tmp_path, text))
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_an_unknown_name_is_refused_with_the_one_that_was_meant(tmp_path):
    file = tmp_path / "svc.toml"
    file.write_text("prot = 80\n")
    with pytest.raises(SettingsError, match="no setting 'prot'; did you mean 'port'"):
        load({}, file)
    with pytest.raises(SettingsError, match="no setting 'zzzzzz'; known are env, db"):
        load({}, None, {"zzzzzz": 1})


@pytest.mark.parametrize("content", [b"port =", b"\xff"])
def test_a_file_that_is_no_toml_is_refused(tmp_path, content):
    file = tmp_path / "svc.toml"
    file.write_bytes(content)
    with pytest.raises(SettingsError, match="is not TOML"):
        load({}, file)


def test_a_file_that_was_named_must_exist(tmp_path):
    with pytest.raises(SettingsError, match="cannot be read"):
        load({}, tmp_path / "none.toml")


def test_addresses_in_links_come_from_the_settings_alone():
    assert Settings(port=1).origin == "http://127.0.0.1:1"
    assert Settings(host="::1", port=1).origin == "http://[::1]:1"
    config = load({"SVC_BASE_URL": "https://a.example/", "SVC_DATA_URL": "https://b.example"})
    assert (config.origin, config.data_origin) == ("https://a.example", "https://b.example")
    assert Settings(base_url="https://a.example").data_origin is None
    assert Settings(base_url="https://a.example", data_url="https://a.example").data_origin is None


@pytest.mark.parametrize(
    "data_url",
    ["http://a.example", "https://A.example", "https://a.example:443", "https://a.example/data"],
)
def test_a_data_origin_that_no_host_tells_apart_is_refused(data_url):
    with pytest.raises(SettingsError, match="setting 'data_url' has the host and port of base_url"):
        load({"SVC_BASE_URL": "https://a.example", "SVC_DATA_URL": data_url})
    for address in ("http://127.0.0.1:8001", "http://localhost:8000"):
        assert Settings(data_url=address).data_origin == address


# -- the database and the workers --------------------------------------------------------------


@pytest.mark.parametrize(
    ("db", "dsn", "file", "shown_db"),
    [
        ("svc.db", None, "svc.db", "svc.db"),
        (":memory:", None, None, ":memory:"),
        ("a?b@c.db", None, "a?b@c.db", "a?b@c.db"),
        ("postgresql://h/d", "postgresql://h/d", None, "postgresql://h/d"),
        ("postgres://u:s3cret@h:1/d", "postgres://u:s3cret@h:1/d", None, "postgres://u@h:1/d"),
        ("postgresql://u@h/d?password=s3cret", ..., None, "postgresql://u@h/d"),
        ("postgresql://h/d?password=s3@cret", ..., None, "postgresql://..."),
        ("postgresql://u:s3?cret@h/d", ..., None, "postgresql://..."),
        ("postgresql://u:s3@cr/et@h/d", ..., None, "postgresql://u@h/d"),
    ],
)
def test_an_address_of_a_database_is_no_file_and_its_password_is_not_shown(db, dsn, file, shown_db):
    config = Settings(db=db)
    assert config.dsn == (db if dsn is ... else dsn)
    assert (config.file, config.shown_db) == (file, shown_db)
    assert f"db={shown_db}," in repr(config).replace("'", "")


@pytest.mark.parametrize(
    ("text", "workers", "runs"),
    [
        ("all", ("all",), {"ingest", "schedule", "deliver", "speak", "embed", "automations"}),
        ("none", (), set()),
        ("speak, ingest,automations", ("speak", "ingest", "automations"), {"ingest", "speak"}),
    ],
)
def test_workers_are_chosen_by_name(text, workers, runs):
    config = load({"SVC_WORKERS": text})
    assert config.workers == workers
    assert {name for name in settings.WORKERS if config.runs(name)} - {"automations"} == runs - {
        "automations"
    }


# -- where requests are counted ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ({}, "memory"),
        ({"DB": ":memory:"}, "memory"),
        ({"DB": "postgresql://svc@db/main"}, "postgresql://svc@db/main"),
        ({"DB": "postgres://svc@db/main", "COUNTERS": "database"}, "postgres://svc@db/main"),
        ({"DB": "postgresql://svc@db/main", "COUNTERS": "memory"}, "memory"),
        ({"COUNTERS": "redis://cache"}, "redis://cache"),
        ({"COUNTERS": "rediss://:x@cache:6380/1"}, "rediss://:x@cache:6380/1"),
    ],
)
def test_requests_are_counted_where_the_database_is_unless_said_otherwise(variables, place):
    config = load({f"SVC_{name}": value for name, value in variables.items()})
    assert config.counting_place == place


@pytest.mark.parametrize(
    "address",
    [
        "redis://:hush@cache:6379/0",
        "rediss://me:hush@cache",
        "redis://cache/0?password=hush",
        "redis://:hush/hush@cache",
        "redis://:hush@cache:port",
    ],
)
def test_the_password_of_an_address_is_not_shown(address):
    try:
        text = repr(load({"SVC_COUNTERS": address}))
    except SettingsError as error:
        text = str(error)
    assert "hush" not in text


@pytest.mark.parametrize(
    ("config", "module", "words"),
    [
        (
            Settings(counters="redis://cache"),
            "redis",
            f"setting 'counters' needs redis: {install_line('redis')}",
        ),
        (
            Settings(db="postgresql://db/main"),
            "asyncpg",
            f"setting 'db' needs asyncpg: {install_line('postgres')}",
        ),
    ],
)
def test_a_missing_client_is_told_with_what_installs_it(monkeypatch, config, module, words):
    for name in [*sys.modules]:
        if name.startswith((f"{module}.", "svc_http.stores.counters.")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SettingsError) as error:
        open_shared(config)
    assert str(error.value) == words


# -- the secret --------------------------------------------------------------------------------


def test_a_secret_may_stand_in_a_file_of_its_own(tmp_path):
    file = tmp_path / "secret"
    file.write_text(STRONG + "\n")
    assert load({"SVC_SECRET_FILE": str(file)}).secret == STRONG
    assert load({"SVC_SECRET_FILE": str(file), "SVC_SECRET": "x"}).secret == "x"
    with pytest.raises(SettingsError, match="SVC_SECRET_FILE"):
        load({"SVC_SECRET_FILE": str(tmp_path / "none")})


def test_a_secret_is_not_shown():
    assert STRONG not in repr(Settings(secret=STRONG))


@pytest.mark.parametrize("env", ["development", "production"])
@pytest.mark.parametrize("secret", ["short", "a" * 64, "abcdefg" * 10])
def test_a_weak_secret_is_refused_with_a_good_one(env, secret):
    with pytest.raises(SettingsError) as error:
        with_secret(Settings(env=env, secret=secret))
    fresh = str(error.value).rpartition("SVC_SECRET=")[2]
    assert with_secret(Settings(env="production", secret=fresh)).secret == fresh


def test_production_needs_a_secret():
    with pytest.raises(SettingsError, match="is missing"):
        with_secret(Settings(env="production"))
    assert with_secret(Settings(env="production", secret=STRONG)).secret == STRONG


def test_processes_over_one_database_need_a_secret_that_is_set(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = Settings(db="postgresql://h/d")
    for refuses in (validate_secret, with_secret):
        with pytest.raises(SettingsError, match="is missing; here is a fresh one: SVC_SECRET="):
            refuses(config)
    assert with_secret(attrs.evolve(config, secret=STRONG)).secret == STRONG
    assert list(tmp_path.iterdir()) == []


def test_development_keeps_its_secret_beside_the_database_for_its_owner_alone(tmp_path):
    config = Settings(db=str(tmp_path / "svc.db"))
    first = with_secret(config)
    assert with_secret(config) == first
    assert first.secret
    secret_file = tmp_path / "svc.db.secret"
    assert stat.S_IMODE(secret_file.stat().st_mode) == 0o600
    secret_file.write_text("short")
    with pytest.raises(SettingsError, match="characters"):
        with_secret(config)


def test_a_look_at_the_settings_makes_no_secret(tmp_path):
    config = Settings(db=str(tmp_path / "svc.db"))
    assert validate_secret(config) == config
    assert list(tmp_path.iterdir()) == []
    for wrong in (
        Settings(env="production"),
        Settings(secret="short"),
        Settings(db=config.db, secret_previous=("short",)),
    ):
        with pytest.raises(SettingsError):
            validate_secret(wrong)
    config_with_secret = with_secret(config)
    assert validate_secret(config_with_secret) == config_with_secret


def test_a_secret_that_another_process_made_meanwhile_is_taken(tmp_path):
    config = Settings(db=str(tmp_path / "svc.db"))
    (tmp_path / "svc.db.secret").write_text(STRONG)
    assert secret._new_secret(config) == STRONG


def test_a_secret_that_cannot_be_read_is_refused(tmp_path):
    (tmp_path / "svc.db.secret").write_bytes(b"\xff" * 64)
    with pytest.raises(SettingsError, match="cannot be read"):
        validate_secret(Settings(db=str(tmp_path / "svc.db")))


def test_memory_keeps_no_secret():
    config = Settings(db=settings.MEMORY)
    assert with_secret(config).secret != with_secret(config).secret


def test_a_secret_that_cannot_be_kept_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="set SVC_SECRET instead"):
        with_secret(Settings(db=str(tmp_path / "none" / "svc.db")))


def test_settings_are_never_altered():
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        Settings().port = 1


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"SVC_AGENT_URL": "http://h/v1"}, "'agent_model' is missing, and agent_url is set"),
        ({"SVC_REWRITE_REPORTS": "true"}, "'agent_url' is missing, and rewrite_reports is set"),
    ],
)
def test_a_model_is_named_whole(variables, words):
    with pytest.raises(SettingsError, match=words):
        load(variables)
