"""The script by which a shell completes: it is made by the parser, and a shell can use it."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from shutil import which
from typing import Any

import pytest


@pytest.mark.skipif(which("bash") is None, reason="needs bash")
def test_bash_completes_commands_and_options(svc: Callable[..., Any], tmp_path: Path) -> None:
    script = tmp_path / "svc.bash"
    script.write_text(svc("completion", "bash").out)
    for line, words in (("svc led", ["ledger"]), ("svc keys create --na", ["--name"])):
        typed = line.split()
        code = f"""source {script}; COMP_WORDS=({line}); COMP_CWORD={len(typed) - 1}
COMP_LINE="{line}" COMP_POINT={len(line)}; _svc; echo "${{COMPREPLY[@]}}" """
        ran = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True)
        assert ran.stdout.split() == words


def test_a_shell_that_is_not_known_is_refused(svc: Callable[..., Any]) -> None:
    refusal = svc("completion", "tcsh")
    assert (refusal.code, refusal.out) == (2, "")
    assert "bash" in refusal.err
