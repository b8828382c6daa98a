"""Unpacks documents in gzip, or in a zip with one file, recognised by their first bytes.

Rule 1: unpacking stops at the size that a document may have, so a bomb costs no more than that.
Rule 2: data that is packed twice or holds several files is refused, as it is not clear which part
        is the document.
"""

import io
import zipfile
import zlib
from collections.abc import Callable, Mapping
from struct import unpack_from
from types import MappingProxyType

from svc_core.formats.model import DocumentRefused

DIRECTORY_BYTES = 2**16
"""The largest list of files in a zip, all of which becomes objects: some hundred files."""

_END = b"PK\x05\x06"  # APPNOTE.TXT 4.3.16: the record that says how long the list is
_END_BYTES, _COMMENT_BYTES = 22, 2**16
_TAR_MAGIC_OFFSET = 257  # POSIX.1-2017, pax: where the magic `ustar` stands

_UNREAD_MAGICS: Mapping[bytes, str] = {
    b"BZh": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"7z\xbc\xaf\x27\x1c": "7-Zip",
    b"Rar!\x1a\x07": "RAR",
}


def unpack_document(data: bytes, bytes_max: int) -> bytes:
    """Returns the document inside `data`, or `data` itself where it is not packed.

    Raises:
        DocumentRefused: `tooLarge`, `truncated`, `malformed`, or `archive` for what is packed in
            another way, twice, or with several files.
    """
    unpack = next((way for magic, way in _UNPACKERS.items() if data.startswith(magic)), None)
    if unpack is not None:
        data = unpack(data, bytes_max)
        if any(map(data.startswith, _UNPACKERS)):
            raise _archive("The document is packed twice.")
    if data[_TAR_MAGIC_OFFSET : _TAR_MAGIC_OFFSET + 5] == b"ustar":
        raise _archive("This is a tar archive, not one document.")
    for magic, name in _UNREAD_MAGICS.items():
        if data.startswith(magic):
            raise _archive(f"The document is packed as {name}, and only gzip and zip are read.")
    return data


def _archive(reason: str) -> DocumentRefused:
    return DocumentRefused("archive", reason)


def _too_large(bytes_max: int) -> DocumentRefused:
    return DocumentRefused("tooLarge", f"The document unpacks to more than {bytes_max} bytes.")


def _gunzip(data: bytes, bytes_max: int) -> bytes:
    content = bytearray()
    while data:  # RFC 1952, 2.2: a file is a series of members
        member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            content += member.decompress(data, bytes_max + 1 - len(content))
        except zlib.error as fault:
            if content:
                break  # what follows the last member is padding
            raise DocumentRefused("malformed", "The packed document is damaged.") from fault
        if len(content) > bytes_max:
            raise _too_large(bytes_max)
        if not member.eof:
            raise DocumentRefused("truncated", "The packed document is cut off.")
        data = member.unused_data.lstrip(b"\0")
    return bytes(content)


def _unzip(data: bytes, bytes_max: int) -> bytes:
    _check_directory(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = [member for member in archive.infolist() if _is_document(member)]
            if len(files) != 1:
                raise _archive(f"The zip holds {len(files)} files, and a document is one.")
            with archive.open(files[0]) as file:
                content = file.read(bytes_max + 1)
    except DocumentRefused:
        raise
    except RuntimeError as error:
        raise _archive("The zip is encrypted, or packed in a way that is not read.") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as fault:
        raise DocumentRefused("malformed", f"The zip is damaged: {fault}.") from fault
    if len(content) > bytes_max:
        raise _too_large(bytes_max)
    return content


def _check_directory(data: bytes) -> None:
    at = data.rfind(_END, -(_END_BYTES + _COMMENT_BYTES))
    if at < 0 or len(data) < at + _END_BYTES:
        raise DocumentRefused("truncated", "The zip is cut off.")
    if unpack_from("<I", data, at + 12)[0] > DIRECTORY_BYTES:
        raise _archive("The zip holds many files, and a document is one.")


def _is_document(file: zipfile.ZipInfo) -> bool:
    """Whether a file in a zip is neither a folder nor a hidden file of macOS and others."""
    name = file.filename
    return not (file.is_dir() or name.startswith("__MACOSX/") or "/." in f"/{name}")


_UNPACKERS: Mapping[bytes, Callable[[bytes, int], bytes]] = MappingProxyType(
    {b"\x1f\x8b": _gunzip, b"PK\x03\x04": _unzip, _END: _unzip}
)
