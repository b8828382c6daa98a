"""Programs that speak: bounded, apart, and killed whole."""

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from io import FileIO
from pathlib import Path

import pytest

from svc_http.outside.voices import program as process
from svc_http.outside.voices.command import CommandSpeech
from svc_http.outside.voices.program import Bounds
from svc_http.outside.voices.speech_port import SpeechFailure, SpeechText
from svc_http.settings import without_settings

Program = Callable[..., CommandSpeech]

ECHO = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
TO_FILE = "import sys; open(sys.argv[1], 'wb').write(sys.stdin.buffer.read()); print('noise')"
STARTS_ANOTHER = "exec 3> $0; sleep 600 & printf up >&3; sleep 600"


async def spoken_bytes(speech: CommandSpeech, out: Path, text: str = "Café & $(id) `x`\n") -> bytes:
    await speech.say(SpeechText(text, "en"), out)
    return await asyncio.to_thread(out.read_bytes)


@pytest.mark.anyio
async def test_the_words_go_in_and_the_file_comes_out(program: Program, tmp_path: Path) -> None:
    words = "Café & $(id) `x`\n"
    assert await spoken_bytes(program(ECHO), tmp_path / "a") == words.encode()
    assert await spoken_bytes(program(TO_FILE, "{out}"), tmp_path / "b") == words.encode()


@pytest.mark.anyio
async def test_no_shell_reads_anything(program: Program, tmp_path: Path) -> None:
    tell = "import sys; print(sys.argv[1:], end='')"
    speech = program(tell, "$HOME; id", "--voice={voice}/{language}", "*")
    text = (await spoken_bytes(speech, tmp_path / "a")).decode()
    assert text == repr(["$HOME; id", "--voice=en/en", "*"])


