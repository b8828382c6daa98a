"""Programs that speak: bounded, apart, and killed whole."""

import asyncio
import os
import select
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import Any

import pytest

from svc_http.providers.command import CommandSpeech
from svc_http.providers.process import Bounds, environment
from svc_http.providers.speech import SpeechFailed, Words

Program = Callable[..., CommandSpeech]

ECHO = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
TO_FILE = "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read()); print('noise')"
STARTS_ANOTHER = "exec 3> $0; sleep 600 & printf up >&3; sleep 600"


async def said(speech: CommandSpeech, out: Path, text: str = "Café & $(id) `x`\n") -> bytes:
    await speech.say(Words(text, "en"), out)
    return await asyncio.to_thread(out.read_bytes)


@pytest.mark.anyio
async def test_the_words_go_in_and_the_file_comes_out(program: Program, tmp_path: Path) -> None:
    words = "Café & $(id) `x`\n"
    assert await said(program(ECHO), tmp_path / "a") == words.encode()
    assert await said(program(TO_FILE, "{out}"), tmp_path / "b") == words.encode()


@pytest.mark.anyio
async def test_no_shell_reads_anything(program: Program, tmp_path: Path) -> None:
    tell = "import sys; print(sys.argv[1:], end='')"
    speech = program(tell, "$HOME; id", "--voice={voice}/{language}", "*")
    told = (await said(speech, tmp_path / "a")).decode()
    assert told == repr(["$HOME; id", "--voice=en/en", "*"])


