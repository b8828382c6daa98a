"""The first seconds of a command: what is printed before the imports, and how Ctrl-C ends it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from svc_http import extras

ROOT = Path(__file__).parents[3]
SLOW = ("svc_core.catalog", "svc_http.run.server.launch", "hypercorn", "starlette", "httpx2")
"""What takes seconds to import."""


def _python(code: str, environ: dict[str, str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        # Whoever interrupts an import leaves its file to be closed by the collector.
        [sys.executable, "-W", "ignore::ResourceWarning", "-c", code],
        env={**environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_the_demo_speaks_before_anything_slow_is_imported(
    environment: Callable[..., dict[str, str]],
) -> None:
    code = f"""
import sys
from svc_http.run import cli
class Stop:
    def find_spec(self, name, path=None, target=None):
        if name in {SLOW}:
            raise SystemExit(7)
sys.meta_path.insert(0, Stop())
cli.main(["serve", "--demo", "--port", "0"])
"""
    with _python(code, environment()) as process:
        assert process.communicate(timeout=60) == ("", "preparing the demo ...\n")
        assert process.returncode == 7


def test_nothing_is_imported_before_ctrl_c_is_heard(
    environment: Callable[..., dict[str, str]],
) -> None:
    code = """
import sys
import svc_http.run.cli
print(*sorted(name for name in sys.modules if name.startswith("svc_")))
"""
    with _python(code, environment()) as process:
        out, _ = process.communicate(timeout=60)
    assert out.split() == ["svc_http", "svc_http.run", "svc_http.run.cli"]


def test_ctrl_c_while_the_demo_is_prepared_is_quiet(
    environment: Callable[..., dict[str, str]],
) -> None:
    code = "from svc_http.run.cli import main; import sys; sys.exit(main())"
    with _python(f"import sys; sys.argv[1:] = ['serve', '--demo', '--port', '0']; {code}",
                 environment()) as process:  # fmt: skip
        assert process.stderr is not None
        first = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) in {0, 130}
        assert (first, process.stderr.read()) == ("preparing the demo ...\n", "")


# -- what is not installed ---------------------------------------------------------------------


def test_a_line_that_installs_an_extra_fits_how_svc_was_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip = f"{sys.executable} -m pip"
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.chdir(ROOT)
    near = Path(sys.executable)
    pip = f"{near.relative_to(ROOT) if near.is_relative_to(ROOT) else near} -m pip"
    assert extras.install_line("mcp") == f"{pip} install -e '.[mcp]'"
    monkeypatch.chdir(tmp_path)
    assert extras.install_line("mcp") == f"{sys.executable} -m pip install -e '{ROOT}[mcp]'"
    monkeypatch.setattr(extras, "__file__", str(tmp_path / "lib" / "svc_http" / "extras.py"))
    for origin, place in (
        (None, "svc-intelligence"),
        ('{"url": "https://example.org/svc.whl", "archive_info": {}}', "svc-intelligence"),
        (f'{{"url": "{tmp_path.as_uri()}", "dir_info": {{}}}}', "."),
        ("no JSON", "svc-intelligence"),
    ):
        monkeypatch.setattr(extras, "distribution", lambda _, text=origin: _Installed(text))
        line = extras.install_line("mcp")
        assert line == f"{sys.executable} -m pip install '{place}[mcp]'", origin


class _Installed:
    """An installed distribution, with the file that tells where it came from (PEP 610)."""

    def __init__(self, origin: str | None) -> None:
        self._origin = origin

    def read_text(self, _: str) -> str | None:
        """The file."""
        return self._origin


def test_every_extra_of_the_package_that_brings_a_module_is_in_the_table() -> None:
    import tomllib  # noqa: PLC0415

    package = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    of_others = {"full", "interop", "bench", "dev"}
    assert extras.EXTRAS.keys() == package["optional-dependencies"].keys() - of_others