@pytest.mark.anyio
async def test_a_program_knows_nothing_of_this_service(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_SECRET", "s" * 64)
    monkeypatch.setenv("LANG", "C.UTF-8")
    tell = "import os; print(*sorted(os.environ), os.getcwd())"
    text = (await spoken_bytes(program(tell), tmp_path / "a")).decode()
    assert "SVC_" not in text
    assert "LANG" in text
    assert text.strip().endswith(str(tmp_path))
    assert without_settings({"SVC_SECRET": "s", "LANG": "C"}) == {"LANG": "C"}


@pytest.mark.anyio
async def test_more_words_than_a_pipe_holds_go_both_ways(program: Program, tmp_path: Path) -> None:
    text = "word " * 100_000
    loud = f"import sys\nsys.stderr.write('x' * 500_000)\n{ECHO}"
    assert await spoken_bytes(program(loud, size=10**6), tmp_path / "a", text) == text.encode()


@pytest.mark.anyio
async def test_a_program_need_not_listen_to_the_end(program: Program, tmp_path: Path) -> None:
    deaf = "import sys; sys.stdin.close(); print('ok', end='')"
    assert await spoken_bytes(program(deaf), tmp_path / "a", "word " * 100_000) == b"ok"


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
    with pytest.raises(SpeechFailure, match=said_of_it) as failure:
        await spoken_bytes(speech, tmp_path / "a")
    assert "\n" not in str(failure.value)


@pytest.mark.anyio
async def test_a_disk_that_takes_nothing_is_told(program: Program, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(SpeechFailure, match="the sound cannot be kept"):
        await spoken_bytes(program(ECHO), tmp_path / "a")


@pytest.mark.anyio
async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpeechFailure) as failure:
        await spoken_bytes(CommandSpeech(("nosuchprogram",)), tmp_path / "a")
    assert str(failure.value) == "nosuchprogram cannot be run: No such file or directory"


@pytest.mark.anyio
async def test_a_file_that_its_program_removed_is_waited_for(
    program: Program, tmp_path: Path
) -> None:
    slow = (
        "import os, sys, time\nos.unlink(sys.argv[1])\ntime.sleep(0.3)\n"
        "open(sys.argv[1], 'w').write('ok')"
    )
    assert await spoken_bytes(program(slow, "{out}"), tmp_path / "a") == b"ok"


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
    task = asyncio.create_task(speech.say(SpeechText("a", "en"), tmp_path / "a"))
    with await asyncio.to_thread(pipe.open, "rb", 0) as reader:
        assert await asyncio.to_thread(reader.read, 2) == b"up"
        if end == "cancel":
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            with pytest.raises(SpeechFailure, match="longer"):
                await task
        assert await asyncio.to_thread(reader.read) == b""


@pytest.mark.anyio
@pytest.mark.parametrize("steps", range(4))
async def test_a_program_that_is_only_just_starting_is_killed_whole(
    tmp_path: Path, steps: int
) -> None:
    """Cancelled so many steps of the loop after it was asked for, and once more right after."""
    before = asyncio.all_tasks()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    speech = CommandSpeech(("/bin/sh", "-c", STARTS_ANOTHER, str(pipe)))
    speaking = asyncio.create_task(speech.say(SpeechText("a", "en"), tmp_path / "a"))
    for _ in range(steps):
        await asyncio.sleep(0)
    speaking.cancel()
    await asyncio.sleep(0)
    speaking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await speaking
    await asyncio.gather(*asyncio.all_tasks() - before)  # it is collected
    with FileIO(reader) as stream:
        assert stream.read(1) == b""


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", [("asyncio", {"use_uvloop": True}), "asyncio"], ids=str)
async def test_a_program_inherits_nothing_whatever_is_open(
    program: Program, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.set_inheritable(True)
        tell = "import os; print(*sorted(map(int, os.listdir('/proc/self/fd')))[:-1], end='')"
        assert await spoken_bytes(program(tell), tmp_path / "a") == b"0 1 2"


SUPERVISOR = """\
import asyncio, os, socket, sys, uvloop
from pathlib import Path
from svc_http.outside.voices import program as process
from svc_http.outside.voices.command import CommandSpeech
from svc_http.outside.voices.speech_port import SpeechText

async def main(out, *argv):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.set_inheritable(True)
        print(listening.getsockname()[1], flush=True)
        await CommandSpeech(argv).say(SpeechText("a", "en"), Path(out))

uvloop.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize("ignores", ["", "trap '' HUP INT TERM; "])
def test_a_program_ends_with_a_service_that_is_killed_and_keeps_no_port(
    tmp_path: Path, ignores: str
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    argv = ("/bin/sh", "-c", ignores + STARTS_ANOTHER, str(pipe))
    with subprocess.Popen(
        [sys.executable, "-c", SUPERVISOR, str(tmp_path / "a"), *argv], stdout=subprocess.PIPE
    ) as service:
        assert service.stdout is not None
        port = int(service.stdout.readline())
        with pipe.open("rb", 0) as reader:
            assert reader.read(2) == b"up"
            service.kill()
            service.wait()
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port)).close()
            assert reader.read() == b""


def test_its_supervisor_alone_keeps_a_program_to_its_time(tmp_path: Path) -> None:
    """As it does for a service that hangs: the far end of the pipe stays open."""
    alive, writer = os.pipe()
    supervisor = Path(process.__file__).with_name("supervisor.py")
    argv = (sys.executable, "-I", "-S", str(supervisor), str(alive), "0.2", "99", "sleep", "600")
    outcome = subprocess.run(
        argv, pass_fds=(alive,), start_new_session=True, check=False, timeout=30
    )
    assert outcome.returncode == -signal.SIGKILL
    os.close(alive)
    os.close(writer)


def test_an_argument_that_no_program_takes_is_told(tmp_path: Path) -> None:
    speech = CommandSpeech(("cat", "a\0b"))
    with pytest.raises(SpeechFailure, match="cat cannot be run: embedded null byte"):
        asyncio.run(speech.say(SpeechText("a", "en"), tmp_path / "a"))


def test_processes_are_started_where_it_is_seen_to_that_they_inherit_nothing() -> None:
    """Elsewhere none is: this one's parent first, the keeper of processes, a person's command."""
    package = Path(process.__file__).parents[2]
    verbs = re.compile(
        r"subprocess\.(run|Popen|call|check_)|create_subprocess|posix_spawn|os\.fork"
    )
    starting = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if verbs.search(path.read_text())
    }
    assert starting == {
        *("outside/voices/program.py", "outside/voices/supervisor.py"),
        *(
            "outside/embeddings/local_model.py",
            "run/server/processes.py",
            "run/cli/tail_commands.py",
        ),
    }


def test_a_voice_has_a_name() -> None:
    speech = CommandSpeech(("/usr/bin/flite", "-o", "{out}"))
    assert speech.voice("de") == "flite de"
    assert CommandSpeech(("flite",), "slt").voice("de") == "slt"
    assert speech.bounds == Bounds()
