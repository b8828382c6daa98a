"""The port to whatever speaks: words in, an audio file out.

Rule 1: speech is made by another process, never in this one: what it costs, what it does and
        under which licence it comes stays there.
Rule 2: nothing is promised of the file but that it is WAV or MP3 and holds sound; it is measured.
"""

from pathlib import Path
from typing import Final, Protocol

from attrs import frozen

SECONDS_MAX: Final = 300.0
"""How long one report may take: the slowest engines of note need a quarter of the time that the
words last, and a report of 3,000 words lasts twenty minutes."""
BYTES_MAX: Final = 96 * 1024 * 1024
"""The largest file: more than half an hour of one voice, 16 bits at 22,050 Hz."""


class SpeechFailed(Exception):  # noqa: N818 - said as the state that it is
    """Nothing was spoken; the message is one line that says why."""


@frozen
class Words:
    """What is to be said, and in which language (BCP 47)."""

    text: str
    language: str


class Speech(Protocol):
    """Something that speaks."""

    def voice(self, language: str) -> str:
        """The name of the voice that reads this language, as listeners are told it."""

    async def say(self, words: Words, out: Path) -> None:
        """Write the spoken words to `out`, which is not there yet.

        Raises:
            SpeechFailed: there is no whole file.
        """
