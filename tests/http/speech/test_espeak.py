"""eSpeak NG, where it is installed: real sound, in another process, of the length that is told."""

import importlib.util
import sys
import wave
from pathlib import Path
from typing import Any

import attrs
import pytest

from svc_http.extras import install_line
from svc_http.outside.voices import espeak, espeak_process
from svc_http.outside.voices.command import CommandSpeech
from svc_http.outside.voices.espeak import EspeakSpeech
from svc_http.outside.voices.speech_port import SpeechText
from svc_http.service import equipment as opening
from svc_http.service.equipment import voice_of
from svc_http.settings import Settings, SettingsError
from svc_http.stores import MemoryStorage
from svc_http.stores.media.sound import MP3, WAV, sound_of_file

SENTENCE = "Dockworkers at the port of Antwerp joined the walkout that began in Rotterdam. "
REPORT = SENTENCE * 31  # 403 words

needs_engine = pytest.mark.skipif(not espeak.has_espeak(), reason=install_line("speech"))


def frames_in(data: bytes) -> int:
    """Frames counted by their mark alone: all begin alike but for the bit of a padded one."""
    marks = (data[:2] + bytes((data[2] & ~2 | padding,)) + data[3:4] for padding in (0, 2))
    return sum(data.count(mark) for mark in marks)


@needs_engine
@pytest.mark.anyio
async def test_a_report_of_400_words_is_spoken_and_its_length_is_told_to_50_ms(
    tmp_path: Path,
) -> None:
    out = tmp_path / "report"
    await EspeakSpeech().say(SpeechText(REPORT, "en"), out)
    measure, data = sound_of_file(out), out.read_bytes()
    assert measure.mime_type == MP3
    # One rate throughout, so the size tells the length, and so do the marks of the frames.
    assert measure.seconds == pytest.approx(len(data) * 8 / (espeak_process.KBITS * 1000), abs=0.05)
    assert measure.seconds == pytest.approx(frames_in(data) * 576 / 22_050, abs=0.05)
    assert 100 < measure.seconds < 250
    assert "espeakng_loader" not in sys.modules


@needs_engine
def test_without_the_encoder_it_is_a_wav_file_of_the_same_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert espeak_process.speak_to_file(["en-us", str(tmp_path / "mp3")], REPORT) == 0
    monkeypatch.setitem(sys.modules, "lameenc", None)
    assert espeak_process.speak_to_file(["en-us", str(tmp_path / "wav")], REPORT) == 0
    measure = sound_of_file(tmp_path / "wav")
    with wave.open(str(tmp_path / "wav")) as file:
        assert (file.getnchannels(), file.getsampwidth()) == (1, 2)
        seconds = file.getnframes() / file.getframerate()
        quiet = not any(file.readframes(file.getnframes()))
    assert not quiet
    assert measure.mime_type == WAV
    assert measure.seconds == pytest.approx(seconds, abs=0.0005)
    # An encoder adds its delay and fills its last frame: 1,105 and at most 576 samples, or more.
    length = sound_of_file(tmp_path / "mp3").seconds
    assert 0 <= length - seconds < 0.15


@needs_engine
@pytest.mark.parametrize("language", ["en", "fr-CA", "de", "xx", "zh-Hant", "../../etc"])
def test_every_language_is_read_by_some_voice(language: str, tmp_path: Path) -> None:
    voice = EspeakSpeech()._name(language)
    assert espeak_process.speak_to_file([voice, str(tmp_path / "a")], "One. 1.") == 0
    assert sound_of_file(tmp_path / "a").seconds > 0.2


@needs_engine
@pytest.mark.anyio
async def test_it_needs_no_network_and_no_folder(tmp_path: Path) -> None:
    await EspeakSpeech("fr").say(SpeechText("Bonjour.", "en"), tmp_path / "a")
    assert sound_of_file(tmp_path / "a").seconds > 0.2


def test_the_program_says_why_it_could_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setitem(sys.modules, "espeakng_loader", None)
    assert espeak_process.speak_to_file(["en", str(tmp_path / "a")], "One.") == 1
    assert "espeakng_loader" in capsys.readouterr().err


class Engine:
    """An engine that will not start, or has no voice."""

    def __init__(self, rate: int) -> None:
        self._rate = rate

    def espeak_Initialize(self, *_: object) -> int:  # noqa: N802 - its name there
        return self._rate

    def espeak_SetVoiceByName(self, _: bytes) -> int:  # noqa: N802 - its name there
        return 2


@needs_engine
@pytest.mark.parametrize(("rate", "why"), [(-1, "does not start"), (22_050, "no voices")])
def test_an_engine_that_does_not_work_is_told(
    rate: int, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(espeak_process.ctypes, "CDLL", lambda _: Engine(rate))
    assert espeak_process.speak_to_file(["en", str(tmp_path / "a")], "One.") == 1
    assert why in capsys.readouterr().err
    assert not (tmp_path / "a").exists()


# -- choosing ----------------------------------------------------------------------------------


def missing(_: str) -> None:
    return None


def test_a_missing_extra_is_answered_with_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(espeak, "find_spec", missing)
    with pytest.raises(SettingsError, match=r"install .*\[speech\]'") as failure:
        voice_of(Settings(speech="espeak"))
    assert "\n" not in str(failure.value)


def test_the_settings_choose_what_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(espeak, "find_spec", importlib.util.find_spec)
    assert voice_of(Settings(speech="none")) is None
    settings = Settings(speech="command", speech_command="flite -o '{out}'", speech_voice="slt")
    assert voice_of(settings) == CommandSpeech(("flite", "-o", "{out}"), "slt")
    if espeak.has_espeak():
        assert voice_of(Settings(speech="espeak", speech_voice="de")) == EspeakSpeech("de")


def test_a_voice_is_named_as_listeners_are_told() -> None:
    assert EspeakSpeech().voice("en-GB") == "espeak-ng en-gb"
    assert EspeakSpeech("fr").voice("en") == "espeak-ng fr"


def test_nothing_speaks_where_nothing_is_to() -> None:
    with pytest.raises(SettingsError, match="SVC_SPEECH=auto"):
        opening.recorder_of(Settings(speech="none"), MemoryStorage(()))


def which(_: str) -> object:
    return object()


@pytest.mark.parametrize(
    ("settings", "look", "why"),
    [
        ({}, which, None),
        ({}, missing, install_line("speech")),
        ({"db": ":memory:"}, which, "SVC_MEDIA"),
        ({"db": ":memory:", "media": "audio"}, which, None),
        ({"db": "postgresql://h/d"}, which, None),
        ({"speech": "none"}, which, "SVC_SPEECH=auto"),
    ],
)
def test_what_is_installed_speaks_and_else_it_is_said_why_not(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], look: Any, why: str | None
) -> None:
    monkeypatch.setattr(espeak, "find_spec", look)
    settings_ = Settings(**settings)
    gap = opening.missing_providers(attrs.evolve(settings_, embeddings="openai")).get("speech")
    assert (gap is None, voice_of(settings_) is None) == (why is None, why is not None)
    assert gap is None or str(why) in gap


@pytest.mark.parametrize(
    ("settings", "package"),
    [
        ({"speech": "command"}, "speech_command"),
        ({"speech": "espeak", "db": ":memory:"}, "media"),
    ],
)
def test_what_a_voice_needs_is_asked_for(settings: dict[str, Any], package: str) -> None:
    with pytest.raises(SettingsError, match=f"'{package}' is missing"):
        Settings(**settings)
