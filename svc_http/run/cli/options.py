"""The options that commands share: output as JSON, and the server, database and settings file."""

import inspect
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_origin

from attrs import frozen
from cyclopts import Parameter

if TYPE_CHECKING:
    from svc_http.settings import Settings

TOML = "svc.toml"
CONFIG = "SVC_CONFIG"
DB = "svc.db"
"""The default of the setting `db`."""
KEYWORD = inspect.Parameter.KEYWORD_ONLY

Workspace = Annotated[
    str | None,
    Parameter(
        name="--workspace",
        help="Id or name, or usr_... of a person. Default: the one that the resource is in, else "
        "the only one.",
    ),
]
Config = Annotated[
    str | None,
    Parameter(name="--config", help="The settings file. Also SVC_CONFIG; default svc.toml."),
]
Author = Annotated[
    str | None,
    Parameter(name="--author", help="In whose name: a key_... or usr_... Default: nobody's."),
]


@Parameter(name="*")
@frozen
class AnswerOptions:
    """The option of how to print the answer."""

    json: Annotated[
        bool, Parameter(name="--json", negative=(), help="Print one JSON value and nothing else.")
    ] = False


@Parameter(name="*")
@frozen
class Common(AnswerOptions):
    """The options of how to print the answer and which store to use."""

    server: Annotated[
        str | None,
        Parameter(
            name="--server",
            help="The running server, as unix:PATH: `admin` in the output of `svc serve --json`. "
            "Also SVC_SERVER. Default: the server that uses the file, else the database itself.",
        ),
    ] = None
    db: Annotated[
        str | None,
        Parameter(name="--db", help="The SQLite file, or postgresql://... Also SVC_DB."),
    ] = None
    config: Config = None

    def named_server(self) -> str | None:
        """The server that was named; a database that is named at the command line comes first."""
        if self.server is not None or self.db is not None:
            return self.server
        return os.environ.get("SVC_SERVER") or None

    def socket(self) -> Path | None:
        """Where a server of the SQLite file listens; None where the settings alone can tell.

        Whoever asks a running server needs none of its settings but the place of its database.
        """
        from svc_http.run.control import channel  # noqa: PLC0415 - help is shown without it

        place = self.db or os.environ.get("SVC_DB") or _place_in(_toml(self.config))
        is_file = place and place != ":memory:" and "://" not in place
        return channel.socket_path(place) if is_file else None

    def settings(self) -> "Settings":
        """The settings of this command line.

        Raises:
            SettingsError: a value is wrong.
        """
        return load_settings(self.config, {"db": self.db})


ANSWER, COMMON = AnswerOptions(), Common()
"""The options of a command line that has none of them."""


def parameter(
    name: str, kind: Any, says: Parameter, place: Any = KEYWORD, *, is_required: bool = False
) -> inspect.Parameter:
    """A parameter for a generated signature; a flag that is not typed is None, or () for a list."""
    is_list = get_origin(kind) is tuple
    default: Any = inspect.Parameter.empty if is_required else (() if is_list else None)
    annotation: Any = kind if is_list else kind | None
    return inspect.Parameter(name, place, default=default, annotation=Annotated[annotation, says])


def load_settings(config: str | None, flags: dict[str, object]) -> "Settings":
    """The settings: flags before environment before the settings file.

    Raises:
        SettingsError: a value is wrong.
    """
    from svc_http import settings  # noqa: PLC0415 - help is shown without it

    return settings.load(os.environ, _toml(config), flags)


def _toml(config: str | None) -> str | None:
    """The settings file, where there is one."""
    path = config or os.environ.get(CONFIG)
    return TOML if path is None and Path(TOML).is_file() else path


def _place_in(toml: str | None) -> str | None:
    """What a settings file says of `db`; None where it is not as it should be."""
    if toml is None:
        return DB
    import tomllib  # noqa: PLC0415 - mostly there is no file

    try:
        place = tomllib.loads(Path(toml).read_text("utf-8")).get("db", DB)
    except (OSError, ValueError, RecursionError):
        return None
    return place if isinstance(place, str) else None
