"""Speech by a program that the operator chooses: `flite -o {out}`, `piper -m {voice} -f {out}`.

The program gets the text on stdin. It writes the audio to the file `{out}` if its arguments name
that, else to stdout.
"""

from pathlib import Path
from typing import Final

from attrs import field, frozen

from svc_http.outside.voices import program
from svc_http.outside.voices.program import Bounds
from svc_http.outside.voices.speech_port import SpeechText

OUT: Final = "{out}"


@frozen
class CommandSpeech:
    """A speech program; `{out}`, `{voice}` and `{language}` in its arguments are replaced."""

    argv: tuple[str, ...]
    voice_name: str | None = None
    bounds: Bounds = field(factory=Bounds)

    def voice(self, language: str) -> str:
        """The voice of the settings, else the name of the program with the language."""
        return self.voice_name or f"{Path(self.argv[0]).name} {language}"

    async def say(self, words: SpeechText, out: Path) -> None:
        """Run the program, and write the spoken text to `out`.

        Raises:
            SpeechFailure: the program cannot be run, failed, took too long or wrote too much.
        """
        values = {
            OUT: str(out),
            "{voice}": self.voice_name or words.language,
            "{language}": words.language,
        }
        await program.run_speech_program(
            [_with_values(argument, values) for argument in self.argv],
            words.text.encode(),
            out,
            writes_itself=any(OUT in argument for argument in self.argv),
            bounds=self.bounds,
        )


def _with_values(argument: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        argument = argument.replace(name, value)
    return argument
