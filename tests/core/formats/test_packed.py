"""A packed document is the file inside it, or is refused with a reason and at little cost."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import pytest

from svc_core.formats.model import DocumentRefused
from svc_core.formats.reading.compression import unpack_document

DOCUMENT = b"cve,epss,percentile\nCVE-2024-1,0.1,0.5\n"


def zip_of(*files: tuple[str, bytes], way: int = zipfile.ZIP_DEFLATED) -> bytes:
    draft = io.BytesIO()
    with zipfile.ZipFile(draft, "w", way) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return draft.getvalue()


def tar_file() -> bytes:
    draft = io.BytesIO()
    with tarfile.open(fileobj=draft, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.csv"))
    return draft.getvalue()


def encrypted_zip() -> bytes:
    """The zip of one file with the flags of an encrypted one, in both of its headers."""
    plain = bytearray(zip_of(("a.csv", DOCUMENT)))
    plain[6] |= 1
    plain[plain.rfind(b"PK\x01\x02") + 8] |= 1
    return bytes(plain)


def damaged_zip(at: int) -> bytes:
    spoilt = bytearray(zip_of(("a.csv", DOCUMENT)))
    spoilt[at] ^= 0xFF
    return bytes(spoilt)


WHOLE = {
    "as it is": DOCUMENT,
    "empty": b"",
    "gzip": gzip.compress(DOCUMENT),
    "gzip in two members": gzip.compress(DOCUMENT[:9]) + gzip.compress(DOCUMENT[9:]),
    "gzip with padding": gzip.compress(DOCUMENT) + bytes(512),
    "gzip with something behind": gzip.compress(DOCUMENT) + b"signature",
    "zip": zip_of(("a.csv", DOCUMENT)),
    "zip without compression": zip_of(("a.csv", DOCUMENT), way=zipfile.ZIP_STORED),
    "zip with what systems leave": zip_of(
        ("data/", b""),
        ("data/a.csv", DOCUMENT),
        ("__MACOSX/data/._a.csv", b"x"),
        (".DS_Store", b"x"),
    ),
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_packed_is_the_document_inside(name: str) -> None:
    assert unpack_document(WHOLE[name], 1_000) == (DOCUMENT if WHOLE[name] else b"")


REFUSALS = {
    "gzip bomb": (gzip.compress(bytes(5_000_000), 1), "tooLarge"),
    "gzip bomb in two members": (gzip.compress(bytes(600)) * 2, "tooLarge"),
    "zip bomb": (zip_of(("a", bytes(5_000_000))), "tooLarge"),
    "gzip cut off": (gzip.compress(DOCUMENT)[:-12], "truncated"),
    "gzip damaged": (gzip.compress(DOCUMENT)[:10] + b"\xff" * 30, "malformed"),
    "zip cut off": (zip_of(("a.csv", DOCUMENT))[:-30], "truncated"),
    "zip cut off in its end": (zip_of(("a.csv", DOCUMENT))[:-3], "truncated"),
    "zip damaged": (damaged_zip(40), "malformed"),
    "zip of two files": (zip_of(("a.csv", DOCUMENT), ("b.csv", DOCUMENT)), "archive"),
    "zip of nothing": (zip_of(), "archive"),
    "zip of very many": (zip_of(*((f"{n}.json", b"") for n in range(2_000))), "archive"),
    "zip with a password": (encrypted_zip(), "archive"),
    "packed twice": (gzip.compress(zip_of(("a.csv", DOCUMENT))), "archive"),
    "tar": (tar_file(), "archive"),
    "tar.gz": (gzip.compress(tar_file()), "archive"),
    "bzip2": (bz2.compress(DOCUMENT), "archive"),
    "xz": (lzma.compress(DOCUMENT), "archive"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_is_no_one_document_is_refused_with_a_reason(name: str) -> None:
    body, code = REFUSALS[name]
    limit = 1_000 if "bomb" in name else 100_000
    with pytest.raises(DocumentRefused) as refusal:
        unpack_document(body, limit)
    assert refusal.value.code == code
