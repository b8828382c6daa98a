"""Programs that speak, as tests write them, and the sounds that they make."""

import io
import sys
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svc_http.providers.command import CommandSpeech
from svc_http.providers.process import Bounds


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def wav_of(frames: int, *, rate: int = 8_000, channels: int = 1, width: int = 2) -> bytes:
    """A WAV file of silence, written by the standard library."""
    target = io.BytesIO()
    with wave.open(target, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(bytes(frames * channels * width))
    return target.getvalue()


def mp3_of(frames: int, header: bytes = b"\xff\xf3\x80\xc4") -> bytes:
    """Frames of silence: MPEG 2 Layer III, 64 kbit/s at 22,050 Hz, so 208 bytes each."""
    return (header + bytes(204)) * frames


class Sounds:
    """Makes files."""

    wav = staticmethod(wav_of)
    mp3 = staticmethod(mp3_of)


@pytest.fixture
def sounds() -> Sounds:
    return Sounds()


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., CommandSpeech]:
    """Makes a speaker of a few lines of Python and the arguments after them."""

    def make(code: str, *arguments: str, seconds: float = 60.0, size: int = 10_000) -> Any:
        path = tmp_path / "speaker.py"
        path.write_text(code)
        bounds = Bounds(seconds, size)
        return CommandSpeech((sys.executable, "-I", str(path), *arguments), bounds=bounds)

    return make
