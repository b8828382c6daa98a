"""Speech by eSpeak NG, without a network: `pip install "svc-intelligence[speech]"`.

The engine is under the GPL, so it is never loaded into this process: a program of its own does
that, once for every report. If the MP3 encoder is installed too, the file is MP3, else WAV.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from attrs import field, frozen

from svc_http.outside.voices import program
from svc_http.outside.voices.program import Bounds
from svc_http.outside.voices.speech_port import SpeechText

_ENGINE: Final = "espeakng_loader"
_PROGRAM: Final = Path(__file__).with_name("espeak_process.py")


def has_espeak() -> bool:
    """Whether the engine is installed; it is searched, not loaded."""
    return find_spec(_ENGINE) is not None


@frozen
class EspeakSpeech:
    """eSpeak NG with the named voice, or with a voice for the language of each report."""

    voice_name: str | None = None
    bounds: Bounds = field(factory=Bounds)

    def voice(self, language: str) -> str:
        """The name of the voice for this language."""
        return f"espeak-ng {self._name(language)}"

    def _name(self, language: str) -> str:
        return self.voice_name or language.lower()

    async def say(self, words: SpeechText, out: Path) -> None:
        """Run the engine, and write the spoken text to `out`.

        Raises:
            SpeechFailure: the engine is not installed, has no such voice, or took too long.
        """
        # Without the folder that we are in, which holds names of the standard library.
        argv = [sys.executable, "-P", str(_PROGRAM), self._name(words.language), str(out)]
        await program.run_speech_program(
            argv, words.text.encode(), out, writes_itself=True, bounds=self.bounds
        )