@pytest.mark.anyio
async def test_a_program_knows_nothing_of_this_service(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_SECRET", "s" * 64)
    monkeypatch.setenv("LANG", "C.UTF-8")
    tell = "import os; print(*sorted(os.environ), os.getcwd())"
    told = (await said(program(tell), tmp_path / "a")).decode()
    assert "SVC_" not in told
    assert "LANG" in told
    assert told.strip().endswith(str(tmp_path))
    assert "SVC_SECRET" not in environment()


@pytest.mark.anyio
async def test_more_words_than_a_pipe_holds_go_both_ways(program: Program, tmp_path: Path) -> None:
    text = "word " * 100_000
    loud = f"import sys\nsys.stderr.write('x' * 500_000)\n{ECHO}"
    assert await said(program(loud, size=10**6), tmp_path / "a", text) == text.encode()


@pytest.mark.anyio
async def test_a_program_need_not_listen_to_the_end(program: Program, tmp_path: Path) -> None:
    deaf = "import sys; sys.stdin.close(); print('ok', end='')"
    assert await said(program(deaf), tmp_path / "a", "word " * 100_000) == b"ok"


FAULTS = {
    "it fails": ("import sys; sys.exit('no voice\\nof that name')", (), "with 1: no voice of"),
    "it fails without a word": ("import sys; sys.exit(3)", (), "ended with 3$"),
    "it takes long": ("import time; time.sleep(60)", (), "longer than 0.5 seconds"),
    "it never ends to speak": (
        "import sys\nwhile True: sys.stdout.buffer.write(bytes(9999))", (), "more than 10000 bytes",
    ),
    "it fills the disk": (
        "import sys\nf = open(sys.argv[1], 'wb', 0)\nwhile f.tell() < 10**7: f.write(bytes(9999))\n"
        "import time; time.sleep(60)",
        ("{out}",),
        "more than 10000 bytes",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTS)
@pytest.mark.anyio
async def test_what_goes_wrong_is_said_in_one_line(
    program: Program, tmp_path: Path, case: str
) -> None:
    code, arguments, said_of_it = FAULTS[case]
    speech = program(code, *arguments, seconds=0.5 if "long" in case else 60)
    with pytest.raises(SpeechFailed, match=said_of_it) as failed:
        await said(speech, tmp_path / "a")
    assert "\n" not in str(failed.value)


@pytest.mark.anyio
async def test_a_disk_that_takes_nothing_is_told(program: Program, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(SpeechFailed, match="the sound cannot be kept"):
        await said(program(ECHO), tmp_path / "a")


@pytest.mark.anyio
async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpeechFailed) as failed:
        await said(CommandSpeech(("nosuchprogram",)), tmp_path / "a")
    assert str(failed.value) == "nosuchprogram cannot be run: No such file or directory"


@pytest.mark.anyio
async def test_a_file_that_its_program_removed_is_waited_for(
    program: Program, tmp_path: Path
) -> None:
    slow = (
        "import os, sys, time\nos.unlink(sys.argv[1])\ntime.sleep(0.3)\n"
        "open(sys.argv[1], 'w').write('ok')"
    )
    assert await said(program(slow, "{out}"), tmp_path / "a") == b"ok"


@pytest.mark.anyio
@pytest.mark.parametrize("end", ["timeout", "cancel"])
async def test_a_program_is_killed_with_all_that_it_started(
    program: Program, tmp_path: Path, end: str
) -> None:
    """Both hold a pipe, which ends when the last of them has."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    seconds = 5.0 if end == "timeout" else 60.0  # a shell is up in a hundredth of one
    command = ("/bin/sh", "-c", STARTS_ANOTHER, str(pipe))
    speech = CommandSpeech(command, bounds=Bounds(seconds=seconds))
    task = asyncio.create_task(speech.say(Words("a", "en"), tmp_path / "a"))
    with await asyncio.to_thread(pipe.open, "rb", 0) as reader:
        assert await asyncio.to_thread(reader.read, 2) == b"up"
        if end == "cancel":
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            with pytest.raises(SpeechFailed, match="longer"):
                await task
        assert await asyncio.to_thread(reader.read) == b""


@pytest.mark.anyio
@pytest.mark.parametrize("times", [1, 2])
async def test_a_program_that_is_only_just_starting_is_killed_whole(
    tmp_path: Path, times: int
) -> None:
    """Cancelled, once or twice, when it runs and asyncio has not said so yet."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    loop = asyncio.get_running_loop()
    readers: list[FileIO] = []
    endings: list[asyncio.Task[Any]] = []

    def make(of: asyncio.AbstractEventLoop, work: Any, **more: Any) -> Any:
        if work.__name__ == "_connect_pipes":  # what asyncio does next with a program that runs
            readers.append(FileIO(pipe, "rb"))
            assert readers[0].read(2) == b"up"
            speaking.cancel()
            if times == 2:
                loop.call_soon(loop.call_soon, speaking.cancel)
        task = asyncio.Task(work, loop=of, **more)
        if work.__name__ == "_end_once":
            endings.append(task)
        return task

    speech = CommandSpeech(("/bin/sh", "-c", STARTS_ANOTHER, str(pipe)))
    loop.set_task_factory(make)
    speaking = asyncio.create_task(speech.say(Words("a", "en"), tmp_path / "a"))
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(speaking, 10)
    assert speaking.cancelling() == times
    with readers[0]:
        ended, _, _ = await asyncio.to_thread(select.select, readers, [], [], 10)
        assert ended == readers
        assert readers[0].read() == b""
    await asyncio.wait(endings)


@pytest.mark.anyio
async def test_a_cancel_is_heard_when_there_is_no_such_program(tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()

    def make(of: asyncio.AbstractEventLoop, work: Any, **more: Any) -> Any:
        if work.__name__ == "create_subprocess_exec":
            loop.call_soon(speaking.cancel)  # ahead of the start
        return asyncio.Task(work, loop=of, **more)

    loop.set_task_factory(make)
    speech = CommandSpeech(("nosuchprogram",))
    speaking = asyncio.create_task(speech.say(Words("a", "en"), tmp_path / "a"))
    with pytest.raises(asyncio.CancelledError):
        await speaking


def test_a_voice_has_a_name() -> None:
    speech = CommandSpeech(("/usr/bin/flite", "-o", "{out}"))
    assert speech.voice("de") == "flite de"
    assert CommandSpeech(("flite",), "slt").voice("de") == "slt"
    assert speech.bounds == Bounds()
