"""Runs a speech program once, within bounds of time and size: text on stdin, audio to a file.

Rule 1: no shell is used; the program gets its arguments unchanged.
Rule 2: the program runs under a supervisor process, which leads a process group. The whole group is
        killed when its time is up, when its file grows too large, when the caller is cancelled, and
        when this process ends in any way.
Rule 3: the program gets nothing of this service: no setting, no secret, no open file. Event loops
        may pass open files to the processes that they start (uvloop does), so `subprocess` is used.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final

from attrs import frozen

from svc_http.outside.voices.speech_port import BYTES_MAX, SECONDS_MAX, SpeechFailure
from svc_http.outside.voices.supervisor import CANNOT_RUN
from svc_http.settings import without_settings

LOOK_SECONDS: Final = 0.05
"""How often it is checked whether the program has ended, and how large its file is."""
END_SECONDS: Final = 5.0
"""How long the end of a killed program is awaited. The supervisor kills the program after this much
more than its time, in case the service itself hangs and cannot."""
COMPLAINT_CHARS_MAX: Final = 300
"""How much of the error output of the program is repeated."""
_SUPERVISOR: Final = Path(__file__).with_name("supervisor.py")


@frozen
class Bounds:
    """The bounds of one run: its time in seconds, and the size of its file in bytes."""

    seconds: float = SECONDS_MAX
    size: int = BYTES_MAX


@frozen
class _Files:
    """The input, output and error output of the program."""

    words: IO[bytes]
    sound: IO[bytes] | int
    complaints: IO[bytes]


async def run_speech_program(
    argv: Sequence[str], words: bytes, out: Path, *, writes_itself: bool, bounds: Bounds
) -> None:
    """Run a speech program with the text on its stdin.

    Its stdout goes to `out`, unless it `writes_itself`.

    Raises:
        SpeechFailure: it cannot be run, failed, took too long or wrote too much.
    """
    try:
        with _files(words, out, writes_itself=writes_itself) as files:
            async with asyncio.timeout(bounds.seconds):
                code = await _exit_code(argv, files, out, bounds)
            complaint = _complaint(files.complaints)
    except TimeoutError as error:
        raise SpeechFailure(f"{argv[0]} took longer than {bounds.seconds:g} seconds") from error
    except OSError as failure:
        raise SpeechFailure(f"the sound cannot be kept: {failure}") from failure
    if code == CANNOT_RUN and complaint.startswith("cannot be run"):
        raise SpeechFailure(f"{argv[0]} {complaint}")
    if code:
        reason = f": {complaint}" if complaint else ""
        raise SpeechFailure(f"{argv[0]} ended with {code}{reason}")


@contextmanager
def _files(words: bytes, out: Path, *, writes_itself: bool) -> Iterator[_Files]:
    out.touch(0o600)
    with TemporaryFile(dir=out.parent) as stdin, TemporaryFile(dir=out.parent) as complaints:
        stdin.write(words)
        stdin.seek(0)
        if writes_itself:
            yield _Files(stdin, subprocess.DEVNULL, complaints)
            return
        with out.open("wb") as sound:
            yield _Files(stdin, sound, complaints)


async def _exit_code(argv: Sequence[str], files: _Files, out: Path, bounds: Bounds) -> int:
    """Run the program to its end; return the exit code."""
    with _supervised(argv, files, out.parent, bounds) as process:
        try:
            while True:
                code = process.poll()
                if _size(out) > bounds.size:
                    raise SpeechFailure(f"the program wrote more than {bounds.size} bytes")
                if code is not None:
                    return code
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            await _end(process)


@contextmanager
def _supervised(
    argv: Sequence[str], files: _Files, folder: Path, bounds: Bounds
) -> Iterator["subprocess.Popen[Any]"]:
    """Start the program under its supervisor, which kills it when the block ends."""
    alive, end = os.pipe()
    limits = str(alive), str(bounds.seconds + END_SECONDS), str(bounds.size + 1)
    try:
        try:
            process = subprocess.Popen(  # noqa: S603 - the operator's program
                (sys.executable, "-I", "-S", str(_SUPERVISOR), *limits, *argv),
                stdin=files.words,
                stdout=files.sound,
                stderr=files.complaints,
                cwd=folder,
                env=without_settings(os.environ),
                pass_fds=(alive,),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise SpeechFailure(f"{argv[0]} cannot be run: {error}") from error
        finally:
            os.close(alive)
        yield process
    finally:
        os.close(end)


def _size(out: Path) -> int:
    # Left out by a program that replaces the file by one of its own.
    with suppress(FileNotFoundError):
        return out.stat().st_size
    return 0


def _complaint(complaints: IO[bytes]) -> str:
    end = complaints.seek(0, os.SEEK_END)
    complaints.seek(max(0, end - 4 * COMPLAINT_CHARS_MAX))
    text = complaints.read().decode("utf-8", "replace")
    return " ".join(text.split())[-COMPLAINT_CHARS_MAX:]


async def _end(process: "subprocess.Popen[Any]") -> None:
    """Leave no process behind: neither the program nor what it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.returncode is None:
        # Whoever is cancelled twice does not wait for it, and yet it is collected.
        await asyncio.shield(asyncio.create_task(_collect(process)))


async def _collect(process: "subprocess.Popen[Any]") -> None:
    for _ in range(round(END_SECONDS / LOOK_SECONDS)):
        if process.poll() is not None:
            return
        await asyncio.sleep(LOOK_SECONDS)
