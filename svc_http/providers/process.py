"""Another program, run once: words to its input, its output to a file, within bounds.

Rule 1: no shell reads anything; the program gets its arguments as they stand.
Rule 2: it is the head of a process group of its own, which is killed whole: when its time is up,
        when its file grows too large, when whoever waits for it is cancelled.
Rule 3: it is told nothing of this service: no setting, no secret, no open file.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from attrs import frozen

from svc_http.providers.speech import BYTES_MAX, SECONDS_MAX, SpeechFailed
from svc_http.settings import PREFIX

CHUNK_BYTES: Final = 64 * 1024
LOOK_SECONDS: Final = 0.1
"""How often the size of a file is looked at that the program itself writes."""
END_SECONDS: Final = 5.0
"""How long the end of a program that was killed is waited for."""
COMPLAINT_CHARS_MAX: Final = 300
"""How much of what the program says on its way out is repeated."""


@frozen
class Bounds:
    """What one run may take."""

    seconds: float = SECONDS_MAX
    size: int = BYTES_MAX


async def run(
    argv: Sequence[str], words: bytes, out: Path, *, writes_itself: bool, bounds: Bounds
) -> None:
    """Run the program with the words as its input.

    Its output goes to `out`, unless it `writes_itself`.

    Raises:
        SpeechFailed: it cannot be run, ended badly, took too long or wrote too much.
    """
    await asyncio.to_thread(out.touch, 0o600)
    process = await _started(argv, out.parent)
    try:
        async with asyncio.timeout(bounds.seconds):
            complaint = await _follow(process, words, out, writes_itself, bounds)
    except TimeoutError as slow:
        raise SpeechFailed(f"{argv[0]} took longer than {bounds.seconds:g} seconds") from slow
    finally:
        await _end(process)
    if process.returncode:
        said = f": {complaint}" if complaint else ""
        raise SpeechFailed(f"{argv[0]} ended with {process.returncode}{said}")


async def _started(argv: Sequence[str], folder: Path) -> asyncio.subprocess.Process:
    starting = asyncio.create_task(
        asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=folder,
            env=environment(),
            start_new_session=True,
        )
    )
    try:
        # A start that is cancelled itself ends the program, but nothing that the program started.
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        await asyncio.shield(_end_once(starting))
        raise
    except (OSError, ValueError) as missing:
        reason = missing.strerror if isinstance(missing, OSError) else missing
        raise SpeechFailed(f"{argv[0]} cannot be run: {reason}") from missing


def environment() -> dict[str, str]:
    """Our environment without what is ours in it."""
    return {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}


async def _follow(
    process: asyncio.subprocess.Process,
    words: bytes,
    out: Path,
    writes_itself: bool,
    bounds: Bounds,
) -> str:
    """Feed the program and take what it gives until it has ended; what it complained of."""
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_feed(process, words))
            complaints = tasks.create_task(_complaints(process))
            taking = _drop(process.stdout) if writes_itself else _take(process, out, bounds.size)
            tasks.create_task(taking)
            watching = tasks.create_task(_watch(out, bounds.size))
            await process.wait()
            watching.cancel()
    except* SpeechFailed as several:
        raise several.exceptions[0] from None
    except* OSError as several:
        raise SpeechFailed(f"the sound cannot be kept: {several.exceptions[0]}") from several
    return complaints.result()


async def _feed(process: asyncio.subprocess.Process, words: bytes) -> None:
    stdin = process.stdin
    if stdin is None:
        raise AssertionError("its input is a pipe")
    # A program that has heard enough, or ended, says so by its status.
    with suppress(BrokenPipeError, ConnectionResetError):
        stdin.write(words)
        await stdin.drain()
    stdin.close()  # not waited for: a wait that is cancelled would end the loop's own in an error


async def _take(process: asyncio.subprocess.Process, out: Path, size_max: int) -> None:
    size = 0
    with out.open("wb") as file:
        async for chunk in _chunks(process.stdout):
            size += len(chunk)
            if size > size_max:
                raise SpeechFailed(f"the program wrote more than {size_max} bytes")
            await asyncio.to_thread(file.write, chunk)


async def _drop(stream: asyncio.StreamReader | None) -> None:
    async for _ in _chunks(stream):
        pass


async def _complaints(process: asyncio.subprocess.Process) -> str:
    last = b""
    async for chunk in _chunks(process.stderr):
        last = (last + chunk)[-4 * COMPLAINT_CHARS_MAX :]
    return " ".join(last.decode("utf-8", "replace").split())[-COMPLAINT_CHARS_MAX:]


async def _watch(out: Path, size_max: int) -> None:
    while True:
        # Left out by a program that replaces the file by one of its own.
        with suppress(FileNotFoundError):
            if (await asyncio.to_thread(out.stat)).st_size > size_max:
                raise SpeechFailed(f"the program wrote more than {size_max} bytes")
        await asyncio.sleep(LOOK_SECONDS)


async def _chunks(stream: asyncio.StreamReader | None) -> AsyncIterator[bytes]:
    if stream is None:
        raise AssertionError("its output is a pipe")
    while chunk := await stream.read(CHUNK_BYTES):
        yield chunk


async def _end_once(starting: asyncio.Task[asyncio.subprocess.Process]) -> None:
    with suppress(OSError, ValueError):  # there is no such program
        await _end(await starting)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Leave no process behind: neither the program nor what it started.

    What it still writes is read, because its end is not reported before its pipes are closed. A
    process that left its group and holds them open is not waited for.
    """
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(TimeoutError):
        async with asyncio.timeout(END_SECONDS):
            await asyncio.gather(_drop(process.stdout), _drop(process.stderr), process.wait())
