"""A program that speaks with eSpeak NG: `espeak_process.py VOICE FILE`, with the text on stdin.

It imports nothing of the service, which runs it as a child process and never imports it: the
engine is under the GPL. Audio is written while it is made, so that a long text needs no memory.
"""

import ctypes
import sys
import wave
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

KBITS: Final = 48
"""The bit rate in kbit/s, enough for one voice; 400 words are about one megabyte."""

_SYNCHRONOUS: Final = 2  # AUDIO_OUTPUT_SYNCHRONOUS
_UTF8: Final = 1  # espeakCHARS_UTF8
_BY_CHARACTER: Final = 1  # POS_CHARACTER
_OK: Final = 0
_CALLBACK: Final = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)


class Mp3Sink:
    """Writes samples into an MP3 file."""

    def __init__(self, encoder: Any, path: Path, rate: int) -> None:
        self._encoder = encoder
        self._encoder.set_in_sample_rate(rate)
        self._encoder.set_channels(1)
        self._encoder.set_bit_rate(KBITS)
        self._encoder.set_quality(2)
        self._encoder.silence()
        self._file = path.open("wb")

    def write(self, samples: bytes) -> None:
        """Encode some samples."""
        self._file.write(self._encoder.encode(samples))

    def close(self) -> None:
        """Encode the last samples, and close the file."""
        self._file.write(self._encoder.flush())
        self._file.close()


class WavSink:
    """Writes samples into a WAV file, whose header is completed at the end."""

    def __init__(self, path: Path, rate: int) -> None:
        self._file = wave.open(str(path), "wb")  # noqa: SIM115 - closed by close
        self._file.setnchannels(1)
        self._file.setsampwidth(2)
        self._file.setframerate(rate)

    def write(self, samples: bytes) -> None:
        """Write some samples."""
        self._file.writeframesraw(samples)

    def close(self) -> None:
        """Write the length into the header, and close the file."""
        self._file.close()


Sink = Mp3Sink | WavSink
"""A file that takes samples of 16 bits in one channel."""


def sound_sink(path: Path, rate: int) -> Sink:
    """An MP3 file where the encoder is installed, else a WAV file."""
    try:
        import lameenc  # noqa: PLC0415 - may be missing
    except ImportError:
        return WavSink(path, rate)
    return Mp3Sink(lameenc.Encoder(), path, rate)


def _speak(text: str, voice: str, make_sink: Callable[[int], Sink]) -> None:
    """Speak the text into a sink; `make_sink` gets the sample rate in Hz.

    A language without a voice of its own gets the voice of its first subtag, else English.

    Raises:
        RuntimeError: the engine cannot be started.
    """
    import espeakng_loader  # noqa: PLC0415 - here and nowhere else

    library = ctypes.CDLL(espeakng_loader.get_library_path())
    rate = library.espeak_Initialize(_SYNCHRONOUS, 0, espeakng_loader.get_data_path().encode(), 0)
    if rate <= 0:
        raise RuntimeError("the engine does not start")
    names = (voice, voice.partition("-")[0], "en-us")
    if all(library.espeak_SetVoiceByName(name.encode()) != _OK for name in names):
        raise RuntimeError("the engine has no voices")
    with closing(make_sink(rate)) as target:
        _synthesize(library, text.encode(), target)


def _synthesize(library: Any, text: bytes, target: Sink) -> None:
    def on_samples(samples: int | None, count: int, _events: int) -> int:
        if samples and count:
            target.write(ctypes.string_at(samples, count * 2))
        return _OK

    callback = _CALLBACK(on_samples)  # referenced here, because the engine keeps no reference
    library.espeak_SetSynthCallback(callback)
    library.espeak_Synth(
        text, ctypes.c_size_t(len(text) + 1), 0, _BY_CHARACTER, 0, _UTF8, None, None
    )
    library.espeak_Synchronize()


def speak_to_file(argv: list[str], text: str) -> int:
    """Speak the text into a file, `argv` = (voice, path); return 1 if that fails."""
    voice, out = argv
    try:
        _speak(text, voice, lambda rate: sound_sink(Path(out), rate))
    except (ImportError, OSError, RuntimeError) as failure:
        sys.stderr.write(f"{failure}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(speak_to_file(sys.argv[1:], sys.stdin.buffer.read().decode()))
