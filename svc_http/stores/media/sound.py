"""Determines the type and the duration of an audio file from its bytes.

Rule 1: the duration is counted, not taken from headers: a WAV file, whose header may have been
        written before its end was known, lasts as long as its samples; an MP3 file as its frames.
Rule 2: silence that an encoder has added counts, unless the file tells players to skip it (in the
        LAME tag).
"""

import struct
from pathlib import Path
from typing import Final

from attrs import frozen

WAV: Final = "audio/wav"
MP3: Final = "audio/mpeg"


class NoSound(ValueError):  # noqa: N818 - named after the state
    """The file is neither a WAV nor an MP3 file that holds sound; the message says why."""


@frozen
class Sound:
    """The media type of an audio file, the extension of its name, and its duration in seconds."""

    mime_type: str
    ending: str
    seconds: float


def sound_of_file(path: Path) -> Sound:
    """The type and duration of an audio file.

    Raises:
        NoSound: it is no WAV or MP3 file, or holds no sound.
    """
    return sound_of(path.read_bytes())


def sound_of(data: bytes) -> Sound:
    """The type and duration of an audio file that is given as bytes.

    Raises:
        NoSound: they are no WAV or MP3 file, or hold no sound.
    """
    if data[:4] == b"RIFF" and data[8:12] == b"WAVE":
        return Sound(WAV, "wav", _wav_seconds(data))
    return Sound(MP3, "mp3", _mp3_seconds(data))


# -- WAV (RIFF, as Microsoft and IBM published it in 1991) -------------------------------------


def _wav_seconds(data: bytes) -> float:
    rate = block = 0
    offset = 12
    while offset + 8 <= len(data):
        name, size = data[offset : offset + 4], struct.unpack_from("<I", data, offset + 4)[0]
        offset += 8
        if name == b"fmt " and offset + 16 <= len(data):
            rate, _, block = struct.unpack_from("<IIH", data, offset + 4)
        elif name == b"data":
            return _samples(min(size, len(data) - offset), rate, block)
        offset += size + size % 2  # chunks begin at even offsets
    raise NoSound("the WAV file has no samples")


def _samples(size: int, rate: int, block: int) -> float:
    if not rate or not block or size < block:
        raise NoSound("the WAV file has no samples")
    return size // block / rate


# -- MP3 (ISO/IEC 11172-3 and 13818-3, Layer III) ----------------------------------------------

_KBITS: Final = {
    True: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    False: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""Kilobits a second by index: MPEG 1, and MPEG 2 and 2.5."""
_RATES: Final = {
    3: (44_100, 48_000, 32_000),
    2: (22_050, 24_000, 16_000),
    0: (11_025, 12_000, 8_000),
}
_TAG_BYTES: Final = 128  # ID3v1, at the end
_FRAMES_MIN: Final = 2  # a single one may occur by chance in any file


@frozen
class _Frame:
    rate: int
    samples: int
    size: int
    side: int


def _mp3_seconds(data: bytes) -> float:
    offset, end = _after_id3(data), len(data)
    if data[-_TAG_BYTES:][:3] == b"TAG":
        end -= _TAG_BYTES
    first = _frame(data, offset, end)
    if first is None:
        raise NoSound("the file is neither WAV nor MP3")
    samples = count = 0
    padding = _padding_samples(data, offset, first)
    if padding is not None:
        offset += first.size
    frame = _frame(data, offset, end)
    while frame is not None:
        samples += frame.samples
        count += 1
        offset += frame.size
        frame = _frame(data, offset, end)
    if count < _FRAMES_MIN:
        raise NoSound("the file is neither WAV nor MP3")
    return (samples - (padding or 0)) / first.rate


def _after_id3(data: bytes) -> int:
    """The offset of the sound: behind an ID3v2 tag, whose size is in digits of seven bits."""
    if data[:3] != b"ID3" or len(data) < 10:
        return 0
    size = 0
    for digit in data[6:10]:
        size = size << 7 | digit & 0x7F
    return size + 10


def _frame(data: bytes, offset: int, end: int) -> _Frame | None:
    if offset + 4 > end or data[offset] != 0xFF or data[offset + 1] & 0xE0 != 0xE0:
        return None
    version, layer = data[offset + 1] >> 3 & 3, data[offset + 1] >> 1 & 3
    bits, rate_index = data[offset + 2] >> 4, data[offset + 2] >> 2 & 3
    if version == 1 or layer != 1 or bits in {0, 15} or rate_index == 3:
        return None
    is_first = version == 3
    rate, samples = _RATES[version][rate_index], 1152 if is_first else 576
    size = samples // 8 * _KBITS[is_first][bits] * 1000 // rate + (data[offset + 2] >> 1 & 1)
    is_mono = data[offset + 3] >> 6 == 3
    side = (17 if is_mono else 32) if is_first else (9 if is_mono else 17)
    # A frame that was cut off at the end cannot be played.
    return _Frame(rate, samples, size, side) if offset + size <= end else None


def _padding_samples(data: bytes, offset: int, frame: _Frame) -> int | None:
    """The samples that players skip, if the first frame is an info frame; None if it is not."""
    tag = offset + 4 + frame.side
    if data[tag : tag + 4] not in {b"Xing", b"Info"}:
        return None
    flags = struct.unpack_from(">I", data, tag + 4)[0]
    encoder = tag + 8 + sum(size for bit, size in ((1, 4), (2, 4), (4, 100), (8, 4)) if flags & bit)
    if encoder + 24 > offset + frame.size or data[encoder : encoder + 4] not in {
        b"LAME",
        b"Lavf",
        b"Lavc",
    }:
        return 0
    delays = int.from_bytes(data[encoder + 21 : encoder + 24], "big")
    return (delays >> 12) + (delays & 0xFFF)
