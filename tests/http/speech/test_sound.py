"""What a file is and how long it plays, by the file itself."""

import struct
import wave
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_http.stores.media.sound import MP3, WAV, NoSound, sound_of, sound_of_file

ID3 = b"ID3\x04\x00\x00" + bytes((0, 0, 1, 5)) + bytes(128 + 5)


def info_frame(delay: int, padding: int, encoder: bytes = b"LAME3.100", flags: int = 0xF) -> bytes:
    """The first frame of a file by LAME, which tells of the silence around the sound."""
    fields = struct.pack(">II", 9, 9) + bytes(100) + struct.pack(">I", 0)
    if flags != 0xF:
        fields = b""
    lame_tag = encoder + bytes(12) + (delay << 12 | padding).to_bytes(3, "big")
    body = bytes(9) + b"Info" + struct.pack(">I", flags) + fields + lame_tag
    return b"\xff\xf3\x80\xc4" + body + bytes(204 - len(body))


@given(
    st.integers(1, 5_000),
    st.sampled_from([8_000, 22_050, 44_100]),
    st.integers(1, 2),
    st.integers(1, 4),
)
def test_a_wav_file_plays_as_long_as_the_standard_library_says(
    frames: int, rate: int, channels: int, width: int
) -> None:
    target = BytesIO()
    with wave.open(target, "wb") as file:
        file.setparams((channels, width, rate, 0, "NONE", ""))
        file.writeframes(bytes(frames * channels * width))
    sound = sound_of(target.getvalue())
    assert (sound.mime_type, sound.ending) == (WAV, "wav")
    with wave.open(BytesIO(target.getvalue())) as file:
        assert sound.seconds == pytest.approx(file.getnframes() / file.getframerate())


def test_a_wav_whose_end_was_not_known_plays_what_is_there(sounds: Any) -> None:
    data = bytearray(sounds.wav(8_000))
    for at in (4, 40):
        data[at : at + 4] = b"\xff\xff\xff\xff"
    assert sound_of(bytes(data)).seconds == 1.0


def test_chunks_that_are_not_sound_are_passed_over(sounds: Any) -> None:
    data = sounds.wav(4_000)
    odd = data[:36] + b"LIST" + struct.pack("<I", 3) + b"abc\x00" + data[36:]
    assert sound_of(odd).seconds == 0.5


MP3_CASES = {
    "frames": (lambda s: s.mp3(100), 100 * 576),
    "a tag before them": (lambda s: ID3 + s.mp3(100), 100 * 576),
    "a tag behind them": (lambda s: s.mp3(100) + b"TAG" + bytes(125), 100 * 576),
    "a frame that was cut off": (lambda s: s.mp3(100) + s.mp3(1)[:200], 100 * 576),
    "the silence of the encoder": (
        lambda s: info_frame(576, 300) + s.mp3(100),
        100 * 576 - 876,
    ),
    "an unknown encoder": (
        lambda s: info_frame(576, 300, b"Whatsit 1") + s.mp3(100),
        100 * 576,
    ),
    "fewer fields": (lambda s: info_frame(576, 300, flags=0) + s.mp3(100), 100 * 576 - 876),
}


@pytest.mark.parametrize("case", MP3_CASES)
def test_an_mp3_file_plays_as_long_as_its_frames(sounds: Any, case: str) -> None:
    make, samples = MP3_CASES[case]
    sound = sound_of(make(sounds))
    assert (sound.mime_type, sound.ending) == (MP3, "mp3")
    assert sound.seconds == pytest.approx(samples / 22_050)


@pytest.mark.parametrize(
    ("header", "size", "samples", "rate"),
    [
        (b"\xff\xfb\x90\x00", 417, 1152, 44_100),  # MPEG 1, 128 kbit/s, two channels
        (b"\xff\xfb\x92\x00", 418, 1152, 44_100),  # padded
        (b"\xff\xfb\x94\xc0", 384, 1152, 48_000),  # one channel
        (b"\xff\xe3\x40\xc0", 208, 576, 11_025),  # MPEG 2.5, 32 kbit/s
    ],
)
def test_every_kind_of_frame_is_measured(header: bytes, size: int, samples: int, rate: int) -> None:
    data = (header + bytes(size - 4)) * 10
    assert sound_of(data).seconds == pytest.approx(10 * samples / rate)


def test_an_mp3_plays_through_a_file_that_has_no_room_for_the_encoders_name() -> None:
    first = bytearray(info_frame(576, 300)[:104])
    first[:4] = b"\xff\xf3\x40\xc4"  # 32 kbit/s: 104 bytes
    assert sound_of(bytes(first) + (b"\xff\xf3\x80\xc4" + bytes(204)) * 10).seconds == (
        pytest.approx(10 * 576 / 22_050)
    )


NO_SOUND = {
    "nothing": b"",
    "text": b"The quick brown fox",
    "one frame": b"\xff\xf3\x80\xc4" + bytes(204),
    "a frame without size": (b"\xff\xf3\x00\xc4" + bytes(204)) * 9,
    "a frame of Layer II": (b"\xff\xf5\x80\xc4" + bytes(204)) * 9,
    "a frame of no version": (b"\xff\xeb\x80\xc4" + bytes(204)) * 9,
    "a frame of no rate": (b"\xff\xf3\x8c\xc4" + bytes(204)) * 9,
    "a tag alone": b"ID3\x04\x00\x00",
    "a WAV without chunks": b"RIFF\x04\x00\x00\x00WAVE",
    "a WAV without format": b"RIFF\x04\x00\x00\x00WAVEdata\x04\x00\x00\x00abcd",
}


@pytest.mark.parametrize("case", NO_SOUND)
def test_what_holds_no_sound_is_refused(case: str) -> None:
    with pytest.raises(NoSound):
        sound_of(NO_SOUND[case])


def test_a_wav_without_samples_is_refused(sounds: Any) -> None:
    with pytest.raises(NoSound, match="no samples"):
        sound_of(sounds.wav(0))


@given(st.binary(max_size=600))
def test_any_bytes_are_measured_or_refused(data: bytes) -> None:
    for start in (b"", b"RIFF\x00\x00\x00\x00WAVE", b"\xff\xf3\x80\xc4", b"ID3"):
        try:
            assert sound_of(start + data).seconds >= 0
        except NoSound:
            continue


def test_a_file_is_read_from_the_disk(sounds: Any, tmp_path: Any) -> None:
    (tmp_path / "a").write_bytes(sounds.wav(8_000))
    assert sound_of_file(tmp_path / "a").seconds == 1.0
