"""The interface of speech engines: text in, an audio file out.

Rule 1: speech is made by another process: its memory, its crashes and its licence stay there.
Rule 2: an engine promises only a WAV or MP3 file with sound in it; the caller measures the file.
"""

from pathlib import Path
from typing import Final, Protocol

from attrs import frozen

SECONDS_MAX: Final = 300.0
"""How long one report may take: the slowest engines of note need a quarter of the playing time, and
a report of 3,000 words plays twenty minutes."""
BYTES_MAX: Final = 96 * 1024 * 1024
"""The largest file: more than half an hour of one voice, 16 bits at 22,050 Hz."""


class SpeechFailure(Exception):  # noqa: N818 - named as a state
    """No audio file was made; the message is one line that says why."""


@frozen
class SpeechText:
    """A text to speak, and its language (BCP 47)."""

    text: str
    language: str


class Speech(Protocol):
    """A speech engine."""

    def voice(self, language: str) -> str:
        """The name of the voice for this language, as listeners see it."""

    async def say(self, words: SpeechText, out: Path) -> None:
        """Write the spoken text to `out`, which does not exist yet.

        Raises:
            SpeechFailure: no whole file was written.
        """
