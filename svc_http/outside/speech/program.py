"""Another program, run once: words to its input, its output to a file, within bounds.

Rule 1: no shell reads anything; the program gets its arguments as they stand.
Rule 2: it runs under a supervisor of its own, which heads a process group. The group is killed
        whole: when its time is up, when its file grows too large, when whoever waits for it is
        cancelled, and when this process is gone, however that ended.
Rule 3: it is told nothing of this service: no setting, no secret, no open file. An event loop may
        leave files open to the processes it starts (uvloop does), so none starts this one.
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

from svc_http.outside.speech.port import BYTES_MAX, SECONDS_MAX, SpeechFailed
from svc_http.outside.speech.supervisor import CANNOT_RUN
from svc_http.settings import without_settings

LOOK_SECONDS: Final = 0.05
"""How often a program is looked after: whether it has ended, and how large its file is."""
END_SECONDS: Final = 5.0
"""How long the end of a program that was killed is waited for, and how much longer than its time
its supervisor lets it run: for a service that cannot end it, because it hangs itself."""
COMPLAINT_CHARS_MAX: Final = 300
"""How much of what the program says on its way out is repeated."""
_SUPERVISOR: Final = Path(__file__).with_name("supervisor.py")


@frozen
class Bounds:
    """What one run may take."""

    seconds: float = SECONDS_MAX
    size: int = BYTES_MAX


@frozen
class _Files:
    """What the program reads, writes and complains to."""

    words: IO[bytes]
    sound: IO[bytes] | int
    complaints: IO[bytes]


async def run_speech_program(
    argv: Sequence[str], words: bytes, out: Path, *, writes_itself: bool, bounds: Bounds
) -> None:
    """Run the program with the words as its input.

    Its output goes to `out`, unless it `writes_itself`.

    Raises:
        SpeechFailed: it cannot be run, ended badly, took too long or wrote too much.
    """
    try:
        with _files(words, out, writes_itself=writes_itself) as files:
            async with asyncio.timeout(bounds.seconds):
                code = await _exit_code(argv, files, out, bounds)
            complaint = _complaint(files.complaints)
    except TimeoutError as slow:
        raise SpeechFailed(f"{argv[0]} took longer than {bounds.seconds:g} seconds") from slow
    except OSError as failure:
        raise SpeechFailed(f"the sound cannot be kept: {failure}") from failure
    if code == CANNOT_RUN and complaint.startswith("cannot be run"):
        raise SpeechFailed(f"{argv[0]} {complaint}")
    if code:
        reason = f": {complaint}" if complaint else ""
        raise SpeechFailed(f"{argv[0]} ended with {code}{reason}")


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
    """Run the program to its end; the exit code."""
    with _supervised(argv, files, out.parent, bounds) as process:
        try:
            while True:
                code = process.poll()
                if _size(out) > bounds.size:
                    raise SpeechFailed(f"the program wrote more than {bounds.size} bytes")
                if code is not None:
                    return code
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            await _end(process)


@contextmanager
def _supervised(
    argv: Sequence[str], files: _Files, folder: Path, bounds: Bounds
) -> Iterator["subprocess.Popen[Any]"]:
    """The program under its supervisor, which ends it with this block at the latest."""
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
        except (OSError, ValueError) as unfit:
            raise SpeechFailed(f"{argv[0]} cannot be run: {unfit}") from unfit
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
