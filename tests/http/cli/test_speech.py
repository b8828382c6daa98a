"""Speaking by hand, copies that keep the sound, and what stands in the way."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svc_http.providers import espeak
from svc_http.runtime import opening

Svc = Callable[..., Any]

SPEAKER = """\
import sys, wave
words = sys.stdin.read()
with wave.open(sys.argv[1], 'wb') as file:
    file.setparams((1, 2, 8_000, 0, 'NONE', ''))
    file.writeframes(bytes(len(words.split()) * 8_000))
"""
"""Half a second of silence for each word."""


@pytest.fixture
def report_id(svc: Svc, here: Path) -> str:
    svc("workspaces", "create", "--name", "a", "--plan", "elite")
    sent = ("--name", "Ports", "--topic", "Strikes", "--frequency", "manual")
    profile_id = svc("profiles", "create", *sent, "--json").json["id"]
    return str(svc("reports", "generate", profile_id, "--json").json["id"])


@pytest.fixture
def speaker(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "speaker.py").write_text(SPEAKER)
    command = f"'{sys.executable}' -I '{here / 'speaker.py'}' {{out}}"
    monkeypatch.setenv("SVC_SPEECH", "command")
    monkeypatch.setenv("SVC_SPEECH_COMMAND", command)


@pytest.mark.usefixtures("speaker")
def test_a_report_is_spoken_by_hand(svc: Svc, here: Path, report_id: str) -> None:
    made = svc("reports", "speak", report_id, "--json").json
    assert (made["reportId"], made["isNew"], made["mimeType"]) == (report_id, True, "audio/wav")
    assert made["durationSeconds"] > 5
    assert (here / "svc.db.media" / made["name"]).stat().st_size == made["sizeBytes"]
    shown = svc("reports", "speak", report_id).out
    assert "--again" in shown
    assert made["mimeType"] in shown
    row = svc("reports", "show", report_id, "--json").json
    assert row["hasAudio"] is True
    assert svc("reports", "speak", report_id, "--again", "--json").json["isNew"] is True


def test_a_voice_that_fails_is_said_with_the_way_on(
    svc: Callable[..., Any], report_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_SPEECH", "command")
    monkeypatch.setenv("SVC_SPEECH_COMMAND", "false")
    failed = svc("reports", "speak", report_id)
    assert failed.code == 1
    again = f"once that is mended: svc reports speak {report_id}"
    assert failed.err == f"svc: The report was not spoken: false ended with 1; {again}\n"


@pytest.mark.usefixtures("speaker")
def test_a_copy_has_the_sound_and_gives_it_back(svc: Svc, here: Path, report_id: str) -> None:
    name = svc("reports", "speak", report_id, "--json").json["name"]
    svc("db", "backup", "copy.db")
    sound = (here / "copy.db.media" / name).read_bytes()
    svc("db", "restore", "copy.db", "--db", "new.db")
    assert (here / "new.db.media" / name).read_bytes() == sound
    again = svc("reports", "speak", report_id, "--db", "new.db", "--json").json
    assert (again["name"], again["isNew"]) == (name, False)


@pytest.mark.usefixtures("speaker")
def test_a_copy_says_which_sound_it_lacks(
    svc: Svc, here: Path, report_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert svc("db", "backup", "whole.db", "--json").json["notCopied"] is None
    monkeypatch.setenv("SVC_MEDIA_DIR", str(here / "elsewhere"))
    name = svc("reports", "speak", report_id, "--json").json["name"]
    assert (here / "elsewhere" / name).exists()
    assert f"copy {here / 'elsewhere'} after it" in svc("db", "backup", "part.db").out
    assert not (here / "part.db.media").exists()


def test_without_a_voice_the_way_to_one_is_told(svc: Svc, report_id: str) -> None:
    ran = svc("reports", "speak", report_id)
    assert ran.code == 1
    assert espeak.CURE in ran.err
    assert "SVC_SPEECH=espeak" in ran.err


def test_a_missing_extra_is_told_with_its_cure(
    svc: Svc, report_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening.espeak, "is_installed", lambda: False)
    monkeypatch.setenv("SVC_SPEECH", "espeak")
    for arguments in (("reports", "speak", report_id), ("serve", "--port", "0")):
        ran = svc(*arguments)
        assert ran.code in {1, 2}
        assert espeak.CURE in ran.err
        assert "Traceback" not in ran.err
